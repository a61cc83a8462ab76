package expr

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/stretchr/testify/require"
)

// CEL's errors can be told apart by their texts only, and so this package reads them. The
// tests below provoke every error whose text is read, and hold the text that CEL gives it:
// an upgrade of cel-go that words one anew fails here and names it, before a user sees a
// worse message or a wrong code.

const rewordedText = `cel-go words this error anew. Mend its sign in %s, if the new text does not have it, and the text in this test.
  expression: %s`

func TestCELStillWordsItsSyntaxErrorsAsTheyAreRead(t *testing.T) {
	d := newDesk(t)
	provoked := map[string]bool{}
	for _, c := range []struct{ source, text, message string }{
		{strings.Repeat("true?true:", 200) + "true", "expression recursion limit exceeded: 100", "the expression has more than 100 levels of nesting"},
		{strings.Repeat("1+", 300) + "1", "max recursion depth exceeded", "the expression has more than 100 levels of nesting"},
		{"[1].all(x, [" + strings.Repeat("1,", 6000) + "]==[])", "expression count exceeds limit of 5000 while expanding macro 'all'", "the expression has more than 5000 parts"},
		{"has(1)", "invalid argument to has() macro", "has() takes one member"},
		{"[1].all(x.y, true)", "argument must be a simple name", "a macro's variable is a plain name"},
		{"{1: 2}.transformMap(k.l, v, true) == {}", "argument must be a simple name", "a macro's variable is a plain name"},
		{"cel.bind(a.b, 1, true)", "cel.bind() variable names must be simple identifiers", "a macro's variable is a plain name"},
		{"99999999999999999999 > 1", "invalid int literal", "the number is out of range"},
		{"1e999 > 1.0", "invalid double literal", "the number is out of range"},
		{"for > 1", "reserved identifier: for", "`for` is a reserved word"},
		{"state.limit state", "Syntax error: extraneous input 'state' expecting <EOF>", "`state` cannot stand here"},
	} {
		_, errs := d.env.parser.Parse(common.NewTextSource(c.source))
		require.NotEmpty(t, errs.GetErrors(), c.source)
		text := errs.GetErrors()[0].Message
		require.Equal(t, c.text, text, rewordedText, "limitErrors or misuses (parse.go)", c.source[:min(len(c.source), 40)])
		_, issues := d.env.Check(c.source, stateScope)
		require.Equal(t, c.message, issues[0].Message, c.source[:min(len(c.source), 40)])
		for _, known := range limitErrors {
			provoked[known.sign] = provoked[known.sign] || strings.HasPrefix(text, known.sign)
		}
		for _, known := range misuses {
			provoked[known.sign] = provoked[known.sign] || strings.HasPrefix(text, known.sign)
		}
	}
	requireAll(t, provoked)
}

func TestCELStillWordsItsTypeErrorsAsTheyAreRead(t *testing.T) {
	d := newDesk(t)
	check, err := d.env.checkerFor(stateScope)
	require.NoError(t, err)
	provoked := map[string]bool{}
	for _, c := range []struct{ source, text, message string }{
		{`nothing`, "undeclared reference to 'nothing' (in container '')", "`nothing` is not defined here"},
		{`nothing(1)`, "undeclared reference to 'nothing' (in container '')", "there is no function `nothing`"},
		{`Foo{a: 1} == 1`, "undeclared reference to 'Foo' (in container '')", "an expression cannot make a record; name its members one by one"},
		{`state.budgte > 1.0`, "undefined field 'budgte'", "`budgte` is no member of record"},
		{`state.?budgte == state.?budget`, "undefined field 'budgte'", "`budgte` is no member of record"},
		{`state.limit + true == 1`, "found no matching overload for '_+_' applied to '(int, bool)'", "`+` does not take int and bool"},
		{`1 && true`, "expected type 'bool' but found 'int'", "this must be a bool, not an int"},
		{`[1].all(x, x)`, "expected type 'bool' but found 'int'", "this must be a bool, not an int"},
		{`state.limit.x == 1`, "type 'int' does not support field selection", "an int has no member `x`"},
		{`optional.of(1).x == 1`, "type 'int' does not support field selection", "an optional int has no members"},
		{`state.limit.all(x, true)`, "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)", "a macro goes over a list or a map, not over an int"},
	} {
		tree, errs := d.env.parser.Parse(common.NewTextSource(c.source))
		require.Empty(t, errs.GetErrors(), c.source)
		_, errs = checker.Check(tree, common.NewTextSource(c.source), check)
		require.NotEmpty(t, errs.GetErrors(), c.source)
		text := errs.GetErrors()[0].Message
		require.Equal(t, c.text, text, rewordedText, "typeErrors (report.go)", c.source)
		_, issues := d.env.Check(c.source, stateScope)
		require.Equal(t, c.message, issues[0].Message, c.source)
		for _, known := range typeErrors {
			if strings.HasPrefix(text, known.begins) && strings.Contains(text, known.has) {
				provoked[known.begins] = true
				break
			}
		}
	}
	// Of "expected type", CEL 0.31 has no other use than for a bool.
	for _, known := range typeErrors {
		require.True(t, provoked[known.begins] || known.begins == "expected type", "no expression provokes %q", known.begins)
	}
}

func TestCELStillWordsItsRunTimeErrorsAsTheyAreRead(t *testing.T) {
	d := newDesk(t)
	state := value(strings.Replace(sample, `"limit":`, `"extra": "text", "limit":`, 1))
	provoked := map[string]bool{}
	for _, f := range failures {
		provoked[f.sign] = false
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	long := `[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, a + b + c > 0)))`
	for _, c := range []struct {
		source, text, message string
		in                    *Input
		ctx                   context.Context
		limit                 int64
	}{
		{source: `{"a": 1}["b"] == 1`, text: "no such key: b", message: "absent"},
		{source: `state.tickets["zz"].urgent`, text: "no such key: zz", message: "absent"},
		{source: `state.limit == 1`, in: &Input{}, text: "no such attribute(s): state", message: "a name"},
		{source: `[1][state.orders[0].count] == 1`, text: "index out of bounds: 1", message: "position"},
		{source: `state.orders[99].price > 1.0`, text: "index out of bounds: 99", message: "position"},
		{source: `"a".substring(0, 9) == ""`, text: "index out of bounds", message: "position"},
		{source: `dyn(true) + 1 == 2`, text: "no such overload: _+_", message: "kinds"},
		{source: `dyn("a") < 1`, text: "no such overload", message: "kinds"},
		{source: `dyn(1) && true`, text: "no such overload", message: "kinds"},
		{source: `9223372036854775807 + state.orders[0].count == 1`, text: "integer overflow", message: "an int is out of range"},
		{source: `1u - 2u == 1u`, text: "unsigned integer overflow", message: "an int is out of range"},
		{source: `int(1e300) == 1`, text: "integer overflow", message: "an int is out of range"},
		{source: `timestamp("9999-12-31T23:59:59Z") + duration("10h") == timestamp("2020-01-01T00:00:00Z")`, text: "timestamp overflow", message: "out of range"},
		{source: `state.limit == 1`, in: &Input{State: value(`{"limit": 1.5}`)}, text: "not a 64-bit integer", message: "no int, where its type says int"},
		{source: `1 / (state.limit - state.limit) == 1`, text: "division by zero", message: "division by zero"},
		{source: `1 % (state.limit - state.limit) == 1`, text: "modulus by zero", message: "division by zero"},
		{source: `optional.none().value() == 1`, text: "optional.none() dereference", message: "empty"},
		{source: `["a"].join("b").replace("a", "` + strings.Repeat("b", 1100) + `").size() == 1`, in: &Input{}, text: "text too long", message: "longer text"},
		{source: `time.before("x", "y")`, text: "not a time", message: "as a time"},
		{source: `spent < 1.0`, in: &Input{Measure: func(string) (string, bool) { return "", true }}, text: "measure without a value", message: "its condition"},
		{source: `sum([1.0 / 0.0]) < 1.0`, text: "no number to add", message: "added up"},
		{source: `0.0 / 0.0 < 1.0`, text: "NaN values cannot be ordered", message: "a number that is compared"},
		{source: `state.a * state.a * state.a * state.a * state.a > 0`, in: &Input{State: value(`{"a": 1e1000}`)}, text: "decimal out of range", message: "4,096 digits"},
		{source: `decimal(string(state.i) + "x") > 0`, in: &Input{State: value(`{"i": 1}`)}, text: "not a decimal", message: "is none"},
		{source: long, limit: 100, text: "cost limit exceeded", message: "more steps"},
		{source: long, ctx: stopped, text: "operation interrupted: context canceled", message: "time"},
		{source: `int("z") == 1`, text: "type conversion error from 'string' to 'int'", message: "no value for this state"},
	} {
		limits := Default()
		if c.text == "text too long" {
			limits.MaxText = 1000
		}
		e, err := New(d.contract, limits)
		require.NoError(t, err)
		if strings.Contains(c.text, "decimal") {
			e = newTill(t)
		}
		p := compile(t, e, c.source, stateScope)
		if c.in == nil {
			c.in = &Input{State: state}
		}
		if c.ctx == nil {
			c.ctx = context.Background()
		}
		a := &activation{program: p, input: c.in}
		if a.meter.left = p.limit; c.limit > 0 {
			a.meter.left = c.limit
		}
		_, _, err = p.program.ContextEval(c.ctx, a)
		require.Error(t, err, c.source)
		require.Equal(t, c.text, err.Error(), rewordedText, "failures (program.go)", c.source)
		require.Contains(t, evalError(err).Message, c.message, c.source)
		for _, f := range failures {
			fixed, _, _ := strings.Cut(err.Error(), ":")
			provoked[f.sign] = provoked[f.sign] || strings.Contains(fixed, f.sign)
		}
	}
	requireAll(t, provoked)
}

func requireAll(t *testing.T, provoked map[string]bool) {
	t.Helper()
	for sign, met := range provoked {
		require.True(t, met, "no expression provokes %q", sign)
	}
}

// The texts of CEL's syntax errors hold tokens of the source: a token that reads like
// another error is none.
func TestATokenThatReadsLikeAnErrorOfCELIsATokenOnly(t *testing.T) {
	e := newDesk(t).env
	for _, token := range []string{
		`node`, `nodes`, `recursion`, `"expression count"`, `"must be a simple name"`, `"has() macro"`,
		`'invalid int literal'`, `"reserved identifier"`, `"max recursion depth exceeded"`,
	} {
		const before = "state.limit > 1 "
		at := len(before)
		_, issues := e.Check(before+token, stateScope)
		require.Len(t, issues, 1, token)
		require.Equal(t, Issue{Code: SyntaxError, Start: at, End: at + len(token), Message: fmt.Sprintf("`%s` cannot stand here", token), Help: "an operator is missing before it; two conditions are joined by `&&`"}, issues[0])
	}
}
