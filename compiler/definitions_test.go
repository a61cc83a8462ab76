package compiler_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
)

const defined = `contract c
state { a: int  b: int  s: string  l: list of { n: int  t?: string }  m: map of { n: int  k: "x" | "y" } }
DECLARATIONS
`

func TestConstantsAndDefinitionsAreCheckedWhereTheyStandAndWhereTheyAreUsed(t *testing.T) {
	for declarations, want := range map[string][]finding{
		"const A = 3\ninvariant i { state.a < A }":                                                   nil,
		"const A = \"x\"\ninvariant i { state.a < A }":                                               {{"operand_types", `state.a < A`, "does not take"}},
		"const A = 1.5\ninvariant i { state.a < A && state.m.all(k, state.m[k].n > A) }":             nil,
		"const A = 12345678901234567890\ninvariant i { state.a < A }":                                {{"cel_syntax", "12345678901234567890", "64 bits"}},
		"const A = 0.1234567890123456789012":                                                         {{"cel_syntax", "0.1234567890123456789012", "no double"}},
		"const A = 1\nconst A = 2":                                                                   {{"declared_twice", "A", "declared twice"}},
		"const A = 1\ndefine A() = { true }":                                                         {{"declared_twice", "A", "declared twice"}},
		"const state = 1":                                                                            {{"reserved_name", "state", "keyword"}},
		"const phase = 1":                                                                            {{"reserved_name", "phase", "means something already"}},
		"const size = 1":                                                                             {{"reserved_name", "size", "means something already"}},
		"measure A = count /l/*\nconst A = 1":                                                        {{"declared_twice", "A", "is the name of a measure"}},
		"define f(x) = { x > 1 }\ninvariant i { f(state.a) && f(state.s) }":                          {{"operand_types", "x > 1", "does not take"}},
		"define f(x) = { x.n > 1 }\ninvariant i { state.l.all(e, f(e)) }":                            nil,
		"define f(x) = { x.t != \"\" }\ninvariant i { state.l.all(e, f(e)) }":                        {{"unguarded_optional", "x.t", ""}},
		"define f(x) = { has(x.t) && x.t != \"\" }\ninvariant i { state.l.all(e, f(e)) }":            nil,
		"define f(x) = { x.k == \"z\" }\ninvariant i each e in /m/* { f(e) }":                        {{"constant_comparison", `"z"`, ""}},
		"define f(x) = { x.q }":                                                                      nil,
		"define f(x) = { x. }":                                                                       {{"cel_syntax", ".", ""}},
		"define f(x) = { y > x }":                                                                    {{"unknown_name", "y", "`y` is not defined here"}},
		"define f(limit) = { limti > 1 }":                                                            {{"unknown_name", "limti", "`limti` is not defined here"}},
		"define f(x, x) = { x > 1 }":                                                                 {{"listed_twice", "x", ""}},
		"define f(state) = { true }":                                                                 {{"reserved_name", "state", ""}},
		"define f(x) = { x > 1 }\ninvariant i { f(state.a, 1) }":                                     {{"operand_types", "f(state.a, 1)", "takes 1 argument, not 2"}},
		"define f(x) = { x > 1 }\ninvariant i { g(state.a) }":                                        {{"unknown_function", "g", "there is no function `g`"}},
		"define f(x) = { g(x) }\ndefine g(x) = { f(x) }\ninvariant i { f(state.a) }":                 {{"recursive_definition", "g", "contains itself"}},
		"define size(x) = { x > 1 }":                                                                 {{"reserved_name", "size", "no definition can be called size"}},
		"const A = \"x\"\ntype T = A | \"y\" | B":                                                    {{"unknown_type", "B", ""}},
		"const A = 1\nstage s(A in /m) { read /m/{A}  write /m/{A} }":                                {{"reserved_name", "A", "no parameter can be called A"}},
		"define loop(x) = { x > 1 }":                                                                 {{"reserved_name", "loop", "reserved word"}},
		"define f(package) = { true }":                                                               {{"reserved_name", "package", "reserved word"}},
		"roles r = a, a":                                                                             {{"listed_twice", "a", ""}},
		"roles r = a, r":                                                                             {{"recursive_definition", "r", "contains itself"}},
		"roles r = q\nroles q = p\nroles p = r":                                                      {{"recursive_definition", "p", "contains itself"}},
		"roles r = clerk, boss\nstage s { by r, clrek  read /a  write /a }":                          {{"unknown_role", "clrek", "no other stage or group"}},
		"roles r = clerk, boss\nstage s { by r, clerk  read /a  write /a }":                          nil,
		"roles r = clerk, boss\nstage s { by clerk  read /a  write /a }\ndelegate d from s { by r }": {{"delegate_exceeds", "r", ""}},
		"roles r = clerk\nstage s { by clerk  read /a  write /a }\ndelegate d from s { by r }":       nil,
	} {
		t.Run(declarations, func(t *testing.T) {
			requireFindings(t, strings.ReplaceAll(defined, "DECLARATIONS", declarations), want)
		})
	}
}

// An error in a definition is found once, there, and names the uses that led to it.
func TestAnErrorInADefinitionNamesItsUses(t *testing.T) {
	out := compile(strings.ReplaceAll(defined, "DECLARATIONS", `define inner(x) = { x.q > 1 }
define outer(x) = { true && inner(x) }
invariant i each e in /m/* { outer(e) }
invariant j each e in /l/* { outer(e) }`))
	require.Len(t, out.Diagnostics, 1, "%v", out.Diagnostics)
	var uses []string
	for _, r := range out.Diagnostics[0].Related {
		uses = append(uses, r.Message+" "+r.Span.Text())
	}
	require.Equal(t, []string{"used here inner(x)", "used here outer(e)"}, uses)
	require.Equal(t, "q", out.Diagnostics[0].Span.Text())
}

func TestALibrarysConstantsAndDefinitionsGoByItsAlias(t *testing.T) {
	files := fstest.MapFS{
		"c.poptic": {Data: []byte(`contract c
import "./lib.poptic" as lib
state { a: int  k: lib.KIND | "other" }
invariant i { lib.small(state.a) && state.a != lib.MAX && (state.k == lib.KIND || state.k == "other") }
`)},
		"lib.poptic": {Data: []byte(`library lib
const MAX = 9
const KIND = "kind"
measure sum_a = sum /a
define small(n) = { n < MAX }
invariant own { small(sum_a) && state.a != MAX }
`)},
	}
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic"})
	require.NoError(t, err)
	require.Empty(t, out.Diagnostics)
	require.Equal(t, " (state.a < 9) && state.a != 9 && (state.k == \"kind\" || state.k == \"other\") ", out.Contract.Invariants[0].Expr.Source)
	require.Equal(t, " (lib.sum_a < 9) && state.a != 9 ", out.Contract.Invariants[1].Expr.Source)
	files["c.poptic"].Data = []byte(strings.ReplaceAll(string(files["c.poptic"].Data), "lib.MAX", "lib.MXA"))
	out, err = compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic"})
	require.NoError(t, err)
	require.Len(t, out.Diagnostics, 1)
	require.Equal(t, "unknown_name", out.Diagnostics[0].Code)
}

func TestGroupsOfRolesAreCompiledAsTheirRoles(t *testing.T) {
	out := compile(strings.ReplaceAll(defined, "DECLARATIONS", `roles all_staff = staff, night
roles staff = clerk, boss
stage s { by all_staff, clerk  read /a  write /a }
delegate d from s { by staff }`))
	require.Empty(t, out.Diagnostics)
	require.Equal(t, []string{"clerk", "boss", "night"}, out.Contract.Stage("s").By)
	require.Equal(t, []string{"clerk", "boss"}, out.Contract.Stage("d").By)
}

func TestWordsThatCameLaterAreNamesWhereTheyDoNotBeginALine(t *testing.T) {
	requireFindings(t, `contract c
state { m: map of int  change: int }
stage change { read /change  write /change }
delegate define from change { read /change }
compose const = change + define
  const LIMIT = 4
  change grows { after.change > before.change + LIMIT }
prove change within change
stage roles(change in /m) { by roles  read /m/{change}  write /m/{change}  after change, define  ensure { change != "" } }
region roles = /m
roles roles = clerk
`, nil)
}
