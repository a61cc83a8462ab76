package spec_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/spec/block"
	"github.com/patchoptic/poptic/spec/diagnostics"
)

// The pages of the codes that a check finds are made from the catalogue; POPTIC_UPDATE=1
// writes them. What stands in them is run from the files, as a reader has it.

func TestThePagesOfFindingsAreThoseOfTheCatalogue(t *testing.T) {
	for _, k := range diagnostic.All() {
		at := filepath.Join("diagnostics", k.Code+".md")
		want := page(t, k)
		if os.Getenv("POPTIC_UPDATE") != "" {
			if old, err := os.ReadFile(at); err == nil {
				if _, more, ok := strings.Cut(string(old), asRefusal); ok {
					want += "\n" + asRefusal + more
				}
			}
			require.NoError(t, os.WriteFile(at, []byte(want), 0o644))
			continue
		}
		got, ok := diagnostics.Page(k.Code)
		require.True(t, ok, "there is no page of %s", k.Code)
		if shared, _, ok := strings.Cut(got, "\n"+asRefusal); ok {
			got = shared
		}
		require.Equal(t, want, got, "POPTIC_UPDATE=1 go test ./spec -run ThePages")
	}
}

// asRefusal begins what a page says of a code that proposals are refused with, too.
const asRefusal = "## As a refusal\n"

// page writes the page of a kind.
func page(t *testing.T, k *diagnostic.Kind) string {
	t.Helper()
	var b strings.Builder
	level, chapter := k.Severity.String(), ""
	for _, c := range diagnostic.Chapters() {
		if slices.Contains(c.Kinds, k) {
			chapter = strings.ToLower(c.Title[:1]) + c.Title[1:]
		}
	}
	about := level
	if k.Unless != "" {
		about += ", " + k.Unless
	}
	r, isRule := lint.Find(k.Code)
	if isRule {
		about = fmt.Sprintf("rule of %s · level %s", r.Category, r.Level)
		if k.Unless != "" {
			about += ", " + k.Unless
		}
	}
	fmt.Fprintf(&b, "# %s\n\n*%s · %s*\n\n%s.\n\n%s\n", k.Code, about, chapter, strings.ToUpper(k.What[:1])+k.What[1:], k.Why)
	if k.Wrong != "" || k.Right != "" {
		name := cmp.Or(k.File, "c.poptic")
		fmt.Fprintf(&b, "\n## Wrong\n\n%s", shown(k.Wrong, "wrong", name, k.File != ""))
		var beside []string
		for file := range k.Beside {
			beside = append(beside, file)
		}
		sort.Strings(beside)
		for _, file := range beside {
			fmt.Fprintf(&b, "\nBeside it, `%s`:\n\n%s", file, fenced("poptic beside="+file, k.Beside[file]))
		}
		var said bytes.Buffer
		found := checkedPage(t, k.Code, name, diagnostic.Source(k.Wrong), k.Beside)
		found = slices.DeleteFunc(found, func(d source.Diagnostic) bool { return d.Code != k.Code })
		require.NotEmpty(t, found, k.Code)
		require.NoError(t, report.Text(&said, found[:1], report.Options{Width: 100}))
		text := said.String()
		text = text[:strings.LastIndex(strings.TrimSpace(text), "\n\n")+1] // without the summary
		fmt.Fprintf(&b, "\n%s", fenced("text", strings.TrimRight(text, "\n")+"\n"))
		fmt.Fprintf(&b, "\n## Right\n\n%s", shown(k.Right, "right", name, k.File != ""))
		if strings.Contains(k.Wrong+k.Right, "«") {
			b.WriteString("\n`«3 a$i »` stands for `a1 a2 a3 `, and `«byte ff»` for that byte.\n")
		}
	}
	if isRule {
		fmt.Fprintf(&b, "\nIts level: `rules: { %s: off }` in `poptic.yaml`. At one place: `# poptic:ignore %s` and the reason.\n", k.Code, k.Code)
	}
	return b.String()
}

func shown(text, word, name string, named bool) string {
	if named {
		word += " file=" + name
	}
	return fenced("poptic "+word, text)
}

func fenced(info, text string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return "```" + info + "\n" + text + "```\n"
}

// checkedPage is what a check finds in an example, with the rule of the code asked for.
func checkedPage(t *testing.T, code, name, text string, beside map[string]string) []source.Diagnostic {
	t.Helper()
	files := fstest.MapFS{name: {Data: []byte(text)}}
	for file, text := range beside {
		files[file] = &fstest.MapFile{Data: []byte(text)}
	}
	out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: name})
	require.NoError(t, err)
	var config *lint.Config
	if r, ok := lint.Find(code); ok && r.Level == lint.Off {
		config, err = lint.ParseConfig("poptic.yaml", []byte("rules: {"+code+": info}"))
		require.NoError(t, err)
	}
	found, err := lint.Findings(context.Background(), lint.Input{Output: out, FS: files, Path: name, Config: config})
	require.NoError(t, err)
	return found
}

func TestWhatThePagesShowWrongIsFoundFirstAndWhatTheyShowRightIsNot(t *testing.T) {
	for _, k := range diagnostic.All() {
		text, ok := diagnostics.Page(k.Code)
		require.True(t, ok, k.Code)
		text, _, _ = strings.Cut(text, asRefusal)
		var wrong, right *block.Block
		beside := map[string]string{}
		for _, b := range block.Parse(k.Code, text) {
			switch {
			case b.Has("wrong"):
				wrong = &b
			case b.Has("right"):
				right = &b
			case b.Value("beside") != "":
				beside[b.Value("beside")] = b.Text
			}
		}
		if k == diagnostic.Unreadable || k == diagnostic.ExpressionEnvironment {
			continue // a file that is not there, and a fault of the program
		}
		t.Run(k.Code, func(t *testing.T) {
			require.NotNil(t, wrong)
			require.NotNil(t, right)
			found := checkedPage(t, k.Code, cmp.Or(wrong.Value("file"), "c.poptic"), diagnostic.Source(wrong.Text), beside)
			require.Equal(t, k.Code, foremost(found, k), "%+v", found)
			for _, d := range checkedPage(t, k.Code, cmp.Or(right.Value("file"), "c.poptic"), diagnostic.Source(right.Text), beside) {
				require.NotEqual(t, k.Code, d.Code, "%+v", d)
				require.NotEqual(t, source.Error, d.Severity, "%+v", d)
			}
		})
	}
}

// foremost is the code of the first finding, of errors if there are any. That there are too
// many is said last.
func foremost(found []source.Diagnostic, k *diagnostic.Kind) string {
	if k == diagnostic.TooManyMistakes {
		return found[len(found)-1].Code
	}
	for _, d := range found {
		if d.Severity == source.Error || !source.HasErrors(found) {
			return d.Code
		}
	}
	return ""
}

var refusalCode = regexp.MustCompile("`([a-z]+(_[a-z]+)*)`")

// refusals lists the codes of the table in the interfaces' section 3.
func refusals(t *testing.T) (out []string) {
	t.Helper()
	text, err := os.ReadFile("interfaces.md")
	require.NoError(t, err)
	_, table, ok := strings.Cut(string(text), "| gate | codes |\n|---|---|\n")
	require.True(t, ok)
	table, _, _ = strings.Cut(table, "\n\n")
	for _, row := range strings.Split(table, "\n") {
		cells := strings.SplitN(row, "|", 3)
		for _, m := range refusalCode.FindAllStringSubmatch(regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(cells[2], ""), -1) {
			if !slices.Contains(out, m[1]) {
				out = append(out, m[1])
			}
		}
	}
	return append(out, "refused")
}

func TestEveryRefusalHasAPageWhoseTestsPass(t *testing.T) {
	codes := refusals(t)
	require.Greater(t, len(codes), 24)
	for _, code := range check.Codes {
		require.Contains(t, codes, code)
	}
	for _, code := range codes {
		t.Run(code, func(t *testing.T) {
			text, ok := diagnostics.Page(code)
			require.True(t, ok, "there is no page of %s", code)
			if diagnostic.Find(code) != nil {
				_, more, ok := strings.Cut(text, asRefusal)
				require.True(t, ok)
				text = more
			}
			shown, dir := false, t.TempDir()
			for _, run := range block.Sessions(block.Parse(code, text)) {
				bin, err := buildOnce()
				require.NoError(t, err)
				said, exit, err := run.Run(t.Context(), dir, filepath.Dir(bin))
				require.NoError(t, err)
				require.Zero(t, exit, said)
				if run.Has("wrong") {
					require.Regexp(t, `(?m)^ +code +`+code+"$", said)
				} else {
					require.Regexp(t, "^commit", said)
				}
				shown = true
			}
			for _, b := range block.Parse(code, text) {
				if b.Language == "poptic" && b.Has("tests") {
					require.Regexp(t, `expect (reject|reply) `+code+`\b`, b.Text)
					require.Contains(t, b.Text, "expect commit")
					requirePassing(t, b.Text)
					shown = true
				}
			}
			require.True(t, shown, "the page shows nothing")
		})
	}
}

func TestEveryPageIsOfACodeThatThereIs(t *testing.T) {
	known := refusals(t)
	for _, code := range diagnostics.Codes() {
		require.True(t, diagnostic.Find(code) != nil || slices.Contains(known, code), code)
	}
}
