package verify

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
)

// maxNearby is how many patterns a hint lists.
const maxNearby = 4

// nearestPatterns lists the patterns of the stage's own regions that begin most
// like ptr, with arguments bound, as hints show them.
func (v *verification) nearestPatterns(ptr tree.Pointer, regions ...region.Region) []string {
	type candidate struct {
		text   string
		common int
	}
	var all []candidate
	for _, r := range regions {
		for _, g := range r.Bind(v.args) {
			for _, p := range g.Include {
				all = append(all, candidate{grantText(p, g.Except, v.toActor), commonPrefix(p, ptr)})
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

// grantText writes one include of a grant as the language does. What is excepted may
// be hidden, so an actor is not told its name.
func grantText(include region.Pattern, except []region.Pattern, toActor bool) string {
	text := include.Source()
	for i, e := range except {
		switch {
		case toActor:
			return text + " (with exceptions)"
		case i == 0:
			text += " except " + e.Source()
		default:
			text += ", " + e.Source()
		}
	}
	return text
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
