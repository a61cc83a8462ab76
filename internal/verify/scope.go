package verify

import (
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

// usesOf are the uses of one operation.
func (v *verification) usesOf(op *tree.Op) []use {
	return v.uses[v.firstUse[op.Index]:v.firstUse[op.Index+1]]
}

func (v *verification) use(op *tree.Op, ptr tree.Pointer, raw string, how access, needs authority) {
	first := len(v.letters)
	v.letters = v.letters[:first+len(ptr)]
	room := v.letters[first:first:len(v.letters)]
	v.uses = append(v.uses, use{op: op, ptr: ptr, raw: raw, how: how, needs: needs, place: v.p.locateIn(room, nil, ptr, how)})
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
