package check

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
)

// Delegates. A delegate starts from a copy of its parent and narrows it; that it stays
// within its parent is checked when both are lowered.

// lowerDelegates lowers every delegate after its parent, which may be a delegate
// itself, and then puts all stages into the contract.
func (c *checker) lowerDelegates() {
	waiting := map[string][]*syntax.StageDecl{} // by parent
	for _, d := range c.root.file.Decls {
		if d, ok := d.(*syntax.StageDecl); ok && d.From != nil {
			waiting[d.From.Text] = append(waiting[d.From.Text], d)
		}
	}
	own := len(c.stages)
	for i := 0; i < len(c.stages); i++ {
		parent := c.stages[i]
		name := parent.decl.Name.Text
		if c.findStage(name) == parent {
			for _, d := range waiting[name] {
				var st *stage
				faulty := c.faultily(func() { st = c.lowerDelegate(d, parent) })
				st.faulty = faulty || parent.faulty
				c.addLowered(st)
			}
			delete(waiting, name)
		}
	}
	slices.SortFunc(c.stages[own:], func(a, b *stage) int { return a.decl.Span.Start - b.decl.Span.Start })
	for _, name := range keys(waiting) {
		for _, d := range waiting[name] {
			c.stageNamed(*d.From)
		}
	}
	c.placeStages()
	c.checkAfter()
	if c.parsed && c.phasesClean && !slices.ContainsFunc(c.stages, func(st *stage) bool { return st.faulty }) {
		c.checkWalkers()
	}
	for _, st := range c.stages {
		if st.parent != nil && !c.exhausted(st.decl.Name.Span) {
			st.faulty = c.faultily(func() { c.checkDelegate(st) }) || st.faulty
		}
	}
}

// lowerDelegate starts from a copy of the parent: what a delegate leaves out it
// inherits. Rules add up, everything else that it states replaces.
func (c *checker) lowerDelegate(d *syntax.StageDecl, parent *stage) *stage {
	st := c.openStage(d)
	st.parent, st.params = parent, parent.params
	out := *parent.out
	out.Name, out.From, out.Gates = d.Name.Text, parent.out.Name, nil
	out.HasDelegable, out.Delegable, out.Handed = false, nil, nil
	out.Params, out.Values = slices.Clone(out.Params), slices.Clone(out.Values)
	if d.Doc != "" {
		out.Doc = d.Doc
	}
	out.Require, out.Ensure, out.Produce = slices.Clone(out.Require), slices.Clone(out.Ensure), slices.Clone(out.Produce)
	st.out = &out
	c.lowerClauses(st)
	for k := range parent.unclear {
		if st.clauses[k] == nil {
			st.unclear[k] = true
		}
	}
	return st
}

// checkDelegate reports what a delegate may do, or hands on, that its parent does not hand on.
func (c *checker) checkDelegate(st *stage) {
	child, parent := st.out, st.parent.out
	c.subset(st, "in", child.In, parent.In)
	c.subset(st, "next", child.Next, parent.Next)
	if len(parent.By) > 0 {
		c.subset(st, "by", child.By, parent.By)
	}
	if child.Tries() > parent.Tries() {
		c.report(moreAttempts(st))
	}
	c.checkShare(share{st: st, as: child, kinds: ir.HandedKinds()})
	if child.Handed != nil {
		c.checkShare(share{st, child.HandsOn(), child.Handed.Kinds, "delegable ", "let others "})
	}
}

// A share is what a delegate has of what its parent hands on: the authority of some kinds that
// it has itself, or that it hands on in its turn.
type share struct {
	st    *stage
	as    *ir.Stage // with the grants of the share
	kinds []ir.HandedKind

	before string // the kind, in the name of the clause that grants it
	verb   string // before the word for what it lets happen
}

func (s share) of(kind ir.HandedKind) bool { return slices.Contains(s.kinds, kind) }

// clear reports whether no error left what is compared of a kind without its meaning.
func (s share) clear(kind ir.HandedKind) bool {
	return s.st.isClear(s.before+string(kind)) && s.st.parent.isClear(s.st.parent.handing(kind), "delegable")
}

// handing is the clause by which a stage hands on authority of a kind: its own if it does not
// say otherwise.
func (st *stage) handing(kind ir.HandedKind) string {
	if st.out.Handed.Has(kind) {
		return "delegable " + string(kind)
	}
	return string(kind)
}

// checkShare reports what lies beyond what the parent hands on.
func (c *checker) checkShare(s share) {
	child, parent := s.as, s.st.parent.out.HandsOn()
	read := child.Read
	if parent.Handed.Has(ir.HandsRead) || s.before != "" {
		read = c.withoutDependent(child)
	}
	seen := true
	if s.of(ir.HandsRead) && s.clear(ir.HandsRead) {
		seen = c.contained(s, ir.HandsRead, read, parent.Read, region.Shown)
	}
	if seen && (s.of(ir.HandsRead) || s.of(ir.HandsSource)) && s.clear(ir.HandsRead) && s.clear(ir.HandsSource) { // what may be tested
		c.contained(s, ir.HandsRead, region.Union(read, child.Source), region.Union(parent.Read, parent.Source), region.Interior)
	}
	if s.of(ir.HandsWrite) && s.clear(ir.HandsWrite) && c.rightsContained(s, child, parent) {
		c.contained(s, ir.HandsWrite, child.Blind, region.Union(parent.Writing(ir.Create), parent.Blind), region.Interior)
	}
	if s.of(ir.HandsSource) && s.clear(ir.HandsSource) {
		c.contained(s, ir.HandsSource, child.Source, parent.Source, region.Interior)
	}
	if parent.HasDelegable {
		c.checkLimit(s, parent.Delegable)
	}
}

// checkLimit reports what lies beyond the part that the parent hands on of what it has.
func (c *checker) checkLimit(s share, limit region.Region) {
	child := s.as
	inside := func(kind ir.HandedKind, r region.Region, mode region.Mode) {
		if !s.of(kind) || !s.clear(kind) {
			return
		}
		if w, ok := c.model.Within(r, limit, mode, mode); !ok {
			c.report(beyondParent(s, kind, string(kind), w, "the delegable region of "+s.st.parent.title()))
		}
	}
	inside(ir.HandsRead, c.withoutDependent(child), region.Shown)
	inside(ir.HandsWrite, region.Union(child.Write, child.Blind), region.Interior)
	inside(ir.HandsSource, child.Source, region.Interior)
}

// rightsContained checks that a delegate has each right where its parent hands it on, up to
// the first that it does not.
func (c *checker) rightsContained(s share, child, parent *ir.Stage) bool {
	for _, right := range ir.RightsCompared(child, parent) {
		verb := "write"
		if right != ir.AllRights {
			verb = right.Words()[0]
		}
		w, ok := c.model.Within(child.Writing(right), parent.Writing(right), region.Interior, region.Interior)
		if !ok {
			c.report(beyondParent(s, ir.HandsWrite, verb, w, s.st.parent.handingTitle(ir.HandsWrite)))
			return false
		}
	}
	return true
}

// withoutDependent is what a stage reads apart from the paths of its dependent
// parameters, which the host reads for it.
func (c *checker) withoutDependent(s *ir.Stage) region.Region {
	return slices.DeleteFunc(slices.Clone(s.Read), func(g region.Grant) bool {
		return len(g.Include) == 1 && slices.ContainsFunc(s.Params, func(p ir.Param) bool {
			return p.Kind == ir.DependentParam && p.Of.String() == g.Include[0].String()
		})
	})
}

func (c *checker) contained(s share, kind ir.HandedKind, child, limit region.Region, mode region.Mode) bool {
	w, ok := c.model.Within(child, limit, mode, mode)
	if !ok {
		c.report(beyondParent(s, kind, string(kind), w, s.st.parent.handingTitle(kind)))
	}
	return ok
}

// handingTitle is how messages name what a stage hands on of a kind.
func (st *stage) handingTitle(kind ir.HandedKind) string {
	if st.out.Handed.Has(kind) {
		return "what " + st.title() + " hands on"
	}
	return st.title()
}

func (c *checker) subset(st *stage, clause string, child, parent []string) {
	cl := st.clauses[clause]
	if cl == nil {
		return
	}
	for _, n := range cl.Names {
		names := []string{n.Text}
		if g := c.groups[n.Text]; g != nil && clause == "by" {
			names = g.roles
		}
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(child, name) && !slices.Contains(parent, name) }) {
			c.report(notInParent(st, clause, n, parent))
		}
	}
}
