package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"sort"
	"strconv"
	"sync"
)

// Memory is a Store in the memory of one process. Of the snapshots of an instance it keeps
// the newest two. The zero value is not usable; see NewMemory.
type Memory struct {
	mu      sync.RWMutex
	logs    map[string]*memoryLog
	order   []memoryPlace // all records, in the order in which they were appended
	growing chan struct{} // closed at the next append; nil if nobody waits for it
}

// A memoryPlace is where a record is; log is nil if it was deleted.
type memoryPlace struct {
	log *memoryLog
	seq uint64
}

// A memoryLog is one instance's records and snapshots. Records are only ever
// appended, so a reader may go on with the slice it has.
type memoryLog struct {
	id        string
	records   []Record
	keys      map[string]uint64 // the first record of each key
	snapshots []Snapshot        // the newest keptSnapshots, ascending by Seq
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{logs: map[string]*memoryLog{}} }

var (
	_ Store   = (*Memory)(nil)
	_ Tailer  = (*Memory)(nil)
	_ Deleter = (*Memory)(nil)
)

// Create implements Store.
func (m *Memory) Create(ctx context.Context, id string, records ...Record) error {
	if err := ready(ctx, id, 0, records); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.logs[id] != nil {
		return &Error{Instance: id, Err: ErrExists}
	}
	log := &memoryLog{id: id, keys: map[string]uint64{}}
	m.logs[id] = log
	m.add(log, records)
	return nil
}

// Append implements Store.
func (m *Memory) Append(ctx context.Context, id string, last uint64, records ...Record) error {
	if err := ready(ctx, id, last, records); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	log := m.logs[id]
	if log == nil {
		return &Error{Instance: id, Err: ErrNotFound}
	}
	have := uint64(len(log.records))
	if have != last || !bytes.HasSuffix(log.records[have-1].Line, records[0].Follows) {
		return &Error{Instance: id, Err: ErrConflict, Last: have}
	}
	m.add(log, records)
	return nil
}

// add appends records to a log, and wakes who waits for them.
func (m *Memory) add(l *memoryLog, records []Record) {
	for _, r := range records {
		r.Follows = nil
		l.records = append(l.records, r)
		m.order = append(m.order, memoryPlace{l, r.Seq})
		if _, known := l.keys[r.Key]; !known && r.Key != "" {
			l.keys[r.Key] = r.Seq
		}
	}
	if m.growing != nil {
		close(m.growing)
		m.growing = nil
	}
}

func ready(ctx context.Context, id string, last uint64, records []Record) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := CheckNumbers(last, records); err != nil {
		return &Error{Instance: id, Err: err}
	}
	return nil
}

// Read implements Store.
func (m *Memory) Read(ctx context.Context, id string, from uint64, limit int) iter.Seq2[Record, error] {
	records, err := m.tail(ctx, id, from)
	if limit > 0 {
		records = records[:min(limit, len(records))]
	}
	return func(yield func(Record, error) bool) {
		if err != nil {
			yield(Record{}, err)
			return
		}
		for _, r := range records {
			if err := ctx.Err(); err != nil {
				yield(Record{}, err)
				return
			}
			if !yield(r.clone(), nil) {
				return
			}
		}
	}
}

func (m *Memory) tail(ctx context.Context, id string, from uint64) ([]Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	log := m.logs[id]
	if log == nil {
		return nil, &Error{Instance: id, Err: ErrNotFound}
	}
	skip := min(max(from, 1)-1, uint64(len(log.records)))
	return log.records[skip:], nil
}

func (r Record) clone() Record {
	r.Line, r.Sealed = bytes.Clone(r.Line), bytes.Clone(r.Sealed)
	return r
}

// Head implements Store.
func (m *Memory) Head(ctx context.Context, id string) (seq, version uint64, err error) {
	records, err := m.tail(ctx, id, 1)
	if err != nil {
		return 0, 0, err
	}
	last := records[len(records)-1]
	return last.Seq, last.Version, nil
}

// Find implements Store.
func (m *Memory) Find(ctx context.Context, id, key string) (uint64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	if log := m.logs[id]; log != nil && log.keys[key] > 0 {
		return log.keys[key], nil
	}
	return 0, &Error{Instance: id, Err: ErrNotFound}
}

// Instances implements Store.
func (m *Memory) Instances(ctx context.Context, from string) iter.Seq2[Entry, error] {
	m.mu.RLock()
	ids := slices.Sorted(maps.Keys(m.logs))
	m.mu.RUnlock()
	at, _ := slices.BinarySearch(ids, from)
	return func(yield func(Entry, error) bool) {
		for _, id := range ids[at:] {
			e, err := m.entry(ctx, id)
			if errors.Is(err, ErrNotFound) { // deleted meanwhile
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (m *Memory) entry(ctx context.Context, id string) (Entry, error) {
	records, err := m.tail(ctx, id, 1)
	if err != nil {
		return Entry{}, err
	}
	first, last := records[0], records[len(records)-1]
	return Entry{id, last.Seq, last.Version, bytes.Clone(first.Line), bytes.Clone(last.Line)}, nil
}

// Delete implements Deleter.
func (m *Memory) Delete(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	log := m.logs[id]
	if log == nil {
		return &Error{Instance: id, Err: ErrNotFound}
	}
	delete(m.logs, id)
	for i := range m.order {
		if m.order[i].log == log {
			m.order[i].log = nil
		}
	}
	return nil
}

// End implements Tailer. A cursor is the number of records appended up to it.
func (m *Memory) End(ctx context.Context) (Cursor, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return memoryCursor(len(m.order)), ctx.Err()
}

func memoryCursor(at int) Cursor { return Cursor(strconv.Itoa(at)) }

// Tail implements Tailer.
func (m *Memory) Tail(ctx context.Context, after Cursor) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		at, err := m.placeOf(after)
		for err == nil {
			var found []Change
			var more <-chan struct{}
			found, at, more = m.after(at)
			for _, c := range found {
				if err = ctx.Err(); err != nil {
					break
				}
				if !yield(c, nil) {
					return
				}
			}
			if len(found) > 0 {
				continue
			}
			select {
			case <-more:
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		yield(Change{}, err)
	}
}

func (m *Memory) placeOf(after Cursor) (at int, err error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if after != "" {
		at, err = strconv.Atoi(string(after))
	}
	if err != nil || at < 0 || at > len(m.order) {
		return 0, ErrCursor
	}
	return at, nil
}

// after is what was appended after a place, up to as much as is told at once, and where that
// ends; if nothing was, more is closed when something is.
func (m *Memory) after(at int) (found []Change, end int, more <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.order[at:] {
		at++
		if p.log != nil {
			found = append(found, Change{memoryCursor(at), p.log.id, p.seq, p.log.records[p.seq-1].Version})
		}
		if len(found) == tailedAtOnce {
			return found, at, nil
		}
	}
	if len(found) == 0 && m.growing == nil {
		m.growing = make(chan struct{})
	}
	return found, at, m.growing
}

// tailedAtOnce is how many changes are looked up at once.
const tailedAtOnce = 256

// PutSnapshot implements Store.
func (m *Memory) PutSnapshot(ctx context.Context, id string, s Snapshot) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	log := m.logs[id]
	if log == nil {
		return &Error{Instance: id, Err: ErrNotFound}
	}
	if !log.has(s) {
		return &Error{Instance: id, Err: ErrConflict, Last: uint64(len(log.records))}
	}
	s.Follows = nil
	log.keep(s)
	return nil
}

// has reports whether the record that s follows is the one that its author knew.
func (l *memoryLog) has(s Snapshot) bool {
	if len(s.Follows) == 0 {
		return true
	}
	return s.Seq > 0 && s.Seq <= uint64(len(l.records)) && bytes.HasSuffix(l.records[s.Seq-1].Line, s.Follows)
}

// keptSnapshots is how many snapshots an instance has: the newest is what it is opened
// at, and one before that is what a late proposal may need.
const keptSnapshots = 2

// keep takes in a snapshot, and forgets what is not needed any more: of one version, and
// of all, those that are not the newest.
func (l *memoryLog) keep(s Snapshot) {
	all := append(l.snapshots, s)
	slices.SortStableFunc(all, func(a, b Snapshot) int { return cmp.Compare(a.Seq, b.Seq) })
	var kept []Snapshot
	for i, k := range all {
		if i+1 == len(all) || all[i+1].Version != k.Version {
			kept = append(kept, k)
		}
	}
	l.snapshots = slices.Clone(kept[max(0, len(kept)-keptSnapshots):])
}

// Snapshot implements Store.
func (m *Memory) Snapshot(ctx context.Context, id string, version uint64) (Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return Snapshot{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	log := m.logs[id]
	if log == nil {
		return Snapshot{}, &Error{Instance: id, Err: ErrNotFound}
	}
	above := sort.Search(len(log.snapshots), func(i int) bool { return log.snapshots[i].Version > version })
	if above == 0 {
		return Snapshot{}, &Error{Instance: id, Err: ErrNotFound}
	}
	s := log.snapshots[above-1]
	s.Data = bytes.Clone(s.Data)
	return s, nil
}
