package verify

import (
	"context"
	"slices"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
)

// checkPhase is the phase step: the role, the phase, the arguments, the move.
func (v *verification) checkPhase() []finding {
	found := v.checkEntry()
	return append(found, v.checkNext()...)
}

// checkEntry checks what a view needs too.
func (v *verification) checkEntry() []finding {
	var found []finding
	s, role, phase := v.stage, v.proposal.Role, v.snapshot.Phase
	if len(s.By) > 0 && !slices.Contains(s.By, role) {
		found = append(found, say.unauthorised(s.Name, role, s.By))
	}
	if !slices.Contains(s.In, phase) {
		found = append(found, say.wrongPhase(s.Name, phase, s.In))
	}
	return append(found, v.bindArguments()...)
}

// checkNext settles which phase the stage moves to.
func (v *verification) checkNext() []finding {
	s := v.stage
	if v.next = v.proposal.Next; v.next == "" {
		v.next = v.chosen
	}
	switch {
	case v.chosen != "" && v.chosen != v.next:
		return []finding{say.twoNexts(s.Name)}
	case len(s.Next) == 0 && v.next != "":
		return []finding{say.noNext(s.Name, v.next)}
	case len(s.Next) == 0:
		return nil
	case v.next == "" && len(s.Next) > 1:
		return []finding{say.chooseNext(s.Name, s.Next)}
	case v.next == "":
		v.next = s.Next[0]
	case !slices.Contains(s.Next, v.next):
		return []finding{say.foreignNext(s.Name, s.Next)}
	}
	if slices.Contains(s.In, v.snapshot.Phase) && v.p.arrow(v.snapshot.Phase, v.next) == nil {
		return []finding{say.noArrow(v.snapshot.Phase, v.next)}
	}
	return nil
}

// arrow finds an edge of the phase graph, nil if there is none.
func (p *Program) arrow(from, to string) *ir.Arrow {
	phase := p.contract.Phase(from)
	if phase == nil {
		return nil
	}
	for i := range phase.Arrows {
		if phase.Arrows[i].To == to {
			return &phase.Arrows[i]
		}
	}
	return nil
}

// checkGuard evaluates the guard of the move on the state after the patch.
func (v *verification) checkGuard() []finding {
	guard := v.p.guards[move{v.snapshot.Phase, v.next}]
	if v.next == "" || guard == nil {
		return nil
	}
	in := &expr.Input{State: v.after, Phase: v.phaseAfter(), Measure: v.measuresAfter.lookup}
	j := guard.judge(v.ctx, in)
	if j == holds {
		return nil
	}
	f := say.guard(v.snapshot.Phase, v.next).of(ir.GuardGate, v.next).because(j)
	f.reads = guard.readsBound(nil)
	return []finding{f}
}

// Advance moves the phase as the host may do along an edge marked for it. The
// guard and every invariant that reads the phase must hold afterwards; the state
// stays as it is. The error is the context's.
func (p *Program) Advance(ctx context.Context, s Snapshot, to, role string) (out Outcome, err error) {
	defer catch(&err)
	v := &verification{p: p.within(ctx), ctx: ctx, snapshot: s, after: s.State, next: to, reached: stepPhase}
	v.proposal.Role = role
	found := v.checkHostMove()
	if len(found) == 0 {
		v.reached = stepRules
		found = v.checkRules()
	}
	out = v.outcome(found)
	leaveIfEnded(ctx)
	return out, nil
}

func (v *verification) checkHostMove() []finding {
	arrow := v.p.arrow(v.snapshot.Phase, v.next)
	switch {
	case arrow == nil:
		return []finding{say.noArrow(v.snapshot.Phase, v.next)}
	case !arrow.ByHost:
		return []finding{say.notByHost(v.snapshot.Phase, v.next)}
	default:
		return nil
	}
}
