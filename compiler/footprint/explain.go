package footprint

import (
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/compiler/region"
)

// Explain says in words why a pair may not commute, the strongest reason first,
// and what would make it.
func Explain(p Pair) string {
	var lines []string
	for _, c := range p.Conflicts {
		if line := p.sentence(c); len(lines) < maxReasons && !contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// maxReasons bounds what is listed for one pair; the rest says the same again.
const maxReasons = 4

func contains(lines []string, line string) bool {
	for _, l := range lines {
		if l == line {
			return true
		}
	}
	return false
}

// sentence is one conflict with its cure.
func (p Pair) sentence(c Conflict) string {
	a, b, path := p.name(c.A), p.name(c.B), PathText(c.Path)
	when := ""
	if len(c.When.All) > 0 {
		when = " when " + p.Condition(c.When)
	}
	switch c.Kind {
	case PhaseConflict:
		return fmt.Sprintf("%s moves the phase (`next`): it commutes with nothing in it", a)
	case WriteConflict:
		return fmt.Sprintf("both write %s%s: narrow one `write`, or let a parameter tell them apart", path, when)
	case SourceConflict:
		return fmt.Sprintf("%s may test or take from %s, which %s writes%s: narrow one of the two", a, path, b, when)
	case LocalConflict:
		return fmt.Sprintf("a rule or parameter of %s depends on %s, which %s writes%s", a, path, b, when)
	case GateConflict:
		return fmt.Sprintf("both touch %s%s: what one leaves room for, the other may use up", GateName(c.Gate.Gate), when)
	}
	return fmt.Sprintf("%s sees %s, which %s writes%s: narrow the `read` of %s", a, path, b, when, a)
}

// name is the stage of an owner, told apart where both are one.
func (p Pair) name(owner string) string {
	s, other := p.A, p.B
	if owner == OwnerB {
		s, other = p.B, p.A
	}
	if s.Name != other.Name {
		return s.Name
	}
	if owner == OwnerB {
		return "the second " + s.Name
	}
	return "the first " + s.Name
}

// Condition writes parameter equalities in the author's words: "ticket is equal"
// for one parameter of both, "ticket of A is id of B" otherwise.
func (p Pair) Condition(t region.Term) string {
	var parts []string
	for _, e := range t.All {
		lo, lp, _ := strings.Cut(e.Left, ".")
		ro, rp, owned := strings.Cut(e.Right, ".")
		verb := "is"
		if e.Not {
			verb = "is not"
		}
		switch {
		case e.Literal || !owned:
			parts = append(parts, fmt.Sprintf("%s of %s %s %q", lp, p.name(lo), verb, e.Right))
		case lp == rp && lo != ro && !e.Not:
			parts = append(parts, lp+" is equal")
		case lp == rp && lo != ro:
			parts = append(parts, lp+" differs")
		default:
			parts = append(parts, fmt.Sprintf("%s of %s %s %s of %s", lp, p.name(lo), verb, rp, p.name(ro)))
		}
	}
	return strings.Join(parts, " and ")
}

// PathText writes a witness for people: parameters without their owner.
func PathText(w region.Word) string {
	if len(w) == 0 {
		return "the whole state"
	}
	var out region.Word
	for _, l := range w {
		if l.Kind == region.ParamLetter {
			if _, p, owned := strings.Cut(l.Name, "."); owned {
				l.Name = p
			} else if strings.HasPrefix(l.Name, "@") {
				l.Name = "any"
			}
		}
		out = append(out, l)
	}
	return out.Pointer()
}
