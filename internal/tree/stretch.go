package tree

import "math/bits"

// Stretches: what lies between two landmarks and is too much for one chunk.
//
// Where it is cut is decided by deterministic coin tossing (R. Cole, U. Vishkin, 1986). Every
// name gets a label: at which bit it first differs from the name before, and that bit.
// Neighbours have different labels again, as the names were different. A label is far
// shorter than a name; labels of the labels are shorter still, and after a few rounds there
// are six. A chunk ends where the label is greater than both beside it. Two such places are never
// neighbours, and never further apart than ten or so items, whatever the names are. And
// whether an item is one depends on reach items before it and one behind: what is further
// away may change as it likes.

const (
	tosses = 5          // by then labels of the longest names are below 6
	reach  = tosses + 1 // how many items before an item decide, with it, whether it ends a chunk
)

// cutStretch marks the items of a stretch after which a chunk ends. names are different
// from their neighbours. Of a stretch that begins before names, the first reach marks are
// not to be relied on.
func cutStretch(names []string, ends []bool) {
	labels := make([]uint64, len(names))
	before := ""
	for i, name := range names {
		labels[i] = nameLabel(before, name, i == 0)
		before = name
	}
	for range tosses - 1 {
		last := uint64(0)
		for i, l := range labels {
			at := 0
			if i > 0 {
				at = bits.TrailingZeros64(l ^ last)
			}
			labels[i], last = uint64(at)<<1|l>>at&1, l
		}
	}
	for i := 1; i+1 < len(labels); i++ {
		if labels[i] > labels[i-1] && labels[i] > labels[i+1] {
			ends[i] = true
		}
	}
}

// nameLabel is where name differs from the one before, and how: the number of the bit
// and, lowest, the bit. A byte counts nine bits, of which 0 is the end of the name.
func nameLabel(before, name string, first bool) uint64 {
	at := 0
	for !first && at < len(before) && at < len(name) && before[at] == name[at] {
		at++
	}
	is, bit := byteAt(name, at), 0
	if !first {
		bit = bits.TrailingZeros16(is ^ byteAt(before, at))
	}
	return uint64(9*at+bit)<<1 | uint64(is>>bit&1)
}

func byteAt(name string, i int) uint16 {
	if i >= len(name) {
		return 0
	}
	return uint16(name[i]) + 1
}
