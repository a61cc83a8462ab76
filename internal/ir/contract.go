// Package ir defines the compiled contract: plain data without pointers into
// source text and without functions. It is all the runtime needs. Encode gives
// its canonical bytes, Decode reads them back, Digest identifies it.
//
// A contract has stages, rules and gates (contract.go), expressions with what they read
// (expr.go), state types (type.go), of whose unions the alternatives may disagree
// (union.go), and claims, which are known in one way or another (claim.go). What Decode
// demands of all that stands in validate.go.
//
// The package also owns Value, the small interface by which expressions read a
// state, so that neither expressions nor types depend on how states are stored.
package ir

import (
	"slices"

	"github.com/patchoptic/poptic/internal/region"
)

// A Contract is one compiled contract. Every pattern in it is typed: where the
// state type fixes a container's kind, the segment below says key or index.
type Contract struct {
	Name       string        `json:"name"`
	Doc        string        `json:"doc,omitempty"`
	Sealed     bool          `json:"sealed,omitempty"`
	Types      []Type        `json:"types"` // Types[0] is unused
	State      TypeID        `json:"state"`
	Secrets    region.Region `json:"secrets,omitempty"` // every node of a secret type
	Phases     []Phase       `json:"phases"`            // the first is the initial one
	Measures   []Measure     `json:"measures,omitempty"`
	Invariants []Invariant   `json:"invariants,omitempty"`
	Stages     []Stage       `json:"stages"`

	Compositions []Composition `json:"compositions,omitempty"`
	Claims       []Claim       `json:"claims,omitempty"`
}

// A Phase is a node of the phase graph; one without arrows is terminal.
type Phase struct {
	Name   string  `json:"name"`
	Doc    string  `json:"doc,omitempty"`
	Arrows []Arrow `json:"arrows,omitempty"`
}

// An Arrow is an edge of the phase graph.
type Arrow struct {
	To     string `json:"to"`
	ByHost bool   `json:"byHost,omitempty"` // the host may walk it
	Guard  *Expr  `json:"guard,omitempty"`  // over the state after the patch
}

// MeasureKind is what a measure computes.
type MeasureKind string

// The measures. Sum and Count of nothing are 0; Min and Max of nothing are absent.
const (
	Sum   MeasureKind = "sum"
	Count MeasureKind = "count"
	Min   MeasureKind = "min"
	Max   MeasureKind = "max"
)

// A Measure is a number computed from every node that Over matches, or of those the ones
// for whose entry Where holds: the node that the last wildcard of Over stands for.
type Measure struct {
	Name  string         `json:"name"`
	Doc   string         `json:"doc,omitempty"`
	Kind  MeasureKind    `json:"kind"`
	Over  region.Pattern `json:"over"`
	Where *Expr          `json:"where,omitempty"` // over the entry as self, of the type Entry
	Entry TypeID         `json:"entry,omitempty"`
}

// An Invariant is a rule about every committed state. Exactly one of Expr and
// Unique is set. With Together, what no two entries may share are all the values at
// Unique and those places taken together: the patterns are alike up to the last wildcard,
// which stands for the entry.
type Invariant struct {
	Name     string           `json:"name"`
	Doc      string           `json:"doc,omitempty"`
	Message  string           `json:"message,omitempty"`
	Each     *Each            `json:"each,omitempty"`
	Expr     *Expr            `json:"expr,omitempty"`
	Unique   *region.Pattern  `json:"unique,omitempty"`
	Together []region.Pattern `json:"together,omitempty"`
	Parts    []Part           `json:"parts,omitempty"` // see Rules

	// Change says that it is a rule about what commits change: Expr, and it may be Each,
	// is all it has, and it holds of no state by itself.
	Change bool `json:"change,omitempty"`
}

// UniquePlaces are the places whose values no two entries may share; nil if the invariant
// is an expression.
func (v *Invariant) UniquePlaces() []region.Pattern {
	if v.Unique == nil {
		return nil
	}
	return append([]region.Pattern{*v.Unique}, v.Together...)
}

// EntryOf cuts a pattern behind its last wildcard: what is left matches entries, and the
// rest leads from one of them on by names. ok is false if it has none, or "**" behind it.
func EntryOf(p region.Pattern) (entry region.Pattern, rest []region.Segment, ok bool) {
	for i := len(p.Segments) - 1; i >= 0; i-- {
		switch p.Segments[i].Kind {
		case region.AnyDepth:
			return p, nil, false
		case region.AnyKey, region.AnyIndex, region.AnySegment:
			return region.Pattern{Segments: p.Segments[:i+1]}, p.Segments[i+1:], true
		}
	}
	return p, nil, false
}

// A Part is one of the rules that an invariant comes to. All of them hold exactly if
// the invariant does.
type Part struct {
	Each  *Each  `json:"each,omitempty"` // the entries it is asked of; nil if it is about the state as such
	Key   string `json:"key,omitempty"`  // the name by which it calls the entry's key, "" for none
	Expr  Expr   `json:"expr"`
	Bound *Bound `json:"bound,omitempty"`
}

// A Bound says that a part bounds how many nodes Of matches, and depends on nothing
// else but Rest: as long as that stays, it goes on to hold if there come to be no more
// of them, or, where Least, no fewer.
type Bound struct {
	Least bool             `json:"least,omitempty"`
	Of    region.Pattern   `json:"of"`
	Rest  []region.Pattern `json:"rest,omitempty"`
}

// Gate is the kind of gate that v is.
func (v *Invariant) Gate() GateKind {
	if v.Change {
		return ChangeGate
	}
	return InvariantGate
}

// Title is what v is called in reasons and messages.
func (v *Invariant) Title() string { return string(v.Gate()) + " " + v.Name }

// Rules lists what an invariant with an expression comes to: its parts, or itself.
func (v *Invariant) Rules() []Part {
	if len(v.Parts) > 0 || v.Expr == nil {
		return v.Parts
	}
	return []Part{v.AsOne()}
}

// AsOne is an invariant with an expression as one rule.
func (v *Invariant) AsOne() Part {
	p := Part{Each: v.Each, Expr: *v.Expr}
	if v.Each != nil {
		p.Key = v.Each.Key
	}
	return p
}

// Each binds Var to every node that Over matches, one after the other, and Key, if it is
// not "", to what the last wildcard stands for.
type Each struct {
	Var  string         `json:"var"`
	Key  string         `json:"key,omitempty"`
	Over region.Pattern `json:"over"`
	Type TypeID         `json:"type"`
}

// Source writes e as the language does.
func (e *Each) Source() string {
	key := ""
	if e.Key != "" {
		key = e.Key + ", "
	}
	return "each " + key + e.Var + " in " + e.Over.Source()
}

// ParamKind is how a stage parameter gets its value.
type ParamKind string

// The parameter kinds of language.md.
const (
	ExistingParam  ParamKind = "in"      // a key of the container at Of, present at the base version
	NewParam       ParamKind = "new"     // a key absent from the container at Of when the patch runs
	DependentParam ParamKind = "from"    // the string found at Of at the base version
	ElementParam   ParamKind = "element" // one of the strings that the list or set at Of has at the base version
)

// IsKey reports whether a parameter of the kind is a key of the container that it is of.
func (k ParamKind) IsKey() bool { return k == ExistingParam || k == NewParam }

// A Param is a stage parameter.
type Param struct {
	Name     string         `json:"name"`
	Kind     ParamKind      `json:"kind"`
	Of       region.Pattern `json:"of"`
	Reserved []string       `json:"reserved,omitempty"` // keys some pattern names literally at that place
	Where    *Expr          `json:"where,omitempty"`    // in BindVars: it is bound to nothing for which this does not hold
}

// A ValueParam is a parameter of a stage that stands for a value of a type, and not for a key: an
// input of the decision, which expressions read and no pattern does. It has neither
// references nor logs.
type ValueParam struct {
	Name   string `json:"name"`
	Type   TypeID `json:"type"`
	Secret bool   `json:"secret,omitempty"` // some of it is
}

// A Stage is one step an actor takes, with its footprint.
type Stage struct {
	Name         string           `json:"name"`
	Doc          string           `json:"doc,omitempty"`  // the actor's task
	From         string           `json:"from,omitempty"` // a delegate's parent stage
	Params       []Param          `json:"params,omitempty"`
	Values       []ValueParam     `json:"values,omitempty"`
	In           []string         `json:"in"`
	By           []string         `json:"by,omitempty"` // empty: every role
	Read         region.Region    `json:"read,omitempty"`
	Write        region.Region    `json:"write,omitempty"`  // without the blind grants
	Rights       []Rights         `json:"rights,omitempty"` // of each grant of Write, what it lets happen; none: all, everywhere
	Blind        region.Region    `json:"blind,omitempty"`  // add of a new member only
	Source       region.Region    `json:"source,omitempty"`
	Delegable    region.Region    `json:"delegable,omitempty"`
	HasDelegable bool             `json:"hasDelegable,omitempty"`
	Handed       *Handed          `json:"handed,omitempty"` // what it hands on beside what it has, nil for nothing
	Require      []Expr           `json:"require,omitempty"`
	Ensure       []Expr           `json:"ensure,omitempty"`
	Produce      []region.Pattern `json:"produce,omitempty"`
	Next         []string         `json:"next,omitempty"`
	After        []string         `json:"after,omitempty"`
	Attempts     int              `json:"attempts,omitempty"`
	Gates        []Gate           `json:"gates,omitempty"`

	DisclosesPhase bool `json:"disclosesPhase,omitempty"` // it may tell what it sees by the phase it moves to
}

// Handed is the authority that a stage has to hand on, by kind: what it has itself of those
// kinds is not handed on. Its grants are as those of a Stage.
type Handed struct {
	Kinds  []HandedKind  `json:"kinds"` // at least one, in the order of HandedKinds
	Read   region.Region `json:"read,omitempty"`
	Write  region.Region `json:"write,omitempty"`
	Rights []Rights      `json:"rights,omitempty"`
	Blind  region.Region `json:"blind,omitempty"`
	Source region.Region `json:"source,omitempty"`
}

// A HandedKind is the clause whose like is handed on.
type HandedKind string

// The kinds of authority that may be handed on.
const (
	HandsRead   HandedKind = "read"
	HandsWrite  HandedKind = "write"
	HandsSource HandedKind = "source"
)

// HandedKinds are all of them, in order.
func HandedKinds() []HandedKind { return []HandedKind{HandsRead, HandsWrite, HandsSource} }

// Has reports whether a kind is granted to be handed on; nil grants none.
func (h *Handed) Has(kind HandedKind) bool { return h != nil && slices.Contains(h.Kinds, kind) }

// HandsOn is the stage with what its delegates may be given in place of what it has itself:
// Read, Write, Rights, Blind and Source. Delegable may bound that further. It shares its parts.
func (s *Stage) HandsOn() *Stage {
	if s.Handed == nil {
		return s
	}
	out, h := *s, s.Handed
	if h.Has(HandsRead) {
		out.Read = h.Read
	}
	if h.Has(HandsWrite) {
		out.Write, out.Rights, out.Blind = h.Write, h.Rights, h.Blind
	}
	if h.Has(HandsSource) {
		out.Source = h.Source
	}
	return &out
}

// DefaultAttempts is how many tries a step has, where neither its stage nor the host
// says.
const DefaultAttempts = 3

// Tries is how many tries a step of the stage has, where the host does not say.
func (s *Stage) Tries() int {
	if s.Attempts > 0 {
		return s.Attempts
	}
	return DefaultAttempts
}

// PhasesAfter lists the phases in which a commit of the stage may leave the instance.
func (s *Stage) PhasesAfter() []string {
	if len(s.Next) > 0 {
		return s.Next
	}
	return s.In
}

// IsPlain reports whether "all commute" speaks of a stage: one that runs in the phase,
// does not move it, and does no part of what another one does.
func (c *Contract) IsPlain(s *Stage, phase string) bool {
	return slices.Contains(s.In, phase) && len(s.Next) == 0 && !c.IsPart(s)
}

// IsPart reports whether a stage does a part of what another one does: a delegate, but not of
// a stage that hands on what it has not itself.
func (c *Contract) IsPart(s *Stage) bool {
	if s.From == "" {
		return false
	}
	parent := c.Stage(s.From)
	return parent != nil && parent.Handed == nil
}

// Value finds a value parameter by name, nil if there is none.
func (s *Stage) Value(name string) *ValueParam {
	for i := range s.Values {
		if s.Values[i].Name == name {
			return &s.Values[i]
		}
	}
	return nil
}

// ParamNames lists the names of all that the host binds for a stage, or that is taken from
// the state: keys, then values.
func (s *Stage) ParamNames() []string {
	var out []string
	for _, p := range s.Params {
		out = append(out, p.Name)
	}
	for _, v := range s.Values {
		out = append(out, v.Name)
	}
	return out
}

// Bindings are the conditions under which a stage's parameters are bound, in their order.
func (s *Stage) Bindings() (out []Expr) {
	for i := range s.Params {
		if x := s.Params[i].Where; x != nil {
			out = append(out, *x)
		}
	}
	return out
}

// Conditions are the conditions of a kind of gate: the stage's require or ensure clauses,
// in order.
func (s *Stage) Conditions(kind GateKind) []Expr {
	switch kind {
	case RequireGate:
		return s.Require
	case EnsureGate:
		return s.Ensure
	}
	return nil
}

// GateKind is the kind of rule a commit must pass.
type GateKind string

// The kinds of gates.
const (
	BindGate      GateKind = "where" // Name is the parameter
	RequireGate   GateKind = "require"
	EnsureGate    GateKind = "ensure"
	ProduceGate   GateKind = "produce"
	GuardGate     GateKind = "next"      // Name is the phase moved into
	InvariantGate GateKind = "invariant" // Name is the invariant
	ChangeGate    GateKind = "change"    // likewise, of a rule about what commits change
	TypeGate      GateKind = "type"      // At is the constrained node
	RefGate       GateKind = "key"       // At is the referring node
)

// Visibility is what a stage's actor may learn of a gate.
type Visibility string

// Seen: all the gate reads lies in the stage's view. Disclosed: it does not, and
// the stage says so with discloses. Hidden: it does not, and failing it is
// answered with the one nameless refusal.
const (
	Seen      Visibility = "seen"
	Disclosed Visibility = "disclosed"
	Hidden    Visibility = "hidden"
)

// A Gate is a rule that a stage's commit can trigger, and what its actor may
// learn of it.
type Gate struct {
	Kind       GateKind        `json:"kind"`
	Name       string          `json:"name,omitempty"`   // of a require or ensure, its number, from 1
	Clause     string          `json:"clause,omitempty"` // of a require or ensure, the name that the contract gives it
	At         *region.Pattern `json:"at,omitempty"`
	Visibility Visibility      `json:"visibility"`
	Unseen     string          `json:"unseen,omitempty"` // a path the gate reads and the stage does not see
	Given      []Pin           `json:"given,omitempty"`  // it is seen only where these are so
}

// Type returns the type with the given id; it must be a valid id of c.
func (c *Contract) Type(id TypeID) *Type { return &c.Types[id] }

// Stage finds a stage by name, nil if there is none.
func (c *Contract) Stage(name string) *Stage {
	for i := range c.Stages {
		if c.Stages[i].Name == name {
			return &c.Stages[i]
		}
	}
	return nil
}

// Invariant finds an invariant by name, nil if there is none.
func (c *Contract) Invariant(name string) *Invariant {
	for i := range c.Invariants {
		if c.Invariants[i].Name == name {
			return &c.Invariants[i]
		}
	}
	return nil
}

// AsksClock reports whether a condition of a stage, the guard of one of its moves, or a rule
// about what commits change, which may judge any stage, reads the clock. Of no stage, it is false.
func (c *Contract) AsksClock(stage string) bool {
	s := c.Stage(stage)
	if s == nil {
		return false
	}
	for _, from := range s.In {
		for _, a := range c.Phase(from).Arrows {
			if a.Guard != nil && slices.Contains(s.Next, a.To) && Asks(NowInput, *a.Guard) {
				return true
			}
		}
	}
	for i := range c.Invariants {
		if x := c.Invariants[i].Expr; x != nil && Asks(NowInput, *x) {
			return true
		}
	}
	return Asks(NowInput, s.Bindings()...) || Asks(NowInput, s.Require...) || Asks(NowInput, s.Ensure...)
}

// Clocked reports whether any condition, guard or rule reads the clock.
func (c *Contract) Clocked() bool {
	for i := range c.Phases {
		for _, a := range c.Phases[i].Arrows {
			if a.Guard != nil && Asks(NowInput, *a.Guard) {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.Stages, func(s Stage) bool { return c.AsksClock(s.Name) })
}

// Phase finds a phase by name, nil if there is none.
func (c *Contract) Phase(name string) *Phase {
	for i := range c.Phases {
		if c.Phases[i].Name == name {
			return &c.Phases[i]
		}
	}
	return nil
}
