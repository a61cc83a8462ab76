package verify

import (
	"context"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/view"
)

// matchesSlowly goes through every split of a word.
func matchesSlowly(segments []region.Segment, w region.Word) bool {
	switch {
	case len(segments) == 0:
		return len(w) == 0
	case segments[0].Kind == region.AnyDepth:
		return matchesSlowly(segments[1:], w) || len(w) > 0 && matchesSlowly(segments, w[1:])
	default:
		return len(w) > 0 && segments[0].Matches(w[0]) && matchesSlowly(segments[1:], w[1:])
	}
}

func TestAPatternMatchesAsGoingThroughEverySplitSays(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	pieces := []string{"a", "b", "*", "**", "**", "[0]", ":*"}
	for range 20_000 {
		var pattern strings.Builder
		for range r.Intn(7) {
			pattern.WriteString("/" + pieces[r.Intn(len(pieces))])
		}
		var w region.Word
		for range r.Intn(8) {
			w = append(w, []region.Letter{region.Key("a"), region.Key("b"), region.Index(0), region.Fresh("-")}[r.Intn(4)])
		}
		p := region.MustParse(pattern.String())
		require.Equal(t, matchesSlowly(p.Segments, w), matchesWord(p.Segments, w), "%s on %s", pattern.String(), w.Pointer())
	}
}

func TestMatchingALongWordTakesNoSplits(t *testing.T) {
	p := region.MustParse(strings.Repeat("/**/a", 20) + "/b")
	w := make(region.Word, 512)
	for i := range w {
		w[i] = region.Key("a")
	}
	require.False(t, matchesWord(p.Segments, w))
	require.True(t, matchesWord(p.Segments, append(w, region.Key("b"))))
}

// run makes proposals and hands every version that a commit made to each.
func (m plant) run(p *Program, now Snapshot, proposals int, each func(s Snapshot)) Snapshot {
	for range proposals {
		out, err := p.Verify(context.Background(), now, Proposal{Stage: "root", Patch: m.patch()})
		require.NoError(m.t, err)
		if out.Verdict.Verdict == Commit {
			now = out.After
			each(now)
		}
	}
	return now
}

func TestOnlyTheVersionsThatSomebodyKeepsStayInMemory(t *testing.T) {
	m := plant{Rand: rand.New(rand.NewSource(5)), t: t, c: &ir.Contract{}}
	wide := region.Compile(region.Of("", "!/:items/:*/:note"))
	p, start := m.open()
	var all []weak.Pointer[tree.Node]
	last := m.run(p, start, 400, func(s Snapshot) {
		seen, _ := view.Project(s.State, wide.Start(nil))
		tree.AppendRemembered(nil, seen)
		for _, x := range p.indexes {
			x.of(nil, s.State)
		}
		ms := measures{p: p, ctx: context.Background(), state: s.State}
		for i := range p.measures {
			ms.lookup(p.measures[i].Name)
		}
		all = append(all, weak.Make(s.State))
	})
	runtime.GC()
	require.Greater(t, len(all), 100)
	for i, version := range all[:len(all)-1] {
		require.True(t, version.Value() == nil, "version %d of %d lives", i, len(all))
	}
	require.NotNil(t, all[len(all)-1].Value())
	runtime.KeepAlive(last)
	runtime.KeepAlive(p)
}

func TestWhatDoesNotChangeKeepsItsIndex(t *testing.T) {
	m := plant{Rand: rand.New(rand.NewSource(6)), t: t, c: &ir.Contract{}}
	p, start := m.open()
	for _, x := range p.indexes {
		x.of(nil, start.State)
	}
	m.run(p, start, 300, func(s Snapshot) {
		for _, x := range p.indexes {
			container := nodeAtPattern(s.State, x.at)
			_, known := x.memo.Get(container)
			require.True(t, known || container.Len() == 0 || len(x.rest) == 0, "the index at /%s was lost", x.at)
		}
	})
}
