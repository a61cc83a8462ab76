package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// A snapshot is what a log says up to one of its records, so that nobody has to read the log
// up to there again. It is due when the log has grown by as much as the last one weighs,
// whatever its records are, so that opening an instance costs what the snapshot costs, and
// snapshots together no more than the log. It is taken between two appends, of what is
// immutable, and written while others go on, one at a time. One that cannot be written is
// no failure: the log has it all.
//
// It is two lines of text: a keyed digest of the second, and a checkpoint. It
// is a cache of the log, so that a damaged one does no harm; but damage that nobody
// hears of may be the first of more. The digest makes it known without the contract.

// snapshots is what a pipeline knows of those that it writes.
type snapshots struct {
	grown   int           // bytes of log since the last one
	size    int           // bytes of the last one
	writing chan struct{} // closed when one is written; nil while none is
}

// keepSnapshot begins to write a snapshot if one is due and none is being written.
func (in *Instance) keepSnapshot() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.beginSnapshot()
}

// beginSnapshot is keepSnapshot for who holds mu.
func (in *Instance) beginSnapshot() {
	at := in.durable.Load()
	if in.dialect.format < trace.Format { // it would not be what the log says
		return
	}
	if in.writing != nil || in.grown < max(in.options.snapshotLog, in.size, at.State.Size()) {
		return
	}
	in.grown, in.writing = 0, make(chan struct{})
	go in.putSnapshot(at, in.known.attempts.clone(), in.known.recent.began)
}

func (in *Instance) putSnapshot(at *point, tried attempts, began uint64) {
	size := in.writeSnapshot(at, &tried, began)
	in.mu.Lock()
	defer in.mu.Unlock()
	close(in.writing)
	in.size, in.writing = size, nil
	in.beginSnapshot() // before anybody finds that there is nothing more to wait for
}

// writeSnapshot writes one now, and returns how many bytes it has.
func (in *Instance) writeSnapshot(at *point, tried *attempts, began uint64) (size int) {
	data, err := in.checkpoint(at, tried, began)
	if err == nil {
		err = in.store.PutSnapshot(context.Background(), in.id, store.Snapshot{Seq: at.head.Seq, Version: at.Version, Data: data, Follows: at.head.End()})
	}
	if err != nil {
		in.options.logger.LogAttrs(context.Background(), levelBroken, "snapshot not kept", attrInstance(in.id), attrSeq(at.head.Seq))
	}
	return len(data)
}

// A checkpoint is what a store keeps as a snapshot. The state is its last member, for it is
// written behind the others.
type checkpoint struct {
	Format   int             `json:"format"`
	Contract string          `json:"contract"`
	Key      []byte          `json:"key"`
	Phase    string          `json:"phase"`
	Hash     string          `json:"hash"`            // of the record that the snapshot follows
	Made     uint64          `json:"made"`            // the record that made the state; 0 in an older layout
	Began    uint64          `json:"began,omitempty"` // the version that the contract came into force with
	Idle     int             `json:"idle"`            // bytes of patches before it that changed nothing
	Tried    []tried         `json:"tried,omitempty"`
	State    json.RawMessage `json:"state,omitempty"`
}

// checkpoint writes a snapshot.
func (in *Instance) checkpoint(at *point, tried *attempts, began uint64) ([]byte, error) {
	head, err := json.Marshal(&checkpoint{
		Format: trace.Format, Contract: in.contract.Digest(), Key: in.key.Bytes(), Phase: at.Phase,
		Hash: at.head.Hash, Made: at.made, Began: began, Idle: tried.idle, Tried: tried.list(),
	})
	if err != nil {
		return nil, err
	}
	digest := len(in.key.Snapshot(nil))
	data := make([]byte, digest+1, digest+len(head)+at.State.Size()+64)
	data = append(append(data, head[:len(head)-1]...), `,"state":`...)
	data = append(in.contract.program.AppendExport(data, at.State), '}')
	copy(data, in.key.Snapshot(data[digest+1:]))
	data[digest] = '\n'
	return data, nil
}

// errOlderLayout says that a snapshot was written by an older version of the program. It is
// no damage, and of no use.
var errOlderLayout = errors.New("the snapshot is of an older layout")

// attempts are those that the snapshot holds.
func (c *checkpoint) attempts() attempts {
	all := attempts{idle: c.Idle}
	for _, t := range c.Tried {
		if all.steps == nil {
			all.steps = make(map[step]tries, len(c.Tried))
		}
		all.steps[step{t.Subject, t.Stage, t.Role, string(t.Args)}] = t.tries()
	}
	return all
}

// follows reports whether l is of the record that the snapshot follows.
func (c *checkpoint) follows(l *line, s store.Snapshot) bool {
	return l.Seq == s.Seq && l.Hash == c.Hash && l.Contract == c.Contract && l.Version == s.Version &&
		!l.Kind.Asks()
}

// madeBy reports whether l is of the record that made the snapshot's state; state is its
// keyed digest, "" if it is not known.
func (c *checkpoint) madeBy(l *line, s store.Snapshot, state string) bool {
	made, phase := l.makes()
	return made != "" && (state == "" || made == state) && l.Seq == c.Made && l.Version == s.Version && phase == c.Phase
}

// makes is the keyed digest of the state that the record made, and its phase; "" if it made none.
func (l *line) makes() (state, phase string) {
	switch {
	case l.Kind == trace.Create:
		return l.State, l.Phase
	case l.Kind == trace.Decision && l.verdict != nil && l.verdict.Verdict == verify.Commit:
		return l.verdict.StateAfter, l.verdict.PhaseAfter
	}
	return "", ""
}

// Reasons of a *CorruptLogError about the snapshot that follows a record.
const (
	snapshotUnreadable = "its snapshot cannot be read"
	snapshotChanged    = "its snapshot was changed: its digest is another"
	snapshotForeign    = "its snapshot is of another state"
)

// isOlder reports whether the snapshot is of an older layout.
func (c *checkpoint) isOlder() bool { return c.Made == 0 || c.Format < trace.Format }

// readCheckpoint reads a snapshot, which must be as it was written. reason is "" for
// one that is.
func readCheckpoint(data []byte) (c checkpoint, reason string) {
	if bytes.HasPrefix(data, []byte("{")) && json.Unmarshal(data, &c) == nil && c.Format == 0 { // the first layout, without a digest
		return checkpoint{}, ""
	}
	digest, body, _ := bytes.Cut(data, []byte("\n"))
	if json.Unmarshal(body, &c) != nil {
		return c, snapshotUnreadable
	}
	key, err := trace.KeyOf(c.Key)
	if err != nil {
		return c, snapshotUnreadable
	}
	if key.Snapshot(body) != string(digest) {
		return c, snapshotChanged
	}
	return c, ""
}

// CheckSnapshots checks the snapshots of an instance, as far as can be without its
// contract: that each is as it was written, by this instance, and follows the record
// that it says. It costs what they weigh. Errors: *CorruptLogError, whose Seq is that
// of the record which a bad snapshot follows; *IDError, *FormatError and store.ErrNotFound (wrapped); what the
// store reports.
func CheckSnapshots(ctx context.Context, st store.Store, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	o := config{store: promptStore{st}, id: id}
	first, err := o.recordAt(ctx, 1)
	if err != nil {
		return err
	}
	key, err := (&logCheck{id: id}).keyIn(first)
	if err != nil {
		return err
	}
	for version := newest; ; version-- {
		s, err := o.store.Snapshot(ctx, id, version)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = o.checkSnapshot(ctx, key, s)
		}
		if err != nil {
			return err
		}
		if version = s.Version; version == 0 {
			return nil
		}
	}
}

func (o config) checkSnapshot(ctx context.Context, key *trace.Key, s store.Snapshot) error {
	c, reason := readCheckpoint(s.Data)
	if reason != "" {
		return o.corrupt(s.Seq, reason)
	}
	if c.isOlder() {
		return nil
	}
	follows, err := o.lineAt(ctx, s.Seq)
	if err != nil {
		return err
	}
	made, err := o.lineAt(ctx, c.Made)
	if err != nil {
		return err
	}
	if !bytes.Equal(c.Key, key.Bytes()) || !c.follows(&follows, s) || !c.madeBy(&made, s, "") {
		return o.corrupt(s.Seq, snapshotForeign)
	}
	return nil
}

// lineAt reads the line of one record; it is empty if that cannot be read.
func (o config) lineAt(ctx context.Context, seq uint64) (line, error) {
	record, err := o.recordAt(ctx, seq)
	if err != nil {
		return line{}, err
	}
	l, ok := readLine(record.Line)
	if !ok {
		l = line{Record: &trace.Record{}}
	}
	return l, nil
}
