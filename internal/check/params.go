package check

import (
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
)

// lowerParams lowers a stage's parameters in order: each may use the ones before it.
func (c *checker) lowerParams(st *stage) {
	for i, p := range st.decl.Params {
		if i == MaxParams {
			c.report(tooLarge(p.Span, "parameters of a stage", MaxParams, "make it several stages, or let it work below one key"))
			for _, p := range st.decl.Params[i:] {
				st.params[p.Name.Text] = &ir.Param{Name: p.Name.Text}
			}
			return
		}
		if _, ok := st.params[p.Name.Text]; ok {
			c.report(paramTwice(p))
			continue
		}
		if reservedVariable(p.Name.Text) || c.isMeasure(p.Name.Text) {
			c.report(shadowsBuiltin(p.Name, "parameter"))
			continue
		}
		if later := declaredLater(p, st); later != nil {
			c.report(paramLater(p, later))
			st.params[p.Name.Text] = &ir.Param{Name: p.Name.Text}
			continue
		}
		if out, ok := c.lowerParam(st, p); ok {
			st.out.Params = append(st.out.Params, out)
			st.params[out.Name] = &out
		} else {
			st.params[p.Name.Text] = &ir.Param{Name: p.Name.Text} // reported; its uses are not
		}
	}
}

// declaredLater is the parameter that the path of p uses and that comes after it, nil if
// there is none.
func declaredLater(p *syntax.Param, st *stage) *syntax.Param {
	if p.Path == nil {
		return nil
	}
	after := st.decl.Params[slices.Index(st.decl.Params, p)+1:]
	for _, s := range p.Path.Segments {
		i := slices.IndexFunc(after, func(q *syntax.Param) bool { return q.Name.Text == s.Text })
		if s.Kind == syntax.ParamSegment && st.params[s.Text] == nil && i >= 0 {
			return after[i]
		}
	}
	return nil
}

func (c *checker) isMeasure(name string) bool {
	return slices.ContainsFunc(c.out.Measures, func(m ir.Measure) bool { return m.Name == name })
}

func (c *checker) lowerParam(st *stage, p *syntax.Param) (ir.Param, bool) {
	if p.Path == nil {
		return ir.Param{}, false
	}
	out := ir.Param{Name: p.Name.Text, Kind: ir.ExistingParam}
	if p.From {
		t, ok := c.single(p.Path, st.params)
		if !ok {
			return out, false
		}
		for _, id := range t.at {
			if !c.isStringType(id) && c.out.Type(id).Kind != ir.AnyType {
				c.report(paramNotString(p, c.describeSet(t.at)))
				return out, false
			}
		}
		out.Kind, out.Of = ir.DependentParam, t.pattern
		return out, true
	}
	if p.New {
		out.Kind = ir.NewParam
	}
	of := c.container(p.Path, st.params)
	if of == nil {
		return out, false
	}
	out.Of = *of
	return out, true
}

// reserveLiterals gives every parameter the keys it may never take: those that
// some pattern of the contract names at a place where the parameter stands
// (semantics 9). Then a parameter equals a literal never, and only parameters
// each other.
func (c *checker) reserveLiterals() {
	all := c.allPatterns()
	for i := range c.out.Stages {
		s := &c.out.Stages[i]
		own := stagePatterns(s)
		for j := range s.Params {
			p := &s.Params[j]
			places := own
			if p.Kind != ir.DependentParam {
				places = append(slices.Clone(own), footprint.Extend(p.Of, region.Segment{Kind: region.ParamSegment, Text: p.Name}))
			}
			p.Reserved = reservedFor(p.Name, places, all)
		}
	}
	for _, st := range c.stages { // parents first
		if st.parent != nil {
			inheritReserved(st.out, st.parent.out)
		}
	}
}

// inheritReserved keeps a delegate's parameters from the keys that its parent's never take.
func inheritReserved(child, parent *ir.Stage) {
	for i := range child.Params {
		p := &child.Params[i]
		p.Reserved = append(slices.Clone(p.Reserved), parent.Params[i].Reserved...)
		slices.Sort(p.Reserved)
		p.Reserved = slices.Compact(p.Reserved)
	}
}

// reservedFor lists the literals that patterns name where param stands in places.
func reservedFor(param string, places, patterns []region.Pattern) []string {
	var out []string
	for _, place := range places {
		for i, s := range place.Segments {
			if s.Kind != region.ParamSegment || s.Text != param {
				continue
			}
			for _, p := range patterns {
				out = append(out, literalsAt(place.Segments[:i], p.Segments)...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// literalsAt lists the keys that a pattern names right below the paths that a prefix
// matches: one at the prefix's own depth, and any behind a "**" of either.
func literalsAt(prefix, p []region.Segment) []string {
	var out []string
	for j, l := range p {
		if !footprint.IsLiteral(l) {
			continue
		}
		deep := hasDepth(prefix) || hasDepth(p[:j])
		if (deep || j == len(prefix)) && mayMeet(prefix, p[:j]) {
			out = append(out, l.Text)
		}
	}
	return out
}

func hasDepth(segments []region.Segment) bool {
	return slices.ContainsFunc(segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth })
}

// mayMeet reports whether some path could match both segment lists, of which the
// shorter ends them; "**" counts as meeting everything.
func mayMeet(a, b []region.Segment) bool {
	for i := range min(len(a), len(b)) {
		if a[i].Kind == region.AnyDepth || b[i].Kind == region.AnyDepth {
			return true
		}
		if footprint.IsLiteral(a[i]) && footprint.IsLiteral(b[i]) && a[i].Text != b[i].Text {
			return false
		}
	}
	return true
}

// allPatterns lists every pattern of the contract.
func (c *checker) allPatterns() []region.Pattern {
	out := footprint.Patterns(c.out.Secrets)
	for _, m := range c.out.Measures {
		out = append(out, m.Over)
	}
	for _, g := range c.model.StateGates() {
		out = append(out, g.Reads...)
	}
	for _, p := range c.out.Phases {
		for _, a := range p.Arrows {
			if a.Guard != nil {
				out = append(out, footprint.ReadPatterns(*a.Guard)...)
			}
		}
	}
	for _, t := range c.out.Types {
		if t.Target != nil {
			out = append(out, *t.Target)
		}
	}
	for _, claim := range c.out.Claims {
		out = append(append(out, footprint.Patterns(claim.From)...), footprint.Patterns(claim.To)...)
	}
	for i := range c.out.Stages {
		out = append(out, stagePatterns(&c.out.Stages[i])...)
	}
	return out
}

// stagePatterns lists every pattern of a stage.
func stagePatterns(s *ir.Stage) []region.Pattern {
	out := slices.Clone(s.Produce)
	for _, r := range []region.Region{s.Read, s.Write, s.Blind, s.Source, s.Delegable} {
		out = append(out, footprint.Patterns(r)...)
	}
	for _, p := range s.Params {
		out = append(out, p.Of)
	}
	for _, x := range append(slices.Clone(s.Require), s.Ensure...) {
		out = append(out, footprint.ReadPatterns(x)...)
	}
	return out
}
