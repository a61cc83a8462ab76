package bench_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/verify"
)

// The workloads: a state of tickets of about 500 bytes each, in four sizes, and
// patches of five operations on two of them. Run with
//
//	go test -run '^$' -bench . -benchmem ./internal/bench
var workloads = []struct {
	name    string
	tickets int
}{{"1KB", 2}, {"100KB", 200}, {"1MB", 2_000}, {"10MB", 20_000}}

// ticketState generates the state of n tickets; the same n gives the same bytes.
func ticketState(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"budget":100000000,"customers":{`)
	for i := range max(n/10, 1) {
		comma(&b, i)
		fmt.Fprintf(&b, `"C%d":{"name":"Customer number %d"}`, i, i)
	}
	b.WriteString(`},"tickets":{`)
	body := strings.Repeat("The parcel has not arrived and nobody answers. ", 6)
	for i := range n {
		comma(&b, i)
		fmt.Fprintf(&b, `"T%d":{"subject":"Parcel %d","body":%q,"status":"open","customer":"C%d","labels":["late","parcel"],"priority":%d,"amount":%d.5,"internal":"note %d"}`,
			i, i, body, i%max(n/10, 1), i%6, i%90, i)
	}
	b.WriteString(`}}`)
	return []byte(b.String())
}

func comma(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

const (
	legalPatch = `[{"op":"replace","path":"/tickets/T0/status","value":"solved"},
{"op":"add","path":"/tickets/T0/reply","value":"It is on its way."},
{"op":"add","path":"/tickets/T0/labels/-","value":"answered"},
{"op":"replace","path":"/tickets/T1/priority","value":4},
{"op":"replace","path":"/tickets/T1/status","value":"waiting"}]`
	illegalWrite = `[{"op":"replace","path":"/tickets/T0/status","value":"waiting"},
{"op":"replace","path":"/tickets/T0/priority","value":1},
{"op":"replace","path":"/tickets/T1/priority","value":2},
{"op":"replace","path":"/tickets/T1/status","value":"waiting"},
{"op":"replace","path":"/tickets/T1/body","value":"gone"}]`
	hiddenSource = `[{"op":"replace","path":"/tickets/T0/status","value":"waiting"},
{"op":"replace","path":"/tickets/T0/priority","value":1},
{"op":"replace","path":"/tickets/T1/priority","value":2},
{"op":"replace","path":"/tickets/T1/status","value":"waiting"},
{"op":"copy","from":"/tickets/T1/internal","path":"/tickets/T1/reply"}]`
)

// compiled is the benchmark's contract, compiled.
func compiled(t testing.TB) []byte {
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("testdata"), Path: "tickets.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	return ir.Encode(out.Contract)
}

func program(t testing.TB) *verify.Program {
	c, err := ir.Decode(compiled(t))
	require.NoError(t, err)
	p, err := verify.Load(c, verify.DefaultLimits())
	require.NoError(t, err)
	return p
}

func snapshot(t testing.TB, p *verify.Program, tickets int) verify.Snapshot {
	state, err := p.Import(ticketState(tickets))
	require.NoError(t, err)
	require.Empty(t, p.CheckAll(context.Background(), state, p.Contract().Phases[0].Name))
	state.Digest()
	return verify.Snapshot{State: state, Phase: p.Contract().Phases[0].Name, Version: 1}
}

func proposal(stage, patch string) verify.Proposal {
	return verify.Proposal{Stage: stage, Args: map[string]string{"a": "T0", "b": "T1"}, Patch: []byte(patch)}
}

func requireVerdict(t testing.TB, p *verify.Program, s verify.Snapshot, pr verify.Proposal, want, code string) {
	out, err := p.Verify(context.Background(), s, pr)
	require.NoError(t, err)
	require.EqualValues(t, want, out.Verdict.Verdict, "%+v", out.Verdict.Violations)
	if code != "" {
		require.EqualValues(t, code, out.Verdict.Violations[0].Code)
	}
}

func TestTheBenchmarkPatchesGetTheVerdictsTheyAreNamedAfter(t *testing.T) {
	p := program(t)
	s := snapshot(t, p, 20)
	for _, stage := range []string{"label", "work"} {
		requireVerdict(t, p, s, proposal(stage, legalPatch), "commit", "")
		requireVerdict(t, p, s, proposal(stage, illegalWrite), "reject", "patch_write_scope_violation")
		requireVerdict(t, p, s, proposal(stage, hiddenSource), "reject", "patch_read_scope_violation")
	}
}

// BenchmarkWork is what TestCostTable measures, one line for each group, contender and size.
func BenchmarkWork(b *testing.B) {
	p := program(b)
	for _, w := range workloads {
		for _, g := range newCosts(b, p, w.tickets).groups() {
			for _, c := range g.contenders {
				b.Run(g.name+"/"+c.name+"/"+w.name, func(b *testing.B) { benchmark(b, &c) })
			}
		}
	}
}

func benchmark(b *testing.B, c *contender) {
	b.ReportAllocs()
	for b.Loop() {
		if c.before != nil {
			b.StopTimer()
			c.before()
			b.StartTimer()
		}
		c.run()
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		_, err := compiler.Compile(b.Context(), compiler.Input{FS: os.DirFS("testdata"), Path: "tickets.poptic"})
		require.NoError(b, err)
	}
}
