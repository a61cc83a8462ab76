package check

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/syntax"
)

// What a stage writes or takes as a source it must also read (semantics 0.4):
// otherwise accepting or rejecting its patch would tell it what it does not see.
// Three kinds of writes are exempt, because nothing hidden can decide about them
// (language, "Paths and regions"): an append to a log; everything below a key
// that a "new in" parameter creates; a blind add. What they need instead is a
// parent that certainly exists, or that the stage sees.

func (c *checker) checkVisibility() {
	for _, st := range c.stages {
		for _, w := range c.written(st, "write") {
			for _, p := range c.exemptParents(st.out, w) {
				if !c.parentStands(st.out, p) {
					c.report(parentUncertain(st, w.at, authorText(p)))
				}
			}
			c.requireRead(st, "write", c.withoutExempt(st.out, w.plain), w.at)
		}
		for _, w := range c.written(st, "source") {
			c.requireRead(st, "source", w.plain, w.at)
		}
	}
}

// writtenGrant is one grant as the author wrote it, lowered.
type writtenGrant struct {
	plain, blind region.Region
	at           source.Span
}

// written lists the grants of a clause, of a delegate's parent where it inherits
// the clause. What was wrong with them has been reported.
func (c *checker) written(st *stage, clause string) []writtenGrant {
	for st.clauses[clause] == nil && st.parent != nil {
		st = st.parent
	}
	cl := st.clauses[clause]
	if cl == nil || cl.Region == nil {
		return nil
	}
	use := map[string]pathUse{"write": writePath, "source": sourcePath}[clause]
	reported := c.diagnostics
	var out []writtenGrant
	for _, g := range cl.Region.Grants {
		plain, blind := c.lowerRegion(c.root, &syntax.RegionExpr{Grants: []*syntax.GrantExpr{g}}, use, st.params)
		out = append(out, writtenGrant{plain, blind, g.Span})
	}
	c.diagnostics = reported
	return out
}

func (c *checker) requireRead(st *stage, clause string, authority region.Region, at source.Span) {
	if w, ok := c.within(authority, st.out.Read, region.Interior, region.Plain); !ok {
		c.report(notRead(st, clause, at, w))
	}
}

// exemptParents lists the containers that must stand for what a grant exempts.
func (c *checker) exemptParents(s *ir.Stage, w writtenGrant) []region.Pattern {
	var out []region.Pattern
	for _, p := range regionIncludes(w.plain) {
		if parent, ok := c.exemptParent(s, p); ok {
			out = append(out, parent)
		}
	}
	for _, p := range regionIncludes(w.blind) {
		if n := len(p.Segments); n > 0 {
			out = append(out, prefix(p, n-1))
		}
	}
	return out
}

func regionIncludes(r region.Region) []region.Pattern {
	var out []region.Pattern
	for _, g := range r {
		out = append(out, g.Include...)
	}
	return out
}

// withoutExempt leaves out the exempt patterns of an authority.
func (c *checker) withoutExempt(s *ir.Stage, w region.Region) region.Region {
	var out region.Region
	for _, g := range w {
		include := slices.DeleteFunc(slices.Clone(g.Include), func(p region.Pattern) bool {
			_, exempt := c.exemptParent(s, p)
			return exempt
		})
		if len(include) > 0 {
			out = append(out, region.Grant{Include: include, Except: g.Except})
		}
	}
	return out
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
