package syntax

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"
)

// A stream is the tokens of a part of the file as the grammar sees them.
// Recovering from a mistake means editing it: taking tokens out, putting in what
// is missing, replacing a word by the one that was meant. Tokens put in take no
// room: they start and end where the token before them ends.
type stream struct {
	tokens []token
	end    int // offset of the end of the text, for the end-of-file token
}

func newStream(tokens []token, end int) *stream { return &stream{tokens: tokens, end: end} }

// at is the token with index i, or one of class EOF after the last.
func (s *stream) at(i int) token {
	if i < 0 {
		return token{}
	}
	if i >= len(s.tokens) {
		return token{sym: lexer.EOF, start: s.end, end: s.end, lineStart: true}
	}
	return s.tokens[i]
}

func (s *stream) remove(from, to int) { s.tokens = slices.Delete(s.tokens, from, to) }

// insert puts a token without extent before the one with index i.
func (s *stream) insert(i int, sym lexer.TokenType, value string) {
	place := s.at(i).start
	if i > 0 {
		place = s.at(i - 1).end
	}
	s.tokens = slices.Insert(s.tokens, i, token{kind: PunctToken, sym: sym, start: place, end: place, value: value})
}

// from prepares the tokens from index i on for the grammar. Indices into the
// stream stay in the marks (see mark).
func (s *stream) from(i int) *lexer.PeekingLexer {
	lex, _ := lexer.Upgrade(&feed{stream: s, next: i}) // a feed has no errors
	return lex
}

func (s *stream) lexer() lexer.Lexer { return &feed{stream: s} }

type feed struct {
	stream *stream
	next   int
}

func (f *feed) Next() (lexer.Token, error) {
	t := f.stream.at(f.next)
	pos := lexer.Position{Offset: t.start, Line: f.next + 1, Column: f.stream.at(f.next - 1).end}
	f.next++
	return lexer.Token{Type: t.sym, Value: t.value, Pos: pos}, nil
}
