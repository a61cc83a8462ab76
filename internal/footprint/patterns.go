package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Extend is a pattern with one more segment.
func Extend(p region.Pattern, s region.Segment) region.Pattern {
	return region.Pattern{Segments: append(slices.Clone(p.Segments), s)}
}

// IsLiteral reports whether a segment names a key.
func IsLiteral(s region.Segment) bool {
	return s.Kind == region.Literal || s.Kind == region.KeyLiteral
}

// Patterns lists the patterns of a region, exceptions included.
func Patterns(r region.Region) []region.Pattern {
	var out []region.Pattern
	for _, g := range r {
		out = append(append(out, g.Include...), g.Except...)
	}
	return out
}

// ReadPatterns lists the patterns an expression reads.
func ReadPatterns(x ir.Expr) []region.Pattern {
	var out []region.Pattern
	for _, r := range x.Reads {
		out = append(out, r.Pattern)
	}
	return out
}
