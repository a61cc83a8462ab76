package replay_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

var (
	precisionTable = flag.Bool("table", false, "measure and print how many pairs are proved and refuted")
	precisionDrawn = flag.Int("drawn", 100, "how many drawn contracts the table is about")
	precisionShown = flag.Bool("shown", false, "print the pairs of which nothing is known")
)

// A precision counts pairs of stages that share a phase and do not move it, by what is
// known of them.
type precision struct {
	name                                  string
	pairs                                 int
	proved, conditional, refuted, unknown int
	why                                   map[string]int // of the unknown ones
	shown                                 []string
}

func (x *precision) add(y precision) {
	x.pairs, x.proved, x.conditional = x.pairs+y.pairs, x.proved+y.proved, x.conditional+y.conditional
	x.refuted, x.unknown = x.refuted+y.refuted, x.unknown+y.unknown
	for why, n := range y.why {
		x.why[why] += n
	}
	x.shown = append(x.shown, y.shown...)
}

// precisionOf looks at every pair of a contract.
func precisionOf(name string, c *ir.Contract) precision {
	out := precision{name: name, why: map[string]int{}}
	m, run := footprint.New(c), replay.New(replay.Options{})
	for i := range c.Stages {
		for j := 0; j <= i; j++ {
			a, b := &c.Stages[j], &c.Stages[i]
			if len(a.Next)+len(b.Next) > 0 || !slices.ContainsFunc(a.In, func(p string) bool { return slices.Contains(b.In, p) }) {
				continue
			}
			out.pairs++
			claim := ir.Claim{Kind: ir.Commutes, Stages: []string{a.Name, b.Name}}
			if _, proved := m.Decide(claim, nil).(footprint.Proved); proved {
				out.proved++
				continue
			}
			if m.Suggestion([]footprint.Pair{{A: a, B: b}}) != "" {
				out.conditional++
				continue
			}
			switch r := m.Decide(claim, run).(type) {
			case footprint.Refuted:
				out.refuted++
			case footprint.Unknown:
				out.unknown++
				why := reasonOf(r.Pair)
				out.why[why]++
				out.shown = append(out.shown, name+": "+a.Name+" and "+b.Name+": "+footprint.Explain(*r.Pair))
			}
		}
	}
	return out
}

// reasonOf is the kinds of what stands between two stages.
func reasonOf(p *footprint.Pair) string {
	var out []string
	for _, c := range p.Conflicts {
		why := string(c.Kind)
		if c.Gate != nil {
			why += " (" + string(c.Gate.Kind) + ")"
		}
		if !slices.Contains(out, why) {
			out = append(out, why)
		}
	}
	return strings.Join(out, ", ")
}

func (x precision) row() string {
	part := func(n, of int) string { return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(max(1, of))) }
	refused := x.refuted + x.unknown
	return fmt.Sprintf("%s\t%d\t%s\t%s\t%d\t%s\t%s", x.name, x.pairs, part(x.proved, x.pairs), part(x.conditional, x.pairs), refused, part(x.refuted, refused), part(x.unknown, refused))
}

// TestPrecision prints how many pairs of stages are proved to commute, are proved under
// a hypothesis, and, of the others, how many a run shows not to:
//
//	go test ./internal/suite/replay -run TestPrecision -v -args -table [-drawn 100] [-shown]
func TestPrecision(t *testing.T) {
	if !*precisionTable {
		t.Skip("asked for with -args -table")
	}
	rows := []precision{}
	for _, name := range []string{"support", "clinical", "release"} {
		rows = append(rows, precisionOf("examples/"+name, contractAt(t, "../../../examples/"+name, "contract.poptic")))
	}
	rows = append(rows, precisionOf("desk", desk(t)), precisionOf("cases", compile(t, cases, nil).Lowered))
	m, drawn := newMaker(31), precision{name: "drawn", why: map[string]int{}}
	for i := range *precisionDrawn {
		text, c := m.contract()
		p := precisionOf(fmt.Sprintf("drawn %d", i), c)
		if *precisionShown && p.unknown > 0 {
			t.Logf("%d\n%s", i, text)
		}
		drawn.add(p)
	}
	rows = append(rows, drawn)
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "contracts\tpairs\tproved\tunder a condition\trefused\twith a run\twithout")
	total := precision{name: "all", why: map[string]int{}}
	for _, r := range rows {
		fmt.Fprintln(w, r.row())
		total.add(r)
	}
	fmt.Fprintln(w, total.row())
	require.NoError(t, w.Flush())
	for _, why := range slices.Sorted(maps.Keys(total.why)) {
		fmt.Fprintf(&b, "without a run: %d for %s\n", total.why[why], why)
	}
	if *precisionShown {
		b.WriteString(strings.Join(total.shown, "\n"))
	}
	t.Log("\n" + b.String())
}

// What stands in the way of commuting is shown by a run in nearly all cases. Most of what is
// left does commute: bounds on a greatest or least value, and changes that only add.
func TestFewPairsAreRefusedWithoutARun(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("the share is about many pairs")
	}
	t.Parallel()
	m, drawn := newMaker(31), precision{why: map[string]int{}}
	for range 60 {
		_, c := m.contract()
		drawn.add(precisionOf("drawn", c))
	}
	require.Greater(t, drawn.proved+drawn.conditional, drawn.refuted)
	require.LessOrEqual(t, 100*drawn.unknown, 8*(drawn.refuted+drawn.unknown), drawn.why)
}

// hidden are pairs s and t that do not commute, which is seen only where several things that
// are not next to each other come together.
var hidden = map[string]string{
	"a value that is an argument": `state { x: int  y: int }
stage s { read /x  write /x }
stage t(w: int) { read /y  write /y  require { before.x + 5 < w } }`,
	"a record that is an argument": `state { x: decimal  y: int }
type Said { n: int  price: decimal }
stage s { read /x  write /x }
stage t(said: Said) { read /y  write /y  require { said.n > 1 && said.price > before.x + 1 } }`,
	"a role that is not the first": `state { x: int  y: int }
stage s { read /x  write /x }
stage t { by u, v  read /y  write /y  require { role == "v" && before.x == 0 } }`,
	"an actor of a name": `state { owner: string  y: int }
stage s { read /owner  write /owner }
stage t { read /y  write /y  require { actor == "ann" && before.owner == actor } }`,
	"a time after which": `state { x: int  y: int }
change late { before.y == after.y || now > timestamp("2026-01-01T00:00:00Z") && after.x == 0 }
stage s { read /x  write /x }
stage t { read /y  write /y }`,
	"a year": `state { x: int  y: int }
stage s { read /x  write /x }
stage t { read /y  write /y  ensure { now.getFullYear() > 2024 && after.x == 0 } }`,
	"room for few entries": `state { n: map of int }
invariant few { size(state.n) <= 1 }
stage s(p in /n, q in /n) { read /n/{p}, /n/{q}  write /n/{p}  ensure { after.n[p] < 3 } }
stage t(p in /n, q in /n) { read /n/{p}, /n/{q}  write /n/{q}  ensure { after.n[q] < 3 } }`,
	"who takes away and puts back": `state { x: int }
stage s { read /x  write create, delete /x }
stage t { read /x  write create, delete /x }`,
	"values far from the least": `state { x: int  y: int  pr: decimal  ds: map of decimal }
measure dear = max /ds/*
invariant worth { dear.orValue(0.0) < state.pr + 2.5 || state.x > 2 }
stage s { read /x, /y  write /x }
stage t { read /pr, /ds  write /pr }`,
}

func TestARunIsFoundWhereSeveralThingsComeTogether(t *testing.T) {
	for what, text := range hidden {
		claim := "prove s commutes with t\n"
		for _, turned := range []string{text, strings.NewReplacer("stage s", "stage t", "stage t", "stage s").Replace(text)} {
			out := compile(t, "contract c\n"+turned+"\n"+claim, replay.New(replay.Options{}))
			require.Len(t, out.Results, 1, "%s: %+v", what, out.Diagnostics)
			require.IsType(t, footprint.Refuted{}, out.Results[0], what)
		}
	}
}

// One pair of which no run shows anything leaves enough trials for the others.
func TestWhatNothingShowsLeavesTrialsForOthers(t *testing.T) {
	const text = `contract c
state { x: int  y: int  %s }
%s
stage easy { read /x  write /x }
prove easy commutes with easy
`
	var state, stages strings.Builder
	for i := range 28 { // adding to a map and asking that it has not shrunk is no conflict that a footprint can rule out
		fmt.Fprintf(&state, "m%d: map of string  ", i)
		fmt.Fprintf(&stages, "change c%[1]d { size(after.m%[1]d) >= size(before.m%[1]d) }\nstage s%[1]d(p new in /m%[1]d) { write /m%[1]d/{p}  discloses c%[1]d }\nprove s%[1]d commutes with s%[1]d\n", i)
	}
	out := compile(t, fmt.Sprintf(text, state.String(), stages.String()), replay.New(replay.Options{}))
	for _, r := range out.Results[:28] {
		require.IsType(t, footprint.Unknown{}, r)
	}
	require.IsType(t, footprint.Refuted{}, out.Results[28])
}

func contractAt(t *testing.T, dir, name string) *ir.Contract {
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS(dir), Path: name})
	require.NoError(t, err)
	require.NotNil(t, out.Lowered, "%v", out.Diagnostics)
	return out.Lowered
}
