package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

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

func additionOf(op *tree.Op, value *tree.Node) tree.Op {
	return tree.Op{Index: op.Index, Kind: tree.OpAdd, Path: op.Path, RawPath: op.RawPath, Value: value}
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
