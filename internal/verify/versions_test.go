package verify

import (
	"context"
	"math/rand"
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/view"
)

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
		ms := measures{p: p, state: s.State}
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
