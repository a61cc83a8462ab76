package certificate

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// The owners of what two runs touch, and of what was there before them.
const (
	runA   = "A"
	runB   = "B"
	before = "before"
)

// A touch is what one run of a stage touches; parameters and log entries carry its
// owner.
type touch struct {
	sees, takes, depends, writes []side
}

func (k *checker) touch(s *ir.Stage, owner string) touch {
	for i := range s.Params {
		k.params[owner+"."+s.Params[i].Name] = &s.Params[i]
	}
	if t, known := k.touches[toucher{s, owner}]; known {
		return t
	}
	own := func(r region.Region, whole bool) []side { return sides(k.own(r, owner), whole) }
	t := touch{
		// Where the alternatives of a union disagree on what an array is, all of the union
		// decides what the view shows of it.
		sees:    showingSides(k.own(append(k.showing(s.Read), k.unions.Deciding(s.Read)...), owner)),
		takes:   own(s.Source, true),
		depends: own(depends(s), false),
		writes:  own(written(s), true),
	}
	k.touches[toucher{s, owner}] = t
	return t
}

// A toucher is one run of a stage.
type toucher struct {
	stage *ir.Stage
	owner string
}

// showing is what a view shows: where an exception takes away elements of a set or log,
// the view still has a place for each of them.
func (k *checker) showing(r region.Region) region.Region {
	var out region.Region
	for _, g := range r {
		shown := region.Grant{}
		for _, p := range g.Include {
			if !slices.ContainsFunc(g.Except, func(e region.Pattern) bool { return subsumes(e, p) }) {
				shown.Include = append(shown.Include, p)
			}
		}
		for _, p := range g.Except {
			if n := lastPlace(p); n >= 0 && positions(p.Segments[n]).kind != nothing && k.mayGrow(p.Segments[:n]) {
				p = longer(p, region.Segment{Kind: region.AnySegment})
			}
			shown.Except = append(shown.Except, p)
		}
		out = append(out, shown)
	}
	return out
}

// lastPlace is the last segment that is not "**", -1 if there is none.
func lastPlace(p region.Pattern) int {
	n := len(p.Segments) - 1
	for n >= 0 && p.Segments[n].Kind == region.AnyDepth {
		n--
	}
	return n
}

// own gives parameters and appended entries their owner. Only a log has entries of
// one run: an element of a set is refused if the set holds it already, so "-" of a
// set is any element.
func (k *checker) own(r region.Region, owner string) region.Region {
	var out region.Region
	for _, g := range r {
		out = append(out, region.Grant{Include: k.ownAll(g.Include, owner), Except: k.ownAll(g.Except, owner)})
	}
	return out
}

func (k *checker) ownAll(ps []region.Pattern, owner string) []region.Pattern {
	var out []region.Pattern
	for _, p := range ps {
		q := region.Pattern{Shallow: p.Shallow}
		for i, s := range p.Segments {
			switch {
			case s.Kind == region.ParamSegment && !isFamily(s):
				s.Text = owner + "." + s.Text
			case s.Kind == region.FreshSegment && k.isLog(p.Segments[:i]):
				s.Text = owner
			case s.Kind == region.FreshSegment:
				s = region.Segment{Kind: region.AnyIndex}
			}
			q.Segments = append(q.Segments, s)
		}
		out = append(out, q)
	}
	return out
}

// depends is what a stage's own rules read, its parameters are taken from, and the conditions
// read under which these are bound. Guards
// are left out: a stage that moves the phase is in no pair.
func depends(s *ir.Stage) region.Region {
	var include []region.Pattern
	for _, x := range append(append([]ir.Expr{}, s.Require...), s.Ensure...) {
		include = append(include, readPatterns(x)...)
	}
	for _, p := range s.Produce {
		include = append(include, region.Pattern{Segments: p.Segments, Shallow: true})
	}
	for _, p := range s.Params {
		of := p.Of // of one out of a list: all of that
		if p.Kind == ir.ExistingParam || p.Kind == ir.NewParam {
			of = longer(of, region.Segment{Kind: region.ParamSegment, Text: p.Name})
			of.Shallow = true
		}
		include = append(include, of)
		if p.Where != nil {
			include = append(include, readPatterns(*p.Where)...)
		}
	}
	return region.Region{{Include: include}}
}

func readPatterns(x ir.Expr) []region.Pattern {
	var out []region.Pattern
	for _, r := range x.Reads {
		out = append(out, r.Pattern)
	}
	return out
}

func longer(p region.Pattern, below ...region.Segment) region.Pattern {
	return region.Pattern{Segments: append(append([]region.Segment{}, p.Segments...), below...)}
}

// written is all that a stage may write, blind grants included.
func written(s *ir.Stage) region.Region {
	return append(append(region.Region{}, s.Write...), s.Blind...)
}

// keysKnown is the key fields of keyed lists whose values a run knows as names of
// entries or from references, unless there are reasons why it sees none of these.
func (k *checker) keysKnown(s *ir.Stage) []side {
	if out, known := k.keyFields[s]; known {
		return out
	}
	t := k.touch(s, runA)
	sees := append(append([]side{}, t.sees...), t.takes...)
	for i := range s.Params { // an argument out of a list of references is one
		p := &s.Params[i]
		if p.Kind == ir.ElementParam {
			sees = append(sees, sides(region.Region{{Include: k.ownAll(k.told(p), runA)}}, false)...)
		}
		if p.Where != nil { // what it says of a reference tells that
			sees = append(sees, sides(region.Region{{Include: k.ownAll(readPatterns(*p.Where), runA)}}, false)...)
		}
	}
	var out []side
	k.eachNode(region.Pattern{}, k.contract.State, func(at region.Pattern, list *ir.Type) {
		if list.Kind != ir.KeyedType {
			return
		}
		entry := longer(at, region.Segment{Kind: region.AnyKey})
		known := !k.areApart(t.sees, side{include: entry, whole: true})
		k.eachNode(region.Pattern{}, k.contract.State, func(from region.Pattern, reference *ir.Type) {
			if reference.Kind == ir.RefType && reference.Target.String() == at.String() {
				known = known || !k.areApart(sees, side{include: from})
			}
		})
		if known {
			out = append(out, side{include: longer(entry, region.Segment{Kind: region.KeyLiteral, Text: list.KeyField})})
		}
	})
	k.keyFields[s] = out[:len(out):len(out)]
	return out
}

// areApart reports whether there are reasons why some sides share nothing with another.
func (k *checker) areApart(some []side, other side) bool {
	e := &evidence{issuing: true}
	for _, s := range some {
		k.reason(e, s, other, nil)
	}
	return !e.failed()
}

// A rule of the state is judged again by every commit that touches what it reads. A
// rule about every entry is a family of gates, one for each key; patterns that share
// a family key are about one entry.
type gate struct {
	name   string
	reads  []region.Pattern
	expr   *ir.Expr   // of a rule that is an expression, whose footprint depends on the phase
	bounds []ir.Bound // of a rule that bounds a number, or wants keys to be there
}

// readsOf is what the rule reads in the phases that a commit of a stage may leave the
// instance in.
func (g gate) readsOf(s *ir.Stage) []region.Pattern {
	if g.expr != nil {
		return g.expr.PatternsIn(s.PhasesAfter())
	}
	return g.reads
}

// gates lists the rules of the state: invariants, constraints of types, types whose
// alternatives are told apart by what lies below, and references.
func (k *checker) gates() []gate {
	var out []gate
	for i := range k.contract.Invariants {
		v := &k.contract.Invariants[i]
		name := v.Title()
		if v.Unique != nil {
			g := gate{name: name}
			for _, p := range v.UniquePlaces() {
				g.reads = append(g.reads, k.unions.Whole(p)...)
			}
			out = append(out, g)
		}
		rules := v.Rules()
		for j := range rules {
			g := gate{name: name, expr: &rules[j].Expr}
			if b := rules[j].Bound; b != nil {
				g.bounds = []ir.Bound{*b}
			}
			out = append(out, g)
		}
	}
	k.eachNode(region.Pattern{}, k.contract.State, func(at region.Pattern, t *ir.Type) {
		out = append(out, k.typeGates(at, t)...)
	})
	return out
}

func (k *checker) typeGates(at region.Pattern, t *ir.Type) []gate {
	var out []gate
	for _, entryOf := range k.families(at) {
		g := gate{name: "type of " + at.String()}
		for _, x := range t.Where {
			for _, p := range readPatterns(x) {
				read := longer(entryOf, p.Segments...)
				read.Shallow = p.Shallow
				g.reads = append(g.reads, read)
			}
		}
		if k.isAmbiguous(t) {
			keys := k.keysNamedIn(t, region.Segment{Kind: region.AnyKey})
			g.reads = append(g.reads, entryOf)
			for _, p := range keys {
				g.bounds = append(g.bounds, ir.Bound{Least: true, Of: p, Rest: g.reads})
			}
			g.reads = append(g.reads[:len(g.reads):len(g.reads)], keys...)
		}
		if len(g.reads) > 0 {
			out = append(out, g)
		}
		if keys := k.keysNamedBy(t, region.Segment{Kind: region.ParamSegment, Text: familyMark + "0"}); len(keys) > 0 {
			out = append(out, gate{name: "key at " + at.String(), reads: append([]region.Pattern{entryOf}, keys...)})
		}
	}
	return out
}

// keysNamedBy lists the keys that a value of type t may itself be a reference to.
func (k *checker) keysNamedBy(t *ir.Type, key region.Segment) []region.Pattern {
	if t.Kind == ir.RefType {
		p := longer(*t.Target, key)
		p.Shallow = true
		return []region.Pattern{p}
	}
	var out []region.Pattern
	for _, id := range t.Alternatives {
		out = append(out, k.keysNamedBy(k.contract.Type(id), key)...)
	}
	return out
}

// keysNamedIn lists the keys that something in a value of type t may refer to.
func (k *checker) keysNamedIn(t *ir.Type, key region.Segment) []region.Pattern {
	var out []region.Pattern
	k.eachBelow(region.Pattern{}, t, func(_ region.Pattern, below *ir.Type) {
		if below.Kind == ir.RefType {
			out = append(out, k.keysNamedBy(below, key)...)
		}
	})
	return out
}

// families lists the families of nodes at a pattern. Keys become family keys.
// Entries of a log are those of run A, those of run B, and those from before.
// Positions of lists and sets stay wildcards: all elements count as one.
func (k *checker) families(at region.Pattern) []region.Pattern {
	out := []region.Pattern{{}}
	hasLog := false
	for i, s := range at.Segments {
		isLog := s.Kind == region.AnyIndex && !hasLog && k.isLog(at.Segments[:i])
		if s.Kind == region.AnyKey {
			s = region.Segment{Kind: region.ParamSegment, Text: fmt.Sprint(familyMark, i+1)}
		}
		var next []region.Pattern
		for _, p := range out {
			if !isLog {
				next = append(next, longer(p, s))
				continue
			}
			for _, owner := range []string{runA, runB, before} {
				next = append(next, longer(p, region.Segment{Kind: region.FreshSegment, Text: owner}))
			}
		}
		out, hasLog = next, hasLog || isLog
	}
	return out
}

// isAmbiguous reports whether several alternatives of a union are objects, or
// several are arrays.
func (k *checker) isAmbiguous(t *ir.Type) bool {
	if t.Kind != ir.UnionType {
		return false
	}
	objects, arrays := 0, 0
	for _, id := range t.Alternatives {
		object, array := k.containers(id)
		objects, arrays = objects+object, arrays+array
	}
	return objects > 1 || arrays > 1
}

// containers is 1 for what values of a type may be, 0 for what not.
func (k *checker) containers(id ir.TypeID) (object, array int) {
	t := k.contract.Type(id)
	switch t.Kind {
	case ir.AnyType:
		return 1, 1
	case ir.RecordType, ir.MapType, ir.KeyedType:
		return 1, 0
	case ir.ListType, ir.SetType, ir.LogType:
		return 0, 1
	}
	for _, a := range t.Alternatives {
		o, r := k.containers(a)
		object, array = max(object, o), max(array, r)
	}
	return object, array
}

// eachNode visits every typed node of the state.
func (k *checker) eachNode(at region.Pattern, id ir.TypeID, visit func(region.Pattern, *ir.Type)) {
	k.eachBelow(at, k.contract.Type(id), visit)
}

func (k *checker) eachBelow(at region.Pattern, t *ir.Type, visit func(region.Pattern, *ir.Type)) {
	k.spend(1)
	visit(at, t)
	for _, a := range t.Alternatives {
		k.eachNode(at, a, visit)
	}
	for _, m := range t.Members {
		k.eachNode(longer(at, region.Segment{Kind: region.KeyLiteral, Text: m.Name}), m.Type, visit)
	}
	if t.Rest != ir.NoType {
		k.eachNode(longer(at, region.Segment{Kind: region.AnyKey}), t.Rest, visit)
	}
	if t.Elem != ir.NoType {
		elem := region.Segment{Kind: region.AnyKey}
		if t.Kind == ir.ListType || t.Kind == ir.SetType || t.Kind == ir.LogType {
			elem.Kind = region.AnyIndex
		}
		k.eachNode(longer(at, elem), t.Elem, visit)
	}
}
