package replay_test

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// What a union's value is may change how what is below it is written: whether an array is
// sorted, how a number is spelled. Who sees the one then sees the other change.

const alternatives = `contract boxes
state { pin: string  v: Box  out: string }
type Box = { kind: "a"  x: %s } | { kind: "b"  x: %s }
stage turn { read /pin, /v/kind  write /v/kind  discloses /v }
stage look { read /v/x, /out  write /out }
`

func TestNothingIsProvedOfAlternativesThatSpellOneNumberDifferently(t *testing.T) {
	for _, x := range []struct {
		a, b   string
		proved bool
	}{
		{"1", "1.0", false}, {"10", "1e1", false}, {"1.0", "int", false}, {"0.5", "5e-1", false},
		{`(1 | "x")`, `(1.0 | "x")`, false}, {"{ y: 1 }", "{ y: 1.0 }", false}, {"{ *: 1 }", "{ y: 1.0 }", false},
		{"list of (1 | 2)", "list of (2.0 | 3)", false}, {"map of { n: 2 }", "map of { n: 20e-1 }", false}, {"set of 1", "set of 1.0", false},
		{"1", "number", false}, {"{ y?: 1 }", "any", false},
		{"1", "int", true}, {"1.0", "1.0", true}, {"1.0", "2.0", true}, {"1", "2", true}, {"1.5", "int", true},
		{`"1"`, `"1.0"`, true}, {`"a"`, `"\u0061"`, true}, {`list of (1 | "x")`, "list of (int | string)", true},
	} {
		text := fmt.Sprintf(alternatives, x.a, x.b)
		for _, claim := range []string{"prove no flow from /pin to /out", "prove turn commutes with look"} {
			out := compile(t, text+claim+"\n", replay.New(replay.Options{}))
			if !x.proved {
				require.Contains(t, codesOf(out), "claim_", "%s of %s, %s", claim, x.a, x.b)
				continue
			}
			require.NotContains(t, codesOf(out), "claim_", "%s of %s, %s", claim, x.a, x.b)
			require.Empty(t, certificate.Check(footprint.New(out.Contract).Certificate(), out.Contract))
		}
	}
}

// alternative draws a type of numbers and containers of them.
func (m maker) alternative(depth int) string {
	if depth == 0 || m.chance(25) {
		return m.pick("1", "1.0", "1e0", "(1 | 2)", "(1.0 | 2)", "2e0", "int", "int", "number", "any", "string", `"1"`, "(1 | null)", "(1.0 | string)")
	}
	of := m.alternative(depth - 1)
	return fmt.Sprintf(m.pick("list of (%s)", "set of (%s)", "log of (%s)", "map of (%s)", "{ k1: %s }", "{ k1?: %s }", "{ *: %s }", "((%s) | null)", "{ k1: %s  *: any }"), of)
}

func TestATurnOfAUnionChangesWhatIsSeenOnlyWhereNothingElseIsProved(t *testing.T) {
	t.Parallel()
	m := newMaker(31)
	proved, changed, turns := 0, 0, 0
	for contracts := rounds(3_000, 1_500); contracts > 0; contracts-- {
		a, b := m.spellings(3)
		if m.chance(30) {
			b = m.alternative(3)
		}
		text := fmt.Sprintf(alternatives, a, b)
		_, c, _ := findings(text)
		if c == nil {
			continue // what two alternatives may not have
		}
		commute := len(footprint.New(c).Commutation(c.Stage("turn"), c.Stage("look"))) == 0
		if commute {
			proved++
		}
		for range 6 {
			before, after, ok := m.turned(t, c)
			if !ok {
				continue
			}
			if turns++; before != after {
				changed++
				require.False(t, commute, "%s\n%s\n%s", text, before, after)
			}
		}
	}
	t.Logf("%d turns, %d change what is seen; %d contracts proved", turns, changed, proved)
	require.Greater(t, changed, turns/20)
	require.Greater(t, proved, 50)
}

// spellings draws what one member is in two alternatives of a union, which may spell one
// number differently.
func (m maker) spellings(depth int) (a, b string) {
	a = m.alternative(depth)
	return a, m.respelled(a)
}

// respelled is a type with other numbers in it, here and there.
func (m maker) respelled(of string) string {
	return numeral.ReplaceAllStringFunc(of, func(number string) string {
		if m.chance(50) {
			return number
		}
		return number[:1] + m.pick("", ".0", "e0", ".0e0")
	})
}

var numeral = regexp.MustCompile(`\b[12](\.0|e0)?\b`)

// turned is what stage look is shown before and after the union took its other
// alternative; ok is false if no value of the two was found.
func (m maker) turned(t *testing.T, c *ir.Contract) (before, after string, ok bool) {
	p, err := verify.Load(c, verify.DefaultLimits())
	require.NoError(t, err)
	box := c.Type(c.Type(c.State).Members[1].Type)
	x, _ := c.Type(box.Alternatives[m.Intn(2)]).Member("x")
	kinds := []string{"a", "b"}
	from := m.Intn(2)
	n, err := p.Import(fmt.Appendf(nil, `{"pin":"","out":"","v":{"kind":%q,"x":%s}}`, kinds[from], m.typed(c, x.Type)))
	if err != nil {
		return "", "", false
	}
	at := verify.Snapshot{State: n, Phase: c.Phases[0].Name, Version: 1}
	out, err := p.Verify(context.Background(), at, verify.Proposal{Stage: "turn", Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/v/kind","value":%q}]`, kinds[1-from])})
	require.NoError(t, err)
	if out.Verdict.Verdict != verify.Commit {
		return "", "", false
	}
	shown := func(n *tree.Node) string { return shownBy(n, region.Compile(c.Stage("look").Read).Start(nil)) }
	return shown(n), shown(out.After.State), true
}
