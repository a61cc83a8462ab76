package tree

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func problemsOf(t *testing.T, text string) []string {
	t.Helper()
	patch, problems := ParsePatch([]byte(text), DefaultPatchLimits)
	require.True(t, patch == nil || problems == nil)
	if n, err := Parse([]byte(text), DefaultPatchLimits.Limits); err == nil {
		_, same := PatchOf(n, DefaultPatchLimits)
		require.Equal(t, same, problems, "a patch read from text and from a value")
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, fmt.Sprintf("%d %s %q %s | %s", p.Index, p.Code, p.Path, p.Message, p.Hint))
	}
	return lines
}

func TestAllShapeProblemsOfAPatchAreReportedInOrder(t *testing.T) {
	require.Equal(t, []string{
		`0 patch_syntax "" an operation is an object, not a number | `,
		`1 patch_syntax "/a" op is none of add, remove, replace, move, copy and test | did you mean "replace"?`,
		`2 patch_syntax "" the operation has no member op | `,
		`2 patch_syntax "" the operation has no member path | `,
		`3 pointer_syntax "a/b" a JSON Pointer is empty or begins with / | begin the path with /`,
		`3 patch_syntax "a/b" the add operation has no member value | a missing value is not null; write null if that is meant`,
		`4 patch_syntax "/a" the copy operation has no member from | `,
		`5 pointer_syntax "/~" ~ in a JSON Pointer is followed by 0 or 1 | write ~ in a name as ~0, / as ~1`,
		`6 patch_syntax "" the whole document cannot be removed | remove what is below it, or replace it`,
		`7 patch_syntax "" the member path is a string, not null | `,
		`8 patch_syntax "/a" the member op is a string, not a bool | `,
	}, problemsOf(t, `[1,
		{"op":"repalce","path":"/a","value":1},
		{},
		{"op":"add","path":"a/b"},
		{"op":"copy","path":"/a"},
		{"op":"move","path":"/a","from":"/~"},
		{"op":"remove","path":""},
		{"op":"test","path":null,"value":1},
		{"op":true,"path":"/a"},
		{"op":"add","path":"/fine","value":null}]`))
}

func TestAPatchThatIsNoArrayIsToldHowToBecomeOne(t *testing.T) {
	for text, want := range map[string]string{
		`"[{\"op\":\"remove\",\"path\":\"/a\"}]"`: `-1 patch_syntax "" a patch is an array of operations, not a string | the patch was sent as a JSON string; send the array itself`,
		`{"op":"remove","path":"/a"}`:             `-1 patch_syntax "" a patch is an array of operations, not an object | put the operation into an array`,
		`null`:                                    `-1 patch_syntax "" a patch is an array of operations, not null | `,
		"```json\n[]\n```":                        `-1 patch_syntax "" the patch: the text is not JSON (byte 0) | send the JSON array of operations and nothing else`,
		``:                                        `-1 patch_syntax "" the patch: the text is empty (byte 0) | `,
		`[{"op":"add","path":"/a","value":{"x":1,"x":2}}]`: `0 duplicate_key "" the patch: an object has two members of this name at /0/value/x (byte 40) | `,
		`[{"op":"add","path":"/a","value":1e5000}]`:        `0 limit_exceeded "" the patch: a number longer than 1024 characters or with an exponent beyond 1024 at /0/value (byte 39) | `,
	} {
		require.Equal(t, []string{want}, problemsOf(t, text), text)
	}
}

func TestTheLimitsOfAPatchHold(t *testing.T) {
	op := `{"op":"remove","path":"/a"}`
	limits := DefaultPatchLimits
	limits.MaxOps = 2
	_, problems := ParsePatch([]byte(`[`+op+`,`+op+`]`), limits)
	require.Empty(t, problems)
	_, problems = ParsePatch([]byte(`[`+op+`,`+op+`,`+op+`]`), limits)
	require.Len(t, problems, 1)
	require.Equal(t, CodeLimitExceeded, problems[0].Code)
	require.Equal(t, "limit_exceeded: the patch has more than 2 operations", problems[0].Error())
	_, problems = PatchOf(parsed(t, `[`+op+`]`), PatchLimits{Limits: Limits{MaxBytes: 10}})
	require.Equal(t, CodeLimitExceeded, problems[0].Code)
}

func TestAPatchWritesBackAsItWasRead(t *testing.T) {
	text := `[{"op":"add","path":"/a~1b","value":null},{"from":"/x","op":"move","path":"/y"},{"op":"remove","path":"/z"}]`
	require.Equal(t, text, patchOf(t, text).Node().String())
	require.Equal(t, `[{"from":"/a","op":"copy","path":"/b"}]`,
		patchOf(t, `[{"op":"copy","from":"/a","path":"/b","value":1,"comment":[]}]`).Node().String())
}

func TestMisspelledOperationsGetTheNearestName(t *testing.T) {
	for name, want := range map[string]string{
		"Replace": "replace", "ADD": "add", "delete": "", "remvoe": "remove", "tset": "test", "moves": "move",
		"copu": "copy", "x": "", "": "", strings.Repeat("add", 20): "",
	} {
		hint := nearestOp(name)
		if want == "" {
			require.Empty(t, hint, name)
		} else {
			require.Equal(t, `did you mean "`+want+`"?`, hint)
		}
	}
}
