package sqlite_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// counter is a contract over a counter, a text and a filling that is never touched:
//
//	state { n: int  text: string  filling: string }
//	stage count { read /n, /text  write /n, /text }
func counter() *runtime.Contract {
	c := &ir.Contract{Name: "counter", Types: make([]ir.Type, 1), Phases: []ir.Phase{{Name: "main"}}}
	add := func(t ir.Type) ir.TypeID {
		c.Types = append(c.Types, t)
		return ir.TypeID(len(c.Types) - 1)
	}
	whole, text := add(ir.Type{Kind: ir.IntType}), add(ir.Type{Kind: ir.StringType})
	c.State = add(ir.Type{Kind: ir.RecordType, Members: []ir.Member{
		{Name: "n", Type: whole}, {Name: "text", Type: text}, {Name: "filling", Type: text}}})
	c.Stages = []ir.Stage{{Name: "count", In: []string{"main"},
		Read: region.Of("/n", "/text"), Write: region.Of("/n", "/text")}}
	loaded, err := runtime.Load(ir.Encode(c))
	if err != nil {
		panic(err)
	}
	return loaded
}

func counterState(filling string) []byte {
	return fmt.Appendf(nil, `{"n":0,"text":"","filling":%q}`, filling)
}

// counting is the proposal that counts on from a version, and its key.
func counting(version uint64, text string) runtime.Proposal {
	return runtime.Proposal{
		Stage: "count", Base: version, Key: fmt.Sprint("count ", version+1),
		Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/n","value":%d},{"op":"replace","path":"/text","value":%q}]`, version+1, text),
	}
}

// sound checks a log in every way: chain, decisions, and that the live state is what
// the log leads to.
func sound(t testing.TB, st store.Store, in *runtime.Instance) {
	t.Helper()
	head, err := runtime.CheckLog(ctx, st, in.ID(), nil)
	require.NoError(t, err)
	require.Equal(t, in.Head(), head)
	again, err := runtime.Replay(ctx, in.Contract(), st, in.ID())
	require.NoError(t, err)
	require.Nil(t, again.Different)
	require.Equal(t, []any{in.Version(), in.StateDigest()}, []any{again.Version, again.State})
}

func commits(t testing.TB, in *runtime.Instance, p runtime.Proposal) {
	t.Helper()
	v, err := in.Propose(ctx, p)
	require.NoError(t, err)
	require.Equal(t, verify.Commit, v.Verdict, "%+v", v.Violations)
}

// together runs f n times at once.
func together(n int, f func(i int)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { f(i) })
	}
	wait.Wait()
}
