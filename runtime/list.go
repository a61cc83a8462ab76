package runtime

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/runtime/store"
)

// An Info is what can be told of an instance without its contract: what its first record and
// its last one say. Nothing of that is checked; CheckLog does.
type Info struct {
	Instance string            `json:"instance"`
	Contract string            `json:"contract,omitempty"` // the digest of the one that it runs under
	Version  uint64            `json:"version"`
	Phase    string            `json:"phase,omitempty"`
	Seq      uint64            `json:"seq"` // of the last record
	Created  time.Time         `json:"created,omitzero"`
	Labels   map[string]string `json:"labels,omitempty"` // WithLabels

	// Damage is why the members that are empty could not be read; "" for nothing.
	Damage string `json:"damage,omitempty"`
}

// MaxLabels is how many labels an instance has at most.
const MaxLabels = 64

// checkLabels checks number, length and encoding of labels.
func checkLabels(labels map[string]string) error {
	if len(labels) > MaxLabels {
		return &TooManyLabelsError{len(labels)}
	}
	for name, value := range labels {
		what := "label " + tree.Shorten(name, MaxGiven)
		switch {
		case name == "":
			return &NotTextError{"name of a label"}
		case len(name) > MaxGiven:
			return &TooLongError{"name of the " + what, MaxGiven}
		case len(value) > MaxGiven:
			return &TooLongError{what, MaxGiven}
		case !utf8.ValidString(name) || !utf8.ValidString(value):
			return &NotTextError{what}
		}
	}
	return nil
}

// A TooManyLabelsError says that an instance was to have more labels than MaxLabels.
type TooManyLabelsError struct{ Have int }

// Error names both numbers.
func (e *TooManyLabelsError) Error() string {
	return fmt.Sprintf("%d labels are more than the %d that an instance may have", e.Have, MaxLabels)
}

// List iterates over the instances of a store after a name, in the order of their names' bytes,
// and over no more than limit of them unless that is 0; "" is before the first. To
// go on, give it the name of the last. An instance whose log is damaged is listed too, with what
// is wrong. An error, which is the context's or the store's, is the last thing that it
// yields. It costs two lines an instance, whatever the logs hold.
func List(ctx context.Context, st store.Store, after string, limit int) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		from, listed := after, 0
		if after != "" {
			from += "\x00" // the next text after it
		}
		for e, err := range (promptStore{st}).Instances(ctx, from) {
			var found Info
			if err == nil {
				found, err = infoOf(ctx, promptStore{st}, e)
			}
			if errors.Is(err, store.ErrNotFound) { // deleted meanwhile
				continue
			}
			if listed++; !yield(found, err) || err != nil || listed == limit {
				return
			}
		}
	}
}

// InfoOf tells of one instance what List tells. Errors: *IDError; store.ErrNotFound (wrapped); the context's
// error, or what the store reports.
func InfoOf(ctx context.Context, st store.Store, id string) (Info, error) {
	if err := checkID(id); err != nil {
		return Info{}, err
	}
	for e, err := range (promptStore{st}).Instances(ctx, id) {
		if err != nil {
			return Info{}, err
		}
		if e.ID == id {
			return infoOf(ctx, promptStore{st}, e)
		}
		break
	}
	return Info{}, &store.Error{Instance: id, Err: store.ErrNotFound}
}

func infoOf(ctx context.Context, st promptStore, e store.Entry) (Info, error) {
	out := Info{Instance: e.ID, Version: e.Version, Seq: e.Seq}
	first, ok := readLine(e.First)
	if !ok || first.Kind != trace.Create || e.Seq == 0 {
		out.Damage = "its log does not begin with the record of its creation"
		return out, nil
	}
	out.Created, out.Labels = first.Time, first.Labels
	for seq, text := e.Seq, e.Last; ; { // nearly always the last record tells the phase
		l, ok := readLine(text)
		if !ok || l.Seq != seq {
			out.Damage = recordUnreadable(seq)
			return out, nil
		}
		if out.Contract == "" {
			out.Contract = l.Contract
		}
		if out.Phase = l.phaseAfter(); out.Phase != "" || seq == 1 {
			return out, nil
		}
		seq--
		text = nil
		for r, err := range st.Read(ctx, e.ID, seq, 1) {
			if err != nil {
				return out, err
			}
			text = r.Line
		}
	}
}

func recordUnreadable(seq uint64) string { return fmt.Sprintf("record %d cannot be read", seq) }

// phaseAfter is the phase that an instance is in after a record, "" if that does not tell.
func (l *line) phaseAfter() string {
	switch {
	case l.verdict != nil:
		return l.verdict.PhaseAfter
	case l.Kind.Asks():
		return ""
	}
	return l.Phase
}

// Delete takes an instance out of a store, with its log and its snapshots: nothing of it
// remains there (store.Deleter), and the name is free. What was noted down elsewhere, a
// trace or an anchor, tells that it was there.
// Errors: *IDError;
// store.ErrNotFound (wrapped); errors.ErrUnsupported (wrapped) if the store cannot; an *OpenOutcomeError if ctx ends
// while the store is at it; what the store reports.
func Delete(ctx context.Context, st store.Store, id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	return promptStore{st}.Delete(ctx, id)
}

// Lines iterates over lines of an instance's trace, from record number from on, and over no more than
// limit of them unless that is 0: what an auditor may read of the log, a part at a time. Whether the
// chain holds, CheckLog and CheckTrace tell. An error is the last thing that it yields: *IDError;
// store.ErrNotFound (wrapped); the context's, or what the store reports. It costs what is read.
func Lines(ctx context.Context, st store.Store, id string, from uint64, limit int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := checkID(id); err != nil {
			yield(nil, err)
			return
		}
		for r, err := range (promptStore{st}).Read(ctx, id, from, limit) {
			if !yield(r.Line, err) {
				return
			}
		}
	}
}
