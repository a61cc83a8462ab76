package trace

import (
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// A place is what the state type says about one path: every type that a value
// there can have, each with the place's cursor in the set of secrets. An empty
// place is one that nothing types.
type place []spot

type spot struct {
	typ    ir.TypeID
	secret region.Cursor
}

// hidden reports whether what is at p may not be shown: something there may be
// secret, or nothing says what is there.
func (p place) hidden() bool {
	for _, s := range p {
		if s.secret.In() {
			return true
		}
	}
	return len(p) == 0
}

// A walker finds places. It keeps the spots of all it found in one stretch of
// memory, so that a walk costs no allocation a step.
type walker struct {
	*Redactor
	spots []spot
}

// since is the place whose spots were kept after the first n.
func (w *walker) since(n int) place { return w.spots[n:len(w.spots):len(w.spots)] }

// root is the place of the whole state.
func (w *walker) root() place {
	n := len(w.spots)
	w.keep(n, w.contract.State, w.start)
	return w.since(n)
}

// keep adds a type, a union as its alternatives, to the place whose spots begin at
// first: each spot once, or a token that can be a name as well as a position would
// double them below "any", at every step.
func (w *walker) keep(first int, typ ir.TypeID, at region.Cursor) {
	t := w.contract.Type(typ)
	if t.Kind != ir.UnionType {
		if s := (spot{typ, at}); !slices.Contains(w.spots[first:], s) {
			w.spots = append(w.spots, s)
		}
		return
	}
	for _, alternative := range t.Alternatives {
		w.keep(first, alternative, at)
	}
}

// find is the place a pointer leads to. What is below a place that may not be
// shown is not looked for.
func (w *walker) find(p tree.Pointer) place {
	if w.Idle() {
		return nil
	}
	at := w.root()
	for _, token := range p {
		if at.hidden() {
			return nil
		}
		at = w.pointer(at, token)
	}
	return at
}

// pointer is the place that a reference token leads to below p: a token that reads
// as an index leads into arrays as well as into objects.
func (w *walker) pointer(p place, token string) place {
	n := len(w.spots)
	for _, s := range p {
		w.member(n, s, token)
	}
	if index, isIndex := arrayToken(token); isIndex {
		for _, s := range p {
			w.element(n, s, index)
		}
	}
	return w.since(n)
}

// member keeps what a member called name has below s, if s can be an object,
// in the place whose spots begin at first.
func (w *walker) member(first int, s spot, name string) {
	t := w.contract.Type(s.typ)
	switch t.Kind {
	case ir.RecordType:
		if m, known := t.Member(name); known {
			w.keep(first, m.Type, s.secret.Key(name))
		} else if t.Rest != ir.NoType {
			w.keep(first, t.Rest, s.secret.Key(name))
		}
	case ir.MapType, ir.KeyedType:
		w.keep(first, t.Elem, s.secret.Key(name))
	case ir.AnyType:
		w.keep(first, s.typ, s.secret.Key(name))
	}
}

// element keeps what an element has below s, if s can be an array.
func (w *walker) element(first int, s spot, index int) {
	t := w.contract.Type(s.typ)
	switch t.Kind {
	case ir.ListType, ir.SetType, ir.LogType:
		w.keep(first, t.Elem, s.secret.Index(index))
	case ir.AnyType:
		w.keep(first, s.typ, s.secret.Index(index))
	}
}

// arrayToken reads a reference token as an array position. "-" is as good as the
// first one: no set of secrets tells positions of an array apart.
func arrayToken(token string) (index int, ok bool) {
	if token == "-" {
		return 0, true
	}
	if token == "" || token[0] < '0' || token[0] > '9' {
		return 0, false
	}
	index, err := strconv.Atoi(token)
	return index, err == nil
}

// admits reports whether a value of the given kind can be at p.
func (w *walker) admits(p place, kind ir.Kind) bool {
	for _, s := range p {
		if admits(w.contract.Type(s.typ), kind) {
			return true
		}
	}
	return false
}

func admits(t *ir.Type, kind ir.Kind) bool {
	switch t.Kind {
	case ir.AnyType:
		return true
	case ir.StringType, ir.RefType:
		return kind == ir.String
	case ir.NumberType, ir.IntType:
		return kind == ir.Number
	case ir.BoolType:
		return kind == ir.Bool
	case ir.NullType:
		return kind == ir.Null
	case ir.LiteralType:
		return kind == literalKind(t.Literal)
	case ir.RecordType, ir.MapType, ir.KeyedType:
		return kind == ir.Object
	default:
		return kind == ir.Array
	}
}

func literalKind(text string) ir.Kind {
	switch text[0] {
	case '"':
		return ir.String
	case 't', 'f':
		return ir.Bool
	case 'n':
		return ir.Null
	default:
		return ir.Number
	}
}
