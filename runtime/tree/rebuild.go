package tree

import "github.com/patchoptic/poptic/compiler/ir"

// MapMembers returns the object n with every member replaced by what f makes of
// it; a member for which f returns nil is left out. n itself is returned if nothing
// changes. It costs O(n) and no sorting. n must be an object.
func (n *Node) MapMembers(f func(name string, child *Node) *Node) *Node {
	if n.root == nil {
		return n
	}
	names, nodes := make([]string, 0, n.Len()), make([]*Node, 0, n.Len())
	changed := false
	n.root.each(0, func(_ int, name string, child *Node) bool {
		to := f(name, child)
		changed = changed || to != child
		if to != nil {
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
	if n.root == nil {
		return n
	}
	nodes := make([]*Node, 0, n.Len())
	changed := false
	n.root.each(0, func(i int, _ string, child *Node) bool {
		to := f(i, child)
		changed = changed || to != child
		nodes = append(nodes, to)
		return true
	})
	if !changed {
		return n
	}
	return wrap(ir.Array, n.order, build(run{nodes: nodes}))
}
