package tree

import (
	"iter"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/ir"
)

// A Node is one JSON value. It never changes, so it may be shared between
// versions, documents and goroutines without copying. A nil *Node stands for an
// absent value: the reading methods accept it and find nothing below it.
type Node struct {
	kind  ir.Kind
	order Order  // of an array
	truth bool   // the value of a bool
	width uint32 // of a scalar: the length of its encoding
	text  string // the value of a string, the literal of a number
	root  *chunk // the items of a container, nil if it is empty; see also longString
}

// container is the block that a container and the chunk at its root are
// allocated in together.
type container struct {
	node  Node
	chunk chunk
}

var (
	nullNode    = &Node{kind: ir.Null, width: 4}
	trueNode    = &Node{kind: ir.Bool, truth: true, width: 4}
	falseNode   = &Node{kind: ir.Bool, width: 5}
	emptyArray  = &Node{kind: ir.Array}
	emptyObject = &Node{kind: ir.Object}
)

// NewNull returns the null value.
func NewNull() *Node { return nullNode }

// NewBool returns true or false.
func NewBool(value bool) *Node {
	if value {
		return trueNode
	}
	return falseNode
}

// NewString returns a string. A node is always valid JSON text, so bytes that are
// not UTF-8 are replaced by U+FFFD.
func NewString(value string) *Node { return stringNode(validText(value)) }

func stringNode(value string) *Node {
	n := &Node{kind: ir.String, text: value, width: narrow(quotedLen(value))}
	if len(value) >= longString {
		n.root = new(chunk)
	}
	return n
}

func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func narrow(n int) uint32 { return uint32(min(n, math.MaxUint32)) }

// NewArray returns a list of the given elements, none of which may be nil. The
// slice is not kept.
func NewArray(elements []*Node) *Node {
	return run{nodes: slices.Clone(elements)}.node(ir.Array, ListOrder)
}

// NewObject returns an object with the given members; a member whose value is nil
// is absent. The map is not kept.
func NewObject(members map[string]*Node) *Node {
	names := make([]string, 0, len(members))
	for name, child := range members {
		if child != nil {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	nodes := make([]*Node, len(names))
	valid := true
	for i, name := range names {
		nodes[i], valid = members[name], valid && utf8.ValidString(name)
	}
	if valid {
		return objectNode(names, nodes)
	}
	n := emptyObject
	for i, name := range names {
		n = n.With(name, nodes[i])
	}
	return n
}

// NewSortedObject returns an object whose members' names are given in ascending order,
// no two of them equal and each valid UTF-8. Both slices are kept.
func NewSortedObject(names []string, nodes []*Node) *Node { return objectNode(names, nodes) }

// objectNode builds an object of members already sorted and valid. It keeps both slices.
func objectNode(names []string, nodes []*Node) *Node {
	return run{names: names, nodes: nodes, keyed: true}.node(ir.Object, ListOrder)
}

// newContainer allocates a container and its root, which the caller fills.
func newContainer(kind ir.Kind, order Order) *container {
	c := &container{node: Node{kind: kind, order: order}}
	c.node.root = &c.chunk
	return c
}

// wrap makes the container of the items below root.
func wrap(kind ir.Kind, order Order, root *chunk) *Node {
	if root == nil {
		return emptyContainer(kind, order)
	}
	c := newContainer(kind, order)
	root.copyTo(&c.chunk)
	return &c.node
}

func emptyContainer(kind ir.Kind, order Order) *Node {
	switch {
	case kind == ir.Object:
		return emptyObject
	case order == ListOrder:
		return emptyArray
	default:
		return &Node{kind: kind, order: order}
	}
}

// node makes the container of all items of r. It keeps r's slices.
func (r run) node(kind ir.Kind, order Order) *Node {
	switch n := r.len(); {
	case n == 0:
		return emptyContainer(kind, order)
	case n <= small:
		c := newContainer(kind, order)
		r.fill(&c.chunk, 0)
		return &c.node
	default:
		return wrap(kind, order, build(r))
	}
}

// Kind is the kind of n, which must not be nil.
func (n *Node) Kind() ir.Kind { return n.kind }

// Len is the number of members or elements; 0 for scalars and for nil.
func (n *Node) Len() int {
	if n == nil || n.root == nil {
		return 0
	}
	return n.root.count
}

// Get returns the member of an object by name, nil if there is none. O(log n).
func (n *Node) Get(name string) *Node {
	if n == nil || n.kind != ir.Object || n.root == nil {
		return nil
	}
	return n.root.member(name)
}

// At returns element i of an array, nil if there is none. O(log n).
func (n *Node) At(i int) *Node {
	if n == nil || n.kind != ir.Array || i < 0 || i >= n.Len() {
		return nil
	}
	return n.root.at(i)
}

// Members iterates over the members of an object in ascending order of names
// (code point order); over nothing if n is no object.
func (n *Node) Members() iter.Seq2[string, *Node] {
	return func(yield func(string, *Node) bool) {
		if n != nil && n.kind == ir.Object && n.root != nil {
			n.root.each(0, func(_ int, name string, child *Node) bool { return yield(name, child) })
		}
	}
}

// Elements iterates over the elements of an array in order; over nothing if n is
// no array.
func (n *Node) Elements() iter.Seq2[int, *Node] {
	return func(yield func(int, *Node) bool) {
		if n != nil && n.kind == ir.Array && n.root != nil {
			n.root.each(0, func(i int, _ string, child *Node) bool { return yield(i, child) })
		}
	}
}
