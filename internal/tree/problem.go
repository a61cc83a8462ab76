package tree

import "fmt"

// A Code names a way in which a patch can be wrong. These are the codes of a
// verdict's violations that a patch alone, or a patch and a state, can earn.
type Code string

// The codes.
const (
	CodePatchSyntax   Code = "patch_syntax"
	CodePointerSyntax Code = "pointer_syntax" // bad escapes, and index spellings such as 01
	CodeDuplicateKey  Code = "duplicate_key"
	CodeLimitExceeded Code = "limit_exceeded"
	CodePathMissing   Code = "path_missing"
	CodeOutOfRange    Code = "index_out_of_range"
	CodeTestFailed    Code = "test_failed"
	CodeTypeMismatch  Code = "type_mismatch" // a scalar on the way, or an index into a set or log
	CodeMoveIntoChild Code = "move_into_child"
)

// WholePatch is the index of a problem that belongs to no single operation.
const WholePatch = -1

// A Problem is one reason why a patch cannot be applied. Its texts name paths as
// the actor wrote them and kinds, never values or names the actor did not write.
type Problem struct {
	Code    Code
	Index   int    // of the operation, from 0; or WholePatch
	Path    string // the pointer at fault as written: the operation's path or from
	Message string
	Hint    string // what to do instead, "" if nothing can be said

	// Typed is the number of leading tokens of Path that the state could type;
	// only for problems that Resolve or Apply find.
	Typed int
}

// Error makes a Problem usable as an error.
func (p *Problem) Error() string {
	if p.Index == WholePatch {
		return fmt.Sprintf("%s: %s", p.Code, p.Message)
	}
	return fmt.Sprintf("%s: operation %d: %s", p.Code, p.Index, p.Message)
}
