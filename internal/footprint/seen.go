package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// ParentStands reports whether a container exists in every state in which the
// stage's parameters are bound, or shows in the stage's view.
func (m *Model) ParentStands(s *ir.Stage, p region.Pattern) bool {
	if m.Certain(s, p) {
		return true
	}
	p.Shallow = true
	_, ok := m.Within(region.Region{{Include: []region.Pattern{p}}}, m.Seen(s), region.Plain, region.Plain)
	return ok
}

// Certain reports whether the node at p exists as a container of one kind in
// every state: required members only, keys only where a parameter vouches for them.
func (m *Model) Certain(s *ir.Stage, p region.Pattern) bool {
	at := m.Shape.Root()
	for i, seg := range p.Segments {
		if len(at) != 1 || m.Contract.Type(m.Contract.State).Kind == ir.UnionType {
			return false
		}
		switch t := m.Contract.Type(at[0]); {
		case t.Kind == ir.RecordType && seg.Kind == region.KeyLiteral:
			member, ok := t.Member(seg.Text)
			if !ok || member.Optional {
				return false
			}
			at = m.Shape.Expand(nil, member.Type)
		case seg.Kind == region.ParamSegment && m.vouched(s, seg.Text, Prefix(p, i)):
			at = m.Shape.Letter(at, region.Param(seg.Text))
		default:
			return false
		}
	}
	if len(at) != 1 {
		return false
	}
	object, array := m.Shape.Kinds(at)
	return object != array
}

// Known reports whether p is about a node alone of which everybody knows all there is
// to know: that it is an object. Of an array there is its length as well.
func (m *Model) Known(s *ir.Stage, p region.Pattern) bool {
	if !p.Shallow || !m.Certain(s, p) {
		return false
	}
	_, array := m.Shape.Kinds(m.Shape.At(p))
	return !array
}

// vouched reports whether a bound parameter is certainly a key of the container.
func (m *Model) vouched(s *ir.Stage, param string, container region.Pattern) bool {
	if s == nil {
		return false
	}
	for _, q := range s.Params {
		if q.Name != param {
			continue
		}
		switch q.Kind {
		case ir.ExistingParam:
			return q.Of.String() == container.String()
		case ir.DependentParam:
			at := m.Shape.At(q.Of)
			return m.Shape.Only(at, ir.RefType) && len(at) == 1 && m.Contract.Type(at[0]).Target.String() == container.String()
		}
	}
	return false
}

// Seen is a stage's read region and its spine: the containers on the way to what
// it reads, whose existence and kind show in the view (semantics 11.1).
func (m *Model) Seen(s *ir.Stage) region.Region {
	out := slices.Clone(s.Read)
	for _, g := range s.Read {
		spine := region.Grant{Except: g.Except}
		for _, p := range g.Include {
			if coveredBy(p, g.Except) {
				continue
			}
			for i := range p.Segments {
				if p.Segments[i].Kind == region.AnyDepth {
					break
				}
				up := Prefix(p, i)
				if object, array := m.Shape.Kinds(m.Shape.At(up)); object != array && m.containersOnly(up) {
					up.Shallow = true
					spine.Include = append(spine.Include, up)
				}
			}
		}
		if len(spine.Include) > 0 {
			out = append(out, spine)
		}
	}
	return out
}

// coveredBy reports whether some exception may leave nothing of an include to see:
// one that reaches up to the include. Then nothing on the way to it need show.
func coveredBy(include region.Pattern, excepts []region.Pattern) bool {
	return slices.ContainsFunc(excepts, func(e region.Pattern) bool {
		depth := slices.IndexFunc(e.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth })
		if depth < 0 {
			depth = len(e.Segments)
		}
		return depth <= len(include.Segments) && meets(include, e)
	})
}

func meets(p, q region.Pattern) bool {
	one := func(p region.Pattern) *region.Set {
		return region.Compile(region.Region{{Include: []region.Pattern{p}}})
	}
	return region.Overlap(one(p), one(q), region.Plain, region.Plain, region.Options{VerdictOnly: true}).Verdict != region.No
}

// OpenPrefixes lists, as shallow patterns, the nodes on the way to p that need not be
// a container of one kind. The root is left out: it exists, and an object shows.
func (m *Model) OpenPrefixes(p region.Pattern) []region.Pattern {
	var out []region.Pattern
	for i := 1; i < len(p.Segments); i++ {
		up := Prefix(p, i)
		if object, array := m.Shape.Kinds(m.Shape.At(up)); object == array || !m.containersOnly(up) {
			up.Shallow = true
			out = append(out, up)
		}
	}
	return out
}

// containersOnly reports whether every value at p is an object or array.
func (m *Model) containersOnly(p region.Pattern) bool {
	return m.Shape.Only(m.Shape.At(p), ir.RecordType, ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType)
}

// Prefix is the pattern of a pattern's first n segments.
func Prefix(p region.Pattern, n int) region.Pattern {
	return region.Pattern{Segments: slices.Clone(p.Segments[:n])}
}
