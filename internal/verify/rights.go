package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// The rights of write grants (spec/semantics.md section 2.1).
//
// What an operation does at its effective target follows from its kind, except that what
// is put at a member creates it or updates it, whichever the running state says. So
// first, without a state, one of the rights must be there that the operation might need;
// and once it has run, those that it did need. Where a value took another one's place,
// what stands below is asked of too: members that came to be, and such that are gone.
//
// A stage whose grants let happen everything is asked nothing of this.

// rightCursors are where a stage has each right; nil if it has all wherever it writes.
type rightCursors []region.Cursor

// rightSets are, by right, where a stage has it; nil if it has all wherever it writes.
func rightSets(s *ir.Stage) []*region.Set {
	if len(s.Rights) == 0 {
		return nil
	}
	var out []*region.Set
	for _, r := range ir.EachRight() {
		out = append(out, region.Compile(s.Writing(r)))
	}
	return out
}

func startRights(sets []*region.Set, args region.Binding) rightCursors {
	var out rightCursors
	for _, s := range sets {
		out = append(out, s.Start(args))
	}
	return out
}

// hasAny reports whether one of some rights is granted at w.
func (c rightCursors) hasAny(some ir.Rights, w region.Word) bool {
	for i, r := range ir.EachRight() {
		if some.Has(r) && c[i].Walk(w).Interior() {
			return true
		}
	}
	return false
}

// askedFirst are the rights of which a needs one at w, whatever the state holds.
func (a *access) askedFirst(w region.Word) ir.Rights {
	switch {
	case len(w) < len(a.pointer()): // the list that an element comes into or leaves
		return ir.Update
	case a.how == takes:
		return ir.Delete
	case a.op.Kind == tree.OpReplace:
		return ir.Update
	case len(w) > 0 && w[len(w)-1].Kind == region.FreshLetter:
		return ir.Create
	default:
		return ir.Create | ir.Update
	}
}

// mayWrite reports whether the write grants may let a happen at w.
func (e *execution) mayWrite(a *access, w region.Word) bool {
	if e.rights == nil {
		return e.write.Walk(w).Interior()
	}
	return e.rights.hasAny(a.askedFirst(w), w)
}

// mayCreate reports whether a may put something at w, where nothing is.
func (e *execution) mayCreate(a *access, w region.Word) bool {
	return e.allows(a, w) && (e.rights == nil || e.rights.hasAny(ir.Create, w) || e.addsBlindly(a, w))
}

// outsideWrite is the finding that a may not write: nothing there, or not in this way.
func (e *execution) outsideWrite(a *access) finding {
	s := e.v.stage
	near := e.v.nearestWrites(a.pointer())
	var lacking ir.Rights
	if e.rights != nil {
		a.typed.anyWord(a.how, func(w region.Word) bool {
			if e.write.Walk(w).Interior() {
				lacking = a.askedFirst(w)
			}
			return lacking != 0
		})
	}
	if lacking == 0 {
		return messages.outsideWrite(s.Name, a.op.Index, a.raw(), near)
	}
	return messages.withoutRight(s.Name, lacking, near).onOp(a.op.Index, a.raw())
}

// judgeRights judges what an operation did, which has run, by the rights of the stage. It
// reports whether they suffice.
func (e *execution) judgeRights(op *tree.Op, effect *tree.Effect) bool {
	if e.rights == nil || e.trusts || len(effect.Targets) == 0 || op.Kind == tree.OpRemove {
		return true
	}
	accesses := e.v.accessesOf(op)
	a := &accesses[len(accesses)-1] // that of the path
	w := effect.Targets[len(effect.Targets)-1]
	if len(w) < len(op.Path) {
		return true // a list, which was judged first
	}
	needs := ir.Create
	if effect.Replaced != nil {
		needs = ir.Update
	}
	if needs == ir.Create && !e.mayCreate(a, w) || needs == ir.Update && !e.rights.hasAny(needs, w) {
		e.report(messages.withoutRight(e.v.stage.Name, needs, e.v.nearestWrites(op.Path)).onOp(op.Index, op.RawPath))
		return false
	}
	if needs == ir.Create {
		return true
	}
	at, lacking := e.changedBeyond(w, effect.Replaced, tree.NodeAt(e.edit.Root(), w))
	if lacking != 0 {
		f := messages.withoutRight(e.v.stage.Name, lacking, e.v.nearestWrites(op.Path)).about(at)
		f.OpIndex = &op.Index
		e.report(f)
	}
	return lacking == 0
}

// changedBeyond finds a place below w, where one value took another's place, which came to
// be or is gone without the right to that; none lacks nothing. What is inside of arrays is
// part of their value.
func (e *execution) changedBeyond(w region.Word, was, is *tree.Node) (at region.Word, lacking ir.Rights) {
	creates, deletes := e.rights.hasAny(ir.Create, w), e.rights.hasAny(ir.Delete, w)
	if was == is || creates && deletes {
		return nil, 0
	}
	e.v.p.watch.look()
	for name, child := range is.Members() {
		below := append(w[:len(w):len(w)], region.Key(name))
		before := was.Get(name)
		if before == nil && !creates && !e.rights.hasAny(ir.Create, below) {
			return below, ir.Create
		}
		if before != nil {
			if at, lacking := e.changedBeyond(below, before, child); lacking != 0 {
				return at, lacking
			}
		}
	}
	for name := range was.Members() {
		below := append(w[:len(w):len(w)], region.Key(name))
		if is.Get(name) == nil && !deletes && !e.rights.hasAny(ir.Delete, below) {
			return below, ir.Delete
		}
	}
	return nil, 0
}
