package tree

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// With returns n with member name set to child, in O(log n). A nil child removes
// the member. n must be an object.
func (n *Node) With(name string, child *Node) *Node {
	if child == nil {
		return n.Without(name)
	}
	name = validText(name)
	if n.root == nil {
		return objectNode([]string{strings.Clone(name)}, []*Node{child})
	}
	at, found := n.root.rank(name)
	if found {
		return n.replaceAt(at, child)
	}
	// The name may be a piece of a longer text, as of a path; that must not stay with it.
	return n.splice(at, 0, run{names: []string{strings.Clone(name)}, nodes: []*Node{child}, keyed: true})
}

// Without returns n without member name, n itself if there is none, in O(log n). n
// must be an object.
func (n *Node) Without(name string) *Node {
	if n.root == nil {
		return n
	}
	at, found := n.root.rank(name)
	if !found {
		return n
	}
	return n.splice(at, 1, run{keyed: true})
}

// SetAt returns n with element i replaced by child, in O(log n). n must be an
// array and hold element i.
func (n *Node) SetAt(i int, child *Node) *Node { return n.replaceAt(i, child) }

// InsertAt returns n with child inserted before element i, in O(log n); i = Len
// appends. n must be an array.
func (n *Node) InsertAt(i int, child *Node) *Node {
	return n.splice(i, 0, run{nodes: []*Node{child}})
}

// DeleteAt returns n without element i, in O(log n). n must be an array and hold
// element i.
func (n *Node) DeleteAt(i int) *Node { return n.splice(i, 1, run{}) }

func (n *Node) replaceAt(i int, child *Node) *Node {
	next := n.replacedRoot(i, child)
	next.kind, next.order = n.kind, n.order
	if n.order != ListOrder {
		next.inheritBag(n, n.root.at(i), child)
	}
	return next
}

// replacedRoot makes the container's node together with its root.
func (n *Node) replacedRoot(i int, child *Node) *Node {
	if n.root.height > 0 {
		c, kids := room[container, *chunk](len(n.root.kids))
		c.node.root = n.root.replaceBelow(&c.chunk, kids, i, child)
		return &c.node
	}
	c, nodes := room[container, *Node](len(n.root.nodes))
	c.node.root = n.root.replaceItem(&c.chunk, nodes, i, child)
	return &c.node
}

// splice replaces del (0 or 1) items of a container at position at by those of ins.
func (n *Node) splice(at, del int, ins run) *Node {
	next := n.spliced(at, del, ins)
	if n.order != ListOrder {
		var gone, come *Node
		if del > 0 {
			gone = n.root.at(at)
		}
		if ins.len() > 0 {
			come = ins.nodes[0]
		}
		next.inheritBag(n, gone, come)
	}
	return next
}

func (n *Node) spliced(at, del int, ins run) *Node {
	switch count := n.Len() - del + ins.len(); {
	case n.root == nil:
		return ins.node(n.kind, n.order)
	case n.kind == ir.Array && count > 0:
		return wrap(n.kind, n.order, resequenced(n.root, at, del, ins.nodes))
	case min(count, n.Len()) <= small:
		return n.root.respliced(at, del, ins).node(n.kind, n.order)
	default:
		return wrap(n.kind, n.order, splice(n.root, at, del, ins))
	}
}

// MapMembers returns the object n with every member replaced by what f makes of
// it; a member for which f returns nil is left out. n itself is returned if nothing
// changes. It costs O(n) and no sorting. n must be an object.
func (n *Node) MapMembers(f func(name string, child *Node) *Node) *Node {
	if names, _ := n.FewMembers(); len(names) > 0 {
		return n.mapFew(f)
	}
	var names []string
	var nodes []*Node
	changed := false
	n.eachNumbered(func(i int, name string, child *Node) bool {
		to := f(name, child)
		if !changed && to != child {
			changed = true
			names, nodes = n.firstItems(i)
		}
		if changed && to != nil {
			names, nodes = append(names, name), append(nodes, to)
		}
		return true
	})
	if !changed {
		return n
	}
	return objectNode(names, nodes)
}

// mapFew is MapMembers of one leaf, whose names go on to be shared if none is left out.
func (n *Node) mapFew(f func(name string, child *Node) *Node) *Node {
	var room [small]*Node
	images, changed, left := room[:0], false, 0
	for i, child := range n.root.nodes {
		to := f(n.root.names[i], child)
		images, changed = append(images, to), changed || to != child
		if to == nil {
			left++
		}
	}
	switch {
	case !changed:
		return n
	case left > 0:
		return n.root.keep(images).node(ir.Object, ListOrder)
	default:
		return objectNode(n.root.names, slices.Clone(images))
	}
}

// MapElements is the same for the elements of an array, which keeps its order; f
// must not return nil.
func (n *Node) MapElements(f func(i int, child *Node) *Node) *Node {
	var nodes []*Node
	changed := false
	n.eachNumbered(func(i int, _ string, child *Node) bool {
		to := f(i, child)
		if !changed && to != child {
			changed = true
			_, nodes = n.firstItems(i)
		}
		if changed {
			nodes = append(nodes, to)
		}
		return true
	})
	if !changed {
		return n
	}
	return wrap(ir.Array, n.order, build(run{nodes: nodes}))
}

// firstItems is the first count items of n, and their names if it is an object, with
// room for all of them.
func (n *Node) firstItems(count int) (names []string, nodes []*Node) {
	nodes = make([]*Node, 0, n.Len())
	if n.kind == ir.Object {
		names = make([]string, 0, n.Len())
	}
	n.eachNumbered(func(i int, name string, child *Node) bool {
		if i == count {
			return false
		}
		nodes = append(nodes, child)
		if names != nil {
			names = append(names, name)
		}
		return true
	})
	return names, nodes
}
