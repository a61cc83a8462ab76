package certificate

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// claim checks what a claim needs to hold.
func (k *checker) claim(e *evidence, c Claim) string {
	switch c.Claim.Kind {
	case ir.Commutes, ir.Parallel:
		k.commute(e, c.Claim.Stages, c.Claim.When)
	case ir.AllCommute:
		k.commute(e, k.plainStages(c.Claim.Phases[0]), nil)
	case ir.WithinClaim:
		k.claimWithin(e, c.Claim.Stages[0], c.Claim.Stages[1], c.Matches)
	case ir.NoStage:
		k.noStage(e, c.Claim)
	case ir.NoFlow:
		k.noFlow(e, c.Claim, c.Reached)
	case ir.PhaseBefore:
		k.before(e, c.Claim.Phases[0], c.Claim.Phases[1], c.Phases)
	default:
		return fmt.Sprintf("this program does not know the claim %q", c.Claim.Kind)
	}
	if known := k.contract.Known(c.Claim, e.assumed); !e.issuing && !reflect.DeepEqual(known, c.Known) {
		e.fail("it is known on other grounds than it says: %s %s", known.Basis, strings.Join(known.Assumes, ", "))
	}
	return e.end()
}

// commute looks the pairs up among those that were checked. Every term of a pair must
// contradict what the claim says of the parameters, or what it assumes of the host.
func (k *checker) commute(e *evidence, names []string, when *ir.Hypothesis) {
	used := map[string]bool{}
	for _, want := range k.commutePairs(names) {
		p := couple{k.stage(want[0]), k.stage(want[1]), runA, runB}
		unless, known := k.commuting[want]
		if !known {
			unless, known = k.commuting[[2]string{want[1], want[0]}]
			p.runA, p.runB = runB, runA
		}
		if !known && k.full {
			e.fail("a certificate is about at most %d pairs of stages", MaxPairs)
		}
		if !known && k.spent() {
			e.fail("%s", tooMuch)
		}
		if !known {
			e.fail("the certificate does not show that %s and %s commute", want[0], want[1])
		}
		for _, t := range unless {
			same := p.close(equalities(t))
			if !when.Holds(func(a, b string) bool { return !same.follows(p.equality(a, b)) }) {
				continue
			}
			container, twice := p.bindsTwice(same)
			if !twice {
				e.fail("%s and %s commute under a condition that the claim does not make", want[0], want[1])
			}
			used[container] = true
		}
	}
	e.assumed = slices.Sorted(maps.Keys(used))
}

// plainStages lists the stages of a phase that neither move it nor are delegates.
func (k *checker) plainStages(phase string) []string {
	var out []string
	for _, s := range k.contract.Stages {
		if s.IsPlain(phase) {
			out = append(out, s.Name)
		}
	}
	return out
}

// members lists a stage, or the stages of a composition.
func (k *checker) members(name string) []*ir.Stage {
	if s := k.stage(name); s != nil {
		return []*ir.Stage{s}
	}
	var out []*ir.Stage
	for _, c := range k.contract.Compositions {
		if c.Name == name {
			for _, m := range c.Stages {
				out = append(out, k.stage(m))
			}
		}
	}
	return out
}

func (k *checker) noStage(e *evidence, c ir.Claim) {
	target := sides(c.From, false)
	for i := range k.contract.Stages {
		s := &k.contract.Stages[i]
		if k.isExcepted(s, c.Except) {
			continue
		}
		t := k.touch(s, runA)
		switch c.Verb {
		case "reads":
			k.disjoint(e, s.Name+" reads", append(append(showingSides(k.own(k.showing(s.Read), runA)), k.toldTo(s)...), k.keysKnown(s)...), target, nil)
		case "writes":
			k.disjoint(e, s.Name+" writes", t.writes, target, nil)
		case "copies":
			k.disjoint(e, s.Name+" copies", t.takes, target, nil)
		default:
			e.fail("this program does not know the verb %q", c.Verb)
		}
	}
}

// isExcepted reports whether a stage, or one it comes from, is named.
func (k *checker) isExcepted(s *ir.Stage, names []string) bool {
	for ; s != nil; s = k.stage(s.From) {
		if contains(names, s.Name) {
			return true
		}
	}
	return false
}

// before checks a list of phases that is closed under all arrows but those into p,
// and holds the initial phase but not q.
func (k *checker) before(e *evidence, p, q string, reached []string) {
	start := k.contract.Phases[0].Name
	if start == p || p == q {
		return
	}
	if !contains(reached, start) || contains(reached, q) {
		e.fail("the listed phases must hold %s and not %s", start, q)
	}
	for _, ph := range k.contract.Phases {
		for _, a := range ph.Arrows {
			if contains(reached, ph.Name) && a.To != p && !contains(reached, a.To) {
				e.fail("the listed phases miss %s, which follows %s", a.To, ph.Name)
			}
		}
	}
}
