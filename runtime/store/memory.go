package store

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"sort"
	"sync"
)

// Memory is a Store in the memory of one process. Of the snapshots of an instance it keeps
// the newest two. The zero value is not usable; see NewMemory.
type Memory struct {
	mu   sync.RWMutex
	logs map[string]*memoryLog
}

// A memoryLog is one instance's records and snapshots. Records are only ever
// appended, so a reader may go on with the slice it has.
type memoryLog struct {
	records   []Record
	keys      map[string]uint64 // the first record of each key
	snapshots []Snapshot        // the newest keptSnapshots, ascending by Seq
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{logs: map[string]*memoryLog{}} }

var _ Store = (*Memory)(nil)

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
	log := &memoryLog{keys: map[string]uint64{}}
	log.add(records)
	m.logs[id] = log
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
	if have := uint64(len(log.records)); have != last {
		return &Error{Instance: id, Err: ErrConflict, Last: have}
	}
	log.add(records)
	return nil
}

func (l *memoryLog) add(records []Record) {
	l.records = append(l.records, records...)
	for _, r := range records {
		if _, known := l.keys[r.Key]; !known && r.Key != "" {
			l.keys[r.Key] = r.Seq
		}
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
func (m *Memory) Read(ctx context.Context, id string, from uint64) iter.Seq2[Record, error] {
	records, err := m.tail(ctx, id, from)
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
func (m *Memory) Instances(ctx context.Context) iter.Seq2[string, error] {
	m.mu.RLock()
	ids := slices.Sorted(maps.Keys(m.logs))
	m.mu.RUnlock()
	return func(yield func(string, error) bool) {
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				yield("", err)
				return
			}
			if !yield(id, nil) {
				return
			}
		}
	}
}

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
	log.keep(s)
	return nil
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
