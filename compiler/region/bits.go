package region

import (
	"encoding/binary"
	"math/bits"
)

// A bitset is a set of automaton states; its length is fixed at creation.
type bitset []uint64

func newBitset(states int) bitset { return make(bitset, (states+63)/64) }

func (b bitset) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitset) clone() bitset  { return append(bitset(nil), b...) }

// A span is the states from lo up to and without hi.
type span struct{ lo, hi int }

// mask gives the bits of word w of a bitset that lie in s.
func (s span) mask(w int) uint64 {
	m := ^uint64(0)
	if s.lo > w*64 {
		m <<= s.lo - w*64
	}
	if s.hi < (w+1)*64 {
		m &= 1<<(s.hi-w*64) - 1
	}
	return m
}

// anyIn reports whether b has a state of s.
func (b bitset) anyIn(s span) bool {
	for w := s.lo / 64; w*64 < s.hi; w++ {
		if b[w]&s.mask(w) != 0 {
			return true
		}
	}
	return false
}

// meetsIn reports whether b and c share a state of s.
func (b bitset) meetsIn(c bitset, s span) bool {
	for w := s.lo / 64; w*64 < s.hi; w++ {
		if b[w]&c[w]&s.mask(w) != 0 {
			return true
		}
	}
	return false
}

// clear removes the states of s.
func (b bitset) clear(s span) {
	for w := s.lo / 64; w*64 < s.hi; w++ {
		b[w] &^= s.mask(w)
	}
}

// each calls f for every state in ascending order.
func (b bitset) each(f func(state int)) {
	for w, word := range b {
		for word != 0 {
			f(w*64 + bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
}

// appendKey appends b's bytes, so that they can be a map key.
func (b bitset) appendKey(key []byte) []byte {
	for _, w := range b {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	return key
}
