package expr

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

// A mistake is a source with the reported range between « and », and what is said
// about it. fixed is the source after the fix, "" for none.
type mistake struct {
	source, code, message, fixed string
}

func checkMistakes(t *testing.T, e *Env, s Scope, mistakes []mistake) {
	for _, m := range mistakes {
		t.Run(m.source, func(t *testing.T) {
			start := strings.Index(m.source, "«")
			src := strings.NewReplacer("«", "", "»", "").Replace(m.source)
			end := strings.Index(m.source, "»") - len("«")
			_, issues := e.Check(src, s)
			require.Len(t, issues, 1)
			i := issues[0]
			require.Equal(t, m.code, i.Code)
			require.Equal(t, src[start:end], src[i.Start:i.End])
			require.Equal(t, start, i.Start)
			require.Contains(t, i.Message+" / "+i.Help, m.message)
			if m.fixed == "" {
				require.Nil(t, i.Fix)
				return
			}
			require.NotNil(t, i.Fix)
			fixed := src[:i.Fix.Start] + i.Fix.Text + src[i.Fix.End:]
			require.Equal(t, m.fixed, fixed)
			_, left := e.Check(fixed, s)
			require.Empty(t, left, "the fix leaves %v", left)
		})
	}
}

func TestSyntaxErrorsPointAtTheirCause(t *testing.T) {
	checkMistakes(t, newDesk(t).env, stateScope, []mistake{
		{"«»", SyntaxError, "empty", ""},
		{"«   »", SyntaxError, "empty", ""},
		{"state.limit «=» 3", SyntaxError, "`==` compares", "state.limit == 3"},
		{"state.limit «===» 3", SyntaxError, "`==` compares", "state.limit == 3"},
		{"state.limit == 3 «and» true", SyntaxError, "`&&`", "state.limit == 3 && true"},
		{"state.limit == 3 «or» true", SyntaxError, "`||`", "state.limit == 3 || true"},
		{"state.limit == 3 «&» true", SyntaxError, "`&&`", "state.limit == 3 && true"},
		{"state.limit == 3 «|» true", SyntaxError, "`||`", "state.limit == 3 || true"},
		{"«not» has(state.meta)", SyntaxError, "`!`", "! has(state.meta)"},
		{"state.limit «==» ", SyntaxError, "ends too early", ""},
		{"«(»state.limit == 3", SyntaxError, "never closed", ""},
		{"state.limit == 3«)»", SyntaxError, "closes nothing", ""},
		{"«[»1, 2) == []", SyntaxError, "never closed", ""},
		{"state.budget > 1.0 && phase == «\"abc»", SyntaxError, "has no end", ""},
		{"state.budget > «1e-400»", SyntaxError, "no double holds this number", ""},
		{"state.budget > -«3e-324»", SyntaxError, "no double holds this number", ""},
		{"state.budget > 0.5 || state.budget == «0.10000000000000000001»", SyntaxError, "no double holds this number", ""},
		{"state.budget == «9007199254740993.0»", SyntaxError, "no double holds this number", ""},
		{"state.budget > «1e-999999999»", SyntaxError, "no double holds this number", ""},
		{"state.budget < «1e999999999»", SyntaxError, "out of range", ""},
		{"phase == «'''abc\n»", SyntaxError, "'''", ""},
		{"state.«.»limit == 1", SyntaxError, "cannot stand here", ""},
		{"state.limit > «99999999999999999999»", SyntaxError, "out of range", ""},
		{"«if» (true) {}", SyntaxError, "reserved", ""},
		{"has(«state»)", SyntaxError, "has() takes one member", ""},
		{"state.tickets.all(«1», true)", SyntaxError, "plain name", ""},
		{"phase == \"é\" \n «#» x", SyntaxError, "`//`", "phase == \"é\" \n // x"},
		{"phase «@» 1", SyntaxError, "means nothing", ""},
	})
}

func TestNamesAndMembersThatDoNotExistGetTheNearest(t *testing.T) {
	checkMistakes(t, newDesk(t).env, stateScope, []mistake{
		{"«stat».limit > 1", UnknownName, "`stat` is not defined", "state.limit > 1"},
		{"«foo».bar > 1", UnknownName, "in scope: cheapest, entries, phase, pieces, shop.spent, spent, state", ""},
		{"state.«tickts».size() > 1", UnknownMember, "did you mean `tickets`", "state.tickets.size() > 1"},
		{"state.customers.all(k, c, c.«nmae» != \"\")", UnknownMember, "no member of record Account", "state.customers.all(k, c, c.name != \"\")"},
		{"has(state.«mta»)", UnknownMember, "`mta`", "has(state.meta)"},
		{"state.?«mta».hasValue()", UnknownMember, "`mta`", "state.?meta.hasValue()"},
		{"state.pets.all(p, p.«kid» == \"cat\")", UnknownMember, "`kid`", "state.pets.all(p, p.kind == \"cat\")"},
		{"state.budget.«foo» > 1.0", UnknownMember, "a number has no member", ""},
		{"state.orders.«first» == 1", UnknownMember, "list of record Item has no members", ""},
		{"«text.wrods»(phase) == 2", UnknownFunction, "did you mean `text.words`", "text.words(phase) == 2"},
		{"phase.«startswith»(\"b\")", UnknownFunction, "did you mean `startsWith`", "phase.startsWith(\"b\")"},
		{"«sze»(state.tickets) > 1", UnknownFunction, "did you mean `size`", "size(state.tickets) > 1"},
	})
}

func TestEachContextSaysWhatItSees(t *testing.T) {
	d := newDesk(t)
	checkMistakes(t, d.env, stateScope, []mistake{
		{"«before».limit == 1", UnknownName, "sees `state`, not `before`", "state.limit == 1"},
	})
	checkMistakes(t, d.env, beforeScope, []mistake{
		{"«state».limit == 1", UnknownName, "require sees `before`, not `state`", "before.limit == 1"},
	})
	checkMistakes(t, d.env, afterScope, []mistake{
		{"«state».limit == 1", UnknownName, "ensure sees `before` and `after`", "after.limit == 1"},
		{"«phase» == \"x\"", UnknownName, "`phase` is not defined", ""},
		{"«tiket» in after.tickets", UnknownName, "did you mean `ticket`", "ticket in after.tickets"},
	})
	checkMistakes(t, d.env, Scope{Vars: ir.SelfVars, Self: d.ticket}, []mistake{
		{"«this».subject == \"\"", UnknownName, "where sees `self`", "self.subject == \"\""},
		{"«spent» > 1.0", UnknownName, "not defined", ""},
	})
	checkMistakes(t, d.env, Scope{Vars: ir.ViewVars}, []mistake{
		{"«state».limit == 1", UnknownName, "sees `view`", "view.limit == 1"},
	})
}

func TestOperandsOfTheWrongTypeAreNamedInTheLanguagesWords(t *testing.T) {
	checkMistakes(t, newDesk(t).env, stateScope, []mistake{
		{"«state.budget + 1» > 2.0", OperandTypes, "`+` does not take number and int", "state.budget + 1.0 > 2.0"},
		{"«(1 + 2) * 2.0» > 2.0", OperandTypes, "`*` does not take int and number", ""},
		{"«state.limit + \"a\"» == \"b\"", OperandTypes, "int and string", ""},
		{"«state.customers[\"a\"] > 1»", OperandTypes, "record Account and int", ""},
		{"«state.orders < 1»", OperandTypes, "list of record Item and int", ""},
		{"«pii.email(state.limit)»", OperandTypes, "`pii.email` does not take int", ""},
		{"«state.limit» && true", OperandTypes, "must be a bool, not an int", ""},
		{"state.tickets.all(k, «state.limit»)", OperandTypes, "must be a bool, not an int", ""},
		{"«state.limit»", NotBool, "an int, not a bool", ""},
		{"state.orders.map(o, «1», o.price).size() == 1", OperandTypes, "must be a bool, not an int", ""},
		{"«phase» ? true : false", OperandTypes, "must be a bool, not a string", ""},
		{"size(«true ? \"a\" : 1») == 1", OperandTypes, "`? :` does not take string and int", ""},
		{"«size()» == 1", OperandTypes, "`size` needs an argument", ""},
		{"(«1 + 1»)", NotBool, "an int, not a bool", ""},
		{"«state.customers[\"a\"]».all(k, true)", NotARange, "over a record Account", ""},
		{"«state.limit».all(k, true)", NotARange, "not over an int", ""},
		{"phase.matches(«\"(\"»)", BadPattern, "RE2", ""},
	})
}

func TestAMemberThatMayBeAbsentMustBeGuarded(t *testing.T) {
	d := newDesk(t)
	checkMistakes(t, d.env, d.each(), []mistake{
		{"«t.reply» == \"\"", Unguarded, "may be absent", "has(t.reply) && t.reply == \"\""},
		{"t.urgent || «t.reply» == \"\"", Unguarded, "may be absent", "t.urgent || has(t.reply) && t.reply == \"\""},
		{"!(«t.reply» == \"\")", Unguarded, "may be absent", "!(has(t.reply) && t.reply == \"\")"},
		{"has(t.reply) || «t.reply» == \"\"", Unguarded, "", "has(t.reply) || has(t.reply) && t.reply == \"\""},
		{"!has(t.reply) && «t.reply» == \"\"", Unguarded, "", "!has(t.reply) && has(t.reply) && t.reply == \"\""},
		{"has(t.reply) ? true : «t.reply» == \"\"", Unguarded, "", "has(t.reply) ? true : has(t.reply) && t.reply == \"\""},
		{"has(t.author) && «t.reply» == \"\"", Unguarded, "", "has(t.author) && has(t.reply) && t.reply == \"\""},
		{"has(«t.author».email)", Unguarded, "`t.author` may be absent", "has(t.author) && has(t.author.email)"},
		{"(t.urgent || has(t.reply)) && «t.reply» == \"\"", Unguarded, "", "(t.urgent || has(t.reply)) && has(t.reply) && t.reply == \"\""},
		{"(has(t.reply) || has(t.author)) && «t.reply» == \"\"", Unguarded, "", "(has(t.reply) || has(t.author)) && has(t.reply) && t.reply == \"\""},
		{"!(has(t.reply) && t.urgent) && «t.reply» == \"\"", Unguarded, "", "!(has(t.reply) && t.urgent) && has(t.reply) && t.reply == \"\""},
		{"(t.urgent ? has(t.reply) : true) && «t.reply» == \"\"", Unguarded, "", "(t.urgent ? has(t.reply) : true) && has(t.reply) && t.reply == \"\""},
		{"[t].map(x, has(x.reply), state.tickets[\"a\"]).all(y, «y.reply» == \"\")", Unguarded, "", "[t].map(x, has(x.reply), state.tickets[\"a\"]).all(y, has(y.reply) && y.reply == \"\")"},
		{"[1].exists(t2, «t.reply» == \"\")", Unguarded, "", "[1].exists(t2, has(t.reply) && t.reply == \"\")"},
		{"state.tickets.filter(k, has(state.tickets[k].reply)).all(k, «state.tickets[k].reply» != \"\")", Unguarded, "",
			"state.tickets.filter(k, has(state.tickets[k].reply)).all(k, has(state.tickets[k].reply) && state.tickets[k].reply != \"\")"},
		{"has(t.reply) && state.tickets.exists(k, t, «t.reply» == \"\")", Unguarded, "", "has(t.reply) && state.tickets.exists(k, t, has(t.reply) && t.reply == \"\")"},
		{"state.tickets.map(k, «state.tickets[k].reply»).size() == 1", Unguarded, "", ""},
	})
}

func TestGuardedMembersAreAccepted(t *testing.T) {
	d := newDesk(t)
	for _, src := range []string{
		`has(t.reply) && t.reply != ""`,
		`has(t.reply) && size(t.labels) > 1 && t.reply != ""`,
		`!has(t.reply) || t.reply != ""`,
		`!(has(t.reply) && t.urgent) || t.reply != ""`,
		`has(t.reply) ? t.reply != "" : true`,
		`(has(t.reply) ? t.reply : "") == ""`,
		`!has(t.reply) ? true : t.reply != ""`,
		`(has(t.reply) ? t.urgent : false) && t.reply != ""`,
		`(!has(t.reply) ? false : t.urgent) && t.reply != ""`,
		`(!has(t.reply) ? true : t.urgent) || t.reply != ""`,
		`has(t.reply) == true && t.reply != ""`,
		`has(t.reply) == false || t.reply != ""`,
		`has(t.author) && has(t.author.email) && t.author.email != ""`,
		`t.?reply.orValue("") != "x"`,
		`t.?reply.hasValue() && t.reply != ""`,
		`t.?author.?email.hasValue() && t.author.email != ""`,
		`t.?author.email.orValue("") == ""`,
		`has(t.reply) && state.customers.all(k, t.reply != k)`,
		`state.tickets.exists(k, v, has(v.reply) && v.reply != "")`,
		`state.tickets.map(k, state.tickets[k]).filter(v, has(v.reply)).all(v, v.reply != "")`,
		`state.tickets.all(k, !has(state.tickets[k].reply) || state.tickets[k].reply != "")`,
		`cel.bind(v, t, has(v.reply) && t.reply != "")`,
		`has(state.open.b) && state.open.b > 1.0`,
	} {
		_, issues := d.env.Check(src, d.each())
		require.Empty(t, issues, src)
	}
}

func TestComparisonsThatCannotHoldAreErrors(t *testing.T) {
	d := newDesk(t)
	checkMistakes(t, d.env, d.each(), []mistake{
		{"t.status == «\"solvd\"»", NeverHolds, "did you mean \"solved\"", "t.status == \"solved\""},
		{"«\"opn\"» != t.status", NeverHolds, "did you mean \"open\"", "\"open\" != t.status"},
		{"t.status in [\"open\", «\"waitin\"»]", NeverHolds, "did you mean \"waiting\"", "t.status in [\"open\", \"waiting\"]"},
		{"t.status == «\"unheard of\"»", NeverHolds, "\"open\" or \"waiting\" or \"solved\"", ""},
		{"«t.subject == 3»", NeverHolds, "(string) and `3` (int)", ""},
		{"«state.limit == \"3\"»", NeverHolds, "(int) and `\"3\"` (string)", ""},
		{"«state.limit == null»", NeverHolds, "an absent member is not null", ""},
		{"«3» in t.labels", NeverHolds, "type int is never among values of type string", ""},
		{"«3» in state.customers", NeverHolds, "type int", ""},
		{"«\"name\" in state.customers[\"a\"]»", OperandTypes, "has(r.member)", ""},
	})
	for _, src := range []string{`t.score == null`, `t.score == 3.0`, `state.limit == 3.5`, `state.extra == "a"`, `t.labels == ["a"]`, `t.status == "open"`, `t.subject == "x"`} {
		_, issues := d.env.Check(src, d.each())
		require.Empty(t, issues, src)
	}
}

func TestLogsSetsAndKeyedListsAreUsedAsTheyCan(t *testing.T) {
	checkMistakes(t, newDesk(t).env, stateScope, []mistake{
		{"«state.history[0]».what == \"x\"", WholeLog, "with an index", ""},
		{"«state.history» == []", WholeLog, "as a value", ""},
		{"[] != «state.history»", WholeLog, "as a value", ""},
		{"{\"at\": \"x\"} in «state.history»", WholeLog, "with `in`", ""},
		{"cel.bind(h, state.history, «h» == [])", WholeLog, "as a value", ""},
		{"size([«state.history»]) == 1", WholeLog, "as a value", ""},
		{"state.history.map(e, e.what)[«0»] == \"x\"", NoIndex, "no position", ""},
		{"«state.history.map(e, e.what)» == [\"x\"]", BagOrder, "no order", ""},
		{"«state.tags».join(\",\") == \"a\"", BagOrder, "no order", ""},
		{"state.tags[«0»] == \"a\"", NoIndex, "no position", ""},
		{"state.items[«0»].price > 1.0", NoIndex, "go by key", ""},
		{"state.orders[«\"a\"»].price > 1.0", NoIndex, "go by position", ""},
		{"state.tickets[«1»].urgent", NoIndex, "keys of `state.tickets` are strings", ""},
		{"«state.customers[\"a\"][\"name\"]» == \"x\"", NoIndex, "with a dot", "state.customers[\"a\"].name == \"x\""},
	})
	for _, src := range []string{
		`size(state.history) == 1 && state.history.size() == 1`,
		`state.history.all(e, e.what != "")`,
		`"x" in state.history.map(e, e.what)`,
		`state.history.filter(e, e.what == "x").size() == 1`,
		`state.tags == ["a"] && "a" in state.tags`,
		`state.items["a"].price > 1.0 && state.items.all(k, i, i.id == k)`,
	} {
		_, issues := newDesk(t).env.Check(src, stateScope)
		require.Empty(t, issues, src)
	}
}

func TestEveryMistakeIsReportedOnce(t *testing.T) {
	_, issues := newDesk(t).env.Check(`state.limt > 1 && foo == 2 && state.customers.all(k, c, c.role == "admn")`, stateScope)
	var codes []string
	for _, i := range issues {
		codes = append(codes, i.Code)
	}
	require.Equal(t, []string{UnknownMember, UnknownName, NeverHolds}, codes)
}

func TestLimitsOfAnExpressionAreReported(t *testing.T) {
	e := newDesk(t).env
	for name, src := range map[string]string{
		"bytes":             `phase == "` + strings.Repeat("a", Default().MaxSource) + `"`,
		"levels of nesting": strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200),
		"parts":             strings.TrimSuffix(strings.Repeat("true||", 2_600), "||"),
	} {
		_, issues := e.Check(src, stateScope)
		require.Len(t, issues, 1, name)
		require.Equal(t, TooLarge, issues[0].Code)
		require.Contains(t, issues[0].Message, name)
	}
}

func TestDeeplyNestedMacrosAreTakenToReadEverything(t *testing.T) {
	e := newDesk(t).env
	nested := func(depth int) string {
		return strings.Repeat("state.orders.map(o, ", depth) + "o.id" + strings.Repeat(")", depth) + ".size() == 1"
	}
	x, issues := e.Check(nested(4), stateScope)
	require.Empty(t, issues)
	require.Equal(t, []string{"/:orders!", "/:orders/[*]/:id"}, footprintText(x))
	_, issues = e.Check(nested(40), stateScope)
	require.Len(t, issues, 1)
	require.Equal(t, TooLarge, issues[0].Code, "whether the order of a set counts cannot be told")
	x, issues = ordersOnly(t).Check(nested(40), stateScope)
	require.Empty(t, issues)
	require.Equal(t, []ir.Read{{Inexact: true}}, x.Reads)
	require.True(t, x.ReadsPhase)
}

func TestConditionsInConditionsAreFollowedToTheEnd(t *testing.T) {
	e := newDesk(t).env
	for _, src := range []string{
		strings.Repeat("(", 40) + "state.limit > 1" + strings.Repeat(" ? has(state.meta) : state.limit > 1)", 40),
		strings.Repeat("!(", 40) + "has(state.meta)" + strings.Repeat(" ? state.limit > 1 : true)", 40),
		strings.Repeat("(state.limit > 1 ? (", 20) + "has(state.meta)" + strings.Repeat(" ? true : false) : false)", 20),
	} {
		x, issues := e.Check(src, stateScope)
		require.Empty(t, issues)
		require.Equal(t, []string{"/:limit", "/:meta!"}, footprintText(x))
	}
}

func TestCheckingTakesNoTimeThatGrowsWithEveryLevel(t *testing.T) {
	e := newDesk(t).env
	wrap := func(depth int, before, after, inside string) string {
		return strings.Repeat(before, depth) + inside + strings.Repeat(after, depth)
	}
	halves := func(depth int) string {
		x := "has(state.meta)"
		for i := range depth {
			x = "(" + x + []string{" && ", " || "}[i%2] + x + ")"
		}
		return x
	}
	loops := make([]string, 20)
	for i := range loops {
		loops[i] = fmt.Sprintf("state.tickets.all(k%d, state.tickets[k%d].urgent)", i, i)
	}
	names := "v60 == ''"
	for i := 60; i > 0; i-- {
		names = fmt.Sprintf("cel.bind(v%d, {'a': {'a': 'b'}}[v%d][v%d], %s)", i, i-1, i-1, names)
	}
	for name, src := range map[string]string{
		"a condition as a condition":    wrap(40, "(", " ? state.limit > 1 : state.budget > 1.0)", "true"),
		"negated":                       wrap(40, "!(", " ? state.limit > 1 : state.budget > 1.0)", "true"),
		"in the branches":               wrap(40, "(true ? state.limit > 1 : ", ")", "true"),
		"as a branch and a condition":   wrap(20, "(state.limit > 1 ? (", " ? true : state.limit > 2) : false)", "has(state.meta)"),
		"in the body of a loop":         "state.tickets.all(k, t, " + wrap(30, "(", " ? t.urgent : t.score > 1)", "true") + ")",
		"an or of loops":                strings.Join(loops, " || "),
		"a negated and of loops":        "!(" + strings.ReplaceAll(strings.Join(loops, " && "), ".all(", ".exists(") + ")",
		"an or of loops in a condition": "has(state.meta) ? " + strings.Join(loops, " || ") + " : false",
		"both sides the same":           halves(8),
		"an or in an or":                wrap(40, "(before.limit > 1 || ", ")", "true"),
		"names for what names lead to":  "cel.bind(v0, 'a', " + names + ")",
	} {
		start := time.Now()
		scope := stateScope
		if strings.Contains(src, "before") {
			scope = Scope{Vars: ir.BeforeVars}
		}
		x, _ := e.Check(src, scope)
		e.Parts(x, scope)
		e.Walks(x, scope)
		require.Less(t, time.Since(start), 5*time.Second, name)
	}
}

// ordersOnly is a contract of which no state holds a set or a log.
func ordersOnly(t *testing.T) *Env {
	tt := &typeTable{types: make([]ir.Type, 1)}
	str, whole := tt.kind(ir.StringType), tt.kind(ir.IntType)
	orders := tt.of(ir.ListType, tt.record("Item", member("id", str)))
	state := tt.record("", member("orders", orders), member("limit", whole), optional("meta", str))
	e, err := New(&ir.Contract{Types: tt.types, State: state}, Default())
	require.NoError(t, err)
	return e
}

func TestAFloodOfIssuesIsCutOff(t *testing.T) {
	_, issues := newDesk(t).env.Check(strings.Repeat("state.meta.name == '' || ", 300)+"true", stateScope)
	require.Len(t, issues, maxIssues)
}

func TestFunctionsThatAreNotPureDoNotExist(t *testing.T) {
	e := newDesk(t).env
	for _, src := range []string{
		`timestamp("2024-01-01T00:00:00Z").getHours("Europe/Paris") == 1`,
		`now() == timestamp("2024-01-01T00:00:00Z")`,
		`"%s".format([phase]) == "a"`,
		`math.random() > 0.5`,
	} {
		_, issues := e.Check(src, stateScope)
		require.True(t, HasErrors(issues), src)
	}
}

func FuzzCheckNeverPanicsAndStaysInRange(f *testing.F) {
	for _, src := range append(append([]string{}, typedSubjects...), untypedSubjects...) {
		f.Add(src)
	}
	for _, src := range []string{`has(t.`, `"\u00e9" == 'é' && foo`, "a\n.b\n// c", `r"\"`, `'''`, `1.e5`, `0x`, `[?a]`, `{?a: b}`, `x{y: z}`, `.a`, `a[?b].c(d)`, `optional.none()`, `cel.bind(a, b, c)`, "b'\\377'", `((((`, `- -1`, `!!true`, `1u`, `type(type(1))`, "`a`", "\xff"} {
		f.Add(src)
	}
	for _, src := range []string{
		"t.`x-y`.?`in`.orValue(0) < 3", "`\\u0060`.a", "t.`a``", `decimal("1.50") * 2 <= 3.0000000000000000000000001`, `-decimal(1) < 0.10`, `sum([1, 2].map(x, x * 2)) < max([1.5]).orValue(0.0)`,
		`min(t.labels.map(l, size(l))).orValue(0) == 0`, `now - duration("36h") > timestamp("2026-01-01T00:00:00Z")`, `role in ["a"] && actor != ""`, `{"a": 1e-400}.a == 0.0`, `1.0 / -0.0 < 0.0`, `0x10 == 16`, `.5 < 1.e1`,
		`t.ok ? t.v > 0 : t.e != ""`,
	} {
		f.Add(src)
	}
	d := newDesk(f)
	in := &Input{State: value(sample), Entry: value(oneTicket)}
	f.Fuzz(func(t *testing.T, src string) {
		x, issues := d.env.Check(src, d.each())
		for _, i := range issues {
			if i.Start < 0 || i.Start > i.End || i.End > len(src) || i.Message == "" || i.Code == "" {
				t.Fatalf("a broken issue: %+v", i)
			}
			if i.Fix != nil && (i.Fix.Start < 0 || i.Fix.Start > i.Fix.End || i.Fix.End > len(src)) {
				t.Fatalf("a broken fix: %+v", i.Fix)
			}
			if utf8.ValidString(src) && !utf8.ValidString(src[i.Start:i.End]) {
				t.Fatalf("a range that splits a character: %+v", i)
			}
		}
		if HasErrors(issues) {
			return
		}
		if len(Canonical(src, func(name string) string { return name })) == 0 {
			t.Fatalf("an expression that says nothing: %q", src) // and would be missed in no stage
		}
		p, err := d.env.Compile(x, d.each())
		if err != nil {
			t.Fatalf("checked but not compiled: %q: %v", src, err)
		}
		first, err1 := p.Eval(context.Background(), in)
		second, err2 := p.Eval(context.Background(), in)
		if first != second || (err1 == nil) != (err2 == nil) {
			t.Fatalf("two outcomes of %q", src)
		}
	})
}
