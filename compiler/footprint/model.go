// Package footprint is the effect model of a compiled contract: what every stage
// reads, writes and takes from, which gates its commits pass through, and what
// those gates read. It decides from that alone, before anything runs, which
// stages may be handed down, joined, reordered or run side by side.
package footprint

import (
	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// A Model answers questions about one contract. It is not safe for concurrent
// use: it numbers the nodes of the state's shape as questions reach them.
type Model struct {
	Contract *ir.Contract
	Shape    *Shape

	stateGates []Gate // once asked for, with a sentinel at the end
	matrix     *Index // once asked for
}

// New makes the model of a contract. The contract may still be growing: the model
// reads it when it is asked.
func New(c *ir.Contract) *Model { return &Model{Contract: c, Shape: NewShape(c)} }

// Within decides whether all of a (in modeA) lies in b (in modeB), over paths that
// a state can have; if not, or if the search ran out of budget, it returns a path
// that is in a only (nil where none was found in time).
func (m *Model) Within(a, b region.Region, modeA, modeB region.Mode) (region.Word, bool) {
	if len(a) == 0 {
		return nil, true
	}
	answer := region.Within(region.Compile(a), region.Compile(b), modeA, modeB, region.Options{Shape: m.Shape})
	return answer.Witness, answer.Verdict == region.Yes
}

// Overlaps decides whether a, plainly, meets the interior of b. Not knowing counts
// as meeting.
func (m *Model) Overlaps(a, b region.Region) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	answer := region.Overlap(region.Compile(a), region.Compile(b), region.Plain, region.Interior, region.Options{Shape: m.Shape, VerdictOnly: true})
	return answer.Verdict != region.No
}
