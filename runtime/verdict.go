package runtime

import (
	"sync"

	"github.com/patchoptic/poptic/internal/verify"
)

// The types of a verdict. Their shape in JSON is spec/interfaces.md section 3.
type (
	// OperatorVerdict is the rendering for who runs the instance. Its fields are
	//
	//	Verdict                      Decision
	//	VersionBefore, VersionAfter  uint64
	//	StateBefore, StateAfter      string  // digests, "sha256:..."
	//	Contract                     string  // its digest
	//	PhaseBefore, PhaseAfter      string
	//	Violations                   []Violation
	//	More                         int     // violations beside those
	//	NotChecked                   []Gate  // gates that were not reached, or not by all of the patch
	//	Retryable                    bool    // another proposal of the same actor may be accepted
	//	Attempt, MaxAttempts         int     // which try of its step it was, of how many; 0 for not counted, no end
	//	Normalised                   []string
	//
	// Its method Told lists the violations of a view or proposal that role, phase or arguments
	// refuse as the actor may be told of them.
	OperatorVerdict = verify.Verdict

	// ActorVerdict is the rendering that a stage's actor may see. Its fields are those
	// of OperatorVerdict, but for versions and digests of states, and
	//
	//	ViewDigest  string // of the view that the proposal was made on
	//	NotChecked  []Gate // as far as what is told says so
	ActorVerdict = verify.ActorVerdict

	// Decision is Commit, Noop, Reject or Pending.
	Decision = verify.Decision

	// Violation is one reason to reject, without any value of the state. Its fields are
	//
	//	Gate     Gate
	//	Code     Code
	//	OpIndex  *int     // of the operation in the patch, nil if it is not about one
	//	Path     *string  // a JSON Pointer, as the actor wrote it; nil for none
	//	Rule     string   // of the contract, "" for none
	//	Message  string
	//	Hint     string   // what to do about it, "" for nothing
	Violation = verify.Violation

	// Gate is the step that refused, as a text that stays: GateScope and so on.
	Gate = verify.Gate

	// Code says what is wrong, as a text that stays: CodeStale and so on; what they mean is
	// in spec/interfaces.md section 3. Its method
	// UsesAttempt reports whether a rejection with it is one of the tries of a step.
	Code = verify.Code
)

// The gates, in the order in which they are asked; of the invariant gate, what a stage
// requires beforehand comes before the scope.
const (
	GateLimit     = verify.GateLimit
	GateFormat    = verify.GateFormat
	GatePhase     = verify.GatePhase
	GateStale     = verify.GateStale
	GateScope     = verify.GateScope
	GateSchema    = verify.GateSchema
	GateInvariant = verify.GateInvariant
)

// The codes, in the order in which the gates give them.
const (
	CodeLimitExceeded       = verify.LimitExceeded
	CodePatchSyntax         = verify.PatchSyntax
	CodePointerSyntax       = verify.PointerSyntax
	CodeDuplicateKey        = verify.DuplicateKey
	CodeUnauthorised        = verify.Unauthorised
	CodePhaseViolation      = verify.PhaseViolation
	CodeArgumentViolation   = verify.ArgumentViolation
	CodeTransitionViolation = verify.TransitionViolation
	CodeStale               = verify.Stale
	CodeRepeat              = verify.Repeat
	CodeAttemptsExhausted   = verify.AttemptsExhausted
	CodeRequireViolation    = verify.RequireViolation
	CodeWriteScopeViolation = verify.WriteScopeViolation
	CodeReadScopeViolation  = verify.ReadScopeViolation
	CodePathMissing         = verify.PathMissing
	CodeIndexOutOfRange     = verify.IndexOutOfRange
	CodeTestFailed          = verify.TestFailed
	CodeTypeMismatch        = verify.TypeMismatch
	CodeMoveIntoChild       = verify.MoveIntoChild
	CodeSchemaViolation     = verify.SchemaViolation
	CodeProduceViolation    = verify.ProduceViolation
	CodeEnsureViolation     = verify.EnsureViolation
	CodeChangeViolation     = verify.ChangeViolation
	CodeInvariantViolation  = verify.InvariantViolation
	CodeEvaluationError     = verify.EvaluationError
	CodeRefused             = verify.Refused
)

// The decisions. Commit: the state or the phase changed. Noop: everything holds and
// nothing changed. Reject: the violations say why; state and phase are as they were. Pending:
// the proposal waits for somebody's leave; nothing decides so yet, but logs may hold it.
const (
	Commit = verify.Commit
	Noop   = verify.Noop
	Reject = verify.Reject

	Pending = verify.Pending
)

// A Verdict is the answer to a proposal or to the host's move. Its exported part,
// and its JSON, is the operator's rendering, which must not reach the actor; what
// may, is Actor. v.Verdict is the Decision. It keeps the state it was decided on in memory.
type Verdict struct {
	OperatorVerdict
	actor func() ActorVerdict
}

// verdictOf is the verdict of an outcome. The actor's rendering costs about what
// the view costs, so it is made when it is first asked for.
func verdictOf(out *verify.Outcome) Verdict {
	return Verdict{OperatorVerdict: out.Verdict, actor: sync.OnceValue(out.Actor)}
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
