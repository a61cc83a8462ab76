package runtime_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math/rand"
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

var long = flag.Bool("long", false, "run at full size")

func size(full, usual, short int) int {
	switch {
	case *long:
		return full
	case testing.Short():
		return short
	}
	return usual
}

// A gate is a store whose appends wait until they are let, one by one.
type gate struct {
	store.Store
	asked chan int // with how many records
	let   chan error
}

// gated is an instance whose store is a gate, and the store behind it.
func gated(t testing.TB, opts ...runtime.Option) (*runtime.Instance, *gate) {
	t.Helper()
	st := &gate{store.NewMemory(), make(chan int), make(chan error)}
	in, err := runtime.Create(ctx, notebook(t), st, "G", []byte(notes(8)), opts...)
	require.NoError(t, err)
	return in, st
}

// Errors that a gate is let with, beside nil.
var (
	errBefore = errors.New("the disk is gone")                // nothing was appended
	errAfter  = errors.New("the connection is gone, after a") // but it was appended
)

func (s *gate) Append(ctx context.Context, id string, last uint64, records ...store.Record) error {
	s.asked <- len(records)
	err := <-s.let
	if err == errBefore {
		return err
	}
	if failed := s.Store.Append(ctx, id, last, records...); failed != nil {
		return failed
	}
	return err
}

func notes(n int) string {
	text := ""
	for i := range n {
		text += fmt.Sprintf(`,"n%d":{"text":"x","count":0}`, i)
	}
	return `{"notes":{` + text[1:] + `},"list":[],"set":[],"seen":"n0","total":0}`
}

// noting proposes a count for a note.
func noting(n, count int, base uint64, key string) runtime.Proposal {
	return runtime.Proposal{
		Stage: "note", Args: map[string]string{"n": fmt.Sprint("n", n)}, Base: base, Key: key,
		Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/notes/n%d/count","value":%d}]`, n, count),
	}
}

// An outcome is what a call came to.
type outcome struct {
	runtime.Verdict
	error
}

// asked proposes while others go on.
func asked(ctx context.Context, in *runtime.Instance, p runtime.Proposal) chan outcome {
	out := make(chan outcome, 1)
	go func() {
		v, err := in.Propose(ctx, p)
		out <- outcome{v, err}
	}()
	return out
}

// waits lets n submissions come to wait behind the one in flight.
func waits(in *runtime.Instance, n int) {
	for in.Waiting() < n {
		time.Sleep(time.Millisecond)
	}
}

func TestWhatWaitsIsAppendedTogetherAndToldAfterwards(t *testing.T) {
	in, st := gated(t)
	first := asked(ctx, in, noting(0, 1, 0, ""))
	require.Equal(t, 2, <-st.asked)
	var others []chan outcome
	for n := range 5 {
		others = append(others, asked(ctx, in, noting(n+1, 1, 0, "")))
		waits(in, n+1)
	}
	refused := asked(ctx, in, runtime.Proposal{Stage: "peek", Role: "reader", Patch: []byte(`[{"op":"replace","path":"/total","value":1}]`)})
	waits(in, 6)
	late := asked(ctx, in, noting(0, 2, 0, ""))
	waits(in, 7)
	require.Zero(t, in.Version(), "what is not in the store is not shown")
	require.Equal(t, uint64(1), in.Head().Seq)
	require.Contains(t, stateOf(t, in), `"n0":{"count":0`)
	runs, err := in.Runnable(ctx, "")
	require.NoError(t, err)
	require.NotEmpty(t, runs)
	select {
	case o := <-first:
		t.Fatal("it was told before it was appended", o)
	case <-time.After(20 * time.Millisecond):
	}
	st.let <- nil
	require.Equal(t, verify.Commit, (<-first).Verdict.Verdict)
	require.Equal(t, 14, <-st.asked, "all that waited")
	st.let <- nil
	for n, other := range others {
		v := (<-other).Verdict
		commits(t, v)
		require.Equal(t, uint64(n+2), v.VersionAfter, "each on the state of the one before")
	}
	rejects(t, (<-refused).Verdict, verify.WriteScopeViolation)
	rejects(t, (<-late).Verdict, verify.Stale)
	sound(t, in, st.Store)
}

// sound checks that the log holds, that it can be decided again, and leads to the state.
func sound(t testing.TB, in *runtime.Instance, st store.Store) {
	t.Helper()
	in.Quiet()
	head, err := runtime.CheckLog(ctx, st, in.ID(), nil)
	require.NoError(t, err)
	require.Equal(t, in.Head(), head)
	require.NoError(t, runtime.CheckSnapshots(ctx, st, in.ID()))
	again, err := runtime.Replay(ctx, in.Contract(), st, in.ID())
	require.NoError(t, err)
	require.Nil(t, again.Different)
	require.Equal(t, []any{in.Version(), in.StateDigest()}, []any{again.Version, again.State})
	opened, err := runtime.Open(ctx, in.Contract(), st, in.ID())
	require.NoError(t, err)
	require.Equal(t, in.StateDigest(), opened.StateDigest())
	opened.Quiet()
}

func TestAFailedAppendFailsAllThatWasJudgedOnIt(t *testing.T) {
	for name, failure := range map[string]error{"before": errBefore, "after": errAfter} {
		t.Run(name, func(t *testing.T) {
			in, st := gated(t)
			first := asked(ctx, in, noting(0, 1, 0, "first"))
			<-st.asked
			second, view := asked(ctx, in, noting(1, 1, 0, "second")), make(chan error, 1)
			waits(in, 1)
			go func() {
				_, err := in.View(ctx, runtime.Request{Stage: "write"})
				view <- err
			}()
			waits(in, 2)
			st.let <- failure
			require.ErrorIs(t, (<-first).error, failure)
			require.ErrorIs(t, (<-second).error, failure)
			require.ErrorIs(t, <-view, failure)

			landed := failure == errAfter
			again := asked(ctx, in, noting(1, 1, 0, "second"))
			require.Equal(t, 2, <-st.asked)
			st.let <- nil
			v := (<-again).Verdict
			commits(t, v)
			if landed {
				require.Equal(t, uint64(2), v.VersionAfter, "the state of what was in the log after all")
			} else {
				require.Equal(t, uint64(1), v.VersionAfter)
			}
			retried := asked(ctx, in, noting(0, 1, 0, "first"))
			if !landed {
				<-st.asked
				st.let <- nil
			}
			v = (<-retried).Verdict
			commits(t, v)
			require.Equal(t, landed, v.VersionAfter == 1)
			require.Equal(t, uint64(2), in.Version(), "nothing is doubled")
			sound(t, in, st.Store)
		})
	}
}

func TestAConflictHasAllThatWaitsJudgedAgain(t *testing.T) {
	in, st := gated(t)
	other, err := runtime.Open(ctx, in.Contract(), st.Store, "G")
	require.NoError(t, err)
	first := asked(ctx, in, noting(0, 1, 0, ""))
	<-st.asked
	second, third := asked(ctx, in, noting(1, 1, 0, "")), asked(ctx, in, noting(2, 1, 0, ""))
	waits(in, 2)
	commits(t, proposeAs(t, other, noting(1, 7, 0, "")))
	st.let <- nil
	for left := 6; left > 0; {
		left -= <-st.asked
		st.let <- nil
	}
	commits(t, (<-first).Verdict)
	rejects(t, (<-second).Verdict, verify.Stale)
	commits(t, (<-third).Verdict)
	require.Equal(t, uint64(3), in.Version())
	sound(t, in, st.Store)
}

func TestADeadlineEndsTheWaitForAStoreThatHangs(t *testing.T) {
	in, st := gated(t, runtime.WithViews(runtime.ViewsAll))
	short := func() context.Context {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	inFlight := asked(short(), in, noting(0, 1, 0, "in flight"))
	<-st.asked
	var open *runtime.OpenOutcomeError
	withdrawn := asked(short(), in, noting(1, 1, 0, "withdrawn"))
	waits(in, 1)
	behind := asked(ctx, in, noting(2, 1, 0, "behind"))
	waits(in, 2)
	o := <-inFlight
	require.ErrorIs(t, o.error, context.DeadlineExceeded)
	require.ErrorAs(t, o.error, &open)
	o = <-withdrawn
	require.Equal(t, context.DeadlineExceeded, o.error, "it is certain that it is not in the log")
	for name, call := range map[string]func(ctx context.Context) error{
		"propose": func(ctx context.Context) error { _, err := in.Propose(ctx, noting(3, 1, 0, "")); return err },
		"propose again": func(ctx context.Context) error {
			_, err := in.Propose(ctx, noting(0, 1, 0, "in flight"))
			return err
		},
		"view":    func(ctx context.Context) error { _, err := in.View(ctx, runtime.Request{Stage: "write"}); return err },
		"refused": func(ctx context.Context) error { _, err := in.View(ctx, runtime.Request{Stage: "peek"}); return err },
		"advance": func(ctx context.Context) error { _, err := in.Advance(ctx, "night", ""); return err },
		"close":   func(ctx context.Context) error { return in.Quieten(ctx) },
	} {
		began := time.Now()
		require.Equal(t, context.DeadlineExceeded, call(short()), name)
		require.Less(t, time.Since(began), 10*time.Second, name)
	}
	waits(in, 1)
	require.Equal(t, 1, in.Waiting(), "nobody else waits")
	st.let <- nil
	require.Equal(t, 2, <-st.asked)
	st.let <- nil
	v := (<-behind).Verdict
	commits(t, v)
	require.Equal(t, uint64(2), v.VersionAfter)
	v = proposeAs(t, in, noting(0, 1, 0, "in flight"))
	require.Equal(t, uint64(1), v.VersionAfter, "what was in flight is in the log, and its key tells")
	require.Contains(t, stateOf(t, in), `"n1":{"count":0`)
	sound(t, in, st.Store)
}

// A deaf store does not look at contexts, and answers nothing until it is woken.
type deaf struct {
	store.Store
	awake chan struct{}
}

func (s *deaf) Create(_ context.Context, id string, records ...store.Record) error {
	<-s.awake
	return s.Store.Create(ctx, id, records...)
}

func (s *deaf) Append(_ context.Context, id string, last uint64, records ...store.Record) error {
	<-s.awake
	return s.Store.Append(ctx, id, last, records...)
}

func (s *deaf) Read(_ context.Context, id string, from uint64, limit int) iter.Seq2[store.Record, error] {
	<-s.awake
	return s.Store.Read(ctx, id, from, limit)
}

func (s *deaf) Find(_ context.Context, id, key string) (uint64, error) {
	<-s.awake
	return s.Store.Find(ctx, id, key)
}

func (s *deaf) Snapshot(_ context.Context, id string, version uint64) (store.Snapshot, error) {
	<-s.awake
	return s.Store.Snapshot(ctx, id, version)
}

func TestADeadlineEndsEveryCallOfAStoreThatIsDeaf(t *testing.T) {
	begun, err := runtime.Create(ctx, notebook(t), store.NewMemory(), "D", []byte(notes(2)))
	require.NoError(t, err)
	c, st := begun.Contract(), &deaf{begun.Store(), make(chan struct{})}
	close(st.awake)
	in, err := runtime.Open(ctx, c, st, "D")
	require.NoError(t, err)
	st.awake = make(chan struct{})
	defer close(st.awake)
	for name, call := range map[string]func(ctx context.Context) error{
		"create": func(ctx context.Context) error {
			_, err := runtime.Create(ctx, c, st, "new", []byte(notes(1)))
			require.ErrorAs(t, err, new(*runtime.OpenOutcomeError))
			return err
		},
		"open":         func(ctx context.Context) error { _, err := runtime.Open(ctx, c, st, "D"); return err },
		"at":           func(ctx context.Context) error { _, err := runtime.At(ctx, c, st, "D", 0); return err },
		"replay":       func(ctx context.Context) error { _, err := runtime.Replay(ctx, c, st, "D"); return err },
		"check":        func(ctx context.Context) error { _, err := runtime.CheckLog(ctx, st, "D", nil); return err },
		"snapshots":    func(ctx context.Context) error { return runtime.CheckSnapshots(ctx, st, "D") },
		"trace":        func(ctx context.Context) error { return in.Trace(ctx, discard{}) },
		"with a key":   func(ctx context.Context) error { _, err := in.Propose(ctx, noting(0, 1, 0, "k")); return err },
		"and that key": func(ctx context.Context) error { _, err := in.Propose(ctx, noting(0, 1, 0, "k")); return err },
		"propose":      func(ctx context.Context) error { _, err := in.Propose(ctx, noting(0, 1, 0, "")); return err },
	} {
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		require.ErrorIs(t, call(short), context.DeadlineExceeded, name)
		cancel()
	}
	require.Zero(t, in.Version())
	require.Contains(t, stateOf(t, in), "n1")
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// A troubled store is slow, fails before and after it appended, and lets another process be
// faster, at random. It notes which keys it has made durable.
type troubled struct {
	store.Store
	mu     sync.Mutex
	random *rand.Rand
	synced map[string]bool
	others func(n int)
	n      int

	failed, lost, passed, together atomic.Int64
}

func (s *troubled) Append(ctx context.Context, id string, last uint64, records ...store.Record) error {
	s.mu.Lock()
	what, pause := s.random.Intn(12), time.Duration(s.random.Intn(300))*time.Microsecond
	s.n++
	n := s.n
	s.mu.Unlock()
	time.Sleep(pause)
	switch what {
	case 0:
		s.failed.Add(1)
		return errBefore
	case 1:
		s.passed.Add(1)
		s.others(n)
	}
	if len(records) > 2 {
		s.together.Add(1)
	}
	if err := s.Store.Append(ctx, id, last, records...); err != nil {
		return err
	}
	s.mu.Lock()
	for _, r := range records {
		s.synced[r.Key] = true
	}
	s.mu.Unlock()
	if what == 2 {
		s.lost.Add(1)
		return errAfter
	}
	return nil
}

// Whatever a store does, and whoever proposes at the same time: what was acknowledged is in the
// log as it was told, once, was durable before it was told, and the log leads to the state.
func TestNothingAcknowledgedIsLostDoubledOrToldTooEarly(t *testing.T) {
	const writers, notesEach = 10, 12
	rounds := size(400, 60, 20)
	memory := store.NewMemory()
	st := &troubled{Store: memory, random: rand.New(rand.NewSource(1)), synced: map[string]bool{}}
	in, err := runtime.Create(ctx, notebook(t), st, "R", []byte(notes(notesEach)), runtime.WithSnapshotAfter(20_000))
	require.NoError(t, err)
	other, err := runtime.Open(ctx, in.Contract(), memory, "R")
	require.NoError(t, err)
	st.others = func(n int) {
		key := fmt.Sprint("other ", n)
		v, err := other.Propose(ctx, noting(notesEach-1, n%9, other.Version(), key))
		if err != nil || v.Verdict == "" {
			t.Error(err, v)
		}
	}
	var mu sync.Mutex
	told := map[string]runtime.Verdict{}
	left := 0
	together(writers, func(w int) {
		random := rand.New(rand.NewSource(int64(w)))
		for round := range rounds {
			note, key := w, fmt.Sprintf("%d-%d", w, round)
			if random.Intn(3) == 0 {
				note = random.Intn(notesEach) // somebody else's
			}
			p := noting(note, random.Intn(9), in.Version(), key)
			if random.Intn(8) == 0 {
				p.Patch = fmt.Appendf(nil, `[{"op":"remove","path":"/notes/n%d/count"}]`, note)
			}
			for {
				within, cancel := ctx, context.CancelFunc(func() {})
				if random.Intn(6) == 0 {
					within, cancel = context.WithTimeout(ctx, time.Duration(random.Intn(2000))*time.Microsecond)
				}
				v, err := in.Propose(within, p)
				cancel()
				if err == nil {
					st.mu.Lock()
					durable := st.synced[key]
					st.mu.Unlock()
					if !durable {
						t.Errorf("%s was told before it was durable", key)
					}
					mu.Lock()
					told[key] = v
					mu.Unlock()
					break
				}
				if !errors.Is(err, errBefore) && !errors.Is(err, errAfter) && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
					return
				}
				if random.Intn(10) == 0 { // this one is not asked for again
					mu.Lock()
					left++
					mu.Unlock()
					break
				}
			}
			if random.Intn(4) == 0 {
				if _, err := in.View(ctx, runtime.Request{Stage: "write"}); err != nil && !errors.Is(err, errBefore) && !errors.Is(err, errAfter) {
					t.Error(err)
				}
			}
		}
	})
	require.False(t, t.Failed())
	_, err = in.State(ctx)
	require.NoError(t, err)
	_, err = in.Refresh(ctx)
	require.NoError(t, err)
	require.Len(t, told, writers*rounds-left)
	recorded := map[string]int{}
	var asked string
	for _, r := range recordsOf(t, memory, "R") {
		l := recordOf(t, r.Line)
		if l.Kind == trace.Proposal {
			asked = l.Key
			recorded[asked]++
			continue
		}
		if v, ok := told[asked]; l.Kind == trace.Decision && ok {
			require.Contains(t, string(l.Verdict), fmt.Sprintf(`"verdict":%q,"version_before":%d,"version_after":%d`, v.Verdict, v.VersionBefore, v.VersionAfter))
		}
	}
	for key := range told {
		require.Equal(t, 1, recorded[key], key)
	}
	for key, n := range recorded {
		require.Equal(t, 1, n, key)
	}
	sound(t, in, memory)
	t.Logf("%d told, %d left; appends: %d of several, %d failed before and %d after, %d overtaken", len(told), left, st.together.Load(), st.failed.Load(), st.lost.Load(), st.passed.Load())
	for _, n := range []*atomic.Int64{&st.failed, &st.lost, &st.passed, &st.together} {
		require.Positive(t, n.Load())
	}
}

func recordsOf(t testing.TB, st store.Store, id string) (all []store.Record) {
	t.Helper()
	for r, err := range st.Read(ctx, id, 1, 0) {
		require.NoError(t, err)
		all = append(all, r)
	}
	return all
}

// A large view among many small commits is shown all the same: who was overtaken once is not
// overtaken again.
func TestNobodyIsOvertakenForEver(t *testing.T) {
	in, _ := begin(t)
	judged := 0
	others := make(chan error, 10)
	v, err := in.ProposeMeanwhile(ctx, runtime.Proposal{Stage: "draft", Patch: []byte(inside)}, func() {
		if judged++; judged > 3 {
			others <- nil
			return
		}
		patch := fmt.Appendf(nil, `[{"op":"replace","path":"/internal/margin","value":0.%d}]`, judged)
		go func() {
			_, err := in.Propose(ctx, runtime.Proposal{Stage: "margin", Base: in.Version(), Patch: patch})
			others <- err
		}()
		time.Sleep(30 * time.Millisecond)
	})
	require.NoError(t, err)
	commits(t, v)
	require.Equal(t, 2, judged)
	require.Equal(t, uint64(2), v.VersionAfter, "after the first of the others, before the second")
	for range judged {
		require.NoError(t, <-others)
	}
}

func TestAClosedInstanceHasFinishedAndSaysNothingMore(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1))
	wander(t, in, 12, 3)
	commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Base: in.Version(), Patch: []byte(`[{"op":"add","path":"/history/-","value":"` + string(make3k()) + `"}]`)}))
	require.NoError(t, in.Close(ctx))
	s, err := st.Snapshot(ctx, "T-7", in.Version())
	require.NoError(t, err)
	require.Equal(t, in.Head().Seq, s.Seq)
	_, err = in.Propose(ctx, runtime.Proposal{Stage: "draft", Patch: []byte(`[]`)})
	require.ErrorIs(t, err, runtime.ErrClosed)
	_, err = in.View(ctx, runtime.Request{Stage: "draft"})
	require.ErrorIs(t, err, runtime.ErrClosed)
	_, err = in.State(ctx)
	require.ErrorIs(t, err, runtime.ErrClosed)
	require.NoError(t, in.Close(ctx))
	require.Equal(t, s.Version, in.Version())
}

func make3k() []byte {
	text := make([]byte, 3000)
	for i := range text {
		text[i] = 'x'
	}
	return text
}
