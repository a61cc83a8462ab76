package compiler_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func reserved(t *testing.T, text, stage string) []string {
	t.Helper()
	out := compile(text)
	require.NotNil(t, out.Contract, "%+v", out.Diagnostics)
	return out.Contract.Stage(stage).Params[0].Reserved
}

func TestAParameterNeverTakesAKeyThatAPatternNamesAtAnyDepth(t *testing.T) {
	require.Equal(t, []string{"a"}, reserved(t, `contract c
state { m: map of E }
type E { a: int }
stage s(k in /m) { read /m/{k} }
stage t { read /m write /m/**/a }
`, "s"))
}

func TestAParameterNeverTakesAKeyThatAConstraintNames(t *testing.T) {
	require.Equal(t, []string{"a", "b"}, reserved(t, `contract c
state { m: (map of int) where { !has(self.a) || !has(self.b) || self.a < self.b } }
stage s(k in /m) { read /m write /m/{k} }
`, "s"))
}

func TestAKeyThatIsNamedElsewhereIsFree(t *testing.T) {
	require.Empty(t, reserved(t, `contract c
state { m: map of E  n: { x: int } }
type E { a: int }
stage s(k in /m) { read /m/{k}/a, /n/x }
`, "s"))
}

func TestADelegateAndItsParentNeverTakeTheKeysOfTheParent(t *testing.T) {
	text := `contract c
state { m: map of int  out: map of int }
stage s(k in /m) { read /m/{k}, /out/{k} write /out/{k} }
delegate d from s { read /m/{k} write /m/{k} }
delegate e from d { read /m/{k} }
stage t { read /out/x }
`
	text = strings.Replace(text, "write /out/{k} }", "write /m/{k}, /out/{k} }", 1)
	for _, stage := range []string{"s", "d", "e"} {
		require.Equal(t, []string{"x"}, reserved(t, text, stage), stage)
	}
}

func TestADelegatesOwnPatternsReserveNothingForItsParent(t *testing.T) {
	text := `contract c
state { m: map of E }
type E { a: int }
stage s(k in /m) { read /m/{k} write /m/{k} delegable /m/{k} }
delegate d from s { read /m/{k} write /m/{k} require { before.m["z"].a == 1 } }
`
	require.Equal(t, reserved(t, text, "s"), reserved(t, text, "d"))
}
