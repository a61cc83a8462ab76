package replay_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

// The plain three-way rule, W ⟂ W and R ⟂ W both ways, on footprints read as exact
// sets or as subtrees, next to the certificates (spec/semantics.md section 7).

// exactly reads every pattern as its own words.
func exactly(r region.Region) region.Region {
	alone := func(ps []region.Pattern) []region.Pattern {
		var out []region.Pattern
		for _, p := range ps {
			out = append(out, region.Pattern{Segments: p.Segments, Shallow: true})
		}
		return out
	}
	var out region.Region
	for _, g := range r {
		out = append(out, region.Grant{Include: alone(g.Include), Except: alone(g.Except)})
	}
	return out
}

func subtrees(r region.Region) region.Region { return r }

// threeWay is the plain rule; with sources it asks P ⟂ W as well.
func threeWay(a, b *ir.Stage, read func(region.Region) region.Region, sources bool) bool {
	apart := func(x, y region.Region) bool {
		return region.Overlap(region.Compile(read(x)), region.Compile(read(y)), region.Plain, region.Plain, region.Options{}).Verdict == region.No
	}
	ok := apart(a.Write, b.Write) && apart(a.Read, b.Write) && apart(b.Read, a.Write)
	if sources {
		ok = ok && apart(a.Source, b.Write) && apart(b.Source, a.Write)
	}
	return ok
}

// A ruleRow counts what a rule certifies.
type ruleRow struct {
	name                      string
	certified, wrong, proving int
}

func (r *ruleRow) count(certified, commutes bool) {
	if certified {
		r.certified++
		if commutes {
			r.proving++
		} else {
			r.wrong++
		}
	}
}

func TestTheTableOfFalseCertificatesIsTheSpecifications(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("the table is about all of its pairs")
	}
	t.Parallel()
	const seed, courses, stages = 4, 14, 24
	m := newMaker(seed)
	exact, subtree, withSources := ruleRow{name: "three-way, exact sets"}, ruleRow{name: "three-way, subtrees"}, ruleRow{name: "three-way, subtrees, and `P ⟂ W`"}
	ours, views := ruleRow{name: "theorem 1"}, ruleRow{name: "theorems 1 and 3, views counted"}
	pairs, commuting, commutingViews := 0, 0, 0
	for range courses {
		c := m.untyped(stages)
		run := replay.New(replay.Options{})
		for _, p := range pairsOf(c, &shape{}) {
			if p.A == p.B {
				continue
			}
			parted, partedViews := verdictOf(t, run, p, c)
			certified := len(p.Conflicts) == 0
			certifiedState := !hasOther(p.Conflicts, footprint.ViewConflict)
			pairs++
			commuting += count(!parted)
			commutingViews += count(!parted && !partedViews)
			exact.count(threeWay(p.A, p.B, exactly, false), !parted)
			subtree.count(threeWay(p.A, p.B, subtrees, false), !parted)
			withSources.count(threeWay(p.A, p.B, subtrees, true), !parted)
			ours.count(certifiedState, !parted)
			views.count(certified, !parted && !partedViews)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| rule | certified of %d | false | commuting pairs proved |\n|---|---|---|---|\n", pairs)
	for _, r := range []ruleRow{exact, subtree, withSources, ours} {
		fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% of %d |\n", r.name, r.certified, r.wrong, 100*float64(r.proving)/float64(commuting), commuting)
	}
	fmt.Fprintf(&b, "| %s | %d | %d | %.1f %% of %d |\n", views.name, views.certified, views.wrong, 100*float64(views.proving)/float64(commutingViews), commutingViews)
	t.Log("\n" + b.String())
	spec, err := os.ReadFile("../../../spec/semantics.md")
	require.NoError(t, err)
	require.True(t, strings.Contains(string(spec), b.String()), "section 7 quotes another table")
	require.Zero(t, ours.wrong+views.wrong)
	require.Positive(t, exact.wrong)
	require.Positive(t, subtree.wrong)
}

// verdictOf reports whether some run of a pair parts by state or verdict, and
// whether one parts by a view alone. No run means that none exists: without types
// and gates every conflict replays.
func verdictOf(t *testing.T, run footprint.Replayer, p footprint.Pair, c *ir.Contract) (parted, partedViews bool) {
	for _, conflict := range p.Conflicts {
		example, err := run(c, p, conflict)
		require.NoError(t, err)
		require.NotNil(t, example)
		parted = parted || example.Differ != "view"
		partedViews = partedViews || example.Differ == "view"
	}
	return parted, partedViews
}

func hasOther(conflicts []footprint.Conflict, kind footprint.ConflictKind) bool {
	for _, c := range conflicts {
		if c.Kind != kind {
			return true
		}
	}
	return false
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
