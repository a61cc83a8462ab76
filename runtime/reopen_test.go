package runtime_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// A pair is an instance that stays open and one that is opened anew now and then; both
// are begun with the same key, state and clock.
type pair struct {
	stays, again *runtime.Instance
	reopen       func() *runtime.Instance
	logs         [2]*store.Memory
}

func newPair(t *testing.T, opts ...runtime.Option) *pair {
	t.Helper()
	p := &pair{logs: [2]*store.Memory{store.NewMemory(), store.NewMemory()}}
	for i, st := range p.logs {
		random := runtime.WithRandom(bytes.NewReader(make([]byte, 32)))
		in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState), append(opts, runtime.WithClock(fixedClock), random)...)
		require.NoError(t, err)
		if p.again = in; i == 0 {
			p.stays = in
		}
	}
	p.reopen = func() *runtime.Instance {
		in, err := runtime.Open(ctx, sampleContract(t), p.logs[1], "T-7", append(opts, runtime.WithClock(fixedClock))...)
		require.NoError(t, err)
		return in
	}
	return p
}

// propose gives both the same proposal, which must come to the same in verdict and log.
func (p *pair) propose(t *testing.T, proposal runtime.Proposal) runtime.Verdict {
	t.Helper()
	v, err := p.stays.Propose(ctx, proposal)
	require.NoError(t, err)
	w, err := p.again.Propose(ctx, proposal)
	require.NoError(t, err)
	want, err := json.Marshal([]any{v.OperatorVerdict, v.Actor()})
	require.NoError(t, err)
	got, err := json.Marshal([]any{w.OperatorVerdict, w.Actor()})
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "version %d, %+v", p.stays.Version(), proposal)
	require.Equal(t, p.stays.Head(), p.again.Head())
	return v
}

// aMove is a random proposal, often a late one, sometimes one with a key, made before, or
// of the phase.
func aMove(random *rand.Rand, version uint64, i int) runtime.Proposal {
	p := runtime.Proposal{Stage: "all", Base: version - min(version, uint64(random.Intn(12)*random.Intn(2)))}
	switch random.Intn(7) {
	case 0:
		p.Stage, p.Patch = "draft", fmt.Appendf(nil, `[{"op":"replace","path":"/draft/text","value":"%d"}]`, random.Intn(2))
	case 1:
		p.Stage, p.Patch = "margin", fmt.Appendf(nil, `[{"op":"replace","path":"/internal/margin","value":0.%d}]`, random.Intn(9))
	case 2: // there and back
		p.Stage, p.Role = "root", "admin"
		p.Patch = fmt.Appendf(nil, `[{"op":"replace","path":"/ticket/status","value":%q}]`, []string{"open", "closed"}[random.Intn(2)])
	case 3:
		p.Stage, p.Args = "edit", map[string]string{"c": []string{"ann", "bob"}[random.Intn(2)]}
		p.Patch = fmt.Appendf(nil, `[{"op":"replace","path":"/customers/%s/name","value":"%d"}]`, p.Args["c"], random.Intn(2))
	case 4:
		p.Stage, p.Patch = "strict", []byte(`[]`)
	case 5: // many places
		p.Stage, p.Patch = "margin", []byte("["+strings.TrimSuffix(strings.Repeat(`{"op":"replace","path":"/internal/margin","value":0.5},`, 9), ",")+"]")
	default:
		patch := everyEdit[random.Intn(len(everyEdit))]
		if strings.Contains(patch, "%") {
			patch = fmt.Sprintf(patch, i)
		}
		p.Patch = []byte(patch)
	}
	if random.Intn(8) == 0 {
		p.Key = fmt.Sprint("key ", random.Intn(4))
	}
	return p
}

func TestOpeningAgainChangesNoLaterVerdict(t *testing.T) {
	seeds, moves := int64(40), 60
	if testing.Short() {
		seeds = 15
	}
	limits := [][]runtime.Option{
		nil,
		{runtime.WithRecentCommits(5)},
		{runtime.WithRecentCommits(0)},
		{runtime.WithRecentBytes(1000)},
		{runtime.WithRecentBytes(60_000)},
	}
	late, past, forgotten := 0, 0, 0
	for seed := range seeds {
		random := rand.New(rand.NewSource(seed))
		opts := slices.Concat(limits[seed%int64(len(limits))], []runtime.Option{
			runtime.WithSnapshotAfter([]int{1, 1, 4000, 1 << 30}[random.Intn(4)]), runtime.WithAttempts(random.Intn(3)),
		})
		p := newPair(t, opts...)
		for i := range moves {
			m := aMove(random, p.stays.Version(), i)
			if random.Intn(3) == 0 {
				p.again = p.reopen()
			}
			behind := m.Base < p.stays.Version()
			switch v := p.propose(t, m); {
			case behind && v.Verdict != verify.Reject:
				past++
			case behind && v.Violations[0].Code == verify.Stale && len(pathsOf(v)) > 0:
				late++
			case behind && v.Violations[0].Code == verify.Stale:
				forgotten++
			}
		}
		replayed, err := runtime.Replay(ctx, sampleContract(t), p.logs[1], "T-7")
		require.NoError(t, err)
		require.Nil(t, replayed.Different)
	}
	require.Greater(t, past, int(seeds), "late proposals that were let through")
	require.Greater(t, late, int(seeds))
	require.Greater(t, forgotten, int(seeds)/2)
}

// In each, the version that the proposal was made on lies before the newest snapshot.
func TestWhatWasWrittenBeforeTheSnapshotIsKnownAfterOpening(t *testing.T) {
	long := strings.Repeat("long", 4096)
	for name, c := range map[string]struct {
		before func(i int) runtime.Proposal
		back   uint64
		late   runtime.Proposal
		stale  bool
	}{
		"nothing that it sees": {
			func(i int) runtime.Proposal {
				return runtime.Proposal{Stage: "root", Role: "admin", Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/internal/token","value":"%d%s"}]`, i, long)}
			}, 2, runtime.Proposal{Stage: "draft", Patch: []byte(`[{"op":"replace","path":"/draft/text","value":"late"}]`)}, false,
		},
		"something that it sees": {
			func(i int) runtime.Proposal {
				return runtime.Proposal{Stage: "all", Patch: fmt.Appendf(nil, `[{"op":"add","path":"/history/-","value":"%d%s"}]`, i, long)}
			}, 1, runtime.Proposal{Stage: "all", Patch: []byte(`[]`)}, true,
		},
		"what it sees, there and back": {
			func(i int) runtime.Proposal {
				return runtime.Proposal{Stage: "root", Role: "admin", Patch: fmt.Appendf(nil,
					`[{"op":"replace","path":"/internal/token","value":"%d%s"},{"op":"replace","path":"/ticket/status","value":%q}]`, i, long, []string{"open", "closed"}[i%2])}
			}, 8, runtime.Proposal{Stage: "draft", Patch: []byte(`[{"op":"replace","path":"/draft/text","value":"late"}]`)}, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t, runtime.WithSnapshotAfter(1))
			for i := 0; i < 20; i++ {
				p := c.before(i)
				p.Base = in.Version()
				commits(t, proposeAs(t, in, p))
			}
			in.Quiet()
			s, err := st.Snapshot(ctx, "T-7", in.Version())
			require.NoError(t, err)
			c.late.Base = in.Version() - c.back - (in.Version() - s.Version)
			require.Less(t, c.late.Base, s.Version)
			again, err := runtime.Open(ctx, in.Contract(), st, "T-7")
			require.NoError(t, err)
			v := proposeAs(t, again, c.late)
			if c.stale {
				rejects(t, v, verify.Stale)
				require.NotEmpty(t, pathsOf(v))
			} else {
				commits(t, v)
			}
		})
	}
}

func TestWhatLiesBeforeTheSnapshotIsReadOnceAndNoFurtherThanItHasToBe(t *testing.T) {
	st := &hoardingStore{Store: store.NewMemory()}
	in, err := runtime.Create(ctx, sampleContract(t), st, "T-7", []byte(sampleState), runtime.WithSnapshotAfter(1), runtime.WithRecentCommits(30))
	require.NoError(t, err)
	for i := range 60 {
		setMargin(t, in, float64(i%9)/10)
		in.Quiet()
	}
	counting := &countingStore{Store: st}
	again, err := runtime.Open(ctx, in.Contract(), counting, "T-7", runtime.WithRecentCommits(30))
	require.NoError(t, err)
	draft := func(back uint64) runtime.Verdict {
		return proposeAs(t, again, runtime.Proposal{Stage: "draft", Base: 60 - back, Patch: []byte(`[]`)})
	}
	counting.read = 0
	require.Equal(t, verify.Reject, draft(31).Verdict)
	require.Zero(t, counting.read, "an older version is stale whatever was written")
	require.Equal(t, verify.Noop, draft(30).Verdict)
	read := counting.read
	require.Positive(t, read)
	require.Less(t, read, uint64(90), "not from the beginning")
	for back := range uint64(30) {
		require.Equal(t, verify.Noop, draft(back).Verdict)
	}
	require.Equal(t, read, counting.read)
}

// A hoardingStore keeps all snapshots that it is given.
type hoardingStore struct {
	store.Store
	mu   sync.Mutex
	kept []store.Snapshot
}

func (s *hoardingStore) PutSnapshot(_ context.Context, _ string, snap store.Snapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, snap)
	return nil
}

func (s *hoardingStore) Snapshot(_ context.Context, id string, version uint64) (store.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found store.Snapshot
	for _, snap := range s.kept {
		if snap.Version <= version && snap.Seq > found.Seq {
			found = snap
		}
	}
	if found.Seq == 0 {
		return found, &store.Error{Instance: id, Err: store.ErrNotFound}
	}
	return found, nil
}

func TestWhatIsForgottenIsNotReadAgain(t *testing.T) {
	p := newPair(t, runtime.WithSnapshotAfter(6000), runtime.WithRecentBytes(2000))
	write := func(text string) {
		commits(t, p.propose(t, runtime.Proposal{Stage: "root", Role: "admin", Base: p.stays.Version(), Patch: []byte("[" + strings.TrimSuffix(text, ",") + "]")}))
	}
	margin := func(i int) string {
		return fmt.Sprintf(`{"op":"replace","path":"/internal/margin","value":0.%d},`, i%9+1)
	}
	for i := range 30 {
		write(margin(i))
	}
	p.again = p.reopen()
	many := ""
	for i := range 30 {
		many += fmt.Sprintf(`{"op":"add","path":"/customers/n%d","value":{"name":"N"}},`, i)
	}
	write(many)
	write(margin(30))
	for back := range uint64(20) {
		v := p.propose(t, runtime.Proposal{Stage: "strict", Base: p.stays.Version() - back, Patch: []byte(`[]`)})
		require.Equal(t, back > 1, v.Violations[0].Code == verify.Stale && len(pathsOf(v)) == 0, "%d back: %+v", back, v.Violations)
	}
}
