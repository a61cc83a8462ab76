package tree

import "github.com/patchoptic/poptic/compiler/ir"

// With returns n with member name set to child, in O(log n). A nil child removes
// the member. n must be an object.
func (n *Node) With(name string, child *Node) *Node {
	if child == nil {
		return n.Without(name)
	}
	name = validText(name)
	if n.root == nil {
		return objectNode([]string{name}, []*Node{child})
	}
	at, found := n.root.rank(name)
	if found {
		return n.replaceAt(at, child)
	}
	return n.splice(at, 0, run{names: []string{name}, nodes: []*Node{child}, keyed: true})
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

// InsertAt returns n with child inserted before element i; i = Len appends. It
// costs O(log n) at the end, O(Len-i) elsewhere (shape.go). n must be an array.
func (n *Node) InsertAt(i int, child *Node) *Node {
	return n.splice(i, 0, run{nodes: []*Node{child}})
}

// DeleteAt returns n without element i, at the cost of InsertAt. n must be an
// array and hold element i.
func (n *Node) DeleteAt(i int) *Node { return n.splice(i, 1, run{}) }

func (n *Node) replaceAt(i int, child *Node) *Node {
	next := wrap(n.kind, n.order, n.root.replace(i, child))
	next.inheritBag(n, n.root.at(i), child)
	return next
}

// splice replaces del (0 or 1) items of a container at position at by those of ins.
func (n *Node) splice(at, del int, ins run) *Node {
	next := wrap(n.kind, n.order, n.spliced(at, del, ins))
	var gone, come *Node
	if del > 0 {
		gone = n.root.at(at)
	}
	if len(ins.nodes) > 0 {
		come = ins.nodes[0]
	}
	next.inheritBag(n, gone, come)
	return next
}

func (n *Node) spliced(at, del int, ins run) *chunk {
	switch count := n.Len() - del + ins.len(); {
	case n.root == nil:
		return build(ins)
	case n.kind == ir.Object && min(count, n.Len()) <= small:
		return build(n.root.respliced(at, del, ins))
	default:
		return splice(n.root, at, del, ins)
	}
}

// respliced is the whole sequence of items after an edit: the way to edit where
// the small-object rule of shape.go comes into play.
func (c *chunk) respliced(at, del int, ins run) run {
	all := run{keyed: ins.keyed}
	size := c.count - del + ins.len()
	all.names, all.nodes = make([]string, 0, size), make([]*Node, 0, size)
	c.each(0, func(i int, name string, child *Node) bool {
		if i == at {
			all.names, all.nodes = append(all.names, ins.names...), append(all.nodes, ins.nodes...)
		}
		if i < at || i >= at+del {
			all.names, all.nodes = append(all.names, name), append(all.nodes, child)
		}
		return true
	})
	if at == c.count {
		all.names, all.nodes = append(all.names, ins.names...), append(all.nodes, ins.nodes...)
	}
	return all
}
