package certificate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/lang/source"
)

// house is a state for claims that one stage lies within another.
const house = `contract house
state { m: map of E  n: map of E  k: list of F by id  a: int  b: int  g: map of G  h: G  o?: { l: list of E } }
type G = string | { x: int  y: G2 }
type G2 = int | list of int
type E { x: int  y: int  r: key of /n }
type F { id: string  v: int }
phases { one -> two, three  two -> three  three }
stage away { in one next two, three }
stage on { in two next three }
`

// A withinCase is a claim `prove A within B`; says is a part of the refutation, "" if
// it holds.
type withinCase struct{ name, stages, says string }

var withinCases = []withinCase{
	{"the same under another name", `stage A(p in /m) { in one read /m/{p} write /m/{p}/x } stage B(q in /m) { in one read /m/{q} write /m/{q}/x }`, ""},
	{"two parameters in another order", `stage A(p in /m, q in /n) { in one read /m/{p}, /n/{q} } stage B(u in /n, v in /m) { in one read /n/{u}, /m/{v} }`, ""},
	{"two parameters of one map, crosswise", `stage A(p in /m, q in /m) { in one read /m/{p}/x, /m/{q}/y } stage B(p in /m, q in /m) { in one read /m/{q}/x, /m/{p}/y }`, ""},
	{"one argument twice", `stage A(p in /m) { in one read /m/{p}/(x|y) } stage B(u in /m, v in /m) { in one read /m/{u}/x, /m/{v}/y }`, ""},
	{"a reference for a key", `stage A(p in /m, q = /m/{p}/r) { in one read /n/{q}/x, /m/{p}/r } stage B(p in /m, q in /n) { in one read /n/{q}/x, /m/{p}/r }`, ""},
	{"a dependent parameter under another name", `stage A(p in /m, q = /m/{p}/r) { in one read /n/{q} } stage B(u in /m, w = /m/{u}/r) { in one read /n/{w} }`, ""},
	{"a key of another map", `stage A(p in /m) { in one read /m/{p} } stage B(p in /n) { in one read /n/{p} }`, "need not fit `p in /n`"},
	{"a key of another map, of the same name and grants", `stage A(p in /m) { in one read /a } stage B(p in /n) { in one read /a }`, "need not fit `p in /n`"},
	{"a new key", `stage A(p in /m) { in one read /a } stage B(p new in /m) { in one read /a }`, "need not fit `p new in /m`"},
	{"a key that is there", `stage A(p new in /m) { in one read /a } stage B(p in /m) { in one read /a }`, "need not fit `p in /m`"},
	{"a key for a reference", `stage A(p in /m, q in /n) { in one read /n/{q}, /m/{p} } stage B(p in /m, q = /m/{p}/r) { in one read /n/{q}, /m/{p} }`, "need not fit `q = /m/{p}/r`"},
	{"a reference of another entry", `stage A(p in /m, o in /m, q = /m/{o}/r) { in one read /m/*, /n/{q} } stage B(p in /m, q = /m/{p}/r) { in one read /m/{p}, /n/{q} }`, "`read` of /m/"},
	{"two entries for one", `stage A(p in /m, q in /m) { in one read /m/{p}, /m/{q} } stage B(p in /m) { in one read /m/{p} }`, "`read` of /m/"},
	{"a key more is told", `stage A(p in /m, q in /n) { in one read /m/{p} } stage B(p in /m) { in one read /m/{p} }`, "`read` of /n/{q}"},
	{"a key more, of a map that is seen", `stage A(p in /m, q in /n) { in one read /m/{p} } stage B(p in /m) { in one read /m/{p}, /n }`, ""},
	{"a role more", `stage A { in one by u, v read /a } stage B { in one by u read /a }`, "role v may run it"},
	{"every role", `stage A { in one read /a } stage B { in one by u read /a }`, "every role may run it"},
	{"a role less", `stage A { in one by u read /a } stage B { in one by v, u read /a }`, ""},
	{"a role for all", `stage A { in one by u read /a } stage B { in one read /a }`, ""},
	{"a phase more", `stage A { in one, two read /a } stage B { in one read /a }`, "it runs in phase two"},
	{"a phase less", `stage A { in two read /a } stage B { in one, two read /a }`, ""},
	{"a move", `stage A { in one read /a next two } stage B { in one read /a }`, "it moves to phase two"},
	{"a move less", `stage A { in one read /a next two } stage B { in one read /a next two, three }`, ""},
	{"a move more", `stage A { in one read /a next two, three } stage B { in one read /a next two }`, "it moves to phase three"},
	{"staying", `stage A { in one read /a } stage B { in one read /a next two }`, "it stays in phase one"},
	{"tries more", `stage A { in one read /a attempts 5 } stage B { in one read /a }`, "more attempts"},
	{"tries more than one", `stage A { in one read /a } stage B { in one read /a attempts 1 }`, "more attempts"},
	{"tries less", `stage A { in one read /a attempts 2 } stage B { in one read /a attempts 4 }`, ""},
	{"no rule", `stage A { in one read /a } stage B { in one read /a require { before.a > 0 } }`, "`require { before.a > 0 }` of B"},
	{"another kind of rule", `stage A { in one read /a require { before.a > 0 } } stage B { in one read /a ensure { before.a > 0 } }`, "`ensure { before.a > 0 }` of B"},
	{"the same rule in another spelling", `stage A { in one read /a require { before.a>0 // really
 } } stage B { in one read /a require {   before.a   >   0 } }`, ""},
	{"the same rules in one", `stage A { in one read /a, /b require { before.b > 1 && before.a > 0 } } stage B { in one read /a, /b require { before.a > 0 } require { before.b > 1 } }`, ""},
	{"the same rule, renamed", `stage A(p in /m) { in one read /m/{p} require { before.m[p].x > 0 } } stage B(q in /m) { in one read /m/{q} require { before.m[q].x > 0 } }`, ""},
	{"the rule of the other key", `stage A(p in /m, q in /m) { in one read /m require { before.m[p].x > 0 } } stage B(p in /m, q in /m) { in one read /m require { before.m[q].x > 0 } }`, ""},
	{"two rules that need both keys", `stage A(p in /m, q in /m) { in one read /m require { before.m[p].x > 0 } } stage B(p in /m, q in /m) { in one read /m require { before.m[q].x > 0 && before.m[p].y > 0 } }`, "of B"},
	{"a bound variable of the parameter's name", `stage A(u in /m) { in one read /m require { before.m.all(u, before.m[u].x == 1 || u == "k") } } stage B(t in /m) { in one read /m require { before.m.all(u, before.m[u].x == 1 || t == "k") } }`, "of B"},
	{"a product", `stage A(p in /m) { in one read /m/{p} } stage B(p in /m) { in one read /m/{p} produce /m/{p}/x }`, "`produce /m/{p}/x` of B"},
	{"the same product", `stage A(p in /m) { in one read /m/{p} produce /m/{p}/x } stage B(q in /m) { in one read /m/{q} produce /m/{q}/x }`, ""},
	{"a write for a blind write", `stage A { in one read /n write /n/* } stage B { in one read /n write blind /n/* }`, "`write` of /n/"},
	{"a blind write for a write", `stage A { in one read /n write blind /n/* } stage B { in one read /n write /n/* }`, ""},
	{"fewer rights", `stage A { in one read /n write create /n/* } stage B { in one read /n write create, update /n }`, ""},
	{"rights for all of them", `stage A { in one read /n write create, delete /n/* } stage B { in one read /n write /n }`, ""},
	{"all rights for some", `stage A { in one read /n write /n/* } stage B { in one read /n write create, update /n }`, "`write delete` of /n/"},
	{"another right", `stage A { in one read /n write delete /n/* } stage B { in one read /n write create, update /n }`, "`write delete` of /n/"},
	{"rights by two grants", `stage A { in one read /n write create, delete /n/* } stage B { in one read /n write create /n, delete /n/* }`, ""},
	{"a right of a wider place", `stage A { in one read /n write create, delete /n } stage B { in one read /n write create /n, delete /n/* }`, "`write delete` of /n"},
	{"a blind write for creating", `stage A { in one read /n write blind /n/* } stage B { in one read /n write create /n/* }`, ""},
	{"a blind write for updating", `stage A { in one read /n write blind /n/* } stage B { in one read /n write update, delete /n/* }`, "`write` of /n/"},
	{"creating for a blind write", `stage A { in one read /n write create /n/* } stage B { in one read /n write blind /n/* }`, "`write create` of /n/"},
	{"rights of a composition", `stage A { in one read /n write create, delete /n/* } stage S { in one read /n write create /n/* } stage T { in one read /n write delete /n/* } compose B = S + T`, ""},
	{"rights of a delegate", `stage B { in one read /n write update /n/* } delegate A from B { write update /n/*/x }`, ""},
	{"a source", `stage A { in one read /a, /b write /b source /a } stage B { in one read /a, /b write /b }`, "`source` of /a"},
	{"what may be handed down", `stage A { in one read /a, /b write /b } stage B { in one read /a, /b write /b delegable /a }`, "`delegable` of /b"},
	{"what is handed on", `stage A { in one read /a delegable read /b } stage B { in one read /a delegable read /a, /b }`, ""},
	{"what is handed on more", `stage A { in one read /a delegable read /b } stage B { in one read /a, /b }`, ""},
	{"what is handed on, for what is had", `stage A { in one read /a, /b } stage B { in one read /a, /b delegable read /b }`, "`delegable read` of /a"},
	{"what is handed on and not had", `stage A { in one read /a delegable write /b } stage B { in one read /a, /b }`, "`delegable write` of /b"},
	{"what is had and not handed on", `stage A { in one read /b } stage B { in one delegable read /b }`, "`read` of /b"},
	{"fewer rights to hand on", `stage A { in one read /n delegable write create /n/* } stage B { in one read /n delegable write create, update /n }`, ""},
	{"a right more to hand on", `stage A { in one read /n delegable write create, update /n } stage B { in one read /n delegable write create /n }`, "`delegable write update` of /n"},
	{"blind writing to hand on", `stage A { in one read /n delegable write blind /n/* } stage B { in one read /n delegable write update /n }`, "`delegable write` of /n/"},
	{"blind writing to hand on, for creating", `stage A { in one read /n delegable write blind /n/* } stage B { in one read /n delegable write create /n }`, ""},
	{"a source to hand on", `stage A { in one read /a delegable source /a } stage B { in one read /a delegable write /a }`, "`delegable source` of /a"},
	{"a part of what is had, for what is handed on", `stage A { in one read /a, /b delegable /a } stage B { in one read /a, /b delegable read /b }`, "`delegable read` of /a"},
	{"what is handed on, for a part of what is had", `stage A { in one read /a, /b delegable read /b } stage B { in one read /a, /b delegable /a }`, "`delegable read` of /b"},
	{"what is handed on by parameters", `stage A(p in /m) { in one delegable write update /m/{p}/x } stage B(q in /m) { in one delegable write update /m/{q} }`, ""},
	{"what a composition hands on together", `stage A { in one delegable read /a, /b } stage S { in one delegable read /a } stage T { in one delegable read /b } compose B = S + T`, ""},
	{"a delegate of what is only handed on", `stage B { in one delegable read /b } delegate A from B { read /b }`, "`read` of /b"},
	{"a key that the other never is", `stage A(p in /m) { in one read /m/{p} } stage B(p in /m) { in one read /m/{p}, /n/{p} } stage C { in one read /n/x }`, "need not fit `p in /m`"},
	{"a composition on the right", `stage A(t in /m) { in one read /m/{t}/x, /n } stage S(p in /m) { in one read /m/{p} } stage T { in one read /n } compose B = S + T`, ""},
	{"a composition of which a stage runs elsewhere", `stage A(t in /m) { in one read /m/{t}/x, /n } stage S(p in /m) { in one read /m/{p} } stage T { in two read /n } compose B = S + T`, "it runs in phase one, as T does not"},
	{"a composition of stages in turn", `stage A { in one, two read /a } stage S { in one read /a } stage T { in two read /a } compose B = S + T`, ""},
	{"a composition of which a stage grants less in its turn", `stage A { in one, two read /a } stage S { in one read /a } stage T { in two read /b } compose B = S + T`, "it runs in phase two, as S does not"},
	{"what is tested as a whole and seen in pieces", `stage A { in one read /m } stage B { in one read /m/*/x, /m/*/y, /m/*/r }`, "`read` of /m"},
	{"a composition of which a stage is judged more", `stage A { in one read /a, /b } stage S { in one read /a } stage T { in one read /b require { before.a > 0 } } compose B = S + T`, "it is not judged by `require { before.a > 0 }` of T"},
	{"a composition on the left", `stage S(p in /m) { in one read /m/{p}/x } stage T(r in /m) { in one read /m/{r}/y } compose A = S + T stage B(q in /m) { in one read /m/{q} }`, ""},
	{"a composition on the left with a role more", `stage S { in one by u read /a } stage T { in one by v read /a } compose A = S + T stage B { in one by u read /a }`, "role v may run it"},
	{"a delegate on the left", `stage B(q in /m) { in one read /m/{q} write /m/{q}/x } delegate A from B { read /m/{q}/x write /m/{q}/x }`, ""},
	{"a delegate on the right", `stage A(q in /m) { in one read /m/{q} write /m/{q}/x } delegate B from A { read /m/{q}/x write /m/{q}/x }`, "`read` of /m/"},
	{"a keyed list", `stage A(p in /k) { in one read /k/{p}/v } stage B(q in /k) { in one read /k/{q} }`, ""},
	{"what may be a text, for what is in a record", `stage A { in one read /g/* } stage B { in one read /g/*/(x|y) }`, "`read` of /g/"},
	{"what may be a text, but for a part", `stage A { in one read /g except /g/*/x } stage B { in one read /g/*/y }`, "`read` of /g/"},
	{"what may be a number, for its elements", `stage A { in one read /h/y } stage B { in one read /h/x, /h/y/* }`, "`read` of /h/y"},
	{"the members of what may be a text", `stage A { in one read /h/(x|y) } stage B { in one read /h }`, ""},
	{"a key whose value may be a text", `stage A(p in /g) { in one read /a } stage B { in one read /a, /g/*/x }`, "`read` of /g/"},
	{"a list, for its elements", `stage A { in one read /o/l/*/x } stage B { in one read /o/l }`, ""},
	{"a delegate that sees texts", `stage C { in one read /g } stage B { in one read /g/*/x } delegate A from C { read /g/* }`, "`read` of /g/"},
	{"a key of a keyed list more", `stage A(p in /k, q in /k) { in one read /k/{p} } stage B(p in /k) { in one read /k/{p} }`, "`read` of /k/"},
}

func withinSource(c withinCase) string {
	return house + strings.ReplaceAll(c.stages, "} stage", "}\nstage") + "\nprove A within B\n"
}

func TestAStageIsWithinAnotherThatMayDoAllThatItMay(t *testing.T) {
	for _, c := range withinCases {
		t.Run(c.name, func(t *testing.T) {
			out := compileText(withinSource(c))
			require.NotNil(t, out.Lowered, "%v", out.Diagnostics)
			if c.says == "" {
				require.NotNil(t, out.Contract, "%v", out.Diagnostics)
				return
			}
			require.IsType(t, footprint.Refuted{}, out.Results[0], "%+v", out.Results[0])
			require.True(t, slices.ContainsFunc(out.Diagnostics, func(d source.Diagnostic) bool {
				return d.Code == "claim_refuted" && strings.Contains(d.Message, c.says)
			}), "%v", out.Diagnostics)
		})
	}
}

func TestACertificateShowsWhatIsWithinAndNoMore(t *testing.T) {
	for _, c := range withinCases {
		t.Run(c.name, func(t *testing.T) {
			out := compileText(withinSource(c))
			problems := certificate.Check(footprint.New(out.Lowered).Certificate(), out.Lowered)
			require.Equal(t, c.says == "", len(problems) == 0, "%v", problems)
		})
	}
}

func TestADelegateOfWhatIsBelowSeesNoTextInItsPlace(t *testing.T) {
	for _, reads := range [][2]string{{"/g/*/(x|y)", "/g/*"}, {"/h/x, /h/y/*", "/h/y"}, {"/g/*/y", "/g except /g/*/x"}, {"/h/x", "/h except /h/y"}} {
		out := compileText(withinSource(withinCase{stages: "stage B { in one read " + reads[0] + " } delegate A from B { read " + reads[1] + " }"}))
		require.True(t, slices.ContainsFunc(out.Diagnostics, func(d source.Diagnostic) bool { return d.Code == "delegate_exceeds" }), "%v %v", reads, out.Diagnostics)
	}
}
