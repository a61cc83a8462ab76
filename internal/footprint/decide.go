package footprint

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A Result is the answer to a claim: Proved, Refuted or Unknown, nothing else.
// Unknown counts as refuted for whoever relies on the claim.
type Result interface{ result() }

// Proved says that the claim holds for every state and every patch. Pairs are the
// commutations it rests on, if it is about commuting, but for those of stages that
// touch nothing in common.
//
// Fresh lists the containers of which it is assumed that the host binds no new key
// twice (spec/language.md section 11).
type Proved struct {
	Pairs []Pair
	Fresh []region.Pattern
}

// Refuted says that the claim is false, and shows it. Exactly one of the other
// fields is set.
type Refuted struct {
	Counterexample *Counterexample // of a commutation: a run in which the orders differ
	Place          *Place          // of within and no stage: authority where there should be none
	Excess         *Excess         // of within: what else a stage may do
	Chain          []Hop           // of no flow: from the origin to the goal
	Route          []string        // of before: phases from the initial one to the goal, past the other

	Pair     *Pair     // of a commutation: the two stages with all their conflicts
	Conflict *Conflict // of a commutation: the one that the run shows
	Others   []Pair    // of a commutation: further pairs of the claim that may not commute
	More     int       // of a commutation: pairs that may not either, and were not looked at
}

// Unknown says why there is no answer.
type Unknown struct {
	Why    string
	Path   region.Word // where the stages overlap, if they do
	Pair   *Pair       // of a commutation; its first conflict is what was not decided
	Others []Pair      // further pairs of the claim that may not commute
	More   int         // pairs that may not either, and were not looked at
}

func (Proved) result() {}

func (Refuted) result() {}

func (Unknown) result() {}

// A Pair is two stages and all that stands between them and commuting. When is what a
// claim about them assumes; nil if nothing.
type Pair struct {
	A, B      *ir.Stage
	Conflicts []Conflict
	When      *ir.Hypothesis
}

// A Counterexample is a run of two proposals in both orders that ended differently. It
// has been replayed in the runtime.
type Counterexample struct {
	State  string   `json:"state"` // JSON, as a file
	Phase  string   `json:"phase"`
	A      Proposal `json:"a"`
	B      Proposal `json:"b"`
	Differ string   `json:"differ"` // state, verdict or view
	Detail string   `json:"detail"` // in words, e.g. "A is accepted first, refused after B"

	// Place is the JSON Pointer of where states or views differ, which Detail has as
	// PlaceMark until it is shown; nil if they differ as a whole, or nowhere.
	Place *string `json:"-"`
}

// PlaceMark stands in a detail for the place, which may have to be hidden.
const PlaceMark = "<place>"

// A Proposal is one side of a trial.
type Proposal struct {
	Stage string            `json:"stage"`
	Args  map[string]string `json:"args,omitempty"`
	Role  string            `json:"role,omitempty"`
	Actor string            `json:"actor,omitempty"`
	Now   time.Time         `json:"now,omitzero"` // the clock that it is decided by
	Patch string            `json:"patch"`        // JSON
	Next  string            `json:"next,omitempty"`
}

// A Replayer looks for a run that shows a conflict, and replays it in the real
// runtime. The arguments of a run are ones that the pair admits. It returns nil if it
// found none within its budget.
type Replayer func(c *ir.Contract, p Pair, conflict Conflict) (*Counterexample, error)

// Decide answers a claim of the contract. A commutation is refuted only by a run
// that replay has found; without replay, or where it finds none, the answer is
// Unknown. Once the searches have used up their steps all that is neither proved nor shown
// by a run is Unknown.
func (m *Model) Decide(claim ir.Claim, replay Replayer) Result {
	result := m.decide(claim, replay)
	if r, refuted := result.(Refuted); refuted && r.Counterexample == nil && m.Spent() {
		return spent()
	}
	return result
}

func spent() Unknown {
	return Unknown{Why: fmt.Sprintf("the searches about the regions of the contract took more than %d steps", MaxSteps)}
}

func (m *Model) decide(claim ir.Claim, replay Replayer) Result {
	switch claim.Kind {
	case ir.Commutes, ir.Parallel:
		return m.decideCommute(claim.Stages, claim.When, replay)
	case ir.AllCommute:
		return m.decideCommute(m.plainStages(claim.Phases[0]), nil, replay)
	case ir.WithinClaim:
		return m.decideWithin(claim.Stages[0], claim.Stages[1])
	case ir.NoStage:
		return m.decideNoStage(claim)
	case ir.NoFlow:
		return m.decideNoFlow(claim)
	case ir.PhaseBefore:
		return m.decideBefore(claim.Phases[0], claim.Phases[1])
	}
	return Unknown{Why: "this version does not know the claim " + string(claim.Kind)}
}

// plainStages lists the stages of a phase that "all commute" speaks of: those
// that neither move the phase nor do a part of what another one does.
func (m *Model) plainStages(phase string) []string {
	var out []string
	for i := range m.Contract.Stages {
		s := &m.Contract.Stages[i]
		if m.Contract.IsPlain(s, phase) {
			out = append(out, s.Name)
		}
	}
	return out
}

// pairs visits the pairs of distinct entries of a list of stages. "A commutes with
// A" is the pair of two instances of A.
func (m *Model) pairs(names []string) iter.Seq[Pair] {
	return func(yield func(Pair) bool) {
		at := m.indices(names)
		for n, i := range at {
			for _, j := range at[n+1:] {
				if !yield(Pair{A: &m.Contract.Stages[i], B: &m.Contract.Stages[j]}) {
					return
				}
			}
		}
	}
}

// Limits of a claim that stages commute.
const (
	// MaxCompared is how many pairs, of those that patterns alone do not keep apart, are
	// compared for one claim.
	MaxCompared = 1 << 16
	// maxClashing is how many pairs that may not commute are looked for.
	maxClashing = 16
)

func (m *Model) decideCommute(names []string, when *ir.Hypothesis, replay Replayer) Result {
	var clashing, pairs []Pair
	var fresh []region.Pattern
	x, compared := m.Matrix(), 0
	at := m.indices(names)
	for n, i := range at {
		for _, j := range at[n+1:] {
			if !x.Flagged(i, j) {
				continue
			}
			if compared++; compared > MaxCompared {
				return Unknown{Why: fmt.Sprintf("more than %d pairs of its stages touch what the other touches, and would have to be compared", MaxCompared)}
			}
			p := Pair{A: x.Stage(i), B: x.Stage(j), When: when, Conflicts: x.Conflicts(i, j)}
			left, assumed := p.assume(when)
			for _, of := range assumed {
				fresh = appendPattern(fresh, of)
			}
			pairs = append(pairs, p)
			if p.Conflicts = left; len(left) == 0 {
				continue
			}
			if clashing = append(clashing, p); len(clashing) == maxClashing {
				return m.refuteOne(clashing, m.flagged(at)-compared, replay)
			}
		}
	}
	if len(clashing) == 0 {
		return Proved{Pairs: pairs, Fresh: fresh}
	}
	return m.refuteOne(clashing, 0, replay)
}

// indices are the numbers of stages in the matrix.
func (m *Model) indices(names []string) []int {
	if len(m.numbers) != len(m.Contract.Stages) {
		m.numbers = make(map[string]int, len(m.Contract.Stages))
		for i := range m.Contract.Stages {
			m.numbers[m.Contract.Stages[i].Name] = i
		}
	}
	var out []int
	for _, name := range names {
		out = append(out, m.numbers[name])
	}
	return out
}

// flagged counts the pairs of some stages that patterns alone do not keep apart.
func (m *Model) flagged(at []int) int {
	n := 0
	for k, i := range at {
		for _, j := range at[k+1:] {
			if m.Matrix().Flagged(i, j) {
				n++
			}
		}
	}
	return n
}

// refuteOne shows that one of some clashing pairs does not commute, or says why the
// first of them is not known to; the others are listed with it. more is how many
// further pairs were not looked at.
func (m *Model) refuteOne(clashing []Pair, more int, replay Replayer) Result {
	var unknown *Unknown
	for i, p := range clashing {
		others := slices.Delete(slices.Clone(clashing), i, i+1)
		switch r := m.refute(p, replay).(type) {
		case Refuted:
			r.Others, r.More = others, more
			return r
		case Unknown:
			if unknown == nil {
				r.Others, r.More = others, more
				unknown = &r
			}
		}
	}
	return *unknown
}

// refute looks for a run that shows one of a pair's conflicts.
func (m *Model) refute(p Pair, replay Replayer) Result {
	unknown := Unknown{Why: p.undecided(), Path: p.Conflicts[0].Path, Pair: &p}
	if replay == nil {
		unknown.Why = "the overlap was not replayed"
		return unknown
	}
	for _, c := range p.Conflicts {
		example, err := replay(m.Contract, p, c)
		if err != nil {
			unknown.Why = err.Error()
			return unknown
		}
		if example != nil {
			return Refuted{Counterexample: example, Pair: &p, Conflict: &c}
		}
	}
	return unknown
}

// undecided says what stands where no run shows a conflict.
func (p Pair) undecided() string {
	first := p.Conflicts[0]
	if first.Kind == PhaseConflict {
		return fmt.Sprintf("%s moves the phase, no valid example found", p.Name(first.A))
	}
	if first.IsUnsearched() {
		return Unsearched
	}
	return fmt.Sprintf("overlap at %s, no valid example found", PathText(first.Path))
}

// decideBefore answers whether every way from the initial phase into q passes p:
// whether p dominates q. It does iff q cannot be reached once p is taken out.
func (m *Model) decideBefore(p, q string) Result {
	start := m.Contract.Phases[0].Name
	if start == p || p == q {
		return Proved{}
	}
	from := map[string]string{start: ""}
	queue := []string{start}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if at == q {
			return Refuted{Route: route(from, q)}
		}
		for _, a := range m.Contract.Phase(at).Arrows {
			if _, known := from[a.To]; !known && a.To != p {
				from[a.To] = at
				queue = append(queue, a.To)
			}
		}
	}
	return Proved{}
}

func route(from map[string]string, to string) []string {
	var out []string
	for at := to; at != ""; at = from[at] {
		out = append(out, at)
	}
	slices.Reverse(out)
	return out
}

// Vacuous says why a claim that is proved says nothing: there is no stage, path, run or
// phase on which it could fail. "" if there is one.
func (m *Model) Vacuous(claim ir.Claim) string {
	switch claim.Kind {
	case ir.Commutes, ir.Parallel:
		return m.vacuousPairs(m.pairs(claim.Stages), claim.When)
	case ir.AllCommute:
		if len(m.plainStages(claim.Phases[0])) < 2 {
			return "fewer than two stages of phase " + claim.Phases[0] + " stay in it"
		}
		return m.vacuousPairs(m.pairs(m.plainStages(claim.Phases[0])), nil)
	case ir.WithinClaim:
		return m.vacuousWithin(claim.Stages[0], claim.Stages[1])
	case ir.NoStage:
		return m.vacuousNoStage(claim)
	case ir.NoFlow:
		return m.vacuousNoFlow(claim)
	case ir.PhaseBefore:
		return m.vacuousBefore(claim.Phases[0], claim.Phases[1])
	}
	return ""
}

// vacuousPairs says why no pair of some can show that the order matters.
func (m *Model) vacuousPairs(pairs iter.Seq[Pair], when *ir.Hypothesis) string {
	why := "it is about no two stages"
	for p := range pairs {
		writes := func(s *ir.Stage) bool { return len(s.Write)+len(s.Blind) > 0 }
		switch {
		case !sharePhase(p.A, p.B):
			why = p.A.Name + " and " + p.B.Name + " never meet in a phase"
		case !when.Holds(p.classesOf(nil).mayDiffer):
			why = "parameters that it says differ are taken from one place"
		case !writes(p.A) && !writes(p.B):
			why = "neither " + p.A.Name + " nor " + p.B.Name + " writes anything"
		default:
			return ""
		}
	}
	return why
}

func (m *Model) vacuousWithin(a, b string) string {
	if a == b {
		return a + " is compared with itself"
	}
	for _, s := range m.stagesOf(a) {
		if len(turns(s, m.Contract)) > 0 && len(m.knows(s))+len(s.Write)+len(s.Blind)+len(s.Next) > 0 {
			return ""
		}
	}
	return a + " may do nothing at all"
}

func (m *Model) vacuousNoStage(claim ir.Claim) string {
	if m.isNowhere(claim.From) {
		return "no state has anything at that region"
	}
	x := m.reachOf()
	excepted := x.excepting(claim.Except)
	for i := range m.Contract.Stages {
		if excepted(&m.Contract.Stages[i]) {
			continue
		}
		for _, a := range x.authorities(i) {
			if a.verb == claim.Verb {
				return ""
			}
		}
	}
	if len(claim.Except) > 0 {
		return "no other stage " + claim.Verb + " anything"
	}
	return "no stage " + claim.Verb + " anything"
}

func (m *Model) vacuousNoFlow(claim ir.Claim) string {
	x, from := m.reachOf(), write{claim.From, region.Compile(claim.From)}
	knows := func(s *ir.Stage) bool { return !m.meetsSeen(x.stages[s.Name], from, region.Plain).Never() }
	writes := func(s *ir.Stage) bool {
		write := region.Union(s.Write, s.Blind)
		return len(write) > 0 && m.overlap(region.Compile(write), region.Compile(m.goal(claim)), region.Interior, region.Plain).Verdict != region.No
	}
	switch {
	case m.isNowhere(claim.From):
		return "no state has anything at the first region"
	case m.isNowhere(claim.To):
		return "no state has anything at the second region"
	case !m.someStage(knows):
		return "no stage knows anything of the first region"
	case !m.someStage(writes):
		return "no stage writes into the second region"
	}
	return ""
}

func (m *Model) someStage(is func(*ir.Stage) bool) bool {
	return slices.ContainsFunc(m.Contract.Stages, func(s ir.Stage) bool { return is(&s) })
}

// isNowhere reports whether no state of the contract's type has a path of a region.
func (m *Model) isNowhere(r region.Region) bool {
	all := region.Region{{Include: []region.Pattern{{}}}}
	return len(r) == 0 || m.overlap(region.Compile(r), region.Compile(all), region.Plain, region.Plain).Verdict == region.No
}

func (m *Model) vacuousBefore(p, q string) string {
	order := newPhaseOrder(m.Contract.Phases)
	switch start := m.Contract.Phases[0].Name; {
	case p == q:
		return "it names one phase twice"
	case p == start:
		return p + " is the first phase: nothing comes before it"
	case !order.has(order.after(start), q):
		return "phase " + q + " is never reached"
	}
	return ""
}

// Certificate gives the certificate of a contract all of whose claims are proved, as
// internal/certificate checks it.
func (m *Model) Certificate() []byte {
	return certificate.Issue(m.Contract, func(a, b *ir.Stage) ([]certificate.Term, bool) {
		var unless []certificate.Term
		for _, t := range Weakest(m.conflictsOf(Pair{A: a, B: b})) {
			term, ok := certifiable(t)
			if !ok {
				return nil, false
			}
			unless = append(unless, term)
		}
		return unless, true
	})
}

// certifiable writes a condition as certificates do: equalities of parameters only,
// and at least one.
func certifiable(t region.Term) (certificate.Term, bool) {
	var out certificate.Term
	for _, e := range t.All {
		if e.Literal || e.Not {
			return nil, false
		}
		out = append(out, certificate.Equality{e.Left, e.Right})
	}
	return out, len(out) > 0
}
