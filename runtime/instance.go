package runtime

import (
	"context"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// An Instance is one run of a contract over one state. All methods are safe for
// concurrent use; nothing they return is shared with the instance.
//
// This is all that an instance keeps in memory, however long it runs:
//
//   - the current state, and what is remembered on its parts: digests, encodings,
//     views, folds, indexes. They go when the part goes;
//   - what its last commits wrote, to tell whether a late proposal is stale
//     (WithRecentCommits): up to 8 MiB. After opening at a snapshot, a late proposal may
//     have the log before it read, and once more the state kept for as long;
//   - what was tried since the last commit: of at most 10,000 steps, how often, and
//     the hashes of 64 proposals;
//   - its key, and the number and hash of the log's last record and last commit.
//
// No earlier state, no proposal and no verdict is kept. The log is the store's. A
// Verdict that a host holds on to keeps the states before and after it.
type Instance struct {
	id       string
	contract *Contract
	store    store.Store
	options  options
	key      *trace.Key
	redactor *trace.Redactor

	// current is the state that the log ends in, as far as this process has read it.
	current atomic.Pointer[verify.Snapshot]

	turn      turn       // taken to append; guards what follows, and changing current
	recent    recent     // what the commits up to current wrote
	head      trace.Head // of the log, as far as it was read
	committed trace.Head // of the log, at the commit that made current
	unsure    bool       // an append failed, and perhaps it did not
	ledger    ledger     // of the log, as far as it was read
	grown     int        // bytes of log since the last snapshot
}

// maxID is how long an instance's id may be, in bytes.
const maxID = 255

// ID is the name the instance was created under.
func (in *Instance) ID() string { return in.id }

// Contract is the contract the instance runs under.
func (in *Instance) Contract() *Contract { return in.contract }

// Version is the number of commits so far, as this process knows it.
func (in *Instance) Version() uint64 { return in.current.Load().Version }

// Phase is the current phase, as this process knows it.
func (in *Instance) Phase() string { return in.current.Load().Phase }

// StateDigest identifies the current state.
func (in *Instance) StateDigest() string { return in.current.Load().State.Digest().String() }

// State exports the current state in the form of a state file, canonical and
// compact. It is for operators: it is all there is, secrets included.
func (in *Instance) State(ctx context.Context) ([]byte, error) {
	now, err := in.settled(ctx)
	if err != nil {
		return nil, err
	}
	return in.contract.program.Export(now.State, false), nil
}

// A Head identifies a log up to one of its records: note it down elsewhere, and
// records that are missing at the end, or were all written anew, are noticed. Its fields
// are
//
//	Instance  string
//	Seq       uint64 // of the record; 0 before the first
//	Hash      string // of the record's line
type Head = trace.Head

// Head is the end of the instance's trace, as this process knows it.
func (in *Instance) Head() Head {
	_ = in.turn.take(context.Background())
	defer in.turn.give()
	return in.head
}

// settled is the current state, after reading the log if an append has failed.
func (in *Instance) settled(ctx context.Context) (*verify.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := in.turn.take(ctx); err != nil {
		return nil, err
	}
	defer in.turn.give()
	if in.unsure {
		if err := in.catchUp(ctx); err != nil {
			return nil, err
		}
	}
	return in.current.Load(), nil
}

func checkID(id string) error {
	switch {
	case id == "":
		return &IDError{"it is empty"}
	case len(id) > maxID:
		return &IDError{"it is longer than 255 bytes"}
	case !utf8.ValidString(id):
		return &IDError{"it is not UTF-8"}
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return &IDError{"it has a control character"}
		}
	}
	return nil
}
