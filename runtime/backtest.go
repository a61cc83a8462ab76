package runtime

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// To backtest a contract is to judge by it what was decided under another one. Each recorded
// decision is made again on the state that it was made on, by the clock, for the principal and
// with the arguments that it had: history stays what it was, also where the contract would have
// led elsewhere. So each answer is about one decision, and none follows from another.
//
// What the log alone knows is taken from it, as where a log is replayed: tries that were used
// up, keys, what was written since a proposal's version. What the contract decides is decided by
// the one that is tested: also whether what was written meets what the stage sees.

// An Answer is how a recorded decision comes out under another contract.
type Answer string

// The answers. Of the last five no verdict came, for the reason that they say.
const (
	AnswerSame    Answer = "same"    // accepted or refused, as it was
	AnswerReason  Answer = "reason"  // still refused, but not by what it was refused by
	AnswerRefused Answer = "refused" // now refused
	AnswerAllowed Answer = "allowed" // now accepted
	AnswerResult  Answer = "result"  // still accepted, but it leads to another state or phase
	AnswerState   Answer = "state"   // what it was made on is not a state of the contract
	AnswerPhase   Answer = "phase"   // the contract has no such phase
	AnswerStage   Answer = "stage"   // the contract has no such stage, or the stage no such parameter
	AnswerPatch   Answer = "patch"   // the log has not kept the patch
	AnswerFormat  Answer = "format"  // the log is of an older format there, and does not have what decided
)

// Answers lists all, in the order of the constants.
func Answers() []Answer {
	return []Answer{AnswerSame, AnswerReason, AnswerRefused, AnswerAllowed, AnswerResult, AnswerState, AnswerPhase, AnswerStage, AnswerPatch, AnswerFormat}
}

// A Rejudged is a recorded decision, judged again under another contract. It holds no value of the state.
type Rejudged struct {
	Instance string     `json:"instance"`
	Seq      uint64     `json:"seq"`             // of the decision
	Kind     RecordKind `json:"kind"`            // what was decided on: "proposal" or "advance"
	Stage    string     `json:"stage,omitempty"` // of a proposal
	Version  uint64     `json:"version"`         // that it was made on
	Phase    string     `json:"phase"`           // in which it was made
	Answer   Answer     `json:"answer"`

	// Why is the rule that says so: of what is refused now, the contract's; of what is allowed
	// now, the one that refused it then; nil where there is none.
	Why *Violation `json:"why,omitempty"`
}

// Backtest judges every recorded decision of an instance, in the order of the log, as contract
// would, and gives each to each, whose error ends it. Migrations are passed over. The log is
// checked as Open checks it, from the first record on.
//
// The contracts that the instance ran under are given too, in any order. Where one of them is
// not, contract itself reads what is under it: if the types of the state differ too much for
// that, the error is a *ContractMismatchError, which has the digest of the one that is needed.
//
// Errors: that one, what each returns, and those of Open. It costs what all the decisions cost,
// and where the types differ as much as the state is large for every commit. Memory is that of
// an open instance, however long the log is.
func Backtest(ctx context.Context, contract *Contract, st store.Store, id string, each func(Rejudged) error, under ...*Contract) error {
	b := &backtest{audit: audit{ctx: ctx}, to: contract, each: each}
	return readHistory(ctx, st, id, append(slices.Clone(under), contract), contract, func(before *auditContext, after *replay, record store.Record) error {
		b.replay = *after
		return b.next(before, record)
	})
}

// readHistory reads an instance's log from its first record on, and gives each record to each with what
// was known before it and after it. Of the first record nothing was known before. Contracts
// that are not among those given are stood in for by standIn.
func readHistory(ctx context.Context, st store.Store, id string, contracts []*Contract, standIn *Contract, each func(before *auditContext, after *replay, record store.Record) error) error {
	if err := checkID(id); err != nil {
		return err
	}
	o := config{contracts[0], promptStore{st}, id, optionsOf(nil)}
	in, err := o.fromFirstOf(ctx, contracts)
	missing := ""
	var other *ContractMismatchError
	if errors.As(err, &other) {
		missing = other.Have
		o.contract, o.options.standsIn = standIn, true
		in, err = o.fromFirst(ctx)
	}
	if err != nil {
		return stoodIn(err, id, missing, standIn)
	}
	first, err := o.recordAt(ctx, 1)
	if err != nil {
		return err
	}
	r := in.replayFrom(in.durable.Load())
	r.contracts, r.standIn = contracts, standIn
	var pairing trace.Pairing
	begun, _ := readLine(first.Line)
	if err := pairing.Next(begun.Record); err != nil {
		return corruptLog(id, err)
	}
	if err := each(nil, r, first); err != nil {
		return err
	}
	for record, err := range in.store.Read(ctx, id, r.head.Seq+1, 0) {
		if err != nil {
			return err
		}
		before := (&audit{replay: *r}).context()
		if err := r.step(ctx, record); err != nil {
			if r.in.options.standsIn {
				missing = r.dialect.contract
			}
			if to := r.asks.To; r.asks.Kind == trace.Migrate && r.contractOf(to) == nil {
				missing = to
			}
			return stoodIn(in.orBegunAnew(ctx, err), id, missing, standIn)
		}
		l, _ := readLine(record.Line)
		if err := pairing.Next(l.Record); err != nil {
			return corruptLog(id, err)
		}
		if err := each(before, r, record); err != nil {
			return err
		}
	}
	if r.waiting != nil {
		return r.corrupt(undecided)
	}
	return nil
}

// stoodIn is err, or that the contract which is missing is needed: another one stood in for it,
// and what comes out is not what was recorded.
func stoodIn(err error, id, missing string, standIn *Contract) error {
	var broken *CorruptLogError
	if missing != "" && errors.As(err, &broken) && slices.Contains([]string{noState, doesNotApply, digestDiffers}, broken.Reason) {
		return &ContractMismatchError{id, missing, standIn.Digest()}
	}
	return err
}

// A backtest is under way. Its audit stands where the log was read up to.
type backtest struct {
	audit
	to   *Contract
	each func(Rejudged) error

	tested fitting          // the state that the next decision is made on, under to
	led    *verify.Snapshot // what to made of the last commit, nil if it did not commit
	under  *Contract        // whose types were compared with those of to
	alike  bool             // and they are the same
}

// A fitting is a state of the log, as a state of the contract that is tested.
type fitting struct {
	of     *verify.Snapshot // nil for none yet
	as     verify.Snapshot
	answer Answer     // why it is none; "" if it is one
	why    *Violation // what is wrong with it
}

// next takes in a record, before which at was known.
func (b *backtest) next(at *auditContext, record store.Record) error {
	l, _ := readLine(record.Line)
	switch {
	case at == nil || at.record == nil || l.Kind != trace.Decision && l.Kind != trace.Pending:
		return nil
	case at.asks.Kind == trace.Migrate:
		b.led = nil
		return nil
	}
	found := Rejudged{Instance: b.in.id, Seq: l.Seq, Kind: at.asks.Kind, Stage: at.asks.Stage, Version: at.now.Version, Phase: at.now.Phase}
	var err error
	if found.Answer, found.Why, err = b.answer(at, &l, record); err != nil {
		return err
	}
	return b.each(found)
}

// answer judges what was asked at a place of the log, and says how that differs from l, the line
// of the decision.
func (b *backtest) answer(at *auditContext, l *line, record store.Record) (Answer, *Violation, error) {
	fit, err := b.fit(at.place.now, b.led)
	b.led = nil
	switch {
	case err != nil:
		return "", nil, err
	case at.place.dialect.format < trace.Format:
		return AnswerFormat, nil, nil
	case fit.answer != "":
		return fit.answer, fit.why, nil
	}
	hidden, err := readSealed(record.Sealed)
	if err != nil {
		return "", nil, b.corrupt(err.Error())
	}
	stage := b.to.ir.Stage(at.asks.Stage)
	if at.proposal != nil && stage == nil {
		return AnswerStage, nil, nil
	}
	most := l.verdict.MaxAttempts
	if stage != nil && stage.Attempts > 0 {
		most = stage.Attempts
	}
	under := *at
	under.now = fit.as
	judge := audit{replay: b.replay, ctx: b.ctx}
	judge.in = config{b.to, b.in.store, b.in.id, b.in.options}.instance(b.in.key)
	var failed error
	out, refused, err := judge.verify(&under, l, &hidden, most, func(p *Proposal, now *admission) []Violation {
		late, err := b.late(judge.in, p, now, l.verdict)
		failed = errors.Join(failed, err)
		return late
	})
	var unknown *UnknownArgumentError
	switch {
	case errors.As(err, &unknown):
		return AnswerStage, nil, nil
	case err != nil || failed != nil:
		return "", nil, errors.Join(err, failed)
	case under.withoutPatch():
		kind := first(l.verdict.Violations).Gate
		if refused || kind == verify.GateLimit || kind == verify.GateFormat { // what is too long, or no patch, is so under every contract
			return AnswerSame, nil, nil
		}
		return AnswerPatch, nil, nil
	}
	return b.compared(l.verdict, judge.in, &out)
}

// compared says how a verdict differs from the recorded one, which led to where the log stands now.
func (b *backtest) compared(was *verify.Verdict, in *Instance, out *verify.Outcome) (Answer, *Violation, error) {
	is := &out.Verdict
	refused, _ := redactViolations(is.Violations, nil, in.redactor, b.in.redactor)
	switch wasRefused, isRefused := was.Verdict == verify.Reject, is.Verdict == verify.Reject; {
	case wasRefused && isRefused:
		a, now := first(was.Violations), first(refused)
		if a.Gate == now.Gate && a.Code == now.Code && a.Rule == now.Rule {
			return AnswerSame, nil, nil
		}
		return AnswerReason, &now, nil
	case isRefused:
		why := first(refused)
		return AnswerRefused, &why, nil
	case wasRefused:
		why := first(was.Violations)
		return AnswerAllowed, &why, nil
	}
	if was.Verdict != is.Verdict || was.PhaseAfter != is.PhaseAfter {
		return AnswerResult, nil, nil
	}
	if is.Verdict != verify.Commit {
		return AnswerSame, nil, nil
	}
	led := out.After
	fit, err := b.fit(b.now, &led)
	if err != nil {
		return "", nil, err
	}
	if fit.answer != "" || fit.as.State.Digest() != led.State.Digest() {
		return AnswerResult, nil, nil
	}
	b.led = &led
	return AnswerSame, nil, nil
}

// fit is a state of the log as one of the contract that is tested: it has the type, and
// breaks none of its rules. Where it is what the contract itself led to, the rules were checked.
func (b *backtest) fit(of *verify.Snapshot, led *verify.Snapshot) (fitting, error) {
	if b.tested.of == of {
		return b.tested, nil
	}
	f := fitting{of: of, as: *of}
	if b.to.ir.Phase(of.Phase) == nil {
		f.answer = AnswerPhase
	} else if err := b.read(&f); err != nil {
		return f, err
	}
	if f.answer == "" && (led == nil || led.Phase != of.Phase || led.State.Digest() != f.as.State.Digest()) {
		broken, err := b.to.program.CheckWithin(b.ctx, f.as.State, f.as.Phase)
		if err != nil {
			return f, err
		}
		if len(broken) > 0 {
			why := first(broken)
			f.answer, f.why = AnswerState, &why
		}
	}
	if f.why != nil {
		shown, _ := redactViolations([]Violation{*f.why}, nil, b.to.secrets.Redactor(b.in.key), b.in.redactor)
		f.why = &shown[0]
	}
	b.tested = f
	return f, nil
}

// read reads a state under the types of the contract that is tested.
func (b *backtest) read(f *fitting) error {
	from := b.in.contract
	if b.under != from {
		b.under, b.alike = from, from.ir.State == b.to.ir.State && reflect.DeepEqual(from.ir.Types, b.to.ir.Types)
	}
	if b.alike {
		return nil
	}
	root, err := b.to.program.ImportWithin(b.ctx, from.program.Export(f.of.State, false))
	if ended := b.ctx.Err(); ended != nil {
		return ended
	}
	f.as.State = root
	if err != nil {
		f.answer, f.why = AnswerState, &Violation{Gate: verify.GateSchema, Message: "it does not fit the type"}
		var state *StateError
		if errors.As(err, &state) && len(state.Problems) > 0 {
			p := state.Problems[0]
			f.why = &Violation{Gate: verify.GateSchema, Code: verify.Code(p.Code), Path: &p.Path, Message: p.Message}
		}
	}
	return nil
}

// late is what the stale gate has to say, in, an instance under the contract that is tested,
// asking. Of a proposal that was refused as late it is not known whether the views could be
// compared: it is late again, unless nothing was written that the stage sees.
func (b *backtest) late(in *Instance, p *Proposal, now *admission, recorded *verify.Verdict) ([]Violation, error) {
	since := in.since(p, now)
	refused := len(recorded.Violations) > 0 && recorded.Violations[0].Code == verify.Stale
	switch {
	case refused && recorded.Violations[0].Message == staleBase.Message && p.Base != now.seen.Version:
		return []Violation{staleBase}, nil
	case since.nothing():
		return nil, nil
	case refused || p.Base < b.recent.began || p.Base > now.seen.Version:
		return since.stale(), nil
	}
	base := since.base
	if base == nil {
		_, past, err := config{b.in.contract, b.in.store, b.in.id, b.in.options}.reach(b.ctx, p.Base, p.Base)
		if err != nil {
			return nil, err
		}
		base = past.now
	}
	f := fitting{of: base, as: *base}
	if err := b.read(&f); err != nil || f.answer != "" || base.Version != p.Base {
		return since.stale(), err
	}
	if in.looksAlike(p, &f.as, now.seen) {
		return nil, nil
	}
	return since.stale(), nil
}
