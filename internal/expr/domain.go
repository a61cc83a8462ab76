package expr

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/types/ref"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// The domain of the walk: abstract values, with what they may hold that has no order
// (bags), the places of the state that they may be, and the footprint, which is all the
// places that were read.

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

// join is a value that may be a or b.
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
		bags:     a.bags.join(b.bags),
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

func samePlaces(a, b []place) bool {
	return len(a) == len(b) && len(joinPlaces(a, b)) == len(a)
}

// sameReach reports whether a and b may be and contain the same nodes.
func sameReach(a, b *abstract) bool {
	if a == nil || b == nil {
		return a == b
	}
	return samePlaces(a.places, b.places) && a.bags.same(b.bags) && sameReach(a.elem, b.elem)
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

// depth is how many lists and maps made by the expression are in each other in v.
func (v *abstract) depth() int {
	n := 0
	for ; v.elem != nil; v = v.elem {
		n++
	}
	return n
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
		in.bags = in.bags.join(out.bags)
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

// A set or a log is a bag: the order of its elements is no part of the state, so no
// value may depend on it. What an expression makes of a bag element by element is a
// bag again, but one that its value does not show to be one: a made bag.
//
// A bag may be measured, searched and gone through by a macro of one variable. A bag
// of the state, or a value that has one in it, may be compared as a whole, since
// equality knows it; a made one may not. Nothing else may be done with bags.
//
// At run time the elements of a bag come in sorted order (value.go), so that not even
// what an evaluation costs, or which of several errors it ends in, depends on where
// they stand.

// bags says where in a value there may be bags. Unlike the shape it survives when
// values of several origins are joined.
type bags struct {
	ofState *shape // the type of the parts of the state that the value may be; nil if it is none
	made    bool   // it may be a made bag
	opaque  bool   // there may be made bags anywhere in it
}

func (b bags) join(c bags) bags {
	return bags{ofState: merge(b.ofState, c.ofState), made: b.made || c.made, opaque: b.opaque || c.opaque}
}

// same reports whether b and c, of which one is the other and more, say the same.
func (b bags) same(c bags) bool {
	return b.ofState.isBag() == c.ofState.isBag() && b.ofState.holdsBags() == c.ofState.holdsBags() && b.made == c.made && b.opaque == c.opaque
}

// below says it of what is one step below.
func (b bags) below(segment region.Segment) bags {
	out := bags{opaque: b.opaque}
	if b.ofState != nil {
		out.ofState = b.ofState.under(segment)
	}
	return out
}

// isBag reports whether v may be a bag.
func (v *abstract) isBag() bool { return v.ofState.isBag() || v.made || v.opaque }

// holdsMade reports whether v may be a made bag or have one in it.
func (v *abstract) holdsMade() bool {
	return v.made || v.opaque || v.elem != nil && v.elem.holdsMade()
}

// holdsBag reports whether v may be a bag or have one in it.
func (v *abstract) holdsBag() bool {
	return v.ofState.holdsBags() || v.made || v.opaque || v.elem != nil && v.elem.holdsBag()
}

// A place is a set of nodes of the state, as a pattern without its shallow mark.
type place struct {
	segments []region.Segment
	inexact  bool
}

// child is the place one segment below. p is not changed.
func (p place) child(s region.Segment) place {
	segments := make([]region.Segment, len(p.segments)+1)
	copy(segments, p.segments)
	segments[len(p.segments)] = s
	return place{segments: segments, inexact: p.inexact}
}

// familyPlace is where the entry bound by each is: the i-th wildcard of the pattern
// is the parameter FamilyParam(i) where it stands for a key. An index is no key, so
// a wildcard that may match one stays as it is, which reads more.
func familyPlace(over region.Pattern) place {
	p, n := place{}, 0
	for _, s := range over.Segments {
		switch s.Kind {
		case region.AnyKey:
			if n++; n <= ir.MaxFamilyKeys {
				s = region.Segment{Kind: region.ParamSegment, Text: ir.FamilyParam(n)}
			} else {
				p.inexact = true
			}
		case region.AnySegment, region.AnyIndex:
			n++
			p.inexact = true
		case region.AnyDepth:
			p.inexact = true
		}
		p = p.child(s)
	}
	return p
}

// wildcards counts the segments of a pattern that stand for a key or position.
func wildcards(p region.Pattern) int {
	n := 0
	for _, s := range p.Segments {
		if isWild(s) {
			n++
		}
	}
	return n
}

// isOnePlace reports whether a value is the text at one node of the state.
func isOnePlace(v abstract) bool {
	return len(v.places) == 1 && v.path != "" && !v.optional && v.elem == nil && v.shape.is(kString) && !v.places[0].inexact &&
		!slices.ContainsFunc(v.places[0].segments, func(s region.Segment) bool { return isWild(s) || s.Kind == region.AnyDepth })
}

// placeKey is a text that is the same for equal patterns only.
func placeKey(segments []region.Segment, shallow bool) string {
	var b strings.Builder
	for _, s := range segments {
		b.WriteByte('/')
		b.WriteByte('0' + byte(s.Kind))
		if s.Kind == region.IndexLiteral {
			b.WriteString(strconv.Itoa(s.Index))
		}
		b.WriteString(strconv.Quote(s.Text))
	}
	if shallow {
		b.WriteByte('!')
	}
	return b.String()
}

// footprint collects what an expression reads.
type footprint struct {
	reads map[string]ir.Read
	phase bool

	inputs map[string]bool
}

func (f *footprint) input(name string) {
	if f.inputs == nil {
		f.inputs = map[string]bool{}
	}
	f.inputs[name] = true
}

// asks lists the inputs that are read, nil for none.
func (f *footprint) asks() []string {
	if len(f.inputs) == 0 {
		return nil
	}
	return slices.DeleteFunc(ir.Inputs(), func(name string) bool { return !f.inputs[name] })
}

func (f *footprint) add(p place, shallow bool) {
	if f.reads == nil {
		f.reads = map[string]ir.Read{}
	}
	key := placeKey(p.segments, shallow)
	old, known := f.reads[key]
	f.reads[key] = ir.Read{
		Pattern: region.Pattern{Segments: p.segments, Shallow: shallow},
		Inexact: p.inexact && (!known || old.Inexact),
	}
}

// list returns the reads in a fixed order, without those that another one covers.
func (f *footprint) list() []ir.Read {
	keys := make([]string, 0, len(f.reads))
	for key := range f.reads {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	var out []ir.Read
	for _, key := range keys {
		if !f.covered(key) {
			out = append(out, f.reads[key])
		}
	}
	return out
}

// patterns is list without what is exact.
func (f *footprint) patterns() []region.Pattern {
	out := []region.Pattern{}
	for _, r := range f.list() {
		out = append(out, r.Pattern)
	}
	return out
}

// widened is the footprint with wildcards for the keys that are looked up.
func (f *footprint) widened() *footprint {
	out := &footprint{phase: f.phase}
	for _, r := range f.reads {
		p := place{segments: slices.Clone(r.Pattern.Segments), inexact: r.Inexact}
		for i, s := range p.segments {
			if isLookup(s) {
				p.segments[i], p.inexact = region.Segment{Kind: region.AnyKey}, true
			}
		}
		out.add(p, r.Pattern.Shallow)
	}
	return out
}

// covered reports whether another read stands for all the words of the one at key.
func (f *footprint) covered(key string) bool {
	r := f.reads[key]
	for other, by := range f.reads {
		if other != key && covers(by.Pattern, r.Pattern) && (r.Inexact || !by.Inexact || !covers(r.Pattern, by.Pattern)) {
			return true
		}
	}
	return false
}

// covers reports whether every word of b is one of a. It looks segment by segment,
// so it may miss cases, never invent one.
func covers(a, b region.Pattern) bool {
	if len(a.Segments) > len(b.Segments) {
		return false
	}
	for i, s := range a.Segments {
		if s.Kind == region.AnyDepth || b.Segments[i].Kind == region.AnyDepth || !coversSegment(s, b.Segments[i]) {
			return false
		}
	}
	if a.Shallow {
		return b.Shallow && len(a.Segments) == len(b.Segments)
	}
	return true
}

func coversSegment(a, b region.Segment) bool {
	if a == b {
		return true
	}
	switch a.Kind {
	case region.AnySegment:
		return b.Kind != region.AnyDepth
	case region.AnyKey:
		return b.Kind == region.KeyLiteral || b.Kind == region.ParamSegment
	case region.AnyIndex:
		return b.Kind == region.IndexLiteral
	case region.Literal:
		return b.Kind == region.KeyLiteral && a.Text == b.Text
	}
	return false
}
