package check

import (
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/syntax"
)

// DefaultPhase is the one phase of a contract that declares none.
const DefaultPhase = "main"

// lowerPhases lowers the phase graph and checks that every phase can be reached
// and left behind.
func (c *checker) lowerPhases() {
	d := c.phasesDecl()
	if d == nil {
		c.out.Phases = []ir.Phase{{Name: DefaultPhase}}
		return
	}
	before := c.errors
	for _, p := range d.Phases {
		if first, ok := c.phases[p.Name.Text]; ok {
			c.report(phaseTwice(p, first))
			continue
		}
		c.phases[p.Name.Text] = p
	}
	for _, p := range d.Phases {
		if c.phases[p.Name.Text] == p {
			c.phaseAt[p.Name.Text] = len(c.out.Phases)
			c.out.Phases = append(c.out.Phases, c.lowerPhase(p))
		}
	}
	if len(c.out.Phases) == 0 {
		if c.parsed {
			c.report(noPhases(d))
		}
		c.out.Phases = []ir.Phase{{Name: DefaultPhase}}
		return
	}
	c.phasesClean = c.errors == before
	if c.phasesClean {
		c.checkReachable()
	}
}

func (c *checker) phasesDecl() *syntax.PhasesDecl {
	for _, d := range c.root.file.Decls {
		if d, ok := d.(*syntax.PhasesDecl); ok {
			return d
		}
	}
	return nil
}

func (c *checker) lowerPhase(p *syntax.Phase) ir.Phase {
	out := ir.Phase{Name: p.Name.Text, Doc: p.Doc}
	to := map[string]bool{}
	for _, a := range p.Arrows {
		if c.isMissing(a.To) {
			continue
		}
		if c.phases[a.To.Text] == nil {
			c.report(unknownName(diagnostic.UnknownPhase, a.To, a.To.Text, keys(c.phases)))
			continue
		}
		if to[a.To.Text] {
			c.report(arrowTwice(p, a))
			continue
		}
		to[a.To.Text] = true
		arrow := ir.Arrow{To: a.To.Text, ByHost: a.ByHost}
		if a.Guard != nil {
			guard := c.expression(a.Guard, expr.Scope{Vars: ir.GuardVars})
			arrow.Guard = &guard
		}
		out.Arrows = append(out.Arrows, arrow)
	}
	return out
}

// checkReachable reports phases that no instance enters, and those it could
// never get out of to a terminal phase.
func (c *checker) checkReachable() {
	reached := c.closure([]string{c.out.Phases[0].Name}, func(from string) []string { return arrowTargets(c.phase(from)) })
	var terminal []string
	for _, p := range c.out.Phases {
		if len(p.Arrows) == 0 {
			terminal = append(terminal, p.Name)
		}
	}
	before := map[string][]string{}
	for _, p := range c.out.Phases {
		for _, a := range p.Arrows {
			before[a.To] = append(before[a.To], p.Name)
		}
	}
	leaves := c.closure(terminal, func(to string) []string { return before[to] })
	for _, p := range c.out.Phases {
		at := c.phases[p.Name]
		if !reached[p.Name] {
			c.report(unreachablePhase(at, c.out.Phases[0].Name))
		}
		if !leaves[p.Name] && len(at.Arrows) > 0 {
			c.report(endlessPhase(at))
		}
	}
}

// closure is everything reached from the seeds by following next.
func (c *checker) closure(seeds []string, next func(string) []string) map[string]bool {
	seen := map[string]bool{}
	for len(seeds) > 0 {
		p := seeds[len(seeds)-1]
		seeds = seeds[:len(seeds)-1]
		if !seen[p] {
			seen[p] = true
			seeds = append(seeds, next(p)...)
		}
	}
	return seen
}

func arrowTargets(p *ir.Phase) []string {
	var out []string
	for _, a := range p.Arrows {
		out = append(out, a.To)
	}
	return out
}

// checkWalkers reports edges that neither a stage nor the host may walk.
func (c *checker) checkWalkers() {
	walked := map[[2]string]bool{}
	for _, s := range c.out.Stages {
		for _, from := range s.In {
			for _, to := range s.Next {
				walked[[2]string{from, to}] = true
			}
		}
	}
	for _, p := range c.out.Phases {
		for _, a := range p.Arrows {
			if !a.ByHost && !walked[[2]string{p.Name, a.To}] {
				c.report(unwalkedArrow(c.phases[p.Name], a.To))
			}
		}
	}
}

// phase finds a lowered phase by name, nil if there is none.
func (c *checker) phase(name string) *ir.Phase {
	if i, ok := c.phaseAt[name]; ok {
		return &c.out.Phases[i]
	}
	return nil
}
