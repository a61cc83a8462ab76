package spec_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Where the front end makes diagnostics, its codes are literals in one of these forms.
var codeForms = regexp.MustCompile(`(?:report|wrong|fault|caution|remark|importFault)\("([a-z_]+)"|Code(?:: |, d.Span = )"([a-z_]+)"|d\.Code(?:, d\.Span)? = "([a-z_]+)"|unknownName\("([a-z ]+)"`)

// issueForm is how the expression checker names its codes.
var issueForm = regexp.MustCompile(`(?m)^\t[A-Z]\w+ += "([a-z_]+)"$`)

func TestEveryDiagnosticCodeIsListed(t *testing.T) {
	chapter, err := os.ReadFile("language.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(chapter), "\n## 14. Diagnostics\n")
	require.True(t, found)
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(section, -1) {
		listed[m[1]] = true
	}
	made := codesMade(t)
	require.Greater(t, len(made), 80)
	for code, file := range made {
		require.True(t, listed[code], "%s makes %s, which spec/language.md section 14 does not list", file, code)
	}
	for code := range listed {
		require.NotEmpty(t, made[code], "nothing makes %s", code)
	}
}

// codesMade finds the codes in the sources of the front end, with a file each.
func codesMade(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, dir := range []string{"../internal/syntax", "../internal/check", "../compiler"} {
		eachSource(t, dir, func(file, text string) {
			for _, m := range codeForms.FindAllStringSubmatch(text, -1) {
				code := m[1] + m[2] + m[3]
				if m[4] != "" {
					code = "unknown_" + strings.ReplaceAll(m[4], " ", "_")
				}
				out[code] = file
			}
		})
	}
	delete(out, "unknown_") // the prefix of the codes of unknownName
	eachSource(t, "../internal/expr", func(file, text string) {
		text, _, _ = strings.Cut(text, "// The codes of evaluation errors.")
		if filepath.Base(file) != "issue.go" {
			return
		}
		for _, m := range issueForm.FindAllStringSubmatch(text, -1) {
			out[m[1]] = file
		}
	})
	return out
}

// eachSource visits the files of one folder that are not tests.
func eachSource(t *testing.T, dir string, f func(file, text string)) {
	t.Helper()
	files, err := fs.Glob(os.DirFS(dir), "*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		f(filepath.Join(dir, name), string(text))
	}
}
