package verify

import (
	"context"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Rehearse runs a patch on what the actor of a stage was shown, as if that were all of the state,
// and says how many gates it would not pass of those that look at nothing else: what must be
// produced, ensure, invariants, change rules and the guard of a move. runs is false where the patch
// cannot be run there. What was not shown takes no part in it, so of two states with equal views
// it is the same. The arguments are taken as they are; pr.Next is the phase to move to. The error
// is as that of Verify. Cost: as that of Verify, on the view.
func (p *Program) Rehearse(ctx context.Context, shown Snapshot, pr Proposal) (failed int, runs bool, err error) {
	st, err := p.stage(pr.Stage, pr.Args)
	if err != nil {
		return 0, false, err
	}
	defer catch(&err)
	shown.State = p.shape(shown.State, p.contract.State)
	v := &verification{p: p.within(ctx), ctx: ctx, stage: st, snapshot: shown, proposal: pr, after: shown.State, costs: newCosts(p.limits.Cost)}
	v.args = make(region.Binding, len(pr.Args))
	for i := range st.Params {
		param := &st.Params[i]
		value, given := pr.Args[param.Name]
		if param.Kind == ir.DependentParam {
			n := nodeAtBound(shown.State, param.Of, v.args)
			if given = n != nil && n.Kind() == ir.String; given {
				value = n.Text()
			}
		}
		if given {
			v.args[param.Name] = value
		}
	}
	if len(v.bindValues()) > 0 || len(v.readProposal()) > 0 || len(v.checkNext()) > 0 {
		return 0, false, nil
	}
	if len(v.take(v.execute(shown.State, true))) > 0 {
		return 0, false, nil
	}
	for _, f := range append(v.checkProduce(), v.checkRules()...) {
		if st.seesGates(f.rule, f.name) || f.rule == ir.ProduceGate {
			failed++
		}
	}
	return failed, true, nil
}
