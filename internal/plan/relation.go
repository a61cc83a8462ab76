package plan

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
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
// run alone. Relations holds every pair of the other stages once, each stage with
// itself included, in the order of Stages.
type Phase struct {
	Name      string     `json:"phase"`
	Stages    []string   `json:"stages"`
	Movers    []string   `json:"movers,omitempty"`
	Relations []Relation `json:"relations"`
}

// Relations relates the stages of every phase. Stages that share nothing cost next to
// nothing.
func Relations(m *footprint.Model) []Phase {
	r := relater{model: m, known: map[[2]int]Relation{}}
	out := []Phase{}
	for _, p := range m.Contract.Phases {
		out = append(out, r.phase(p.Name))
	}
	return out
}

// A relater relates each pair of stages once, in however many phases they meet.
type relater struct {
	model *footprint.Model
	known map[[2]int]Relation // by the numbers of the stages
}

func (r *relater) phase(name string) Phase {
	out := Phase{Name: name, Stages: []string{}, Relations: []Relation{}}
	var plain []int
	for i := range r.model.Contract.Stages {
		s := &r.model.Contract.Stages[i]
		switch {
		case !slices.Contains(s.In, name):
		case len(s.Next) > 0:
			out.Movers = append(out.Movers, s.Name)
		default:
			plain = append(plain, i)
			out.Stages = append(out.Stages, s.Name)
		}
	}
	for i, a := range plain {
		for _, b := range plain[i:] {
			out.Relations = append(out.Relations, r.relate(a, b))
		}
	}
	return out
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

// Between finds the relation of two stages of the phase; ok is false if one of them
// is none, or a mover.
func (p Phase) Between(a, b string) (r Relation, ok bool) {
	i, j := slices.Index(p.Stages, a), slices.Index(p.Stages, b)
	if i < 0 || j < 0 {
		return Relation{}, false
	}
	return p.relation(i, j), true
}

// relation is that of two stages by number: Relations has a row for each stage, which
// starts with the stage itself.
func (p Phase) relation(i, j int) Relation {
	i, j = min(i, j), max(i, j)
	return p.Relations[i*len(p.Stages)-i*(i-1)/2+j-i]
}
