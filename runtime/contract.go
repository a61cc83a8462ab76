package runtime

import (
	"fmt"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/verify"
)

// Limits bound what a state may hold and what one verification may cost.
type Limits = verify.Limits

// DefaultLimits is a fresh copy of the limits that Load uses.
func DefaultLimits() Limits { return verify.DefaultLimits() }

// A Contract is a compiled contract, ready to run. It is immutable and safe for
// concurrent use by any number of instances.
type Contract struct {
	ir      *ir.Contract
	program *verify.Program
	limits  Limits
}

// Load reads a compiled contract. The error is an *ir.CodecError where the bytes
// are not one: source text, cut off, changed, or of another version. Otherwise it
// says which part of the contract does not compile. Load does not keep compiled.
func Load(compiled []byte) (*Contract, error) {
	return LoadWithin(compiled, DefaultLimits())
}

// LoadWithin is Load with limits other than the default. Replaying a log keeps to
// them too: they must not be lower than those the log was written under.
func LoadWithin(compiled []byte, limits Limits) (*Contract, error) {
	c, err := ir.Decode(compiled)
	if err != nil {
		return nil, fmt.Errorf("load contract: %w", err)
	}
	program, err := verify.Load(c, limits)
	if err != nil {
		return nil, fmt.Errorf("load contract %s: %w", c.Name, err)
	}
	return &Contract{ir: c, program: program, limits: limits}, nil
}

// Name is the contract's name.
func (c *Contract) Name() string { return c.ir.Name }

// Digest identifies the contract: "sha256:" and the hash of its compiled form.
func (c *Contract) Digest() string { return c.program.Digest() }

// Program is what verifies for the contract's instances.
func (c *Contract) Program() *verify.Program { return c.program }
