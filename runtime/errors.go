package runtime

import (
	"errors"
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
)

// Errors of what Contracts, states and logs are made of.
type (
	// CodecError says why bytes are no compiled contract. Its fields are
	//
	//	Code     string // not_compiled, version_unsupported, truncated, digest_mismatch or malformed
	//	Message  string
	CodecError = ir.CodecError

	// UnknownStageError says that the contract has no such stage. Its fields are
	//
	//	Name     string
	//	Nearest  string // the name of a stage that may have been meant, "" for none
	UnknownStageError = verify.UnknownStageError

	// UnknownArgumentError says that the stage has no such parameter. Its fields are
	//
	//	Stage, Name  string
	//	Nearest      string // the parameter that may have been meant, "" for none
	UnknownArgumentError = verify.UnknownArgumentError

	// StateError says why a file is no state of the contract. Its fields are
	//
	//	Problems  []StateProblem
	//	More      int // problems beside those
	StateError = verify.StateError

	// StateProblem is one thing wrong with a state file. Its fields are
	//
	//	Path     string // a JSON Pointer
	//	Code     Code
	//	Message  string
	//	Hint     string // what to do about it, "" for nothing
	StateProblem = verify.StateProblem

	// FormatError says that a log was written in another format than the one this
	// version of the program reads: it is whole, but another version is needed. Its
	// field is
	//
	//	Have  int // the log's format
	FormatError = trace.FormatError

	// BrokenTraceError says where a trace does not hold. Its fields are
	//
	//	Line    int    // counted from 1
	//	Seq     uint64 // the number of the record that is expected there
	//	Reason  string
	BrokenTraceError = trace.BrokenError
)

// An IDError says that a text cannot name an instance.
type IDError struct{ Reason string }

// Error gives the reason.
func (e *IDError) Error() string { return "instance id: " + e.Reason }

// An InvalidStateError says which rules of the contract a state breaks that an
// instance was to begin or to go on with.
type InvalidStateError struct {
	Instance   string
	Violations []Violation
}

// Error names the rules and the paths.
func (e *InvalidStateError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "instance %q: the state breaks the contract", e.Instance)
	for _, v := range e.Violations {
		b.WriteString("\n  ")
		if v.Path != nil {
			b.WriteString(*v.Path + ": ")
		}
		b.WriteString(v.Message)
	}
	return b.String()
}

// A ContractMismatchError says that an instance runs under another contract than
// the one it was opened with. Both are digests.
type ContractMismatchError struct {
	Instance   string
	Have, Want string
}

// Error names both contracts.
func (e *ContractMismatchError) Error() string {
	return fmt.Sprintf("instance %q runs under contract %s, not %s", e.Instance, e.Have, e.Want)
}

// A SameContractError says that an instance was to be put under the contract that it is under, and
// that its log is of the present format: of several migrations at once another one was first.
type SameContractError struct {
	Instance string
	Contract string // its digest
}

// Error names the contract.
func (e *SameContractError) Error() string {
	return fmt.Sprintf("instance %q runs under contract %s already", e.Instance, e.Contract)
}

// An OlderFormatError says that nothing can be appended to an instance's log, for it is of an older
// format: it is whole, and goes on in the present one when it is migrated to the contract that it has.
type OlderFormatError struct {
	Instance string
	Have     int // the log's format
}

// Error names the format, and what to do.
func (e *OlderFormatError) Error() string {
	return fmt.Sprintf("instance %q was written in format %d: migrate it first, to the contract that it has", e.Instance, e.Have)
}

// A CorruptLogError says that an instance's log contradicts itself: a broken
// chain, a sealed part or snapshot that is not the one recorded, or a commit that
// does not lead to the state it says.
type CorruptLogError struct {
	Instance string
	Seq      uint64 // of the record that does not hold
	Reason   string
}

// Error names the record and the reason, nothing of what it holds.
func (e *CorruptLogError) Error() string {
	return fmt.Sprintf("instance %q: the log is damaged at record %d: %s", e.Instance, e.Seq, e.Reason)
}

// An UnknownVersionError says that an instance has not had so many commits.
type UnknownVersionError struct {
	Instance      string
	Version, Last uint64
}

// Error names both versions.
func (e *UnknownVersionError) Error() string {
	return fmt.Sprintf("instance %q has no version %d: the last one is %d", e.Instance, e.Version, e.Last)
}

// ErrClosed says that the instance was closed.
var ErrClosed = errors.New("the instance is closed")

// An OpenOutcomeError says that a call ended with its context while the store was writing
// what was asked for: it may be in the log now, or later, or never. A proposal that
// has a key may be made again, and is not decided twice.
type OpenOutcomeError struct{ Err error } // the context's

// Error says why the outcome is open.
func (e *OpenOutcomeError) Error() string {
	return "the outcome is open, for the store had not answered yet: " + e.Err.Error()
}

// Unwrap returns the context's error.
func (e *OpenOutcomeError) Unwrap() error { return e.Err }

// A ViewRefusedError says that a stage shows nothing now, to this role or with
// these arguments. It carries the verdict and no data.
type ViewRefusedError struct{ Verdict Verdict }

// Error says of each reason what it is, its code and gate, and what to do about it: what the
// operator's rendering says, which names no value of the state.
func (e *ViewRefusedError) Error() string {
	var reasons []string
	for _, v := range e.Verdict.Violations {
		reason := fmt.Sprintf("%s (%s, at the gate %s)", v.Message, v.Code, v.Gate)
		if v.Hint != "" {
			reason += ", " + v.Hint
		}
		reasons = append(reasons, reason)
	}
	if more := e.Verdict.More; more > 0 {
		reasons = append(reasons, fmt.Sprintf("and %d more", more))
	}
	return "no view: " + strings.Join(reasons, "; ")
}

func codesOf(violations []Violation) []string {
	codes := make([]string, len(violations))
	for i, v := range violations {
		codes[i] = string(v.Code)
	}
	return codes
}
