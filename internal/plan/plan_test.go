package plan_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
)

func compiled(t *testing.T, text string) *ir.Contract {
	t.Helper()
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v\n%s", out.Diagnostics, text)
	return out.Contract
}

func planned(t *testing.T, text string) plan.PhasePlan {
	t.Helper()
	p := plan.Of(footprint.New(compiled(t, text)))
	require.Len(t, p.Phases, 1)
	return p.Phases[0]
}

// crew is a contract of n stages with cells that some of them share: two stages
// that share a cell do not commute. after[i] lists what runs before stage i.
func crew(n int, share func(i, j int) bool, after map[int][]int) string {
	cells := make([]string, n)
	var state strings.Builder
	for i := range n {
		cells[i] = fmt.Sprintf("/own%d", i)
		fmt.Fprintf(&state, "  own%d: int\n", i)
	}
	for i := range n {
		for j := range i {
			if share(j, i) {
				cell := fmt.Sprintf("c%dx%d", j, i)
				fmt.Fprintf(&state, "  %s: int\n", cell)
				cells[i] += ", /" + cell
				cells[j] += ", /" + cell
			}
		}
	}
	text := "contract crew\nstate {\n" + state.String() + "}\n"
	for i := range n {
		text += fmt.Sprintf("stage s%d { read %s write %s", i, cells[i], cells[i])
		var names []string
		for _, j := range after[i] {
			names = append(names, fmt.Sprintf("s%d", j))
		}
		if len(names) > 0 {
			text += " after " + strings.Join(names, ", ")
		}
		text += " }\n"
	}
	return text
}

func none(i, j int) bool { return false }

func TestStagesThatShareNothingRunInOneRound(t *testing.T) {
	p := planned(t, crew(5, none, nil))
	require.Len(t, p.Groups, 1)
	require.Len(t, p.Schedule.Rounds, 1)
	require.True(t, p.Schedule.Shortest)
}

func TestAStageComesInALaterRoundThanThoseItIsAfter(t *testing.T) {
	p := planned(t, crew(4, none, map[int][]int{0: {1}, 1: {2}}))
	require.Len(t, p.Schedule.Rounds, 3)
	require.Equal(t, []string{"s2", "s3"}, p.Schedule.Rounds[0].Stages)
	require.Equal(t, []string{"s1"}, p.Schedule.Rounds[1].Stages)
	require.Equal(t, []string{"s0"}, p.Schedule.Rounds[2].Stages)
}

func TestStagesThatWaitForEachOtherAreInNoRound(t *testing.T) {
	p := planned(t, crew(4, none, map[int][]int{0: {1}, 1: {0}, 2: {1}}))
	require.Equal(t, []string{"s0", "s1", "s2"}, p.Schedule.Stuck)
	require.Equal(t, []string{"s3"}, p.Schedule.Rounds[0].Stages)
	require.Len(t, p.Schedule.Rounds, 1)
}

// brute is the fewest rounds, by trying every way to fill them.
func brute(n int, share [][]bool, after map[int][]int) int {
	best := n
	round := make([]int, n)
	var place func(i, used int)
	place = func(i, used int) {
		if used >= best {
			return
		}
		if i == n {
			if respects(round, after) {
				best = used
			}
			return
		}
		for r := range n {
			fits := true
			for j := range i {
				fits = fits && !(round[j] == r && share[j][i])
			}
			if fits {
				round[i] = r
				place(i+1, max(used, r+1))
			}
		}
	}
	place(0, 0)
	return best
}

func respects(round []int, after map[int][]int) bool {
	for i, list := range after {
		for _, j := range list {
			if round[j] >= round[i] {
				return false
			}
		}
	}
	return true
}

func TestSchedulesAreShortestAndRespectTheOrder(t *testing.T) {
	cases := 60
	if testing.Short() {
		cases = 10
	}
	for seed := range cases {
		r := rand.New(rand.NewSource(int64(seed)))
		n := 3 + r.Intn(4)
		share := make([][]bool, n)
		for i := range share {
			share[i] = make([]bool, n)
		}
		after := map[int][]int{}
		for i := range n {
			for j := range i {
				share[j][i] = r.Intn(3) == 0
				share[i][j] = share[j][i]
				if r.Intn(4) == 0 {
					after[i] = append(after[i], j)
				}
			}
		}
		p := planned(t, crew(n, func(i, j int) bool { return share[i][j] }, after))
		require.Len(t, p.Schedule.Rounds, brute(n, share, after), "seed %d", seed)
		requireSchedule(t, p, n, share, after)
		requireGroups(t, p, n, share)
	}
}

func number(name string) (i int) {
	fmt.Sscanf(name, "s%d", &i)
	return i
}

func requireSchedule(t *testing.T, p plan.PhasePlan, n int, share [][]bool, after map[int][]int) {
	round := make([]int, n)
	placed := 0
	for r, g := range p.Schedule.Rounds {
		for x, a := range g.Stages {
			round[number(a)] = r
			placed++
			for _, b := range g.Stages[x+1:] {
				require.False(t, share[number(a)][number(b)])
			}
		}
	}
	require.Equal(t, n, placed)
	require.True(t, respects(round, after))
}

// requireGroups checks that groups are exactly the sets that fit and cannot grow.
func requireGroups(t *testing.T, p plan.PhasePlan, n int, share [][]bool) {
	var got []int
	for _, g := range p.Groups {
		set := 0
		for _, s := range g.Stages {
			set |= 1 << number(s)
		}
		got = append(got, set)
	}
	slices.Sort(got)
	var want []int
	for set := 1; set < 1<<n; set++ {
		if fits(set, n, share) && !grows(set, n, share) {
			want = append(want, set)
		}
	}
	require.Equal(t, want, got)
}

func fits(set, n int, share [][]bool) bool {
	for i := range n {
		for j := range i {
			if set&(1<<i) != 0 && set&(1<<j) != 0 && share[i][j] {
				return false
			}
		}
	}
	return true
}

func grows(set, n int, share [][]bool) bool {
	for i := range n {
		if set&(1<<i) == 0 && fits(set|1<<i, n, share) {
			return true
		}
	}
	return false
}

func TestLargePhasesArePlannedWithoutAPromise(t *testing.T) {
	p := planned(t, crew(18, func(i, j int) bool { return j == i+1 }, map[int][]int{5: {4}}))
	require.False(t, p.Schedule.Shortest)
	require.Len(t, p.Schedule.Rounds, 2)
	require.True(t, p.Cut)
	require.Len(t, p.Groups, 64)
}

func TestAConditionIsListedWithTheGroup(t *testing.T) {
	p := planned(t, `contract c
state { m: map of int  n: map of int }
stage one(k in /m) { read /m/{k} write /m/{k} }
stage two(k in /m, l in /n) { read /m/{k}, /n/{l} write /m/{k}, /n/{l} }
`)
	require.Equal(t, []plan.Group{{Stages: []string{"one", "two"}, Conditions: []plan.Condition{{A: "one", B: "two", Unless: []string{"k is equal"}}}}}, p.Groups)
	require.Equal(t, plan.Unless, p.Many[1].Answer)
	require.Equal(t, []string{"k is equal", "l is equal"}, p.Many[1].Unless)
}
