package verify

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
)

// measures are the measures of one state, each computed at most once, when an
// expression asks for it. One verification runs on one goroutine.
type measures struct {
	p     *Program
	state *tree.Node
	known map[string]measured
}

type measured struct {
	literal string
	present bool
}

// lookup is the value of a measure as expressions ask for it: its exact literal,
// or that there is none.
func (m *measures) lookup(name string) (literal string, present bool) {
	if v, ok := m.known[name]; ok {
		return v.literal, v.present
	}
	for i := range m.p.contract.Measures {
		if measure := &m.p.contract.Measures[i]; measure.Name == name {
			v := compute(measure, m.state)
			if m.known == nil {
				m.known = map[string]measured{}
			}
			m.known[name] = v
			return v.literal, v.present
		}
	}
	return "", false
}

// compute folds a measure over the nodes its pattern matches. What is no number
// does not count for sum, min and max.
func compute(m *ir.Measure, state *tree.Node) measured {
	var sum decimalSum
	var extreme *tree.Node
	count := 0
	eachMatch(state, m.Over, func(_ region.Word, n *tree.Node) bool {
		count++
		if n.Kind() != ir.Number {
			return true
		}
		switch m.Kind {
		case ir.Sum:
			sum.add(n.Text())
		case ir.Min, ir.Max:
			extreme = further(m.Kind, extreme, n)
		}
		return true
	})
	switch {
	case m.Kind == ir.Count:
		return measured{strconv.Itoa(count), true}
	case m.Kind == ir.Sum:
		return measured{sum.literal(), true}
	case extreme == nil:
		return measured{}
	default:
		return measured{extreme.Text(), true}
	}
}

func further(kind ir.MeasureKind, a, b *tree.Node) *tree.Node {
	if a == nil {
		return b
	}
	if c := tree.CompareNumbers(b, a); kind == ir.Min && c < 0 || kind == ir.Max && c > 0 {
		return b
	}
	return a
}

// A decimalSum adds decimals exactly: its value is units × 10^-scale.
type decimalSum struct {
	units big.Int
	scale int
}

var ten = big.NewInt(10)

// add adds a number as JSON writes it.
func (s *decimalSum) add(literal string) {
	mantissa, power := literal, 0
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa = literal[:i]
		power, _ = strconv.Atoi(strings.TrimPrefix(literal[i+1:], "+"))
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	var units big.Int
	units.SetString(whole+fraction, 10)
	s.addUnits(&units, len(fraction)-power)
}

func (s *decimalSum) addUnits(units *big.Int, scale int) {
	switch {
	case scale > s.scale:
		s.units.Mul(&s.units, powerOfTen(scale-s.scale))
		s.scale = scale
	case scale < s.scale:
		units.Mul(units, powerOfTen(s.scale-scale))
	}
	s.units.Add(&s.units, units)
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil) }

// literal writes the sum as a JSON number without an exponent.
func (s *decimalSum) literal() string {
	if s.scale <= 0 {
		return new(big.Int).Mul(&s.units, powerOfTen(-s.scale)).String()
	}
	text := new(big.Int).Abs(&s.units).String()
	if len(text) <= s.scale {
		text = strings.Repeat("0", s.scale-len(text)+1) + text
	}
	sign := ""
	if s.units.Sign() < 0 {
		sign = "-"
	}
	whole, fraction := text[:len(text)-s.scale], strings.TrimRight(text[len(text)-s.scale:], "0")
	if fraction == "" {
		return sign + whole
	}
	return sign + whole + "." + fraction
}
