package compiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/lang/source"
)

const kin = `contract family
state { r: R  a: string  b: string  m: map of string  n: map of string }
type R { x: string  y: string }
invariant short { size(state.m) < 9 }
`

func TestADelegateMayDoNothingThatItsParentMayNot(t *testing.T) {
	for _, c := range []struct{ name, parent, child, says string }{
		{"read", "read /a", "read /b", "may read /b, which is beyond stage parent"},
		{"test as a whole what the parent sees in pieces", "read /r/x, /r/y", "read /r", "may read /r, which is beyond stage parent"},
		{"write", "read /a, /b  write /a", "write /b", "may write /b, which is beyond stage parent"},
		{"write blind", "write blind /m/*  discloses short", "write blind /n/*", "which is beyond stage parent"},
		{"write blind what the parent only reads", "read /n", "write blind /n/*", "which is beyond stage parent"},
		{"delete what the parent creates and updates", "read /a  write create, update /a", "write /a", "may delete /a, which is beyond stage parent"},
		{"create what the parent updates", "read /m  write update /m/*, delete /m", "write create /m/*", "may create /m/"},
		{"update by the rights of two grants", "read /m  write create /m, delete /m, update /m/*", "write update /m", "may update /m, which is beyond stage parent"},
		{"write blind what the parent updates", "read /m  write update, delete /m/*", "write blind /m/*", "which is beyond stage parent"},
		{"take", "read /a, /b  source /a", "source /b", "may source /b, which is beyond stage parent"},
		{"read what is not handed down", "read /a, /b  delegable /a", "", "may read /b, which is beyond the delegable region of stage parent"},
		{"write as a whole what is handed down in pieces", "read /r  write /r  delegable /r/x, /r/y", "", "may write /r, which is beyond the delegable region of stage parent"},
		{"take as a whole what is handed down in pieces", "read /r  source /r  delegable /r/x, /r/y", "", "may source /r, which is beyond the delegable region of stage parent"},
		{"add what is not handed down", "write blind /m/*, blind /n/*  delegable /m  discloses short", "", "which is beyond the delegable region of stage parent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireFindings(t, kin+"stage parent { "+c.parent+" }\ndelegate child from parent { "+c.child+" }\n",
				[]finding{{"delegate_exceeds", clauseOr(c.child, "child"), c.says}})
		})
	}
}

func TestADelegateMayHaveLessRightsThanItsParent(t *testing.T) {
	for _, c := range []struct{ parent, child string }{
		{"read /m  write /m", "write create /m"},
		{"read /m  write create, update /m", "write update /m/*, create /m/*"},
		{"read /m  write create /m, update, delete /m/*", "write create, delete /m/k"},
		{"read /m  write create /m/*", "write blind /m/*  discloses short"},
		{"read /m  write delete, create /m", ""},
	} {
		out := compile(kin + "stage parent { " + c.parent + "  discloses short }\ndelegate child from parent { " + c.child + " }\n")
		require.NotNil(t, out.Contract, "%s > %s: %v", c.parent, c.child, out.Diagnostics)
	}
}

func clauseOr(clause, name string) string {
	if clause == "" {
		return name
	}
	return clause
}

func TestADelegateIsHeldToTheRulesOfItsParentAndDisclosesWhatItDoes(t *testing.T) {
	out := compile(kin + `stage parent { read /a  write /a, blind /m/*  discloses short, require, produce
  require { before.m.size() < 8 }
  ensure { after.a != "" }
  produce /n/k
}
delegate child from parent {
  require { before.a != "z" }
  ensure { after.a != "y" }
}
`)
	require.Empty(t, out.Diagnostics)
	child := out.Contract.Stage("child")
	require.Len(t, child.Require, 2)
	require.Len(t, child.Ensure, 2)
	require.Len(t, child.Produce, 1)
	require.Len(t, out.Contract.Stage("parent").Ensure, 1)
}

func TestADelegateRunsNowhereElseForNobodyElseAndMovesNowhereElse(t *testing.T) {
	const phases = kin + "phases { one -> two, three  two -> three  three }\nstage on { in one next two, three }\nstage over { in two next three }\n"
	for _, c := range []struct{ name, parent, child, at, says string }{
		{"a phase", "in one", "in two", "two", "one"},
		{"a phase beside its own", "in one", "in one, two", "two", "one"},
		{"a move", "in one next two", "next three", "three", "two"},
		{"a move beside its own", "in one next two", "next two, three", "three", "two"},
		{"a move where the parent makes none", "in one", "next two", "two", "parent"},
		{"a role", "in one by clerk", "by boss", "boss", "clerk"},
		{"a role beside its own", "in one by clerk", "by clerk, boss", "boss", "clerk"},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireFindings(t, phases+"stage parent { "+c.parent+" }\ndelegate child from parent { "+c.child+" }\n",
				[]finding{{"delegate_exceeds", c.at, c.says}})
		})
	}
	for _, child := range []string{"in one by clerk next two", "by clerk", ""} {
		requireFindings(t, phases+"stage parent { in one by clerk, boss next two, three }\ndelegate child from parent { "+child+" }\n", nil)
	}
}

// crew is a stage that hands on CLAUSES, and a delegate of it.
func crew(clauses, child string) string {
	return kin + "stage parent { " + clauses + " }\ndelegate child from parent { " + child + " }\n"
}

func TestADelegateMayDoWhatItsParentHandsOnThoughTheParentMayNot(t *testing.T) {
	for _, c := range []struct{ clauses, child string }{
		{"read /a  delegable read /b", "read /b"},
		{"read /a  delegable write /a", "write /a"},
		{"read /a, /m  delegable write create /m/*", "write create /m/k"},
		{"read /a, /m  write delete /m/*  delegable write create, update /m/*", "write create /m/*"},
		{"read /m  delegable write create /m/*", "write blind /m/*  discloses short"},
		{"read /m  delegable write blind /m/*", "write blind /m/*  discloses short"},
		{"read /a  delegable source /a", "source /a"},
		{"delegable read /r  delegable write /r  delegable source /r", "read /r  write /r/x  source /r/y"},
		{"read /a  delegable read /a, /b  delegable write /b", ""},
		{"read /a  delegable read /a, /b  delegable write /b", "delegable read /b  delegable write update /b"},
	} {
		requireFindings(t, crew(c.clauses, c.child), nil)
	}
}

func TestADelegateMayDoNothingThatItsParentDoesNotHandOn(t *testing.T) {
	for _, c := range []struct{ name, clauses, child, at, says string }{
		{"read", "read /a  delegable read /b", "read /a", "read /a", "may read /a, which is beyond what stage parent hands on"},
		{"what the parent has is not handed on beside what it grants", "read /a  write /a  delegable write /b", "", "child", "may write /a, which is beyond what stage parent hands on"},
		{"test as a whole what is handed on in pieces", "delegable read /r/x, /r/y", "read /r", "read /r", "may read /r, which is beyond what stage parent hands on"},
		{"write", "read /a, /b  delegable write /a", "write /b", "write /b", "may write /b, which is beyond what stage parent hands on"},
		{"a right", "read /m  delegable write create, update /m/*", "write delete /m/*", "write delete /m/*", "may delete /m/x, which is beyond what stage parent hands on"},
		{"write blind what may be updated", "read /m  delegable write update /m/*", "write blind /m/*", "write blind /m/*", "which is beyond what stage parent hands on"},
		{"source", "read /a, /b  delegable source /a", "source /b", "source /b", "may source /b, which is beyond what stage parent hands on"},
		{"what another kind hands on", "read /a  delegable read /a, /b", "read /b  write /b", "write /b", "may write /b, which is beyond stage parent"},
		{"hand on more", "read /a  delegable read /a, /b", "delegable read /b, /m", "delegable read /b, /m", "may let others read /m, which is beyond what stage parent hands on"},
		{"hand on what the parent has not", "read /a", "delegable read /b", "delegable read /b", "may let others read /b, which is beyond stage parent"},
		{"hand on a right more", "read /m  delegable write create /m/*", "delegable write create, update /m/*", "delegable write create, update /m/*", "may let others update /m/x, which is beyond what stage parent hands on"},
		{"hand on blind writing", "read /m  delegable write update /m/*", "delegable write blind /m/*", "delegable write blind /m/*", "may let others write /m/x, which is beyond what stage parent hands on"},
		{"hand on a source more", "read /a", "delegable source /a", "delegable source /a", "may let others source /a, which is beyond stage parent"},
		{"hand on beyond the part that is handed on", "read /a, /b  delegable /a", "read /a  delegable read /b", "delegable read /b", "may let others read /b, which is beyond the delegable region of stage parent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			requireSays(t, crew(c.clauses, c.child), finding{"delegate_exceeds", c.at, c.says})
		})
	}
}

func TestWhatADelegateIsHandedItDoesNotHandOnUnlessItSaysSo(t *testing.T) {
	const text = kin + "stage parent { delegable read /a, /b }\ndelegate child from parent { read /a CLAUSE }\ndelegate grandchild from child { read /b }\n"
	requireSays(t, strings.ReplaceAll(text, "CLAUSE", ""), finding{"delegate_exceeds", "read /b", "may read /b, which is beyond delegate child"})
	requireFindings(t, strings.ReplaceAll(text, "CLAUSE", "delegable read /b"), nil)
}

func TestAPartOfWhatIsHadAndWhatIsGrantedToHandOnAreNotSaidTogether(t *testing.T) {
	for clauses, at := range map[string]string{
		"delegable /a  delegable write /b":       "delegable",
		"delegable write /b  delegable /a":       "delegable",
		"delegable read /b  delegable read /a":   "delegable",
		"delegable source /b delegable source /": "delegable",
	} {
		requireSays(t, kin+"stage parent { read /a "+clauses+" }\n", finding{"clause_twice", at, "stands"})
	}
}

func TestTheConditionsOfAStageBindWhatItHandsOn(t *testing.T) {
	out := compile(crew(`read /a  delegable read /a, /b  delegable write /b  require { before.a != "" }  ensure { after.a != "x" }`, "read /b, /a  write /b"))
	require.Empty(t, out.Diagnostics)
	child := out.Contract.Stage("child")
	require.Len(t, child.Require, 1)
	require.Len(t, child.Ensure, 1)
}

func TestTheWordsForWhatIsHandedOnStandOnTheLineOfDelegable(t *testing.T) {
	requireSays(t, kin+"stage parent {\n  delegable\n  read /a\n}\n", finding{"missing", "", "delegable"})
}

func TestADelegateOfWhatIsOnlyHandedOnIsAmongThePairsThatCommute(t *testing.T) {
	const text = kin + "phases { one }\nstage parent { in one  read /a  HANDS }\ndelegate child from parent { read /a, /b  write /b }\nstage other { in one  read /b  write /b }\nprove all commute in one\n"
	requireSays(t, strings.ReplaceAll(text, "HANDS", "delegable read /a, /b  delegable write /b"), finding{"claim_unknown", "prove all commute in one", ""})
	requireFindings(t, strings.NewReplacer("HANDS", "", "read /a, /b  write /b", "", "stage other { in one  read /b  write /b }", "stage other { in one  read /b }").Replace(text), nil)
}

// requireSays asks that a finding is among those of a text.
func requireSays(t *testing.T, text string, want finding) {
	t.Helper()
	out := compile(text)
	require.True(t, slices.ContainsFunc(out.Diagnostics, func(d source.Diagnostic) bool {
		return d.Code == want.code && (want.at == "" || d.Span.Text() == want.at) && strings.Contains(d.Message, want.says)
	}), "%v\n%s", out.Diagnostics, text)
}
