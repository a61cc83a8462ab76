package ir

import (
	"strconv"
	"strings"
)

// spellings are the ways in which types spell a number: an int as digits, a literal as
// the contract has it, any other type as it came.
type spellings struct {
	asCame, asDigits bool              // some type keeps the spelling; some is an int
	literals         map[string]string // by number, how its literal is spelled
	odd              bool              // a literal is an integer that an int spells otherwise
	differ           bool              // two types spell one number differently
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
	number, whole := numberOf(text)
	if number == "0" {
		text = strings.TrimPrefix(text, "-") // a zero has no sign
	}
	other, known := s.literals[number]
	s.differ = s.differ || known && other != text
	s.odd = s.odd || whole && strings.ContainsAny(text, ".eE")
	if s.literals == nil {
		s.literals = map[string]string{}
	}
	s.literals[number] = text
}

// numberOf is what a JSON number's text says, the same for all spellings of it, and
// whether it is an integer. Nothing expands an exponent.
func numberOf(text string) (number string, whole bool) {
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	before, after, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(before+after, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return "0", true
	}
	exponent, err := strconv.Atoi(power)
	if power != "" && err != nil {
		return text, false // beyond every limit on numbers
	}
	exponent += len(digits) - len(significant) - len(after)
	sign := ""
	if negative {
		sign = "-"
	}
	return sign + significant + "e" + strconv.Itoa(exponent), exponent >= 0
}
