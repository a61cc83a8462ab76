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
	out.HasDelegable, out.Delegable = false, nil
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

// checkDelegate reports what a delegate may do that its parent, or the parent's
// delegable region, may not.
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
	bound := map[string]region.Region{"read": parent.Read, "source": parent.Source}
	clear := func(clauses ...string) bool { return st.isClear(clauses...) && st.parent.isClear(clauses...) }
	seen := clear("read") && c.contained(st, "read", child.Read, bound["read"], region.Shown, st.parent.title())
	if seen && clear("source") { // what may be tested
		c.contained(st, "read", region.Union(child.Read, child.Source), region.Union(parent.Read, parent.Source), region.Interior, st.parent.title())
	}
	if clear("write") && c.rightsContained(st, child, parent) {
		c.contained(st, "write", child.Blind, region.Union(parent.Writing(ir.Create), parent.Blind), region.Interior, st.parent.title())
	}
	if clear("source") {
		c.contained(st, "source", child.Source, bound["source"], region.Interior, st.parent.title())
	}
	if parent.HasDelegable {
		limit := "the delegable region of " + st.parent.title()
		if clear("read", "delegable") {
			c.contained(st, "read", c.withoutDependent(child), parent.Delegable, region.Shown, limit)
		}
		if clear("write", "delegable") {
			c.contained(st, "write", region.Union(child.Write, child.Blind), parent.Delegable, region.Interior, limit)
		}
		if clear("source", "delegable") {
			c.contained(st, "source", child.Source, parent.Delegable, region.Interior, limit)
		}
	}
}

// rightsContained checks that a delegate has each right where its parent has it, up to the
// first that it does not.
func (c *checker) rightsContained(st *stage, child, parent *ir.Stage) bool {
	for _, right := range ir.RightsCompared(child, parent) {
		verb := "write"
		if right != ir.AllRights {
			verb = right.Words()[0]
		}
		w, ok := c.model.Within(child.Writing(right), parent.Writing(right), region.Interior, region.Interior)
		if !ok {
			c.report(beyondParent(st, "write", verb, w, st.parent.title()))
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

func (c *checker) contained(st *stage, clause string, child, limit region.Region, mode region.Mode, who string) bool {
	w, ok := c.model.Within(child, limit, mode, mode)
	if !ok {
		c.report(beyondParent(st, clause, clause, w, who))
	}
	return ok
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
