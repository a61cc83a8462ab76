package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/region"
)

// Reads says what a write would show a stage: the function it returns reports
// whether something at or below a word decides about the stage's view, with its
// arguments bound on s, which they must be, and where: at the word, or, if nothing is
// read there itself, at the nearest place above that is on the way to what is read. A
// new entry of a set or log that the view has a place for is one of these.
// Cost: that of binding, then of a few walks for each word. Any goroutine may call it.
func (p *Program) Reads(s Snapshot, stage string, args map[string]string) func(region.Word) (at region.Word, met bool) {
	v := p.looking(s, stage, args)
	v.bindArguments()
	read, seen := v.stage.read.Start(v.args), v.stage.seen.Start(v.args)
	return func(w region.Word) (region.Word, bool) {
		if !seen.Walk(w).Live() && !hasPlaceFor(read, w) {
			return nil, false
		}
		for len(w) > 0 && !read.Walk(w).Live() {
			w = w[:len(w)-1]
		}
		return w, true
	}
}

// hasPlaceFor reports whether w is a new entry of a set or log that a view shows.
func hasPlaceFor(read region.Cursor, w region.Word) bool {
	last := len(w) - 1
	if last < 0 || !isFresh(w[last]) {
		return false
	}
	bag := read.Walk(w[:last])
	return bag.In() || bag.CanHold(region.Array)
}

// LooksAlike reports whether a stage sees the same of two states: the phase, and its
// view with placeholders, for arguments that bind on both. It costs two views.
func (p *Program) LooksAlike(a, b Snapshot, stage string, args map[string]string) bool {
	x, y := p.looking(a, stage, args), p.looking(b, stage, args)
	if a.Phase != b.Phase || len(x.bindArguments())+len(y.bindArguments()) > 0 {
		return false
	}
	seen, hidden := x.project()
	sees, hides := y.project()
	return seen.Digest() == sees.Digest() && slices.EqualFunc(hidden, hides, slices.Equal[region.Word])
}

// looking is a verification of which only the view matters.
func (p *Program) looking(s Snapshot, stage string, args map[string]string) *verification {
	return &verification{p: p, stage: p.stages[stage], snapshot: s, proposal: Proposal{Stage: stage, Args: args}}
}
