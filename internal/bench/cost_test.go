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

	"github.com/patchoptic/poptic/internal/bench/lean"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/tree/jsonpatch"
	"github.com/patchoptic/poptic/internal/verify"
	engine "github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

var costTable = flag.Bool("table", false, "measure and print the tables of costs")

// TestCostTable prints what things cost at four sizes of the state, in one run:
//
//	go test -run TestCostTable -v ./internal/bench -args -table
//
// The first line of each group is the bound: the same work written by hand for this
// contract alone (package lean), or the pipeline of libraries one would assemble. All of a
// group is measured in turns, so that what else the machine does meets each alike; times
// are the best of the rounds. The growth is the exponent of the size that the time follows
// between the smallest and the largest state: 0 if it does not depend on it, 1 if it is
// linear. Allocations and bytes are those at the largest.
func TestCostTable(t *testing.T) {
	if !*costTable {
		t.Skip("asked for with -args -table")
	}
	p := program(t)
	var groups []costGroup
	for i, w := range workloads {
		c := newCosts(t, p, w.tickets)
		for j, g := range c.groups() {
			if i == 0 {
				groups = append(groups, costGroup{g.name, make([]costRow, len(g.contenders))})
			}
			for k, cost := range measured(g.contenders) {
				row := &groups[j].rows[k]
				row.name, row.costs = g.contenders[k].name, append(row.costs, cost)
			}
		}
	}
	t.Log("\n" + printed(groups))
	for _, w := range workloads {
		t.Log(memoryOf(t, p, w.name, w.tickets))
	}
}

type costGroup struct {
	name string
	rows []costRow
}

type costRow struct {
	name  string
	costs []cost
}

type cost struct {
	time          time.Duration
	allocs, bytes uint64
}

// printed lays the groups out, each line with how many times the bound it is.
func printed(groups []costGroup) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, g := range groups {
		fmt.Fprintf(w, "%s\t", strings.ToUpper(g.name))
		for _, size := range workloads {
			fmt.Fprintf(w, "%s\ttimes\t", size.name)
		}
		fmt.Fprint(w, "growth\tallocs\tbytes\t\n")
		for _, r := range g.rows {
			fmt.Fprintf(w, "%s\t", r.name)
			for i, c := range r.costs {
				fmt.Fprintf(w, "%s\t%s\t", short(c.time), times(c.time, g.rows[0].costs[i].time))
			}
			first, last := r.costs[0], r.costs[len(r.costs)-1]
			sizes := float64(workloads[len(workloads)-1].tickets) / float64(workloads[0].tickets)
			growth := math.Log10(float64(last.time)/float64(first.time)) / math.Log10(sizes)
			fmt.Fprintf(w, "%.2f\t%d\t%d\t\n", growth, last.allocs, last.bytes)
		}
	}
	w.Flush()
	return out.String()
}

// times is how many times the bound a time is; of what is far less, how many times less.
func times(t, bound time.Duration) string {
	ratio := float64(t) / float64(bound)
	if ratio < 0.1 {
		return fmt.Sprintf("1/%.0f", 1/ratio)
	}
	return fmt.Sprintf("%.1f", ratio)
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

// Measuring.

// A contender is one way to do a work.
type contender struct {
	name   string
	before func() // what has to be done each time before, and is not measured; nil for nothing
	run    func()
}

// measured measures contenders in turns.
func measured(all []contender) []cost {
	const rounds, round = 12, 10 * time.Millisecond
	out := make([]cost, len(all))
	runs := make([]int, len(all))
	for i := range all {
		all[i].timed(1)
		once := max(all[i].timed(1), time.Microsecond)
		runs[i] = int(max(1, min(10_000, round/once)))
		out[i].time = once
	}
	for range rounds {
		for i := range all {
			if slow := out[i].time > time.Second/10; !slow {
				out[i].time = min(out[i].time, all[i].timed(runs[i]))
			}
		}
	}
	for i := range all {
		out[i].allocs, out[i].bytes = all[i].memory(min(runs[i], 50))
	}
	return out
}

// timed is how long a run takes: the mean of some, or the least where something has to be
// done before each.
func (c *contender) timed(runs int) time.Duration {
	if c.before != nil {
		best := time.Duration(math.MaxInt64)
		for range runs {
			c.before()
			start := time.Now()
			c.run()
			best = min(best, time.Since(start))
		}
		return best
	}
	start := time.Now()
	for range runs {
		c.run()
	}
	return time.Since(start) / time.Duration(runs)
}

// memory is what a run allocates.
func (c *contender) memory(runs int) (allocs, bytes uint64) {
	var before, after runtime.MemStats
	for range runs {
		if c.before != nil {
			c.before()
		}
		runtime.ReadMemStats(&before)
		c.run()
		runtime.ReadMemStats(&after)
		allocs, bytes = allocs+after.Mallocs-before.Mallocs, bytes+after.TotalAlloc-before.TotalAlloc
	}
	return allocs / uint64(runs), bytes / uint64(runs)
}

// What is measured.

// costs measures at one size.
type costs struct {
	t     testing.TB
	p     *verify.Program
	text  []byte
	start verify.Snapshot
	bound *lean.State
	still *engine.Instance // whose state stays as it is
	moves *engine.Instance // and one whose does not
	turn  int              // of the patches that moves gets
}

func newCosts(t testing.TB, p *verify.Program, tickets int) *costs {
	return &costs{
		t: t, p: p, text: ticketState(tickets), start: snapshot(t, p, tickets), bound: leanState(t, tickets),
		still: instance(t, tickets), moves: instance(t, tickets),
	}
}

func instance(t testing.TB, tickets int) *engine.Instance {
	contract, err := engine.Load(compiled(t))
	require.NoError(t, err)
	in, err := engine.Create(t.Context(), contract, store.NewMemory(), "run", ticketState(tickets), engine.WithAttempts(0))
	require.NoError(t, err)
	return in
}

var (
	twoTickets = map[string]string{"a": "T0", "b": "T1"}
	withSum    = strings.Replace(legalPatch, `/tickets/T1/priority","value":4`, `/tickets/T1/amount","value":4`, 1)
)

type group struct {
	name       string
	contenders []contender
}

func (c *costs) groups() []group {
	by := func(name string, run func()) contender { return contender{name: name, run: run} }
	after := func(name string, before, run func()) contender { return contender{name, before, run} }
	now := c.bound
	move := func() { now = c.leanMove(now) }
	return []group{
		{"commit", []contender{
			by("by hand", c.leanCommits(legalPatch, false)), by("by hand, with a log", c.leanLogs(legalPatch)),
			by("Program.Verify", c.commits("label", legalPatch)), by("Instance.Propose", c.proposes()),
		}},
		{"commit, a sum over all touched", []contender{
			by("by hand", c.leanCommits(withSum, true)), by("Program.Verify", c.commits("work", withSum)),
		}},
		{"the same, assembled of libraries", []contender{
			by("decode, patch, schema, CEL, encode", c.assembled()), by("Instance.Propose", c.proposes()),
		}},
		{"reject", []contender{
			by("decode the patch", func() { tree.ParsePatch([]byte(illegalWrite), tree.DefaultPatchLimits) }),
			by("by hand, illegal write", c.leanRejects(illegalWrite)), by("Program.Verify", c.verifies(illegalWrite)), by("Instance.Propose", c.rejects(illegalWrite, "gone")),
			by("Program.Verify, hidden source", c.verifies(hiddenSource)),
		}},
		{"view of two tickets", []contender{
			by("by hand", func() { c.bound.Tickets("T0", "T1") }), by("Program.View", func() { c.view(c.start, "label", twoTickets) }), by("Instance.View", c.views(c.still, "label", twoTickets)),
		}},
		{"view of all tickets, unchanged", []contender{
			by("by hand", func() { c.bound.Survey() }), by("Instance.View", c.views(c.still, "survey", nil)),
		}},
		{"view of all tickets, after a commit", []contender{
			after("by hand", move, func() { now.Survey() }), after("Instance.View", c.proposes(), c.views(c.moves, "survey", nil)),
		}},
		{"read a state file", []contender{
			by("by hand", c.leanReads()), by("Program.Import", c.imports()), by("runtime.Create", c.creates()),
		}},
		{"view of all tickets, from scratch", []contender{
			after("by hand", func() { now = leanState(c.t, len(c.text)/500) }, func() { now.Survey() }), c.fromScratch(),
		}},
	}
}

// backPatch undoes legalPatch, again in five operations.
func backPatch(patch string) string {
	return strings.NewReplacer("solved", "open", "It is on its way.", "Not yet.", `"value":4`, `"value":3`, "waiting", "open",
		`{"op":"add","path":"/tickets/T0/labels/-","value":"answered"}`, `{"op":"replace","path":"/tickets/T0/labels","value":["late","parcel"]}`).Replace(patch)
}

// Commits go from version to version, forward and back.

func (c *costs) leanCommits(patch string, money bool) func() {
	patches, now, turn := [...]string{patch, backPatch(patch)}, c.bound, 0
	return func() {
		next, err := now.Commit([]byte(patches[turn]), "T0", "T1", money)
		if turn = 1 - turn; err != nil {
			c.t.Fatal(err)
		}
		now = next
	}
}

func (c *costs) leanLogs(patch string) func() {
	patches, now, turn := [...]string{patch, backPatch(patch)}, c.bound, 0
	var log lean.Log
	return func() {
		next, err := log.Commit(now, []byte(patches[turn]), "T0", "T1", false)
		if turn = 1 - turn; err != nil {
			c.t.Fatal(err)
		}
		now = next
	}
}

func (c *costs) leanMove(now *lean.State) *lean.State {
	patches := [...]string{legalPatch, backPatch(legalPatch)}
	next, err := now.Commit([]byte(patches[c.turn]), "T0", "T1", false)
	if err != nil {
		c.t.Fatal(err)
	}
	c.turn = 1 - c.turn
	return next
}

func (c *costs) commits(stage, patch string) func() {
	patches, now, turn := [...]string{patch, backPatch(patch)}, c.start, 0
	return func() {
		pr := proposal(stage, patches[turn])
		turn = 1 - turn
		out, err := c.p.Verify(context.Background(), now, pr)
		if err != nil || out.Verdict.Verdict != verify.Commit {
			c.t.Fatal(err, out.Verdict.Violations)
		}
		now = out.After
	}
}

func (c *costs) proposes() func() {
	patches := [...][]byte{[]byte(legalPatch), []byte(backPatch(legalPatch))}
	return func() {
		base := c.moves.Version()
		v, err := c.moves.Propose(context.Background(), engine.Proposal{Stage: "label", Args: twoTickets, Base: base, Patch: patches[base%2]})
		if err != nil || v.Verdict != verify.Commit {
			c.t.Fatal(err, v.Violations)
		}
	}
}

func (c *costs) leanRejects(patch string) func() {
	return func() {
		if _, err := c.bound.Commit([]byte(patch), "T0", "T1", false); err == nil {
			c.t.Fatal("not refused")
		}
	}
}

func (c *costs) verifies(patch string) func() {
	pr := proposal("label", patch)
	return func() {
		if _, err := c.p.Verify(context.Background(), c.start, pr); err != nil {
			c.t.Fatal(err)
		}
	}
}

// rejects proposes a patch that is another each time, for what was refused once is
// refused unread.
func (c *costs) rejects(patch, varied string) func() {
	text, n := []byte(strings.Replace(patch, varied, "00000000", 1)), 0
	at := bytes.Index(text, []byte("00000000"))
	return func() {
		n++
		for i, rest := at+7, n; rest > 0; i, rest = i-1, rest/10 {
			text[i] = byte('0' + rest%10)
		}
		v, err := c.still.Propose(context.Background(), engine.Proposal{Stage: "label", Args: twoTickets, Base: c.still.Version(), Patch: text})
		if err != nil || v.Violations[0].Code != verify.WriteScopeViolation {
			c.t.Fatal(err, v.Violations)
		}
	}
}

// Views.

func (c *costs) view(s verify.Snapshot, stage string, args map[string]string) verify.View {
	v, refused, err := c.p.View(context.Background(), s, verify.ViewRequest{Stage: stage, Args: args})
	if err != nil || refused != nil {
		c.t.Fatal(err, refused)
	}
	return v
}

func (c *costs) views(in *engine.Instance, stage string, args map[string]string) func() {
	return func() {
		if _, err := in.View(context.Background(), engine.Request{Stage: stage, Args: args}); err != nil {
			c.t.Fatal(err)
		}
	}
}

func (c *costs) leanReads() func() {
	return func() {
		_, err := lean.Read(c.text)
		require.NoError(c.t, err)
	}
}

func (c *costs) imports() func() {
	return func() {
		_, err := c.p.Import(c.text)
		require.NoError(c.t, err)
	}
}

func (c *costs) creates() func() {
	contract, err := engine.Load(compiled(c.t))
	require.NoError(c.t, err)
	return func() {
		_, err := engine.Create(context.Background(), contract, store.NewMemory(), "run", c.text)
		require.NoError(c.t, err)
	}
}

// fromScratch projects and encodes a state of which nothing is remembered.
func (c *costs) fromScratch() contender {
	var fresh verify.Snapshot
	return contender{"Program.View", func() {
		n, err := c.p.Import(c.text)
		require.NoError(c.t, err)
		fresh = verify.Snapshot{State: n, Phase: c.start.Phase, Version: 1}
	}, func() { tree.AppendRemembered(nil, c.view(fresh, "survey", nil).Value) }}
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

func (c *costs) assembled() func() {
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
	return func() {
		next, err := jsonpatch.Apply(c.text, []byte(legalPatch))
		require.NoError(c.t, err)
		decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(next))
		require.NoError(c.t, err)
		require.NoError(c.t, schema.Validate(decoded))
		requireRules(c.t, programs, plain(decoded))
	}
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
