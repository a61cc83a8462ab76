package bench_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
)

// The workloads: a line of n stages, ten to a phase, of which the last moves on. They
// share one map, or have a map each. Run with
//
//	go test -run '^$' -bench OfStages -benchtime 5x ./internal/bench
//
// B/answer is what the verb prints.
var lines = []struct {
	name string
	text func(n int) string
}{{"oneMap", oneMap}, {"ownMaps", ownMaps}}

// phasesOf are the phases of n stages.
func phasesOf(n int) string {
	var b strings.Builder
	b.WriteString("phases {\n")
	for p := range n / 10 {
		fmt.Fprintf(&b, "  p%d", p)
		if p < n/10-1 {
			fmt.Fprintf(&b, " -> p%d", p+1)
		}
		b.WriteByte('\n')
	}
	b.WriteString("}\n")
	return b.String()
}

// inPhase are the clauses of the i-th of n stages that are about phases.
func inPhase(i, n int) string {
	if i%10 == 9 && i < n-1 {
		return fmt.Sprintf("in p%d  next p%d", i/10, i/10+1)
	}
	return fmt.Sprintf("in p%d", i/10)
}

// oneMap is a line over the items of one map: each stage has fields of its own and sees
// those of the one before; a rule is about every tenth.
func oneMap(n int) string {
	var types, stages strings.Builder
	for i := range n {
		fmt.Fprintf(&types, "  text%d: string\n  count%d: int\n", i, i)
		fmt.Fprintf(&stages, "stage s%d(item in /items) {\n  %s\n  read /items/{item}/(text%d|count%[1]d), /items/{item}/(text%[4]d|count%[4]d)\n  write /items/{item}/(text%[1]d|count%[1]d)\n  discloses rule%[5]d\n}\n", i, inPhase(i, n), i, max(i-1, 0), i/10)
		if i%10 == 0 {
			fmt.Fprintf(&stages, "invariant rule%d each x in /items/* \"counts of phase %[1]d\" { x.count%d >= 0 && x.count%d >= 0 }\n", i/10, i, i+9)
		}
	}
	return "contract line\nstate { items: map of Item }\ntype Item {\n" + types.String() + "  owner: secret string\n}\n" + phasesOf(n) + stages.String() + "prove no stage reads secrets\nprove s1 commutes with s4 when item differs\n"
}

// ownMaps is a line in which every stage works on a map of its own, and sees all of an
// item but its secrets.
func ownMaps(n int) string {
	var state, stages strings.Builder
	for i := range n {
		fmt.Fprintf(&state, "  items%d: map of Item\n", i)
		fmt.Fprintf(&stages, "stage s%d(item in /items%[1]d) {\n  %s\n  read /items%[1]d/{item} except secrets\n  write /items%[1]d/{item}/(text|count)\n}\n", i, inPhase(i, n))
	}
	return "contract line\nstate {\n" + state.String() + "}\ntype Item { text: string  count: int  owner: secret string  source: secret string }\n" + phasesOf(n) + stages.String() + "prove no stage reads secrets\nprove s1 commutes with s4\n"
}

func lineOf(t testing.TB, text string) *ir.Contract {
	out := checked(text)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	return out.Contract
}

func BenchmarkOfStages(b *testing.B) {
	for _, line := range lines {
		for _, n := range []int{100, 500, 1000} {
			text := line.text(n)
			c := lineOf(b, text)
			for _, verb := range []struct {
				name string
				run  func() int
			}{
				{"check", func() int { return len(ir.Encode(checked(text).Contract)) }},
				{"prove", func() int { return marshalled(explain.Prove(c, nil)) }},
				{"plan", func() int {
					var out bytes.Buffer
					plan.Of(footprint.Measured(c)).Text(&out)
					return out.Len()
				}},
				{"graph", func() int { return rendered(b, plan.Draw(footprint.Measured(c)).Fold(c), "svg") }},
			} {
				b.Run(fmt.Sprintf("%s/%s/%d", verb.name, line.name, n), func(b *testing.B) {
					size := 0
					for b.Loop() {
						size = verb.run()
					}
					b.ReportMetric(float64(size), "B/answer")
				})
			}
		}
	}
}

func marshalled(x any) int {
	data, _ := json.MarshalIndent(x, "", "  ")
	return len(data)
}

func rendered(b *testing.B, g plan.Graph, format string) int {
	data, err := g.Render(format)
	require.NoError(b, err)
	return len(data)
}
