package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Two stages commute if, in one phase and on every state, running them in either
// order gives the same state, the same verdicts, and each the same view. By
// theorems 1, 3 and 8 of spec/semantics.md it is enough that none of these meet:
//
//	W° of one and W° of the other        same state
//	P° of one and W° of the other        same verdict of test, copy and move
//	Q of one and W° of the other         same verdict of the stage's own gates
//	R of one and W° of the other         same view
//	one gate, touched by both            same verdict of the state's gates
//
// A stage that moves the phase commutes with nothing in its phase. What does meet
// is a conflict; with parameters it is one only when some of them are equal.

// ConflictKind says what of the two stages meets.
type ConflictKind string

// The kinds of conflicts, strongest first.
const (
	PhaseConflict  ConflictKind = "phase"  // one of them moves the phase
	WriteConflict  ConflictKind = "write"  // both write
	SourceConflict ConflictKind = "source" // A may test or take from what B writes
	LocalConflict  ConflictKind = "rule"   // a rule or parameter of A depends on what B writes
	GateConflict   ConflictKind = "gate"   // one gate is touched by both
	ViewConflict   ConflictKind = "view"   // A sees what B writes
)

// A Conflict is one reason why two stages may not commute. A is the side whose
// part the kind names, B the side that writes.
type Conflict struct {
	Kind ConflictKind
	A, B string      // owners
	Path region.Word // a place where the two meet; parameters carry their owner
	When region.Term // the parameter values for which they meet
	Soft bool        // it may be none: the search ran out of budget
	List region.Word // the list whose elements Path tells apart by position; nil if there is none
	Bag  region.Word // the set or log into whose entries Path leads; nil if there is none

	Gate  *Gate             // of a gate conflict: A touches it at Path,
	Other region.Word       // and B here,
	Keys  []region.Equality // for these values of the parameters and of the family's keys
}

// Owners of the two sides of a commutation.
const (
	OwnerA = "A"
	OwnerB = "B"
)

// Commutation lists why a and b, which may be the same stage, may not commute;
// nothing means that they always do. Stages that share no phase never meet.
func (m *Model) Commutation(a, b *ir.Stage) []Conflict {
	return m.commutation(m.Effect(a, OwnerA), m.Effect(b, OwnerB))
}

func (m *Model) commutation(a, b Effect) []Conflict {
	if !sharePhase(a.Stage, b.Stage) {
		return nil
	}
	var out []Conflict
	for _, e := range []Effect{a, b} {
		if len(e.Stage.Next) > 0 {
			out = append(out, Conflict{Kind: PhaseConflict, A: e.Owner, B: e.Owner})
		}
	}
	out = append(out, m.meet(WriteConflict, a, b, a.Write, region.Interior)...)
	for _, pair := range [][2]Effect{{a, b}, {b, a}} {
		x, y := pair[0], pair[1]
		out = append(out, m.meet(SourceConflict, x, y, x.Source, region.Interior)...)
		out = append(out, m.meet(LocalConflict, x, y, x.Local, region.Plain)...)
		out = append(out, m.meet(ViewConflict, x, y, x.Read, region.Shown)...)
	}
	return append(out, m.sharedGates(a, b)...)
}

func sharePhase(a, b *ir.Stage) bool {
	return slices.ContainsFunc(a.In, func(p string) bool { return slices.Contains(b.In, p) })
}

// meet reports where a part of x meets what y writes.
func (m *Model) meet(kind ConflictKind, x, y Effect, part region.Region, mode region.Mode) []Conflict {
	var out []Conflict
	c := m.conditions(part, y.Write, mode)
	for _, t := range c.Any {
		out = append(out, Conflict{Kind: kind, A: x.Owner, B: y.Owner, Path: t.Witness, When: t, Soft: c.Inexact, List: m.steppedInto(t.Witness, ir.ListType), Bag: m.steppedInto(t.Witness, ir.SetType, ir.LogType)})
	}
	return out
}

// steppedInto is the first array of some kinds that a path steps into by position.
func (m *Model) steppedInto(w region.Word, kinds ...ir.TypeKind) region.Word {
	at := m.Shape.Root()
	for i, l := range w {
		if (l.Kind == region.IndexLetter || l.Kind == region.FreshLetter) && m.Shape.Only(at, kinds...) {
			return w[:i]
		}
		at = m.Shape.Letter(at, l)
	}
	return nil
}

// conditions tells for which parameters a part meets the interior of w. The state
// type is asked only where the patterns alone do not keep them apart: it makes
// the search slower.
func (m *Model) conditions(part, w region.Region, mode region.Mode) region.Condition {
	if len(part) == 0 || len(w) == 0 {
		return region.Condition{}
	}
	quick := region.Conditions(part, w, mode, region.Interior, region.ConditionOptions{Options: region.Options{VerdictOnly: true, Meter: m.Meter}})
	if quick.Never() {
		return quick
	}
	return region.Conditions(part, w, mode, region.Interior, region.ConditionOptions{Options: m.Options()})
}

// sharedGates reports the gates of the state that both touch. A gate for every
// entry is touched by both only for an entry that both touch: its keys are
// parameters that the two conditions share, and are eliminated from their
// conjunction.
func (m *Model) sharedGates(a, b Effect) []Conflict {
	var out []Conflict
	m.Meter.Spend(1 + len(m.gates())/16)
	for i := range m.gates() {
		g := &m.stateGates[i]
		if m.keeps(g, a) && m.keeps(g, b) {
			continue
		}
		ca := m.touches(i, a)
		if ca.Never() {
			continue
		}
		cb := m.touches(i, b)
		for _, t := range conjunction(ca, cb) {
			out = append(out, Conflict{
				Kind: GateConflict, A: a.Owner, B: b.Owner, Gate: g, Path: t.Witness, Other: t.other,
				When: t.Term, Keys: slices.DeleteFunc(t.keys, isEntry), Soft: ca.Inexact || cb.Inexact,
			})
		}
	}
	return out
}

// touches says for which parameters and family's keys an effect touches a gate. It
// is computed once for an effect, however many others that is compared with.
func (m *Model) touches(gate int, e Effect) region.Condition {
	c, known := e.gates[gate]
	if !known {
		c = m.touch(m.stateGates[gate].FamilyOf(e.Stage), e.Write)
		own := m.touchOwn(m.stateGates[gate], e)
		c = region.Condition{Any: append(c.Any, own.Any...), Inexact: c.Inexact || own.Inexact}
		if e.gates != nil {
			e.gates[gate] = c
		}
	}
	return c
}

// touchOwn says how an effect touches the members of a gate's family that are about
// the entries it appends to logs. They are nobody else's.
func (m *Model) touchOwn(g Gate, e Effect) region.Condition {
	entries := g.entryKeys()
	if len(entries) == 0 {
		return region.Condition{}
	}
	own := map[string]region.Segment{}
	var fixed []region.Equality
	for _, key := range entries {
		own[key] = region.Segment{Kind: region.FreshSegment, Text: e.Owner}
		fixed = append(fixed, region.Equality{Left: key, Right: entryOf(e.Owner), Literal: true})
	}
	var reads []region.Pattern
	for _, p := range g.FamilyOf(e.Stage) {
		reads = append(reads, substitute(p, own))
	}
	c := m.touch(reads, e.Write)
	for i := range c.Any {
		c.Any[i].All = append(slices.Clone(fixed), c.Any[i].All...)
	}
	return c
}

// touch says which members of a gate's family w meets. A family's key stands for
// every key, those that patterns name too, whereas a parameter never takes one of
// them. Weighing keys that are named takes long, so it is only done where there are.
func (m *Model) touch(family []region.Pattern, w region.Region) region.Condition {
	reads := region.Region{{Include: family}}
	quick := region.Conditions(reads, w, region.Plain, region.Interior, region.ConditionOptions{
		Options: region.Options{VerdictOnly: true, Meter: m.Meter}, OpenLiterals: true})
	if !slices.ContainsFunc(quick.Any, namesMember) {
		return m.conditions(reads, w, region.Plain)
	}
	c := region.Conditions(reads, w, region.Plain, region.Interior, region.ConditionOptions{
		Options: m.Options(), OpenLiterals: true})
	c.Any = slices.DeleteFunc(c.Any, takesReserved)
	return c
}

// namesMember reports whether a term is about a key of a family that is named.
func namesMember(t region.Term) bool {
	return slices.ContainsFunc(t.All, func(e region.Equality) bool { return e.Literal && isFamily(e.Left) })
}

// takesReserved reports whether a term needs a parameter to be a key that is named.
func takesReserved(t region.Term) bool {
	return slices.ContainsFunc(t.All, func(e region.Equality) bool { return e.Literal && !e.Not && !isFamily(e.Left) })
}

// gates is StateGates, computed once.
func (m *Model) gates() []Gate {
	if m.stateGates == nil {
		m.stateGates = append(m.StateGates(), Gate{})
	}
	return m.stateGates[:len(m.stateGates)-1]
}
