package verify

import (
	"strconv"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
)

// checkRequire is the require step, on the state before.
func (v *verification) checkRequire() []finding {
	if len(v.stage.require) == 0 {
		return nil
	}
	var found []finding
	v.measuresBefore = measures{p: v.p, state: v.snapshot.State}
	in := &expr.Input{Before: v.snapshot.State, Params: v.args, Phase: v.snapshot.Phase, Measure: v.measuresBefore.lookup}
	for i := range v.stage.require {
		r := &v.stage.require[i]
		if j := r.judge(v.ctx, in); j != holds {
			f := say.require(v.stage.Name).of(ir.RequireGate, nth(i)).because(j)
			f.reads = r.readsBound(v.args)
			found = append(found, f)
		}
	}
	return found
}

// checkRules is the last step: ensure, the invariants that the commit can have
// changed, and the guard of the move.
func (v *verification) checkRules() []finding {
	v.measuresAfter = measures{p: v.p, state: v.after}
	found := append(v.checkEnsure(), v.checkInvariants()...)
	return append(found, v.checkGuard()...)
}

func (v *verification) checkEnsure() []finding {
	if v.stage == nil || len(v.stage.ensure) == 0 {
		return nil
	}
	var found []finding
	in := &expr.Input{Before: v.snapshot.State, After: v.after, Params: v.args, Phase: v.phaseAfter(), Measure: v.measuresAfter.lookup}
	for i := range v.stage.ensure {
		r := &v.stage.ensure[i]
		if j := r.judge(v.ctx, in); j != holds {
			f := say.ensure(v.stage.Name).of(ir.EnsureGate, nth(i)).because(j)
			f.reads = r.readsBound(v.args)
			found = append(found, f)
		}
	}
	return found
}

// checkInvariants evaluates the invariants whose footprint meets a target, and
// those that read the phase if it moves (spec/semantics.md section 6.1).
func (v *verification) checkInvariants() []finding {
	r := ruleRun{
		p: v.p, ctx: v.ctx, before: v.snapshot.State, state: v.after,
		phase: v.phaseAfter(), measures: &v.measuresAfter,
	}
	moves := r.phase != v.snapshot.Phase
	for i := range v.p.invariants {
		inv := &v.p.invariants[i]
		if moves && inv.Expr != nil && inv.Expr.ReadsPhase {
			r.all(inv)
		} else {
			r.touched(inv, v.targets)
		}
	}
	return r.found
}

// nth is the name of a stage's i-th expression of a kind.
func nth(i int) string { return strconv.Itoa(i + 1) }
