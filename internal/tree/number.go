package tree

import (
	"errors"
	"strconv"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/ir"
)

// Numbers keep the literal they were written with and are compared by exact
// decimal value (package decimal).

// NewNumber returns the number written as literal, in the grammar of RFC 8259
// section 6, within DefaultLimits. A negative zero loses its sign, for it equals 0.
func NewNumber(literal string) (*Node, error) {
	if !decimal.Valid(literal) {
		return nil, errors.New("not a JSON number")
	}
	if err := DefaultLimits.checkNumber(literal); err != nil {
		return nil, err
	}
	return numberNode(literal), nil
}

// NewInt returns an integer.
func NewInt(v int64) *Node { return numberNode(strconv.FormatInt(v, 10)) }

func numberNode(literal string) *Node {
	if literal[0] == '-' && decimal.Parse(literal).Sign() == 0 {
		literal = literal[1:]
	}
	return &Node{kind: ir.Number, text: literal, width: narrow(len(literal))}
}

// CompareNumbers compares two numbers by exact value: -1, 0 or 1.
func CompareNumbers(a, b *Node) int {
	if a.text == b.text {
		return 0
	}
	return decimal.Parse(a.text).Compare(decimal.Parse(b.text))
}

// IsInt64 reports whether n is a number whose value is a 64-bit integer, however
// it is written: 1.0 and 1e3 are.
func IsInt64(n *Node) bool {
	_, ok := n.Int64()
	return ok
}

// Int64 is the exact value of a number that IsInt64.
func (n *Node) Int64() (int64, bool) {
	if n == nil || n.kind != ir.Number {
		return 0, false
	}
	if v, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return v, true
	}
	return decimal.Parse(n.text).Int64()
}

// Float64 is the double nearest to a number, an infinity beyond the largest; 0 for
// anything else.
func (n *Node) Float64() float64 {
	if n == nil || n.kind != ir.Number {
		return 0
	}
	v, _ := strconv.ParseFloat(n.text, 64)
	return v
}
