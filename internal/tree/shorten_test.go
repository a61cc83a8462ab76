package tree

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestALongTextIsCutAtACharacter(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("a", 100), strings.Repeat("é", 100), strings.Repeat("€", 100), strings.Repeat("😀", 100),
		strings.Repeat("/~0~1", 100), "short", "",
	} {
		for most := 3; most < 60; most++ {
			got := Shorten(text, most)
			require.LessOrEqual(t, len(got), most)
			require.True(t, utf8.ValidString(got), "%q", got)
			if len(text) <= most {
				require.Equal(t, text, got)
				continue
			}
			begin, cut := strings.CutSuffix(got, "…")
			require.True(t, cut && strings.HasPrefix(text, begin), "%q", got)
			require.GreaterOrEqual(t, len(begin), most-len("…")-4, "no more than a character is lost")
			require.False(t, strings.HasSuffix(begin, "~"), "an escape is not cut in two: %q", got)
		}
	}
}

func TestAPointerIsRefusedByItsLimitsBeforeItIsRead(t *testing.T) {
	limits := DefaultPatchLimits
	limits.MaxTokens, limits.MaxPointerBytes = 3, 12
	for pointer, fits := range map[string]bool{
		"/a/b/c": true, "": true, "///": true, "/abcdefghijk": true,
		"/a/b/c/d": false, "////": false, "/0/0/0/0": false, "/abcdefghijkl": false, "/ééééééé": false,
	} {
		for _, op := range []string{`{"op":"add","path":"` + pointer + `","value":1}`, `{"op":"copy","path":"","from":"` + pointer + `"}`} {
			_, problems := ParsePatch([]byte("["+op+"]"), limits)
			_, again := PatchOf(parsed(t, "["+op+"]"), limits)
			require.Equal(t, problems, again)
			require.Equal(t, fits, len(problems) == 0, "%s", op)
			if !fits {
				require.Equal(t, CodeLimitExceeded, problems[0].Code)
			}
		}
	}
}

func TestThePointersOfAPatchAreBoundedTogether(t *testing.T) {
	limits := DefaultPatchLimits
	limits.MaxPatchTokens = 6
	for patch, fits := range map[string]bool{
		`[{"op":"remove","path":"/a/b/c"},{"op":"test","path":"/a/b/c","value":1}]`:                                     true,
		`[{"op":"move","from":"/a/b/c","path":"/a/b/d"},{"op":"add","path":"","value":1}]`:                              true,
		`[{"op":"remove","path":"/a/b/c"},{"op":"test","path":"/a/b/c/d","value":1}]`:                                   false,
		`[{"op":"copy","from":"/a/b/c","path":"/a/b/c/d"}]`:                                                             false,
		`[{"op":"remove","path":"///"},{"op":"remove","path":"///"},{"op":"remove","path":"/"},{"op":"nop","path":""}]`: false,
	} {
		_, problems := ParsePatch([]byte(patch), limits)
		_, again := PatchOf(parsed(t, patch), limits)
		require.Equal(t, problems, again)
		if fits {
			require.Empty(t, problems, patch)
			continue
		}
		require.Equal(t, CodeLimitExceeded, problems[0].Code)
		require.Equal(t, WholePatch, problems[0].Index)
		require.Contains(t, problems[0].Message, "more than 6 tokens together")
		limits.MaxPatchTokens = 0
		_, problems = ParsePatch([]byte(patch), limits)
		require.LessOrEqual(t, len(problems), 1)
		limits.MaxPatchTokens = 6
	}
}

func TestWithoutALimitAPointerStillHasAnEnd(t *testing.T) {
	_, problems := ParsePatch([]byte(`[{"op":"remove","path":"`+strings.Repeat("/a", 4_000_000)+`"}]`), PatchLimits{})
	require.Len(t, problems, 1)
	require.Equal(t, CodeLimitExceeded, problems[0].Code)
	_, problems = ParsePatch([]byte(`[{"op":"remove","path":"/a/b"}]`), PatchLimits{})
	require.Empty(t, problems)
}
