package verify

import (
	"encoding/json"
	"slices"
	"strconv"
)

// A Decision is the outcome of a proposal.
type Decision string

// Commit: the state or the phase changed. Noop: everything holds and nothing
// changed. Reject: see the violations; state and phase are as they were. Pending: everything
// holds, nothing changed, and somebody else is to say whether it may.
const (
	Commit Decision = "commit"
	Noop   Decision = "noop"
	Reject Decision = "reject"

	Pending Decision = "pending"
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
	Violations    []Violation `json:"violations"`            // at most MaxViolations
	More          int         `json:"more,omitempty"`        // violations beside those
	NotChecked    []Gate      `json:"not_checked,omitempty"` // gates that were not reached, or not by all of the patch
	Retryable     bool        `json:"retryable"`             // another proposal of the same actor may be accepted
	Attempt       int         `json:"attempt,omitempty"`
	MaxAttempts   int         `json:"max_attempts,omitempty"`
	Normalised    []string    `json:"normalised"`

	told     []Violation // what an actor is told in place of Violations; nil if that is the same
	toldMore int
}

// Told lists what an actor may be told of a verdict on what does not depend on its patch: its
// role, phase and arguments. More is how many there are beside those.
func (v *Verdict) Told() (told []Violation, more int) {
	if v.told != nil {
		return v.told, v.toldMore
	}
	return v.Violations, v.More
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
	More        int         `json:"more,omitempty"`        // violations beside those
	NotChecked  []Gate      `json:"not_checked,omitempty"` // gates that were not reached, or not by all of the patch
	Retryable   bool        `json:"retryable"`
	Attempt     int         `json:"attempt,omitempty"`
	MaxAttempts int         `json:"max_attempts,omitempty"`
	Normalised  []string    `json:"normalised"`
}

// AppendJSON appends v as encoding/json writes it, at a fraction of the cost: every record of
// a decision has a verdict.
func (v *Verdict) AppendJSON(dst []byte) []byte {
	dst = appendText(dst, `{"verdict":`, string(v.Verdict))
	dst = strconv.AppendUint(append(dst, `,"version_before":`...), v.VersionBefore, 10)
	dst = strconv.AppendUint(append(dst, `,"version_after":`...), v.VersionAfter, 10)
	dst = appendText(dst, `,"state_before":`, v.StateBefore)
	dst = appendText(dst, `,"state_after":`, v.StateAfter)
	return appendOutcome(dst, v.Contract, v.PhaseBefore, v.PhaseAfter, v.Violations, v.More, v.NotChecked, v.Retryable, v.Attempt, v.MaxAttempts, v.Normalised)
}

// AppendJSON appends v as encoding/json writes it.
func (v *ActorVerdict) AppendJSON(dst []byte) []byte {
	dst = appendText(dst, `{"verdict":`, string(v.Verdict))
	if v.ViewDigest != "" {
		dst = appendText(dst, `,"view_digest":`, v.ViewDigest)
	}
	return appendOutcome(dst, v.Contract, v.PhaseBefore, v.PhaseAfter, v.Violations, v.More, v.NotChecked, v.Retryable, v.Attempt, v.MaxAttempts, v.Normalised)
}

// appendOutcome appends what both renderings end with.
func appendOutcome(dst []byte, contract, phaseBefore, phaseAfter string, found []Violation, more int, notChecked []Gate, retryable bool, attempt, most int, normalised []string) []byte {
	dst = appendText(dst, `,"contract":`, contract)
	dst = appendText(dst, `,"phase_before":`, phaseBefore)
	dst = appendText(dst, `,"phase_after":`, phaseAfter)
	dst = appendList(append(dst, `,"violations":`...), found, appendViolation)
	dst = appendCount(dst, `,"more":`, more)
	if len(notChecked) > 0 {
		dst = appendList(append(dst, `,"not_checked":`...), notChecked, func(dst []byte, g Gate) []byte { return appendText(dst, "", string(g)) })
	}
	dst = strconv.AppendBool(append(dst, `,"retryable":`...), retryable)
	dst = appendCount(dst, `,"attempt":`, attempt)
	dst = appendCount(dst, `,"max_attempts":`, most)
	dst = appendList(append(dst, `,"normalised":`...), normalised, func(dst []byte, s string) []byte { return appendText(dst, "", s) })
	return append(dst, '}')
}

func appendViolation(dst []byte, v Violation) []byte {
	dst = appendText(dst, `{"gate":`, string(v.Gate))
	dst = appendText(dst, `,"code":`, string(v.Code))
	if v.OpIndex != nil {
		dst = strconv.AppendInt(append(dst, `,"op_index":`...), int64(*v.OpIndex), 10)
	}
	if v.Path != nil {
		dst = appendText(dst, `,"path":`, *v.Path)
	}
	if v.Rule != "" {
		dst = appendText(dst, `,"rule":`, v.Rule)
	}
	dst = appendText(dst, `,"message":`, v.Message)
	if v.Hint != "" {
		dst = appendText(dst, `,"hint":`, v.Hint)
	}
	return append(dst, '}')
}

func appendList[T any](dst []byte, all []T, item func([]byte, T) []byte) []byte {
	if all == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i, x := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item(dst, x)
	}
	return append(dst, ']')
}

// appendCount appends a member that is left out where it is 0.
func appendCount(dst []byte, member string, n int) []byte {
	if n == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, member...), int64(n), 10)
}

// appendText appends a member whose value is a text. Most texts have nothing to escape.
func appendText(dst []byte, member, text string) []byte {
	dst = append(dst, member...)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < 0x20, c >= 0x7f, c == '"', c == '\\', c == '<', c == '>', c == '&':
			quoted, _ := json.Marshal(text) // a text can always be written
			return append(dst, quoted...)
		}
	}
	return append(append(append(dst, '"'), text...), '"')
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

// A Gate is the step of a verification that refused: the first field of a
// violation. The steps run in the order of Steps.
type Gate string

// The gates. Every limit belongs to GateLimit, whenever it is reached.
const (
	GateLimit     Gate = "limit"
	GateFormat    Gate = "format"
	GatePhase     Gate = "phase"
	GateStale     Gate = "stale"
	GateScope     Gate = "scope"
	GateSchema    Gate = "schema"
	GateInvariant Gate = "invariant"
)

// A Code says what is wrong. Codes are stable: tools match on them.
type Code string

// The codes, in the order in which the steps run.
const (
	LimitExceeded       Code = "limit_exceeded"
	PatchSyntax         Code = "patch_syntax"
	PointerSyntax       Code = "pointer_syntax"
	DuplicateKey        Code = "duplicate_key"
	Unauthorised        Code = "unauthorised"
	PhaseViolation      Code = "phase_violation"
	ArgumentViolation   Code = "argument_violation"
	TransitionViolation Code = "transition_violation"
	Stale               Code = "stale"
	Repeat              Code = "repeat"
	AttemptsExhausted   Code = "attempts_exhausted"
	RequireViolation    Code = "require_violation"
	WriteScopeViolation Code = "patch_write_scope_violation"
	ReadScopeViolation  Code = "patch_read_scope_violation"
	PathMissing         Code = "path_missing"
	IndexOutOfRange     Code = "index_out_of_range"
	TestFailed          Code = "test_failed"
	TypeMismatch        Code = "type_mismatch"
	MoveIntoChild       Code = "move_into_child"
	SchemaViolation     Code = "schema_violation"
	ProduceViolation    Code = "produce_violation"
	EnsureViolation     Code = "ensure_violation"
	InvariantViolation  Code = "invariant_violation"
	ChangeViolation     Code = "change_violation"
	EvaluationError     Code = "evaluation_error"
	Refused             Code = "refused"
)

// A CodeEntry describes a code: the gate it belongs to, one line of meaning, and
// whether a different proposal of the same actor can help.
type CodeEntry struct {
	Code      Code
	Gate      Gate // of EvaluationError and TransitionViolation: the usual one
	Meaning   string
	Retryable bool
}

var codes = []CodeEntry{
	{LimitExceeded, GateLimit, "the patch, or the state it would make, is larger than allowed, or a rule needs more steps", true},
	{PatchSyntax, GateFormat, "the proposal is no JSON Patch", true},
	{PointerSyntax, GateFormat, "a path is no JSON Pointer, or no index where an array needs one", true},
	{DuplicateKey, GateFormat, "an object of the patch names a member twice", true},
	{Unauthorised, GatePhase, "the role may not run the stage", false},
	{PhaseViolation, GatePhase, "the stage does not run in the current phase", false},
	{ArgumentViolation, GatePhase, "an argument of the stage is missing or does not bind", false},
	{TransitionViolation, GatePhase, "the phase cannot move so, or the guard of the move does not hold", true},
	{Stale, GateStale, "the proposal was made on an older version", true},
	{Repeat, GateStale, "the proposal was refused before, or its key belongs to another one", true},
	{AttemptsExhausted, GateStale, "the stage has no attempts left", false},
	{RequireViolation, GateInvariant, "what the stage requires beforehand does not hold", true},
	{WriteScopeViolation, GateScope, "an operation writes outside of what the stage may write", true},
	{ReadScopeViolation, GateScope, "an operation reads outside of what the stage may read or take from", true},
	{PathMissing, GateScope, "a path leads to nothing", true},
	{IndexOutOfRange, GateScope, "an index is beyond the end of its array", true},
	{TestFailed, GateScope, "a test operation found another value", true},
	{TypeMismatch, GateScope, "a path goes through a value that has nothing below it, or takes entries of a log", true},
	{MoveIntoChild, GateScope, "a value would move into itself", true},
	{SchemaViolation, GateSchema, "a value does not fit its type", true},
	{ProduceViolation, GateSchema, "what the stage must produce is not there", true},
	{EnsureViolation, GateInvariant, "what the stage ensures does not hold afterwards", true},
	{InvariantViolation, GateInvariant, "an invariant would not hold", true},
	{ChangeViolation, GateInvariant, "what the patch changes may not change so", true},
	{EvaluationError, GateInvariant, "an expression could not be evaluated, which counts as violated", true},
	{Refused, GateInvariant, "a rule over data the stage does not see", true},
}

// Codes lists every code, in the order in which the steps run.
func Codes() []CodeEntry { return slices.Clone(codes) }

// UsesAttempt reports whether a rejection with this code is one of the tries that a
// step has: being late is not, nor is coming after the last try.
func (c Code) UsesAttempt() bool { return c != Stale && c != AttemptsExhausted }

func (c Code) entry() CodeEntry {
	for _, e := range codes {
		if e.Code == c {
			return e
		}
	}
	return CodeEntry{Code: c, Gate: GateInvariant}
}
