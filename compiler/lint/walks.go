package lint

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// What is walked: the phases of an instance, and the containers that an expression goes
// through.

// A phaseOrder says which phases can be entered at all, and which after which.
type phaseOrder struct {
	arrows  map[string][]string // that can be walked
	entered map[string]bool
}

// newPhaseOrder leaves out the arrows that nobody can walk: their guard never holds, or all
// stages that could walk them have a `require` that never does, or run in no phase that is
// entered.
func (p *program) newPhaseOrder() *phaseOrder {
	never := map[*ir.Arrow]bool{}
	stopped := map[string]bool{}
	for _, j := range p.conditions() {
		if (j.arrow != nil || j.stage != "") && p.impossible(j) {
			if j.arrow != nil {
				never[j.arrow] = true
			} else {
				stopped[j.stage] = true
			}
		}
	}
	o := &phaseOrder{arrows: map[string][]string{}, entered: map[string]bool{}}
	for i := range p.contract.Phases {
		ph := &p.contract.Phases[i]
		for j := range ph.Arrows {
			a := &ph.Arrows[j]
			walked := a.ByHost || slices.ContainsFunc(p.contract.Stages, func(s ir.Stage) bool {
				return !stopped[s.Name] && slices.Contains(s.In, ph.Name) && slices.Contains(s.Next, a.To)
			})
			if walked && !never[a] {
				o.arrows[ph.Name] = append(o.arrows[ph.Name], a.To)
			}
		}
	}
	if len(p.contract.Phases) > 0 {
		o.entered = o.from(p.contract.Phases[0].Name)
	}
	return o
}

// from is the phases that can come once one was entered, that one included.
func (o *phaseOrder) from(phases ...string) map[string]bool {
	out := map[string]bool{}
	for queue := phases; len(queue) > 0; queue = queue[1:] {
		if at := queue[0]; !out[at] {
			out[at] = true
			queue = append(queue, o.arrows[at]...)
		}
	}
	return out
}

// follows reports whether a run of b can come after one of a.
func (o *phaseOrder) follows(a, b *ir.Stage) bool {
	later := o.from(a.PhasesAfter()...)
	return slices.ContainsFunc(b.In, func(ph string) bool { return later[ph] })
}

func deadPhases(p *program) (out []source.Diagnostic) {
	if p.contract == nil {
		return nil
	}
	order := p.once.order()
	for _, d := range p.tree.Decls {
		d, ok := d.(*syntax.PhasesDecl)
		if !ok {
			continue
		}
		for _, ph := range d.Phases {
			if !order.entered[ph.Name.Text] {
				out = append(out, diagnostic.DeadPhase.Diagnostic(ph.Name.Span, "mend the guard or the `require` on the way there", "phase "+ph.Name.Text+" is never entered: no way there can be walked"))
			}
		}
	}
	return out
}

func deadStages(p *program) (out []source.Diagnostic) {
	if p.contract == nil || len(p.contract.Phases) == 0 {
		return nil
	}
	order := p.once.order()
	p.eachStage(func(s *ir.Stage, d *syntax.StageDecl) {
		if len(s.In) > 0 && !slices.ContainsFunc(s.In, func(ph string) bool { return order.entered[ph] }) {
			out = append(out, diagnostic.DeadStage.Diagnostic(d.Name.Span, "mend the way to its phases, or leave it out", "stage "+s.Name+" never runs: "+listed(s.In, "no phase of")+" is ever entered"))
		}
	})
	return out
}

func listed(names []string, of string) string {
	if len(names) == 1 {
		return "its phase " + names[0]
	}
	return of + " " + strings.Join(names, ", ")
}

// A loop is a container that an expression goes through, and the loops within.
type loop struct {
	over  *term
	inner []*loop
}

// loops lists those of a term, the outermost ones. A fold over a container is one.
func loops(t *term) (out []*loop) {
	below := func() (all []*loop) {
		for _, a := range t.args {
			all = append(all, loops(a)...)
		}
		return all
	}
	if t.head != "over" || len(t.args) == 0 {
		return below()
	}
	own := &loop{over: t.args[0]}
	for _, a := range t.args[1:] {
		own.inner = append(own.inner, loops(a)...)
	}
	return append(loops(t.args[0]), own)
}

// isFixed reports whether a loop is over a container of the state that no variable of a
// loop around it picks.
func isFixed(over *term) bool { return over.head == "select" && !strings.Contains(over.text, "#") }

// unboundedCosts finds loops within loops over containers of the state, whose sizes
// nothing bounds, or bounds so high that the product is beyond the limit of one evaluation.
func unboundedCosts(p *program) []source.Diagnostic {
	if p.contract == nil {
		return nil
	}
	return p.once.unbounded()
}

func (p *program) findUnbounded() (out []source.Diagnostic) {
	limit := new(big.Rat).SetInt64(int64(expr.Default().CostLimit))
	for _, j := range slices.Concat(p.invariants(), p.conditions()) {
		l := *j.logic
		j.logic = &l
		l.known = slices.Concat(p.committed("state"), p.committed("before"), p.committed("after"))
		if found := p.costly(j, loops(j.ask), nil, limit); found != nil {
			out = append(out, *found)
		}
	}
	return out
}

// wholeStateRules passes on what the compiler notes, but for what is said more sharply: that
// the cost is a product.
func wholeStateRules(p *program) []source.Diagnostic {
	sharper := unboundedCosts(p)
	return slices.DeleteFunc(slices.Clone(p.noted[diagnostic.WholeStateRule.Code]), func(d source.Diagnostic) bool {
		return slices.ContainsFunc(sharper, func(s source.Diagnostic) bool { return holds(d.Span, s.Span) })
	})
}

// costly goes down the loops; around are the fixed ones that a loop stands in.
func (p *program) costly(j judgement, all []*loop, around []*term, limit *big.Rat) *source.Diagnostic {
	for _, l := range all {
		within := around
		if isFixed(l.over) {
			within = append(slices.Clone(around), l.over)
			if f := p.product(j, within, limit); f != nil {
				return f
			}
		}
		if f := p.costly(j, l.inner, within, limit); f != nil {
			return f
		}
	}
	return nil
}

func (p *program) product(j judgement, around []*term, limit *big.Rat) *source.Diagnostic {
	if len(around) < 2 {
		return nil
	}
	total := new(big.Rat).SetInt64(1)
	var names, missing []string
	for _, over := range around {
		name := pathOf(over)
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		size := p.sizeOf(j.logic, over)
		if size == nil {
			if !slices.Contains(missing, name) {
				missing = append(missing, name)
			}
			continue
		}
		total.Mul(total, size)
	}
	if len(missing) == 0 && total.Cmp(limit) <= 0 {
		return nil
	}
	d := diagnostic.UnboundedCost.Diagnostic(j.at, "", fmt.Sprintf("%s goes through %s once for each entry of the other: it costs the product of the sizes", j.what, strings.Join(names, " and ")))
	if len(names) == 1 {
		d.Message = fmt.Sprintf("%s goes through %s once for each of its entries: it costs the square of the size", j.what, names[0])
	}
	if len(missing) > 0 {
		d.Help = "bound the size of " + strings.Join(missing, " and of ") + ", with `where { size(self) <= N }` at the type or an invariant; or ask each entry with `each`, or for sameness with `unique`"
	} else {
		d.Help = fmt.Sprintf("at the sizes that are allowed it is beyond the limit of %s steps of one evaluation: lower a bound, or ask each entry with `each`", limit.RatString())
	}
	return &d
}

// pathOf writes members as a path.
func pathOf(t *term) string {
	if t.head == "select" {
		return pathOf(t.args[0]) + "/" + t.name
	}
	return ""
}

// sizeOf is the largest size of a container, by its type, an invariant, or a measure that
// counts it; nil if nothing says.
func (p *program) sizeOf(l *logic, over *term) *big.Rat {
	size := &term{head: "call", name: "size", args: []*term{over}, text: `(call "size" false ` + over.text + ")"}
	if n := l.upper(size); n != nil {
		return n
	}
	for _, m := range p.contract.Measures {
		n := len(m.Over.Segments)
		if m.Kind == ir.Count && m.Where == nil && n > 0 && m.Over.Segments[n-1].Kind != region.AnyDepth && strings.TrimSuffix(m.Over.Source(), "/*") == pathOf(over) {
			if n := l.upper(&term{text: m.Name}); n != nil {
				return n
			}
		}
	}
	return nil
}
