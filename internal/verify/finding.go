package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A finding is a violation together with what decides whether the actor may see
// it (actor.go).
type finding struct {
	Violation

	rule  ir.GateKind    // the gate that failed; "" if the finding is about the proposal itself
	name  string         // of the gate, where gates of this kind have names
	at    region.Word    // the node the finding is about, nil for none
	gated region.Word    // the node whose type is the gate, where that is not at
	reads region.Region  // what the rule read, every parameter bound
	hint  region.Word    // the node that the hint names, nil if it names none
	known ir.Visibility  // Seen if the actor knows it from what it wrote itself
	typed region.Pattern // of produce: the pattern, as the stage has it

	others int // how many more there are of its rule, which are not kept (collect.go)
}

// about makes f a finding about the node at w.
func (f finding) about(w region.Word) finding {
	f.at = slices.Clone(w)
	path := w.Pointer()
	f.Path = &path
	return f
}

// onOp makes f a finding about one operation and the path as its actor wrote it.
func (f finding) onOp(index int, path string) finding {
	f.OpIndex, f.Path = &index, &path
	return f
}

// of makes f a finding of a gate.
func (f finding) of(kind ir.GateKind, name string) finding {
	f.rule, f.name = kind, name
	return f
}
