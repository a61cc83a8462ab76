// Package poptic makes a contract's source ready to run, in one call. It links the compiler
// and the runtime; a program that carries the compiled form links package runtime alone.
package poptic

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/runtime"
)

// Load compiles the contract in a file of fsys, which its imports never leave, and loads it within
// the default limits: what compiler.Compile and runtime.Load do. path is slash-separated.
// A *SourceError says what is wrong with the source, a claim that is not proved among it. Other
// errors are the context's, and those of runtime.Load. Warnings are not told. Cost: that of
// compiling; load a contract once, and share it.
func Load(ctx context.Context, fsys fs.FS, path string) (*runtime.Contract, error) {
	out, err := compiler.Compile(ctx, compiler.Input{FS: fsys, Path: path})
	if err != nil {
		return nil, err
	}
	compiled, ok := out.Compiled()
	if !ok {
		return nil, &SourceError{path, out.Diagnostics}
	}
	return runtime.Load(compiled)
}

// A SourceError says why a file holds no contract that can run.
type SourceError struct {
	Path        string
	Diagnostics []source.Diagnostic // sorted; of a library or a test file, none has to be an error
}

// Error shows every finding with its place, as report.Text does.
func (e *SourceError) Error() string {
	if !source.HasErrors(e.Diagnostics) {
		return fmt.Sprintf("%s is no contract that can run: a library, or tests", e.Path)
	}
	var text strings.Builder
	report.Text(&text, e.Diagnostics, report.Options{})
	return strings.TrimSuffix(text.String(), "\n")
}
