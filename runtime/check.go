package runtime

import (
	"context"
	"encoding/json"
	"io"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/runtime/store"
)

// CheckLog reads an instance's log and checks what can be checked without its
// contract: the chain, every sealed part, the numbers, versions and keys under which
// the store keeps the records, and that each question is followed by its decision.
// Each line that holds is given to each, unless that is nil; its error ends the
// reading. The head is that of the last line that holds. Errors: *IDError for a
// name that no instance can have, *CorruptLogError
// for the first record that does not, *FormatError (wrapped), store.ErrNotFound (wrapped), what each
// returns, or what the store reports.
func CheckLog(ctx context.Context, st store.Store, id string, each func(line []byte) error) (Head, error) {
	c := logCheck{id: id, head: trace.Start(id)}
	if err := checkID(id); err != nil {
		return c.head, err
	}
	for record, err := range st.Read(ctx, id, 1) {
		if err == nil {
			err = c.next(record)
		}
		if err == nil && each != nil {
			err = each(record.Line)
		}
		if err != nil {
			return c.head, err
		}
	}
	if err := c.pairing.End(); err != nil {
		return c.head, corruptLog(id, err)
	}
	return c.head, nil
}

// CheckTrace reads a trace, as Instance.Trace writes it, and checks its chain, and that
// every proposal and advance has its decision. It needs neither contract nor store. The
// head is that of the last line that holds: compare it with one known from elsewhere to
// notice lines missing at the end. An empty trace holds. Memory is that of the longest
// line. Errors: *BrokenTraceError for the first line that does not hold, *FormatError, or
// what reading reported.
func CheckTrace(r io.Reader) (Head, error) { return trace.Verify(r) }

// A logCheck is a position in a log.
type logCheck struct {
	id      string
	head    trace.Head
	key     *trace.Key
	pairing trace.Pairing
}

func (c *logCheck) next(record store.Record) (err error) {
	if c.key == nil {
		if c.key, err = c.keyIn(record); err != nil {
			return err
		}
	}
	head, said, err := trace.CheckRecord(c.head, c.key, record.Line, record.Sealed)
	if err != nil {
		return corruptLog(c.id, err)
	}
	l, ok := lineOf(said)
	if !ok || !l.keptAs(record) {
		return &CorruptLogError{c.id, head.Seq, misplaced}
	}
	if err := c.pairing.Next(l.Kind, head.Seq); err != nil {
		return corruptLog(c.id, err)
	}
	c.head = head
	return nil
}

// keyIn finds the instance's key in its first record.
func (c *logCheck) keyIn(first store.Record) (*trace.Key, error) {
	if err := checkFormat(c.id, first); err != nil {
		return nil, err
	}
	var f founding
	if json.Unmarshal(first.Sealed, &f) == nil {
		if key, err := trace.KeyOf(f.Key); err == nil {
			return key, nil
		}
	}
	return nil, &CorruptLogError{c.id, 1, "it does not begin an instance"}
}
