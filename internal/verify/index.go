package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// An index is the multiset of what stands where a pattern matches: of values, by
// which a `unique` invariant is checked, or of the keys that references name, by which
// it is noticed that a referenced entry goes away. It is remembered on the container
// that the pattern's first wildcard goes through; that of the next version follows
// from it by what changed (tree.Bag).
type index struct {
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
		at: region.Pattern{Segments: p.Segments[:first]}, rest: p.Segments[first:], key: key,
		reads: newFootprint(reads), memo: tree.NewMemo[*tree.Bag](),
	}
}

// byValue counts values, equal ones as one.
func byValue(n *tree.Node) (string, bool) {
	d := n.Digest()
	return string(d[:]), true
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
		watch.step()
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

// carryIndexes does so for all indexes of the contract.
func (v *verification) carryIndexes() {
	if v.after == v.snapshot.State {
		return
	}
	for _, x := range v.p.indexes {
		x.carry(v.p.watch, v.snapshot.State, v.after, v.targets)
	}
}
