package footprint

import (
	"maps"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A Gate is a rule that a commit must pass, with what it reads. Where a rule
// holds for every entry it is a family of gates, one for each key: Over is the
// pattern of the entry, whose i-th wildcard appears in Reads as the parameter
// ir.FamilyParam(i).
type Gate struct {
	ir.Gate
	Over     region.Pattern
	Reads    []region.Pattern
	Expr     *ir.Expr         // of a gate that is an expression
	Each     *ir.Each         // of one about every entry
	Whole    *ir.Expr         // of an invariant's part, the invariant
	Removals []region.Pattern // of a reference: removing what these match triggers the gate too
	Bounds   []ir.Bound       // what a commit must keep to, to make it fail in no case; none where that is not known

	contested []region.Pattern // of a union: places below it that are arrays of several kinds
}

// Family is what one member of the gate's family reads. A key that the state holds at
// one place, and by which an entry is looked up, is one more key of the family,
// whatever it is: a reference depends on the one key it holds.
func (g Gate) Family() []region.Pattern {
	switch {
	case g.Kind == ir.RefGate:
		value := region.Segment{Kind: region.ParamSegment, Text: referenceKey}
		out := []region.Pattern{g.Reads[0]}
		for _, r := range g.Removals {
			key := Extend(Prefix(r, len(r.Segments)-1), value)
			key.Shallow = true
			out = append(out, key)
		}
		return out
	case g.Expr != nil && (g.Kind == ir.InvariantGate || g.Kind == ir.ChangeGate):
		return g.Expr.Patterns()
	}
	return g.Reads
}

// referenceKey is the key that a reference holds.
var referenceKey = ir.FamilyParam(0)

// FamilyOf is Family as far as the phases go in which a stage's commit may be judged.
func (g Gate) FamilyOf(s *ir.Stage) []region.Pattern {
	if g.Expr != nil && g.Kind == ir.InvariantGate {
		return g.Expr.PatternsIn(s.PhasesAfter())
	}
	return g.Family()
}

// lookups are the keys of the family that the state holds.
func (g Gate) lookups() []ir.Lookup {
	switch {
	case g.Kind == ir.RefGate:
		return []ir.Lookup{{Key: referenceKey, At: g.Reads[0]}}
	case g.Expr != nil:
		return g.Expr.Lookups
	}
	return nil
}

// entryKeys lists the family keys that stand for entries of logs.
func (g Gate) entryKeys() []string {
	var out []string
	n := 0
	for _, s := range g.Over.Segments {
		if !isWildcard(s) {
			continue
		}
		if n++; s.Kind == region.AnyIndex && mentions(g.Reads, ir.FamilyParam(n)) {
			out = append(out, ir.FamilyParam(n))
		}
	}
	return out
}

func mentions(patterns []region.Pattern, param string) bool {
	return slices.ContainsFunc(patterns, func(p region.Pattern) bool { return slices.Contains(p.Params(), param) })
}

// StageGates lists the gates that only this stage's commits pass through: all of
// them run every time, those of its parameters for each view as well.
func (m *Model) StageGates(s *ir.Stage) []Gate {
	var out []Gate
	for i := range s.Params {
		if p := &s.Params[i]; p.Where != nil {
			out = append(out, Gate{Gate: ir.Gate{Kind: ir.BindGate, Name: p.Name}, Reads: ReadPatterns(*p.Where), Expr: p.Where})
		}
	}
	for i, x := range s.Require {
		out = append(out, Gate{Gate: ir.Gate{Kind: ir.RequireGate, Name: strconv.Itoa(i + 1), Clause: x.Name}, Reads: ReadPatterns(x), Expr: &s.Require[i]})
	}
	for i, x := range s.Ensure {
		out = append(out, Gate{Gate: ir.Gate{Kind: ir.EnsureGate, Name: strconv.Itoa(i + 1), Clause: x.Name}, Reads: ReadPatterns(x)})
	}
	for _, p := range s.Produce {
		at := p
		p.Shallow = true
		out = append(out, Gate{Gate: ir.Gate{Kind: ir.ProduceGate, At: &at}, Reads: []region.Pattern{p}})
	}
	for _, from := range s.In {
		for _, a := range m.Contract.Phase(from).Arrows {
			if a.Guard != nil && slices.Contains(s.Next, a.To) {
				out = append(out, Gate{Gate: ir.Gate{Kind: ir.GuardGate, Name: a.To}, Reads: ReadPatterns(*a.Guard)})
			}
		}
	}
	return out
}

// StateGates lists the gates of the state itself; a commit passes through those
// it touches.
func (m *Model) StateGates() []Gate {
	out := m.invariantGates()
	references := map[string]int{} // by place
	m.EachTyped(func(p region.Pattern, t *ir.Type) bool {
		at, family := p, m.familyOf(p)
		if reads := m.typeReads(family, t); len(reads) > 0 {
			out = append(out, Gate{Gate: ir.Gate{Kind: ir.TypeGate, At: &at}, Over: p, Reads: reads, Bounds: m.boundsOf(p, t), contested: m.contested(t)})
		}
		if t.Kind != ir.RefType {
			return true
		}
		i, known := references[p.String()]
		if !known {
			i = len(out)
			references[p.String()] = i
			out = append(out, Gate{Gate: ir.Gate{Kind: ir.RefGate, At: &at}, Over: p, Reads: []region.Pattern{family}})
		}
		out[i].refersTo(keysOf(t))
		return true
	})
	return out
}

// typeReads is what a node's type depends on beside what was written: what its
// constraints read, and all of the node if that tells which alternative is meant,
// with the keys that may be referred to from inside.
func (m *Model) typeReads(family region.Pattern, t *ir.Type) []region.Pattern {
	var out []region.Pattern
	for _, x := range t.Where {
		for _, r := range x.Reads {
			out = append(out, join(family, r.Pattern))
		}
	}
	if !m.isAmbiguous(t) {
		return out
	}
	return append(append(out, family), m.keysBelow(t)...)
}

// boundsOf says of a union whose gate reads the keys that something in it may refer to
// that it goes on to fit as long as it stays, and no such key is taken away.
func (m *Model) boundsOf(at region.Pattern, t *ir.Type) []ir.Bound {
	if !m.isAmbiguous(t) {
		return nil
	}
	rest := []region.Pattern{at}
	for _, x := range t.Where {
		for _, r := range x.Reads {
			rest = append(rest, join(at, r.Pattern))
		}
	}
	var out []ir.Bound
	for _, keys := range m.keysBelow(t) {
		out = append(out, ir.Bound{Least: true, Of: keys, Rest: rest})
	}
	return out
}

// keysBelow is the keys that something in a value of a union may refer to.
func (m *Model) keysBelow(t *ir.Type) []region.Pattern {
	var out []region.Pattern
	for _, id := range t.Alternatives {
		m.eachBelow(region.Pattern{}, id, func(_ region.Pattern, below *ir.Type) bool {
			if below.Kind == ir.RefType {
				out = append(out, keysOf(below))
			}
			return true
		})
	}
	return out
}

// keysOf is the keys of the container that a reference names one of.
func keysOf(reference *ir.Type) region.Pattern {
	keys := Extend(*reference.Target, region.Segment{Kind: region.AnyKey})
	keys.Shallow = true
	return keys
}

// refersTo adds the keys of a container: in a union a string may name a member of
// this one or that.
func (g *Gate) refersTo(keys region.Pattern) {
	if slices.ContainsFunc(g.Removals, func(p region.Pattern) bool { return samePattern(&p, &keys) }) {
		return
	}
	g.Reads, g.Removals = append(g.Reads, keys), append(g.Removals, keys)
}

// invariantGates lists the rules that the invariants come to.
func (m *Model) invariantGates() []Gate {
	var out []Gate
	for i := range m.Contract.Invariants {
		v := &m.Contract.Invariants[i]
		of := ir.Gate{Kind: v.Gate(), Name: v.Name}
		if v.Unique != nil {
			g := Gate{Gate: of}
			for _, p := range v.UniquePlaces() {
				g.Reads = append(g.Reads, m.answers().Whole(p)...)
			}
			out = append(out, g)
		}
		rules := v.Rules()
		for j := range rules {
			r := &rules[j]
			g := Gate{Gate: of, Reads: ReadPatterns(r.Expr), Expr: &r.Expr, Each: r.Each, Whole: v.Expr}
			if r.Bound != nil {
				g.Bounds = []ir.Bound{*r.Bound}
			}
			if r.Each != nil {
				g.Over = r.Each.Over
			}
			out = append(out, g)
		}
	}
	return out
}

// isAmbiguous reports whether fitting the type depends on more of the value than
// what was written: several alternatives are containers of one kind.
func (m *Model) isAmbiguous(t *ir.Type) bool {
	if t.Kind != ir.UnionType {
		return false
	}
	objects, arrays := 0, 0
	for _, a := range t.Alternatives {
		object, array := m.Shape.Kinds(TypeSet{a})
		if object {
			objects++
		}
		if array {
			arrays++
		}
	}
	return objects > 1 || arrays > 1
}

// familyOf replaces the wildcards of a pattern by the family keys. A position of a
// list or set is no key: a wildcard that may match one stays, which makes its gates
// one. Entries of logs have keys of their own (spec/semantics.md section 6.5).
func (m *Model) familyOf(p region.Pattern) region.Pattern {
	out := region.Pattern{Segments: slices.Clone(p.Segments)}
	n := 0
	for i, s := range p.Segments {
		if !isWildcard(s) {
			continue
		}
		if n++; n > ir.MaxFamilyKeys {
			break
		}
		if s.Kind == region.AnyKey || m.Shape.Only(m.Shape.At(Prefix(p, i)), ir.LogType) {
			out.Segments[i] = region.Segment{Kind: region.ParamSegment, Text: ir.FamilyParam(n)}
		}
	}
	return out
}

func isWildcard(s region.Segment) bool {
	return s.Kind == region.AnyKey || s.Kind == region.AnyIndex || s.Kind == region.AnySegment
}

func join(p, below region.Pattern) region.Pattern {
	return region.Pattern{Segments: append(slices.Clone(p.Segments), below.Segments...), Shallow: below.Shallow}
}

// entryBefore is the owner of the entries that logs have when a commit begins.
const entryBefore = "@before"

// withEntries adds what stands for an entry of a log to the keys that are fixed.
func (g Gate) withEntries(keys map[string]region.Segment, entry region.Segment) map[string]region.Segment {
	out := maps.Clone(keys)
	for _, key := range g.entryKeys() {
		if _, fixed := out[key]; !fixed {
			out[key] = entry
		}
	}
	return out
}

// maxMembers is how many members of a family are told apart by keys that a stage's
// patterns name. Of families with more, the keys are any.
const maxMembers = 64

// membersOf lists the members of a family with some keys fixed: one for every key that
// the stage's patterns name, and one for all the others.
func (m *Model) membersOf(g Gate, s *ir.Stage, keys map[string]region.Segment) []map[string]region.Segment {
	out := []map[string]region.Segment{keys}
	entries, n := g.entryKeys(), 0
	for i, over := range g.Over.Segments {
		if !isWildcard(over) {
			continue
		}
		n++
		key := ir.FamilyParam(min(n, ir.MaxFamilyKeys))
		if _, fixed := keys[key]; fixed || n > ir.MaxFamilyKeys || slices.Contains(entries, key) || !mentions(g.Reads, key) {
			continue
		}
		out = withNamed(out, key, m.namedAt(g, s, i), over)
	}
	return out
}

// withNamed adds, to each of some members, those with one of the named keys in the
// place of key.
func withNamed(members []map[string]region.Segment, key string, named []region.Segment, any region.Segment) []map[string]region.Segment {
	with := func(keys map[string]region.Segment, s region.Segment) map[string]region.Segment {
		out := maps.Clone(keys)
		out[key] = s
		return out
	}
	all := members
	if len(members)*(1+len(named)) > maxMembers {
		all, named = nil, []region.Segment{any}
	}
	for _, keys := range members {
		for _, s := range named {
			all = append(all, with(keys, s))
		}
	}
	return all
}

// namedAt lists the keys that patterns of a stage may name at segment i of a family.
func (m *Model) namedAt(g Gate, s *ir.Stage, i int) []region.Segment {
	var out []region.Segment
	for _, r := range []region.Region{s.Read, s.Write} {
		for _, p := range Patterns(r) {
			for _, q := range segmentsAt(p, i) {
				if (IsLiteral(q) || q.Kind == region.ParamSegment) && !slices.Contains(out, q) && !m.declares(g, i, q) {
					out = append(out, q)
				}
			}
		}
	}
	return out
}

// segmentsAt lists the segments of a pattern that may match letter i of a word.
func segmentsAt(p region.Pattern, i int) []region.Segment {
	for depth, s := range p.Segments[:min(i+1, len(p.Segments))] {
		if s.Kind == region.AnyDepth {
			return p.Segments[depth:]
		}
	}
	if i < len(p.Segments) {
		return p.Segments[i : i+1]
	}
	return nil
}

// declares reports whether a key is a declared member where a family of typed nodes
// has the further ones.
func (m *Model) declares(g Gate, i int, key region.Segment) bool {
	at := m.Shape.At(Prefix(g.Over, i))
	return (g.Kind == ir.TypeGate || g.Kind == ir.RefGate) && len(at) > 0 && !slices.ContainsFunc(at, func(id ir.TypeID) bool {
		t := m.Contract.Type(id)
		_, declared := t.Member(key.Text)
		return t.Kind != ir.RecordType || !declared
	})
}

// newMember is the family key of a member that a blind grant with a wildcard adds.
const newMember = "@new"

// withoutFamily leaves out, for the instance that stands for all members, what a
// blind grant cannot touch of it: the members it adds have an instance of their own.
func withoutFamily(reads []region.Pattern, all bool) []region.Pattern {
	if !all {
		return reads
	}
	return slices.DeleteFunc(slices.Clone(reads), func(p region.Pattern) bool {
		return slices.ContainsFunc(p.Segments, func(s region.Segment) bool {
			return s.Kind == region.ParamSegment && isFamily(s.Text) || s.Kind == region.FreshSegment && s.Text == entryBefore
		})
	})
}

// instances lists the ways in which the written patterns single out members of
// the family over: the wildcards they fix. The first, without any, stands for all.
func instances(over region.Pattern, write, blind region.Region) []map[string]region.Segment {
	out := []map[string]region.Segment{{}}
	seen := map[string]bool{"": true}
	add := func(p region.Pattern, added bool) {
		sub, label, ok := unify(over, p, added)
		if ok && !seen[label] {
			seen[label] = true
			out = append(out, sub)
		}
	}
	for _, p := range Includes(write) {
		add(p, false)
	}
	for _, p := range Includes(blind) {
		add(p, true)
	}
	return out
}

// unify walks a family pattern and a written pattern in step and returns what the
// written one fixes of the family's keys. Where it adds members, its own wildcards
// stand for a new one.
func unify(over, p region.Pattern, added bool) (sub map[string]region.Segment, label string, ok bool) {
	sub = map[string]region.Segment{}
	n := 0
	for i, s := range over.Segments {
		if i == len(p.Segments) || p.Segments[i].Kind == region.AnyDepth {
			break
		}
		q := p.Segments[i]
		switch {
		case isWildcard(s):
			n++
			if added && isWildcard(q) {
				q = region.Segment{Kind: region.ParamSegment, Text: newMember}
			}
			if !isWildcard(q) {
				sub[ir.FamilyParam(n)] = q
				label += ir.FamilyParam(n) + "=" + q.String() + ";"
			}
		case IsLiteral(s) && IsLiteral(q) && s.Text != q.Text:
			return nil, "", false
		}
	}
	return sub, label, true
}

func substituteAll(patterns []region.Pattern, keys map[string]region.Segment) []region.Pattern {
	out := make([]region.Pattern, len(patterns))
	for i, p := range patterns {
		out[i] = substitute(p, keys)
	}
	return out
}

func substitute(p region.Pattern, sub map[string]region.Segment) region.Pattern {
	out := region.Pattern{Segments: slices.Clone(p.Segments), Shallow: p.Shallow}
	for i, s := range out.Segments {
		if to, ok := sub[s.Text]; ok && s.Kind == region.ParamSegment {
			out.Segments[i] = to
		}
	}
	return out
}

// Where one alternative of a union has a list (which is what arrays in "any" are) and
// another a set or log, what else the union holds decides what the array is. That is
// told by what may be done with the array, and by the digest of a view of it. A stage
// that sees the array without a commit that touches the union learns it all the same, so
// the union's gate counts as one that it triggers.

// contested lists the places in a union, relative to it, that are arrays of several kinds.
func (m *Model) contested(union *ir.Type) []region.Pattern {
	if !m.isAmbiguous(union) {
		return nil
	}
	var out []region.Pattern
	kinds := map[string]ir.TypeKind{}
	for _, id := range union.Alternatives {
		m.eachBelow(region.Pattern{}, id, func(p region.Pattern, t *ir.Type) bool {
			kind, array := arrayKind(t)
			if other, known := kinds[p.String()]; array && known && other != kind {
				out = append(out, p)
			}
			if array {
				kinds[p.String()] = kind
			}
			return true
		})
	}
	return out
}

func arrayKind(t *ir.Type) (kind ir.TypeKind, array bool) {
	switch t.Kind {
	case ir.AnyType:
		return ir.ListType, true
	case ir.ListType, ir.SetType, ir.LogType:
		return t.Kind, true
	}
	return "", false
}

// usesContested reports whether a stage sees or takes from an array of which a member of
// the gate's family decides what it is.
func (m *Model) usesContested(g Gate, s *ir.Stage, keys map[string]region.Segment) bool {
	if len(g.contested) == 0 {
		return false
	}
	uses := region.Compile(region.Union(s.Read, s.Source))
	for _, below := range g.contested {
		at := substitute(join(m.familyOf(g.Over), below), g.withEntries(keys, region.Segment{Kind: region.AnyIndex}))
		array := region.Compile(region.Region{{Include: []region.Pattern{at}}})
		if m.overlap(uses, array, region.Shown, region.Interior).Verdict != region.No {
			return true
		}
	}
	return false
}

// CannotFail reports whether no commit of a stage can make a gate fail that holds. To
// whoever may run the stage it tells nothing.
func (m *Model) CannotFail(g Gate, s *ir.Stage) bool {
	return g.Kind == ir.InvariantGate && len(s.Next) == 0 && m.keeps(&g, m.Effect(s, OwnerA))
}

// keeps reports whether no commit of an effect can make a gate fail that holds: the gate
// bounds how many nodes there are, and the stage adds none, or takes none away, and
// touches nothing else that the gate depends on (spec/semantics.md theorem 11).
func (m *Model) keeps(g *Gate, e Effect) bool {
	return len(g.Bounds) > 0 && !slices.ContainsFunc(g.Bounds, func(b ir.Bound) bool { return !m.keepsTo(b, e) })
}

func (m *Model) keepsTo(b ir.Bound, e Effect) bool {
	one := func(p region.Pattern) bool { return apart(p, b.Of) || isOneWay(e.Stage, p, b.Of, b.Least) }
	blind := func(p region.Pattern) bool { return apart(p, b.Of) || b.Least }
	return !slices.ContainsFunc(Includes(e.Stage.Write), func(p region.Pattern) bool { return !one(p) }) &&
		!slices.ContainsFunc(Includes(e.Stage.Blind), func(p region.Pattern) bool { return !blind(p) }) &&
		m.touch(b.Rest, e.Write).Never()
}

// apart reports whether writes into p change nothing about which nodes of exist.
func apart(p, of region.Pattern) bool {
	for i, s := range p.Segments {
		switch {
		case s.Kind == region.AnyDepth:
			return false
		case i == len(of.Segments):
			return true // it lies below them
		case !s.MayMeet(widest(of.Segments[i])):
			return true
		}
	}
	return false
}

// widest is a segment with any key for that of a family.
func widest(s region.Segment) region.Segment {
	if s.Kind == region.ParamSegment {
		return region.Segment{Kind: region.AnyKey}
	}
	return s
}

// isOneWay reports whether p is the place of one of the nodes, and of one that a
// commit can only add (a key that is new, the next entry of a set or log) where none
// may be taken away, or only take away (a key that is there) where none may be added.
func isOneWay(s *ir.Stage, p, of region.Pattern, least bool) bool {
	n := len(of.Segments)
	if len(p.Segments) != n || slices.ContainsFunc(p.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth }) {
		return false
	}
	last := p.Segments[n-1]
	if last.Kind == region.FreshSegment {
		return least
	}
	kind := ir.ExistingParam
	if least {
		kind = ir.NewParam
	}
	return last.Kind == region.ParamSegment && slices.ContainsFunc(s.Params, func(q ir.Param) bool {
		return q.Name == last.Text && q.Kind == kind && q.Of.String() == Prefix(p, n-1).String()
	})
}
