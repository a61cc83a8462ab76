package verify

import (
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/tree"
)

// Limits bound what one verification may cost. What is beyond a limit is refused
// with limit_exceeded.
type Limits struct {
	Patch tree.PatchLimits // what the actor sends
	State tree.Limits      // what a state file holds, and what a patch may make of a state
	Expr  expr.Limits      // one evaluation of one expression
}

// DefaultLimits is a fresh copy of the defaults.
func DefaultLimits() Limits {
	return Limits{Patch: tree.DefaultPatchLimits, State: tree.DefaultLimits, Expr: expr.Default()}
}
