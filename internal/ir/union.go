package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/region"
)

// Unions answers what the alternatives of a contract's unions disagree about at one
// place. It remembers its answers, so unions that were asked about must not change any more. Not safe for
// concurrent use.
type Unions struct {
	contract  *Contract
	undecided map[TypeID]bool
	holds     map[TypeID]bool // whether an undecided union is at or below a type
}

// NewUnions makes the answers about a contract's types.
func NewUnions(c *Contract) *Unions { return &Unions{c, map[TypeID]bool{}, map[TypeID]bool{}} }

// A typeTest says of types that may stand at one place whether they disagree.
type typeTest func(at []*Type) bool

// Undecided reports whether the shape of something below a union (whether an array is
// a list, a set or a log; how a number is spelled) depends on which alternative the
// value has.
func (u *Unions) Undecided(union TypeID) bool {
	known, ok := u.undecided[union]
	if !ok {
		known = u.disagree(union, shapesDiffer)
		u.undecided[union] = known
	}
	return known
}

// Confusable reports whether two alternatives of a union have a place where one has a
// keyed list, which is an array in files only, and the other another array.
func (u *Unions) Confusable(union TypeID) bool { return u.disagree(union, filesMix) }

func shapesDiffer(at []*Type) bool {
	arrays, numbers := map[TypeKind]bool{}, spellings{}
	for _, t := range at {
		switch t.Kind {
		case AnyType:
			arrays[ListType] = true
		case ListType, SetType, LogType:
			arrays[t.Kind] = true
		}
		numbers.add(t)
	}
	return len(arrays) > 1 || numbers.differ
}

func filesMix(at []*Type) bool {
	fields, others := map[string]bool{}, false
	for _, t := range at {
		switch t.Kind {
		case KeyedType:
			fields[t.KeyField] = true
		case ListType, SetType, LogType, AnyType:
			others = true
		}
	}
	return len(fields) > 1 || len(fields) == 1 && others
}

// disagree reports whether the test holds of what may stand at some place at or below a
// union.
func (u *Unions) disagree(union TypeID, test typeTest) bool {
	seen := map[string]bool{}
	var visit func(set []TypeID) bool
	visit = func(set []TypeID) bool {
		key := fmt.Sprint(set)
		if len(set) < 2 || seen[key] {
			return false
		}
		seen[key] = true
		at := make([]*Type, len(set))
		for i, id := range set {
			at[i] = &u.contract.Types[id]
		}
		return test(at) || slices.ContainsFunc(u.steps(set), visit)
	}
	return visit(u.flat([]TypeID{union}))
}

// flat is a set of types with the alternatives of unions in their place.
func (u *Unions) flat(set []TypeID) []TypeID {
	var out []TypeID
	seen := map[TypeID]bool{NoType: true}
	for rest := slices.Clone(set); len(rest) > 0; {
		id := rest[len(rest)-1]
		rest = rest[:len(rest)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		if t := &u.contract.Types[id]; t.Kind == UnionType {
			rest = append(rest, t.Alternatives...)
		} else {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// steps lists what may stand one step below types: for each name that a record
// declares, for any other member, and for elements.
func (u *Unions) steps(set []TypeID) [][]TypeID {
	segments := []region.Segment{{Kind: region.AnyIndex}}
	names := map[string]bool{}
	for _, id := range set {
		for _, m := range u.contract.Types[id].Members {
			if !names[m.Name] {
				names[m.Name] = true
				segments = append(segments, region.Segment{Kind: region.KeyLiteral, Text: m.Name})
			}
		}
	}
	out := [][]TypeID{u.flat(u.others(set))}
	for _, s := range segments {
		out = append(out, u.flat(u.step(set, s)))
	}
	return out
}

// others is what members may be that no record declares.
func (u *Unions) others(set []TypeID) []TypeID {
	var out []TypeID
	for _, id := range set {
		switch t := &u.contract.Types[id]; t.Kind {
		case AnyType:
			out = append(out, id)
		case RecordType:
			out = append(out, t.Rest)
		case MapType, KeyedType:
			out = append(out, t.Elem)
		}
	}
	return out
}

// step is what may stand one step below types, none of them a union, where a segment
// matches. It may list too much.
func (u *Unions) step(set []TypeID, s region.Segment) []TypeID {
	var out []TypeID
	for _, id := range set {
		t := &u.contract.Types[id]
		switch t.Kind {
		case AnyType:
			out = append(out, id)
		case RecordType:
			out = append(out, members(t, s)...)
		case MapType, KeyedType:
			if !isPosition(s) {
				out = append(out, t.Elem)
			}
		case ListType, SetType, LogType:
			if isPosition(s) || s.Kind == region.AnySegment || s.Kind == region.Literal {
				out = append(out, t.Elem)
			}
		}
	}
	return out
}

func members(t *Type, s region.Segment) []TypeID {
	if s.Kind == region.KeyLiteral || s.Kind == region.Literal {
		if m, ok := t.Member(s.Text); ok {
			return []TypeID{m.Type}
		}
		return []TypeID{t.Rest}
	}
	if isPosition(s) {
		return nil
	}
	out := []TypeID{t.Rest}
	for _, m := range t.Members {
		out = append(out, m.Type)
	}
	return out
}

func isPosition(s region.Segment) bool {
	return s.Kind == region.AnyIndex || s.Kind == region.IndexLiteral || s.Kind == region.FreshSegment
}

// Deciding is what the shape of the nodes in a region depends on beside the region: the
// outermost undecided union above each of its patterns, and above each of its exceptions,
// whole. Cost: linear in the segments, once the unions on their way are known.
func (u *Unions) Deciding(r region.Region) region.Region {
	if !u.held(u.contract.State) {
		return nil
	}
	var include []region.Pattern
	seen := map[string]bool{}
	for _, g := range r {
		for _, p := range append(g.Include[:len(g.Include):len(g.Include)], g.Except...) {
			if at, ok := u.above(p); ok && !seen[at.String()] {
				seen[at.String()] = true
				include = append(include, at)
			}
		}
	}
	if len(include) == 0 {
		return nil
	}
	return region.Region{{Include: include}}
}

// Whole is a pattern with what decides about the shape of what it matches.
func (u *Unions) Whole(p region.Pattern) []region.Pattern {
	out := []region.Pattern{p}
	if at, ok := u.above(p); ok {
		out = append(out, at)
	}
	return out
}

// above is the pattern of the outermost undecided union that a pattern goes into. Where
// it goes on by "**", it is all below, if there is one.
func (u *Unions) above(p region.Pattern) (region.Pattern, bool) {
	at := []TypeID{u.contract.State}
	for i, s := range p.Segments {
		switch {
		case !slices.ContainsFunc(at, u.held):
			return region.Pattern{}, false
		case s.Kind == region.AnyDepth || slices.ContainsFunc(at, u.undecidedOne):
			return region.Pattern{Segments: slices.Clone(p.Segments[:i])}, true
		}
		at = u.step(u.flat(at), s)
	}
	return region.Pattern{}, false
}

func (u *Unions) undecidedOne(id TypeID) bool {
	return u.contract.Types[id].Kind == UnionType && u.Undecided(id)
}

// held reports whether an undecided union is at or below a type.
func (u *Unions) held(id TypeID) bool {
	if id == NoType {
		return false
	}
	known, ok := u.holds[id]
	if !ok {
		u.holds[id] = false // types do not recurse
		t := &u.contract.Types[id]
		known = u.undecidedOne(id) || u.held(t.Elem) || u.held(t.Rest) || slices.ContainsFunc(t.Alternatives, u.held) ||
			slices.ContainsFunc(t.Members, func(m Member) bool { return u.held(m.Type) })
		u.holds[id] = known
	}
	return known
}

// spellings are the ways in which types spell a number: an int as digits, a literal as
// the contract has it, any other type as it came.
type spellings struct {
	asCame, asDigits bool                       // some type keeps the spelling; some is an int
	literals         map[decimal.Decimal]string // how the literal of a number is spelled
	odd              bool                       // a literal is an integer that an int spells otherwise
	differ           bool                       // two types spell one number differently
}

func (s *spellings) add(t *Type) {
	switch t.Kind {
	case AnyType, NumberType, DecimalType:
		s.asCame = true
	case IntType:
		s.asDigits = true
	case LiteralType:
		if strings.IndexByte("-0123456789", t.Literal[0]) >= 0 {
			s.addLiteral(t.Literal)
		}
	}
	s.differ = s.differ || s.asCame && (s.asDigits || len(s.literals) > 0) || s.asDigits && s.odd
}

func (s *spellings) addLiteral(text string) {
	number := decimal.Parse(text)
	if number.Sign() == 0 {
		text = strings.TrimPrefix(text, "-") // a zero has no sign
	}
	other, known := s.literals[number]
	s.differ = s.differ || known && other != text
	_, whole := number.Int64()
	s.odd = s.odd || whole && strings.ContainsAny(text, ".eE")
	if s.literals == nil {
		s.literals = map[decimal.Decimal]string{}
	}
	s.literals[number] = text
}
