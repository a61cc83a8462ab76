package verify

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// mostTried is how many keys Complete tries at most.
const mostTried = 10_000

// Complete gives a request the arguments that it lacks: for each parameter that stands for a
// key or an element the first, in ascending order, with which all of them bind; for a new key
// one that the state does not have. It reports whether there are such; if not, the request
// stays as it is, and View says why. Values are not made up: a stage that takes one needs it
// given. The errors are those of View. It costs at most 10,000 bindings.
func (p *Program) Complete(ctx context.Context, s Snapshot, r ViewRequest) (completed ViewRequest, ok bool, err error) {
	st, err := p.stage(r.Stage, r.Args)
	if err != nil {
		return r, false, err
	}
	defer catch(&err)
	given := r.Args
	if r.Args = maps.Clone(given); r.Args == nil {
		r.Args = map[string]string{}
	}
	v := &verification{p: p, ctx: ctx, stage: st, snapshot: s, args: region.Binding{}, proposal: r.proposal()}
	search := completion{v: v, left: mostTried}
	if len(v.bindValues()) == 0 && search.from(0) {
		return r, true, nil
	}
	r.Args = given
	return r, false, nil
}

// A completion searches for arguments, depth first. Those that it finds are put into the
// proposal.
type completion struct {
	v    *verification
	left int // keys to try
}

// from binds the parameters from the i-th on.
func (c *completion) from(i int) bool {
	v := c.v
	if i == len(v.stage.Params) {
		return true
	}
	p := &v.stage.Params[i]
	if _, given := v.proposal.Args[p.Name]; given || p.Kind == ir.DependentParam {
		return c.with(i)
	}
	for key := range c.keys(p) {
		leaveIfEnded(v.ctx)
		if c.left--; c.left < 0 {
			break
		}
		v.proposal.Args[p.Name] = key
		if c.with(i) {
			return true
		}
	}
	delete(v.proposal.Args, p.Name)
	return false
}

// with binds the i-th parameter to what the proposal says, and those behind it.
func (c *completion) with(i int) bool {
	v, p := c.v, &c.v.stage.Params[i]
	value, bad := v.bindOne(p)
	if bad != nil {
		return false
	}
	v.args[p.Name] = value
	if (p.Where == nil || v.unfulfilled(p, v.stage.bindings[i]) == nil) && c.from(i+1) {
		return true
	}
	delete(v.args, p.Name)
	return false
}

// keys are those that a parameter may bind to.
func (c *completion) keys(p *ir.Param) iter.Seq[string] {
	at := nodeAtBound(c.v.snapshot.State, p.Of, c.v.args)
	return func(yield func(string) bool) {
		switch {
		case p.Kind == ir.NewParam:
			yield(newKey(p, at))
		case p.Kind == ir.ExistingParam:
			for key := range at.Members() {
				if !yield(key) {
					return
				}
			}
		default:
			eachText(at, yield)
		}
	}
}

// newKey is one that the container at a place does not have, and that a parameter may bind to.
func newKey(p *ir.Param, at *tree.Node) string {
	key := "new"
	for n := 2; at.Get(key) != nil || slices.Contains(p.Reserved, key); n++ {
		key = "new-" + strconv.Itoa(n)
	}
	return key
}

// eachText gives the strings among the elements of a list or set.
func eachText(list *tree.Node, yield func(string) bool) {
	for _, n := range list.Elements() {
		if n.Kind() == ir.String && !yield(n.Text()) {
			return
		}
	}
}
