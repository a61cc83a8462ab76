package runtime

import (
	"fmt"

	"github.com/patchoptic/poptic/runtime/tree"
)

// MaxGiven is how many bytes a role, a phase or an idempotency key has at most that a
// host gives. An argument is a token of pointers, and has at most as many as a pointer.
const MaxGiven = 1024

// A TooLongError says that a text is too long that the host gave. Nothing was decided,
// and nothing recorded: every record would repeat it.
type TooLongError struct {
	What string // "role", "phase", "key", or "argument NAME"
	Most int    // bytes
}

// Error names what is too long, and the limit.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("the %s is longer than %d bytes", e.What, e.Most)
}

// checkGiven checks the length of what a host gives beside a stage's name, which has
// to be one of the contract's.
func checkGiven(role, phase, key string, args map[string]string) error {
	for _, given := range [...]struct{ what, text string }{{"role", role}, {"phase", phase}, {"key", key}} {
		if len(given.text) > MaxGiven {
			return &TooLongError{given.what, MaxGiven}
		}
	}
	most := tree.DefaultPatchLimits.MaxPointerBytes
	for name, value := range args {
		if len(value) > most {
			return &TooLongError{"argument " + tree.Shorten(name, MaxGiven), most}
		}
	}
	return nil
}
