package tree

import (
	"maps"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// What is derived from a value is remembered on the chunks that the value is made
// of: it is shared, and dies, with them. What others than an Edit can see of a chunk never
// changes, so nothing that is remembered ever has to be taken back; and a chunk refers to what is below it
// alone, so that no version keeps another alive, as long as what is remembered on a
// chunk is made of what is below that chunk.

const (
	// heavy is how many values a container must hold for anything to be remembered
	// on its chunks: below, computing again costs less than remembering.
	heavy = 48
	// maxMemos bounds what one chunk remembers, the digest aside.
	maxMemos = 48
)

// memos is what is remembered on one chunk: a list that only grows at its head.
type memos struct{ head atomic.Pointer[memo] }

type memo struct {
	key, value any
	next       *memo
	length     int
}

func (m *memos) get(key any) (any, bool) {
	for x := m.head.Load(); x != nil; x = x.next {
		if x.key == key {
			return x.value, true
		}
	}
	return nil, false
}

// put remembers a value. Where two goroutines compute one value at a time both are
// right, and either stays.
func (m *memos) put(key, value any) {
	for {
		head := m.head.Load()
		next := &memo{key: key, value: value, next: head, length: 1}
		switch {
		case head == nil:
		case head.length >= maxMemos:
			next.next = nil
		default:
			next.length = head.length + 1
		}
		if m.head.CompareAndSwap(head, next) {
			return
		}
	}
}

// A Memo is one thing remembered of whole containers, by whoever made it. It is for
// what follows from the version before rather than from the parts: see Bag.
type Memo[T any] struct{ key *identity }

// An identity tells memos apart; it has a size, so that each has its own address.
type identity struct{ _ byte }

// NewMemo makes a memo that remembers nothing yet.
func NewMemo[T any]() Memo[T] { return Memo[T]{new(identity)} }

// Get is what was remembered of the container n, if anything is.
func (m Memo[T]) Get(n *Node) (v T, ok bool) {
	if n.isEmpty() {
		return v, false
	}
	known, ok := n.root.memos.get(m.key)
	if ok {
		v = known.(T)
	}
	return v, ok
}

// Put remembers v of the container n; of anything else, and of an empty container,
// nothing is remembered. v must not refer to nodes that are not below n.
func (m Memo[T]) Put(n *Node, v T) {
	if !n.isEmpty() {
		n.root.memos.put(m.key, v)
	}
}

// Remembered is what compute makes of the container n, remembered under key (a
// comparable value) if n holds much. It must depend on key and on what is below n
// alone.
func (n *Node) Remembered(key any, compute func() any) any {
	if n.isEmpty() || n.root.weight < heavy {
		return compute()
	}
	known, ok := n.root.memos.get(key)
	if !ok {
		known = compute()
		n.root.memos.put(key, known)
	}
	return known
}

// Folds.

// A Fold computes a T of containers from the Ts of their items, and remembers it
// for every chunk of those that hold much. After an edit it is computed again for the
// chunks on the touched path alone. A T must be fully determined by the items.
type Fold[T any] struct {
	key   *identity
	merge func(a, b T) T
}

// NewFold makes a fold. merge combines the Ts of two neighbouring stretches of
// items and must be associative; it must not change what it is given.
func NewFold[T any](merge func(a, b T) T) *Fold[T] { return &Fold[T]{new(identity), merge} }

// Of is the fold of the container n: the merged Ts of its items in order, the zero T
// if there are none or n is no container. item gives the T of one item (name is ""
// in an array) and whether it may be remembered; it must give the same T for the
// same item every time it may; lasting is whether all of them may. Safe for
// concurrent use. After an edit it costs
// O(log n) calls of merge and as many of item as one chunk has items.
func (f *Fold[T]) Of(n *Node, item func(name string, child *Node) (T, bool)) (v T, lasting bool) {
	if n.isEmpty() {
		return v, true
	}
	return f.chunk(n.root, item, n.root.weight >= heavy)
}

func (f *Fold[T]) chunk(c *chunk, item func(string, *Node) (T, bool), remembers bool) (T, bool) {
	if remembers {
		if known, ok := c.memos.get(f.key); ok {
			return known.(T), true
		}
	}
	v, lasting := f.compute(c, item)
	if remembers && lasting {
		c.memos.put(f.key, v)
	}
	return v, lasting
}

func (f *Fold[T]) compute(c *chunk, item func(string, *Node) (T, bool)) (all T, lasting bool) {
	lasting = true
	add := func(i int, v T, lasts bool) {
		lasting = lasting && lasts
		if i == 0 {
			all = v
		} else {
			all = f.merge(all, v)
		}
	}
	for i, kid := range c.kids {
		v, lasts := f.chunk(kid, item, true)
		add(i, v, lasts)
	}
	for i, child := range c.nodes {
		v, lasts := item(c.name(i), child)
		add(i, v, lasts)
	}
	return all, lasting
}

// Mappings: making another container out of every container, remembered by chunk.
//
// Chunks end where the names say, or the count. A mapping that keeps every item
// therefore keeps the shape, and the image of a chunk is a chunk that can stand in
// any version that has the original. Where items are left out, chunks may end
// elsewhere; then the images of the leaves are remembered as they are, and the
// container is built of them anew, which moves pointers and nothing else.

// An Image is what a mapping makes of a value.
type Image struct {
	Node   *Node         // nil: the item is left out
	Hidden []region.Word // places at and below the value that the mapping took note of
}

// Map is the image of the container n under a mapping that key identifies (a
// pointer, which is kept for as long as n is). item makes the image of one item, by
// its name, "" in an array; it must make the same of the same item every time. In an
// array no item may be left out. n itself is the image if nothing changes. After an
// edit it costs O(log n) and as many calls of item as one chunk has items, if
// items are neither left out nor taken note of; else also as many steps as there
// are of the first, or of the second.
func (n *Node) Map(key any, item func(name string, child *Node) Image) Image {
	if n.isEmpty() {
		return Image{Node: n}
	}
	m := mapChunk(n.root, key, item, n.root.weight >= heavy)
	return Image{Node: m.container(n), Hidden: m.collect(n.root, 0, nil)}
}

// A mapped is the image of a chunk.
type mapped struct {
	same *chunk    // of the same shape; nil if an item is left out
	kids []*mapped // of an inner chunk
	kept run       // of a leaf from which items are left out: the others

	hidden []region.Word // of a leaf; the first letter of each counts from the leaf's start
	hides  bool          // something is hidden here or in a kid

	whole atomic.Pointer[Node] // the image of the container that this is the root of
}

func mapChunk(c *chunk, key any, item func(string, *Node) Image, remembers bool) *mapped {
	if !remembers {
		return newMapped(c, key, item)
	}
	if known, ok := c.memos.get(key); ok {
		return known.(*mapped)
	}
	m := newMapped(c, key, item)
	c.memos.put(key, m)
	return m
}

func newMapped(c *chunk, key any, item func(string, *Node) Image) *mapped {
	if c.height == 0 {
		return mapLeaf(c, item)
	}
	m := &mapped{same: c, kids: make([]*mapped, len(c.kids))}
	kids := make([]*chunk, len(c.kids))
	changed := false
	for i, kid := range c.kids {
		to := mapChunk(kid, key, item, true)
		m.kids[i], kids[i] = to, to.same
		m.hides = m.hides || to.hides
		changed = changed || to.same != kid
		if to.same == nil {
			m.same = nil
		}
	}
	if m.same != nil && changed {
		images := run{names: c.names, kids: kids, keyed: c.names != nil, height: c.height}
		m.same = images.chunk(c.level) // of the same shape
	}
	return m
}

func mapLeaf(c *chunk, item func(string, *Node) Image) *mapped {
	m := &mapped{same: c}
	nodes, left, changed := make([]*Node, len(c.nodes)), 0, false
	for i, child := range c.nodes {
		to := item(c.name(i), child)
		nodes[i] = to.Node
		changed = changed || to.Node != child
		if to.Node == nil {
			left++
		}
		for _, w := range to.Hidden {
			m.hidden = append(m.hidden, append(region.Word{c.letter(i)}, w...))
		}
	}
	m.hides = len(m.hidden) > 0
	switch {
	case left > 0:
		m.same, m.kept = nil, c.keep(nodes)
	case changed:
		images := run{names: c.names, nodes: nodes, keyed: c.names != nil}
		m.same = images.chunk(c.level) // of the same shape
	}
	return m
}

// keep is the items whose image is not nil.
func (c *chunk) keep(images []*Node) run {
	r := run{keyed: c.names != nil, nodes: make([]*Node, 0, len(images))}
	if r.keyed {
		r.names = make([]string, 0, len(images))
	}
	for i, to := range images {
		if to == nil {
			continue
		}
		r.nodes = append(r.nodes, to)
		if r.keyed {
			r.names = append(r.names, c.names[i])
		}
	}
	return r
}

func (c *chunk) letter(i int) region.Letter {
	if c.names == nil {
		return region.Index(i)
	}
	return region.Key(c.names[i])
}

// container is the image of n, whose root m is the image of. It is one node as long
// as m is remembered, so that what is known about it is not lost.
func (m *mapped) container(n *Node) *Node {
	if m.same == n.root {
		return n
	}
	if known := m.whole.Load(); known != nil && known.order == n.order && known.kind == n.kind {
		return known
	}
	to := m.image(n)
	m.whole.Store(to)
	return to
}

func (m *mapped) image(n *Node) *Node {
	switch {
	case m.same != nil:
		return wrap(n.kind, n.order, m.same)
	case m.kids == nil:
		return m.kept.node(n.kind, n.order)
	}
	all := run{keyed: n.kind == ir.Object}
	m.items(&all)
	return all.node(n.kind, n.order)
}

func (m *mapped) items(all *run) {
	switch {
	case m.kids != nil:
		for _, kid := range m.kids {
			kid.items(all)
		}
	case m.same != nil:
		all.append(&run{names: m.same.names, nodes: m.same.nodes}, 0, len(m.same.nodes))
	default:
		all.append(&m.kept, 0, len(m.kept.nodes))
	}
}

// collect appends the hidden places below c, whose first item is number first.
func (m *mapped) collect(c *chunk, first int, all []region.Word) []region.Word {
	if !m.hides {
		return all
	}
	for i, kid := range m.kids {
		all = kid.collect(c.kids[i], first, all)
		first += c.kids[i].count
	}
	for _, w := range m.hidden {
		if c.names == nil && first > 0 {
			w = append(region.Word{region.Index(first + w[0].Index)}, w[1:]...)
		}
		all = append(all, w)
	}
	return all
}

// Bags.

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
