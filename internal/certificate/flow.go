package certificate

import (
	"fmt"

	"github.com/patchoptic/poptic/internal/ir"
)

// A Reached is a stage in a phase that information of the origin of a flow may get to.
// In a claim with memory it is the stage as a role runs it; a role that nobody names
// has no name.
type Reached struct {
	Stage string `json:"stage"`
	Phase string `json:"phase"`
	Role  string `json:"role,omitempty"`
}

// A flow is a list of what is reached, under the check whether it is closed.
type flow struct {
	*checker
	claim  ir.Claim
	roles  []string
	listed map[Reached]bool

	later   map[string]map[string]bool // by phase, those that can follow, itself included
	evident map[string]bool            // when issuing: what there is evidence for
}

func (k *checker) newFlow(c ir.Claim, reached []Reached) flow {
	f := flow{checker: k, claim: c, roles: []string{""}, listed: map[Reached]bool{}, evident: map[string]bool{}, later: map[string]map[string]bool{}}
	for _, r := range reached {
		f.listed[r] = true
	}
	for _, s := range k.contract.Stages {
		for _, r := range s.By {
			if c.Memory && !contains(f.roles, r) {
				f.roles = append(f.roles, r)
			}
		}
	}
	return f
}

// noFlow checks that a list of what is reached is closed: whatever is not on it sees
// neither the origin nor what something on it wrote before, runs in no phase that
// something on it may have chosen, and for no role that remembers; and nothing on the
// list writes into the goal.
func (k *checker) noFlow(e *evidence, c ir.Claim, reached []Reached) {
	f := k.newFlow(c, reached)
	goal := append(sides(c.To, false), sides(k.unions.Deciding(c.To), false)...)
	for r := range f.listed {
		if s := k.stage(r.Stage); s == nil || !contains(s.In, r.Phase) || !f.runs(s, r.Role) {
			e.fail("%s in %s for role %q is no way to run a stage", r.Stage, r.Phase, r.Role)
			return
		}
	}
	for i := range k.contract.Stages {
		s := &k.contract.Stages[i]
		if f.somewhere(s, func(r Reached) bool { return f.begun(r) && f.isUnlisted(r) }) {
			f.blindTo(e, s)
		}
		if k.spent() {
			e.fail("%s", tooMuch)
		}
		if e.failed() {
			return
		}
		for j := range k.contract.Stages {
			t := &k.contract.Stages[j]
			if f.maySucceed(s, t) {
				f.blindToWrites(e, s, t)
			}
			if why := f.leak(s, t); why != "" {
				e.fail("%s, but the list leaves out %s, which may run then", why, s.Name)
			}
		}
		if f.somewhere(s, func(r Reached) bool { return f.listed[r] }) {
			k.disjoint(e, s.Name+" writes, goal", k.touch(s, runB).writes, goal, nil)
		}
	}
}

// blindTo takes reasons why a stage knows nothing of the origin.
func (f flow) blindTo(e *evidence, s *ir.Stage) {
	f.disjoint(e, s.Name+" sees, origin", append(f.knows(s), f.keysKnown(s)...), sides(f.claim.From, false), nil)
}

// blindToWrites takes reasons why a stage knows nothing that another run writes.
func (f flow) blindToWrites(e *evidence, s, t *ir.Stage) {
	f.disjoint(e, s.Name+" sees, "+t.Name+" writes", f.knows(s), f.touch(t, runB).writes, nil)
}

// knows is all that a run may pass on: what it sees, what it takes from, and what its
// arguments tell.
func (k *checker) knows(s *ir.Stage) []side {
	t := k.touch(s, runA)
	return append(append(append([]side{}, t.sees...), t.takes...), k.toldTo(s)...)
}

// toldTo is what a run's arguments tell.
func (k *checker) toldTo(s *ir.Stage) []side {
	var out []side
	for i := range s.Params {
		tells := k.told(&s.Params[i])
		if x := s.Params[i].Where; x != nil { // it holds
			tells = append(tells, readPatterns(*x)...)
		}
		for _, p := range k.ownAll(tells, runA) {
			out = append(out, side{include: p})
		}
	}
	return out
}

func (f flow) runs(s *ir.Stage, role string) bool {
	return contains(f.roles, role) && (!f.claim.Memory || len(s.By) == 0 || contains(s.By, role))
}

func (f flow) isUnlisted(r Reached) bool { return !f.listed[r] }

// begun reports whether an instance can get to the phase in which something runs.
func (f flow) begun(r Reached) bool { return f.after(f.contract.Phases[0].Name)[r.Phase] }

// somewhere reports whether a stage in some phase, as run by some role, is as is says.
func (f flow) somewhere(s *ir.Stage, is func(Reached) bool) bool {
	for _, p := range s.In {
		for _, role := range f.roles {
			if f.spend(1); f.spent() {
				return false
			}
			if f.runs(s, role) && is(Reached{s.Name, p, role}) {
				return true
			}
		}
	}
	return false
}

// unlistedAfter reports whether s may run, unlisted, after a commit of t.
func (f flow) unlistedAfter(s, t *ir.Stage, phase string) bool {
	return f.somewhere(s, func(x Reached) bool { return f.isUnlisted(x) && f.mayFollow(t, phase, x.Phase) })
}

// maySucceed reports whether s may run, unlisted, after a commit of t as listed.
func (f flow) maySucceed(s, t *ir.Stage) bool {
	return f.somewhere(t, func(r Reached) bool { return f.listed[r] && f.unlistedAfter(s, t, r.Phase) })
}

// leak says how t tells s, where s is not listed, other than by writing.
func (f flow) leak(s, t *ir.Stage) (why string) {
	f.somewhere(t, func(r Reached) bool {
		if !f.listed[r] {
			return false
		}
		if f.chooses(t, r.Phase) && f.unlistedAfter(s, t, r.Phase) {
			why = fmt.Sprintf("%s chooses the phase that follows %s", t.Name, r.Phase)
		}
		if f.claim.Memory && f.somewhere(s, func(x Reached) bool {
			return x.Role == r.Role && f.isUnlisted(x) && f.after(r.Phase)[x.Phase]
		}) {
			why = fmt.Sprintf("role %q remembers what it saw in phase %s", r.Role, r.Phase)
		}
		return why != ""
	})
	return why
}

// chooses reports whether a stage may tell something by the phase it moves to.
func (f flow) chooses(t *ir.Stage, phase string) bool {
	return !t.DisclosesPhase && len(f.movesFrom(t, phase)) > 1
}

// after is a phase with all that arrows lead to from it.
func (f flow) after(phase string) map[string]bool {
	if f.later[phase] == nil {
		reached := map[string]bool{phase: true}
		for queue := []string{phase}; len(queue) > 0; queue = queue[1:] {
			if f.spend(reasonSteps); f.spent() {
				break
			}
			for _, a := range f.phase(queue[0]).Arrows {
				if !reached[a.To] {
					reached[a.To] = true
					queue = append(queue, a.To)
				}
			}
		}
		f.later[phase] = reached
	}
	return f.later[phase]
}

// mayFollow reports whether an instance may be in a phase after a commit of a stage.
func (f flow) mayFollow(t *ir.Stage, from, phase string) bool {
	for _, to := range f.movesFrom(t, from) {
		if to == "" {
			to = from
		}
		if f.after(to)[phase] {
			return true
		}
	}
	return false
}
