package footprint

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

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
