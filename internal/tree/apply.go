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
	r := resolve(root, op)
	if r.problem != nil {
		return root, r.effect, r.problem
	}
	next := r.perform(root)
	if bad := l.Check(next); r.problem == nil && next != root && bad != nil {
		r.fail(op.RawPath, &deadEnd{Code: CodeLimitExceeded, Message: "the result would be " + bad.Message})
	}
	if r.problem != nil {
		return root, r.effect, r.problem
	}
	return next, r.effect, nil
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
	next, problem := l.Run(root, patch, func(s Step) { effects = append(effects, s.Effect) })
	return next, effects, problem
}

// A Step is one operation of a patch that runs: the roots around it, from which
// old and new values can be read at the words of its effect.
type Step struct {
	Op            Op
	Before, After *Node // the same node if the operation changes nothing or has a problem
	Effect        Effect
}

// Run runs a patch like ApplyAll and calls each after every operation, the one that
// has the problem included.
func (l Limits) Run(root *Node, patch Patch, each func(Step)) (*Node, *Problem) {
	now := root
	for _, op := range patch {
		next, effect, problem := l.Apply(now, op)
		each(Step{op, now, next, effect})
		if problem != nil {
			return root, problem
		}
		now = next
	}
	return now, nil
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
}

// Resolve computes the effect of op on root without applying it, and without
// comparing any value. The effect is complete even where the problem, the first
// reason for which op cannot be applied, is not nil: words are then typed as far as
// the state goes and guessed behind that (typedWord), so that a caller can judge
// authority over them before it tells anything about existence.
func Resolve(root *Node, op Op) (Effect, *Problem) {
	r := resolve(root, op)
	return r.effect, r.problem
}

// A resolution is all that is known about an operation before it is applied.
type resolution struct {
	op      Op
	effect  Effect
	problem *Problem
	source  location
	target  location
	base    *Node // the root that the last step applies to: of a move, after the removal
}

// A location is where a pointer leads.
type location struct {
	word region.Word
	node *Node
}

func resolve(root *Node, op Op) resolution {
	r := resolution{op: op, base: root}
	switch op.Kind {
	case OpTest:
		r.target = r.existing(root, op.Path, op.RawPath)
		r.reads(r.target.word)
	case OpReplace:
		r.target = r.existing(root, op.Path, op.RawPath)
		r.writes(r.target.word)
	case OpRemove:
		r.target = r.existing(root, op.Path, op.RawPath)
		r.writes(lifted(r.target.word))
	case OpAdd:
		r.target = r.destination(root)
	case OpCopy:
		r.source = r.existing(root, op.From, op.RawFrom)
		r.reads(r.source.word)
		r.target = r.destination(root)
	case OpMove:
		r.move(root)
	}
	return r
}

// move resolves the destination in the state after the removal.
func (r *resolution) move(root *Node) {
	if r.op.MovesIntoItself() {
		r.fail(r.op.RawPath, &deadEnd{
			Code: CodeMoveIntoChild, Typed: len(r.op.From),
			Message: "a value cannot be moved to below itself",
			Hint:    "copy it instead, or move it elsewhere first",
		})
	}
	r.source = r.existing(root, r.op.From, r.op.RawFrom)
	r.reads(r.source.word)
	r.writes(lifted(r.source.word))
	switch {
	case r.problem != nil:
		r.target = r.destination(root)
	case len(r.source.word) == 0:
		r.target = location{word: region.Word{}}
		r.writes(r.target.word)
	default:
		r.base = removed(root, r.source.word)
		r.target = r.destination(r.base)
	}
}

// existing resolves a pointer that must lead to something.
func (r *resolution) existing(root *Node, p Pointer, raw string) location {
	word, node, stop := typedWord(root, p)
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
func (r *resolution) destination(root *Node) location {
	word, node, stop := typedWord(root, r.op.Path)
	if stop == nil && len(word) > 0 {
		stop = beyondEnd(root, word)
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

func (r *resolution) reads(w region.Word)  { r.effect.Sources = append(r.effect.Sources, w) }
func (r *resolution) writes(w region.Word) { r.effect.Targets = append(r.effect.Targets, w) }

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
func (r *resolution) perform(root *Node) *Node {
	at := r.target.word
	switch r.op.Kind {
	case OpTest:
		if !Equal(r.target.node, r.op.Value) {
			r.fail(r.op.RawPath, &deadEnd{
				Code: CodeTestFailed, Typed: len(at),
				Message: "the value at this path is not the one the test gives",
			})
		}
		return root
	case OpRemove:
		return removed(root, at)
	case OpReplace:
		return changed(root, at, func(n *Node, l region.Letter) *Node { return put(n, l, r.op.Value) }, r.op.Value)
	case OpAdd:
		return added(r.base, at, r.op.Value)
	default:
		if r.op.Kind == OpMove && slices.Equal(r.op.From, r.op.Path) {
			return root
		}
		return added(r.base, at, r.source.node)
	}
}

// changed returns root with the container that holds the end of word w changed by
// f, and all containers above it renewed; a w without end yields whole. Where f
// changes nothing, nothing is renewed.
func changed(root *Node, w region.Word, f func(*Node, region.Letter) *Node, whole *Node) *Node {
	switch len(w) {
	case 0:
		return whole
	case 1:
		return f(root, w[0])
	}
	child := follow(root, w[0])
	next := changed(child, w[1:], f, whole)
	if next == child {
		return root
	}
	return put(root, w[0], next)
}

// removed returns root without the node at w, which must not be the root.
func removed(root *Node, w region.Word) *Node {
	return changed(root, w, func(n *Node, l region.Letter) *Node {
		if l.Kind == region.IndexLetter {
			return n.DeleteAt(l.Index)
		}
		return n.Without(l.Name)
	}, nil)
}

// added returns root with value added at w as RFC 6902 section 4.1 has it.
func added(root *Node, w region.Word, value *Node) *Node {
	return changed(root, w, func(n *Node, l region.Letter) *Node {
		switch {
		case l.Kind == region.IndexLetter:
			return n.InsertAt(l.Index, value)
		case l.Kind == region.KeyLetter:
			return n.With(l.Name, value)
		case n.order == SetOrder && n.Holds(value):
			return n
		case n.order == SetOrder:
			return n.InsertAt(n.placeInSet(value), value)
		default:
			return n.InsertAt(n.Len(), value)
		}
	}, value)
}

// Put returns root with n in the place that w leads to, where something is already; n
// itself if w is the root. It is for whoever makes something else of a value that stays
// the same, and knows no operation by which it came to be.
func Put(root *Node, w region.Word, n *Node) *Node {
	return changed(root, w, func(in *Node, l region.Letter) *Node { return put(in, l, n) }, n)
}

// put sets what is or, in an object, what may be at one step below n.
func put(n *Node, l region.Letter, child *Node) *Node {
	if l.Kind == region.IndexLetter {
		return n.SetAt(l.Index, child)
	}
	return n.With(l.Name, child)
}
