package runtime_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
)

// The store keeps every record, so that a benchmark's memory grows with b.N; the
// figures per operation do not.

func BenchmarkProposeAndCommitFiveOperations(b *testing.B) {
	in, _ := begin(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "all", Base: in.Version(), Patch: fmt.Appendf(nil, `[
			{"op":"test","path":"/ticket/id","value":"T-7"},
			{"op":"replace","path":"/draft/text","value":"%d"},
			{"op":"replace","path":"/customers/ann/name","value":"Ann %[1]d"},
			{"op":"replace","path":"/items/i1/count","value":%[1]d},
			{"op":"replace","path":"/ticket/tags","value":["x"]}]`, i)})
		if err != nil || len(v.Violations) > 0 {
			b.Fatal(v, err)
		}
	}
}

func BenchmarkViewOfOneEntry(b *testing.B) {
	in, _ := begin(b)
	b.ReportAllocs()
	for b.Loop() {
		_, err := in.View(ctx, runtime.Request{Stage: "edit", Args: map[string]string{"c": "ann"}})
		require.NoError(b, err)
	}
}
