package certificate

import "github.com/patchoptic/poptic/internal/region"

// A corridor is what is known of the words that two patterns share: for each place
// the segments that match its letter. Words are at least that long; exact says that
// they are no longer.
type corridor struct {
	at    [][]region.Segment
	exact bool
}

// between is the corridor of two patterns: each constrains its places up to its
// first "**".
func between(p, q region.Pattern) corridor {
	c := corridor{exact: p.Shallow && fixed(p) || q.Shallow && fixed(q)}
	for i := range max(firm(p), firm(q)) {
		var at []region.Segment
		for _, x := range []region.Pattern{p, q} {
			if i < firm(x) {
				at = append(at, x.Segments[i])
			}
		}
		c.at = append(c.at, at)
	}
	return c
}

// firm is how many segments a pattern has before its first "**".
func firm(p region.Pattern) int {
	for i, s := range p.Segments {
		if s.Kind == region.AnyDepth {
			return i
		}
	}
	return len(p.Segments)
}

func fixed(p region.Pattern) bool { return firm(p) == len(p.Segments) }

// covered reports whether the words of a corridor are all taken away by an
// exception. It is if each has a beginning that the exception matches. A side that
// needs whole subtrees loses a word also where the exception lies below it; a "**"
// in the exception then lies below everything.
func (c corridor) covered(exception region.Pattern, whole bool) bool {
	return !exception.Shallow && c.match(exception.Segments, c.at, whole)
}

func (c corridor) match(e []region.Segment, at [][]region.Segment, whole bool) bool {
	switch {
	case len(e) == 0:
		return true
	case e[0].Kind == region.AnyDepth:
		return whole || c.match(e[1:], at, whole) || len(at) > 0 && c.match(e, at[1:], whole)
	case len(at) > 0:
		return insideAny(at[0], e[0]) && c.match(e[1:], at[1:], whole)
	case whole && c.exact:
		return true
	}
	return whole && e[0].Kind == region.AnySegment && c.match(e[1:], at, whole)
}

func insideAny(at []region.Segment, s region.Segment) bool {
	for _, x := range at {
		if inside(x, s) {
			return true
		}
	}
	return false
}

// subsumes reports whether every word of p is one of outer, "**" included.
func subsumes(outer, p region.Pattern) bool {
	if outer.Shallow && !(p.Shallow && fixed(p) && fixed(outer) && len(p.Segments) == len(outer.Segments)) {
		return false
	}
	return subsumesFrom(outer.Segments, p.Segments)
}

func subsumesFrom(outer, p []region.Segment) bool {
	switch {
	case len(outer) == 0:
		return true
	case outer[0].Kind == region.AnyDepth:
		return subsumesFrom(outer[1:], p) || len(p) > 0 && subsumesFrom(outer, p[1:])
	case len(p) == 0 || p[0].Kind == region.AnyDepth:
		return false
	}
	return inside(p[0], outer[0]) && subsumesFrom(outer[1:], p[1:])
}
