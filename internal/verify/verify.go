package verify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/patchoptic/poptic/internal/ir"
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

	Actor string    // who proposes, as the host knows it; "" if it does not say
	Now   time.Time // when: the one clock that the decision is made by

	// Stale is asked after the phase step, if it is not nil: what the host has to say
	// against the proposal's version, key or attempts. Its violations belong to the
	// stale gate, and an actor sees them as they are: paths must be ones it reads. read is
	// Patch as it reads, or zero where nobody looked at it.
	Stale func(read Reading) []Violation

	Attempt     int      // which try this is, from 1; 0 if tries are not counted
	MaxAttempts int      // how many tries there are, where the stage does not say; 0 for no end
	Normalised  []string // leniencies that were applied to Patch before
}

// A Reading is what a proposal says, however it is spelled. The zero Reading is of one
// that could not be read.
type Reading struct {
	Patch tree.Patch // the operations
	Next  string     // the phase that the actor names, "" for none
	Whole bool       // it could be read
}

// An Outcome is what Verify and Advance return.
type Outcome struct {
	Verdict Verdict
	After   Snapshot      // of a commit, the new state; else the one before
	Patch   tree.Patch    // the operations, nil if they could not be read
	Read    Reading       // the same, with the phase beside them, if all of it could be read
	Effects []tree.Effect // of a commit or noop: what each operation read, wrote and replaced
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
	v := &verification{p: p.within(ctx), ctx: ctx, stage: st, snapshot: s, proposal: pr, costs: newCosts(p.limits.Cost)}
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

// Admits says what keeps a role from running a stage on a state, whatever its patch:
// its phases, its roles, and its require clauses. Of a stage whose parameters the host
// binds, only the first two are asked, for the rest depends on its arguments. Nothing
// found means that it may. r has no arguments. The error is an *UnknownStageError or the
// context's.
func (p *Program) Admits(ctx context.Context, s Snapshot, r ViewRequest) (refused []Violation, err error) {
	st, err := p.stage(r.Stage, nil)
	if err != nil {
		return nil, err
	}
	defer catch(&err)
	v := &verification{p: p.within(ctx), ctx: ctx, stage: st, snapshot: s, proposal: r.proposal(), costs: newCosts(p.limits.Cost)}
	found := v.checkActor()
	if given := func(p ir.Param) bool { return p.Kind != ir.DependentParam }; len(st.Values) == 0 && !slices.ContainsFunc(st.Params, given) {
		found = append(found, v.bindArguments()...)
		if len(found) == 0 {
			found = v.checkRequire()
		}
	}
	refused, _ = p.violations(found)
	leaveIfEnded(ctx)
	return refused, nil
}

// A verification is one run of Verify.
type verification struct {
	p        *Program
	ctx      context.Context
	stage    *stage // nil when the host advances the phase
	snapshot Snapshot
	proposal Proposal

	patch       tree.Patch
	chosen      string              // the next phase that the actor names, "" if none
	whole       bool                // the proposal could be read
	next        string              // the phase to move to, "" for none
	args        region.Binding      // every parameter of the stage that is a key, once the phase step passed
	values      map[string]ir.Value // likewise those that are values
	accesses    []access            // of the patch's pointers, in operation order
	firstAccess []int               // of each operation, and the number of all; nil if each has one
	letters     region.Word         // room for the words of all accesses
	after       *tree.Node
	effects     []tree.Effect
	duplicates  []finding     // additions to sets that held the element
	targets     []region.Word // the effective targets, none a prefix of another
	written     targetSet     // the same, and by which operations

	reached                       step // the step that found something, or all of them
	toActor                       bool // what is found is for a reply: nothing the actor does not see is named
	measuresBefore, measuresAfter measures
	costs                         *costs // what evaluations may take yet
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

// steps are the steps in their order. Those up to stale are below, the others in files
// of their own: rules.go (require and rules), scope.go, schema.go.
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
			return append(found, v.beside(found)...)
		}
	}
	v.reached = stepDone
	return nil
}

// beside is what the steps behind the one that found something find in what it had nothing
// against, so that one reply tells of as much as can be told.
func (v *verification) beside(found []finding) []finding {
	switch v.reached {
	case stepScope:
		return v.checkValues(found)
	case stepSchema:
		return unaffected(v.checkRules(), found)
	default:
		return nil
	}
}

// notChecked are the gates that a verification whose step s found something did not judge,
// or not for all of the patch.
func (s step) notChecked() []Gate {
	switch {
	case s >= stepRules:
		return nil
	case s == stepSchema:
		return []Gate{GateInvariant}
	case s == stepScope:
		return []Gate{GateSchema, GateInvariant}
	default:
		return []Gate{GateScope, GateSchema, GateInvariant}
	}
}

// The format step.

// readProposal is the limit and format steps: the shape and pointers of the whole
// patch. Exceeded limits come before everything else.
func (v *verification) readProposal() []finding {
	found := v.parseProposal()
	v.whole = len(found) == 0
	if over := slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return f.Gate != GateLimit }); len(over) > 0 {
		return over
	}
	if len(found) > 0 {
		return found
	}
	v.typePointers()
	for i := range v.accesses { // positions are spelled as such, where the state type says that they are
		if a := &v.accesses[i]; a.typed.fault == badIndex && !a.again {
			found = append(found, messages.badIndex(a.op.Index, a.raw()))
		}
	}
	return found
}

// Read reads a proposal as Verify does, and judges nothing. It costs what the proposal
// is long.
func (p *Program) Read(proposal []byte) Reading {
	v := &verification{p: p, proposal: Proposal{Patch: proposal}}
	v.whole = len(v.parseProposal()) == 0
	return v.reading()
}

func (v *verification) reading() Reading {
	if !v.whole {
		return Reading{}
	}
	return Reading{v.patch, v.chosen, true}
}

// parseProposal reads an array of operations, or an object that has one.
func (v *verification) parseProposal() []finding {
	data, limits := v.proposal.Patch, v.p.limits.Patch
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) > 0 && text[0] == '{' {
		return v.parseObject(data)
	}
	patch, problems := tree.ParsePatchOf(v.p.words, data, limits)
	v.patch = patch
	found := problemsFound(problems)
	if len(found) == 0 {
		return nil
	}
	if _, err := tree.Parse(data, limits.Limits); err != nil {
		for i := range found {
			found[i].Path = nil // no operation could be read, so none has a path
		}
	}
	return found
}

func problemsFound(problems []*tree.Problem) []finding {
	var found []finding
	for _, p := range problems {
		found = append(found, messages.problem(p))
	}
	return found
}

// parseObject reads {"patch": [...], "next": "phase"}.
func (v *verification) parseObject(data []byte) []finding {
	limits := v.p.limits.Patch
	n, err := tree.Parse(data, limits.Limits)
	var bad *tree.DecodeError
	if errors.As(err, &bad) {
		return []finding{messages.decodeProblem(bad, data)}
	}
	patch := n.Get("patch")
	if patch == nil && n.Get("op") != nil {
		_, problems := tree.PatchOf(n, limits)
		return problemsFound(problems)
	}
	var found []finding
	var others []string
	for name := range n.Members() {
		if name != "patch" && name != "next" {
			others = append(others, name)
		}
	}
	if patch == nil {
		return []finding{messages.noPatchMember(others)}
	}
	for _, name := range others {
		found = append(found, messages.unknownProposalMember(name))
	}
	switch next := n.Get("next"); {
	case next == nil || next.Kind() == ir.Null: // null is none
	case next.Kind() != ir.String:
		found = append(found, messages.nextNoString(next.Kind()))
	default:
		v.chosen = next.Text()
	}
	var problems []*tree.Problem
	v.patch, problems = tree.PatchOf(patch, limits)
	return append(found, problemsFound(problems)...)
}

// The phase step.

// checkPhase is the phase step: the role, the phase, the arguments, the move.
func (v *verification) checkPhase() []finding {
	found := v.checkEntry()
	return append(found, v.checkNext()...)
}

// checkEntry checks what a view needs too.
func (v *verification) checkEntry() []finding { return append(v.checkActor(), v.bindArguments()...) }

// checkActor checks that the role may run the stage, and that this is its phase.
func (v *verification) checkActor() []finding {
	var found []finding
	s, role, phase := v.stage, v.proposal.Role, v.snapshot.Phase
	if len(s.By) > 0 && !slices.Contains(s.By, role) {
		found = append(found, messages.unauthorised(s.Name, role, s.By))
	}
	if !slices.Contains(s.In, phase) {
		found = append(found, messages.wrongPhase(s.Name, phase, s.In))
	}
	return found
}

// checkNext settles which phase the stage moves to.
func (v *verification) checkNext() []finding {
	s := v.stage
	if v.next = v.proposal.Next; v.next == "" {
		v.next = v.chosen
	}
	switch {
	case v.chosen != "" && v.chosen != v.next:
		return []finding{messages.twoNexts(s.Name)}
	case len(s.Next) == 0 && v.next != "":
		return []finding{messages.noNext(s.Name, v.next)}
	case len(s.Next) == 0:
		return nil
	case v.next == "" && len(s.Next) > 1:
		return []finding{messages.chooseNext(s.Name, s.Next)}
	case v.next == "":
		v.next = s.Next[0]
	case !slices.Contains(s.Next, v.next):
		return []finding{messages.foreignNext(s.Name, s.Next)}
	}
	if slices.Contains(s.In, v.snapshot.Phase) && v.p.arrow(v.snapshot.Phase, v.next) == nil {
		return []finding{messages.noArrow(v.snapshot.Phase, v.next)}
	}
	return nil
}

// arrow finds an edge of the phase graph, nil if there is none.
func (p *Program) arrow(from, to string) *ir.Arrow {
	phase := p.contract.Phase(from)
	if phase == nil {
		return nil
	}
	for i := range phase.Arrows {
		if phase.Arrows[i].To == to {
			return &phase.Arrows[i]
		}
	}
	return nil
}

// The stale step.

func (v *verification) checkStale() []finding {
	if v.proposal.Stale == nil {
		return nil
	}
	var found []finding
	for _, violation := range v.proposal.Stale(v.reading()) {
		violation.Gate = GateStale
		found = append(found, finding{Violation: violation})
	}
	return found
}

// The end.

func (v *verification) outcome(found []finding) Outcome {
	before := v.snapshot
	out := Outcome{After: before, Patch: v.patch, Read: v.reading(), verification: v, found: found}
	digest := before.State.Digest().String()
	out.Verdict = Verdict{
		Verdict: Reject, Contract: v.p.digest,
		VersionBefore: before.Version, VersionAfter: before.Version,
		StateBefore: digest, StateAfter: digest,
		PhaseBefore: before.Phase, PhaseAfter: before.Phase,
		Normalised: append([]string{}, v.proposal.Normalised...),
		Attempt:    v.proposal.Attempt,
	}
	told, unjudged := withoutFollowing(found)
	out.Verdict.Violations, out.Verdict.More = v.p.violations(told)
	if slices.ContainsFunc(found, func(f finding) bool { return f.rule == ir.BindGate }) {
		out.Verdict.told, out.Verdict.toldMore = v.p.violations(v.toldOf(found))
	}
	if v.stage != nil {
		out.Verdict.MaxAttempts = cmp.Or(v.stage.Attempts, v.proposal.MaxAttempts)
	}
	if len(found) > 0 {
		if v.stage != nil {
			out.Verdict.NotChecked = v.reached.notChecked()
			if v.reached == stepRules && (unjudged || v.costs.unasked || v.costs.hiddenUnasked) {
				out.Verdict.NotChecked = []Gate{GateInvariant}
			}
		}
		out.Verdict.Retryable = retryable(out.Verdict.Violations, v.proposal.Attempt, out.Verdict.MaxAttempts)
		return out
	}
	v.accept(&out)
	return out
}

// accept fills in what a commit or noop changed.
func (v *verification) accept(out *Outcome) {
	out.Effects = v.effects
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

// carryIndexes remembers the indexes of the contract for the state after.
func (v *verification) carryIndexes() {
	if v.after == v.snapshot.State {
		return
	}
	for _, x := range v.p.indexes {
		x.carry(v.p.watch, v.snapshot.State, v.after, v.targets)
	}
}

// phaseAfter is the phase that holds if the proposal is accepted.
func (v *verification) phaseAfter() string {
	if v.next != "" {
		return v.next
	}
	return v.snapshot.Phase
}

// Refuse makes o a rejection for other reasons.
func (o *Outcome) Refuse(violations []Violation) {
	v := &o.Verdict
	v.Verdict, v.Violations, v.told = Reject, violations, nil
	v.Retryable = retryable(violations, v.Attempt, v.MaxAttempts)
}

// Wait makes of o, which would commit, one that waits: nothing has changed.
func (o *Outcome) Wait() {
	before := o.verification.snapshot
	o.After, o.Next = before, ""
	v := &o.Verdict
	v.Verdict, v.VersionAfter, v.StateAfter, v.PhaseAfter = Pending, v.VersionBefore, v.StateBefore, v.PhaseBefore
}

// What is not a proposal of an actor.

// A Move is what a host asks for that moves the phase.
type Move struct {
	To    string // the phase
	Role  string
	Actor string    // who asks; "" if the host does not say
	Now   time.Time // when
}

// Advance moves the phase as the host may do along an edge marked for it. The
// guard and every invariant that reads the phase must hold afterwards; the state
// stays as it is. The error is the context's.
func (p *Program) Advance(ctx context.Context, s Snapshot, m Move) (out Outcome, err error) {
	defer catch(&err)
	v := &verification{p: p.within(ctx), ctx: ctx, snapshot: s, after: s.State, next: m.To, reached: stepPhase, costs: newCosts(p.limits.Cost)}
	v.proposal.Role, v.proposal.Actor, v.proposal.Now = m.Role, m.Actor, m.Now
	found := v.checkHostMove()
	if len(found) == 0 {
		v.reached = stepRules
		found = v.checkRules()
	}
	out = v.outcome(found)
	leaveIfEnded(ctx)
	return out, nil
}

func (v *verification) checkHostMove() []finding {
	arrow := v.p.arrow(v.snapshot.Phase, v.next)
	switch {
	case arrow == nil:
		return []finding{messages.noArrow(v.snapshot.Phase, v.next)}
	case !arrow.ByHost:
		return []finding{messages.notByHost(v.snapshot.Phase, v.next)}
	default:
		return nil
	}
}

// Replay applies a proposal that was committed before to the state it was
// committed on, without judging it again, and says what each operation read and
// wrote. The error says that it does not apply, and so cannot have been committed on
// this state; or it is the context's.
func (p *Program) Replay(ctx context.Context, root *tree.Node, proposal []byte) (after *tree.Node, effects []tree.Effect, err error) {
	defer catch(&err)
	v := &verification{p: p.within(ctx), ctx: ctx, snapshot: Snapshot{State: root}, proposal: Proposal{Patch: proposal}}
	if found := v.parseProposal(); len(found) > 0 {
		return nil, nil, errors.New(found[0].Message)
	}
	v.typePointers()
	e := &execution{v: v, before: root, trusts: true}
	if e.runAll() >= 0 {
		return nil, nil, errors.New(e.found[0].Message)
	}
	return e.root(), e.effects, nil
}
