package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"math"

	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/trace"
	"github.com/patchoptic/poptic/runtime/verify"
)

// Replaying a log for an auditor is stricter than replaying it to go on: every view
// is shown again and every proposal is judged again, on the state it was judged on,
// with the same arguments, tries and keys. The contract decides, and what it decides
// must be what was recorded.
//
// Two things are taken from the record, because they were the host's to choose and
// stand nowhere else: how many tries a step had where its stage does not say, and
// that a base version was too old to be remembered.

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

// A Difference is where a log says otherwise than the contract. It holds no value
// of the state: what differs are decisions, codes and digests.
type Difference struct {
	Seq      uint64     `json:"seq"`
	Kind     trace.Kind `json:"kind"`
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
	err = r.all()
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
	ctx context.Context
	out Replayed
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
	if err := r.step(record); err != nil {
		return err
	}
	err := r.again(before, record)
	for _, c := range r.changes {
		r.in.recent.add(c)
	}
	r.changes = nil
	return err
}

// A moment is what was known before a record.
type moment struct {
	now      verify.Snapshot
	asks     line   // the line before, if it awaits a decision
	patch    []byte // what it seals
	proposal *asked // what it means to the ledger, nil for the host's move
	tries    tries  // of its step
}

func (r *rerun) moment() *moment {
	m := &moment{now: r.now, asks: r.asks}
	if r.waiting != nil && r.asks.Kind == trace.Proposal {
		m.patch, m.proposal = r.waiting.Sealed, r.asks.asks(*r.waiting)
		m.tries = r.ledger.steps[m.proposal.step]
	}
	return m
}

func (r *rerun) again(before *moment, record store.Record) error {
	l, _ := readLine(record.Line)
	hidden, err := readPrivate(record.Sealed)
	if l.Kind == trace.Proposal || l.Kind == trace.Advance || l.Kind == trace.Create {
		return nil
	}
	if err != nil {
		return r.corrupt(err.Error())
	}
	if l.Kind == trace.View {
		r.out.Views++
		return r.view(before, &l, record, &hidden)
	}
	r.out.Decisions++
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
		return r.compare(l, record, refused)
	}
	r.differ(l, "view", l.View, v.Digest)
	return nil
}

// decision judges again what the record before asked for.
func (r *rerun) decision(before *moment, l *line, record store.Record, hidden *private) error {
	out, err := r.judge(before, l, hidden)
	if err != nil {
		return r.undecidable(l, err)
	}
	if err := r.compare(l, record, &out.Verdict); err != nil || r.out.Different != nil || hidden.Actor == nil {
		return err
	}
	recorded, err := json.Marshal(hidden.Actor)
	if err != nil {
		return err
	}
	again, err := json.Marshal(out.Actor())
	if err != nil {
		return err
	}
	r.differ(l, "the actor's rendering", digestOf(recorded), digestOf(again))
	return nil
}

func (r *rerun) judge(before *moment, l *line, hidden *private) (verify.Outcome, error) {
	program, asks, a := r.in.contract.program, &before.asks, before.proposal
	if a == nil {
		return program.Advance(r.ctx, before.now, asks.Phase, asks.Role)
	}
	p := Proposal{
		Stage: asks.Stage, Args: hidden.args(asks), Role: asks.Role, Base: asks.Base, Next: asks.Next,
		Patch: before.patch, Normalised: l.Verdict.Normalised,
	}
	if a.patch == nil { // it was too long to be kept, and that is all there is to say about it
		p.Patch = bytes.Repeat([]byte(" "), asks.Size)
	}
	now := standing{seen: &before.now, tries: before.tries, repeats: before.tries.repeats(a)}
	if a.key != "" {
		first, err := r.in.store.Find(r.ctx, r.in.id, a.key)
		if err != nil {
			return verify.Outcome{}, err
		}
		now.taken = first != a.seq
	}
	return program.Verify(r.ctx, before.now, verify.Proposal{
		Stage: p.Stage, Args: p.Args, Role: p.Role, Patch: p.Patch, Next: p.Next,
		Attempt: now.attempt(), MaxAttempts: l.Verdict.MaxAttempts, Normalised: p.Normalised,
		Stale: func() []Violation { return now.objections(r.late(&p, &before.now, l.Verdict), l.Verdict.MaxAttempts) },
	})
}

// late is what the stale gate has to say. That a version was not remembered any
// more depends on when the process began that decided, and is taken as it is.
func (r *rerun) late(p *Proposal, now *verify.Snapshot, recorded *verify.Verdict) []Violation {
	late := r.in.late(p, now)
	forgotten := len(recorded.Violations) == 1 && recorded.Violations[0] == staleBase
	if forgotten && p.Base != now.Version {
		return []Violation{staleBase}
	}
	return late
}

// args are the arguments of the view or proposal that l records.
func (p *private) args(l *line) map[string]string {
	if p.Args != nil {
		return p.Args
	}
	return l.Args
}
