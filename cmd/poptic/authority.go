package main

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// An authority says who may touch one member of the state, or something below it.
type authority struct {
	Path    string   `json:"path"`
	Read    []string `json:"read,omitempty"`
	Written []string `json:"written,omitempty"`
	Taken   []string `json:"taken_from,omitempty"`
}

// authorities lists, for every declared member of the state, the stages that may
// read it, write it and take from it, wholly or in part.
func authorities(c *ir.Contract) []authority {
	var out []authority
	for _, m := range c.Type(c.State).Members {
		p := region.Pattern{Segments: []region.Segment{{Kind: region.KeyLiteral, Text: m.Name}}}
		part := region.Compile(region.Region{{Include: []region.Pattern{p}}})
		a := authority{Path: p.Source()}
		for _, s := range c.Stages {
			a.Read = appendIf(a.Read, s.Name, meets(s.Read, part, region.Plain))
			a.Written = appendIf(a.Written, s.Name, meets(s.Write, part, region.Interior) || meets(s.Blind, part, region.Interior))
			a.Taken = appendIf(a.Taken, s.Name, meets(s.Source, part, region.Interior))
		}
		out = append(out, a)
	}
	return out
}

// meets reports whether r, in a mode, holds a word of part; a search that was cut off counts,
// so that authority is never understated.
func meets(r region.Region, part *region.Set, mode region.Mode) bool {
	return region.Overlap(region.Compile(r), part, mode, region.Plain, region.Options{VerdictOnly: true}).Verdict != region.No
}

func appendIf(names []string, name string, wanted bool) []string {
	if wanted {
		return append(names, name)
	}
	return names
}
