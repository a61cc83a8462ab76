package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// A reference is a container whose keys are referred to, and every place in the
// state type that refers to it. Types do not recurse, so the places are finitely
// many patterns.
type reference struct {
	target region.Pattern
	sites  []site
}

// A site is a pattern of places that refer, and the index of the keys they name.
type site struct {
	pattern region.Pattern
	named   *index
}

// findReferences lists the containers that types refer to.
func findReferences(p *Program) []reference {
	f := referenceFinder{p: p}
	f.walk(p.contract.State, nil)
	for _, r := range f.found {
		for _, s := range r.sites {
			p.indexes = append(p.indexes, s.named)
		}
	}
	return f.found
}

type referenceFinder struct {
	p     *Program
	found []reference
}

func (f *referenceFinder) walk(id ir.TypeID, path []region.Segment) {
	if !f.p.types[id].refs {
		return
	}
	t := &f.p.contract.Types[id]
	down := func(to ir.TypeID, s region.Segment) { f.walk(to, append(path[:len(path):len(path)], s)) }
	switch t.Kind {
	case ir.RefType:
		f.site(*t.Target, region.Pattern{Segments: path})
	case ir.UnionType:
		free := f.anyString(t) // then a string refers to nothing that could be missed
		for _, alt := range t.Alternatives {
			if !free || f.p.contract.Types[alt].Kind != ir.RefType {
				f.walk(alt, path)
			}
		}
	case ir.MapType, ir.KeyedType:
		down(t.Elem, region.Segment{Kind: region.AnyKey})
	case ir.ListType, ir.SetType, ir.LogType:
		down(t.Elem, region.Segment{Kind: region.AnyIndex})
	case ir.RecordType:
		for _, m := range t.Members {
			down(m.Type, region.Segment{Kind: region.KeyLiteral, Text: m.Name})
		}
		if t.Rest != ir.NoType {
			down(t.Rest, region.Segment{Kind: region.AnyKey})
		}
	}
}

// anyString reports whether a union has an alternative that every string fits.
func (f *referenceFinder) anyString(t *ir.Type) bool {
	return slices.ContainsFunc(t.Alternatives, func(alt ir.TypeID) bool {
		a := &f.p.contract.Types[alt]
		return (a.Kind == ir.StringType || a.Kind == ir.AnyType) && len(a.Where) == 0
	})
}

func (f *referenceFinder) site(target, at region.Pattern) {
	s := site{at, newIndex(at, []region.Pattern{at}, byText)}
	for i := range f.found {
		r := &f.found[i]
		switch {
		case r.target.String() != target.String():
		case slices.ContainsFunc(r.sites, func(s site) bool { return s.pattern.String() == at.String() }):
			return
		default:
			r.sites = append(r.sites, s)
			return
		}
	}
	f.found = append(f.found, reference{target, []site{s}})
}

// checkReferrers asks, where members of a referred container went away, whether
// something still names them; and only then looks for what does. Nodes that were
// written themselves are checked already.
func (v *verification) checkReferrers() []finding {
	var found []finding
	for i := range v.p.references {
		r := &v.p.references[i]
		gone := v.goneFrom(r.target)
		if len(gone) == 0 {
			continue
		}
		for j := range r.sites {
			if s := &r.sites[j]; v.names(s, gone) {
				found = append(found, v.referrers(r, s, gone)...)
			}
		}
	}
	return found
}

func (v *verification) names(s *site, keys map[string]bool) bool {
	named := s.named.next(v.p.watch, v.snapshot.State, v.after)
	for key := range keys {
		if named.Count(key) > 0 {
			return true
		}
	}
	return false
}

func (v *verification) referrers(r *reference, s *site, gone map[string]bool) []finding {
	var all collection
	eachMatch(v.p.watch, v.after, s.pattern, func(w region.Word, n *tree.Node) bool {
		if n.Kind() == ir.String && gone[n.Text()] && !v.wrote(w) && v.dangles(w) {
			f := say.keyInUse(r.target).of(ir.RefGate, "")
			at := w
			if union, inside := v.unionAbove(w); inside { // whether this refers is a matter of all of it
				f.rule, f.gated, at = ir.TypeGate, slices.Clone(union), union
			}
			all.add(f, func(f finding) finding {
				f.reads = region.Region{{Include: []region.Pattern{patternOf(at)}}}
				return f.about(w)
			})
		}
		return true
	})
	return all.found
}

// dangles checks one referring node by its type: in a union the string may be fine
// all the same.
func (v *verification) dangles(w region.Word) bool {
	at, id := v.p.judgedBy(v.after, w)
	c := typeCheck{p: v.p, ctx: v.ctx, state: v.after, word: append(region.Word{}, at...)}
	c.check(tree.NodeAt(v.after, at), id)
	return c.total > 0
}

func (v *verification) wrote(w region.Word) bool {
	return v.written.over(w) > 0
}

// goneFrom is the members of a container that the commit takes away.
func (v *verification) goneFrom(container region.Pattern) map[string]bool {
	var gone map[string]bool
	for _, t := range v.targets {
		if len(t) <= len(container.Segments) {
			if matchesWord(container.Segments[:len(t)], t) {
				gone = v.goneWhole(container, gone)
			}
			continue
		}
		member := t[len(container.Segments)]
		if len(t) == len(container.Segments)+1 && member.Kind == region.KeyLetter && matchesWord(container.Segments, t[:len(t)-1]) &&
			tree.NodeAt(v.snapshot.State, t) != nil && tree.NodeAt(v.after, t) == nil {
			gone = with(gone, member.Name)
		}
	}
	return gone
}

// goneWhole compares a container that was written from above.
func (v *verification) goneWhole(container region.Pattern, gone map[string]bool) map[string]bool {
	was, now := nodeAtPattern(v.snapshot.State, container), nodeAtPattern(v.after, container)
	if was == now || !isObject(was) {
		return gone
	}
	if !isObject(now) {
		now = tree.NewObject(nil)
	}
	tree.ChangedMembers(was, now, func(name string, _, after *tree.Node) bool {
		if after == nil {
			gone = with(gone, name)
		}
		return true
	})
	return gone
}

func with(set map[string]bool, name string) map[string]bool {
	if set == nil {
		set = map[string]bool{}
	}
	set[name] = true
	return set
}
