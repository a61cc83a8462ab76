package replay_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/verify"
)

// Rules over entries are asked of an entry from when it comes, also where they look at
// nothing of it.

const containersOfEntries = `
state { m: map of int  mm: map of map of int  kl: list of { k: string } by k  r: map of { o?: int }
        lg: log of int  st: set of int  li: list of int  u: map of ({ t: "x" } | { t: "y"  z: int })  v: int }
`

// comings are rules that fail once an entry comes, with the operation that adds it.
var comings = []struct{ rule, coming string }{
	{`each e in /m/* { state.v <= 3 }`, `{"op":"add","path":"/m/k","value":1}`},
	{`each e in /m/* { state.v <= 3 }`, `{"op":"replace","path":"/m","value":{"k":1}}`},
	{`each e in /m/* { false }`, `{"op":"add","path":"/m/k","value":1}`},
	{`each e in /m/* { phase != "main" }`, `{"op":"add","path":"/m/k","value":1}`},
	{`each e in /m/* { e < 9 && state.v <= 3 }`, `{"op":"add","path":"/m/k","value":1}`},
	{`{ state.m.all(k, k.startsWith("t")) }`, `{"op":"add","path":"/m/k","value":1}`},
	{`{ state.m.all(k, state.v <= 3) }`, `{"op":"add","path":"/m/k","value":1}`},
	{`{ state.m.all(k, x, state.v <= 3) }`, `{"op":"add","path":"/m/k","value":1}`},
	{`{ state.m.all(k, state.m[k] < 9 && state.v <= 3) }`, `{"op":"add","path":"/m/k","value":1}`},
	{`{ !state.m.exists(k, state.v > 3) }`, `{"op":"add","path":"/m/k","value":1}`},
	{`{ state.v <= 3 || state.m.all(k, false) }`, `{"op":"add","path":"/m/k","value":1}`},
	{`{ state.m.all(k, false) }`, `{"op":"copy","from":"/v","path":"/m/k"}`},
	{`each e in /mm/*/* { state.v <= 3 }`, `{"op":"add","path":"/mm/a/k","value":1}`},
	{`each e in /mm/*/* { state.v <= 3 }`, `{"op":"add","path":"/mm/b","value":{"k":1}}`},
	{`{ state.mm.all(k, state.mm[k].all(j, state.v <= 3)) }`, `{"op":"add","path":"/mm/a/k","value":1}`},
	{`{ state.mm.all(k, state.mm[k].all(j, k == j)) }`, `{"op":"add","path":"/mm/a/k","value":1}`},
	{`each e in /kl/* { state.v <= 3 }`, `{"op":"add","path":"/kl/k","value":{"k":"k"}}`},
	{`each e in /r/*/o { state.v <= 3 }`, `{"op":"add","path":"/r/a/o","value":1}`},
	{`each e in /u/*/z { state.v <= 3 }`, `{"op":"add","path":"/u/k","value":{"t":"y","z":1}}`},
	{`each e in /lg/* { state.v <= 3 }`, `{"op":"add","path":"/lg/-","value":1}`},
	{`each e in /st/* { state.v <= 3 }`, `{"op":"add","path":"/st/-","value":1}`},
	{`{ state.li.all(x, state.v <= 3) }`, `{"op":"add","path":"/li/0","value":1}`},
	{`each e in /mm/*/k { state.v <= 3 }`, `{"op":"add","path":"/mm/b","value":{"k":1}}`},
}

func TestARuleIsAskedOfAnEntryThatComesWhateverItLooksAt(t *testing.T) {
	ctx := context.Background()
	for _, c := range comings {
		text := "contract c\nphases { main -> end by host  end }" + containersOfEntries + "invariant i " + c.rule + "\n" +
			"stage s { in main  read /**  source /v  write /m, /mm, /kl, /r, /lg, /st, /li, /u }\n"
		p, err := verify.Load(compile(t, text, nil).Lowered, verify.DefaultLimits())
		require.NoError(t, err, c.rule)
		n, err := p.Import([]byte(`{"m":{},"mm":{"a":{}},"kl":[],"r":{"a":{}},"lg":[],"st":[],"li":[],"u":{},"v":9}`))
		require.NoError(t, err)
		require.Empty(t, p.CheckAll(ctx, n, "main"), c.rule)
		out, err := p.Verify(ctx, verify.Snapshot{State: n, Phase: "main", Version: 1}, verify.Proposal{Stage: "s", Patch: []byte("[" + c.coming + "]")})
		require.NoError(t, err)
		require.Equal(t, verify.Reject, out.Verdict.Verdict, "%s after %s", c.rule, c.coming)
		require.Equal(t, "invariant i", out.Verdict.Violations[0].Rule, c.rule)
	}
}

func TestAnEntryThatComesMayKeepARuleThatAnotherStageBreaks(t *testing.T) {
	for _, rule := range []string{
		`each e in /m/* { state.v <= 3 }`, `each e in /m/* { e < 9 && state.v <= 3 }`, `{ state.m.all(k, state.v <= 3) }`,
		`{ state.m.all(k, k == "zz" || state.v <= 3) }`, `{ !state.m.exists(k, state.v > 3) }`,
		`{ state.mm.all(k, state.mm[k].all(j, state.v <= 3)) }`, `each e in /r/*/o { state.v <= 3 }`,
		`each e in /kl/* { state.v <= 3 }`, `each e in /lg/* { state.v <= 3 }`,
	} {
		out := compile(t, "contract c"+containersOfEntries+"invariant i "+rule+`
stage a { read /v  write /v }
stage b { read /m, /mm, /kl, /r, /lg  write /m, /mm, /kl, /r, /lg }
prove a commutes with b
`, nil)
		require.Len(t, out.Results, 1, "%s: %+v", rule, out.Diagnostics)
		_, proved := out.Results[0].(footprint.Proved)
		require.False(t, proved, rule)
	}
}

func TestWhichHiddenEntriesThereAreIsPartOfWhatARuleReads(t *testing.T) {
	for _, rule := range []string{
		`each e in /m/* { state.v <= 3 }`, `each e in /mm/*/* { state.v <= 3 }`, `{ state.m.all(k, state.v <= 3) }`,
		`each e in /r/*/o { state.v <= 3 || state.v > 7 }`, `each e in /li/* { state.v <= 3 }`,
	} {
		codes, _, _ := findings("contract c sealed" + containersOfEntries + "invariant i " + rule + "\nstage s { read /v  write /v }\n")
		require.Equal(t, []string{"undisclosed_gate"}, codes, rule)
	}
	r := enter(t, "contract c"+containersOfEntries+"invariant i each e in /m/* { state.v <= 3 }\nstage s { read /v  write /v }\n", "s")
	r.requireOneReply(`[{"op":"replace","path":"/v","value":9}]`,
		`{"m":{"a":1},"mm":{},"kl":[],"r":{},"lg":[],"st":[],"li":[],"u":{},"v":1}`,
		`{"m":{"a":1,"b":2},"mm":{},"kl":[],"r":{},"lg":[],"st":[],"li":[],"u":{},"v":1}`)
}
