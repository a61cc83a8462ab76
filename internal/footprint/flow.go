package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
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

	pickers map[string]members // by writer, the stages that may see what it writes
	told    map[string]bool    // phases, with memory a role and a phase, whose stages all know
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
		pickers: map[string]members{}, told: map[string]bool{},
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
	x, origin := m.reachOf(), write{from, region.Compile(from)}
	x.find(&x.knowers, from).each(func(i int) {
		if c := m.meetsSeen(i, origin, region.Plain); !c.Never() {
			f.reach(&m.Contract.Stages[i], started, reached{sees: c.Any[0].Witness})
		}
	})
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
	to := f.moves(r)
	committed := f.phases.afterAny(r.phase, to)
	chooses := len(to) > 1 && !r.at.DisclosesPhase && f.first("phases", committed.key())
	remembers := f.memory && f.first("role "+r.role, r.phase)
	each := func(i int) {
		s := &stages[i]
		if path, ok := f.picksUp(i, r.at, committed); ok {
			f.reach(s, committed, reached{via: r, by: ByWriting, sees: path})
		}
		if chooses {
			f.reach(s, committed, reached{via: r, by: ByPhase, tells: to})
		}
		if remembers {
			f.reach(s, f.phases.after(r.phase), reached{via: r, by: ByMemory, tells: []string{r.role}})
		}
	}
	if !chooses && !remembers {
		f.mayPickUp(r.at).each(each)
		return
	}
	for i := range stages {
		each(i)
	}
}

// first reports whether it is asked for the first time whether all stages of some kind
// are told: then they are, and need not be told again.
func (f *flow) first(kind, of string) bool {
	key := kind + " " + of
	defer func() { f.told[key] = true }()
	return !f.told[key]
}

// moves lists the phases that a knower may leave the instance in, "" for its own.
func (f *flow) moves(r *reached) []string {
	return moves(r.at, &f.model.Contract.Phases[f.phases.numbers[r.phase]])
}

// mayPickUp is the stages that may see something of what another writes.
func (f *flow) mayPickUp(writer *ir.Stage) members {
	found, known := f.pickers[writer.Name]
	if !known {
		x := f.model.reachOf()
		found = x.find(&x.knowers, x.written(writer).what)
		f.pickers[writer.Name] = found
	}
	return found
}

// picksUp tells where a stage sees what another writes, for some of their parameters, if
// it is not known to know in all of some phases.
func (f *flow) picksUp(i int, writer *ir.Stage, phases members) (path region.Word, ok bool) {
	s, isOpen := &f.model.Contract.Stages[i], false
	f.eachUnknown(s, phases, func(knower) { isOpen = true })
	if !isOpen || !f.mayPickUp(writer).has(i) {
		return nil, false
	}
	pair := [2]string{s.Name, writer.Name}
	c, known := f.picked[pair]
	if !known {
		c = f.model.meetsSeen(i, f.model.reachOf().written(writer), region.Interior)
		f.picked[pair] = c
	}
	if c.Never() {
		return nil, false
	}
	return c.Any[0].Witness, true
}

// meetsSeen tells where the i-th stage sees, is told or copies some of a region. What keys tell of
// a region counts where the region is plain: who writes the key of an element writes all
// of the element, and so what the view shows of it.
func (m *Model) meetsSeen(i int, what write, mode region.Mode) region.Condition {
	k := m.reachOf().knows(i)
	if !m.reachOf().mayMeet(k, what.set, what.what, mode) {
		return region.Condition{}
	}
	o := region.ConditionOptions{Options: m.Options()}
	knows := k.all
	if mode == region.Plain {
		knows = region.Union(knows, k.keys)
	}
	known := region.Conditions(knows, what.what, region.Plain, mode, o)
	shown := region.Conditions(k.read, what.what, region.Shown, region.Interior, o)
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
	f := m.newFlow(claim.From, claim.Memory)
	apart := map[string]bool{} // stages that do not write into the goal
	f.run(func(r *reached) bool {
		write := region.Union(r.at.Write, r.at.Blind)
		if len(write) == 0 || apart[r.stage] || len(f.moves(r)) == 0 {
			return false
		}
		answer := m.overlap(region.Compile(write), goal, region.Interior, region.Plain)
		switch answer.Verdict {
		case region.Yes:
			result = Refuted{Chain: r.chain(answer.Witness)}
		case region.Unknown:
			result = Unknown{Why: answer.Why}
		case region.No:
			apart[r.stage] = true
		}
		return !isProved(result)
	})
	return result
}

func (m *Model) overlap(a, b *region.Set, modeA, modeB region.Mode) region.Answer {
	return region.Overlap(a, b, modeA, modeB, m.Options())
}

// chain unwinds how a stage was reached, first hop first; last is where it writes
// into the goal.
func (r *reached) chain(last region.Word) []Hop {
	var out []Hop
	hop := Hop{By: ByWriting, Writes: last}
	for ; r != nil; r = r.via {
		hop.Stage, hop.Phase, hop.Sees = r.stage, r.phase, r.sees
		out = append(out, hop)
		hop = Hop{By: r.by, Tells: r.tells}
		if r.by == ByWriting {
			hop.Writes = r.sees
		}
	}
	slices.Reverse(out)
	return out
}
