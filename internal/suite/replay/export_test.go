package replay

import (
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/internal/witness"
)

// A Runner runs trials in the way that replays do.
type Runner struct{ runs *runs }

// NewRunner makes a runner of a loaded contract.
func NewRunner(p *verify.Program) Runner { return Runner{newRuns(p)} }

// Valid reports whether a state file keeps all rules.
func (r Runner) Valid(state, phase string) bool {
	return r.runs.state(witness.Trial{State: state, Phase: phase}) != nil
}

// Compare runs a trial; accepted counts the proposals that are accepted on its
// state, which is valid.
func (r Runner) Compare(t witness.Trial) (example *footprint.Counterexample, accepted int) {
	x := verify.Snapshot{State: r.runs.state(t), Phase: t.Phase}
	for _, proposal := range []footprint.Proposal{t.A, t.B} {
		if r.runs.first(t, x, proposal).accepted {
			accepted++
		}
	}
	return r.runs.compare(t), accepted
}

// SameBytes is how views are compared.
var SameBytes = sameBytes
