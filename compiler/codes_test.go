package compiler_test

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/lang/source"
)

// An example of a code is a source in which it is found once, at a place; says is a part
// of the message or help, where one code has several.
type example struct{ code, source, at, says string }

const (
	plain   = "contract c\nstate { a: int  s: string  m: map of { n: int  s: string }  l: list of int  h: log of int  r: { x: int  y: int } }\n"
	phased  = plain + "phases { p -> q  q }\nstage go { in p next q }\n"
	nothing = "contract c\nstate any\n"
)

// Other shapes of mistakes than those that the catalogue shows.
var otherShapes = []example{
	{"import_path", "contract c\nimport \"../../etc\"\nstate any\n", `"../../etc"`, ""},
	{"import_path", "contract c\nimport \"/etc/passwd\"\nstate any\n", `"/etc/passwd"`, ""},
	{"unreadable", missing, "", ""},
	{"not_in_library", "library l\nstage s { read /a }\n", "stage s { read /a }", "a stage cannot stand"},
	{"not_in_library", "library l\nstate any\n", "state any", "a state cannot stand"},
	{"not_in_library", "library l\nphases { p }\n", "phases { p }", "a phases cannot stand"},
	{"not_in_library", "library l\ndelegate d from s { }\n", "delegate d from s { }", "a delegate cannot stand"},
	{"not_in_library", "library l\ncompose a = s + t\n", "compose a = s + t", "a compose cannot stand"},
	{"not_in_library", "library l\nparallel a = s | t\n", "parallel a = s | t", "a parallel cannot stand"},
	{"not_in_library", "library l\nprove no stage reads /a\n", "prove no stage reads /a", "a prove cannot stand"},
	{"reserved_name", plain + "measure before = count /m/*\n", "before", ""},
	{"reserved_name", plain + "invariant phase { state.a > 0 }\n", "phase", ""},
	{"reserved_name", plain + "invariant i each state in /m/* { true }\n", "state", ""},
	{"reserved_name", plain + "stage s(after in /m) { read /m }\n", "after", "keyword"},
	{"reserved_name", plain + "stage s(before in /m) { read /m }\n", "before", "no parameter can be called before"},
	{"unknown_phase", phased + "stage s { in p read /a discloses next r }\n", "r", ""},
	{"unknown_gate", plain + "invariant small { state.a < 3 }\nstage s { read /a discloses smal }\n", "smal", "did you mean `small`"},
	{"needless_disclosure", phased + "stage s { in p read /a discloses phase }\n", "phase", "never chooses between phases"},
	{"position_in_read", nothing + "stage s { read /l/0 }\n", "0", "if 0 is a key"},
	{"unknown_parameter", plain + "stage s(key in /m) { read /m/{kye} }\n", "{kye}", "did you mean `{key}`"},
	{"unknown_parameter", plain + "stage s(key in /m) { read /m/{other} }\n", "{other}", "key"},
	{"delegate_exceeds", phased + "stage s { in p by host_bot read /a }\ndelegate d from s { by me }\n", "me", "has no `by me` to hand down"},
	{"delegate_exceeds", plain + "stage s { read /a source /a }\ndelegate d from s { read /a, /s source /s }\n", "source /s", "may source /s"},
	{"declared_twice", "contract c\nimport \"std/pii\" as x\nimport \"std/time\" as x\nstate any\n", `import "std/time" as x`, "two imports"},
	{"declared_twice", "contract c\nstate any\nphases { p -> q by host  p -> r by host  q  r }\n", "p", "phase p"},
	{"declared_twice", "contract c\nstate any\nphases { p -> q by host, q by host  q }\n", "q by host", "leads to q twice"},
	{"declared_twice", plain + "stage s(k in /m, k in /m) { read /m/{k} }\n", "k", "parameter k"},
	{"declared_twice", plain + "stage s { read /a }\ncompose s = s\n", "s", "stage s"},
	{"unknown_stage", plain + "stage s { read /a }\nprove s within t\n", "t", ""},
	{"unknown_stage", plain + "delegate d from s { }\n", "s", ""},

	{"each_pattern", plain + "invariant i each e in /m { true }\n", "/m", ""},
	{"each_pattern", nothing + "invariant i each e in /a/**/b { true }\n", "**", "how deep"},
	{"reserved_name", plain + "stage s(namespace in /m) { read /m }\n", "namespace", "no parameter can be called namespace"},
	{"reserved_name", plain + "stage s(null in /m) { read /m }\n", "null", "no parameter"},
	{"reserved_name", plain + "invariant i each package in /m/* { true }\n", "package", "no entry can be called package"},
	{"reserved_name", plain + "invariant i each for, e in /m/* { true }\n", "for", "no entry"},
	{"reserved_name", plain + "measure while = count /m/*\n", "while", "no measure"},
	{"cel_syntax", plain + "invariant i { state.in > 0 }\n", "in", "in backquotes"},
	{"cel_syntax", plain + "invariant i { state.?true.hasValue() }\n", "true", "in backquotes"},
	{"cel_syntax", plain + "invariant i { `a` > 0 }\n", "`a`", "after a dot"},
	{"cel_syntax", plain + "invariant i { state.`a > 0 }\n", "`a > 0 ", "has no end"},
	{"cel_syntax", plain + "invariant i { state.`\\q` > 0 }\n", "`\\q`", "no name of a member"},
	{"unknown_member", plain + "invariant i { state.`r`.`x-y` > 0 }\n", "`x-y`", "no member of record"},
	{"cel_syntax", plain + "invariant i { package > 0 }\n", "package", "call it otherwise where it is declared"},
	{"each_pattern", plain + "invariant i each k, e in /l/* { e > 0 }\n", "k", "no keys that could be called k"},
	{"each_pattern", plain + "invariant i each k, e in /h/* { k != \"\" }\n", "k", "no keys"},
	{"each_pattern", nothing + "invariant i each k, e in /a/* { true }\n", "k", "no keys"},
	{"each_pattern", plain + "measure x = count /r/x where { self > 0 }\n", "/r/x", "about entries"},
	{"each_pattern", nothing + "measure x = sum /a/*/**/n where { self.ok }\n", "/a/*/**/n", "about entries"},
	{"each_pattern", plain + "invariant i unique /r/x, /r/y\n", "/r/x", "names none"},
	{"each_pattern", plain + "invariant i unique /m/*/n, /l/*\n", "/l/*", "other entries than /m/*/n"},
	{"declared_twice", plain + "invariant i each e, e in /m/* { true }\n", "e", "call the key otherwise"},
	{"reserved_name", plain + "invariant i each phase, e in /m/* { true }\n", "phase", ""},
	{"unknown_member", plain + "measure x = count /m/* where { self.q > 0 }\n", "q", ""},
	{"unknown_name", plain + "measure x = count /m/* where { state.a > 0 }\n", "state", "where sees `self`"},
	{"not_bool", plain + "measure x = sum /m/*/n where { self.n }\n", "self.n", ""},

	{"clause_needs_phases", plain + "stage s { in p read /a }\n", "in p", ""},
	{"clause_needs_phases", plain + "stage s { read /a next p }\n", "next p", ""},
	{"unknown_parameter", plain + "stage s { read /m/{k} }\n", "{k}", "are declared after"},
	{"unknown_parameter", plain + "stage s(k = /m/{j}/s, j in /m) { read /m/{j} }\n", "/m/{j}/s", "declared only after"},
	{"unknown_parameter", plain + "stage s(k in /m) { read /m/{k} write /m/{k}/n }\nprove s commutes with s when j differs\n", "j", "stage s has no parameter j"},

	{"parameter_in_record", plain + "stage s(k in /m) { read /r/{k} }\n", "{k}", "a record"},
	{"parameter_in_record", plain + "stage s(k in /m) { read /{k} }\n", "{k}", "the state is a record"},
	{"parameter_in_record", plain + "stage s(k in /m) { read /m/{k}/{k} }\n", "{k}", "a record"},
	{"not_one_place", plain + "stage s(k = /m/*/s) { read /m }\n", "*", "leads to many"},
	{"not_one_place", plain + "invariant i unique /r/(x|y)\n", "/r/(x|y)", "no meaning here"},
	{"inexact_region", familyOf("regions taken from themselves", 3), "", ""},
	{"empty_grant", plain + "stage s { read /a & /s }\n", "/a & /s", "share no path"},
	{"empty_grant", plain + "stage s { read /a except /a }\n", "/a except /a", "leave nothing"},
	{"empty_grant", plain + "stage s { read /m write /m except /**/n }\n", "/m except /**/n", "allows nothing"},
	{"too_many_secrets", wide(4097), "", ""},

	{"unknown_member", plain + "invariant i { state.b > 0 }\n", "b", ""},
	{"unknown_member", plain + "stage s { read /b }\n", "b", "matches nothing"},
}

const missing = "\x00"

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

func TestOtherShapesOfAMistakeAreFoundAtTheirPlaces(t *testing.T) {
	for _, e := range otherShapes {
		t.Run(e.code+" "+e.at, func(t *testing.T) {
			found := 0
			diagnostics := compileText(e.source, "c.poptic", beside)
			for _, d := range diagnostics {
				if d.Code == e.code && (e.at == "" || d.Span.Text() == e.at) && strings.Contains(d.Message+" | "+d.Help, e.says) {
					found++
				}
			}
			require.Equal(t, 1, found, "%+v", diagnostics)
		})
	}
}

// compileText compiles a text as a file beside others; one that is
// missing is not there.
func compileText(text, name string, beside fstest.MapFS) []source.Diagnostic {
	files := maps.Clone(beside)
	if text != missing {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	out, _ := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: name})
	return out.Diagnostics
}

func TestEveryCodeIsFoundWhereTheCatalogueShowsIt(t *testing.T) {
	for _, k := range diagnostic.All() {
		if k == diagnostic.Unreadable || k == diagnostic.ExpressionEnvironment || diagnostic.OfLint(k) {
			continue // a file that is not there, a library that refuses its own types, and what rules find
		}
		t.Run(k.Code, func(t *testing.T) {
			name, others := cmp.Or(k.File, "c.poptic"), fstest.MapFS{}
			for file, text := range k.Beside {
				others[file] = &fstest.MapFile{Data: []byte(text)}
			}
			var found []source.Diagnostic
			diagnostics := compileText(diagnostic.Source(k.Wrong), name, others)
			for _, d := range diagnostics {
				if d.Code == k.Code {
					found = append(found, d)
				}
			}
			require.Len(t, found, 1, "%+v", diagnostics)
			require.Equal(t, k.Severity, found[0].Severity)
			if k.At != "" {
				require.Equal(t, diagnostic.Source(k.At), found[0].Span.Text())
			}
			require.Empty(t, used(compileText(diagnostic.Source(k.Right), name, others)))
		})
	}
}
