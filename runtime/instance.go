package runtime

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
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
//   - what was tried since the last commit: of 10,000 steps, how often, and
//     the hashes of 64 proposals; of more, how often by their subjects in 1,024 pools;
//   - its key, and the number and hash of the log's last record;
//   - what its callers wait for.
//
// No earlier state, no proposal and no verdict is kept. The log is the store's. A
// Verdict that a host holds on to keeps the states before and after it.
type Instance struct {
	id       string
	contract *Contract
	store    promptStore
	options  options
	key      *trace.Key
	redactor *trace.Redactor

	durable atomic.Pointer[point] // what may be told
	pipeline
}

// Create begins an instance of contract in st, in the contract's first phase. state
// is a state file. Errors: *IDError; *TooLongError, *NotTextError; *StateError and *InvalidStateError if state is
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
	if err := o.principal.Check(); err != nil {
		return nil, err
	}
	if err := checkLabels(o.labels); err != nil {
		return nil, err
	}
	key, err := trace.NewKey(o.random)
	if err != nil {
		return nil, fmt.Errorf("instance %q: no key: %w", id, err)
	}
	in := config{contract, promptStore{st}, id, o}.instance(key)
	now := &verify.Snapshot{State: root, Phase: contract.ir.Phases[0].Name}
	if err := in.checkAll(ctx, now); err != nil {
		return nil, err
	}
	if err := in.begin(ctx, now); err != nil {
		return nil, err
	}
	return in, nil
}

// Open goes on with an instance that was created before, by this process or by
// another one. It reads the newest snapshot and the log after it, checks their
// digests, and evaluates all rules once on the state they lead to. It appends nothing: an
// instance whose log is of an older format tells where it stands, and what is to be appended
// is an *OlderFormatError until Migrate has put it under the contract that it has. Errors:
// store.ErrNotFound (wrapped), *FormatError (wrapped), *ContractMismatchError, *CorruptLogError,
// *InvalidStateError, or what the store reports.
func Open(ctx context.Context, contract *Contract, st store.Store, id string, opts ...Option) (*Instance, error) {
	if err := checkID(id); err != nil {
		return nil, err
	}
	return config{contract, promptStore{st}, id, optionsOf(opts)}.open(ctx)
}

func (o config) open(ctx context.Context) (*Instance, error) {
	in, r, err := o.reach(ctx, newest, newest)
	if err != nil {
		return nil, err
	}
	if err := in.arrive(r); err != nil {
		return nil, err
	}
	if err := in.checkAll(ctx, in.durable.Load().Snapshot); err != nil {
		return nil, err
	}
	in.keepSnapshot()
	return in, nil
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

// maxID is how long an instance's id may be, in bytes.
const maxID = 255

// A genesis is the sealed part of an instance's first record.
type genesis struct {
	Key   []byte          `json:"key"`   // of the keyed digests
	State json.RawMessage `json:"state"` // as a state file
}

// begin writes the first record.
func (in *Instance) begin(ctx context.Context, now *verify.Snapshot) error {
	sealed := in.genesis(now)
	e := in.genesisEntry(now, sealed, in.options.principal)
	e.Labels = in.options.labels
	e.Seal = in.key.Seal(e.sealed)
	line, head := trace.Start(in.id).Seal(&e.Record)
	if err := in.store.Create(ctx, in.id, store.Record{Seq: head.Seq, Line: line, Sealed: sealed}); err != nil {
		return err
	}
	in.standAt(ledger{}, point{now, head, head.Seq})
	return nil
}

// genesisEntry is the entry that begins a log, with what it seals.
func (in *Instance) genesisEntry(now *verify.Snapshot, sealed []byte, by Principal) *entry {
	e := &entry{Record: *in.record(trace.Create, now.Version, in.now()), sealed: sealed}
	e.Phase, e.State = now.Phase, in.key.State(now.State.Digest().String())
	e.Principal = trace.Principal(by)
	return e
}

// genesis writes a genesis, in one piece: the state may be large.
func (in *Instance) genesis(now *verify.Snapshot) []byte {
	dst := append(make([]byte, 0, now.State.Size()+128), `{"key":"`...)
	dst = append(base64.StdEncoding.AppendEncode(dst, in.key.Bytes()), `","state":`...)
	return append(in.contract.program.AppendExport(dst, now.State), '}')
}

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

// A config is what an instance is made from, beside its state.
type config struct {
	contract *Contract
	store    promptStore
	id       string
	options  options
}

// instance makes one that stands nowhere yet.
func (o config) instance(key *trace.Key) *Instance {
	in := &Instance{
		id: o.id, contract: o.contract, store: o.store, options: o.options, key: key,
		redactor: o.contract.secrets.Redactor(key), pipeline: newPipeline(),
	}
	in.atOnce, in.dialect = answersAtOnce(o.store), presentDialect(o.contract.Digest())
	return in
}

// standAt makes the instance begin at a point, with what is known of the records up to it.
func (in *Instance) standAt(l ledger, p point) {
	l.now = p.Snapshot
	l.recent.most, l.recent.bytes = in.options.recent, in.options.recentBytes
	in.known, in.tip = l, l.clone()
	in.durable.Store(&p)
}

// newest is above every version.
const newest = ^uint64(0)

// restore makes an instance from the newest snapshot that is not above a version,
// or from the first record.
func (o config) restore(ctx context.Context, version uint64) (*Instance, error) {
	s, err := o.store.Snapshot(ctx, o.id, version)
	if errors.Is(err, store.ErrNotFound) {
		return o.fromFirst(ctx)
	}
	if err != nil {
		return nil, err
	}
	in, err := o.fromSnapshot(ctx, s)
	if err == errOlderLayout {
		return o.fromFirst(ctx)
	}
	var corrupt *CorruptLogError
	if errors.As(err, &corrupt) { // a snapshot is a cache; the log decides
		o.options.logger.LogAttrs(ctx, levelBroken, "snapshot ignored", attrInstance(o.id), attrSeq(corrupt.Seq), attrReason(corrupt.Reason))
		return o.fromFirst(ctx)
	}
	return in, err
}

// fromFirst begins where the instance began.
func (o config) fromFirst(ctx context.Context) (*Instance, error) {
	first, err := o.recordAt(ctx, 1)
	if err != nil {
		return nil, err
	}
	if err := checkFormat(o.id, first); err != nil {
		return nil, err
	}
	var f genesis
	line, ok := readLine(first.Line)
	if !ok || line.Kind != trace.Create || json.Unmarshal(first.Sealed, &f) != nil {
		return nil, o.corrupt(1, "it does not begin an instance")
	}
	dialect := dialectOf(&line)
	if dialect.format == trace.Format { // else the contract is known by what comes out
		if err := o.checkContract(line.Contract); err != nil {
			return nil, err
		}
	}
	in, root, err := o.revive(ctx, f, 1)
	if err != nil {
		return nil, err
	}
	head, _, err := trace.CheckRecord(trace.Start(o.id), in.key, first.Line, first.Sealed)
	if err != nil {
		return nil, corruptLog(o.id, err)
	}
	if !line.keptAs(first) {
		return nil, o.corrupt(1, misplaced)
	}
	if in.dialect = dialect; !in.dialect.named(in.key, root.State, line.State) {
		return nil, o.corrupt(1, digestDiffers)
	}
	root.Phase = line.Phase
	in.standAt(ledger{}, point{root, head, head.Seq})
	return in, nil
}

// fromSnapshot begins at a snapshot, which must be what the log says: the record that it
// follows, and the one that made its state.
func (o config) fromSnapshot(ctx context.Context, s store.Snapshot) (*Instance, error) {
	c, reason := readCheckpoint(s.Data)
	if reason != "" {
		return nil, o.corrupt(s.Seq, reason)
	}
	if err := trace.CheckFormat(c.Format); err != nil {
		return nil, &store.Error{Instance: o.id, Err: err}
	}
	if c.isOlder() {
		return nil, errOlderLayout
	}
	if err := o.checkContract(c.Contract); err != nil {
		return nil, err
	}
	in, root, err := o.revive(ctx, genesis{c.Key, c.State}, s.Seq)
	if err != nil {
		return nil, err
	}
	root.Phase, root.Version = c.Phase, s.Version
	state := in.key.State(root.State.Digest().String())
	for _, seq := range []uint64{c.Made, s.Seq} {
		record, err := o.recordAt(ctx, seq)
		if err != nil {
			return nil, err
		}
		line, ok := readLine(record.Line)
		if !ok || seq == s.Seq && !c.follows(&line, s) || seq == c.Made && !c.madeBy(&line, s, state) {
			return nil, o.corrupt(s.Seq, snapshotForeign)
		}
		if err := in.checkAlone(record); err != nil {
			return nil, err
		}
	}
	l := ledger{attempts: c.attempts()}
	l.recent.startAt(root.Version, c.Began)
	in.standAt(l, point{root, trace.Head{Instance: o.id, Seq: s.Seq, Hash: c.Hash}, c.Made})
	return in, nil
}

// revive makes an instance around a state that was written down.
func (o config) revive(ctx context.Context, f genesis, seq uint64) (*Instance, *verify.Snapshot, error) {
	key, err := trace.KeyOf(f.Key)
	if err != nil {
		return nil, nil, o.corrupt(seq, "its key cannot be read")
	}
	root, err := o.contract.program.ImportWithin(ctx, f.State)
	if ended := ctx.Err(); ended != nil {
		return nil, nil, ended
	}
	if err != nil {
		return nil, nil, o.corrupt(seq, noState)
	}
	return o.instance(key), &verify.Snapshot{State: root}, nil
}

// recordAt reads one record.
func (o config) recordAt(ctx context.Context, seq uint64) (store.Record, error) {
	for r, err := range o.store.Read(ctx, o.id, seq, 1) {
		return r, err
	}
	return store.Record{}, o.corrupt(seq, "it is missing")
}

func (o config) checkContract(digest string) error {
	if digest != o.contract.Digest() && !o.options.standsIn {
		return &ContractMismatchError{o.id, digest, o.contract.Digest()}
	}
	return nil
}

func (o config) corrupt(seq uint64, reason string) error { return &CorruptLogError{o.id, seq, reason} }

// checkFormat refuses a log that is whole, as far as its first line tells, and of a newer
// format: all else may be written otherwise.
func checkFormat(id string, first store.Record) error {
	var other *FormatError
	if _, err := trace.Start(id).Next(first.Line); errors.As(err, &other) {
		return &store.Error{Instance: id, Err: other}
	}
	return nil
}

// ID is the name the instance was created under.
func (in *Instance) ID() string { return in.id }

// Contract is the contract the instance runs under.
func (in *Instance) Contract() *Contract { return in.contract }

// Version is the number of commits so far, as this process knows it.
func (in *Instance) Version() uint64 { return in.durable.Load().Version }

// Phase is the current phase, as this process knows it.
func (in *Instance) Phase() string { return in.durable.Load().Phase }

// StateDigest identifies the current state, as this process knows it.
func (in *Instance) StateDigest() string { return in.durable.Load().State.Digest().String() }

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
func (in *Instance) Head() Head { return in.durable.Load().head }

// A Runnable says of a stage whether a role can run it now.
type Runnable struct {
	Stage   string      `json:"stage"`
	Runs    bool        `json:"runs"`
	Refused []Violation `json:"refused,omitempty"` // why not, for the host: all that the first step says which refuses
}

// Runnable says of every stage, in the order of the contract's source, whether a role
// can run it on the current state: whether the phase is one of its phases, the role one of its
// roles, and its require clauses hold. Of a stage with parameters that the host binds, arguments
// decide too, and so may its require clauses: those are not looked at, and View tells. Nothing is
// recorded. by is who asks, if the host says so: one principal at most. Cost: that of evaluating the
// require clauses. Errors: *TooLongError,
// *NotTextError; the context's error; what the store reports.
func (in *Instance) Runnable(ctx context.Context, role string, by ...Principal) ([]Runnable, error) {
	who, at := first(by), in.now()
	if err := cmp.Or(CheckGiven(role, "", "", nil), who.Check()); err != nil {
		return nil, err
	}
	now, err := in.settled(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]Runnable, len(in.contract.ir.Stages))
	for i := range in.contract.ir.Stages {
		name := in.contract.ir.Stages[i].Name
		refused, err := in.contract.program.Admits(ctx, *now, verify.ViewRequest{Stage: name, Role: role, Actor: who.Subject, Now: at})
		if err != nil {
			return nil, err
		}
		all[i] = Runnable{Stage: name, Runs: len(refused) == 0, Refused: refused}
	}
	return all, nil
}

// settled is the current state, after reading the log if an append has failed.
func (in *Instance) settled(ctx context.Context) (*verify.Snapshot, error) {
	if err := in.settle(ctx); err != nil {
		return nil, err
	}
	return in.durable.Load().Snapshot, nil
}
