package verify

import (
	"cmp"
	"context"

	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// A Snapshot is a state at a version, in patch space.
type Snapshot struct {
	State   *tree.Node
	Phase   string
	Version uint64
}

// A Proposal is what an actor wants to change. Only Patch comes from the actor.
type Proposal struct {
	Stage string
	Args  map[string]string // the keys that the stage's parameters are bound to
	Role  string
	Patch []byte // a JSON Patch array, or {"patch": [...], "next": "phase"}
	Next  string // the phase to move to, if the host says so

	// Stale is asked after the phase step, if it is not nil: what the host has to say
	// against the proposal's version, key or attempts. Its violations belong to the
	// stale gate, and an actor sees them as they are: paths must be ones it reads.
	Stale func() []Violation

	Attempt     int      // which try this is, from 1; 0 if tries are not counted
	MaxAttempts int      // how many tries there are, where the stage does not say; 0 for no end
	Normalised  []string // leniencies that were applied to Patch before
}

// An Outcome is what Verify and Advance return.
type Outcome struct {
	Verdict Verdict
	After   Snapshot      // of a commit, the new state; else the one before
	Patch   tree.Patch    // the operations, nil if they could not be read
	Steps   []*tree.Node  // of a commit or noop: the state that each operation ran on
	Effects []tree.Effect // and what it read and wrote
	Next    string        // the phase that a commit moved to, "" if it did not move

	verification *verification
	found        []finding
}

// Verify decides a proposal; it never changes anything. A rejection is an outcome.
// The error says what is broken: an *UnknownStageError, an *UnknownArgumentError,
// or the context's.
func (p *Program) Verify(ctx context.Context, s Snapshot, pr Proposal) (out Outcome, err error) {
	st, err := p.stage(pr.Stage, pr.Args)
	if err != nil {
		return Outcome{}, err
	}
	defer catch(&err)
	v := &verification{p: p.within(ctx), ctx: ctx, stage: st, snapshot: s, proposal: pr}
	out = v.outcome(v.run())
	leaveIfEnded(ctx)
	return out, nil
}

// VerifyUnread decides a proposal as far as that does not depend on its patch: by role,
// phase, arguments, and what pr.Stale says. Where that refuses, so does Verify, unless
// it finds limits exceeded or the patch malformed before; refused tells. Otherwise the
// outcome is that of a patch that changes nothing. Errors as Verify. It costs nothing
// that grows with the patch.
func (p *Program) VerifyUnread(ctx context.Context, s Snapshot, pr Proposal) (out Outcome, refused bool, err error) {
	st, err := p.stage(pr.Stage, pr.Args)
	if err != nil {
		return Outcome{}, false, err
	}
	defer catch(&err)
	v := &verification{p: p.within(ctx), ctx: ctx, stage: st, snapshot: s, proposal: pr, after: s.State, reached: stepPhase}
	found := v.checkEntry()
	if len(found) == 0 {
		v.reached = stepStale
		found = v.checkStale()
	}
	out = v.outcome(found)
	leaveIfEnded(ctx)
	return out, len(found) > 0, nil
}

// Refuse makes o a rejection for other reasons.
func (o *Outcome) Refuse(violations []Violation) {
	v := &o.Verdict
	v.Verdict, v.Violations = Reject, violations
	v.Retryable = retryable(violations, v.Attempt, v.MaxAttempts)
}

// A verification is one run of Verify.
type verification struct {
	p        *Program
	ctx      context.Context
	stage    *stage // nil when the host advances the phase
	snapshot Snapshot
	proposal Proposal

	patch    tree.Patch
	chosen   string         // the next phase that the actor names, "" if none
	next     string         // the phase to move to, "" for none
	args     region.Binding // every parameter of the stage, once the phase step passed
	uses     []use          // of the patch's pointers, in operation order
	firstUse []int          // of each operation, and the number of uses
	letters  region.Word    // room for the words of all uses
	after    *tree.Node
	running  []*tree.Node // the state that each operation ran on
	effects  []tree.Effect
	twice    []finding
	targets  []region.Word // the effective targets, none a prefix of another
	written  writing       // the same, and by which operations

	reached                       step // the step that found something, or all of them
	toActor                       bool // what is found is for the actor: nothing it does not see is named
	measuresBefore, measuresAfter measures
}

// A step is one of the steps of a verification.
type step int

const (
	stepFormat step = iota // limit and format
	stepPhase
	stepStale
	stepRequire
	stepScope
	stepSchema
	stepRules
	stepDone
)

// steps are the steps in their order.
func (v *verification) steps() [stepDone]func() []finding {
	return [stepDone]func() []finding{
		stepFormat:  v.readProposal,
		stepPhase:   v.checkPhase,
		stepStale:   v.checkStale,
		stepRequire: v.checkRequire,
		stepScope:   v.checkScope,
		stepSchema:  v.checkSchema,
		stepRules:   v.checkRules,
	}
}

// run runs the steps until one finds something.
func (v *verification) run() []finding {
	v.after = v.snapshot.State
	for i, check := range v.steps() {
		v.p.watch.look()
		v.reached = step(i)
		if found := check(); len(found) > 0 {
			return found
		}
	}
	v.reached = stepDone
	return nil
}

func (v *verification) checkStale() []finding {
	if v.proposal.Stale == nil {
		return nil
	}
	var found []finding
	for _, violation := range v.proposal.Stale() {
		violation.Gate = GateStale
		found = append(found, finding{Violation: violation})
	}
	return found
}

func (v *verification) outcome(found []finding) Outcome {
	before := v.snapshot
	out := Outcome{After: before, Patch: v.patch, verification: v, found: found}
	digest := before.State.Digest().String()
	out.Verdict = Verdict{
		Verdict: Reject, Contract: v.p.digest,
		VersionBefore: before.Version, VersionAfter: before.Version,
		StateBefore: digest, StateAfter: digest,
		PhaseBefore: before.Phase, PhaseAfter: before.Phase,
		Normalised: append([]string{}, v.proposal.Normalised...),
		Attempt:    v.proposal.Attempt,
	}
	out.Verdict.Violations, out.Verdict.More = violations(found)
	if v.stage != nil {
		out.Verdict.MaxAttempts = cmp.Or(v.stage.Attempts, v.proposal.MaxAttempts)
	}
	if len(found) > 0 {
		out.Verdict.Retryable = retryable(out.Verdict.Violations, v.proposal.Attempt, out.Verdict.MaxAttempts)
		return out
	}
	v.accept(&out)
	return out
}

// accept fills in what a commit or noop changed.
func (v *verification) accept(out *Outcome) {
	out.Effects, out.Steps = v.effects, v.running
	moves := v.next != "" && v.next != v.snapshot.Phase
	if !moves && (v.after == v.snapshot.State || tree.Equal(v.after, v.snapshot.State)) {
		out.Verdict.Verdict = Noop
		return
	}
	v.carryIndexes()
	out.After = Snapshot{State: v.after, Phase: v.phaseAfter(), Version: v.snapshot.Version + 1}
	if moves {
		out.Next = v.next
	}
	out.Verdict.Verdict = Commit
	out.Verdict.VersionAfter = out.After.Version
	out.Verdict.StateAfter = v.after.Digest().String()
	out.Verdict.PhaseAfter = out.After.Phase
}

// phaseAfter is the phase that holds if the proposal is accepted.
func (v *verification) phaseAfter() string {
	if v.next != "" {
		return v.next
	}
	return v.snapshot.Phase
}
