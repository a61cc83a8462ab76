package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// visibility tells whether the actor may know that the gate of f failed. The
// contract lists the gates that a stage can trigger. One that is not listed is
// seen if what it read lies in the stage's region.
func (v *verification) visibility(f *finding) ir.Visibility {
	switch {
	case f.known != "":
		return f.known
	case v.reached == stepScope && f.Gate != GateLimit && f.gated == nil:
		return ir.Hidden // the view had nothing against it
	case f.rule == "":
		return ir.Seen
	}
	if listed := v.listedGates(f); len(listed) > 0 {
		return worst(listed)
	}
	if v.sees(f.reads) {
		return ir.Seen
	}
	return ir.Hidden
}

// listedGates are the contract's entries about the gate of f.
func (v *verification) listedGates(f *finding) []ir.Visibility {
	var all []ir.Visibility
	for i := range v.stage.Gates {
		if g := &v.stage.Gates[i]; v.isOf(f, g) {
			if g.Given && !v.ensured() {
				all = append(all, ir.Hidden)
				continue
			}
			all = append(all, g.Visibility)
		}
	}
	return all
}

// isOf reports whether f is a finding of a gate of the stage.
func (v *verification) isOf(f *finding, g *ir.Gate) bool {
	return g.Kind == f.rule && (g.Name == "" || g.Name == f.name) && (g.At == nil || v.isAt(g, f))
}

// ensured reports whether every ensure of the stage holds after the patch. Where not,
// that is why it is refused, and what hangs on it is not asked.
func (v *verification) ensured() bool {
	v.measuresAfter = measures{p: v.p, state: v.after}
	return len(v.checkEnsure()) == 0
}

// isAt reports whether the gate g, which has a place, is about the place of f.
func (v *verification) isAt(g *ir.Gate, f *finding) bool {
	if f.rule == ir.ProduceGate {
		return g.At.String() == f.typed.String()
	}
	at := f.at
	if f.gated != nil {
		at = f.gated
	}
	return matchesWord(g.At.Bind(v.args).Segments, at)
}

func worst(all []ir.Visibility) ir.Visibility {
	out := ir.Seen
	for _, v := range all {
		if v == ir.Hidden {
			return v
		}
		if v == ir.Disclosed {
			out = v
		}
	}
	return out
}

// sees reports whether the view shows everything that a rule read: every pattern
// lies in the stage's region, or is a label on the way to it; and so do the labels
// above each, which decide whether a path leads anywhere.
func (v *verification) sees(reads region.Region) bool {
	if len(reads) == 0 {
		return true
	}
	shown := v.stage.Read.Bind(v.args)
	whole, withSpine := region.Compile(shown), region.Compile(region.Union(shown, v.p.spine(shown)))
	for _, g := range reads {
		for _, p := range g.Include {
			if p.Shallow && !within(p, withSpine) || !p.Shallow && !within(p, whole) || !v.seesAbove(p, whole) {
				return false
			}
		}
	}
	return true
}

// seesAbove is the same for the labels above a pattern that lies in the region.
func (v *verification) seesAbove(p region.Pattern, whole *region.Set) bool {
	for i := range p.Segments {
		above := region.Pattern{Segments: p.Segments[:i], Shallow: true}
		if !v.p.alwaysContainer(above.Segments, p.Segments[i]) && !within(above, whole) {
			return false
		}
	}
	return true
}

func within(p region.Pattern, set *region.Set) bool {
	one := region.Compile(region.Region{{Include: []region.Pattern{p}}})
	return region.Within(one, set, region.Plain, region.Plain, region.Options{VerdictOnly: true}).Verdict == region.Yes
}

// spine is the places above what a region shows whose existence and kind always
// show: containers of one kind by their type, with something visible below however
// the state is. Of a grant, exceptions that reach up to an include might leave
// nothing there to see; such an include counts for nothing.
func (p *Program) spine(r region.Region) region.Region {
	var out region.Grant
	for _, g := range r {
		for _, include := range g.Include {
			if slices.ContainsFunc(g.Except, func(e region.Pattern) bool { return fixedDepth(e) <= len(include.Segments) }) {
				continue
			}
			for i := range include.Segments {
				if p.alwaysContainer(include.Segments[:i], include.Segments[i]) {
					out.Include = append(out.Include, region.Pattern{Segments: include.Segments[:i], Shallow: true})
				}
			}
		}
	}
	return asRegion(out)
}

// fixedDepth is the number of segments before the first that matches any depth.
func fixedDepth(p region.Pattern) int {
	for i, s := range p.Segments {
		if s.Kind == region.AnyDepth {
			return i
		}
	}
	return len(p.Segments)
}

// alwaysContainer reports whether every value that the path leads to is, by its
// type, a container that next leads on from.
func (p *Program) alwaysContainer(path []region.Segment, next region.Segment) bool {
	id := p.contract.State
	for _, s := range path {
		if !p.leadsOn(id, s) {
			return false
		}
		id = p.below(id, s.Text)
	}
	return p.leadsOn(id, next)
}

// leadsOn reports whether every value of a type is a container with the letters
// that a segment matches: in a record, only a declared member.
func (p *Program) leadsOn(id ir.TypeID, s region.Segment) bool {
	t := &p.contract.Types[id]
	switch {
	case s.Kind == region.AnyDepth || t.Kind == ir.UnionType:
		return false
	case t.Kind == ir.RecordType:
		_, declared := t.Member(s.Text)
		return declared && (s.Kind == region.KeyLiteral || s.Kind == region.Literal)
	case p.types[id].form == objectForm:
		return s.Kind != region.AnyIndex && s.Kind != region.IndexLiteral
	default:
		return p.types[id].form != openForm && p.types[id].form != scalarForm && (s.Kind == region.AnyIndex || s.Kind == region.AnySegment)
	}
}
