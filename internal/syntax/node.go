package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/patchoptic/poptic/lang/source"
)

// Node is the part every tree node has: the span of source text it was read from.
type Node struct {
	Span source.Span
	extent
}

// GetSpan returns the node's span.
func (n Node) GetSpan() source.Span { return n.Span }

// extent is where participle notes a node's first token and the token after its
// last one. It is turned into the Span and cleared before Parse returns.
type extent struct {
	Pos    mark
	EndPos mark
}

// A mark is a token's place in the form participle knows. Offset is the token's
// first byte, Column the end of the token before it, Line its index in the
// stream plus one: so a node ends at the Column of its EndPos, whatever white
// space and comments follow.
type mark = lexer.Position

func (n *Node) node() *Node { return n }
