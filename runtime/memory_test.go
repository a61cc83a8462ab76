package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	goruntime "runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// A passingStore keeps of a log the last records alone, so that what is kept in memory
// is the instance's. It fails an append now and then, which makes an instance read the
// log.
type passingStore struct {
	store.Store
	last  uint64
	kept  []store.Record
	calls int
}

func (s *passingStore) Create(_ context.Context, _ string, records ...store.Record) error {
	s.last, s.kept = uint64(len(records)), records
	return nil
}

func (s *passingStore) Append(_ context.Context, _ string, last uint64, records ...store.Record) error {
	if s.calls++; s.calls%500 == 0 {
		return errors.New("the disk is full")
	}
	s.last = last + uint64(len(records))
	s.kept = records
	return nil
}

func (s *passingStore) Read(_ context.Context, _ string, from uint64, _ int) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for _, r := range s.kept {
			if r.Seq >= from && !yield(r, nil) {
				return
			}
		}
	}
}

func (s *passingStore) Find(_ context.Context, _, key string) (uint64, error) {
	for _, r := range s.kept {
		if r.Key == key {
			return r.Seq, nil
		}
	}
	return 0, store.ErrNotFound
}

func (s *passingStore) PutSnapshot(context.Context, string, store.Snapshot) error { return nil }

// notebook is a contract with a rule of every kind over a map of notes, whose phase
// goes back and forth.
func notebook(t testing.TB) *runtime.Contract {
	b := &builder{TB: t, c: &ir.Contract{Name: "notebook", Types: make([]ir.Type, 1)}}
	text, whole := b.add(ir.Type{Kind: ir.StringType}), b.add(ir.Type{Kind: ir.IntType})
	note := b.record("Note", member("text", text), member("count", whole))
	ref := region.MustParse("/:notes")
	b.c.State = b.record("", member("notes", b.add(ir.Type{Kind: ir.MapType, Elem: note})), member("list", b.add(ir.Type{Kind: ir.ListType, Elem: text})),
		member("set", b.add(ir.Type{Kind: ir.SetType, Elem: text})), member("seen", b.add(ir.Type{Kind: ir.RefType, Target: &ref})), member("total", whole))
	var err error
	over := region.MustParse("/:notes/:*/:count")
	b.c.Measures = []ir.Measure{{Name: "counted", Kind: ir.Sum, Over: over}}
	b.env, err = expr.New(b.c, expr.Default())
	require.NoError(t, err)
	b.c.Phases = []ir.Phase{{Name: "day", Arrows: []ir.Arrow{{To: "night", ByHost: true}}}, {Name: "night", Arrows: []ir.Arrow{{To: "day", ByHost: true}}}}
	within := b.cel(`counted <= 1000000`, ir.StateVars)
	each := &ir.Each{Var: "n", Over: region.MustParse("/:notes/:*"), Type: note}
	x, issues := b.env.Check(`size(n.text) < 2000`, expr.Scope{Vars: ir.EachVars, Each: each})
	require.False(t, expr.HasErrors(issues))
	unique := region.MustParse("/:list/[*]")
	b.c.Invariants = []ir.Invariant{{Name: "within", Expr: &within}, {Name: "short", Each: each, Expr: &x}, {Name: "distinct", Unique: &unique}}
	all, both := region.Of(""), []string{"day", "night"}
	b.c.Stages = []ir.Stage{
		{Name: "write", In: both, Read: all, Write: all, Source: all},
		{Name: "peek", In: both, By: []string{"reader"}, Read: region.Of("/total")},
		{Name: "note", In: both, Params: []ir.Param{{Name: "n", Kind: ir.ExistingParam, Of: ref}}, Read: region.Of("/notes/{n}"), Write: region.Of("/notes/{n}")},
		{Name: "strict", In: both, Read: all, Write: all, Require: []ir.Expr{b.cel(`before.total < 0`, ir.BeforeVars)}},
		{Name: "sure", In: both, Read: all, Write: all, Ensure: []ir.Expr{b.cel(`after.total < 0`, ir.AfterVars)}},
	}
	c, err := runtime.Load(ir.Encode(b.c))
	require.NoError(t, err)
	return c
}

// A proposer makes one of every verdict there is.
type proposer struct {
	testing.TB
	in    *runtime.Instance
	codes map[string]int
	round int
}

func (p *proposer) propose(stage string, base uint64, patch string, set func(*runtime.Proposal)) {
	pr := runtime.Proposal{Stage: stage, Base: base, Patch: []byte(patch)}
	if set != nil {
		set(&pr)
	}
	v, err := p.in.Propose(ctx, pr)
	if err != nil {
		p.codes["error"]++
		return
	}
	p.codes[string(v.Verdict)]++
	for _, found := range v.Violations {
		p.codes[string(found.Code)]++
	}
	_ = v.Actor()
}

// once commits, and every tenth time does all of what else is asked for.
func (p *proposer) once(beside ...func()) {
	p.round++
	i, now := p.round, p.in.Version()
	text := strings.Repeat(fmt.Sprintf("%07d ", i), 120)
	p.propose("write", now, fmt.Sprintf(`[{"op":"replace","path":"/notes/n%d","value":{"text":"%s","count":%d}}]`, i%50, text, i%7), nil)
	if i%10 == 0 {
		for _, f := range beside {
			f()
		}
	}
}

func (p *proposer) decisions() {
	i, now := p.round, p.in.Version()
	p.propose("write", now, fmt.Sprintf(`[{"op":"add","path":"/list/0","value":"%d"},{"op":"remove","path":"/list/5"},{"op":"add","path":"/set/-","value":"%d"}]`, i, i%40), nil)
	p.propose("note", p.in.Version(), fmt.Sprintf(`[{"op":"replace","path":"/notes/n1/count","value":%d}]`, i%9), func(p *runtime.Proposal) {
		p.Args, p.Key = map[string]string{"n": "n1"}, fmt.Sprint("key", i)
	})
	p.propose("note", p.in.Version(), fmt.Sprintf(`[{"op":"replace","path":"/notes/n1/count","value":%d}]`, i%9), func(p *runtime.Proposal) {
		p.Args, p.Key = map[string]string{"n": "n1"}, fmt.Sprint("key", i)
	})
	now = p.in.Version()
	p.propose("write", now, `[]`, nil)
	p.propose("write", 0, `[{"op":"replace","path":"/total","value":1}]`, nil)
	p.propose("write", now-1, `[{"op":"replace","path":"/total","value":1}]`, nil)
	for k, patch := range []string{
		`[{"op":"remove","path":"` + strings.Repeat("/x", 2000) + `"}]`, `[{"op":"x"}]`, `[{"op":"add","path":"/list/01","value":"x"}]`,
		`[{"op":"replace","path":"/total","value":"x"}]`, `[{"op":"remove","path":"/nothing"}]`,
		`[{"op":"test","path":"/total","value":-4}]`, `[{"op":"replace","path":"/notes/n1/text","value":"` + strings.Repeat("x", 3000) + `"}]`,
		`[{"op":"replace","path":"/notes/n1/count","value":2000000}]`, `[{"op":"remove","path":"/notes/n0"}]`,
	} {
		patch = strings.TrimSuffix(patch, "]") + strings.Repeat(" ", i%13) + "]"
		for range 2 + 3*min(1, k/8) { // once more, and the last until the tries are used up
			p.propose("write", now, patch, func(p *runtime.Proposal) { p.Role = fmt.Sprint("r", k) })
		}
	}
	p.propose("peek", now, `[{"op":"replace","path":"/total","value":1}]`, nil)
	p.propose("peek", now, `[{"op":"replace","path":"/total","value":1}]`, func(p *runtime.Proposal) { p.Role = "reader" })
	p.propose("note", now, `[]`, func(p *runtime.Proposal) { p.Args = map[string]string{"n": fmt.Sprint("gone", i)} })
	p.propose("strict", now, `[]`, nil)
	p.propose("sure", now, `[{"op":"replace","path":"/total","value":1}]`, nil)
	p.propose("write", now, `[]`, func(p *runtime.Proposal) { p.Next = "dawn" })
}

func (p *proposer) moves() {
	to := map[string]string{"day": "night", "night": "day"}[p.in.Phase()]
	for _, phase := range []string{"dawn", to} {
		v, err := p.in.Advance(ctx, phase, "")
		if err == nil {
			p.codes["advance "+string(v.Verdict)]++
		}
	}
}

func (p *proposer) views() {
	for _, r := range []runtime.Request{
		{Stage: "write"}, {Stage: "peek", Role: "reader"}, {Stage: "peek"}, {Stage: "note", Args: map[string]string{"n": fmt.Sprint("n", p.round/10%50)}},
	} {
		if _, err := p.in.View(ctx, r); err == nil {
			p.codes["view"]++
		} else {
			p.codes["no view"]++
		}
	}
}

// heap is what is in use after all garbage is gone.
func heap() int {
	var m goruntime.MemStats
	goruntime.GC()
	goruntime.GC()
	goruntime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// openNotebook begins an instance over some 50 KB of notes.
func openNotebook(t testing.TB, opts ...runtime.Option) *runtime.Instance {
	notes := make([]string, 50)
	for i := range notes {
		notes[i] = fmt.Sprintf(`"n%d":{"text":"%s","count":1}`, i, strings.Repeat("x", 900))
	}
	state := `{"notes":{` + strings.Join(notes, ",") + `},"list":["a","b","c","d","e"],"set":[],"seen":"n0","total":0}`
	in, err := runtime.Create(ctx, notebook(t), &passingStore{}, "N", []byte(state), opts...)
	require.NoError(t, err)
	return in
}

// An instance that has run for long keeps no more than one that has run for a while.
func TestAnInstanceKeepsNothingOfWhatItDecided(t *testing.T) {
	rounds := size(60_000, 18_500, 3_000) // each some seven proposals
	in := openNotebook(t, runtime.WithRecentCommits(256))
	p := &proposer{TB: t, in: in, codes: map[string]int{}}
	for range 1000 {
		p.once(p.decisions, p.views, p.moves)
	}
	in.Quiet()
	early := heap()
	for _, beside := range [][]func(){nil, {p.views}, {p.decisions}, {p.moves}, {p.decisions, p.views, p.moves}} {
		for range rounds / 5 {
			p.once(beside...)
		}
		in.Quiet()
		late := heap()
		t.Log(in.Version(), "commits; heap", early>>10, "KiB, then", late>>10, "KiB;", p.codes)
		require.Less(t, late-early, 1<<20)
	}
	for _, code := range []string{
		"commit", "noop", "reject", "limit_exceeded", "patch_syntax", "pointer_syntax", "unauthorised", "argument_violation",
		"transition_violation", "stale", "repeat", "attempts_exhausted", "require_violation", "patch_write_scope_violation",
		"path_missing", "test_failed", "schema_violation", "ensure_violation", "invariant_violation",
		"advance commit", "advance reject", "view", "no view", "error",
	} {
		require.NotZero(t, p.codes[code], "there is one of each: %s", code)
	}
	goruntime.KeepAlive(in)
}

func TestCommitsToManyPlacesAreRememberedForAShorterTime(t *testing.T) {
	in := openNotebook(t)
	ops := make([]string, 3000)
	before := heap()
	for i := range 100 {
		for j := range ops {
			ops[j] = fmt.Sprintf(`{"op":"replace","path":"/notes/n%d/count","value":%d}`, j%50, i+2)
		}
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "write", Base: in.Version(), Patch: []byte("[" + strings.Join(ops, ",") + "]")})
		require.NoError(t, err)
		commits(t, v)
	}
	require.Less(t, heap()-before, 14<<20)
	recall := func(back uint64) runtime.Verdict {
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "peek", Role: "reader", Base: in.Version() - back, Patch: []byte(`[]`)})
		require.NoError(t, err)
		return v
	}
	require.Equal(t, "noop", string(recall(3).Verdict), "the last commits are remembered, and this stage sees nothing of them")
	rejects(t, recall(99), "stale")
	goruntime.KeepAlive(in)
}

// Nor does one that many write to at the same time, who do not always wait for an answer.
func TestAnInstanceKeepsNothingOfWhatManyAsked(t *testing.T) {
	const writers = 8
	in, err := runtime.Create(ctx, notebook(t), &lockedStore{Store: &passingStore{}}, "N", []byte(notes(writers)), runtime.WithRecentCommits(256))
	require.NoError(t, err)
	run := func(rounds int) {
		together(writers, func(w int) {
			for i := range rounds {
				p := noting(w, i%9, in.Version(), "")
				if i%3 == 0 {
					p.Key = fmt.Sprintf("%d %d %d", w, i, rounds)
				}
				within, cancel := ctx, context.CancelFunc(func() {})
				if i%50 == 0 {
					within, cancel = context.WithTimeout(ctx, 10*time.Microsecond)
				}
				_, _ = in.Propose(within, p)
				_, _ = in.View(within, runtime.Request{Stage: "note", Args: p.Args})
				cancel()
			}
		})
		in.Quiet()
	}
	run(2_000)
	early, goroutines := heap(), goruntime.NumGoroutine()
	for range 3 {
		run(size(200_000, 4_000, 1_000) / writers)
		require.Less(t, heap()-early, 1<<20)
		require.LessOrEqual(t, goruntime.NumGoroutine(), goroutines)
	}
	require.Greater(t, in.Version(), uint64(4_000))
	goruntime.KeepAlive(in)
}

// A lockedStore makes one call at a time of another store.
type lockedStore struct {
	store.Store
	mu sync.Mutex
}

func (s *lockedStore) Append(ctx context.Context, id string, last uint64, records ...store.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Store.Append(ctx, id, last, records...)
}

func (s *lockedStore) Find(ctx context.Context, id, key string) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Store.Find(ctx, id, key)
}
