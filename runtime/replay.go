package runtime

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// Replaying is how an instance learns what the log says: at opening, and whenever
// another process has appended. A committed proposal is applied, not verified
// again: the log is the authority on what was accepted. But the chain, the sealed
// parts, the order of versions and the digest of every state must hold.

// Reasons of a *CorruptLogError.
const (
	digestDiffers  = "its state has another digest than was recorded"
	undecided      = trace.Undecided
	decidesNothing = trace.DecidesNothing
	misplaced      = "its line is kept under another number, version or key"
)

// A line is what the line of a record says, with the verdict in it.
type line struct {
	*trace.Record
	verdict *verify.Verdict // nil where there is none
}

// readLine reads a line whose place in the chain is not asked for.
func readLine(text []byte) (line, bool) {
	r, err := trace.ReadRecord(text)
	if err != nil {
		return line{}, false
	}
	return lineOf(r)
}

func lineOf(r *trace.Record) (line, bool) {
	l := line{Record: r}
	return l, len(r.Verdict) == 0 || json.Unmarshal(r.Verdict, &l.verdict) == nil
}

// base is the version that a proposal was made on.
func (l *line) base() uint64 {
	if l.Base == nil {
		return 0
	}
	return *l.Base
}

// keptAs reports whether the store has l under the number, version and key it tells.
func (l *line) keptAs(r store.Record) bool {
	return r.Seq == l.Seq && r.Version == l.Version && r.Key == l.Key
}

// A replay is a position in a log that goes forward record by record.
type replay struct {
	in   *Instance
	now  verify.Snapshot
	head trace.Head
	size int // bytes read

	committed trace.Head // at the commit that made now
	ledger    ledger
	changes   []change      // since the instance's current version
	waiting   *store.Record // the record just before, if it awaits a decision
	asks      line          // its line
}

// catchUp reads what was appended after in.head. On error the instance stays as it
// was. in.turn is held, or in is not shared yet.
func (in *Instance) catchUp(ctx context.Context) error {
	r := replay{in: in, now: *in.current.Load(), head: in.head, committed: in.committed, ledger: in.ledger.clone()}
	for record, err := range in.store.Read(ctx, in.id, in.head.Seq+1) {
		if err != nil {
			return err
		}
		if err := r.step(ctx, record); err != nil {
			return err
		}
	}
	if r.waiting != nil {
		return r.corrupt(undecided)
	}
	in.head, in.ledger, in.unsure = r.head, r.ledger, false
	in.grown += r.size
	if r.now.Version != in.current.Load().Version {
		in.become(r.now)
		in.committed = r.committed
		r.note()
	}
	return nil
}

// note makes the instance remember the changes.
func (r *replay) note() {
	for _, c := range r.changes {
		r.in.recent.add(c)
	}
	r.changes = nil
}

// step takes in one record.
func (r *replay) step(ctx context.Context, record store.Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	head, said, err := trace.CheckRecord(r.head, r.in.key, record.Line, record.Sealed)
	if err != nil {
		return corruptLog(r.in.id, err)
	}
	r.head = head
	r.size += len(record.Line) + len(record.Sealed)
	l, ok := lineOf(said)
	if !ok {
		return r.corrupt("its line cannot be read")
	}
	if !l.keptAs(record) {
		return r.corrupt(misplaced)
	}
	if r.waiting != nil && l.Kind != trace.Decision {
		return &CorruptLogError{r.in.id, r.waiting.Seq, undecided}
	}
	switch l.Kind {
	case trace.Proposal, trace.Advance:
		r.waiting, r.asks = &record, l
		return nil
	case trace.Decision:
		return r.decide(ctx, l.verdict)
	default:
		return nil
	}
}

// decide takes in a decision.
func (r *replay) decide(ctx context.Context, v *verify.Verdict) error {
	waiting := r.waiting
	r.waiting = nil
	if waiting == nil || v == nil {
		return r.corrupt(decidesNothing)
	}
	if r.asks.Kind == trace.Proposal {
		r.ledger.decided(r.asks.asks(*waiting), v)
	} else {
		r.ledger.decided(nil, v)
	}
	if v.Verdict != verify.Commit {
		return nil
	}
	if v.VersionBefore != r.now.Version || v.VersionAfter != r.now.Version+1 {
		return r.corrupt("it commits another version than the next")
	}
	root := r.now.State
	var effects []tree.Effect
	if r.asks.Kind == trace.Proposal {
		var err error
		if root, effects, err = r.in.contract.program.Replay(ctx, root, waiting.Sealed); err != nil {
			if ended := ctx.Err(); ended != nil {
				return ended
			}
			return r.corrupt("its patch does not apply")
		}
	}
	if r.in.key.State(root.Digest().String()) != v.StateAfter {
		return r.corrupt(digestDiffers)
	}
	r.committed = r.head
	r.changes = append(r.changes, changeOf(effects, r.now, v.PhaseAfter))
	r.now = verify.Snapshot{State: root, Phase: v.PhaseAfter, Version: v.VersionAfter}
	return nil
}

func (r *replay) corrupt(reason string) error {
	return &CorruptLogError{r.in.id, r.head.Seq, reason}
}

// corruptLog turns a broken chain into the engine's error.
func corruptLog(id string, err error) error {
	var broken *trace.BrokenError
	if errors.As(err, &broken) {
		return &CorruptLogError{id, broken.Seq, broken.Reason}
	}
	return err
}
