package check

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// What a stage writes or takes as a source it must also read (semantics 0.4):
// otherwise accepting or rejecting its patch would tell it what it does not see.
// Three kinds of writes are exempt, because nothing hidden can decide about them
// (language, "Paths and regions"): an append to a log; everything below a key
// that a "new in" parameter creates; a blind add. What they need instead is a
// parent that certainly exists, or that the stage sees.

func (c *checker) checkVisibility() {
	for _, st := range c.stages {
		write, exempt := c.splitExempt(st.out)
		c.requireRead(st, "write", write)
		c.requireRead(st, "source", st.out.Source)
		for _, p := range exempt {
			if !c.parentStands(st.out, p) {
				c.report(parentUncertain(st, p, authorText(p)))
			}
		}
	}
}

func (c *checker) requireRead(st *stage, clause string, authority region.Region) {
	for _, g := range authority {
		if w, ok := c.within(region.Region{g}, st.out.Read, region.Interior, region.Plain); !ok {
			c.report(notRead(st, clause, c.grantSpan(st, clause, g), w))
		}
	}
}

// splitExempt takes the exempt patterns out of what a stage writes, and returns
// for each the container that must stand.
func (c *checker) splitExempt(s *ir.Stage) (write region.Region, parents []region.Pattern) {
	for _, g := range s.Write {
		var include []region.Pattern
		for _, p := range g.Include {
			if parent, ok := c.exemptParent(s, p); ok {
				parents = append(parents, parent)
				continue
			}
			include = append(include, p)
		}
		if len(include) > 0 {
			write = append(write, region.Grant{Include: include, Except: g.Except})
		}
	}
	for _, g := range s.Blind {
		for _, p := range g.Include {
			if n := len(p.Segments); n > 0 {
				parents = append(parents, prefix(p, n-1))
			}
		}
	}
	return write, parents
}

// exemptParent recognises an append to a log and a path below a new key.
func (c *checker) exemptParent(s *ir.Stage, p region.Pattern) (region.Pattern, bool) {
	for i, seg := range p.Segments {
		parent := prefix(p, i)
		if seg.Kind == region.FreshSegment && c.shape.only(c.typesAt(parent), ir.LogType) {
			return parent, true
		}
		if seg.Kind == region.ParamSegment && slices.ContainsFunc(s.Params, func(q ir.Param) bool {
			return q.Name == seg.Text && q.Kind == ir.NewParam && q.Of.String() == parent.String()
		}) {
			return parent, true
		}
	}
	return region.Pattern{}, false
}

// parentStands reports whether a container exists in every state in which the
// stage's parameters are bound, or shows in the stage's view.
func (c *checker) parentStands(s *ir.Stage, p region.Pattern) bool {
	if c.certain(s, p) {
		return true
	}
	p.Shallow = true
	_, ok := c.within(region.Region{{Include: []region.Pattern{p}}}, c.seen(s), region.Plain, region.Plain)
	return ok
}

// certain reports whether the node at p exists as a container of one kind in
// every state: required members only, keys only where a parameter vouches for them.
func (c *checker) certain(s *ir.Stage, p region.Pattern) bool {
	at := c.shape.root()
	for i, seg := range p.Segments {
		if len(at) != 1 || c.out.Type(c.out.State).Kind == ir.UnionType {
			return false
		}
		switch t := c.out.Type(at[0]); {
		case t.Kind == ir.RecordType && seg.Kind == region.KeyLiteral:
			m, ok := t.Member(seg.Text)
			if !ok || m.Optional {
				return false
			}
			at = c.shape.expand(nil, m.Type)
		case seg.Kind == region.ParamSegment && c.vouched(s, seg.Text, prefix(p, i)):
			at = c.shape.step(at, region.Param(seg.Text))
		default:
			return false
		}
	}
	if len(at) != 1 {
		return false
	}
	object, array := c.shape.kinds(at)
	return object != array
}

// vouched reports whether a bound parameter is certainly a key of the container.
func (c *checker) vouched(s *ir.Stage, param string, container region.Pattern) bool {
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
			at := c.typesAt(q.Of)
			return c.shape.only(at, ir.RefType) && len(at) == 1 && c.out.Type(at[0]).Target.String() == container.String()
		}
	}
	return false
}

// seen is a stage's read region and its spine: the containers on the way to what
// it reads, whose existence and kind show in the view (semantics 11.1).
func (c *checker) seen(s *ir.Stage) region.Region {
	out := slices.Clone(s.Read)
	for _, g := range s.Read {
		spine := region.Grant{Except: g.Except}
		for _, p := range g.Include {
			for i := range p.Segments {
				if p.Segments[i].Kind == region.AnyDepth {
					break
				}
				up := prefix(p, i)
				if object, array := c.shape.kinds(c.typesAt(up)); object != array && c.containersOnly(up) {
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

// containersOnly reports whether every value at p is an object or array.
func (c *checker) containersOnly(p region.Pattern) bool {
	return c.shape.only(c.typesAt(p), ir.RecordType, ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType)
}

// typesAt is the set of types a typed pattern leads to.
func (c *checker) typesAt(p region.Pattern) typeSet {
	at := c.shape.root()
	for _, s := range p.Segments {
		at = c.stepSegment(at, s)
	}
	return at
}

func (c *checker) stepSegment(at typeSet, s region.Segment) typeSet {
	switch s.Kind {
	case region.AnyDepth:
		return c.shape.below(at)
	case region.AnySegment:
		return c.shape.children(at, true, true)
	case region.AnyKey:
		return c.shape.children(at, true, false)
	case region.AnyIndex:
		return c.shape.children(at, false, true)
	case region.IndexLiteral:
		return c.shape.step(at, region.Index(s.Index))
	case region.ParamSegment:
		return c.shape.step(at, region.Param(s.Text))
	case region.FreshSegment:
		return c.shape.step(at, region.Fresh(""))
	}
	return c.shape.step(at, region.Key(s.Text))
}

// prefix is the pattern of a pattern's first n segments.
func prefix(p region.Pattern, n int) region.Pattern {
	return region.Pattern{Segments: slices.Clone(p.Segments[:n])}
}
