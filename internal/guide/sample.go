package guide

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// Values that fit. Of a type with constraints several values are tried, taken from what the
// constraints say and from what they commonly ask, and judged by the type itself: whatever
// comes out is a value of it. There may come out none.

// Bounds of what is tried.
const (
	maxValues = 4   // values of one type
	maxTries  = 200 // of the members of one record
)

// Sample is a state that the types of a contract admit, made up; nil if none was found. Rules
// over it are not asked.
func Sample(p *verify.Program) *tree.Node {
	c := p.Contract()
	b := &builder{program: p, contract: c, view: tree.NewObject(nil), named: map[string]ir.TypeID{}, values: map[ir.TypeID][]*tree.Node{}}
	for _, v := range b.valuesOf(c.State) {
		if p.Accepts(v, c.State) && !b.guesses(v) {
			return v
		}
	}
	return nil
}

// unknownKey stands for a key of a container that the view does not show.
func unknownKey(of string) string { return "<key of " + of + ">" }

// guesses reports whether a value has a key that is made up.
func (b *builder) guesses(n *tree.Node) bool {
	switch n.Kind() {
	case ir.String:
		return strings.HasPrefix(n.Text(), "<key of /")
	case ir.Object:
		for _, child := range n.Members() {
			if b.guesses(child) {
				return true
			}
		}
	case ir.Array:
		for _, child := range n.Elements() {
			if b.guesses(child) {
				return true
			}
		}
	}
	return false
}

// valueFor is a value that may be put at a site, if it can be another than is there, and such
// that no constraint above it is false then. nil if there is none.
func (b *builder) valueFor(s *site) *tree.Node {
	var fit, same *tree.Node
	for _, id := range b.flat(s.raw) {
		for _, v := range b.valuesAt(s, id) {
			if !b.program.Accepts(v, id) {
				continue
			}
			if s.keyField != "" {
				v = withMember(v, s.keyField, tree.NewString(b.keyFor(s)))
				if !b.program.Accepts(v, id) {
					continue
				}
			}
			switch {
			case b.breaksAbove(s, v), s.bag != nil && holds(s.bag, v):
			case s.node != nil && v.Digest() == s.node.Digest():
				same = v
			case fit == nil || b.guesses(fit) && !b.guesses(v):
				fit = v
			}
		}
	}
	if fit == nil {
		return same
	}
	return fit
}

// valuesAt are some values of a type for a site: where something stands that others refer to, that
// may not come or go, or that only grows, it is kept but for a part.
func (b *builder) valuesAt(s *site, id ir.TypeID) []*tree.Node {
	t := &b.contract.Types[id]
	if s.node == nil || s.node.Kind() != ir.Object && s.node.Kind() != ir.Array || s.hang == last || s.hang == appended {
		return b.valuesOf(id)
	}
	free := s.grants.create.Interior() && s.grants.remove.Interior()
	switch {
	case t.Kind == ir.RecordType && (!free || b.holdsLog(id)):
		return b.changed(s.node, t)
	case !free && b.hasContainer(id):
		return []*tree.Node{s.node}
	case t.Kind == ir.MapType || t.Kind == ir.KeyedType:
		return b.grown(s.node, t)
	}
	return b.valuesOf(id)
}

// holds reports whether an array has an element.
func holds(n, element *tree.Node) bool {
	for _, e := range n.Elements() {
		if e.Digest() == element.Digest() {
			return true
		}
	}
	return false
}

// grown is a map or keyed list with one more entry: others may refer to those that there are.
func (b *builder) grown(n *tree.Node, t *ir.Type) []*tree.Node {
	out := []*tree.Node{n}
	for _, v := range b.valuesOf(t.Elem) {
		if t.Kind == ir.KeyedType {
			v = withMember(v, t.KeyField, tree.NewString("new"))
		}
		out = append(out, withMember(n, "new", v))
	}
	return out
}

// changed is a record with one member changed, and its logs as they are.
func (b *builder) changed(n *tree.Node, t *ir.Type) []*tree.Node {
	out := []*tree.Node{n}
	for _, m := range t.Members {
		if !b.holdsLog(m.Type) && n.Get(m.Name) != nil {
			for _, v := range b.valuesOf(m.Type) {
				out = append(out, withMember(n, m.Name, v))
			}
		}
	}
	return out
}

// keyFor is the key that an example of a site goes to.
func (b *builder) keyFor(s *site) string {
	last := s.segments[len(s.segments)-1]
	if !isWildcard(last) {
		return last.Text
	}
	return keyIn(&s.keys[len(s.keys)-1])
}

// keyIn is a key that an example may have: one that the view shows, or a new one.
func keyIn(k *Keys) string {
	if len(k.Known) > 0 {
		return unescaped(k.Known[0])
	}
	return cmp.Or(k.Fresh, "new")
}

func unescaped(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
}

func withMember(n *tree.Node, name string, v *tree.Node) *tree.Node {
	members := map[string]*tree.Node{name: v}
	for other, child := range n.Members() {
		if other != name {
			members[other] = child
		}
	}
	return tree.NewObject(members)
}

// breaksAbove reports whether a constraint on a node above a site is false with v in its place.
func (b *builder) breaksAbove(s *site, v *tree.Node) bool {
	for _, a := range s.above {
		with := putAt(a.node, s.segments[a.depth:], v)
		if with != nil && (a.whole && !b.accepts(with, a.types) || !a.whole && !b.mayStay(a, with)) || with != nil && slices.ContainsFunc(a.types, func(id ir.TypeID) bool { return b.program.Denies(with, id) }) {
			return true
		}
	}
	return false
}

// mayStay reports whether a node of which a part is shown may be of the alternative that it is of
// with another value in it.
func (b *builder) mayStay(a ancestor, with *tree.Node) bool {
	was, is := b.narrowed(a.types, a.node), b.narrowed(a.types, with)
	return slices.ContainsFunc(is, func(id ir.TypeID) bool { return slices.Contains(was, id) && b.mayBe(with, id) })
}

// putAt is n with v at a place below, nil where that cannot be said.
func putAt(n *tree.Node, segments []region.Segment, v *tree.Node) *tree.Node {
	if len(segments) == 0 {
		return v
	}
	if n == nil || n.Kind() != ir.Object || segments[0].Kind != region.KeyLiteral {
		return nil
	}
	child := putAt(n.Get(segments[0].Text), segments[1:], v)
	if child == nil {
		return nil
	}
	return withMember(n, segments[0].Text, child)
}

// valuesOf are some values of a type.
func (b *builder) valuesOf(id ir.TypeID) []*tree.Node {
	if known, ok := b.values[id]; ok {
		return known
	}
	var out []*tree.Node
	b.candidates(id, func(n *tree.Node) bool {
		if n != nil && b.program.Accepts(n, id) && !slices.ContainsFunc(out, func(o *tree.Node) bool { return o.Digest() == n.Digest() }) {
			out = append(out, n)
		}
		return len(out) < maxValues
	})
	b.values[id] = out
	return out
}

// candidates offers what may be values of a type, until enough were taken.
func (b *builder) candidates(id ir.TypeID, offer func(*tree.Node) bool) {
	t := &b.contract.Types[id]
	several := func(ns ...*tree.Node) {
		for _, n := range ns {
			if !offer(n) {
				return
			}
		}
	}
	switch t.Kind {
	case ir.LiteralType:
		n, err := tree.Parse([]byte(t.Literal), tree.DefaultLimits)
		if err == nil {
			offer(n)
		}
	case ir.NullType:
		offer(tree.NewNull())
	case ir.BoolType:
		several(tree.NewBool(true), tree.NewBool(false))
	case ir.StringType, ir.AnyType:
		for _, text := range texts(t.Where) {
			if !offer(tree.NewString(text)) {
				return
			}
		}
	case ir.NumberType, ir.DecimalType, ir.IntType:
		for _, literal := range numbers(t.Where) {
			if n, err := tree.NewNumber(literal); err == nil && !offer(n) {
				return
			}
		}
	case ir.UnionType:
		for i := range maxValues {
			for _, a := range t.Alternatives {
				if of := b.valuesOf(a); i < len(of) && !offer(of[i]) {
					return
				}
			}
		}
	case ir.RefType:
		for _, key := range b.keysOf(*t.Target) {
			if !offer(tree.NewString(key)) {
				return
			}
		}
	case ir.MapType:
		several(tree.NewObject(nil))
		for i, v := range b.valuesOf(t.Elem) {
			if !offer(tree.NewObjectOf("new"+strconv.Itoa(i), v)) {
				return
			}
		}
	case ir.KeyedType:
		several(tree.NewObject(nil))
		for i, v := range b.valuesOf(t.Elem) {
			name := "new" + strconv.Itoa(i)
			if !offer(tree.NewObjectOf(name, withMember(v, t.KeyField, tree.NewString(name)))) {
				return
			}
		}
	case ir.ListType, ir.SetType, ir.LogType:
		of := b.valuesOf(t.Elem)
		for n := min(1, len(of)); n <= len(of); n++ {
			if !offer(tree.NewArray(slices.Clone(of[:n]))) {
				return
			}
		}
		offer(tree.NewArray(nil))
	case ir.RecordType:
		b.records(t, offer)
	}
}

// records offers records with their required members, and then with all: of the values of each
// member the first, and then others, alone and together.
func (b *builder) records(t *ir.Type, offer func(*tree.Node) bool) {
	for _, whole := range []bool{false, true} {
		names, values := []string{}, [][]*tree.Node{}
		for _, m := range t.Members {
			of := b.valuesOf(m.Type)
			if m.Optional && (!whole || len(of) == 0) {
				continue
			}
			if len(of) == 0 {
				return
			}
			names, values = append(names, m.Name), append(values, of)
		}
		picked := make([]int, len(names))
		for range maxTries {
			members := map[string]*tree.Node{}
			for i, name := range names {
				members[name] = values[i][picked[i]]
			}
			if !offer(tree.NewObject(members)) {
				return
			}
			at := 0
			for at < len(picked) && picked[at] == len(values[at])-1 {
				picked[at] = 0
				at++
			}
			if at == len(picked) {
				break
			}
			picked[at]++
		}
	}
}

// keysOf are keys that a reference may have: arguments, those that the view shows, or a
// stand-in if it shows none.
func (b *builder) keysOf(target region.Pattern) []string {
	var out []string
	for _, p := range b.stage.Params {
		if value, bound := b.args[p.Name]; bound && p.Kind == ir.ExistingParam && p.Of.String() == target.String() {
			out = append(out, value)
		}
	}
	if n := nodeAt(b.view, target.Bind(b.args)); n != nil && n.Kind() == ir.Object {
		for name := range n.Members() {
			if out = append(out, name); len(out) >= maxValues {
				break
			}
		}
	}
	if len(out) == 0 {
		out = []string{unknownKey(b.pointerOf(target))}
	}
	return out
}

var (
	quotedText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'`)
	matching   = regexp.MustCompile(`self\.matches\((r?)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\)`)
	digits     = regexp.MustCompile(`-?\d+(?:\.\d+)?`)
)

// texts are strings for constraints: one that a person fills in, those that match what is to be
// matched, those that are as long as is said, the quoted ones, and what the standard
// libraries ask for.
func texts(where []ir.Expr) []string {
	out := []string{"..."}
	if len(where) == 0 {
		return out
	}
	for _, x := range where {
		for _, m := range matching.FindAllStringSubmatch(x.Source, -1) {
			if text, err := matchOf(unquoted(m[1] != "", m[2])); err == nil {
				out = append(out, text)
			}
		}
	}
	out = append(out, "some text")
	out = append(out, "2024-05-01T09:30:00Z", "2024-05-01T10:30:00Z", "2024-05-01", "2024-05-02", "EUR", "ada@example.org", "+49 30 901820", "4111111111111111", "a", "A", "1", "a-1", "A1", "a b", "1.0.0", "https://example.org/a")
	var made []string
	for _, x := range where {
		for _, m := range quotedText.FindAllStringSubmatch(x.Source, -1) {
			made = append(made, m[1]+m[2], m[1]+m[2]+"a", "a"+m[1]+m[2])
		}
		for _, d := range digits.FindAllString(x.Source, -1) {
			if n, err := strconv.Atoi(d); err == nil && n >= 0 && n <= 5000 {
				made = append(made, strings.Repeat("a", n), strings.Repeat("a", n+1), strings.TrimSpace(strings.Repeat("a ", n)))
			}
		}
	}
	return append(out, made...)
}

func unquoted(raw bool, text string) string {
	inner := text[1 : len(text)-1]
	if raw {
		return inner
	}
	if text[0] == '"' {
		if out, err := strconv.Unquote(text); err == nil {
			return out
		}
	}
	return inner
}

// matchOf is a short text that a regular expression matches.
func matchOf(expr string) (string, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	writeMatch(&out, re)
	return out.String(), nil
}

func writeMatch(out *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		out.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		for _, r := range "aA1!" { // the plainest, or else a printable one
			for i := 0; i+1 < len(re.Rune); i += 2 {
				if first := max(re.Rune[i], r); first == r && r <= re.Rune[i+1] || r == '!' && first <= re.Rune[i+1] {
					out.WriteRune(first)
					return
				}
			}
		}
		if len(re.Rune) > 0 {
			out.WriteRune(re.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		out.WriteByte('a')
	case syntax.OpCapture, syntax.OpPlus:
		writeMatch(out, re.Sub[0])
	case syntax.OpRepeat:
		for range re.Min {
			writeMatch(out, re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			writeMatch(out, sub)
		}
	case syntax.OpAlternate:
		writeMatch(out, re.Sub[0])
	}
}

// numbers are literals for constraints.
func numbers(where []ir.Expr) []string {
	out := []string{"1", "2", "0"}
	for _, x := range where {
		for _, d := range digits.FindAllString(x.Source, -1) {
			out = append(out, d)
			if f, err := strconv.ParseFloat(d, 64); err == nil {
				for _, by := range []float64{1, -1, 0.5, -0.5} {
					out = append(out, strconv.FormatFloat(f+by, 'f', -1, 64))
				}
				out = append(out, strconv.FormatFloat(f/2, 'f', -1, 64), strconv.FormatFloat(f*2, 'f', -1, 64))
			}
		}
	}
	return append(out, "0.5", "10", "100", "1000")
}

// An operation is one of a patch.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value,omitempty"`
}

// encoded is a value in JSON, whose texts stand as they are.
func encoded(v any) json.RawMessage {
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	if to.Encode(v) != nil {
		return nil
	}
	return bytes.TrimSpace(out.Bytes())
}

// best is the place that an example is of: one without guesses if there is one, and rather
// something that is changed or created than an element, an append, or a container of many; -1 if there is none.
func (b *builder) best() int {
	worth := func(i int) int {
		p, s := &b.guide.Places[i], &b.sites[i]
		n := 4
		if p.Guesses {
			n -= 4
		}
		switch {
		case s.hang == element, p.Exists && b.holdsMany(s):
			n -= 2
		case strings.HasSuffix(p.Path, "/-"):
			n--
		case p.Ops[0] == "remove":
			n -= 2
		}
		return n
	}
	best := -1
	for i := range b.guide.Places {
		if b.guide.Places[i].Example != nil && (best < 0 || worth(i) > worth(best)) {
			best = i
		}
	}
	return best
}

// holdsMany reports whether what stands at a site has entries or elements.
func (b *builder) holdsMany(s *site) bool {
	return slices.ContainsFunc(s.types, func(id ir.TypeID) bool {
		t := &b.contract.Types[id]
		return t.Elem != ir.NoType
	})
}

// opFor is the operation of an example at a place.
func (b *builder) opFor(p *Place) string {
	if slices.Contains(p.Ops, "replace") {
		return "replace"
	}
	return p.Ops[0]
}

// ExamplePath is a pointer to a place: its path with keys that there are, or a new one.
func ExamplePath(p *Place) string {
	path := p.Path
	for i := range p.Keys {
		path = strings.Replace(path, p.Keys[i].Token, escaped(keyIn(&p.Keys[i])), 1)
	}
	return path
}

// nextTo are the numbers one more and one less than another, as far as a whole number tells.
func nextTo(literal string) []string {
	n, err := strconv.ParseInt(literal, 10, 32)
	if err != nil {
		return nil
	}
	return []string{strconv.FormatInt(n+1, 10), strconv.FormatInt(n-1, 10)}
}

// freshKey is a key that a new entry of a keyed list may have, "" if any text will do or none is found.
func (b *builder) freshKey(s *site) string {
	for _, id := range s.raw {
		m, declared := b.contract.Types[id].Member(s.keyField)
		if !declared || b.program.Accepts(tree.NewString("new"), m.Type) {
			continue
		}
		container := nodeAt(b.view, region.Pattern{Segments: s.segments[:len(s.segments)-1]})
		for _, v := range b.valuesOf(m.Type) {
			if v.Kind() == ir.String && (container == nil || container.Get(v.Text()) == nil) {
				return v.Text()
			}
		}
	}
	return ""
}
