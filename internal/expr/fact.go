package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// What is known where an expression is evaluated, beside the types.
//
// Facts are paths of members that are certainly there, since a condition says so that
// comes first. Two more things narrow what an expression reads. A key that it reads at
// one place of the state, to find an entry by, stands for one entry, not for any. And in
// a given phase, what `phase` decides is not evaluated: of `phase != "done" || x`,
// nothing of x is read outside of done. What comes first is evaluated first, so what
// stands before the phase counts as read even if it makes no difference.

// facts are the paths that are certainly present when e comes out as outcome.
func (w *walker) facts(e ast.Expr, outcome bool, in *locals) []string {
	return w.implied(e, in).when(outcome)
}

// implications are the facts that a condition implies: where it holds, and where it does not.
// Both come from one pass, which keeps it linear where a condition has conditions in it.
type implications struct{ yes, no []string }

func (i implications) when(outcome bool) []string {
	if outcome {
		return i.yes
	}
	return i.no
}

func (w *walker) implied(e ast.Expr, in *locals) implications {
	if w.steps++; w.steps > maxSteps {
		return implications{}
	}
	switch e.Kind() {
	case ast.SelectKind:
		if e.AsSelect().IsTestOnly() {
			return implications{yes: w.fact(e.AsSelect().Operand(), e.AsSelect().FieldName(), in)}
		}
		return w.equalTo(e, []string{"true"}, in).or(w.equalTo(e, []string{"false"}, in).swapped())
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		if !isBinding(c) {
			return implications{}
		}
		if path := w.path(c.AccuInit(), in); path != "" {
			return w.implied(c.Result(), in.with(c.AccuVar(), abstract{path: path}))
		}
		return implications{}
	case ast.CallKind:
	default:
		return implications{}
	}
	c := e.AsCall()
	args := c.Args()
	switch c.FunctionName() {
	case operators.LogicalNot:
		operand := w.implied(args[0], in)
		return implications{yes: operand.no, no: operand.yes}
	case operators.LogicalAnd:
		left, right := w.implied(args[0], in), w.implied(args[1], in)
		return implications{yes: withFacts(left.yes, right.yes), no: shared(left.no, right.no)}
	case operators.LogicalOr:
		left, right := w.implied(args[0], in), w.implied(args[1], in)
		return implications{yes: shared(left.yes, right.yes), no: withFacts(left.no, right.no)}
	case operators.Conditional:
		test, yes, no := w.implied(args[0], in), w.implied(args[1], in), w.implied(args[2], in)
		outcome := func(b bool) []string {
			holds, fails := withFacts(test.yes, yes.when(b)), withFacts(test.no, no.when(b))
			switch {
			case isConstant(args[2], !b):
				return holds
			case isConstant(args[1], !b):
				return fails
			}
			return shared(holds, fails)
		}
		return implications{yes: outcome(true), no: outcome(false)}
	case operators.Equals:
		switch p := w.implied(args[0], in); {
		case isConstant(args[1], true):
			return p
		case isConstant(args[1], false):
			return implications{yes: p.no, no: p.yes}
		}
		return w.equality(args, in)
	case operators.NotEquals:
		return w.equality(args, in).swapped()
	case operators.In:
		if args[1].Kind() == ast.ListKind {
			var values []string
			for _, element := range args[1].AsList().Elements() {
				value, ok := literalJSON(element)
				if !ok {
					return implications{}
				}
				values = append(values, value)
			}
			return w.equalTo(args[0], values, in)
		}
	case "hasValue":
		if c.IsMemberFunction() {
			return implications{yes: w.optionalFacts(c.Target(), in)}
		}
	}
	return implications{}
}

func (i implications) swapped() implications { return implications{yes: i.no, no: i.yes} }

// or is what both say.
func (i implications) or(j implications) implications {
	return implications{yes: withFacts(i.yes, j.yes), no: withFacts(i.no, j.no)}
}

// A fact about a value is that what stands at a path is one of some literals, or none of
// them: the path, a mark, and the literals as JSON.
const (
	isOneOf  = "\x00="
	isNoneOf = "\x00!"
	nextOne  = "\x00,"
)

// equality is what `a == b` implies where one side is a literal.
func (w *walker) equality(args []ast.Expr, in *locals) implications {
	for i, arg := range args {
		if value, ok := literalJSON(arg); ok {
			return w.equalTo(args[1-i], []string{value}, in)
		}
	}
	return implications{}
}

// equalTo is what it implies that e is one of some literals, and that it is none.
func (w *walker) equalTo(e ast.Expr, values []string, in *locals) implications {
	path := w.path(e, in)
	if path == "" || len(values) == 0 {
		return implications{}
	}
	text := strings.Join(values, nextOne)
	return implications{yes: []string{path + isOneOf + text}, no: []string{path + isNoneOf + text}}
}

// literalJSON is a literal of an expression as a type has it.
func literalJSON(e ast.Expr) (string, bool) {
	switch x := literalOf(e).(type) {
	case types.String:
		return jsonText(string(x)), true
	case types.Bool, types.Int, types.Double, types.Null:
		return literalText(literalOf(e)), true
	}
	return "", false
}

// shared is what two sets of facts both say: of a value that is one of some literals by
// each, that it is one of all of them.
func shared(a, b []string) []string {
	out := intersect(a, b)
	for _, x := range a {
		path, mine, ok := strings.Cut(x, isOneOf)
		for _, y := range b {
			if theirs, same := strings.CutPrefix(y, path+isOneOf); ok && same && mine != theirs {
				out = append(out, path+isOneOf+mine+nextOne+theirs)
			}
		}
	}
	return out
}

// isThere reports whether a member is there of a value whose type is a union, for what is
// known of its literal members: every alternative that they leave has it.
func isThere(v abstract, name string, facts []string) bool {
	left := 0
	for _, alternative := range v.shape.alternatives() {
		if alternative.is(kScalar) || !alternative.fits(v.path, facts) {
			continue // of what is no object no member is read
		}
		left++
		if f, declared := alternative.members[name]; !declared || f.optional || alternative.kinds != kRecord {
			return false
		}
	}
	return left > 0
}

// whereThere is a condition on a literal member of v, a value of a union, under which a member
// is there: what that is in the alternatives which have the member, and in no other. never
// reports whether what is known leaves none of them.
func whereThere(v abstract, name string, facts []string) (condition string, never bool) {
	var with, without []*shape
	left := 0
	for _, alternative := range v.shape.alternatives() {
		f, declared := alternative.members[name]
		switch {
		case alternative.kinds != kRecord || alternative.rest != nil:
			return "", false
		case declared && !f.optional:
			with = append(with, alternative)
			if alternative.fits(v.path, facts) {
				left++
			}
		case declared:
			return "", false
		default:
			without = append(without, alternative)
		}
	}
	if len(with) == 0 || len(without) == 0 {
		return "", false
	}
	for _, member := range with[0].memberNames() {
		var texts []string
		for _, alternative := range with {
			if f := alternative.members[member]; f != nil && !f.optional && f.shape.literal != "" {
				texts = append(texts, f.shape.literal)
			}
		}
		apart := len(texts) == len(with) && !slices.ContainsFunc(without, func(other *shape) bool {
			f := other.members[member]
			return f == nil || f.shape.literal == "" || slices.Contains(texts, f.shape.literal)
		})
		if apart && v.path != "" {
			condition = "`" + memberOf(v.path, member) + " == " + texts[0] + "`"
			if len(texts) > 1 {
				condition = "`" + memberOf(v.path, member) + " in [" + strings.Join(texts, ", ") + "]`"
			}
			break
		}
	}
	return condition, left == 0
}

// alternatives are the types of which s is the sum, or s itself.
func (s *shape) alternatives() []*shape {
	if s.sumOf == nil {
		return []*shape{s}
	}
	var out []*shape
	for _, x := range s.sumOf {
		out = append(out, x.alternatives()...)
	}
	return out
}

// fits reports whether a value of s can be at a path for all that is known of its members.
func (s *shape) fits(path string, facts []string) bool {
	for _, fact := range facts {
		at, said, about := strings.Cut(fact, "\x00")
		member, direct := memberIn(path, at)
		if !about || !direct {
			continue
		}
		f, declared := s.members[member]
		switch possible := f.equals(strings.Split(said[1:], nextOne)); {
		case !declared && (s.rest != nil || s.untyped() || said[0] != isOneOf[1]):
		case said[0] == isOneOf[1] && !possible.some, said[0] == isNoneOf[1] && possible.all:
			return false
		}
	}
	return true
}

// memberIn is the member of what is at a path that another path leads to; ok is false if
// it leads elsewhere, or further.
func memberIn(path, at string) (name string, ok bool) {
	name, ok = strings.CutPrefix(at, path+".")
	if !ok || isName(name) {
		return name, ok
	}
	name, err := strconv.Unquote(name)
	return name, err == nil
}

// equals is that of the member's type; a member that is not declared equals nothing.
func (f *field) equals(values []string) (possible struct{ some, all bool }) {
	if f == nil {
		return possible
	}
	return f.shape.equals(values)
}

// equals says whether some value, and whether every value of s is one of some literals.
func (s *shape) equals(values []string) (possible struct{ some, all bool }) {
	if s.sumOf != nil {
		possible.all = true
		for _, x := range s.sumOf {
			p := x.equals(values)
			possible.some, possible.all = possible.some || p.some, possible.all && p.all
		}
		return possible
	}
	if s.literal == "" {
		possible.some = true
		return possible
	}
	is := slices.ContainsFunc(values, func(v string) bool { return sameLiteral(v, s.literal) })
	possible.some, possible.all = is, is
	return possible
}

// sameLiteral compares literals, numbers by their value.
func sameLiteral(a, b string) bool {
	if decimal.Valid(a) && decimal.Valid(b) {
		return decimal.Parse(a) == decimal.Parse(b)
	}
	return a == b
}

func isConstant(e ast.Expr, b bool) bool { return literalOf(e) == types.Bool(b) }

// optionalFacts are what `e.?a.?b` being there says.
func (w *walker) optionalFacts(e ast.Expr, in *locals) []string {
	if callName(e) != operators.OptSelect {
		return nil
	}
	args := e.AsCall().Args()
	name, ok := args[1].AsLiteral().(types.String)
	if !ok {
		return nil
	}
	return append(w.optionalFacts(args[0], in), w.fact(args[0], string(name), in)...)
}

// fact is that operand has a member called name, and what that says of the way there.
func (w *walker) fact(operand ast.Expr, name string, in *locals) []string {
	path := w.path(operand, in)
	if path == "" {
		return nil
	}
	out := []string{memberOf(path, name)}
	for at := strings.LastIndexByte(path, '.'); at > 0; at = strings.LastIndexByte(path, '.') {
		out = append(out, path) // what lies on the way is there too
		path = path[:at]
	}
	return out
}

// memberOf is the path of a member: no two members have the same, whatever their names hold.
func memberOf(path, name string) string {
	if isName(name) {
		return path + "." + name
	}
	return path + "." + strconv.Quote(name)
}

// withFacts is the union of two sets of facts. Neither is changed.
func withFacts(facts, more []string) []string {
	out := slices.Clone(facts)
	for _, f := range more {
		if !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// path names the node that e stands for, such that equal names within one
// evaluation are the same node; "" if e is no plain access.
func (w *walker) path(e ast.Expr, in *locals) string {
	switch e.Kind() {
	case ast.IdentKind:
		v, _ := in.find(e.AsIdent())
		return v.path
	case ast.SelectKind:
		if operand := w.path(e.AsSelect().Operand(), in); operand != "" && !e.AsSelect().IsTestOnly() {
			return memberOf(operand, e.AsSelect().FieldName())
		}
	case ast.CallKind:
		args := e.AsCall().Args()
		switch e.AsCall().FunctionName() {
		case operators.Index, operators.OptIndex:
			return indexPath(w.path(args[0], in), w.path(args[1], in), args[1])
		case operators.OptSelect:
			name, _ := args[1].AsLiteral().(types.String)
			if operand := w.path(args[0], in); operand != "" {
				return memberOf(operand, string(name))
			}
		}
	}
	return ""
}

// maxPath bounds what is remembered of a path, in bytes: one that a variable stands for
// may occur in the next twice.
const maxPath = 4 << 10

func indexPath(operand, index string, e ast.Expr) string {
	if operand == "" || len(operand)+len(index) > maxPath {
		return ""
	}
	if e.Kind() == ast.LiteralKind {
		return operand + "[" + literalText(e.AsLiteral()) + "]"
	}
	if index == "" {
		return ""
	}
	return operand + "[" + index + "]"
}

// literalText is a constant as an expression writes it.
func literalText(v ref.Val) string {
	switch x := v.(type) {
	case types.String:
		return strconv.Quote(string(x))
	case types.Int:
		return strconv.FormatInt(int64(x), 10)
	case types.Double:
		return strconv.FormatFloat(float64(x), 'g', -1, 64)
	case types.Bool:
		return strconv.FormatBool(bool(x))
	}
	return "null"
}

// lookup is the segment for the entry that a key of the state names, instead of a
// wildcard.
func (w *walker) lookup(step region.Segment, key abstract) (region.Segment, bool) {
	if !w.oneState || step.Kind != region.AnyKey || !isOnePlace(key) {
		return step, false
	}
	at := key.places[0]
	i := slices.IndexFunc(w.lookups, func(l ir.Lookup) bool { return placeKey(l.At.Segments, false) == placeKey(at.segments, false) })
	if i < 0 {
		if len(w.lookups) == maxLookups {
			return step, false
		}
		i = len(w.lookups)
		w.lookups = append(w.lookups, ir.Lookup{Key: "@" + string(rune('a'+i)), At: region.Pattern{Segments: at.segments}})
	}
	return region.Segment{Kind: region.ParamSegment, Text: w.lookups[i].Key}, true
}

// maxLookups is how many keys of the state one expression tells apart: their names
// are one letter.
const maxLookups = 26

func isLookup(s region.Segment) bool {
	return s.Kind == region.ParamSegment && len(s.Text) == 2 && s.Text[0] == '@' && s.Text[1] >= 'a'
}

// truth is what a value is for certain, in a walk about one phase.
func (w *walker) truth(v abstract) (b, known bool) {
	c, ok := v.constant.(types.Bool)
	return bool(c), ok && w.phase != ""
}

// decides reports whether one operand decides what && or || comes to.
func (w *walker) decides(v abstract, operator string) bool {
	b, known := w.truth(v)
	return known && b == (operator == operators.LogicalOr)
}

// fold is a constant that the phase made. What it was made of does not matter.
func (w *walker) fold(e ast.Expr, b bool) abstract {
	var forget func(ast.Expr)
	forget = func(e ast.Expr) {
		for _, child := range children(e) {
			delete(w.folded, child.ID())
			forget(child)
		}
	}
	forget(e)
	w.folded[e.ID()] = b
	return abstract{constant: types.Bool(b)}
}

func (w *walker) foldEquality(e ast.Expr, sides [2]abstract) abstract {
	a, b := w.textsOf(sides[0]), w.textsOf(sides[1])
	if w.phase == "" || a == nil || b == nil {
		return abstract{}
	}
	equals := e.AsCall().FunctionName() == operators.Equals
	switch {
	case !slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) }):
		return w.fold(e, !equals)
	case len(a) == 1 && len(b) == 1:
		return w.fold(e, equals)
	}
	return abstract{}
}

// foldMembership is `phase in [...]`.
func (w *walker) foldMembership(e ast.Expr, args []ast.Expr, x abstract) abstract {
	texts, list := w.textsOf(x), []string(nil)
	if w.phase == "" || texts == nil {
		return abstract{}
	}
	list, ok := constantTexts(args[1])
	switch in := func(t string) bool { return slices.Contains(list, t) }; {
	case !ok:
		return abstract{}
	case !slices.ContainsFunc(texts, in):
		return w.fold(e, false)
	case !slices.ContainsFunc(texts, func(t string) bool { return !in(t) }):
		return w.fold(e, true)
	}
	return abstract{}
}

// textsOf are the texts that a value may be; nil if that is not known.
func (w *walker) textsOf(v abstract) []string {
	if text, ok := v.constant.(types.String); ok {
		return []string{string(text)}
	}
	if isOnePlace(v) {
		return w.texts[placeKey(v.places[0].segments, false)]
	}
	return nil
}

// constantTexts reads a list of text literals.
func constantTexts(e ast.Expr) (texts []string, ok bool) {
	if e.Kind() != ast.ListKind {
		return nil, false
	}
	for _, element := range e.AsList().Elements() {
		text, ok := literalOf(element).(types.String)
		if !ok {
			return nil, false
		}
		texts = append(texts, string(text))
	}
	return texts, len(texts) > 0
}

// costly reports whether it may depend on the state how many steps e takes, where that
// counts: a rule holds for certain only if nothing that is evaluated before it is decided
// can exceed the limit.
func (w *walker) costly(e ast.Expr) bool {
	if w.texts == nil {
		return false
	}
	if e.Kind() == ast.ComprehensionKind || e.Kind() == ast.CallKind && w.goesThrough(e.AsCall()) {
		return true
	}
	return w.longTexts || slices.ContainsFunc(children(e), w.costly)
}

// longestText is how many bytes a text of the state may have, by the limit on states.
const longestText = 64 << 20

// hasLongTexts reports whether reading the texts of e, and going through them, may exceed
// the limit where all are as long as they may be.
func (w *walker) hasLongTexts(e ast.Expr) bool {
	rates, err := textRates(e)
	if err != nil {
		return true
	}
	steps := int64(0)
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if !w.isAnyText(e) {
			return
		}
		rate := rates[e.ID()]
		if f := callName(e); f == "" || f == operators.Index {
			rate++ // it is read
		}
		steps += rate * (longestText / textStep)
	}))
	return steps > int64(w.env.limits.CostLimit)
}

// isAnyText reports whether e is a text of the state, or made of one, that may be as long as
// a state may be.
func (w *walker) isAnyText(e ast.Expr) bool {
	switch w.tree.GetType(e.ID()).Kind() {
	case types.StringKind, types.BytesKind:
		v := w.walk(e, w.globals(), nil)
		oneOf := v.shape != nil && v.shape.kinds == kString && v.shape.literals != nil
		return v.constant == nil && v.param == "" && !oneOf && w.textsOf(v) == nil
	}
	return false
}

// goesThrough reports whether a call may look at all of a container.
func (w *walker) goesThrough(c ast.CallExpr) bool {
	args := operands(c)
	switch c.FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect, overloads.Size:
		return false
	case operators.In:
		return w.tree.GetType(args[1].ID()).Kind() != types.MapKind
	}
	return slices.ContainsFunc(args, func(a ast.Expr) bool { return !w.isScalar(a) })
}
