package footprint

import (
	"encoding/binary"
	"math/bits"
)

// members is a set of small numbers, those of stages or gates. It grows as needed.
type members []uint64

// newMembers is an empty set with room for numbers below n.
func newMembers(n int) members { return make(members, (n+63)/64) }

func (s *members) add(i int) {
	s.reach(i/64 + 1)
	(*s)[i/64] |= 1 << (i % 64)
}

// reach makes s at least words long.
func (s *members) reach(words int) {
	if n := words - len(*s); n > 0 {
		*s = append(*s, make(members, n)...)
	}
}

func (s members) count() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

func (s members) has(i int) bool { return i/64 < len(s) && s[i/64]&(1<<(i%64)) != 0 }

// join adds the members of t.
func (s *members) join(t members) {
	s.reach(len(t))
	for i, word := range t {
		(*s)[i] |= word
	}
}

// joinBoth adds what t and u share.
func (s *members) joinBoth(t, u members) {
	n := min(len(t), len(u))
	s.reach(n)
	for i := range n {
		(*s)[i] |= t[i] & u[i]
	}
}

// keep drops what is not in t.
func (s members) keep(t members) {
	for i := range s {
		if i < len(t) {
			s[i] &= t[i]
		} else {
			s[i] = 0
		}
	}
}

// each calls f for every member in ascending order.
func (s members) each(f func(i int)) {
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			f(w*64 + bits.TrailingZeros64(word))
		}
	}
}

// filed is a set that is filled in ascending order, and small nearly everywhere: a
// list while it is short, then a bitset.
type filed struct {
	few  []int32
	many members
}

// maxFew is up to how many members a list is kept.
const maxFew = 16

func (s *filed) add(i int) {
	switch {
	case s.many != nil:
		s.many.add(i)
	case len(s.few) > 0 && s.few[len(s.few)-1] == int32(i):
	case len(s.few) < maxFew:
		s.few = append(s.few, int32(i))
	default:
		for _, j := range s.few {
			s.many.add(int(j))
		}
		s.many.add(i)
		s.few = nil
	}
}

// addTo adds the members of s to t, which must have room for them.
func (s *filed) addTo(t members) {
	for _, i := range s.few {
		t[i/64] |= 1 << (i % 64)
	}
	for i, word := range s.many {
		t[i] |= word
	}
}

// key is a text that only equal sets have.
func (s members) key() string {
	var out []byte
	for _, word := range s {
		out = binary.LittleEndian.AppendUint64(out, word)
	}
	return string(out)
}
