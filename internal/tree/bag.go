package tree

import (
	"maps"
	"slices"
	"strconv"
)

// A Bag is an immutable multiset of keys. A changed copy shares all but O(log n)
// with the bag it was made of.
//
// A bag is what uniqueness and references are checked against. It is no Fold: bags
// merged from chunk to chunk would be built anew at every height, which costs what
// they hold. But a bag can be subtracted from, so the bag of a version is that of
// the version before, less what went, plus what came. Memo keeps it meanwhile.
//
// A nil *Bag is empty.
type Bag struct {
	counts   *Node // an object: how often each key occurs; its digest is canonical, as an object's is
	repeated int   // keys that occur more than once
}

// NewBag makes the bag in which every key occurs as often as counts says, which is
// not kept.
func NewBag(counts map[string]int) *Bag {
	b := &Bag{}
	keys := slices.Sorted(maps.Keys(counts))
	nodes := make([]*Node, len(keys))
	for i, key := range keys {
		nodes[i] = occurrences(counts[key])
		if counts[key] > 1 {
			b.repeated++
		}
	}
	b.counts = objectNode(keys, nodes)
	return b
}

// Count is how often key occurs. O(log n).
func (b *Bag) Count(key string) int {
	if b == nil {
		return 0
	}
	n, _ := b.counts.Get(key).Int64()
	return int(n)
}

// Repeats reports whether some key occurs more than once. O(1).
func (b *Bag) Repeats() bool { return b != nil && b.repeated > 0 }

// Add returns b with key occurring by times more; by may be negative, but no key
// occurs less than not at all. O(log n).
func (b *Bag) Add(key string, by int) *Bag {
	if b == nil {
		b = &Bag{counts: emptyObject}
	}
	was := b.Count(key)
	now := max(0, was+by)
	next := &Bag{counts: b.counts, repeated: b.repeated}
	if was > 1 {
		next.repeated--
	}
	if now > 1 {
		next.repeated++
	}
	if was != now {
		next.counts = b.counts.counted(key, now)
	}
	return next
}

// Equal reports whether b and c hold the same keys, each as often.
func (b *Bag) Equal(c *Bag) bool { return b.digest() == c.digest() }

func (b *Bag) digest() Digest {
	if b == nil {
		return emptyObject.Digest()
	}
	return b.counts.Digest()
}

// counted sets how often a bag holds a key. Keys need not be text, so that With,
// which repairs names that are not UTF-8, is no use here.
func (n *Node) counted(key string, count int) *Node {
	at, found := 0, false
	if n.root != nil {
		at, found = n.root.rank(key)
	}
	switch {
	case found && count == 0:
		return n.splice(at, 1, run{keyed: true})
	case found:
		return n.replaceAt(at, occurrences(count))
	default:
		return n.splice(at, 0, run{names: []string{key}, nodes: []*Node{occurrences(count)}, keyed: true})
	}
}

var once = numberNode("1")

func occurrences(n int) *Node {
	if n == 1 {
		return once
	}
	return numberNode(strconv.Itoa(n))
}
