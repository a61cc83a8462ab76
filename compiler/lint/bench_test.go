package lint_test

import (
	"context"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/examples"
)

// What the rules cost beside compiling.
func BenchmarkFindings(b *testing.B) {
	for _, name := range examples.Names() {
		files, err := fs.Sub(examples.FS, name)
		require.NoError(b, err)
		b.Run("compile "+name, func(b *testing.B) {
			for b.Loop() {
				_, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: "contract.poptic", LeaveClaims: true})
				require.NoError(b, err)
			}
		})
		b.Run("lint "+name, func(b *testing.B) {
			out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: "contract.poptic", LeaveClaims: true})
			require.NoError(b, err)
			for b.Loop() {
				_, err := lint.Findings(context.Background(), lint.Input{Output: out, FS: files, Path: "contract.poptic"})
				require.NoError(b, err)
			}
		})
	}
}
