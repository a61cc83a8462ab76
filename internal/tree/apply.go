package tree

import (
	"slices"

	"github.com/patchoptic/poptic/internal/region"
)

// Running operations. An operation is resolved first: what it reads and writes, and the
// first reason why it cannot be applied. Only then does it run.

// Apply runs one operation on root, strictly by the table of spec/semantics.md
// section 2, and returns the new root and the operation's effect. If op cannot be
// applied, or its result exceeds DefaultLimits, the problem says why and root is
// returned as it was; the effect is then Resolve's. It costs O(log n) per level of
// the paths, plus what comparing the value of a test costs.
//
// Two things concern arrays without order. Their elements are not addressed by
// index. And an element added to a set that holds an equal one leaves the set as it
// is, so that equal additions commute.
func Apply(root *Node, op Op) (*Node, Effect, *Problem) { return DefaultLimits.Apply(root, op) }

// Apply is the function Apply with limits l on the result.
func (l Limits) Apply(root *Node, op Op) (*Node, Effect, *Problem) {
	e := Edit{root: root}
	effect, problem := e.Apply(&op, l)
	if problem != nil {
		return root, effect, problem
	}
	return e.root, effect, nil
}

// ApplyAll runs a patch. It returns the final root and the effect of every
// operation, or at the first problem the root as it was, the problem, and the
// effects up to the operation that has it.
func ApplyAll(root *Node, patch Patch) (*Node, []Effect, *Problem) {
	return DefaultLimits.ApplyAll(root, patch)
}

// ApplyAll is the function ApplyAll with limits l on every intermediate result.
func (l Limits) ApplyAll(root *Node, patch Patch) (*Node, []Effect, *Problem) {
	effects := make([]Effect, 0, len(patch))
	e := NewEdit(root, patch)
	for i := range patch {
		effect, problem := e.Apply(&patch[i], l)
		effects = append(effects, effect)
		if problem != nil {
			return root, effects, problem
		}
	}
	return e.root, effects, nil
}

// Apply runs one operation on the value that e makes, as the function Apply does on a
// root. After a problem the edit is over: nothing may be asked of it any more.
func (e *Edit) Apply(op *Op, l Limits) (Effect, *Problem) {
	if op.Kind.HasFrom() {
		e.Share() // what is copied stands in two places, what is moved is an old value too
	}
	r := resolution{Edit: e, op: op}
	r.resolve()
	if r.problem == nil {
		r.perform()
	}
	if r.problem == nil && r.changed {
		if bad := l.Check(e.root); bad != nil {
			r.fail(op.RawPath, &deadEnd{Code: CodeLimitExceeded, Message: "the result would be " + bad.Message})
		}
	}
	if r.problem != nil {
		r.effect.Taken, r.effect.Replaced, r.effect.Held = nil, nil, false
	}
	return r.effect, r.problem
}

// An Effect is what one operation reads and writes in the state it runs on
// (spec/semantics.md section 2).
type Effect struct {
	// Targets are the effective targets: everything at and below them is written,
	// nothing else. An insertion into or removal from a list targets the list
	// itself (the container rule); an append to a set or log targets the array's
	// word and the fresh key. A move has two, the removal's first.
	Targets []region.Word

	// Sources are the words whose subtrees the operation reads: from of a copy or
	// move, path of a test.
	Sources []region.Word

	// Taken is what the operation removed or moved away, and Replaced what stood where it
	// put a value: as they were just then, that is of a move, Replaced after the removal.
	// Both are nil where there was nothing, or if the operation has a problem.
	Taken, Replaced *Node

	// Held says that an element was added to a set that held an equal one.
	Held bool
}

// Resolve computes the effect of op on root without applying it, and without
// comparing any value. The effect is complete even where the problem, the first
// reason for which op cannot be applied, is not nil: words are then typed as far as
// the state goes and guessed behind that (typedWord), so that a caller can judge
// authority over them before it tells anything about existence.
func Resolve(root *Node, op Op) (Effect, *Problem) {
	r := resolution{Edit: &Edit{root: root}, op: &op}
	r.resolve()
	return r.effect, r.problem
}

// A resolution is all that is known about an operation before it is applied.
type resolution struct {
	*Edit
	op      *Op
	effect  Effect
	problem *Problem
	source  location
	target  location
	changed bool // the root, by what was done so far
}

// A location is where a pointer leads.
type location struct {
	word region.Word
	node *Node
}

func (r *resolution) resolve() {
	op := r.op
	switch op.Kind {
	case OpTest:
		r.target = r.existing(op.Path, op.RawPath)
		r.reads(r.target.word)
	case OpReplace:
		r.target = r.existing(op.Path, op.RawPath)
		r.writes(r.target.word)
	case OpRemove:
		r.target = r.existing(op.Path, op.RawPath)
		r.writes(lifted(r.target.word))
	case OpAdd:
		r.target = r.destination()
	case OpCopy:
		r.source = r.existing(op.From, op.RawFrom)
		r.reads(r.source.word)
		r.target = r.destination()
	case OpMove:
		r.move()
	}
}

// move resolves the destination in the state after the removal.
func (r *resolution) move() {
	if r.op.MovesIntoItself() {
		r.fail(r.op.RawPath, &deadEnd{
			Code: CodeMoveIntoChild, Typed: len(r.op.From),
			Message: "a value cannot be moved to below itself",
			Hint:    "copy it instead, or move it elsewhere first",
		})
	}
	r.source = r.existing(r.op.From, r.op.RawFrom)
	r.reads(r.source.word)
	r.writes(lifted(r.source.word))
	switch {
	case r.problem != nil:
		r.target = r.destination()
	case len(r.source.word) == 0:
		r.target = location{word: region.Word{}}
		r.writes(r.target.word)
	case slices.Equal(r.op.From, r.op.Path):
		r.stay()
	default:
		r.root = r.remove(r.source.word)
		r.changed = true
		r.target = r.destination()
	}
}

// stay resolves a move to where the value is: what it writes, it writes after the
// removal, but nothing is done.
func (r *resolution) stay() {
	before := r.root
	r.root = r.remove(r.source.word)
	r.target = r.destination()
	r.root = before
}

// existing resolves a pointer that must lead to something.
func (r *resolution) existing(p Pointer, raw string) location {
	word, node, stop := typedWord(r.letters(len(p)), r.root, p)
	if stop == nil && node == nil {
		stop = r.absent(word, p)
	}
	r.fail(raw, stop)
	return location{word, node}
}

func (r *resolution) absent(word region.Word, p Pointer) *deadEnd {
	last := word[len(word)-1]
	stop := &deadEnd{Code: CodePathMissing, Message: "there is nothing at this path"}
	switch {
	case p[len(p)-1] == "-" && last.Kind != region.KeyLetter:
		stop.Message = "- stands for the end of the array, where nothing is yet"
	case last.Kind == region.IndexLetter:
		stop = outOfRange()
	case r.op.Kind == OpReplace:
		stop.Hint = "use add to create a member"
	}
	stop.Typed = len(word)
	return stop
}

// destination resolves the path of an add and notes its effective target.
func (r *resolution) destination() location {
	word, node, stop := typedWord(r.letters(len(r.op.Path)), r.root, r.op.Path)
	if stop == nil && len(word) > 0 {
		stop = beyondEnd(r.root, word)
	}
	r.fail(r.op.RawPath, stop)
	r.writes(lifted(word))
	return location{word, node}
}

// beyondEnd refuses an insertion that would leave a gap.
func beyondEnd(root *Node, word region.Word) *deadEnd {
	last := word[len(word)-1]
	if last.Kind != region.IndexLetter || last.Index <= NodeAt(root, word[:len(word)-1]).Len() {
		return nil
	}
	return &deadEnd{
		Code: CodeOutOfRange, Typed: len(word),
		Message: "the index is beyond the end of the array",
		Hint:    "end the path with - to append",
	}
}

func (r *resolution) reads(w region.Word)  { r.effect.Sources = r.listed(r.effect.Sources, w) }
func (r *resolution) writes(w region.Word) { r.effect.Targets = r.listed(r.effect.Targets, w) }

// fail notes a problem, if it is the first.
func (r *resolution) fail(path string, stop *deadEnd) {
	if stop == nil || r.problem != nil {
		return
	}
	r.problem = &Problem{
		Code: stop.Code, Index: r.op.Index, Path: path, Typed: stop.Typed,
		Message: stop.Message, Hint: stop.Hint,
	}
}

// lifted is the effective target of an insertion or removal at w: the list for an
// element, w itself for anything else.
func lifted(w region.Word) region.Word {
	if n := len(w); n > 0 && w[n-1].Kind == region.IndexLetter {
		return w[: n-1 : n-1]
	}
	return w
}

// Running what was resolved.

// perform runs an operation that was resolved without a problem.
func (r *resolution) perform() {
	at := r.target.word
	switch r.op.Kind {
	case OpTest:
		if !Equal(r.target.node, r.op.Value) {
			r.fail(r.op.RawPath, &deadEnd{
				Code: CodeTestFailed, Typed: len(at),
				Message: "the value at this path is not the one the test gives",
			})
		}
		return
	case OpRemove:
		r.effect.Taken = r.target.node
		r.root = r.remove(at)
	case OpReplace:
		r.effect.Replaced = r.target.node
		r.root = r.put(at, r.op.Value)
	case OpAdd:
		r.add(at, r.op.Value)
	case OpCopy:
		r.add(at, r.source.node)
	case OpMove:
		r.effect.Taken = r.source.node
		if slices.Equal(r.op.From, r.op.Path) {
			return
		}
		r.add(at, r.source.node)
	}
	r.changed = r.changed || !r.effect.Held
}

// add adds value at w as RFC 6902 section 4.1 has it.
func (r *resolution) add(w region.Word, value *Node) {
	if len(w) == 0 || w[len(w)-1].Kind != region.IndexLetter {
		r.effect.Replaced = r.target.node
	}
	if n := len(w); n > 0 && w[n-1].Kind == region.FreshLetter {
		if set := NodeAt(r.root, w[:n-1]); set.order == SetOrder && set.Holds(value) {
			r.effect.Held = true
			return
		}
	}
	r.root = r.insert(w, value)
}
