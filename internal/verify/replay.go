package verify

import (
	"context"
	"errors"

	"github.com/patchoptic/poptic/internal/tree"
)

// Replay applies a proposal that was committed before to the state it was
// committed on, without judging it again, and says what each operation read and
// wrote. The error says that it does not apply, and so cannot have been committed on
// this state; or it is the context's.
func (p *Program) Replay(ctx context.Context, root *tree.Node, proposal []byte) (after *tree.Node, effects []tree.Effect, err error) {
	defer catch(&err)
	v := &verification{p: p.within(ctx), ctx: ctx, snapshot: Snapshot{State: root}, proposal: Proposal{Patch: proposal}}
	if found := v.parseProposal(); len(found) > 0 {
		return nil, nil, errors.New(found[0].Message)
	}
	v.typeUses()
	e := &execution{v: v, after: root, trusts: true}
	if e.runAll() >= 0 {
		return nil, nil, errors.New(e.found[0].Message)
	}
	return e.after, e.effects, nil
}
