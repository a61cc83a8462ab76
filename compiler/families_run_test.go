package compiler_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

// Work is counted in bytes allocated, which does not depend on the machine. The
// families are of a size at which what doubles, or is compared with everything,
// would be far beyond.
const (
	familySize  = 40
	familyBytes = 3 << 29
	familyGuard = 5 * time.Minute
)

func TestWhatEveryFamilyOfSourcesCostsIsBounded(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			text := f.write(familySize)
			done := make(chan compiler.Output, 1)
			before := allocated()
			go func() {
				out, _ := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic", Replay: replay.New(replay.Options{})})
				done <- out
			}()
			select {
			case out := <-done:
				require.Less(t, allocated()-before, uint64(familyBytes))
				before = allocated()
				out.Symbols()
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

// A claim about many parameters has a conflict for each two of them, and all of those
// are to be looked at, written of, and replayed.
func TestAClaimAboutManyParametersIsAnsweredSoon(t *testing.T) {
	for name, code := range map[string]string{
		"as many parameters as there may be":                 "claim_refuted",
		"as many parameters under a rule that nothing keeps": "claim_unknown",
	} {
		t.Run(name, func(t *testing.T) {
			text := familyNamed(t, name).write(32)
			before := allocated()
			out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic", Replay: replay.New(replay.Options{})})
			require.NoError(t, err)
			require.Len(t, out.Diagnostics, 1)
			require.Equal(t, code, out.Diagnostics[0].Code)
			require.Less(t, len(out.Diagnostics[0].Help), 5000)
			require.Less(t, allocated()-before, uint64(familyBytes))
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
		"maps of maps":                  {"limit_exceeded", "T256", "256 levels of a type"},
		"regions twice each":            {"limit_exceeded", "r15", "65536 patterns of a region"},
		"parameters that are used":      {"limit_exceeded", "p33 in /m", "32 parameters of a stage"},
		"a stage in all phases":         {"limit_exceeded", "", "4096 moves of a stage"},
		"regions taken from themselves": {"inexact_region", "r", "no list of paths"},
		"invariants and stages":         {"limit_exceeded", "s", "65536 gates that stages trigger"},
		"unknown members":               {"too_many_mistakes", "", "400 more mistakes"},
		"hidden invariants and stages":  {"too_many_mistakes", "", "more findings"},
	} {
		t.Run(name, func(t *testing.T) {
			var said []string
			n := 40
			if size, ok := map[string]int{"maps of maps": 520, "a stage in all phases": 70, "unknown members": 600, "invariants and stages": 300}[name]; ok {
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

// At a thousand lines what goes with the square of the source, or worse, shows.
func TestAThousandLinesAreCompiledWithinBounds(t *testing.T) {
	for _, name := range []string{
		"regions taken from themselves", "regions without regions in a chain", "a long composition", "compositions within each other",
		"a composition of stages with parameters", "claims within one composition", "as many parameters at two depths",
	} {
		t.Run(name, func(t *testing.T) {
			text := familyNamed(t, name).write(1000)
			before := allocated()
			compile(text)
			require.Less(t, allocated()-before, uint64(familyBytes)*3/2)
		})
	}
}

func TestAChainOfRegionsThatEndsNowhereIsRefusedWithItsLimit(t *testing.T) {
	for _, name := range []string{"regions taken from themselves", "regions without regions in a chain"} {
		out := compile(familyNamed(t, name).write(1000))
		var said []string
		for _, d := range out.Diagnostics {
			if d.Code == "limit_exceeded" {
				said = append(said, d.Message)
			}
		}
		require.Len(t, said, 1, name)
		require.Contains(t, said[0], "steps of searches about the regions of a contract")
	}
}

// What these families cost grows with their size: nothing in them is compared with
// everything else. Twice the source may take a little more than twice the work.
func TestTheWorkGrowsWithTheSource(t *testing.T) {
	for _, name := range []string{
		"many constrained members", "a record of many secrets", "a record of many references",
		"a long read and write", "a long read with exceptions", "claims about all stages",
		"a flow through all", "a flow backwards", "stages that all commute", "few parameters in many stages",
	} {
		t.Run(name, func(t *testing.T) {
			work := func(n int) float64 {
				text := familyNamed(t, name).write(n)
				before := allocated()
				compile(text)
				return float64(allocated() - before)
			}
			work(100) // what is made once
			require.Less(t, work(400)/work(200), 2.9)
		})
	}
}

func TestLibrariesThatImportEachOtherTwiceEndAtALimit(t *testing.T) {
	for _, ways := range []int{1, 2, 3} {
		files := fstest.MapFS{"l0.poptic": {Data: []byte("library l0\ntype T = string\n")}}
		for i := 1; i <= 60; i++ {
			text := fmt.Sprintf("library l%d\ntype T = string\n", i)
			for w := range ways {
				text += fmt.Sprintf("import \"./l%d.poptic\" as a%d\n", i-1, w)
			}
			files[fmt.Sprintf("l%d.poptic", i)] = &fstest.MapFile{Data: []byte(text)}
		}
		files["c.poptic"] = &fstest.MapFile{Data: []byte("contract c\nimport \"./l60.poptic\" as l\nstate { a: l.T }\nstage s { read /a }\n")}
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic"})
		require.NoError(t, err)
		if ways == 1 {
			require.Empty(t, out.Diagnostics)
			continue
		}
		require.Len(t, out.Diagnostics, 1)
		require.Equal(t, "limit_exceeded", out.Diagnostics[0].Code)
		require.Contains(t, out.Diagnostics[0].Message, "65536 declarations of imported libraries")
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

// What stands in one group, or is handed down along one chain, is gone through once.
func TestLongGroupsAndChainsTakeNoMoreThanTheirLength(t *testing.T) {
	groups := func(of string) func(int) string {
		return inWorld(func(n int) string {
			return "region r = " + strings.ReplaceAll(of, "$", joined(n, "/m/k$i", ", ")) + "\nstage s { read r write /a }\n"
		})
	}
	for name, write := range map[string]func(int) string{
		"an exception of a group":       groups("/m except ($)"),
		"an exception in an exception":  groups("/m except (/m/x, $) except /m/y except ($)"),
		"an exception of a named group": inWorld(func(n int) string { return "region q = " + joined(n, "/m/k$i", ", ") + "\nregion r = /m except q\n" }),
	} {
		for _, d := range compile(write(3000)).Diagnostics {
			require.NotEqual(t, "limit_exceeded", d.Code, "%s: %s", name, d.Message)
		}
	}
	for _, f := range []family{familyNamed(t, "delegates of delegates"), familyNamed(t, "a long exception")} {
		before := allocated()
		compile(f.write(3000))
		require.Less(t, allocated()-before, uint64(familyBytes)/2, f.name)
	}
}
