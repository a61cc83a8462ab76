package runtime_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// boxes is a contract in which a member says what the array beside it is:
//
//	state { v: { kind: "list" x: list of string } | ... | { kind: "any" x: any }  m: map of (the same)  say: string }
func boxes(t testing.TB) *runtime.Contract {
	b := &builder{TB: t, c: &ir.Contract{Name: "boxes", Types: make([]ir.Type, 1), Phases: []ir.Phase{{Name: "main"}}}}
	text := b.add(ir.Type{Kind: ir.StringType})
	box := ir.Type{Kind: ir.UnionType}
	for _, kind := range []ir.TypeKind{ir.ListType, ir.SetType, ir.LogType, ir.AnyType} {
		tag := b.add(ir.Type{Kind: ir.LiteralType, Literal: fmt.Sprintf("%q", kind)})
		x := ir.Type{Kind: kind}
		if kind != ir.AnyType {
			x.Elem = text
		}
		box.Alternatives = append(box.Alternatives, b.record("Box", member("kind", tag), member("x", b.add(x))))
	}
	v := b.add(box)
	b.c.State = b.record("", member("v", v), member("m", b.add(ir.Type{Kind: ir.MapType, Elem: v})), member("say", text))
	everything := region.Of("")
	b.c.Stages = []ir.Stage{
		{Name: "all", In: []string{"main"}, Read: everything, Write: everything, Source: everything},
		{Name: "look", In: []string{"main"}, Read: region.Of("/v/x", "/say"), Write: region.Of("/say")},
	}
	c, err := runtime.Load(ir.Encode(b.c))
	require.NoError(t, err)
	return c
}

func beginBoxes(t testing.TB, state string) (*runtime.Instance, *store.Memory) {
	t.Helper()
	st := store.NewMemory()
	in, err := runtime.Create(ctx, boxes(t), st, "B-1", []byte(state), runtime.WithAttempts(1<<20))
	require.NoError(t, err)
	return in, st
}

func TestAProposalIsLateWhereWhatItSeesBecameAnotherKindOfArray(t *testing.T) {
	in, _ := beginBoxes(t, `{"v":{"kind":"list","x":["b","a"]},"m":{},"say":""}`)
	look := runtime.Proposal{Stage: "look", Base: 0, Patch: []byte(`[{"op":"replace","path":"/say","value":"b comes first"}]`)}
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Base: 0, Patch: []byte(`[{"op":"replace","path":"/v/kind","value":"set"}]`)}))
	v := proposeAs(t, in, look)
	rejects(t, v, verify.Stale)
	require.Equal(t, []string{"/v"}, pathsOf(v), "what is not read is not named")
}

func TestAnInstanceThatIsOpenedAgainDecidesAsBefore(t *testing.T) {
	in, st := beginBoxes(t, `{"v":{"kind":"list","x":["b","a"]},"m":{},"say":""}`)
	draw := rand.New(rand.NewSource(3))
	pick := func(from ...string) string { return from[draw.Intn(len(from))] }
	tally := map[verify.Decision]int{}
	for range 400 {
		kind := pick("list", "set", "log", "any")
		at := pick("/v", "/m/k", "/m/j")
		value := pick(`["b","a"]`, `[]`, `["c","a"]`, `["a","a"]`)
		patch := pick(
			fmt.Sprintf(`[{"op":"replace","path":"%s/kind","value":"%s"}]`, at, kind),
			fmt.Sprintf(`[{"op":"add","path":"%s","value":{"kind":"%s","x":%s}}]`, pick("/m/k", "/m/j"), kind, value),
			fmt.Sprintf(`[{"op":"replace","path":"%s/x","value":%s},{"op":"replace","path":"%s/kind","value":"%s"}]`, at, value, at, kind),
			fmt.Sprintf(`[{"op":"add","path":"%s/x/-","value":"%s"}]`, at, pick("d", "0")),
			fmt.Sprintf(`[{"op":"copy","from":"%s","path":"%s"}]`, pick("/v", "/m/k"), pick("/m/j", "/m/k", "/m/k/x")),
			fmt.Sprintf(`[{"op":"remove","path":"%s"}]`, pick("/m/k", "/m/j")),
		)
		// Now and then from a snapshot of the last commit, else by replaying what followed.
		snapshot := []int{1, 1 << 30}[draw.Intn(2)]
		opened, err := runtime.Open(ctx, in.Contract(), st, "B-1", runtime.WithAttempts(1<<20), runtime.WithSnapshotAfter(snapshot))
		require.NoError(t, err)
		require.Equal(t, stateOf(t, in), stateOf(t, opened))
		later := runtime.Proposal{Stage: "all", Base: in.Version(), Patch: []byte(patch)}
		v, err := opened.Propose(ctx, later)
		require.NoError(t, err)
		file := stateOf(t, opened)
		tally[v.Verdict]++
		if v.Verdict == verify.Commit {
			next, err := runtime.Create(ctx, in.Contract(), store.NewMemory(), "B-1", []byte(file))
			require.NoError(t, err, "%s on %s", patch, stateOf(t, in))
			require.Equal(t, v.StateAfter, lastDigest(t, next), "%s on %s", patch, stateOf(t, in))
		}
		in = opened
	}
	require.Greater(t, tally[verify.Commit], 100, "%v", tally)
}

// lastDigest is the digest of an instance's state.
func lastDigest(t testing.TB, in *runtime.Instance) string {
	t.Helper()
	return proposeAs(t, in, runtime.Proposal{Stage: "all", Patch: []byte(`[]`)}).StateBefore
}
