package compiler_test

import (
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
