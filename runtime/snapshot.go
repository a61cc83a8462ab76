package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/runtime/store"
)

// A snapshot is two lines of text: a keyed digest of the second, and a checkpoint. It
// is a cache of the log, so that a damaged one does no harm; but damage that nobody
// hears of may be the first of more. The digest makes it known without the contract.

// A checkpoint is what a store keeps as a snapshot.
type checkpoint struct {
	genesis
	Format   int    `json:"format"`
	Contract string `json:"contract"`
	Phase    string `json:"phase"`
	Hash     string `json:"hash"` // of the record that the snapshot follows
	Idle     int    `json:"idle"` // bytes of patches before it that changed nothing
}

// Reasons of a *CorruptLogError about the snapshot that follows a record.
const (
	snapshotUnreadable = "its snapshot cannot be read"
	snapshotChanged    = "its snapshot was changed: its digest is another"
	snapshotForeign    = "its snapshot is of another state"
)

// encode writes a snapshot.
func (c *checkpoint) encode(key *trace.Key) ([]byte, error) {
	body, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	return append(append([]byte(key.Snapshot(body)), '\n'), body...), nil
}

// readCheckpoint reads a snapshot, which must be as it was written. reason is "" for
// one that is.
func readCheckpoint(data []byte) (c checkpoint, reason string) {
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
	o := config{store: st, id: id}
	first, err := o.recordAt(ctx, 1)
	if err != nil {
		return err
	}
	key, err := (&logCheck{id: id}).keyIn(first)
	if err != nil {
		return err
	}
	for version := newest; ; version-- {
		s, err := st.Snapshot(ctx, id, version)
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
	record, err := o.recordAt(ctx, s.Seq)
	if err != nil {
		return err
	}
	l, ok := readLine(record.Line)
	if !ok || l.verdict == nil || !bytes.Equal(c.Key, key.Bytes()) || l.Seq != s.Seq || l.Hash != c.Hash ||
		l.Contract != c.Contract || l.verdict.PhaseAfter != c.Phase || l.verdict.VersionAfter != s.Version {
		return o.corrupt(s.Seq, snapshotForeign)
	}
	return nil
}
