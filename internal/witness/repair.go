package witness

import (
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/region"
)

// maxRepairs bounds the states that are tried to make one valid.
const maxRepairs = 400

// repair varies a scene's state until its invariants hold, if it can.
func (s *Search) repair(sc *scene) {
	if s.Broken == nil {
		return
	}
	broken, fits := s.Broken(sc.toFile(copyOf(sc.state)), sc.phase)
	if !fits || len(broken) == 0 {
		return
	}
	points := sc.points(sc.readsOf(broken))
	tried := 0
	for at := range diagonal(dimensions(points)) {
		state := sc.varied(points, at)
		if broken, fits := s.Broken(sc.toFile(copyOf(state)), sc.phase); fits && len(broken) == 0 {
			sc.state = state
			return
		}
		if tried++; tried == maxRepairs {
			return
		}
	}
}

// readsOf lists what the named invariants read, family keys as wildcards.
func (s *scene) readsOf(invariants []string) []region.Pattern {
	var out []region.Pattern
	for _, v := range s.contract.Invariants {
		switch {
		case !slices.Contains(invariants, v.Name):
		case v.Unique != nil:
			out = append(out, *v.Unique)
		default:
			out = append(out, widened(footprint.ReadPatterns(*v.Expr))...)
		}
	}
	return out
}

func widened(patterns []region.Pattern) []region.Pattern {
	var out []region.Pattern
	for _, p := range patterns {
		q := region.Pattern{Segments: slices.Clone(p.Segments), Shallow: p.Shallow}
		for i, s := range q.Segments {
			if s.Kind == region.ParamSegment {
				q.Segments[i] = region.Segment{Kind: region.AnySegment}
			}
		}
		out = append(out, q)
	}
	return out
}

func dimensions(points []point) []int {
	var dims []int
	for _, p := range points {
		dims = append(dims, len(p))
	}
	return dims
}

// varied is the scene's state with an option of every point taken.
func (s *scene) varied(points []point, at []int) any {
	state := copyOf(s.state)
	for i, p := range points {
		state = p[at[i]](state)
	}
	return s.settle(state)
}
