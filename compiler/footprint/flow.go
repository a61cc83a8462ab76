package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
)

// What a stage may see or copy, and what its arguments tell it, it may hand on: its
// actor can put anything it knows into anything it may change, and choose a phase by it.
// So information at an origin gets to the stages that see the origin; to those that see
// what these write; and, if one of these may choose between phases and does not say that
// it tells, to all that may run afterwards. With memory it also gets to all stages that a
// role runs after one that knows. Nothing gets back in time: a stage picks something up
// only in a phase that can be reached from where it was left. A flow is found breadth
// first, hence by the fewest steps. What a commit discloses by being accepted is not
// counted here; Notes lists it.

// A flow is the search for where information of an origin gets.
type flow struct {
	model  *Model
	memory bool
	roles  []string // with memory, all of them; "" is one that nobody names

	known  map[knower]*reached
	order  []*reached
	picked map[[2]string]region.Condition
	phases *phaseOrder
}

// A knower is a stage in a phase, with memory as a role runs it.
type knower struct {
	stage string
	phase string
	role  string
}

// A reached is a knower that information gets to, and how.
type reached struct {
	knower
	at    *ir.Stage
	via   *reached // nil at the origin
	by    Carrier  // how via hands it on
	sees  region.Word
	tells []string
}

func (m *Model) newFlow(from region.Region, memory bool) *flow {
	f := &flow{
		model: m, memory: memory, roles: []string{""},
		known: map[knower]*reached{}, picked: map[[2]string]region.Condition{}, phases: newPhaseOrder(m.Contract.Phases),
	}
	for i := range m.Contract.Stages {
		if memory {
			for _, r := range m.Contract.Stages[i].By {
				if !slices.Contains(f.roles, r) {
					f.roles = append(f.roles, r)
				}
			}
		}
	}
	started := f.phases.after(m.Contract.Phases[0].Name)
	for i := range m.Contract.Stages {
		s := &m.Contract.Stages[i]
		if c := m.meetsSeen(s, region.Region(from), region.Plain); !c.Never() {
			f.reach(s, started, reached{sees: c.Any[0].Witness})
		}
	}
	return f
}

// run hands on all that is known until nothing new gets to know it, or visit says so.
func (f *flow) run(visit func(*reached) (stop bool)) {
	for i := 0; i < len(f.order); i++ {
		if visit(f.order[i]) {
			return
		}
		f.handOn(f.order[i])
	}
}

// reach adds a stage in every phase of a set, as every role that how allows.
func (f *flow) reach(s *ir.Stage, phases members, how reached) {
	f.eachUnknown(s, phases, func(k knower) {
		if how.by != ByMemory || k.role == how.tells[0] {
			r := how
			r.knower, r.at = k, s
			f.known[k] = &r
			f.order = append(f.order, &r)
		}
	})
}

// eachUnknown visits a stage in the phases of a set, as every role that runs it, where it
// is not known to know.
func (f *flow) eachUnknown(s *ir.Stage, phases members, visit func(knower)) {
	for _, phase := range s.In {
		if !f.phases.has(phases, phase) {
			continue
		}
		for _, role := range f.roles {
			if k := (knower{s.Name, phase, role}); f.runs(s, role) && f.known[k] == nil {
				visit(k)
			}
		}
	}
}

func (f *flow) runs(s *ir.Stage, role string) bool {
	return !f.memory || len(s.By) == 0 || slices.Contains(s.By, role)
}

func (f *flow) handOn(r *reached) {
	stages := f.model.Contract.Stages
	to := moves(r.at, f.model.Contract.Phase(r.phase))
	committed := f.phases.afterAny(r.phase, to)
	chooses := len(to) > 1 && !r.at.DisclosesPhase
	for i := range stages {
		s := &stages[i]
		if path, ok := f.picksUp(s, r.at, committed); ok {
			f.reach(s, committed, reached{via: r, by: ByWriting, sees: path})
		}
		if chooses {
			f.reach(s, committed, reached{via: r, by: ByPhase, tells: to})
		}
		if f.memory {
			f.reach(s, f.phases.after(r.phase), reached{via: r, by: ByMemory, tells: []string{r.role}})
		}
	}
}

// picksUp tells where a stage sees what another writes, for some of their parameters, if
// it is not known to know in all of some phases.
func (f *flow) picksUp(s, writer *ir.Stage, phases members) (path region.Word, ok bool) {
	isOpen := false
	f.eachUnknown(s, phases, func(knower) { isOpen = true })
	if !isOpen || len(writer.Write)+len(writer.Blind) == 0 {
		return nil, false
	}
	pair := [2]string{s.Name, writer.Name}
	c, known := f.picked[pair]
	if !known {
		c = f.model.meetsSeen(s, f.model.Effect(writer, OwnerB).Write, region.Interior)
		f.picked[pair] = c
	}
	if c.Never() {
		return nil, false
	}
	return c.Any[0].Witness, true
}

// meetsSeen tells where a stage sees, is told or copies some of a region. What keys tell of
// a region counts where the region is plain: who writes the key of an element writes all
// of the element, and so what the view shows of it.
func (m *Model) meetsSeen(s *ir.Stage, what region.Region, mode region.Mode) region.Condition {
	o := region.ConditionOptions{Options: region.Options{Shape: m.Shape}}
	knows := m.knows(s)
	if mode == region.Plain {
		knows = region.Union(knows, m.KeysKnown(s))
	}
	known := region.Conditions(knows, what, region.Plain, mode, o)
	shown := region.Conditions(m.Effect(s, OwnerA).Read, what, region.Shown, region.Interior, o)
	return region.Condition{Any: append(known.Any, shown.Any...), Inexact: known.Inexact || shown.Inexact}
}

// knows is all that a run may pass on: what it sees, what it copies, and what its
// arguments tell it. Its parameters are A's.
func (m *Model) knows(s *ir.Stage) region.Region {
	more := region.Union(s.Source, m.Told(s)).Own(OwnerA).Rename(func(p string) string { return OwnedParam(OwnerA, p) })
	return region.Union(m.Effect(s, OwnerA).Read, more)
}

func (m *Model) decideNoFlow(claim ir.Claim) Result {
	var result Result = Proved{}
	goal := region.Compile(claim.To)
	m.newFlow(claim.From, claim.Memory).run(func(r *reached) bool {
		write := region.Union(r.at.Write, r.at.Blind)
		if len(write) == 0 || len(moves(r.at, m.Contract.Phase(r.phase))) == 0 {
			return false
		}
		answer := m.overlap(region.Compile(write), goal, region.Interior, region.Plain)
		switch answer.Verdict {
		case region.Yes:
			result = Refuted{Chain: r.chain(answer.Witness)}
		case region.Unknown:
			result = Unknown{Why: answer.Why}
		}
		return !isProved(result)
	})
	return result
}

func (m *Model) overlap(a, b *region.Set, modeA, modeB region.Mode) region.Answer {
	return region.Overlap(a, b, modeA, modeB, region.Options{Shape: m.Shape})
}

// chain unwinds how a stage was reached, first hop first; last is where it writes
// into the goal.
func (r *reached) chain(last region.Word) []Hop {
	var out []Hop
	hop := Hop{By: ByWriting, Writes: last}
	for ; r != nil; r = r.via {
		hop.Stage, hop.Phase, hop.Sees = r.stage, r.phase, r.sees
		out = append([]Hop{hop}, out...)
		hop = Hop{By: r.by, Tells: r.tells}
		if r.by == ByWriting {
			hop.Writes = r.sees
		}
	}
	return out
}
