package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// The log is the authority: appending a decision is the commit. Told here are, in this
// order, what a record says and what it seals; and how a log is read back, one record alone
// or all that follow. How records are appended is told in pipeline.go. How a line is spelled
// and chained is package trace's concern.

// An entry is a record that is not part of the log yet. Where it stands there is not known.
type entry struct {
	trace.Record
	sealed []byte
	args   map[string]string // the arguments, if the record does not have them all
}

// record begins a record of this instance.
func (in *Instance) record(kind trace.Kind, version uint64, at time.Time) *trace.Record {
	return &trace.Record{Kind: kind, Time: at, Contract: in.contract.Digest(), Version: version}
}

// now is the clock that something is decided by: it is read once, before, and its time is
// that of the records, so that what is decided again later is decided by the same. RFC 3339 has years of four digits: a clock that is
// beyond them tells the last moment, or the first.
func (in *Instance) now() time.Time {
	t := in.options.clock().Round(0).UTC() // a record has no other clock than the wall
	switch year := t.Year(); {
	case year < 0:
		return time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case year > 9999:
		return time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	}
	return t
}

// actor adds who acts, in which stage, with which arguments.
func (in *Instance) actor(r *trace.Record, by Principal, stage, role string, args map[string]string) {
	r.Stage, r.Role, r.Principal = stage, role, trace.Principal(by)
	if s := in.contract.ir.Stage(stage); s != nil {
		r.Args, r.Redacted = in.redactor.Args(s, args)
	}
}

// maxIdleShown is up to which size, as a line tells it, a line shows the operations of
// a patch that changed nothing, so that such a patch is not kept twice.
const maxIdleShown = 4096

// recordsDigest reports whether the record of a proposal tells its digest: whether another
// proposal may ever be compared with it.
func recordsDigest(a *request, v *verify.Verdict) bool {
	return a.key != "" || v.Verdict != verify.Commit
}

// proposalEntry records what was proposed. The patch is sealed as it arrived, if it is kept.
func (in *Instance) proposalEntry(p *Proposal, a *request, seen *verify.Snapshot, out *verify.Outcome, keep bool) *entry {
	e := &entry{Record: *in.record(trace.Proposal, seen.Version, a.at)}
	in.actor(&e.Record, p.Principal, p.Stage, p.Role, p.Args)
	e.args = hiddenArgs(&e.Record, p.Args)
	e.Base, e.Key, e.Next, e.Size = &p.Base, a.key, p.Next, trace.Rounded(len(p.Patch))
	if recordsDigest(a, &out.Verdict) {
		e.Digest = a.print.patch
	}
	if !keep {
		a.kept = 0
		return e
	}
	a.kept, e.sealed = len(p.Patch), bytes.Clone(p.Patch)
	if out.Patch != nil && (out.Verdict.Verdict == verify.Commit || e.Size <= maxIdleShown) {
		text, redacted := in.redactor.Patch(out.Patch)
		e.Patch, e.Redacted = text, append(e.Redacted, redacted...)
	}
	return e
}

// advanceEntry records the phase that the host asked for.
func (in *Instance) advanceEntry(seen *verify.Snapshot, phase, role string, by Principal, at time.Time) *entry {
	e := &entry{Record: *in.record(trace.Advance, seen.Version, at)}
	e.Role, e.Phase, e.Principal = role, phase, trace.Principal(by)
	return e
}

// decisionEntry records a verdict on what was asked, and of a commit what it
// replaced.
func (in *Instance) decisionEntry(ctx context.Context, out *verify.Outcome, v *Verdict, asked *entry) (e *entry, err error) {
	e = &entry{Record: *in.record(trace.Decision, out.Verdict.VersionAfter, asked.Time)}
	in.addVerdict(&e.Record, &out.Verdict)
	if out.Verdict.Verdict == verify.Commit {
		in.addOld(&e.Record, out)
	}
	hidden := sealedPart{Args: asked.args}
	if asked.Key != "" {
		actor, err := out.ActorWithin(ctx)
		if err != nil {
			return nil, err
		}
		v.actor = func() ActorVerdict { return actor }
		hidden.Operator, hidden.Actor = &v.OperatorVerdict, &actor
	}
	e.sealed, err = hidden.seal()
	return e, err
}

// waits makes of a decision's entry the one that a proposal waits: until expires, if that is
// not zero. asked is the proposal's.
func (e *entry) waits(asked *entry, expires time.Time) {
	e.Kind, e.Digest, e.Expires = trace.Pending, asked.Digest, expires
}

// withdrawnEntry records that a proposal does not wait any more, of which record pending says
// that it does.
func (in *Instance) withdrawnEntry(seen *verify.Snapshot, pending uint64, reason string, by Principal, at time.Time) *entry {
	e := &entry{Record: *in.record(trace.Withdrawn, seen.Version, at)}
	e.Waits, e.Reason, e.Principal = pending, reason, trace.Principal(by)
	return e
}

// addVerdict adds the operator's rendering as a trace may show it.
func (in *Instance) addVerdict(r *trace.Record, v *verify.Verdict) {
	shown := in.keyed(v)
	shown.Violations, r.Redacted = in.redactViolations(v.Violations, r.Redacted)
	const usual = 640 // bytes of one without violations
	r.Verdict = shown.AppendJSON(make([]byte, 0, usual))
}

// keyed is a verdict with its digests of states under the instance's key.
func (in *Instance) keyed(v *verify.Verdict) verify.Verdict {
	keyed := *v
	keyed.StateBefore = in.key.State(v.StateBefore)
	keyed.StateAfter = keyed.StateBefore
	if v.StateAfter != v.StateBefore {
		keyed.StateAfter = in.key.State(v.StateAfter)
	}
	return keyed
}

// redactViolations replaces what may tell of a secret: names in paths, and all of a
// message about the text of a patch, which may quote it or count its bytes. Hints are
// for who proposes, and have arguments and names in them: they are left out.
func (in *Instance) redactViolations(all []Violation, redacted []string) ([]Violation, []string) {
	return redactViolations(all, redacted, in.redactor)
}

// redactViolations replaces what is secret by one of several contracts of an instance, each once.
func redactViolations(all []Violation, redacted []string, by ...*trace.Redactor) ([]Violation, []string) {
	if len(all) == 0 {
		return all, redacted
	}
	if by = slices.DeleteFunc(by, (*trace.Redactor).Idle); len(by) == 0 {
		return all, redacted
	}
	all = slices.Clone(all)
	for i := range all {
		v, at := &all[i], "/verdict/violations/"+strconv.Itoa(i)
		if v.Path != nil {
			if shown, changed := trace.RedactPath(*v.Path, by...); changed {
				v.Path, redacted = &shown, append(redacted, at+"/path")
			}
		}
		if v.Gate == verify.GateFormat || v.Gate == verify.GateLimit {
			v.Message, _ = by[0].Text(v.Message) // they have one key
			redacted = append(redacted, at+"/message")
		}
		v.Hint = ""
	}
	return all, redacted
}

// maxOldValue is how many bytes of a replaced value a trace shows. Of a longer one
// it has the keyed digest, so that a record's size follows the patch's.
const maxOldValue = 512

// addOld adds the values that each operation replaced or took away, as they were
// directly before that.
func (in *Instance) addOld(r *trace.Record, out *verify.Outcome) {
	old := make([]trace.OldValue, 0, len(out.Patch))
	for i := range out.Patch {
		op, effect := &out.Patch[i], &out.Effects[i]
		switch {
		case effect.Taken == nil:
		case op.Kind == tree.OpMove:
			old = append(old, trace.OldValue{Op: i, Path: op.From, Text: op.RawFrom, Value: effect.Taken})
		default:
			old = append(old, trace.OldValue{Op: i, Path: op.Path, Text: op.RawPath, Value: effect.Taken})
		}
		if effect.Replaced != nil {
			old = append(old, trace.OldValue{Op: i, Path: op.Path, Text: op.RawPath, Value: effect.Replaced})
		}
	}
	if len(old) > 0 {
		text, redacted := in.redactor.Old(old, maxOldValue)
		r.Old, r.Redacted = text, append(r.Redacted, redacted...)
	}
}

// What a record seals depends on its kind. Of a proposal it is the patch, byte for byte,
// if it is kept (see Instance.keeps), and of the first record a genesis. A view and a
// decision seal a sealedPart, if there is anything in it.

// A sealedPart is what the line of a view or of a decision leaves out.
type sealedPart struct {
	Args     map[string]string    `json:"args,omitempty"`     // those of the view or proposal, if the line replaces some
	Operator *verify.Verdict      `json:"operator,omitempty"` // of a keyed proposal, to be answered again
	Actor    *verify.ActorVerdict `json:"actor,omitempty"`    // likewise
}

// seal makes the sealed part, nil if there is nothing to seal.
func (p *sealedPart) seal() ([]byte, error) {
	if p.Args == nil && p.Operator == nil && p.Actor == nil {
		return nil, nil
	}
	return json.Marshal(p)
}

func readSealed(sealed []byte) (p sealedPart, err error) {
	if len(sealed) == 0 {
		return p, nil
	}
	if json.Unmarshal(sealed, &p) != nil {
		return p, errors.New("its sealed part cannot be read")
	}
	return p, nil
}

// args are the arguments of the view or proposal that l records.
func (p *sealedPart) args(l *line) map[string]string {
	if p.Args != nil {
		return p.Args
	}
	return l.Args
}

// hiddenArgs are args if the line's record had to replace some, else nil.
func hiddenArgs(r *trace.Record, args map[string]string) map[string]string {
	if len(r.Redacted) == 0 {
		return nil
	}
	return args
}

// storedVerdict is the verdict that the decision of a keyed proposal seals.
func storedVerdict(r store.Record) (*Verdict, error) {
	p, err := readSealed(r.Sealed)
	if err != nil {
		return nil, err
	}
	if p.Operator == nil || p.Actor == nil {
		return nil, errors.New("it seals no verdict")
	}
	actor := *p.Actor
	return &Verdict{OperatorVerdict: *p.Operator, actor: func() ActorVerdict { return actor }}, nil
}

// A line is what the line of a record says, with the verdict in it.
type line struct {
	*trace.Record
	verdict *verify.Verdict // nil where there is none
}

// readLine reads a line whose place in the chain is not asked for.
func readLine(text []byte) (line, bool) {
	r, err := trace.ReadRecord(text)
	if err != nil {
		return line{}, false
	}
	return lineOf(r)
}

func lineOf(r *trace.Record) (line, bool) {
	l := line{Record: r}
	return l, len(r.Verdict) == 0 || json.Unmarshal(r.Verdict, &l.verdict) == nil
}

// base is the version that a proposal was made on.
func (l *line) base() uint64 {
	if l.Base == nil {
		return 0
	}
	return *l.Base
}

// keptAs reports whether the store has l under the number, version and key it tells.
func (l *line) keptAs(r store.Record) bool {
	return r.Seq == l.Seq && r.Version == l.Version && r.Key == l.Key
}

// request is what a proposal's record asks for.
func (l *line) request(r store.Record) *request {
	patch := l.Digest
	if patch == "" { // of a commit; or older than the digests of what patches read as
		patch = l.Seal
	}
	tooLong := patch == "" && l.Size > 0
	return &request{
		step: stepOf(l.Principal.Subject, l.Stage, l.Role, l.Args), print: fingerprint{l.Next, patch, tooLong}, patch: r.Sealed, kept: len(r.Sealed),
		key: l.Key, at: l.Time, seq: r.Seq,
	}
}

// checkAlone checks a record without those before it: its hash, its seal and its
// number.
func (in *Instance) checkAlone(r store.Record) error {
	l, ok := readLine(r.Line)
	if !ok {
		return &CorruptLogError{in.id, r.Seq, "its line cannot be read"}
	}
	before := trace.Head{Instance: in.id, Seq: r.Seq - 1, Hash: l.Prev}
	if _, _, err := trace.CheckRecord(before, in.key, r.Line, r.Sealed); err != nil {
		return corruptLog(in.id, err)
	}
	return nil
}

// Replaying is how an instance learns what the log says: at opening, and whenever
// another process has appended. A committed proposal is applied, not verified
// again: the log is the authority on what was accepted. But the chain, the sealed
// parts, the order of versions and the digest of every state must hold.

// Reasons of a *CorruptLogError.
const (
	versionDiffers = "it commits another version than the next"
	digestDiffers  = "its state has another digest than was recorded"
	noState        = "its state is none of the contract"
	doesNotApply   = "its patch does not apply"
	undecided      = trace.Undecided
	decidesNothing = trace.DecidesNothing
	misplaced      = "its line is kept under another number, version or key"
	anotherLog     = "it is another record than was read: the instance was begun anew, or an older copy was put back; open it again"
)

// A replay is a place in a log that goes forward record by record.
type replay struct {
	in     *Instance
	ledger            // what is known there
	head   trace.Head // of the log up to there
	made   uint64     // the record that made the state
	size   int        // bytes read

	dialect   dialect
	contracts []*Contract // beside that of in: those that a migration may lead to
	standIn   *Contract   // reads what is under a contract that was not given; nil for none

	waiting *store.Record // the record just before, if it awaits a decision
	asks    line          // its line
}

// replayFrom begins where the log is known to end.
func (in *Instance) replayFrom(p *point) *replay {
	in.mu.Lock()
	defer in.mu.Unlock()
	return &replay{in: in, ledger: in.known.clone(), head: p.head, made: p.made, dialect: in.dialect}
}

// forward reads the log up to the commit that leads to a version, or to its end. in is not
// shared.
func (in *Instance) forward(ctx context.Context, version uint64) (*replay, error) {
	r := in.replayFrom(in.durable.Load())
	for record, err := range in.store.Read(ctx, in.id, r.head.Seq+1, 0) {
		if r.now.Version == version {
			break
		}
		if err == nil {
			err = r.step(ctx, record)
		}
		if err != nil {
			return nil, in.orBegunAnew(ctx, err)
		}
	}
	return r, nil
}

// orBegunAnew is err, or why a log does not go on that has nothing wrong with it: what was read
// first is not in the store any more. in is not shared, and stands where it began to read.
func (in *Instance) orBegunAnew(ctx context.Context, err error) error {
	var broken *CorruptLogError
	if !errors.As(err, &broken) {
		return err
	}
	if gone := in.checkHead(ctx, in.durable.Load().head); gone != nil {
		return gone
	}
	return err
}

// step takes in one record.
func (r *replay) step(ctx context.Context, record store.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	head, said, err := trace.CheckRecord(r.head, r.in.key, record.Line, record.Sealed)
	if err != nil {
		return corruptLog(r.in.id, err)
	}
	r.head = head
	r.size += len(record.Line) + len(record.Sealed)
	l, ok := lineOf(said)
	if !ok {
		return r.corrupt("its line cannot be read")
	}
	if !l.keptAs(record) {
		return r.corrupt(misplaced)
	}
	if r.waiting != nil && !l.Kind.Answers() {
		return &CorruptLogError{r.in.id, r.waiting.Seq, undecided}
	}
	switch {
	case l.Kind.Asks():
		r.waiting, r.asks = &record, l
		return nil
	case l.Kind.Answers():
		return r.decide(ctx, &l, record.Sealed)
	default:
		return nil
	}
}

// decide takes in a decision, or that a proposal waits.
func (r *replay) decide(ctx context.Context, l *line, sealed []byte) error {
	v, waiting := l.verdict, r.waiting
	r.waiting = nil
	switch {
	case waiting == nil || v == nil:
		return r.corrupt(decidesNothing)
	case (l.Kind == trace.Pending) != (v.Verdict == verify.Pending) || l.Kind == trace.Pending && r.asks.Kind != trace.Proposal:
		return r.corrupt("its verdict is not one of its kind")
	case r.asks.Kind == trace.Migrate && v.Verdict == verify.Commit:
		return r.migrated(ctx, l, sealed)
	}
	d := &decision{verdict: v}
	if r.asks.Kind == trace.Proposal {
		d.about = r.asks.request(*waiting)
	}
	if v.Verdict == verify.Commit {
		if err := r.apply(ctx, d, waiting); err != nil {
			return err
		}
		r.made = r.head.Seq
	}
	r.take(d)
	return nil
}

// apply makes the state that a commit led to.
func (r *replay) apply(ctx context.Context, d *decision, asked *store.Record) error {
	v := d.verdict
	if v.VersionBefore != r.now.Version || v.VersionAfter != r.now.Version+1 {
		return r.corrupt(versionDiffers)
	}
	root := r.now.State
	var effects []tree.Effect
	if d.about != nil {
		var err error
		if root, effects, err = r.in.contract.program.Replay(ctx, root, asked.Sealed); err != nil {
			if ended := ctx.Err(); ended != nil {
				return ended
			}
			return r.corrupt(doesNotApply)
		}
	}
	if !r.dialect.named(r.in.key, root, v.StateAfter) {
		return r.corrupt(digestDiffers)
	}
	d.after = &verify.Snapshot{State: root, Phase: v.PhaseAfter, Version: v.VersionAfter}
	d.change = changeOf(effects, r.now, v.PhaseAfter)
	return nil
}

func (r *replay) corrupt(reason string) error {
	return &CorruptLogError{r.in.id, r.head.Seq, reason}
}

// corruptLog turns a broken chain into the engine's error.
func corruptLog(id string, err error) error {
	var broken *trace.BrokenError
	if errors.As(err, &broken) {
		return &CorruptLogError{id, broken.Seq, broken.Reason}
	}
	return err
}

// Trace writes the instance's trace as it is in the store: one line a record, from
// the first to the last. CheckTrace reads it. Errors: ErrClosed; the context's error; what the
// store or w reports.
func (in *Instance) Trace(ctx context.Context, w io.Writer) error {
	if err := in.checkOpen(); err != nil {
		return err
	}
	return trace.Write(w, in.lines(ctx))
}

func (in *Instance) lines(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for r, err := range in.store.Read(ctx, in.id, 1, 0) {
			if !yield(r.Line, err) {
				return
			}
		}
	}
}

// How the engine reports what happens.
const (
	levelDecided = slog.LevelInfo
	levelBroken  = slog.LevelError
)

func attrInstance(id string) slog.Attr   { return slog.String("instance", id) }
func attrSeq(seq uint64) slog.Attr       { return slog.Uint64("seq", seq) }
func attrReason(reason string) slog.Attr { return slog.String("reason", reason) }

// logVerdict reports a verdict: identifiers, codes and paths.
func (in *Instance) logVerdict(ctx context.Context, what trace.Kind, stage string, v *verify.Verdict) {
	logger := in.options.logger
	if !logger.Enabled(ctx, levelDecided) {
		return
	}
	violations, _ := in.redactViolations(v.Violations, nil)
	var paths []string
	for _, found := range violations {
		if found.Path != nil {
			paths = append(paths, *found.Path)
		}
	}
	logger.LogAttrs(ctx, levelDecided, string(what),
		attrInstance(in.id), slog.String("stage", stage), slog.String("verdict", string(v.Verdict)),
		slog.Uint64("version", v.VersionAfter), slog.Any("codes", codesOf(violations)), slog.Any("paths", paths))
}
