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

// classes is the partition of parameters and keys that some equalities make:
// each member points towards the representative of its class.
type classes struct {
	parent map[operand]operand
}

type operand struct {
	name    string
	literal bool
}

func (e Equality) operands() (left, right operand) {
	return operand{name: e.Left}, operand{name: e.Right, literal: e.Literal}
}

func (c *classes) find(x operand) operand {
	for {
		up, ok := c.parent[x]
		if !ok {
			return x
		}
		x = up
	}
}

// join puts x and y into one class, of which a key is the representative if there
// is one. It reports false if that would make two keys equal.
func (c *classes) join(x, y operand) bool {
	x, y = c.find(x), c.find(y)
	switch {
	case x == y:
		return true
	case x.literal && y.literal:
		return false
	case x.literal:
		c.parent[y] = x
	default:
		c.parent[x] = y
	}
	return true
}

// classesOf reads the equalities of all; ok is false if they contradict each
// other.
func classesOf(all []Equality) (c classes, ok bool) {
	c.parent = map[operand]operand{}
	for _, e := range all {
		if x, y := e.operands(); !e.Not && !c.join(x, y) {
			return c, false
		}
	}
	for _, e := range all {
		if x, y := e.operands(); e.Not && c.find(x) == c.find(y) {
			return c, false
		}
	}
	return c, true
}

// withoutImplied drops, of equalities without negations, those that follow from earlier
// ones; ok is false if they contradict each other.
func withoutImplied(all []Equality) (kept []Equality, ok bool) {
	c := classes{parent: map[operand]operand{}}
	for _, e := range all {
		x, y := e.operands()
		if c.find(x) == c.find(y) {
			continue
		}
		if !c.join(x, y) {
			return nil, false
		}
		kept = append(kept, e)
	}
	return kept, true
}

// A knowledge is some equalities, with the classes they make once those are asked for.
type knowledge struct {
	all     []Equality
	classes *classes
}

func knowing(all []Equality) *knowledge { return &knowledge{all: all} }

// implies reports whether e follows from what is known, which is consistent.
func (k *knowledge) implies(e Equality) bool {
	all := k.all
	if len(all) == 1 && !all[0].Not && !e.Not { // most conditions are one equality
		return e.isTrivial() || e.says(all[0])
	}
	if k.classes == nil {
		c, _ := classesOf(all)
		k.classes = &c
	}
	c := k.classes
	x, y := e.operands()
	x, y = c.find(x), c.find(y)
	if !e.Not {
		return x == y
	}
	if x.literal && y.literal && x != y {
		return true
	}
	for _, f := range all {
		l, r := f.operands()
		l, r = c.find(l), c.find(r)
		if f.Not && (l == x && r == y || l == y && r == x) {
			return true
		}
	}
	return false
}

// isTrivial reports whether e says that something is equal to itself.
func (e Equality) isTrivial() bool { return !e.Literal && e.Left == e.Right }

// says reports whether e equates what f does.
func (e Equality) says(f Equality) bool {
	x, y := e.operands()
	l, r := f.operands()
	return x == l && y == r || x == r && y == l
}

func (k *knowledge) impliesAll(others []Equality) bool {
	for _, e := range others {
		if !k.implies(e) {
			return false
		}
	}
	return true
}
