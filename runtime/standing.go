package runtime

import (
	"context"
	"errors"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// A standing is what the log says about a proposal before it is judged: the state
// it is judged on, which try of its step it is, and whether it was made before.
// A decision is appended only if the standing it rests on still holds.
type standing struct {
	seen    *verify.Snapshot
	tries   tries
	keyed   uint64   // the ledger's, when the key was looked up
	idle    int      // likewise: what the log keeps of patches that changed nothing
	repeats bool     // the step has had the same refused
	taken   bool     // the key belongs to another proposal
	answer  *Verdict // the key belongs to this proposal, and this is what became of it
}

// standing looks up what is known about a proposal.
func (in *Instance) standing(ctx context.Context, a *asked) (s standing, err error) {
	if s.seen, err = in.settled(ctx); err != nil {
		return s, err
	}
	if err := in.turn.take(ctx); err != nil {
		return s, err
	}
	s.tries, s.keyed, s.idle = in.ledger.steps[a.step], in.ledger.keyed, in.ledger.idle
	in.turn.give()
	s.repeats = s.tries.repeats(a)
	if a.key != "" {
		s.answer, s.taken, err = in.earlier(ctx, a)
	}
	return s, err
}

// holds reports whether s is still how things stand; in.turn is held.
func (in *Instance) holds(s *standing, a *asked) bool {
	return in.ledger.steps[a.step].used == s.tries.used && (a.key == "" || in.ledger.keyed == s.keyed)
}

// attempt is which try the proposal is, from 1.
func (s *standing) attempt() int { return s.tries.used + 1 }

// objections are the stale gate's violations. A proposal that comes too late is
// told so and nothing else: it is not a try.
func (s *standing) objections(late []Violation, most int) []Violation {
	if len(late) > 0 {
		return late
	}
	switch {
	case s.taken:
		return []Violation{keyTaken}
	case most > 0 && s.attempt() > most:
		return []Violation{exhausted}
	case s.repeats:
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

// earlier finds what became of a proposal with the same key: its verdict, if it
// was the same proposal; else taken.
func (in *Instance) earlier(ctx context.Context, a *asked) (answer *Verdict, taken bool, err error) {
	seq, err := in.store.Find(ctx, in.id, a.key)
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
	if !before.same(a) {
		return nil, true, nil
	}
	return v, false, nil
}

// exchange reads a keyed proposal and its decision, which lie side by side.
func (in *Instance) exchange(ctx context.Context, seq uint64) (*asked, *Verdict, error) {
	var records []store.Record
	for r, err := range in.store.Read(ctx, in.id, seq) {
		if err != nil {
			return nil, nil, err
		}
		if records = append(records, r); len(records) == 2 {
			break
		}
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
	return proposal.asks(records[0]), v, nil
}
