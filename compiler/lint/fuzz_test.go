package lint_test

import (
	"context"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/lang/source"
)

// Whatever a contract and its tests are, the rules look at them without a panic, their
// findings lie in the files, and are the same a second time.
func FuzzFindings(f *testing.F) {
	archives, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(string(file.Data), "test \"t\" {\n  state {}\n  stage s\n  expect noop\n}\n")
		}
	}
	all, err := lint.ParseConfig("poptic.yaml", []byte("rules: {correctness: info, authority: info, concurrency: info, performance: info, clarity: info}"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, tests string) {
		files := fstest.MapFS{"c.poptic": {Data: []byte(text)}, "c_test.poptic": {Data: []byte(tests)}}
		look := func() []source.Diagnostic {
			out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: "c.poptic", LeaveClaims: true})
			if err != nil {
				t.Fatal(err)
			}
			found, err := lint.Findings(context.Background(), lint.Input{Output: out, FS: files, Path: "c.poptic", Config: all})
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		found, again := look(), look()
		if len(found) != len(again) {
			t.Fatalf("%d findings, then %d", len(found), len(again))
		}
		for i, d := range found {
			if d.Code != again[i].Code || d.Message != again[i].Message || d.Help != again[i].Help {
				t.Fatalf("%+v, then %+v", d, again[i])
			}
			if d.Span.IsZero() || d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(d.Span.File.Text) {
				t.Fatalf("%+v lies nowhere", d)
			}
		}
	})
}

func FuzzParseConfig(f *testing.F) {
	for _, text := range []string{"rules:\n  unused: off\n", "rules: [a]", "a: &a [*a]", "rules: {unused: {a: b}}", "\t", "? a\n: b"} {
		f.Add(text)
	}
	f.Fuzz(func(_ *testing.T, text string) { lint.ParseConfig("poptic.yaml", []byte(text)) })
}
