package runtime

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// CheckLog reads an instance's log and checks what can be checked without its
// contract: the chain, every sealed part, the numbers, versions and keys under which
// the store keeps the records, and what the lines say of each other: beginning, kinds,
// answers, versions, contracts.
// Each line that holds is given to each, unless that is nil; its error ends the
// reading. The head is that of the last line that holds. Errors: *IDError for a
// name that no instance can have, *CorruptLogError
// for the first record that does not, *FormatError (wrapped), store.ErrNotFound (wrapped), what each
// returns, or what the store reports.
func CheckLog(ctx context.Context, st store.Store, id string, each func(line []byte) error) (Head, error) {
	c := logCheck{id: id, head: trace.Start(id)}
	if err := checkID(id); err != nil {
		return c.head, err
	}
	for record, err := range (promptStore{st}).Read(ctx, id, 1, 0) {
		if err == nil {
			err = c.next(record)
		}
		if err == nil && each != nil {
			err = each(record.Line)
		}
		if err != nil {
			return c.head, err
		}
	}
	if err := c.pairing.End(); err != nil {
		return c.head, corruptLog(id, err)
	}
	return c.head, nil
}

// CheckTrace reads a trace, as Instance.Trace writes it, and checks its chain, and what its
// lines say of each other, as CheckLog does. It needs neither contract nor store. The
// head is that of the last line that holds: compare it with one known from elsewhere to
// notice lines missing at the end. An empty trace holds. Memory is that of the longest
// line. Errors: *BrokenTraceError for the first line that does not hold, *FormatError, or
// what reading reported.
func CheckTrace(r io.Reader) (Head, error) { return trace.Verify(r) }

// A logCheck is a position in a log.
type logCheck struct {
	id      string
	head    trace.Head
	key     *trace.Key
	pairing trace.Pairing
}

func (c *logCheck) next(record store.Record) (err error) {
	if c.key == nil {
		if c.key, err = c.keyIn(record); err != nil {
			return err
		}
	}
	head, said, err := trace.CheckRecord(c.head, c.key, record.Line, record.Sealed)
	if err != nil {
		return corruptLog(c.id, err)
	}
	l, ok := lineOf(said)
	if !ok || !l.keptAs(record) {
		return &CorruptLogError{c.id, head.Seq, misplaced}
	}
	if err := c.pairing.Next(l.Record); err != nil {
		return corruptLog(c.id, err)
	}
	c.head = head
	return nil
}

// keyIn finds the instance's key in its first record.
func (c *logCheck) keyIn(first store.Record) (*trace.Key, error) {
	if err := checkFormat(c.id, first); err != nil {
		return nil, err
	}
	var f genesis
	if json.Unmarshal(first.Sealed, &f) == nil {
		if key, err := trace.KeyOf(f.Key); err == nil {
			return key, nil
		}
	}
	return nil, &CorruptLogError{c.id, 1, "it does not begin an instance"}
}

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
	_, r, err := config{contract, promptStore{st}, id, optionsOf(nil)}.reach(ctx, version, version)
	if err != nil {
		return Past{}, err
	}
	now := r.now
	if now.Version != version {
		return Past{}, &UnknownVersionError{id, version, now.Version}
	}
	return Past{
		Version: now.Version, Phase: now.Phase, Digest: now.State.Digest().String(),
		State: contract.program.Export(now.State, false),
	}, nil
}

// Replaying a log for an auditor is stricter than replaying it to go on: every view
// is shown again and every proposal is judged again, on the state it was judged on,
// with the same arguments, tries and keys. The contract decides, and what it decides
// must be what was recorded.
//
// Each line is written again, and must be the recorded one to the byte.
//
// Some things are taken from the record, because they stand nowhere else: what was the
// host's to choose (who, the labels, the time, how many tries a step had where its stage does not say, and that a
// base version was too old to be remembered), and, where a patch was not kept, what was
// wrong with it. Such a proposal cannot have committed.

// A Replayed is what came of replaying a log.
type Replayed struct {
	Instance  string      `json:"instance"`
	Records   uint64      `json:"records"`
	Outcomes  uint64      `json:"outcomes,omitempty"` // decisions of an older format: their states came out again
	Decisions uint64      `json:"decisions"`          // that were made again
	Unjudged  uint64      `json:"unjudged,omitempty"` // migrations that were refused, to contracts that were not given
	Views     uint64      `json:"views"`              // that were shown again
	Version   uint64      `json:"version"`
	Phase     string      `json:"phase"`
	State     string      `json:"state"` // its digest
	Head      string      `json:"head"`  // the hash of the last record that was replayed
	Different *Difference `json:"different,omitempty"`
}

// A RecordKind is what a record of a log records: "create", "view", "proposal",
// "advance", "migrate", "decision", "pending" or "withdrawn".
type RecordKind = trace.Kind

// A Difference is where a log says otherwise than the contract. It holds no value
// of the state: what differs are decisions, codes and digests.
type Difference struct {
	Seq      uint64     `json:"seq"`
	Kind     RecordKind `json:"kind"`
	Member   string     `json:"member"` // what differs: "verdict", "state_after", "view", ...
	Recorded string     `json:"recorded"`
	Again    string     `json:"again"` // what comes out now
}

// Replay makes every decision in an instance's log again and stops at the first
// that differs: the result then has a Difference, and is of the log up to there.
// The log itself is checked as Open checks it, from the first record on and without
// snapshots. Errors: those of Open. It costs what all the decisions cost.
//
// An instance that was migrated ran under several contracts: the others are given too, in
// any order. One that is needed and not given is a *ContractMismatchError, which has its digest.
// That of a migration that was refused is not needed: without it, the migration is not judged.
//
// Where a log is of an older format, its lines cannot be written again, and the contract built
// from its source has another digest today. There, contract is judged by what comes out: every
// commit must lead to the states that are recorded.
//
// Contracts must be loaded within the limits that they had.
func Replay(ctx context.Context, contract *Contract, st store.Store, id string, others ...*Contract) (Replayed, error) {
	if err := checkID(id); err != nil {
		return Replayed{}, err
	}
	o := config{contract, promptStore{st}, id, optionsOf([]Option{rememberAll})}
	in, err := o.fromFirstOf(ctx, others)
	if err != nil {
		return Replayed{}, err
	}
	first := in.durable.Load()
	r := &audit{replay: *in.replayFrom(first), ctx: ctx}
	r.contracts = append(others, contract)
	r.out.Instance = id
	if err = r.genesis(); err == nil && r.out.Different == nil {
		err = in.orBegunAnew(ctx, r.all())
	}
	r.out.Records, r.out.Head = r.head.Seq, r.head.Hash
	r.out.Version, r.out.Phase, r.out.State = r.now.Version, r.now.Phase, r.now.State.Digest().String()
	return r.out, err
}

// fromFirstOf begins where the instance began, under that one of several contracts that it
// began under.
func (o config) fromFirstOf(ctx context.Context, others []*Contract) (*Instance, error) {
	in, err := o.fromFirst(ctx)
	needed := ""
	var other *ContractMismatchError
	switch {
	case errors.As(err, &other):
		needed = other.Have
	case err == nil && in.dialect.format < trace.Format && len(others) > 0:
		needed, err = o.renewedUnder(ctx)
	}
	for _, c := range others {
		if c.Digest() == needed {
			o.contract = c
			return o.fromFirst(ctx)
		}
	}
	return in, err
}

// renewedUnder is the digest of the contract that a log of an older format was gone on with
// under, "" if it was not.
func (o config) renewedUnder(ctx context.Context) (string, error) {
	to := "" // what the line before asks for
	for r, err := range o.store.Read(ctx, o.id, 1, 0) {
		if err != nil {
			return "", err
		}
		l, ok := readLine(r.Line)
		switch {
		case !ok:
		case l.Kind == trace.Migrate:
			to = l.To
		case to != "" && l.verdict != nil && l.verdict.Verdict == verify.Commit:
			return to, nil
		default:
			to = ""
		}
	}
	return "", nil
}

// rememberAll makes an instance remember what all commits wrote: what was decided may
// have rested on any of them.
func rememberAll(o *options) { o.recent, o.recentBytes = math.MaxInt/2, math.MaxInt }

// An audit is a replay that makes the decisions again.
type audit struct {
	replay
	ctx   context.Context
	out   Replayed
	asked trace.Head // before the record that awaits a decision

	pairing trace.Pairing
	digests bool // the log has come to where proposals tell what they read as
}

// genesis makes the line of the first record again.
func (r *audit) genesis() error {
	first, err := config{store: r.in.store, id: r.in.id}.recordAt(r.ctx, 1)
	if err != nil {
		return err
	}
	l, _ := readLine(first.Line)
	if err := r.pairing.Next(l.Record); err != nil || r.dialect.format < trace.Format {
		return corruptLog(r.in.id, err)
	}
	if err := r.in.checkAll(r.ctx, r.now); err != nil {
		return err
	}
	e := r.in.genesisEntry(r.now, first.Sealed, Principal(l.Principal))
	e.Labels, e.Time = l.Labels, l.Time
	return r.sameLine(trace.Start(r.in.id), &l, first, e)
}

func (r *audit) all() error {
	for record, err := range r.in.store.Read(r.ctx, r.in.id, r.head.Seq+1, 0) {
		if err == nil {
			err = r.next(record)
		}
		if err != nil || r.out.Different != nil {
			return err
		}
	}
	if r.waiting != nil {
		return r.corrupt(undecided)
	}
	return nil
}

// next takes in one record, after that it makes its decision again or shows its
// view again: on what was known before it.
func (r *audit) next(record store.Record) error {
	before := r.context()
	if err := r.step(r.ctx, record); err != nil {
		return err
	}
	l, _ := readLine(record.Line)
	if err := r.pairing.Next(l.Record); err != nil {
		return corruptLog(r.in.id, err)
	}
	return r.again(before, &l, record)
}

// An auditContext is what was known before a record.
type auditContext struct {
	place    replay // where the log was read up to
	now      verify.Snapshot
	head     trace.Head
	asks     line          // the line before, if it awaits a decision
	record   *store.Record // its record
	patch    []byte        // what it seals; nil if it was not kept
	proposal *request      // what it asks for, nil for the host's move
	tries    tries         // of its step
}

func (r *audit) context() *auditContext {
	m := &auditContext{place: r.replay, now: *r.now, head: r.head, asks: r.asks, record: r.waiting}
	if r.waiting != nil && r.asks.Kind == trace.Proposal {
		m.proposal = r.asks.request(*r.waiting)
		if r.asks.Seal != "" || r.asks.Size == 0 {
			m.patch = orEmpty(r.waiting.Sealed)
			m.proposal.patch = m.patch
		}
		m.tries = r.attempts.of(m.proposal.step)
	}
	return m
}

func (r *audit) again(before *auditContext, l *line, record store.Record) error {
	if l.Kind.Asks() {
		r.asked = before.head
		return nil
	}
	if before.record != nil && before.asks.Kind == trace.Migrate { // else it was no answer
		return r.migration(before, l, record)
	}
	if before.place.dialect.format < trace.Format {
		return r.outcome(before, l)
	}
	hidden, err := readSealed(record.Sealed)
	if err != nil {
		return r.corrupt(err.Error())
	}
	switch l.Kind {
	case trace.View:
		r.out.Views++
		return r.view(before, l, record, &hidden)
	case trace.Decision, trace.Pending:
		r.out.Decisions++
		return r.decision(before, l, record, &hidden)
	case trace.Withdrawn:
		return r.withdrawn(before, l, record)
	}
	r.differ(l, "kind", digestOf([]byte(l.Kind)), "none")
	return nil
}

// outcome compares the states that a decision of an older format tells with those that come
// out: the one that it leads to was compared where its patch was applied.
func (r *audit) outcome(before *auditContext, l *line) error {
	switch l.Kind {
	case trace.View:
		if l.verdict == nil {
			return nil
		}
		r.differ(l, "verdict", string(l.verdict.Verdict), string(verify.Reject)) // a view that was refused
	case trace.Decision:
		r.out.Outcomes++
	default:
		r.differ(l, "kind", digestOf([]byte(l.Kind)), "none")
		return nil
	}
	r.states(before, l)
	return nil
}

// states compares what a decision tells of where the instance stood, and stands after it.
func (r *audit) states(before *auditContext, l *line) {
	v, place := l.verdict, &before.place
	for _, is := range []struct {
		member, text string
		state        *verify.Snapshot
	}{{"state_before", v.StateBefore, &before.now}, {"state_after", v.StateAfter, r.now}} {
		if !r.dialect.named(place.in.key, is.state.State, is.text) {
			r.differ(l, is.member, is.text, r.dialect.name(place.in.key, is.state.State))
		}
	}
	for _, m := range []member{
		{"version_before", fmt.Sprint(v.VersionBefore), fmt.Sprint(before.now.Version)},
		{"version_after", fmt.Sprint(v.VersionAfter), fmt.Sprint(r.now.Version)},
		{"phase_before", v.PhaseBefore, before.now.Phase},
		{"phase_after", v.PhaseAfter, r.now.Phase},
		{"contract", v.Contract, place.dialect.contract},
	} {
		r.differ(l, m.name, m.recorded, m.again)
	}
}

// contractDigest is how the digest of a contract is written.
var contractDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// migration decides again whether the instance can go on under another contract. One that was
// refused is not judged where that contract was not given: the instance never ran under it.
func (r *audit) migration(before *auditContext, l *line, record store.Record) error {
	asks, place := &before.asks, &before.place
	to := place.contractOf(asks.To)
	switch {
	case to == nil && l.verdict.Verdict == verify.Reject:
		r.out.Unjudged++
		if !contractDigest.MatchString(asks.To) {
			r.differ(l, "to", digestOf([]byte(asks.To)), "the digest of a contract")
		}
		r.states(before, l)
		return nil
	case to == nil:
		return &ContractMismatchError{r.in.id, asks.To, place.in.contract.Digest()}
	}
	r.out.Decisions++
	m := Migration{Patch: before.record.Sealed, Phase: asks.Phase, Principal: Principal(asks.Principal)}
	m.twice = len(slices.Compact(slices.Sorted(slices.Values(l.Redacted)))) < len(l.Redacted)
	again, err := place.in.migration(r.ctx, place, to, m, asks.Time)
	if err != nil {
		return err
	}
	if l.verdict.Verdict != again.verdict.Verdict {
		r.differ(l, "verdict", string(l.verdict.Verdict), string(again.verdict.Verdict))
	}
	if err := r.sameLine(r.asked, asks, *before.record, again.asked); err != nil {
		return err
	}
	return r.sameLine(before.head, l, record, again.decision)
}

// withdrawn writes again that a proposal does not wait any more. Who says so, and why, stands
// nowhere else; that it waited, the lines before tell.
func (r *audit) withdrawn(before *auditContext, l *line, record store.Record) error {
	e := r.in.withdrawnEntry(&before.now, l.Waits, l.Reason, Principal(l.Principal), l.Time)
	return r.sameLine(before.head, l, record, e)
}

// view shows a view again.
func (r *audit) view(before *auditContext, l *line, record store.Record, hidden *sealedPart) error {
	request := verify.ViewRequest{Stage: l.Stage, Args: hidden.args(l), Role: l.Role, Actor: l.Principal.Subject, Now: l.Time}
	v, refused, err := r.in.contract.program.View(r.ctx, before.now, request)
	if err != nil {
		return r.undecidable(l, err)
	}
	if refused != nil {
		if err := r.compare(l, refused); err != nil {
			return err
		}
	} else {
		r.differ(l, "view", l.View, r.in.key.View(v.Digest))
	}
	asked := Request{Stage: request.Stage, Args: request.Args, Role: request.Role, Principal: Principal(l.Principal)}
	e, err := r.in.viewEntry(&before.now, &asked, l.Time, &v, refused)
	if err != nil {
		return err
	}
	return r.sameLine(before.head, l, record, e)
}

// decision judges again what the record before asked for.
func (r *audit) decision(before *auditContext, l *line, record store.Record, hidden *sealedPart) error {
	out, unread, err := r.judge(before, l, hidden)
	if err != nil {
		return r.undecidable(l, err)
	}
	if unread {
		err = r.compareAs(l, r.in.keyed(&out.Verdict))
	} else {
		err = r.compare(l, &out.Verdict)
	}
	if err != nil || r.out.Different != nil {
		return err
	}
	asked, err := r.askedAgain(before, &out, hidden)
	if err != nil {
		return err
	}
	decided, err := r.decidedAgain(l, record, &out, unread, asked)
	if err != nil {
		return err
	}
	if err := r.sameLine(r.asked, &before.asks, *before.record, asked); err != nil {
		return err
	}
	return r.sameLine(before.head, l, record, decided)
}

// judge judges again what was asked. Where the patch was not kept, and what was
// recorded may be what was wrong with it, the outcome has the violations as the line
// shows them: unread tells.
func (r *audit) judge(before *auditContext, l *line, hidden *sealedPart) (out verify.Outcome, unread bool, err error) {
	late := func(p *Proposal, now *admission) []Violation { return r.late(p, now, l.verdict) }
	out, refused, err := r.verify(before, l, hidden, l.verdict.MaxAttempts, late)
	if err == nil && before.withoutPatch() && r.mayBeOfPatch(l.verdict, &out, refused) {
		out.Refuse(l.verdict.Violations)
		unread = true
	}
	return out, unread, err
}

// withoutPatch reports whether a decision is about a proposal whose patch was not kept.
func (c *auditContext) withoutPatch() bool { return c.proposal != nil && c.patch == nil }

// verify asks the verifier again what was asked, where a step has most tries and late is what the
// stale gate has to say. Of a proposal whose patch was not kept, refused says that it is without it.
func (r *audit) verify(before *auditContext, l *line, hidden *sealedPart, most int, late func(*Proposal, *admission) []Violation) (out verify.Outcome, refused bool, err error) {
	program, asks, a := r.in.contract.program, &before.asks, before.proposal
	if a == nil {
		out, err = program.Advance(r.ctx, before.now, verify.Move{To: asks.Phase, Role: asks.Role, Actor: asks.Principal.Subject, Now: asks.Time})
		return out, false, err
	}
	p := Proposal{
		Stage: asks.Stage, Args: hidden.args(asks), Role: asks.Role, Base: asks.base(), Next: asks.Next,
		Patch: before.patch, Normalised: l.verdict.Normalised,
	}
	now := admission{glance: glance{&before.now}, tries: before.tries}
	now.changes, now.known = r.recent.between(p.Base, before.now.Version)
	if asks.Digest == "" && l.verdict.Verdict == verify.Commit {
		a.print.patch = "" // the seal is no digest of what it reads as
	}
	if a.key != "" {
		first, err := r.in.store.Find(r.ctx, r.in.id, a.key)
		if err != nil {
			return verify.Outcome{}, false, err
		}
		now.taken = first != a.seq
	}
	proposed := verify.Proposal{
		Stage: p.Stage, Args: p.Args, Role: p.Role, Patch: p.Patch, Next: p.Next,
		Actor: asks.Principal.Subject, Now: asks.Time,
		Attempt: now.attempt(), MaxAttempts: most, Normalised: p.Normalised,
		Stale: func(read verify.Reading) []Violation {
			return now.objections(r.in.key, a, read, late(&p, &now), most, r.in.contract.ir.AsksClock(p.Stage))
		},
	}
	if before.patch == nil {
		return program.VerifyUnread(r.ctx, before.now, proposed)
	}
	out, err = program.Verify(r.ctx, before.now, proposed)
	if l.Kind == trace.Pending && out.Verdict.Verdict == verify.Commit {
		out.Wait()
	}
	return out, false, err
}

// late is what the stale gate has to say. What was remembered of a version depends on
// when the process began that decided: that it was not remembered any more, or not its
// state, so that the views could not be compared, is taken as it is. A proposal that was
// let through must have been on the same view.
func (r *audit) late(p *Proposal, now *admission, recorded *verify.Verdict) []Violation {
	since := r.in.since(p, now)
	refused := len(recorded.Violations) > 0 && recorded.Violations[0].Code == verify.Stale
	switch {
	case refused && recorded.Violations[0].Message == staleBase.Message && p.Base != now.seen.Version:
		return []Violation{staleBase}
	case since.nothing():
		return nil
	case !refused && !since.unknown && r.sameView(p, &since, now.seen):
		return nil
	}
	return since.stale()
}

// sameView compares views, for which it reads the state that is not remembered.
func (r *audit) sameView(p *Proposal, since *since, now *verify.Snapshot) bool {
	base := since.base
	if base == nil {
		_, past, err := config{r.in.contract, r.in.store, r.in.id, optionsOf(nil)}.reach(r.ctx, p.Base, p.Base)
		if err != nil || past.now.Version != p.Base {
			return false
		}
		base = past.now
	}
	return r.in.looksAlike(p, base, now)
}

// mayBeOfPatch reports whether a recorded rejection may be about a patch that was not
// kept. out is what there is to say without the patch, refused whether that is
// something: limits and format come before it, the choice of a phase stands beside it,
// and the rest comes only where it is nothing.
func (r *audit) mayBeOfPatch(recorded *verify.Verdict, out *verify.Outcome, refused bool) bool {
	if recorded.Verdict != verify.Reject || len(recorded.Violations) == 0 {
		return false
	}
	known, _ := r.in.redactViolations(out.Verdict.Violations, nil)
	if refused && known[0].Gate == verify.GateStale { // which comes after the choice of a phase
		known = nil
	}
	switch recorded.Violations[0].Gate {
	case verify.GateLimit, verify.GateFormat:
		return true
	case verify.GatePhase:
		more := recorded.Violations[min(len(known), len(recorded.Violations)):]
		other := func(v Violation) bool { return v.Code != verify.TransitionViolation }
		return len(more) > 0 && startsWith(recorded.Violations, known) && !slices.ContainsFunc(more, other)
	case verify.GateStale:
		return false
	}
	return !refused
}

func startsWith(all, first []Violation) bool {
	return len(first) <= len(all) && slices.EqualFunc(all[:len(first)], first, func(a, b Violation) bool { return reflect.DeepEqual(a, b) })
}

// askedAgain is the entry of what a decision is about, as it would be written now.
func (r *audit) askedAgain(before *auditContext, out *verify.Outcome, hidden *sealedPart) (*entry, error) {
	asks := &before.asks
	if before.proposal == nil {
		return r.in.advanceEntry(&before.now, asks.Phase, asks.Role, Principal(asks.Principal), asks.Time), nil
	}
	a := *before.proposal
	p := Proposal{
		Stage: asks.Stage, Args: hidden.args(asks), Role: asks.Role, Base: asks.base(), Next: asks.Next, Key: asks.Key,
		Patch: before.patch, Principal: Principal(asks.Principal),
	}
	if before.patch != nil && asks.Digest != "" {
		a.print.patch = ""
		a.identify(r.in.key, out.Read)
	}
	e := r.in.proposalEntry(&p, &a, &before.now, out, before.patch != nil)
	if asks.Digest == "" && !r.digests { // it is older than that, and its seal was its digest
		e.Digest = ""
	}
	r.digests = r.digests || asks.Digest != "" && asks.Seal != ""
	if before.patch == nil { // how long it was stands nowhere else
		e.Size = asks.Size
	}
	return e, nil
}

// decidedAgain is the entry of a decision, as it would be written now. Of a patch that
// was not kept, what was wrong with it stands nowhere else.
func (r *audit) decidedAgain(l *line, record store.Record, out *verify.Outcome, unread bool, asked *entry) (*entry, error) {
	if !unread {
		v := verdictOf(out)
		e, err := r.in.decisionEntry(r.ctx, out, &v, asked)
		if err == nil && l.Kind == trace.Pending {
			e.waits(asked, l.Expires)
		}
		return e, err
	}
	e := &entry{Record: *r.in.record(trace.Decision, out.Verdict.VersionAfter, asked.Time), sealed: record.Sealed}
	e.Verdict, e.Redacted = l.Verdict, l.Redacted
	return e, nil
}

func orEmpty(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// compare compares a recorded verdict with the one that comes out now, rendered as
// the trace renders it.
func (r *audit) compare(l *line, again *verify.Verdict) error {
	shown := r.in.keyed(again)
	shown.Violations, _ = r.in.redactViolations(again.Violations, nil)
	return r.compareAs(l, shown)
}

// compareAs is compare for a verdict that is as the trace shows it.
func (r *audit) compareAs(l *line, again verify.Verdict) error {
	rendered, err := json.Marshal(&again)
	rendered = ir.Plain(rendered) // as in the line
	if err != nil || bytes.Equal(l.Verdict, rendered) {
		return err
	}
	if l.verdict == nil {
		r.differ(l, "verdict", "none", string(again.Verdict))
		return nil
	}
	if refusesAlike(l.verdict, &again) {
		return nil
	}
	for _, m := range members(l.verdict, &again) {
		r.differ(l, m.name, m.recorded, m.again)
	}
	r.differ(l, "violations", digestOf(l.Verdict), digestOf(rendered))
	return nil
}

// refusesAlike reports whether two refusals are one decision. How much a reply says of what
// is wrong, and in which words, is a version's own: what was recorded must be said again, with
// the same gate, code, operation, rule and place, as far as both say it.
func refusesAlike(recorded, again *verify.Verdict) bool {
	if recorded.Verdict != verify.Reject || again.Verdict != verify.Reject {
		return false
	}
	for _, m := range members(recorded, again) {
		if m.recorded != m.again && m.name != "violations" {
			return false
		}
	}
	cut := recorded.More > 0 || again.More > 0
	said := func(v Violation) bool {
		return slices.ContainsFunc(again.Violations, func(w Violation) bool { return v.Gate == w.Gate && v.Code == w.Code && (cut || sameAbout(&v, &w)) })
	}
	for _, v := range recorded.Violations {
		if !said(v) && !cut {
			return false
		}
	}
	return len(recorded.Violations) > 0 && len(again.Violations) > 0 &&
		recorded.Violations[0].Gate == again.Violations[0].Gate && recorded.Violations[0].Code == again.Violations[0].Code
}

// sameAbout reports whether two violations are about the same, where both say what.
func sameAbout(v, w *Violation) bool {
	op := v.OpIndex == nil || w.OpIndex == nil || *v.OpIndex == *w.OpIndex
	path := v.Path == nil || w.Path == nil || *v.Path == *w.Path || *v.Path == "" // of an operation without a path
	given := v.Gate == verify.GatePhase || v.Gate == verify.GateStale             // the words tell what was asked for
	return op && path && v.Rule == w.Rule && (!given || v.Message == w.Message)
}

// A member is a member of a verdict, as recorded and as it comes out now.
type member struct{ name, recorded, again string }

// members lists what can be told of two verdicts, what matters most first.
func members(a, b *verify.Verdict) []member {
	number := func(n uint64) string { return fmt.Sprint(n) }
	return []member{
		{"verdict", string(a.Verdict), string(b.Verdict)},
		{"violations", codeList(a), codeList(b)},
		{"state_before", a.StateBefore, b.StateBefore},
		{"state_after", a.StateAfter, b.StateAfter},
		{"version_before", number(a.VersionBefore), number(b.VersionBefore)},
		{"version_after", number(a.VersionAfter), number(b.VersionAfter)},
		{"phase_before", a.PhaseBefore, b.PhaseBefore},
		{"phase_after", a.PhaseAfter, b.PhaseAfter},
		{"contract", a.Contract, b.Contract},
		{"retryable", fmt.Sprint(a.Retryable), fmt.Sprint(b.Retryable)},
		{"attempt", fmt.Sprint(a.Attempt), fmt.Sprint(b.Attempt)},
		{"max_attempts", fmt.Sprint(a.MaxAttempts), fmt.Sprint(b.MaxAttempts)},
	}
}

func codeList(v *verify.Verdict) string {
	if len(v.Violations) == 0 {
		return "none"
	}
	return strings.Join(codesOf(v.Violations), ", ")
}

// sameLine compares a record's line with the one that its entry makes now, after the
// head that was before it. The time of a question is the host's: its entry has it from the
// record. That of a decision is the question's, if the contract asks the clock; else it says
// nothing, and older programs read the clock twice.
func (r *audit) sameLine(before trace.Head, l *line, record store.Record, e *entry) error {
	if r.out.Different != nil {
		return nil
	}
	if l.verdict != nil && e.Verdict != nil && !bytes.Equal(l.Verdict, e.Verdict) {
		var now verify.Verdict
		if err := json.Unmarshal(e.Verdict, &now); err != nil {
			return err
		}
		if refusesAlike(l.verdict, &now) { // the words, and what is bound to them, are the record's
			e.Verdict, e.Redacted, e.sealed = l.Verdict, l.Redacted, record.Sealed
		}
	}
	if e.Seal = r.in.key.Seal(e.sealed); l.Kind == trace.Decision && !r.in.contract.ir.Clocked() {
		e.Time = l.Time
	}
	again, _ := before.Seal(&e.Record)
	if bytes.Equal(record.Line, again) {
		return nil
	}
	var recorded, now map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(record.Line, &recorded), json.Unmarshal(again, &now)); err != nil {
		return err
	}
	for _, name := range append(slices.Sorted(maps.Keys(recorded)), slices.Sorted(maps.Keys(now))...) {
		if name != "hash" && !bytes.Equal(recorded[name], now[name]) {
			r.differ(l, name, memberDigest(recorded[name]), memberDigest(now[name]))
		}
	}
	r.differ(l, "line", digestOf(record.Line), digestOf(again)) // its members, but not their spelling
	return nil
}

func memberDigest(value json.RawMessage) string {
	if value == nil {
		return "none"
	}
	return digestOf(value)
}

// differ notes the first member that is not as recorded.
func (r *audit) differ(l *line, name, recorded, again string) {
	if recorded != again && r.out.Different == nil {
		r.out.Different = &Difference{Seq: l.Seq, Kind: l.Kind, Member: name, Recorded: recorded, Again: again}
	}
}

// undecidable turns an error about a name that the contract does not have into a
// difference; others stay.
func (r *audit) undecidable(l *line, err error) error {
	var stage *UnknownStageError
	var argument *UnknownArgumentError
	if errors.As(err, &stage) || errors.As(err, &argument) {
		r.differ(l, "stage", "known to the contract", err.Error())
		return nil
	}
	return err
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
