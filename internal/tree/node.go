package tree

import (
	"bytes"
	"errors"
	"iter"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/decimal"
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

// Kind is the kind of n, which must not be nil.
func (n *Node) Kind() ir.Kind { return n.kind }

// Len is the number of members or elements; 0 for scalars and for nil.
func (n *Node) Len() int {
	if n == nil || n.root == nil {
		return 0
	}
	return n.root.count
}

// isEmpty reports whether nothing is below n.
func (n *Node) isEmpty() bool {
	return n == nil || n.root == nil || n.kind != ir.Array && n.kind != ir.Object
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

// FewMembers is the members of an object that has a few, in ascending order of their names;
// nothing of any other node. The slices are n's own, and not to be changed.
func (n *Node) FewMembers() (names []string, nodes []*Node) {
	if n == nil || n.kind != ir.Object || n.root == nil || n.root.height > 0 || n.root.count > small {
		return nil, nil
	}
	return n.root.names, n.root.nodes
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

// eachItem calls f for every item, until it returns false.
func (n *Node) eachItem(f func(child *Node) bool) bool {
	return n.isEmpty() || n.root.each(0, func(_ int, _ string, child *Node) bool { return f(child) })
}

func (n *Node) eachNumbered(f func(i int, name string, child *Node) bool) {
	if n.root != nil {
		n.root.each(0, f)
	}
}

// Bool is the value of a bool, false for anything else.
func (n *Node) Bool() bool { return n != nil && n.truth }

// Text is the value of a string, or the literal of a number as it was written
// (a negative zero has lost its sign); "" for anything else.
func (n *Node) Text() string {
	if n == nil {
		return ""
	}
	return n.text
}

// Int64 is the exact value of a number that IsInt64.
func (n *Node) Int64() (int64, bool) {
	if n == nil || n.kind != ir.Number {
		return 0, false
	}
	if v, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return v, true
	}
	return decimal.Parse(n.text).Int64()
}

// Float64 is the double nearest to a number, an infinity beyond the largest; 0 for
// anything else.
func (n *Node) Float64() float64 {
	if n == nil || n.kind != ir.Number {
		return 0
	}
	v, _ := strconv.ParseFloat(n.text, 64)
	return v
}

// Weight is the number of JSON values in n, itself included. O(1).
func (n *Node) Weight() int {
	if n == nil {
		return 0
	}
	if n.root == nil {
		return 1
	}
	return 1 + n.root.weight
}

// Size is the length of n's encoding by AppendJSON in bytes. O(1).
func (n *Node) Size() int {
	switch {
	case n == nil:
		return 0
	case n.kind != ir.Array && n.kind != ir.Object:
		return int(n.width)
	case n.root == nil:
		return len("[]")
	default:
		return len("[]") + n.root.size + n.root.count - 1
	}
}

// Depth is how deep containers nest in n: 0 for scalars, 1 for a container of
// scalars. O(1).
func (n *Node) Depth() int {
	switch {
	case n == nil || n.kind != ir.Array && n.kind != ir.Object:
		return 0
	case n.root == nil:
		return 1
	default:
		return 1 + n.root.depth
	}
}

func (n *Node) summary() summary {
	return summary{n.Weight(), n.Size(), n.Depth(), n.HoldsSet(), n.HoldsLog()}
}

// HoldsSet reports whether n is a set, or one is below it. O(1).
func (n *Node) HoldsSet() bool {
	return n != nil && (n.order == SetOrder || n.root != nil && n.root.sets)
}

// HoldsLog reports whether n is a log, or one is below it. O(1).
func (n *Node) HoldsLog() bool {
	return n != nil && (n.order == LogOrder || n.root != nil && n.root.logs)
}

// loose reports whether n is or holds an array whose order has no meaning.
func (n *Node) loose() bool {
	return n.HoldsSet() || n.HoldsLog()
}

// String is the canonical encoding of n; "absent" for nil. It is for tests and
// debugging: messages never show a value.
func (n *Node) String() string {
	if n == nil {
		return "absent"
	}
	return string(AppendJSON(nil, n))
}

// Nodes are made by the functions below, by Parse, and by editing others.

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
		n.root = &chunk{inner: noKids}
	}
	return n
}

func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func narrow(n int) uint32 { return uint32(min(uint64(n), math.MaxUint32)) }

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

// NewObjectOf returns an object with one member, whose name is valid UTF-8.
func NewObjectOf(name string, child *Node) *Node {
	block := &struct {
		container
		names [1]string
		nodes [1]*Node
	}{names: [1]string{name}, nodes: [1]*Node{child}}
	block.node.kind, block.node.root = ir.Object, &block.chunk
	r := run{names: block.names[:], nodes: block.nodes[:], keyed: true}
	r.fill(&block.chunk, 0)
	return &block.node
}

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

// Numbers keep the literal they were written with and are compared by exact decimal
// value (package decimal).

// NewNumber returns the number written as literal, in the grammar of RFC 8259
// section 6, within DefaultLimits. A negative zero loses its sign, for it equals 0.
func NewNumber(literal string) (*Node, error) {
	if !decimal.Valid(literal) {
		return nil, errors.New("not a JSON number")
	}
	if err := DefaultLimits.checkNumber(literal); err != nil {
		return nil, err
	}
	return numberNode(literal), nil
}

// NewInt returns an integer.
func NewInt(v int64) *Node { return numberNode(strconv.FormatInt(v, 10)) }

// smallInts are the integers from 0 that there is one node of, as of true and false.
var smallInts = func() (all [256]*Node) {
	for i := range all {
		text := strconv.Itoa(i)
		all[i] = &Node{kind: ir.Number, text: text, width: narrow(len(text))}
	}
	return all
}()

// smallInt is the node of a small integer that is spelled as such, nil for anything else.
func smallInt[T string | []byte](literal T) *Node {
	if len(literal) == 0 || len(literal) > 3 || literal[0] == '0' && len(literal) > 1 {
		return nil
	}
	v := 0
	for i := range len(literal) {
		if literal[i] < '0' || literal[i] > '9' {
			return nil
		}
		v = 10*v + int(literal[i]-'0')
	}
	if v >= len(smallInts) {
		return nil
	}
	return smallInts[v]
}

func numberNode(literal string) *Node {
	if n := smallInt(literal); n != nil {
		return n
	}
	if literal[0] == '-' && decimal.Parse(literal).Sign() == 0 {
		literal = literal[1:]
	}
	return &Node{kind: ir.Number, text: literal, width: narrow(len(literal))}
}

// IsInt64 reports whether n is a number whose value is a 64-bit integer, however
// it is written: 1.0 and 1e3 are.
func IsInt64(n *Node) bool {
	_, ok := n.Int64()
	return ok
}

// A node is a value to expressions.

var _ ir.Value = (*Node)(nil)

// Member implements ir.Value: Get, with an absent member as a nil interface.
func (n *Node) Member(name string) ir.Value { return asValue(n.Get(name)) }

// Element implements ir.Value: At, with an absent element as a nil interface.
func (n *Node) Element(i int) ir.Value { return asValue(n.At(i)) }

func asValue(n *Node) ir.Value {
	if n == nil {
		return nil
	}
	return n
}

// EachMember implements ir.Value.
func (n *Node) EachMember(f func(name string, v ir.Value) bool) {
	if n != nil && n.kind == ir.Object && n.root != nil {
		n.root.each(0, func(_ int, name string, child *Node) bool { return f(name, child) })
	}
}

// EachElement implements ir.Value.
func (n *Node) EachElement(f func(i int, v ir.Value) bool) {
	if n != nil && n.kind == ir.Array && n.root != nil {
		n.root.each(0, func(i int, _ string, child *Node) bool { return f(i, child) })
	}
}

// EachSorted implements ir.Value: by digest. O(n log n), and as many digests.
func (n *Node) EachSorted(f func(v ir.Value) bool) {
	type element struct {
		node   *Node
		digest Digest
	}
	elements := make([]element, 0, n.Len())
	for _, e := range n.Elements() {
		elements = append(elements, element{e, e.Digest()})
	}
	slices.SortStableFunc(elements, func(a, b element) int { return bytes.Compare(a.digest[:], b.digest[:]) })
	for _, e := range elements {
		if !f(e.node) {
			return
		}
	}
}
