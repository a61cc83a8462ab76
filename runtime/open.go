package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/trace"
	"github.com/patchoptic/poptic/runtime/verify"
)

// A founding is the sealed part of an instance's first record.
type founding struct {
	Key   []byte          `json:"key"`   // of the keyed digests
	State json.RawMessage `json:"state"` // as a state file
}

// A checkpoint is what a store keeps as a snapshot.
type checkpoint struct {
	founding
	Contract string `json:"contract"`
	Phase    string `json:"phase"`
	Hash     string `json:"hash"` // of the record that the snapshot follows
}

// Create begins an instance of contract in st, in the contract's first phase. state
// is a state file. Errors: *IDError; *StateError and *InvalidStateError if state is
// no state of the contract or breaks its rules; store.ErrExists (wrapped) if id is
// taken, so that of several concurrent creates exactly one succeeds.
func Create(ctx context.Context, contract *Contract, st store.Store, id string, state []byte, opts ...Option) (*Instance, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	root, err := contract.program.Import(state)
	if err != nil {
		return nil, err
	}
	o := optionsOf(opts)
	key, err := trace.NewKey(o.random)
	if err != nil {
		return nil, fmt.Errorf("instance %q: no key: %w", id, err)
	}
	in := newInstance(contract, st, id, o, key)
	now := &verify.Snapshot{State: root, Phase: contract.ir.Phases[0].Name}
	if err := in.checkAll(ctx, now); err != nil {
		return nil, err
	}
	if err := in.found(ctx, now); err != nil {
		return nil, err
	}
	return in, nil
}

func newInstance(contract *Contract, st store.Store, id string, o options, key *trace.Key) *Instance {
	return &Instance{
		id: id, contract: contract, store: st, options: o, key: key,
		redactor: trace.NewRedactor(contract.ir, key), head: trace.Start(id),
	}
}

// found writes the first record.
func (in *Instance) found(ctx context.Context, now *verify.Snapshot) error {
	sealed, err := json.Marshal(in.founding(now))
	if err != nil {
		return err
	}
	record := in.record(trace.Create, now.Version)
	record.Phase, record.State, record.Seal = now.Phase, now.State.Digest().String(), in.key.Seal(sealed)
	line, head := in.head.Seal(record)
	err = in.store.Create(ctx, in.id, store.Record{Seq: head.Seq, Line: line, Sealed: sealed})
	if err != nil {
		return err
	}
	in.head = head
	in.current.Store(now)
	return nil
}

func (in *Instance) founding(now *verify.Snapshot) founding {
	return founding{Key: in.key.Bytes(), State: in.contract.program.Export(now.State, false)}
}

// Open goes on with an instance that was created before, by this process or by
// another one. It reads the newest snapshot and the log after it, checks their
// digests, and evaluates all rules once on the state they lead to. Errors:
// store.ErrNotFound (wrapped), *ContractMismatchError, *CorruptLogError,
// *InvalidStateError, or what the store reports.
func Open(ctx context.Context, contract *Contract, st store.Store, id string, opts ...Option) (*Instance, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	in, err := restore(ctx, contract, st, id, optionsOf(opts))
	if err != nil {
		return nil, err
	}
	if err := in.catchUp(ctx); err != nil {
		return nil, err
	}
	if err := in.checkAll(ctx, in.current.Load()); err != nil {
		return nil, err
	}
	return in, nil
}

// restore makes an instance from the newest snapshot, or from the first record.
func restore(ctx context.Context, contract *Contract, st store.Store, id string, o options) (*Instance, error) {
	s, err := st.Snapshot(ctx, id, ^uint64(0))
	if errors.Is(err, store.ErrNotFound) {
		return restoreFirst(ctx, contract, st, id, o)
	}
	if err != nil {
		return nil, err
	}
	in, err := restoreSnapshot(ctx, contract, st, id, o, s)
	var corrupt *CorruptLogError
	if errors.As(err, &corrupt) { // a snapshot is a cache; the log decides
		o.logger.LogAttrs(ctx, levelBroken, "snapshot ignored", attrInstance(id), attrSeq(corrupt.Seq), attrReason(corrupt.Reason))
		return restoreFirst(ctx, contract, st, id, o)
	}
	return in, err
}

// restoreFirst begins where the instance began.
func restoreFirst(ctx context.Context, contract *Contract, st store.Store, id string, o options) (*Instance, error) {
	first, err := recordAt(ctx, st, id, 1)
	if err != nil {
		return nil, err
	}
	var f founding
	line, ok := readLine(first.Line)
	if !ok || line.Kind != trace.Create || json.Unmarshal(first.Sealed, &f) != nil {
		return nil, &CorruptLogError{id, 1, "it does not begin an instance"}
	}
	if line.Contract != contract.Digest() {
		return nil, &ContractMismatchError{id, line.Contract, contract.Digest()}
	}
	in, root, err := revive(contract, st, id, o, f, 1)
	if err != nil {
		return nil, err
	}
	if in.head, err = trace.CheckRecord(in.head, in.key, first.Line, first.Sealed); err != nil {
		return nil, corruptLog(id, err)
	}
	if root.State.Digest().String() != line.State {
		return nil, &CorruptLogError{id, 1, digestDiffers}
	}
	root.Phase = line.Phase
	in.current.Store(root)
	return in, nil
}

// restoreSnapshot begins at a snapshot, which must be what the record before it says.
func restoreSnapshot(ctx context.Context, contract *Contract, st store.Store, id string, o options, s store.Snapshot) (*Instance, error) {
	var c checkpoint
	if json.Unmarshal(s.Data, &c) != nil {
		return nil, &CorruptLogError{id, s.Seq, "its snapshot cannot be read"}
	}
	if c.Contract != contract.Digest() {
		return nil, &ContractMismatchError{id, c.Contract, contract.Digest()}
	}
	in, root, err := revive(contract, st, id, o, c.founding, s.Seq)
	if err != nil {
		return nil, err
	}
	last, err := recordAt(ctx, st, id, s.Seq)
	if err != nil {
		return nil, err
	}
	line, ok := readLine(last.Line)
	if !ok || line.Hash != c.Hash || line.Verdict == nil || line.Verdict.StateAfter != root.State.Digest().String() ||
		line.Verdict.PhaseAfter != c.Phase || line.Verdict.VersionAfter != s.Version {
		return nil, &CorruptLogError{id, s.Seq, "its snapshot is of another state"}
	}
	root.Phase, root.Version = c.Phase, s.Version
	in.head = trace.Head{Instance: id, Seq: s.Seq, Hash: c.Hash}
	in.current.Store(root)
	return in, nil
}

// revive makes an instance around a state that was written down.
func revive(contract *Contract, st store.Store, id string, o options, f founding, seq uint64) (*Instance, *verify.Snapshot, error) {
	key, err := trace.KeyOf(f.Key)
	if err != nil {
		return nil, nil, &CorruptLogError{id, seq, "its key cannot be read"}
	}
	root, err := contract.program.Import(f.State)
	if err != nil {
		return nil, nil, &CorruptLogError{id, seq, "its state is none of the contract"}
	}
	return newInstance(contract, st, id, o, key), &verify.Snapshot{State: root}, nil
}

// recordAt reads one record.
func recordAt(ctx context.Context, st store.Store, id string, seq uint64) (store.Record, error) {
	for r, err := range st.Read(ctx, id, seq) {
		return r, err
	}
	return store.Record{}, &CorruptLogError{id, seq, "it is missing"}
}

// checkAll evaluates every rule of the contract on a state.
func (in *Instance) checkAll(ctx context.Context, now *verify.Snapshot) error {
	found := in.contract.program.CheckAll(ctx, now.State, now.Phase)
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(found) > 0 {
		return &InvalidStateError{in.id, found}
	}
	return nil
}
