package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// withContainers adds to what a stage sees the empty containers it writes into
// without seeing them.
func (v *verification) withContainers(seen *tree.Node) *tree.Node {
	for _, container := range v.stage.unseen {
		seen = addContainer(seen, v.snapshot.State, container.Bind(v.args).Segments)
	}
	return seen
}

// unseenContainers lists the containers that the exceptions to "what is written is
// read" need: of appends, of new members, of blind additions.
func unseenContainers(s *ir.Stage) []region.Pattern {
	var out []region.Pattern
	above := func(p region.Pattern) region.Pattern {
		return region.Pattern{Segments: p.Segments[:len(p.Segments)-1]}
	}
	for _, g := range s.Write {
		for _, p := range g.Include {
			if n := len(p.Segments); n > 0 && p.Segments[n-1].Kind == region.FreshSegment {
				out = append(out, above(p))
			}
		}
	}
	for _, g := range s.Blind {
		for _, p := range g.Include {
			if len(p.Segments) > 0 {
				out = append(out, above(p))
			}
		}
	}
	for _, p := range s.Params {
		if p.Kind == ir.NewParam {
			out = append(out, p.Of)
		}
	}
	return out
}

// addContainer returns seen with the containers on the path that exist in the
// state. A wildcard goes through what is seen only, so that nothing is shown whose
// existence the stage does not know.
func addContainer(seen, state *tree.Node, path []region.Segment) *tree.Node {
	if state == nil || state.Kind() != ir.Object && state.Kind() != ir.Array {
		return seen
	}
	if seen == nil {
		seen = tree.NewObject(nil)
		if state.Kind() == ir.Array {
			seen = tree.NewArray(nil).WithOrder(state.Order())
		}
	}
	if len(path) == 0 || seen.Kind() != ir.Object {
		return seen
	}
	if s := path[0]; s.Kind == region.KeyLiteral || s.Kind == region.Literal {
		if child := addContainer(seen.Get(s.Text), state.Get(s.Text), path[1:]); child != nil {
			return seen.With(s.Text, child)
		}
		return seen
	}
	return seen.MapMembers(func(name string, child *tree.Node) *tree.Node {
		if !path[0].Matches(region.Key(name)) {
			return child
		}
		return addContainer(child, state.Get(name), path[1:])
	})
}
