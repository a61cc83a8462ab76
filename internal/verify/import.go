package verify

import (
	"context"
	"errors"
	"fmt"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

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
	n, err = tree.ParseStepwise(file, p.limits.State, p.watch.step)
	if err != nil {
		return nil, err
	}
	in := importer{p: p}
	n = in.value(n, p.contract.State)
	if len(in.found) > 0 {
		return nil, stateError(in.found)
	}
	n = p.shape(n, p.contract.State)
	c := typeCheck{p: p, ctx: ctx, state: n}
	if c.check(n, p.contract.State); len(c.found) > 0 {
		return nil, stateError(c.found)
	}
	return n, nil
}

func stateError(found []finding) error {
	listed, more := violations(found)
	e := &StateError{More: more}
	for _, v := range listed {
		e.Problems = append(e.Problems, StateProblem{Path: *v.Path, Code: v.Code, Message: v.Message, Hint: v.Hint})
	}
	return e
}

// IsStateProblem reports whether err says that a state file is unfit, whichever
// way, and not that something else went wrong.
func IsStateProblem(err error) bool {
	var decode *tree.DecodeError
	var state *StateError
	return errors.As(err, &decode) || errors.As(err, &state)
}

// An importer turns the keyed lists of a file into objects.
type importer struct {
	p    *Program
	word region.Word
	collection
}

func (in *importer) report(f finding) {
	in.add(f, func(f finding) finding { return f.about(in.word) })
}

func (in *importer) value(n *tree.Node, id ir.TypeID) *tree.Node {
	in.p.watch.step()
	if !in.p.types[id].keyed {
		return n
	}
	t := &in.p.contract.Types[id]
	switch {
	case t.Kind == ir.UnionType:
		return in.union(n, t)
	case t.Kind == ir.KeyedType && n.Kind() == ir.Array:
		return in.keyed(n, t)
	case t.Kind == ir.KeyedType:
		in.report(say.fileNotArray(t))
		return n
	case n.Kind() == ir.Object:
		return n.MapMembers(func(name string, child *tree.Node) *tree.Node {
			return in.at(region.Key(name), child, in.p.below(id, name))
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
		try := importer{p: in.p, word: in.word}
		if to := try.value(n, alt); len(try.found) == 0 && in.p.fits(alt, to) {
			return to
		}
	}
	for _, alt := range t.Alternatives {
		if in.p.types[alt].keyed && (n.Kind() == ir.Array || n.Kind() == ir.Object) {
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
			in.problemAt(i, say.fileNoKey(t))
			continue
		}
		if members[field.Text()] != nil {
			in.problemAt(i, say.fileSameKey(t))
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
	n = p.toFile(n, p.contract.State)
	if indent {
		return append(tree.AppendIndent(nil, n), '\n')
	}
	return tree.AppendJSON(nil, n)
}

// readsBack reports whether a value of a union is read from a file as what it is.
func (p *Program) readsBack(n *tree.Node, id ir.TypeID) bool {
	in := importer{p: p}
	back := in.value(p.toFile(n, id), id)
	return len(in.found) == 0 && tree.Equal(back, n)
}

// toFile turns keyed lists back into arrays.
func (p *Program) toFile(n *tree.Node, id ir.TypeID) *tree.Node {
	if !p.types[id].keyed {
		return n
	}
	id = p.settle(id, n)
	t := &p.contract.Types[id]
	switch {
	case t.Kind == ir.KeyedType && n.Kind() == ir.Object:
		elements := make([]*tree.Node, 0, n.Len())
		for _, child := range n.Members() {
			elements = append(elements, p.toFile(child, t.Elem))
		}
		return tree.NewArray(elements)
	case n.Kind() == ir.Object:
		return n.MapMembers(func(name string, child *tree.Node) *tree.Node { return p.toFile(child, p.below(id, name)) })
	case n.Kind() == ir.Array:
		return n.MapElements(func(_ int, child *tree.Node) *tree.Node { return p.toFile(child, t.Elem) })
	default:
		return n
	}
}
