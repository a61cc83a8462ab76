package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// eachTouched calls visit for the entries of a family that writes have touched, each
// entry once.
func (r *ruleRun) eachTouched(p *part, targets []region.Word, visit func(w region.Word, n *tree.Node)) {
	e := entries{ruleRun: r, part: p, visit: visit}
	for _, t := range targets {
		e.under(t)
	}
}

// entries finds touched entries. Of the written words none is a prefix of another, so
// that only writes inside of one entry can lead to it twice.
type entries struct {
	*ruleRun
	part  *part
	visit func(w region.Word, n *tree.Node)
	done  []region.Word
}

// under finds the entries that a write of everything at and below t touched.
func (e *entries) under(t region.Word) {
	over := e.part.each.Over.Segments
	depth := min(len(t), len(over))
	if fresh := slices.IndexFunc(t[:depth], isFresh); fresh >= 0 {
		e.appended(t[:fresh], over)
		return
	}
	if !matchesWord(over[:depth], t[:depth]) {
		return
	}
	if depth == len(over) {
		if n := tree.NodeAt(e.state, t[:depth]); n != nil && e.part.within.meets(t[depth:]) {
			e.once(t[:depth], n)
		}
		return
	}
	e.below(t, over[depth:])
}

func isFresh(l region.Letter) bool { return l.Kind == region.FreshLetter }

// below finds all entries below w, except those that are still the very nodes they
// were.
func (e *entries) below(w region.Word, rest []region.Segment) {
	n := tree.NodeAt(e.state, w)
	if n == nil {
		return
	}
	was := tree.NodeAt(e.before, w)
	if was == n {
		return
	}
	if len(rest) == 1 && rest[0].Kind == region.AnyKey && isObject(was) && isObject(n) {
		tree.ChangedMembers(was, n, func(name string, _, entry *tree.Node) bool {
			if entry != nil {
				e.visit(append(slices.Clone(w), region.Key(name)), entry)
			}
			return true
		})
		return
	}
	eachMatchBelow(e.p.watch, w, n, rest, func(entry region.Word, n *tree.Node) bool {
		if e.before == nil || tree.NodeAt(e.before, entry) != n {
			e.visit(entry, n)
		}
		return true
	})
}

func isObject(n *tree.Node) bool { return n != nil && n.Kind() == ir.Object }

// appended finds the entries in what was added to the set or log at w. A log
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
		eachMatchBelow(e.p.watch, at, array.At(i), over[len(w)+1:], func(entry region.Word, n *tree.Node) bool {
			e.once(entry, n)
			return true
		})
	}
}

func (e *entries) once(w region.Word, n *tree.Node) {
	for _, d := range e.done {
		if slices.Equal(d, w) {
			return
		}
	}
	w = slices.Clone(w)
	e.done = append(e.done, w)
	e.visit(w, n)
}
