package tree

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

// name is the name of item i of a leaf, "" in an array.
func (c *chunk) name(i int) string {
	if c.names == nil {
		return ""
	}
	return c.names[i]
}
