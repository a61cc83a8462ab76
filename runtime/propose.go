package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// A proposal goes through this file from top to bottom. What it asks for (request) and what
// is known about that (prepare, look) are looked up; it is judged, where the stale gate asks
// what was written since its base; and what is to be appended is made. When each of these is
// done, and again, is told in pipeline.go.

// A Proposal is what an actor wants changed. Patch alone comes from the actor;
// the rest comes from the host that knows whom it speaks for.
type Proposal struct {
	Stage string
	Args  map[string]string // the keys that the stage's parameters are bound to
	Role  string
	Base  uint64 // the version of the view that the actor worked on (View.Version)
	Patch []byte // a JSON Patch (RFC 6902), or {"patch": [...], "next": "phase"}
	Next  string // the phase to move to, if the host chooses it

	Principal Principal // who proposes; tries are counted for each subject alone

	// Key, if it is not empty, makes it safe to propose again when no answer came. Of
	// the proposals of an instance with one key, the first is decided. The same one
	// again (subject, stage, arguments, role, next, and a patch that reads the same; the base
	// may be another) gets the first one's verdict and is not recorded; another one is
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
// not decided in time is never a verdict. Where the store is at it already, the error is an
// *OpenOutcomeError, which wraps the context's.
//
// Errors are for what could not be decided or recorded: *UnknownStageError,
// *UnknownArgumentError, *TooLongError, *NotTextError, the context's error, *OpenOutcomeError,
// what the store reports, or *CorruptLogError. After a store's error or an *OpenOutcomeError the
// proposal may have been committed all the same, or still be: proposing again with the same
// key tells. p is not kept, its bytes are copied.
func (in *Instance) Propose(ctx context.Context, p Proposal) (Verdict, error) {
	if err := checkProposal(&p); err != nil {
		return Verdict{}, err
	}
	q := &proposing{in: in, p: &p, about: in.requestOf(&p)}
	if err := in.claim(ctx, q.about.key); err != nil {
		return Verdict{}, err
	}
	open := false
	defer func() {
		if !open { // else who appends it ends the claim
			in.free(q.about.key)
		}
	}()
	err := in.submit(ctx, q)
	var unknown *OpenOutcomeError
	if open = errors.As(err, &unknown); err != nil {
		return Verdict{}, err
	}
	if q.answer != nil {
		return *q.answer, nil
	}
	in.logVerdict(ctx, trace.Proposal, p.Stage, &q.verdict.OperatorVerdict)
	return q.verdict, nil
}

// CheckGiven checks length and encoding of what a host gives beside a stage's name,
// which has to be one of the contract's. The error is a *TooLongError or a
// *NotTextError.
func CheckGiven(role, phase, key string, args map[string]string) error {
	for _, given := range [...]struct{ what, text string }{{"role", role}, {"phase", phase}, {"key", key}} {
		if len(given.text) > MaxGiven {
			return &TooLongError{given.what, MaxGiven}
		}
		if !utf8.ValidString(given.text) {
			return &NotTextError{given.what}
		}
	}
	most := tree.DefaultPatchLimits.MaxPointerBytes
	for name, value := range args {
		if len(value) > most {
			return &TooLongError{"argument " + tree.Shorten(name, MaxGiven), most}
		}
		if !utf8.ValidString(value) {
			return &NotTextError{"argument " + tree.Shorten(name, MaxGiven)}
		}
	}
	return nil
}

// MaxGiven is how many bytes a role, a phase, an idempotency key or a text of a principal
// has at most that a host gives. An argument is a token of pointers, and has at most as many as a pointer.
const MaxGiven = 1024

// maxNormalised is how many leniencies a proposal names at most.
const maxNormalised = 64

// checkProposal is CheckGiven for all that a proposal has beside its patch.
func checkProposal(p *Proposal) error {
	if err := cmp.Or(CheckGiven(p.Role, p.Next, p.Key, p.Args), p.Principal.Check()); err != nil {
		return err
	}
	length := len(p.Normalised)
	for _, name := range p.Normalised {
		if length += len(name); !utf8.ValidString(name) {
			return &NotTextError{"normalised"}
		}
	}
	if len(p.Normalised) > maxNormalised || length > MaxGiven {
		return &TooLongError{"normalised", MaxGiven}
	}
	return nil
}

// A TooLongError says that a text is too long that the host gave. Nothing was decided,
// and nothing recorded: every record would repeat it.
type TooLongError struct {
	What string // "role", "phase", "key", "subject", "token", "on behalf", or "argument NAME"
	Most int    // bytes
}

// Error names what is too long, and the limit.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("the %s is longer than %d bytes", e.What, e.Most)
}

// A NotTextError says that a text which the host gave is not UTF-8. Nothing was decided,
// and nothing recorded: a record could not tell it from another.
type NotTextError struct {
	What string // as in a TooLongError
}

// Error names what is no text.
func (e *NotTextError) Error() string { return fmt.Sprintf("the %s is not UTF-8 text", e.What) }

// requestOf is what the proposal asks for. It gives values among its arguments one spelling.
func (in *Instance) requestOf(p *Proposal) *request {
	p.Args = in.contract.program.Arguments(p.Stage, p.Args)
	print := fingerprint{next: shown(p.Next), tooLong: in.tooLong(p.Patch)}
	return &request{step: in.stepOf(p.Principal.Subject, p.Stage, p.Role, p.Args), print: print, patch: p.Patch, key: shown(p.Key), at: in.now()}
}

// stepOf is the step of who runs a stage, with the arguments as the log shows them.
func (in *Instance) stepOf(subject, stage, role string, args map[string]string) step {
	if s := in.contract.ir.Stage(stage); s != nil {
		args, _ = in.redactor.Args(s, args)
	}
	return stepOf(subject, stage, role, args)
}

// A proposing is the question that a proposal asks.
type proposing struct {
	in       *Instance
	p        *Proposal
	about    *request
	answer   *Verdict // the key belongs to this proposal, and this is what became of it
	readBack uint64   // up to which version prepare has read the log before the snapshot
	admission
	verdict Verdict
}

// An admission is what is known about a proposal before it is judged: the state
// it is judged on, which try of its step it is, what was written since the version that it
// was made on, and whether it was made before.
type admission struct {
	glance
	tries
	idle    int      // what the log keeps of patches that changed nothing
	changes []change // from the version that it was made on, up to the state
	known   bool     // they are remembered
	taken   bool     // the key belongs to another proposal
}

// prepare reads what has to be known of the log before the snapshot that the instance was
// opened at, and whether the key was used before.
func (q *proposing) prepare(ctx context.Context) (answered bool, err error) {
	if q.readBack, err = q.in.readBack(ctx, q.p.Base); err != nil || q.about.key == "" {
		return false, err
	}
	q.answer, q.taken, err = q.in.earlier(ctx, q.about)
	return q.answer != nil, err
}

func (q *proposing) look(tip *ledger) bool {
	if lacks := tip.recent.lacks(q.p.Base); lacks != 0 && lacks != q.readBack {
		return false
	}
	q.seen, q.tries, q.idle = tip.now, tip.attempts.of(q.about.step), tip.attempts.idle
	q.changes, q.known = tip.recent.between(q.p.Base, tip.now.Version)
	return true
}

func (q *proposing) judge(ctx context.Context) (*submission, error) {
	in := q.in
	out, err := in.contract.program.Verify(ctx, *q.seen, in.proposed(q.p, q.about, &q.admission))
	if err != nil {
		return nil, err
	}
	if recordsDigest(q.about, &out.Verdict) {
		q.about.identify(in.key, out.Read)
	}
	keep, err := in.keeps(ctx, q.p, q.about, &q.admission, &out)
	if err != nil {
		return nil, err
	}
	s, err := in.decided(ctx, &q.glance, &out, &q.verdict, in.proposalEntry(q.p, q.about, q.seen, &out, keep))
	if err != nil {
		return nil, err
	}
	s.decision.about, s.key = q.about, q.about.key
	return s, nil
}

// holds asks for the state, for the tries of the step, and whether there still is room for a
// patch that is kept though it changes nothing.
func (q *proposing) holds(tip *ledger) bool {
	room := q.verdict.Verdict == verify.Commit || q.about.kept == 0 || tip.attempts.idle+q.about.kept <= q.in.options.idle
	return q.glance.holds(tip) && tip.attempts.of(q.about.step).used == q.used && room
}

// earlier finds what became of a proposal with the same key: its verdict, if it
// was the same proposal; else taken.
func (in *Instance) earlier(ctx context.Context, a *request) (answer *Verdict, taken bool, err error) {
	seq, err := in.find(ctx, a.key)
	if errors.Is(err, store.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	before, v, err := in.exchange(ctx, seq)
	if err != nil {
		return nil, false, err
	}
	if before.key != a.key {
		return nil, false, &CorruptLogError{in.id, seq, "it is found by a key that it does not have"}
	}
	if !in.same(a, before) {
		return nil, true, nil
	}
	return v, false, nil
}

// find looks a key up. Who gives up leaves the lookup behind, and its place among those at once.
func (in *Instance) find(ctx context.Context, key string) (uint64, error) {
	select {
	case in.lookups <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return promptly(ctx, func() (uint64, error) {
		defer func() { <-in.lookups }()
		return in.store.Store.Find(ctx, in.id, key)
	})
}

// exchange reads a keyed proposal and its decision, which lie side by side.
func (in *Instance) exchange(ctx context.Context, seq uint64) (*request, *Verdict, error) {
	var records []store.Record
	for r, err := range in.store.Read(ctx, in.id, seq, 2) {
		if err != nil {
			return nil, nil, err
		}
		records = append(records, r)
	}
	if len(records) < 2 {
		return nil, nil, &CorruptLogError{in.id, seq, "it is missing, or its decision is"}
	}
	for _, r := range records {
		if err := in.checkAlone(r); err != nil {
			return nil, nil, err
		}
	}
	proposal, _ := readLine(records[0].Line)
	v, err := storedVerdict(records[1])
	if err != nil {
		return nil, nil, &CorruptLogError{in.id, seq + 1, err.Error()}
	}
	return proposal.request(records[0]), v, nil
}

// attempt is which try the proposal is, from 1.
func (s *admission) attempt() int { return s.used + 1 }

// objections are the stale gate's violations. Where no tries are left, nothing else is told:
// an actor that is sent for a new view would be refused on it too; nor where the key is
// another proposal's. A proposal that comes too late is told so alone: it is not a try. a is what is proposed, and read how it reads.
// What the clock has a part in may be refused now and not later: of that nothing is a repeat.
func (s *admission) objections(key *trace.Key, a *request, read verify.Reading, late []Violation, most int, clocked bool) []Violation {
	switch {
	case most > 0 && s.attempt() > most:
		return []Violation{exhausted}
	case s.taken: // also where it is late: on a new view it would be refused again
		return []Violation{keyTaken}
	case len(late) > 0:
		return late
	case len(s.refused) == 0 || clocked:
		return nil
	}
	if a.identify(key, read); s.repeats(a) {
		return []Violation{repeated}
	}
	return nil
}

// The stale gate's violations about what was proposed before.
var (
	keyTaken = Violation{
		Gate: verify.GateStale, Code: verify.Repeat,
		Message: "the idempotency key was used for another proposal",
		Hint:    "give each proposal a key of its own",
	}
	exhausted = Violation{
		Gate: verify.GateStale, Code: verify.AttemptsExhausted,
		Message: "the step has no attempts left",
		Hint:    "wait until the state has changed, or let somebody else decide",
	}
	repeated = Violation{
		Gate: verify.GateStale, Code: verify.Repeat,
		Message: "the same proposal was refused before",
		Hint:    "change what the earlier verdict names",
	}
)

// most is how many tries a step of a stage has, 0 for no end.
func (in *Instance) most(stage string) int {
	if s := in.contract.ir.Stage(stage); s != nil && s.Attempts > 0 {
		return s.Attempts
	}
	return in.options.attempts
}

// proposed is a proposal as it stands, for the verifier.
func (in *Instance) proposed(p *Proposal, a *request, now *admission) verify.Proposal {
	most := in.most(p.Stage)
	return verify.Proposal{
		Stage: p.Stage, Args: p.Args, Role: p.Role, Patch: p.Patch, Next: p.Next,
		Actor: p.Principal.Subject, Now: a.at,
		Attempt: now.attempt(), MaxAttempts: most, Normalised: p.Normalised,
		Stale: func(read verify.Reading) []Violation {
			return now.objections(in.key, a, read, in.late(p, now), most, in.contract.ir.AsksClock(p.Stage))
		},
	}
}

// readBack reads what has to be known of the log before the snapshot that the instance was
// opened at, to tell what came after version base. until is the version up to which it read.
func (in *Instance) readBack(ctx context.Context, base uint64) (until uint64, err error) {
	in.mu.Lock()
	until = in.tip.recent.lacks(base)
	in.mu.Unlock()
	if until == 0 {
		return 0, nil
	}
	_, r, err := config{in.contract, in.store, in.id, in.options}.reach(ctx, base, until)
	if err != nil {
		return 0, err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.known.recent.precede(r.recent)
	in.tip.recent.precede(r.recent)
	return until, nil
}

// late is what the stale gate has to say against a proposal on a state whose phase
// and arguments passed: nothing, if its actor would have seen the same view now. Where
// that can no longer be told, it counts as another one.
func (in *Instance) late(p *Proposal, now *admission) []Violation {
	since := in.since(p, now)
	if since.nothing() || since.base != nil && in.looksAlike(p, since.base, now.seen) {
		return nil
	}
	return since.stale()
}

// A since is what happened between the version that a proposal was made on and the one
// that it is judged on, as far as its stage is concerned.
type since struct {
	unknown bool             // it is not remembered
	moved   bool             // the phase
	met     []region.Word    // targets that meet what the stage sees
	base    *verify.Snapshot // the state at that version, nil if it is not remembered
}

func (in *Instance) since(p *Proposal, now *admission) since {
	if p.Base == now.seen.Version {
		return since{}
	}
	out := since{unknown: !now.known}
	if now.known {
		out.base = now.changes[0].before
	}
	reads := in.contract.program.Reads(*now.seen, p.Stage, p.Args)
	for _, c := range now.changes {
		out.moved = out.moved || c.moved
		for _, t := range c.targets {
			if at, ok := reads(t); ok {
				out.met = append(out.met, at)
			}
		}
	}
	return out
}

// nothing reports whether the stage certainly sees what it saw.
func (s *since) nothing() bool { return !s.unknown && !s.moved && len(s.met) == 0 }

// stale is why the proposal is refused.
func (s *since) stale() []Violation {
	switch {
	case s.unknown:
		return []Violation{staleBase}
	case s.moved:
		return []Violation{stalePhase}
	}
	return staleAt(s.met)
}

// looksAlike reports whether a proposal's stage sees the same of two states.
func (in *Instance) looksAlike(p *Proposal, a, b *verify.Snapshot) bool {
	return in.contract.program.LooksAlike(*a, *b, p.Stage, p.Args)
}

// staleAt names where what the stage reads was written.
func staleAt(met []region.Word) []Violation {
	pointers := make([]string, len(met))
	for i, w := range met {
		pointers[i] = w.Pointer()
	}
	slices.Sort(pointers)
	var out []Violation
	for _, p := range pointers {
		if len(out) > 0 && within(p, *out[len(out)-1].Path) {
			continue
		}
		v := stalePath
		v.Path = &p
		out = append(out, v)
	}
	return out
}

// within reports whether pointer p is outer or below it.
func within(p, outer string) bool {
	rest, ok := strings.CutPrefix(p, outer)
	return ok && (rest == "" || rest[0] == '/')
}

// The stale gate's violations about a base version.
var (
	staleBase = Violation{
		Gate: verify.GateStale, Code: verify.Stale,
		Message: "the proposal was not made on the current version, nor on one of those before it that are remembered",
		Hint:    askAgain,
	}
	stalePhase = Violation{
		Gate: verify.GateStale, Code: verify.Stale,
		Message: "the phase has moved since the proposal's version",
		Hint:    askAgain,
	}
	stalePath = Violation{
		Gate: verify.GateStale, Code: verify.Stale,
		Message: "this was written since the proposal's version",
		Hint:    askAgain,
	}
)

const askAgain = "ask for a new view and propose again on it"

// keeps reports whether the log keeps a patch: that of a commit, and else one that
// played a part in the decision, as long as there is room for it.
func (in *Instance) keeps(ctx context.Context, p *Proposal, a *request, now *admission, out *verify.Outcome) (bool, error) {
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
	_, refused, err := in.contract.program.VerifyUnread(ctx, *now.seen, in.proposed(p, a, now))
	return !refused, err
}

// tooLong reports whether a patch is longer than any may be.
func (in *Instance) tooLong(patch []byte) bool {
	most := in.contract.limits.Patch.MaxBytes
	return most > 0 && len(patch) > most
}

// beforeScope are the gates at which somebody can be refused whatever the patch says.
var beforeScope = []verify.Gate{verify.GateLimit, verify.GateFormat, verify.GatePhase, verify.GateStale}

// Advance moves the phase along an edge that the contract leaves to the host. The
// edge's guard and every invariant that reads the phase are checked; the state
// stays as it is. Recorded and failing as Propose. An unknown phase is a reject. by is who
// asks, if the host says so: one principal at most.
func (in *Instance) Advance(ctx context.Context, phase, role string, by ...Principal) (Verdict, error) {
	who, at := first(by), in.now()
	if err := cmp.Or(CheckGiven(role, phase, "", nil), who.Check()); err != nil {
		return Verdict{}, err
	}
	q := &advancing{in: in, phase: phase, role: role, who: who, at: at}
	if err := in.submit(ctx, q); err != nil {
		return Verdict{}, err
	}
	in.logVerdict(ctx, trace.Advance, "", &q.verdict.OperatorVerdict)
	return q.verdict, nil
}

// An advancing is the question that the host asks for another phase.
type advancing struct {
	in          *Instance
	phase, role string
	who         Principal
	at          time.Time
	glance
	verdict Verdict
}

func (q *advancing) judge(ctx context.Context) (*submission, error) {
	out, err := q.in.contract.program.Advance(ctx, *q.seen, verify.Move{To: q.phase, Role: q.role, Actor: q.who.Subject, Now: q.at})
	if err != nil {
		return nil, err
	}
	return q.in.decided(ctx, &q.glance, &out, &q.verdict, q.in.advanceEntry(q.seen, q.phase, q.role, q.who, q.at))
}

// decided is what was asked and what was decided, for the log; v is what the caller gets.
func (in *Instance) decided(ctx context.Context, g *glance, out *verify.Outcome, v *Verdict, asked *entry) (*submission, error) {
	*v = verdictOf(out)
	answer, err := in.decisionEntry(ctx, out, v, asked)
	if err != nil {
		return nil, err
	}
	d := &decision{verdict: &v.OperatorVerdict}
	if v.Verdict == verify.Commit {
		after := out.After // what that is a part of is not kept
		after.Phase = strings.Clone(after.Phase)
		d.after, d.change = &after, changeOf(out.Effects, g.seen, after.Phase)
	}
	return submitted(d, asked, answer), nil
}
