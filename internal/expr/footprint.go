package expr

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// rootKind tells what a variable stands for.
type rootKind uint8

const (
	localRoot   rootKind = iota // a parameter or a macro's variable
	stateRoot                   // a node of the state, at the variable's place
	phaseRoot                   // the phase
	measureRoot                 // a measure
)

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

// footprint collects what an expression reads.
type footprint struct {
	reads map[string]ir.Read
	phase bool
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

// presence marks that the bound entry of a rule is there as read: the rule is asked of
// an entry from when it comes, whatever it then looks at. What is read at or below the
// entry says so already. A rule that holds for certain is asked for nothing.
func (w *walker) presence(s Scope, outcome abstract) {
	if s.Vars != ir.EachVars || s.Each == nil {
		return
	}
	if holds, known := w.truth(outcome); holds && known {
		return
	}
	entry := familyPlace(s.Each.Over)
	for _, r := range w.prints.reads {
		if n := len(entry.segments); len(r.Pattern.Segments) >= n && slices.Equal(r.Pattern.Segments[:n], entry.segments) {
			return
		}
	}
	w.prints.add(entry, true)
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
