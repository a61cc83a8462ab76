package compiler_test

import (
	"testing"

	"github.com/stretchr/testify/require"
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
