package bench_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// longRun is how many commits in a row a long run makes.
const longRun = 12_000

// TestLongRuns prints what one commit among thousands costs, everything included that an
// instance does now and then:
//
//	go test -run TestLongRuns -v ./internal/bench -args -table
//
// The line below each size is the same work by hand (package lean), in turns with it: what
// is slow there is the machine's doing. Last comes what the pipeline of libraries takes for
// one commit on the largest state, and how many times the mean of the run that is.
func TestLongRuns(t *testing.T) {
	if !*costTable {
		t.Skip("asked for with -args -table")
	}
	p := program(t)
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%d COMMITS IN A ROW\tmedian\t99 %%\tlargest\tmedians\tmean\t\n", longRun)
	line := func(name string, took []time.Duration) {
		slices.Sort(took)
		median, most := took[len(took)/2], took[len(took)-1]
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.0f\t%s\t\n", name, short(median), short(took[len(took)*99/100]), short(most), float64(most)/float64(median), short(meanOf(took)))
	}
	for _, size := range workloads[1:] {
		c := newCosts(t, p, size.tickets)
		product, byHand := inTurns(longRun, c.proposes(), c.leanCommits(legalPatch, false))
		line(size.name+", Instance.Propose", product)
		line("by hand", byHand)
		if size == workloads[len(workloads)-1] {
			assembled, _ := inTurns(5, c.assembled(), func() {})
			least := slices.Min(assembled)
			fmt.Fprintf(w, "assembled of libraries, at best\t\t\t\t\t%s\t= %.0f times\n", short(least), float64(least)/float64(meanOf(product)))
		}
	}
	w.Flush()
	t.Log("\n" + out.String())
}

// inTurns is how long each run of two takes.
func inTurns(runs int, f, g func()) (tookF, tookG []time.Duration) {
	f()
	g()
	for range runs {
		start := time.Now()
		f()
		between := time.Now()
		g()
		tookF, tookG = append(tookF, between.Sub(start)), append(tookG, time.Since(between))
	}
	return tookF, tookG
}

func meanOf(all []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(len(all))
}
