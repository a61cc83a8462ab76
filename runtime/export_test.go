package runtime

import (
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// Key is the instance's key, which a trace does not hold.
func (in *Instance) Key() *trace.Key { return in.key }

// WithRecentBytes sets how many bytes the recent commits may take in memory.
func WithRecentBytes(n int) Option {
	return func(o *options) { o.recentBytes = n }
}

// Store is where the instance's log is.
func (in *Instance) Store() store.Store { return in.store }

// Program is what verifies for the contract's instances.
func (c *Contract) Program() *verify.Program { return c.program }
