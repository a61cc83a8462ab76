package runtime

import (
	"context"
	"math"
	"reflect"
	"slices"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// Replaying a log for an auditor is stricter than replaying it to go on: every view
// is shown again and every proposal is judged again, on the state it was judged on,
// with the same arguments, tries and keys. The contract decides, and what it decides
// must be what was recorded.
//
// Each line is written again, and must be the recorded one to the byte.
//
// Some things are taken from the record, because they stand nowhere else: what was the
// host's to choose (the time, how many tries a step had where its stage does not say, and that a
// base version was too old to be remembered), and, where a patch was not kept, what was
// wrong with it. Such a proposal cannot have committed.

// A Replayed is what came of replaying a log.
type Replayed struct {
	Instance  string      `json:"instance"`
	Records   uint64      `json:"records"`
	Decisions uint64      `json:"decisions"` // that were made again
	Views     uint64      `json:"views"`     // that were shown again
	Version   uint64      `json:"version"`
	Phase     string      `json:"phase"`
	State     string      `json:"state"` // its digest
	Head      string      `json:"head"`  // the hash of the last record that was replayed
	Different *Difference `json:"different,omitempty"`
}

// A RecordKind is what a record of a log records: "create", "view", "proposal",
// "advance" or "decision".
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
// The contract must be loaded within the limits that it had.
func Replay(ctx context.Context, contract *Contract, st store.Store, id string) (Replayed, error) {
	if err := checkID(id); err != nil {
		return Replayed{}, err
	}
	in, err := opening{contract, st, id, optionsOf([]Option{rememberAll})}.fromFirst(ctx)
	if err != nil {
		return Replayed{}, err
	}
	if err := in.checkAll(ctx, in.current.Load()); err != nil {
		return Replayed{}, err
	}
	r := &rerun{replay: replay{in: in, now: *in.current.Load(), head: in.head}, ctx: ctx}
	r.out.Instance = id
	if err = r.genesis(); err == nil && r.out.Different == nil {
		err = r.all()
	}
	r.out.Records, r.out.Head = r.head.Seq, r.head.Hash
	r.out.Version, r.out.Phase, r.out.State = r.now.Version, r.now.Phase, r.now.State.Digest().String()
	return r.out, err
}

// rememberAll makes an instance remember what all commits wrote: what was decided may
// have rested on any of them.
func rememberAll(o *options) { o.recent, o.recentBytes = math.MaxInt/2, math.MaxInt }

// A rerun is a replay that makes the decisions again.
type rerun struct {
	replay
	ctx   context.Context
	out   Replayed
	asked trace.Head // before the record that awaits a decision
}

// genesis makes the line of the first record again.
func (r *rerun) genesis() error {
	first, err := opening{store: r.in.store, id: r.in.id}.recordAt(r.ctx, 1)
	if err != nil {
		return err
	}
	l, _ := readLine(first.Line)
	return r.sameLine(trace.Start(r.in.id), &l, first, r.in.genesis(&r.now, first.Sealed))
}

func (r *rerun) all() error {
	for record, err := range r.in.store.Read(r.ctx, r.in.id, r.head.Seq+1) {
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
func (r *rerun) next(record store.Record) error {
	before := r.moment()
	if err := r.step(r.ctx, record); err != nil {
		return err
	}
	err := r.again(before, record)
	r.note()
	return err
}

// A moment is what was known before a record.
type moment struct {
	now      verify.Snapshot
	head     trace.Head
	asks     line          // the line before, if it awaits a decision
	record   *store.Record // its record
	patch    []byte        // what it seals; nil if it was not kept
	proposal *asked        // what it means to the ledger, nil for the host's move
	tries    tries         // of its step
}

func (r *rerun) moment() *moment {
	m := &moment{now: r.now, head: r.head, asks: r.asks, record: r.waiting}
	if r.waiting != nil && r.asks.Kind == trace.Proposal {
		m.proposal = r.asks.asks(*r.waiting)
		if r.asks.Digest == "" && !m.proposal.print.tooLong {
			m.patch = orEmpty(r.waiting.Sealed)
		}
		m.tries = r.ledger.steps[m.proposal.step]
	}
	return m
}

func (r *rerun) again(before *moment, record store.Record) error {
	l, _ := readLine(record.Line)
	hidden, err := readPrivate(record.Sealed)
	switch l.Kind {
	case trace.Proposal, trace.Advance, trace.Create:
		r.asked = before.head
		return nil
	case trace.View:
		r.out.Views++
	case trace.Decision:
		r.out.Decisions++
	default:
		r.differ(&l, "kind", digestOf([]byte(l.Kind)), "none")
		return nil
	}
	switch {
	case err != nil:
		return r.corrupt(err.Error())
	case l.Kind == trace.View:
		return r.view(before, &l, record, &hidden)
	}
	return r.decision(before, &l, record, &hidden)
}

// view shows a view again.
func (r *rerun) view(before *moment, l *line, record store.Record, hidden *private) error {
	request := verify.ViewRequest{Stage: l.Stage, Args: hidden.args(l), Role: l.Role}
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
	e, err := r.in.viewEntry(&before.now, &Request{Stage: request.Stage, Args: request.Args, Role: request.Role}, &v, refused)
	if err != nil {
		return err
	}
	return r.sameLine(before.head, l, record, e)
}

// decision judges again what the record before asked for.
func (r *rerun) decision(before *moment, l *line, record store.Record, hidden *private) error {
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

// askedAgain is the entry of what a decision is about, as it would be written now.
func (r *rerun) askedAgain(before *moment, out *verify.Outcome, hidden *private) (*entry, error) {
	asks := &before.asks
	if before.proposal == nil {
		return r.in.advanceEntry(&before.now, asks.Phase, asks.Role), nil
	}
	a := *before.proposal
	p := Proposal{
		Stage: asks.Stage, Args: hidden.args(asks), Role: asks.Role, Base: asks.base(), Next: asks.Next, Key: asks.Key,
		Patch: before.patch,
	}
	e := r.in.proposalEntry(&p, &a, &before.now, out, before.patch != nil)
	if before.patch == nil { // how long it was stands nowhere else
		e.Size = asks.Size
	}
	return e, nil
}

// decidedAgain is the entry of a decision, as it would be written now. Of a patch that
// was not kept, what was wrong with it stands nowhere else.
func (r *rerun) decidedAgain(l *line, record store.Record, out *verify.Outcome, unread bool, asked *entry) (*entry, error) {
	if !unread {
		v := verdictOf(out)
		return r.in.decisionEntry(r.ctx, out, &v, asked)
	}
	e := &entry{Record: *r.in.record(trace.Decision, out.Verdict.VersionAfter), sealed: record.Sealed}
	e.Verdict, e.Redacted = l.Verdict, l.Redacted
	return e, nil
}

// judge judges again what was asked. Where the patch was not kept, and what was
// recorded may be what was wrong with it, the outcome has the violations as the line
// shows them: unread tells.
func (r *rerun) judge(before *moment, l *line, hidden *private) (out verify.Outcome, unread bool, err error) {
	program, asks, a := r.in.contract.program, &before.asks, before.proposal
	if a == nil {
		out, err = program.Advance(r.ctx, before.now, asks.Phase, asks.Role)
		return out, false, err
	}
	p := Proposal{
		Stage: asks.Stage, Args: hidden.args(asks), Role: asks.Role, Base: asks.base(), Next: asks.Next,
		Patch: before.patch, Normalised: l.verdict.Normalised,
	}
	now := standing{seen: &before.now, tries: before.tries, repeats: before.tries.repeats(a)}
	if a.key != "" {
		first, err := r.in.store.Find(r.ctx, r.in.id, a.key)
		if err != nil {
			return verify.Outcome{}, false, err
		}
		now.taken = first != a.seq
	}
	proposed := verify.Proposal{
		Stage: p.Stage, Args: p.Args, Role: p.Role, Patch: p.Patch, Next: p.Next,
		Attempt: now.attempt(), MaxAttempts: l.verdict.MaxAttempts, Normalised: p.Normalised,
		Stale: func() []Violation { return now.objections(r.late(&p, &before.now, l.verdict), l.verdict.MaxAttempts) },
	}
	if before.patch != nil {
		out, err = program.Verify(r.ctx, before.now, proposed)
		return out, false, err
	}
	out, refused, err := program.VerifyUnread(r.ctx, before.now, proposed)
	if err == nil && r.mayBeOfPatch(l.verdict, &out, refused) {
		out.Refuse(l.verdict.Violations)
		unread = true
	}
	return out, unread, err
}

// mayBeOfPatch reports whether a recorded rejection may be about a patch that was not
// kept. out is what there is to say without the patch, refused whether that is
// something: limits and format come before it, the choice of a phase stands beside it,
// and the rest comes only where it is nothing.
func (r *rerun) mayBeOfPatch(recorded *verify.Verdict, out *verify.Outcome, refused bool) bool {
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

// late is what the stale gate has to say. What was remembered of a version depends on
// when the process began that decided: that it was not remembered any more, or not its
// state, so that the views could not be compared, is taken as it is. A proposal that was
// let through must have been on the same view.
func (r *rerun) late(p *Proposal, now *verify.Snapshot, recorded *verify.Verdict) []Violation {
	since := r.in.since(r.ctx, p, now)
	refused := len(recorded.Violations) > 0 && recorded.Violations[0].Code == verify.Stale
	switch {
	case refused && recorded.Violations[0].Message == staleBase.Message && p.Base != now.Version:
		return []Violation{staleBase}
	case since.nothing():
		return nil
	case !refused && !since.unknown && r.sameView(p, &since, now):
		return nil
	}
	return since.stale()
}

// sameView compares views, for which it reads the state that is not remembered.
func (r *rerun) sameView(p *Proposal, since *since, now *verify.Snapshot) bool {
	base := since.base
	if base == nil {
		in, err := opening{r.in.contract, r.in.store, r.in.id, optionsOf(nil)}.restore(r.ctx, p.Base)
		if err != nil {
			return false
		}
		past, err := in.forward(r.ctx, p.Base)
		if err != nil || past.Version != p.Base {
			return false
		}
		base = &past
	}
	return r.in.looksAlike(p, base, now)
}

func orEmpty(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// args are the arguments of the view or proposal that l records.
func (p *private) args(l *line) map[string]string {
	if p.Args != nil {
		return p.Args
	}
	return l.Args
}
