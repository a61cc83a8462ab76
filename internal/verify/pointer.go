package verify

import (
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// Typing pointers.
//
// A pointer is untyped: /a/0 is a key below an object and a position below an
// array. Where the state type fixes the container, the pointer is typed without
// looking at any state, so that authority over all operations can be judged before
// one of them runs. Where it does not (any, unions of different containers), the
// state decides, just before the operation runs. And where the state has nothing
// for a path to go through, the pointer has no typed word at all; then authority
// is judged over every word it could have had, because what may be said about a
// path must be settled before whether it exists.

// A typedPointer is what a pointer means.
type typedPointer struct {
	word   region.Word
	rest   []string  // tokens that nothing typed; nil if word is complete
	typ    ir.TypeID // of the value at word, NoType where nothing is known
	lifted bool      // the edit is structural: word is the list, not the element
	fault  fault
	union  int // length of the word of the first open union above the place, or -1
}

// A fault is why a typed pointer can never work.
type fault uint8

const (
	noFault      fault = iota
	badIndex           // an array position that is not spelled as one
	entryByIndex       // an element of a set or log has no position
)

// A mode is how an operation uses the end of a pointer.
type mode uint8

const (
	looks   mode = iota // test, copy from, replace: the value at the place
	inserts             // add, copy and move to: a new place
	takes               // remove, move from: the place goes away
)

// nowhere is the letter of a position that no array has: "-" where nothing is
// inserted, or a spelling that is no index. Wildcards meet it.
var nowhere = region.Index(-1)

// locate types ptr by the state type, and by root where that is silent; root is
// nil if no state may be looked at.
func (ts *types) locate(root *tree.Node, ptr tree.Pointer, how mode) typedPointer {
	return ts.locateIn(make(region.Word, 0, len(ptr)), root, ptr, how)
}

// locateIn is locate with room for the word, which has as many letters as ptr tokens.
func (ts *types) locateIn(room region.Word, root *tree.Node, ptr tree.Pointer, how mode) typedPointer {
	at := typedPointer{word: room, typ: ts.contract.State, union: -1}
	node := root
	for i, token := range ptr {
		if at.union < 0 && ts.isOpen(at.typ) {
			at.union = i
		}
		f := ts.formAt(at.typ, node)
		if f == openForm || f == scalarForm {
			at.rest, at.typ = ptr[i:], ir.NoType
			return at
		}
		if i == len(ptr)-1 && f == listForm && how != looks {
			at.lift(token)
			return at
		}
		letter := at.letter(f, token, how == inserts && i == len(ptr)-1)
		at.word = append(at.word, letter)
		at.typ = ts.below(at.typ, token)
		node = child(node, letter)
	}
	return at
}

// isOpen reports whether a type is a union that does not say, without a value, what is
// below it.
func (ts *types) isOpen(id ir.TypeID) bool {
	return ts.contract.Types[id].Kind == ir.UnionType && ts.info[id].container == ir.NoType
}

// formAt is the form of a value of type t; if the type leaves it open, of node.
func (ts *types) formAt(t ir.TypeID, node *tree.Node) form {
	if f := ts.info[t].form; f != openForm || node == nil {
		return f
	}
	switch {
	case node.Kind() == ir.Object:
		return objectForm
	case node.Kind() != ir.Array:
		return scalarForm
	case node.Order() == tree.SetOrder:
		return setForm
	case node.Order() == tree.LogOrder:
		return logForm
	default:
		return listForm
	}
}

// indexIntoKeyed is the key field of the keyed list that ptr goes into with a
// token that looks like a position, "" if there is none.
func (ts *types) indexIntoKeyed(ptr tree.Pointer) string {
	t := ts.contract.State
	for _, token := range ptr {
		c := &ts.contract.Types[ts.info[t].container]
		if _, isIndex := parseIndex(token); c.Kind == ir.KeyedType && (isIndex || token == "-") {
			return c.KeyField
		}
		t = ts.below(t, token)
	}
	return ""
}

// lift makes the place the list itself (spec/semantics.md section 0, decision 3).
func (at *typedPointer) lift(token string) {
	at.lifted = true
	if _, ok := parseIndex(token); !ok && token != "-" {
		at.fault = badIndex
	}
}

// letter types one token below a value of form f.
func (at *typedPointer) letter(f form, token string, inserted bool) region.Letter {
	if f == objectForm {
		return region.Key(token)
	}
	index, isIndex := parseIndex(token)
	switch {
	case f != listForm && token == "-" && inserted:
		return region.Fresh("-")
	case f != listForm:
		at.blame(entryByIndex)
	case !isIndex && token != "-":
		at.blame(badIndex)
	}
	if !isIndex {
		return nowhere
	}
	return region.Index(index)
}

func (at *typedPointer) blame(f fault) {
	if at.fault == noFault {
		at.fault = f
	}
}

func child(n *tree.Node, l region.Letter) *tree.Node {
	switch l.Kind {
	case region.KeyLetter:
		return n.Get(l.Name)
	case region.IndexLetter:
		return n.At(l.Index)
	default:
		return nil
	}
}

// parseIndex reads an array index as RFC 6901 section 4 spells it.
func parseIndex(token string) (int, bool) {
	if token == "" || len(token) > 1 && token[0] == '0' || token[0] < '0' || token[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(token)
	return n, err == nil
}

// maxGuesses bounds how many tokens of one pointer are tried both ways.
const maxGuesses = 6

// anyWord reports whether some word that the place could turn out to have
// satisfies allowed. exact is false if there were too many to try them all; then
// only the words whose index-like tokens are all keys, or all indices, were tried.
func (at *typedPointer) anyWord(how mode, allowed func(region.Word) bool) (found, exact bool) {
	if at.rest == nil {
		return allowed(at.word), true
	}
	ambiguous := 0
	for _, token := range at.rest {
		if _, ok := parseIndex(token); ok {
			ambiguous++
		}
	}
	exact = ambiguous <= maxGuesses
	word := append(make(region.Word, 0, len(at.word)+len(at.rest)), at.word...)
	if exact {
		return guessEach(word, at.rest, how, allowed), true
	}
	return guessAll(word, at.rest, how, true, allowed) || guessAll(word, at.rest, how, false, allowed), false
}

// guessEach tries the rest's tokens in every combination of key and index.
func guessEach(word region.Word, rest []string, how mode, allowed func(region.Word) bool) bool {
	if len(rest) == 0 {
		return allowed(word)
	}
	token, last := rest[0], len(rest) == 1
	if guessEach(append(word, region.Key(token)), rest[1:], how, allowed) {
		return true
	}
	return guessArray(word, token, last, how, allowed, func(next region.Word) bool {
		return guessEach(next, rest[1:], how, allowed)
	})
}

// guessArray tries token as a position of an array at word.
func guessArray(word region.Word, token string, last bool, how mode, allowed, further func(region.Word) bool) bool {
	index, isIndex := parseIndex(token)
	if last && how != looks && (isIndex || token == "-") {
		return allowed(word)
	}
	return isIndex && further(append(word, region.Index(index)))
}

func guessAll(word region.Word, rest []string, how mode, keys bool, allowed func(region.Word) bool) bool {
	for i, token := range rest {
		index, isIndex := parseIndex(token)
		last := i == len(rest)-1
		switch {
		case keys || !isIndex && token != "-":
			word = append(word, region.Key(token))
		case last && how != looks:
			return allowed(word)
		default:
			word = append(word, region.Index(index))
		}
	}
	return allowed(word)
}
