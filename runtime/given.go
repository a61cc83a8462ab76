package runtime

import (
	"fmt"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/tree"
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

// A NotTextError says that a text which the host gave is not UTF-8. Nothing was decided,
// and nothing recorded: a record could not tell it from another.
type NotTextError struct {
	What string // "role", "phase", "key", or "argument NAME"
}

// Error names what is no text.
func (e *NotTextError) Error() string { return fmt.Sprintf("the %s is not UTF-8 text", e.What) }

// CheckGiven checks length and encoding of what a host gives beside a stage's name,
// which has to be one of the contract's. The error is a *TooLongError or a
// *NotTextError.
func CheckGiven(role, phase, key string, args map[string]string) error {
	for _, given := range [...]struct{ what, text string }{{"role", role}, {"phase", phase}, {"key", key}} {
		if len(given.text) > MaxGiven {
			return &TooLongError{given.what, MaxGiven}
		}
		if !utf8.ValidString(given.text) {
			return &NotTextError{given.what}
		}
	}
	most := tree.DefaultPatchLimits.MaxPointerBytes
	for name, value := range args {
		if len(value) > most {
			return &TooLongError{"argument " + tree.Shorten(name, MaxGiven), most}
		}
		if !utf8.ValidString(value) {
			return &NotTextError{"argument " + tree.Shorten(name, MaxGiven)}
		}
	}
	return nil
}

// maxNormalised is how many leniencies a proposal names at most.
const maxNormalised = 64

// checkProposal is CheckGiven for all that a proposal has beside its patch.
func checkProposal(p *Proposal) error {
	if err := CheckGiven(p.Role, p.Next, p.Key, p.Args); err != nil {
		return err
	}
	length := len(p.Normalised)
	for _, name := range p.Normalised {
		if length += len(name); !utf8.ValidString(name) {
			return &NotTextError{"normalised"}
		}
	}
	if len(p.Normalised) > maxNormalised || length > MaxGiven {
		return &TooLongError{"normalised", MaxGiven}
	}
	return nil
}
