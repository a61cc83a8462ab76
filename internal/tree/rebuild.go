package tree

import "github.com/patchoptic/poptic/internal/ir"

// MapMembers returns the object n with every member replaced by what f makes of
// it; a member for which f returns nil is left out. n itself is returned if nothing
// changes. It costs O(n) and no sorting. n must be an object.
func (n *Node) MapMembers(f func(name string, child *Node) *Node) *Node {
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

func (n *Node) eachNumbered(f func(i int, name string, child *Node) bool) {
	if n.root != nil {
		n.root.each(0, f)
	}
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
