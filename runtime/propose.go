package runtime

import (
	"context"

	"github.com/patchoptic/poptic/runtime/trace"
	"github.com/patchoptic/poptic/runtime/verify"
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

	// Key identifies the proposal to the host; it is recorded with it. The engine
	// attaches no meaning to it: a key used twice is two proposals.
	Key string

	Attempt    int      // which try this is, from 1; 0 if tries are not counted
	Normalised []string // leniencies that were applied to Patch before
}

// Propose decides a proposal and, if it is accepted, commits it. The verdict is
// commit, noop (accepted, and nothing changed) or reject; state, version and phase
// are then as it says. A base that is not the current version is rejected as stale.
// Proposal and decision are appended to the log in one step, rejections included.
//
// Errors are for what could not be decided or recorded: *UnknownStageError,
// *UnknownArgumentError, the context's error, what the store reports, or
// *CorruptLogError. After a store's error the proposal may have been committed all
// the same: the version tells. p is not kept, its bytes are copied.
func (in *Instance) Propose(ctx context.Context, p Proposal) (Verdict, error) {
	return in.decide(ctx, trace.Proposal, p.Stage, func(seen *verify.Snapshot) (out verify.Outcome, asked *entry, err error) {
		out, err = in.contract.program.Verify(ctx, *seen, verify.Proposal{
			Stage: p.Stage, Args: p.Args, Role: p.Role, Patch: p.Patch, Next: p.Next,
			Attempt: p.Attempt, Normalised: p.Normalised,
			Stale: func() []Violation { return stale(p.Base, seen.Version) },
		})
		return out, in.proposalEntry(&p, seen, out.Patch), err
	})
}

// stale compares versions. What it says holds for every pair of versions, so that
// it tells an actor nothing about what was committed meanwhile.
func stale(base, version uint64) []Violation {
	if base == version {
		return nil
	}
	return []Violation{{
		Gate: verify.GateStale, Code: verify.Stale,
		Message: "the proposal was not made on the current version",
		Hint:    "ask for a new view and propose again on it",
	}}
}

// Advance moves the phase along an edge that the contract leaves to the host. The
// edge's guard and every invariant that reads the phase are checked; the state
// stays as it is. Recorded and failing as Propose. An unknown phase is a reject.
func (in *Instance) Advance(ctx context.Context, phase, role string) (Verdict, error) {
	return in.decide(ctx, trace.Advance, "", func(seen *verify.Snapshot) (out verify.Outcome, asked *entry, err error) {
		out, err = in.contract.program.Advance(ctx, *seen, phase, role)
		asked = &entry{Record: *in.record(trace.Advance, seen.Version)}
		asked.Role, asked.Phase = role, phase
		return out, asked, err
	})
}

// decide judges on the current state and appends what was asked and what was
// decided, again and again until no other commit comes in between.
func (in *Instance) decide(ctx context.Context, what trace.Kind, stage string, judge func(seen *verify.Snapshot) (verify.Outcome, *entry, error)) (Verdict, error) {
	for {
		seen, err := in.settled(ctx)
		if err != nil {
			return Verdict{}, err
		}
		out, asked, err := judge(seen)
		if err != nil {
			return Verdict{}, err
		}
		err = in.commit(ctx, seen, &out, asked)
		if err == errMoved {
			continue
		}
		if err != nil {
			return Verdict{}, err
		}
		in.logVerdict(ctx, what, stage, &out.Verdict)
		return verdictOf(&out), nil
	}
}

// commit appends what was asked and what was decided: of a commit, this is it.
func (in *Instance) commit(ctx context.Context, seen *verify.Snapshot, out *verify.Outcome, asked *entry) error {
	decided, err := in.decisionEntry(out)
	if err != nil {
		return err
	}
	after := seen
	if out.Verdict.Verdict == verify.Commit {
		after = &out.After
	}
	if err := in.append(ctx, seen, after, asked, decided); err != nil {
		return err
	}
	if after != seen {
		in.snapshotIfDue(ctx)
	}
	return nil
}
