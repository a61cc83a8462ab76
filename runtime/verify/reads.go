package verify

import "github.com/patchoptic/poptic/compiler/region"

// Reads says what a write would show a stage: the function it returns reports
// whether something at or below a word lies in what the stage reads, with its
// arguments bound on s. They must bind there. Cost: that of binding, then of a walk
// for each word. Any goroutine may call it.
func (p *Program) Reads(s Snapshot, stage string, args map[string]string) func(region.Word) bool {
	v := &verification{p: p, stage: p.stages[stage], snapshot: s, proposal: Proposal{Stage: stage, Args: args}}
	v.bindArguments()
	at := v.stage.read.Start(v.args)
	return func(w region.Word) bool { return at.Walk(w).Live() }
}
