package replay_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
)

// What a gate may depend on hangs on what conditions of the stage say of a place: of the
// state before or after, in require or ensure, beside what the stage sees or not. Contracts
// about the records that put these together at random, sealed or not, are drawn here, and
// states that look alike are answered alike: of what a stage neither sees nor discloses,
// whether the patch is accepted tells one bit, and a refusal nothing.

// A stance is what a stage takes its parameters from, the places that it is about, and what
// conditions may say.
type stance struct {
	params     string
	places     []string
	created    string // what it writes besides
	pins       []string
	conditions []string
}

// STATE stands for before or after.
var stances = []stance{
	{
		"case in /cases, order in /orders, who in /people",
		[]string{"/cases/{case}/order", "/cases/{case}/status", "/cases/{case}/officer", "/cases/{case}/free", "/orders/{order}/status", "/orders/{order}/n", "/people/{who}/ok"},
		"",
		[]string{
			`STATE.cases[case].order == order`, `order == STATE.cases[case].order`,
			`STATE.cases[case].status == "open"`, `STATE.cases[case].status in ["open", "lost"]`, `(STATE.cases[case].status == "done" || "lost" == STATE.cases[case].status)`,
			`STATE.cases[case].?officer.orValue("") == who`, `(!has(STATE.cases[case].officer) || STATE.cases[case].officer == who)`,
			`STATE.orders[order].status == "sent"`,
		},
		[]string{`STATE.cases[case].free != "a"`, `STATE.people[who].ok`, `STATE.orders[order].n < 2`},
	},
	{
		"note in /notes, case = /notes/{note}/case, order in /orders",
		[]string{"/notes/{note}/case", "/notes/{note}/text", "/cases/{case}/order", "/cases/{case}/status", "/orders/{order}/status", "/orders/{order}/by"},
		"",
		[]string{
			`STATE.cases[case].order == order`, `STATE.cases[case].status == "open"`, `STATE.notes[note].text in ["a", "b"]`, `STATE.cases[case].status in ["open", "lost"]`, `STATE.notes[note].case == case`,
			`STATE.cases[STATE.notes[note].case].order == order`,
		},
		[]string{`STATE.cases[case].free != "a"`, `STATE.notes[note].text != "b"`},
	},
	{
		"case new in /cases, order in /orders, who in /people",
		[]string{"/orders/{order}/status", "/orders/{order}/by", "/people/{who}/ok", "/people/{who}/boss"},
		"/cases/{case}",
		[]string{
			`after.cases[case].order == order`, `after.cases[case].status == "open"`, `after.cases[case].?officer.orValue("") == who`,
			`STATE.orders[order].by == who`, `STATE.orders[order].status == "sent"`, `STATE.people[who].?boss.orValue("") == who`,
		},
		[]string{`STATE.people[who].ok`, `STATE.orders[order].n < 2`},
	},
}

// unseenConditions are conditions about what no stance sees.
var unseenConditions = []string{`size(STATE.people) < 3`, `size(STATE.notes) > 1`, `STATE.people.all(p, STATE.people[p].ok)`, `size(STATE.log) < 2`}

var recordRules = []string{
	`agree each c in /cases/* { c.status != "done" || state.orders[c.order].status == "sent" }`,
	`counted each c in /cases/* { c.status == "lost" || state.orders[c.order].n < 2 }`,
	`lost each c in /cases/* { c.status in ["open", "done"] || !has(c.officer) || state.people[c.officer].ok }`,
	`trusted each c in /cases/* { !has(c.officer) || state.people[c.officer].ok || c.status == "open" }`,
	`named each n in /notes/* { n.text == "a" || state.orders[state.cases[n.case].order].status == "sent" }`,
	`signed each o in /orders/* { o.status == "draft" || state.people[o.by].ok }`,
	`bossed each p in /people/* { !has(p.boss) || state.people[p.boss].ok }`,
}

var recordChanges = []string{
	`moved each c in /cases/* { before.status == after.status || before.status == "open" }`,
	`kept each c in /cases/* { !has(before.officer) || has(after.officer) && before.officer == after.officer }`,
	`counted { before.orders.all(o, o in after.orders) && size(before.cases) <= size(after.cases) }`,
	`grown each o in /orders/* { after.n >= before.n }`,
}

// hinging draws the text of a contract whose gates hang on conditions.
func (m maker) hinging() string {
	d := &drawing{maker: m}
	x := stances[m.Intn(len(stances))]
	d.line("contract hinged%s\n%s", m.pick("", "", "", " sealed"), records)
	for _, r := range d.some(1, 3, recordRules...) {
		d.line("invariant %s", r)
	}
	if m.chance(30) {
		d.line("change %s", m.pick(recordChanges...))
	}
	write := d.some(0, 1, x.places...)
	if m.chance(25) {
		write = d.some(1, 2, x.places...)
	}
	read := slices.Concat(write, d.some(1, len(x.places), x.places...))
	if x.created != "" {
		write = append(write, x.created)
	}
	if len(write) == 0 {
		write = read[:1]
	}
	d.line("stage s(%s) {\n  read %s\n  write %s", x.params, strings.Join(read, ", "), strings.Join(write, ", "))
	for range 1 + m.Intn(3) {
		d.line("  %s", m.hinge(x))
	}
	d.line("}")
	return d.out.String()
}

// hinge draws a require or an ensure that says of places what they hold, and more.
func (m maker) hinge(x stance) string {
	parts := []string{m.pick(x.pins...)}
	for i, more := range [][]string{x.pins, x.conditions, unseenConditions} {
		if m.chance(20 + 20*i) {
			parts = append(parts, m.pick(more...))
		}
	}
	if m.chance(15) {
		parts = append(parts, m.pick(asked...))
	}
	m.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	word := m.pick("require", "ensure")
	for i, p := range parts {
		state := "before"
		if word == "ensure" && m.chance(50) {
			state = "after"
		}
		parts[i] = strings.ReplaceAll(p, "STATE", state)
	}
	if m.chance(30) {
		word += fmt.Sprintf(" c%d", m.Intn(1000))
	}
	if m.chance(30) {
		word += ` "` + m.pick("it is so", "it is not so") + `"`
	}
	return word + " { " + strings.Join(parts, " && ") + " }"
}

// worth is how often in a hundred times to try a stage: most if a gate hangs on what
// conditions say of which some are not seen.
func worth(s *ir.Stage) int {
	switch {
	case !slices.ContainsFunc(s.Gates, func(g ir.Gate) bool { return len(g.Given) > 0 }):
		return 3
	case slices.ContainsFunc(s.Gates, func(g ir.Gate) bool { return isCondition(g) && g.Visibility == ir.Hidden }):
		return 100
	}
	return 25
}

func isCondition(g ir.Gate) bool { return g.Kind == ir.RequireGate || g.Kind == ir.EnsureGate }

// hinged is a drawn contract that compiles; of gates that it does not see it discloses
// some, or all if it is sealed.
func (m maker) hinged() (text string, c *ir.Contract) {
	for {
		text := m.hinging()
		for range 8 {
			_, c, all := findings(text)
			again := text
			for _, f := range all {
				if s := suggestion.FindStringSubmatch(f.Help); f.Code == "undisclosed_gate" && s != nil && (c == nil || m.chance(15)) && !strings.Contains(again, s[1]) {
					again = strings.TrimSuffix(again, "}\n") + "  " + s[1] + "\n}\n"
				}
			}
			if c != nil && (again == text || m.chance(50)) && m.chance(worth(c.Stage("s"))) {
				return text, c
			}
			if again == text {
				break
			}
			text = again
		}
	}
}

// hinges are what the contracts that are drawn must hold, each with what tells it of the
// stage's gates.
var hinges = map[string]func(ir.Gate, ir.Pin) bool{
	"a key before":       func(_ ir.Gate, p ir.Pin) bool { return p.Before && p.Param != "" },
	"a key after":        func(_ ir.Gate, p ir.Pin) bool { return !p.Before && p.Param != "" },
	"a text before":      func(_ ir.Gate, p ir.Pin) bool { return p.Before && len(p.Texts) == 1 },
	"texts before":       func(_ ir.Gate, p ir.Pin) bool { return p.Before && len(p.Texts) > 1 },
	"a text after":       func(_ ir.Gate, p ir.Pin) bool { return !p.Before && p.Texts != nil },
	"of a reference":     func(g ir.Gate, _ ir.Pin) bool { return g.Kind == ir.RefGate },
	"of a rule":          func(g ir.Gate, _ ir.Pin) bool { return g.Kind == ir.InvariantGate },
	"beside what hides":  func(g ir.Gate, _ ir.Pin) bool { return false },
	"beside what is let": func(g ir.Gate, _ ir.Pin) bool { return false },
	"beside named ones":  func(g ir.Gate, _ ir.Pin) bool { return false },
}

// countHinges counts the hinges of a stage.
func countHinges(drew map[string]int, s *ir.Stage) {
	found := map[string]bool{}
	for _, g := range s.Gates {
		for _, p := range g.Given {
			for what, is := range hinges {
				found[what] = found[what] || is(g, p)
			}
			for _, h := range s.Gates {
				found["beside what hides"] = found["beside what hides"] || isCondition(h) && h.Visibility == ir.Hidden
				found["beside named ones"] = found["beside named ones"] || h.Clause != "" && h.Visibility == ir.Disclosed
				found["beside what is let"] = found["beside what is let"] || isCondition(h) && h.Visibility == ir.Disclosed
			}
		}
	}
	for what, yes := range found {
		if yes {
			drew[what]++
		}
	}
}

func TestRepliesDoNotHangOnConditionsThatTheStageDoesNotSee(t *testing.T) {
	t.Parallel()
	m, sum, start := newMaker(17), newSecrecy(), time.Now()
	for enough := rounds(12_000, 8_000); sum.cases < enough || len(sum.drew) < len(hinges) && sum.cases < 5*enough; {
		text, c := m.hinged()
		p, err := verify.Load(c, verify.DefaultLimits())
		require.NoError(t, err)
		countHinges(sum.drew, c.Stage("s"))
		if a, ok := m.gather(t, p, c, c.Stage("s")); ok {
			sum.distinct[text] = true
			m.hallOf(t, text, a).hear(sum, a, 6)
		}
		if sum.took = time.Since(start); sum.meter.due(sum.cases) {
			sum.log(t)
		}
	}
	sum.log(t)
	t.Logf("drawn: %v", sum.drew)
	require.Greater(t, sum.accepted, sum.cases/20)
	if testing.Short() {
		return
	}
	require.Equal(t, slices.Sorted(maps.Keys(hinges)), slices.Sorted(maps.Keys(sum.drew)))
}

// hallOf is the hall in which an audience hears.
func (m maker) hallOf(t testing.TB, text string, a audience) *hall {
	given := map[string]string{}
	for _, q := range a.stage.Params {
		if q.Kind != ir.DependentParam {
			given[q.Name] = a.args[q.Name]
		}
	}
	return &hall{
		maker: m, t: t, text: text, c: a.c, p: a.p, s: a.stage, valid: a.states,
		args: given, bound: a.args, reach: reachOf(a.stage), see: region.Compile(a.stage.Read).Start(a.args),
	}
}

// hear tries patches of a stage on an audience.
func (h *hall) hear(sum *secrecy, a audience, tries int) {
	first := placed{a.states[0], "", places(a.states[0])}
	for range tries {
		who := h.actor(a.stage, h.reach, a.args, first, a.states[h.Intn(len(a.states))])
		if who.idle() {
			return
		}
		h.answers(sum, a.states, h.typedPatch(a, who))
	}
}
