package spec_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/lang/format"
	"github.com/patchoptic/poptic/spec/block"
)

// odd are source files that are spelled in odd ways on purpose.
var odd = []string{"../internal/syntax/testdata/constructs.poptic", "../internal/syntax/testdata/constructs_test.poptic"}

// TestSourceFilesAreInCanonicalForm holds the project's own source files to the form that
// its formatter gives them. POPTIC_UPDATE=1 puts them in it.
func TestSourceFilesAreInCanonicalForm(t *testing.T) {
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".poptic" || slices.Contains(odd, filepath.ToSlash(name)) {
			return err
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		form, ok := canonical(t, name, string(text))
		if ok && form != string(text) && os.Getenv("POPTIC_UPDATE") != "" {
			return os.WriteFile(name, []byte(form), 0o644)
		}
		if ok {
			require.Equal(t, form, string(text), name)
		}
		return nil
	})
	require.NoError(t, err)
	for _, name := range odd {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		form, ok := canonical(t, name, string(text))
		require.True(t, ok)
		require.NotEqual(t, form, string(text), "%s is an exception for nothing", name)
	}
}

// TestSourceShownIsInCanonicalForm holds what the specification shows to it, but for what is
// shown as not being in it.
func TestSourceShownIsInCanonicalForm(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		written := string(text)
		for _, b := range block.Parse(page, written) {
			if b.Language != "poptic" || b.Has("unformatted") {
				continue
			}
			form, ok := canonicalBlock(t, b)
			if ok && form != b.Text && os.Getenv("POPTIC_UPDATE") != "" {
				written = strings.Replace(written, "\n"+b.Text+"```", "\n"+form+"```", 1)
				continue
			}
			if ok {
				require.Equal(t, form, b.Text, "%s:%d", b.File, b.Line)
			}
		}
		if written != string(text) {
			require.NoError(t, os.WriteFile(page, []byte(written), 0o644))
		}
	}
}

// canonicalBlock is the form of a block, which may lack the header of a contract.
func canonicalBlock(t *testing.T, b block.Block) (string, bool) {
	const header = "contract added\n\n"
	if parsed(b.Text).Header != nil {
		return canonical(t, b.File, b.Text)
	}
	form, ok := canonical(t, b.File, header+b.Text)
	return strings.TrimPrefix(form, header), ok
}

// canonical is the form of a text, if it has no mistakes.
func canonical(t *testing.T, name, text string) (string, bool) {
	t.Helper()
	form, err := format.Source(name, []byte(text))
	var mistaken *format.Error
	if errors.As(err, &mistaken) {
		return "", false
	}
	require.NoError(t, err)
	return string(form), true
}

// TestTheFormShownIsTheFormOfWhatIsShownBeforeIt runs the blocks that show what the formatter does.
func TestTheFormShownIsTheFormOfWhatIsShownBeforeIt(t *testing.T) {
	shown := 0
	for _, page := range pages(t) {
		blocks, err := block.Read(page)
		require.NoError(t, err)
		for i, b := range blocks {
			if b.Language != "poptic" || !b.Has("unformatted") {
				continue
			}
			require.Less(t, i+1, len(blocks))
			form, ok := canonicalBlock(t, b)
			require.True(t, ok, "%s:%d", b.File, b.Line)
			require.Equal(t, form, blocks[i+1].Text, "%s:%d", b.File, b.Line)
			shown++
		}
	}
	require.Positive(t, shown)
}

func TestTheFormOfAContractCompilesToTheSame(t *testing.T) {
	for _, text := range []string{
		"contract c state{b:int a:int where{self>0}where \"x\"{ self<9 }}\nphases{x->y when{state.a>1&&\n\n   state.a<5}y}\ninvariant i{state.a!=3||\n''' \n '''!=\"\"}\n" +
			"stage s{in x  read(/a,/b)except(/b)  write /a next y}stage t { in x read /a }\nprove no flow from(/b,/b)to /a&/a\nprove t commutes with t # why\nparallel p=t|t",
		"contract c\nstate {\n  a: int where {\n\n    self > 0 // }\n    && self < 9\n  } # kept\n\n\n  b: { *: int }\n}\n# one\n#   two\n\n# three\nstage s(\n  v: int) { read /a write /a\n ensure \"m\"\n  {after.a\n  ==v}}",
	} {
		form, ok := canonical(t, "block.poptic", text)
		require.True(t, ok)
		require.NotEqual(t, text, form)
		require.Equal(t, encoded(t, text), encoded(t, form), form)
	}
	contracts, err := filepath.Glob("../examples/*/contract.poptic")
	require.NoError(t, err)
	for _, name := range contracts {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		dense := regexp.MustCompile(`(?m)^ +|  +`).ReplaceAllString(string(text), " ")
		require.Equal(t, encoded(t, string(text)), encoded(t, dense), name)
	}
}

// encoded is what a contract compiles to.
func encoded(t *testing.T, text string) string {
	t.Helper()
	files := fstest.MapFS{"block.poptic": {Data: []byte(text)}}
	out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: "block.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Lowered, listed(out.Diagnostics))
	return string(ir.Encode(out.Lowered))
}
