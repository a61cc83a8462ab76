package runtime

import (
	"context"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// A Past is a state that an instance was in.
type Past struct {
	Version uint64
	Phase   string
	State   []byte // in the form of a state file, canonical and compact
	Digest  string // of the state
}

// At is an instance as it was after a number of commits. It begins at the snapshot
// before that and reads the log from there on, so it checks digests and chain as
// Open does, and costs what it reads. Errors: *UnknownVersionError, and those of
// Open but for *InvalidStateError.
func At(ctx context.Context, contract *Contract, st store.Store, id string, version uint64) (Past, error) {
	if err := checkID(id); err != nil {
		return Past{}, err
	}
	in, err := opening{contract, st, id, optionsOf(nil)}.restore(ctx, version)
	if err != nil {
		return Past{}, err
	}
	now, err := in.forward(ctx, version)
	if err != nil {
		return Past{}, err
	}
	if now.Version != version {
		return Past{}, &UnknownVersionError{id, version, now.Version}
	}
	return Past{
		Version: now.Version, Phase: now.Phase, Digest: now.State.Digest().String(),
		State: contract.program.Export(now.State, false),
	}, nil
}

// forward reads the log up to the commit that leads to a version, or to its end, and
// remembers what the commits on the way wrote.
func (in *Instance) forward(ctx context.Context, version uint64) (verify.Snapshot, error) {
	r := replay{in: in, now: *in.current.Load(), head: in.head}
	for record, err := range in.store.Read(ctx, in.id, in.head.Seq+1) {
		if r.now.Version == version {
			break
		}
		if err == nil {
			err = r.step(ctx, record)
		}
		if err != nil {
			return verify.Snapshot{}, err
		}
		r.note()
	}
	return r.now, nil
}
