package bench_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/tree/jsonpatch"
	"github.com/patchoptic/poptic/internal/verify"
)

var costTable = flag.Bool("table", false, "measure and print the table of costs")

// TestCostTable prints what things cost at three sizes of the state, in one run:
//
//	go test -run TestCostTable -v ./internal/bench -args -table
//
// Times are the best of several rounds. The growth is the exponent of the size that
// the time follows between the smallest and the largest state: 0 if it does not
// depend on it, 1 if it is linear.
func TestCostTable(t *testing.T) {
	if !*costTable {
		t.Skip("asked for with -args -table")
	}
	p := program(t)
	var rows []costRow
	for i, w := range workloads {
		c := newCosts(t, p, w.tickets)
		for j, row := range c.rows() {
			if i == 0 {
				rows = append(rows, costRow{name: row.name})
			}
			rows[j].times = append(rows[j].times, row.cost)
		}
	}
	t.Log("\n" + printed(rows))
	for _, w := range workloads {
		t.Log(memoryOf(t, p, w.name, w.tickets))
	}
}

type costRow struct {
	name  string
	times []cost
}

type cost struct {
	time          time.Duration
	allocs, bytes uint64
}

// printed lays the rows out, the ratios to the assembled pipeline after them.
func printed(rows []costRow) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "work\t1 KB\t100 KB\t10 MB\tgrowth\tallocs\tbytes\t\n")
	for _, r := range rows {
		first, last := r.times[0], r.times[len(r.times)-1]
		growth := math.Log10(float64(last.time)/float64(first.time)) / math.Log10(float64(workloads[2].tickets)/float64(workloads[0].tickets))
		fmt.Fprintf(w, "%s\t%v\t%v\t%v\t%.2f\t%d\t%d\t\n", r.name, short(r.times[0].time), short(r.times[1].time), short(last.time), growth, last.allocs, last.bytes)
	}
	for _, r := range rows[:2] {
		assembled := rows[len(rows)-1]
		fmt.Fprintf(w, "%s, times faster than assembled\t", r.name)
		for i := range r.times {
			fmt.Fprintf(w, "%.0f\t", float64(assembled.times[i].time)/float64(r.times[i].time))
		}
		fmt.Fprint(w, "\t\t\t\n")
	}
	w.Flush()
	return out.String()
}

func short(d time.Duration) string {
	switch {
	case d < 100*time.Microsecond:
		return fmt.Sprintf("%.1fµs", float64(d.Nanoseconds())/1e3)
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.2fms", float64(d.Nanoseconds())/1e6)
	default:
		return fmt.Sprintf("%.2fs", d.Seconds())
	}
}

// costOf measures one run of f: the best of a few rounds of many.
func costOf(f func()) cost {
	f()
	start := time.Now()
	f()
	once := max(time.Since(start), time.Microsecond)
	runs := int(max(1, min(20_000, 50*time.Millisecond/once)))
	rounds := 7
	if once > time.Second/2 {
		rounds = 2
	}
	best := time.Duration(math.MaxInt64)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		start := time.Now()
		for range runs {
			f()
		}
		best = min(best, time.Since(start)/time.Duration(runs))
	}
	runtime.ReadMemStats(&after)
	n := uint64(rounds * runs)
	return cost{best, (after.Mallocs - before.Mallocs) / n, (after.TotalAlloc - before.TotalAlloc) / n}
}

// costs measures at one size.
type costs struct {
	t     testing.TB
	p     *verify.Program
	text  []byte
	start verify.Snapshot
}

func newCosts(t testing.TB, p *verify.Program, tickets int) *costs {
	return &costs{t, p, ticketState(tickets), snapshot(t, p, tickets)}
}

type measuredRow struct {
	name string
	cost cost
}

func (c *costs) rows() []measuredRow {
	withSum := strings.Replace(legalPatch, `/tickets/T1/priority","value":4`, `/tickets/T1/amount","value":4`, 1)
	rows := []measuredRow{
		{"verify + commit", c.commits("label", legalPatch)},
		{"verify + commit, a sum over all touched", c.commits("work", withSum)},
		{"decode the patch", costOf(func() { tree.ParsePatch([]byte(illegalWrite), tree.DefaultPatchLimits) })},
		{"reject, illegal write", c.verifies(illegalWrite)},
		{"reject, hidden source", c.verifies(hiddenSource)},
		{"narrow view", c.narrowView()},
		{"wide view, from scratch", c.wideFromScratch()},
		{"wide view after a commit", c.wideAfterCommit()},
		{"assembled: decode, patch, schema, CEL, encode", c.assembled()},
	}
	return rows
}

// backPatch undoes legalPatch, again in five operations.
func backPatch(patch string) string {
	return strings.NewReplacer("solved", "open", "It is on its way.", "Not yet.", `"value":4`, `"value":3`, "waiting", "open",
		`{"op":"add","path":"/tickets/T0/labels/-","value":"answered"}`, `{"op":"replace","path":"/tickets/T0/labels","value":["late","parcel"]}`).Replace(patch)
}

// commits goes from version to version, forward and back.
func (c *costs) commits(stage, patch string) cost {
	patches, now, turn := [...]string{patch, backPatch(patch)}, c.start, 0
	return costOf(func() {
		pr := proposal(stage, patches[turn])
		turn = 1 - turn
		out, err := c.p.Verify(context.Background(), now, pr)
		if err != nil || out.Verdict.Verdict != verify.Commit {
			c.t.Fatal(err, out.Verdict.Violations)
		}
		now = out.After
	})
}

func (c *costs) verifies(patch string) cost {
	pr := proposal("label", patch)
	return costOf(func() {
		if _, err := c.p.Verify(context.Background(), c.start, pr); err != nil {
			c.t.Fatal(err)
		}
	})
}

func (c *costs) view(s verify.Snapshot, stage string) verify.View {
	args := map[string]string{}
	if stage != "survey" {
		args = map[string]string{"a": "T0", "b": "T1"}
	}
	v, refused, err := c.p.View(context.Background(), s, verify.ViewRequest{Stage: stage, Args: args})
	if err != nil || refused != nil {
		c.t.Fatal(err, refused)
	}
	return v
}

func (c *costs) narrowView() cost { return costOf(func() { c.view(c.start, "label") }) }

// wideFromScratch projects and encodes a state of which nothing is remembered.
func (c *costs) wideFromScratch() cost {
	best := cost{time: math.MaxInt64}
	for range 3 {
		n, err := c.p.Import(c.text)
		require.NoError(c.t, err)
		fresh := verify.Snapshot{State: n, Phase: c.start.Phase, Version: 1}
		start := time.Now()
		tree.AppendRemembered(nil, c.view(fresh, "survey").Value)
		best.time = min(best.time, time.Since(start))
	}
	return best
}

// wideAfterCommit measures the view alone, not the commit before it.
func (c *costs) wideAfterCommit() cost {
	c.view(c.start, "survey")
	now, best := c.start, cost{time: math.MaxInt64}
	for i := range 50 {
		patch := fmt.Sprintf(`[{"op":"replace","path":"/tickets/T0/reply","value":"%d"}]`, i)
		if i == 0 {
			patch = strings.Replace(patch, "replace", "add", 1)
		}
		out, err := c.p.Verify(context.Background(), now, proposal("label", patch))
		require.NoError(c.t, err)
		require.Equal(c.t, verify.Commit, out.Verdict.Verdict)
		now = out.After
		start := time.Now()
		c.view(now, "survey")
		best.time = min(best.time, time.Since(start))
	}
	return best
}

// The assembled pipeline.

const ticketSchema = `{"type":"object","additionalProperties":false,"required":["tickets","customers","budget"],"properties":{
	"budget":{"type":"number"},
	"customers":{"type":"object","additionalProperties":{"type":"object","required":["name"],"additionalProperties":false,"properties":{"name":{"type":"string"}}}},
	"tickets":{"type":"object","additionalProperties":{"type":"object","additionalProperties":false,
		"required":["subject","body","status","customer","labels","priority","amount"],"properties":{
		"subject":{"type":"string"},"body":{"type":"string"},"status":{"enum":["open","waiting","solved"]},"customer":{"type":"string"},
		"labels":{"type":"array","uniqueItems":true,"items":{"type":"string"}},"priority":{"type":"integer"},"amount":{"type":"number","minimum":0},
		"reply":{"type":"string"},"internal":{"type":"string"}}}}}}`

var ticketRules = []string{
	`state.tickets.all(k, state.tickets[k].status != "solved" || has(state.tickets[k].reply))`,
	`state.tickets.all(k, state.tickets[k].priority >= 0 && state.tickets[k].priority <= 5)`,
	`state.tickets.all(k, state.tickets[k].customer in state.customers)`,
}

func (c *costs) assembled() cost {
	compiler := jsonschema.NewCompiler()
	schemaText, err := jsonschema.UnmarshalJSON(strings.NewReader(ticketSchema))
	require.NoError(c.t, err)
	require.NoError(c.t, compiler.AddResource("tickets.json", schemaText))
	schema, err := compiler.Compile("tickets.json")
	require.NoError(c.t, err)
	env, err := cel.NewEnv(cel.Variable("state", cel.DynType))
	require.NoError(c.t, err)
	var programs []cel.Program
	for _, rule := range ticketRules {
		ast, issues := env.Compile(rule)
		require.NoError(c.t, issues.Err())
		program, err := env.Program(ast)
		require.NoError(c.t, err)
		programs = append(programs, program)
	}
	return costOf(func() {
		next, err := jsonpatch.Apply(c.text, []byte(legalPatch))
		require.NoError(c.t, err)
		decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(next))
		require.NoError(c.t, err)
		require.NoError(c.t, schema.Validate(decoded))
		requireRules(c.t, programs, plain(decoded))
	})
}

// plain turns exact numbers into those that CEL knows.
func plain(v any) any {
	switch x := v.(type) {
	case map[string]any:
		for name, child := range x {
			x[name] = plain(child)
		}
	case []any:
		for i, child := range x {
			x[i] = plain(child)
		}
	case interface{ Float64() (float64, error) }:
		f, _ := x.Float64()
		return f
	}
	return v
}

func requireRules(t testing.TB, programs []cel.Program, state any) {
	spent := 0.0
	for _, ticket := range state.(map[string]any)["tickets"].(map[string]any) {
		spent += ticket.(map[string]any)["amount"].(float64)
	}
	require.LessOrEqual(t, spent, state.(map[string]any)["budget"])
	for _, program := range programs {
		out, _, err := program.Eval(map[string]any{"state": state})
		require.NoError(t, err)
		require.Equal(t, true, out.Value())
	}
}

// memoryOf measures the heap: a state against its text, and one more version.
func memoryOf(t testing.TB, p *verify.Program, name string, tickets int) string {
	text := ticketState(tickets)
	before := heap()
	now := snapshot(t, p, tickets)
	state := heap() - before
	const versions = 500
	kept := make([]verify.Snapshot, 0, versions)
	c := costs{t: t, p: p, start: now}
	for i := range versions + 2 {
		if i == 2 {
			before = heap() // what is remembered of the first version is not of the others
		}
		patch := [...]string{legalPatch, backPatch(legalPatch)}[i%2]
		out, err := c.p.Verify(context.Background(), now, verify.Proposal{
			Stage: "label", Patch: []byte(patch), Args: map[string]string{"a": "T0", "b": "T1"},
		})
		require.NoError(t, err)
		require.Equal(t, verify.Commit, out.Verdict.Verdict)
		now = out.After
		kept = append(kept, now)
	}
	version := (heap() - before) / versions
	runtime.KeepAlive(kept)
	return fmt.Sprintf("%s: the state takes %.1f times its text, one more version %d bytes", name, float64(state)/float64(len(text)), version)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
