// Package spec_test executes what the specification shows: its code blocks, as
// spec/README.md says, and the verification cases of spec/conformance.
package spec_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/spec/block"
	contracttest "github.com/patchoptic/poptic/suite"
)

// pages lists the chapters of the specification.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("*.md")
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

func blocksOf(t *testing.T, language string) []block.Block {
	t.Helper()
	var out []block.Block
	for _, page := range pages(t) {
		blocks, err := block.Read(page)
		require.NoError(t, err)
		for _, b := range blocks {
			if b.Language == language {
				out = append(out, b)
			}
		}
	}
	require.NotEmpty(t, out, "the specification shows no %s", language)
	return out
}

func TestSourceShownIsJudgedAsItsFenceSays(t *testing.T) {
	blocks := blocksOf(t, "poptic")
	for _, b := range blocks {
		t.Run(fmt.Sprintf("%s:%d", b.File, b.Line), func(t *testing.T) {
			text := b.Text
			if b.Has("fragment") {
				text = completed(text, baseContract(t, blocks, b.File))
			}
			if b.Has("tests") {
				requirePassing(t, text)
				return
			}
			judge(t, b, compile(text))
		})
	}
}

// requirePassing runs a text as a test file.
func requirePassing(t *testing.T, text string) {
	t.Helper()
	files := fstest.MapFS{"block_test.poptic": {Data: []byte(text)}}
	tests, found, err := contracttest.Load(t.Context(), contracttest.Input{FS: files, Path: "block_test.poptic"})
	require.NoError(t, err)
	require.False(t, source.HasErrors(found), listed(found))
	result, err := tests.Run(t.Context(), contracttest.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, result.Tests)
	for _, test := range result.Tests {
		require.True(t, test.Passed, "%s: %+v", test.Name, test.Failures)
	}
}

func compile(text string) []source.Diagnostic {
	files := fstest.MapFS{"block.poptic": {Data: []byte(text)}}
	out, _ := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: "block.poptic"})
	return out.Diagnostics
}

// judge compares what the compiler found with what the fence of b announces.
func judge(t *testing.T, b block.Block, found []source.Diagnostic) {
	t.Helper()
	errors, warnings := codes(found, source.Error), codes(found, source.Warning)
	if code := b.Value("error"); code != "" {
		require.Equal(t, []string{code}, slices.Compact(errors), listed(found))
		return
	}
	require.Empty(t, errors, listed(found))
	if code := b.Value("warning"); code != "" {
		require.Contains(t, warnings, code, listed(found))
	}
}

func codes(ds []source.Diagnostic, severity source.Severity) []string {
	var out []string
	for _, d := range ds {
		if d.Severity == severity {
			out = append(out, d.Code)
		}
	}
	return out
}

func listed(ds []source.Diagnostic) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "line %d: %s: %s (%s)\n", d.Span.File.Position(d.Span.Start).Line, d.Code, d.Message, d.Help)
	}
	return b.String()
}

// baseContract is the block that the fragments of a page are completed from: the page's own
// base, or else that of the index.
func baseContract(t *testing.T, blocks []block.Block, page string) string {
	t.Helper()
	for _, file := range []string{page, "README.md"} {
		for _, b := range blocks {
			if b.Has("base") && b.File == file {
				return b.Text
			}
		}
	}
	require.Fail(t, "no block is the base of fragments")
	return ""
}

// completed adds the declarations of base that a fragment does not make itself.
func completed(fragment, base string) string {
	declared := map[string]bool{}
	for _, d := range parsed(fragment).Decls {
		declared[declarationKey(d)] = true
	}
	tree := parsed(base)
	text := tree.Header.Span.Text() + "\n" + fragment
	for _, d := range tree.Decls {
		if !declared[declarationKey(d)] {
			text += "\n" + d.GetSpan().Text()
		}
	}
	return text
}

func parsed(text string) *syntax.File {
	tree, _ := syntax.Parse(source.NewFile("block.poptic", text))
	return tree
}

// declarationKey tells declarations that replace each other: those of one name, and the state.
func declarationKey(d syntax.Decl) string {
	return fmt.Sprintf("%T %s", d, d.DeclName().Text)
}

func TestSessionsShownGiveTheOutputShown(t *testing.T) {
	bin := t.TempDir()
	out, err := exec.Command("go", "build", "-o", bin, "../cmd/poptic").CombinedOutput()
	require.NoError(t, err, string(out))
	for _, page := range pages(t) {
		blocks, err := block.Read(page)
		require.NoError(t, err)
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(filepath.Join(dir, "conformance"), os.DirFS("conformance")))
		for _, s := range block.Sessions(blocks) {
			output, exit, err := s.Run(context.Background(), dir, bin)
			require.NoError(t, err)
			require.Equal(t, s.Exit, exit, "%s:%d exits otherwise; it wrote:\n%s", s.File, s.Line, output)
			if s.Shown {
				require.Equal(t, s.Output, output, "%s:%d", s.File, s.Line)
			}
		}
	}
}
