package region

import "strings"

// A Condition says for which parameter values two regions meet: whenever all
// equalities of some term hold.
type Condition struct {
	Any     []Term
	Inexact bool // it may hold although the regions do not meet; never the other way round
}

// A Term holds if all its equalities do; one without equalities always holds.
type Term struct {
	All     []Equality
	Witness Word // a word in both regions then, parameters as symbols; nil if not asked for
}

// An Equality compares a parameter with another one, or with a key.
type Equality struct {
	Left    string // a parameter
	Right   string // a parameter, or a key if Literal
	Literal bool
	Not     bool // the two differ
}

// Never reports whether the regions meet for no values.
func (c Condition) Never() bool { return len(c.Any) == 0 }

// Always reports whether the regions meet for all values.
func (c Condition) Always() bool {
	for _, t := range c.Any {
		if len(t.All) == 0 {
			return true
		}
	}
	return false
}

// Holds evaluates c at the given values, which must name every parameter of c. It
// costs the size of c.
func (c Condition) Holds(args Binding) bool {
	for _, t := range c.Any {
		if t.holds(args) {
			return true
		}
	}
	return false
}

func (t Term) holds(args Binding) bool { return allHold(t.All, args) }

func allHold(all []Equality, args Binding) bool {
	for _, e := range all {
		if !e.holds(args) {
			return false
		}
	}
	return true
}

func (e Equality) holds(args Binding) bool {
	right := e.Right
	if !e.Literal {
		right = args[e.Right]
	}
	return (args[e.Left] == right) != e.Not
}

// String writes c as "never", "always", or like "ticket = other and a != b or
// ticket = third".
func (c Condition) String() string {
	if c.Never() {
		return "never"
	}
	var terms []string
	for _, t := range c.Any {
		terms = append(terms, t.String())
	}
	return strings.Join(terms, " or ")
}

// String writes t as "always" or as its equalities joined by "and".
func (t Term) String() string {
	if len(t.All) == 0 {
		return "always"
	}
	var all []string
	for _, e := range t.All {
		all = append(all, e.String())
	}
	return strings.Join(all, " and ")
}

// String writes e as "left = right" or "left != right", a key as a pattern would
// write it: "left = :key".
func (e Equality) String() string {
	sign, right := " = ", e.Right
	if e.Not {
		sign = " != "
	}
	if e.Literal {
		right = Segment{Kind: KeyLiteral, Text: e.Right}.String()
	}
	return e.Left + sign + right
}
