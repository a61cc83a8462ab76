package footprint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// What is false, or was not proved, is told in words: Explain gives the reasons why a pair
// of stages may not commute, with what would make it, and Shown a run that parts them,
// as far as people may see it.

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
	if c.IsUnsearched() {
		return Unsearched
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
	return at.In() || at.Reachable()
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
	for _, x := range slices.Concat(s.Bindings(), s.Require, s.Ensure) {
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

// What stands for what is not shown of a run: values at places of secret types, and
// those that have nothing to do with it.
const (
	secretMark = "(secret)"
	leftOut    = "(left out)"
)

// maxShown is how long the text of a state may be that is shown as it is; of a longer
// one only what the two stages touch is shown, and of that no longer texts than maxText.
const (
	maxShown = 1000
	maxText  = 80
)

// Shown is a run as it may be told to people: values at places of secret types are
// replaced, and a long state is cut to what the pair touches. A place that nothing
// types counts as secret where anything is.
func (m *Model) Shown(p Pair, run Counterexample) Counterexample {
	k := mask{Model: m, secrets: region.Compile(m.Contract.Secrets)}
	if len(run.State) > maxShown {
		k.touched = region.Compile(m.touchedBy(p))
	}
	run.State = k.document(run.State)
	k.touched = nil
	place := "the root"
	if run.Place != nil {
		place, _ = k.pointer(*run.Place)
	}
	run.Detail, run.Place = strings.Replace(run.Detail, PlaceMark, place, 1), nil
	for _, side := range []*Proposal{&run.A, &run.B} {
		side.Patch, side.Args = k.patch(side.Patch), k.args(side)
	}
	return run
}

// touchedBy is all that two stages and their rules see or change, parameters standing
// for any key.
func (m *Model) touchedBy(p Pair) region.Region {
	var out region.Region
	for _, s := range []*ir.Stage{p.A, p.B} {
		all := region.Union(s.Write, s.Blind, s.Source, m.local(s))
		for _, g := range m.gates() {
			for _, reads := range m.Touched(g, s) {
				all = append(all, region.Grant{Include: reads.Reads})
			}
		}
		for _, q := range Includes(all) {
			out = append(out, region.Grant{Include: []region.Pattern{anyKeys(q)}})
		}
	}
	return out
}

func anyKeys(p region.Pattern) region.Pattern {
	out := region.Pattern{Shallow: p.Shallow}
	for _, s := range p.Segments {
		if s.Kind == region.ParamSegment || s.Kind == region.FreshSegment {
			s = region.Segment{Kind: region.AnySegment}
		}
		out.Segments = append(out.Segments, s)
	}
	return out
}

type mask struct {
	*Model
	secrets *region.Set
	touched *region.Set // nil if everything is shown
}

// A spot is a place of the state: what may be there, and where it is in the two sets.
type spot struct {
	at      TypeSet
	secret  region.Cursor
	touched *region.Cursor
	nothing bool // no type says what is here
}

func (k *mask) root() spot {
	s := spot{at: k.Shape.Root(), secret: k.secrets.Start(region.Binding{})}
	if k.touched != nil {
		c := k.touched.Start(region.Binding{})
		s.touched = &c
	}
	return s
}

func (k *mask) step(s spot, l region.Letter) spot {
	out := spot{at: k.Shape.Letter(s.at, l), secret: s.secret.Step(l)}
	out.nothing = s.nothing || len(out.at) == 0
	if s.touched != nil {
		c := s.touched.Step(l)
		out.touched = &c
	}
	return out
}

// hidden reports whether what is at s may not be shown.
func (k *mask) hidden(s spot) bool {
	return s.secret.In() || s.nothing && len(k.Contract.Secrets) > 0
}

func (k *mask) document(text string) string {
	v, ok := decoded(text)
	if !ok {
		return secretMark
	}
	return encoded(k.value(k.root(), v))
}

func (k *mask) value(s spot, v any) any {
	switch {
	case k.hidden(s):
		return secretMark
	case s.touched != nil && !s.touched.Reachable():
		return leftOut
	}
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			v[name] = k.value(k.step(s, region.Key(name)), child)
		}
		return v
	case []any:
		return k.elements(s, v)
	case string:
		if s.touched != nil && len(v) > maxText {
			return strings.ToValidUTF8(v[:maxText], "") + "..."
		}
	}
	return v
}

// elements shows an array, of which a keyed list is one in files.
func (k *mask) elements(s spot, v []any) []any {
	out := make([]any, 0, len(v))
	dropped := false
	for i, child := range v {
		below := k.step(s, region.Index(i))
		if key, keyed := k.keyOf(s, child); keyed {
			below = k.step(s, region.Key(key))
		}
		shown := k.value(below, child)
		if shown == leftOut {
			dropped = true
			continue
		}
		out = append(out, shown)
	}
	if dropped {
		out = append(out, leftOut)
	}
	return out
}

func (k *mask) keyOf(s spot, element any) (string, bool) {
	members, _ := element.(map[string]any)
	for _, id := range s.at {
		if t := k.Contract.Type(id); t.Kind == ir.KeyedType {
			key, ok := members[t.KeyField].(string)
			return key, ok
		}
	}
	return "", false
}

func (k *mask) patch(text string) string {
	v, ok := decoded(text)
	ops, list := v.([]any)
	if !ok || !list {
		return secretMark
	}
	for _, op := range ops {
		members, ok := op.(map[string]any)
		if !ok {
			return secretMark
		}
		path, at := k.pointer(members["path"])
		if from, has := members["from"]; has {
			members["from"], _ = k.pointer(from)
		}
		if value, has := members["value"]; has {
			members["value"] = k.value(at, value)
		}
		members["path"] = path
	}
	return encoded(ops)
}

// pointer shows a pointer up to a place that may not be shown, and finds where it
// leads.
func (k *mask) pointer(v any) (string, spot) {
	at := k.root()
	text, _ := v.(string)
	var shown strings.Builder
	for _, token := range strings.Split(text, "/")[min(1, strings.Count(text, "/")):] {
		if text == "" {
			break
		}
		if k.hidden(at) {
			shown.WriteString("/" + secretMark)
			continue
		}
		shown.WriteString("/" + token)
		at = k.step(at, k.letter(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(token)))
	}
	return shown.String(), at
}

// letter is what a token means at s: a position in arrays, a key elsewhere.
func (k *mask) letter(s spot, token string) region.Letter {
	if object, array := k.Shape.Kinds(s.at); array && !object {
		i, _ := strconv.Atoi(token)
		return region.Index(i)
	}
	return region.Key(token)
}

// args shows arguments, but for those that are taken from something secret.
func (k *mask) args(p *Proposal) map[string]string {
	s := k.Contract.Stage(p.Stage)
	if s == nil || len(p.Args) == 0 {
		return p.Args
	}
	out := map[string]string{}
	for _, q := range s.Params {
		value, given := p.Args[q.Name]
		if !given {
			continue
		}
		from := anyKeys(q.Of)
		if from.Shallow = true; q.Kind == ir.ElementParam {
			from = Extend(from, region.Segment{Kind: region.AnyIndex})
			from.Shallow = true
		}
		origin := region.Region{{Include: []region.Pattern{from}}}
		a := region.Overlap(k.secrets, region.Compile(origin), region.Plain, region.Plain, region.Options{VerdictOnly: true})
		if out[q.Name] = value; a.Verdict != region.No {
			out[q.Name] = secretMark
		}
	}
	return out
}

func decoded(text string) (any, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err == nil
}

func encoded(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return secretMark
	}
	return strings.TrimSuffix(b.String(), "\n")
}
