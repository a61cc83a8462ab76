package tree

import (
	"fmt"

	"github.com/patchoptic/poptic/internal/region"
)

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
// the state goes and guessed behind that (see Typed), so that a caller can judge
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
	source  place
	target  place
	base    *Node // the root that the last step applies to: of a move, after the removal
}

// A place is where a pointer leads.
type place struct {
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
		r.fail(r.op.RawPath, &Stop{
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
		r.target = place{word: region.Word{}}
		r.writes(r.target.word)
	default:
		r.base = removed(root, r.source.word)
		r.target = r.destination(r.base)
	}
}

// existing resolves a pointer that must lead to something.
func (r *resolution) existing(root *Node, p Pointer, raw string) place {
	word, node, stop := Typed(root, p)
	if stop == nil && node == nil {
		stop = r.absent(word, p)
	}
	r.fail(raw, stop)
	return place{word, node}
}

func (r *resolution) absent(word region.Word, p Pointer) *Stop {
	last := word[len(word)-1]
	stop := &Stop{Code: CodePathMissing, Message: "there is nothing at this path"}
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
func (r *resolution) destination(root *Node) place {
	word, node, stop := Typed(root, r.op.Path)
	if stop == nil && len(word) > 0 {
		stop = beyondEnd(root, word)
	}
	r.fail(r.op.RawPath, stop)
	r.writes(lifted(word))
	return place{word, node}
}

// beyondEnd refuses an insertion that would leave a gap.
func beyondEnd(root *Node, word region.Word) *Stop {
	last := word[len(word)-1]
	if last.Kind != region.IndexLetter || last.Index <= NodeAt(root, word[:len(word)-1]).Len() {
		return nil
	}
	return &Stop{
		Code: CodeOutOfRange, Typed: len(word),
		Message: "the index is beyond the end of the array",
		Hint:    "end the path with - to append",
	}
}

func (r *resolution) reads(w region.Word)  { r.effect.Sources = append(r.effect.Sources, w) }
func (r *resolution) writes(w region.Word) { r.effect.Targets = append(r.effect.Targets, w) }

// fail notes a problem, if it is the first.
func (r *resolution) fail(path string, stop *Stop) {
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

// Find returns the node that p leads to, or an error that says, without a value,
// why there is none.
func Find(root *Node, p Pointer) (*Node, error) {
	_, node, stop := Typed(root, p)
	switch {
	case stop != nil:
		return nil, fmt.Errorf("%s: %s", p, stop.Message)
	case node == nil:
		return nil, fmt.Errorf("%s: there is nothing at this path", p)
	default:
		return node, nil
	}
}

// NodeAt returns the node that a typed word leads to, nil if there is none.
func NodeAt(root *Node, w region.Word) *Node {
	for _, l := range w {
		root = follow(root, l)
	}
	return root
}
