package runtime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// A Contract is a compiled contract, ready to run. It is immutable and safe for
// concurrent use by any number of instances.
type Contract struct {
	ir      *ir.Contract
	program *verify.Program
	secrets *trace.Secrets
	limits  Limits
}

// Load reads a compiled contract. The error is a *CodecError where the bytes
// are not one: source text, cut off, changed, or of another version. Otherwise it
// says which part of the contract does not compile. Load does not keep compiled.
func Load(compiled []byte) (*Contract, error) {
	return LoadWithin(compiled, DefaultLimits())
}

// LoadWithin is Load with limits other than the default. Replaying a log keeps to
// them too: they must not be lower than those the log was written under.
func LoadWithin(compiled []byte, limits Limits) (*Contract, error) {
	c, err := ir.Decode(compiled)
	if err != nil {
		return nil, fmt.Errorf("load contract: %w", err)
	}
	program, err := verify.Load(c, limits)
	if err != nil {
		return nil, fmt.Errorf("load contract %s: %w", c.Name, err)
	}
	return &Contract{ir: c, program: program, secrets: trace.NewSecrets(c), limits: limits}, nil
}

// What a contract, its states and its proposals may cost. Texts and numbers beyond a limit
// are refused with the code limit_exceeded.
type (
	// Limits bound what a state may hold and what one verification may cost. Its
	// fields are
	//
	//	Patch  PatchLimits       // what an actor sends
	//	State  StateLimits       // what a state file holds, and what a patch may make of a state
	//	Expr   ExpressionLimits  // one evaluation of one expression
	//	Cost   CostLimits        // all evaluations for one proposal
	//	Reply  int               // bytes of a verdict as JSON, 2,048 at least; 0 is 4,096
	Limits = verify.Limits

	// StateLimits bound a JSON document. Its fields are
	//
	//	MaxBytes         int // of its text
	//	MaxDepth         int // containers inside each other
	//	MaxNodes         int // JSON values
	//	MaxNumberLength  int // bytes of one number's literal
	//	MaxExponent      int // absolute value of an exponent as written
	StateLimits = tree.Limits

	// PatchLimits are those of StateLimits, in the embedded field Limits, for the text
	// of a patch, and
	//
	//	MaxOps           int // operations; 0 is no limit
	//	MaxTokens        int // of one pointer
	//	MaxPointerBytes  int // of one pointer as written
	//	MaxPatchTokens   int // of all pointers together
	PatchLimits = tree.PatchLimits

	// ExpressionLimits bound an expression of a contract. Its fields are
	//
	//	MaxSource   int    // bytes of its text
	//	MaxNesting  int    // levels of parentheses, members and operators
	//	MaxNodes    int    // nodes of its syntax tree
	//	MaxText     int    // bytes of a string that a function may build
	//	MaxRegexp   int    // instructions of a regular expression
	//	CostLimit   uint64 // steps of one evaluation
	//	CheckEvery  uint   // steps of a loop between two looks at the context
	ExpressionLimits = expr.Limits

	// CostLimits bound the evaluations that one proposal asks for together. Its fields are
	//
	//	Rule      uint64 // steps of one rule, over all the entries that it is asked of; 0 is 20,000,000
	//	Proposal  uint64 // steps of all rules that the stage sees, and as many of all others; 0 is 50,000,000
	CostLimits = verify.CostLimits
)

// DefaultLimits is a fresh copy of the limits that Load uses.
func DefaultLimits() Limits { return verify.DefaultLimits() }

// Name is the contract's name.
func (c *Contract) Name() string { return c.ir.Name }

// Digest identifies the contract: "sha256:" and the hash of its compiled form.
func (c *Contract) Digest() string { return c.program.Digest() }

// Doc is what the contract says of itself, "" for nothing.
func (c *Contract) Doc() string { return c.ir.Doc }

// A Stage is a stage of a contract: who runs it, when, on what, and what it is about.
// Regions are paths in the language's own words, one text a pattern, with parameters
// by their names: "/questions/{question} except /questions/*/asker". Where not everything
// may happen that writing is, the text of a write begins with what may:
// "create, update /questions/{question}/answer". What a request has bound is in View.
type Stage struct {
	Name       string      `json:"name"`
	Task       string      `json:"task,omitempty"`           // what its actor is to do
	From       string      `json:"delegated_from,omitempty"` // of a delegate, the stage it has its authority from
	In         []string    `json:"in"`                       // the phases it runs in
	By         []string    `json:"by,omitempty"`             // the roles that run it; none for every role
	Parameters []Parameter `json:"parameters,omitempty"`
	Reads      []string    `json:"reads"`
	Writes     []string    `json:"writes"`
	Blind      []string    `json:"writes_blind,omitempty"` // those of Writes where it may only add what is not there
	Sources    []string    `json:"takes_from"`             // what it may copy and move from
	Next       []string    `json:"next,omitempty"`         // the phases that it moves to; of several, one is chosen
	Attempts   int         `json:"attempts,omitempty"`     // the tries of a step; 0 leaves that to WithAttempts
}

// A Parameter is a parameter of a stage. Of "in", "new" and "element" the host gives the value, a
// key; of "value" it gives a value, as JSON; of "from" it may not, for it is taken from the state.
type Parameter struct {
	Name string        `json:"name"`
	Kind ParameterKind `json:"kind"`
	Of   string        `json:"of"` // the container of the key, the type of the value, or the place that it is taken from

	Where   string `json:"where,omitempty"`   // the condition under which it is bound, "" for none
	Message string `json:"message,omitempty"` // what the contract says where that does not hold
}

// A ParameterKind is how a parameter gets its value.
type ParameterKind string

// The kinds of parameters.
const (
	ParameterIn    ParameterKind = ParameterKind(ir.ExistingParam)  // "in": a key that the container has
	ParameterNew   ParameterKind = ParameterKind(ir.NewParam)       // "new": a key that it does not have yet
	ParameterValue ParameterKind = "value"                          // a value of the type in Of, given as JSON
	ParameterFrom  ParameterKind = ParameterKind(ir.DependentParam) // "from": the string found at the place
	ParameterOneOf ParameterKind = ParameterKind(ir.ElementParam)   // "element": one of the strings of the list or set at the place
)

// Stages lists the contract's stages in the order of its source. The caller owns them.
func (c *Contract) Stages() []Stage {
	stages := make([]Stage, len(c.ir.Stages))
	for i := range c.ir.Stages {
		stages[i] = stageOf(c.ir, &c.ir.Stages[i])
	}
	return stages
}

// Stage is the stage called name. known is false if there is none.
func (c *Contract) Stage(name string) (stage Stage, known bool) {
	s := c.ir.Stage(name)
	if s == nil {
		return Stage{}, false
	}
	return stageOf(c.ir, s), true
}

func stageOf(c *ir.Contract, s *ir.Stage) Stage {
	out := Stage{
		Name: s.Name, Task: s.Doc, From: s.From, In: slices.Clone(s.In), By: slices.Clone(s.By), Next: slices.Clone(s.Next),
		Reads: words(s.Read), Writes: writes(s), Sources: words(s.Source), Attempts: s.Attempts,
	}
	if len(s.Blind) > 0 {
		out.Blind = words(s.Blind)
	}
	for _, p := range s.Params {
		q := Parameter{Name: p.Name, Kind: ParameterKind(p.Kind), Of: p.Of.Source()}
		if p.Where != nil {
			q.Where, q.Message = strings.Join(strings.Fields(p.Where.Source), " "), p.Where.Message
		}
		out.Parameters = append(out.Parameters, q)
	}
	for _, v := range s.Values {
		out.Parameters = append(out.Parameters, Parameter{Name: v.Name, Kind: ParameterValue, Of: c.TypeText(v.Type)})
	}
	return out
}

// writes are the words of what a stage writes, the blind grants last.
func writes(s *ir.Stage) []string {
	out := []string{}
	for i, grant := range s.Write {
		rights := ""
		if r := s.RightsOf(i); r != ir.AllRights {
			rights = strings.Join(r.Words(), ", ") + " "
		}
		for _, text := range words(region.Region{grant}) {
			out = append(out, rights+text)
		}
	}
	return append(out, words(s.Blind)...)
}

// words writes regions as the language does, one text a pattern.
func words(regions ...region.Region) []string {
	out := []string{}
	for _, r := range regions {
		for _, grant := range r {
			except := ""
			for i, e := range grant.Except {
				except += []string{" except ", ", "}[min(i, 1)] + e.Source()
			}
			for _, p := range grant.Include {
				out = append(out, p.Source()+except)
			}
		}
	}
	return out
}

// Roles lists the roles that stages name, in ascending order. A stage that names none
// is run by every role.
func (c *Contract) Roles() []string {
	var roles []string
	for i := range c.ir.Stages {
		roles = append(roles, c.ir.Stages[i].By...)
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}

// A Phase is a phase of a contract. One without edges is the end.
type Phase struct {
	Name  string `json:"name"`
	Doc   string `json:"doc,omitempty"`
	Edges []Edge `json:"edges,omitempty"`
}

// An Edge leads from a phase to another one.
type Edge struct {
	To     string `json:"to"`
	ByHost bool   `json:"by_host,omitempty"` // Advance may walk it
	Guard  string `json:"guard,omitempty"`   // the expression that has to hold afterwards, "" for none
}

// Phases lists the contract's phases in the order of its source, the initial one first.
// The caller owns them.
func (c *Contract) Phases() []Phase {
	phases := make([]Phase, len(c.ir.Phases))
	for i, p := range c.ir.Phases {
		phases[i] = Phase{Name: p.Name, Doc: p.Doc}
		for _, a := range p.Arrows {
			e := Edge{To: a.To, ByHost: a.ByHost}
			if a.Guard != nil {
				e.Guard = strings.TrimSpace(a.Guard.Source)
			}
			phases[i].Edges = append(phases[i].Edges, e)
		}
	}
	return phases
}
