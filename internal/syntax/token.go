package syntax

import "github.com/patchoptic/poptic/lang/source"

// A Token is one lexical token; white space between tokens is not a token.
type Token struct {
	Span source.Span
	Kind TokenKind
}

// GetSpan returns the token's span.
func (t Token) GetSpan() source.Span { return t.Span }

// TokenKind is the class of a token.
type TokenKind uint8

// The classes of tokens.
const (
	BadToken     TokenKind = iota // bytes that no rule takes; always reported
	CommentToken                  // "#" to the end of the line
	WordToken                     // a name or keyword, possibly qualified: pii.Email
	FieldToken                    // the name of a record's field, without its colon; a word or a string
	StringToken                   // a JSON string
	NumberToken                   // a JSON number
	PathToken                     // a path pattern
	ExprToken                     // CEL with its braces
	JSONToken                     // JSON written in a test, with its brackets
	PunctToken                    // everything else
)
