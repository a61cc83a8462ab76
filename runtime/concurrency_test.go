package runtime_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// together runs f n times at once.
func together(n int, f func(i int)) {
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { f(i) })
	}
	wait.Wait()
}

// write proposes that the draft's text becomes text, on a given version.
func write(in *runtime.Instance, base uint64, text string) (runtime.Verdict, error) {
	return in.Propose(ctx, runtime.Proposal{Stage: "draft", Base: base,
		Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/draft/text","value":%q}]`, text)})
}

func TestOfManyWritersOnOneVersionExactlyOneCommits(t *testing.T) {
	in, _ := begin(t)
	for base := range uint64(10) {
		var won atomic.Int32
		together(8, func(i int) {
			v, err := write(in, base, fmt.Sprintf("%d-%d", base, i))
			if err != nil {
				t.Error(err)
			} else if v.Verdict == verify.Commit {
				won.Add(1)
			} else if v.Violations[0].Code != verify.Stale || v.Actor().Verdict != verify.Reject {
				t.Errorf("%+v", v)
			}
		})
		require.Equal(t, int32(1), won.Load())
		require.Equal(t, base+1, in.Version())
	}
	requireDense(t, in, 10)
}

// requireDense checks that the trace holds, and that its commits count 1, 2, 3, ...
// up to n, each with the state it found equal to the one the last commit left.
func requireDense(t *testing.T, in *runtime.Instance, n uint64) {
	t.Helper()
	lines, commits := linesOf(t, in), uint64(0)
	state := lines[0].State
	for _, l := range lines {
		if l.Kind != trace.Decision {
			continue
		}
		require.Equal(t, state, l.Verdict.StateBefore)
		if l.Verdict.Verdict == verify.Commit {
			commits++
			require.Equal(t, commits, l.Verdict.VersionAfter)
		}
		state = l.Verdict.StateAfter
	}
	require.Equal(t, n, commits)
	require.Equal(t, n, in.Version())
	require.Equal(t, in.Key().State(in.StateDigest()), state)
}

func TestWritersThatTryAgainAllGetThrough(t *testing.T) {
	in, _ := begin(t)
	together(4, func(i int) { tryAgain(t, in, 10, i) })
	requireDense(t, in, 40)
}

// tryAgain commits n times, each time on a new view until it is the current one.
func tryAgain(t *testing.T, in *runtime.Instance, n, writer int) {
	for done := 0; done < n; {
		view, err := in.View(ctx, runtime.Request{Stage: "draft"})
		if err != nil {
			t.Error(err)
			return
		}
		v, err := write(in, view.Version, fmt.Sprintf("%d-%d", writer, done))
		if err != nil {
			t.Error(err)
			return
		}
		if v.Verdict == verify.Commit {
			done++
		}
	}
}

func TestSeveralProcessesOnOneStoreActAsOne(t *testing.T) {
	first, st := begin(t, runtime.WithSnapshotAfter(1))
	instances := []*runtime.Instance{first}
	for range 3 {
		in, err := runtime.Open(ctx, sampleContract(t), st, "T-7")
		require.NoError(t, err)
		instances = append(instances, in)
	}
	together(len(instances), func(i int) { tryAgain(t, instances[i], 8, i) })
	for _, in := range instances {
		_, err := in.View(ctx, runtime.Request{Stage: "draft"}) // learns of the others' last commits
		require.NoError(t, err)
	}
	_, err := first.View(ctx, runtime.Request{Stage: "draft"})
	require.NoError(t, err)
	requireDense(t, first, 32)
	for _, in := range instances {
		require.Equal(t, stateOf(t, first), stateOf(t, in))
	}
}

func TestRow2A16OfConcurrentCreatesOfOneIDExactlyOneSucceeds(t *testing.T) {
	contract, st := sampleContract(t), store.NewMemory()
	var won atomic.Int32
	together(8, func(int) {
		_, err := runtime.Create(ctx, contract, st, "T-7", []byte(sampleState))
		if err == nil {
			won.Add(1)
		}
	})
	require.Equal(t, int32(1), won.Load())
	in, err := runtime.Open(ctx, contract, st, "T-7")
	require.NoError(t, err)
	requireDense(t, in, 0)
}

func TestRow2A10ViewsAreCopies(t *testing.T) {
	in, _ := begin(t)
	state, digest := stateOf(t, in), in.StateDigest()
	together(4, func(int) {
		for range 10 {
			view, err := in.View(ctx, runtime.Request{Stage: "all"})
			if err != nil {
				t.Error(err)
				return
			}
			scribble(view.Value)
			for _, list := range [][]string{view.Writes, view.Sources, view.Next, view.Placeholders} {
				for i := range list {
					list[i] = "X"
				}
			}
			exported, err := in.State(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			scribble(exported)
		}
	})
	require.Equal(t, state, stateOf(t, in))
	require.Equal(t, digest, in.StateDigest())
	view, err := in.View(ctx, runtime.Request{Stage: "all"})
	require.NoError(t, err)
	require.NotContains(t, string(view.Value), "X")
	require.NotContains(t, view.Writes, "X")
	requireDense(t, in, 0)
}

func scribble(bytes []byte) {
	for i := range bytes {
		bytes[i] = 'X'
	}
}

func TestWhatAProposalWasMadeOfMayBeChangedAfterwards(t *testing.T) {
	in, st := begin(t)
	p := runtime.Proposal{Stage: "edit", Args: map[string]string{"c": "ann"}, Patch: []byte(`[{"op":"replace","path":"/customers/ann/name","value":"Anna"}]`)}
	commits(t, proposeAs(t, in, p))
	scribble(p.Patch)
	p.Args["c"] = "bob"
	require.Equal(t, map[string]string{"c": "ann"}, linesOf(t, in)[1].Args)
	again, err := runtime.Open(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	require.Equal(t, stateOf(t, in), stateOf(t, again))
}

func TestRow2A13ViewsOfOneInstanceNeverShowAnother(t *testing.T) {
	contract, st := sampleContract(t), store.NewMemory()
	var instances []*runtime.Instance
	for i := range 4 {
		state := strings.Replace(sampleState, "T-7", fmt.Sprintf("run-%d", i), 1)
		in, err := runtime.Create(ctx, contract, st, fmt.Sprint(i), []byte(state))
		require.NoError(t, err)
		instances = append(instances, in)
	}
	together(len(instances), func(i int) {
		for range 20 {
			view, err := instances[i].View(ctx, runtime.Request{Stage: "draft"})
			if err != nil || strings.Count(string(view.Value), "run-") != 1 || !strings.Contains(string(view.Value), fmt.Sprintf("run-%d", i)) {
				t.Errorf("%v", err)
			}
		}
	})
}

func TestWhatHappensBeforeADecisionIsQueuedIsTakenIntoAccount(t *testing.T) {
	meanwhile := func(t *testing.T, in *runtime.Instance, p runtime.Proposal, f func()) runtime.Verdict {
		t.Helper()
		v, err := in.ProposeMeanwhile(ctx, p, sync.OnceFunc(f))
		require.NoError(t, err)
		return v
	}
	t.Run("a commit", func(t *testing.T) {
		in, _ := begin(t)
		v := meanwhile(t, in, runtime.Proposal{Stage: "draft", Patch: []byte(inside)}, func() {
			commits(t, propose(t, in, `[{"op":"add","path":"/draft/refs/-","value":"first"}]`))
		})
		rejects(t, v, verify.Stale)
		require.Equal(t, uint64(1), in.Version())
	})
	t.Run("a try", func(t *testing.T) {
		in, _ := begin(t)
		v := meanwhile(t, in, runtime.Proposal{Stage: "draft", Patch: []byte(outside(2))}, func() {
			require.Equal(t, 1, propose(t, in, outside(1)).Attempt)
		})
		require.Equal(t, 2, v.Attempt)
	})
	t.Run("the room for what changes nothing", func(t *testing.T) {
		in, st := begin(t, runtime.WithIdlePatches(len(outside(1))+10))
		meanwhile(t, in, runtime.Proposal{Stage: "draft", Patch: []byte(outside(2))}, func() {
			rejects(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Patch: []byte(outside(1))}), verify.WriteScopeViolation)
		})
		log := logOf(t, st)
		require.NotEmpty(t, log[1].Sealed)
		require.Empty(t, log[3].Sealed)
	})
	same := runtime.Proposal{Stage: "draft", Patch: []byte(`[]`), Key: "k"}
	t.Run("the same with the same key", func(t *testing.T) {
		in, _ := begin(t)
		other := make(chan runtime.Verdict)
		v := meanwhile(t, in, same, func() {
			go func() {
				v, err := in.Propose(ctx, same)
				if err != nil {
					t.Error(err)
				}
				other <- v
			}()
			time.Sleep(10 * time.Millisecond)
		})
		require.Equal(t, (<-other).OperatorVerdict, v.OperatorVerdict)
		require.Len(t, linesOf(t, in), 1+2, "it is recorded once")
	})
	t.Run("the same with the same key in another process", func(t *testing.T) {
		in, st := begin(t)
		elsewhere := reopened(t, in, st)
		var first runtime.Verdict
		v := meanwhile(t, in, same, func() { first = proposeAs(t, elsewhere, same) })
		require.Equal(t, first.OperatorVerdict, v.OperatorVerdict)
		require.Len(t, linesOf(t, in), 1+2, "it is recorded once")
	})
}
