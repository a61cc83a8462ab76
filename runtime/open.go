package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// A founding is the sealed part of an instance's first record.
type founding struct {
	Key   []byte          `json:"key"`   // of the keyed digests
	State json.RawMessage `json:"state"` // as a state file
}

// Create begins an instance of contract in st, in the contract's first phase. state
// is a state file. Errors: *IDError; *StateError and *InvalidStateError if state is
// no state of the contract or breaks its rules; store.ErrExists (wrapped) if id is
// taken, so that of several concurrent creates exactly one succeeds.
func Create(ctx context.Context, contract *Contract, st store.Store, id string, state []byte, opts ...Option) (*Instance, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	root, err := contract.program.ImportWithin(ctx, state)
	if err != nil {
		return nil, err
	}
	o := optionsOf(opts)
	key, err := trace.NewKey(o.random)
	if err != nil {
		return nil, fmt.Errorf("instance %q: no key: %w", id, err)
	}
	in := opening{contract, st, id, o}.instance(key)
	now := &verify.Snapshot{State: root, Phase: contract.ir.Phases[0].Name}
	if err := in.checkAll(ctx, now); err != nil {
		return nil, err
	}
	if err := in.found(ctx, now); err != nil {
		return nil, err
	}
	return in, nil
}

// An opening is what an instance is made from, beside its state.
type opening struct {
	contract *Contract
	store    store.Store
	id       string
	options  options
}

func (o opening) instance(key *trace.Key) *Instance {
	return &Instance{
		id: o.id, contract: o.contract, store: o.store, options: o.options, key: key,
		redactor: trace.NewRedactor(o.contract.ir, key), head: trace.Start(o.id), turn: newTurn(),
		recent: recent{most: o.options.recent, bytes: o.options.recentBytes},
	}
}

// found writes the first record.
func (in *Instance) found(ctx context.Context, now *verify.Snapshot) error {
	sealed, err := json.Marshal(in.founding(now))
	if err != nil {
		return err
	}
	e := in.genesis(now, sealed)
	e.Seal = in.key.Seal(e.sealed)
	line, head := in.head.Seal(&e.Record)
	err = in.store.Create(ctx, in.id, store.Record{Seq: head.Seq, Line: line, Sealed: sealed})
	if err != nil {
		return err
	}
	in.head = head
	in.become(*now)
	return nil
}

// genesis is the entry that begins a log, with what it seals.
func (in *Instance) genesis(now *verify.Snapshot, sealed []byte) *entry {
	e := &entry{Record: *in.record(trace.Create, now.Version), sealed: sealed}
	e.Phase, e.State = now.Phase, in.key.State(now.State.Digest().String())
	return e
}

func (in *Instance) founding(now *verify.Snapshot) founding {
	return founding{Key: in.key.Bytes(), State: in.contract.program.Export(now.State, false)}
}

// Open goes on with an instance that was created before, by this process or by
// another one. It reads the newest snapshot and the log after it, checks their
// digests, and evaluates all rules once on the state they lead to. Errors:
// store.ErrNotFound (wrapped), *FormatError (wrapped), *ContractMismatchError, *CorruptLogError,
// *InvalidStateError, or what the store reports.
func Open(ctx context.Context, contract *Contract, st store.Store, id string, opts ...Option) (*Instance, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	in, err := opening{contract, st, id, optionsOf(opts)}.restore(ctx, newest)
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

// newest is above every version.
const newest = ^uint64(0)

// restore makes an instance from the newest snapshot that is not above a version,
// or from the first record.
func (o opening) restore(ctx context.Context, version uint64) (*Instance, error) {
	s, err := o.store.Snapshot(ctx, o.id, version)
	if errors.Is(err, store.ErrNotFound) {
		return o.fromFirst(ctx)
	}
	if err != nil {
		return nil, err
	}
	in, err := o.fromSnapshot(ctx, s)
	var corrupt *CorruptLogError
	if errors.As(err, &corrupt) { // a snapshot is a cache; the log decides
		o.options.logger.LogAttrs(ctx, levelBroken, "snapshot ignored", attrInstance(o.id), attrSeq(corrupt.Seq), attrReason(corrupt.Reason))
		return o.fromFirst(ctx)
	}
	return in, err
}

// fromFirst begins where the instance began.
func (o opening) fromFirst(ctx context.Context) (*Instance, error) {
	first, err := o.recordAt(ctx, 1)
	if err != nil {
		return nil, err
	}
	if err := checkFormat(o.id, first); err != nil {
		return nil, err
	}
	var f founding
	line, ok := readLine(first.Line)
	if !ok || line.Kind != trace.Create || json.Unmarshal(first.Sealed, &f) != nil {
		return nil, o.corrupt(1, "it does not begin an instance")
	}
	if err := o.checkContract(line.Contract); err != nil {
		return nil, err
	}
	in, root, err := o.revive(ctx, f, 1)
	if err != nil {
		return nil, err
	}
	if in.head, _, err = trace.CheckRecord(in.head, in.key, first.Line, first.Sealed); err != nil {
		return nil, corruptLog(o.id, err)
	}
	if !line.keptAs(first) {
		return nil, o.corrupt(1, misplaced)
	}
	if in.key.State(root.State.Digest().String()) != line.State {
		return nil, o.corrupt(1, digestDiffers)
	}
	root.Phase = line.Phase
	in.become(*root)
	return in, nil
}

// checkFormat refuses a log that is whole, as far as its first line tells, and of another
// format: all else may be written otherwise.
func checkFormat(id string, first store.Record) error {
	var other *FormatError
	if _, err := trace.Start(id).Next(first.Line); errors.As(err, &other) {
		return &store.Error{Instance: id, Err: other}
	}
	return nil
}

// fromSnapshot begins at a snapshot, which must be what the record before it says.
func (o opening) fromSnapshot(ctx context.Context, s store.Snapshot) (*Instance, error) {
	c, reason := readCheckpoint(s.Data)
	if reason != "" {
		return nil, o.corrupt(s.Seq, reason)
	}
	if err := trace.CheckFormat(c.Format); err != nil {
		return nil, &store.Error{Instance: o.id, Err: err}
	}
	if err := o.checkContract(c.Contract); err != nil {
		return nil, err
	}
	in, root, err := o.revive(ctx, c.founding, s.Seq)
	if err != nil {
		return nil, err
	}
	last, err := o.recordAt(ctx, s.Seq)
	if err != nil {
		return nil, err
	}
	root.Phase, root.Version = c.Phase, s.Version
	if line, ok := readLine(last.Line); !ok || line.Hash != c.Hash || !line.leadsTo(root, in.key) {
		return nil, o.corrupt(s.Seq, snapshotForeign)
	}
	if err := in.checkAlone(last); err != nil {
		return nil, err
	}
	in.head = trace.Head{Instance: o.id, Seq: s.Seq, Hash: c.Hash}
	in.recent.startAt(root.Version)
	in.ledger.idle, in.ledger.idleAtCommit = c.Idle, c.Idle
	in.become(*root)
	return in, nil
}

// leadsTo reports whether l is a decision after which s is the state.
func (l *line) leadsTo(s *verify.Snapshot, key *trace.Key) bool {
	v := l.verdict
	return v != nil && v.StateAfter == key.State(s.State.Digest().String()) && v.PhaseAfter == s.Phase && v.VersionAfter == s.Version
}

// revive makes an instance around a state that was written down.
func (o opening) revive(ctx context.Context, f founding, seq uint64) (*Instance, *verify.Snapshot, error) {
	key, err := trace.KeyOf(f.Key)
	if err != nil {
		return nil, nil, o.corrupt(seq, "its key cannot be read")
	}
	root, err := o.contract.program.ImportWithin(ctx, f.State)
	if ended := ctx.Err(); ended != nil {
		return nil, nil, ended
	}
	if err != nil {
		return nil, nil, o.corrupt(seq, "its state is none of the contract")
	}
	return o.instance(key), &verify.Snapshot{State: root}, nil
}

// recordAt reads one record.
func (o opening) recordAt(ctx context.Context, seq uint64) (store.Record, error) {
	for r, err := range o.store.Read(ctx, o.id, seq) {
		return r, err
	}
	return store.Record{}, o.corrupt(seq, "it is missing")
}

func (o opening) checkContract(digest string) error {
	if digest != o.contract.Digest() {
		return &ContractMismatchError{o.id, digest, o.contract.Digest()}
	}
	return nil
}

func (o opening) corrupt(seq uint64, reason string) error { return &CorruptLogError{o.id, seq, reason} }

// checkAll evaluates every rule of the contract on a state.
func (in *Instance) checkAll(ctx context.Context, now *verify.Snapshot) error {
	found, err := in.contract.program.CheckWithin(ctx, now.State, now.Phase)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &InvalidStateError{in.id, found}
	}
	return nil
}
