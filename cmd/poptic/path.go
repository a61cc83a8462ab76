package main

import (
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/compiler/region"
)

// authored writes a compiled pattern as an author would: the compiler has typed
// every segment, and authors do not spell types.
func authored(p region.Pattern) string {
	if len(p.Segments) == 0 {
		return "/**"
	}
	var b strings.Builder
	for _, s := range p.Segments {
		b.WriteByte('/')
		b.WriteString(authoredSegment(s).String())
	}
	return b.String()
}

func authoredSegment(s region.Segment) region.Segment {
	switch s.Kind {
	case region.KeyLiteral:
		return region.Segment{Kind: region.Literal, Text: s.Text}
	case region.IndexLiteral:
		return region.Segment{Kind: region.Literal, Text: strconv.Itoa(s.Index)}
	case region.AnyKey, region.AnyIndex:
		return region.Segment{Kind: region.AnySegment}
	case region.ParamSegment:
		if strings.HasPrefix(s.Text, "@") { // the entry of a rule over all entries
			return region.Segment{Kind: region.AnySegment}
		}
	}
	return s
}

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
			out = append(out, authored(p))
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
	segment := authoredSegment(p.Segments[last])
	if segment.Kind != region.Literal {
		return "", "", false
	}
	if last > 0 {
		parent = authored(region.Pattern{Segments: p.Segments[:last]})
	}
	return parent, segment.String(), true
}
