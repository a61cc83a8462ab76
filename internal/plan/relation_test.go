package plan_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/plan"
	"github.com/patchoptic/poptic/internal/region"
)

// crowded is a contract of n stages in each of some phases.
func crowded(n, phases int, stage string) string {
	var b strings.Builder
	b.WriteString("contract c\nstate { m: map of string }\nphases { ")
	names := make([]string, phases)
	for i := range phases {
		names[i] = fmt.Sprintf("p%d", i)
		fmt.Fprintf(&b, "%s -> p%d by host\n", names[i], i+1)
	}
	fmt.Fprintf(&b, "p%d }\n", phases)
	for i := range n {
		fmt.Fprintf(&b, "stage s%d { in %s %s }\n", i, strings.Join(names, ", "), strings.ReplaceAll(stage, "$i", fmt.Sprint(i)))
	}
	return b.String()
}

func TestThePairsThatAreRelatedAreLimited(t *testing.T) {
	for name, text := range map[string]string{
		"stages that share nothing": crowded(400, 1, "read /m/k$i write /m/k$i"),
		"stages in several phases":  crowded(200, 3, "read /m/k$i write /m/k$i"),
		"stages that only read":     crowded(300, 2, "read /m"),
	} {
		t.Run(name, func(t *testing.T) {
			m := footprint.Measured(compiled(t, text))
			n, all := 0, len(m.Contract.Stages)
			for _, p := range plan.Relations(m) {
				n += len(p.Relations)
				if p.Name != m.Contract.Phases[len(m.Contract.Phases)-1].Name {
					require.Equal(t, all, len(p.Stages)+len(p.LeftOut), "a stage is related or named as left out")
				}
			}
			require.LessOrEqual(t, n, plan.MaxPairs)
			require.Greater(t, n, plan.MaxPairs*9/10)

			last := fmt.Sprintf("s%d", all-1)
			require.Len(t, plan.Beside(m, last), all, "each stage can be asked about")

			var text bytes.Buffer
			plan.Of(m).Text(&text)
			require.Contains(t, text.String(), "beyond the limit of 32768 pairs of stages")
			require.NotZero(t, plan.Draw(m).LeftOut)
		})
	}
}

func TestWhatIsWithinTheLimitIsRelatedWholly(t *testing.T) {
	m := footprint.Measured(compiled(t, crowded(250, 1, "read /m/k$i write /m/k$i")))
	require.Empty(t, plan.Relations(m)[0].LeftOut)
	require.Zero(t, plan.Draw(m).LeftOut)
}

func TestAStageIsRelatedToEachOtherOnce(t *testing.T) {
	m := footprint.Measured(compiled(t, crowded(3, 2, "read /m/k$i write /m/k$i")))
	var others []string
	for _, r := range plan.Beside(m, "s1") {
		others = append(others, r.Other("s1"))
	}
	require.Equal(t, []string{"s0", "s1", "s2"}, others)
	require.Empty(t, plan.Beside(m, "s9"))
}

func TestStagesThatNoStepIsLeftToCompareAreSaidToBeSo(t *testing.T) {
	for name, text := range map[string]string{
		"no parameters":   "contract c\nstate { a: int  m: map of int }\nstage s { read /a write /a }\n",
		"many parameters": "contract c\nstate { a: int  m: map of int }\nstage s(p in /m, q in /m) { read /m/{p}, /m/{q} write /m/{p}, /m/{q} }\n",
		"a rule for each": "contract c\nstate { a: int  m: map of int }\ninvariant i each e in /m/* { e < state.a }\nstage s(p in /m) { read /m/{p} write /m/{p} discloses i }\n",
	} {
		t.Run(name, func(t *testing.T) {
			m := footprint.Measured(compiled(t, text))
			m.Meter = region.NewMeter(0)
			var out bytes.Buffer
			plan.Of(m).Text(&out)
			require.NotContains(t, out.String(), "whole state")
			require.Contains(t, strings.Join(strings.Fields(out.String()), " "), footprint.Unsearched)
		})
	}
}
