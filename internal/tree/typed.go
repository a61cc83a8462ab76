package tree

import (
	"fmt"
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A Stop says why and where a pointer could not be followed.
type Stop struct {
	Code    Code
	Typed   int // leading tokens that were typed
	Message string
	Hint    string
}

// Typed walks root along p and returns the typed word (spec/semantics.md section 1)
// and the node there, nil if everything but the last step exists. A final "-"
// under a list of length n is the index n, under a set or log the fresh key.
//
// Where the walk cannot go on, stop says why. The word then is a best guess in
// which tokens that nothing types are keys (a final "-" the fresh key), so that
// authority can be judged before existence.
func Typed(root *Node, p Pointer) (word region.Word, node *Node, stop *Stop) {
	return walk(root, p, make(region.Word, 0, len(p)))
}

func walk(root *Node, p Pointer, word region.Word) (region.Word, *Node, *Stop) {
	node := root
	for i, token := range p {
		letter, stop := letterOf(node, token, i == len(p)-1)
		if stop != nil {
			stop.Typed = i
			return guess(word, p[i:]), nil, stop
		}
		word = append(word, letter)
		next := follow(node, letter)
		if next == nil && i < len(p)-1 {
			return guess(word, p[i+1:]), nil, missingOnTheWay(node, p, i)
		}
		node = next
	}
	return word, node, nil
}

func guess(word region.Word, rest Pointer) region.Word {
	for i, token := range rest {
		if token == "-" && i == len(rest)-1 {
			return append(word, region.Fresh("-"))
		}
		word = append(word, region.Key(token))
	}
	return word
}

// follow takes one typed step, nil if nothing is there.
func follow(n *Node, l region.Letter) *Node {
	switch l.Kind {
	case region.KeyLetter:
		return n.Get(l.Name)
	case region.IndexLetter:
		return n.At(l.Index)
	default:
		return nil
	}
}

// letterOf types one token under n.
func letterOf(n *Node, token string, last bool) (region.Letter, *Stop) {
	switch {
	case n.kind == ir.Object:
		return region.Key(token), nil
	case n.kind != ir.Array:
		return region.Letter{}, &Stop{
			Code:    CodeTypeMismatch,
			Message: fmt.Sprintf("the path goes on below a %s, which has nothing below it", n.kind),
		}
	case n.order != ListOrder && token == "-" && last:
		return region.Fresh("-"), nil
	case n.order != ListOrder:
		return region.Letter{}, &Stop{
			Code:    CodeTypeMismatch,
			Message: fmt.Sprintf("elements of a %s are not addressed by index", n.order),
			Hint:    fmt.Sprintf("append with add and a path that ends in /-, or name the whole %s", n.order),
		}
	default:
		return indexLetter(n, token)
	}
}

func indexLetter(n *Node, token string) (region.Letter, *Stop) {
	if token == "-" {
		return region.Index(n.Len()), nil
	}
	if !isIndex(token) {
		return region.Letter{}, &Stop{
			Code:    CodePointerSyntax,
			Message: "an array index is 0 or digits that do not begin with 0",
			Hint:    "count from 0; - stands for the end of the array",
		}
	}
	i, err := strconv.Atoi(token)
	if err != nil {
		return region.Letter{}, outOfRange()
	}
	return region.Index(i), nil
}

func outOfRange() *Stop {
	return &Stop{Code: CodeOutOfRange, Message: "the array has no element of this index"}
}

// missingOnTheWay explains that token i, which is not the last, names nothing.
func missingOnTheWay(n *Node, p Pointer, i int) *Stop {
	if n.kind == ir.Array && p[i] != "-" {
		stop := outOfRange()
		stop.Typed = i + 1
		return stop
	}
	stop := &Stop{Code: CodePathMissing, Typed: i + 1, Message: "the path leads through something that does not exist"}
	if i == len(p)-2 {
		stop.Message = "the container that the path ends in does not exist"
		stop.Hint = "add an object first"
		if p[i+1] == "-" {
			stop.Hint = "add an array first"
		}
	}
	return stop
}
