package runtime_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// setMargin commits to a part that the stage "draft" does not see.
func setMargin(t testing.TB, in *runtime.Instance, margin float64) {
	t.Helper()
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "margin", Base: in.Version(),
		Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/internal/margin","value":%v}]`, margin)}))
}

func pathsOf(v runtime.Verdict) []string {
	var out []string
	for _, found := range v.Violations {
		if found.Path != nil {
			out = append(out, *found.Path)
		}
	}
	return out
}

func TestAProposalOnAnOlderVersionIsCommittedIfNothingItsStageReadsWasWritten(t *testing.T) {
	in, st := begin(t)
	setMargin(t, in, 0.1)
	setMargin(t, in, 0.2)
	v, err := write(in, 0, "late")
	require.NoError(t, err)
	commits(t, v)
	require.Equal(t, uint64(2), v.VersionBefore)
	require.Equal(t, uint64(3), v.VersionAfter)
	require.Contains(t, stateOf(t, in), `"text":"late"`)
	require.Contains(t, stateOf(t, in), `"margin":0.2`)
	lines := linesOf(t, in)
	proposed := lines[len(lines)-2]
	require.Equal(t, uint64(0), *proposed.Base, "the version it was made on")
	require.Equal(t, uint64(2), proposed.Version, "the version it was decided on")
	again, err := runtime.Open(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	require.Equal(t, stateOf(t, in), stateOf(t, again))
	requireDense(t, in, 3)
}

func TestALateProposalIsToldWhatOfItsReadsWasWrittenAndNothingElse(t *testing.T) {
	in, _ := begin(t)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "root", Role: "admin", Patch: []byte(`[
		{"op":"replace","path":"/internal/margin","value":0.4},
		{"op":"replace","path":"/ticket/status","value":"closed"},
		{"op":"add","path":"/draft/refs/-","value":"r"},
		{"op":"add","path":"/draft/refs/0","value":"s"},
		{"op":"add","path":"/customers/eve","value":{"name":"Eve"}}]`)}))
	v, err := write(in, 0, "late")
	require.NoError(t, err)
	rejects(t, v, verify.Stale)
	require.Equal(t, []string{"/draft/refs", "/ticket/status"}, pathsOf(v))
	require.Equal(t, v.Violations, v.Actor().Violations)
	require.True(t, v.Retryable)
	require.Equal(t, uint64(1), in.Version())
}

func TestAWriteAboveWhatAStageReadsMakesItsProposalsLate(t *testing.T) {
	in, _ := begin(t)
	state := `{"ticket":{"id":"T-8","status":"open","tags":[]},"internal":{"margin":0.1,"token":"x"},"draft":{"text":null,"refs":[]},
		"customers":{},"items":{},"labels":[],"history":["begun","again"]}`
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "root", Role: "admin", Patch: []byte(`[{"op":"replace","path":"","value":` + state + `}]`)}))
	v, err := write(in, 0, "late")
	require.NoError(t, err)
	rejects(t, v, verify.Stale)
	require.Equal(t, []string{""}, pathsOf(v))
}

func TestAKeyBesideTheOneThatAStageReadsMakesNobodyLate(t *testing.T) {
	in, _ := begin(t)
	enrol := func(base uint64, id string) runtime.Verdict {
		return proposeAs(t, in, runtime.Proposal{Stage: "enrol", Args: map[string]string{"id": id}, Base: base,
			Patch: fmt.Appendf(nil, `[{"op":"add","path":"/customers/%s","value":{"name":"New"}}]`, id)})
	}
	commits(t, enrol(0, "cat"))
	commits(t, enrol(0, "dan"))
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "edit", Args: map[string]string{"c": "ann"}, Patch: []byte(`[{"op":"replace","path":"/customers/ann/name","value":"A"}]`)}))
	rejects(t, enrol(0, "cat"), verify.ArgumentViolation)
	late := proposeAs(t, in, runtime.Proposal{Stage: "strict", Patch: []byte(`[]`)})
	rejects(t, late, verify.Stale)
	require.Equal(t, []string{"/customers/ann/name", "/customers/cat", "/customers/dan"}, pathsOf(late), "it sees all keys")
}

func TestAPlaceWhoseNameBeginsLikeAnotherIsNamedToo(t *testing.T) {
	in, _ := begin(t)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "root", Role: "admin", Patch: []byte(`[
		{"op":"add","path":"/customers/an","value":{"name":"An"}},
		{"op":"add","path":"/customers/anna","value":{"name":"Anna"}},
		{"op":"replace","path":"/customers/an/name","value":"Ann"}]`)}))
	late := proposeAs(t, in, runtime.Proposal{Stage: "strict", Patch: []byte(`[]`)})
	rejects(t, late, verify.Stale)
	require.Equal(t, []string{"/customers/an", "/customers/anna"}, pathsOf(late))
}

func TestARefusalNamesSomePlacesAndCountsTheOthers(t *testing.T) {
	in, _ := begin(t)
	var ops []string
	for i := range 40 {
		ops = append(ops, fmt.Sprintf(`{"op":"add","path":"/customers/c%02d","value":{"name":"C"}}`, i))
	}
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "root", Role: "admin", Patch: []byte("[" + strings.Join(ops, ",") + "]")}))
	late := proposeAs(t, in, runtime.Proposal{Stage: "strict", Patch: []byte(`[]`)})
	rejects(t, late, verify.Stale)
	require.GreaterOrEqual(t, len(pathsOf(late)), 16)
	require.Equal(t, "/customers/c15", pathsOf(late)[15])
	require.Equal(t, 40, len(late.Violations)+late.More)
}

// sampleWith is the sample contract with one more stage.
func sampleWith(t *testing.T, s ir.Stage) *runtime.Contract {
	t.Helper()
	c := sampleIR(t)
	c.Stages = append(c.Stages, s)
	contract, err := runtime.Load(ir.Encode(c))
	require.NoError(t, err)
	return contract
}

func TestAppendsToALogThatTheirStageDoesNotReadAreNeverLate(t *testing.T) {
	contract := sampleWith(t, ir.Stage{Name: "note", In: []string{"open"}, Write: region.Of("/history/-")})
	in, err := runtime.Create(ctx, contract, store.NewMemory(), "T-7", []byte(sampleState))
	require.NoError(t, err)
	for i := range 3 {
		commits(t, proposeAs(t, in, runtime.Proposal{Stage: "note", Patch: fmt.Appendf(nil, `[{"op":"add","path":"/history/-","value":"n%d"}]`, i)}))
	}
	reader := proposeAs(t, in, runtime.Proposal{Stage: "all", Patch: []byte(`[{"op":"add","path":"/history/-","value":"late"}]`)})
	rejects(t, reader, verify.Stale)
	require.Equal(t, []string{"/history/-"}, pathsOf(reader), "a stage that reads the log has not seen the new entries")
}

func TestAMoveOfThePhaseMakesProposalsLate(t *testing.T) {
	contract := sampleWith(t, ir.Stage{Name: "any", In: []string{"open", "review"}, Read: region.Of("/ticket"), Write: region.Of("/ticket")})
	in, err := runtime.Create(ctx, contract, store.NewMemory(), "T-7", []byte(sampleState))
	require.NoError(t, err)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "hand_in", Patch: []byte(`[]`)}))
	p := runtime.Proposal{Stage: "any", Patch: []byte(`[{"op":"replace","path":"/ticket/id","value":"T-8"}]`)}
	v := proposeAs(t, in, p)
	rejects(t, v, verify.Stale)
	require.Empty(t, pathsOf(v))
	p.Base = 1
	commits(t, proposeAs(t, in, p))
	elsewhere, err := write(in, 0, "late")
	require.NoError(t, err)
	rejects(t, elsewhere, verify.PhaseViolation)
}

func TestAVersionOlderThanIsRememberedIsStale(t *testing.T) {
	for remembered, want := range map[int][]bool{0: {false, false, false, true}, 2: {false, true, true, true}, 8: {true, true, true, true}} {
		for base, accepted := range want {
			in, _ := begin(t, runtime.WithRecentCommits(remembered))
			for i := range 3 {
				setMargin(t, in, float64(i+1)/10)
			}
			v, err := write(in, uint64(base), "late")
			require.NoError(t, err)
			require.Equal(t, accepted, v.Verdict == verify.Commit, "%d remembered, base %d", remembered, base)
			if !accepted {
				rejects(t, v, verify.Stale)
				require.Empty(t, pathsOf(v))
			}
		}
	}
}

// rewrite commits an operation of a stage that may do everything.
func rewrite(t *testing.T, in *runtime.Instance, path, value string) {
	t.Helper()
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "root", Role: "admin", Base: in.Version(),
		Patch: fmt.Appendf(nil, `[{"op":"replace","path":%q,"value":%s}]`, path, value)}))
}

func TestWhatIsAsItWasMakesNobodyLate(t *testing.T) {
	const closed = `{"id":"T-7","status":"closed","tags":["a","b","c"]}`
	const open = `{"id":"T-7","status":"open","tags":["a","b","c"]}`
	for _, c := range []struct {
		about string
		steps [][2]string
		stale bool
	}{
		{"a value there and back", [][2]string{{"/ticket/status", `"closed"`}, {"/ticket/status", `"open"`}}, false},
		{"by writes of another place", [][2]string{{"/ticket", closed}, {"/ticket/status", `"open"`}}, false},
		{"a container written again", [][2]string{{"/ticket", closed}, {"/ticket", open}}, false},
		{"another value", [][2]string{{"/ticket/status", `"closed"`}}, true},
		{"another value, and one there and back", [][2]string{{"/ticket/id", `"T-8"`}, {"/ticket/status", `"closed"`}, {"/ticket/status", `"open"`}}, true},
	} {
		in, st := begin(t, runtime.WithSnapshotAfter(1<<30))
		base := in.Version()
		for _, step := range c.steps {
			rewrite(t, in, step[0], step[1])
		}
		v, err := write(in, base, "late")
		require.NoError(t, err)
		require.Equal(t, c.stale, v.Verdict == verify.Reject, c.about)
		replayed, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
		require.NoError(t, err)
		require.Nil(t, replayed.Different, c.about)
	}
}

func TestAViewThatCannotBeComparedAnyMoreIsStale(t *testing.T) {
	in, st := begin(t)
	rewrite(t, in, "/ticket/status", `"closed"`)
	rewrite(t, in, "/ticket/status", `"open"`)
	for i := range 70 {
		setMargin(t, in, float64(i%9)/10)
	}
	v, err := write(in, 0, "late")
	require.NoError(t, err)
	rejects(t, v, verify.Stale)
	require.Equal(t, []string{"/ticket/status"}, pathsOf(v))
	v, err = write(in, 2, "late")
	require.NoError(t, err)
	commits(t, v)
	replayed, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	require.Nil(t, replayed.Different)
}

func TestANewEntryMakesLateWhoSeesItsPlaceholder(t *testing.T) {
	for _, read := range []region.Region{region.Of("/history", "!/history/*"), region.Of("/history/[*]/:at")} {
		contract := sampleWith(t, ir.Stage{Name: "count", In: []string{"open"}, Read: read})
		in, err := runtime.Create(ctx, contract, store.NewMemory(), "T-7", []byte(sampleState))
		require.NoError(t, err)
		before := viewFor(t, in, runtime.Request{Stage: "count"})
		commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Patch: []byte(`[{"op":"add","path":"/history/-","value":"n"}]`)}))
		require.NotEqual(t, string(before.Value), string(viewFor(t, in, runtime.Request{Stage: "count"}).Value))
		rejects(t, proposeAs(t, in, runtime.Proposal{Stage: "count", Patch: []byte(`[]`)}), verify.Stale)
	}
}

func TestManyCommitsAreForgottenAgain(t *testing.T) {
	in, _ := begin(t, runtime.WithRecentCommits(3))
	for i := range 20 {
		setMargin(t, in, float64(i)/100)
		for back := range uint64(6) {
			if back > in.Version() {
				continue
			}
			v := proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: in.Version() - back, Patch: []byte(`[]`)})
			require.Equal(t, back <= 3, v.Verdict == verify.Noop, "version %d, %d back", in.Version(), back)
		}
	}
}

func TestAnOpenedInstanceRemembersTheCommitsItRead(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1<<30))
	setMargin(t, in, 0.1)
	setMargin(t, in, 0.2)
	again, err := runtime.Open(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	v, err := write(again, 0, "late")
	require.NoError(t, err)
	commits(t, v)
	v, err = write(in, 2, "later")
	require.NoError(t, err)
	rejects(t, v, verify.Stale)
	require.Equal(t, []string{"/draft/text"}, pathsOf(v), "written by the other instance")
}

func TestALateProposalIsDecidedOnAViewThatIsTheSame(t *testing.T) {
	seeds := int64(60)
	if testing.Short() {
		seeds = 10
	}
	requests := []runtime.Request{
		{Stage: "draft"}, {Stage: "all"}, {Stage: "margin"}, {Stage: "strict"}, {Stage: "blind"}, {Stage: "enrol", Args: map[string]string{"id": "zoe"}},
		{Stage: "edit", Args: map[string]string{"c": "ann"}}, {Stage: "edit", Args: map[string]string{"c": "bob"}},
	}
	late, same := 0, 0
	for seed := range seeds {
		in, _ := begin(t, runtime.WithAttempts(0))
		wander(t, in, 5, seed)
		base := in.Version()
		before := make([]runtime.View, len(requests))
		for i, r := range requests {
			before[i] = viewFor(t, in, r)
		}
		wander(t, in, int(seed%3)+1, seed+1000)
		for i, r := range requests {
			v := proposeAs(t, in, runtime.Proposal{Stage: r.Stage, Args: r.Args, Base: base, Patch: []byte(`[{"op":"test","path":"","value":0}]`)})
			stale := v.Violations[0].Code == verify.Stale
			after := viewFor(t, in, r)
			require.Equal(t, before[i].Digest == after.Digest && slices.Equal(before[i].Placeholders, after.Placeholders), !stale,
				"seed %d, %s: %+v", seed, r.Stage, v.Violations)
			if stale {
				late++
				require.NotEmpty(t, pathsOf(v))
			} else {
				same++
			}
		}
	}
	require.Greater(t, late, int(seeds))
	require.Greater(t, same, int(seeds))
}

func viewFor(t *testing.T, in *runtime.Instance, r runtime.Request) runtime.View {
	t.Helper()
	view, err := in.View(ctx, r)
	require.NoError(t, err)
	return view
}
