// Package stdlib holds the libraries that every contract may import: a file
// NAME.poptic here is `import "std/NAME"` in a contract.
//
// The libraries are ordinary Poptic source. They give names to constraints that
// recur in states read and written by language models; the functions their
// `where` clauses call are implemented by the expression language itself.
package stdlib

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

// FS holds every library, at the root: pii.poptic is "std/pii".
//
//go:embed money.poptic pii.poptic text.poptic time.poptic
var FS embed.FS

// extension ends the name of every source file.
const extension = ".poptic"

// Names lists the libraries in ascending order, as an import names them after "std/".
func Names() []string {
	files, err := fs.Glob(FS, "*"+extension)
	if err != nil {
		panic("stdlib: a constant pattern is well formed: " + err.Error())
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(path.Base(file), extension)
	}
	return files
}
