package runtime

import (
	"context"
	"encoding/json"
)

// A Position is where an instance stands: what was committed, and what was recorded.
type Position struct {
	Version uint64 `json:"version"` // commits so far
	Seq     uint64 `json:"seq"`     // records so far
	Phase   string `json:"phase"`
	Digest  string `json:"digest"` // of the state
}

func (p *point) position() Position {
	return Position{Version: p.Version, Seq: p.head.Seq, Phase: p.Phase, Digest: p.State.Digest().String()}
}

// Position is where the instance stands, as this process knows it: what Version, Phase and
// StateDigest say, of one moment.
func (in *Instance) Position() Position { return in.durable.Load().position() }

// Refresh reads what other processes have appended, and returns where the instance stands then.
// Without it, this process learns of that when it appends itself. Cost: that of reading what is new.
// Errors: *CorruptLogError; store.ErrNotFound (wrapped) if the instance was deleted; ErrClosed; the
// context's error; what the store reports. Then the instance stays as it was.
func (in *Instance) Refresh(ctx context.Context) (Position, error) {
	if err := in.settle(ctx); err != nil {
		return Position{}, err
	}
	before := in.durable.Load()
	if err := in.readOn(ctx); err != nil {
		return Position{}, err
	}
	now := in.durable.Load()
	if now == before { // else its records follow those before
		if err := in.checkHead(ctx, now.head); err != nil {
			return Position{}, err
		}
	}
	return now.position(), nil
}

// A State is a state, and where its instance stood when it was the current one.
type State struct {
	Position
	JSON json.RawMessage `json:"state"` // as a state file, canonical and compact
}

// Export is State and Position, of one moment. It is for operators: it is all there is, secrets included.
func (in *Instance) Export(ctx context.Context) (State, error) {
	if err := in.settle(ctx); err != nil {
		return State{}, err
	}
	now := in.durable.Load()
	return State{Position: now.position(), JSON: in.contract.program.Export(now.State, false)}, nil
}

// Verify is the verdict that Propose would give now, and nothing else: nothing is recorded or
// committed, and no try of the step is used up. A proposal whose key was used gets the answer that
// Propose gives. It begins with a Refresh, and costs that too. What is committed in between may make Propose
// decide otherwise. Errors: those of Propose, but for *OpenOutcomeError, and of Refresh.
func (in *Instance) Verify(ctx context.Context, p Proposal) (Verdict, error) {
	if err := checkProposal(&p); err != nil {
		return Verdict{}, err
	}
	q := &proposing{in: in, p: &p, about: in.requestOf(&p)}
	if err := in.claim(ctx, q.about.key); err != nil {
		return Verdict{}, err
	}
	defer in.free(q.about.key)
	for {
		if _, err := in.Refresh(ctx); err != nil {
			return Verdict{}, err
		}
		switch answered, err := q.prepare(ctx); {
		case err != nil:
			return Verdict{}, err
		case answered:
			return *q.answer, nil
		}
		if !in.lookAtKnown(q) {
			continue
		}
		out, err := in.contract.program.Verify(ctx, *q.seen, in.proposed(q.p, q.about, &q.admission))
		if err != nil {
			return Verdict{}, err
		}
		return verdictOf(&out), nil
	}
}

// lookAtKnown copies what a question is judged on from what may be told.
func (in *Instance) lookAtKnown(q question) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return !in.unsure && q.look(&in.known)
}
