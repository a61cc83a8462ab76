package trace

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Secrets is what the state type of a contract says of every path: which values there may
// be shown. It is compiled as paths are asked for, once for all instances of a contract,
// and safe for concurrent use.
type Secrets struct {
	contract *ir.Contract
	args     map[*ir.Param]bool // parameters whose values are secret
	root     *place             // of the whole state

	mu     sync.Mutex
	places map[spot][]*place // by the first of their spots
	none   *place            // that nothing types
}

// NewSecrets begins to compile what c keeps secret.
func NewSecrets(c *ir.Contract) *Secrets {
	secrets := region.Compile(c.Secrets)
	s := &Secrets{contract: c, args: map[*ir.Param]bool{}, places: map[spot][]*place{}}
	s.none = &place{of: s, hidden: true}
	s.root = s.place(s.keep(nil, c.State, secrets.Start(region.Binding{})))
	for i := range c.Stages {
		for j := range c.Stages[i].Params {
			param := &c.Stages[i].Params[j]
			s.args[param] = isSecret(param, secrets)
		}
	}
	return s
}

// isSecret reports whether a parameter's values come out of something secret: the
// keys of a secret container, or a secret string, be it in a list.
func isSecret(p *ir.Param, secrets *region.Set) bool {
	from := region.Pattern{Segments: p.Of.Segments, Shallow: true}
	if p.Kind == ir.ElementParam {
		from.Segments = append(slices.Clone(from.Segments), region.Segment{Kind: region.AnyIndex})
	}
	origin := region.Compile(region.Region{{Include: []region.Pattern{from}}})
	a := region.Overlap(secrets, origin, region.Plain, region.Plain, region.Options{VerdictOnly: true})
	return a.Verdict != region.No
}

// Idle reports whether nothing is secret.
func (s *Secrets) Idle() bool { return len(s.contract.Secrets) == 0 }

// A place is what the state type says about one path: every type that a value there can
// have, each with the place's cursor in the set of secrets. Paths of which it says the same
// have one place. An empty place is one that nothing types.
type place struct {
	of     *Secrets
	spots  []spot
	hidden bool   // what is here may not be shown: something may be secret, or nothing says what is here
	kinds  uint16 // of the values that can be here, a bit each
	open   bool   // anything can be here and below, and nothing of it is secret
	below  atomic.Pointer[ways]
}

type spot struct {
	typ    ir.TypeID
	secret region.Cursor
}

// Ways are where the steps from a place lead.
type ways struct {
	members map[string]*place // by the names that lead somewhere of their own
	other   *place            // by all others
	element *place            // nil if positions lead to different places
}

// place is the one that has the given spots, which it may keep.
func (s *Secrets) place(spots []spot) *place {
	if len(spots) == 0 {
		return s.none
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, known := range s.places[spots[0]] {
		if slices.Equal(known.spots, spots) {
			return known
		}
	}
	p := &place{of: s, spots: spots, open: true}
	for _, at := range spots {
		t := s.contract.Type(at.typ)
		p.hidden = p.hidden || at.secret.In()
		p.open = p.open && t.Kind == ir.AnyType && !at.secret.Reachable()
		for kind := ir.Null; kind <= ir.Object; kind++ {
			if admits(t, kind) {
				p.kinds |= 1 << kind
			}
		}
	}
	s.places[spots[0]] = append(s.places[spots[0]], p)
	return p
}

// keep adds a type, a union as its alternatives, to the spots of a place: each once, or a
// token that can be a name as well as a position would double them below "any", at every
// step.
func (s *Secrets) keep(spots []spot, typ ir.TypeID, at region.Cursor) []spot {
	t := s.contract.Type(typ)
	if t.Kind != ir.UnionType {
		if one := (spot{typ, at}); !slices.Contains(spots, one) {
			spots = append(spots, one)
		}
		return spots
	}
	for _, alternative := range t.Alternatives {
		spots = s.keep(spots, alternative, at)
	}
	return spots
}

// find is the place a pointer leads to. What is below a place that may not be
// shown is not looked for.
func (s *Secrets) find(tokens []string) *place {
	if s.Idle() {
		return s.none
	}
	at := s.root
	for _, token := range tokens {
		if at.hidden {
			return s.none
		}
		at = at.token(token)
	}
	return at
}

// token is the place that a reference token leads to: one that reads as an index leads
// into arrays as well as into objects.
func (p *place) token(token string) *place {
	named := p.member(token)
	index, isIndex := arrayToken(token)
	if !isIndex {
		return named
	}
	switch at := p.element(index); {
	case len(at.spots) == 0:
		return named
	case len(named.spots) == 0:
		return at
	default:
		both := slices.Clone(named.spots)
		for _, one := range at.spots {
			both = p.of.keep(both, one.typ, one.secret)
		}
		return p.of.place(both)
	}
}

// member is the place of a member of an object.
func (p *place) member(name string) *place {
	w := p.ways()
	if to := w.members[name]; to != nil {
		return to
	}
	return w.other
}

// element is the place of an element of an array.
func (p *place) element(index int) *place {
	if at := p.ways().element; at != nil {
		return at
	}
	return p.of.place(p.elementSpots(index))
}

func (p *place) ways() *ways {
	if w := p.below.Load(); w != nil {
		return w
	}
	w := &ways{members: map[string]*place{}}
	inOrder := false
	for _, at := range p.spots {
		for _, m := range p.of.contract.Type(at.typ).Members {
			w.members[m.Name] = nil
		}
		names, positions := at.secret.Named()
		for _, name := range names {
			w.members[name] = nil
		}
		inOrder = inOrder || positions
	}
	for name := range w.members {
		w.members[name] = p.of.place(p.memberSpots(name))
	}
	other := "other"
	for w.members[other] != nil {
		other += "s"
	}
	w.other = p.of.place(p.memberSpots(other))
	if !inOrder {
		w.element = p.of.place(p.elementSpots(0))
	}
	p.below.Store(w)
	return w
}

// memberSpots are those of a member, where p can be an object.
func (p *place) memberSpots(name string) (below []spot) {
	for _, at := range p.spots {
		switch t := p.of.contract.Type(at.typ); t.Kind {
		case ir.RecordType:
			if m, known := t.Member(name); known {
				below = p.of.keep(below, m.Type, at.secret.Key(name))
			} else if t.Rest != ir.NoType {
				below = p.of.keep(below, t.Rest, at.secret.Key(name))
			}
		case ir.MapType, ir.KeyedType:
			below = p.of.keep(below, t.Elem, at.secret.Key(name))
		case ir.AnyType:
			below = p.of.keep(below, at.typ, at.secret.Key(name))
		}
	}
	return below
}

// elementSpots are those of an element, where p can be an array.
func (p *place) elementSpots(index int) (below []spot) {
	for _, at := range p.spots {
		switch t := p.of.contract.Type(at.typ); t.Kind {
		case ir.ListType, ir.SetType, ir.LogType:
			below = p.of.keep(below, t.Elem, at.secret.Index(index))
		case ir.AnyType:
			below = p.of.keep(below, at.typ, at.secret.Index(index))
		}
	}
	return below
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
func (p *place) admits(kind ir.Kind) bool { return p.kinds&(1<<kind) != 0 }

func admits(t *ir.Type, kind ir.Kind) bool {
	switch t.Kind {
	case ir.AnyType:
		return true
	case ir.StringType, ir.RefType:
		return kind == ir.String
	case ir.NumberType, ir.IntType, ir.DecimalType:
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
