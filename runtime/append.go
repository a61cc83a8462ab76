package runtime

import (
	"context"
	"errors"
	"strings"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// errMoved says that what was worked out is no longer about the current state.
var errMoved = errors.New("the instance has moved on")

// An entry is a record that is not part of the log yet.
type entry struct {
	trace.Record
	sealed []byte
	args   map[string]string // the arguments, if the record does not have them all
}

// A ruling is a decision that is to be appended.
type ruling struct {
	verdict  *verify.Verdict
	after    *verify.Snapshot // the state it leads to
	change   change           // what it does to the state
	about    *asked           // what it is about, nil for the host's move
	standing *standing        // what it rests on, nil for the host's move
}

// append adds entries to the log. With a ruling, the last entry is it; if it is a
// commit, the state after it becomes the current one. append returns errMoved,
// having appended nothing, if seen is not the current state, the ruling's standing
// does not hold any more, or the log has grown elsewhere; then current is up to
// date.
func (in *Instance) append(ctx context.Context, seen *verify.Snapshot, r *ruling, entries ...*entry) error {
	if err := in.turn.take(ctx); err != nil {
		return err
	}
	defer in.turn.give()
	if in.current.Load() != seen || in.unsure || r != nil && r.standing != nil && !in.holds(r.standing, r.about) {
		return errMoved
	}
	records, head, size := in.seal(entries)
	err := in.store.Append(ctx, in.id, in.head.Seq, records...)
	if errors.Is(err, store.ErrConflict) {
		if err := in.catchUp(ctx); err != nil {
			return err
		}
		return errMoved
	}
	if err != nil {
		in.unsure = true
		return err
	}
	in.head = head
	in.grown += size
	if r != nil {
		in.rule(r, records[0].Seq)
	}
	return nil
}

// rule takes in a ruling that was appended; seq is the number of what it is about.
func (in *Instance) rule(r *ruling, seq uint64) {
	if r.about != nil {
		r.about.seq = seq
	}
	in.ledger.decided(r.about, r.verdict)
	if r.verdict.Verdict == verify.Commit {
		in.become(*r.after)
		in.recent.add(r.change)
		in.committed = in.head
	}
}

// become makes a copy of s the current state: what s is a part of is not kept.
func (in *Instance) become(s verify.Snapshot) {
	s.Phase = strings.Clone(s.Phase)
	in.current.Store(&s)
}

// seal writes entries as the records after in.head.
func (in *Instance) seal(entries []*entry) (records []store.Record, head trace.Head, size int) {
	head = in.head
	records = make([]store.Record, len(entries))
	for i, e := range entries {
		e.Seal = in.key.Seal(e.sealed)
		var line []byte
		line, head = head.Seal(&e.Record)
		records[i] = store.Record{Seq: head.Seq, Version: e.Version, Key: e.Key, Line: line, Sealed: e.sealed}
		size += len(line) + len(e.sealed)
	}
	return records, head, size
}

// snapshotIfDue keeps a snapshot when the log since the last one weighs as much as
// the state. A snapshot that cannot be kept is no failure: the log has it all.
func (in *Instance) snapshotIfDue(ctx context.Context) {
	now, head, idle, due := in.due(ctx)
	if !due {
		return
	}
	data, err := (&checkpoint{in.founding(now), trace.Format, in.contract.Digest(), now.Phase, head.Hash, idle}).encode(in.key)
	if err == nil {
		err = in.store.PutSnapshot(ctx, in.id, store.Snapshot{Seq: head.Seq, Version: now.Version, Data: data})
	}
	if err != nil {
		in.options.logger.LogAttrs(ctx, levelBroken, "snapshot not kept", attrInstance(in.id), attrSeq(head.Seq))
	}
}

// due reports whether a snapshot is, of what, after which record, and what the log
// keeps before that of patches that changed nothing; then the next one is not for a
// while.
func (in *Instance) due(ctx context.Context) (now *verify.Snapshot, head trace.Head, idle int, is bool) {
	if in.turn.take(ctx) != nil {
		return nil, trace.Head{}, 0, false
	}
	defer in.turn.give()
	now = in.current.Load()
	if in.grown < max(in.options.snapshotLog, now.State.Size()) {
		return nil, trace.Head{}, 0, false
	}
	in.grown = 0
	return now, in.committed, in.ledger.idleAtCommit, true
}
