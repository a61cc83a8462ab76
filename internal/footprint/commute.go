package footprint

import (
	"fmt"
	"slices"
	"strings"

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
	c := m.conditionsOnce(kind, x, y, part, mode)
	for _, t := range c.Any {
		out = append(out, Conflict{Kind: kind, A: x.Owner, B: y.Owner, Path: t.Witness, When: t, Soft: c.Inexact, List: m.steppedInto(t.Witness, ir.ListType), Bag: m.steppedInto(t.Witness, ir.SetType, ir.LogType)})
	}
	return out
}

// A question is which part of one effect meets what another writes.
type question struct {
	part, write string
	mode        region.Mode
}

// maxAnswers is how many answers about parts that meet are kept.
const maxAnswers = 1 << 14

// conditionsOnce is conditions of a part of x and what y writes. Many stages of a contract
// have clauses alike: the same question is answered once.
func (m *Model) conditionsOnce(kind ConflictKind, x, y Effect, part region.Region, mode region.Mode) region.Condition {
	if len(part) == 0 || len(y.Write) == 0 {
		return region.Condition{}
	}
	if m.Spent() { // a known answer may be long, and there may be as many pairs as one likes
		return region.Condition{Any: []region.Term{{}}, Inexact: true}
	}
	q := question{x.text(kind, part), y.text(WriteConflict, y.Write), mode}
	c, known := m.answered[q]
	if !known {
		c = m.conditions(part, y.Write, mode)
		if m.answered == nil || len(m.answered) >= maxAnswers {
			m.answered = map[question]region.Condition{}
		}
		if !m.Spent() {
			m.answered[q] = c
		}
	}
	m.Meter.Spend(1 + len(c.Any)*len(c.Any)/32) // what many terms come to is compared for each pair
	return c
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
		for _, t := range m.conjunction(ca, cb) {
			out = append(out, Conflict{
				Kind: GateConflict, A: a.Owner, B: b.Owner, Gate: g, Path: t.Witness, Other: t.other,
				When: t.Term, Keys: slices.DeleteFunc(t.keys, isEntry), Soft: ca.Inexact || cb.Inexact || m.Spent(),
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

// A joint term holds for some value of the family keys.
type joint struct {
	region.Term                   // over the other parameters, with a's witness
	other       region.Word       // b's witness
	keys        []region.Equality // the term before the family keys were eliminated
}

// conjunction is the condition under which a and b both hold, for some value of
// the family keys: a list of terms over the other parameters. Inequalities of
// family keys are dropped, which only weakens the condition. When the meter is spent it is
// the weakest: that they may always.
func (m *Model) conjunction(a, b region.Condition) []joint {
	var out []joint
	var known termIndex
	for _, s := range a.Any {
		for _, t := range b.Any {
			if m.Meter.Spend(1 + len(s.All) + len(t.All)); m.Spent() {
				return append(out, joint{region.Term{Witness: s.Witness}, t.Witness, nil})
			}
			keys := append(slices.Clone(s.All), t.All...)
			if all, ok := eliminate(keys); ok && !takesReserved(region.Term{All: all}) && !known.implied(all) {
				known.add(all)
				out = append(out, joint{region.Term{All: all, Witness: s.Witness}, t.Witness, keys})
			}
		}
	}
	return out
}

// A termIndex finds a term all of whose equalities are among some, by its first one.
type termIndex struct {
	always bool // a term without equalities is there
	by     map[region.Equality][][]region.Equality
}

func (x *termIndex) add(all []region.Equality) {
	if len(all) == 0 {
		x.always = true
		return
	}
	if x.by == nil {
		x.by = map[region.Equality][][]region.Equality{}
	}
	x.by[all[0]] = append(x.by[all[0]], all)
}

// implied reports whether a term is there that is no stronger.
func (x *termIndex) implied(all []region.Equality) bool {
	return x.always || slices.ContainsFunc(all, func(e region.Equality) bool {
		return slices.ContainsFunc(x.by[e], func(weak []region.Equality) bool { return implies(all, weak) })
	})
}

// implies reports whether every equality of weak follows from being in strong.
func implies(strong, weak []region.Equality) bool {
	return !slices.ContainsFunc(weak, func(e region.Equality) bool { return !slices.Contains(strong, e) })
}

// eliminate merges equalities into classes and says what they mean for the
// parameters other than family keys. ok is false if they contradict each other.
func eliminate(all []region.Equality) (kept []region.Equality, ok bool) {
	class := map[string]string{}
	find := func(x string) string {
		for class[x] != "" && class[x] != x {
			x = class[x]
		}
		return x
	}
	for _, e := range all {
		if !e.Not {
			if l, r := find(operand(e.Left, false)), find(operand(e.Right, e.Literal)); l != r {
				class[l] = r
			}
		}
	}
	members := map[string][]string{}
	for _, e := range all {
		l, r := operand(e.Left, false), operand(e.Right, e.Literal)
		if e.Not {
			if find(l) == find(r) {
				return nil, false
			}
			if !isFamily(l) && !isFamily(r) {
				kept = append(kept, e)
			}
			continue
		}
		for _, x := range []string{l, r} {
			if !isFamily(x) && !slices.Contains(members[find(x)], x) {
				members[find(x)] = append(members[find(x)], x)
			}
		}
	}
	for _, class := range members {
		if literals(class) > 1 {
			return nil, false
		}
	}
	return append(kept, chains(members)...), true
}

func literals(class []string) (n int) {
	for _, x := range class {
		if strings.HasPrefix(x, literalMark) {
			n++
		}
	}
	return n
}

// chains writes each class as equalities of its first member with the others.
func chains(members map[string][]string) []region.Equality {
	var out []region.Equality
	for _, xs := range members {
		slices.Sort(xs)
		for _, x := range xs[1:] {
			left, right := xs[0], x
			if strings.HasPrefix(left, literalMark) {
				left, right = right, left
			}
			out = append(out, region.Equality{Left: left, Right: strings.TrimPrefix(right, literalMark), Literal: strings.HasPrefix(right, literalMark)})
		}
	}
	slices.SortFunc(out, func(a, b region.Equality) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// entryOf is the key that stands for the entries an owner appends; no key of a state
// looks like it, since keys are valid UTF-8.
func entryOf(owner string) string { return "\xff" + owner }

func isEntry(e region.Equality) bool { return e.Literal && strings.HasPrefix(e.Right, "\xff") }

// literalMark starts the operand of a key, which a parameter's name never does.
const literalMark = "="

func operand(name string, literal bool) string {
	if literal {
		return literalMark + name
	}
	return name
}

func isFamily(x string) bool { return strings.HasPrefix(x, "@") }

// Unsearched says what is known of a conflict that is none but for the steps that all
// searches may take together: no place is known at which two stages meet.
const Unsearched = "the searches about the regions of the contract took too many steps to tell"

// IsUnsearched reports whether a conflict stands for a search that was not made.
func (c Conflict) IsUnsearched() bool {
	return c.Soft && len(c.Path) == 0 && len(c.When.All) == 0 && c.Kind != PhaseConflict
}

// Weakest lists the conditions of conflicts, without those that another one implies.
func Weakest(conflicts []Conflict) []region.Term {
	var out []region.Term
	var earlier, later termIndex
	for _, c := range conflicts {
		if !earlier.implied(c.When.All) {
			earlier.add(c.When.All)
			out = append(out, c.When)
		}
	}
	for i := len(out) - 1; i >= 0; i-- {
		if t := out[i]; later.implied(t.All) {
			out = slices.Delete(out, i, i+1)
		} else {
			later.add(t.All)
		}
	}
	return out
}

// A claim about commuting may say that parameters of the two runs differ. It is said
// of the state that both runs start from. A conflict that needs them to be equal then
// never comes about. Two things follow without being said: parameters that are taken
// from one place are equal, and the host binds no key twice that is new in a map.

// assume drops the conflicts of a pair that the hypothesis of a claim excludes. fresh
// lists the containers for which that took the assumption that no new key is bound
// twice.
func (p Pair) assume(when *ir.Hypothesis) (left []Conflict, fresh []region.Pattern) {
	for _, c := range p.Conflicts {
		if c.Kind == PhaseConflict {
			left = append(left, c)
			continue
		}
		k := p.classesOf(c.When.All)
		if !when.Holds(k.mayDiffer) {
			continue
		}
		if of, twice := p.bindsTwice(k); twice {
			fresh = appendPattern(fresh, of)
			continue
		}
		left = append(left, c)
	}
	return left, fresh
}

// Cure says which hypothesis would make a false claim about commuting a true one; ""
// if none would.
func (m *Model) Cure(claim ir.Claim, clashing []Pair) string {
	if claim.Kind != ir.AllCommute {
		if when := m.Suggestion(slices.Collect(m.pairs(claim.Stages))); when != "" {
			return "claim it `when " + when + "`"
		}
	}
	if claim.Kind == ir.Commutes {
		return ""
	}
	for _, p := range clashing {
		if when := m.Suggestion([]Pair{p}); when != "" {
			return fmt.Sprintf("claim of each pair what is true, such as `prove %s commutes with %s when %s`", p.A.Name, p.B.Name, when)
		}
	}
	return ""
}

// Suggestion is the weakest hypothesis under which all pairs are proved to commute,
// as the language writes it; "" if there is none that can be written, or none is
// needed. It is about all conflicts of the pairs, whatever a claim says of them. One that
// takes more than maxClauses is none: nobody would read it.
func (m *Model) Suggestion(pairs []Pair) string {
	var clauses []ir.Hypothesis
	whole := make([]Pair, len(pairs))
	for i, p := range pairs {
		whole[i] = Pair{A: p.A, B: p.B, Conflicts: m.conflictsOf(p)}
		left, _ := whole[i].assume(nil)
		for _, t := range Weakest(left) {
			clause, ok := contrary(t, pairs)
			if !ok {
				return ""
			}
			if clauses = append(clauses, clause); len(clauses) > maxClauses {
				return ""
			}
		}
	}
	settles := func(clauses []ir.Hypothesis) bool {
		return !slices.ContainsFunc(whole, func(p Pair) bool {
			left, _ := p.assume(&ir.Hypothesis{All: clauses})
			return len(left) > 0
		})
	}
	if !settles(clauses) {
		return ""
	}
	for i := len(clauses) - 1; i >= 0; i-- { // others may imply it
		if rest := slices.Delete(slices.Clone(clauses), i, i+1); settles(rest) {
			clauses = rest
		}
	}
	return writeClauses(clauses)
}

// conflictsOf is what Commutation says of a pair, once computed.
func (m *Model) conflictsOf(p Pair) []Conflict {
	at := m.indices([]string{p.A.Name, p.B.Name})
	return m.Matrix().Conflicts(at[0], at[1])
}

// maxClauses bounds the differences that a suggestion asks for, before those are left out
// that others imply.
const maxClauses = 64

// contrary is what contradicts a term: one of its equalities between the two runs
// does not hold. ok is false if it has none that can be said of all pairs.
func contrary(t region.Term, pairs []Pair) (h ir.Hypothesis, ok bool) {
	for _, e := range t.All {
		d, crosses := between(e)
		if crosses && !slices.ContainsFunc(pairs, func(p Pair) bool { return !hasParam(p.A, d.First) || !hasParam(p.B, d.Second) }) {
			h.Any = append(h.Any, ir.Hypothesis{Differ: &d})
		}
	}
	return h, len(h.Any) > 0
}

// between reads an equality of a parameter of A and one of B.
func between(e region.Equality) (d ir.Difference, crosses bool) {
	if e.Not || e.Literal {
		return d, false
	}
	a, b := e.Left, e.Right
	if strings.HasPrefix(a, OwnerB+".") {
		a, b = b, a
	}
	first, okA := strings.CutPrefix(a, OwnerA+".")
	second, okB := strings.CutPrefix(b, OwnerB+".")
	return ir.Difference{First: first, Second: second}, okA && okB
}

func hasParam(s *ir.Stage, name string) bool {
	return slices.ContainsFunc(s.Params, func(p ir.Param) bool { return p.Name == name })
}

// writeClauses writes a conjunction of disjunctions.
func writeClauses(clauses []ir.Hypothesis) string {
	var all []string
	for _, c := range clauses {
		var any []string
		for _, d := range c.Any {
			text := d.Differ.First + " differs"
			if d.Differ.Second != d.Differ.First {
				text += " from " + d.Differ.Second
			}
			any = append(any, text)
		}
		text := strings.Join(any, " or ")
		if len(any) > 1 && len(clauses) > 1 {
			text = "(" + text + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, " and ")
}

func appendPattern(list []region.Pattern, p region.Pattern) []region.Pattern {
	if slices.ContainsFunc(list, func(q region.Pattern) bool { return samePattern(&p, &q) }) {
		return list
	}
	return append(list, p)
}

// classes are the parameters of two runs, with their owners, that are equal.
type classes struct{ towards map[string]string }

// classesOf are the classes that equalities make, and that follow because what is
// taken from one place is equal.
func (p Pair) classesOf(all []region.Equality) classes {
	k := classes{map[string]string{}}
	for _, e := range all {
		if !e.Not {
			k.join(operand(e.Left, false), operand(e.Right, e.Literal))
		}
	}
	for p.joinTaken(k) {
	}
	return k
}

// joinTaken joins the parameters that are taken from one place, and reports whether
// there were any that had not been.
func (p Pair) joinTaken(k classes) (joined bool) {
	p.eachCouple(ir.DependentParam, func(a, b *ir.Param) {
		x, y := OwnedParam(OwnerA, a.Name), OwnedParam(OwnerB, b.Name)
		if k.find(x) != k.find(y) && k.onePlace(a.Of, b.Of) {
			k.join(x, y)
			joined = true
		}
	})
	return joined
}

// bindsTwice reports whether both runs create one key of one container.
func (p Pair) bindsTwice(k classes) (container region.Pattern, twice bool) {
	p.eachCouple(ir.NewParam, func(a, b *ir.Param) {
		if !k.mayDiffer(a.Name, b.Name) && k.onePlace(a.Of, b.Of) {
			container, twice = a.Of, true
		}
	})
	return container, twice
}

// eachCouple visits every parameter of A of a kind with every one of B.
func (p Pair) eachCouple(kind ir.ParamKind, f func(a, b *ir.Param)) {
	for i := range p.A.Params {
		for j := range p.B.Params {
			if a, b := &p.A.Params[i], &p.B.Params[j]; a.Kind == kind && b.Kind == kind {
				f(a, b)
			}
		}
	}
}

func (k classes) find(x string) string {
	for k.towards[x] != "" {
		x = k.towards[x]
	}
	return x
}

func (k classes) join(x, y string) {
	if x, y = k.find(x), k.find(y); x != y {
		k.towards[x] = y
	}
}

// mayDiffer reports whether a parameter of A need not be one of B.
func (k classes) mayDiffer(a, b string) bool {
	return k.find(OwnedParam(OwnerA, a)) != k.find(OwnedParam(OwnerB, b))
}

// onePlace reports whether a pattern of A and one of B certainly lead to one place.
func (k classes) onePlace(a, b region.Pattern) bool {
	return slices.EqualFunc(a.Segments, b.Segments, func(s, t region.Segment) bool {
		if s.Kind == region.ParamSegment && t.Kind == region.ParamSegment {
			return !k.mayDiffer(s.Text, t.Text)
		}
		return s == t && !isWildcard(s) && s.Kind != region.AnyDepth
	})
}

// Admits reports whether arguments of the two runs, the dependent ones included, are
// within what the pair is claimed for.
func (p Pair) Admits(a, b map[string]string) bool {
	k := classes{map[string]string{}}
	for name, key := range a {
		k.join(OwnedParam(OwnerA, name), operand(key, true))
	}
	for name, key := range b {
		k.join(OwnedParam(OwnerB, name), operand(key, true))
	}
	_, twice := p.bindsTwice(k)
	return !twice && p.When.Holds(k.mayDiffer)
}
