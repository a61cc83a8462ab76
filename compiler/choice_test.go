package compiler_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInASealedContractAStageThatChoosesWhatItIsShownIsWarnedOf(t *testing.T) {
	const state = `
state {
  c: string  at: { c: string  n: int }  m: map of { t: string  n: int }  o: map of int
  cases: map of { m: key of /m  n: int }  l: list of { id: string  m: key of /m } by id  v: any  say: log of string
}
`
	warned := func(header, stage string) (out bool) {
		for _, d := range compile(header + state + stage).Diagnostics {
			switch d.Code {
			case "chosen_view":
				require.NotEmpty(t, d.Help)
				out = true
			case "undisclosed_gate": // only what is shown is asked for
			default:
				require.NotEqual(t, "error", d.Severity.String(), "%s: %s %s", stage, d.Code, d.Message)
			}
		}
		return out
	}
	for _, stage := range []string{
		`stage s(r = /c) { read /c, /m/{r}  write /c }`,
		`stage s(r = /at/c) { read /at, /m/{r}/t  write /at }`,
		`stage s(r = /at/c) { read /at, /o/{r}  write /at/* }`,
		`stage s(x in /cases, r = /cases/{x}/m) { read /cases/{x}, /m/{r}  write /cases/{x} }`,
		`stage s(x in /cases, r = /cases/{x}/m) { read /cases, /m/{r}  write /cases/*/m }`,
		`stage s(x in /cases, y in /cases, r = /cases/{x}/m) { read /cases/{y}, /m/{r}  write /cases/{y}/m }`,
		`stage s(x in /l, r = /l/{x}/m) { read /l/{x}, /m/{r}/n  write /l/{x}/m }`,
		`stage s(r = /c) { read /c, /m except /m/{r}  write /c }`,
		`stage s(r = /c) { read /c, /m/*/n, /m/{r}/t  write /c }`,
		`stage s(r = /c, q = /cases/{r}/m) { read /c, /m/{q}  write /c }`,
		`stage s(r = /v/c) { read /v/c, /o/{r}  write /v/c }`,
		"stage s(r = /c) { read /c, /m  write /c }\ndelegate d from s { read /c, /m/{r} }",
	} {
		require.True(t, warned("contract c sealed", stage), stage)
		require.False(t, warned("contract c", stage), "equal views are promised of sealed contracts")
	}
	for _, stage := range []string{
		`stage s(r = /c) { read /c, /m/{r}  write /m/{r}/n }`,
		`stage s(r = /c) { read /c, /m  write /c }`,
		`stage s(r = /c) { read /c, /m/*/n, /m/{r}/n  write /c }`,
		`stage s(r = /at/c) { read /at/n, /m/{r}  write /at/n }`,
		`stage s(r = /at/c) { read /at, /m/{r}  write /at except /at/c }`,
		`stage s(x in /cases, r = /cases/{x}/m) { read /cases/{x}, /m/{r}  write /cases/{x}/n, /m/{r}/n }`,
		`stage s(x in /cases, y new in /cases, r = /cases/{x}/m) { read /cases/{x}, /m/{r}  write /cases/{y} }`,
		`stage s(x in /m) { read /m/{x}, /c  write /m/{x}, /c }`,
		`stage s(r = /c) { read /c  write /c }`,
		`stage s(r = /c) { read /c, /m/{r}  write /say/- }`,
	} {
		require.False(t, warned("contract c sealed", stage), stage)
	}
}
