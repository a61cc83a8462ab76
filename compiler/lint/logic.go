package lint

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
)

// Whether a condition can hold at all, decided as far as that is easy. A condition is taken
// apart into a disjunction of conjunctions of facts: a term compared with a constant, two
// terms compared with each other, and whatever else is true or false, by its text. Of each
// conjunction it is asked whether its facts contradict one another, or what the types say
// of the terms. What is not understood is a fact like any other, so that the answer "cannot
// hold" is right in every case, and "may hold" means no more than that nothing was found.
//
// That a fact is true says that its terms have values: an expression that has none does
// not hold. So the types of all terms may be taken for granted.

// A term is a node of an expression in one spelling (expr.Canonical).
type term struct {
	head string  // call, select, list, over, ...; "" for a leaf
	name string  // of a call the function, of a select the member
	test bool    // of a select: has()
	args []*term // operands
	text string  // the whole of it
}

// parseTerm reads one canonical text; nil if it is none.
func parseTerm(text string) *term {
	r := termReader{text: text}
	t := r.read()
	if r.bad || r.at != len(text) {
		return nil
	}
	return t
}

type termReader struct {
	text string
	at   int
	bad  bool
}

func (r *termReader) read() *term {
	start := r.at
	if r.at >= len(r.text) {
		r.bad = true
		return nil
	}
	if r.text[r.at] != '(' {
		r.leaf()
		return &term{text: r.text[start:r.at]}
	}
	r.at++
	t := &term{}
	for first := true; !r.bad && r.at < len(r.text) && r.text[r.at] != ')'; first = false {
		if r.text[r.at] == ' ' {
			r.at++
			continue
		}
		a := r.read()
		switch {
		case r.bad:
		case first:
			t.head = a.text
		default:
			t.args = append(t.args, a)
		}
	}
	if r.bad || r.at >= len(r.text) {
		r.bad = true
		return nil
	}
	r.at++
	t.text = r.text[start:r.at]
	if t.head == "call" || t.head == "select" {
		if len(t.args) < 2 {
			r.bad = true
			return nil
		}
		t.name, _ = strconv.Unquote(t.args[0].text)
		t.test = t.head == "select" && t.args[1].text == "true"
		t.args = t.args[2:]
	}
	if t.head == "call" && t.name == "size" && len(t.args) == 1 {
		t.text = `(call "size" false ` + t.args[0].text + ")" // x.size() as well
	}
	return t
}

// leaf goes to the end of a word or a text in quotation marks.
func (r *termReader) leaf() {
	if r.text[r.at] == '"' {
		for r.at++; r.at < len(r.text) && r.text[r.at] != '"'; r.at++ {
			if r.text[r.at] == '\\' {
				r.at++
			}
		}
		if r.at++; r.at > len(r.text) {
			r.bad, r.at = true, len(r.text)
		}
		return
	}
	for r.at < len(r.text) && r.text[r.at] != ' ' && r.text[r.at] != ')' && r.text[r.at] != '(' {
		r.at++
	}
}

// A value is a constant: a text, a number, true or false, or null.
type value struct {
	key    string   // equal for equal values
	number *big.Rat // nil for others
}

// constant reads a leaf that is one.
func (t *term) constant() (value, bool) {
	if t.head != "" {
		return value{}, false
	}
	if strings.HasPrefix(t.text, `"`) {
		s, err := strconv.Unquote(t.text)
		return value{key: "s:" + s}, err == nil
	}
	kind, text, ok := strings.Cut(t.text, ":")
	if !ok {
		return value{}, false
	}
	switch kind {
	case "int", "uint", "double":
		n, ok := new(big.Rat).SetString(text)
		if !ok {
			return value{}, false
		}
		return value{key: "n:" + n.RatString(), number: n}, true
	case "bool":
		return value{key: "b:" + text}, true
	case "null_type":
		return value{key: "z"}, true
	}
	return value{}, false
}

// literal is the value of a literal type's JSON text.
func literal(text string) (value, bool) {
	var s string
	switch {
	case json.Unmarshal([]byte(text), &s) == nil && strings.HasPrefix(text, `"`):
		return value{key: "s:" + s}, true
	case text == "true" || text == "false":
		return value{key: "b:" + text}, true
	case text == "null":
		return value{key: "z"}, true
	}
	n, ok := new(big.Rat).SetString(text)
	if !ok {
		return value{}, false
	}
	return value{key: "n:" + n.RatString(), number: n}, true
}

// The ways in which one term may stand to another, as a set of them.
const (
	less = 1 << iota
	equal
	greater
	anyway = less | equal | greater
)

// relations are the operators that compare.
var relations = map[string]int{"_<_": less, "_<=_": less | equal, "_==_": equal, "_!=_": less | greater, "_>=_": greater | equal, "_>_": greater}

// mirrored is how b stands to a if a stands to b so.
func mirrored(r int) int {
	return r&equal | r&less<<2 | r&greater>>2
}

// A fact is one thing that is asked to be so: exactly one of its forms.
type fact struct {
	term *term // compared with values, or with other
	how  int   // the term stands so to
	to   value //   a constant
	in   []value
	out  bool  // of in: it is none of them
	with *term // or to another term

	text string // or something that is true,
	not  bool   // or false
}

// A logic knows what may be said of the names in a condition.
type logic struct {
	contract *ir.Contract
	types    map[string]ir.TypeID // of free names
	oneOf    map[string][]value   // of free names that have one of some values
	counts   map[string]bool      // free names that are whole numbers from 0
	known    []*term              // conditions that hold as well
	own      bool                 // the condition belongs to the type of self: its own constraints say nothing
}

// maxCases bounds the conjunctions that are looked at; a condition with more is not decided.
const maxCases = 2048

// cases is a condition, or what contradicts it, as a disjunction; ok is false if it has too
// many.
func (l *logic) cases(t *term, not bool) (out [][]fact, ok bool) {
	switch {
	case t.head == "call" && (t.name == "_&&_" || t.name == "_||_"):
		a, ok := l.cases(t.args[0], not)
		if !ok {
			return nil, false
		}
		b, ok := l.cases(t.args[1], not)
		if !ok {
			return nil, false
		}
		if (t.name == "_||_") != not {
			out = slices.Concat(a, b)
			return out, len(out) <= maxCases
		}
		return both(a, b)
	case t.head == "call" && t.name == "!_":
		return l.cases(t.args[0], !not)
	case t.head == "call" && t.name == "_?_:_":
		var out [][]fact
		for i, side := range t.args[1:] {
			if1, ok1 := l.cases(t.args[0], i == 1)
			then, ok2 := l.cases(side, not)
			joined, ok3 := both(if1, then)
			if !ok1 || !ok2 || !ok3 {
				return nil, false
			}
			out = append(out, joined...)
		}
		return out, len(out) <= maxCases
	case t.text == "bool:true" || t.text == "bool:false":
		if (t.text == "bool:true") != not {
			return [][]fact{{}}, true
		}
		return nil, true
	}
	return [][]fact{{l.fact(t, not)}}, true
}

func both(a, b [][]fact) (out [][]fact, ok bool) {
	if len(a)*len(b) > maxCases {
		return nil, false
	}
	for _, x := range a {
		for _, y := range b {
			out = append(out, slices.Concat(x, y))
		}
	}
	return out, true
}

func (l *logic) fact(t *term, not bool) fact {
	if how, ok := relations[t.name]; ok && t.head == "call" && len(t.args) == 2 {
		a, b := t.args[0], t.args[1]
		if _, isConstant := a.constant(); isConstant {
			a, b, how = b, a, mirrored(how)
		}
		if not {
			how = anyway &^ how
		}
		if v, isConstant := b.constant(); isConstant {
			return fact{term: a, how: how, to: v}
		}
		if a.text > b.text {
			a, b, how = b, a, mirrored(how)
		}
		return fact{term: a, how: how, with: b}
	}
	if t.head == "call" && t.name == "@in" && strings.HasPrefix(t.args[1].head, "list") {
		f := fact{term: t.args[0], out: not, in: []value{}}
		for _, x := range t.args[1].args {
			if x.text == "[]" {
				continue // no optional elements
			}
			v, ok := x.constant()
			if !ok {
				return fact{text: t.text, not: not}
			}
			f.in = append(f.in, v)
		}
		return f
	}
	if id, ok := l.typeOf(t); ok && l.contract.Type(id).Kind == ir.BoolType && !t.test {
		return fact{term: t, in: []value{{key: "b:true"}}, out: not}
	}
	return fact{text: t.text, not: not}
}

// typeOf is the type of a term, as far as members and keys lead to it from a free name.
func (l *logic) typeOf(t *term) (ir.TypeID, bool) {
	switch {
	case t.head == "":
		id, ok := l.types[t.text]
		return id, ok
	case t.head == "select" && !t.test:
		id, ok := l.typeOf(t.args[0])
		if !ok || l.contract.Type(id).Kind != ir.RecordType {
			return 0, false
		}
		m, ok := l.contract.Type(id).Member(t.name)
		return m.Type, ok
	case t.head == "call" && t.name == "_[_]":
		id, ok := l.typeOf(t.args[0])
		if !ok || l.contract.Type(id).Kind != ir.MapType && l.contract.Type(id).Kind != ir.KeyedType {
			return 0, false
		}
		return l.contract.Type(id).Elem, true
	}
	return 0, false
}

// mayHold reports whether nothing was found that contradicts a condition; decided is false
// if it was not looked at. With not it is asked whether it may fail to hold, by what is
// false and not by what has no value.
func (l *logic) mayHold(t *term, not bool) (may, decided bool) {
	cases, ok := l.cases(t, not)
	if !ok {
		return true, false
	}
	for _, k := range l.near(t) {
		more, ok := l.cases(k, false)
		if !ok {
			continue
		}
		if joined, ok := both(cases, more); ok && len(joined) <= maxJoined {
			cases = joined
		}
	}
	for _, c := range cases {
		if l.consistent(c) {
			return true, true
		}
	}
	return false, true
}

// maxJoined and maxKnown bound what of other conditions is taken into account.
const (
	maxJoined = 256
	maxKnown  = 16
)

// near lists the known conditions that are about something that t is about.
func (l *logic) near(t *term) (out []*term) {
	if len(l.known) == 0 {
		return nil
	}
	about := map[string]bool{}
	places(t, func(s string) { about[s] = true })
	for _, k := range l.known {
		shared := false
		places(k, func(s string) { shared = shared || about[s] })
		if shared && len(out) < maxKnown {
			out = append(out, k)
		}
	}
	return out
}

// places visits the members and names that a term is about, by their texts: such as lead to
// others are not told.
func places(t *term, visit func(string)) {
	if t.head == "select" || t.head == "" {
		visit(t.text)
		return
	}
	for _, a := range t.args {
		places(a, visit)
	}
}

// A domain is what is known of the value of a term.
type domain struct {
	oneOf        []value // nil if it may be anything
	limited      bool
	not          []value
	low, high    *big.Rat
	above, below bool // it is above low, below high, and not equal to it
	whole        bool
}

func (d *domain) restrict(how int, v value) {
	switch how {
	case equal:
		d.keep([]value{v})
	case less | greater:
		d.not = append(d.not, v)
	case 0:
		d.keep(nil)
	}
	if v.number == nil {
		return
	}
	if how == less || how == less|equal {
		if d.high == nil || v.number.Cmp(d.high) < 0 {
			d.high, d.below = v.number, how == less
		} else if v.number.Cmp(d.high) == 0 {
			d.below = d.below || how == less
		}
	}
	if how == greater || how == greater|equal {
		if d.low == nil || v.number.Cmp(d.low) > 0 {
			d.low, d.above = v.number, how == greater
		} else if v.number.Cmp(d.low) == 0 {
			d.above = d.above || how == greater
		}
	}
}

func (d *domain) keep(values []value) {
	if !d.limited {
		d.oneOf, d.limited = slices.Clone(values), true
		return
	}
	d.oneOf = slices.DeleteFunc(d.oneOf, func(v value) bool { return !has(values, v) })
}

func has(values []value, v value) bool {
	return slices.ContainsFunc(values, func(x value) bool { return x.key == v.key })
}

// admits reports whether a value lies in the bounds of d.
func (d *domain) admits(v value) bool {
	if has(d.not, v) {
		return false
	}
	if v.number == nil {
		return d.low == nil && d.high == nil
	}
	if d.low != nil && (v.number.Cmp(d.low) < 0 || d.above && v.number.Cmp(d.low) == 0) {
		return false
	}
	return d.high == nil || !(v.number.Cmp(d.high) > 0 || d.below && v.number.Cmp(d.high) == 0)
}

// empty reports whether no value is left.
func (d *domain) empty() bool {
	if d.limited {
		return !slices.ContainsFunc(d.oneOf, d.admits)
	}
	if d.low == nil || d.high == nil {
		return false
	}
	low, high := d.low, d.high
	if d.whole {
		low, high = ceiling(low, d.above), floor(high, d.below)
		if low.Cmp(high) > 0 {
			return true
		}
		for n := new(big.Rat).Set(low); n.Cmp(high) <= 0; n.Add(n, big.NewRat(1, 1)) { // all of them may be excluded
			if !has(d.not, value{key: "n:" + n.RatString()}) {
				return false
			}
		}
		return true
	}
	c := low.Cmp(high)
	return c > 0 || c == 0 && (d.above || d.below || has(d.not, value{key: "n:" + low.RatString()}))
}

func floor(r *big.Rat, below bool) *big.Rat {
	n := new(big.Int).Div(r.Num(), r.Denom()) // Euclidean: down for a positive denominator
	if below && r.IsInt() {
		n.Sub(n, big.NewInt(1))
	}
	return new(big.Rat).SetInt(n)
}

func ceiling(r *big.Rat, above bool) *big.Rat {
	minus := floor(new(big.Rat).Neg(r), above)
	return minus.Neg(minus)
}

// consistent reports whether some facts do not contradict each other.
func (l *logic) consistent(facts []fact) bool {
	s := &solver{logic: l, domains: map[string]*domain{}, standing: map[[2]string]int{}, said: map[string]bool{}}
	for _, f := range facts {
		s.take(f)
	}
	return !s.contradiction && !s.clash()
}

// A solver collects facts.
type solver struct {
	*logic
	domains       map[string]*domain
	standing      map[[2]string]int // of two terms, the lesser text first
	said          map[string]bool
	contradiction bool
	depth         int
}

func (s *solver) take(f fact) {
	switch {
	case f.text != "":
		if said, ok := s.said[f.text]; ok && said == f.not {
			s.contradiction = true
		}
		s.said[f.text] = !f.not
	case f.with != nil:
		s.domain(f.term)
		s.domain(f.with)
		if f.term.text == f.with.text {
			s.contradiction = s.contradiction || f.how&equal == 0
			return
		}
		k := [2]string{f.term.text, f.with.text}
		if _, ok := s.standing[k]; !ok {
			s.standing[k] = anyway
		}
		s.standing[k] &= f.how
	case f.in != nil && f.out:
		d := s.domain(f.term)
		d.not = append(d.not, f.in...)
	case f.in != nil:
		s.domain(f.term).keep(f.in)
	default:
		s.domain(f.term).restrict(f.how, f.to)
	}
}

// domain is what is known of a term: at first, what its type says.
func (s *solver) domain(t *term) *domain {
	if d := s.domains[t.text]; d != nil {
		return d
	}
	d := &domain{}
	s.domains[t.text] = d
	if t.head == "select" && !t.test { // it has a value, so it is there
		s.take(fact{text: hasText(t)})
	}
	if v, ok := s.oneOf[t.text]; ok && t.head == "" {
		d.keep(v)
	}
	if s.counts[t.text] && t.head == "" || t.head == "call" && t.name == "size" {
		d.whole, d.low = true, new(big.Rat)
	}
	if t.head == "call" && t.name == "size" && len(t.args) == 1 {
		s.constraints(t.args[0])
	}
	id, ok := s.typeOf(t)
	if !ok {
		return d
	}
	switch ty := s.contract.Type(id); ty.Kind {
	case ir.IntType:
		d.whole = true
	case ir.BoolType:
		d.keep([]value{{key: "b:true"}, {key: "b:false"}})
	case ir.LiteralType, ir.UnionType:
		if values, ok := s.literals(id); ok {
			d.keep(values)
		}
	}
	s.constraints(t)
	return d
}

// constraints takes what the constraints of a term's type say, as far as it is no choice.
func (s *solver) constraints(t *term) {
	id, ok := s.typeOf(t)
	if !ok || s.depth > 4 || s.own && t.text == "self" {
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	for _, x := range s.contract.Type(id).Where {
		for _, c := range conjuncts(x.Source, func(name string) string {
			if name == "self" {
				return t.text
			}
			return name
		}) {
			if cases, ok := s.cases(c, false); ok && len(cases) == 1 {
				for _, f := range cases[0] {
					s.take(f)
				}
			}
		}
	}
}

// literals are the values of a type that has only some.
func (l *logic) literals(id ir.TypeID) (out []value, ok bool) {
	t := l.contract.Type(id)
	switch t.Kind {
	case ir.LiteralType:
		v, ok := literal(t.Literal)
		return []value{v}, ok
	case ir.NullType:
		return []value{{key: "z"}}, true
	case ir.BoolType:
		return []value{{key: "b:true"}, {key: "b:false"}}, true
	case ir.UnionType:
		for _, a := range t.Alternatives {
			more, ok := l.literals(a)
			if !ok {
				return nil, false
			}
			out = append(out, more...)
		}
		return out, true
	}
	return nil, false
}

// clash reports whether a domain is empty, or two terms cannot stand as they should.
func (s *solver) clash() bool {
	for _, d := range s.domains {
		if d.empty() {
			return true
		}
	}
	for k, how := range s.standing {
		if how&s.possible(s.domains[k[0]], s.domains[k[1]]) == 0 {
			return true
		}
	}
	return false
}

// possible is how a value of one domain may stand to one of another.
func (s *solver) possible(a, b *domain) int {
	how := anyway
	if a.limited && b.limited && !slices.ContainsFunc(a.oneOf, func(v value) bool { return a.admits(v) && b.admits(v) && has(b.oneOf, v) }) {
		how &^= equal
	}
	apart := func(high, low *domain) bool { // all of high lies below all of low
		if high.high == nil || low.low == nil {
			return false
		}
		c := high.high.Cmp(low.low)
		return c < 0 || c == 0 && (high.below || low.above)
	}
	if apart(a, b) {
		how &= less
	}
	if apart(b, a) {
		how &= greater
	}
	return how
}

// upper is the largest number that a term can be, by its type and by what is known; nil if
// nothing says.
func (l *logic) upper(t *term) *big.Rat {
	s := &solver{logic: l, domains: map[string]*domain{}, standing: map[[2]string]int{}, said: map[string]bool{}}
	d := s.domain(t)
	for _, k := range l.known {
		if cases, ok := l.cases(k, false); ok && len(cases) == 1 {
			for _, f := range cases[0] {
				s.take(f)
			}
		}
	}
	if d.high != nil {
		return d.high
	}
	return s.aboveAll(t)
}

// aboveAll is a bound of a term that is not above another one with a bound.
func (s *solver) aboveAll(t *term) *big.Rat {
	for k, how := range s.standing {
		if k[0] == t.text && how&greater == 0 && s.domains[k[1]].high != nil {
			return s.domains[k[1]].high
		}
		if k[1] == t.text && how&less == 0 && s.domains[k[0]].high != nil {
			return s.domains[k[0]].high
		}
	}
	return nil
}

// certain reports whether a condition has a value in every state: nothing in it can fail
// but by being false. An optional member counts, since where it stands it was asked for.
func (l *logic) certain(t *term) bool {
	switch {
	case t.head == "":
		_, isConstant := t.constant()
		_, typed := l.types[t.text]
		return isConstant || typed || l.counts[t.text] || l.oneOf[t.text] != nil
	case t.head == "select":
		if t.test {
			return l.certain(t.args[0])
		}
		_, ok := l.typeOf(t)
		return ok
	case strings.HasPrefix(t.head, "list"):
		return !slices.ContainsFunc(t.args, func(x *term) bool { return x.text != "[]" && !l.certain(x) })
	case t.head != "call":
		return false
	}
	switch how, compares := relations[t.name]; {
	case compares && how != equal && how != less|greater && slices.ContainsFunc(t.args, func(x *term) bool { return !l.ordered(x) }):
		return false
	case compares, t.name == "_&&_", t.name == "_||_", t.name == "!_", t.name == "_?_:_", t.name == "size", t.name == "@in":
		return !slices.ContainsFunc(t.args, func(x *term) bool { return !l.certain(x) })
	}
	return false
}

// ordered reports whether every value of a term can be compared by order with others of its
// kind.
func (l *logic) ordered(t *term) bool {
	if v, isConstant := t.constant(); isConstant {
		return v.number != nil || strings.HasPrefix(v.key, "s:")
	}
	id, ok := l.typeOf(t)
	if !ok {
		return l.counts[t.text] || t.head == "call" && t.name == "size"
	}
	switch l.contract.Type(id).Kind {
	case ir.IntType, ir.NumberType, ir.DecimalType, ir.StringType:
		return true
	}
	return false
}

// conjuncts reads a CEL expression as what it asks for, each part in one spelling.
func conjuncts(source string, name func(string) string) []*term {
	var out []*term
	for _, text := range expr.Canonical(source, name) {
		if t := parseTerm(text); t != nil {
			out = append(out, t)
		}
	}
	return out
}

// condition is a CEL expression as one term; nil if it cannot be read.
func condition(source string, name func(string) string) *term {
	var out *term
	for _, text := range expr.Canonical(source, name) {
		t := parseTerm(text)
		if t == nil {
			return nil
		}
		if out == nil {
			out = t
			continue
		}
		out = &term{head: "call", name: "_&&_", args: []*term{out, t}, text: out.text + " && " + t.text}
	}
	return out
}

// plain leaves names as they are.
func plain(name string) string { return name }

// hasText is the text of has() of a member.
func hasText(t *term) string {
	return "(select " + strconv.Quote(t.name) + " true " + t.args[0].text + ")"
}
