package compiler_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
)

// An example of a code is a source in which it is found once, at a place; says is a part
// of the message or help, where one code has several.
type example struct{ code, source, at, says string }

const (
	plain   = "contract c\nstate { a: int  s: string  m: map of { n: int  s: string }  l: list of int  h: log of int  r: { x: int  y: int } }\n"
	phased  = plain + "phases { p -> q  q }\nstage go { in p next q }\n"
	nothing = "contract c\nstate any\n"
)

// One or more of each code that is found out after parsing; what the parser finds is in
// the cases of package syntax.
var examples = []example{
	{"import_not_found", "contract c\nimport \"./other.poptic\"\nstate any\n", `"./other.poptic"`, ""},
	{"import_path", "contract c\nimport \"../../etc\"\nstate any\n", `"../../etc"`, ""},
	{"import_path", "contract c\nimport \"/etc/passwd\"\nstate any\n", `"/etc/passwd"`, ""},
	{"import_cycle", "contract c\nimport \"./ring.poptic\"\nstate any\n", `"./ring.poptic"`, ""},
	{"not_a_library", "contract c\nimport \"./whole.poptic\"\nstate any\n", `"./whole.poptic"`, ""},
	{"unreadable", "", "", ""},
	{"not_in_library", "library l\nstage s { read /a }\n", "stage s { read /a }", "a stage cannot stand"},
	{"not_in_library", "library l\nstate any\n", "state any", "a state cannot stand"},
	{"not_in_library", "library l\nphases { p }\n", "phases { p }", "a phases cannot stand"},
	{"missing_state", "contract c\ntype T = int\n", "contract c", ""},
	{"declared_twice", "contract c\nimport \"std/pii\" as x\nimport \"std/time\" as x\nstate any\n", `import "std/time" as x`, "two imports"},
	{"declared_twice", "contract c\nstate any\nphases { p -> q by host  p -> r by host  q  r }\n", "p", "phase p"},
	{"declared_twice", "contract c\nstate any\nphases { p -> q by host, q by host  q }\n", "q by host", "leads to q twice"},
	{"declared_twice", plain + "stage s(k in /m, k in /m) { read /m/{k} }\n", "k", "parameter k"},
	{"declared_twice", plain + "stage s { read /a }\ncompose s = s\n", "s", "stage s"},
	{"unknown_import", "contract c\nstate { a: pii.Email }\n", "pii.Email", ""},
	{"unknown_type", "contract c\nstate { a: Emial }\n", "Emial", ""},
	{"unknown_region", plain + "stage s { read regin }\n", "regin", ""},
	{"unknown_phase", phased + "stage s { in r }\n", "r", ""},
	{"unknown_stage", plain + "stage s { read /a }\nprove s within t\n", "t", ""},
	{"unknown_stage", plain + "delegate d from s { }\n", "s", ""},
	{"unknown_gate", plain + "stage s { read /a write /a discloses rule }\n", "rule", ""},
	{"reserved_name", "contract c\nstate any\ntype int = string\n", "int", ""},

	{"recursive_type", "contract c\nstate { t: T }\ntype T = { t: U }\ntype U = list of T\n", "", ""},
	{"key_field", "contract c\nstate { l: list of { n: int } by n }\n", "n", ""},
	{"secret_key", "contract c\nstate { l: list of { id: secret string } by id }\n", "id", ""},
	{"not_a_map", plain + "stage s(k in /l) { read /a }\n", "/l", ""},
	{"measure_type", plain + "measure t = max /s\n", "/s", ""},
	{"each_pattern", plain + "invariant i each e in /m { true }\n", "/m", ""},
	{"each_pattern", nothing + "invariant i each e in /a/**/b { true }\n", "**", "how deep"},

	{"no_phases", "contract c\nstate any\nphases { }\n", "phases { }", ""},
	{"unreachable_phase", "contract c\nstate any\nphases { p  q }\n", "q", ""},
	{"endless_phase", "contract c\nstate any\nphases { p -> p by host }\n", "p", ""},
	{"unwalked_arrow", "contract c\nstate any\nphases { p -> q  q }\n", "q", ""},
	{"no_such_arrow", phased + "stage s { in q next p }\n", "next p", ""},
	{"missing_in", phased + "stage s { read /a }\n", "s", ""},
	{"clause_needs_phases", plain + "stage s { in p read /a }\n", "in p", ""},
	{"clause_needs_phases", plain + "stage s { read /a next p }\n", "next p", ""},
	{"clause_twice", plain + "stage s { read /a read /s }\n", "read", ""},
	{"listed_twice", phased + "stage s { in p, p read /a }\n", "p", ""},
	{"bad_attempts", plain + "stage s { read /a attempts 0 }\n", "0", ""},
	{"unknown_parameter", plain + "stage s { read /m/{k} }\n", "{k}", "are declared after"},
	{"unknown_parameter", plain + "stage s(k = /m/{j}/s, j in /m) { read /m/{j} }\n", "/m/{j}/s", "declared only after"},
	{"unknown_parameter", plain + "stage s(k in /m) { read /m/{k} write /m/{k}/n }\nprove s commutes with s when j differs\n", "j", "stage s has no parameter j"},
	{"parameter_type", plain + "stage s(k = /a) { read /a }\n", "/a", ""},
	{"require_no_guard", plain + "stage s(k in /m) { read /m/{k} require { before.m[k].s + \"1\" == k } }\n", `require { before.m[k].s + "1" == k }`, ""},
	{"chosen_view", "contract c sealed\nstate { a: string  m: map of int }\nstage s(k = /a) { read /a, /m/{k} write /a }\n", "write /a", "stage s may write /a"},
	{"delegate_params", plain + "stage s(k in /m) { read /m/{k} }\ndelegate d from s(k in /m) { read /m/{k} }\n", "k in /m", ""},
	{"delegate_exceeds", plain + "stage s { read /a attempts 2 }\ndelegate d from s { attempts 3 }\n", "attempts 3", "more often"},

	{"no_such_path", plain + "stage s { read /a/b }\n", "b", ""},
	{"parameter_in_record", plain + "stage s(k in /m) { read /r/{k} }\n", "{k}", "a record"},
	{"parameter_in_record", plain + "stage s(k in /m) { read /{k} }\n", "{k}", "the state is a record"},
	{"parameter_in_record", plain + "stage s(k in /m) { read /m/{k}/{k} }\n", "{k}", "a record"},
	{"not_one_place", plain + "stage s(k = /m/*/s) { read /m }\n", "*", "leads to many"},
	{"not_one_place", plain + "invariant i unique /r/(x|y)\n", "/r/(x|y)", "no meaning here"},
	{"too_many_choices", nothing + "stage s { read " + strings.Repeat("/(a|b|c|d|e|f|g|h)", 6) + " }\n", "", ""},
	{"position_in_read", plain + "stage s { read /l/0 }\n", "0", ""},
	{"element_of_bag", plain + "stage s { read /h write /h/* }\n", "*", ""},
	{"log_source", plain + "stage s { read /h source /h }\n", "/h", ""},
	{"dash_outside_log", plain + "stage s { read /l write /l/- }\n", "-", ""},
	{"dash_outside_write", plain + "stage s { read /h/- }\n", "-", ""},
	{"dash_not_last", plain + "stage s { write /h/-/x }\n", "-", ""},
	{"recursive_region", plain + "region r = q\nregion q = /a, r\nstage s { read r }\n", "", ""},
	{"inexact_region", familyOf("regions taken from themselves", 3), "", ""},
	{"empty_grant", plain + "stage s { read /a & /s }\n", "/a & /s", "share no path"},
	{"empty_grant", plain + "stage s { read /a except /a }\n", "/a except /a", "leave nothing"},
	{"empty_grant", plain + "stage s { read /m write /m except /**/n }\n", "/m except /**/n", "allows nothing"},
	{"too_many_secrets", wide(4097), "", ""},
	{"excepted_key", "contract c\nstate { l: list of { id: string  n: int } by id }\nstage s { read /l except /l/*/id }\n", "read /l except /l/*/id", ""},
	{"not_read", plain + "stage s { write /a }\n", "/a", ""},
	{"parent_uncertain", "contract c\nstate { h?: log of int }\nstage s { write /h/- }\n", "/h/-", ""},
	{"limit_exceeded", plain + "stage s(" + joined(33, "p$i in /m", ", ") + ") { read /a }\n", "p33 in /m", ""},
	{"too_many_mistakes", plain + steps(600, "stage s$i { read /b$i }"), "", "400 more mistakes"},

	{"cel_syntax", plain + "invariant i { state.a == }\n", "", ""},
	{"cel_too_large", plain + "invariant i { " + strings.Repeat("state.a > 0 && ", 2000) + "true }\n", "", ""},
	{"unknown_name", plain + "invariant i { a > 0 }\n", "a", ""},
	{"unknown_member", plain + "invariant i { state.b > 0 }\n", "b", ""},
	{"unknown_member", plain + "stage s { read /b }\n", "b", "matches nothing"},
	{"unknown_function", plain + "invariant i { sizes(state.m) > 0 }\n", "sizes", ""},
	{"operand_types", plain + "invariant i { state.a + state.s == 1 }\n", "state.a + state.s", ""},
	{"not_bool", plain + "invariant i { state.a }\n", "state.a", ""},
	{"unguarded_optional", "contract c\nstate { a?: int }\ninvariant i { state.a > 0 }\n", "state.a", ""},
	{"constant_comparison", plain + "invariant i { state.a == \"x\" }\n", "state.a == \"x\"", ""},
	{"log_value", plain + "invariant i { state.h == [] }\n", "state.h", ""},
	{"bag_order", plain + "invariant i { state.h.map(x, x) == [] }\n", "state.h.map(x, x)", ""},
	{"no_index", plain + "invariant i { state.l[\"a\"] == 1 }\n", "\"a\"", ""},
	{"not_a_range", plain + "invariant i { state.a.all(x, true) }\n", "state.a", ""},
	{"whole_state_rule", plain + "invariant i { state.m.exists(k, state.m[k].n > 0) }\n", " state.m.exists(k, state.m[k].n > 0) ", ""},
	{"bad_regexp", plain + "invariant i { state.s.matches(\"(\") }\n", "\"(\"", ""},

	{"undisclosed_gate", plain + "invariant i { state.a < state.r.x }\nstage s { read /a write /a }\n", "s", ""},
	{"needless_disclosure", plain + "invariant i { state.a < 3 }\nstage s { read /a write /a discloses i }\n", "i", ""},
	{"no_shared_phase", phased + "stage s { in p read /a }\nstage t { in q read /a }\nprove s commutes with t\n", "t", ""},
	{"claim_refuted", plain + "stage s { read /a write /a }\nprove no stage writes /a\n", "", ""},
	{"claim_unknown", plain + "stage s { read /a write /a }\nprove s commutes with s\n", "", ""},
}

// familyOf is a source of a family with a number.
func familyOf(name string, n int) string {
	i := slices.IndexFunc(families, func(f family) bool { return f.name == name })
	return families[i].write(n)
}

// wide is a contract with n secret places.
func wide(n int) string {
	return "contract c\nstate { " + joined(n, "a$i: secret int", " ") + " }\n"
}

var beside = fstest.MapFS{
	"ring.poptic":  {Data: []byte("library ring\nimport \"./back.poptic\"\n")},
	"back.poptic":  {Data: []byte("library back\nimport \"./ring.poptic\"\n")},
	"whole.poptic": {Data: []byte("contract whole\nstate any\n")},
}

func TestEveryCodeIsFoundAtItsPlace(t *testing.T) {
	for _, e := range examples {
		t.Run(e.code+" "+e.at, func(t *testing.T) {
			files := maps.Clone(beside)
			if e.source != "" {
				files["c.poptic"] = &fstest.MapFile{Data: []byte(e.source)}
			}
			found := 0
			out := compiler.Compile(compiler.Input{FS: files, Path: "c.poptic"})
			for _, d := range out.Diagnostics {
				if d.Code == e.code && (e.at == "" || d.Span.Text() == e.at) && strings.Contains(d.Message+" | "+d.Help, e.says) {
					found++
				}
			}
			require.Equal(t, 1, found, "%+v", out.Diagnostics)
		})
	}
}

// The table of codes is the specification's: of each there is an example here, or the
// parser finds it.
func TestEveryCodeOfTheSpecificationHasAnExample(t *testing.T) {
	chapter, err := os.ReadFile("../spec/language.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(chapter), "\n## 14. Diagnostics\n")
	_, section, found := strings.Cut(section, "| **Files and names** | |\n")
	require.True(t, found)
	codes := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(section, -1)
	require.Greater(t, len(codes), 70)
	for _, m := range codes {
		if m[1] == "expression_environment" {
			continue // the library that checks expressions would have to refuse its own types
		}
		require.True(t, slices.ContainsFunc(examples, func(e example) bool { return e.code == m[1] }), "there is no example of %s", m[1])
	}
}
