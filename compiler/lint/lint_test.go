package lint_test

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/lang/source"
)

// findings lints a file of some, with every rule switched on if all is set.
func findings(t *testing.T, files fstest.MapFS, name string, config string) []source.Diagnostic {
	t.Helper()
	out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: name})
	require.NoError(t, err)
	c, err := lint.ParseConfig("poptic.yaml", []byte(config))
	require.NoError(t, err)
	found, err := lint.Findings(context.Background(), lint.Input{Output: out, FS: files, Path: name, Config: c})
	require.NoError(t, err)
	return found
}

func asked(code string) string { return "rules: {" + code + ": warning}" }

func TestEverySuspicionIsFoundWhereTheCatalogueShowsIt(t *testing.T) {
	for _, k := range diagnostic.All() {
		r, isRule := lint.Find(k.Code)
		if !isRule {
			continue
		}
		t.Run(k.Code, func(t *testing.T) {
			name := cmp.Or(k.File, "c.poptic")
			files := fstest.MapFS{}
			for file, text := range k.Beside {
				files[file] = &fstest.MapFile{Data: []byte(text)}
			}
			config := ""
			if r.Level == lint.Off {
				config = asked(k.Code)
			}
			files[name] = &fstest.MapFile{Data: []byte(diagnostic.Source(k.Wrong))}
			found := findings(t, files, name, config)
			require.NotEmpty(t, found)
			require.Equal(t, k.Code, found[0].Code, "%+v", found)
			if k.At != "" {
				require.Equal(t, strings.TrimSpace(k.At), strings.TrimSpace(found[0].Span.Text()))
			}
			files[name] = &fstest.MapFile{Data: []byte(diagnostic.Source(k.Right))}
			for _, d := range findings(t, files, name, config) {
				require.NotEqual(t, k.Code, d.Code, "%+v", d)
				require.NotEqual(t, source.Error, d.Severity, "%+v", d)
			}
		})
	}
}

func TestTheExamplesAndTheLibrariesHaveNoFindings(t *testing.T) {
	for _, root := range []string{"../../examples", "../../stdlib"} {
		files := os.DirFS(root)
		err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				return cmp.Or(err, fs.SkipDir)
			}
			if path.Ext(name) != ".poptic" {
				return nil
			}
			out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: name, LeaveClaims: true})
			require.NoError(t, err)
			found, err := lint.Findings(context.Background(), lint.Input{Output: out, FS: files, Path: name})
			require.NoError(t, err)
			require.Empty(t, found, name)
			return nil
		})
		require.NoError(t, err)
	}
}

var wanted = regexp.MustCompile(` *# want\b`)

// Each file of testdata is about the rule that it is called after. Below the names bad*, the
// lines that end in "# want" are those where the rule finds something; below good* it finds
// nothing.
func TestEveryRuleFindsWhatItShouldAndNothingElse(t *testing.T) {
	for _, r := range lint.Rules() {
		t.Run(r.Code, func(t *testing.T) {
			archive, err := txtar.ParseFile(filepath.Join("testdata", r.Code+".txtar"))
			require.NoError(t, err)
			files := fstest.MapFS{}
			for _, f := range archive.Files {
				files[f.Name] = &fstest.MapFile{Data: wanted.ReplaceAll(f.Data, nil)}
			}
			bad, good := 0, 0
			for _, f := range archive.Files {
				isBad, isGood := strings.HasPrefix(f.Name, "bad"), strings.HasPrefix(f.Name, "good")
				if strings.HasSuffix(f.Name, compiler.TestSuffix) || !isBad && !isGood {
					continue
				}
				var want, got []int
				for i, line := range strings.Split(string(f.Data), "\n") {
					if wanted.MatchString(line) {
						want = append(want, i+1)
					}
				}
				found := findings(t, files, f.Name, asked(r.Code))
				for _, d := range found {
					require.NotEqual(t, source.Error, d.Severity, "%s: %+v", f.Name, d)
					if d.Code == r.Code && d.Span.File.Name == f.Name {
						text := d.Span.Text()
						got = append(got, d.Span.File.Position(d.Span.Start+len(text)-len(strings.TrimLeft(text, " \n"))).Line)
						require.NotEmpty(t, d.Help, f.Name)
						checkFix(t, files, f.Name, d)
					}
				}
				require.Equal(t, want, slices.Compact(got), "%s: %+v", f.Name, found)
				if isBad {
					require.NotEmpty(t, want, f.Name)
					bad++
				} else {
					require.Empty(t, want, f.Name)
					good++
				}
			}
			require.GreaterOrEqual(t, bad, 2, "cases that are found")
			require.GreaterOrEqual(t, good, 2, "cases that are not")
		})
	}
}

// checkFix applies the first fix of a finding: what comes out compiles, and has one finding
// of its code less.
func checkFix(t *testing.T, files fstest.MapFS, name string, d source.Diagnostic) {
	t.Helper()
	if len(d.Fixes) == 0 || d.Fixes[0].Span.File.Name != name || strings.HasSuffix(name, compiler.TestSuffix) {
		return
	}
	if r, isRule := lint.Find(d.Code); !isRule || r.Code == "unused" || r.Code == "literal_segment" {
		return
	}
	count := func(files fstest.MapFS) (n int) {
		for _, f := range findings(t, files, name, asked(d.Code)) {
			require.NotEqual(t, source.Error, f.Severity, "the fix of %+v breaks %s: %+v\n%s", d, name, f, files[name].Data)
			if f.Code == d.Code {
				n++
			}
		}
		return n
	}
	before := count(files)
	fix, text := d.Fixes[0], string(files[name].Data)
	mended := fstest.MapFS{}
	for file, f := range files {
		mended[file] = f
	}
	mended[name] = &fstest.MapFile{Data: []byte(text[:fix.Span.Start] + fix.Text + text[fix.Span.End:])}
	require.Less(t, count(mended), before, "%s: %+v\n%s", name, d, mended[name].Data)
}
