package verify

import "github.com/patchoptic/poptic/internal/ir"

// A gate that a stage does not see and discloses tells one bit: that it failed. How
// many entries failed it, where, in which order and in which way would tell more, so
// all its findings are one violation, whose text depends on the contract alone. What
// has one name in "discloses" is one gate.

// disclosedBy is the number of the stage's gate that f is a finding of, if all that the
// actor may know of it is whether it holds; else -1.
func (v *verification) disclosedBy(f *finding) int {
	if f.known != "" || v.visibility(f) != ir.Disclosed {
		return -1
	}
	for i := range v.stage.Gates {
		if g := &v.stage.Gates[i]; g.Visibility == ir.Disclosed && v.isOf(f, g) {
			return v.firstOf(g.Kind, i)
		}
	}
	return -1
}

// firstOf is the first of the gates that one name discloses.
func (v *verification) firstOf(kind ir.GateKind, i int) int {
	if kind != ir.RequireGate && kind != ir.EnsureGate && kind != ir.ProduceGate {
		return i
	}
	for j := range v.stage.Gates {
		if g := &v.stage.Gates[j]; g.Kind == kind && g.Visibility == ir.Disclosed {
			return j
		}
	}
	return i
}

// bits is one violation for each of the stage's gates that failed, in the contract's
// order.
func (v *verification) bits(failed []bool) []Violation {
	var out []Violation
	for i, g := range v.stage.Gates {
		if failed[i] {
			out = append(out, v.bit(&g).Violation)
		}
	}
	return out
}

func (v *verification) bit(g *ir.Gate) finding {
	switch g.Kind {
	case ir.RequireGate:
		return say.require(v.stage.Name)
	case ir.EnsureGate:
		return say.ensure(v.stage.Name)
	case ir.ProduceGate:
		return say.nothingProduced(v.stage.Name)
	case ir.GuardGate:
		return say.guard(v.snapshot.Phase, g.Name)
	case ir.InvariantGate:
		return say.invariant(v.p.contract.Invariant(g.Name))
	default:
		return say.typeUnmet(g)
	}
}
