package expr

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// The properties of this file: a write whose effective target misses the footprint of
// an expression changes neither its value nor its error; and no write changes its
// value, or whether it has one, unless the view of the footprint changes
// (spec/semantics.md section 6.1). Documents fit the type (or are anything where the
// state is untyped), writes are what patches can do. POPTIC_SOUNDNESS=1000000 judges
// that many writes that miss, of drawn expressions.

// source makes random documents and writes.
type source struct {
	*rand.Rand
	types []ir.Type
	bags  bool // sets and logs are made as such (bag_test.go)
}

var someKeys = []string{"a", "b", "c"}

func (r source) pick(s []string) string { return s[r.Intn(len(s))] }

// fitting makes a value of type id.
func (r source) fitting(id ir.TypeID) any {
	t := &r.types[id]
	switch t.Kind {
	case ir.StringType, ir.RefType:
		return r.pick(someKeys)
	case ir.IntType:
		return json.Number(strconv.Itoa(r.Intn(4)))
	case ir.NumberType, ir.DecimalType:
		return json.Number(r.pick([]string{"0", "1", "2.5", "3"}))
	case ir.BoolType:
		return r.Intn(2) == 0
	case ir.LiteralType:
		text, _ := strconv.Unquote(t.Literal)
		return text
	case ir.UnionType:
		return r.fitting(t.Alternatives[r.Intn(len(t.Alternatives))])
	case ir.MapType, ir.KeyedType:
		return r.members(map[string]any{}, t.Elem)
	case ir.ListType, ir.SetType, ir.LogType:
		return r.list(t.Elem)
	case ir.RecordType:
		return r.record(t)
	case ir.AnyType:
		return r.anything(2)
	}
	return nil
}

func (r source) members(m map[string]any, elem ir.TypeID) map[string]any {
	for _, k := range someKeys {
		if r.Intn(2) == 0 {
			m[k] = r.fitting(elem)
		}
	}
	return m
}

func (r source) list(elem ir.TypeID) []any {
	out := []any{}
	for range r.Intn(4) {
		out = append(out, r.fitting(elem))
	}
	return out
}

func (r source) record(t *ir.Type) map[string]any {
	m := map[string]any{}
	if t.Rest != ir.NoType {
		r.members(m, t.Rest)
	}
	for _, x := range t.Members {
		if !x.Optional || r.Intn(2) == 0 {
			m[x.Name] = r.fitting(x.Type)
		}
	}
	return m
}

func (r source) anything(depth int) any {
	switch n := r.Intn(8); {
	case n == 0:
		return nil
	case n == 1:
		return r.Intn(2) == 0
	case n == 2 || depth == 0:
		return json.Number(r.pick([]string{"0", "1", "2.5"}))
	case n == 3:
		return r.pick(someKeys)
	case n < 6:
		out := []any{}
		for range r.Intn(3) {
			out = append(out, r.anything(depth-1))
		}
		return out
	}
	m := map[string]any{}
	for _, k := range someKeys {
		if r.Intn(2) == 0 {
			m[k] = r.anything(depth - 1)
		}
	}
	return m
}

// write changes one node below v and returns the new v with the effective target of
// the change, as semantics 2 defines it. id is the type at v, 0 for any.
func (r source) write(v any, id ir.TypeID, at region.Word) (any, region.Word) {
	if r.Intn(4) > 0 {
		id = r.alternative(v, id)
	}
	t := &ir.Type{Kind: ir.AnyType}
	if id != ir.NoType {
		t = &r.types[id]
	}
	at = slices.Clone(at)
	stop := r.Intn(6) == 0 || t.Kind == ir.UnionType
	switch x := v.(type) {
	case map[string]any:
		if !stop {
			return r.writeMember(x, t, at)
		}
	case bagOf:
		return append(slices.Clone(x), r.value(t.Elem)), append(at, region.Fresh("w"))
	case []any:
		if !stop && len(x) > 0 || t.Kind == ir.SetType || t.Kind == ir.LogType {
			return r.writeElement(x, t, at)
		}
	}
	return r.value(id), at
}

// alternative is the first alternative of a union that v is a value of, else the union.
func (r source) alternative(v any, id ir.TypeID) ir.TypeID {
	if id == ir.NoType || r.types[id].Kind != ir.UnionType {
		return id
	}
	for _, a := range r.types[id].Alternatives {
		if r.fits(v, a) {
			return r.alternative(v, a)
		}
	}
	return id
}

// fits reports whether v is of a type, as far as its kind and its literals tell.
func (r source) fits(v any, id ir.TypeID) bool {
	t := &r.types[id]
	switch x := v.(type) {
	case bagOf:
		return t.Kind == ir.SetType || t.Kind == ir.LogType
	case []any:
		return t.Kind == ir.ListType || t.Kind == ir.AnyType
	case map[string]any:
		for _, m := range t.Members {
			if child, there := x[m.Name]; there && !r.fits(child, m.Type) || !there && !m.Optional {
				return false
			}
		}
		return t.Kind == ir.RecordType || t.Kind == ir.MapType || t.Kind == ir.KeyedType || t.Kind == ir.AnyType
	case string:
		return t.Kind == ir.StringType || t.Kind == ir.RefType || t.Kind == ir.AnyType || t.Kind == ir.LiteralType && t.Literal == strconv.Quote(x) ||
			t.Kind == ir.UnionType && r.alternative(v, id) != id
	}
	return t.Kind != ir.RecordType && t.Kind != ir.MapType && t.Kind != ir.KeyedType && t.Kind != ir.ListType && t.Kind != ir.SetType && t.Kind != ir.LogType
}

func (r source) value(id ir.TypeID) any {
	if id == ir.NoType {
		return r.anything(2)
	}
	if r.bags {
		return r.tagged(id)
	}
	return r.fitting(id)
}

func (r source) writeMember(m map[string]any, t *ir.Type, at region.Word) (any, region.Word) {
	names := slices.Sorted(maps.Keys(m))
	open := t.Kind != ir.RecordType || t.Rest != ir.NoType
	if open {
		names = append(names, someKeys...)
	}
	for _, x := range t.Members {
		names = append(names, x.Name)
	}
	if len(names) == 0 {
		return m, at
	}
	name := r.pick(names)
	elem, optional := t.Elem, true
	if x, ok := t.Member(name); ok {
		elem, optional = x.Type, x.Optional
	} else if t.Kind == ir.RecordType {
		elem = t.Rest
	}
	if t.Kind == ir.AnyType {
		elem = ir.NoType
	}
	target := append(at, region.Key(name))
	out := maps.Clone(m)
	old, exists := m[name]
	switch {
	case !exists:
		out[name] = r.value(elem)
	case optional && r.Intn(4) == 0:
		delete(out, name)
	default:
		out[name], target = r.write(old, elem, target)
	}
	return out, target
}

func (r source) writeElement(l []any, t *ir.Type, at region.Word) (any, region.Word) {
	elem := t.Elem
	switch t.Kind {
	case ir.SetType, ir.LogType:
		return append(slices.Clone(l), r.value(elem)), append(at, region.Fresh("w"))
	case ir.AnyType:
		elem = ir.NoType
	}
	switch i := r.Intn(len(l)); r.Intn(5) {
	case 0:
		return append(slices.Clone(l), r.value(elem)), at
	case 1:
		return slices.Delete(slices.Clone(l), i, i+1), at
	default:
		out := slices.Clone(l)
		var target region.Word
		out[i], target = r.write(l[i], elem, append(at, region.Index(i)))
		return out, target
	}
}

// meets reports whether a read has a word at or below w.
func meets(p region.Pattern, w region.Word, params map[string]string) bool {
	if p.Shallow && len(w) > len(p.Segments) {
		return false
	}
	for i := 0; i < len(p.Segments) && i < len(w); i++ {
		if !matches(p.Segments[i], w[i], params) {
			return false
		}
	}
	return true
}

func matches(s region.Segment, l region.Letter, params map[string]string) bool {
	fresh := l.Kind == region.FreshLetter
	switch s.Kind {
	case region.Literal:
		return !fresh && (l.Kind == region.KeyLetter && l.Name == s.Text || l.Kind == region.IndexLetter && strconv.Itoa(l.Index) == s.Text)
	case region.KeyLiteral:
		return l.Kind == region.KeyLetter && l.Name == s.Text
	case region.IndexLiteral:
		return l.Kind == region.IndexLetter && l.Index == s.Index
	case region.AnyKey:
		return l.Kind == region.KeyLetter
	case region.AnyIndex:
		return l.Kind == region.IndexLetter || fresh
	case region.ParamSegment:
		return l.Kind == region.KeyLetter && l.Name == params[s.Text]
	}
	return true
}

// subject is an expression with what is needed to run it over a document.
type subject struct {
	source  string
	expr    ir.Expr
	program *Program
	each    bool
	bags    bool // its documents have sets and logs that say so
	params  map[string]string
	measure func(doc any) func(string) (string, bool)
	shown   []region.Pattern // the footprint: what is read, and the labels on the way that the types leave open
}

// withOpenPrefixes adds to reads the places on the way whose type does not say that
// they are containers of one kind.
func withOpenPrefixes(e *Env, reads []ir.Read) []region.Pattern {
	var out []region.Pattern
	for _, r := range reads {
		out = append(out, r.Pattern)
		for i := 1; i < len(r.Pattern.Segments); i++ {
			if s := e.shapes.at(e.root, r.Pattern.Segments[:i]); !s.is(kObjects) && !s.is(kArrays) {
				out = append(out, region.Pattern{Segments: r.Pattern.Segments[:i], Shallow: true})
			}
		}
	}
	return out
}

func (s *subject) outcome(doc any) string {
	v := ir.Value(jsonValue{doc})
	if s.bags {
		v = bagValue{doc, true}
	}
	in := &Input{State: v, Before: v, After: v, View: v, Phase: "p", Params: s.params}
	if s.each {
		m, _ := doc.(map[string]any)["tickets"].(map[string]any)
		entry, ok := m[s.params[ir.FamilyParam(1)]]
		if !ok {
			return "no entry"
		}
		in.Entry = jsonValue{entry}
	}
	if s.measure != nil {
		in.Measure = s.measure(doc)
	}
	b, err := s.program.Eval(context.Background(), in)
	if err != nil {
		return err.Error()
	}
	return strconv.FormatBool(b)
}

func (s *subject) meets(w region.Word) bool {
	return slices.ContainsFunc(s.expr.Reads, func(r ir.Read) bool { return meets(r.Pattern, w, s.params) })
}

// withoutReason is an outcome without what an error says.
func withoutReason(outcome string) string {
	if outcome != "true" && outcome != "false" {
		return "no value"
	}
	return outcome
}

// view is what a view shows of the footprint (spec/semantics.md section 11.1): what it
// reads, and containers that can hold some of that; "" for nothing.
func (s *subject) view(v any, at region.Word) string {
	object, array, in := s.holds(at)
	below := func(l region.Letter, child any) string { return s.view(child, append(slices.Clone(at), l)) }
	switch x := v.(type) {
	case map[string]any:
		if !in && !object {
			return ""
		}
		text := "{"
		for _, name := range slices.Sorted(maps.Keys(x)) {
			if shown := below(region.Key(name), x[name]); shown != "" {
				text += strconv.Quote(name) + ":" + shown + ","
			}
		}
		return text + "}"
	case []any, bagOf:
		if !in && !array {
			return ""
		}
		list, isList := x.([]any)
		if !isList {
			list = x.(bagOf)
		}
		var texts []string
		for i, child := range list {
			texts = append(texts, below(region.Index(i), child)+",")
		}
		if !isList {
			slices.Sort(texts)
		}
		return "[" + strings.Join(texts, "") + "]"
	}
	if !in {
		return ""
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// holds reports whether a word is in the footprint, and whether an object or an array
// there can hold a word of it.
func (s *subject) holds(w region.Word) (object, array, in bool) {
	for _, p := range s.shown {
		n := min(len(p.Segments), len(w))
		if !allMatch(p.Segments[:n], w, s.params) {
			continue
		}
		if len(p.Segments) <= len(w) {
			in = in || !p.Shallow || len(p.Segments) == len(w)
			continue
		}
		next := p.Segments[len(w)]
		object = object || next.Kind != region.IndexLiteral && next.Kind != region.AnyIndex
		array = array || next.Kind == region.IndexLiteral || next.Kind == region.AnyIndex || next.Kind == region.AnySegment || next.Kind == region.Literal
	}
	return object, array, in
}

func allMatch(segments []region.Segment, w region.Word, params map[string]string) bool {
	for i, s := range segments {
		if !matches(s, w[i], params) {
			return false
		}
	}
	return true
}

func newSubject(t *testing.T, e *Env, src string, scope Scope) *subject {
	x, issues := e.Check(src, scope)
	require.False(t, HasErrors(issues), "%s: %v", src, issues)
	p, err := e.Compile(x, scope)
	require.NoError(t, err, src)
	return &subject{source: src, expr: x, program: p, shown: withOpenPrefixes(e, x.Reads), params: map[string]string{ir.FamilyParam(1): "a", "ticket": "a", "customer": "b"}}
}

// run judges writes until it has judged enough of them to miss the footprint.
func run(t *testing.T, r source, state ir.TypeID, subjects []*subject, rounds int) (missed, changed int) {
	for range rounds {
		doc := r.value(state)
		for _, s := range subjects {
			before := s.outcome(doc)
			for range 6 {
				next, target := r.write(doc, state, nil)
				after := s.outcome(next)
				switch {
				case !s.meets(target):
					missed++
					if before != after {
						a, _ := json.Marshal(doc)
						b, _ := json.Marshal(next)
						require.Equal(t, before, after, "%s\nreads %v\nwrite %s\n%s\n%s", s.source, footprintText(s.expr), target.Pointer(), a, b)
					}
				case withoutReason(before) != withoutReason(after):
					changed++
					x, y := s.view(doc, nil), s.view(next, nil)
					require.NotEqual(t, x, y, "%s\nreads %v: what its view does not show changes its value", s.source, footprintText(s.expr))
				}
			}
		}
	}
	return missed, changed
}

func rounds(full int) int {
	if testing.Short() || raceDetector {
		return full / 20
	}
	return full
}

var typedSubjects = []string{
	`state.tickets.all(k, state.tickets[k].status != "open")`,
	`state.orders.all(o, o.price >= 1.0)`,
	`state.orders.filter(o, o.price > 1.0).all(x, x.id != "a")`,
	`state.orders.map(o, o.price).all(t, t <= state.budget)`,
	`has(state.meta) && has(state.meta.email) && state.meta.email == "a"`,
	`state.orders[0].price > 1.0`,
	`state.orders[state.limit].price > 1.0`,
	`state.customers["a"].role == "admin"`,
	`state.tickets.all(k, t, state.customers[t.customer].role == "user")`,
	`state.?meta.?email.orValue("c") == "a"`,
	`state.customers.all(k, v, v.name != k)`,
	`cel.bind(os, state.orders, os.all(o, os.exists_one(p, p.id == o.id)))`,
	`size(state.orders) < 2`,
	`size(state.tickets) < 2`,
	`state.history.size() < 2 || state.history.exists(e, e.what == "a")`,
	`"a" in state.customers`,
	`state.tickets.all(k, v, v.customer in state.customers)`,
	`state.tags == ["a", "b"]`,
	`"a" in state.tags && !("b" in state.tags)`,
	`size(state.tags.filter(x, x != "a")) == 1`,
	`state.open.id == "a" || has(state.open.c) && state.open.c > 1.0`,
	`state.pets.exists(p, p.kind == "cat" && has(p.lives) && p.lives > 1)`,
	`state.pets.all(p, p.?tricks.orValue([]).size() < 2)`,
	`state.items.transformList(k, i, i.count).exists(c, c > 2)`,
	`state.items.transformMap(k, i, i.price)["a"] > 1.0`,
	`state.orders.transformMapEntry(i, o, {o.id: o.count})["b"] == 1`,
	`state.?meta.optMap(m, m.name).orValue("b") == "a"`,
	`state.customers[?"a"].name.orValue("b") == "a"`,
	`(state.budget > 1.0 ? state.customers["a"] : state.customers["b"]).name == "a"`,
	`state.tickets.exists(k, t, t.score == null || t.score > 2)`,
	`(state.orders + [state.items["a"]]).exists(o, o.count == 2)`,
	`[state.orders, []].exists(l, l.size() > 2)`,
	`state.extra == state.budget || size([state.extra.a]) == 1`,
	`state.extra.exists(x, x == 1.0)`,
	`{"x": state.customers["a"]}["x"].name == "a"`,
	`state.orders == [state.items["a"]]`,
	`state.orders.exists(o, o == state.items["b"])`,
	`state.tickets.map(k, state.tickets[k]).filter(t, has(t.reply)).all(t, t.reply != "a")`,
	`text.words(state.customers["a"].name) == 1 && state.?meta.?name == optional.of("a")`,
	`state.budget / 0.0 > 1.0 || state.limit / state.limit == 1`,
	`dyn(state.orders).all(o, o.count < 3)`,
	`type(state.extra) == list`,
}

// TestWritesOutsideTheFootprintChangeNothing is the soundness of typed footprints.
func TestWritesOutsideTheFootprintChangeNothing(t *testing.T) {
	d := newDesk(t)
	var subjects []*subject
	for _, src := range typedSubjects {
		subjects = append(subjects, newSubject(t, d.env, src, stateScope))
	}
	for _, src := range []string{
		`t.status != "solved" || has(t.reply)`,
		`state.customers[t.customer].role == "admin"`,
		`state.tickets.exists(k, k != "a" && state.tickets[k].subject == t.subject)`,
		`size(t.labels) <= 2 && t.notes.all(n, n != "c")`,
		`state.limit < 3`,
		`phase == "q"`,
		`1 > 2`,
	} {
		s := newSubject(t, d.env, src, d.each())
		s.each = true
		subjects = append(subjects, s)
	}
	for _, src := range []string{
		`size(after.tickets[ticket].labels) <= 1`,
		`ticket in after.tickets`,
		`after.customers[customer].name == before.customers[before.tickets[ticket].customer].name`,
		`cel.bind(t, ticket, after.tickets[t].urgent)`,
	} {
		subjects = append(subjects, newSubject(t, d.env, src, afterScope))
	}
	r := source{rand.New(rand.NewSource(1)), d.contract.Types, false}
	missed, changed := run(t, r, d.contract.State, subjects, rounds(480))
	t.Logf("%d writes missed, %d others changed an outcome", missed, changed)
	require.Greater(t, missed, rounds(480)*len(subjects)*3)
	require.Greater(t, changed, rounds(480))
}

var untypedSubjects = []string{
	`state.a.b == 1`,
	`state.a + state.b > 1.0`,
	`has(state.a.b) && state.a.b > 1`,
	`has(state.a)`,
	`state.all(k, k != "c")`,
	`state.all(k, state[k] == 1)`,
	`state.exists(k, v, v == 1)`,
	`size(state) == 2`,
	`size(state.a) == 2`,
	`"a" in state`,
	`state.a in state.b`,
	`state.a[0] == 1`,
	`state.a[state.b] == 1`,
	`state.a == state.b`,
	`state.a.filter(x, x.a == 1).size() == 1`,
	`state.a.map(x, x.b).exists(y, y == 1)`,
	`state.?a.?b.orValue(1) == 1`,
	`state.a == null`,
	`state.a || state.b`,
	`state.a ? state.b.a == 1 : state.c == 1`,
	`type(state.a) == type(state.b)`,
	`cel.bind(x, state.a, has(x.b) || x.c == 1)`,
	`[state.a, state.b][0] == 1`,
	`(state.a + state.b).exists(x, x == 1)`,
	`state.a.transformMap(k, v, v).size() == 1`,
	`state[?"a"].orValue(state.b) == 1`,
	`optional.ofNonZeroValue(state.a).hasValue()`,
	`state.a["0"] == 1`,
	`state.a.all(x, x.all(y, y != 1))`,
	`state.a.exists_one(x, x == state.b)`,
	`string(state.a) == "a"`,
}

// TestWritesOutsideTheFootprintOfAnUntypedStateChangeNothing is the same where no
// type helps and any value may stand anywhere.
func TestWritesOutsideTheFootprintOfAnUntypedStateChangeNothing(t *testing.T) {
	c := &ir.Contract{Types: []ir.Type{{}, {Kind: ir.AnyType}}, State: 1}
	e, err := New(c, Default())
	require.NoError(t, err)
	var subjects []*subject
	for _, src := range untypedSubjects {
		subjects = append(subjects, newSubject(t, e, src, stateScope))
	}
	r := source{rand.New(rand.NewSource(2)), c.Types, false}
	missed, changed := run(t, r, ir.NoType, subjects, rounds(3500))
	t.Logf("%d writes missed, %d others changed an outcome", missed, changed)
	require.Greater(t, missed, rounds(3500)*len(subjects)/2)
	require.Greater(t, changed, rounds(3500))
}

// moreConditions are what the drawn expressions of a rule may hold beside what is about
// lists: guards, look-ups by what the state holds and by a parameter, measures.
var moreConditions = []string{
	`few == 1`, `few < 2 || state.n == 1`,
	"state.r.`a-b` == 1", "has(state.r.`o.n`) && 1 in state.r.`o.n`", "state.r.?`o.n`.hasValue()", "state.rs.all(x, x.`a-b` == 0 || has(x.o))",
	`has(state.r.o)`, `has(state.o) && state.o == state.s`, `state.?o.hasValue()`, `"a" in state.k`, `p in state.m`,
	`state.m[p] == state.s`, `state.k[p].n > 0`, `size(state.m[p]) < 2`, `state.k.all(k, state.k[k].n < 1 || k in state.m)`,
	`state.k.exists(k, v, v.s == state.m[k])`, `state.?r.?o.orValue([1]) == [0]`, `state.m[?p].hasValue()`, `state.x == null`,
	`state.z == null || size(state.z) > 1`, `state.v.kind == "one" && size(state.v.c) == 1`, `sets > 1`, `rows == 1 || total > 1`,
	`highest.orValue(0) == 1`, `state.m.all(k, k in state.k && state.k[k].n in state.m[k])`, `has(state.r.o) ? 1 in state.r.o : state.r.n == 0`,
}

// drawnMeasures computes the measures of the drawn rules.
func drawnMeasures(doc any) func(string) (string, bool) {
	rows := doc.(map[string]any)["k"].(map[string]any)
	total, highest := 0, 0
	for _, row := range rows {
		n, _ := strconv.Atoi(row.(map[string]any)["n"].(json.Number).String())
		total, highest = total+n, max(highest, n)
	}
	return func(name string) (string, bool) {
		switch name {
		case "sets":
			return strconv.Itoa(len(doc.(map[string]any)["m"].(map[string]any))), true
		case "rows":
			return strconv.Itoa(len(rows)), true
		case "total":
			return strconv.Itoa(total), true
		}
		if name == "few" {
			few := 0
			for _, row := range rows {
				if row.(map[string]any)["n"].(json.Number) != "0" {
					few++
				}
			}
			return strconv.Itoa(few), true
		}
		return strconv.Itoa(highest), len(rows) > 0
	}
}

// drawn counts how often drawn expressions of the property hold a construct.
var drawn = append([]string{"has(", "p in", "[p]", ".?o", ".?r", "null", "after.", "before.", "sets", "total", "highest", "few", "r.`a-b`", "has(after.r.`o.n`)", "?`o.n`"}, bagSpellings...)

// TestWritesOutsideTheFootprintOfDrawnExpressionsChangeNothing draws the expressions:
// over sets, logs, unions, keyed lists, optionals and measures, with macros in macros,
// of every scope that rules have.
func TestWritesOutsideTheFootprintOfDrawnExpressionsChangeNothing(t *testing.T) {
	c := bagContract()
	n := pattern(key("k"), anyKey, key("n"))
	c.Measures = []ir.Measure{
		{Name: "sets", Kind: ir.Count, Over: pattern(key("m"), anyKey)}, {Name: "rows", Kind: ir.Count, Over: n},
		{Name: "total", Kind: ir.Sum, Over: n}, {Name: "highest", Kind: ir.Max, Over: n},
	}
	e, err := New(c, Default())
	require.NoError(t, err)
	few, issues := e.Check("self.n != 0", Scope{Vars: ir.SelfVars, Self: c.Types[c.Types[c.State].Members[8].Type].Elem})
	require.Empty(t, issues)
	c.Measures = append(c.Measures, ir.Measure{Name: "few", Kind: ir.Count, Over: pattern(key("k"), anyKey), Where: &few})
	e.ReadMeasures()
	moved, _ := strconv.ParseInt(os.Getenv("POPTIC_SEED"), 10, 64)
	r := source{rand.New(rand.NewSource(9 + 1000*moved)), c.Types, true}
	want := rounds(200_000)
	if asked, err := strconv.Atoi(os.Getenv("POPTIC_SOUNDNESS")); err == nil {
		want = asked
	}
	missed, changed, distinct, constructs := 0, 0, map[string]bool{}, map[string]int{}
	for missed < want {
		s := &speller{Rand: r.Rand, more: moreConditions}
		src, scope := s.bool(1+r.Intn(4)), afterScope
		scope.Params = []string{"p"}
		for strings.Contains(src, "state.") {
			src = strings.Replace(src, "state.", s.one("after.", "after.", "before."), 1)
		}
		if x, issues := e.Check(src, scope); HasErrors(issues) || len(x.Reads) == 0 {
			continue
		}
		distinct[src] = true
		for _, construct := range drawn {
			if strings.Contains(src, construct) {
				constructs[construct]++
			}
		}
		one := newSubject(t, e, src, scope)
		one.bags, one.measure, one.params = true, drawnMeasures, map[string]string{"p": "a"}
		m, ch := run(t, r, c.State, []*subject{one}, 3)
		missed, changed = missed+m, changed+ch
	}
	t.Logf("%d writes outside of the footprints of %d distinct expressions: 0 changes of a value; %d writes inside changed one; %v", missed, len(distinct), changed, constructs)
	require.Greater(t, changed, want/100)
	for _, construct := range drawn {
		require.Positive(t, constructs[construct], construct)
	}
}
