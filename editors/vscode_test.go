package editors_test

import (
	"archive/zip"
	"encoding/json"
	"os"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the manifest names of files is looked for in the package that was made of it.
func TestThePackageForVisualStudioCodeHasWhatItsManifestNames(t *testing.T) {
	name := os.Getenv("POPTIC_VSIX")
	if name == "" {
		t.Skip("POPTIC_VSIX names no package")
	}
	pack, err := zip.OpenReader(name)
	require.NoError(t, err)
	defer pack.Close()
	var manifest struct {
		Main, Icon  string
		Contributes struct {
			Languages          []struct{ Configuration string }
			Grammars, Snippets []struct{ Path string }
		}
	}
	file, err := pack.Open("extension/package.json")
	require.NoError(t, err)
	require.NoError(t, json.NewDecoder(file).Decode(&manifest))

	files := []string{manifest.Main, manifest.Icon}
	for _, l := range manifest.Contributes.Languages {
		files = append(files, l.Configuration)
	}
	for _, part := range append(manifest.Contributes.Grammars, manifest.Contributes.Snippets...) {
		files = append(files, part.Path)
	}
	require.Len(t, files, 5)
	for _, file := range files {
		info, err := pack.Open(path.Join("extension", file))
		require.NoError(t, err, "%s", file)
		require.NoError(t, info.Close())
	}
}
