package expr

import (
	"errors"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
)

// MaxMerged bounds the members that are looked at to add up the alternatives of the
// unions of a contract.
const MaxMerged = 1 << 20

// ErrMerged says that a contract's unions are beyond MaxMerged.
var ErrMerged = errors.New("the alternatives of its unions have too many members in common")

// A merger makes shapes of values that fit one of several. It remembers what it made,
// so that what shapes share is merged once.
type merger struct {
	numbers map[*shape]int
	made    map[string]*shape
	left    int // members that may still be looked at; below 0 everything is any
}

func newMerger() *merger {
	return &merger{numbers: map[*shape]int{}, made: map[string]*shape{}, left: MaxMerged}
}

// merge is the shape of a value that fits one of some shapes, nil where all are nil.
func merge(shapes ...*shape) *shape { return newMerger().all(shapes) }

func (m *merger) all(shapes []*shape) *shape {
	set, key := m.distinct(shapes)
	switch {
	case len(set) == 0:
		return nil
	case len(set) == 1:
		return set[0]
	case m.left < 0:
		return anyBag
	case slices.ContainsFunc(set, func(s *shape) bool { return s.kinds&kAny != 0 }):
		if slices.ContainsFunc(set, (*shape).holdsBags) {
			return anyBag
		}
		return anyShape
	}
	if s, known := m.made[key]; known {
		return s
	}
	s := m.sum(set)
	if m.left < 0 {
		s = anyBag
	}
	m.made[key] = s
	return s
}

// distinct drops what stands twice, and names the set.
func (m *merger) distinct(shapes []*shape) (set []*shape, key string) {
	var name []byte
	seen := map[*shape]bool{}
	for _, s := range shapes {
		if s == nil || seen[s] {
			continue
		}
		seen[s] = true
		number, known := m.numbers[s]
		if !known {
			number = len(m.numbers)
			m.numbers[s] = number
		}
		set, name = append(set, s), append(strconv.AppendInt(name, int64(number), 36), ' ')
	}
	return set, string(name)
}

func (m *merger) sum(set []*shape) *shape {
	out := &shape{literals: sumLiterals(set)}
	var rests, elems []*shape
	records := 0
	for _, s := range set {
		out.kinds |= s.kinds
		rests, elems = append(rests, s.rest), append(elems, s.elem)
		if s.kinds&kRecord != 0 {
			records++
			out.id = s.id
		}
	}
	if records != 1 {
		out.id = ir.NoType // several records: no single object type
	}
	out.members = m.sumMembers(set, records)
	out.rest, out.elem = m.all(rests), m.all(elems)
	out.cel = celType(out)
	out.findBags()
	return out
}

// sumLiterals lists the strings that a value may be, nil if any may occur.
func sumLiterals(set []*shape) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range set {
		if s.kinds&kString != 0 && s.literals == nil {
			return nil
		}
		for _, l := range s.literals {
			if !seen[l] {
				seen[l] = true
				out = append(out, l)
			}
		}
	}
	return out
}

// sumMembers merges members of one name. Where only some of the records have it, or a
// map may have it, it is optional; a value that is no object at all does not count:
// of T | null the member is there when the record is.
func (m *merger) sumMembers(set []*shape, records int) map[string]*field {
	type entry struct {
		shapes   []*shape
		optional bool
		having   int
		in       map[*shape]bool // of those with a rest
	}
	var open []*shape
	entries := map[string]*entry{}
	declared := false
	for _, s := range set {
		if s.rest != nil {
			open = append(open, s)
		}
		declared = declared || s.members != nil
		for name, f := range s.members {
			m.left--
			e := entries[name]
			if e == nil {
				e = &entry{in: map[*shape]bool{}}
				entries[name] = e
			}
			e.shapes, e.optional, e.having = append(e.shapes, f.shape), e.optional || f.optional, e.having+1
			if s.rest != nil {
				e.in[s] = true
			}
		}
	}
	if !declared {
		return nil
	}
	out := make(map[string]*field, len(entries))
	for name, e := range entries {
		for _, s := range open {
			m.left--
			if !e.in[s] {
				e.shapes, e.optional = append(e.shapes, s.rest), true
			}
		}
		out[name] = &field{shape: m.all(e.shapes), optional: e.optional || e.having < records}
	}
	return out
}
