package plan

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

// An Answer says whether two stages commute: always, unless parameters have certain
// values, or not.
type Answer string

// The answers.
const (
	Yes    Answer = "yes"
	Unless Answer = "unless"
	No     Answer = "no"
)

// A Relation is what two stages of a phase, or two runs of one stage, are to each
// other. If the answer is Unless they commute where none of the conditions holds.
type Relation struct {
	A      string   `json:"a"`
	B      string   `json:"b"`
	Answer Answer   `json:"answer"`
	Unless []string `json:"unless,omitempty"` // conditions in words: "ticket is equal"
	Why    []string `json:"why,omitempty"`    // what meets, in words, strongest first
}

// A Phase is the stages of one phase and how they relate. Movers move the phase: they
// run alone. Relations holds every pair of Stages once, each stage with itself
// included, in their order. LeftOut are the further stages, which are not related.
type Phase struct {
	Name      string     `json:"phase"`
	Stages    []string   `json:"stages"`
	Movers    []string   `json:"movers,omitempty"`
	LeftOut   []string   `json:"left_out,omitempty"`
	Relations []Relation `json:"relations"`

	numbers []int // of Stages, in the contract
}

// MaxPairs is how many pairs of stages are related for one contract; each stage with
// itself counts, and a pair counts for each phase in which it meets.
const MaxPairs = 1 << 15

// Relations relates the stages of every phase: the first ones of each, as long as that
// does not take more than MaxPairs pairs of all phases. Stages that share nothing cost
// next to nothing.
func Relations(m *footprint.Model) []Phase {
	r := relater{model: m, known: map[[2]int]Relation{}, left: MaxPairs}
	out := []Phase{}
	at := stagesByPhase(m)
	for _, p := range m.Contract.Phases {
		out = append(out, r.phase(p.Name, at[p.Name]))
	}
	return out
}

// stagesByPhase are the numbers of the stages that run in each phase, in order.
func stagesByPhase(m *footprint.Model) map[string][]int {
	out := map[string][]int{}
	for i, s := range m.Contract.Stages {
		for _, p := range s.In {
			out[p] = append(out[p], i)
		}
	}
	return out
}

// A relater relates each pair of stages once, in however many phases they meet.
type relater struct {
	model *footprint.Model
	known map[[2]int]Relation // by the numbers of the stages
	left  int                 // how many pairs may still be listed
}

func (r *relater) phase(name string, stages []int) Phase {
	out := Phase{Name: name, Stages: []string{}, Relations: []Relation{}}
	for _, i := range stages {
		s := &r.model.Contract.Stages[i]
		switch {
		case len(s.Next) > 0:
			out.Movers = append(out.Movers, s.Name)
		case len(out.LeftOut) > 0 || len(out.Stages)+1 > r.left:
			out.LeftOut = append(out.LeftOut, s.Name)
		default:
			out.numbers, out.Stages = append(out.numbers, i), append(out.Stages, s.Name)
			r.left -= len(out.Stages)
		}
	}
	for i, a := range out.numbers {
		for _, b := range out.numbers[i:] {
			out.Relations = append(out.Relations, r.relate(a, b))
		}
	}
	return out
}

// Beside relates one stage, which does not move the phase, to each stage that it shares
// a phase with and that does not either, itself included: in the order of phases, each
// once.
func Beside(m *footprint.Model, stage string) []Relation {
	stages, r := m.Contract.Stages, relater{model: m, known: map[[2]int]Relation{}}
	of := slices.IndexFunc(stages, func(s ir.Stage) bool { return s.Name == stage })
	if of < 0 || len(stages[of].Next) > 0 {
		return nil
	}
	var out []Relation
	at := stagesByPhase(m)
	for _, p := range m.Contract.Phases {
		if !slices.Contains(stages[of].In, p.Name) {
			continue
		}
		for _, i := range at[p.Name] {
			key := [2]int{min(i, of), max(i, of)}
			if _, known := r.known[key]; !known && len(stages[i].Next) == 0 {
				out = append(out, r.relate(key[0], key[1]))
			}
		}
	}
	return out
}

// Other is the stage that a stage is related to: itself, if that is related to itself.
func (r Relation) Other(stage string) string {
	if r.A == stage {
		return r.B
	}
	return r.A
}

func (r *relater) relate(i, j int) Relation {
	key := [2]int{i, j}
	if _, known := r.known[key]; !known {
		stages := r.model.Contract.Stages
		r.known[key] = relation(footprint.Pair{A: &stages[i], B: &stages[j], Conflicts: r.model.Matrix().Conflicts(i, j)})
	}
	return r.known[key]
}

func relation(p footprint.Pair) Relation {
	out := Relation{A: p.A.Name, B: p.B.Name, Answer: Yes, Why: reasons(p)}
	if len(p.Conflicts) == 0 {
		return out
	}
	out.Answer = Unless
	for _, t := range footprint.Weakest(p.Conflicts) {
		if len(t.All) == 0 {
			out.Answer, out.Unless = No, nil
			break
		}
		out.Unless = appendNew(out.Unless, p.Condition(t))
	}
	return out
}

// reasons says what meets, that which always meets first.
func reasons(p footprint.Pair) []string {
	var always, sometimes []string
	for _, c := range p.Conflicts {
		switch {
		case isRepeated(c, p.Conflicts):
		case len(c.When.All) == 0:
			always = appendNew(always, reason(p, c))
		default:
			sometimes = appendNew(sometimes, reason(p, c))
		}
	}
	return append(always, sometimes...)
}

// isRepeated reports whether a conflict only says again that one sees what the other
// writes: what a stage sees it may test.
func isRepeated(c footprint.Conflict, all []footprint.Conflict) bool {
	return c.Kind == footprint.SourceConflict && slices.ContainsFunc(all, func(d footprint.Conflict) bool {
		return d.Kind == footprint.ViewConflict && d.A == c.A && d.Path.HasPrefix(c.Path) && len(d.Path) == len(c.Path)
	})
}

// reason is one conflict in words.
func reason(p footprint.Pair, c footprint.Conflict) string {
	a, b, path := side(p, c.A), side(p, c.B), footprint.PathText(c.Path)
	if c.IsUnsearched() {
		return footprint.Unsearched
	}
	switch c.Kind {
	case footprint.WriteConflict:
		return "both write " + path
	case footprint.GateConflict:
		return fmt.Sprintf("both touch the %s", footprint.GateName(c.Gate.Gate))
	case footprint.SourceConflict:
		return fmt.Sprintf("%s takes from %s, which %s writes", a, path, b)
	case footprint.LocalConflict:
		return fmt.Sprintf("a rule or parameter of %s depends on %s, which %s writes", a, path, b)
	case footprint.ViewConflict:
		return fmt.Sprintf("%s sees %s, which %s writes", a, path, b)
	}
	return a + " moves the phase"
}

// side names one of two stages; two runs of one stage are "one run" and "the other".
func side(p footprint.Pair, owner string) string {
	switch {
	case p.A.Name == p.B.Name && owner == footprint.OwnerA:
		return "one run"
	case p.A.Name == p.B.Name:
		return "the other"
	case owner == footprint.OwnerA:
		return p.A.Name
	}
	return p.B.Name
}

func appendNew(list []string, x string) []string {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// relation is that of two stages by number: Relations has a row for each stage, which
// starts with the stage itself.
func (p Phase) relation(i, j int) Relation {
	i, j = min(i, j), max(i, j)
	return p.Relations[i*len(p.Stages)-i*(i-1)/2+j-i]
}
