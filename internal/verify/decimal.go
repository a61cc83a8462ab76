package verify

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A decimal is an exact decimal number: units × 10^-scale, or whatever large holds in
// place of units, where they do not fit. It is a value: nothing changes it.
type decimal struct {
	units int64
	large *big.Int // nil if units are enough
	scale int
}

// decimalOf reads a number as JSON writes it.
func decimalOf(literal string) decimal {
	if d, ok := plainDecimal(literal); ok {
		return d
	}
	mantissa, power := literal, 0
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa = literal[:i]
		power, _ = strconv.Atoi(strings.TrimPrefix(literal[i+1:], "+"))
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	units, _ := new(big.Int).SetString(whole+fraction, 10)
	return decimal{large: units, scale: len(fraction) - power}
}

// plainDecimal reads a number of up to 18 digits without an exponent.
func plainDecimal(literal string) (d decimal, ok bool) {
	digits, point := 0, -1
	for i := 0; i < len(literal); i++ {
		switch c := literal[i]; {
		case c >= '0' && c <= '9':
			d.units = d.units*10 + int64(c-'0')
			digits++
		case c == '.':
			point = i
		case c != '-':
			return d, false
		}
		if digits > 18 {
			return d, false
		}
	}
	if point >= 0 {
		d.scale = len(literal) - point - 1
	}
	if literal[0] == '-' {
		d.units = -d.units
	}
	return d, true
}

func (d decimal) plus(e decimal) decimal {
	if d.scale < e.scale {
		d, e = e, d
	}
	if sum, ok := d.plusSmall(e); ok {
		return sum
	}
	units := e.big()
	if d.scale > e.scale {
		units.Mul(units, powerOfTen(d.scale-e.scale))
	}
	return decimal{large: units.Add(units, d.big()), scale: d.scale}
}

// plusSmall adds where all fits: d has the greater scale.
func (d decimal) plusSmall(e decimal) (decimal, bool) {
	if d.large != nil || e.large != nil || d.scale-e.scale > 18 {
		return d, false
	}
	for range d.scale - e.scale {
		if e.units > math.MaxInt64/10 || e.units < math.MinInt64/10 {
			return d, false
		}
		e.units *= 10
	}
	sum := d.units + e.units
	if (sum > d.units) != (e.units > 0) && e.units != 0 {
		return d, false
	}
	d.units = sum
	return d, true
}

// big is the units as a number of the caller's.
func (d decimal) big() *big.Int {
	if d.large != nil {
		return new(big.Int).Set(d.large)
	}
	return big.NewInt(d.units)
}

var ten = big.NewInt(10)

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// literal writes d as a JSON number without an exponent, and without zeros that say
// nothing.
func (d decimal) literal() string {
	units := d.big()
	if d.scale <= 0 {
		return units.Mul(units, powerOfTen(-d.scale)).String()
	}
	negative := units.Sign() < 0
	text := units.Abs(units).String()
	if len(text) <= d.scale {
		text = strings.Repeat("0", d.scale-len(text)+1) + text
	}
	whole, fraction := text[:len(text)-d.scale], strings.TrimRight(text[len(text)-d.scale:], "0")
	if fraction != "" {
		whole += "." + fraction
	}
	if negative {
		whole = "-" + whole
	}
	return whole
}
