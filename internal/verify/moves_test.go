package verify_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
)

func TestAStageMovesToAPhaseOfItsOwnOnlyAndNoKeyIsEmpty(t *testing.T) {
	b := newBuilder(t)
	b.c.State = b.record("State", "m", b.of(ir.MapType, b.kind(ir.IntType)))
	b.c.Phases = []ir.Phase{{Name: "one", Arrows: []ir.Arrow{{To: "two"}, {To: "three"}}}, {Name: "two"}, {Name: "three"}}
	b.stage(ir.Stage{Name: "go", In: []string{"one"}, Next: []string{"two"}})
	b.stage(ir.Stage{Name: "put", In: []string{"one"}, Params: []ir.Param{{Name: "k", Kind: ir.NewParam, Of: region.MustParse("/:m")}}})
	r := open(t, b.load(), `{"m":{}}`)
	r.s.Phase = "one"
	for _, p := range []verify.Proposal{
		{Stage: "go", Next: "three", Patch: []byte(`[]`)},
		{Stage: "go", Patch: []byte(`{"patch":[],"next":"three"}`)},
		{Stage: "put", Args: map[string]string{"k": ""}, Patch: []byte(`[]`)},
	} {
		out := r.try(p)
		require.Equal(t, verify.Reject, out.Verdict.Verdict, "%+v", p)
		require.Equal(t, verify.GatePhase, out.Verdict.Violations[0].Gate)
	}
}
