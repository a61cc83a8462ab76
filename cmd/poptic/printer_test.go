package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
)

func TestWrappedLinesKeepToTheWidthAndLoseNoWord(t *testing.T) {
	text := "the quick brown fox jumps over the lazy dog, naïvely and with an unreasonablylongwordinside"
	for width := 1; width <= utf8.RuneCountInString(text)+1; width++ {
		lines := wrap(text, width)
		require.Equal(t, strings.Fields(text), strings.Fields(strings.Join(lines, " ")))
		for _, l := range lines {
			if strings.Contains(l, " ") {
				require.LessOrEqual(t, utf8.RuneCountInString(l), width, "%q", l)
			}
		}
	}
}

func TestWrappingBreaksOnlyWhereItMust(t *testing.T) {
	require.Equal(t, []string{"one two", "three"}, wrap("one two three", 7))
	require.Equal(t, []string{"one two three"}, wrap("one two three", 13))
	require.Equal(t, []string{""}, wrap("", 10))
}

func TestFieldsAlignUnderTheirValue(t *testing.T) {
	var b strings.Builder
	p := printer{w: &b, width: 30}
	p.field("  ", 7, "rule", "a rule that is longer than a line")
	p.field("  ", 7, "hint", "")
	require.Equal(t, "  rule     a rule that is\n           longer than a line\n", b.String())
}

func TestColourIsThereOnlyWhenWanted(t *testing.T) {
	require.Equal(t, "<1;31>no", (&printer{colour: func(style, text string) string { return "<" + style + ">" + text }}).red("no"))
	require.Equal(t, "no", (&printer{}).red("no"))
}

func TestNamesAreListedAsASentenceDoes(t *testing.T) {
	require.Equal(t, "", listed(nil, "or"))
	require.Equal(t, "a", listed([]string{"a"}, "or"))
	require.Equal(t, "a or b", listed([]string{"a", "b"}, "or"))
	require.Equal(t, "a, b or c", listed([]string{"a", "b", "c"}, "or"))
	require.Equal(t, []string{"no files", "1 file", "2 files"}, []string{plural(0, "file"), plural(1, "file"), plural(2, "file")})
}

func TestATerminalObeysNothingThatAnActorWrote(t *testing.T) {
	require.Equal(t, `/a\u001b[31m\u009b\u202e`+"\né日", visible("/a\x1b[31m\u009b\u202e\né日"))
	var out strings.Builder
	path := "/\x1b[2J"
	(&printer{w: &out, width: 80}).violation("", verify.Violation{Path: &path, Message: path, Rule: path, Hint: path})
	require.NotContains(t, out.String(), "\x1b")
	require.Equal(t, 4, strings.Count(out.String(), `/\u001b[2J`))
}
