package runtime

import (
	"context"
	"slices"

	"github.com/patchoptic/poptic/internal/verify"
)

// A Proposal is what an actor wants changed. Patch alone comes from the actor;
// the rest comes from the host that knows whom it speaks for.
type Proposal struct {
	Stage string
	Args  map[string]string // the keys that the stage's parameters are bound to
	Role  string
	Base  uint64 // the version of the view that the actor worked on (View.Version)
	Patch []byte // a JSON Patch (RFC 6902), or {"patch": [...], "next": "phase"}
	Next  string // the phase to move to, if the host chooses it

	// Key, if it is not empty, makes it safe to propose again when no answer came. Of
	// the proposals of an instance with one key, the first is decided. The same one
	// again (stage, arguments, role, next and the bytes of the patch; the base may be
	// another) gets the first one's verdict and is not recorded; another one is
	// rejected as a repeat. Keys are kept as long as the log is.
	Key string

	Normalised []string // names of what the host did to Patch before, to be recorded and told
}

// Propose decides a proposal and, if it is accepted, commits it. The verdict is
// commit, noop (accepted, and nothing changed) or reject; state, version and phase
// are then as it says. It is decided on the current version, which may be later than
// Base: then it is stale if what the stage reads was written in between.
// Proposal and decision are appended to the log in one step, rejections included.
//
// The verdict's Attempt counts the tries of the proposal's step: see
// DefaultAttempts and WithAttempts.
//
// When ctx ends, work stops wherever it is, and the error is the context's: what was
// not decided in time is never a verdict.
//
// Errors are for what could not be decided or recorded: *UnknownStageError,
// *UnknownArgumentError, *TooLongError, *NotTextError, the context's error, what the store reports,
// or *CorruptLogError. After a store's error the proposal may have been committed all
// the same: the version tells, and so does proposing again with the same key. p is
// not kept, its bytes are copied.
func (in *Instance) Propose(ctx context.Context, p Proposal) (Verdict, error) {
	if err := checkProposal(&p); err != nil {
		return Verdict{}, err
	}
	a := in.asks(&p)
	for {
		now, err := in.standing(ctx, a)
		if err != nil {
			return Verdict{}, err
		}
		if now.answer != nil {
			return *now.answer, nil
		}
		out, err := in.judge(ctx, &p, &now)
		if err != nil {
			return Verdict{}, err
		}
		keep, err := in.keeps(ctx, &p, &now, &out)
		if err != nil {
			return Verdict{}, err
		}
		r := ruling{after: &out.After, about: a, standing: &now}
		v, err := in.commit(ctx, now.seen, &out, in.proposalEntry(&p, a, now.seen, &out, keep), &r)
		if err == errMoved {
			continue
		}
		return v, err
	}
}

// asks is what the proposal means to the ledger.
func (in *Instance) asks(p *Proposal) *asked {
	args := p.Args
	if s := in.contract.ir.Stage(p.Stage); s != nil {
		args, _ = in.redactor.Args(s, args)
	}
	print := fingerprint{next: shown(p.Next), tooLong: in.tooLong(p.Patch)}
	if !print.tooLong {
		print.patch = in.key.Seal(p.Patch)
	}
	return &asked{step: stepOf(p.Stage, p.Role, args), print: print, key: shown(p.Key)}
}

// tooLong reports whether a patch is longer than any may be.
func (in *Instance) tooLong(patch []byte) bool {
	most := in.contract.limits.Patch.MaxBytes
	return most > 0 && len(patch) > most
}

// keeps reports whether the log keeps a patch: that of a commit, and else one that
// played a part in the decision, as long as there is room for it.
func (in *Instance) keeps(ctx context.Context, p *Proposal, now *standing, out *verify.Outcome) (bool, error) {
	switch v := &out.Verdict; {
	case v.Verdict == verify.Commit:
		return true, nil
	case in.tooLong(p.Patch), now.idle+len(p.Patch) > in.options.idle:
		return false, nil
	case v.Verdict == verify.Noop:
		return true, nil
	case !slices.Contains(beforeScope, v.Violations[0].Gate):
		return true, nil
	}
	_, refused, err := in.contract.program.VerifyUnread(ctx, *now.seen, in.proposed(ctx, p, now))
	return !refused, err
}

// beforeScope are the gates at which somebody can be refused whatever the patch says.
var beforeScope = []verify.Gate{verify.GateLimit, verify.GateFormat, verify.GatePhase, verify.GateStale}

// judge verifies a proposal as it stands.
func (in *Instance) judge(ctx context.Context, p *Proposal, now *standing) (verify.Outcome, error) {
	if err := in.readBack(ctx, p.Base); err != nil {
		return verify.Outcome{}, err
	}
	return in.contract.program.Verify(ctx, *now.seen, in.proposed(ctx, p, now))
}

// proposed is a proposal as it stands, for the verifier.
func (in *Instance) proposed(ctx context.Context, p *Proposal, now *standing) verify.Proposal {
	most := in.options.attempts
	if s := in.contract.ir.Stage(p.Stage); s != nil && s.Attempts > 0 {
		most = s.Attempts
	}
	return verify.Proposal{
		Stage: p.Stage, Args: p.Args, Role: p.Role, Patch: p.Patch, Next: p.Next,
		Attempt: now.attempt(), MaxAttempts: most, Normalised: p.Normalised,
		Stale: func() []Violation { return now.objections(in.late(ctx, p, now.seen), most) },
	}
}

// Advance moves the phase along an edge that the contract leaves to the host. The
// edge's guard and every invariant that reads the phase are checked; the state
// stays as it is. Recorded and failing as Propose. An unknown phase is a reject.
func (in *Instance) Advance(ctx context.Context, phase, role string) (Verdict, error) {
	if err := CheckGiven(role, phase, "", nil); err != nil {
		return Verdict{}, err
	}
	for {
		seen, err := in.settled(ctx)
		if err != nil {
			return Verdict{}, err
		}
		out, err := in.contract.program.Advance(ctx, *seen, phase, role)
		if err != nil {
			return Verdict{}, err
		}
		v, err := in.commit(ctx, seen, &out, in.advanceEntry(seen, phase, role), &ruling{after: &out.After})
		if err == errMoved {
			continue
		}
		return v, err
	}
}

// commit appends what was asked and what was decided: of a commit, this is it. It
// returns errMoved as append does.
func (in *Instance) commit(ctx context.Context, seen *verify.Snapshot, out *verify.Outcome, asked *entry, r *ruling) (Verdict, error) {
	v := verdictOf(out)
	decided, err := in.decisionEntry(ctx, out, &v, asked)
	if err != nil {
		return Verdict{}, err
	}
	r.verdict, r.change = &v.OperatorVerdict, changeOf(out.Effects, *seen, out.After.Phase)
	if err := in.append(ctx, seen, r, asked, decided); err != nil {
		return Verdict{}, err
	}
	in.logVerdict(ctx, asked.Kind, asked.Stage, &v.OperatorVerdict)
	if v.Verdict == verify.Commit {
		in.snapshotIfDue(ctx)
	}
	return v, nil
}
