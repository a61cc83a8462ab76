package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// What a pattern matches in a state is visited (eachMatch), folded (patternFold) or
// counted (index). Folds and indexes are remembered with the state, and those of the next
// version follow from them at the cost of what was touched.

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

// A matching walks the nodes of a state that a pattern matches: the nodes
// themselves, not what is below them. Literal segments are looked up; only
// wildcards look at all members.
type matching struct {
	watch *watch
	visit func(w region.Word, n *tree.Node) bool // false ends the walk
	word  region.Word
}

func (m *matching) walk(n *tree.Node, rest []region.Segment) bool {
	m.watch.tick()
	if n == nil {
		return true
	}
	if len(rest) == 0 {
		return m.visit(m.word, n)
	}
	switch s := rest[0]; s.Kind {
	case region.KeyLiteral:
		return m.into(region.Key(s.Text), n.Get(s.Text), rest[1:])
	case region.IndexLiteral:
		return m.into(region.Index(s.Index), n.At(s.Index), rest[1:])
	case region.Literal:
		if n.Kind() == ir.Object {
			return m.into(region.Key(s.Text), n.Get(s.Text), rest[1:])
		}
		i, ok := parseIndex(s.Text)
		return !ok || m.into(region.Index(i), n.At(i), rest[1:])
	case region.AnyDepth:
		return m.walk(n, rest[1:]) && m.children(n, s, rest)
	default:
		return m.children(n, s, rest[1:])
	}
}

func (m *matching) children(n *tree.Node, s region.Segment, rest []region.Segment) bool {
	for name, c := range n.Members() {
		if l := region.Key(name); s.Matches(l) && !m.into(l, c, rest) {
			return false
		}
	}
	for i, c := range n.Elements() {
		if l := region.Index(i); s.Matches(l) && !m.into(l, c, rest) {
			return false
		}
	}
	return true
}

func (m *matching) into(l region.Letter, n *tree.Node, rest []region.Segment) bool {
	m.word = append(m.word, l)
	going := m.walk(n, rest)
	m.word = m.word[:len(m.word)-1]
	return going
}

// Patterns without wildcards, and words.

// nodeAtPattern is the node at a pattern of literal segments, nil if there is none.
func nodeAtPattern(root *tree.Node, p region.Pattern) *tree.Node {
	n := root
	for _, s := range p.Segments {
		n = literalStep(n, s)
	}
	return n
}

// nodeAtBound is nodeAtPattern with the parameters of args bound.
func nodeAtBound(root *tree.Node, p region.Pattern, args region.Binding) *tree.Node {
	n := root
	for _, s := range p.Segments {
		if value, ok := args[s.Text]; ok && s.Kind == region.ParamSegment {
			s = region.Segment{Kind: region.KeyLiteral, Text: value}
		}
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

func isWildcard(s region.Segment) bool {
	return s.Kind == region.AnySegment || s.Kind == region.AnyKey || s.Kind == region.AnyIndex
}

// Folds over what a pattern matches.

// A patternFold folds what a pattern matches: at every wildcard the container's fold is
// remembered by its chunks (tree.Fold), so that of the next version it costs what
// was touched. A node that a pattern with ** matches in several ways counts as often,
// as it does for eachMatch.
type patternFold[T any] struct {
	segments []region.Segment
	merge    func(a, b T) T
	folds    []*tree.Fold[T] // by segment; nil where nothing is gone through
}

func newPatternFold[T any](p region.Pattern, merge func(a, b T) T) patternFold[T] {
	o := patternFold[T]{segments: p.Segments, merge: merge, folds: make([]*tree.Fold[T], len(p.Segments))}
	for i, s := range p.Segments {
		if isWildcard(s) || s.Kind == region.AnyDepth {
			o.folds[i] = tree.NewFold(merge)
		}
	}
	return o
}

// of merges what one makes of every match, in the order of eachMatch; the zero T if
// there is none. one gets the match and what the last wildcard stands for, and says whether
// its answer may be remembered.
func (o *patternFold[T]) of(root *tree.Node, one func(name string, n *tree.Node) (T, bool)) T {
	all, _ := o.from(root, "", 0, one)
	return all
}

// from folds what the segments from i on match at and below n.
func (o *patternFold[T]) from(n *tree.Node, name string, i int, one func(string, *tree.Node) (T, bool)) (all T, lasting bool) {
	if n == nil {
		return all, true
	}
	if i == len(o.segments) {
		return one(name, n)
	}
	switch s := o.segments[i]; {
	case s.Kind == region.AnyDepth:
		here, lasts := o.from(n, name, i+1, one)
		below, lastsBelow := o.items(n, i, i, one)
		return o.merge(here, below), lasts && lastsBelow
	case !isWildcard(s):
		return o.from(literalStep(n, s), name, i+1, one)
	case goesThrough(s, n):
		return o.items(n, i, i+1, one)
	default:
		return all, true
	}
}

// items folds the items of n, for each of which the segments from next on are left.
func (o *patternFold[T]) items(n *tree.Node, i, next int, one func(string, *tree.Node) (T, bool)) (T, bool) {
	return o.folds[i].Of(n, func(name string, child *tree.Node) (T, bool) { return o.from(child, name, next, one) })
}

// eachChange calls visit for what the segments match below two versions of a node and
// what differs there, with what was and what is; nil where there is nothing. What both
// versions share is not looked at. Matches in lists are paired as tree.ChangedItems
// pairs them.
func eachChange(was, is *tree.Node, segments []region.Segment, visit func(was, is *tree.Node)) {
	if was == is {
		return
	}
	if len(segments) == 0 {
		visit(was, is)
		return
	}
	switch s := segments[0]; {
	case s.Kind == region.AnyDepth:
		eachChange(was, is, segments[1:], visit)
		changedItems(was, is, segments, visit)
	case isWildcard(s):
		changedItems(through(s, was), through(s, is), segments[1:], visit)
	default:
		eachChange(literalStep(was, s), literalStep(is, s), segments[1:], visit)
	}
}

func changedItems(was, is *tree.Node, rest []region.Segment, visit func(was, is *tree.Node)) {
	tree.ChangedItems(was, is, func(before, after *tree.Node) bool {
		eachChange(before, after, rest, visit)
		return true
	})
}

// through is n if the wildcard matches its items, else nil.
func through(s region.Segment, n *tree.Node) *tree.Node {
	if n == nil || !goesThrough(s, n) {
		return nil
	}
	return n
}

// Indexes of what a pattern matches.

// An index is the multiset of what stands where a pattern matches: of values, by
// which a `unique` invariant is checked, or of the keys that references name, by which
// it is noticed that a referenced entry goes away. It is remembered on the container
// that the pattern's first wildcard goes through; that of the next version follows
// from it by what changed (tree.Bag).
type index struct {
	over  region.Pattern
	at    region.Pattern   // the container
	rest  []region.Segment // from there to what is counted
	key   func(n *tree.Node) (string, bool)
	reads footprint
	memo  tree.Memo[*tree.Bag]
}

func newIndex(p region.Pattern, reads []region.Pattern, key func(n *tree.Node) (string, bool)) *index {
	first := 0
	for first < len(p.Segments) && !isWildcard(p.Segments[first]) && p.Segments[first].Kind != region.AnyDepth {
		first++
	}
	return &index{
		over: p, at: region.Pattern{Segments: p.Segments[:first]}, rest: p.Segments[first:], key: key,
		reads: newFootprint(reads), memo: tree.NewMemo[*tree.Bag](),
	}
}

// byValue counts values, equal ones as one.
func byValue(n *tree.Node) (string, bool) {
	d := n.Digest()
	return string(d[:]), true
}

// byValues counts entries by the values at several places of them; one that lacks one of
// these does not count. over matches the entries.
func byValues(places []region.Pattern) (over region.Pattern, key func(n *tree.Node) (string, bool)) {
	over, _, _ = ir.EntryOf(places[0])
	rests := make([]region.Pattern, len(places))
	for i, p := range places {
		_, rests[i].Segments, _ = ir.EntryOf(p)
	}
	return over, func(n *tree.Node) (string, bool) {
		var all []byte
		for _, rest := range rests {
			value := nodeAtPattern(n, rest)
			if value == nil {
				return "", false
			}
			d := value.Digest()
			all = append(all, d[:]...)
		}
		return string(all), true
	}
}

// byText counts strings.
func byText(n *tree.Node) (string, bool) { return n.Text(), n.Kind() == ir.String }

// of is the index of a state. Linear in what is counted, unless it is remembered.
func (x *index) of(watch *watch, state *tree.Node) *tree.Bag {
	container := nodeAtPattern(state, x.at)
	if known, ok := x.memo.Get(container); ok {
		return known
	}
	counts := map[string]int{}
	eachMatchBelow(watch, nil, container, x.rest, func(_ region.Word, n *tree.Node) bool {
		if key, ok := x.key(n); ok {
			counts[key]++
		}
		return true
	})
	bag := tree.NewBag(counts)
	x.memo.Put(container, bag)
	return bag
}

// next is the index of the state that a commit made of before. It costs O(log n) for
// each place that changed.
func (x *index) next(watch *watch, before, after *tree.Node) *tree.Bag {
	was, is := nodeAtPattern(before, x.at), nodeAtPattern(after, x.at)
	if known, ok := x.memo.Get(is); ok || was == nil || is == nil {
		if !ok {
			known = x.of(watch, after)
		}
		return known
	}
	bag := x.of(watch, before)
	count := func(n *tree.Node, by int) {
		watch.tick()
		if n == nil {
			return
		}
		if key, ok := x.key(n); ok {
			bag = bag.Add(key, by)
		}
	}
	eachChange(was, is, x.rest, func(gone, come *tree.Node) {
		count(come, 1)
		count(gone, -1)
	})
	x.memo.Put(is, bag)
	return bag
}

// carry remembers the index of after, where that of before is remembered, so that no
// later commit has to start anew. What a commit writes elsewhere leaves it the same.
func (x *index) carry(watch *watch, before, after *tree.Node, targets []region.Word) {
	was, is := nodeAtPattern(before, x.at), nodeAtPattern(after, x.at)
	bag, known := x.memo.Get(was)
	if was == is || !known {
		return
	}
	for _, t := range targets {
		if x.reads.meets(t) {
			x.next(watch, before, after)
			return
		}
	}
	x.memo.Put(is, bag)
}
