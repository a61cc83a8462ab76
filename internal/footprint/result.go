package footprint

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A Result is the answer to a claim: Proved, Refuted or Unknown, nothing else.
// Unknown counts as refuted for whoever relies on the claim.
type Result interface{ result() }

// Proved says that the claim holds for every state and every patch. Pairs are the
// commutations it rests on, if it is about commuting, but for those of stages that
// touch nothing in common.
//
// Fresh lists the containers of which it is assumed that the host binds no new key
// twice (spec/language.md section 11).
type Proved struct {
	Pairs []Pair
	Fresh []region.Pattern
}

// Refuted says that the claim is false, and shows it. Exactly one of the other
// fields is set.
type Refuted struct {
	Counterexample *Counterexample // of a commutation: a run in which the orders differ
	Place          *Place          // of within and no stage: authority where there should be none
	Excess         *Excess         // of within: what else a stage may do
	Chain          []Hop           // of no flow: from the origin to the goal
	Route          []string        // of before: phases from the initial one to the goal, past the other

	Pair     *Pair     // of a commutation: the two stages with all their conflicts
	Conflict *Conflict // of a commutation: the one that the run shows
	Others   []Pair    // of a commutation: further pairs of the claim that may not commute
	More     int       // of a commutation: pairs that may not either, and were not looked at
}

// Unknown says why there is no answer.
type Unknown struct {
	Why    string
	Path   region.Word // where the stages overlap, if they do
	Pair   *Pair       // of a commutation; its first conflict is what was not decided
	Others []Pair      // further pairs of the claim that may not commute
	More   int         // pairs that may not either, and were not looked at
}

func (Proved) result()  {}
func (Refuted) result() {}
func (Unknown) result() {}

// A Pair is two stages and all that stands between them and commuting. When is what a
// claim about them assumes; nil if nothing.
type Pair struct {
	A, B      *ir.Stage
	Conflicts []Conflict
	When      *ir.Hypothesis
}

// A Place is a stage's authority over a path.
type Place struct {
	Stage  string
	Clause string // read, write or source
	Path   region.Word
}

// An Excess is what a stage may do, apart from its regions: Clause is in, by, next,
// attempts, rules or parameters, and What says it in words.
type Excess struct {
	Stage  string
	Clause string
	What   string
}

// A Hop is one step of a flow: what Stage, in Phase, gets to know and how it hands it on.
type Hop struct {
	Stage  string
	Phase  string
	Sees   region.Word // what it sees or takes from; nil where it was told otherwise
	By     Carrier     // how the next hop, or the goal, picks it up
	Writes region.Word // where, if by writing
	Tells  []string    // the phases it may choose from, or the role that remembers
}

// A Carrier is a way in which what a stage knows gets further.
type Carrier string

// The carriers.
const (
	ByWriting Carrier = "write" // it writes what the next one sees
	ByPhase   Carrier = "phase" // it chooses the phase in which the next one runs
	ByMemory  Carrier = "role"  // the role that runs it runs the next one too
)

// A Note is a way in which a proved claim lets one bit be told each time: Stage is told
// it, or tells it, by What.
type Note struct {
	Kind  NoteKind
	Stage string // "" of a guard on the host's way
	What  string
	Path  region.Word
}

// A NoteKind is the kind of a way to tell one bit.
type NoteKind string

// The kinds of notes.
const (
	GateNote  NoteKind = "gate"  // accepting or refusing tells what the gate What reads
	BlindNote NoteKind = "blind" // a blind write is refused where the member exists
	NewNote   NoteKind = "new"   // the key of a new member, What, is not there
	PhaseNote NoteKind = "phase" // the stage sees Path and may choose between the phases What
	GuardNote NoteKind = "guard" // the host moves along What if a guard holds that reads Path
	RuleNote  NoteKind = "rule"  // the host moves along What if an invariant holds that reads Path
)

// A Counterexample is a run of two proposals in both orders that ended differently. It
// has been replayed in the runtime.
type Counterexample struct {
	State  string   `json:"state"` // JSON, as a file
	Phase  string   `json:"phase"`
	A      Proposal `json:"a"`
	B      Proposal `json:"b"`
	Differ string   `json:"differ"` // state, verdict or view
	Detail string   `json:"detail"` // in words, e.g. "A is accepted first, refused after B"

	// Place is the JSON Pointer of where states or views differ, which Detail has as
	// PlaceMark until it is shown; nil if they differ as a whole, or nowhere.
	Place *string `json:"-"`
}

// PlaceMark stands in a detail for the place, which may have to be hidden.
const PlaceMark = "<place>"

// A Proposal is one side of a trial.
type Proposal struct {
	Stage string            `json:"stage"`
	Args  map[string]string `json:"args,omitempty"`
	Role  string            `json:"role,omitempty"`
	Patch string            `json:"patch"` // JSON
	Next  string            `json:"next,omitempty"`
}

// A Replayer looks for a run that shows a conflict, and replays it in the real
// runtime. The arguments of a run are ones that the pair admits. It returns nil if it
// found none within its budget.
type Replayer func(c *ir.Contract, p Pair, conflict Conflict) (*Counterexample, error)
