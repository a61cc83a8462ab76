package certificate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
)

// Conditions says, for a pair of stages that the prover found to commute, under
// which equalities of parameters they may not. ok is false if they do not commute.
type Conditions func(a, b *ir.Stage) (unless []Term, ok bool)

// Issue writes the certificate of a contract: evidence for every delegation and
// claim, and for every pair of stages that shares a phase and commutes. What was
// proved by more than the reasons of a certificate can express is marked as not
// certified. So is, in words, what there was no room or time for: it takes at most
// MaxSteps steps, those for claims first, and looks at no more than MaxPairs pairs.
func Issue(contract *ir.Contract, conditions Conditions) []byte {
	k := newChecker(contract)
	cert := Certificate{Contract: contract.Digest()}
	for _, s := range contract.Stages {
		if s.From != "" {
			d := Delegate{Stage: s.Name, From: s.From}
			e := &evidence{issuing: true}
			if d.Uncertified = k.delegate(e, d); d.Uncertified == "" && k.spent() {
				d.Uncertified = tooMuch
			}
			if d.Uncertified == "" {
				d.Evidence = e.all
			}
			cert.Delegates = append(cert.Delegates, d)
		}
	}
	p := pairs{checker: k, conditions: conditions, issued: map[[2]int]*Pair{}}
	p.claimed()
	for _, c := range contract.Claims {
		cert.Claims = append(cert.Claims, k.issueClaim(c))
	}
	p.others()
	cert.Pairs = p.sorted()
	return Seal(cert)
}

// Limits of the pairs of stages that a certificate is issued about.
const (
	MaxPairs    = 1 << 16 // looked at
	mostOfThese = 1 << 15 // as long as no claim is about them
)

// pairs are those of a certificate that is issued, by the numbers of their stages; nil
// is one that was looked at and is not shown.
type pairs struct {
	*checker
	conditions Conditions
	issued     map[[2]int]*Pair
}

// claimed issues the pairs that the claims are about.
func (p *pairs) claimed() {
	numbers := map[string]int{}
	for i, s := range p.contract.Stages {
		numbers[s.Name] = i
	}
	for _, c := range p.contract.Claims {
		names := c.Stages
		switch c.Kind {
		case ir.AllCommute:
			names = p.plainStages(c.Phases[0])
		case ir.Commutes, ir.Parallel:
		default:
			continue
		}
		for _, want := range p.commutePairs(names) {
			i, j := numbers[want[0]], numbers[want[1]]
			p.issue(min(i, j), max(i, j))
		}
	}
}

// others issues all further pairs that there is room for.
func (p *pairs) others() {
	for i := range p.contract.Stages {
		for j := i; j < len(p.contract.Stages); j++ {
			if p.spend(1); len(p.issued) >= mostOfThese || p.spent() {
				return
			}
			p.issue(i, j)
		}
	}
}

func (p *pairs) issue(i, j int) {
	a, b, k := &p.contract.Stages[i], &p.contract.Stages[j], p.checker
	if _, known := p.issued[[2]int{i, j}]; known || !sharePhase(a, b) || len(a.Next)+len(b.Next) > 0 {
		return
	}
	refuse := func(why string) {
		k.beyond[[2]string{a.Name, b.Name}], k.beyond[[2]string{b.Name, a.Name}] = why, why
	}
	if k.full = k.full || len(p.issued) >= MaxPairs; k.full || k.spent() {
		return
	}
	p.issued[[2]int{i, j}] = nil
	unless, ok := p.conditions(a, b)
	if !ok {
		return
	}
	pair := Pair{A: a.Name, B: b.Name, Unless: unless}
	e := &evidence{issuing: true}
	if why := k.pair(e, pair); why != "" || k.spent() {
		refuse(cmp.Or(why, tooMuch))
		return
	}
	pair.Evidence = e.all
	k.commuting[[2]string{pair.A, pair.B}] = pair.Unless
	p.issued[[2]int{i, j}] = &pair
}

// sorted lists the pairs in the order of the contract's stages.
func (p *pairs) sorted() []Pair {
	var out []Pair
	for _, key := range slices.SortedFunc(maps.Keys(p.issued), func(a, b [2]int) int { return slices.Compare(a[:], b[:]) }) {
		if pair := p.issued[key]; pair != nil {
			out = append(out, *pair)
		}
	}
	return out
}

func (k *checker) issueClaim(claim ir.Claim) Claim {
	c := Claim{Claim: claim}
	switch claim.Kind {
	case ir.NoFlow:
		c.Reached = k.reach(claim)
	case ir.WithinClaim:
		c.Matches = k.issueMatches(claim.Stages[0], claim.Stages[1])
	case ir.PhaseBefore:
		c.Phases = k.phasesWithout(claim.Phases[0])
	}
	e := &evidence{issuing: true}
	if c.Uncertified = k.claim(e, c); c.Uncertified == "" && k.spent() {
		c.Uncertified = tooMuch
	}
	if c.Uncertified == "" {
		c.Evidence, c.Known = e.all, k.contract.Known(claim, e.assumed)
		return c
	}
	if claim.Kind != ir.Commutes && claim.Kind != ir.Parallel {
		return c
	}
	for _, pair := range k.commutePairs(claim.Stages) {
		if why := k.beyond[pair]; why != "" {
			c.Uncertified = fmt.Sprintf("%s and %s: %s", pair[0], pair[1], why)
		}
	}
	return c
}

// phasesWithout lists the phases that can be reached without passing p.
func (k *checker) phasesWithout(p string) []string {
	reached := []string{k.contract.Phases[0].Name}
	for i := 0; i < len(reached); i++ {
		for _, a := range k.phase(reached[i]).Arrows {
			if a.To != p && !contains(reached, a.To) {
				reached = append(reached, a.To)
			}
		}
	}
	return reached
}

// What a claim comes with: the matches of a containment, and what a flow reaches.

// issueMatches finds matches under which a claim of containment can be shown: for each
// stage the first combination that can, or the first at all.
func (k *checker) issueMatches(a, b string) []Match {
	var out []Match
	for _, inner := range k.members(a) {
		var options [][]Match
		for _, outer := range k.members(b) {
			if found := k.matchings(inner, outer, nil); len(found) > 0 {
				options = append(options, found)
			}
		}
		out = append(out, k.firstShown(inner, options)...)
	}
	return out
}

// mostMatchings bounds the combinations that are tried.
const mostMatchings = 4096

func (k *checker) firstShown(inner *ir.Stage, options [][]Match) []Match {
	var first []Match
	tried := 0
	var search func(chosen []Match) []Match
	search = func(chosen []Match) []Match {
		if len(chosen) == len(options) {
			if first == nil {
				first = chosen
			}
			tried++
			if k.spent() {
				return nil
			}
			e := &evidence{issuing: true}
			if k.stageWithin(e, inner, chosen); e.failed() {
				return nil
			}
			return chosen
		}
		for _, m := range options[len(chosen)] {
			if found := search(append(append([]Match{}, chosen...), m)); found != nil || tried > mostMatchings {
				return found
			}
		}
		return nil
	}
	if found := search(nil); found != nil {
		return found
	}
	return first
}

// matchings lists the ways to match a stage's parameters, after some are.
func (k *checker) matchings(inner, outer *ir.Stage, args [][2]string) []Match {
	m := Match{inner.Name, outer.Name, args}
	if len(args) == len(outer.Params) {
		if k.mismatch(inner, outer, m) != "" {
			return nil
		}
		return []Match{m}
	}
	q := outer.Params[len(args)]
	var out []Match
	for i := range inner.Params {
		if p := &inner.Params[i]; k.fits(p, q, m) && len(out) <= mostMatchings {
			out = append(out, k.matchings(inner, outer, append(append([][2]string{}, args...), [2]string{q.Name, p.Name}))...)
		}
	}
	return out
}

// reach lists where it cannot be shown that nothing of the origin gets.
func (k *checker) reach(c ir.Claim) []Reached {
	f := k.newFlow(c, nil)
	var out []Reached
	for grown := true; grown; {
		grown = false
		for i := range k.contract.Stages {
			s := &k.contract.Stages[i]
			f.somewhere(s, func(r Reached) bool {
				if f.begun(r) && f.isUnlisted(r) && f.isReached(s, r) {
					f.listed[r], grown = true, true
					out = append(out, r)
				}
				return false
			})
		}
	}
	return out
}

// isReached reports whether it cannot be shown that a stage, as it runs, gets to know
// nothing of the origin.
func (f flow) isReached(s *ir.Stage, r Reached) bool {
	if !f.shown(s.Name, func(e *evidence) { f.blindTo(e, s) }) {
		return true
	}
	for i := range f.contract.Stages {
		t := &f.contract.Stages[i]
		if f.somewhere(t, func(x Reached) bool { return f.listed[x] && f.tells(t, x, s, r) }) {
			return true
		}
	}
	return false
}

// tells reports whether it cannot be shown that t, as it runs, tells s nothing.
func (f flow) tells(t *ir.Stage, x Reached, s *ir.Stage, r Reached) bool {
	if f.claim.Memory && x.Role == r.Role && f.after(x.Phase)[r.Phase] {
		return true
	}
	return f.mayFollow(t, x.Phase, r.Phase) && (f.chooses(t, x.Phase) ||
		!f.shown(s.Name+" "+t.Name, func(e *evidence) { f.blindToWrites(e, s, t) }))
}

// shown reports whether there is evidence for something, and looks for it once.
func (f flow) shown(what string, look func(*evidence)) bool {
	if known, ok := f.evident[what]; ok {
		return known
	}
	e := &evidence{issuing: true}
	look(e)
	f.evident[what] = !e.failed()
	return f.evident[what]
}
