package expr

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

// The state of these tests has sets and logs wherever a type can put them: below maps,
// lists, records, keyed lists, in each other, beside lists and any in unions.
func bagContract() *ir.Contract {
	tt := &typeTable{types: make([]ir.Type, 1)}
	whole, str, anything, null := tt.kind(ir.IntType), tt.kind(ir.StringType), tt.kind(ir.AnyType), tt.kind(ir.NullType)
	set, log, list := tt.of(ir.SetType, whole), tt.of(ir.LogType, whole), tt.of(ir.ListType, whole)
	record := tt.record("R", member("s", set), member("n", whole), optional("o", set), member("a-b", whole), optional("o.n", set))
	row := tt.record("Row", member("id", str), member("s", set), member("n", whole))
	one := tt.record("One", member("kind", tt.words("one")), member("c", set))
	two := tt.record("Two", member("kind", tt.words("two")), member("c", list))
	state := tt.record("",
		member("s", set), member("g", log), member("l", list), member("n", whole),
		member("m", tt.of(ir.MapType, set)), member("ls", tt.of(ir.ListType, set)), member("ss", tt.of(ir.SetType, set)),
		member("r", record), member("k", tt.add(ir.Type{Kind: ir.KeyedType, Elem: row, KeyField: "id"})),
		member("u", tt.union(set, list)), member("y", tt.union(set, anything)), member("x", anything),
		member("v", tt.union(one, two)), member("z", tt.union(log, null)), member("rs", tt.of(ir.SetType, record)),
		optional("o", set),
	)
	return &ir.Contract{Types: tt.types, State: state}
}

// bagOf is a set or a log of a test's state.
type bagOf []any

// A bagValue is a state whose bags say that they are; sorted tells whether their
// elements come sorted where they should, or as they stand.
type bagValue struct {
	v      any
	sorted bool
}

func (b bagValue) json() jsonValue {
	if l, ok := b.v.(bagOf); ok {
		return jsonValue{[]any(l)}
	}
	return jsonValue{b.v}
}

func (b bagValue) wrap(v ir.Value) ir.Value {
	if j, ok := v.(jsonValue); ok {
		return bagValue{j.v, b.sorted}
	}
	return nil
}

func (b bagValue) Kind() ir.Kind               { return b.json().Kind() }
func (b bagValue) Len() int                    { return b.json().Len() }
func (b bagValue) Bool() bool                  { return b.json().Bool() }
func (b bagValue) Text() string                { return b.json().Text() }
func (b bagValue) Member(name string) ir.Value { return b.wrap(b.json().Member(name)) }
func (b bagValue) Element(i int) ir.Value      { return b.wrap(b.json().Element(i)) }
func (b bagValue) EachMember(f func(string, ir.Value) bool) {
	b.json().EachMember(func(name string, v ir.Value) bool { return f(name, b.wrap(v)) })
}
func (b bagValue) EachElement(f func(int, ir.Value) bool) {
	b.json().EachElement(func(i int, v ir.Value) bool { return f(i, b.wrap(v)) })
}
func (b bagValue) EachSorted(f func(ir.Value) bool) {
	l := slices.Clone(b.json().v.([]any))
	if b.sorted {
		slices.SortFunc(l, func(x, y any) int { return strings.Compare(bagText(x), bagText(y)) })
	}
	for _, v := range l {
		if !f(b.wrap(jsonValue{v})) {
			return
		}
	}
}

// bagText is a text that is the same for equal values.
func bagText(v any) string {
	switch x := v.(type) {
	case bagOf:
		var texts []string
		for _, e := range x {
			texts = append(texts, bagText(e))
		}
		slices.Sort(texts)
		return "{" + strings.Join(texts, " ") + "}"
	case []any:
		text := "["
		for _, e := range x {
			text += bagText(e) + " "
		}
		return text + "]"
	case map[string]any:
		text := ""
		for _, name := range slices.Sorted(maps.Keys(x)) {
			text += name + ":" + bagText(x[name]) + ";"
		}
		return "(" + text + ")"
	}
	text, _ := json.Marshal(v)
	return string(text)
}

// tagged draws a value of a type, with bags that say so.
func (r source) tagged(id ir.TypeID) any {
	t := &r.types[id]
	switch t.Kind {
	case ir.UnionType:
		return r.tagged(t.Alternatives[r.Intn(len(t.Alternatives))])
	case ir.IntType:
		return json.Number(strconv.Itoa(r.Intn(2)))
	case ir.MapType, ir.KeyedType:
		m := map[string]any{}
		for _, k := range someKeys {
			if r.Intn(3) > 0 {
				m[k] = r.tagged(t.Elem)
			}
		}
		return m
	case ir.ListType, ir.SetType, ir.LogType:
		l := []any{}
		for range 1 + r.Intn(3) {
			l = append(l, r.tagged(t.Elem))
		}
		if t.Kind == ir.ListType {
			return l
		}
		return bagOf(l)
	case ir.RecordType:
		m := map[string]any{}
		for _, x := range t.Members {
			if !x.Optional || r.Intn(2) == 0 {
				m[x.Name] = r.tagged(x.Type)
			}
		}
		return m
	}
	return r.fitting(id)
}

// permuted is v with the elements of all bags in other places.
func (r source) permuted(v any) any {
	switch x := v.(type) {
	case bagOf:
		out := make(bagOf, len(x))
		for i, j := range r.Perm(len(x)) {
			out[i] = r.permuted(x[j])
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = r.permuted(x[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name := range x {
			out[name] = r.permuted(x[name])
		}
		return out
	}
	return v
}

// A speller draws expressions over the state of bagContract. Many do not type-check.
type speller struct {
	*rand.Rand
	bound []string // variables that macros bind
	more  []string // further conditions
}

func (s *speller) one(words ...string) string { return words[s.Intn(len(words))] }

// inside draws an expression in which new variables are bound.
func (s *speller) inside(draw func(int) string, depth int, names ...string) string {
	s.bound = append(s.bound, names...)
	text := draw(depth)
	s.bound = s.bound[:len(s.bound)-len(names)]
	return text
}

func (s *speller) fresh() string { return fmt.Sprintf("v%d", len(s.bound)) }

// list draws something that may be a list, a set, a log or a map.
func (s *speller) list(depth int) string {
	if depth <= 0 {
		return s.one("state.s", "state.s", "state.g", "state.l", "state.ls", "state.ss", "state.u", "state.y", "state.x", "state.r.s", "state.v.c", "state.z",
			`state.m["a"]`, `state.k["a"].s`, "state.rs", "[1, 0]", "[state.s]", "state.m", "{1: state.s}")
	}
	x, y := s.fresh(), s.fresh()+"_"
	switch s.Intn(19) {
	case 0:
		return s.list(depth-1) + ".filter(" + x + ", " + s.inside(s.bool, depth-1, x) + ")"
	case 1:
		return s.list(depth-1) + ".map(" + x + ", " + s.inside(s.scalar, depth-1, x) + ")"
	case 2:
		return s.list(depth-1) + ".map(" + x + ", " + s.inside(s.list, depth-1, x) + ")"
	case 3:
		return "(" + s.bool(depth-1) + " ? " + s.list(depth-1) + " : " + s.list(depth-1) + ")"
	case 4:
		return "(" + s.list(depth-1) + " + " + s.list(depth-1) + ")"
	case 5:
		return "[" + s.list(depth-1) + ", " + s.list(depth-1) + "]"
	case 6:
		return "dyn(" + s.list(depth-1) + ")"
	case 7:
		return "cel.bind(" + x + ", " + s.list(depth-1) + ", " + s.inside(s.list, depth-1, x) + ")"
	case 8:
		return "optional.of(" + s.list(depth-1) + ").orValue(" + s.list(depth-1) + ")"
	case 9:
		return "state.?o.orValue(" + s.list(depth-1) + ")"
	case 10:
		return s.list(depth-1) + ".transformList(" + x + ", " + y + ", " + s.inside(s.scalar, depth-1, x, y) + ")"
	case 11:
		return s.list(depth-1) + s.one("[0]", "[?0].orValue([])", ".first().orValue([])", ".last().value()")
	case 12:
		return "[optional.of(" + s.list(depth-1) + ")].unwrapOpt()"
	case 13:
		return s.list(depth-1) + ".transformMap(" + x + ", " + y + ", " + s.inside(s.list, depth-1, x, y) + ")"
	case 14:
		return `{"a": ` + s.list(depth-1) + `, "b": ` + s.list(depth-1) + `}`
	case 15:
		return s.list(depth-1) + s.one(`["a"]`, `.c`, `.s`)
	case 16:
		return "[?optional.of(" + s.list(depth-1) + ")]"
	case 17:
		if len(s.bound) > 0 {
			return s.one(s.bound...)
		}
	}
	return s.list(0)
}

// scalar draws something that may be an int.
func (s *speller) scalar(depth int) string {
	switch n := s.Intn(12); {
	case n < 3 && len(s.bound) > 0:
		return s.one(s.bound...)
	case depth <= 0:
		return s.one("state.n", "1", "0")
	case n == 3:
		return s.list(depth-1) + "[" + s.scalar(depth-1) + "]"
	case n == 4:
		return s.list(depth-1) + s.one("[?0].orValue(1)", ".first().orValue(2)", ".last().orValue(2)", ".map(q, string(q)).join(',').size()")
	case n == 5:
		return "size(" + s.list(depth-1) + ")"
	case n == 6:
		return "(" + s.scalar(depth-1) + s.one(" + ", " / ", " - ") + s.scalar(depth-1) + ")"
	case n == 8 || n == 9:
		return s.one("sum(", "sum(", "0 + sum(", "1 + sum(") + s.list(depth-1) + ")"
	case n >= 10:
		return s.list(depth-1) + s.one(".sum()", ".max().orValue(0)", ".max().value()", ".min().orValue(1)")
	case n == 7:
		return "(" + s.bool(depth-1) + " ? " + s.scalar(depth-1) + " : " + s.scalar(depth-1) + ")"
	}
	return s.one("state.n", "1", "0", "state.r.n")
}

func (s *speller) bool(depth int) string {
	x, y := s.fresh(), s.fresh()+"_"
	switch s.Intn(17) {
	case 0, 1:
		return s.list(depth-1) + s.one(" == ", " != ") + s.list(depth-1)
	case 12, 13:
		return s.list(depth-1) + s.one(" == ", " != ") + s.one("[1, 0]", "[0, 1, 1]", "[[1, 0]]", "[0, 1]", "[1]")
	case 14:
		return s.list(depth-1) + s.one("[0]", "[1]", ".first().value()", ".last().value()") + s.one(" == 1", " == 0", " == [1, 0]")
	case 15:
		return s.list(depth-1) + " in [[1, 0], [0, 1]]"
	case 16:
		return "[1, 0] in " + s.list(depth-1)
	case 2:
		return s.scalar(depth-1) + s.one(" == ", " < ", " != ") + s.scalar(depth-1)
	case 3:
		return s.scalar(depth-1) + " in " + s.list(depth-1)
	case 4:
		return s.list(depth-1) + " in " + s.list(depth-1)
	case 5, 6:
		return s.list(depth-1) + s.one(".all(", ".exists(", ".exists_one(") + x + ", " + s.inside(s.bool, depth-1, x) + ")"
	case 7:
		return s.list(depth-1) + s.one(".all(", ".exists(", ".existsOne(") + x + ", " + y + ", " + s.inside(s.bool, depth-1, x, y) + ")"
	case 8:
		return "(" + s.bool(depth-1) + s.one(" && ", " || ") + s.bool(depth-1) + ")"
	case 9:
		return "!(" + s.bool(depth-1) + ")"
	case 10:
		if s.Intn(4) == 0 {
			return "type(" + s.list(depth-1) + ") == list"
		}
	}
	if len(s.more) > 0 && s.Intn(3) > 0 {
		return s.one(s.more...)
	}
	return s.one("state.n == 1", "true", "has(state.o)", "1 / state.n == 1", "state.r == {}")
}

// bagSpellings are the constructs the property must have met in expressions that hold
// a bag and were accepted, and those for which one must have been refused.
var bagSpellings = []string{
	".filter(", ".map(", ".all(", ".exists(", ".exists_one(", " ? ", " + ", "dyn(", "cel.bind(", "orValue(", "unwrapOpt(", "type(",
	" in ", " == ", "[?optional", ".transformMap(", ".transformList(", "first()", "[?0]", "[0]", `{"a"`, "/ ", "sum(", "max()",
}

// TestTheOrderOfSetsAndLogsNeverCounts is what makes a rule over them mean something:
// whatever type-checks has the same outcome wherever the elements stand, also where
// evaluation does not put them in order. In order, the cost is the same as well.
func TestTheOrderOfSetsAndLogsNeverCounts(t *testing.T) {
	c := bagContract()
	free, err := New(c, Default())
	require.NoError(t, err)
	var short []*Env // an order that counts for the cost shows at the limit alone
	for cost := uint64(4); cost < 80; cost += 3 {
		e, err := New(c, Limits{CostLimit: cost})
		require.NoError(t, err)
		short = append(short, e)
	}
	r := source{rand.New(rand.NewSource(5)), c.Types, false}
	accepted, refused := map[string]int{}, map[string]int{}
	outcomes := map[string]int{}
	for range rounds(30_000) {
		s := &speller{Rand: r.Rand}
		src := s.bool(1 + r.Intn(4))
		x, issues := free.Check(src, stateScope)
		if HasErrors(issues) {
			if !slices.ContainsFunc(issues, func(i Issue) bool { return i.Code != BagOrder && i.Code != NoIndex && i.Code != WholeLog }) {
				note(refused, src)
			}
			continue
		}
		note(accepted, src)
		loose, err := free.Compile(x, stateScope)
		require.NoError(t, err)
		tight, err := short[r.Intn(len(short))].Compile(x, stateScope)
		require.NoError(t, err)
		for range 6 {
			a := r.tagged(c.State)
			b := r.permuted(a)
			before, after := outcomeOver(loose, bagValue{a, false}), outcomeOver(loose, bagValue{b, false})
			if strings.HasPrefix(before, "error") && strings.HasPrefix(after, "error") {
				after = before
			}
			require.Equal(t, before, after, "%s\n%v\n%v", src, a, b)
			outcomes[before]++
			before, after = outcomeOver(tight, bagValue{a, true}), outcomeOver(tight, bagValue{b, true})
			require.Equal(t, before, after, "with a limit: %s\n%v\n%v", src, a, b)
			outcomes["limited: "+before]++
		}
	}
	t.Log("accepted", accepted, "refused", refused, "outcomes", outcomes)
	for _, spelling := range bagSpellings {
		require.Positive(t, accepted[spelling], "accepted: %s", spelling)
		require.Positive(t, refused[spelling], "refused: %s", spelling)
	}
	require.Positive(t, outcomes["true"])
	require.Positive(t, outcomes["false"])
	require.Positive(t, outcomes["limited: error: "+costText])
}

// What it costs to go through a bag does not depend on where its elements stand: under
// every limit both orders end alike.
func TestWhatABagCostsDoesNotDependOnItsOrder(t *testing.T) {
	c := bagContract()
	number := func(digits ...string) (out bagOf) {
		for _, d := range digits {
			out = append(out, json.Number(d))
		}
		return out
	}
	state := func(s bagOf) bagValue {
		return bagValue{map[string]any{"s": s, "g": s, "l": []any{json.Number("9")}, "n": json.Number("1"), "ss": bagOf{s}}, true}
	}
	a, b := state(number("1", "2", "3", "4", "0")), state(number("0", "4", "3", "2", "1"))
	for _, src := range []string{
		`1 in state.s`, `state.n in state.s`, `4 in state.s && state.n == 1`,
		`state.s.exists(x, x == 1)`, `(state.l + state.s).exists(x, x == 1)`, `(state.l + state.g.map(x, x)).all(x, x != 4)`,
		`(state.s + state.l).exists(x, x == 4)`, `state.s.map(x, x).exists(x, x == 1)`, `1 in (state.l + state.s)`,
		`state.ss.exists(x, 1 in x)`, `(state.l + state.s).all(x, 4 / x > 0 || x > 2)`,
		`state.s.all(x, x == 0 ? 1 / x == 1 : [0][x - 1] == 0)`, // two errors: the first that is met counts
	} {
		ended := map[string]bool{}
		for cost := uint64(1); cost < 150; cost++ {
			e, err := New(c, Limits{CostLimit: cost})
			require.NoError(t, err)
			p := compile(t, e, src, stateScope)
			of := outcomeOver(p, a)
			require.Equal(t, of, outcomeOver(p, b), "%s with the limit %d", src, cost)
			ended[of] = true
		}
		require.Len(t, ended, 2, "%s ends at a limit and without one", src)
	}
}

const costText = "the evaluation takes more steps than are allowed"

func note(counts map[string]int, src string) {
	counts["all"]++
	for _, spelling := range bagSpellings {
		if strings.Contains(src, spelling) {
			counts[spelling]++
		}
	}
}

func outcomeOver(p *Program, v ir.Value) string {
	b, err := p.Eval(context.Background(), &Input{State: v})
	if err != nil {
		return "error: " + err.Error()
	}
	return strconv.FormatBool(b)
}

// TestWhatWouldDependOnTheOrderOfABagIsRefused lists spellings, each with the part
// that is at fault between « and ».
func TestWhatWouldDependOnTheOrderOfABagIsRefused(t *testing.T) {
	e, err := New(bagContract(), Default())
	require.NoError(t, err)
	var mistakes []mistake
	for _, src := range []string{
		`«state.s».all(i, v, i != 0 || v == 1)`,
		`«state.g».exists(i, v, i == 0 && v == 1)`,
		`«state.m["a"]».existsOne(i, v, i == v)`,
		`«dyn(state.s)».all(i, v, i < v)`,
		`«state.u».all(i, v, i < v)`,
		`«state.y».all(i, v, i == v)`,
		`«state.v.c».exists(i, v, i == v)`,
		`«state.s».transformList(i, v, i + v).size() == 1`,
		`«state.s».transformMap(i, v, v).size() == 1`,
		`«state.s.map(x, x)».transformMapEntry(i, v, {v: i}).size() == 1`,
		`state.ls.all(x, «x».all(i, v, i < v))`,
		`cel.bind(b, state.s, «b».all(i, v, i < v))`,
		`state.m.all(k, v, «v».all(i, w, i < w))`,
		`«state.s.map(x, x)» == [1]`,
		`«dyn(state.s.map(x, x))» == [1]`,
		`«[state.s.map(x, x)]» == [[1]]`,
		`«{"a": state.s.filter(x, x > 0)}» == {"a": [1]}`,
		`«optional.of(state.s.map(x, x))» == optional.of([1])`,
		`(«state.s + []») == [1]`,
		`(«state.y + []») == [1]`,
		`(«state.n == 1 ? state.s.map(x, x) : [1]») == [1]`,
		`«state.ls.map(x, x.filter(y, y > 0))» == [[1]]`,
		`«state.m.transformMap(k, v, v.map(x, x))» == {}`,
		`«state.s.map(x, x)» in [[1]]`,
		`[1] in «[state.s.map(x, x)]»`,
		`«[optional.of(state.s.map(x, x))].unwrapOpt()» == [[1]]`,
		`«state.s.map(x, string(x))».join(",") == "1"`,
		`«dyn(state.s.map(x, string(x)))».join(",") == "1"`,
		`«dyn(state.ls)».join(",") == "1"`,
		`string(«dyn(state.r)») == "1"`,
		`string(«dyn(state.k)») == "1"`,
	} {
		mistakes = append(mistakes, mistake{src, BagOrder, "", ""})
	}
	for _, src := range []string{
		`state.s[«0»] == 1`,
		`state.u[«0»] == 1`,
		`state.y[«0»] == 1`,
		`state.y[«state.x»] == 1`,
		`state.v.c[«0»] == 1`,
		`dyn(state.s)[«0»] == 1`,
		`state.s[?«0»].orValue(1) == 1`,
		`state.?o[«0»].orValue(1) == 1`,
		`(state.n == 1 ? state.s : [1])[«0»] == 1`,
		`(state.n == 1 ? [1] : state.s)[«state.n»] == 1`,
		`optional.of(state.s).orValue([1])[«0»] == 1`,
		`[state.s][0][«0»] == 1`,
		`{"a": state.s}["a"][«0»] == 1`,
		`state.s.filter(x, x > 0)[«0»] == 1`,
		`(state.l + state.s)[«0»] == 1`,
		`cel.bind(b, dyn(state.s), b[«0»] == 1)`,
		`«state.s.first()».value() == 1`,
		`«state.s.map(x, x).last()».value() == 1`,
		`[state.s].first().value()[«0»] == 1`,
		`[optional.of(state.s)].unwrapOpt()[0][«0»] == 1`,
		`state.m.transformMap(k, v, v)["a"][«0»] == 1`,
		`state.k.transformMapEntry(k, v, {k: v.s})["a"][«0»] == 1`,
	} {
		mistakes = append(mistakes, mistake{src, NoIndex, "no position", ""})
	}
	checkMistakes(t, e, stateScope, mistakes)
}

func TestWhatDoesNotDependOnTheOrderOfABagIsAccepted(t *testing.T) {
	e, err := New(bagContract(), Default())
	require.NoError(t, err)
	v := bagValue{map[string]any{
		"s": bagOf{json.Number("1"), json.Number("0")}, "n": json.Number("1"), "l": []any{json.Number("0"), json.Number("1")},
		"m": map[string]any{"b": bagOf{}, "a": bagOf{json.Number("2")}}, "g": bagOf{json.Number("1"), json.Number("1")},
		"ls": []any{bagOf{json.Number("1"), json.Number("0")}}, "ss": bagOf{bagOf{json.Number("1"), json.Number("0")}, bagOf{}},
		"r": map[string]any{"s": bagOf{json.Number("1"), json.Number("0")}, "n": json.Number("1")},
		"u": []any{json.Number("1"), json.Number("0")},
	}, true}
	for _, src := range []string{
		`state.s == [0, 1] && [1, 0] == state.s && state.s == state.l`,
		`[state.s] == [[0, 1]] && {"a": state.s} == {"a": [0, 1]} && state.r == {"s": [0, 1], "n": 1}`,
		`state.ss == [[], [0, 1]] && [1, 0] in state.ss && state.ls == [[1, 0]]`,
		`state.s in [[0, 1]] && state.s in state.ss && 1 in state.s.map(x, x)`,
		`state.u == [1, 0] && state.u == [0, 1]`,
		`state.s.filter(x, x > 0).map(x, x + 1).all(x, x == 2)`,
		`(state.s + state.m["a"] + state.l).exists_one(x, x == 7) == false`,
		`state.g.filter(x, x == 1).size() == 2 && size(state.s.map(x, [x])) == 2`,
		`state.m.map(k, k) == ["a", "b"] && state.m.map(k, k)[0] == "a"`,
		`{"b": 1, "a": 2, "c": 0}.map(k, k) == ["a", "b", "c"]`,
		`{2: "x", 1: "y"}.transformList(k, v, v) == ["y", "x"]`,
		`state.m.transformMap(k, v, size(v)).map(k, k)[1] == "b"`,
	} {
		require.Equal(t, "true", outcomeOver(compile(t, e, src, stateScope), v), src)
	}
}
