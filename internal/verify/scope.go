package verify

import (
	"cmp"
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
//
// The pointers of all operations are listed and typed before, by the format step
// (typePointers); pointer.go says what a pointer means.

// An access is one pointer of an operation and the authority that it needs.
type access struct {
	op    *tree.Op
	from  bool // it is the operation's from, not its path
	how   mode
	needs authority
	again bool // another access has the same pointer; one report of its spelling is enough
	typed typedPointer
}

// pointer is the pointer of the access.
func (a *access) pointer() tree.Pointer {
	if a.from {
		return a.op.From
	}
	return a.op.Path
}

// raw is the pointer as it was written.
func (a *access) raw() string {
	if a.from {
		return a.op.RawFrom
	}
	return a.op.RawPath
}

// An authority is what a stage must have been granted for an access.
type authority uint8

const (
	toWrite authority = iota // inside one write grant; or to add a new member, inside one blind grant
	toTake                   // inside one source grant
	toTest                   // inside one source or read grant
)

// typePointers lists the accesses of all operations and types their pointers without a
// state.
func (v *verification) typePointers() {
	tokens, accesses := v.patch.Tokens(), len(v.patch)
	words := tokens
	for i := range v.patch {
		tokens += len(v.patch[i].From)
		if v.patch[i].Kind.HasFrom() {
			accesses += 2
		}
	}
	v.accesses, v.letters = make([]access, 0, accesses), make(region.Word, 0, tokens+words)
	if v.firstAccess = nil; accesses > len(v.patch) {
		v.firstAccess = make([]int, 0, len(v.patch)+1)
	}
	for i := range v.patch {
		op := &v.patch[i]
		if v.firstAccess != nil {
			v.firstAccess = append(v.firstAccess, len(v.accesses))
		}
		switch op.Kind {
		case tree.OpAdd:
			v.access(op, false, inserts, toWrite)
		case tree.OpRemove:
			v.access(op, false, takes, toWrite)
		case tree.OpReplace:
			v.access(op, false, looks, toWrite)
		case tree.OpTest:
			v.access(op, false, looks, toTest)
		case tree.OpCopy:
			v.access(op, true, looks, toTake)
			v.access(op, false, inserts, toWrite)
		case tree.OpMove:
			v.access(op, true, looks, toTake)
			v.access(op, true, takes, toWrite)
			v.accesses[len(v.accesses)-1].again = true
			v.access(op, false, inserts, toWrite)
		}
	}
	if v.firstAccess != nil {
		v.firstAccess = append(v.firstAccess, len(v.accesses))
	}
}

func (v *verification) access(op *tree.Op, from bool, how mode, needs authority) {
	a := access{op: op, from: from, how: how, needs: needs}
	ptr, first := a.pointer(), len(v.letters)
	v.letters = v.letters[:first+len(ptr)]
	room := v.letters[first:first:len(v.letters)]
	a.typed = v.p.locateIn(room, nil, ptr, how)
	v.accesses = append(v.accesses, a)
}

// roomForWords is room for the words of all operations: what the accesses left, the first
// time.
func (v *verification) roomForWords() region.Word {
	first, tokens := len(v.letters), v.patch.Tokens()
	if cap(v.letters)-first < tokens {
		return make(region.Word, 0, tokens)
	}
	v.letters = v.letters[:first+tokens]
	return v.letters[first : first : first+tokens]
}

// accessesOf are the accesses of one operation.
func (v *verification) accessesOf(op *tree.Op) []access {
	if v.firstAccess == nil {
		return v.accesses[op.Index : op.Index+1]
	}
	return v.accesses[v.firstAccess[op.Index]:v.firstAccess[op.Index+1]]
}

// checkScope is the scope step on the state.
func (v *verification) checkScope() []finding { return v.take(v.execute(v.snapshot.State, false)) }

// take makes what an execution came to that of the verification.
func (v *verification) take(done *execution) []finding {
	v.after, v.effects, v.duplicates = done.root(), done.effects, done.duplicates
	v.written = targetSet{few: make([]target, 0, len(done.effects)+1)}
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
	v          *verification
	write      region.Cursor
	rights     rightCursors // nil if it writes with all rights
	blind      region.Cursor
	source     region.Cursor
	read       region.Cursor
	trusts     bool // the patch was judged before; only run it
	partial    bool // the state is a view: of a union there may be no more than a part
	before     *tree.Node
	edit       tree.Edit // what the operations make of it
	ran        bool      // all of them, so far
	effects    []tree.Effect
	duplicates []finding // additions to sets that held the element
	found      []finding
}

// root is the running state.
func (e *execution) root() *tree.Node {
	if !e.ran {
		return e.before
	}
	return e.edit.Root()
}

// execute runs the step on a state, or on a view of one, which is partial.
func (v *verification) execute(root *tree.Node, partial bool) *execution {
	e := &execution{
		v: v, before: root, partial: partial,
		write: v.stage.write.Start(v.args), blind: v.stage.blind.Start(v.args),
		source: v.stage.source.Start(v.args), read: v.stage.read.Start(v.args),
		rights: startRights(v.stage.rights, v.args),
	}
	never := e.judgeTyped()
	if len(e.found) > 0 {
		e.reportAll(never)
		return e
	}
	if last := e.runAll(); last >= 0 {
		e.ran = false
		e.found = append(e.found, laterThan(last, never)...)
	}
	return e
}

// What the contract alone decides.

// judgeTyped judges every access that the state type settles. It returns, apart,
// those to untyped parts that no state could allow: they are reported if the
// run ends before it reaches them.
func (e *execution) judgeTyped() (never []finding) {
	for i := range e.v.accesses {
		a := &e.v.accesses[i]
		allowed, exact := a.typed.anyWord(a.how, func(w region.Word) bool { return e.allows(a, w) })
		switch {
		case allowed && a.typed.fault == entryByIndex:
			e.report(messages.entryByIndex(a.op.Index, a.raw(), e.bagOf(a)))
		case !allowed && a.typed.rest == nil:
			e.report(e.outside(a))
		case !allowed && exact:
			never = append(never, e.outside(a))
		}
	}
	return never
}

// allows reports whether the stage may use the word w as a does.
func (e *execution) allows(a *access, w region.Word) bool {
	switch a.needs {
	case toWrite:
		return e.mayWrite(a, w) || e.addsBlindly(a, w)
	case toTake:
		return e.source.Walk(w).Interior()
	default:
		return e.source.Walk(w).Interior() || e.read.Walk(w).Interior()
	}
}

// addsBlindly reports whether a may add a new member at w without seeing it.
func (e *execution) addsBlindly(a *access, w region.Word) bool {
	return a.op.Kind == tree.OpAdd && len(w) > 0 && w[len(w)-1].Kind == region.KeyLetter && e.blind.Walk(w).Interior()
}

// outside is the finding that a is not allowed.
func (e *execution) outside(a *access) finding {
	s := e.v.stage
	switch a.needs {
	case toWrite:
		return e.outsideWrite(a)
	case toTake:
		return messages.outsideSource(s.Name, a.op.Index, a.raw(), e.v.nearestPlaces(a.pointer(), s.Source))
	default:
		return messages.outsideRead(s.Name, a.op.Index, a.raw(), e.v.nearestPlaces(a.pointer(), s.Read, s.Source))
	}
}

// bagOf is "set" or "log", whichever the pointer of a goes into by index.
func (e *execution) bagOf(a *access) string {
	t := e.v.p.contract.State
	for _, token := range a.pointer() {
		switch e.v.p.info[t].form {
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

// reportAll adds findings about operations at their places.
func (e *execution) reportAll(found []finding) {
	e.found = append(e.found, found...)
	slices.SortStableFunc(e.found, func(a, b finding) int { return cmp.Compare(*a.OpIndex, *b.OpIndex) })
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
	e.edit.Begin(e.before, e.v.patch, e.v.roomForWords())
	e.ran = true
	for i := range e.v.patch {
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
	accesses := e.v.accessesOf(op)
	for i := range accesses {
		a := &accesses[i]
		at := e.locate(a)
		if !e.judgeOpen(a, at) {
			return
		}
		if a.how == inserts || op.Kind == tree.OpReplace {
			value = e.valueFor(op, at)
		}
	}
	e.apply(op, value)
}

// locate types an access on the running state, if its type does not do so. The end of
// a move is typed in the state after the removal.
func (e *execution) locate(a *access) typedPointer {
	if a.typed.rest == nil {
		return a.typed
	}
	root := e.root()
	if a.op.Kind == tree.OpMove && a.how == inserts && len(a.op.From) > 0 {
		trial := *e
		trial.edit.Begin(root, nil, nil)
		if _, problem := trial.removed(a.op); problem == nil {
			root = trial.root()
		}
	}
	return e.v.p.locate(root, a.pointer(), a.how)
}

// judgeOpen judges an access on the running state, and reports whether it is allowed.
func (e *execution) judgeOpen(a *access, at typedPointer) bool {
	if e.trusts {
		return true
	}
	if a.typed.rest != nil {
		if allowed, _ := at.anyWord(a.how, func(w region.Word) bool { return e.allows(a, w) }); !allowed {
			e.report(e.outside(a))
			return false
		}
	}
	if a.needs == toTake && at.rest == nil && tree.NodeAt(e.root(), at.word).HoldsLog() {
		e.report(messages.logSource(a.op.Index, a.raw()))
		return false
	}
	if a.op.Kind == tree.OpAdd && at.rest == nil && e.addsBlindly(a, at.word) &&
		!e.write.Walk(at.word).Interior() && tree.NodeAt(e.root(), at.word) != nil {
		f := messages.blindExisting(e.v.stage.Name, a.op.Index, a.raw())
		f.known = ir.Disclosed
		e.report(f)
		return false
	}
	return true
}

// valueFor is the value that op puts at the place, in the shape of the place's type as
// far as that is known before; nil to leave copying and moving to the operation.
func (e *execution) valueFor(op *tree.Op, at typedPointer) *tree.Node {
	t := at.typ
	if at.lifted {
		t = e.v.p.contract.Types[e.v.p.info[t].container].Elem
	}
	if !op.Kind.HasFrom() {
		return e.v.p.shape(op.Value, t)
	}
	from := e.v.p.locate(e.root(), op.From, looks)
	if from.typ == t && t != ir.NoType {
		return nil
	}
	n := tree.NodeAt(e.root(), from.word)
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
	effect, problem := e.applied(op, value)
	if problem != nil {
		e.report(e.explain(op, messages.problem(problem)))
		return
	}
	if !e.judgeRights(op, &effect) {
		return
	}
	if effect.Held { // the types find it wrong, if it is still there when they are checked
		set := effect.Targets[len(effect.Targets)-1]
		f := messages.duplicates().about(set[:len(set)-1])
		f.OpIndex = &op.Index
		e.duplicates = append(e.duplicates, f)
	}
	accesses := e.v.accessesOf(op)
	for i := range accesses {
		if accesses[i].how != takes || op.Kind == tree.OpRemove {
			e.reshape(&accesses[i])
		}
	}
	e.effects = append(e.effects, effect)
}

// applied runs one operation on the running state. A copy or move whose value
// changes its shape on the way is resolved as it stands, and then adds that value. A move
// removes first, for what was removed may decide what is where it goes.
func (e *execution) applied(op *tree.Op, value *tree.Node) (tree.Effect, *tree.Problem) {
	limits := e.v.p.limits.State
	moves := op.Kind == tree.OpMove && !op.MovesIntoItself() && len(op.From) > 0 && !slices.Equal(op.From, op.Path)
	switch {
	case moves || op.Kind == tree.OpCopy && value != nil:
		effect, problem := tree.Resolve(e.root(), *op)
		if problem != nil {
			return effect, problem
		}
		e.edit.Share()
		add := tree.Op{Index: op.Index, Kind: tree.OpAdd, Path: op.Path, RawPath: op.RawPath, Value: value}
		if !moves {
			come, problem := e.edit.Apply(&add, limits)
			come.Targets, come.Sources = effect.Targets, effect.Sources
			return come, problem
		}
		if value == nil {
			add.Value = tree.NodeAt(e.root(), effect.Sources[0])
		}
		gone, problem := e.removed(op)
		if problem != nil {
			return effect, problem
		}
		come, problem := e.edit.Apply(&add, limits)
		come.Targets, come.Sources, come.Taken = append(gone.Targets, come.Targets...), effect.Sources, gone.Taken
		return come, problem
	case value != op.Value && !op.Kind.HasFrom():
		shaped := *op
		shaped.Value = value
		return e.edit.Apply(&shaped, limits)
	default:
		return e.edit.Apply(op, limits)
	}
}

// removed is a move's removal.
func (e *execution) removed(op *tree.Op) (tree.Effect, *tree.Problem) {
	removal := tree.Op{Index: op.Index, Kind: tree.OpRemove, Path: op.From, RawPath: op.RawFrom}
	effect, problem := e.edit.Apply(&removal, e.v.p.limits.State)
	if problem != nil {
		return effect, problem
	}
	accesses := e.v.accessesOf(op)
	for i := range accesses {
		if accesses[i].how == takes {
			e.reshape(&accesses[i])
		}
	}
	return effect, nil
}

// reshape gives the union that decides about the place of an access the shape it has after
// the operation.
func (e *execution) reshape(a *access) {
	if a.typed.union < 0 || a.needs != toWrite {
		return
	}
	at := a.typed.word[:a.typed.union]
	if e.partial && !e.read.Walk(at).Interior() {
		return
	}
	if n, to := e.v.p.reshapedUnion(e.root(), at); to != n {
		e.edit.Put(at, to)
	}
}

// explain adds what the types and the stage know about a path that led nowhere.
func (e *execution) explain(op *tree.Op, f finding) finding {
	ptr := op.Path
	if f.Path != nil && *f.Path != op.RawPath {
		ptr = op.From
	}
	switch {
	case e.trusts:
		return f
	case f.Code == TestFailed:
		return f.hinted("look at the view again: write the value that it shows, or leave the test out")
	case len(ptr) > 0 && ptr[len(ptr)-1] == "" && (f.Code == TypeMismatch || f.Code == PathMissing):
		return f.hinted("leave out the / at the end of the path")
	case f.Code != PathMissing:
		return f
	}
	if field := e.v.p.indexIntoKeyed(ptr); field != "" {
		return f.keyedHint(field)
	}
	if parent := e.missingParent(op); parent >= 0 {
		return e.addWhole(op, f, parent)
	}
	return f
}

// missingParent is the number of tokens of the path of the outermost container that an
// addition lacks, -1 if it lacks none.
func (e *execution) missingParent(op *tree.Op) int {
	if op.Kind == tree.OpRemove || op.Kind == tree.OpTest || len(op.Path) < 2 {
		return -1
	}
	for n := 1; n < len(op.Path); n++ {
		if at := e.v.p.locate(e.root(), op.Path[:n], looks); at.rest != nil || tree.NodeAt(e.root(), at.word) == nil {
			return n
		}
	}
	return -1
}

// addWhole hints at the container that is missing, if the stage may add it.
func (e *execution) addWhole(op *tree.Op, f finding, tokens int) finding {
	whole := tree.Op{Index: op.Index, Kind: tree.OpAdd, Path: op.Path[:tokens]}
	a := access{op: &whole, how: inserts, needs: toWrite}
	a.typed = e.v.p.locate(e.root(), whole.Path, inserts)
	if a.typed.rest != nil || !e.mayCreate(&a, a.typed.word) {
		return f.hinted("%s is not there, and the stage may not add it", tree.Shorten(whole.Path.String(), MaxText/2))
	}
	f = f.hinted("%s, as a whole at %s", cmp.Or(f.Hint, "add what it lies in first"), tree.Shorten(whole.Path.String(), MaxText/4))
	if t := a.typed.typ; t != ir.NoType {
		f.Hint += ": " + e.v.p.asks(t)
	}
	return f
}
