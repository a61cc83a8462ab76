package footprint

import "github.com/patchoptic/poptic/internal/ir"

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
