package certificate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
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

func contains(list []string, x string) bool { return slices.Contains(list, x) }

func containsAll(list, xs []string) bool {
	return !slices.ContainsFunc(xs, func(x string) bool { return !contains(list, x) })
}
