package ir

import (
	"strings"

	"github.com/patchoptic/poptic/internal/decimal"
)

// spellings are the ways in which types spell a number: an int as digits, a literal as
// the contract has it, any other type as it came.
type spellings struct {
	asCame, asDigits bool                       // some type keeps the spelling; some is an int
	literals         map[decimal.Decimal]string // how the literal of a number is spelled
	odd              bool                       // a literal is an integer that an int spells otherwise
	differ           bool                       // two types spell one number differently
}

func (s *spellings) add(t *Type) {
	switch t.Kind {
	case AnyType, NumberType:
		s.asCame = true
	case IntType:
		s.asDigits = true
	case LiteralType:
		if strings.IndexByte("-0123456789", t.Literal[0]) >= 0 {
			s.addLiteral(t.Literal)
		}
	}
	s.differ = s.differ || s.asCame && (s.asDigits || len(s.literals) > 0) || s.asDigits && s.odd
}

func (s *spellings) addLiteral(text string) {
	number := decimal.Parse(text)
	if number.Sign() == 0 {
		text = strings.TrimPrefix(text, "-") // a zero has no sign
	}
	other, known := s.literals[number]
	s.differ = s.differ || known && other != text
	_, whole := number.Int64()
	s.odd = s.odd || whole && strings.ContainsAny(text, ".eE")
	if s.literals == nil {
		s.literals = map[decimal.Decimal]string{}
	}
	s.literals[number] = text
}
