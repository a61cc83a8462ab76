package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// maxNearby is how many patterns a hint lists.
const maxNearby = 4

// nearestPatterns lists the patterns of the stage's own regions that begin most
// like ptr, with arguments bound, as hints show them.
func (v *verification) nearestPatterns(ptr tree.Pointer, regions ...region.Region) []string {
	type candidate struct {
		grant   *region.Grant
		include int
		common  int
	}
	all := make([]candidate, 0, 16)
	for _, r := range regions {
		for i := range r {
			for j, p := range r[i].Include {
				all = append(all, candidate{&r[i], j, commonPrefix(p, v.args, ptr)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.common - a.common })
	out := make([]string, 0, maxNearby)
	for _, c := range all {
		if len(out) == maxNearby {
			break
		}
		if text := v.grantText(c.grant, c.include); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// grantText writes one include of a grant as the language does, with arguments bound.
// What is excepted may be hidden, so an actor is not told its name.
func (v *verification) grantText(g *region.Grant, include int) string {
	var stack [96]byte
	text := g.Include[include].AppendSource(stack[:0], v.args)
	for i, e := range g.Except {
		switch {
		case v.toActor:
			return string(append(text, " (with exceptions)"...))
		case i == 0:
			text = append(text, " except "...)
		default:
			text = append(text, ", "...)
		}
		text = e.AppendSource(text, v.args)
	}
	return string(text)
}

// commonPrefix counts the leading tokens of ptr that p matches with args bound.
func commonPrefix(p region.Pattern, args region.Binding, ptr tree.Pointer) int {
	for i, s := range p.Segments {
		if i == len(ptr) {
			return i
		}
		value, bound := args[s.Text]
		bound = bound && s.Kind == region.ParamSegment
		if bound && value != ptr[i] || !bound && !s.Matches(region.Key(ptr[i])) {
			return i
		}
	}
	return len(p.Segments)
}
