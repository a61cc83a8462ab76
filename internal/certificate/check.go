package certificate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A Problem is something that a certificate does not show.
type Problem struct {
	About string `json:"about"` // the certificate, a delegation, a pair of stages, or a claim
	Why   string `json:"why"`
}

// A checker checks one certificate against one contract.
type checker struct {
	contract   *ir.Contract
	unions     *ir.Unions
	stateGates []gate
	params     map[string]*ir.Param // by name, with owner and without: those of the stages looked at
	commuting  map[[2]string][]Term // the pairs that were checked
	beyond     map[[2]string]string // when issuing: the pairs whose evidence was not found
	full       bool                 // when issuing: there is no room for further pairs
	problems   []Problem
	stages     map[string]*ir.Stage // by name
	phases     map[string]*ir.Phase // by name
	touches    map[toucher]touch    // as far as asked for
	keyFields  map[*ir.Stage][]side // likewise, the keys that stages know
	left       int                  // how many steps may still be taken
}

func newChecker(c *ir.Contract) *checker {
	k := &checker{
		contract: c, unions: ir.NewUnions(c), params: map[string]*ir.Param{},
		commuting: map[[2]string][]Term{}, beyond: map[[2]string]string{},
		stages: make(map[string]*ir.Stage, len(c.Stages)), phases: make(map[string]*ir.Phase, len(c.Phases)),
		touches: map[toucher]touch{}, keyFields: map[*ir.Stage][]side{}, left: MaxSteps,
	}
	for i := range c.Phases {
		k.phases[c.Phases[i].Name] = &c.Phases[i]
	}
	for i := range c.Stages {
		k.stages[c.Stages[i].Name] = &c.Stages[i]
	}
	k.stateGates = k.gates()
	k.left = MaxSteps // what the contract's own limits bound counts for nothing
	return k
}

// MaxSteps is how many steps it may take to check a certificate, and to issue one: a
// node of the state that is visited, or a pair of stages as they run in two phases, is
// one, and a reason that is tried costs as much as some.
const MaxSteps = 1 << 25

const reasonSteps = 8

var tooMuch = fmt.Sprintf("the certificate takes more than %d steps", MaxSteps)

// spend counts steps. When none are left, nothing is shown any more.
func (k *checker) spend(n int) { k.left -= n }

func (k *checker) spent() bool { return k.left < 0 }

// stage finds a stage by name, nil if there is none.
func (k *checker) stage(name string) *ir.Stage { return k.stages[name] }

func (k *checker) phase(name string) *ir.Phase { return k.phases[name] }

// Check verifies a certificate against a contract. It returns every delegation, pair
// and claim that the certificate does not show to be right; none means that all
// delegations and claims of the contract are certified. The contract must be whole
// (ir.Decode). Cost: linear in the certificate and the contract, and at most MaxSteps
// steps; a certificate that needs more is one with a problem.
func Check(data []byte, contract *ir.Contract) []Problem {
	cert, err := Decode(data)
	if err != nil {
		return []Problem{{"the certificate", err.Error()}}
	}
	if cert.Contract != contract.Digest() {
		return []Problem{{"the certificate", "it is about another contract, or the contract was changed since: it says " + cert.Contract}}
	}
	k := newChecker(contract)
	k.once(cert.Pairs, cert.Claims)
	k.delegates(cert.Delegates)
	k.pairs(cert.Pairs)
	k.claims(cert.Claims)
	if k.spent() {
		k.problems = append([]Problem{{"the certificate", tooMuch}}, k.problems...)
	}
	return k.problems
}

func (k *checker) note(about, why string) {
	if why != "" {
		k.problems = append(k.problems, Problem{about, why})
	}
}

func (k *checker) delegates(given []Delegate) {
	var want [][2]string
	for _, s := range k.contract.Stages {
		if s.From != "" {
			want = append(want, [2]string{s.Name, s.From})
		}
	}
	if !slices.EqualFunc(want, given, func(w [2]string, d Delegate) bool { return w == [2]string{d.Stage, d.From} }) {
		k.note("the certificate", "its delegations are not those of the contract")
		return
	}
	for _, d := range given {
		if k.spent() {
			return
		}
		about := d.Stage + " within " + d.From
		if d.Uncertified != "" {
			k.note(about, "not certified: "+d.Uncertified)
			continue
		}
		k.note(about, k.delegate(&evidence{all: d.Evidence}, d))
	}
}

func (k *checker) pairs(given []Pair) {
	for _, p := range given {
		if k.spent() {
			return
		}
		why := k.pair(&evidence{all: p.Evidence}, p)
		k.note(fmt.Sprintf("%s commutes with %s", p.A, p.B), why)
		if why == "" {
			k.commuting[[2]string{p.A, p.B}] = p.Unless
		}
	}
}

func (k *checker) claims(given []Claim) {
	if !slices.EqualFunc(k.contract.Claims, given, func(w ir.Claim, c Claim) bool { return sameClaim(w, c.Claim) }) {
		k.note("the certificate", "its claims are not those of the contract")
		return
	}
	for _, c := range given {
		if k.spent() {
			return
		}
		if c.Uncertified != "" {
			k.note(c.Claim.Text, "not certified: "+c.Uncertified)
			continue
		}
		k.note(c.Claim.Text, k.claim(&evidence{all: c.Evidence}, c))
	}
}

// sameClaim compares claims in the form in which contracts store them.
func sameClaim(a, b ir.Claim) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

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

// plainStages lists the stages of a phase that neither move it nor do a part of what another
// one does.
func (k *checker) plainStages(phase string) []string {
	var out []string
	for i := range k.contract.Stages {
		s := &k.contract.Stages[i]
		if k.contract.IsPlain(s, phase) {
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

// commutePairs lists the pairs a claim about commuting is about; those that share no
// phase never meet.
func (k *checker) commutePairs(names []string) [][2]string {
	var out [][2]string
	for i, a := range names {
		if k.spend(reasonSteps * (len(names) - i)); k.spent() {
			return out
		}
		for _, b := range names[i+1:] {
			if sharePhase(k.stage(a), k.stage(b)) {
				out = append(out, [2]string{a, b})
			}
		}
	}
	return out
}

func sharePhase(a, b *ir.Stage) bool {
	for _, p := range a.In {
		if contains(b.In, p) {
			return true
		}
	}
	return false
}

// A couple is the two stages of a claim in the order in which it names them, with the
// runs that they are in the terms of their pair.
type couple struct {
	a, b       *ir.Stage
	runA, runB string
}

// equality is one of a parameter of the first stage and one of the second.
func (c couple) equality(a, b string) Equality { return Equality{c.runA + "." + a, c.runB + "." + b} }

// close adds to equalities what follows from them: parameters that are taken from one
// place are equal.
func (c couple) close(e equalities) equalities {
	for range c.a.Params {
		c.each(ir.DependentParam, func(a, b *ir.Param) {
			if c.onePlace(e, a.Of, b.Of) {
				e = append(e[:len(e):len(e)], c.equality(a.Name, b.Name))
			}
		})
	}
	return e
}

// bindsTwice is the container in which both runs create one key, if they do.
func (c couple) bindsTwice(e equalities) (container string, twice bool) {
	c.each(ir.NewParam, func(a, b *ir.Param) {
		if e.follows(c.equality(a.Name, b.Name)) && c.onePlace(e, a.Of, b.Of) {
			container, twice = a.Of.Source(), true
		}
	})
	return container, twice
}

func (c couple) each(kind ir.ParamKind, f func(a, b *ir.Param)) {
	for i := range c.a.Params {
		for j := range c.b.Params {
			if a, b := &c.a.Params[i], &c.b.Params[j]; a.Kind == kind && b.Kind == kind {
				f(a, b)
			}
		}
	}
}

// onePlace reports whether two patterns lead to one place if equalities hold.
func (c couple) onePlace(e equalities, a, b region.Pattern) bool {
	return slices.EqualFunc(a.Segments, b.Segments, func(s, t region.Segment) bool {
		if s.Kind == region.ParamSegment && t.Kind == region.ParamSegment {
			return e.follows(c.equality(s.Text, t.Text))
		}
		x, y := keys(s), keys(t)
		return x.kind == one && x == y
	})
}

// A certificate says everything once: which of two entries for one pair would count is
// nothing that a reader should have to find out. Nor has a claim lists that are not of
// its kind, which nobody would check.

// once reports what stands twice, and what no entry of its kind has. Cost: linear in the
// certificate, but for the sorting of names.
func (k *checker) once(pairs []Pair, claims []Claim) {
	seen := map[[2]string]bool{}
	for _, p := range pairs {
		about, key := fmt.Sprintf("%s commutes with %s", p.A, p.B), [2]string{min(p.A, p.B), max(p.A, p.B)}
		switch {
		case seen[key]:
			k.note(about, "the certificate has this pair twice")
		case repeats(p.Unless, Term.key):
			k.note(about, "one of its conditions stands twice")
		case slices.ContainsFunc(p.Unless, func(t Term) bool { return repeats(t, Equality.key) }):
			k.note(about, "an equality stands twice in one condition")
		}
		seen[key] = true
	}
	for _, c := range claims {
		kind := c.Claim.Kind
		switch {
		case repeats(c.Reached, func(r Reached) Reached { return r }),
			repeats(c.Phases, func(p string) string { return p }),
			repeats(c.Matches, func(m Match) string { return fmt.Sprintf("%q", m) }):
			k.note(c.Claim.Text, "something stands twice in a list of it")
		case len(c.Reached) > 0 && kind != ir.NoFlow, len(c.Matches) > 0 && kind != ir.WithinClaim, len(c.Phases) > 0 && kind != ir.PhaseBefore:
			k.note(c.Claim.Text, "it has a list that no claim of its kind has")
		}
	}
}

// key is the same for two equalities that say the same.
func (e Equality) key() string { return fmt.Sprintf("%q", []string{min(e[0], e[1]), max(e[0], e[1])}) }

// key is the same for two terms that say the same.
func (t Term) key() string {
	var keys []string
	for _, e := range t {
		keys = append(keys, e.key())
	}
	slices.Sort(keys)
	return strings.Join(slices.Compact(keys), " ")
}

// repeats reports whether two entries of a list have one key.
func repeats[T any, K comparable](list []T, key func(T) K) bool {
	seen := make(map[K]bool, len(list))
	for _, x := range list {
		if seen[key(x)] {
			return true
		}
		seen[key(x)] = true
	}
	return false
}

func contains(list []string, x string) bool { return slices.Contains(list, x) }

func containsAll(list, xs []string) bool {
	return !slices.ContainsFunc(xs, func(x string) bool { return !contains(list, x) })
}
