package check

import (
	"strings"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// What a stage writes or takes as a source it must also read (semantics 0.4):
// otherwise accepting or rejecting its patch would tell it what it does not see.
// Three kinds of writes are exempt, because nothing hidden can decide about them
// (language, "Paths and regions"): an append to a log; everything below a key
// that a "new in" parameter creates; a blind add. What they need instead is a
// parent that certainly exists, or that the stage sees.

func (c *checker) checkVisibility() {
	for _, st := range c.stages {
		if c.exhausted(st.decl.Name.Span) {
			return
		}
		if st.isClear("read") {
			st.faulty = c.faultily(func() { c.checkSeen(st) }) || st.faulty
		}
	}
}

func (c *checker) checkSeen(st *stage) {
	read := region.Compile(st.out.Read)
	for _, w := range c.writtenClearly(st, "write") {
		for _, p := range c.exemptParents(st.out, w) {
			if !c.model.ParentStands(st.out, p) {
				c.report(parentUncertain(st, w.at, p.Source()))
			}
		}
		c.requireRead(st, read, "write", c.model.WithoutExempt(st.out, w.plain), w)
	}
	for _, w := range c.writtenClearly(st, "source") {
		c.requireRead(st, read, "source", w.plain, w)
	}
}

// writtenGrant is one grant as the author wrote it, lowered.
type writtenGrant struct {
	plain, blind region.Region
	at           source.Span
	read         string // the grant that reads it, as an author writes it
}

// writtenClearly is written, of a clause that has its meaning.
func (c *checker) writtenClearly(st *stage, clause string) []writtenGrant {
	if !st.isClear(clause) {
		return nil
	}
	return c.written(st, clause)
}

// written lists the grants of a clause, of a delegate's parent where it inherits
// the clause. What was wrong with them has been reported.
func (c *checker) written(of *stage, clause string) []writtenGrant {
	st := of
	for st.clauses[clause] == nil && st.parent != nil {
		st = st.parent
	}
	cl := st.clauses[clause]
	if cl == nil || cl.Region == nil {
		return nil
	}
	use := map[string]pathUse{"write": writePath, "source": sourcePath}[clause]
	c.muted++
	counted := c.patternCount
	defer func() { c.muted--; c.patternCount = counted }()
	var out []writtenGrant
	for _, g := range cl.Region.Grants {
		plain, blind := c.lowerRegion(c.root, &syntax.RegionExpr{Grants: []*syntax.GrantExpr{g}}, use, st.params)
		at := g.Span
		if st != of {
			at = of.decl.Name.Span
		}
		read := strings.TrimSuffix(g.Span.Text(), "/-")
		out = append(out, writtenGrant{plain, blind, at, read})
	}
	return out
}

func (c *checker) requireRead(st *stage, read *region.Set, clause string, authority region.Region, g writtenGrant) {
	if w, ok := c.model.WithinSet(authority, read, region.Interior, region.Plain); !ok {
		c.report(notRead(st, clause, g, w))
	}
}

// exemptParents lists the containers that must stand for what a grant exempts.
func (c *checker) exemptParents(s *ir.Stage, w writtenGrant) []region.Pattern {
	var out []region.Pattern
	for _, p := range footprint.Includes(w.plain) {
		if parent, ok := c.model.ExemptParent(s, p); ok {
			out = append(out, parent)
		}
	}
	for _, p := range footprint.Includes(w.blind) {
		if n := len(p.Segments); n > 0 {
			out = append(out, footprint.Prefix(p, n-1))
		}
	}
	return out
}
