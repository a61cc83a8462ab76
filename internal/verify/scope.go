package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// The scope step (spec/semantics.md section 3.5) judges authority before anything
// else, and authority before existence. First, for all operations, wherever the
// state type fixes what a pointer means; there the answer depends on no state. If
// that finds something, no operation runs. Then the operations run one after the
// other, and what is still open is judged on the state each of them runs on.
//
// execute is the whole step as a function of a state. It runs a second time on
// what the actor sees, to find out what the actor may be told (actor.go).

// A use is one pointer of an operation and the authority that it needs.
type use struct {
	op    *tree.Op
	ptr   tree.Pointer
	raw   string
	how   access
	needs authority
	again bool // another use has the same pointer; one report of its spelling is enough
	place place
}

// An authority is what a stage must have been granted for a use.
type authority uint8

const (
	toWrite authority = iota // inside one write grant; or to add a new member, inside one blind grant
	toTake                   // inside one source grant
	toTest                   // inside one source or read grant
)

// typeUses lists the uses of all operations and types them without a state.
func (v *verification) typeUses() {
	v.uses = make([]use, 0, len(v.patch)+2)
	tokens := 0
	for i := range v.patch {
		tokens += len(v.patch[i].Path) + 2*len(v.patch[i].From)
	}
	v.letters = make(region.Word, 0, tokens)
	v.firstUse = make([]int, 0, len(v.patch)+1)
	for i := range v.patch {
		op := &v.patch[i]
		v.firstUse = append(v.firstUse, len(v.uses))
		switch op.Kind {
		case tree.OpAdd:
			v.use(op, op.Path, op.RawPath, inserts, toWrite)
		case tree.OpRemove:
			v.use(op, op.Path, op.RawPath, takes, toWrite)
		case tree.OpReplace:
			v.use(op, op.Path, op.RawPath, looks, toWrite)
		case tree.OpTest:
			v.use(op, op.Path, op.RawPath, looks, toTest)
		case tree.OpCopy:
			v.use(op, op.From, op.RawFrom, looks, toTake)
			v.use(op, op.Path, op.RawPath, inserts, toWrite)
		case tree.OpMove:
			v.use(op, op.From, op.RawFrom, looks, toTake)
			v.use(op, op.From, op.RawFrom, takes, toWrite)
			v.uses[len(v.uses)-1].again = true
			v.use(op, op.Path, op.RawPath, inserts, toWrite)
		}
	}
	v.firstUse = append(v.firstUse, len(v.uses))
}

func (v *verification) use(op *tree.Op, ptr tree.Pointer, raw string, how access, needs authority) {
	first := len(v.letters)
	v.letters = v.letters[:first+len(ptr)]
	room := v.letters[first:first:len(v.letters)]
	v.uses = append(v.uses, use{op: op, ptr: ptr, raw: raw, how: how, needs: needs, place: v.p.locateIn(room, nil, ptr, how)})
}

// usesOf are the uses of one operation.
func (v *verification) usesOf(op *tree.Op) []use {
	return v.uses[v.firstUse[op.Index]:v.firstUse[op.Index+1]]
}

// checkScope is the scope step on the state.
func (v *verification) checkScope() []finding {
	done := v.execute(v.snapshot.State)
	v.after, v.effects, v.running, v.twice = done.after, done.effects, done.steps, done.twice
	v.written = writing{}
	for i := range done.effects {
		for _, t := range done.effects[i].Targets {
			v.written.add(t, i)
		}
	}
	v.targets = v.written.outermost()
	return done.found
}

// An execution is the scope step on one state.
type execution struct {
	v       *verification
	write   region.Cursor
	blind   region.Cursor
	source  region.Cursor
	read    region.Cursor
	trusts  bool // the patch was judged before; only run it
	partial bool // the state is a view: of a union there may be no more than a part
	after   *tree.Node
	steps   []*tree.Node // the state that each operation ran on
	effects []tree.Effect
	twice   []finding // additions to sets that held the element
	found   []finding
}

func (v *verification) execute(root *tree.Node) *execution { return v.executeOn(root, false) }

func (v *verification) executeOn(root *tree.Node, partial bool) *execution {
	e := &execution{
		v: v, after: root, partial: partial,
		write: v.stage.write.Start(v.args), blind: v.stage.blind.Start(v.args),
		source: v.stage.source.Start(v.args), read: v.stage.read.Start(v.args),
	}
	never := e.judgeTyped()
	if len(e.found) > 0 {
		return e
	}
	if last := e.runAll(); last >= 0 {
		e.after = root
		e.found = append(e.found, laterThan(last, never)...)
	}
	return e
}

// What the contract alone decides.

// judgeTyped judges every use that the state type settles. It returns, apart,
// those uses of untyped parts that no state could allow: they are reported if the
// run ends before it reaches them.
func (e *execution) judgeTyped() (never []finding) {
	for i := range e.v.uses {
		u := &e.v.uses[i]
		allowed, exact := u.place.anyWord(u.how, func(w region.Word) bool { return e.allows(u, w) })
		switch {
		case allowed && u.place.fault == entryByIndex:
			e.report(say.entryByIndex(u.op.Index, u.raw, e.bagOf(u)))
		case !allowed && u.place.rest == nil:
			e.report(e.outside(u))
		case !allowed && exact:
			never = append(never, e.outside(u))
		}
	}
	return never
}

// allows reports whether the stage may use the word w as u does.
func (e *execution) allows(u *use, w region.Word) bool {
	switch u.needs {
	case toWrite:
		return e.write.Walk(w).Interior() || e.addsBlindly(u, w)
	case toTake:
		return e.source.Walk(w).Interior()
	default:
		return e.source.Walk(w).Interior() || e.read.Walk(w).Interior()
	}
}

// addsBlindly reports whether u may add a new member at w without seeing it.
func (e *execution) addsBlindly(u *use, w region.Word) bool {
	return u.op.Kind == tree.OpAdd && len(w) > 0 && w[len(w)-1].Kind == region.KeyLetter && e.blind.Walk(w).Interior()
}

// outside is the finding that u is not allowed.
func (e *execution) outside(u *use) finding {
	s := e.v.stage
	switch u.needs {
	case toWrite:
		return say.outsideWrite(s.Name, u.op.Index, u.raw, e.v.nearestPatterns(u.ptr, s.Write, s.Blind))
	case toTake:
		return say.outsideSource(s.Name, u.op.Index, u.raw, e.v.nearestPatterns(u.ptr, s.Source))
	default:
		return say.outsideRead(s.Name, u.op.Index, u.raw, e.v.nearestPatterns(u.ptr, s.Read, s.Source))
	}
}

// bagOf is "set" or "log", whichever the pointer of u goes into by index.
func (e *execution) bagOf(u *use) string {
	t := e.v.p.contract.State
	for _, token := range u.ptr {
		switch e.v.p.types[t].form {
		case setForm:
			return tree.SetOrder.String()
		case logForm:
			return tree.LogOrder.String()
		}
		t = e.v.p.below(t, token)
	}
	return tree.LogOrder.String()
}

// report adds a finding unless the same was said about the operation before: a
// move reads and writes its source.
func (e *execution) report(f finding) {
	for i := len(e.found) - 1; i >= 0 && *e.found[i].OpIndex == *f.OpIndex; i-- {
		g := &e.found[i]
		if g.Code == f.Code && g.Message == f.Message && *g.Path == *f.Path {
			return
		}
	}
	e.found = append(e.found, f)
}

// laterThan are the findings about operations after i.
func laterThan(i int, found []finding) []finding {
	var out []finding
	for _, f := range found {
		if *f.OpIndex > i {
			out = append(out, f)
		}
	}
	return out
}

// The operations, one after the other.

// runAll runs the operations, and returns the index of the one that failed, or -1.
func (e *execution) runAll() int {
	e.effects = make([]tree.Effect, 0, len(e.v.patch))
	e.steps = make([]*tree.Node, 0, len(e.v.patch))
	for i := range e.v.patch {
		e.steps = append(e.steps, e.after)
		if e.runOp(&e.v.patch[i]); len(e.found) > 0 {
			return i
		}
	}
	return -1
}

// runOp judges what is still open about an operation and runs it.
func (e *execution) runOp(op *tree.Op) {
	e.v.p.watch.look()
	value := op.Value
	uses := e.v.usesOf(op)
	for i := range uses {
		u := &uses[i]
		at := e.locate(u)
		if !e.judgeOpen(u, at) {
			return
		}
		if u.how == inserts || op.Kind == tree.OpReplace {
			value = e.valueFor(op, at)
		}
	}
	e.apply(op, value)
}

// locate types a use on the running state, if its type does not do so. The end of
// a move is typed in the state after the removal.
func (e *execution) locate(u *use) place {
	if u.place.rest == nil {
		return u.place
	}
	root := e.after
	if u.op.Kind == tree.OpMove && u.how == inserts {
		if next, _, problem := e.removed(u.op); problem == nil && len(u.op.From) > 0 {
			root = next
		}
	}
	return e.v.p.locate(root, u.ptr, u.how)
}

// judgeOpen judges a use on the running state, and reports whether it is allowed.
func (e *execution) judgeOpen(u *use, at place) bool {
	if e.trusts {
		return true
	}
	if u.place.rest != nil {
		if allowed, _ := at.anyWord(u.how, func(w region.Word) bool { return e.allows(u, w) }); !allowed {
			e.report(e.outside(u))
			return false
		}
	}
	if u.needs == toTake && at.rest == nil && tree.NodeAt(e.after, at.word).HoldsLog() {
		e.report(say.logSource(u.op.Index, u.raw))
		return false
	}
	if u.op.Kind == tree.OpAdd && at.rest == nil && e.addsBlindly(u, at.word) &&
		!e.write.Walk(at.word).Interior() && tree.NodeAt(e.after, at.word) != nil {
		f := say.blindExisting(e.v.stage.Name, u.op.Index, u.raw)
		f.known = ir.Disclosed
		e.report(f)
		return false
	}
	return true
}

// valueFor is the value that op puts at the place, in the shape of the place's type as
// far as that is known before; nil to leave copying and moving to the operation.
func (e *execution) valueFor(op *tree.Op, at place) *tree.Node {
	t := at.typ
	if at.lifted {
		t = e.v.p.contract.Types[e.v.p.types[t].container].Elem
	}
	if !op.Kind.HasFrom() {
		return e.v.p.shape(op.Value, t)
	}
	from := e.v.p.locate(e.after, op.From, looks)
	if from.typ == t && t != ir.NoType {
		return nil
	}
	n := tree.NodeAt(e.after, from.word)
	if n == nil || from.rest != nil {
		return nil
	}
	if shaped := e.v.p.reshape(n, t); shaped != n {
		return shaped
	}
	return nil
}

// apply runs one operation; value takes the place of what it says or copies.
func (e *execution) apply(op *tree.Op, value *tree.Node) {
	next, effect, problem := e.applied(op, value)
	if problem != nil {
		e.report(e.explain(op, say.problem(problem)))
		return
	}
	if f, twice := heldAlready(e.after, next, op, effect); twice {
		e.twice = append(e.twice, f)
	}
	uses := e.v.usesOf(op)
	for i := range uses {
		if uses[i].how != takes || op.Kind == tree.OpRemove {
			next = e.settled(next, &uses[i])
		}
	}
	e.after = next
	e.effects = append(e.effects, effect)
}

func (e *execution) applied(op *tree.Op, value *tree.Node) (*tree.Node, tree.Effect, *tree.Problem) {
	limits := e.v.p.limits.State
	switch {
	case op.Kind == tree.OpMove && !op.MovesIntoItself() && len(op.From) > 0 && !slices.Equal(op.From, op.Path):
		return e.applyMove(op, value)
	case op.Kind == tree.OpCopy && value != nil:
		return e.applyCopy(op, value)
	case value != op.Value && !op.Kind.HasFrom():
		shaped := *op
		shaped.Value = value
		return limits.Apply(e.after, shaped)
	default:
		return limits.Apply(e.after, *op)
	}
}

// applyCopy runs a copy whose value changes its shape on the way.
func (e *execution) applyCopy(op *tree.Op, value *tree.Node) (*tree.Node, tree.Effect, *tree.Problem) {
	effect, problem := tree.Resolve(e.after, *op)
	if problem != nil {
		return e.after, effect, problem
	}
	next, _, problem := e.v.p.limits.State.Apply(e.after, additionOf(op, value))
	return next, effect, problem
}

// applyMove removes and adds, for what was removed may decide what is where it goes.
func (e *execution) applyMove(op *tree.Op, value *tree.Node) (*tree.Node, tree.Effect, *tree.Problem) {
	effect, problem := tree.Resolve(e.after, *op)
	if problem != nil {
		return e.after, effect, problem
	}
	if value == nil {
		value = tree.NodeAt(e.after, effect.Sources[0])
	}
	next, gone, problem := e.removed(op)
	if problem != nil {
		return e.after, effect, problem
	}
	next, come, problem := e.v.p.limits.State.Apply(next, additionOf(op, value))
	effect.Targets = append(gone.Targets, come.Targets...)
	return next, effect, problem
}

// removed is the state in between a move's removal and its addition.
func (e *execution) removed(op *tree.Op) (*tree.Node, tree.Effect, *tree.Problem) {
	removal := tree.Op{Index: op.Index, Kind: tree.OpRemove, Path: op.From, RawPath: op.RawFrom}
	next, effect, problem := e.v.p.limits.State.Apply(e.after, removal)
	if problem != nil {
		return next, effect, problem
	}
	uses := e.v.usesOf(op)
	for i := range uses {
		if uses[i].how == takes {
			next = e.settled(next, &uses[i])
		}
	}
	return next, effect, nil
}

func additionOf(op *tree.Op, value *tree.Node) tree.Op {
	return tree.Op{Index: op.Index, Kind: tree.OpAdd, Path: op.Path, RawPath: op.RawPath, Value: value}
}

// settled gives the union that decides about the place of a use the shape it has after
// the operation.
func (e *execution) settled(root *tree.Node, u *use) *tree.Node {
	if u.place.union < 0 || u.needs != toWrite {
		return root
	}
	at := u.place.word[:u.place.union]
	if e.partial && !e.read.Walk(at).Interior() {
		return root
	}
	return e.v.p.reshapeUnion(root, at)
}

// heldAlready notices an addition to a set that holds an equal element, which
// leaves the set as it was (tree.Apply). The types find it wrong, if it is still
// there when they are checked.
func heldAlready(before, after *tree.Node, op *tree.Op, effect tree.Effect) (finding, bool) {
	if len(effect.Targets) == 0 {
		return finding{}, false
	}
	t := effect.Targets[len(effect.Targets)-1]
	if len(t) == 0 || !isFresh(t[len(t)-1]) {
		return finding{}, false
	}
	set := t[:len(t)-1]
	was := tree.NodeAt(before, set)
	if was.Order() != tree.SetOrder || was.Len() != tree.NodeAt(after, set).Len() {
		return finding{}, false
	}
	f := say.duplicates().about(set)
	f.OpIndex = &op.Index
	return f, true
}

// explain adds what the types know about a path that led nowhere.
func (e *execution) explain(op *tree.Op, f finding) finding {
	if f.Code != PathMissing {
		return f
	}
	ptr := op.Path
	if f.Path != nil && *f.Path != op.RawPath {
		ptr = op.From
	}
	if field := e.v.p.indexIntoKeyed(ptr); field != "" {
		return f.keyedHint(field)
	}
	return f
}

// indexIntoKeyed is the key field of the keyed list that ptr goes into with a
// token that looks like a position, "" if there is none.
func (p *Program) indexIntoKeyed(ptr tree.Pointer) string {
	t := p.contract.State
	for _, token := range ptr {
		c := &p.contract.Types[p.types[t].container]
		if _, isIndex := parseIndex(token); c.Kind == ir.KeyedType && (isIndex || token == "-") {
			return c.KeyField
		}
		t = p.below(t, token)
	}
	return ""
}

// What hints say is allowed.

// maxNearby is how many patterns a hint lists.
const maxNearby = 4

// nearestPatterns lists the patterns of the stage's own regions that begin most
// like ptr, with arguments bound, as hints show them.
func (v *verification) nearestPatterns(ptr tree.Pointer, regions ...region.Region) []string {
	type candidate struct {
		grant   *region.Grant
		include int
		common  int
	}
	all := make([]candidate, 0, 16)
	for _, r := range regions {
		for i := range r {
			for j, p := range r[i].Include {
				all = append(all, candidate{&r[i], j, commonPrefix(p, v.args, ptr)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.common - a.common })
	out := make([]string, 0, maxNearby)
	for _, c := range all {
		if len(out) == maxNearby {
			break
		}
		if text := v.grantText(c.grant, c.include); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// grantText writes one include of a grant as the language does, with arguments bound.
// What is excepted may be hidden, so an actor is not told its name.
func (v *verification) grantText(g *region.Grant, include int) string {
	var stack [96]byte
	text := g.Include[include].AppendSource(stack[:0], v.args)
	for i, e := range g.Except {
		switch {
		case v.toActor:
			return string(append(text, " (with exceptions)"...))
		case i == 0:
			text = append(text, " except "...)
		default:
			text = append(text, ", "...)
		}
		text = e.AppendSource(text, v.args)
	}
	return string(text)
}

// commonPrefix counts the leading tokens of ptr that p matches with args bound.
func commonPrefix(p region.Pattern, args region.Binding, ptr tree.Pointer) int {
	for i, s := range p.Segments {
		if i == len(ptr) {
			return i
		}
		value, bound := args[s.Text]
		bound = bound && s.Kind == region.ParamSegment
		if bound && value != ptr[i] || !bound && !s.Matches(region.Key(ptr[i])) {
			return i
		}
	}
	return len(p.Segments)
}
