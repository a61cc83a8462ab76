package footprint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Explain says in words why a pair may not commute, the strongest reason first,
// and what would make it.
func Explain(p Pair) string {
	var lines []string
	for _, c := range p.Conflicts {
		if line := p.sentence(c); len(lines) < maxReasons && !p.goesWithoutSaying(c) && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// Cure says which hypothesis would make a false claim about commuting a true one; ""
// if none would.
func (m *Model) Cure(claim ir.Claim, clashing []Pair) string {
	if claim.Kind != ir.AllCommute {
		if when := m.Suggestion(m.pairs(claim.Stages)); when != "" {
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

// goesWithoutSaying reports whether a conflict only repeats another one: what a
// stage sees it may test, and two instances of one stage are alike.
func (p Pair) goesWithoutSaying(c Conflict) bool {
	if p.A.Name == p.B.Name && c.A == OwnerB {
		return true
	}
	return c.Kind == SourceConflict && slices.ContainsFunc(p.Conflicts, func(d Conflict) bool {
		return d.Kind == ViewConflict && d.A == c.A && PathText(d.Path) == PathText(c.Path)
	})
}

// maxReasons bounds what is listed for one pair; the rest says the same again.
const maxReasons = 4

// sentence is one conflict, with its cure where no values of parameters are one.
func (p Pair) sentence(c Conflict) string {
	a, b, path := p.Name(c.A), p.Name(c.B), p.placeText(c.Path)
	when := ""
	if len(c.When.All) > 0 {
		when = " when " + p.Condition(c.When)
	}
	switch c.Kind {
	case PhaseConflict:
		return fmt.Sprintf("%s moves the phase (`next`): it commutes with nothing in it", a)
	case WriteConflict:
		return fmt.Sprintf("both write %s%s", path, when) + p.apart(c)
	case SourceConflict:
		return fmt.Sprintf("%s may test or take from %s, which %s writes%s", a, path, b, when) + p.apart(c)
	case LocalConflict:
		return fmt.Sprintf("a rule or parameter of %s depends on %s, which %s writes%s", a, path, b, when) + p.apart(c)
	case GateConflict:
		return fmt.Sprintf("both touch %s%s: what one leaves room for, the other may use up, unless one of them writes nothing that it reads", GateName(c.Gate.Gate), when)
	}
	return fmt.Sprintf("%s sees %s, which %s writes%s", a, path, b, when) + p.apart(c)
}

// apart says what would keep two stages apart, where a hypothesis does not.
func (p Pair) apart(c Conflict) string {
	path := p.placeText(c.Path)
	isOne := p.A.Name == p.B.Name
	isSeen := c.Kind == ViewConflict || c.Kind == SourceConflict
	switch {
	case slices.ContainsFunc(c.When.All, func(e region.Equality) bool { _, crosses := between(e); return crosses }):
		return ""
	case isSeen && c.Bag != nil:
		bag := p.placeText(c.Bag)
		return ": a view has a place for every entry of " + bag + ", whatever `except` says; keep " + bag + " as a whole out of the `read` of " + p.Stage(c.A).Name +
			", or out of the `write` of " + p.Stage(c.B).Name
	case isSeen && !p.readsItself(c):
		return ": " + p.Name(c.A) + " reads in a union whose alternatives disagree on what stands at one place, and so counts as one that sees all of it" +
			"; let the alternatives agree on every place, or keep the union out of the `read` of " + p.Stage(c.A).Name
	case c.List != nil:
		return fmt.Sprintf(": make the list at %s a `list of T by FIELD`, so that its elements have names", PathText(c.List))
	case c.Kind == WriteConflict && isOne:
		return ": let a parameter tell two runs apart, or take " + path + " out of the `write`" + byExcept(path, p.A.Write)
	case c.Kind == WriteConflict:
		return ": take " + path + " out of one `write`" + byExcept(path, p.A.Write, p.B.Write) + ", or let a parameter tell them apart"
	case c.Kind == LocalConflict:
		return ": take " + path + " out of the `write` of " + p.Stage(c.B).Name + ", or drop what depends on it"
	case isOne:
		return ": take " + path + " out of the `read` or the `write` of " + p.A.Name + byExcept(path, p.A.Read, p.A.Write)
	}
	return ": take " + path + " out of the `read` of " + p.Name(c.A) + " or the `write` of " + p.Name(c.B) + byExcept(path, p.Stage(c.A).Read, p.Stage(c.B).Write)
}

// byExcept says how a place is taken out of clauses: not with `except` from one that
// names nothing else, of which nothing would be left.
func byExcept(place string, clauses ...region.Region) string {
	isAll := func(r region.Region) bool {
		return slices.ContainsFunc(Patterns(r), func(q region.Pattern) bool { return sourceText(q) == place })
	}
	switch {
	case !slices.ContainsFunc(clauses, isAll):
		return " with `except`"
	case slices.ContainsFunc(clauses, func(r region.Region) bool { return !isAll(r) }):
		return " (with `except` where the clause has more)"
	}
	return ""
}

// sourceText is a pattern as its author may have written it.
func sourceText(q region.Pattern) string {
	var b strings.Builder
	for i, s := range q.Segments {
		if s.Kind != region.AnyDepth || i+1 < len(q.Segments) {
			b.WriteString("/" + s.Source())
		}
	}
	if b.Len() == 0 {
		return PathText(nil)
	}
	return b.String()
}

// readsItself reports whether the reader of a conflict names its place, or what lies below:
// else the place only counts as read.
func (p Pair) readsItself(c Conflict) bool {
	s := p.Stage(c.A)
	at := region.Compile(region.Union(s.Read, s.Source)).Start(region.Binding{})
	for _, l := range c.Path {
		if _, name, owned := strings.Cut(l.Name, "."); owned && l.Kind == region.ParamLetter {
			l.Name = name
		}
		at = at.Step(l)
	}
	return at.In() || at.Live()
}

// placeText writes a place where two stages meet as a clause would: a step that no clause
// and no rule of theirs names is any.
func (p Pair) placeText(w region.Word) string {
	named := map[string]bool{}
	for _, s := range []*ir.Stage{p.A, p.B} {
		for _, q := range patternsOf(s) {
			for _, segment := range q.Segments {
				named[segment.Text] = named[segment.Text] || IsLiteral(segment)
			}
		}
	}
	out := slices.Clone(w)
	for i, l := range w {
		if l.Kind == region.IndexLetter || l.Kind == region.KeyLetter && !named[l.Name] {
			out[i] = region.Key("*")
		}
	}
	return PathText(out)
}

// patternsOf lists what the clauses, parameters and conditions of a stage name.
func patternsOf(s *ir.Stage) []region.Pattern {
	var out []region.Pattern
	for _, r := range []region.Region{s.Read, s.Write, s.Blind, s.Source} {
		out = append(out, Patterns(r)...)
	}
	for _, q := range s.Params {
		out = append(out, q.Of)
	}
	for _, x := range slices.Concat(s.Require, s.Ensure) {
		out = append(out, ReadPatterns(x)...)
	}
	return append(out, s.Produce...)
}

// Stage is the stage of an owner.
func (p Pair) Stage(owner string) *ir.Stage {
	if owner == OwnerB {
		return p.B
	}
	return p.A
}

// LedBy is the pair with one of its conflicts first.
func (p Pair) LedBy(c Conflict) Pair {
	p.Conflicts = append([]Conflict{c}, p.Conflicts...)
	return p
}

// Name is the stage of an owner in words, told apart where both are one.
func (p Pair) Name(owner string) string {
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
			parts = append(parts, fmt.Sprintf("%s of %s %s %q", lp, p.Name(lo), verb, e.Right))
		case lp == rp && lo != ro && !e.Not:
			parts = append(parts, lp+" is equal")
		case lp == rp && lo != ro:
			parts = append(parts, lp+" differs")
		default:
			parts = append(parts, fmt.Sprintf("%s of %s %s %s of %s", lp, p.Name(lo), verb, rp, p.Name(ro)))
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
