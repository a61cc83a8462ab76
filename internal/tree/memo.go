package tree

import (
	"sync/atomic"

	"github.com/patchoptic/poptic/internal/ir"
)

// What is derived from a value is remembered on the chunks that the value is made
// of: it is shared, and dies, with them. A chunk never changes, so nothing that is
// remembered ever has to be taken back; and a chunk refers to what is below it
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

// isEmpty reports whether nothing is below n.
func (n *Node) isEmpty() bool {
	return n == nil || n.root == nil || n.kind != ir.Array && n.kind != ir.Object
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
