package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// An Effect is what one instance of a stage touches, as certificates use it
// (spec/semantics.md sections 5 and 6.1). Parameters and fresh keys carry the
// instance's owner, so that two instances of one stage can be told apart.
type Effect struct {
	Stage  *ir.Stage
	Owner  string
	Read   region.Region // R: what its view shows, and what decides about the shape of that
	Write  region.Region // W, blind grants included; commits stay within its interior
	Source region.Region // P: what its patch may take from or test
	Local  region.Region // Q: what its own gates and parameters depend on

	gates map[int]region.Condition // by gate of the model, for what the effect touches it, as far as known
}

// Effect gives the effect of an instance of a stage.
func (m *Model) Effect(s *ir.Stage, owner string) Effect {
	own := func(r region.Region) region.Region {
		return r.Own(owner).Rename(func(p string) string { return OwnedParam(owner, p) })
	}
	return Effect{
		Stage:  s,
		Owner:  owner,
		Read:   own(region.Union(m.showing(s.Read), m.deciding(s.Read))),
		Write:  own(m.elements(region.Union(s.Write, s.Blind))),
		Source: own(region.Union(s.Source, s.Read)),
		Local:  own(m.local(s)),
		gates:  map[int]region.Condition{},
	}
}

// elements replaces the new entries of sets by elements like any other: an element
// that a set holds already is refused, so entries of sets, unlike those of logs, are
// private to nobody.
func (m *Model) elements(w region.Region) region.Region {
	if !slices.ContainsFunc(w, hasFreshEntry) {
		return w
	}
	var out region.Region
	for _, g := range w {
		out = append(out, region.Grant{Include: m.settle(g.Include), Except: m.settle(g.Except)})
	}
	return out
}

// showing lets the exceptions of what is seen hide what is in the elements of sets and
// logs, but not that they are there: the view of an array has a place for each. The
// elements of other arrays need no such care, since adding one writes the array. Of what an
// exception takes away whole, nothing is shown.
func (m *Model) showing(r region.Region) region.Region {
	out := slices.Clone(r)
	for i, g := range r {
		out[i].Except = slices.Clone(g.Except)
		for j, p := range g.Except {
			if m.hidesEntries(p) {
				out[i].Except[j] = Extend(p, region.Segment{Kind: region.AnySegment})
				out[i].Include = without(out[i].Include, p)
			}
		}
	}
	return out
}

// without is what is left of patterns of which an exception takes some away whole.
func without(ps []region.Pattern, except region.Pattern) []region.Pattern {
	taken := region.Compile(region.Region{{Include: []region.Pattern{except}}})
	return slices.DeleteFunc(slices.Clone(ps), func(p region.Pattern) bool {
		one := region.Compile(region.Region{{Include: []region.Pattern{p}}})
		return region.Within(one, taken, region.Plain, region.Plain, region.Options{VerdictOnly: true}).Verdict == region.Yes
	})
}

// hidesEntries reports whether a pattern may match elements of a set or log.
func (m *Model) hidesEntries(p region.Pattern) bool {
	last := len(p.Segments) - 1
	for ; last >= 0 && p.Segments[last].Kind == region.AnyDepth; last-- {
	}
	if last < 0 || !mayBePosition(p.Segments[last]) {
		return false
	}
	return slices.ContainsFunc(m.Shape.At(Prefix(p, last)), func(id ir.TypeID) bool {
		kind := m.Contract.Type(id).Kind
		return kind == ir.SetType || kind == ir.LogType
	})
}

func mayBePosition(s region.Segment) bool {
	return s.MayMeet(region.Segment{Kind: region.AnyIndex})
}

func hasFreshEntry(g region.Grant) bool {
	return slices.ContainsFunc(g.Include, isFreshEntry) || slices.ContainsFunc(g.Except, isFreshEntry)
}

func isFreshEntry(p region.Pattern) bool {
	last := len(p.Segments) - 1
	return last >= 0 && p.Segments[last].Kind == region.FreshSegment
}

func (m *Model) settle(ps []region.Pattern) []region.Pattern {
	out := slices.Clone(ps)
	for i, p := range out {
		container := Prefix(p, max(0, len(p.Segments)-1))
		if isFreshEntry(p) && !m.Shape.Only(m.Shape.At(container), ir.LogType) {
			out[i] = Extend(container, region.Segment{Kind: region.AnyIndex})
		}
	}
	return out
}

// OwnedParam names a parameter of an owner's instance; the keys of families are
// shared by everybody.
func OwnedParam(owner, param string) string {
	if len(param) > 0 && param[0] == '@' {
		return param
	}
	return owner + "." + param
}

// local is the footprint of a stage's own gates, and of what its parameters are
// taken from (semantics 6.1, "Stage-local gates").
func (m *Model) local(s *ir.Stage) region.Region {
	var include []region.Pattern
	for _, g := range m.StageGates(s) {
		include = append(include, g.Reads...)
	}
	for _, p := range s.Params {
		of := p.Of
		if p.Kind != ir.DependentParam {
			of = Extend(of, region.Segment{Kind: region.ParamSegment, Text: p.Name})
			of.Shallow = true
		}
		include = append(include, of)
	}
	if len(include) == 0 {
		return nil
	}
	return region.Region{{Include: include}}
}
