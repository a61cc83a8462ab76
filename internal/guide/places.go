package guide

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// Where a stage may write. The state type, the grants and the view are walked together. Where
// one grant holds all of what is below, there is a place, and the walk ends; so a grant with
// exceptions comes to be the places beside them. Of keys, those that grants or exceptions name
// are gone into one by one, and all others, which the grants hold alike, together as <key>.
// Where the stage may write, but not create, change and remove, the walk goes on: what may not
// be replaced may have parts that may.

// A hang is how something stands in what is above it.
type hang uint8

const (
	required hang = iota // the root, or a member that its record always has
	optional             // a member that may be missing
	entry                // an entry of a map or keyed list
	element              // an element of a list
	appended             // the next entry of a set or log
	last                 // the end of a list
)

// A site is where the walk is.
type site struct {
	path     string
	keys     []Keys
	segments []region.Segment // as a pattern, with wildcards for the tokens of keys
	raw      []ir.TypeID      // the types that its place has
	types    []ir.TypeID      // that what stands here may have, no unions
	grants   grants
	read     region.Cursor // what the stage sees
	node     *tree.Node    // what the view shows, nil for nothing
	hang     hang
	except   []string
	doc      string
	above    []ancestor
	keyField string     // of an entry of a keyed list
	bag      *tree.Node // of an appended one: what it is appended to
	shown    bool       // of entries: those alone that the view shows
}

// An ancestor is a node of the view above a site, whose types have constraints or alternatives.
type ancestor struct {
	types []ir.TypeID
	node  *tree.Node
	depth int  // segments above it
	whole bool // all of it is shown: the node is of these types
}

// grants are what a stage may do where a walk is: what it writes at all, and what of that it may
// create, change and remove; and what it may add without seeing it.
type grants struct{ write, create, update, remove, blind region.Cursor }

// free reports whether everything may happen at a place and below.
func (g grants) free() bool {
	return g.create.Interior() && g.update.Interior() && g.remove.Interior()
}

// covers reports whether all may be done that others let be done.
func (g grants) covers(others grants) bool {
	return (g.adds() || !others.adds()) && (g.update.Interior() || !others.update.Interior()) && (g.remove.Interior() || !others.remove.Interior())
}

func (g grants) whole() bool     { return g.write.Interior() || g.blind.Interior() }
func (g grants) reachable() bool { return g.write.Reachable() || g.blind.Reachable() }
func (g grants) blindly() bool   { return g.blind.Reachable() }

func (g grants) key(name string) grants { return g.step(region.Key(name)) }

func (g grants) step(l region.Letter) grants {
	return grants{g.write.Step(l), g.create.Step(l), g.update.Step(l), g.remove.Step(l), g.blind.Step(l)}
}

// own lists the keys that lead somewhere of their own, and reports whether positions do.
func (g grants) own() (names []string, positions bool) {
	for _, c := range []region.Cursor{g.write, g.create, g.update, g.remove, g.blind} {
		more, some := c.Named()
		names, positions = append(names, more...), positions || some
	}
	slices.Sort(names)
	return slices.Compact(names), positions
}

// adds reports whether something may come to be that is not there.
func (g grants) adds() bool { return g.create.Interior() || g.blind.Interior() }

// may is what may be done with one place.
func (b *builder) may(s *site, exists bool) []string {
	switch {
	case s.hang == last && s.grants.update.Interior(): // the list is what changes
		return []string{"add"}
	case s.hang == last:
		return nil
	case s.hang == appended, !exists && (s.hang == optional || s.hang == entry):
		return b.mayOfMany(s, false)
	}
	var ops []string
	if b.replaces(s) {
		ops = append(ops, "replace")
	}
	if s.grants.remove.Interior() && (s.hang == optional || s.hang == entry) {
		ops = append(ops, "remove")
	}
	return ops
}

// mayOfMany is the same of entries that are alike, of which there may be some, and may come
// more. What may be added and not be replaced is for keys that are new.
func (b *builder) mayOfMany(s *site, some bool) []string {
	var ops []string
	if s.grants.adds() {
		ops = append(ops, "add")
	}
	if some && b.replaces(s) {
		ops = append(ops, "replace")
	}
	if some && s.grants.remove.Interior() && (len(ops) != 1 || ops[0] != "add") {
		ops = append(ops, "remove")
	}
	return ops
}

// replaces reports whether any value may take the place of any other: with what is in it, if
// its members may differ, some come to be and others are gone.
// Where anything may stand, what has no members may be replaced by such.
func (b *builder) replaces(s *site) bool {
	plain := s.node != nil && s.node.Kind() != ir.Object && len(s.keys) == 0 && len(s.types) == 1 && b.contract.Types[s.types[0]].Kind == ir.AnyType
	return s.grants.free() || b.keepsMembers(s) || plain && s.grants.update.Interior()
}

// keepsMembers reports whether a site may be changed, and all of its values have the same
// members.
func (b *builder) keepsMembers(s *site) bool {
	return s.grants.update.Interior() && !b.membersVary(s.raw)
}

// membersVary reports whether values of some types may differ in the names of members, at any
// depth outside of arrays.
func (b *builder) membersVary(types []ir.TypeID) bool {
	all := b.flat(types)
	return slices.ContainsFunc(all, func(id ir.TypeID) bool {
		switch t := &b.contract.Types[id]; t.Kind {
		case ir.RecordType:
			return len(all) > 1 || t.Rest != ir.NoType || slices.ContainsFunc(t.Members, func(m ir.Member) bool {
				return m.Optional || b.membersVary([]ir.TypeID{m.Type})
			})
		case ir.MapType, ir.KeyedType, ir.AnyType:
			return true
		}
		return false
	})
}

// ends reports whether the walk ends at a site that is a place.
func (b *builder) ends(s *site) bool {
	return s.grants.free() || !s.grants.write.Interior() || b.keepsMembers(s)
}

// anyKey is a key that no contract names.
const anyKey = "\x00any"

// anyIndex is a position that no contract names.
const anyIndex = 1 << 30

func (b *builder) root(write, create, update, remove, blind region.Region) site {
	start := func(r region.Region) region.Cursor { return region.Compile(r).Start(b.args) }
	return site{
		raw: []ir.TypeID{b.contract.State}, types: b.narrowed([]ir.TypeID{b.contract.State}, b.view), node: b.view,
		grants: grants{start(write), start(create), start(update), start(remove), start(blind)}, read: start(b.stage.Read),
	}
}

func (b *builder) places() {
	b.guide.Places = []Place{}
	may := b.stage.Writing
	b.visit(b.root(b.stage.Write, may(ir.Create), may(ir.Update), may(ir.Delete), b.stage.Blind), func(s site) {
		for _, s := range append(b.spread(s), b.removable(&s)...) {
			if len(b.guide.Places) == MaxPlaces {
				b.guide.Omitted++
				continue
			}
			if p, possible := b.place(s); possible {
				b.guide.Places = append(b.guide.Places, p)
				b.sites = append(b.sites, s)
			}
		}
	})
}

func (b *builder) takes() {
	of := b.stage.Source
	b.visit(b.root(of, of, of, of, nil), func(s site) {
		if s.hang != appended && !b.isSeenMissing(&s) && len(b.guide.Takes) < MaxPlaces {
			b.guide.Takes = append(b.guide.Takes, s.path)
		}
	})
}

// visit finds the places at and below a site.
func (b *builder) visit(s site, found func(site)) {
	if s.grants.whole() {
		found(s)
		if b.ends(&s) {
			return
		}
	}
	if !s.grants.reachable() || b.isMissing(&s) || b.guide.Omitted > MaxPlaces {
		return
	}
	s = b.inside(s)
	named := map[string]bool{}
	open, array, list, bag := false, false, false, false
	field := ""
	for _, id := range s.types {
		switch t := &b.contract.Types[id]; t.Kind {
		case ir.RecordType:
			for i := range t.Members {
				if name := t.Members[i].Name; !named[name] {
					if named[name] = true; name == s.keyField { // never changes
						continue
					}
					b.visit(b.member(&s, name), found)
				}
			}
			open = open || t.Rest != ir.NoType
		case ir.MapType:
			open = true
		case ir.KeyedType:
			open, field = true, t.KeyField
		case ir.AnyType:
			open = open || s.node == nil || s.node.Kind() == ir.Object
			array = array || s.node != nil && s.node.Kind() == ir.Array
		case ir.ListType:
			array, list = true, true
		case ir.SetType, ir.LogType:
			bag = true
		}
	}
	if open {
		b.entries(&s, named, field, found)
	}
	if list && s.grants.update.Interior() {
		found(b.end(&s))
	}
	if array {
		b.elements(&s, found)
	}
	if next := b.below(&s, region.Fresh("-"), appended); bag && next.grants.whole() {
		found(next)
	}
}

// inside is a site that is gone into: what judges it from above judges what is below.
func (b *builder) inside(s site) site {
	judges := slices.ContainsFunc(s.raw, func(id ir.TypeID) bool {
		t := &b.contract.Types[id]
		return len(t.Where) > 0 || t.Kind == ir.UnionType
	})
	if judges && s.node != nil {
		s.above = append(slices.Clip(s.above), ancestor{s.raw, s.node, len(s.segments), b.accepts(s.node, s.raw)})
	}
	return s
}

// isMissing reports whether there is nothing at a site to write into.
func (b *builder) isMissing(s *site) bool {
	switch {
	case s.node != nil:
		return false
	case b.isSeenMissing(s), !b.isOneContainer(s.types): // it would be shown
		return true
	case s.grants.blindly():
		return false
	}
	switch s.hang {
	case optional:
		return true
	case entry: // one that a parameter stands for is there, shown or not
		return !slices.ContainsFunc(b.stage.Params, func(p ir.Param) bool {
			return p.Kind == ir.ExistingParam && b.args[p.Name] == s.segments[len(s.segments)-1].Text
		})
	}
	return false
}

// isSeenMissing reports whether the view shows that there is nothing at a site: whatever may stand there would be
// shown, if only as the empty container of what is not.
func (b *builder) isSeenMissing(s *site) bool {
	if s.node != nil || s.hang == appended || s.hang == last {
		return false
	}
	return s.read.In() || !slices.ContainsFunc(s.types, func(id ir.TypeID) bool {
		switch b.contract.Types[id].Kind {
		case ir.RecordType, ir.MapType, ir.KeyedType:
			return !s.read.CanHold(region.Object)
		case ir.ListType, ir.SetType, ir.LogType:
			return !s.read.CanHold(region.Array)
		}
		return true
	})
}

// isOneContainer reports whether all values of some types are objects, or all arrays.
func (b *builder) isOneContainer(types []ir.TypeID) bool {
	objects, arrays := 0, 0
	for _, id := range types {
		switch b.contract.Types[id].Kind {
		case ir.RecordType, ir.MapType, ir.KeyedType:
			objects++
		case ir.ListType, ir.SetType, ir.LogType:
			arrays++
		}
	}
	return max(objects, arrays) == len(types)
}

// member is the member of a record, or of one of several.
func (b *builder) member(s *site, name string) site {
	h, doc := required, ""
	for _, id := range s.types {
		t := &b.contract.Types[id]
		m, declared := t.Member(name)
		if t.Kind != ir.RecordType || !declared || m.Optional {
			h = optional
		}
		if declared && doc == "" {
			doc = m.Doc
		}
	}
	out := b.below(s, region.Key(name), h)
	out.doc = doc
	if all := b.typesBelow(b.flat(s.raw), region.Segment{Kind: region.KeyLiteral, Text: name}); !slices.ContainsFunc(all, func(id ir.TypeID) bool { return !b.isLiteral(id) }) {
		out.raw, out.types = all, b.flat(all) // by which alternatives are told apart
	}
	return out
}

// entries are the members that no record declares: first those that the grants tell apart.
func (b *builder) entries(s *site, declared map[string]bool, field string, found func(site)) {
	others := s.grants.key(anyKey)
	var except []string
	keys, _ := s.grants.own()
	for _, name := range keys {
		own := s.grants.key(name)
		if declared[name] || own == others {
			continue
		}
		one := b.below(s, region.Key(name), entry)
		one.keyField = field
		if others.reachable() && (!own.whole() || !own.covers(others)) {
			except = append(except, one.path)
		}
		b.visit(one, found)
	}
	if !others.reachable() {
		return
	}
	all := b.generic(s, "<key>", entry)
	all.grants, all.keyField = others, field
	if !(others.whole() && b.ends(&all)) && slices.ContainsFunc(all.types, b.varies) {
		for _, name := range all.keys[len(all.keys)-1].Known {
			b.visit(b.below(s, region.Key(unescaped(name)), entry), found)
		}
		if others.adds() {
			fresh := all
			fresh.path, fresh.keys[len(fresh.keys)-1] = renamed(all.path, all.keys[len(all.keys)-1])
			fresh.except = append(slices.Clip(s.except), except...)
			found(fresh)
		}
		return
	}
	all.except = append(slices.Clip(s.except), except...)
	b.visit(all, found)
}

// elements are those of a list.
func (b *builder) elements(s *site, found func(site)) {
	any := s.grants.step(region.Index(anyIndex))
	if _, own := s.grants.own(); any.reachable() && !own && (any.whole() || !slices.ContainsFunc(b.typesBelow(s.types, region.Segment{Kind: region.AnyIndex}), b.varies)) {
		all := b.generic(s, "<index>", element)
		all.grants = any
		b.visit(all, found)
		return
	}
	if s.node == nil || s.node.Kind() != ir.Array {
		return
	}
	for i := range min(s.node.Len(), MaxPlaces) {
		b.visit(b.below(s, region.Index(i), element), found)
	}
}

// below is one step on.
func (b *builder) below(s *site, l region.Letter, h hang) site {
	token, segment := escaped(l.Name), region.Segment{Kind: region.KeyLiteral, Text: l.Name}
	var node *tree.Node
	switch l.Kind {
	case region.IndexLetter:
		token, segment = strconv.Itoa(l.Index), region.Segment{Kind: region.IndexLiteral, Index: l.Index}
		node = s.node.At(l.Index)
	case region.FreshLetter:
		token, segment = "-", region.Segment{Kind: region.FreshSegment, Text: "-"}
	default:
		if s.node != nil && s.node.Kind() == ir.Object {
			node = s.node.Get(l.Name)
		}
	}
	raw := b.typesBelow(s.types, segment)
	var bag *tree.Node
	if h == appended {
		bag = s.node
	}
	return site{
		path: s.path + "/" + token, keys: s.keys, segments: append(slices.Clip(s.segments), segment), bag: bag,
		raw: raw, types: b.narrowed(raw, node), grants: s.grants.step(l), read: s.read.Step(l), node: node, hang: h, except: s.except, above: s.above,
	}
}

// generic is one step on, to all entries or elements that are alike.
func (b *builder) generic(s *site, token string, h hang) site {
	if n := strings.Count(s.path, token[:len(token)-1]); n > 0 {
		token = fmt.Sprintf("%s%d>", token[:len(token)-1], n+1)
	}
	k := Keys{Token: token, Of: s.path}
	segment, letter := region.Segment{Kind: region.AnyKey}, region.Key(anyKey)
	if h == element {
		segment.Kind, letter = region.AnyIndex, region.Index(anyIndex)
	}
	var node *tree.Node
	switch {
	case s.node == nil:
	case h == element:
		for i := range s.node.Len() {
			k.Known = append(k.Known, strconv.Itoa(i))
		}
		node = s.node.At(0)
	case s.node.Kind() == ir.Object:
		for name, child := range s.node.Members() {
			if own := s.grants.key(name); own == s.grants.key(anyKey) {
				if k.Known = append(k.Known, escaped(name)); node == nil {
					node = child
				}
			}
		}
	}
	k.Known = k.Known[:min(len(k.Known), MaxKnown)]
	raw := b.typesBelow(s.types, segment)
	return site{
		path: s.path + "/" + token, keys: append(slices.Clip(s.keys), k), segments: append(slices.Clip(s.segments), segment),
		raw: raw, types: b.flat(raw), read: s.read.Step(letter), node: node, hang: h, except: s.except, above: s.above,
	}
}

// spread is a place with those in it that are written in ways of their own: entries, elements,
// what is appended. A log is not written but so.
func (b *builder) spread(s site) []site {
	out := []site{s}
	if !s.grants.write.Interior() || s.node == nil && s.hang != required || s.hang == appended || len(s.types) != 1 || len(s.keys) > 0 && len(s.segments) > 0 && isWildcard(s.segments[len(s.segments)-1]) {
		return out
	}
	if !b.ends(&s) { // the walk finds what is in it
		return slices.DeleteFunc(out, func(s site) bool { return b.holdsLog(s.types[0]) })
	}
	switch t := &b.contract.Types[s.types[0]]; t.Kind {
	case ir.MapType, ir.KeyedType:
		all := b.generic(&s, "<key>", entry)
		all.grants, all.keyField = s.grants.key(anyKey), t.KeyField
		return append(out, all)
	case ir.ListType:
		all := b.generic(&s, "<index>", element)
		all.grants = s.grants.step(region.Index(anyIndex))
		return append(out, b.end(&s), all)
	case ir.RecordType:
		if len(s.segments) > 0 && !b.holdsLog(s.types[0]) {
			return out
		}
		out = nil // nobody replaces all that
		s = b.inside(s)
		for _, m := range t.Members {
			out = append(out, b.spread(b.member(&s, m.Name))...)
		}
		return out
	case ir.SetType:
		return append(out, b.below(&s, region.Fresh("-"), appended))
	case ir.LogType:
		return []site{b.below(&s, region.Fresh("-"), appended)}
	}
	return out
}

// end is the end of a list.
func (b *builder) end(s *site) site {
	out := b.below(s, region.Index(anyIndex), last)
	out.path = s.path + "/-"
	return out
}

// removable are the entries of a map or keyed list that the view shows, where the stage may
// add and remove some, and replace none: what may be done with those is not what may be done
// with new ones.
func (b *builder) removable(s *site) []site {
	if s.hang != entry || !isWildcard(s.segments[len(s.segments)-1]) || len(s.keys[len(s.keys)-1].Known) == 0 || !s.grants.adds() || b.replaces(s) || !s.grants.remove.Interior() {
		return nil
	}
	one := *s
	one.shown, one.except = true, nil
	return []site{one}
}

// holdsLog reports whether a log is at or below a type.
func (b *builder) holdsLog(id ir.TypeID) bool {
	t := &b.contract.Types[id]
	return id != ir.NoType && (t.Kind == ir.LogType || b.holdsLog(t.Elem) || b.holdsLog(t.Rest) || slices.ContainsFunc(t.Alternatives, b.holdsLog) ||
		slices.ContainsFunc(t.Members, func(m ir.Member) bool { return b.holdsLog(m.Type) }))
}

// place is what is told of a site; possible is false if nothing can be done there.
func (b *builder) place(s site) (out Place, possible bool) {
	exists := s.node != nil || s.hang == required
	ops := b.may(&s, exists)
	if end := len(s.segments) - 1; end >= 0 && isWildcard(s.segments[end]) {
		s.keys = slices.Clone(s.keys)
		k := &s.keys[len(s.keys)-1]
		switch {
		case s.shown:
			ops = []string{"remove"}
		case s.hang == entry:
			ops, k.New = b.mayOfMany(&s, len(k.Known) > 0), s.grants.adds()
			if len(ops) == 1 && k.New {
				s.path, *k = renamed(s.path, *k)
				k.Fresh = b.freshKey(&s)
				exists = false
			}
		case len(k.Known) == 0:
			return out, false
		case b.changesList(s.segments[:end]):
			ops = slices.Insert(append(ops, "remove"), 0, "add")
		}
	}
	if len(ops) == 0 || slices.ContainsFunc(s.keys, func(k Keys) bool { return !k.New && len(k.Known) == 0 }) {
		return out, false
	}
	out = Place{Path: s.path, Keys: s.keys, Ops: ops, Exists: exists && s.hang != appended && s.hang != last, Shape: b.shapeAt(&s), Except: s.except, Doc: s.doc}
	if v := b.valueFor(&s); v != nil {
		out.Example = tree.AppendJSON(nil, v)
		out.Guesses = b.guesses(v)
	}
	return out, true
}

// renamed is a path that ends in a key that is to be a new one, with a name for it that tells
// it from the keys that the view shows.
func renamed(path string, k Keys) (string, Keys) {
	token := k.Token
	if len(k.Known) > 0 {
		token = "<new " + token[1:]
	}
	return strings.TrimSuffix(path, k.Token) + token, Keys{Token: token, Of: k.Of, New: true}
}

// changesList reports whether a place of the guide, which was found before, has these
// segments, and elements may come and go there.
func (b *builder) changesList(segments []region.Segment) bool {
	return slices.ContainsFunc(b.sites, func(s site) bool {
		return slices.Equal(s.segments, segments) && s.grants.update.Interior()
	})
}

// What the types say of a step.

// flat is types without unions.
func (b *builder) flat(types []ir.TypeID) []ir.TypeID {
	var out []ir.TypeID
	for _, id := range types {
		if t := &b.contract.Types[id]; t.Kind == ir.UnionType && len(t.Where) == 0 && t.Name == "" || t.Kind == ir.UnionType && b.hasContainer(id) {
			out = append(out, b.flat(t.Alternatives)...)
		} else if id != ir.NoType && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// hasContainer reports whether an alternative of a union has something below it.
func (b *builder) hasContainer(id ir.TypeID) bool {
	t := &b.contract.Types[id]
	switch t.Kind {
	case ir.UnionType:
		return slices.ContainsFunc(t.Alternatives, b.hasContainer)
	case ir.RecordType, ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType, ir.AnyType:
		return true
	}
	return false
}

// isLiteral reports whether a type is one of some literals: what tells alternatives apart.
func (b *builder) isLiteral(id ir.TypeID) bool {
	t := &b.contract.Types[id]
	return t.Kind == ir.LiteralType || t.Kind == ir.UnionType && !slices.ContainsFunc(t.Alternatives, func(a ir.TypeID) bool { return !b.isLiteral(a) })
}

// varies reports whether values of a type may differ in what is where below them, be it in
// their alternatives or in all.
func (b *builder) varies(id ir.TypeID) bool {
	t := &b.contract.Types[id]
	switch {
	case id == ir.NoType:
		return false
	case t.Kind == ir.AnyType:
		return true
	case t.Kind == ir.UnionType && b.hasContainer(id):
		return true
	}
	return b.varies(t.Elem) || b.varies(t.Rest) || slices.ContainsFunc(t.Members, func(m ir.Member) bool { return b.varies(m.Type) })
}

// narrowed is types without unions, but for those that what is shown tells to be another
// alternative: only parts below are asked, and what is replaced as a whole may become any.
func (b *builder) narrowed(types []ir.TypeID, n *tree.Node) []ir.TypeID {
	all := b.flat(types)
	if n == nil || len(all) < 2 || !slices.ContainsFunc(all, b.hasContainer) {
		return all
	}
	fit := slices.DeleteFunc(slices.Clone(all), func(id ir.TypeID) bool { return !b.mayBe(n, id) })
	if len(fit) == 0 {
		return all
	}
	return fit
}

// accepts reports whether a value is of one of some types.
func (b *builder) accepts(n *tree.Node, types []ir.TypeID) bool {
	return slices.ContainsFunc(types, func(id ir.TypeID) bool { return b.program.Accepts(n, id) })
}

// mayBe reports whether what is shown may be a part of a value of a type.
func (b *builder) mayBe(n *tree.Node, id ir.TypeID) bool {
	t := &b.contract.Types[id]
	switch t.Kind {
	case ir.AnyType:
		return true
	case ir.RecordType:
		if n.Kind() != ir.Object {
			return false
		}
		for name, child := range n.Members() {
			m, declared := t.Member(name)
			if !declared && t.Rest == ir.NoType || declared && b.isLiteral(m.Type) && !b.program.Accepts(child, m.Type) {
				return false
			}
		}
		return true
	case ir.MapType, ir.KeyedType:
		return n.Kind() == ir.Object
	case ir.ListType, ir.SetType, ir.LogType:
		return n.Kind() == ir.Array
	}
	return b.program.Accepts(n, id)
}

// typesBelow is what may stand one segment on.
func (b *builder) typesBelow(types []ir.TypeID, s region.Segment) []ir.TypeID {
	var out []ir.TypeID
	for _, id := range types {
		below := ir.NoType
		switch t := &b.contract.Types[id]; t.Kind {
		case ir.AnyType:
			below = id
		case ir.RecordType:
			below = t.Rest
			if m, declared := t.Member(s.Text); declared && !isWildcard(s) {
				below = m.Type
			}
		default:
			below = t.Elem
		}
		if below != ir.NoType && !slices.Contains(out, below) {
			out = append(out, below)
		}
	}
	return out
}

// typesAt is what may stand at a pattern without "**", unions and their alternatives.
func (b *builder) typesAt(p region.Pattern) []ir.TypeID {
	types := []ir.TypeID{b.contract.State}
	for _, s := range p.Segments {
		types = b.typesBelow(b.flat(types), s)
	}
	return types
}
