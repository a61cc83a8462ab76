package sqlite_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// A crowd is many instances of one store, and many writers that each commit to all
// of them.
type crowd struct {
	testing.TB
	instances []*runtime.Instance
	writers   int
	rounds    int
	conflicts atomic.Int64
}

// canary is a text that must be seen in one instance only.
func canary(i int) string { return fmt.Sprintf("<canary-%d>", i) }

func gather(t testing.TB, st store.Store, instances, writers, rounds int) *crowd {
	c := &crowd{TB: t, instances: make([]*runtime.Instance, instances), writers: writers, rounds: rounds}
	contract := counter()
	together(writers, func(w int) {
		for i := w; i < instances; i += writers {
			in, err := runtime.Create(ctx, contract, st, fmt.Sprint(i), counterState(canary(i)))
			if err != nil {
				t.Error(err)
				return
			}
			c.instances[i] = in
		}
	})
	require.False(t, t.Failed())
	return c
}

// write commits to every instance, as often as there are rounds.
func (c *crowd) write(writer int) {
	for round := range c.rounds {
		for n := range c.instances {
			i := (n + writer%4*len(c.instances)/4) % len(c.instances)
			if !c.count(c.instances[i], i, fmt.Sprintf("w%d-%d", writer, round)) {
				return
			}
		}
	}
}

// count counts one up, on a new view as long as another writer is faster. Then it
// asks again with the same key.
func (c *crowd) count(in *runtime.Instance, i int, key string) bool {
	for {
		view, err := in.View(ctx, runtime.Request{Stage: "count"})
		if err != nil {
			c.Error(err)
			return false
		}
		if strings.Contains(string(view.Value), "canary") && !strings.Contains(string(view.Value), canary(i)) {
			c.Errorf("instance %d shows %s", i, view.Value)
		}
		p := counting(view.Version, canary(i))
		p.Key = fmt.Sprintf("%s-%d", key, view.Version)
		v, err := in.Propose(ctx, p)
		if err != nil {
			c.Error(err)
			return false
		}
		if v.Verdict == verify.Commit {
			return c.again(in, p, v)
		}
		if v.Violations[0].Code != verify.Stale {
			c.Errorf("%+v", v.Violations)
			return false
		}
		c.conflicts.Add(1)
	}
}

func (c *crowd) again(in *runtime.Instance, p runtime.Proposal, first runtime.Verdict) bool {
	v, err := in.Propose(ctx, p)
	if err != nil || v.Verdict != verify.Commit || v.VersionAfter != first.VersionAfter || v.StateAfter != first.StateAfter {
		c.Errorf("a retry gets %v, %+v", err, v.Verdict)
		return false
	}
	return true
}

// check looks for lost updates and for what is not an instance's own.
func (c *crowd) check(st store.Store) {
	for i, in := range c.instances {
		want := uint64(c.writers * c.rounds)
		require.Equal(c, want, in.Version())
		state, err := in.State(ctx)
		require.NoError(c, err)
		require.JSONEq(c, fmt.Sprintf(`{"n":%d,"text":%q,"filling":%q}`, want, canary(i), canary(i)), string(state))
		head, err := runtime.CheckLog(ctx, st, in.ID(), nil)
		require.NoError(c, err)
		require.Equal(c, in.Head(), head)
	}
}

func TestRow2A13AThousandInstancesAndSixteenWritersLoseNothingAndMixNothing(t *testing.T) {
	t.Parallel()
	st := open(t, newFile(t))
	c := gather(t, st, size(1000, 250, 30), 16, 1)
	together(c.writers, c.write)
	require.False(t, t.Failed())
	require.Positive(t, c.conflicts.Load(), "the writers met")
	c.check(st)
	t.Logf("%d instances, %d writers, %d conflicts", len(c.instances), c.writers, c.conflicts.Load())
}

func TestRow2A7OfWritersOnOneInstanceNoUpdateIsLost(t *testing.T) {
	t.Parallel()
	st := open(t, newFile(t))
	c := gather(t, st, 1, 16, size(20, 4, 2))
	together(c.writers, c.write)
	require.False(t, t.Failed())
	c.check(st)
	require.Positive(t, c.conflicts.Load(), "the writers met")
	sound(t, st, c.instances[0])
}

// Commits of many instances that are made at the same time share a sync: more of
// them are made in the same time than by one alone.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("%d instances at once", writers), func(b *testing.B) {
			st := open(b, newFile(b))
			c := gather(b, st, writers, writers, 1)
			left := atomic.Int64{}
			left.Store(int64(b.N))
			b.ResetTimer()
			together(writers, func(w int) {
				in := c.instances[w]
				for left.Add(-1) >= 0 {
					p := counting(in.Version(), "t")
					p.Key = ""
					if _, err := in.Propose(ctx, p); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// Writers of one instance share a sync as well, if they write to places that do not meet.
func BenchmarkOneInstance(b *testing.B) {
	begin := func(b *testing.B) *runtime.Instance {
		in, err := runtime.Create(ctx, sqlite.LedgerContract(), open(b, newFile(b)), "l", sqlite.LedgerState("f"))
		require.NoError(b, err)
		b.Cleanup(func() { in.Close(ctx) })
		return in
	}
	run := func(b *testing.B, n int, do func(writer, i int) error) {
		left := atomic.Int64{}
		left.Store(int64(b.N))
		b.ResetTimer()
		together(n, func(w int) {
			for i := 1; left.Add(-1) >= 0; i++ {
				if err := do(w, i); err != nil {
					b.Error(err)
					return
				}
			}
		})
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	}
	for _, n := range []int{1, 16} {
		b.Run(fmt.Sprintf("%d writers", n), func(b *testing.B) {
			in := begin(b)
			run(b, n, func(w, i int) error {
				line := fmt.Sprint("w", w)
				v, err := in.Propose(ctx, runtime.Proposal{
					Stage: "count", Args: map[string]string{"w": line}, Base: in.Version(),
					Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/lines/%s","value":%d}]`, line, i),
				})
				if err == nil && v.Verdict != verify.Commit {
					err = fmt.Errorf("%+v", v.Violations)
				}
				return err
			})
		})
		b.Run(fmt.Sprintf("%d viewers", n), func(b *testing.B) {
			in := begin(b)
			run(b, n, func(w, i int) error {
				_, err := in.View(ctx, runtime.Request{Stage: "count", Args: map[string]string{"w": fmt.Sprint("w", w)}})
				return err
			})
		})
	}
}

// Opening costs what the newest snapshot and the log after it cost, whatever came before.
func BenchmarkOpenAfterViews(b *testing.B) {
	const views = 100_000
	st := open(b, newFile(b))
	in, err := runtime.Create(ctx, sqlite.LedgerContract(), st, "l", sqlite.LedgerState("f"))
	require.NoError(b, err)
	together(64, func(w int) {
		for range views / 64 {
			if _, err := in.View(ctx, runtime.Request{Stage: "count", Args: map[string]string{"w": fmt.Sprint("w", w%sqlite.LedgerWriters)}}); err != nil {
				b.Error(err)
				return
			}
		}
	})
	require.NoError(b, in.Close(ctx))
	for b.Loop() {
		_, err := runtime.Open(ctx, in.Contract(), st, "l")
		require.NoError(b, err)
	}
}
