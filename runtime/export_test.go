package runtime

import "github.com/patchoptic/poptic/runtime/trace"

// Key is the instance's key, which a trace does not hold.
func (in *Instance) Key() *trace.Key { return in.key }
