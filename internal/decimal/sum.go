package decimal

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// A Sum is a number that more can be added to: units × 10^-scale, or whatever large
// holds in place of units, where they do not fit. It is a value: nothing changes it. The
// zero value is 0.
type Sum struct {
	units int64
	large *big.Int // nil if units are enough
	scale int
}

// SumOf reads a Valid literal. Its exponent should be bounded, as that of a number of a
// state is: adding to it and writing it cost as many digits as the exponent says.
func SumOf(literal string) Sum {
	if s, ok := plainSum(literal); ok {
		return s
	}
	mantissa, power := cutExponent(literal)
	whole, fraction, _ := strings.Cut(mantissa, ".")
	units, _ := new(big.Int).SetString(whole+fraction, 10)
	return Sum{large: units, scale: len(fraction) - int(power)}
}

// plainSum reads a number of up to 18 digits without an exponent.
func plainSum(literal string) (s Sum, ok bool) {
	digits, point := 0, -1
	for i := 0; i < len(literal); i++ {
		switch c := literal[i]; {
		case c >= '0' && c <= '9':
			s.units = s.units*10 + int64(c-'0')
			digits++
		case c == '.':
			point = i
		case c != '-':
			return s, false
		}
		if digits > 18 {
			return s, false
		}
	}
	if point >= 0 {
		s.scale = len(literal) - point - 1
	}
	if literal[0] == '-' {
		s.units = -s.units
	}
	return s, true
}

// Plus is the exact sum of both.
func (s Sum) Plus(t Sum) Sum {
	if s.scale < t.scale {
		s, t = t, s
	}
	if sum, ok := s.plusSmall(t); ok {
		return sum
	}
	units := t.big()
	if s.scale > t.scale {
		units.Mul(units, powerOfTen(s.scale-t.scale))
	}
	return Sum{large: units.Add(units, s.big()), scale: s.scale}
}

// plusSmall adds where all fits: s has the greater scale.
func (s Sum) plusSmall(t Sum) (Sum, bool) {
	if s.large != nil || t.large != nil || s.scale-t.scale > 18 {
		return s, false
	}
	for range s.scale - t.scale {
		if t.units > math.MaxInt64/10 || t.units < math.MinInt64/10 {
			return s, false
		}
		t.units *= 10
	}
	sum := s.units + t.units
	if (sum > s.units) != (t.units > 0) && t.units != 0 {
		return s, false
	}
	s.units = sum
	return s, true
}

// big is the units as a number of the caller's.
func (s Sum) big() *big.Int {
	if s.large != nil {
		return new(big.Int).Set(s.large)
	}
	return big.NewInt(s.units)
}

var ten = big.NewInt(10)

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// String writes s as a JSON number without an exponent, and without zeros that say
// nothing.
func (s Sum) String() string {
	units := s.big()
	if s.scale <= 0 {
		return units.Mul(units, powerOfTen(-s.scale)).String()
	}
	negative := units.Sign() < 0
	text := units.Abs(units).String()
	if len(text) <= s.scale {
		text = strings.Repeat("0", s.scale-len(text)+1) + text
	}
	whole, fraction := text[:len(text)-s.scale], strings.TrimRight(text[len(text)-s.scale:], "0")
	if fraction != "" {
		whole += "." + fraction
	}
	if negative {
		whole = "-" + whole
	}
	return whole
}

// SumOfInt is the sum that is i.
func SumOfInt(i int64) Sum { return Sum{units: i} }

// Int64 is s where it is a whole number of 64 bits that was made of such ones.
func (s Sum) Int64() (i int64, ok bool) {
	switch {
	case s.scale != 0:
		return 0, false
	case s.large == nil:
		return s.units, true
	}
	return s.large.Int64(), s.large.IsInt64()
}

// Negate is the number of the other sign.
func (s Sum) Negate() Sum {
	if s.large == nil && s.units != math.MinInt64 {
		s.units = -s.units
		return s
	}
	units := s.big()
	return Sum{large: units.Neg(units), scale: s.scale}
}

// Times is the exact product of both. Its digits are as many as those of both together.
func (s Sum) Times(t Sum) Sum {
	if s.large == nil && t.large == nil {
		if high, low := bits.Mul64(magnitude(s.units), magnitude(t.units)); high == 0 && low <= math.MaxInt64 {
			return Sum{units: s.units * t.units, scale: s.scale + t.scale}
		}
	}
	units := s.big()
	return Sum{large: units.Mul(units, t.big()), scale: s.scale + t.scale}
}

func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

// Sign is -1, 0 or 1.
func (s Sum) Sign() int {
	if s.large != nil {
		return s.large.Sign()
	}
	return cmp.Compare(s.units, 0)
}

// Compare is -1, 0 or 1 as s is less than, equal to or greater than t.
func (s Sum) Compare(t Sum) int {
	if s.scale == t.scale && s.large == nil && t.large == nil {
		return cmp.Compare(s.units, t.units)
	}
	return s.Plus(t.Negate()).Sign()
}

// Digits is about how many digits it takes to write s without an exponent: at least as
// many as there are, and few more.
func (s Sum) Digits() int {
	n := 19
	if s.large != nil {
		n = s.large.BitLen()*3/10 + 2 // 3/10 is just less than log10(2), by less than 2 digits in 1,000 bits
		n += s.large.BitLen() / 500
	}
	if s.scale < 0 {
		return n - s.scale
	}
	return max(n, s.scale+1)
}
