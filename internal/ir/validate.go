package ir

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/patchoptic/poptic/internal/region"
)

// validate checks all that readers of a contract rely on, so that none of them has to:
// what a type or a claim needs by its kind is there and nothing else, every name that is
// used is declared, and once. What only whoever evaluates needs (that an expression has
// the right type, that a pattern matches something) is checked there.
func (c *Contract) validate() error {
	v := validation{c: c, phases: map[string]bool{}, stages: map[string]*Stage{}, invariants: map[string]bool{}, compositions: map[string]bool{}, rooted: map[string]bool{}}
	for _, check := range []func() error{
		v.types, c.validateExtents, v.declared, v.arrows, v.rules, v.everyStage, v.everyClaim,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// A validation holds the names that a contract declares.
type validation struct {
	c                                *Contract
	phases, invariants, compositions map[string]bool
	stages                           map[string]*Stage
	rooted                           map[string]bool // the stages whose parents come to an end, as far as it is known
}

func (v *validation) types() error {
	if !v.c.hasType(v.c.State) {
		return malformed("it has no state type")
	}
	for id := range v.c.Types {
		if err := v.oneType(TypeID(id)); err != nil {
			return err
		}
	}
	return nil
}

// oneType demands that children come before their parents, which also excludes cycles.
func (v *validation) oneType(id TypeID) error {
	t := &v.c.Types[id]
	if id == NoType {
		if t.Kind != "" || t.holds() != 0 || len(t.Where) > 0 {
			return malformed("its first type stands for no type, and is one")
		}
		return nil
	}
	children := t.children()
	for _, child := range children {
		if child <= NoType || child >= id {
			return malformed(fmt.Sprintf("type %d refers to type %d", id, child))
		}
	}
	if !t.isWhole() {
		return malformed(fmt.Sprintf("type %d is incomplete, or of no kind", id))
	}
	names := map[string]bool{}
	for _, m := range t.Members {
		if names[m.Name] {
			return malformed(fmt.Sprintf("type %d has two members of one name", id))
		}
		names[m.Name] = true
	}
	if t.Name != "" && !isName(t.Name) {
		return malformed(fmt.Sprintf("type %d has a name that is none", id))
	}
	if t.Kind == RefType && !usesOnly(nil, *t.Target) {
		return malformed(fmt.Sprintf("type %d refers to no container", id))
	}
	return v.exprs(fmt.Sprintf("type %d", id), nil, t.Where...)
}

// A typePart is a set of what a type may have beside its kind.
type typePart uint8

const (
	elemPart typePart = 1 << iota
	memberPart
	restPart
	alternativePart
	literalPart
	keyFieldPart
	targetPart
)

// typeParts says of each kind of type what it needs, and what it may have.
var typeParts = map[TypeKind]struct{ needs, may typePart }{
	StringType: {}, NumberType: {}, IntType: {}, DecimalType: {}, BoolType: {}, NullType: {}, AnyType: {},
	LiteralType: {needs: literalPart},
	UnionType:   {needs: alternativePart},
	MapType:     {needs: elemPart},
	ListType:    {needs: elemPart},
	SetType:     {needs: elemPart},
	LogType:     {needs: elemPart},
	KeyedType:   {needs: elemPart | keyFieldPart},
	RefType:     {needs: targetPart},
	RecordType:  {may: memberPart | restPart},
}

// holds is what a type has beside its kind.
func (t *Type) holds() typePart {
	out := typePart(0)
	for _, part := range []struct {
		is   bool
		what typePart
	}{
		{t.Elem != NoType, elemPart},
		{len(t.Members) > 0, memberPart},
		{t.Rest != NoType, restPart},
		{len(t.Alternatives) > 0, alternativePart},
		{t.Literal != "", literalPart},
		{t.KeyField != "", keyFieldPart},
		{t.Target != nil, targetPart},
	} {
		if part.is {
			out |= part.what
		}
	}
	return out
}

// isWhole reports whether a type is of a known kind and has what its kind needs, and
// nothing else.
func (t *Type) isWhole() bool {
	parts, known := typeParts[t.Kind]
	has := t.holds()
	return known && has&parts.needs == parts.needs && has&^(parts.needs|parts.may) == 0 && (t.Kind != LiteralType || isScalar(t.Literal))
}

// isScalar reports whether a text is one JSON value that is no array or object, without
// blanks around it.
func isScalar(text string) bool {
	return json.Valid([]byte(text)) && strings.IndexByte(`"-0123456789tfn`, text[0]) >= 0 && strings.TrimSpace(text) == text
}

// children lists the types that a type uses.
func (t *Type) children() []TypeID {
	out := append([]TypeID{}, t.Alternatives...)
	for _, m := range t.Members {
		out = append(out, m.Type)
	}
	for _, id := range []TypeID{t.Elem, t.Rest} {
		if id != NoType {
			out = append(out, id)
		}
	}
	return out
}

// validateExtents demands that no type describes more than the compiler lets pass.
func (c *Contract) validateExtents() error {
	extents, entries := make([]Extent, len(c.Types)), 0
	for id := range c.Types {
		t := &c.Types[id]
		extents[id] = t.Extent(func(below TypeID) Extent { return extents[below] })
		if entries += t.Entries(); extents[id].Exceeds() || entries > MaxTypeEntries {
			return malformed("a type is larger than any type may be")
		}
	}
	return nil
}

// declared collects the names of the contract.
func (v *validation) declared() error {
	c := v.c
	if len(c.Phases) == 0 {
		return malformed("it has no phase")
	}
	if !isName(c.Name) {
		return malformed("its name is none")
	}
	twice := func(kind, name string) error {
		return malformed(fmt.Sprintf("%s %q has no name, or the name of another", kind, name))
	}
	for _, p := range c.Phases {
		if !isName(p.Name) || v.phases[p.Name] {
			return twice("phase", p.Name)
		}
		v.phases[p.Name] = true
	}
	for i := range c.Stages {
		s := &c.Stages[i]
		if !isName(s.Name) || v.stages[s.Name] != nil {
			return twice("stage", s.Name)
		}
		v.stages[s.Name] = s
	}
	for _, inv := range c.Invariants {
		if !isName(inv.Name) || v.invariants[inv.Name] {
			return twice("invariant", inv.Name)
		}
		v.invariants[inv.Name] = true
	}
	for _, x := range c.Compositions {
		if !isName(x.Name) || v.compositions[x.Name] || v.stages[x.Name] != nil {
			return twice("composition", x.Name)
		}
		v.compositions[x.Name] = true
	}
	measures := map[string]bool{}
	for _, m := range c.Measures {
		if !isName(m.Name) || measures[m.Name] {
			return twice("measure", m.Name)
		}
		measures[m.Name] = true
	}
	return nil
}

func (v *validation) arrows() error {
	for _, p := range v.c.Phases {
		to := map[string]bool{}
		for _, a := range p.Arrows {
			if !v.phases[a.To] || to[a.To] {
				return malformed("phase " + p.Name + " leads to an unknown phase, or twice to one")
			}
			to[a.To] = true
			if a.Guard != nil {
				if err := v.exprs("a guard of phase "+p.Name, nil, *a.Guard); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (v *validation) rules() error {
	c := v.c
	if !grantsWhole(c.Secrets, nil) {
		return malformed("its secrets are no region")
	}
	for _, m := range c.Measures {
		if !slices.Contains([]MeasureKind{Sum, Count, Min, Max}, m.Kind) || !usesOnly(nil, m.Over) {
			return malformed("measure " + m.Name + " is none")
		}
		if m.Where == nil {
			continue
		}
		if _, _, ok := EntryOf(m.Over); !ok || !c.hasType(m.Entry) {
			return malformed("measure " + m.Name + " is over no entries")
		}
		if err := v.exprs("measure "+m.Name, nil, *m.Where); err != nil {
			return err
		}
	}
	for i := range c.Invariants {
		if err := v.invariant(&c.Invariants[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v *validation) invariant(inv *Invariant) error {
	what := "invariant " + inv.Name
	if (inv.Expr == nil) == (inv.Unique == nil) {
		return malformed(what + " has no single rule")
	}
	if inv.Unique != nil && (inv.Each != nil || len(inv.Parts) > 0 || !usesOnly(nil, inv.UniquePlaces()...)) {
		return malformed(what + " demands that something is unique, and more")
	}
	if inv.Change && (inv.Expr == nil || len(inv.Parts) > 0 || inv.Expr.ReadsPhase) {
		return malformed(what + " is about what commits change, and more")
	}
	if !inv.oneEntry() {
		return malformed(what + " demands that values are unique together that belong to no entry")
	}
	if err := v.each(what, inv.Each); err != nil {
		return err
	}
	if inv.Expr != nil {
		if err := v.exprs(what, nil, *inv.Expr); err != nil {
			return err
		}
	}
	for i := range inv.Parts {
		p := &inv.Parts[i]
		if err := v.each("a part of "+what, p.Each); err != nil {
			return err
		}
		if err := v.exprs("a part of "+what, nil, p.Expr); err != nil {
			return err
		}
		if p.Bound != nil && !usesOnly(nil, append(p.Bound.Rest[:len(p.Bound.Rest):len(p.Bound.Rest)], p.Bound.Of)...) {
			return malformed("a part of " + what + " has a bound that is none")
		}
	}
	return nil
}

// oneEntry reports whether places that are unique together are of the same entries.
func (v *Invariant) oneEntry() bool {
	if len(v.Together) == 0 {
		return true
	}
	if v.Unique == nil {
		return false
	}
	entry, _, ok := EntryOf(*v.Unique)
	return ok && !slices.ContainsFunc(v.Together, func(p region.Pattern) bool {
		other, _, ok := EntryOf(p)
		return !ok || other.String() != entry.String()
	})
}

func (v *validation) each(what string, each *Each) error {
	if each == nil {
		return nil
	}
	if !v.c.hasType(each.Type) {
		return malformed(what + " is over an unknown type")
	}
	if !isName(each.Var) || each.Key != "" && (!isName(each.Key) || each.Key == each.Var) || !usesOnly(nil, each.Over) {
		return malformed(what + " is over no entries")
	}
	return nil
}

// exprs checks what is recorded of expressions, in whose patterns some parameters stand.
func (v *validation) exprs(what string, params map[string]bool, xs ...Expr) error {
	for i := range xs {
		x := &xs[i]
		patterns := slices.Clone(x.Narrow)
		for _, r := range x.Reads {
			patterns = append(patterns, r.Pattern)
		}
		for _, l := range x.Lookups {
			if !isOwnKey(l.Key) {
				return malformed(what + " looks an entry up by no key")
			}
			patterns = append(patterns, l.At)
		}
		if len(x.Inputs) > 0 && !slices.Equal(x.Inputs, slices.DeleteFunc(Inputs(), func(in string) bool { return !slices.Contains(x.Inputs, in) })) {
			return malformed(what + " reads an unknown input, or one twice")
		}
		phases := map[string]bool{}
		for _, in := range x.InPhase {
			if !v.phases[in.Phase] || phases[in.Phase] {
				return malformed(what + " reads in an unknown phase, or twice in one")
			}
			phases[in.Phase] = true
			patterns = append(patterns, in.Reads...)
		}
		for _, pin := range x.Pins {
			if (pin.Param == "") == (len(pin.Texts) == 0) || pin.Param != "" && !params[pin.Param] {
				return malformed(what + " pins a place to nothing")
			}
			patterns = append(patterns, pin.At)
		}
		if strings.TrimSpace(x.Source) == "" || !usesOnly(params, patterns...) {
			return malformed(what + " has an expression that is none, or reads by an unknown parameter")
		}
	}
	return nil
}

// usesOnly reports whether all parameters of patterns are among some, or keys that the
// compiler names.
func usesOnly(params map[string]bool, patterns ...region.Pattern) bool {
	for _, p := range patterns {
		for _, s := range p.Segments {
			if s.Kind == region.ParamSegment && !params[s.Text] && !isOwnKey(s.Text) {
				return false
			}
		}
	}
	return true
}

// isOwnKey reports whether a parameter is one that the compiler names: the key of a
// family, or one that is looked up. No parameter of a stage is called so.
func isOwnKey(name string) bool { return len(name) >= 2 && name[0] == '@' }

// grantsWhole reports whether every grant of a region includes something.
func grantsWhole(r region.Region, params map[string]bool) bool {
	return !slices.ContainsFunc(r, func(g region.Grant) bool {
		return len(g.Include) == 0 || !usesOnly(params, g.Include...) || !usesOnly(params, g.Except...)
	})
}

func (v *validation) everyStage() error {
	for i := range v.c.Stages {
		if err := v.stage(&v.c.Stages[i]); err != nil {
			return err
		}
	}
	for _, x := range v.c.Compositions {
		if len(x.Stages) == 0 || !areKnown(v.stages, x.Stages...) {
			return malformed("composition " + x.Name + " is of unknown stages")
		}
	}
	return nil
}

func (v *validation) stage(s *Stage) error {
	wrong := func(format string, args ...any) error {
		return malformed("stage " + s.Name + " " + fmt.Sprintf(format, args...))
	}
	switch {
	case len(s.In) == 0 || !areKnown(v.phases, s.In...) || !areKnown(v.phases, s.Next...):
		return wrong("names no phase, or an unknown one")
	case !areKnown(v.stages, s.After...) || s.From != "" && !areKnown(v.stages, s.From):
		return wrong("names an unknown stage")
	case !v.descends(s):
		return wrong("is its own delegate")
	case s.Attempts < 0:
		return wrong("has fewer than no attempts")
	}
	params := map[string]bool{}
	for _, p := range s.Params {
		isKind := slices.Contains([]ParamKind{ExistingParam, NewParam, DependentParam, ElementParam}, p.Kind)
		if !isKind || !isName(p.Name) || params[p.Name] || !usesOnly(params, p.Of) {
			return wrong("has a parameter that is none, or twice")
		}
		params[p.Name] = true
		if p.Where != nil {
			if err := v.exprs("parameter "+p.Name+" of stage "+s.Name, params, *p.Where); err != nil {
				return err
			}
		}
	}
	values := map[string]bool{}
	for _, p := range s.Values {
		if !isName(p.Name) || params[p.Name] || values[p.Name] || !v.c.hasType(p.Type) || !v.c.isValue(p) {
			return wrong("has a value that is none, or twice")
		}
		values[p.Name] = true
	}
	for _, r := range []region.Region{s.Read, s.Write, s.Blind, s.Source, s.Delegable} {
		if !grantsWhole(r, params) {
			return wrong("has a clause that grants nothing, or by an unknown parameter")
		}
	}
	if !s.Handed.isWhole(params) || s.Handed != nil && s.HasDelegable {
		return wrong("hands on nothing, or what is no grant")
	}
	if !s.rightsWhole() {
		return wrong("has rights that are none, or of other grants than it writes by")
	}
	if !usesOnly(params, s.Produce...) {
		return wrong("produces by an unknown parameter")
	}
	for _, g := range s.Gates {
		if !v.isGate(g, params) {
			return wrong("has a gate that is none")
		}
	}
	names := map[string]bool{}
	for _, x := range slices.Concat(s.Require, s.Ensure) {
		if x.Name != "" && (!isName(x.Name) || names[x.Name]) {
			return wrong("has a condition with a name that is none, or of another")
		}
		names[x.Name] = true
	}
	return v.exprs("stage "+s.Name, params, slices.Concat(s.Require, s.Ensure)...)
}

// isWhole reports whether kinds are in order, and there are grants of those kinds alone.
func (h *Handed) isWhole(params map[string]bool) bool {
	if h == nil {
		return true
	}
	kinds := slices.DeleteFunc(HandedKinds(), func(k HandedKind) bool { return !h.Has(k) })
	as := Stage{Write: h.Write, Rights: h.Rights}
	for _, r := range []region.Region{h.Read, h.Write, h.Blind, h.Source} {
		if !grantsWhole(r, params) {
			return false
		}
	}
	return len(kinds) > 0 && slices.Equal(h.Kinds, kinds) && as.rightsWhole() &&
		(h.Has(HandsRead) || len(h.Read) == 0) && (h.Has(HandsWrite) || len(h.Write)+len(h.Blind) == 0) && (h.Has(HandsSource) || len(h.Source) == 0)
}

// isValue reports whether a value parameter has a type of values, and says whether some of it is secret.
func (c *Contract) isValue(p ValueParam) bool {
	return !c.Holds(p.Type, (*Type).NeedsState) && p.Secret == c.Holds(p.Type, func(t *Type) bool { return t.Secret })
}

// descends reports whether the parents of a stage come to an end. Of stages that do it
// is known from then on.
func (v *validation) descends(s *Stage) bool {
	var passed []string
	for at := s; at.From != "" && !v.rooted[at.Name]; {
		if passed = append(passed, at.Name); len(passed) > len(v.c.Stages) {
			return false
		}
		if at = v.stages[at.From]; at == nil {
			return false
		}
	}
	for _, name := range passed {
		v.rooted[name] = true
	}
	return true
}

// isGate reports whether a gate has what its kind needs.
func (v *validation) isGate(g Gate, params map[string]bool) bool {
	if !slices.Contains([]Visibility{Seen, Disclosed, Hidden}, g.Visibility) || g.At != nil && !usesOnly(params, *g.At) {
		return false
	}
	switch g.Kind {
	case RequireGate, EnsureGate, ProduceGate:
		return true
	case BindGate:
		return params[g.Name]
	case GuardGate:
		return v.phases[g.Name]
	case InvariantGate, ChangeGate:
		inv := v.c.Invariant(g.Name)
		return inv != nil && inv.Gate() == g.Kind
	case TypeGate, RefGate:
		return g.At != nil
	}
	return false
}

func (v *validation) everyClaim() error {
	for _, claim := range v.c.Claims {
		if claim.Text == "" || !v.isClaim(claim) {
			return malformed("the claim " + claim.Text + " is none")
		}
		if claim.When != nil && !claim.When.isWhole() {
			return malformed("the hypothesis of a claim is incomplete")
		}
	}
	return nil
}

// isClaim reports whether a claim has what its kind needs.
func (v *validation) isClaim(claim Claim) bool {
	if !areKnown(v.phases, claim.Phases...) || !areKnown(v.stages, claim.Except...) || !grantsWhole(claim.From, nil) || !grantsWhole(claim.To, nil) {
		return false
	}
	isStage := areKnown(v.stages, claim.Stages...)
	switch claim.Kind {
	case Commutes:
		return len(claim.Stages) == 2 && isStage
	case Parallel:
		return len(claim.Stages) > 0 && isStage
	case AllCommute:
		return len(claim.Phases) == 1 && isStage
	case WithinClaim:
		return len(claim.Stages) == 2 && !slices.ContainsFunc(claim.Stages, func(name string) bool {
			return v.stages[name] == nil && !v.compositions[name]
		})
	case NoStage:
		return slices.Contains([]string{"reads", "writes", "copies"}, claim.Verb) && isStage
	case NoFlow:
		return isStage
	case PhaseBefore:
		return len(claim.Phases) == 2 && isStage
	}
	return false
}

// isName reports whether a text is a name of the language, or several joined by dots.
func isName(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		isFirst := true
		for _, r := range part {
			if r != '_' && !unicode.IsLetter(r) && (isFirst || !unicode.IsDigit(r)) {
				return false
			}
			isFirst = false
		}
		if isFirst {
			return false
		}
	}
	return true
}

// areKnown reports whether all names are among those that are known.
func areKnown[T any](known map[string]T, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, ok := known[name]; return !ok })
}

func (c *Contract) hasType(id TypeID) bool { return id > NoType && int(id) < len(c.Types) }

func malformed(what string) error {
	return &CodecError{"malformed", "the compiled contract is malformed: " + what + "; build it again"}
}
