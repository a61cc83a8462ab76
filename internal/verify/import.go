package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// Between files and patch space. Three things are different in a file: keyed lists are
// arrays there, sets and logs are arrays like any other, and numbers are spelled as their
// author pleased. Import makes one of the other in this order, and then checks the types.

// Import reads a state file into patch space: keyed lists become objects, every value has
// the shape of its type, and every value is checked against its type, references and
// constraints included. Invariants are CheckAll's. The error is a *tree.DecodeError
// if the file is no JSON document within the limits, else a *StateError. Linear in
// the file.
func (p *Program) Import(file []byte) (*tree.Node, error) {
	return p.ImportWithin(context.Background(), file)
}

// ImportWithin is Import, which ends with ctx: the error then is the context's.
func (p *Program) ImportWithin(ctx context.Context, file []byte) (n *tree.Node, err error) {
	defer catch(&err)
	p = p.within(ctx)
	n, err = tree.ParseStepwise(file, p.limits.State, p.watch.tick)
	if err != nil {
		return nil, err
	}
	in := importer{types: &p.types}
	n = in.value(n, p.contract.State)
	if len(in.found) > 0 {
		return nil, stateError(in.found)
	}
	n = p.shape(n, p.contract.State)
	c := typeCheck{types: &p.types, ctx: ctx, state: n}
	if c.check(n, p.contract.State); len(c.found) > 0 {
		return nil, stateError(c.found)
	}
	return n, nil
}

// A StateError says why a state file does not fit a contract. It names paths and
// types, never values.
type StateError struct {
	Problems []StateProblem // at most MaxViolations
	More     int            // problems beside those
}

// A StateProblem is one thing wrong with a state file.
type StateProblem struct {
	Path    string `json:"path"`
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Error is the first problem, and how many more there are.
func (e *StateError) Error() string {
	p := e.Problems[0]
	text := fmt.Sprintf("the state does not fit: %s: %s", p.Path, p.Message)
	if p.Path == "" {
		text = "the state does not fit: " + p.Message
	}
	if more := len(e.Problems) - 1 + e.More; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

func stateError(found []finding) error {
	listed, more := violations(found, MaxReply)
	e := &StateError{More: more}
	for _, v := range listed {
		e.Problems = append(e.Problems, StateProblem{Path: *v.Path, Code: v.Code, Message: v.Message, Hint: v.Hint})
	}
	return e
}

// An importer turns the keyed lists of a file into objects.
type importer struct {
	*types
	word region.Word
	collection
}

func (in *importer) report(f finding) {
	in.add(f, func(f finding) finding { return f.about(in.word) })
}

func (in *importer) value(n *tree.Node, id ir.TypeID) *tree.Node {
	in.watch.tick()
	if !in.info[id].keyed {
		return n
	}
	t := &in.contract.Types[id]
	switch {
	case t.Kind == ir.UnionType:
		return in.union(n, t)
	case t.Kind == ir.KeyedType && n.Kind() == ir.Array:
		return in.keyed(n, t)
	case t.Kind == ir.KeyedType:
		in.report(messages.fileNotArray(t))
		return n
	case n.Kind() == ir.Object:
		return n.MapMembers(func(name string, child *tree.Node) *tree.Node {
			return in.at(region.Key(name), child, in.below(id, name))
		})
	default:
		return n.MapElements(func(i int, child *tree.Node) *tree.Node {
			return in.at(region.Index(i), child, t.Elem)
		})
	}
}

func (in *importer) at(l region.Letter, n *tree.Node, id ir.TypeID) *tree.Node {
	in.word = append(in.word, l)
	n = in.value(n, id)
	in.word = in.word[:len(in.word)-1]
	return n
}

// union takes the first alternative that the value fits once imported; if none
// does, the value is left for the type check to report.
func (in *importer) union(n *tree.Node, t *ir.Type) *tree.Node {
	for _, alt := range t.Alternatives {
		try := importer{types: in.types, word: in.word}
		if to := try.value(n, alt); len(try.found) == 0 && in.fits(alt, to) {
			return to
		}
	}
	for _, alt := range t.Alternatives {
		if in.info[alt].keyed && (n.Kind() == ir.Array || n.Kind() == ir.Object) {
			return in.value(n, alt)
		}
	}
	return n
}

// keyed makes the object of a list's elements by key.
func (in *importer) keyed(n *tree.Node, t *ir.Type) *tree.Node {
	members := make(map[string]*tree.Node, n.Len())
	for i, element := range n.Elements() {
		field := element.Get(t.KeyField)
		if field == nil || field.Kind() != ir.String {
			in.problemAt(i, messages.fileNoKey(t))
			continue
		}
		if members[field.Text()] != nil {
			in.problemAt(i, messages.fileSameKey(t))
		}
		members[field.Text()] = in.at(region.Index(i), element, t.Elem)
	}
	return tree.NewObject(members)
}

func (in *importer) problemAt(i int, f finding) {
	in.word = append(in.word, region.Index(i))
	in.report(f)
	in.word = in.word[:len(in.word)-1]
}

// Export writes a state as a file, the inverse of Import: keyed lists as arrays
// sorted by key, sets sorted, logs in the order of commits, members in order of
// names; with indent laid out for people.
func (p *Program) Export(n *tree.Node, indent bool) []byte {
	if indent {
		return append(tree.AppendIndent(nil, p.toFile(n, p.contract.State)), '\n')
	}
	return p.AppendExport(nil, n)
}

// AppendExport appends a state in the form of a state file, compact.
func (p *Program) AppendExport(dst []byte, n *tree.Node) []byte {
	return tree.AppendJSON(dst, p.toFile(n, p.contract.State))
}

// readsBack reports whether a value of a union is read from a file as what it is.
func (ts *types) readsBack(n *tree.Node, id ir.TypeID) bool {
	in := importer{types: ts}
	back := in.value(ts.toFile(n, id), id)
	return len(in.found) == 0 && tree.Equal(back, n)
}

// toFile turns keyed lists back into arrays.
func (ts *types) toFile(n *tree.Node, id ir.TypeID) *tree.Node {
	if !ts.info[id].keyed {
		return n
	}
	id = ts.concrete(id, n)
	t := &ts.contract.Types[id]
	switch {
	case t.Kind == ir.KeyedType && n.Kind() == ir.Object:
		elements := make([]*tree.Node, 0, n.Len())
		for _, child := range n.Members() {
			elements = append(elements, ts.toFile(child, t.Elem))
		}
		return tree.NewArray(elements)
	case n.Kind() == ir.Object:
		return n.MapMembers(func(name string, child *tree.Node) *tree.Node { return ts.toFile(child, ts.below(id, name)) })
	case n.Kind() == ir.Array:
		return n.MapElements(func(_ int, child *tree.Node) *tree.Node { return ts.toFile(child, t.Elem) })
	default:
		return n
	}
}

// The shape of a value is what its type makes of it beside its content: whether an
// array is a list, a set or a log, and the spelling of integers and literals. In every
// committed state all values have the shape of their types, so that it is a function of
// what the state's file says, and a state is the same whether it was imported or made
// by commits. Where a union decides by what it holds, a write at one place may change
// the shape at another: see reshapeUnion.

// shape returns n in the shape of type t. A patch's value comes as lists, and spelled
// as it pleases. Linear in the part of n whose type shapes anything.
func (ts *types) shape(n *tree.Node, t ir.TypeID) *tree.Node {
	return (&shaper{types: ts}).shape(n, t)
}

// reshape is shape for a value that has another shape already. A set that comes to be a
// list or log has the order in which it is written. Where no alternative of a union fits, the value keeps the shape it has.
func (ts *types) reshape(n *tree.Node, t ir.TypeID) *tree.Node {
	return (&shaper{types: ts, marked: true}).shape(n, t)
}

type shaper struct {
	*types
	marked bool // the value may hold sets and logs where its new type has none
}

func (s *shaper) shape(n *tree.Node, id ir.TypeID) *tree.Node {
	if !s.changes(n, id) {
		return n
	}
	s.watch.tick()
	concrete := s.concrete(id, n)
	t := &s.contract.Types[concrete]
	if concrete == ir.NoType && id != ir.NoType {
		return n
	}
	switch n.Kind() {
	case ir.Object:
		return s.items(n, concrete)
	case ir.Array:
		items := s.items(n, concrete)
		if items != n && items.Order() == tree.SetOrder {
			items = items.WithOrder(tree.ListOrder)
		}
		return inOrder(items, t.Kind)
	case ir.Number:
		return s.spelled(n, concrete)
	default:
		return n
	}
}

// changes reports whether shaping can change n at all.
func (s *shaper) changes(n *tree.Node, id ir.TypeID) bool {
	return s.info[id].shaped || s.marked && (n.HoldsSet() || n.HoldsLog())
}

// items shapes what is in a container. For a value that was shaped before, the image is
// remembered, as what is shaped again and again is mostly the same.
func (s *shaper) items(n *tree.Node, id ir.TypeID) *tree.Node {
	if s.marked {
		return n.Map(&s.info[id], func(name string, child *tree.Node) tree.Image {
			return tree.Image{Node: s.shape(child, s.below(id, name))}
		}).Node
	}
	if n.Kind() == ir.Object {
		return n.MapMembers(func(name string, child *tree.Node) *tree.Node { return s.shape(child, s.below(id, name)) })
	}
	return n.MapElements(func(_ int, child *tree.Node) *tree.Node { return s.shape(child, s.below(id, "")) })
}

// inOrder is an array as one of a type of kind k. A set whose elements were shaped may be
// no longer sorted, and so is made anew.
func inOrder(n *tree.Node, k ir.TypeKind) *tree.Node {
	switch k {
	case ir.SetType:
		return n.WithOrder(tree.SetOrder)
	case ir.LogType:
		return n.WithOrder(tree.LogOrder)
	default:
		return n.WithOrder(tree.ListOrder)
	}
}

// spelled is a number as its type spells it: an integer as digits, a literal as the
// contract has it. Other numbers keep their spelling.
func (ts *types) spelled(n *tree.Node, id ir.TypeID) *tree.Node {
	switch literal := ts.literals[id]; {
	case literal != nil && literal.Text() != n.Text() && tree.Equal(literal, n):
		return literal
	case ts.contract.Types[id].Kind == ir.IntType && strings.ContainsAny(n.Text(), ".eE"):
		if v, ok := n.Int64(); ok {
			return tree.NewInt(v)
		}
	}
	return n
}

// reshapedUnion is the union at word w of root, and what it is in the shape of the
// alternative that it fits now, with all below it; the same while it fits none. It costs
// what of the union is not as it was when last shaped.
func (ts *types) reshapedUnion(root *tree.Node, w region.Word) (n, to *tree.Node) {
	id := ts.contract.State
	for _, l := range w {
		id = ts.below(id, l.Name)
	}
	if n = tree.NodeAt(root, w); n == nil {
		return nil, nil
	}
	return n, ts.reshape(n, id)
}
