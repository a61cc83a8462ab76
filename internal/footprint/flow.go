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

func (m *Model) decideNoFlow(claim ir.Claim) Result {
	var result Result = Proved{}
	goal := region.Compile(m.goal(claim))
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

// goal is what a commit of a stage that knows of the origin must not touch: the second
// region of a claim, and what decides about the shape of what is in it.
func (m *Model) goal(claim ir.Claim) region.Region {
	return region.Union(claim.To, m.deciding(claim.To))
}

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

// A Hop is one step of a flow: what Stage, in Phase, gets to know and how it hands it on.
type Hop struct {
	Stage  string
	Phase  string
	Sees   region.Word // what it sees or takes from; nil where it was told otherwise
	By     Carrier     // how the next hop, or the goal, picks it up
	Writes region.Word // where, if by writing
	Tells  []string    // the phases it may choose from, or the role that remembers
}

// A Carrier is a way in which what a stage knows gets further.
type Carrier string

// The carriers.
const (
	ByWriting Carrier = "write" // it writes what the next one sees
	ByPhase   Carrier = "phase" // it chooses the phase in which the next one runs
	ByMemory  Carrier = "role"  // the role that runs it runs the next one too
)

// MayCarry reports to which stages, by number, the one of a number may carry something. It
// goes by include patterns alone: what it denies is so, what it does not Carries decides.
func (m *Model) MayCarry(from int) func(to int) bool {
	x := m.reachOf()
	return x.find(&x.knowers, x.written(&m.Contract.Stages[from]).what).has
}

// Carries finds a path that a run of one stage may write and a run of another sees, is
// told or takes from, for some values of their parameters; ok is false if there is none.
func (m *Model) Carries(from, to *ir.Stage) (path region.Word, ok bool) {
	x := m.reachOf()
	c := m.meetsSeen(x.stages[to.Name], x.written(from), region.Interior)
	if c.Never() {
		return nil, false
	}
	return c.Any[0].Witness, true
}

// A phaseOrder says which phases can follow which, along any arrows.
type phaseOrder struct {
	phases  []ir.Phase
	numbers map[string]int
	later   []members // by phase, once asked for
}

func newPhaseOrder(phases []ir.Phase) *phaseOrder {
	o := &phaseOrder{phases: phases, numbers: map[string]int{}, later: make([]members, len(phases))}
	for i, p := range phases {
		o.numbers[p.Name] = i
	}
	return o
}

// after is the phases that an instance may be in once it was in one of them, that one
// included. O(phases and arrows) the first time.
func (o *phaseOrder) after(phase string) members {
	start := o.numbers[phase]
	if o.later[start] == nil {
		reached := newMembers(len(o.phases))
		reached.add(start)
		for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
			for _, a := range o.phases[queue[0]].Arrows {
				if to := o.numbers[a.To]; !reached.has(to) {
					reached.add(to)
					queue = append(queue, to)
				}
			}
		}
		o.later[start] = reached
	}
	return o.later[start]
}

// afterAny is the phases that follow a commit which moves to one of some, or stays.
func (o *phaseOrder) afterAny(phase string, to []string) members {
	out := newMembers(len(o.phases))
	for _, p := range to {
		if p == "" {
			p = phase
		}
		out.join(o.after(p))
	}
	return out
}

// has reports whether a phase is one of some.
func (o *phaseOrder) has(phases members, name string) bool { return phases.has(o.numbers[name]) }

// A claim that no stage reads, writes or copies something looks at the clauses of each
// stage that an index finds, apart from those that it excepts.

func (m *Model) decideNoStage(claim ir.Claim) Result {
	target, x := region.Compile(claim.From), m.reachOf()
	excepted := x.excepting(claim.Except)
	var result Result = Proved{}
	x.find(x.verbs[claim.Verb], claim.From).each(func(i int) {
		if s := &m.Contract.Stages[i]; isProved(result) && !excepted(s) {
			result = m.byParameter(s, m.decideAuthority(s.Name, x.authorities(i), claim.Verb, target), target)
		}
	})
	return result
}

// byParameter names the parameters as the clause of a refutation where it is by the
// value of one that a stage sees a place, and not by what its read clause says.
func (m *Model) byParameter(s *ir.Stage, result Result, target *region.Set) Result {
	r, refuted := result.(Refuted)
	if !refuted || r.Place == nil || r.Place.Clause != "read" {
		return result
	}
	var said region.Region
	for _, g := range s.Read {
		if !slices.ContainsFunc(s.Params, func(p ir.Param) bool {
			return p.Kind == ir.DependentParam && len(g.Include) == 1 && g.Include[0].String() == p.Of.String()
		}) {
			said = append(said, g)
		}
	}
	for _, a := range m.authorities(&ir.Stage{Name: s.Name, Read: said}) {
		if a.clause == "read" && m.overlap(region.Compile(a.region), target, a.mode, a.against).Verdict != region.No {
			return result
		}
	}
	at := *r.Place
	at.Clause = "parameters"
	return Refuted{Place: &at}
}

// decideAuthority answers whether a stage may not do what the verb says to a target.
func (m *Model) decideAuthority(stage string, all []authority, verb string, target *region.Set) Result {
	for _, a := range all {
		if a.verb != verb {
			continue
		}
		switch answer := m.overlap(a.set, target, a.mode, a.against); answer.Verdict {
		case region.Yes:
			return Refuted{Place: &Place{Stage: stage, Clause: a.clause, Path: answer.Witness}}
		case region.Unknown:
			return Unknown{Why: answer.Why}
		}
	}
	return Proved{}
}

// A Place is a stage's authority over a path.
type Place struct {
	Stage  string
	Clause string // read, write or source
	Path   region.Word
}

// An authority is one clause of a stage, by the verb of claims about it, with the mode
// in which it counts: reading goes by what is seen, writing and taking by what a whole
// operation may cover.
type authority struct {
	verb, clause string
	region       region.Region
	mode         region.Mode
	against      region.Mode // in which what the claim is about counts
	set          *region.Set // once compiled
}

func (m *Model) authorities(s *ir.Stage) []authority {
	return []authority{
		{"reads", "read", m.showing(s.Read), region.Plain, region.Plain, nil},
		{"reads", "read", m.showing(s.Read), region.Shown, region.Interior, nil},
		{"reads", "parameters", m.Told(s), region.Plain, region.Plain, nil},
		{"reads", "keys", m.KeysKnown(s), region.Plain, region.Plain, nil},
		{"writes", "write", region.Union(s.Write, s.Blind), region.Interior, region.Plain, nil},
		{"copies", "source", s.Source, region.Interior, region.Plain, nil},
	}
}

// A reachIndex finds the stages that a claim about authority or flow may be about, without
// asking each: what their clauses cover is filed by include patterns, as an Index does.
// It finds too much where an exception, a type or a key says otherwise, never too little.
type reachIndex struct {
	model   *Model
	letters alphabet
	verbs   map[string]*trie // by verb, the stages by what they may do it to
	knowers trie             // the stages by what they know
	stages  map[string]int   // by name

	clauses [][]authority // by stage, once asked for
	known   []*knowledge  // likewise
	sets    map[string]*region.Set
	effects map[string]write // by name of a stage, what others may see of it, once asked for
}

// knowledge is what a stage sees, copies or is told, and apart from that what the keys of
// its view tell. Its parameters are A's.
type knowledge struct {
	all, keys, read        region.Region
	allSet, keySet, readIn *region.Set
}

// A write is what a stage may change. Its parameters are B's.
type write struct {
	what region.Region
	set  *region.Set
}

// reachOf is the index of the contract, which must be complete.
func (m *Model) reachOf() *reachIndex {
	if m.reach != nil {
		return m.reach
	}
	n := len(m.Contract.Stages)
	x := &reachIndex{
		model: m, verbs: map[string]*trie{}, stages: make(map[string]int, n),
		clauses: make([][]authority, n), known: make([]*knowledge, n), sets: map[string]*region.Set{}, effects: map[string]write{},
	}
	m.reach = x
	x.letters.numbers = map[region.Segment]symbol{}
	x.knowers.alphabet = &x.letters
	for i := range m.Contract.Stages {
		x.stages[m.Contract.Stages[i].Name] = i
		for _, a := range x.authorities(i) {
			t := x.verbs[a.verb]
			if t == nil {
				t = &trie{alphabet: &x.letters}
				x.verbs[a.verb] = t
			}
			x.file(t, a.region, i)
		}
		k := x.knows(i)
		x.file(&x.knowers, k.all, i)
		x.file(&x.knowers, k.keys, i)
		x.file(&x.knowers, k.read, i)
		x.letters.forget()
	}
	return x
}

func (x *reachIndex) file(t *trie, r region.Region, i int) {
	for _, p := range Includes(r) {
		t.file(x.letters.path(p), i)
	}
}

// find lists the stages filed under what may meet a region.
func (x *reachIndex) find(t *trie, r region.Region) members {
	found := newMembers(len(x.known))
	if t == nil {
		return found
	}
	for _, p := range Includes(r) {
		t.find(x.letters.path(p), found)
	}
	x.letters.forget()
	return found
}

// authorities are those of the i-th stage that are not empty, with their sets.
func (x *reachIndex) authorities(i int) []authority {
	if x.clauses[i] == nil {
		all := slices.DeleteFunc(x.model.authorities(&x.model.Contract.Stages[i]), func(a authority) bool { return len(a.region) == 0 })
		for j := range all {
			all[j].set = x.compiled(all[j].region)
		}
		x.clauses[i] = all
	}
	return x.clauses[i]
}

// compiled is the set of a region, one for all regions that read alike.
func (x *reachIndex) compiled(r region.Region) *region.Set {
	text := regionText(r)
	set, known := x.sets[text]
	if !known {
		set = region.Compile(r)
		x.sets[text] = set
	}
	return set
}

// knows is what the i-th stage knows.
func (x *reachIndex) knows(i int) *knowledge {
	if x.known[i] == nil {
		s := &x.model.Contract.Stages[i]
		k := &knowledge{all: x.model.knows(s), keys: x.model.KeysKnown(s), read: x.model.Effect(s, OwnerA).Read}
		k.allSet, k.keySet, k.readIn = x.compiled(k.all), x.compiled(k.keys), x.compiled(k.read)
		x.known[i] = k
	}
	return x.known[i]
}

// written is what a stage may change.
func (x *reachIndex) written(s *ir.Stage) write {
	w, known := x.effects[s.Name]
	if !known {
		w.what = x.model.Effect(s, OwnerB).Write
		w.set = region.Compile(w.what)
		x.effects[s.Name] = w
	}
	return w
}

// mayMeet reports whether one search over all patterns at once leaves it open that a stage
// sees, is told or copies some of a region. It says no more where the region has
// parameters, whose values may be equal to the stage's.
func (x *reachIndex) mayMeet(k *knowledge, what *region.Set, r region.Region, mode region.Mode) bool {
	if len(r.Params()) > 0 {
		return true
	}
	apart := func(s *region.Set, in region.Mode, m region.Mode) bool {
		return x.model.overlap(s, what, in, m).Verdict == region.No
	}
	return !apart(k.allSet, region.Plain, mode) || !apart(k.readIn, region.Shown, region.Interior) ||
		mode == region.Plain && !apart(k.keySet, region.Plain, mode)
}

// excepting tells of stages whether they, or one they were delegated from, are named.
func (x *reachIndex) excepting(names []string) func(*ir.Stage) bool {
	named := make(map[string]bool, len(names))
	for _, n := range names {
		named[n] = true
	}
	answers := map[string]bool{}
	var is func(name string) bool
	is = func(name string) bool {
		i, found := x.stages[name]
		if !found || len(named) == 0 {
			return false
		}
		answer, known := answers[name]
		if !known {
			answer = named[name] || is(x.model.Contract.Stages[i].From)
			answers[name] = answer
		}
		return answer
	}
	return func(s *ir.Stage) bool { return is(s.Name) }
}
