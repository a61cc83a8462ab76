package check

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/syntax"
)

// lowerClaims resolves the names in claims and lowers them. Whether a claim holds
// is decided over the compiled contract (compiler/footprint); claimSpans says
// where each was written.
func (c *checker) lowerClaims() {
	for _, d := range c.root.file.Decls {
		switch d := d.(type) {
		case *syntax.ComposeDecl:
			c.stagesNamed(d.Stages)
			c.out.Compositions = append(c.out.Compositions, ir.Composition{Name: d.Name.Text, Doc: d.Doc, Stages: texts(d.Stages)})
		case *syntax.ParallelDecl:
			c.checkTogether(c.stagesNamed(d.Stages), d.Differs, d.Stages)
			c.addClaim(ir.Claim{Kind: ir.Parallel, Name: d.Name.Text, Stages: texts(d.Stages), Differs: text(d.Differs)}, d.Span)
		case *syntax.ProveDecl:
			c.lowerProve(d)
		}
	}
}

// addClaim adds a claim written at a place. Its text is the source with white
// space and comments folded.
func (c *checker) addClaim(claim ir.Claim, at source.Span) {
	claim.Text = folded(at.Text())
	c.out.Claims = append(c.out.Claims, claim)
	c.claimSpans = append(c.claimSpans, at)
}

// folded joins the words of a text, without comments.
func folded(text string) string {
	var words []string
	for _, line := range strings.Split(text, "\n") {
		if i := strings.Index(line, " #"); i >= 0 {
			line = line[:i]
		}
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}

func (c *checker) lowerProve(d *syntax.ProveDecl) {
	claim := ir.Claim{Kind: ir.ClaimKind(d.Kind), Differs: text(d.Differs), Except: texts(d.Except), Verb: d.Verb.Text}
	switch d.Kind {
	case syntax.CommutesClaim:
		names := []syntax.Name{d.A, d.B}
		c.checkTogether(c.stagesNamed(names), d.Differs, names)
		claim.Stages = texts(names)
	case syntax.WithinClaim:
		c.checkFootprintName(d.A)
		c.checkFootprintName(d.B)
		claim.Stages = texts([]syntax.Name{d.A, d.B})
	case syntax.AllCommuteClaim:
		claim.Phases = c.phaseNames([]syntax.Name{d.A})
	case syntax.PhaseBeforeClaim:
		claim.Phases = append(c.phaseNames([]syntax.Name{d.A}), c.phaseNames([]syntax.Name{d.B})...)
	case syntax.NoStageClaim:
		c.stagesNamed(d.Except)
		claim.From = c.claimRegion(d.From)
	case syntax.NoFlowClaim:
		claim.From, claim.To = c.claimRegion(d.From), c.claimRegion(d.To)
	}
	c.addClaim(claim, d.Span)
}

func (c *checker) claimRegion(r *syntax.RegionExpr) region.Region {
	out, _ := c.lowerRegion(c.root, r, otherPath, nil)
	return out
}

func text(n *syntax.Name) string {
	if n == nil {
		return ""
	}
	return n.Text
}

func (c *checker) stagesNamed(names []syntax.Name) []*stage {
	var out []*stage
	for _, n := range names {
		if st := c.stageNamed(n); st != nil {
			out = append(out, st)
		}
	}
	return out
}

// checkTogether reports stages that can never run in one phase, and a parameter
// that not all of them have.
func (c *checker) checkTogether(stages []*stage, differs *syntax.Name, names []syntax.Name) {
	for i, a := range stages {
		for _, b := range stages[i+1:] {
			if !slices.ContainsFunc(a.out.In, func(p string) bool { return slices.Contains(b.out.In, p) }) {
				c.report(noSharedPhase(a, b, names))
			}
		}
		if differs != nil && a.params[differs.Text] == nil {
			c.report(paramNotShared(*differs, a))
		}
	}
}

// checkFootprintName resolves what "within" may compare: a stage or a composition.
func (c *checker) checkFootprintName(n syntax.Name) {
	for _, d := range c.root.file.Decls {
		if d, ok := d.(*syntax.ComposeDecl); ok && d.Name.Text == n.Text {
			return
		}
	}
	c.stageNamed(n)
}
