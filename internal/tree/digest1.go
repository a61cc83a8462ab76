package tree

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
)

// Logs of format 1 have digests that were made as those of Digest are, but of other chunks:
// a chunk of an object ended after a landmark or when it had 64 members, and of a name all
// bytes decided. So digests differ for objects of more than 32 members, and for sets and
// logs of as many. Nothing but reading such logs asks for them.

// Format1Digest is the digest that n has in logs of format 1. Containers remember theirs:
// after an edit it costs what the containers that were edited hold directly.
func (n *Node) Format1Digest() Digest {
	if n.kind != ir.Object && n.kind != ir.Array {
		return n.Digest()
	}
	memo := format1Digests
	if n.order != ListOrder {
		memo = format1BagDigests
	}
	if known, ok := memo.Get(n); ok {
		return known
	}
	d := n.format1Digest()
	memo.Put(n, d)
	return d
}

var format1Digests, format1BagDigests = NewMemo[Digest](), NewMemo[Digest]()

func (n *Node) format1Digest() Digest {
	items := make([]format1Item, 0, n.Len())
	if n.kind == ir.Object {
		for name, child := range n.Members() {
			items = append(items, format1Item{name, child.Format1Digest(), format1Landmark(name)})
		}
		return format1Container('{', items)
	}
	if n.order == ListOrder {
		for _, child := range n.Elements() {
			items = append(items, format1Item{digest: child.Format1Digest()})
		}
		return format1Container('[', items)
	}
	counts := make(map[string]int, n.Len())
	for _, child := range n.Elements() {
		d := child.Format1Digest()
		counts[string(d[:])]++
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		items = append(items, format1Item{key, occurrences(counts[key]).Digest(), format1Landmark(key)})
	}
	bag := format1Container('{', items)
	return tagged('*', string(bag[:]))
}

// A format1Item is a member or an element, or at a greater height a chunk of them.
type format1Item struct {
	name   string
	digest Digest
	level  uint8 // how high the landmark at its end reaches
}

// format1Container is the digest of a container: an object's tag is '{', an array's '['.
func format1Container(tag byte, items []format1Item) Digest {
	if len(items) == 0 {
		return tagged(tag, "")
	}
	block := binary.BigEndian.AppendUint64([]byte{tag}, uint64(len(items)))
	for height := uint8(0); ; height++ {
		if items = format1Chunks(tag == '{', height, items); len(items) == 1 {
			return sha256.Sum256(append(block, items[0].digest[:]...))
		}
	}
}

// format1Chunks cuts the items of one height into chunks.
func format1Chunks(keyed bool, height uint8, items []format1Item) (chunks []format1Item) {
	full := 32
	if keyed {
		full = 64
	}
	if height == 0 && len(items) <= 32 {
		full = len(items)
		items = slices.Clone(items)
		for i := range items {
			items[i].level = 0
		}
	}
	tag := map[bool]byte{true: 'm', false: 'e'}[keyed]
	if height > 0 {
		tag -= 'a' - 'A'
	}
	text := []byte{tag}
	size := 0
	for i, item := range items {
		if keyed && height == 0 {
			text = append(binary.BigEndian.AppendUint64(text, uint64(len(item.name))), item.name...)
		}
		text = append(text, item.digest[:]...)
		if size++; item.level > height || size == full || i+1 == len(items) {
			chunks = append(chunks, format1Item{digest: sha256.Sum256(text), level: item.level})
			text, size = text[:1], 0
		}
	}
	return chunks
}

// format1Landmark is landmark, with all of a name.
func format1Landmark(name string) uint8 {
	h := fnv(14695981039346656037, name)
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	level := uint8(0)
	for h&15 == 0 && level < 16 {
		h >>= 4
		level++
	}
	return level
}
