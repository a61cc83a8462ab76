package main

import (
	"strings"

	"github.com/patchoptic/poptic/internal/region"
)

// authoredAll writes patterns, joining those that differ in a last name only, as in
// /tickets/{ticket}/(status|labels).
func authoredAll(patterns []region.Pattern) []string {
	var out []string
	at := map[string]int{} // parent -> place in out
	for _, p := range patterns {
		parent, name, named := splitName(p)
		i, joined := at[parent]
		switch {
		case !named:
			out = append(out, p.Source())
		case joined:
			out[i] += "|" + name
		default:
			at[parent] = len(out)
			out = append(out, name)
		}
	}
	for parent, i := range at {
		if strings.Contains(out[i], "|") {
			out[i] = "(" + out[i] + ")"
		}
		out[i] = parent + "/" + out[i]
	}
	return out
}

// splitName divides a pattern that ends in a name before that name.
func splitName(p region.Pattern) (parent, name string, named bool) {
	last := len(p.Segments) - 1
	if last < 0 {
		return "", "", false
	}
	segment := p.Segments[last]
	if segment.Kind != region.Literal && segment.Kind != region.KeyLiteral {
		return "", "", false
	}
	if last > 0 {
		parent = region.Pattern{Segments: p.Segments[:last]}.Source()
	}
	return parent, segment.Source(), true
}
