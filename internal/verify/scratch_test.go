package verify

import (
	"context"
	"fmt"
	"math/big"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/view"
)

// Whatever is derived from a state by what a commit touched must be what is derived
// from the state alone. The tests here draw contracts and long runs of commits, and
// after each commit compare every fold with a plain loop over a copy of the state of
// which nothing is remembered, and every verdict with that of the rules as they are
// written, each of them evaluated as a whole.

// commits is how many proposals are made: POPTIC_COMMITS if it is set.
func commits() int {
	if n, err := strconv.Atoi(os.Getenv("POPTIC_COMMITS")); err == nil {
		return n
	}
	if testing.Short() {
		return 1_000
	}
	return 2_000
}

// A plant grows contracts and states at random.
type plant struct {
	*rand.Rand
	t testing.TB
	c *ir.Contract
}

func (m plant) pick(from ...string) string { return from[m.Intn(len(from))] }

func (m plant) typ(t ir.Type) ir.TypeID {
	m.c.Types = append(m.c.Types, t)
	return ir.TypeID(len(m.c.Types) - 1)
}

func (m plant) kind(k ir.TypeKind) ir.TypeID { return m.typ(ir.Type{Kind: k}) }

func (m plant) of(k ir.TypeKind, elem ir.TypeID) ir.TypeID {
	return m.typ(ir.Type{Kind: k, Elem: elem})
}

func (m plant) record(name string, members ...any) ir.TypeID {
	t := ir.Type{Kind: ir.RecordType, Name: name}
	for i := 0; i < len(members); i += 2 {
		member, optional := strings.CutSuffix(members[i].(string), "?")
		t.Members = append(t.Members, ir.Member{Name: member, Optional: optional, Type: members[i+1].(ir.TypeID)})
	}
	return m.typ(t)
}

func (m plant) where(id ir.TypeID, source string) ir.TypeID {
	m.c.Types[id].Where = []ir.Expr{m.checked(source, expr.Scope{Vars: ir.SelfVars, Self: id})}
	return id
}

func (m plant) checked(source string, scope expr.Scope) ir.Expr {
	env, err := expr.New(m.c, expr.Default())
	require.NoError(m.t, err)
	x, issues := env.Check(source, scope)
	require.False(m.t, expr.HasErrors(issues), "%s: %v", source, issues)
	return x
}

// contract draws measures and invariants over one state type.
func (m plant) contract() *ir.Contract {
	*m.c = ir.Contract{Name: "plant", Types: make([]ir.Type, 1), Phases: []ir.Phase{{Name: "main"}}}
	str, num, integer, boolean := m.kind(ir.StringType), m.kind(ir.NumberType), m.kind(ir.IntType), m.kind(ir.BoolType)
	target := region.MustParse("/:people")
	person := m.typ(ir.Type{Kind: ir.RefType, Target: &target})
	part := m.record("Part", "q", m.where(m.kind(ir.IntType), "self < 9"))
	item := m.record("Item", "n", integer, "name", str, "owner", person, "tags", m.of(ir.SetType, str),
		"parts", m.of(ir.ListType, part), "done", boolean, "note?", str, "span?", m.record("Span", "lo", num, "hi", num))
	m.where(m.c.Types[item].Members[7].Type, "self.lo <= self.hi")
	nobody := m.typ(ir.Type{Kind: ir.UnionType, Alternatives: []ir.TypeID{person, m.kind(ir.NullType)}})
	line := m.record("Line", "id", str, "qty", num)
	m.c.State = m.record("State",
		"items", m.of(ir.MapType, item),
		"people", m.of(ir.MapType, m.record("Person", "name", str, "boss", nobody)),
		"lines", m.typ(ir.Type{Kind: ir.KeyedType, Elem: line, KeyField: "id"}),
		"log", m.of(ir.LogType, m.record("Event", "at", integer)),
		"queue", m.of(ir.ListType, m.record("Job", "w", integer, "by", nobody)),
		"limit", num, "free", m.kind(ir.AnyType))
	if m.Intn(2) == 0 {
		m.where(m.c.State, m.pick(`self.limit != 400000.0`, `self.limit > 0.0 || self.log.all(e, e.at != 7)`))
	}
	for i, at := range m.Perm(len(measurePool))[:5] {
		x := ir.Measure{Name: "m" + strconv.Itoa(i), Kind: measurePool[at].kind, Over: region.MustParse(measurePool[at].over)}
		if source := measurePool[at].where; source != "" {
			entry, _, _ := ir.EntryOf(x.Over)
			x.Entry = m.entryType(entry.String(), item, part)
			where := m.checked(source, expr.Scope{Vars: ir.SelfVars, Self: x.Entry})
			x.Where = &where
		}
		m.c.Measures = append(m.c.Measures, x)
	}
	for _, at := range m.Perm(len(rulePool))[:7] {
		m.c.Invariants = append(m.c.Invariants, m.invariant(rulePool[at], item, part))
	}
	m.c.Stages = []ir.Stage{{Name: "root", In: []string{"main"}, Read: region.Of(""), Write: region.Of(""), Source: region.Of("")}}
	return m.c
}

var measurePool = []struct {
	kind  ir.MeasureKind
	over  string
	where string
}{
	{ir.Sum, "/:items/:*/:n", ""}, {ir.Count, "/:items/:*", ""}, {ir.Min, "/:items/:*/:n", ""}, {ir.Max, "/:lines/:*/:qty", ""}, {ir.Sum, "/:lines/:*/:qty", ""},
	{ir.Sum, "/:items/:*/:parts/[*]/:q", ""}, {ir.Count, "/**/:name", ""}, {ir.Sum, "/:queue/[*]/:w", ""}, {ir.Sum, "/:free/**", ""}, {ir.Count, "/:log/[*]", ""},
	{ir.Max, "/**/:q", ""}, {ir.Min, "/:queue/[*]/*", ""}, {ir.Count, "/:items/:*/:tags/[*]", ""},
	{ir.Count, "/:items/:*", "self.done"}, {ir.Sum, "/:items/:*/:n", "!self.done && self.n > 3"}, {ir.Count, "/:items/:*/:note", "self.n > 2"},
	{ir.Sum, "/:items/:*/:parts/[*]/:q", "self.q != 3"}, {ir.Max, "/:queue/[*]/:w", "100 / (self.w - 20) != 3"}, {ir.Min, "/:items/:*/:span/:lo", "size(self.tags) > 0"},
}

// A rule is `each [k in] PATTERN: source`, `unique PATTERN, ...`, or a source. {m} is a measure.
var rulePool = []string{
	`each /:items/:*: e.n > -5 || e.done`,
	`each /:items/:*: !e.done || has(e.note)`,
	`each /:items/:*: e.n <= 20 || size(state.people) > 3`,
	`each /:items/:*/:parts/[*]: e.q != 7`,
	`each /**/:parts/[*]: e != {}`,
	`each /:queue/[*]: e.w != 7`,
	`each /:queue/[*]: e.by == null || !(e.by in state.people) || state.people[e.by].name != "n3" && e.w < 5005`,
	`each /:items/:*/:parts/[*]: e.q < 8 || size(state.people) > 8`,
	`each /:items/:*/:tags/[*]: e != "d" || state.limit > 400000.0`,
	`each /:log/[*]: e.at < 45 || size(state.queue) > 30`,
	`each /:queue/*: state.queue.exists(x, x.w == e.w) && e.w != 12`,
	`state.items.all(k, state.items[k].parts.all(x, x.q < 8 || state.limit > 1.0))`,
	`unique /:people/:*/:name`,
	`unique /:queue/[*]/:w`,
	`unique /:lines/:*/:qty`,
	`unique /**/:note`,
	`unique /:items/:*/:note, /:items/:*/:name`,
	`unique /:people/:*/:boss, /:people/:*/:name`,
	`unique /:queue/[*]/:w, /:queue/[*]/:by`,
	`each k in /:items/:*: k != "I7" || e.n < 12`,
	`each k in /:items/:*: state.items[k].n < 35 && k != e.name`,
	`each k in /:items/:*/:span: k != "I3" || e.hi < 3.0 || e.lo < 1.0`,
	`{m} >= -100.0 && state.items.all(k, sum(state.items[k].parts.map(x, x.q * 2)) < 50)`,
	`each /:items/:*: sum(e.parts.map(x, x.q)) + e.n < 45`,
	`state.items.all(k, state.items[k].n < 40)`,
	`state.items.all(k, v, v.name != k && 100 / (v.n - 37) < 90) && size(state.people) > 0`,
	`state.items.all(k, v, v.owner in state.people && v.n <= 39)`,
	`!state.queue.exists(j, j.w == 8) && state.log.all(x, x.at >= 0)`,
	`state.items.all(k, {m} < 2000.0 || state.items[k].done)`,
	`{m} <= state.limit`,
	`state.people.exists(k, state.people[k].name != "n1")`,
	`state.items.exists_one(k, state.items[k].n == 1) || state.limit > 2.0`,
}

func (m plant) invariant(text string, item, part ir.TypeID) ir.Invariant {
	inv := ir.Invariant{Name: text}
	if patterns, ok := strings.CutPrefix(text, "unique "); ok {
		for i, pattern := range strings.Split(patterns, ", ") {
			at := region.MustParse(pattern)
			if i == 0 {
				inv.Unique = &at
			} else {
				inv.Together = append(inv.Together, at)
			}
		}
		return inv
	}
	scope := expr.Scope{Vars: ir.StateVars}
	if rest, ok := strings.CutPrefix(text, "each "); ok {
		key := ""
		if more, ok := strings.CutPrefix(rest, "k in "); ok {
			key, rest = "k", more
		}
		pattern, source, _ := strings.Cut(rest, ": ")
		inv.Each = &ir.Each{Var: "e", Key: key, Over: region.MustParse(pattern), Type: m.entryType(pattern, item, part)}
		scope, text = expr.Scope{Vars: ir.EachVars, Each: inv.Each}, source
	}
	x := m.checked(m.withMeasure(text), scope)
	inv.Expr = &x
	return inv
}

// withMeasure puts a sum or count of numbers in the place of {m}.
func (m plant) withMeasure(text string) string {
	for i := range m.c.Measures {
		if x := &m.c.Measures[i]; x.Kind == ir.Sum || x.Kind == ir.Count {
			return strings.ReplaceAll(text, "{m}", "double("+x.Name+")")
		}
	}
	return strings.ReplaceAll(text, "{m}", "1.0")
}

func (m plant) entryType(pattern string, item, part ir.TypeID) ir.TypeID {
	switch {
	case strings.HasPrefix(pattern, "/**"):
		return m.kind(ir.AnyType)
	case strings.Contains(pattern, "log"):
		return m.c.Types[m.c.Types[m.c.State].Members[3].Type].Elem
	case strings.Contains(pattern, "tags"):
		return m.c.Types[m.c.Types[item].Members[3].Type].Elem
	case strings.HasSuffix(pattern, "span"):
		return m.c.Types[item].Members[7].Type
	case strings.HasSuffix(pattern, "[*]") && strings.Contains(pattern, "parts"):
		return part
	case strings.Contains(pattern, "queue"):
		return m.c.Types[m.c.Types[m.c.State].Members[4].Type].Elem
	default:
		return item
	}
}

// Values and paths.

func (m plant) person() string {
	return fmt.Sprintf(`{"name":"n%d","boss":%s}`, m.Intn(4000), m.boss())
}

func (m plant) boss() string { return m.pick("null", "null", `"P0"`, fmt.Sprintf(`"P%d"`, m.Intn(9))) }

func (m plant) item() string {
	done := m.pick(`"done":false`, `"done":false`, fmt.Sprintf(`"done":true,"note":"x%d"`, m.Intn(4000)))
	var parts []string
	for range m.Intn(3) {
		parts = append(parts, m.part())
	}
	span := m.pick("", "", fmt.Sprintf(`,"span":{"lo":%d,"hi":%d}`, m.Intn(3), 2+m.Intn(2)))
	return fmt.Sprintf(`{"n":%d,"name":"i%d","owner":"P%d","tags":%s,"parts":[%s],%s%s}`,
		m.number(), m.Intn(9), m.Intn(6), m.pick(`[]`, `["a"]`, `["b","a"]`), strings.Join(parts, ","), done, span)
}

func (m plant) number() int {
	if m.Intn(60) == 0 {
		return 30 + m.Intn(15)
	}
	return m.Intn(20) - m.Intn(2)
}

func (m plant) part() string { return fmt.Sprintf(`{"q":%d}`, m.Intn(7)+m.Intn(40)/38) }

func (m plant) job() string {
	return fmt.Sprintf(`{"w":%d,"by":%s}`, 9+m.Intn(5000)-m.Intn(3)*m.Intn(2), m.boss())
}

func (m plant) line(id string) string {
	return fmt.Sprintf(`{"id":%q,"qty":%s}`, id, m.pick(fmt.Sprint(m.Intn(9000)), fmt.Sprintf("%d.%d", m.Intn(900), m.Intn(90)), fmt.Sprintf("%de2", m.Intn(90))))
}

func (m plant) anything() string {
	return m.pick(`1`, `2.50`, `{"a":1,"b":[2,{"q":3}]}`, `[1,2,[3]]`, `"s"`, `{"name":"x","note":"y"}`, `null`)
}

func (m plant) state() string {
	var items, people, lines, queue []string
	for i := range 6 + m.Intn(6) {
		people = append(people, fmt.Sprintf(`"P%d":%s`, i, m.person()))
	}
	for i := range 25 + m.Intn(25) {
		items = append(items, fmt.Sprintf(`"I%d":%s`, i, m.item()))
		queue = append(queue, m.job())
	}
	for i := range m.Intn(12) {
		lines = append(lines, m.line("L"+strconv.Itoa(i)))
	}
	return fmt.Sprintf(`{"items":{%s},"people":{%s},"lines":[%s],"log":[{"at":1}],"queue":[%s],"limit":%d,"free":%s}`,
		strings.Join(items, ","), strings.Join(people, ","), strings.Join(lines, ","), strings.Join(queue, ","), 1_000_000, m.anything())
}

// op draws an operation.
func (m plant) op() string {
	item := "/items/I" + strconv.Itoa(m.Intn(55))
	person := "/people/P" + strconv.Itoa(m.Intn(12))
	line := "L" + strconv.Itoa(m.Intn(14))
	job := "/queue/" + strconv.Itoa(m.Intn(40))
	put := func(op, path, value string) string {
		return fmt.Sprintf(`{"op":%q,"path":%q,"value":%s}`, op, path, value)
	}
	from := func(op, from, path string) string {
		return fmt.Sprintf(`{"op":%q,"from":%q,"path":%q}`, op, from, path)
	}
	switch m.Intn(26) {
	case 0, 1, 2:
		return put("add", item, m.item())
	case 3, 4, 5:
		return put("replace", item+"/n", strconv.Itoa(m.number()))
	case 6:
		return put("add", item+"/note", fmt.Sprintf(`"x%d"`, m.Intn(4000)))
	case 7:
		return put("replace", item+"/done", m.pick("true", "false"))
	case 8:
		return fmt.Sprintf(`{"op":"remove","path":%q}`, m.pick(item, item, person, person, job, item+"/note", item+"/parts/0", "/lines/"+line))
	case 9, 10:
		return put("add", person, m.person())
	case 11:
		return put("replace", person+"/name", fmt.Sprintf(`"n%d"`, m.Intn(4000)))
	case 12, 13:
		return put("add", "/lines/"+line, m.line(line))
	case 14, 15:
		return put("add", m.pick("/queue/-", job), m.job())
	case 16:
		return put("replace", job+"/w", strconv.Itoa(9+m.Intn(5000)))
	case 17:
		return put("add", "/log/-", fmt.Sprintf(`{"at":%d}`, m.Intn(50)-m.Intn(2)*m.Intn(2)))
	case 18:
		return put("add", item+"/parts/-", m.part())
	case 19:
		return put("replace", "/free", m.anything())
	case 20:
		return put("add", item+"/tags/-", m.pick(`"a"`, `"c"`, `"d"`))
	case 21:
		return from("copy", item, "/items/I"+strconv.Itoa(m.Intn(55)))
	case 22:
		return from("move", item, "/items/I"+strconv.Itoa(m.Intn(55)))
	case 23:
		return from(m.pick("copy", "move"), m.pick("/items", "/queue", "/people", item), m.pick("/free", "/free/a"))
	case 24:
		return from("copy", "/free", m.pick("/items", "/queue", "/people", "/free/a"))
	default:
		return put("replace", "/limit", strconv.Itoa(m.Intn(5)*400_000))
	}
}

func (m plant) patch() []byte {
	ops := []string{m.op()}
	for m.Intn(3) == 0 {
		ops = append(ops, m.op())
	}
	return []byte("[" + strings.Join(ops, ",") + "]")
}

func TestWhatFollowsFromACommitIsWhatFollowsFromTheState(t *testing.T) {
	t.Parallel()
	const seed, length = 1, 100
	m := plant{Rand: rand.New(rand.NewSource(seed)), t: t, c: &ir.Contract{}}
	tally := map[Decision]int{}
	for proposals := 0; proposals < commits(); {
		p, now := m.open()
		naive := newScratch(t, p)
		for range length {
			patch := m.patch()
			out, err := p.Verify(context.Background(), now, Proposal{Stage: "root", Patch: patch})
			require.NoError(t, err)
			naive.agree(now, &out, patch)
			tally[out.Verdict.Verdict]++
			proposals++
			now = out.After
		}
	}
	t.Logf("%v", tally)
	require.Greater(t, tally[Commit], commits()/4)
	require.Greater(t, tally[Reject], commits()/10)
}

// open draws a contract and a state in which all of it holds.
func (m plant) open() (*Program, Snapshot) {
	for {
		p, err := Load(m.contract(), DefaultLimits())
		require.NoError(m.t, err)
		for range 100 {
			n, err := p.Import([]byte(m.state()))
			if err == nil && len(p.CheckAll(context.Background(), n, "main")) == 0 {
				return p, Snapshot{State: n, Phase: "main", Version: 1}
			}
		}
	}
}

// A scratch evaluates everything from scratch.
type scratch struct {
	t     testing.TB
	p     *Program
	whole []rule // of the invariants with an expression, as written
	views []*region.Set

	conditions []condition // of the measures
}

// A condition is that of a measure, asked of every entry anew.
type condition struct {
	rule  *rule
	entry region.Pattern
}

func (c condition) judge(e *tree.Node) judgement {
	return c.rule.judge(context.Background(), &expr.Input{Self: e})
}

func (c condition) broken(n *tree.Node) bool {
	broken := false
	if c.rule != nil {
		eachMatch(nil, n, c.entry, func(_ region.Word, e *tree.Node) bool {
			broken = broken || c.judge(e) > fails
			return true
		})
	}
	return broken
}

func (c condition) counts(n *tree.Node, w region.Word) bool {
	return c.rule == nil || c.judge(tree.NodeAt(n, w[:len(c.entry.Segments)])) == holds
}

func newScratch(t testing.TB, p *Program) *scratch {
	s := &scratch{t: t, p: p}
	for i := range p.contract.Measures {
		var c condition
		if m := &p.contract.Measures[i]; m.Where != nil {
			r, err := p.newRule(m.Where, expr.Scope{Vars: ir.SelfVars, Self: m.Entry})
			require.NoError(t, err)
			c.rule = &r
			c.entry, _, _ = ir.EntryOf(m.Over)
		}
		s.conditions = append(s.conditions, c)
	}
	for i := range p.contract.Invariants {
		inv := &p.contract.Invariants[i]
		var r rule
		if inv.Expr != nil {
			scope := expr.Scope{Vars: ir.StateVars}
			if inv.Each != nil {
				scope = expr.Scope{Vars: ir.EachVars, Each: inv.Each}
			}
			var err error
			r, err = p.newRule(inv.Expr, scope)
			require.NoError(t, err)
		}
		s.whole = append(s.whole, r)
	}
	for _, patterns := range [][]string{
		{"", "!/:items/:*/:note"}, {"/:items/:*/:n", "/:queue/[*]/:w"}, {"/:people/:*/:name", "/:items/:*/:parts/[*]"},
		{"/**/:q"}, {"/:items", "!/:items/:*/:parts/[*]/:q", "!/:items/I3"}, {"/:items/:*/:span", "/:items/:*/:tags/[*]"}, {"/:free/*/*", "/:log"},
	} {
		s.views = append(s.views, region.Compile(region.Of(patterns...)))
	}
	return s
}

// agree compares one outcome with what it would be from scratch.
func (s *scratch) agree(before Snapshot, out *Outcome, patch []byte) {
	if out.Patch == nil {
		return
	}
	after, _, err := s.p.Replay(context.Background(), before.State, patch)
	if err != nil || out.found != nil && out.found[0].Gate == GateScope {
		require.Equal(s.t, Reject, out.Verdict.Verdict)
		return
	}
	copied := forgotten(after)
	broken := s.broken(copied)
	if out.Verdict.Verdict == Reject {
		if out.verification.reached == stepRules {
			require.NotEmpty(s.t, broken, "refused: %s, %+v", patch, out.Verdict.Violations)
		}
		return
	}
	require.Empty(s.t, broken, "accepted: %s", patch)
	s.sameFolds(out.After.State, copied)
}

// forgotten is the same state of which nothing is remembered.
func forgotten(n *tree.Node) *tree.Node {
	switch n.Kind() {
	case ir.Object:
		members := map[string]*tree.Node{}
		for name, child := range n.Members() {
			members[name] = forgotten(child)
		}
		return tree.NewObject(members)
	case ir.Array:
		var elements []*tree.Node
		for _, child := range n.Elements() {
			elements = append(elements, forgotten(child))
		}
		return tree.NewArray(elements).WithOrder(n.Order())
	default:
		return n
	}
}

// broken names what does not hold in a state.
func (s *scratch) broken(n *tree.Node) []string {
	var out []string
	c := typeCheck{types: &s.p.types, ctx: context.Background(), state: n}
	if c.check(n, s.p.contract.State); len(c.found) > 0 {
		return []string{"types"}
	}
	in := &expr.Input{State: n, Phase: "main", Measure: func(name string) (string, bool) { return s.measure(name, n) }}
	for i := range s.whole {
		inv := &s.p.contract.Invariants[i]
		switch {
		case inv.Unique != nil:
			if s.repeats(inv.UniquePlaces(), n) {
				out = append(out, inv.Name)
			}
		case inv.Each != nil:
			eachMatch(nil, n, inv.Each.Over, func(w region.Word, e *tree.Node) bool {
				in.Entry, in.Params = e, map[string]string{"k": w[1].Name}
				if s.whole[i].judge(context.Background(), in) != holds {
					out = append(out, inv.Name)
				}
				return true
			})
		case s.whole[i].judge(context.Background(), in) != holds:
			out = append(out, inv.Name)
		}
	}
	return out
}

// repeats compares the values at some places, those of one entry together.
func (s *scratch) repeats(places []region.Pattern, n *tree.Node) bool {
	values, there := map[string]string{}, map[string]int{}
	for _, p := range places {
		_, rest, _ := ir.EntryOf(p)
		eachMatch(nil, n, p, func(w region.Word, e *tree.Node) bool {
			entry := w[:len(w)-len(rest)].Pointer()
			if len(places) == 1 {
				entry = w.Pointer()
			}
			d := e.Digest()
			values[entry] += string(d[:])
			there[entry]++
			return true
		})
	}
	seen, repeats := map[string]bool{}, false
	for entry, value := range values {
		if there[entry] == len(places) {
			repeats = repeats || seen[value]
			seen[value] = true
		}
	}
	return repeats
}

// measure adds rationals up.
func (s *scratch) measure(name string, n *tree.Node) (string, bool) {
	for i := range s.p.contract.Measures {
		m := &s.p.contract.Measures[i]
		if m.Name != name {
			continue
		}
		count, sum, best := 0, new(big.Rat), (*tree.Node)(nil)
		if s.conditions[i].broken(n) {
			return "", true
		}
		eachMatch(nil, n, m.Over, func(w region.Word, e *tree.Node) bool {
			if !s.conditions[i].counts(n, w) {
				return true
			}
			if count++; e.Kind() != ir.Number {
				return true
			}
			r, _ := new(big.Rat).SetString(e.Text())
			sum.Add(sum, r)
			c := 0
			if best != nil {
				c = tree.CompareNumbers(e, best)
			}
			if best == nil || m.Kind == ir.Min && c < 0 || m.Kind == ir.Max && c > 0 {
				best = e
			}
			return true
		})
		switch {
		case m.Kind == ir.Count:
			return strconv.Itoa(count), true
		case m.Kind == ir.Sum:
			return plainText(sum), true
		case best == nil:
			return "", false
		default:
			return best.Text(), true
		}
	}
	return "", false
}

func plainText(r *big.Rat) string {
	text := r.FloatString(30)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// sameFolds compares what is remembered of a state with what follows from its copy.
func (s *scratch) sameFolds(n, copied *tree.Node) {
	require.Equal(s.t, copied.Digest(), n.Digest())
	require.Equal(s.t, []int{copied.Size(), copied.Weight(), copied.Depth()}, []int{n.Size(), n.Weight(), n.Depth()})
	ms := measures{p: s.p, ctx: context.Background(), state: n}
	for i := range s.p.measures {
		name := s.p.measures[i].Name
		want, present := s.measure(name, copied)
		got, there := ms.lookup(name)
		require.Equal(s.t, present, there, name)
		require.Equal(s.t, want, got, name)
	}
	for _, x := range s.p.indexes {
		require.True(s.t, x.of(nil, copied).Equal(x.of(nil, n)), x.at.String())
		require.Equal(s.t, x.of(nil, copied).Repeats(), x.of(nil, n).Repeats())
	}
	for _, set := range s.views {
		want, hidden := view.Project(copied, set.Start(nil))
		got, hides := view.Project(n, set.Start(nil))
		require.Equal(s.t, hidden, hides)
		if want == nil || got == nil {
			require.Equal(s.t, want, got)
			continue
		}
		require.Equal(s.t, string(tree.AppendJSON(nil, want)), string(tree.AppendRemembered(nil, got)))
		require.Equal(s.t, want.Digest(), got.Digest())
	}
}
