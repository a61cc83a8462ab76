package footprint

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/region"
)

// A joint term holds for some value of the family keys.
type joint struct {
	region.Term                   // over the other parameters, with a's witness
	other       region.Word       // b's witness
	keys        []region.Equality // the term before the family keys were eliminated
}

// conjunction is the condition under which a and b both hold, for some value of
// the family keys: a list of terms over the other parameters. Inequalities of
// family keys are dropped, which only weakens the condition.
func conjunction(a, b region.Condition) []joint {
	var out []joint
	for _, s := range a.Any {
		for _, t := range b.Any {
			keys := append(slices.Clone(s.All), t.All...)
			if all, ok := eliminate(keys); ok && !takesReserved(region.Term{All: all}) {
				out = addTerm(out, joint{region.Term{All: all, Witness: s.Witness}, t.Witness, keys})
			}
		}
	}
	return out
}

// addTerm adds a term unless a weaker one is there.
func addTerm(terms []joint, t joint) []joint {
	for _, old := range terms {
		if implies(t.All, old.All) {
			return terms
		}
	}
	return append(terms, t)
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
