package certificate

import (
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A side is one include pattern with the exceptions of its grant. Whole says that
// only words count which lie in it with everything below them. Shown says that the
// containers on the way count too, which a view shows whether or not some state has
// anything to show there.
type side struct {
	include region.Pattern
	except  []region.Pattern
	whole   bool
	shown   bool
}

// sides lists a region's includes in order, grant by grant.
func sides(r region.Region, whole bool) []side {
	var out []side
	for _, g := range r {
		for _, p := range g.Include {
			out = append(out, side{include: p, except: g.Except, whole: whole})
		}
	}
	return out
}

// showingSides lists the includes of what a view shows.
func showingSides(r region.Region) []side {
	out := sides(r, false)
	for i := range out {
		out[i].shown = true
	}
	return out
}

// The words that reasons are written in. N counts from 0.
const (
	reasonShort    = "short" // one is only about nodes, and the other lies below them
	reasonLeft     = "l"     // lN: exception N of the left side takes away all that is shared
	reasonRight    = "r"     // rN: the same of the right side
	reasonType     = "t"     // tN: no state has a path that matches both up to segment N
	reasonUnless   = "?"     // ?N: they share a word only if term N holds
	reasonFamily   = "@"     // @N.M: they are about different members of a family
	reasonTogether = "&"     // the gate is touched by A here: what follows is about B
	reasonKept     = "kept"  // the gate is a bound that neither can make fail
	reasonTouched  = "-"     // the gate is a bound, and is looked at like any other
)

// apart reports whether a reason shows that two sides share no word. A number N is
// the reason that segments N exclude each other.
func (k *checker) apart(reason string, l, r side, unless []Term) bool {
	if k.spend(reasonSteps); k.spent() {
		return false
	}
	if n, err := strconv.Atoi(reason); err == nil {
		return n >= 0 && n < firm(l.include) && n < firm(r.include) && k.exclude(l.include.Segments[n], r.include.Segments[n])
	}
	if reason == reasonShort {
		return tooShort(l.include, r.include) || tooShort(r.include, l.include)
	}
	n, err := strconv.Atoi(reason[min(1, len(reason)):])
	if err != nil || n < 0 {
		return false
	}
	shared := between(l.include, r.include)
	switch reason[:1] {
	case reasonLeft:
		return n < len(l.except) && shared.covered(l.except[n], l.whole)
	case reasonRight:
		return n < len(r.except) && shared.covered(r.except[n], r.whole)
	case reasonType:
		return n < len(shared.at) && k.impossible(shared.at[:n+1]) && !(l.shown && k.onTheWay(shared.at, firm(r.include), n))
	case reasonUnless:
		return n < len(unless) && forced(l.include, r.include).has(unless[n])
	}
	return false
}

// tooShort reports whether p is about nodes that lie above every word of q.
func tooShort(p, q region.Pattern) bool {
	if !p.Shallow || !fixed(p) {
		return false
	}
	least := 0
	for _, s := range q.Segments {
		if s.Kind != region.AnyDepth {
			least++
		}
	}
	return least > len(p.Segments)
}

// impossible reports whether no state has a path through all places.
func (k *checker) impossible(places [][]region.Segment) bool {
	at := []ir.TypeID{k.contract.State}
	for _, segments := range places {
		at = k.below(at, segments)
	}
	return len(at) == 0
}

// onTheWay reports whether a view may show a container, though no state has a path below
// it: at a place that the right side has, of a kind with letters that lead on. What has
// no path before the end of the right side is written nowhere.
func (k *checker) onTheWay(places [][]region.Segment, end, n int) bool {
	if n < end {
		return false
	}
	at := []ir.TypeID{k.contract.State}
	for _, segments := range places[:end] {
		at = k.below(at, segments)
	}
	next := places[end]
	for _, id := range at {
		object, array := k.containers(id)
		if object > 0 && admitSome(next, keys) || array > 0 && admitSome(next, positions) {
			return true
		}
	}
	return false
}

// Equalities are what parameters have in common if two patterns share a word.
type equalities []Equality

func forced(p, q region.Pattern) equalities {
	var out equalities
	for i := range min(firm(p), firm(q)) {
		s, t := p.Segments[i], q.Segments[i]
		if s.Kind == region.ParamSegment && t.Kind == region.ParamSegment {
			out = append(out, Equality{s.Text, t.Text})
		}
	}
	return out
}

// has reports whether every equality of a term follows.
func (e equalities) has(t Term) bool {
	for _, want := range t {
		if !e.follows(want) {
			return false
		}
	}
	return true
}

func (e equalities) follows(want Equality) bool {
	reached := map[string]bool{want[0]: true}
	for range e {
		for _, x := range e {
			if reached[x[0]] || reached[x[1]] {
				reached[x[0]], reached[x[1]] = true, true
			}
		}
	}
	return reached[want[1]]
}

// isReserved reports whether a parameter, written with its owner or without, is
// never bound to a key. Family keys stand for any.
func (k *checker) isReserved(param, key string) bool {
	p := k.params[param]
	return p != nil && contains(p.Reserved, key)
}
