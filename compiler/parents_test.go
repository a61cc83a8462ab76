package compiler_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
)

// What a bound parameter was found below is there, whatever its type leaves open.
func TestAParameterProvesTheContainersThatItWasFoundBelow(t *testing.T) {
	for contract, missing := range map[string]string{
		`state { m?: { threads: map of { body: string  history: log of string } } }
stage s(to in /m/threads) { read /m/threads/{to}/body  write /m/threads/{to}/history/- }`: "",
		`state { m: { threads: map of { body: string  history: log of string } } | null }
stage s(to in /m/threads) { read /m/threads/{to}/body  write /m/threads/{to}/history/- }`: "",
		`state { m?: { threads: map of string  history: log of string } }
stage s(to in /m/threads) { read /m/threads/{to}  write /m/history/- }`: "",
		`state { m?: { threads: map of string  history?: log of string } }
stage s(to in /m/threads) { read /m/threads/{to}  write /m/history/- }`: "/m/history",
		`state { m?: { threads: map of { notes: map of string } } }
stage s(to in /m/threads, n new in /m/threads/{to}/notes) { write /m/threads/{to}/notes/{n} }`: "",
		`state { m?: { threads: map of { body: string  x?: { history: log of string } } } }
stage s(to in /m/threads) { read /m/threads/{to}/body  write /m/threads/{to}/x/history/- }`: "/m/threads/{to}/x",
		`state { m?: { current: string  history: log of string  threads: map of { history: log of string } } }
stage s(to = /m/current) { write /m/history/- }`: "",
		`state { m?: { current: string  threads: map of { history: log of string } } }
stage s(to = /m/current) { write /m/threads/{to}/history/- }`: "/m/threads/{to}",
		`state { current: key of /m/threads  m?: { threads: map of { history: log of string } } }
stage s(to = /current) { write /m/threads/{to}/history/- }`: "",
		`state { m?: { mine: list of string  history: log of string } }
stage s(to in /m/mine) { write /m/history/- }`: "",
		`state { m?: { mine: list of key of /m/threads  threads: map of { history: log of string } } }
stage s(to in /m/mine) { write /m/threads/{to}/history/- }`: "",
		`state { m?: { mine: list of string  threads: map of { history: log of string } } }
stage s(to in /m/mine) { write /m/threads/{to}/history/- }`: "/m/threads/{to}",
		`state { m?: { threads: map of int  history: log of string } }
stage s(to new in /m/threads) { write /m/history/- }`: "/m",
		`state { m: { threads: map of int  history: log of string } | { threads: map of int } }
stage s(to in /m/threads) { write /m/history/- }`: "/m",
	} {
		out, err := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte("contract c\n" + contract)}}, Path: "c.poptic"})
		require.NoError(t, err)
		found := ""
		for _, d := range out.Diagnostics {
			if d.Code == "parent_uncertain" {
				_, found, _ = strings.Cut(d.Message, "does not see it: ")
				found, _, _ = strings.Cut(found, " may be missing")
			}
		}
		require.Equal(t, missing, found, "%s\n%+v", contract, out.Diagnostics)
	}
}
