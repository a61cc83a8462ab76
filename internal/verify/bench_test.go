package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
)

// wideDesk is the desk with n tickets like T1.
func wideDesk(b testing.TB, n int) *run {
	var tickets strings.Builder
	for i := range n {
		fmt.Fprintf(&tickets, `"X%d": {"subject": "Subject", "status": "open", "customer": "C1", "labels": ["urgent"], "steps": ["ask", "wait"],
			"lines": [{"sku": "A", "count": 2}], "internal": "%s"},`, i, strings.Repeat("text ", 60))
	}
	return open(b, openDesk(b).p, strings.Replace(deskState, `"tickets": {`, `"tickets": {`+tickets.String(), 1))
}

const fiveOperations = `[
	{"op":"test","path":"/tickets/T1/status","value":"open"},
	{"op":"replace","path":"/tickets/T1/status","value":"waiting"},
	{"op":"add","path":"/tickets/T1/reply","value":"Soon."},
	{"op":"add","path":"/tickets/T1/labels/-","value":"seen"},
	{"op":"add","path":"/history/-","value":"answered"}]`

func benchmarkVerify(b *testing.B, want verify.Decision, patch string) {
	for _, n := range []int{2, 200, 20_000} {
		b.Run(fmt.Sprintf("tickets=%d", n), func(b *testing.B) {
			r := wideDesk(b, n)
			r.s.State.Digest() // remembered by a state, as that of a running instance is
			b.ReportAllocs()
			for b.Loop() {
				out, err := r.p.Verify(context.Background(), r.s, edit(patch))
				if err != nil || out.Verdict.Verdict != want {
					b.Fatal(err, out.Verdict)
				}
			}
		})
	}
}

func BenchmarkCommitOfFiveOperations(b *testing.B) { benchmarkVerify(b, verify.Commit, fiveOperations) }

func BenchmarkRejectOfAWriteOutside(b *testing.B) {
	benchmarkVerify(b, verify.Reject, strings.Replace(fiveOperations, "/history/-", "/budget", 1))
}

func BenchmarkActorsRendering(b *testing.B) {
	r := wideDesk(b, 20_000)
	r.s.State.Digest()
	b.ReportAllocs()
	for b.Loop() {
		out, err := r.p.Verify(context.Background(), r.s, edit(fiveOperations))
		if err != nil {
			b.Fatal(err)
		}
		out.Actor()
	}
}

func TestVerifyingCostsWhatThePatchTouches(t *testing.T) {
	cost := func(n int) float64 {
		r := wideDesk(t, n)
		return testing.AllocsPerRun(20, func() {
			out, err := r.p.Verify(context.Background(), r.s, edit(fiveOperations))
			require.NoError(t, err)
			require.Equal(t, verify.Commit, out.Verdict.Verdict)
		})
	}
	require.Less(t, cost(5_000), 1.5*cost(50))
}
