package lint

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/region"
)

func programOf(t *testing.T, text string) *program {
	files := fstest.MapFS{"c.poptic": {Data: []byte(text)}}
	out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: "c.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Lowered, "%v", out.Diagnostics)
	return newProgram(context.Background(), Input{Output: out, FS: files, Path: "c.poptic"})
}

func TestWhatAStageReadsItselfTakesNoDecision(t *testing.T) {
	for name, stage := range map[string]string{
		"as it is written":    "read /m/{k}/v%d  write /m/{k}/v%[1]d",
		"above":               "read /m/{k}  write /m/{k}/v%d",
		"by another key":      "read /m/*/v%d  write /m/{k}/v%[1]d",
		"with all the others": "read /m  write /m/{k}/(v%d|w)",
	} {
		var out strings.Builder
		out.WriteString("contract c\nstate { m: map of T }\ntype T {\n  w: int\n")
		for i := range 100 {
			fmt.Fprintf(&out, "  v%d: int\n", i)
		}
		out.WriteString("}\n")
		for i := range 100 {
			fmt.Fprintf(&out, "stage s%d(k in /m) { "+stage+" }\n", i, i)
		}
		p := programOf(t, out.String())
		require.Empty(t, unreadWrites(p), name)
		require.Zero(t, p.asks, name)
	}
}

func TestWhatIsCoveredBySpellingMeets(t *testing.T) {
	segment := []string{"/a", "/b", "/*", "/{k}", "/c"}
	p := programOf(t, "contract c\nstate { a: map of T  b: map of T  c: map of T }\ntype T { a: map of int  b: map of int  c: map of int }\nstage s { read /a }")
	var all []region.Pattern
	for _, x := range segment {
		for _, y := range append(segment, "") {
			for _, z := range append(segment, "") {
				text := x + y + z
				q, err := region.ParsePattern(text)
				if err == nil && p.model.Possible(anyArgs(region.Region{{Include: []region.Pattern{q}}})[0].Include[0]) {
					all = append(all, q)
				}
			}
		}
	}
	covered := 0
	for _, held := range all {
		for _, q := range all {
			f, r := &filing{}, region.Region{{Include: []region.Pattern{q}}}
			f.add(region.Region{{Include: []region.Pattern{held}}}, 0)
			if f.covers(r) {
				covered++
				require.True(t, p.meet(r, f.region(footprint.Includes(r))) || p.asks > maxDecisions, "%s, %s", held, q)
			}
		}
	}
	require.Greater(t, covered, 100)
}
