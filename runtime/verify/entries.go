package verify

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/expr"
	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
)

// entries evaluates a family of rules for the entries that writes have touched,
// each entry once. Of the written words none is a prefix of another, so that only
// writes inside of one entry can lead to it twice.
type entries struct {
	*ruleRun
	inv  *invariant
	in   *expr.Input
	done []region.Word
}

// under evaluates the entries that a write of everything at and below t touched.
func (e *entries) under(t region.Word) {
	over := e.inv.Each.Over.Segments
	depth := min(len(t), len(over))
	if fresh := slices.IndexFunc(t[:depth], isFresh); fresh >= 0 {
		e.appended(t[:fresh], over)
		return
	}
	if !matchesWord(over[:depth], t[:depth]) {
		return
	}
	if depth == len(over) {
		if n := tree.NodeAt(e.state, t[:depth]); n != nil && e.inv.within.meets(t[depth:]) {
			e.evaluate(t[:depth], n)
		}
		return
	}
	e.below(t, over[depth:])
}

func isFresh(l region.Letter) bool { return l.Kind == region.FreshLetter }

// below evaluates all entries below w, except those that are still the very nodes
// they were.
func (e *entries) below(w region.Word, rest []region.Segment) {
	n := tree.NodeAt(e.state, w)
	if n == nil {
		return
	}
	eachMatchBelow(w, n, rest, func(entry region.Word, n *tree.Node) bool {
		if e.before == nil || tree.NodeAt(e.before, entry) != n {
			e.entry(e.inv, e.in, entry, n)
		}
		return true
	})
}

// appended evaluates the entries in what was added to the set or log at w. A log
// only grew; of a set all elements are looked at, for they have no positions.
func (e *entries) appended(w region.Word, over []region.Segment) {
	array := tree.NodeAt(e.state, w)
	if array == nil || !matchesWord(over[:len(w)], w) {
		return
	}
	first := 0
	if array.Order() == tree.LogOrder {
		first = tree.NodeAt(e.before, w).Len()
	}
	for i := first; i < array.Len(); i++ {
		if !over[len(w)].Matches(region.Index(i)) {
			continue
		}
		at := append(slices.Clone(w), region.Index(i))
		eachMatchBelow(at, array.At(i), over[len(w)+1:], func(entry region.Word, n *tree.Node) bool {
			e.evaluate(entry, n)
			return true
		})
	}
}

func (e *entries) evaluate(w region.Word, n *tree.Node) {
	for _, d := range e.done {
		if slices.Equal(d, w) {
			return
		}
	}
	w = slices.Clone(w)
	e.done = append(e.done, w)
	e.entry(e.inv, e.in, w, n)
}
