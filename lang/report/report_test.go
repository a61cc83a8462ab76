package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/lang/source"
)

func text(t *testing.T, opts Options, ds ...source.Diagnostic) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, Text(&out, ds, opts))
	return out.String()
}

// about makes a diagnostic about the first occurrence of what.
func about(f *source.File, severity source.Severity, code, message, what string) source.Diagnostic {
	i := strings.Index(f.Text, what)
	return source.Diagnostic{Code: code, Severity: severity, Message: message, Span: source.Span{File: f, Start: i, End: i + len(what)}}
}

func TestTextShowsTheLineTheHelpTheFixesAndRelatedPlaces(t *testing.T) {
	f := source.NewFile("a.poptic", "contract c\nstage s {\n  red /x\n}\n")
	d := about(f, source.Error, "unknown_clause", "there is no clause `red`", "red")
	d.Help = "clauses start with a keyword"
	d.Related = []source.Related{{Message: "in this stage", Span: about(f, 0, "", "", "stage s").Span}}
	d.Fixes = []source.Fix{{Title: "did you mean `read`?", Span: d.Span, Text: "read"}}
	w := about(f, source.Warning, "unused", "nothing uses `c`", "c")
	require.Equal(t, "a.poptic:1:1: warning[unused]: nothing uses `c`\n"+
		"    |\n"+
		"  1 | contract c\n"+
		"    | ^\n"+
		"\n"+
		"a.poptic:3:3: error[unknown_clause]: there is no clause `red`\n"+
		"    |\n"+
		"  3 |   red /x\n"+
		"    |   ^^^\n"+
		"    = clauses start with a keyword\n"+
		"    = a.poptic:2:1: in this stage\n"+
		"    |\n"+
		"  2 | stage s {\n"+
		"    | -------\n"+
		"    = did you mean `read`?\n"+
		"\n"+
		"1 error, 1 warning\n", text(t, Options{}, d, w))
}

func frameOf(t *testing.T, f *source.File, start, end int, opts Options) []string {
	t.Helper()
	out := text(t, opts, source.Diagnostic{Code: "x", Message: "m", Severity: source.Error, Span: source.Span{File: f, Start: start, End: end}})
	lines := strings.Split(out, "\n")
	return lines[2 : len(lines)-3]
}

func TestMarksStandUnderTabsAndWideCharacters(t *testing.T) {
	f := source.NewFile("a", "\ta\t界e\u0301x = 1")
	i := strings.Index(f.Text, "x")
	require.Equal(t, []string{"  1 |     a   界e\u0301x = 1", "    |            ^"}, frameOf(t, f, i, i+1, Options{}))
	i = strings.Index(f.Text, "界")
	require.Equal(t, "    |         ^^", frameOf(t, f, i, i+len("界"), Options{})[1])
	require.Equal(t, "    |         ^^^^", frameOf(t, f, i, len(f.Text)-len(" = 1"), Options{})[1])
}

func TestEmptySpansAndTheEndOfTheFileGetOneMark(t *testing.T) {
	f := source.NewFile("a", "ab\r\n")
	require.Equal(t, []string{"  1 | ab", "    |   ^"}, frameOf(t, f, 2, 2, Options{}))
	require.Equal(t, []string{"  2 | ", "    | ^"}, frameOf(t, f, 4, 4, Options{}))
	require.Equal(t, []string{"  1 | ", "    | ^"}, frameOf(t, source.NewFile("a", ""), 0, 0, Options{}))
}

func TestSpansOverSeveralLinesAreMarkedOnEach(t *testing.T) {
	f := source.NewFile("a", "one {\n  two\n}\n")
	require.Equal(t, []string{"  1 | one {", "    |     ^", "  2 |   two", "    |   ^^^", "  3 | }", "    | ^"}, frameOf(t, f, 4, 13, Options{}))
	require.Equal(t, []string{"  1 | one {", "    |     ^", "  2 |   two", "    |   ^^^"}, frameOf(t, f, 4, 12, Options{}))
	long := source.NewFile("a", strings.Repeat("x\n", 20))
	require.Equal(t, []string{"  1 | x", "    | ^", "  2 | x", "    | ^", "  3 | x", "    | ^", "  4 | x", "    | ^", "    ...", " 19 | x", "    | ^"},
		frameOf(t, long, 0, 37, Options{}))
}

func TestLongLinesAreCutAroundTheMarks(t *testing.T) {
	f := source.NewFile("a", strings.Repeat("a", 200)+"HERE"+strings.Repeat("b", 200))
	lines := frameOf(t, f, 200, 204, Options{Width: 40})
	require.LessOrEqual(t, len(lines[0]), 40)
	i := strings.Index(lines[0], "HERE")
	require.Equal(t, i, strings.Index(lines[1], "^^^^"))
	require.Greater(t, i, 0)
	whole := frameOf(t, f, 0, 404, Options{Width: 40})
	require.LessOrEqual(t, len(whole[1]), 40)
}

func TestColourIsWrittenOnlyWhenAskedFor(t *testing.T) {
	f := source.NewFile("a", "abc")
	d := about(f, source.Error, "x", "m", "b")
	require.NotContains(t, text(t, Options{}, d), "<")
	coloured := text(t, Options{Paint: func(style, text string) string { return "<" + style + ">" + text + "<0>" }}, d)
	require.Contains(t, coloured, "<1;31>error[x]<0>")
	require.Contains(t, coloured, "<1;31>^<0>")
}

func TestControlCharactersOfTheSourceAreNotWrittenToTheTerminal(t *testing.T) {
	f := source.NewFile("a", "\x1b[31mred\x07")
	require.NotContains(t, strings.Join(frameOf(t, f, 0, 1, Options{}), ""), "\x1b")
}

func TestADiagnosticWithoutAPlaceHasNoFrame(t *testing.T) {
	require.Equal(t, "info[x]: m\n\n1 info\n", text(t, Options{}, source.Diagnostic{Code: "x", Message: "m"}))
}

func TestNothingIsWrittenAboutNothing(t *testing.T) {
	require.Empty(t, text(t, Options{}))
	require.Equal(t, "no findings", Summary{}.String())
	require.Equal(t, "2 errors, 1 warning, 3 infos", Summary{2, 1, 3}.String())
}

func TestJSONHasTheFixedShapeSortedAndWithoutNulls(t *testing.T) {
	f := source.NewFile("a.poptic", "é = <x>\ny")
	late := about(f, source.Info, "late", "m2", "y")
	early := about(f, source.Error, "early", "m1 <&>", "<x>")
	early.Help = "h"
	early.Fixes = []source.Fix{{Title: "t", Span: early.Span, Text: "z"}}
	early.Related = []source.Related{{Message: "r", Span: late.Span}}
	given := []source.Diagnostic{late, early}
	var out bytes.Buffer
	require.NoError(t, JSON(&out, given))
	require.JSONEq(t, `{"diagnostics":[
	  {"code":"early","severity":"error","message":"m1 <&>","help":"h","file":"a.poptic",
	   "start":{"line":1,"column":5,"offset":5},"end":{"line":1,"column":8,"offset":8},
	   "related":[{"message":"r","file":"a.poptic","start":{"line":2,"column":1,"offset":9},"end":{"line":2,"column":2,"offset":10}}],
	   "fixes":[{"title":"t","text":"z","file":"a.poptic","start":{"line":1,"column":5,"offset":5},"end":{"line":1,"column":8,"offset":8}}]},
	  {"code":"late","severity":"info","message":"m2","help":"","file":"a.poptic",
	   "start":{"line":2,"column":1,"offset":9},"end":{"line":2,"column":2,"offset":10},"related":[],"fixes":[]}],
	  "summary":{"errors":1,"warnings":0,"infos":1}}`, out.String())
	require.Contains(t, out.String(), "m1 <&>")
	require.Equal(t, "late", given[0].Code, "the caller's order is kept")
	out.Reset()
	require.NoError(t, JSON(&out, nil))
	require.True(t, json.Valid(out.Bytes()))
	require.Contains(t, out.String(), `"diagnostics": []`)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAWritersErrorIsReturned(t *testing.T) {
	ds := []source.Diagnostic{{Code: "x", Message: "m"}}
	require.ErrorContains(t, Text(broken{}, ds, Options{}), "disk full")
	require.ErrorContains(t, JSON(broken{}, ds), "disk full")
}

func TestOnlyTheSurroundingsOfAPlaceInALongLineAreLookedAt(t *testing.T) {
	f := source.NewFile("a.poptic", strings.Repeat("é{", 1<<20)+"here"+strings.Repeat("}", 1<<20))
	at := strings.Index(f.Text, "here")
	text, start, end := (&texter{width: 60}).near(f.Text, at, at+4)
	require.Less(t, len(text), 1<<12)
	require.Equal(t, "here", text[start:end])
	lines := frameOf(t, f, at, at+4, Options{Width: 60})
	shown, _, _ := strings.Cut(lines[0], "here")
	require.Equal(t, utf8.RuneCountInString(shown), strings.Index(lines[1], "^^^^"))
}
