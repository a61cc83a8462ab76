package check

import (
	"slices"

	"github.com/patchoptic/poptic/lang/syntax"
)

// checkClaims resolves the names in claims. Whether a claim holds is not decided
// here, and every one is reported as undecided so that none passes silently.
func (c *checker) checkClaims() {
	for _, d := range c.root.file.Decls {
		before := len(c.diagnostics)
		switch d := d.(type) {
		case *syntax.ComposeDecl:
			c.stagesNamed(d.Stages)
		case *syntax.ParallelDecl:
			c.checkTogether(c.stagesNamed(d.Stages), d.Differs, d.Stages)
		case *syntax.ProveDecl:
			c.checkProve(d)
		default:
			continue
		}
		if len(c.diagnostics) == before {
			c.report(undecided(d))
		}
	}
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

func (c *checker) checkProve(d *syntax.ProveDecl) {
	switch d.Kind {
	case syntax.CommutesClaim:
		names := []syntax.Name{d.A, d.B}
		c.checkTogether(c.stagesNamed(names), d.Differs, names)
	case syntax.WithinClaim:
		c.checkFootprintName(d.A)
		c.checkFootprintName(d.B)
	case syntax.AllCommuteClaim:
		c.phaseNames([]syntax.Name{d.A})
	case syntax.PhaseBeforeClaim:
		c.phaseNames([]syntax.Name{d.A})
		c.phaseNames([]syntax.Name{d.B})
	case syntax.NoStageClaim:
		c.stagesNamed(d.Except)
		c.lowerRegion(c.root, d.From, otherPath, nil)
	case syntax.NoFlowClaim:
		c.lowerRegion(c.root, d.From, otherPath, nil)
		c.lowerRegion(c.root, d.To, otherPath, nil)
	}
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
