package compiler_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const conditioned = `contract c
state { a: int  b: int }
invariant small { state.a < 9 }
stage s {
  read /a  write /a
  CLAUSES
}
`

func TestAConditionHasANameOfItsOwn(t *testing.T) {
	for clauses, want := range map[string][]finding{
		`require one { before.a > 0 } ensure two "it is so" { after.a > 0 }`: nil,
		`require one { before.a > 0 } ensure one { after.a > 0 }`:            {{"declared_twice", "one", "has another condition named `one`"}},
		`ensure small { after.a > 0 }`:                                       {{"declared_twice", "small", "in `discloses`, `small` means something else already"}},
		`ensure phase { after.a > 0 }`:                                       {{"declared_twice", "phase", "in `discloses`, `phase` means something else already"}},
		`ensure { after.b > 0 }`:                                             {{"undisclosed_gate", "s", "its `ensure` clause reads"}},
		`ensure more { after.b > 0 }`:                                        {{"undisclosed_gate", "s", "its `ensure more` reads"}},
		`ensure more { after.b > 0 } discloses more`:                         nil,
		`ensure { after.b > 0 } discloses ensure`:                            nil,
		`ensure more { after.b > 0 } discloses ensure`:                       {{"undisclosed_gate", "s", "its `ensure more` reads"}, {"needless_disclosure", "ensure", "nothing is disclosed"}},
		`ensure more { after.b > 0 } discloses mroe`:                         {{"unknown_gate", "mroe", "did you mean `more`?"}},
	} {
		requireFindings(t, strings.ReplaceAll(conditioned, "CLAUSES", clauses), want)
	}
}

func TestADelegateNamesNoConditionAsItsStageDoes(t *testing.T) {
	text := strings.ReplaceAll(conditioned, "CLAUSES", "ensure more { after.a > 0 }") + "delegate d from s { ensure more { after.a > 1 } }\n"
	requireFindings(t, text, []finding{{"declared_twice", "more", "delegate d has another condition named `more`"}})
}

// The fix of an undisclosed gate is said in its help; with it nothing is found.
func TestTheHelpOnAConditionNamesIt(t *testing.T) {
	out := compile(strings.ReplaceAll(conditioned, "CLAUSES", "require more { before.b > 0 }"))
	require.Len(t, out.Diagnostics, 1)
	require.Contains(t, out.Diagnostics[0].Help, "add `discloses more`")
}
