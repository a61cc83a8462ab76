package expr

import (
	"slices"

	"github.com/google/cel-go/common/types/ref"

	"github.com/patchoptic/poptic/internal/region"
)

// An abstract value is what the walker knows of a subexpression's value without
// running it: which nodes of the state it may be, and what it may contain.
//
// A value that was only passed along has not been read. Whoever uses it says how:
// read for all of it, enumerate for its kind and keys, touch for being there.
type abstract struct {
	shape *shape // its type if it is a part of the state, else nil
	bags
	places   []place
	elem     *abstract // what a list or map made by the expression may contain
	optional bool      // an optional of all this
	constant ref.Val   // its value, if known
	param    string    // the stage parameter it is
	// facts are the members that the elements of a filtered list certainly have.
	facts   []string
	keys    []place // the containers whose keys it goes through
	nothing bool    // no value at all: the element of an empty list
	path    string  // the expression it is, to remember facts about; "" if it has no name
}

func join(a, b abstract) abstract {
	switch {
	case a.nothing:
		return b
	case b.nothing:
		return a
	}
	out := abstract{
		places:   joinPlaces(a.places, b.places),
		elem:     joinElem(a.elem, b.elem),
		bags:     a.bags.or(b.bags),
		optional: a.optional || b.optional,
		facts:    intersect(a.facts, b.facts),
	}
	if a.shape == b.shape {
		out.shape = a.shape
	} else if a.shape != nil && b.shape != nil {
		out.shape = merge(a.shape, b.shape)
	}
	if a.param == b.param {
		out.param = a.param
	}
	return out
}

func joinElem(a, b *abstract) *abstract {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	j := join(*a, *b)
	return &j
}

func joinPlaces(a, b []place) []place {
	out := append([]place(nil), a...)
	seen := map[string]bool{}
	for _, p := range a {
		seen[placeKey(p.segments, false)] = true
	}
	for _, p := range b {
		if !seen[placeKey(p.segments, false)] {
			out = append(out, p)
		}
	}
	return out
}

// sameReach reports whether a and b may be and contain the same nodes.
func sameReach(a, b *abstract) bool {
	if a == nil || b == nil {
		return a == b
	}
	return samePlaces(a.places, b.places) && a.bags.same(b.bags) && sameReach(a.elem, b.elem)
}

// below is what v holds at one step: the segment leads there in the state, and s is
// the type found there.
func (v abstract) below(segment region.Segment, s *shape) abstract {
	out := abstract{shape: s, bags: v.bags.below(segment), optional: v.optional}
	for _, p := range v.places {
		out.places = append(out.places, p.child(segment))
	}
	if v.elem == nil {
		return out
	}
	in := *v.elem
	if len(v.places) == 0 {
		in.optional = in.optional || v.optional
		in.bags = in.bags.or(out.bags)
		return in
	}
	in.shape = nil
	out.shape = nil
	return join(out, in)
}

// guessed marks the places of v as more than what is read.
func (v abstract) guessed() abstract {
	places := make([]place, len(v.places))
	for i, p := range v.places {
		places[i] = place{segments: p.segments, inexact: true}
	}
	v.places = places
	return v
}

func samePlaces(a, b []place) bool {
	return len(a) == len(b) && len(joinPlaces(a, b)) == len(a)
}

// read marks everything of v as read.
func (w *walker) read(v abstract) {
	for _, p := range v.places {
		w.prints.add(p, false)
	}
	if v.elem != nil {
		w.read(*v.elem)
	}
}

// touch marks that v is there, and of which kind it is. The label of a scalar is its
// value.
func (w *walker) touch(v abstract) {
	for _, p := range v.places {
		w.prints.add(p, !v.shape.is(kScalar))
	}
}

// enumerate marks v's kind, length and keys as read. The length of a list is in its
// label; keys, and the entries of sets and logs, are labels of their own.
func (w *walker) enumerate(v abstract) {
	for _, p := range v.places {
		if v.shape.is(kScalar) {
			w.prints.add(p, false)
			continue
		}
		w.prints.add(p, true)
		if wildcard := v.shape.wildcard(); !v.shape.is(kList | kScalar) {
			w.prints.add(p.child(wildcard), true)
		}
	}
}

// wildcard is the segment for any child of a value of shape s.
func (s *shape) wildcard() region.Segment {
	if s != nil {
		switch containers := s.kinds &^ kScalar; {
		case containers&^kObjects == 0:
			return region.Segment{Kind: region.AnyKey}
		case containers&^kArrays == 0:
			return region.Segment{Kind: region.AnyIndex}
		}
	}
	return region.Segment{Kind: region.AnySegment}
}

// intersect is what two sets have in common.
func intersect(a, b []string) []string {
	var out []string
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}
