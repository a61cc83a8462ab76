package verify

import "github.com/patchoptic/poptic/compiler/region"

// Reads says what a write would show a stage: the function it returns reports
// whether something at or below a word decides about the stage's view, with its
// arguments bound on s, which they must be, and where: at the word, or, if nothing is
// read there itself, at the nearest place above that is on the way to what is read.
// Cost: that of binding, then of a few walks for each word. Any goroutine may call it.
func (p *Program) Reads(s Snapshot, stage string, args map[string]string) func(region.Word) (at region.Word, met bool) {
	v := &verification{p: p, stage: p.stages[stage], snapshot: s, proposal: Proposal{Stage: stage, Args: args}}
	v.bindArguments()
	read, seen := v.stage.read.Start(v.args), v.stage.seen.Start(v.args)
	return func(w region.Word) (region.Word, bool) {
		if !seen.Walk(w).Live() {
			return nil, false
		}
		for len(w) > 0 && !read.Walk(w).Live() {
			w = w[:len(w)-1]
		}
		return w, true
	}
}
