package certificate

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// within takes, for every include of the inner region, the place G.K of an outer
// include that subsumes it (grant G, include K), and for every exception of grant G
// a reason why nothing of the inner side lies below it. That suffices for reading,
// and for writing too: what lies in the inner side with everything below it meets no
// exception of the outer grant above or below.
func (k *checker) within(e *evidence, about string, inner, outer region.Region) {
	k.sidesWithin(e, about, sides(inner, false), outer)
}

// shownWithin is within for what is read: the containers on the way count too.
func (k *checker) shownWithin(e *evidence, about string, inner, outer region.Region) {
	k.sidesWithin(e, about, showingSides(inner), outer)
}

func (k *checker) sidesWithin(e *evidence, about string, inner []side, outer region.Region) {
	if len(inner) == 0 {
		return
	}
	e.open(about)
	for _, s := range inner {
		k.spend(1)
		if k.spent() {
			e.fail("%s", tooMuch)
		}
		if e.failed() {
			return
		}
		holds := func(word string) bool {
			k.spend(1)
			g, n, ok := twoNumbers(word)
			return ok && !k.spent() && g < len(outer) && n < len(outer[g].Include) && subsumes(outer[g].Include[n], s.include) &&
				(!e.issuing || k.canPass(s, outer[g].Except))
		}
		word := e.word(places(outer), holds, "nothing holds %s", s.include.Source())
		if e.failed() {
			return
		}
		g, _, _ := twoNumbers(word)
		for _, x := range outer[g].Except {
			k.reason(e, s, side{include: x}, nil)
		}
	}
	e.close()
}

func places(r region.Region) []string {
	var out []string
	for g := range r {
		for n := range r[g].Include {
			out = append(out, fmt.Sprint(g, ".", n))
		}
	}
	return out
}

// canPass reports whether there are reasons why a side reaches below no exception.
func (k *checker) canPass(s side, except []region.Pattern) bool {
	e := &evidence{issuing: true}
	for _, x := range except {
		k.reason(e, s, side{include: x}, nil)
	}
	return !e.failed()
}

// delegate checks that a delegated stage stays within its parent, and within what
// the parent hands down.
func (k *checker) delegate(e *evidence, d Delegate) string {
	child, parent := k.stage(d.Stage), k.stage(d.From)
	if parent == nil {
		return "there is no such stage"
	}
	if !inherits(child, parent) {
		return "it runs where, or for whom, its parent does not, or drops a rule"
	}
	k.bind(child)
	k.shownWithin(e, "read", child.Read, parent.Read)
	k.within(e, "write", child.Write, parent.Write)
	k.within(e, "write blind", child.Blind, written(parent))
	k.within(e, "source", child.Source, parent.Source)
	if parent.HasDelegable {
		k.shownWithin(e, "read, delegable", withoutParameters(child), parent.Delegable)
		k.within(e, "write, delegable", written(child), parent.Delegable)
		k.within(e, "source, delegable", child.Source, parent.Delegable)
	}
	return e.end()
}

// bind says whose parameters names without an owner are.
func (k *checker) bind(s *ir.Stage) {
	for i := range s.Params {
		k.params[s.Params[i].Name] = &s.Params[i]
	}
}

// inherits reports whether phases, moves, roles, attempts and the keys of parameters only
// shrink and rules only grow. A stage that moves always moves, so its delegates do.
func inherits(child, parent *ir.Stage) bool {
	roles := len(parent.By) == 0 || len(child.By) > 0 && containsAll(parent.By, child.By)
	moves := containsAll(parent.Next, child.Next) && (len(child.Next) > 0 || len(parent.Next) == 0)
	params := slices.EqualFunc(child.Params, parent.Params, func(p, q ir.Param) bool {
		return p.Name == q.Name && p.Kind == q.Kind && p.Of.String() == q.Of.String() && containsAll(p.Reserved, q.Reserved)
	})
	return roles && moves && params && containsAll(parent.In, child.In) && child.Tries() <= parent.Tries() &&
		containsAll(rules(child), rules(parent))
}

func rules(s *ir.Stage) []string {
	var out []string
	for _, x := range s.Require {
		out = append(out, "require "+x.Source)
	}
	for _, x := range s.Ensure {
		out = append(out, "ensure "+x.Source)
	}
	for _, p := range s.Produce {
		out = append(out, "produce "+p.String())
	}
	return out
}

// withoutParameters is what a stage reads apart from the paths its parameters are
// taken from, which the host reads for it.
func withoutParameters(s *ir.Stage) region.Region {
	taken := map[string]bool{}
	for _, p := range s.Params {
		if p.Kind == ir.DependentParam {
			taken[p.Of.String()] = true
		}
	}
	var out region.Region
	for _, g := range s.Read {
		if len(g.Include) != 1 || !taken[g.Include[0].String()] {
			out = append(out, g)
		}
	}
	return out
}

// written is all that a stage may write, blind grants included.
func written(s *ir.Stage) region.Region {
	return append(append(region.Region{}, s.Write...), s.Blind...)
}
