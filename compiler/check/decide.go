package check

import (
	"github.com/patchoptic/poptic/compiler/region"
)

// within decides whether all of a (in modeA) lies in b (in modeB), over paths
// that a state can have; if not, or if the search ran out of budget, it returns a
// path that is in a only (nil where none was found in time).
func (c *checker) within(a, b region.Region, modeA, modeB region.Mode) (region.Word, bool) {
	if len(a) == 0 {
		return nil, true
	}
	answer := region.Within(region.Compile(a), region.Compile(b), modeA, modeB, region.Options{Shape: c.shape})
	return answer.Witness, answer.Verdict == region.Yes
}

// overlaps decides whether a, plainly, meets the interior of b. Not knowing
// counts as meeting.
func (c *checker) overlaps(a, b region.Region) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	answer := region.Overlap(region.Compile(a), region.Compile(b), region.Plain, region.Interior, region.Options{Shape: c.shape, VerdictOnly: true})
	return answer.Verdict != region.No
}

// wordOf is the word of a pattern without wildcards.
func wordOf(p region.Pattern) region.Word {
	var w region.Word
	for _, s := range p.Segments {
		switch s.Kind {
		case region.ParamSegment:
			w = append(w, region.Param(s.Text))
		case region.IndexLiteral:
			w = append(w, region.Index(s.Index))
		default:
			w = append(w, region.Key(s.Text))
		}
	}
	return w
}
