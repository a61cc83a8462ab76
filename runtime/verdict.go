package runtime

import (
	"sync"

	"github.com/patchoptic/poptic/internal/verify"
)

// The parts of a verdict; see package verify.
type (
	// Violation is one reason to reject.
	Violation = verify.Violation
	// ActorVerdict is the rendering that a stage's actor may see.
	ActorVerdict = verify.ActorVerdict
)

// A Verdict is the answer to a proposal or to the host's move. Its exported part,
// and its JSON, is the operator's rendering, which must not reach the actor; what
// may, is Actor. It keeps the state it was decided on in memory.
type Verdict struct {
	verify.Verdict
	actor func() ActorVerdict
}

// verdictOf is the verdict of an outcome. The actor's rendering costs about what
// the view costs, so it is made when it is first asked for.
func verdictOf(out *verify.Outcome) Verdict {
	return Verdict{Verdict: out.Verdict, actor: sync.OnceValue(out.Actor)}
}

// Actor is the rendering that the stage's actor may see: made from its view and
// its patch alone, but for what accepting or refusing itself tells
// (spec/semantics.md section 12). Its JSON is what to send. The zero Verdict has
// the zero rendering. Safe for concurrent use; the result's lists are shared by all
// callers of one verdict.
func (v Verdict) Actor() ActorVerdict {
	if v.actor == nil {
		return ActorVerdict{}
	}
	return v.actor()
}
