package footprint

import (
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
		excepted := m.reachOf().excepting(claim.Except)
		for i := range m.Contract.Stages {
			if s := &m.Contract.Stages[i]; !excepted(s) {
				n.ofStage(s, claim.From, region.Plain)
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
	everything := region.Region{{Include: []region.Pattern{{}}}}
	for _, s := range m.stagesOf(a) {
		w := within{model: m, inner: s, outer: m.stagesOf(b)}
		for i, g := range m.ownGates(s) {
			if discloses(s, g) && !w.shares(w.rulesOf(s, func(p string) string { return p })[i]) {
				n.meet(Note{Kind: GateNote, Stage: s.Name, What: GateName(g.Gate)}, g.Reads, everything, region.Plain)
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
	for i := range m.Contract.Stages {
		s := &m.Contract.Stages[i]
		n.ofStage(s, claim.From, region.Plain)
		if !knows[s.Name] {
			n.ofStage(s, written, region.Interior)
		}
	}
	for _, r := range f.order {
		if to := moves(r.at, m.Contract.Phase(r.phase)); len(to) > 1 && r.at.DisclosesPhase {
			n.add(Note{PhaseNote, r.stage, strings.Join(to, ", "), r.sees})
		}
	}
	n.ofHost(claim.From, region.Plain)
	n.ofHost(written, region.Interior)
	return n.list
}

type notes struct {
	model *Model
	list  []Note
}

// add adds a note unless its like is there.
func (n *notes) add(x Note) {
	for _, y := range n.list {
		if x.Kind == y.Kind && x.Stage == y.Stage && x.What == y.What {
			return
		}
	}
	n.list = append(n.list, x)
}

// meet notes that what something reads meets a region, if it does.
func (n *notes) meet(x Note, reads []region.Pattern, what region.Region, mode region.Mode) {
	if len(reads) == 0 || len(what) == 0 {
		return
	}
	answer := n.model.overlap(region.Compile(region.Region{{Include: reads}}), region.Compile(what), region.Plain, mode)
	if answer.Verdict != region.No {
		x.Path = answer.Witness
		n.add(x)
	}
}

func (n *notes) ofStage(s *ir.Stage, what region.Region, mode region.Mode) {
	for _, g := range append(n.model.StageGates(s), n.model.gates()...) {
		if discloses(s, g) {
			n.meet(Note{Kind: GateNote, Stage: s.Name, What: GateName(g.Gate)}, anyMembers(g, g.Reads), what, mode)
		}
	}
	for _, p := range Includes(s.Blind) {
		p.Shallow = true
		n.meet(Note{Kind: BlindNote, Stage: s.Name, What: p.Source()}, []region.Pattern{p}, what, mode)
	}
	for _, p := range s.Params {
		if p.Kind == ir.NewParam {
			n.meet(Note{Kind: NewNote, Stage: s.Name, What: ParamText(p)}, n.model.told(p)[:1], what, mode)
		}
	}
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
func (n *notes) ofHost(what region.Region, mode region.Mode) {
	for _, p := range n.model.Contract.Phases {
		for _, a := range p.Arrows {
			if !a.ByHost {
				continue
			}
			arrow := p.Name + " -> " + a.To
			if a.Guard != nil {
				n.meet(Note{Kind: GuardNote, What: arrow}, ReadPatterns(*a.Guard), what, mode)
			}
			for _, g := range n.model.gates() {
				if g.movesWith(p.Name, a.To) {
					reads := anyMembers(g, g.Expr.PatternsIn([]string{a.To}))
					n.meet(Note{Kind: RuleNote, What: arrow + ", under " + GateName(g.Gate)}, reads, what, mode)
				}
			}
		}
	}
}

// discloses reports whether a gate is one the stage triggers without seeing all it reads.
func discloses(s *ir.Stage, g Gate) bool {
	for _, known := range s.Gates {
		if known.Kind == g.Kind && known.Name == g.Name && samePattern(known.At, g.At) {
			return known.Visibility != ir.Seen
		}
	}
	return false
}

// GateName is a gate as a discloses clause names it, and as messages do.
func GateName(g ir.Gate) string {
	switch g.Kind {
	case ir.InvariantGate:
		return "invariant " + g.Name
	case ir.GuardGate:
		return "next " + g.Name
	case ir.TypeGate:
		return "type of " + g.At.Source()
	case ir.RefGate:
		return "key at " + g.At.Source()
	}
	return string(g.Kind)
}
