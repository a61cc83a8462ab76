package compiler_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/footprint/replay"
	"github.com/patchoptic/poptic/compiler/ir"

	"testing/fstest"
)

// Work is counted in bytes allocated, which does not depend on the machine. The
// families are of a size at which what doubles, or is compared with everything,
// would be far beyond.
const (
	familySize  = 40
	familyBytes = 1 << 30
	familyGuard = 5 * time.Minute
)

func TestWhatEveryFamilyOfSourcesCostsIsBounded(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			text := f.write(familySize)
			done := make(chan compiler.Output, 1)
			before := allocated()
			go func() {
				done <- compiler.Compile(compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic", Replay: replay.New(replay.Options{})})
			}()
			select {
			case out := <-done:
				require.Less(t, allocated()-before, uint64(familyBytes))
				if out.Contract != nil {
					_, err := ir.Decode(ir.Encode(out.Contract))
					require.NoError(t, err)
				}
			case <-time.After(familyGuard):
				t.Fatal("it does not end")
			}
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestWhatIsTooLargeIsSaidAtItsPlace(t *testing.T) {
	for name, want := range map[string]finding{
		"types twice each":              {"limit_exceeded", "T17", "262144 places of a type"},
		"lists twice each":              {"limit_exceeded", "T11", "262144 places of a type"},
		"maps of maps":                  {"limit_exceeded", "T512", "512 levels of a type"},
		"regions twice each":            {"limit_exceeded", "r15", "65536 patterns of a region"},
		"parameters that are used":      {"limit_exceeded", "p33 in /m", "32 parameters of a stage"},
		"a stage in all phases":         {"limit_exceeded", "", "4096 moves of a stage"},
		"regions taken from themselves": {"inexact_region", "r", "no list of paths"},
		"unknown members":               {"too_many_mistakes", "", "400 more mistakes"},
		"hidden invariants and stages":  {"too_many_mistakes", "", "more findings"},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			n := 40
			if size, ok := map[string]int{"maps of maps": 520, "a stage in all phases": 70, "unknown members": 600}[name]; ok {
				n = size
			}
			for _, d := range compile(familyNamed(t, name).write(n)).Diagnostics {
				if d.Code == want.code {
					require.Contains(t, d.Span.Text(), want.at)
					said = append(said, d.Message)
					break
				}
			}
			require.Len(t, said, 1)
			require.Contains(t, said[0], want.says)
		})
	}
}

func familyNamed(t *testing.T, name string) family {
	for _, f := range families {
		if f.name == name {
			return f
		}
	}
	t.Fatalf("there is no family %q", name)
	return family{}
}
