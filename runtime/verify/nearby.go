package verify

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
)

// maxNearby is how many patterns a hint lists.
const maxNearby = 4

// nearestPatterns lists the patterns of the stage's own regions that begin most
// like ptr, with arguments bound, as hints show them. Exceptions of a grant follow
// it in parentheses.
func (v *verification) nearestPatterns(ptr tree.Pointer, regions ...region.Region) []string {
	type candidate struct {
		text   string
		common int
	}
	var all []candidate
	for _, r := range regions {
		for _, g := range r.Bind(v.args) {
			for _, p := range g.Include {
				all = append(all, candidate{grantText(p, g.Except), commonPrefix(p, ptr)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.common - a.common })
	var out []string
	for _, c := range all {
		if !slices.Contains(out, c.text) && len(out) < maxNearby {
			out = append(out, c.text)
		}
	}
	return out
}

// grantText writes one include of a grant as the language does, without the marks
// of typed segments.
func grantText(include region.Pattern, except []region.Pattern) string {
	text := patternText(include)
	for i, e := range except {
		if i == 0 {
			text += " except " + patternText(e)
		} else {
			text += ", " + patternText(e)
		}
	}
	return text
}

// patternText writes a pattern as authors do: the state type tells keys from
// positions, so segments are not marked as either.
func patternText(p region.Pattern) string {
	plain := region.Pattern{}
	for _, s := range p.Segments {
		switch s.Kind {
		case region.KeyLiteral:
			s = region.Segment{Kind: region.Literal, Text: s.Text}
		case region.AnyKey, region.AnyIndex:
			s = region.Segment{Kind: region.AnySegment}
		}
		plain.Segments = append(plain.Segments, s)
	}
	if len(plain.Segments) == 0 {
		return "/**"
	}
	return plain.String()
}

// commonPrefix counts the leading tokens of ptr that p matches.
func commonPrefix(p region.Pattern, ptr tree.Pointer) int {
	for i, s := range p.Segments {
		if i == len(ptr) || !s.Matches(region.Key(ptr[i])) {
			return i
		}
	}
	return len(p.Segments)
}
