package tree

import (
	"maps"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/compiler/ir"
)

// Order says what the order of an array's elements means.
type Order uint8

// The orders. Set and log arrays are multisets to Equal and Digest: of a set the
// order is nothing but an accident, of a log it is the order of commits, which is
// presentation (spec/semantics.md section 6.5).
const (
	ListOrder Order = iota // the order is part of the value
	SetOrder               // no order; written sorted
	LogOrder               // no order to equality; written as it grew
)

// String is the word that messages use for an array of this order.
func (o Order) String() string { return [...]string{"list", "set", "log"}[o] }

// Order is the order of an array, ListOrder for anything else.
func (n *Node) Order() Order {
	if n == nil {
		return ListOrder
	}
	return n.order
}

// WithOrder returns the array n with another order and the same elements, in
// O(1). Anything that is no array is returned as it is.
func (n *Node) WithOrder(o Order) *Node {
	if n == nil || n.kind != ir.Array || n.order == o {
		return n
	}
	return wrap(ir.Array, o, n.root)
}

// Holds reports whether an element of the array n equals v; in O(log n) for a set
// or log whose digest is known, else linear.
func (n *Node) Holds(v *Node) bool {
	if n.Len() == 0 || n.kind != ir.Array {
		return false
	}
	if !n.root.loose && !v.loose() {
		name := v.digestKey()
		return n.bag().Get(name) != nil
	}
	for _, e := range n.Elements() {
		if Equal(e, v) {
			return true
		}
	}
	return false
}

// bag is the multiset of an array's elements: an object whose member names are
// the digests of the elements, and whose values are how often each occurs. Its
// digest is canonical whatever the order, because an object's is. It is
// remembered, and carried along by edits once it was asked for.
func (n *Node) bag() *Node {
	if n.root == nil {
		return emptyObject
	}
	if known := n.root.bag.Load(); known != nil {
		return known
	}
	counts := make(map[string]int, n.Len())
	for _, e := range n.Elements() {
		counts[e.digestKey()]++
	}
	bag := bagOf(counts)
	n.root.bag.CompareAndSwap(nil, bag)
	return bag
}

func bagOf(counts map[string]int) *Node {
	names := slices.Sorted(maps.Keys(counts))
	nodes := make([]*Node, len(names))
	for i, name := range names {
		nodes[i] = occurrences(counts[name])
	}
	return objectNode(names, nodes)
}

// inheritBag gives the array n, made of old by an edit, the bag that follows from
// old's, if old has one.
func (n *Node) inheritBag(old, gone, come *Node) {
	if n.order == ListOrder || n.root == nil || old.root == nil {
		return
	}
	bag := old.root.bag.Load()
	if bag == nil {
		return
	}
	if come != nil {
		bag = bag.counted(come.digestKey(), 1)
	}
	if gone != nil {
		bag = bag.counted(gone.digestKey(), -1)
	}
	n.root.bag.Store(bag)
}

// counted changes how often a bag holds an element. The names are digests, not
// text, so that With, which repairs names that are not UTF-8, is no use here.
func (n *Node) counted(name string, by int) *Node {
	at, found := 0, false
	count := by
	if n.root != nil {
		if at, found = n.root.rank(name); found {
			old, _ := n.root.at(at).Int64()
			count += int(old)
		}
	}
	switch {
	case found && count == 0:
		return n.splice(at, 1, run{keyed: true})
	case found:
		return n.replaceAt(at, occurrences(count))
	default:
		return n.splice(at, 0, run{names: []string{name}, nodes: []*Node{occurrences(count)}, keyed: true})
	}
}

var once = numberNode("1")

func occurrences(n int) *Node {
	if n == 1 {
		return once
	}
	return numberNode(strconv.Itoa(n))
}

func (n *Node) digestKey() string {
	d := n.Digest()
	return string(d[:])
}
