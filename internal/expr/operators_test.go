package expr

import (
	"context"
	"fmt"
	"math/rand"
	"testing"

	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/stretchr/testify/require"
)

// An error beside what decides || or && counts for nothing, on either side: rules are
// taken apart by that (spec/semantics.md section 6.1).

// operandsOf are numbers of the state, most of which no double holds.
var operandsOf = []string{"state.budget", "state.extra.w", "state.extra.d", "state.extra.x", "double(state.budget)", "dyn(state.extra.w)", "state.orders[0].price", "2.0", "0.0"}

// termsOf are conditions of which most have no value somewhere; %[1]s and %[2]s are numbers.
var termsOf = []string{
	"-%[1]s > 0.0", "%[1]s + %[2]s > 0.0", "%[1]s - %[2]s > 0.0", "%[1]s * %[2]s == 1.0", "%[1]s / %[2]s <= 1.0", "%[1]s < %[2]s",
	"int(%[1]s) > 0", "uint(dyn(%[1]s)) > 0u", "string(%[1]s) == string(%[2]s)", "money.cents(double(%[1]s))", "%[1]s in [%[2]s]",
	"[%[1]s, %[2]s].exists(x, x + 1.0 > 0.0)", "[%[1]s].map(x, -x).size() == 1", "[%[1]s].filter(x, x * 2.0 > 0.0).size() == 1",
	"cel.bind(x, %[1]s + %[2]s, x > 0.0)", "optional.ofNonZeroValue(%[1]s).orValue(1.0) + 1.0 > 0.0", "{%[1]s: 1}.size() == 1",
	"(%[1]s > 0.0 ? -%[2]s : %[2]s) > 0.0", "state.extra.none == %[1]s", "state.limit / 0 == 1", `int("z") == 1`, "state.limit + 9223372036854775807 > 0",
	"state.orders[9].price > 1.0", `state.extra.s > 1`, "size(state.extra.w) == 1", "state.extra.w", "true", "false", "!%[3]s", "%[3]s && %[4]s", "%[3]s || %[4]s", "[1].all(x, %[3]s)",
}

type termMaker struct{ *rand.Rand }

func (m termMaker) term(depth int) string {
	number := func() string { return operandsOf[m.Intn(len(operandsOf))] }
	sub := func() string {
		if depth == 0 {
			return "true"
		}
		return "(" + m.term(depth-1) + ")"
	}
	out := fmt.Sprintf(termsOf[m.Intn(len(termsOf))]+"%.0[1]s%.0[2]s%.0[3]s%.0[4]s", number(), number(), sub(), sub())
	return out
}

func TestNeitherOrNorAndDependsOnTheOrderOfItsOperands(t *testing.T) {
	d := newDesk(t)
	in := &Input{State: value(`{"limit": 7, "budget": 738529527931269425, "orders": [{"id": "a", "price": 0.10000000000000000001, "count": 1}],
		"extra": {"w": 738529527931269425, "d": 0.5, "x": 12345678901234567890, "s": "a"}}`)}
	m := termMaker{rand.New(rand.NewSource(31))}
	outcomes := map[string]int{}
	for range rounds(6_000) {
		a, b := m.term(2), m.term(2)
		for _, operator := range []string{"||", "&&"} {
			var got [2]string
			usable := true
			for i, src := range []string{"(" + a + ") " + operator + " (" + b + ")", "(" + b + ") " + operator + " (" + a + ")"} {
				x, issues := d.env.Check(src, stateScope)
				if usable = !HasErrors(issues); !usable {
					break
				}
				p, err := d.env.Compile(x, stateScope)
				require.NoError(t, err, src)
				got[i] = outcomeOf(p.Eval(context.Background(), in))
			}
			if usable {
				outcomes[got[0]]++
				require.Equal(t, got[0], got[1], "%s %s %s", a, operator, b)
			}
		}
	}
	t.Log(outcomes)
	for _, outcome := range []string{"true", "false", "no value"} {
		require.Greater(t, outcomes[outcome], rounds(6_000)/10, outcome)
	}
}

// What a type of CEL is said to do every value of it has to do: CEL asks no further.
func TestValuesOfTheStateDoAllThatTheirTypesClaim(t *testing.T) {
	claims := map[int]func(ref.Val) bool{
		traits.AdderType:       func(v ref.Val) bool { _, ok := v.(traits.Adder); return ok },
		traits.ComparerType:    func(v ref.Val) bool { _, ok := v.(traits.Comparer); return ok },
		traits.ContainerType:   func(v ref.Val) bool { _, ok := v.(traits.Container); return ok },
		traits.DividerType:     func(v ref.Val) bool { _, ok := v.(traits.Divider); return ok },
		traits.FieldTesterType: func(v ref.Val) bool { _, ok := v.(traits.FieldTester); return ok },
		traits.IndexerType:     func(v ref.Val) bool { _, ok := v.(traits.Indexer); return ok },
		traits.IterableType:    func(v ref.Val) bool { _, ok := v.(traits.Iterable); return ok },
		traits.IteratorType:    func(v ref.Val) bool { _, ok := v.(traits.Iterator); return ok },
		traits.MatcherType:     func(v ref.Val) bool { _, ok := v.(traits.Matcher); return ok },
		traits.ModderType:      func(v ref.Val) bool { _, ok := v.(traits.Modder); return ok },
		traits.MultiplierType:  func(v ref.Val) bool { _, ok := v.(traits.Multiplier); return ok },
		traits.NegatorType:     func(v ref.Val) bool { _, ok := v.(traits.Negater); return ok },
		traits.ReceiverType:    func(v ref.Val) bool { _, ok := v.(traits.Receiver); return ok },
		traits.SizerType:       func(v ref.Val) bool { _, ok := v.(traits.Sizer); return ok },
		traits.SubtractorType:  func(v ref.Val) bool { _, ok := v.(traits.Subtractor); return ok },
	}
	for _, text := range []string{"null", "true", `"a"`, "1", "0.5", "738529527931269425", "[1]", `{"a":1}`} {
		v := wrap(value(text), anyShape, &meter{left: 1 << 20})
		for trait, does := range claims {
			require.True(t, !v.Type().HasTrait(trait) || does(v), "%T is of type %s, which has trait %b", v, v.Type().TypeName(), trait)
		}
	}
	require.IsType(t, wide{}, wrap(value("738529527931269425"), anyShape, &meter{left: 1 << 20}))
}
