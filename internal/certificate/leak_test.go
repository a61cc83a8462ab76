package certificate_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A leak is looked for by running stages: the state of a run is the phase, which members of
// the document hold something of the origin, which roles remember some of it, and whether
// the phase tells it. It knows nothing of how claims are decided.
type moment struct {
	phase  string
	held   uint8 // by member a, b, c, d
	roles  uint8 // by role, the last for all that are not named
	phased bool
}

var cells = []string{"a", "b", "c", "d"}

// leaks reports whether some run writes something of member a into member d.
func leaks(c *ir.Contract, memory bool) bool {
	seen := map[moment]bool{}
	queue := []moment{{phase: c.Phases[0].Name, held: 1}}
	for ; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if seen[at] {
			continue
		}
		seen[at] = true
		for _, a := range c.Phase(at.phase).Arrows {
			next := at
			next.phase = a.To
			queue = append(queue, next)
		}
		for i := range c.Stages {
			for role := range 3 {
				for _, next := range steps(&c.Stages[i], role, at, memory, c) {
					if next.held&8 != 0 {
						return true
					}
					queue = append(queue, next)
				}
			}
		}
	}
	return false
}

var roleNames = []string{"u", "v"}

// steps lists what a run of a stage, by a role, can lead to.
func steps(s *ir.Stage, role int, at moment, memory bool, c *ir.Contract) []moment {
	if !slices.Contains(s.In, at.phase) || len(s.By) > 0 && (role == 2 || !slices.Contains(s.By, roleNames[role])) {
		return nil
	}
	knows := cellsOf(s.Read)&at.held != 0 || at.phased || memory && at.roles&(1<<role) != 0
	after := at
	if knows {
		after.roles |= 1 << role
	}
	out := []moment{after} // it looked, and did nothing
	if knows {
		after.held |= cellsOf(s.Write)
	}
	if len(s.Next) == 0 {
		return append(out, after)
	}
	var to []string
	for _, a := range c.Phase(at.phase).Arrows {
		if slices.Contains(s.Next, a.To) {
			to = append(to, a.To)
		}
	}
	for _, p := range to {
		moved := after
		moved.phase, moved.phased = p, at.phased || knows && len(to) > 1 && !s.DisclosesPhase
		out = append(out, moved)
	}
	return out
}

func cellsOf(r region.Region) (out uint8) {
	for _, g := range r {
		for _, p := range g.Include {
			out |= 1 << slices.Index(cells, p.Segments[0].Text)
		}
	}
	return out
}

// leaky is a random contract about four members, three roles and four phases.
func leaky(r *rand.Rand) string {
	arrows := map[string][]string{"one": {"two"}, "two": {"three"}, "three": {"four"}}
	for _, extra := range [][2]string{{"one", "three"}, {"one", "four"}, {"two", "four"}, {"two", "one"}, {"three", "two"}, {"three", "one"}} {
		if r.Intn(4) == 0 {
			arrows[extra[0]] = append(arrows[extra[0]], extra[1])
		}
	}
	text := "contract leaky\nstate { a: int  b: int  c: int  d: int }\nphases {\n"
	names := []string{"one", "two", "three", "four"}
	for _, p := range names {
		text += p
		for i, to := range arrows[p] {
			text += []string{" -> ", ", "}[min(i, 1)] + to + " by host"
		}
		text += "\n"
	}
	text += "}\n"
	for i := range 2 + r.Intn(4) {
		phases := []string{names[r.Intn(4)]}
		if r.Intn(3) == 0 {
			phases = append(phases, names[r.Intn(4)])
		}
		slices.Sort(phases)
		phases = slices.Compact(phases)
		text += fmt.Sprintf("stage s%d { in %s", i, strings.Join(phases, ", "))
		if r.Intn(2) == 0 {
			text += " by " + roleNames[r.Intn(2)]
		}
		written := cells[1+r.Intn(3)]
		if r.Intn(3) > 0 {
			text += " read /" + cells[r.Intn(3)] + ", /" + written + " write /" + written
		} else {
			text += " read /" + cells[r.Intn(4)]
		}
		next := slices.Clone(arrows[phases[0]])
		for _, p := range phases {
			next = slices.DeleteFunc(next, func(to string) bool { return !slices.Contains(arrows[p], to) })
		}
		if len(next) > 0 && r.Intn(2) == 0 {
			text += " next " + strings.Join(next, ", ")
			if len(next) > 1 && r.Intn(3) == 0 {
				text += " discloses phase"
			}
		}
		text += " }\n"
	}
	return text + "prove no flow from /a to /d\nprove no flow from /a to /d with memory\n"
}

func TestAFlowIsThereIfAndOnlyIfARunHasIt(t *testing.T) {
	t.Parallel()
	trials := 1000
	if testing.Short() {
		trials = 500
	}
	refuted := 0
	for seed := range trials {
		text := leaky(rand.New(rand.NewSource(int64(seed))))
		out := compileText(text)
		require.NotNil(t, out.Lowered, "%v\n%s", out.Diagnostics, text)
		problems := certificate.Check(footprint.New(out.Lowered).Certificate(), out.Lowered)
		for i, claim := range out.Lowered.Claims {
			leak := leaks(out.Lowered, claim.Memory)
			_, isRefuted := out.Results[i].(footprint.Refuted)
			require.Equal(t, leak, isRefuted, "seed %d: %s\n%s", seed, claim.Text, text)
			shown := !slices.ContainsFunc(problems, func(p certificate.Problem) bool { return p.About == claim.Text })
			require.Equal(t, !leak, shown, "seed %d: %s: %v\n%s", seed, claim.Text, problems, text)
			if leak {
				refuted++
			}
		}
	}
	require.Greater(t, refuted, trials/2)
	require.Less(t, refuted, 2*trials*9/10)
	t.Logf("%d of %d claims have a leak", refuted, 2*trials)
}
