package compiler_test

import (
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
	"github.com/patchoptic/poptic/stdlib"
)

// keywords are words of the grammar, which stand for nothing.
var keywords = strings.Fields(`contract sealed library import as const define roles change state type map list set log of by key secret where
	phases host when region measure sum count min max invariant each in unique stage delegate from new read write source
	produce require ensure attempts discloses except blind create update delete delegable after next compose parallel prove commutes with
	differs and or all commute within no flow to before stage reads writes copies memory true false null`)

var plainWord = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)
var quoted = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)

// identifiers lists where the words of a file stand that have to stand for something.
func identifiers(file *source.File) (must, may []source.Span) {
	tree, _ := syntax.Parse(file)
	for _, t := range tree.Tokens {
		text := quoted.ReplaceAllStringFunc(t.Span.Text(), func(s string) string { return strings.Repeat(" ", len(s)) })
		for _, at := range plainWord.FindAllStringIndex(text, -1) {
			s := source.Span{File: file, Start: t.Span.Start + at[0], End: t.Span.Start + at[1]}
			switch t.Kind {
			case syntax.WordToken:
				if slices.Contains(keywords, s.Text()) {
					may = append(may, s)
					continue
				}
				must = append(must, s)
			case syntax.ExprToken:
				if !slices.Contains([]string{"true", "false", "null", "in"}, s.Text()) {
					must = append(must, s)
				}
			case syntax.FieldToken, syntax.PathToken:
				must = append(must, s)
			}
		}
	}
	return must, may
}

func resolved(t *symbol.Table, s source.Span) bool {
	return slices.ContainsFunc(t.Uses, func(u symbol.Use) bool {
		return u.Span.File.Name == s.File.Name && u.Span.Start <= s.Start && s.End <= u.Span.End
	})
}

func TestEveryNameInTheExamplesStandsForSomething(t *testing.T) {
	count := func(files fs.FS, path string) int {
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: path})
		require.NoError(t, err)
		text, err := fs.ReadFile(files, path)
		require.NoError(t, err)
		table := out.Symbols()
		must, _ := identifiers(source.NewFile(path, string(text)))
		for _, s := range must {
			require.True(t, resolved(table, s), "%s:%d: %s", path, s.File.Position(s.Start).Line, s.Text())
		}
		for _, u := range table.Uses {
			require.NotNil(t, u.Symbol)
			if name := strings.Trim(u.Span.Text(), "\"`"); u.Symbol.Kind != symbol.Import {
				require.Equal(t, u.Symbol.Name, name)
			}
		}
		for _, s := range table.Symbols {
			require.Equal(t, s.Kind == symbol.Builtin, s.Span.IsZero(), s.Name)
			if s.Kind != symbol.Builtin {
				require.Contains(t, table.References(s), s.Span, "%s %s", s.Kind, s.Name)
			}
		}
		return len(must)
	}
	total := 0
	for _, name := range examples.Names() {
		total += count(examples.FS, name+"/contract.poptic")
	}
	for _, path := range []string{"money.poptic", "pii.poptic", "text.poptic", "time.poptic"} {
		total += count(stdlib.FS, path)
	}
	t.Logf("%d names", total)
	require.Greater(t, total, 1000)
}

const marked = `contract c
import "./l.poptic" as lib
state { ~1~items: map of ~2~Item  totals: map of { sum: int }  who: lib.~3~Email  l: list of Item by ~4~id }
type ~5~Item { ~6~id: string  ~7~size?: int  kind: { deep: string } | { deep: int } }
phases { ~8~open -> ~9~shut when { state.~10~totals.all(~11~k, t, ~12~t.sum > 0 && ~13~k != "") }  shut }
region ~14~some = /items/*/~15~size
measure ~16~n = count /items/*
invariant ~17~few each ~18~i in /items/* { ~19~n < 10 && has(~20~i.~21~size) && phase != "~22~shut" }
stage ~23~s(~24~item in /items) { in open by ~25~me read /items/{~26~item}, ~27~some next ~28~shut require { before.items[~29~item].~30~kind.~31~deep != "" } discloses ~32~few }
delegate d from ~33~s { by ~34~me read /items/{~35~item}/(~36~id|~37~size) }
compose both = s + d
prove s commutes with s when ~38~item differs
prove ~39~s within both
`

// unmark takes the marks out of a text, and says where they stood.
func unmark(text string) (string, map[string]int) {
	at, out := map[string]int{}, ""
	for i, part := range strings.Split(text, "~") {
		if i%2 == 1 {
			at[part] = len(out)
			continue
		}
		out += part
	}
	return out, at
}

const markedLibrary = "library l\n# An address.\ntype Email = string where { self.contains(\"@\") }\n"

func symbolsOf(t *testing.T, text string) (*symbol.Table, *source.File) {
	t.Helper()
	files := fstest.MapFS{"c.poptic": {Data: []byte(text)}, "l.poptic": {Data: []byte(markedLibrary)}}
	ctx, cancel := context.WithCancel(t.Context())
	out, err := compiler.Compile(ctx, compiler.Input{FS: files, Path: "c.poptic", LeaveClaims: true})
	require.NoError(t, err)
	cancel() // symbols can be asked for later
	table := out.Symbols()
	require.NotEmpty(t, table.Symbols)
	return table, table.Symbols[slices.IndexFunc(table.Symbols, func(s *symbol.Symbol) bool { return s.Kind == symbol.Contract })].Span.File
}

func TestUsesLeadToTheirDefinitions(t *testing.T) {
	text, at := unmark(marked)
	table, file := symbolsOf(t, text)
	for use, definition := range map[int]int{
		2: 5, 4: 6, 10: 0, 12: 0, 13: 11, 15: 7, 19: 16, 20: 18, 21: 7, 22: 9, 26: 24, 28: 9, 29: 24, 32: 17, 33: 23, 34: 25, 35: 24, 36: 6, 37: 7, 38: 24, 39: 23,
	} {
		found := table.At(file, at[fmt.Sprint(use)])
		require.NotEmpty(t, found, "mark %d", use)
		if definition == 9 {
			require.Equal(t, symbol.Phase, found[0].Kind)
			require.Equal(t, "shut", found[0].Name)
		} else if definition > 0 {
			require.Equal(t, at[fmt.Sprint(definition)], found[0].Span.Start, "mark %d", use)
		}
	}
	email := table.At(file, at["3"])[0]
	require.Equal(t, symbol.Type, email.Kind)
	require.Equal(t, "l.poptic", email.Span.File.Name)
	require.Equal(t, "An address.", email.Doc)
	require.Len(t, table.At(file, at["31"]), 2, "a member of each alternative")
	require.Equal(t, symbol.Variable, table.At(file, at["13"])[0].Kind)
	require.Equal(t, symbol.Variable, table.At(file, at["12"])[0].Kind)
	require.Len(t, table.References(table.At(file, at["24"])[0]), 5)
	require.Empty(t, table.At(file, len(text)))
}

// A library's names are its own wherever it is imported; a contract writes its alias before
// them.
func TestNamesOfALibraryLeadIntoIt(t *testing.T) {
	library, in := unmark("library l\nmeasure ~1~total = count /m/*\ninvariant ~2~few { ~3~total < 10 && size(state.~4~m) < 10 }\nregion ~5~all_m = /~6~m\n")
	text, at := unmark(`contract c
import "./l.poptic" as lib
state { ~1~m: map of int  n: int }
invariant more { ~2~lib.~3~total < state.n }
stage s { read ~4~lib.~5~all_m, /n write /n discloses ~6~lib.~7~few }
`)
	files := fstest.MapFS{"c.poptic": {Data: []byte(text)}, "l.poptic": {Data: []byte(library)}}
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic"})
	require.NoError(t, err)
	require.False(t, source.HasErrors(out.Diagnostics), "%+v", out.Diagnostics)
	table := out.Symbols()
	where := map[string]*source.File{}
	for _, s := range table.Symbols {
		if s.Span.File != nil {
			where[s.Span.File.Name] = s.Span.File
		}
	}
	for _, c := range []struct {
		file, mark, to, definition string
	}{
		{"c.poptic", "3", "l.poptic", "1"}, {"c.poptic", "5", "l.poptic", "5"}, {"c.poptic", "7", "l.poptic", "2"},
		{"l.poptic", "3", "l.poptic", "1"}, {"l.poptic", "4", "c.poptic", "1"}, {"l.poptic", "6", "c.poptic", "1"},
	} {
		marks := map[string]map[string]int{"c.poptic": at, "l.poptic": in}
		found := table.At(where[c.file], marks[c.file][c.mark])
		require.NotEmpty(t, found, "%+v", c)
		last := found[len(found)-1]
		require.Equal(t, c.to, last.Span.File.Name, "%+v", c)
		require.Equal(t, marks[c.to][c.definition], last.Span.Start, "%+v", c)
	}
	for _, mark := range []string{"2", "4", "6"} {
		require.Equal(t, symbol.Import, table.At(where["c.poptic"], at[mark])[0].Kind)
	}
}

func TestExpressionsAndPathsHaveTypes(t *testing.T) {
	text, at := unmark(marked)
	table, file := symbolsOf(t, text)
	for mark, want := range map[int]string{10: "map of record", 12: "record", 13: "string", 15: "int", 19: "int", 20: "record Item", 30: "record", 36: "string"} {
		x, ok := table.TypeAt(file, at[fmt.Sprint(mark)])
		require.True(t, ok, mark)
		require.Equal(t, want, x.Type, "mark %d: %s", mark, x.Span.Text())
	}
	entry, _ := table.TypeAt(file, at["20"])
	var fields []string
	for _, f := range entry.Fields {
		fields = append(fields, f.Name+" "+f.Type)
	}
	require.Equal(t, []string{"id string", "kind record | record", "size int"}, fields)
	require.Equal(t, "in /items", table.At(file, at["24"])[0].Type)
	require.Equal(t, "Item", table.At(file, at["18"])[0].Type)
}

func TestWhatIsInScopeEndsWithItsDeclaration(t *testing.T) {
	text, at := unmark(marked)
	table, file := symbolsOf(t, text)
	names := func(offset int) map[string]symbol.Kind {
		out := map[string]symbol.Kind{}
		for _, s := range table.InScope(file, offset) {
			out[s.Name] = s.Kind
		}
		return out
	}
	in, outside := names(at["26"]), names(at["14"])
	require.Equal(t, symbol.Parameter, in["item"])
	require.NotContains(t, outside, "item")
	require.Equal(t, symbol.Variable, names(at["19"])["i"])
	require.NotContains(t, in, "i")
	for name, kind := range map[string]symbol.Kind{"Item": symbol.Type, "lib": symbol.Import, "open": symbol.Phase, "some": symbol.Region, "few": symbol.Invariant, "me": symbol.Role, "both": symbol.Composition, "string": symbol.Builtin} {
		require.Equal(t, kind, in[name], name)
		require.Equal(t, kind, outside[name], name)
	}
	require.NotContains(t, in, "Email")
	require.NotContains(t, in, "size")
}

// Renaming everything leaves a contract that has as many diagnostics, and all of its symbols.
func TestARenamedContractMeansTheSame(t *testing.T) {
	text, _ := unmark(marked)
	compiled := func(text string) []source.Diagnostic {
		files := fstest.MapFS{"c.poptic": {Data: []byte(text)}, "l.poptic": {Data: []byte(markedLibrary)}}
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic"})
		require.NoError(t, err)
		return out.Diagnostics
	}
	text += "type Odd { \"an odd one\": int }\nregion odd = /odd/\"an odd one\"\ninvariant odd { state.odd[\"an odd one\"] > 0 }\n"
	text = strings.Replace(text, "state {", "state { odd: Odd ", 1)
	first, _ := symbolsOf(t, text)
	before, renamed := compiled(text), 0
	for i := range first.Symbols {
		table, file := symbolsOf(t, text)
		s := table.Symbols[i]
		edits, ok := table.Rename(s, fmt.Sprint("new_", i))
		require.Equal(t, s.Kind != symbol.Builtin, ok, s.Name)
		if s.Kind == symbol.Builtin || s.Span.File != file {
			continue
		}
		slices.SortFunc(edits, func(a, b source.Fix) int { return b.Span.Start - a.Span.Start })
		after := text
		for _, e := range edits {
			after = after[:e.Span.Start] + e.Text + after[e.Span.End:]
		}
		if s.Name == "deep" {
			continue // it is a member of two records: renamed in one only, it is no longer in the other
		}
		found := compiled(after)
		require.Equal(t, codes(before), codes(found), "%s %s:\n%s\n%+v", s.Kind, s.Name, after, found)
		renamed++
	}
	require.Greater(t, renamed, 20)
}

func TestAFileWithErrorsHasSymbols(t *testing.T) {
	for _, broken := range []string{"stage t { reed /a }\n", "invariant i { state.a > }\n", "region q = /nowhere\n", "type U = Nix\n", "stage t(k in /nowhere) { read /m/{k} }\n"} {
		text, at := unmark("contract c\nimport \"./l.poptic\" as lib\nstate { ~1~a: int  m: map of int }\n" + broken + "stage s(~2~k in /m) { read /m/{~3~k}, /~4~a }\n")
		table, file := symbolsOf(t, text)
		require.Equal(t, at["2"], table.At(file, at["3"])[0].Span.Start, broken)
		require.Equal(t, at["1"], table.At(file, at["4"])[0].Span.Start, broken)
	}
	require.Empty(t, compile("").Symbols().Uses)
}
