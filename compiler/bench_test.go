package compiler_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
)

// What an editor does at a keystroke and after it.
func BenchmarkRecompile(b *testing.B) {
	in := compiler.Input{FS: examples.FS, Path: "clinical/contract.poptic"}
	cached := in
	cached.Cache, cached.LeaveClaims = &compiler.Cache{}, true
	for name, in := range map[string]compiler.Input{"whole": in, "cached, without claims": cached} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := compiler.Compile(b.Context(), in)
				require.NoError(b, err)
			}
		})
	}
	b.Run("symbols", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			out, err := compiler.Compile(b.Context(), cached)
			require.NoError(b, err)
			b.StartTimer()
			require.NotEmpty(b, out.Symbols().Uses)
		}
	})
}
