package check

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A parameter that is taken from the state picks what a stage is shown. A stage that may
// write there picks it itself: each of its commits may turn the view to another entry.
// In a sealed contract, where equal views are to stay equal, that is never silent.
func (c *checker) checkChoices() {
	if !c.out.Sealed {
		return
	}
	chooses := map[*stage]bool{}
	for _, st := range c.stages {
		if st.faulty || st.parent != nil && chooses[st.parent] {
			continue
		}
		for _, q := range st.out.Params {
			written, may := c.writesSource(st.out, q)
			if shown, more := c.pickedBy(st.out, q.Name); may && more {
				chooses[st] = true
				c.report(choosesView(st, q, written, shown))
				break
			}
		}
	}
}

// writesSource finds a grant of a stage by which it may change what a parameter is taken
// from. What it may only make anew is not there when the parameter is bound.
func (c *checker) writesSource(s *ir.Stage, q ir.Param) (region.Pattern, bool) {
	if q.Kind != ir.DependentParam {
		return region.Pattern{}, false
	}
	var others []string // two of the host's keys may be one
	for _, p := range s.Params {
		if p.Kind != ir.NewParam {
			others = append(others, p.Name)
		}
	}
	for _, g := range s.Write {
		g = anyKey(g, others)
		for _, p := range g.Include {
			if one := (region.Grant{Include: []region.Pattern{p}, Except: g.Except}); c.model.Overlaps(region.Region{{Include: []region.Pattern{q.Of}}}, region.Region{one}) {
				return p, true
			}
		}
	}
	return region.Pattern{}, false
}

// pickedBy finds a pattern of a stage's read by which it is shown more with one key for a
// parameter than with another.
func (c *checker) pickedBy(s *ir.Stage, name string) (region.Pattern, bool) {
	for _, g := range s.Read {
		for _, p := range slices.Concat(g.Except, g.Include) {
			if !slices.Contains(p.Params(), name) {
				continue
			}
			if _, all := c.model.Within(region.Region{anyKey(g, []string{name})}, s.Read, region.Plain, region.Plain); !all {
				return p, true
			}
		}
	}
	return region.Pattern{}, false
}

// anyKey is all that a grant may hold, whatever keys some parameters are bound to.
func anyKey(g region.Grant, params []string) region.Grant {
	isOne := func(s region.Segment) bool { return s.Kind == region.ParamSegment && slices.Contains(params, s.Text) }
	out := region.Grant{}
	for _, p := range g.Include {
		p.Segments = slices.Clone(p.Segments)
		for i, s := range p.Segments {
			if isOne(s) {
				p.Segments[i] = region.Segment{Kind: region.AnyKey}
			}
		}
		out.Include = append(out.Include, p)
	}
	for _, p := range g.Except {
		if !slices.ContainsFunc(p.Segments, isOne) {
			out.Except = append(out.Except, p)
		}
	}
	return out
}
