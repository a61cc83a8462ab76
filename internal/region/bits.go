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

// next is the first state from i on, -1 if there is none.
func (b bitset) next(i int) int {
	if i >= len(b)*64 {
		return -1
	}
	w := i / 64
	if word := b[w] >> (i % 64); word != 0 {
		return i + bits.TrailingZeros64(word)
	}
	for w++; w < len(b); w++ {
		if b[w] != 0 {
			return w*64 + bits.TrailingZeros64(b[w])
		}
	}
	return -1
}

// A subset lists states in ascending order, four bytes each. Subsets are small nearly
// everywhere, and there may be as many as there are states.
type subset string

// appendSubset appends the subset of the states of b to a buffer.
func (b bitset) appendSubset(buffer []byte) []byte {
	b.each(func(state int) { buffer = binary.LittleEndian.AppendUint32(buffer, uint32(state)) })
	return buffer
}

// each calls f for every state in ascending order.
func (s subset) each(f func(state int)) {
	for i := 0; i < len(s); i += 4 {
		f(int(uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24))
	}
}
