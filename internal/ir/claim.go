package ir

import "github.com/patchoptic/poptic/internal/region"

// A Composition is a footprint for claims: the union of its stages' grants.
type Composition struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc,omitempty"`
	Stages []string `json:"stages"`
}

// ClaimKind is the form of a claim.
type ClaimKind string

// The claims of the language.
const (
	Commutes    ClaimKind = "commutes"    // Stages[0] commutes with Stages[1]
	Parallel    ClaimKind = "parallel"    // all of Stages commute pairwise; Name is the group's
	AllCommute  ClaimKind = "all commute" // all pairs of plain stages in Phases[0]
	WithinClaim ClaimKind = "within"      // Stages[0] within Stages[1]; either may be a composition
	NoStage     ClaimKind = "no stage"    // no stage but Except does Verb to From
	NoFlow      ClaimKind = "no flow"     // nothing gets from From to To
	PhaseBefore ClaimKind = "before"      // every way into Phases[1] passes Phases[0]
)

// A Claim is a statement about the contract that is decided before anything
// runs. Text is the statement in canonical form.
type Claim struct {
	Kind   ClaimKind     `json:"kind"`
	Text   string        `json:"text"`
	Name   string        `json:"name,omitempty"`
	Stages []string      `json:"stages,omitempty"`
	When   *Hypothesis   `json:"when,omitempty"` // of commutes and parallel: what is assumed of the parameters
	Phases []string      `json:"phases,omitempty"`
	Except []string      `json:"except,omitempty"`
	Verb   string        `json:"verb,omitempty"` // reads, writes or copies
	From   region.Region `json:"from,omitempty"` // the region of no stage, the origin of no flow
	To     region.Region `json:"to,omitempty"`
	Memory bool          `json:"memory,omitempty"` // of no flow: a role remembers what its stages see
}
