package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// shop is a contract in which every kind of type occurs, most of them with a rule
// that a stage may or may not see: constraints, references, a tagged union,
// a sum against a budget, uniqueness, a rule for each entry.
func shop(t testing.TB, rules bool) *ir.Contract {
	b := newBuilder(t)
	str, integer := b.kind(ir.StringType), b.kind(ir.IntType)
	secret := b.typ(ir.Type{Kind: ir.StringType, Secret: true})
	kind := b.typ(ir.Type{Kind: ir.UnionType, Alternatives: []ir.TypeID{
		b.record("Counted", "k", b.oneOf("x"), "v", integer), b.record("Named", "k", b.oneOf("y"), "v", str),
	}})
	item := b.record("Item",
		"title", str, "status", b.oneOf("open", "done"), "note?", secret,
		"tags", b.of(ir.SetType, str), "steps", b.of(ir.ListType, str),
		"n", b.where(b.kind(ir.IntType), "self >= 0"), "person", b.keyOf("/:people"),
		"win", b.where(b.record("Window", "lo", integer, "hi", integer), "self.lo <= self.hi"),
		"kind", kind,
	)
	person := b.record("Person", "name", str, "card", secret)
	line := b.record("Line", "id", str, "qty", integer)
	event := b.record("Event", "at", str, "who", secret)
	b.c.State = b.record("State",
		"items", b.of(ir.MapType, item), "people", b.of(ir.MapType, person),
		"lines", b.typ(ir.Type{Kind: ir.KeyedType, Elem: line, KeyField: "id"}),
		"log", b.of(ir.LogType, event), "budget", integer, "free", b.kind(ir.AnyType), "votes", b.of(ir.MapType, integer),
	)
	b.c.Measures = []ir.Measure{{Name: "total", Kind: ir.Sum, Over: region.MustParse("/:items/:*/:n")}}
	total := b.expr("total <= double(state.budget)", expr.Scope{Vars: ir.StateVars})
	b.c.Invariants = []ir.Invariant{
		{Name: "within_budget", Expr: &total},
		{Name: "names_unique", Unique: at("/:people/:*/:name")},
	}
	if rules {
		each := &ir.Each{Var: "i", Over: region.MustParse("/:items/:*"), Type: item}
		noted := b.expr(`i.status != "done" || has(i.note)`, expr.Scope{Vars: ir.EachVars, Each: each})
		few := b.expr("size(state.votes) <= 2", expr.Scope{Vars: ir.StateVars})
		b.c.Invariants = append(b.c.Invariants,
			ir.Invariant{Name: "done_is_noted", Each: each, Expr: &noted}, ir.Invariant{Name: "few_votes", Expr: &few})
	}
	return b.c
}

// stock draws states of the shop in which everything holds.
func (m maker) stock(w *world, count int) []*tree.Node {
	var out []*tree.Node
	for len(out) < count {
		n, err := w.p.Import([]byte(m.stockFile()))
		if err == nil && len(w.p.CheckAll(context.Background(), n, "main")) == 0 {
			out = append(out, n)
		}
	}
	return out
}

func (m maker) stockFile() string {
	var items, people, lines, log []string
	for i := range 1 + m.Intn(3) {
		people = append(people, fmt.Sprintf(`"P%d":{"name":"n%d","card":"%s"}`, i, i+m.Intn(2), m.hush()))
	}
	for i := range 1 + m.Intn(2) {
		items = append(items, fmt.Sprintf(`"I%d":%s`, i, m.item()))
	}
	for i := range m.Intn(3) {
		lines = append(lines, fmt.Sprintf(`{"id":"%s","qty":%d}`, [...]string{"A", "0", "a/b"}[i], m.Intn(2)))
	}
	for range m.Intn(3) {
		log = append(log, fmt.Sprintf(`{"at":"%d","who":"%s"}`, m.Intn(2), m.hush()))
	}
	votes := m.pick(`{}`, `{"V0":1}`, `{"V0":1,"V1":2}`)
	return fmt.Sprintf(`{"items":{%s},"people":{%s},"lines":[%s],"log":[%s],"budget":%d,"free":%s,"votes":%s}`,
		strings.Join(items, ","), strings.Join(people, ","), strings.Join(lines, ","), strings.Join(log, ","),
		m.Intn(5), m.secret(2), votes)
}

func (m maker) hush() string { return canary + m.pick("0", "1") }

func (m maker) item() string {
	note := ""
	if m.chance(60) {
		note = `"note":"` + m.hush() + `",`
	}
	return fmt.Sprintf(`{"title":"t%d","status":"%s",%s"tags":%s,"steps":%s,"n":%d,"person":"P%d","win":{"lo":%d,"hi":%d},"kind":%s}`,
		m.Intn(2), m.pick("open", "open", "done"), note, m.pick(`[]`, `["a"]`, `["a","b"]`), m.pick(`[]`, `["s"]`, `["s","r"]`),
		m.Intn(3), m.Intn(2), m.Intn(2), m.Intn(3), m.pick(`{"k":"x","v":1}`, `{"k":"y","v":"w"}`, `{"k":"x","v":2}`))
}

// shelves are places of the shop that a stage may read.
var shelves = []string{
	"/:items/:*", "/:items/{item}", "/:items/:*/:title", "/:items/:*/:status", "/:items/:*/:tags", "/:items/{item}/:win/:lo",
	"/:items/:*/:win", "/:items/:*/:kind", "/:items/:*/:kind/:v", "/:items/:*/:n", "/:items/:*/:person", "/:items/:*/:steps",
	"/:people", "/:people/:*/:name", "/:lines", "/:lines/:*/:qty", "/:log", "/:log/[*]/:at", "/:budget", "/:free", "/:free/:a", "/:votes", "",
}

// gaps are exceptions.
var gaps = []string{
	"!/:items/:*/:note", "!/:people/:*/:card", "!/:items/:*/:win/:hi", "!/:log/[*]/:who", "!/:free/:a", "!/:items/:*/:person", "!/:votes", "!/:budget",
}

func (m maker) shelf() region.Region {
	patterns := []string{m.pick(shelves...)}
	for _, gap := range gaps {
		if m.chance(40) {
			patterns = append(patterns, gap)
		}
	}
	return region.Of(patterns...)
}

// clerk draws a stage of the shop that writes only what it sees, apart from what
// needs not be seen: appends, and new members. Blind, it also adds votes unseen.
func (m maker) clerk(t testing.TB, c *ir.Contract, blind bool) *world {
	s := ir.Stage{Name: "clerk", In: []string{"main"}, Params: []ir.Param{
		{Name: "item", Kind: ir.ExistingParam, Of: region.MustParse("/:items")},
		{Name: "new", Kind: ir.NewParam, Of: region.MustParse(m.pick("/:items", "/:votes", "/:people"))},
	}}
	for range 1 + m.Intn(4) {
		s.Read = append(s.Read, m.shelf()...)
	}
	s.Write, s.Source = m.partOfShelf(s.Read), m.partOfShelf(s.Read)
	s.Write = append(s.Write, m.unseen(&s)...)
	m.limit(&s)
	if blind {
		s.Blind = region.Of("/:votes/:*")
	}
	return m.world(t, with(c, s), map[string]string{"item": "I0", "new": "X"})
}

// with is a contract with one stage.
func with(c *ir.Contract, s ir.Stage) *ir.Contract {
	out := *c
	out.Stages = []ir.Stage{s}
	return &out
}

// unseen is what may be written without being read.
func (m maker) unseen(s *ir.Stage) region.Region {
	var out region.Region
	if m.chance(40) {
		out = append(out, region.Of("/:log/-")...)
	}
	if m.chance(40) {
		out = append(out, region.Of(s.Params[1].Of.String()+"/{new}")...)
	}
	return out
}

func (m maker) partOfShelf(whole region.Region) region.Region {
	if m.chance(50) {
		out, _ := region.Intersect(m.shelf(), whole, nil)
		return out
	}
	var out region.Region
	for _, g := range whole {
		if m.chance(80) {
			out = append(out, g)
		}
	}
	return out
}

// openClerk draws a stage that sees everything that any rule reads, and not some
// of the rest. It is as the stages of a sealed contract are.
func (m maker) openClerk(t testing.TB, c *ir.Contract) *world {
	patterns := []string{""}
	for _, p := range []string{"/:items/:*/:note", "/:items/:*/:title", "/:items/:*/:steps", "/:people/:*/:card", "/:log/[*]/:who", "/:free", "/:free/:a", "/:votes", "/:lines/:*/:qty"} {
		if m.chance(50) {
			patterns = append(patterns, "!"+p)
		}
	}
	s := ir.Stage{Name: "clerk", In: []string{"main"}, Params: []ir.Param{
		{Name: "item", Kind: ir.ExistingParam, Of: region.MustParse("/:items")},
		{Name: "new", Kind: ir.NewParam, Of: region.MustParse(m.pick("/:items", "/:votes", "/:people"))},
	}}
	s.Read = region.Of(patterns...)
	s.Write, s.Source = append(m.partOfShelf(s.Read), m.unseen(&s)...), m.partOfShelf(s.Read)
	m.limit(&s)
	return m.world(t, with(c, s), map[string]string{"item": "I0", "new": "X"})
}

// blend is what c shows of n, and for the rest other.
func blend(n, other *tree.Node, c region.Cursor) *tree.Node {
	switch {
	case !shows(n, c) && shows(other, c):
		return n
	case !shows(n, c):
		return other
	case n.Kind() == ir.Object && !c.Universal():
		members := map[string]*tree.Node{}
		for name := range union(n, other) {
			members[name] = blend(n.Get(name), other.Get(name), c.Key(name))
		}
		return tree.NewObject(members)
	case n.Kind() == ir.Array && !c.Universal():
		return blendElements(n, other, c)
	default:
		return n
	}
}

func blendElements(n, other *tree.Node, c region.Cursor) *tree.Node {
	var elements []*tree.Node
	for i, child := range n.Elements() {
		if to := blend(child, other.At(i), c.Index(i)); to != nil {
			child = to
		}
		elements = append(elements, child)
	}
	return tree.NewArray(elements).WithOrder(n.Order())
}

// typedStates compares states of the shop until there are enough cases.
func typedStates(t *testing.T, seed int64, enough int, draw func(m maker) *world, judge judge) tally {
	t.Helper()
	m := newMaker(seed)
	var sum tally
	var stock []*tree.Node
	for sum.cases < enough {
		w := draw(m)
		if stock == nil {
			stock = m.stock(w, 300)
		}
		for range 4 {
			if states := w.blends(stock); len(states) > 1 {
				w.compareAll(states, stock, &sum, judge)
			}
		}
	}
	t.Logf("%+v", sum)
	return sum
}

// blends draws states of the shop with equal views in which everything holds.
func (w *world) blends(stock []*tree.Node) []*tree.Node {
	states := []*tree.Node{stock[w.Intn(len(stock))]}
	first, bound := w.view(states[0])
	for range 2 * alike {
		n := blend(states[0], stock[w.Intn(len(stock))], w.read)
		view, boundToo := w.view(n)
		if !bound || !boundToo || len(states) == alike || len(w.p.CheckAll(context.Background(), n, "main")) > 0 {
			continue
		}
		if !sameViews(first, view) {
			w.t.Fatalf("blending shows:\n%s\n%s", first.Value, view.Value)
		}
		states = append(states, n)
	}
	return states
}

func TestRulesOfTypesThatAreHiddenTellTheVerdictAndNothingElse(t *testing.T) {
	t.Parallel()
	const seed = 6
	c := shop(t, true)
	sum := typedStates(t, seed, rounds(100_000),
		func(m maker) *world { return m.clerk(t, c, m.chance(20)) },
		func(w *world, difference string, patch []byte, a, b *tree.Node) {
			// That a member existed is what blind declares.
			if difference != "" && difference != verdictsDiffer && !strings.Contains(difference, "write blind") {
				w.counterexample(difference, patch, a, b)
				t.Fatalf("seed %d: %s", seed, w.found)
			}
		})
	requireBite(t, sum)
}

func TestWhereNoRuleIsHiddenTypedStatesCannotBeToldApart(t *testing.T) {
	t.Parallel()
	const seed = 7
	c := shop(t, false)
	sum := typedStates(t, seed, rounds(100_000),
		func(m maker) *world { return m.openClerk(t, c) },
		func(w *world, difference string, patch []byte, a, b *tree.Node) {
			if difference != "" {
				w.counterexample(difference, patch, a, b)
				t.Fatalf("seed %d: %s", seed, w.found)
			}
		})
	require.Greater(t, sum.accepted, sum.cases/20)
	require.Zero(t, sum.refused, "a rule that is seen was not named")
}
