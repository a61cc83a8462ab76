package footprint

import (
	"maps"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A Note is a way in which a proved claim lets one bit be told each time: Stage is told
// it, or tells it, by What.
type Note struct {
	Kind  NoteKind
	Stage string // "" of a guard on the host's way
	What  string
	Path  region.Word
}

// A NoteKind is the kind of a way to tell one bit.
type NoteKind string

// The kinds of notes.
const (
	GateNote  NoteKind = "gate"  // accepting or refusing tells what the gate What reads
	BlindNote NoteKind = "blind" // a blind write is refused where the member exists
	NewNote   NoteKind = "new"   // the key of a new member, What, is not there
	PhaseNote NoteKind = "phase" // the stage sees Path and may choose between the phases What
	GuardNote NoteKind = "guard" // the host moves along What if a guard holds that reads Path
	RuleNote  NoteKind = "rule"  // the host moves along What if an invariant holds that reads Path
)

// Notes lists the ways in which one bit of what a proved claim is about may be told each
// time: by accepting or refusing where a gate reads what its stage does not see, by a
// blind write, by a key that is free, by a choice of phase that is disclosed, and by what
// the host's moves are judged by. Of a stage within another, those are noted that the other
// is not told. A claim about flows counts with the origin all that stages
// write to which something of it got.
func (m *Model) Notes(claim ir.Claim) []Note {
	switch {
	case claim.Kind == ir.NoFlow:
		return m.flowNotes(claim)
	case claim.Kind == ir.NoStage && claim.Verb == "reads":
		n := notes{model: m}
		from, excepted := goalOf(claim.From, region.Plain), m.reachOf().excepting(claim.Except)
		for i := range m.Contract.Stages {
			if s := &m.Contract.Stages[i]; !excepted(s) {
				n.ofStage(s, from)
			}
		}
		return n.list
	case claim.Kind == ir.WithinClaim:
		return m.withinNotes(claim.Stages[0], claim.Stages[1])
	}
	return nil
}

// withinNotes lists what a stage is told by rules of its own that do not judge the one it
// lies within: whether they hold, where it does not see what they read.
func (m *Model) withinNotes(a, b string) []Note {
	n := notes{model: m}
	everything := goalOf(region.Region{{Include: []region.Pattern{{}}}}, region.Plain)
	for _, s := range m.stagesOf(a) {
		w := within{model: m, inner: s, outer: m.stagesOf(b)}
		unseen := unseenGates(s)
		for i, g := range m.ownGates(s) {
			if unseen[keyOf(g.Gate)] && !w.shares(w.rulesOf(s, func(p string) string { return p })[i]) {
				n.meet(Note{Kind: GateNote, Stage: s.Name, What: GateName(g.Gate)}, g.Reads, everything)
			}
		}
	}
	return n.list
}

// ownGates are the gates of a stage's rules, in the order of rulesOf.
func (m *Model) ownGates(s *ir.Stage) []Gate {
	return slices.DeleteFunc(m.StageGates(s), func(g Gate) bool { return g.Kind == ir.GuardGate })
}

// shares reports whether an outer stage is judged by a rule of the inner one, whichever
// arguments it has of it. If too much work was spent to know, it is not.
func (w *within) shares(r rule) bool {
	has := func(x match, operand string) bool {
		return slices.ContainsFunc(w.rulesOf(x.stage, x.arg), func(o rule) bool {
			return o.clause == r.clause && slices.Contains(o.operands, operand)
		})
	}
	return slices.ContainsFunc(w.outer, func(s *ir.Stage) bool {
		matches := w.matches(s)
		return len(matches) > 0 && !w.model.Spent() && !slices.ContainsFunc(matches, func(x match) bool {
			return slices.ContainsFunc(r.operands, func(operand string) bool { return !has(x, operand) })
		})
	})
}

func (m *Model) flowNotes(claim ir.Claim) []Note {
	n := notes{model: m}
	f := m.newFlow(claim.From, claim.Memory)
	var written region.Region
	knows := map[string]bool{}
	f.run(func(r *reached) bool {
		if knows[r.stage] {
			return false
		}
		knows[r.stage] = true
		written = append(written, r.at.Write...)
		written = append(written, r.at.Blind...)
		return false
	})
	from, passed := goalOf(claim.From, region.Plain), goalOf(written, region.Interior)
	for i := range m.Contract.Stages {
		s := &m.Contract.Stages[i]
		n.ofStage(s, from)
		if !knows[s.Name] {
			n.ofStage(s, passed)
		}
	}
	for _, r := range f.order {
		if to := moves(r.at, m.Contract.Phase(r.phase)); len(to) > 1 && r.at.DisclosesPhase {
			n.add(Note{PhaseNote, r.stage, strings.Join(to, ", "), r.sees})
		}
	}
	n.ofHost(from)
	n.ofHost(passed)
	return n.list
}

type notes struct {
	model *Model
	list  []Note

	known   map[[3]string]bool          // by kind, stage and what
	numbers map[gateKey][]int           // of gates of the state, once asked for
	answers map[stateGoal]region.Answer // likewise, of what gates of the state read
}

// A goal is what notes are about, in the mode in which it counts.
type goal struct {
	set  *region.Set // nil of nothing
	mode region.Mode
}

func goalOf(what region.Region, mode region.Mode) goal {
	if len(what) == 0 {
		return goal{nil, mode}
	}
	return goal{region.Compile(what), mode}
}

// A stateGoal is a gate of the state, by number, and a goal that it may read.
type stateGoal struct {
	gate int
	goal goal
}

// add adds a note unless its like is there.
func (n *notes) add(x Note) {
	if n.known == nil {
		n.known = map[[3]string]bool{}
	}
	if key := x.key(); !n.known[key] {
		n.known[key] = true
		n.list = append(n.list, x)
	}
}

func (x Note) key() [3]string { return [3]string{string(x.Kind), x.Stage, x.What} }

// meet notes that what something reads meets a goal, if it does.
func (n *notes) meet(x Note, reads []region.Pattern, to goal) {
	if !n.known[x.key()] {
		n.answer(x, n.ask(reads, to))
	}
}

func (n *notes) ask(reads []region.Pattern, to goal) region.Answer {
	if len(reads) == 0 || to.set == nil {
		return region.Answer{Verdict: region.No}
	}
	return n.model.overlap(region.Compile(region.Region{{Include: reads}}), to.set, region.Plain, to.mode)
}

func (n *notes) answer(x Note, a region.Answer) {
	if a.Verdict != region.No {
		x.Path = a.Witness
		n.add(x)
	}
}

// ofStage looks at the gates that the stage triggers without seeing all they read, and at
// what else refuses it. What a gate of the state reads is asked once, for all stages.
func (n *notes) ofStage(s *ir.Stage, to goal) {
	unseen := unseenGates(s)
	if len(unseen) > 0 {
		for _, g := range n.model.StageGates(s) {
			if unseen[keyOf(g.Gate)] {
				n.meet(Note{Kind: GateNote, Stage: s.Name, What: GateName(g.Gate)}, anyMembers(g, g.Reads), to)
			}
		}
	}
	for _, i := range n.stateGates(unseen) {
		g := &n.model.gates()[i]
		at := stateGoal{i, to}
		a, known := n.answers[at]
		if !known {
			a = n.ask(anyMembers(*g, g.Reads), to)
			n.answers[at] = a
		}
		n.answer(Note{Kind: GateNote, Stage: s.Name, What: GateName(g.Gate)}, a)
	}
	for _, p := range Includes(s.Blind) {
		p.Shallow = true
		n.meet(Note{Kind: BlindNote, Stage: s.Name, What: p.Source()}, []region.Pattern{p}, to)
	}
	for _, p := range s.Params {
		if p.Kind == ir.NewParam {
			n.meet(Note{Kind: NewNote, Stage: s.Name, What: ParamText(p)}, n.model.told(p), to)
		}
	}
}

// stateGates lists in order the numbers of the gates of the state that have some keys.
func (n *notes) stateGates(keys map[gateKey]bool) (out []int) {
	if n.numbers == nil {
		n.numbers, n.answers = map[gateKey][]int{}, map[stateGoal]region.Answer{}
		for i, g := range n.model.gates() {
			n.numbers[keyOf(g.Gate)] = append(n.numbers[keyOf(g.Gate)], i)
		}
	}
	for key := range keys {
		out = append(out, n.numbers[key]...)
	}
	slices.Sort(out)
	return out
}

// anyMembers is what all members of a family of gates read: its keys are any, also ones
// that a pattern names, and entries of logs.
func anyMembers(g Gate, reads []region.Pattern) []region.Pattern {
	out := make([]region.Pattern, len(reads))
	for i, p := range reads {
		out[i] = anyMember(g, p)
	}
	return out
}

// ofHost notes the arrows that the host walks under a guard, or under invariants that the
// move itself may break.
func (n *notes) ofHost(to goal) {
	for _, p := range n.model.Contract.Phases {
		for _, a := range p.Arrows {
			if !a.ByHost {
				continue
			}
			arrow := p.Name + " -> " + a.To
			if a.Guard != nil {
				n.meet(Note{Kind: GuardNote, What: arrow}, ReadPatterns(*a.Guard), to)
			}
			for _, g := range n.model.gates() {
				if g.movesWith(p.Name, a.To) {
					reads := anyMembers(g, g.Expr.PatternsIn([]string{a.To}))
					n.meet(Note{Kind: RuleNote, What: arrow + ", under " + GateName(g.Gate)}, reads, to)
				}
			}
		}
	}
}

// A gateKey tells the gates of a contract apart.
type gateKey struct {
	kind     ir.GateKind
	name, at string
}

func keyOf(g ir.Gate) gateKey {
	key := gateKey{kind: g.Kind, name: g.Name}
	if g.At != nil {
		key.at = g.At.String() + " " // not that of no place
	}
	return key
}

// unseenGates are those that a stage triggers without seeing all they read.
func unseenGates(s *ir.Stage) map[gateKey]bool {
	out := map[gateKey]bool{}
	for _, g := range s.Gates {
		if _, known := out[keyOf(g)]; !known {
			out[keyOf(g)] = g.Visibility != ir.Seen
		}
	}
	maps.DeleteFunc(out, func(_ gateKey, unseen bool) bool { return !unseen })
	return out
}

// GateName is a gate as a discloses clause names it, and as messages do.
func GateName(g ir.Gate) string {
	switch g.Kind {
	case ir.InvariantGate, ir.ChangeGate:
		return string(g.Kind) + " " + g.Name
	case ir.GuardGate:
		return "next " + g.Name
	case ir.BindGate:
		return "where " + g.Name
	case ir.TypeGate:
		return "type of " + g.At.Source()
	case ir.RefGate:
		return "key at " + g.At.Source()
	}
	return strings.TrimSpace(string(g.Kind) + " " + g.Clause)
}
