package certificate

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// The owners of what two runs touch, and of what was there before them.
const (
	runA   = "A"
	runB   = "B"
	before = "before"
)

// A touch is what one run of a stage touches; parameters and log entries carry its
// owner.
type touch struct {
	sees, takes, depends, writes []side
}

func (k *checker) touch(s *ir.Stage, owner string) touch {
	for i := range s.Params {
		k.params[owner+"."+s.Params[i].Name] = &s.Params[i]
	}
	if t, known := k.touches[toucher{s, owner}]; known {
		return t
	}
	own := func(r region.Region, whole bool) []side { return sides(k.own(r, owner), whole) }
	t := touch{
		// Where the alternatives of a union disagree on what an array is, all of the union
		// decides what the view shows of it.
		sees:    showingSides(k.own(append(k.showing(s.Read), k.unions.Deciding(s.Read)...), owner)),
		takes:   own(s.Source, true),
		depends: own(depends(s), false),
		writes:  own(written(s), true),
	}
	k.touches[toucher{s, owner}] = t
	return t
}

// A toucher is one run of a stage.
type toucher struct {
	stage *ir.Stage
	owner string
}

// showing is what a view shows: where an exception takes away elements of a set or log,
// the view still has a place for each of them.
func (k *checker) showing(r region.Region) region.Region {
	var out region.Region
	for _, g := range r {
		shown := region.Grant{}
		for _, p := range g.Include {
			if !slices.ContainsFunc(g.Except, func(e region.Pattern) bool { return subsumes(e, p) }) {
				shown.Include = append(shown.Include, p)
			}
		}
		for _, p := range g.Except {
			if n := lastPlace(p); n >= 0 && positions(p.Segments[n]).kind != nothing && k.mayGrow(p.Segments[:n]) {
				p = longer(p, region.Segment{Kind: region.AnySegment})
			}
			shown.Except = append(shown.Except, p)
		}
		out = append(out, shown)
	}
	return out
}

// lastPlace is the last segment that is not "**", -1 if there is none.
func lastPlace(p region.Pattern) int {
	n := len(p.Segments) - 1
	for n >= 0 && p.Segments[n].Kind == region.AnyDepth {
		n--
	}
	return n
}

// own gives parameters and appended entries their owner. Only a log has entries of
// one run: an element of a set is refused if the set holds it already, so "-" of a
// set is any element.
func (k *checker) own(r region.Region, owner string) region.Region {
	var out region.Region
	for _, g := range r {
		out = append(out, region.Grant{Include: k.ownAll(g.Include, owner), Except: k.ownAll(g.Except, owner)})
	}
	return out
}

func (k *checker) ownAll(ps []region.Pattern, owner string) []region.Pattern {
	var out []region.Pattern
	for _, p := range ps {
		q := region.Pattern{Shallow: p.Shallow}
		for i, s := range p.Segments {
			switch {
			case s.Kind == region.ParamSegment && !isFamily(s):
				s.Text = owner + "." + s.Text
			case s.Kind == region.FreshSegment && k.isLog(p.Segments[:i]):
				s.Text = owner
			case s.Kind == region.FreshSegment:
				s = region.Segment{Kind: region.AnyIndex}
			}
			q.Segments = append(q.Segments, s)
		}
		out = append(out, q)
	}
	return out
}

// depends is what a stage's own rules read and its parameters are taken from. Guards
// are left out: a stage that moves the phase is in no pair.
func depends(s *ir.Stage) region.Region {
	var include []region.Pattern
	for _, x := range append(append([]ir.Expr{}, s.Require...), s.Ensure...) {
		include = append(include, readPatterns(x)...)
	}
	for _, p := range s.Produce {
		include = append(include, region.Pattern{Segments: p.Segments, Shallow: true})
	}
	for _, p := range s.Params {
		of := p.Of
		if p.Kind != ir.DependentParam {
			of = longer(of, region.Segment{Kind: region.ParamSegment, Text: p.Name})
			of.Shallow = true
		}
		include = append(include, of)
	}
	return region.Region{{Include: include}}
}

func readPatterns(x ir.Expr) []region.Pattern {
	var out []region.Pattern
	for _, r := range x.Reads {
		out = append(out, r.Pattern)
	}
	return out
}

func longer(p region.Pattern, below ...region.Segment) region.Pattern {
	return region.Pattern{Segments: append(append([]region.Segment{}, p.Segments...), below...)}
}
