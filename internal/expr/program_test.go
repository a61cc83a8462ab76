package expr

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

func compile(t testing.TB, e *Env, src string, s Scope) *Program {
	x, issues := e.Check(src, s)
	require.False(t, HasErrors(issues), "%s: %v", src, issues)
	p, err := e.Compile(x, s)
	require.NoError(t, err, src)
	return p
}

const sample = `{
	"tickets": {
		"T1": {"subject":"s","status":"open","customer":"C1","labels":["b","a"],"notes":["n"],"score":3,"urgent":true},
		"T2": {"subject":"","status":"solved","customer":"C2","labels":[],"notes":[],"score":null,"urgent":false,"reply":"r"}
	},
	"customers": {"C1": {"name":"Ann","role":"admin"}, "C2": {"name":"Bob","role":"user"}},
	"items": {"i1": {"id":"i1","price":2,"count":3}},
	"orders": [{"id":"o1","price":2.5,"count":1.0}, {"id":"o2","price":3,"count":2}],
	"history": [{"at":"x","what":"w"}],
	"pets": [{"kind":"cat","lives":9}, {"kind":"dog","tricks":["sit"]}],
	"budget": 10, "limit": 9007199254740993, "extra": {"n": 5, "l": [1, "a"]},
	"open": {"id":"o","x":1}, "tags": ["x","y"]
}`

func TestExpressionsEvaluateOverTheState(t *testing.T) {
	e := newDesk(t).env
	in := &Input{State: value(sample), Phase: "triage", Measure: func(name string) (string, bool) {
		return map[string]string{"spent": "6.00", "pieces": "3", "entries": "1"}[name], name != "cheapest"
	}}
	for src, want := range map[string]bool{
		`state.tickets.all(k, t, t.status != "solved" || has(t.reply))`:     true,
		`state.tickets.exists(k, state.tickets[k].score == null)`:           true,
		`state.budget + 1.0 == 11.0`:                                        true, // a number written 10 is a double
		`state.orders[0].count == 1 && state.orders[0].count + 1 == 2`:      true, // an int written 1.0 is an int
		`state.orders.map(o, o.price) == [2.5, 3]`:                          true,
		`state.tickets["T1"].labels == ["a", "b"]`:                          true, // a set
		`state.tickets["T1"].labels == ["a", "a"]`:                          false,
		`["b", "a"] == state.tickets["T1"].labels`:                          true,
		`state.tickets["T1"].notes == ["n"]`:                                true,
		`"a" in state.tags || "x" in state.tags`:                            true,
		`state.history.size() == 1`:                                         true,
		`phase == "triage"`:                                                 true,
		`spent <= state.budget && spent == 6`:                               true,
		`pieces + entries == 4`:                                             true,
		`cheapest.hasValue()`:                                               false,
		`cheapest.orValue(3.5) == 3.5`:                                      true,
		`state.customers["C1"] == state.customers["C2"]`:                    false,
		`state.orders.exists(o, o == state.orders[1])`:                      true,
		`state.extra.n == 5`:                                                true,
		`state.extra.l.size() == 2 && state.extra.l[1] == "a"`:              true,
		`state.extra == {"n": 5.0, "l": [1, "a"]}`:                          true,
		`state.?meta.?name.orValue("-") == "-"`:                             true,
		`has(state.open.x) && state.open.x == 1.0`:                          true,
		`state.pets.all(p, p.kind != "cat" || has(p.lives) && p.lives > 8)`: true,
		`state.items.all(k, i, i.id == k)`:                                  true,
		`state.orders.transformMapEntry(i, o, {o.id: o.count})["o2"] == 2`:  true,
		`(state.orders + state.orders).size() == 4`:                         true,
		`state.tags.map(x, x).size() == 2`:                                  true,
		`state.customers.map(k, k).join(",") == "C1,C2"`:                    true,
		`"a" + phase == "atriage"`:                                          true,
		`type(state.limit) == int && type(state.budget) == double`:          true,
		`has(state.tickets["T1"].reply)`:                                    false,
		`cel.bind(t, state.tickets["T2"], has(t.reply) && t.reply == "r")`:  true,
		`state.tickets["T9"].urgent || true`:                                true, // || absorbs an error
		`state.tickets["T9"].urgent && false`:                               false,
		`state.tickets["T1"].score > 2`:                                     true,
	} {
		got, err := compile(t, e, src, stateScope).Eval(context.Background(), in)
		require.NoError(t, err, src)
		require.Equal(t, want, got, src)
	}
}

func TestEveryContextFindsItsNames(t *testing.T) {
	d := newDesk(t)
	state := value(sample)
	ticket := state.Member("tickets").Member("T1")
	later := value(strings.Replace(sample, `"budget": 10`, `"budget": 11`, 1))
	for _, c := range []struct {
		source string
		scope  Scope
		in     *Input
	}{
		{`t.urgent && state.customers[t.customer].role == "admin"`, d.each(), &Input{State: state, Entry: ticket}},
		{`before.tickets[ticket].urgent`, beforeScope, &Input{Before: state, Params: map[string]string{"ticket": "T1"}}},
		{`after.budget - before.budget == 1.0 && customer == "C"`, afterScope, &Input{Before: state, After: later, Params: map[string]string{"customer": "C"}}},
		{`self.urgent`, Scope{Vars: ir.SelfVars, Self: d.ticket}, &Input{Self: ticket}},
		{`view.budget == 10.0`, Scope{Vars: ir.ViewVars}, &Input{View: state}},
		{`has(self.x) == false`, Scope{Vars: ir.SelfVars}, &Input{Self: state}},
	} {
		got, err := compile(t, d.env, c.source, c.scope).Eval(context.Background(), c.in)
		require.NoError(t, err, c.source)
		require.True(t, got, c.source)
	}
}

func TestIntsAndNumbersCompareByValue(t *testing.T) {
	e := newDesk(t).env
	in := &Input{State: value(`{"limit": 9007199254740993, "budget": 9007199254740992.0, "extra": [9007199254740992.0]}`)}
	for src, want := range map[string]bool{
		`9007199254740993 == 9007199254740992.0`:                      false,
		`9007199254740992 == 9007199254740992.0`:                      true,
		`state.limit == state.budget`:                                 false,
		`state.limit != state.budget`:                                 true,
		`state.limit > state.budget`:                                  true,
		`state.budget >= state.limit`:                                 false,
		`state.budget < state.limit`:                                  true,
		`state.limit <= state.budget`:                                 false,
		`state.limit in [state.budget]`:                               false,
		`state.limit in state.extra`:                                  false,
		`[state.limit] == [state.budget]`:                             false,
		`{"a": state.limit} == {"a": state.budget}`:                   false,
		`dyn(state.limit) == state.budget`:                            false,
		`dyn(state.limit) > state.budget`:                             true,
		`state.limit == 9007199254740993`:                             true,
		`state.limit > 9.0e18`:                                        false,
		`state.limit < 1.0e300 && state.limit > -1e300`:               true,
		`optional.of(state.limit) == optional.of(9007199254740992.0)`: false,
		`0.0 / 0.0 == 0.0 / 0.0`:                                      false,
	} {
		got, err := compile(t, e, src, stateScope).Eval(context.Background(), in)
		require.NoError(t, err, src)
		require.Equal(t, want, got, src)
	}
}

func TestErrorsHaveACodeAndHoldNoValue(t *testing.T) {
	e := newDesk(t).env
	in := &Input{State: value(strings.Replace(sample, `"Ann"`, `"SECRET"`, 1))}
	for src, message := range map[string]string{
		`state.tickets[state.customers["C1"].name].urgent`:      "absent",
		`state.extra[state.customers["C1"].name] == 1`:          "absent",
		`state.orders[7].price > 1.0`:                           "position",
		`state.extra.n + 1 == 6`:                                "does not take values of these kinds",
		`state.extra.n`:                                         "no bool",
		`1 / (state.orders[0].count - 1) == 1`:                  "division by zero",
		`9223372036854775807 + state.orders[0].count == 1`:      "out of range",
		`int(state.customers["C1"].name) == 1`:                  "no value for this state",
		`state.?meta.value().name == ""`:                        "empty",
		`time.before(state.customers["C1"].name, "2024-01-01")`: "time",
		`spent > 1.0`: "no value",
	} {
		_, err := compile(t, e, src, stateScope).Eval(context.Background(), in)
		var failure *EvalError
		require.ErrorAs(t, err, &failure, src)
		require.Equal(t, EvaluationError, failure.Code, src)
		require.Contains(t, failure.Message, message, src)
		require.NotContains(t, failure.Message, "SECRET", src)
	}
}

func TestTheCostOfAnEvaluationIsLimitedAndTheSameEveryTime(t *testing.T) {
	d := newDesk(t)
	state := value(`{"orders": [` + strings.TrimSuffix(strings.Repeat(`{"id":"a","price":1,"count":1},`, 100), ",") + `]}`)
	src := `state.orders.all(a, state.orders.all(b, a.price >= b.price))`
	lowest := uint64(0)
	for _, limit := range []uint64{100, 1_000, 10_000, 100_000, 1_000_000} {
		e, err := New(d.contract, Limits{CostLimit: limit})
		require.NoError(t, err)
		p := compile(t, e, src, stateScope)
		_, first := p.Eval(context.Background(), &Input{State: state})
		_, second := p.Eval(context.Background(), &Input{State: state})
		require.Equal(t, first, second)
		if first == nil && lowest == 0 {
			lowest = limit
		}
		if first != nil {
			require.Equal(t, CostExceeded, first.(*EvalError).Code)
		}
	}
	require.Equal(t, uint64(1_000_000), lowest)
}

func TestLoopsOverMadeListsCostToo(t *testing.T) {
	e, err := New(newDesk(t).contract, Limits{CostLimit: 10_000})
	require.NoError(t, err)
	src := `cel.bind(l, [1,2,3,4,5,6,7,8,9,10], l.all(a, l.all(b, l.all(c, l.all(d, a + b + c + d > 0)))))`
	_, err = compile(t, e, src, stateScope).Eval(context.Background(), &Input{})
	require.Equal(t, CostExceeded, err.(*EvalError).Code)
}

// Nothing ends a match while it runs, so it is counted before it begins.
func TestMatchingCostsTheTextTimesTheExpression(t *testing.T) {
	e := newDesk(t).env
	for src, most := range map[string]int{
		`phase.matches("(a?){90}(a|b){300}z$")`:                                 1 << 14,
		`matches(phase, "(a?){90}(a|b){300}z$")`:                                1 << 14,
		`!phase.matches("(a?){90}(a|b){300}z$") || phase.matches("a{400}.*z$")`: 1 << 14,
		`phase.matches("^a*$")`:                                                 1 << 21,
	} {
		p := compile(t, e, src, stateScope)
		_, err := p.Eval(context.Background(), &Input{Phase: strings.Repeat("a", most)})
		require.NoError(t, err, src)
		_, err = p.Eval(context.Background(), &Input{Phase: strings.Repeat("a", most*8)})
		require.Error(t, err, src)
		require.Equal(t, CostExceeded, err.(*EvalError).Code, src)
	}
}

func TestTextsCannotGrowWithoutBound(t *testing.T) {
	e := newDesk(t).env
	doubling := `phase`
	for range 40 {
		doubling = `cel.bind(s, ` + doubling + `, s + s)`
	}
	for _, src := range []string{
		doubling + ` == ""`,
		`phase.replace("", phase).replace("", phase).replace("", phase) == ""`,
		`[1,2,3,4,5,6,7,8,9,10].map(x, phase).join(phase).size() == 0`,
	} {
		_, err := compile(t, e, src, stateScope).Eval(context.Background(), &Input{Phase: strings.Repeat("x", 100_000)})
		var failure *EvalError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, CostExceeded, failure.Code, src)
	}
}

func TestATextHasAtMostAsManyBytesAsTheLimitSays(t *testing.T) {
	e, err := New(newDesk(t).contract, Limits{MaxText: 10})
	require.NoError(t, err)
	for phase, fits := range map[string]bool{"12345": true, "123456": false} {
		_, err := compile(t, e, `phase + phase == "" || ("12345" + phase).size() > 0`, stateScope).Eval(context.Background(), &Input{Phase: phase})
		require.Equal(t, fits, err == nil, "%s: %v", phase, err)
	}
}

func TestADeadlineStopsAnEvaluation(t *testing.T) {
	e, err := New(newDesk(t).contract, Limits{CostLimit: 1 << 60})
	require.NoError(t, err)
	state := value(`{"orders": [` + strings.TrimSuffix(strings.Repeat(`{"id":"a","price":1,"count":1},`, 3000), ",") + `]}`)
	p := compile(t, e, `state.orders.all(a, state.orders.all(b, state.orders.all(c, a.price >= b.price)))`, stateScope)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	for range 2 { // the second time the deadline is over before it begins
		_, err = p.Eval(ctx, &Input{State: state})
		var failure *EvalError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, DeadlineExceeded, failure.Code)
	}
}

func TestOneProgramRunsInManyGoroutines(t *testing.T) {
	d := newDesk(t)
	p := compile(t, d.env, `state.tickets.all(k, t, t.urgent == (k == "T1")) && state.tickets["T9"].urgent`, stateScope)
	state := value(sample)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				_, err := p.Eval(context.Background(), &Input{State: state})
				if err == nil || !strings.Contains(err.Error(), "absent") {
					panic("a wrong outcome")
				}
				if _, issues := d.env.Check(`state.limit > 1`, stateScope); len(issues) > 0 {
					panic("a wrong check")
				}
			}
		})
	}
	all.Wait()
}

func TestAnExpressionThatDoesNotFitIsNotCompiled(t *testing.T) {
	e := newDesk(t).env
	for _, src := range []string{`state.nothing == 1`, `state.limit ==`, `foo`} {
		_, err := e.Compile(ir.Expr{Source: src}, stateScope)
		require.Error(t, err, src)
	}
}

// TestPublicCELCasesComeOutAsListed runs the cases that were collected from public
// issues about CEL over JSON.
func TestPublicCELCasesComeOutAsListed(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "spec", "conformance", "jsonpatch-cases.json"))
	require.NoError(t, err)
	var file struct {
		Cases []struct {
			ID, Kind, Expr string
			Doc            json.RawMessage
			Expect         struct {
				Result json.RawMessage
				Error  string
			}
		}
	}
	if json.Unmarshal(data, &file) != nil {
		require.NoError(t, json.Unmarshal(data, &file.Cases))
	}
	e, err := New(&ir.Contract{Types: []ir.Type{{}, {Kind: ir.AnyType}}, State: 1}, Default())
	require.NoError(t, err)
	words := map[string]string{"no-such-key": "absent", "no-such-overload": "these kinds"}
	n := 0
	for _, c := range file.Cases {
		if c.Kind != "cel" {
			continue
		}
		n++
		got, err := compile(t, e, c.Expr, stateScope).Eval(context.Background(), &Input{State: value(string(c.Doc))})
		if c.Expect.Result != nil {
			require.NoError(t, err, c.ID)
			require.Equal(t, string(c.Expect.Result), strconv.FormatBool(got), c.ID)
			continue
		}
		require.ErrorContains(t, err, words[c.Expect.Error], c.ID)
	}
	require.Equal(t, 6, n)
}
