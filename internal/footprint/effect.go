package footprint

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// An Effect is what one instance of a stage touches, as certificates use it
// (spec/semantics.md sections 5 and 6.1). Parameters and fresh keys carry the
// instance's owner, so that two instances of one stage can be told apart.
type Effect struct {
	Stage  *ir.Stage
	Owner  string
	Read   region.Region // R: what its view shows, and what decides about the shape of that
	Write  region.Region // W, blind grants included; commits stay within its interior
	Source region.Region // P: what its patch may take from or test
	Local  region.Region // Q: what its own gates and parameters depend on

	gates map[int]region.Condition // by gate of the model, for what the effect touches it, as far as known
	texts map[ConflictKind]string  // of the parts that conflicts of a kind are about, likewise
}

// text is the part of an effect that conflicts of a kind are about, as text.
func (e Effect) text(kind ConflictKind, part region.Region) string {
	t, known := e.texts[kind]
	if !known {
		t = e.Owner + "\n" + regionText(part)
		if e.texts != nil {
			e.texts[kind] = t
		}
	}
	return t
}

// regionText is a text that only regions of the same grants have.
func regionText(r region.Region) string {
	var b strings.Builder
	for _, g := range r {
		for _, p := range g.Include {
			b.WriteString(p.String() + "\n")
		}
		for _, p := range g.Except {
			b.WriteString("!\n" + p.String() + "\n")
		}
		b.WriteString(";\n")
	}
	return b.String()
}

// Effect gives the effect of an instance of a stage.
func (m *Model) Effect(s *ir.Stage, owner string) Effect {
	own := func(r region.Region) region.Region {
		return r.Own(owner).Rename(func(p string) string { return OwnedParam(owner, p) })
	}
	return Effect{
		Stage:  s,
		Owner:  owner,
		Read:   own(region.Union(m.showing(s.Read), m.deciding(s.Read))),
		Write:  own(m.elements(region.Union(s.Write, s.Blind))),
		Source: own(region.Union(s.Source, s.Read)),
		Local:  own(m.local(s)),
		gates:  map[int]region.Condition{},
		texts:  map[ConflictKind]string{},
	}
}

// elements replaces the new entries of sets by elements like any other: an element
// that a set holds already is refused, so entries of sets, unlike those of logs, are
// private to nobody.
func (m *Model) elements(w region.Region) region.Region {
	if !slices.ContainsFunc(w, hasFreshEntry) {
		return w
	}
	var out region.Region
	for _, g := range w {
		out = append(out, region.Grant{Include: m.settle(g.Include), Except: m.settle(g.Except)})
	}
	return out
}

// showing lets the exceptions of what is seen hide what is in the elements of sets and
// logs, but not that they are there: the view of an array has a place for each. The
// elements of other arrays need no such care, since adding one writes the array. Of what an
// exception takes away whole, nothing is shown.
func (m *Model) showing(r region.Region) region.Region {
	out := slices.Clone(r)
	for i, g := range r {
		out[i].Except = slices.Clone(g.Except)
		for j, p := range g.Except {
			if m.hidesEntries(p) {
				out[i].Except[j] = Extend(p, region.Segment{Kind: region.AnySegment})
				out[i].Include = without(out[i].Include, p)
			}
		}
	}
	return out
}

// without is what is left of patterns of which an exception takes some away whole.
func without(ps []region.Pattern, except region.Pattern) []region.Pattern {
	taken := region.Compile(region.Region{{Include: []region.Pattern{except}}})
	return slices.DeleteFunc(slices.Clone(ps), func(p region.Pattern) bool {
		one := region.Compile(region.Region{{Include: []region.Pattern{p}}})
		return region.Within(one, taken, region.Plain, region.Plain, region.Options{VerdictOnly: true}).Verdict == region.Yes
	})
}

// hidesEntries reports whether a pattern may match elements of a set or log.
func (m *Model) hidesEntries(p region.Pattern) bool {
	last := len(p.Segments) - 1
	for ; last >= 0 && p.Segments[last].Kind == region.AnyDepth; last-- {
	}
	if last < 0 || !mayBePosition(p.Segments[last]) {
		return false
	}
	return slices.ContainsFunc(m.Shape.At(Prefix(p, last)), func(id ir.TypeID) bool {
		kind := m.Contract.Type(id).Kind
		return kind == ir.SetType || kind == ir.LogType
	})
}

func mayBePosition(s region.Segment) bool {
	return s.MayMeet(region.Segment{Kind: region.AnyIndex})
}

func hasFreshEntry(g region.Grant) bool {
	return slices.ContainsFunc(g.Include, isFreshEntry) || slices.ContainsFunc(g.Except, isFreshEntry)
}

func isFreshEntry(p region.Pattern) bool {
	last := len(p.Segments) - 1
	return last >= 0 && p.Segments[last].Kind == region.FreshSegment
}

func (m *Model) settle(ps []region.Pattern) []region.Pattern {
	out := slices.Clone(ps)
	for i, p := range out {
		container := Prefix(p, max(0, len(p.Segments)-1))
		if isFreshEntry(p) && !m.Shape.Only(m.Shape.At(container), ir.LogType) {
			out[i] = Extend(container, region.Segment{Kind: region.AnyIndex})
		}
	}
	return out
}

// OwnedParam names a parameter of an owner's instance; the keys of families are
// shared by everybody.
func OwnedParam(owner, param string) string {
	if len(param) > 0 && param[0] == '@' {
		return param
	}
	return owner + "." + param
}

// local is the footprint of a stage's own gates, and of what its parameters are
// taken from (semantics 6.1, "Stage-local gates").
func (m *Model) local(s *ir.Stage) region.Region {
	var include []region.Pattern
	for _, g := range m.StageGates(s) {
		include = append(include, g.Reads...)
	}
	for _, p := range s.Params {
		of := p.Of
		if p.Kind.IsKey() {
			of = Extend(of, region.Segment{Kind: region.ParamSegment, Text: p.Name})
			of.Shallow = true
		}
		include = append(include, of)
	}
	if len(include) == 0 {
		return nil
	}
	return region.Region{{Include: include}}
}

// Told is what a run's arguments tell its actor beside what the view shows: that the
// key of a parameter is there, and of a keyed list the field that holds it; what a list
// holds of which a parameter is one, and what conditions on binding are about. Where a
// parameter is taken from is part of what the stage reads. That the key of a new
// member is free is one bit, as with a blind write, and is not counted.
func (m *Model) Told(s *ir.Stage) region.Region {
	var include []region.Pattern
	for _, p := range s.Params {
		if p.Kind == ir.ExistingParam || p.Kind == ir.ElementParam {
			include = append(include, m.told(p)...)
		}
		if p.Where != nil {
			include = append(include, ReadPatterns(*p.Where)...)
		}
	}
	if len(include) == 0 {
		return nil
	}
	return region.Region{{Include: include}}
}

// told is the member that a parameter names, without what is in it, or the list that it is
// in: which element it is, the state does not say.
func (m *Model) told(p ir.Param) []region.Pattern {
	if p.Kind == ir.ElementParam {
		return []region.Pattern{p.Of}
	}
	member := Extend(p.Of, region.Segment{Kind: region.ParamSegment, Text: p.Name})
	out := []region.Pattern{member}
	out[0].Shallow = true
	for _, id := range m.Shape.At(p.Of) {
		if t := m.Contract.Type(id); t.Kind == ir.KeyedType {
			out = append(out, Extend(member, region.Segment{Kind: region.KeyLiteral, Text: t.KeyField}))
		}
	}
	return out
}

// The key of an entry of a keyed list is what one of its fields holds. A view that shows
// the entry, if only on the way to something below, shows that field as a name; and a
// reference holds it.

// A KeyedList is where a state has a keyed list.
type KeyedList struct {
	Entry region.Pattern // any of its entries
	Key   region.Pattern // the field that holds an entry's key
}

// A keyIndex finds the keyed lists that a stage may see entries of, or references to,
// without asking about each. It finds too much where an exception or a type says otherwise,
// never too little.
type keyIndex struct {
	letters    alphabet
	lists      []KeyedList
	references []reference
	entries    trie // by what an entry is, the lists
	referring  trie // by where they stand, the references
}

// A reference is where a state has a reference to a keyed list, by number.
type reference struct {
	at   region.Pattern
	list int
}

// keyIndex is the index of the state, whose types must be complete.
func (m *Model) keyIndex() *keyIndex {
	if m.keys != nil {
		return m.keys
	}
	x := &keyIndex{}
	x.letters.numbers = map[region.Segment]symbol{}
	x.entries.alphabet, x.referring.alphabet = &x.letters, &x.letters
	numbers := map[string][]int{} // of lists, by where they stand: alternatives may be several
	m.EachTyped(func(p region.Pattern, t *ir.Type) bool {
		if t.Kind == ir.KeyedType {
			entry := Extend(p, region.Segment{Kind: region.AnyKey})
			numbers[p.String()] = append(numbers[p.String()], len(x.lists))
			x.entries.file(x.letters.path(entry), len(x.lists))
			x.lists = append(x.lists, KeyedList{entry, Extend(entry, region.Segment{Kind: region.KeyLiteral, Text: t.KeyField})})
		}
		return true
	})
	m.EachTyped(func(p region.Pattern, t *ir.Type) bool {
		if t.Kind == ir.RefType {
			for _, list := range numbers[t.Target.String()] {
				x.referring.file(x.letters.path(p), len(x.references))
				x.references = append(x.references, reference{p, list})
			}
		}
		return true
	})
	x.letters.forget()
	m.keys = x
	return x
}

// near calls visit with the numbers that are filed under what patterns may meet.
func (x *keyIndex) near(t *trie, n int, patterns []region.Pattern, visit func(i int)) {
	found := newMembers(n)
	for _, p := range patterns {
		t.find(x.letters.path(p), found)
	}
	x.letters.forget()
	found.each(visit)
}

// KeyedListsShown lists the keyed lists of the contract's state of which a view of a region
// shows entries. Not knowing counts as showing.
func (m *Model) KeyedListsShown(r region.Region) (out []KeyedList) {
	m.eachListShown(r, func(i int) { out = append(out, m.keyIndex().lists[i]) })
	return out
}

func (m *Model) eachListShown(r region.Region, visit func(i int)) {
	x, shown := m.keyIndex(), region.Compile(r)
	x.near(&x.entries, len(x.lists), Includes(r), func(i int) {
		entry := region.Region{{Include: []region.Pattern{x.lists[i].Entry}}}
		if m.overlap(shown, region.Compile(entry), region.Shown, region.Interior).Verdict != region.No {
			visit(i)
		}
	})
}

// KeysKnown is the key fields whose values a run knows without reading them: as the
// names of entries that its view shows, and from references that it sees or copies.
func (m *Model) KeysKnown(s *ir.Stage) region.Region {
	x := m.keyIndex()
	if len(x.lists) == 0 {
		return nil
	}
	known := newMembers(len(x.lists))
	m.eachListShown(s.Read, func(i int) { known.add(i) })
	sees := region.Union(s.Read, s.Source)
	for _, p := range s.Params { // one out of a list of references is one, and what a condition says of one tells it
		if p.Kind == ir.ElementParam {
			sees = append(sees, region.Grant{Include: m.told(p)})
		}
		if p.Where != nil && len(p.Where.Reads) > 0 {
			sees = append(sees, region.Grant{Include: ReadPatterns(*p.Where)})
		}
	}
	seen := region.Compile(sees)
	x.near(&x.referring, len(x.references), Includes(sees), func(i int) {
		r := x.references[i]
		one := region.Region{{Include: []region.Pattern{r.at}}}
		if !known.has(r.list) && m.overlap(seen, region.Compile(one), region.Plain, region.Plain).Verdict != region.No {
			known.add(r.list)
		}
	})
	var include []region.Pattern
	known.each(func(i int) { include = append(include, x.lists[i].Key) })
	if len(include) == 0 {
		return nil
	}
	return region.Region{{Include: include}}
}

// The rest is for the compiler: what whoever may run a stage knows of a place without
// reading it, because it must stand there, because the view shows it, or because it is new.

// ParentStands reports whether a container exists in every state in which the
// stage's parameters are bound, or shows in the stage's view.
func (m *Model) ParentStands(s *ir.Stage, p region.Pattern) bool {
	if m.Certain(s, p) {
		return true
	}
	p.Shallow = true
	_, ok := m.Within(region.Region{{Include: []region.Pattern{p}}}, m.Seen(s), region.Plain, region.Plain)
	return ok
}

// Certain reports whether the node at p exists as a container of one kind in
// every state in which the stage's parameters are bound: required members only, keys only
// where a parameter vouches for them, and whatever a bound parameter was found below.
func (m *Model) Certain(s *ir.Stage, p region.Pattern) bool {
	_, ok := m.Uncertain(s, p)
	return ok
}

// Uncertain is how many segments of p lead to the first node that may be missing, or be
// something else; ok is true, and the number without a meaning, if there is none.
func (m *Model) Uncertain(s *ir.Stage, p region.Pattern) (at int, ok bool) {
	end := m.uncertain(s, p)
	return end, end < 0
}

func (m *Model) uncertain(s *ir.Stage, p region.Pattern) int {
	if m.Contract.Type(m.Contract.State).Kind == ir.UnionType {
		return 0
	}
	at := m.Shape.Root()
	bound := m.boundPath(s, p)
	for i, seg := range p.Segments {
		at = m.holding(at, bound, i)
		if i < len(bound) && seg == bound[i] {
			at = m.Shape.Letter(at, boundLetter(seg))
			continue
		}
		bound = bound[:min(i, len(bound))]
		if len(at) != 1 {
			return i
		}
		switch t := m.Contract.Type(at[0]); {
		case t.Kind == ir.RecordType && seg.Kind == region.KeyLiteral:
			member, ok := t.Member(seg.Text)
			if !ok || member.Optional {
				return i + 1
			}
			at = m.Shape.Expand(nil, member.Type)
		case seg.Kind == region.ParamSegment && m.vouched(s, seg.Text, Prefix(p, i)):
			at = m.Shape.Letter(at, region.Param(seg.Text))
		default:
			return i + 1
		}
	}
	if at = m.holding(at, bound, len(p.Segments)); len(at) == 1 {
		if object, array := m.Shape.Kinds(at); object != array {
			return -1
		}
	}
	return len(p.Segments)
}

// boundPath is the path to what a bound parameter was found by, of the one that has most in
// common with p: the host's key, the text or list that a key is taken from, or the entry that a
// reference names. All nodes on it are there.
func (m *Model) boundPath(s *ir.Stage, p region.Pattern) (longest []region.Segment) {
	if s == nil {
		return nil
	}
	most := 0
	consider := func(path []region.Segment) {
		same := 0
		for same < min(len(path), len(p.Segments)) && path[same] == p.Segments[same] {
			same++
		}
		if same > most || longest == nil {
			longest, most = path, same
		}
	}
	for _, q := range s.Params {
		self := region.Segment{Kind: region.ParamSegment, Text: q.Name}
		switch q.Kind {
		case ir.ExistingParam:
			consider(append(slices.Clone(q.Of.Segments), self))
		case ir.DependentParam, ir.ElementParam:
			consider(q.Of.Segments)
			from := q.Of
			if q.Kind == ir.ElementParam {
				from = Extend(from, region.Segment{Kind: region.AnyIndex})
			}
			if at := m.Shape.At(from); m.Shape.Only(at, ir.RefType) && len(at) == 1 {
				consider(append(slices.Clone(m.Contract.Type(at[0]).Target.Segments), self))
			}
		}
	}
	return longest
}

// holding is the types of the node that i segments of the path to what a parameter was found
// by lead to: those that the rest of the path can lead on from.
func (m *Model) holding(at TypeSet, bound []region.Segment, i int) TypeSet {
	if i >= len(bound) {
		return at
	}
	var out TypeSet
	for _, id := range at {
		if len(m.Shape.Letter(TypeSet{id}, boundLetter(bound[i]))) > 0 {
			out = append(out, id)
		}
	}
	return out
}

func boundLetter(s region.Segment) region.Letter {
	if s.Kind == region.ParamSegment {
		return region.Param(s.Text)
	}
	return region.Key(s.Text)
}

// Known reports whether p is about a node alone of which everybody knows all there is
// to know: that it is an object. Of an array there is its length as well.
func (m *Model) Known(s *ir.Stage, p region.Pattern) bool {
	if !p.Shallow || !m.Certain(s, p) {
		return false
	}
	_, array := m.Shape.Kinds(m.Shape.At(p))
	return !array
}

// vouched reports whether a bound parameter is certainly a key of the container.
func (m *Model) vouched(s *ir.Stage, param string, container region.Pattern) bool {
	if s == nil {
		return false
	}
	for _, q := range s.Params {
		if q.Name != param {
			continue
		}
		switch q.Kind {
		case ir.ExistingParam:
			return q.Of.String() == container.String()
		case ir.DependentParam:
			return m.refersTo(q.Of, container)
		case ir.ElementParam:
			return m.refersTo(Extend(q.Of, region.Segment{Kind: region.AnyIndex}), container)
		}
	}
	return false
}

// Seen is a stage's read region and its spine: the containers on the way to what
// it reads, whose existence and kind show in the view (semantics 11.1).
func (m *Model) Seen(s *ir.Stage) region.Region {
	out := slices.Clone(s.Read)
	for _, g := range s.Read {
		spine := region.Grant{Except: g.Except}
		for _, p := range g.Include {
			if coveredBy(p, g.Except) {
				continue
			}
			for i := range p.Segments {
				if p.Segments[i].Kind == region.AnyDepth {
					break
				}
				up := Prefix(p, i)
				if object, array := m.Shape.Kinds(m.Shape.At(up)); object != array && m.containersOnly(up) {
					up.Shallow = true
					spine.Include = append(spine.Include, up)
				}
			}
		}
		if len(spine.Include) > 0 {
			out = append(out, spine)
		}
	}
	return out
}

// coveredBy reports whether some exception may leave nothing of an include to see:
// one that reaches up to the include. Then nothing on the way to it need show.
func coveredBy(include region.Pattern, excepts []region.Pattern) bool {
	return slices.ContainsFunc(excepts, func(e region.Pattern) bool {
		depth := slices.IndexFunc(e.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth })
		if depth < 0 {
			depth = len(e.Segments)
		}
		return depth <= len(include.Segments) && meets(include, e)
	})
}

func meets(p, q region.Pattern) bool {
	one := func(p region.Pattern) *region.Set {
		return region.Compile(region.Region{{Include: []region.Pattern{p}}})
	}
	return region.Overlap(one(p), one(q), region.Plain, region.Plain, region.Options{VerdictOnly: true}).Verdict != region.No
}

// OpenPrefixes lists, as shallow patterns, the nodes on the way to p that need not be
// a container of one kind. The root is left out: it exists, and an object shows.
func (m *Model) OpenPrefixes(p region.Pattern) []region.Pattern {
	var out []region.Pattern
	for i := 1; i < len(p.Segments); i++ {
		up := Prefix(p, i)
		if object, array := m.Shape.Kinds(m.Shape.At(up)); object == array || !m.containersOnly(up) {
			up.Shallow = true
			out = append(out, up)
		}
	}
	return out
}

// containersOnly reports whether every value at p is an object or array.
func (m *Model) containersOnly(p region.Pattern) bool {
	return m.Shape.Only(m.Shape.At(p), ir.RecordType, ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType)
}

// ExemptParent recognises an append to a log and a path below a new key.
func (m *Model) ExemptParent(s *ir.Stage, p region.Pattern) (region.Pattern, bool) {
	for i, seg := range p.Segments {
		parent := Prefix(p, i)
		if seg.Kind == region.FreshSegment && m.Shape.Only(m.Shape.At(parent), ir.LogType) {
			return parent, true
		}
		if seg.Kind == region.ParamSegment && slices.ContainsFunc(s.Params, func(q ir.Param) bool {
			return q.Name == seg.Text && q.Kind == ir.NewParam && q.Of.String() == parent.String()
		}) {
			return parent, true
		}
	}
	return region.Pattern{}, false
}

// OwnEntry reports whether p lies in what a commit of the stage adds as new: below a
// new key, a log entry, or a blind grant. The actor knows all of it.
func (m *Model) OwnEntry(s *ir.Stage, p region.Pattern) bool {
	if _, exempt := m.ExemptParent(s, p); exempt {
		return true
	}
	return slices.ContainsFunc(Includes(s.Blind), func(b region.Pattern) bool {
		return len(b.Segments) <= len(p.Segments) && slices.EqualFunc(b.Segments, p.Segments[:len(b.Segments)], adds)
	})
}

// adds reports whether a segment of a blind grant leads to what a segment of a
// footprint reads: a wildcard only to the member it adds.
func adds(blind, read region.Segment) bool {
	if isWildcard(blind) {
		return read.Kind == region.ParamSegment && read.Text == newMember
	}
	return blind == read
}

// WithoutExempt leaves out the exempt patterns of an authority.
func (m *Model) WithoutExempt(s *ir.Stage, w region.Region) region.Region {
	var out region.Region
	for _, g := range w {
		include := slices.DeleteFunc(slices.Clone(g.Include), func(p region.Pattern) bool {
			_, exempt := m.ExemptParent(s, p)
			return exempt
		})
		if len(include) > 0 {
			out = append(out, region.Grant{Include: include, Except: g.Except})
		}
	}
	return out
}
