package plan_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
)

var examples = []string{"support", "clinical", "release"}

func example(t *testing.T, name string) *ir.Contract {
	t.Helper()
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("../../examples/" + name), Path: "contract.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	return out.Contract
}

// requireGolden compares with a file of testdata; POPTIC_UPDATE=1 writes it.
func requireGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("POPTIC_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got), "%s; POPTIC_UPDATE=1 rewrites it", file)
}

func TestThePlansOfTheExamples(t *testing.T) {
	for _, name := range examples {
		var text, chart bytes.Buffer
		p := plan.Of(footprint.New(example(t, name)))
		p.Text(&text)
		p.Mermaid(&chart)
		requireGolden(t, name+".plan.txt", text.Bytes())
		requireGolden(t, name+".plan.mmd", chart.Bytes())
	}
}

func TestThePicturesOfTheExamples(t *testing.T) {
	for _, name := range examples {
		g := plan.Draw(footprint.New(example(t, name)))
		for _, format := range []string{"dot", "mermaid", "svg"} {
			got, err := g.Render(format)
			require.NoError(t, err)
			requireGolden(t, name+"."+format, got)
		}
	}
}

func TestPicturesAreWellFormed(t *testing.T) {
	for _, name := range examples {
		got, err := plan.Draw(footprint.New(example(t, name))).Render("svg")
		require.NoError(t, err)
		d := xml.NewDecoder(bytes.NewReader(got))
		for err == nil {
			_, err = d.Token()
		}
		require.Equal(t, io.EOF, err)
	}
}
