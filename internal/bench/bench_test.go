package bench_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// The workloads: a state of tickets of about 500 bytes each, in three sizes, and
// patches of five operations on two of them. Run with
//
//	go test -run '^$' -bench . -benchmem ./internal/bench
var workloads = []struct {
	name    string
	tickets int
}{{"1KB", 2}, {"100KB", 200}, {"10MB", 20_000}}

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

// program compiles the benchmark's contract.
func program(t testing.TB) *verify.Program {
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("testdata"), Path: "tickets.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	c, err := ir.Decode(ir.Encode(out.Contract))
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

func BenchmarkVerify(b *testing.B) {
	p := program(b)
	cases := []struct{ name, patch string }{{"legal", legalPatch}, {"illegal_write", illegalWrite}, {"hidden_source", hiddenSource}}
	for _, w := range workloads {
		s := snapshot(b, p, w.tickets)
		for _, c := range cases {
			b.Run(c.name+"/"+w.name, func(b *testing.B) { benchVerify(b, p, s, proposal("label", c.patch)) })
		}
	}
}

// BenchmarkVerifySum is BenchmarkVerify with a patch that changes what a sum over
// all tickets reads.
func BenchmarkVerifySum(b *testing.B) {
	p := program(b)
	patch := strings.Replace(legalPatch, `/tickets/T1/priority","value":4`, `/tickets/T1/amount","value":4`, 1)
	for _, w := range workloads {
		s := snapshot(b, p, w.tickets)
		b.Run(w.name, func(b *testing.B) { benchVerify(b, p, s, proposal("work", patch)) })
	}
}

// BenchmarkCommit goes from version to version, forward and back.
func BenchmarkCommit(b *testing.B) {
	p := program(b)
	for _, w := range workloads {
		s := snapshot(b, p, w.tickets)
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			patches := [...]string{legalPatch, backPatch(legalPatch)}
			for i := 0; b.Loop(); i++ {
				out, err := p.Verify(context.Background(), s, proposal("label", patches[i%2]))
				if err != nil || out.Verdict.Verdict != verify.Commit {
					b.Fatal(err, out.Verdict.Violations)
				}
				s = out.After
			}
		})
	}
}

func benchVerify(b *testing.B, p *verify.Program, s verify.Snapshot, pr verify.Proposal) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Verify(context.Background(), s, pr); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDecodePatch is what a rejected patch has to be measured against.
func BenchmarkDecodePatch(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := tree.ParsePatch([]byte(illegalWrite), tree.DefaultPatchLimits); len(problems) > 0 {
			b.Fatal(problems)
		}
	}
}

// BenchmarkNarrowView projects two tickets out of many.
func BenchmarkNarrowView(b *testing.B) {
	p := program(b)
	for _, w := range workloads {
		s := snapshot(b, p, w.tickets)
		b.Run(w.name, func(b *testing.B) {
			b.ReportAllocs()
			r := verify.ViewRequest{Stage: "label", Args: map[string]string{"a": "T0", "b": "T" + strconv.Itoa(w.tickets-1)}}
			for b.Loop() {
				if _, refused, err := p.View(context.Background(), s, r); err != nil || refused != nil {
					b.Fatal(err, refused)
				}
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		_, err := compiler.Compile(b.Context(), compiler.Input{FS: os.DirFS("testdata"), Path: "tickets.poptic"})
		require.NoError(b, err)
	}
}
