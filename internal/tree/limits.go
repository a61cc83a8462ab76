package tree

import "github.com/patchoptic/poptic/internal/decimal"

// Limits bound what Parse reads and what an operation may produce, so that neither
// a document nor a patch that copies what it copied can grow without end. A limit
// of 0 is no limit.
type Limits struct {
	MaxBytes        int // of the text read, and of the encoding of a result
	MaxDepth        int // containers inside each other
	MaxNodes        int // JSON values
	MaxNumberLength int // bytes of one number's literal
	MaxExponent     int // absolute value of an exponent as written
}

// DefaultLimits are the limits that hold where none are given.
var DefaultLimits = Limits{
	MaxBytes:        64 << 20,
	MaxDepth:        512,
	MaxNodes:        8 << 20,
	MaxNumberLength: 1024,
	MaxExponent:     1024,
}

// Check judges a value that was not parsed with l: size, depth and number of
// values, each remembered by n. It returns nil or a *DecodeError without offset.
func (l Limits) Check(n *Node) *DecodeError {
	switch {
	case over(n.Size(), l.MaxBytes):
		return l.exceeded(LimitSize)
	case over(n.Depth(), l.MaxDepth):
		return l.exceeded(LimitDepth)
	case over(n.Weight(), l.MaxNodes):
		return l.exceeded(LimitNodes)
	default:
		return nil
	}
}

func over(n, limit int) bool { return limit > 0 && n > limit }

// checkNumber judges a well-formed literal; its error is nil or a *DecodeError.
func (l Limits) checkNumber(literal string) error {
	if over(len(literal), l.MaxNumberLength) {
		return l.exceeded(LimitNumber)
	}
	if power := decimal.Exponent(literal); over(max(power, -power), l.MaxExponent) {
		return l.exceeded(LimitNumber)
	}
	return nil
}
