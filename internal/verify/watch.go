package verify

import "context"

// When a context ends, what is being worked out is left at once, from wherever it is:
// loops over what a state or a patch holds step the watch, which panics with ended, and
// the function that was called from outside turns that into its error. So an end is
// never taken for an answer, and nothing unfinished is remembered.

// stepsBetween is how many steps there are between two looks at the context.
const stepsBetween = 256

// A watch looks at a context now and then. It belongs to one goroutine. The nil watch
// is of a context that never ends.
type watch struct {
	ctx   context.Context
	steps int
}

// ended is what a watch panics with.
type ended struct{ err error }

// step is called for each piece of work whose number the contract does not bound.
func (w *watch) step() {
	if w == nil {
		return
	}
	if w.steps++; w.steps%stepsBetween == 0 {
		w.look()
	}
}

// look is called before work that takes longer than a step.
func (w *watch) look() {
	if w != nil {
		leaveIfEnded(w.ctx)
	}
}

func leaveIfEnded(ctx context.Context) {
	if err := ctx.Err(); err != nil {
		panic(ended{err})
	}
}

// catch, deferred, makes the end of the context the error.
func catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case ended:
		*err = r.err
	default:
		panic(r)
	}
}

// within is p for one call that lasts no longer than ctx.
func (p *Program) within(ctx context.Context) *Program {
	if ctx.Done() == nil && p.watch == nil {
		return p
	}
	bound := *p
	bound.watch = nil
	if ctx.Done() != nil {
		bound.watch = &watch{ctx: ctx}
	}
	return &bound
}
