package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// A matching walks the nodes of a state that a pattern matches: the nodes
// themselves, not what is below them. Literal segments are looked up; only
// wildcards look at all members.
type matching struct {
	watch *watch
	visit func(w region.Word, n *tree.Node) bool // false ends the walk
	word  region.Word
}

// eachMatch calls visit for every node of root that p matches, until visit
// returns false. The word is only valid during the call. Parameters of p must be
// bound; fresh segments match nothing.
func eachMatch(watch *watch, root *tree.Node, p region.Pattern, visit func(w region.Word, n *tree.Node) bool) {
	(&matching{watch: watch, visit: visit}).walk(root, p.Segments)
}

// eachMatchBelow is the same for the matches that extend w, where the node n is
// and to which the first segments have already been matched.
func eachMatchBelow(watch *watch, w region.Word, n *tree.Node, rest []region.Segment, visit func(w region.Word, n *tree.Node) bool) {
	(&matching{watch: watch, visit: visit, word: append(region.Word{}, w...)}).walk(n, rest)
}

func (m *matching) walk(n *tree.Node, rest []region.Segment) bool {
	m.watch.step()
	if n == nil {
		return true
	}
	if len(rest) == 0 {
		return m.visit(m.word, n)
	}
	switch s := rest[0]; s.Kind {
	case region.KeyLiteral:
		return m.step(region.Key(s.Text), n.Get(s.Text), rest[1:])
	case region.IndexLiteral:
		return m.step(region.Index(s.Index), n.At(s.Index), rest[1:])
	case region.Literal:
		return m.literal(n, s, rest[1:])
	case region.AnyDepth:
		return m.walk(n, rest[1:]) && m.children(n, s, rest)
	default:
		return m.children(n, s, rest[1:])
	}
}

func (m *matching) literal(n *tree.Node, s region.Segment, rest []region.Segment) bool {
	if n.Kind() == ir.Object {
		return m.step(region.Key(s.Text), n.Get(s.Text), rest)
	}
	i, ok := parseIndex(s.Text)
	return !ok || m.step(region.Index(i), n.At(i), rest)
}

func (m *matching) children(n *tree.Node, s region.Segment, rest []region.Segment) bool {
	for name, c := range n.Members() {
		if l := region.Key(name); s.Matches(l) && !m.step(l, c, rest) {
			return false
		}
	}
	for i, c := range n.Elements() {
		if l := region.Index(i); s.Matches(l) && !m.step(l, c, rest) {
			return false
		}
	}
	return true
}

func (m *matching) step(l region.Letter, n *tree.Node, rest []region.Segment) bool {
	m.word = append(m.word, l)
	going := m.walk(n, rest)
	m.word = m.word[:len(m.word)-1]
	return going
}

// nodeAtPattern is the node at a pattern of literal segments, nil if there is none.
func nodeAtPattern(root *tree.Node, p region.Pattern) *tree.Node {
	n := root
	for _, s := range p.Segments {
		n = literalStep(n, s)
	}
	return n
}

// literalStep is what a literal segment leads to from n, nil if nothing is there.
func literalStep(n *tree.Node, s region.Segment) *tree.Node {
	switch {
	case n == nil:
		return nil
	case s.Kind == region.IndexLiteral:
		return n.At(s.Index)
	case s.Kind == region.Literal && n.Kind() == ir.Array:
		i, ok := parseIndex(s.Text)
		if !ok {
			return nil
		}
		return n.At(i)
	case s.Kind == region.KeyLiteral || s.Kind == region.Literal:
		return n.Get(s.Text)
	default:
		return nil
	}
}

// goesThrough reports whether a wildcard for one letter matches the items of n.
func goesThrough(s region.Segment, n *tree.Node) bool {
	return s.Kind == region.AnySegment || s.Kind == region.AnyKey && n.Kind() == ir.Object ||
		s.Kind == region.AnyIndex && n.Kind() == ir.Array
}

// matchesWord reports whether p matches w itself; a fresh letter meets every
// wildcard. Where a segment fails, the last AnyDepth before it takes one letter more:
// what it and those before it could have taken instead leads nowhere else. So it costs
// at most the product of the two lengths, whoever chose them.
func matchesWord(segments []region.Segment, w region.Word) bool {
	i, j := 0, 0
	deep, took := -1, 0 // the last AnyDepth that was met, and the letter behind those it took
	for j < len(w) || i < len(segments) {
		switch {
		case i < len(segments) && segments[i].Kind == region.AnyDepth:
			deep, took = i, j
			i++
		case i < len(segments) && j < len(w) && segments[i].Matches(w[j]):
			i++
			j++
		case deep >= 0 && took < len(w):
			took++
			i, j = deep+1, took
		default:
			return false
		}
	}
	return true
}
