package replay_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The entries of a log have an order in the view and none in the state: a copy would have
// the one or the other.
func TestTheEntriesOfALogAreCopiedNowhere(t *testing.T) {
	r := enter(t, `contract c
state { k: map of log of string  l: list of string  e: map of { h: log of string }  s: set of string  o: any }
stage clerk { read /**  write /k, /l, /e, /s, /o  source /k, /l, /e, /s, /o }
`, "clerk")
	const state = `{"k":{"a":["z","b"]},"l":[],"e":{"x":{"h":["z","b"]}},"s":[],"o":{}}`
	for _, patch := range []string{
		`[{"op":"copy","from":"/k/a","path":"/l"}]`,
		`[{"op":"copy","from":"/k/a","path":"/k/b"}]`,
		`[{"op":"copy","from":"/k/a","path":"/s"}]`,
		`[{"op":"copy","from":"/k","path":"/o"}]`,
		`[{"op":"move","from":"/k/a","path":"/l"}]`,
		`[{"op":"copy","from":"/e/x","path":"/e/y"}]`,
		`[{"op":"copy","from":"/e/x/h","path":"/o/h"}]`,
		`[{"op":"copy","from":"/k/a/0","path":"/l/-"}]`,
		`[{"op":"add","path":"/k/c","value":["y","a"]},{"op":"copy","from":"/k/c","path":"/l"}]`,
	} {
		_, reply := r.told(state, patch)
		require.Contains(t, reply, `"code":"type_mismatch"`, patch)
	}
	_, reply := r.told(state, `[{"op":"test","path":"/k/a","value":["z","b"]},{"op":"test","path":"/k/a","value":["b","z"]},{"op":"add","path":"/l/-","value":"z"}]`)
	require.Contains(t, reply, `"verdict":"commit"`, "a log is tested as a whole, in any order")
}
