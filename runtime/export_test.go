package runtime

import (
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/runtime/store"
)

// Key is the instance's key, which a trace does not hold.
func (in *Instance) Key() *trace.Key { return in.key }

// Store is where the instance's log is.
func (in *Instance) Store() store.Store { return in.store }
