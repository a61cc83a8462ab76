package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// The schema step checks what the patch touched. At and below each effective
// target the value is checked against its type in full. Above it only what the
// write can have changed: that a record still has its member and knows it, that a
// keyed element still holds its key, that a union still has an alternative, that
// the constraints which read the written part hold. Logs must have kept what they
// held. Everything else was valid and still is.

// checkSchema is the schema step: types, references, produce.
func (v *verification) checkSchema() []finding {
	seesAll := v.stage == nil || v.stage.seesGates(ir.TypeGate, "")
	t := targetCheck{v: v, written: v.costs.forRule(true), around: v.costs.forRule(seesAll), check: typeCheck{types: &v.p.types, ctx: v.ctx, state: v.after}}
	for _, f := range v.duplicates {
		if v.written.over(f.at) <= *f.OpIndex+1 {
			t.keep(f)
		}
	}
	for _, target := range v.targets {
		t.target(target)
	}
	t.misplaced()
	found := append(t.found, v.checkReferrers()...)
	return append(found, v.checkProduce()...)
}

// Values on their own.

// checkValues checks, where the scope step has found something, the values that the other
// operations add or put: against their types alone, as far as the contract tells which these
// are, and of values that no other operation touches. So nothing that it finds depends on
// a state.
func (v *verification) checkValues(found []finding) []finding {
	var out collection
	room := v.costs.forRule(true)
	for i := range v.accesses {
		a := &v.accesses[i]
		id, ok := v.valueType(a)
		if !ok || v.touchedTwice(a.op) || slices.ContainsFunc(found, func(f finding) bool { return f.OpIndex != nil && *f.OpIndex == a.op.Index }) {
			continue
		}
		check := typeCheck{types: &v.p.types, ctx: v.ctx, room: room}
		check.check(v.p.shape(a.op.Value, id), id)
		for _, f := range check.found {
			path := a.op.RawPath + f.at.Pointer()
			index := a.op.Index
			f.Path, f.OpIndex, f.at, f.hint, f.own, f.known = &path, &index, nil, nil, true, ir.Seen
			out.add(f, asItIs)
		}
	}
	return out.found
}

// valueType is the type of the value that an operation adds or puts, if it follows from the
// contract.
func (v *verification) valueType(a *access) (id ir.TypeID, ok bool) {
	if a.op.Kind != tree.OpAdd && a.op.Kind != tree.OpReplace || a.typed.rest != nil || a.typed.union >= 0 || a.typed.fault != noFault {
		return ir.NoType, false
	}
	id = a.typed.typ
	if a.typed.lifted {
		id = v.p.contract.Types[v.p.info[id].container].Elem
	}
	return id, id != ir.NoType
}

// touchedTwice reports whether another operation goes to what one writes, or to where that
// lies in: then its value may not stay as it is.
func (v *verification) touchedTwice(op *tree.Op) bool {
	const many = 64 // operations, beyond which this is not looked for
	if len(v.patch) > many {
		return true
	}
	related := func(a, b tree.Pointer) bool {
		n := min(len(a), len(b))
		return slices.Equal(a[:n], b[:n])
	}
	for i := range v.patch {
		other := &v.patch[i]
		appends := len(op.Path) > 0 && op.Path[len(op.Path)-1] == "-" && slices.Equal(op.Path, other.Path)
		if other == op || other.Kind == tree.OpTest || appends {
			continue
		}
		if related(op.Path, other.Path) || other.Kind == tree.OpMove && related(op.Path, other.From) {
			return true
		}
	}
	return false
}

// A targetCheck checks the targets of one commit.
type targetCheck struct {
	v     *verification
	check typeCheck

	// The constraints of all values that were written count as one rule, and so do those
	// of the values around them.
	written, around ruleCost
	collection
	seen   map[findingKey]bool      // what a target and one beside it may both find
	unions map[string]bool          // places that were checked whole for a target inside
	judged map[constraint]judgement // of nodes above targets
	gated  region.Word              // the union that is checked because of a target inside, nil for none
	above  []ancestor               // nodes above the present target whose types have constraints
}

// A findingKey is what makes two findings of nodes above targets the same.
type findingKey struct {
	code       Code
	rule, path string
}

// A constraint is one where clause of a type, on one node.
type constraint struct {
	id   ir.TypeID
	node *tree.Node
	nth  int
}

// An ancestor is a node on the way to a target.
type ancestor struct {
	id    ir.TypeID
	node  *tree.Node
	depth int
}

// target walks from the root to one target and checks what stands at its end.
func (t *targetCheck) target(w region.Word) {
	p := t.v.p
	t.above = t.above[:0]
	id, n, was := p.contract.State, t.v.after, t.v.snapshot.State
	for depth, l := range w {
		if p.ambiguous(id) {
			t.union(w, depth, n, was, id)
			t.constraints(w)
			return
		}
		t.note(id, n, depth)
		concrete := p.concrete(id, n)
		if l.Kind == region.FreshLetter {
			t.appended(w[:depth], n, was, p.below(concrete, l.Name))
			t.constraints(w)
			return
		}
		if !t.mayHold(w[:depth+1], n, concrete) {
			return
		}
		id = p.below(concrete, l.Name)
		n, was = child(n, l), child(was, l)
	}
	t.keptLogs(w, was, n, id)
	if n != nil {
		t.whole(w, n, id)
	}
	t.constraints(w)
}

// note keeps a node above the target if its type has constraints.
func (t *targetCheck) note(id ir.TypeID, n *tree.Node, depth int) {
	for {
		if len(t.v.p.wheres[id]) > 0 {
			t.above = append(t.above, ancestor{id, n, depth})
		}
		if t.v.p.contract.Types[id].Kind != ir.UnionType {
			return
		}
		id = t.v.p.alternative(&t.v.p.contract.Types[id], n)
	}
}

// mayHold checks what the container n, of a type without unions, has to say about
// the last letter of w.
func (t *targetCheck) mayHold(w region.Word, n *tree.Node, concrete ir.TypeID) bool {
	p := t.v.p
	c, name := &p.contract.Types[concrete], w[len(w)-1].Name
	present := n.Get(name) != nil
	switch c.Kind {
	case ir.RecordType:
		m, declared := c.Member(name)
		if !declared && c.Rest == ir.NoType && present {
			t.once(p.unknownMember(c, p.info[concrete].text, name, w))
			return false
		}
		if declared && !m.Optional && !present {
			f := messages.missingMember(p.info[concrete].text, name).about(w)
			f.Hint = "write " + p.asks(m.Type)
			t.once(f)
			return false
		}
	case ir.KeyedType:
		if present && n.Get(name).Kind() == ir.Object && !namesItself(c, name, n.Get(name)) {
			t.once(messages.otherKey(c).about(w))
			return false
		}
	}
	return true
}

// whole checks the value n at w in full.
func (t *targetCheck) whole(w region.Word, n *tree.Node, id ir.TypeID) {
	t.check.word = append(t.check.word[:0], w...)
	t.check.collection = collection{}
	if t.check.room = t.written; t.gated != nil {
		t.check.room = t.around
	}
	t.check.check(n, id)
	t.take()
}

// take takes over what a check of a value has found.
func (t *targetCheck) take() {
	for _, f := range t.check.found {
		t.once(f)
	}
}

// union checks a union that stands at the first letters of a target and was written
// inside of. Whether it still fits, what is wrong with it if not, and what is a log in
// it, depends on all of it: whatever is found is a finding of one gate, be it about a
// part that the actor wrote.
func (t *targetCheck) union(target region.Word, depth int, n, was *tree.Node, id ir.TypeID) {
	w := target[:depth]
	t.gated = slices.Clone(w)
	if place := w.Pointer(); !t.unions[place] {
		if t.unions == nil {
			t.unions = map[string]bool{}
		}
		t.unions[place] = true
		t.whole(w, n, id)
		t.keptLogs(w, was, n, id)
	}
	before := t.v.snapshot.State
	for end := depth + 1; end <= len(target); end++ {
		if at := target[:end]; end == len(target) || target[end-1].Kind == region.IndexLetter {
			t.keptLogs(at, tree.NodeAt(before, at), tree.NodeAt(t.v.after, at), t.v.p.typeAt(before, at))
		}
	}
	t.gated = nil
}

// appended checks the elements that were added to the set or log at w.
func (t *targetCheck) appended(w region.Word, array, was *tree.Node, elem ir.TypeID) {
	check := func(i int, e *tree.Node) { t.whole(append(slices.Clone(w), region.Index(i)), e, elem) }
	if array.Order() == tree.LogOrder {
		for i := was.Len(); i < array.Len(); i++ {
			check(i, array.At(i))
		}
		return
	}
	// What a set holds is sorted, before and after: what is not the next of what it
	// held is new.
	held := 0
	for i, e := range array.Elements() {
		if e == was.At(held) {
			held++
		} else {
			check(i, e)
		}
	}
}

// constraints evaluates the constraints above the target w that read what was
// written.
func (t *targetCheck) constraints(w region.Word) {
	for _, c := range t.above {
		rules := t.v.p.wheres[c.id]
		for i := range rules {
			if !rules[i].footprint.meets(w[c.depth:]) {
				continue
			}
			if t.around.over() {
				return
			}
			if j := t.judge(&rules[i], constraint{c.id, c.node, i}); j != holds {
				t.once(t.around.because(t.v.p.unmet(c.id, i), j).below(&rules[i], w[:c.depth]))
			}
		}
	}
}

// judge evaluates a constraint, once for all targets below its node.
func (t *targetCheck) judge(r *rule, c constraint) judgement {
	j, known := t.judged[c]
	if !known {
		j = r.judge(t.v.ctx, &expr.Input{Self: c.node, Budget: t.around.budget})
		if t.judged == nil {
			t.judged = map[constraint]judgement{}
		}
		t.judged[c] = j
	}
	return j
}

// once keeps a finding that another target may have led to.
func (t *targetCheck) once(f finding) {
	if !t.seen[f.key()] {
		t.keep(f)
	}
}

func (f *finding) key() findingKey { return findingKey{f.Code, f.Rule, *f.Path} }

// keep keeps a finding, with the operation that wrote what it is about.
func (t *targetCheck) keep(f finding) {
	if t.seen == nil {
		t.seen = map[findingKey]bool{}
	}
	t.seen[f.key()] = true
	hidden := f.known == ir.Hidden
	if op := t.v.written.writer(f.at) - 1; op >= 0 && f.OpIndex == nil {
		f.OpIndex = &op
		f.known = ir.Seen // the actor knows all of a failure inside of what it wrote
		if f.rule == ir.RefGate {
			f.known = "" // to see this one takes a look elsewhere
		}
		if path, appended := asAppended(&t.v.patch[op], f.at); appended {
			f.Path, f.own = &path, true
		}
	}
	if t.gated != nil {
		f.rule, f.gated, f.known = ir.TypeGate, t.gated, ""
		f.reads = region.Region{{Include: []region.Pattern{patternOf(t.gated)}}}
	}
	if hidden {
		f.known = ir.Hidden
	}
	t.add(f, asItIs)
}

// asAppended is the path of a place in an entry that an operation appended, as its actor
// wrote it: the position would tell how many entries there are.
func asAppended(op *tree.Op, at region.Word) (path string, appended bool) {
	last := len(op.Path) - 1
	if last < 0 || op.Path[last] != "-" || len(at) <= last || at[:last].Pointer() != op.Path[:last].String() {
		return "", false
	}
	return op.RawPath + at[last+1:].Pointer(), true
}

// Logs only grow.

// keptLogs checks that the logs at and below w, which may have been written as a
// whole, still begin with what they held, and still are logs. One that holds something
// goes away only together with an entry of a map or keyed list, or an element of a
// list, that it is inside of.
func (t *targetCheck) keptLogs(w region.Word, was, n *tree.Node, id ir.TypeID) {
	if was == nil || was == n || !t.v.p.info[id].logs || n == nil && t.isEntry(w) {
		return
	}
	t.check.word = append(t.check.word[:0], w...)
	t.check.collection = collection{}
	t.check.logs(was, n, id)
	t.take()
}

// isEntry reports whether w is an entry of a container whose entries come and go.
func (t *targetCheck) isEntry(w region.Word) bool {
	if len(w) == 0 {
		return false
	}
	p := t.v.p
	parent := w[:len(w)-1]
	concrete := p.concrete(p.typeAt(t.v.snapshot.State, parent), tree.NodeAt(t.v.snapshot.State, parent))
	k := p.contract.Types[concrete].Kind
	return k == ir.MapType || k == ir.KeyedType
}

// logs compares the logs of one value before and after.
func (c *typeCheck) logs(was, n *tree.Node, id ir.TypeID) {
	if was == nil || was == n || !c.info[id].logs {
		return
	}
	concrete := c.concrete(id, was)
	t := &c.contract.Types[concrete]
	switch t.Kind {
	case ir.LogType:
		if !beginsWith(n, was) {
			c.report(messages.logChanged())
		}
	case ir.RecordType, ir.MapType, ir.KeyedType:
		for name, child := range was.Members() {
			if next := n.Get(name); next != nil || t.Kind == ir.RecordType {
				c.at(region.Key(name), func() { c.logs(child, next, c.below(concrete, name)) })
			}
		}
	}
}

// beginsWith reports whether n is a log that has all entries of was in front. Where
// there are none, it may be anything.
func beginsWith(n, was *tree.Node) bool {
	if was.Len() == 0 {
		return true
	}
	if n.Order() != tree.LogOrder {
		return false
	}
	for i, e := range was.Elements() {
		if next := n.At(i); next == nil || !tree.Equal(next, e) {
			return false
		}
	}
	return true
}

// What a stage may write is compared with what it sees, and with what others touch,
// over the places that a state can have (spec/semantics.md section 8.2). An operation
// may lead elsewhere, if only for a moment: a member that no type has, added and removed
// again, leaves the state as it was, but tells that its parent is there. So every
// target must be a place of the type, unless it is inside of what the patch itself put
// there before, of which nothing is told that the actor did not write.

// misplaced finds targets that are no place of the type.
func (t *targetCheck) misplaced() {
	for i := range t.v.effects {
		for _, w := range t.v.effects[i].Targets {
			if end := t.v.p.typedPrefix(t.v.p.contract.State, w); end < len(w) && !t.v.wroteBefore(i, w) {
				t.once(t.v.p.notOfType(w[:end+1]))
			}
		}
	}
}

// wroteBefore reports whether an operation before the i-th wrote w or a place above it.
func (v *verification) wroteBefore(i int, w region.Word) bool {
	for _, e := range v.effects[:i] {
		for _, t := range e.Targets {
			if w.HasPrefix(t) {
				return true
			}
		}
	}
	return false
}

// References: what is gone must not be named.

// A reference is a container whose keys are referred to, and every place in the
// state type that refers to it. Types do not recurse, so the places are finitely
// many patterns.
type reference struct {
	target region.Pattern
	sites  []site
}

// A site is a pattern of places that refer, and the index of the keys they name.
type site struct {
	pattern region.Pattern
	named   *index
}

// findReferences lists the containers that types refer to.
func findReferences(p *Program) []reference {
	f := referenceFinder{p: p}
	f.walk(p.contract.State, nil)
	for _, r := range f.found {
		for _, s := range r.sites {
			p.indexes = append(p.indexes, s.named)
		}
	}
	return f.found
}

type referenceFinder struct {
	p     *Program
	found []reference
}

func (f *referenceFinder) walk(id ir.TypeID, path []region.Segment) {
	if !f.p.info[id].refs {
		return
	}
	t := &f.p.contract.Types[id]
	down := func(to ir.TypeID, s region.Segment) { f.walk(to, append(path[:len(path):len(path)], s)) }
	switch t.Kind {
	case ir.RefType:
		f.site(*t.Target, region.Pattern{Segments: path})
	case ir.UnionType:
		free := f.anyString(t) // then a string refers to nothing that could be missed
		for _, alt := range t.Alternatives {
			if !free || f.p.contract.Types[alt].Kind != ir.RefType {
				f.walk(alt, path)
			}
		}
	case ir.MapType, ir.KeyedType:
		down(t.Elem, region.Segment{Kind: region.AnyKey})
	case ir.ListType, ir.SetType, ir.LogType:
		down(t.Elem, region.Segment{Kind: region.AnyIndex})
	case ir.RecordType:
		for _, m := range t.Members {
			down(m.Type, region.Segment{Kind: region.KeyLiteral, Text: m.Name})
		}
		if t.Rest != ir.NoType {
			down(t.Rest, region.Segment{Kind: region.AnyKey})
		}
	}
}

// anyString reports whether a union has an alternative that every string fits.
func (f *referenceFinder) anyString(t *ir.Type) bool {
	return slices.ContainsFunc(t.Alternatives, func(alt ir.TypeID) bool {
		a := &f.p.contract.Types[alt]
		return (a.Kind == ir.StringType || a.Kind == ir.AnyType) && len(a.Where) == 0
	})
}

func (f *referenceFinder) site(target, at region.Pattern) {
	s := site{at, newIndex(at, []region.Pattern{at}, byText)}
	for i := range f.found {
		r := &f.found[i]
		switch {
		case r.target.String() != target.String():
		case slices.ContainsFunc(r.sites, func(s site) bool { return s.pattern.String() == at.String() }):
			return
		default:
			r.sites = append(r.sites, s)
			return
		}
	}
	f.found = append(f.found, reference{target, []site{s}})
}

// checkReferrers asks, where members of a referred container went away, whether
// something still names them; and only then looks for what does. Nodes that were
// written themselves are checked already.
func (v *verification) checkReferrers() []finding {
	var found []finding
	for i := range v.p.references {
		r := &v.p.references[i]
		gone := v.goneFrom(r.target)
		if len(gone) == 0 {
			continue
		}
		for j := range r.sites {
			if s := &r.sites[j]; v.names(s, gone) {
				found = append(found, v.referrers(r, s, gone)...)
			}
		}
	}
	return found
}

func (v *verification) names(s *site, keys map[string]bool) bool {
	named := s.named.next(v.p.watch, v.snapshot.State, v.after)
	for key := range keys {
		if named.Count(key) > 0 {
			return true
		}
	}
	return false
}

func (v *verification) referrers(r *reference, s *site, gone map[string]bool) []finding {
	var all collection
	eachMatch(v.p.watch, v.after, s.pattern, func(w region.Word, n *tree.Node) bool {
		if n.Kind() == ir.String && gone[n.Text()] && !v.wrote(w) && v.dangles(w) {
			f := messages.keyInUse(r.target).of(ir.RefGate, "")
			at := w
			if union, inside := v.p.unionAbove(v.after, w); inside { // whether this refers is a matter of all of it
				f.rule, f.gated, at = ir.TypeGate, slices.Clone(union), union
			}
			all.add(f, func(f finding) finding {
				f.reads = region.Region{{Include: []region.Pattern{patternOf(at)}}}
				return f.about(w)
			})
		}
		return true
	})
	return all.found
}

// dangles checks one referring node by its type: in a union the string may be fine
// all the same.
func (v *verification) dangles(w region.Word) bool {
	at, id := v.p.judgedBy(v.after, w)
	c := typeCheck{types: &v.p.types, ctx: v.ctx, state: v.after, room: v.costs.forRule(false), word: append(region.Word{}, at...)}
	c.check(tree.NodeAt(v.after, at), id)
	return c.total > 0
}

func (v *verification) wrote(w region.Word) bool {
	return v.written.over(w) > 0
}

// goneFrom is the members of a container that the commit takes away.
func (v *verification) goneFrom(container region.Pattern) map[string]bool {
	var gone map[string]bool
	for _, t := range v.targets {
		if len(t) <= len(container.Segments) {
			if matchesWord(container.Segments[:len(t)], t) {
				gone = v.goneWhole(container, gone)
			}
			continue
		}
		member := t[len(container.Segments)]
		if len(t) == len(container.Segments)+1 && member.Kind == region.KeyLetter && matchesWord(container.Segments, t[:len(t)-1]) &&
			tree.NodeAt(v.snapshot.State, t) != nil && tree.NodeAt(v.after, t) == nil {
			gone = with(gone, member.Name)
		}
	}
	return gone
}

// goneWhole compares a container that was written from above.
func (v *verification) goneWhole(container region.Pattern, gone map[string]bool) map[string]bool {
	was, now := nodeAtPattern(v.snapshot.State, container), nodeAtPattern(v.after, container)
	if was == now || !isObject(was) {
		return gone
	}
	if !isObject(now) {
		now = tree.NewObject(nil)
	}
	tree.ChangedMembers(was, now, func(name string, _, after *tree.Node) bool {
		if after == nil {
			gone = with(gone, name)
		}
		return true
	})
	return gone
}

func with(set map[string]bool, name string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[name] = true
	return set
}

// What the stage must produce.

// checkProduce checks that what the stage must produce is there. An append to a
// log counts if this patch made it.
func (v *verification) checkProduce() []finding {
	var found []finding
	for i := range v.stage.Produce {
		p := v.stage.Produce[i].Bind(v.args)
		if v.produced(p) {
			continue
		}
		f := messages.notProduced(v.stage.Name, v.patternText(p)).of(ir.ProduceGate, "")
		if id := v.p.typeOf(p); id != ir.NoType {
			f.Hint = "add it: " + v.p.asks(id)
		}
		f.typed = v.stage.Produce[i]
		f.reads = region.Region{{Include: []region.Pattern{p}}}
		found = append(found, f)
	}
	return found
}

func (v *verification) produced(p region.Pattern) bool {
	last := len(p.Segments) - 1
	if last < 0 || p.Segments[last].Kind != region.FreshSegment {
		there := false
		eachMatch(v.p.watch, v.after, p, func(region.Word, *tree.Node) bool { there = true; return false })
		return there
	}
	grew := false
	eachMatch(v.p.watch, v.after, region.Pattern{Segments: p.Segments[:last]}, func(w region.Word, n *tree.Node) bool {
		grew = n.Len() > tree.NodeAt(v.snapshot.State, w).Len()
		return !grew
	})
	return grew
}
