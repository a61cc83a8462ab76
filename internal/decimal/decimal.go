// Package decimal is the arithmetic of JSON numbers: exact, of any size. A literal in
// the grammar of RFC 8259 section 6 is read as a Decimal, to be compared, hashed or
// taken as an integer, or as a Sum, to be added. Values that are equal as numbers are
// equal here however they are written: 1, 1.0 and 1e0 are one, 2^53 and 2^53+1 two.
package decimal

import (
	"cmp"
	"strconv"
	"strings"
)

// Valid reports whether s is a number as JSON writes it:
// -? (0 | [1-9][0-9]*) (\.[0-9]+)? ([eE][+-]?[0-9]+)?
func Valid(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, s := cutDigits(s)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if rest, ok := strings.CutPrefix(s, "."); ok {
		var fraction string
		if fraction, s = cutDigits(rest); fraction == "" {
			return false
		}
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	power, s := cutDigits(s)
	return power != "" && s == ""
}

func cutDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

// A Decimal is a number in its only normal form, so that == is equality of numbers:
// ±0.digits × 10^exponent, where digits neither begin nor end with 0; zero has no
// digits and exponent 0. Nothing expands the exponent: 1e1000 costs what it is long,
// not what it is. The zero value is 0.
type Decimal struct {
	negative bool
	digits   string
	exponent int64
}

// Parse reads a literal that is Valid.
func Parse(literal string) Decimal {
	mantissa, power := cutExponent(literal)
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := whole
	if fraction != "" {
		digits += fraction
	}
	significant := strings.TrimLeft(digits, "0")
	power += int64(len(whole) - (len(digits) - len(significant)))
	significant = strings.TrimRight(significant, "0")
	if significant == "" {
		return Decimal{}
	}
	return Decimal{negative, significant, power}
}

// Exponent is the exponent that a Valid literal is written with, 0 if with none. One
// beyond ±2^40 is as far away as that.
func Exponent(literal string) int64 {
	_, power := cutExponent(literal)
	return power
}

func cutExponent(literal string) (mantissa string, power int64) {
	i := strings.IndexAny(literal, "eE")
	if i < 0 {
		return literal, 0
	}
	const most = 1 << 40 // can still be added to
	text := literal[i+1:]
	v, err := strconv.ParseInt(strings.TrimPrefix(text, "+"), 10, 64)
	switch {
	case err != nil && strings.HasPrefix(text, "-"):
		v = -most
	case err != nil:
		v = most
	}
	return literal[:i], max(-most, min(v, most))
}

// Sign is -1, 0 or 1.
func (d Decimal) Sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	default:
		return 1
	}
}

// Compare is -1, 0 or 1 as d is less than, equal to or greater than e.
func (d Decimal) Compare(e Decimal) int {
	if c := cmp.Compare(d.Sign(), e.Sign()); c != 0 || d.digits == "" {
		return c
	}
	c := cmp.Compare(d.exponent, e.exponent)
	if c == 0 {
		c = strings.Compare(d.digits, e.digits)
	}
	return c * d.Sign()
}

// Append writes d in a form that is the same for equal numbers and different for
// different ones. Digests of states hash it, so it must not change.
func (d Decimal) Append(dst []byte) []byte {
	if d.digits == "" {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, '.'), d.digits...)
	return strconv.AppendInt(append(dst, 'e'), d.exponent, 10)
}

// Int64 is d where it is a whole number of 64 bits.
func (d Decimal) Int64() (v int64, ok bool) {
	const longest = int64(len("9223372036854775808"))
	switch {
	case d.digits == "":
		return 0, true
	case d.exponent < int64(len(d.digits)) || d.exponent > longest:
		return 0, false
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	v, err := strconv.ParseInt(sign+d.digits+strings.Repeat("0", int(d.exponent)-len(d.digits)), 10, 64)
	return v, err == nil
}
