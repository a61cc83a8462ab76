package verify

import (
	"context"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// A typeCheck checks values of one state against their types, whole subtrees at a
// time, and collects everything that is wrong.
type typeCheck struct {
	p     *Program
	ctx   context.Context
	state *tree.Node  // where references lead; nil to leave references alone
	word  region.Word // of the value being checked
	collection
}

// check checks n, which stands at c.word, against type id.
func (c *typeCheck) check(n *tree.Node, id ir.TypeID) {
	c.p.watch.step()
	if c.p.contract.Types[id].Kind == ir.UnionType {
		c.union(n, id)
	} else if c.structure(n, id) {
		c.constraints(n, id)
	}
}

func (c *typeCheck) report(f finding) {
	c.add(f, func(f finding) finding { return f.about(c.word) })
}

// structure checks everything but constraints, and reports whether n is of the
// right kind itself, so that a constraint on it makes sense.
func (c *typeCheck) structure(n *tree.Node, id ir.TypeID) bool {
	t := &c.p.contract.Types[id]
	switch {
	case t.Kind == ir.KeyedType && n.Kind() == ir.Array:
		c.report(say.keyedAsArray(t))
	case !c.p.sameKind(id, n):
		c.misfit(n, id)
	default:
		before := c.total
		c.inside(n, id, t)
		return c.total == before
	}
	return false
}

func (c *typeCheck) misfit(n *tree.Node, id ir.TypeID) {
	text := c.p.types[id].text
	literal := c.p.literals[id]
	if literal != nil && n.Kind() == literal.Kind() || c.p.contract.Types[id].Kind == ir.IntType && n.Kind() == ir.Number {
		c.report(say.otherValue(text, n.Kind()))
		return
	}
	c.report(say.misfit(text, n.Kind()))
}

func (c *typeCheck) inside(n *tree.Node, id ir.TypeID, t *ir.Type) {
	switch t.Kind {
	case ir.RecordType:
		c.record(n, t, c.p.types[id].text)
	case ir.MapType, ir.KeyedType:
		c.members(n, id, t)
	case ir.ListType, ir.SetType, ir.LogType:
		c.elements(n, id, t)
	case ir.RefType:
		c.reference(n, t)
	}
}

func (c *typeCheck) record(n *tree.Node, t *ir.Type, text string) {
	for i := range t.Members {
		if m := &t.Members[i]; !m.Optional && n.Get(m.Name) == nil {
			c.at(region.Key(m.Name), func() { c.report(say.missingMember(text, m.Name)) })
		}
	}
	for name, child := range n.Members() {
		c.at(region.Key(name), func() { c.member(t, text, name, child) })
	}
}

func (c *typeCheck) member(t *ir.Type, text, name string, child *tree.Node) {
	if m, ok := t.Member(name); ok {
		c.check(child, m.Type)
	} else if t.Rest != ir.NoType {
		c.check(child, t.Rest)
	} else {
		c.add(say.unknownMember(text, name), func(finding) finding { return c.p.unknownMember(t, text, name, c.word) })
	}
}

// unknownMember is the finding about a member that a closed record does not have.
func (p *Program) unknownMember(t *ir.Type, text, name string, w region.Word) finding {
	f := say.unknownMember(text, name).about(w)
	var declared []string
	for _, m := range t.Members {
		declared = append(declared, m.Name)
	}
	if near := ir.Nearest(name, declared); near != "" {
		f = f.hinted("did you mean %q?", near)
		f.hint = append(append(region.Word{}, w[:len(w)-1]...), region.Key(near))
	}
	return f
}

func (c *typeCheck) members(n *tree.Node, id ir.TypeID, t *ir.Type) {
	if c.sound(n, id, t) {
		return
	}
	for name, child := range n.Members() {
		c.at(region.Key(name), func() {
			before := c.total
			c.check(child, t.Elem)
			if t.Kind == ir.KeyedType && c.total == before && !namesItself(t, name, child) {
				c.report(say.otherKey(t))
			}
		})
	}
}

func (c *typeCheck) elements(n *tree.Node, id ir.TypeID, t *ir.Type) {
	if c.sound(n, id, t) {
		return
	}
	for i, child := range n.Elements() {
		c.at(region.Index(i), func() { c.check(child, t.Elem) })
	}
	if t.Kind == ir.SetType && hasDuplicates(n) {
		c.report(say.duplicates())
	}
}

// at runs f one step further down.
func (c *typeCheck) at(l region.Letter, f func()) {
	c.word = append(c.word, l)
	f()
	c.word = c.word[:len(c.word)-1]
}

// reference checks that a key of a container names one of its members.
func (c *typeCheck) reference(n *tree.Node, t *ir.Type) {
	if c.state == nil || nodeAtPattern(c.state, *t.Target).Get(n.Text()) != nil {
		return
	}
	c.add(say.danglingKey(*t.Target).of(ir.RefGate, ""), func(f finding) finding {
		f = f.about(c.word)
		f.reads = region.Region{{Include: []region.Pattern{
			patternOf(c.word), {Segments: append(append([]region.Segment{}, t.Target.Segments...), region.Segment{Kind: region.KeyLiteral, Text: n.Text()}), Shallow: true},
		}}}
		return f
	})
}

// union reports the constraints of the first alternative that fits, if no fitting
// alternative is without any; and if none fits, what is wrong with the one that is
// meant, as far as one can tell.
func (c *typeCheck) union(n *tree.Node, id ir.TypeID) {
	t := &c.p.contract.Types[id]
	if c.p.types[id].confusable && c.p.fits(id, n) && !c.p.readsBack(n, id) {
		c.report(say.readsOtherwise(c.p.types[id].text))
		return
	}
	var first []finding
	fitting := 0
	for _, alt := range t.Alternatives {
		if !c.p.fits(alt, n) {
			continue
		}
		if !c.p.types[alt].ruled {
			c.constraints(n, id)
			return
		}
		sub := typeCheck{p: c.p, ctx: c.ctx, state: c.state, word: c.word}
		sub.check(n, alt)
		if sub.total == 0 {
			c.constraints(n, id)
			return
		}
		if fitting++; fitting == 1 {
			first = sub.found
		}
	}
	if fitting == 0 {
		c.misfitUnion(n, id, t)
		return
	}
	c.addAll(first)
}

// misfitUnion goes into the only alternative of n's kind, if there is just one and
// it is a container; else it reports the union as a whole.
func (c *typeCheck) misfitUnion(n *tree.Node, id ir.TypeID, t *ir.Type) {
	meant, several := ir.NoType, false
	for _, alt := range t.Alternatives {
		if c.p.sameKind(alt, n) {
			several = several || meant != ir.NoType
			meant = alt
		}
	}
	text := c.p.types[id].text
	switch {
	case meant != ir.NoType && !several:
		c.check(n, meant)
	case several:
		c.report(say.misfitInside(text))
	case c.p.hasLiteralOf(t, n.Kind()):
		c.report(say.otherValue(text, n.Kind()))
	default:
		c.report(say.misfit(text, n.Kind()))
	}
}

// constraints evaluates the where constraints of the type id on n.
func (c *typeCheck) constraints(n *tree.Node, id ir.TypeID) {
	for i := range c.p.wheres[id] {
		w := &c.p.wheres[id][i]
		if j := w.judge(c.ctx, &expr.Input{Self: n}); j != holds {
			c.add(c.p.unmet(id).because(j), func(f finding) finding { return f.below(w, c.word) })
		}
	}
}

// unmet is the finding that a constraint of type id does not hold.
func (p *Program) unmet(id ir.TypeID) finding {
	return say.constraint(p.types[id].text).of(ir.TypeGate, "")
}

// below makes f the finding of a rule over the value at w.
func (f finding) below(r *rule, w region.Word) finding {
	f = f.about(w)
	f.reads = r.readsBelow(w)
	return f
}

// hasLiteralOf reports whether an alternative is a literal of the given kind.
func (p *Program) hasLiteralOf(t *ir.Type, k ir.Kind) bool {
	for _, alt := range t.Alternatives {
		if l := p.literals[alt]; l != nil && l.Kind() == k {
			return true
		}
	}
	return false
}
