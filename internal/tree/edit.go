package tree

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// How a value is changed. The methods of Node make another one for each change. An Edit
// makes many changes, and what it copied for one it changes in place for the next.

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

// replaceAt copies the way to item i.
func (n *Node) replaceAt(i int, child *Node) *Node {
	var e Edit
	gone := n.root.at(i)
	next := e.replaced(n, i, gone.summary(), child)
	if n.order != ListOrder {
		next.inheritBag(n, gone, child)
	}
	return next
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

// An Edit makes one value of another, step by step. The chunks that it copies are its own
// until they are shared: nothing else refers to them, and so it changes them in place when
// it comes to them again. A patch thus copies what it touches once, however many of its
// operations touch it. It never changes a chunk that is not its own.
//
// What is read from its root in between is true until the next change only.
type Edit struct {
	root *Node

	few  [12]*chunk // its own chunks, of which there are mostly few
	own  int
	many map[*chunk]bool // all of them, if there are more

	spare region.Word   // room for the letters of words
	lists []region.Word // room for lists of words
}

// NewEdit begins an edit of root in which patch is going to run.
func NewEdit(root *Node, patch Patch) *Edit {
	e := new(Edit)
	e.Begin(root, patch, make(region.Word, 0, patch.Tokens()))
	return e
}

// Tokens is how many tokens the pointers of a patch have together.
func (p Patch) Tokens() int {
	n := 0
	for i := range p {
		n += len(p[i].Path) + len(p[i].From)
	}
	return n
}

// Begin makes e what NewEdit makes, with room for as many letters as patch has tokens.
func (e *Edit) Begin(root *Node, patch Patch, room region.Word) {
	words := 0
	for i := range patch {
		words++
		if patch[i].Kind.HasFrom() {
			words += 2
		}
	}
	*e = Edit{root: root, spare: room, lists: make([]region.Word, 0, words)}
}

// Root is the value as it is now.
func (e *Edit) Root() *Node { return e.root }

// Share says that others may refer to what the edit has made so far: what it changes of
// that from now on, it copies again.
func (e *Edit) Share() { e.own, e.many = 0, nil }

// Put puts n in the place that w leads to, where something is already; w may be that of
// the root. It is for whoever makes something else of a value that stays the same, and
// knows no operation by which it came to be. n may share with what it replaces.
func (e *Edit) Put(w region.Word, n *Node) {
	e.Share()
	e.root = e.put(w, n)
}

// owns reports whether a chunk is the edit's own.
func (e *Edit) owns(c *chunk) bool {
	if e.many != nil {
		return e.many[c]
	}
	return slices.Contains(e.few[:e.own], c)
}

func (e *Edit) acquire(c *chunk) {
	switch {
	case e.many != nil:
		e.many[c] = true
	case e.own < len(e.few):
		e.few[e.own] = c
		e.own++
	default:
		e.many = map[*chunk]bool{c: true}
		for _, own := range e.few {
			e.many[own] = true
		}
	}
}

// letters is room for a word of n letters.
func (e *Edit) letters(n int) region.Word {
	if cap(e.spare)-len(e.spare) < n {
		e.spare = make(region.Word, 0, n)
	}
	first := len(e.spare)
	e.spare = e.spare[:first+n]
	return e.spare[first : first : first+n]
}

// listed appends a word to a list of words.
func (e *Edit) listed(list []region.Word, w region.Word) []region.Word {
	if list != nil {
		return append(list, w)
	}
	const usual = 1
	if cap(e.lists)-len(e.lists) < usual {
		e.lists = make([]region.Word, 0, 4)
	}
	first := len(e.lists)
	e.lists = append(e.lists, w)
	return e.lists[first : first+1 : first+1]
}

// The three changes at the end of a word. Each returns the root after it; the steps above
// the end must lead to something.

// put sets the item or, in an object, the member that may be there.
func (e *Edit) put(w region.Word, child *Node) *Node { return e.changed(w, putting, child) }

// insert adds as RFC 6902 section 4.1 has it; to a set nothing that it holds.
func (e *Edit) insert(w region.Word, child *Node) *Node { return e.changed(w, inserting, child) }

// remove takes away what is there, which must not be the root.
func (e *Edit) remove(w region.Word) *Node { return e.changed(w, removing, nil) }

type changing uint8

const (
	putting changing = iota
	inserting
	removing
)

func (e *Edit) changed(w region.Word, how changing, child *Node) *Node {
	if len(w) == 0 {
		return child
	}
	return e.below(e.root, w, how, child)
}

// below changes n at the end of w.
func (e *Edit) below(n *Node, w region.Word, how changing, child *Node) *Node {
	if len(w) == 1 {
		return e.at(n, w[0], how, child)
	}
	i, is := n.item(w[0])
	before := is.summary()
	return e.replaced(n, i, before, e.below(is, w[1:], how, child))
}

// item finds what is one step below n, and where.
func (n *Node) item(l region.Letter) (i int, child *Node) {
	if l.Kind == region.IndexLetter {
		return l.Index, n.root.at(l.Index)
	}
	i, child = n.root.find(l.Name)
	return i, child
}

// at changes what is, or may be, one step below n.
func (e *Edit) at(n *Node, l region.Letter, how changing, child *Node) *Node {
	switch {
	case how == removing && l.Kind == region.IndexLetter:
		return n.DeleteAt(l.Index)
	case how == removing:
		return n.Without(l.Name)
	case l.Kind == region.KeyLetter:
		return e.with(n, l.Name, child)
	case how == putting:
		return e.replaced(n, l.Index, n.root.at(l.Index).summary(), child)
	case l.Kind == region.IndexLetter:
		return n.InsertAt(l.Index, child)
	case n.order == SetOrder:
		return n.InsertAt(n.placeInSet(child), child)
	default:
		return n.InsertAt(n.Len(), child)
	}
}

// with sets a member.
func (e *Edit) with(n *Node, name string, child *Node) *Node {
	if n.root == nil {
		return n.With(name, child)
	}
	i, was := n.root.find(name)
	switch {
	case was != nil:
		return e.replaced(n, i, was.summary(), child)
	case n.root.count < small:
		return e.joined(n, i, name, child)
	default:
		return n.With(name, child)
	}
}

// joined adds a member at position i of an object that is and stays one leaf.
func (e *Edit) joined(n *Node, i int, name string, child *Node) *Node {
	n = e.ownNode(n, 1)
	c := n.root
	names := append(make([]string, 0, len(c.names)+1), c.names[:i]...)
	// The name may be a piece of a longer text, as of a path; that must not stay with it.
	name = strings.Clone(validText(name))
	c.names, c.nodes = append(append(names, name), c.names[i:]...), slices.Insert(c.nodes, i, child)
	come := child.summary()
	come.size += quotedLen(name) + len(":")
	c.count++
	c.add(come)
	c.forget()
	return n
}

// replaced is n with item i replaced by child, which takes the place of what was as gone
// says; it may be the very node that was there, changed in place.
func (e *Edit) replaced(n *Node, i int, gone summary, child *Node) *Node {
	n = e.ownNode(n, 0)
	e.replaceIn(n.root, i, gone, child)
	return n
}

// replaceIn does so for a chunk that the edit owns.
func (e *Edit) replaceIn(c *chunk, i int, gone summary, child *Node) {
	if c.height == 0 {
		c.nodes[i] = child
		c.renew(gone, child.summary())
		return
	}
	k, within := c.kidAt(i)
	kid := c.kids[k]
	before := kid.summary
	if !e.owns(kid) {
		kid = copied[chunk](kid, 0, func(c *chunk) *chunk { return c })
		e.acquire(kid)
		c.kids[k] = kid
	}
	e.replaceIn(kid, within, gone, child)
	c.renew(before, kid.summary)
}

// ownNode is n, or a copy of it with room for some more items, of which the edit owns the
// root.
func (e *Edit) ownNode(n *Node, more int) *Node {
	if e.owns(n.root) {
		return n
	}
	block := copied[container](n.root, more, func(c *container) *chunk { return &c.chunk })
	block.node = Node{kind: n.kind, order: n.order, root: &block.chunk}
	e.acquire(&block.chunk)
	return &block.node
}

// withInner is the block that an H is made in whose chunk is an inner one.
type withInner[H any] struct {
	head  H
	inner inner
}

// copied is a new H, whose chunk is a copy of c of which nothing is remembered, with room
// for some more items.
func copied[H any](c *chunk, more int, in func(*H) *chunk) *H {
	var head *H
	var next *chunk
	if c.height > 0 {
		block, kids := room[withInner[H], *chunk](len(c.kids))
		copy(kids, c.kids)
		head, block.inner.kids = &block.head, kids
		next = in(head)
		next.inner = &block.inner
	} else {
		var nodes []*Node
		head, nodes = room[H, *Node](len(c.nodes) + more)
		copy(nodes, c.nodes)
		next = in(head)
		next.nodes, next.inner = nodes[:len(c.nodes)], noKids
	}
	next.names, next.summary, next.count, next.height, next.level = c.names, c.summary, c.count, c.height, c.level
	return head
}
