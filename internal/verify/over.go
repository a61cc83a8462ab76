package verify

import (
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// An over folds what a pattern matches: at every wildcard the container's fold is
// remembered by its chunks (tree.Fold), so that of the next version it costs what
// was touched. A node that a pattern with ** matches in several ways counts as often,
// as it does for eachMatch.
type over[T any] struct {
	segments []region.Segment
	merge    func(a, b T) T
	folds    []*tree.Fold[T] // by segment; nil where nothing is gone through
}

func newOver[T any](p region.Pattern, merge func(a, b T) T) over[T] {
	o := over[T]{segments: p.Segments, merge: merge, folds: make([]*tree.Fold[T], len(p.Segments))}
	for i, s := range p.Segments {
		if isWildcard(s) || s.Kind == region.AnyDepth {
			o.folds[i] = tree.NewFold(merge)
		}
	}
	return o
}

// of merges what one makes of every match, in the order of eachMatch; the zero T if
// there is none. one gets the match and its name, and says whether its answer may be
// remembered.
func (o *over[T]) of(root *tree.Node, one func(name string, n *tree.Node) (T, bool)) T {
	all, _ := o.from(root, "", 0, one)
	return all
}

// from folds what the segments from i on match at and below n.
func (o *over[T]) from(n *tree.Node, name string, i int, one func(string, *tree.Node) (T, bool)) (all T, lasting bool) {
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
		return o.from(literalStep(n, s), s.Text, i+1, one)
	case goesThrough(s, n):
		return o.items(n, i, i+1, one)
	default:
		return all, true
	}
}

// items folds the items of n, for each of which the segments from next on are left.
func (o *over[T]) items(n *tree.Node, i, next int, one func(string, *tree.Node) (T, bool)) (T, bool) {
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
