package verify

// A Decision is the outcome of a proposal.
type Decision string

// Commit: the state or the phase changed. Noop: everything holds and nothing
// changed. Reject: see the violations; state and phase are as they were.
const (
	Commit Decision = "commit"
	Noop   Decision = "noop"
	Reject Decision = "reject"
)

// A Violation is one reason to reject, without any value of the state.
type Violation struct {
	Gate    Gate    `json:"gate"`
	Code    Code    `json:"code"`
	OpIndex *int    `json:"op_index,omitempty"` // nil: not about one operation
	Path    *string `json:"path,omitempty"`     // as the actor wrote it, or of the node a rule is about
	Rule    string  `json:"rule,omitempty"`
	Message string  `json:"message"`
	Hint    string  `json:"hint,omitempty"`
}

// A Verdict is the operator's rendering of an outcome. Digests are written
// "sha256:<hex>".
type Verdict struct {
	Verdict       Decision    `json:"verdict"`
	VersionBefore uint64      `json:"version_before"`
	VersionAfter  uint64      `json:"version_after"`
	StateBefore   string      `json:"state_before"`
	StateAfter    string      `json:"state_after"`
	Contract      string      `json:"contract"`
	PhaseBefore   string      `json:"phase_before"`
	PhaseAfter    string      `json:"phase_after"`
	Violations    []Violation `json:"violations"`     // at most MaxViolations
	More          int         `json:"more,omitempty"` // violations beside those
	Retryable     bool        `json:"retryable"`      // another proposal of the same actor may be accepted
	Attempt       int         `json:"attempt,omitempty"`
	MaxAttempts   int         `json:"max_attempts,omitempty"`
	Normalised    []string    `json:"normalised"`
}

// An ActorVerdict is the rendering that the stage's actor may see: on two states
// with equal views it has equal bytes, but for what accepting or refusing itself
// tells (spec/semantics.md section 12).
type ActorVerdict struct {
	Verdict     Decision    `json:"verdict"`
	ViewDigest  string      `json:"view_digest,omitempty"` // of the view the proposal was made on
	Contract    string      `json:"contract"`
	PhaseBefore string      `json:"phase_before"`
	PhaseAfter  string      `json:"phase_after"`
	Violations  []Violation `json:"violations"`
	More        int         `json:"more,omitempty"` // violations beside those
	Retryable   bool        `json:"retryable"`
	Attempt     int         `json:"attempt,omitempty"`
	MaxAttempts int         `json:"max_attempts,omitempty"`
	Normalised  []string    `json:"normalised"`
}

// retryable tells whether an actor that proposes something else may succeed.
func retryable(violations []Violation, attempt, most int) bool {
	if len(violations) == 0 || most > 0 && attempt >= most && violations[0].Code.UsesAttempt() {
		return false
	}
	for _, v := range violations {
		if !v.Code.entry().Retryable {
			return false
		}
	}
	return true
}
