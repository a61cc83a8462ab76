package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Contracts drawn for claims about flows: small states that hold values of every kind,
// few stages, so that about as many claims are proved as refuted.

const flowForm = `contract flows
state {
  pin: string  n: int  flag: bool  opt?: string
  m: map of int  o: map of O  k: list of K by id  kk: map of key of /k
  ref: key of /o  kref?: key of /k
  log: log of string  notes: log of { who: key of /o  n: int }
  set: set of string  nums: set of int  li: list of int
  u: { kind: "i"  i: int } | { kind: "m"  m: map of string }
  box?: { x: int  y: string }%s
}
type O { t: string  i: int  r?: key of /m }
type K { id: string  v: int  w?: string }
`

var flowState = fmt.Sprintf(flowForm, "")

// flowRegions are origins and goals.
var flowRegions = []string{
	"/pin", "/n", "/flag", "/opt", "/m", "/m/*", "/o", "/o/*/t", "/o/*/i", "/o/*/r", "/k", "/k/*/id", "/k/*/v", "/k/*/w", "/kk", "/ref", "/kref",
	"/log", "/notes", "/notes/*/who", "/set", "/nums", "/li", "/u", "/u/m", "/box", "/box/x", "/m except /m/k1", "/m/k1", "/o/k1/t", "/k/k1", "/o/k2", "/o except /o/*/t", "/v", "/v/kind", "/v/x",
}

// A flowSort is a way in which a stage gets hold of entries, with what it may do there.
type flowSort struct {
	params      string
	read, write []string
	makes       string // what a parameter creates
}

var flowSorts = []flowSort{
	{"", []string{"/pin", "/n", "/flag", "/opt", "/box/x", "/box"}, []string{"/pin", "/n", "/flag", "/opt", "/box/(x|y)", "/box"}, ""},
	{"", []string{"/m", "/m/*", "/log", "/set", "/nums", "/li", "/li/*"}, []string{"/m", "/m/*", "/log/-", "/set", "/set/-", "/nums", "/li", "blind /m/*", "/li/*"}, ""},
	{"", []string{"/o", "/o/*/t", "/o/*/(i|r)", "/ref", "/kref", "/notes", "/notes/*/n"}, []string{"/o", "/o/*/t", "/o/*/r", "/ref", "/kref", "/notes/-"}, ""},
	{"", []string{"/k", "/k/*/v", "/kk", "/u", "/u/m", "/k/*/w"}, []string{"/k", "/k/*/v", "/k/*/w", "/kk", "/u", "/u/m"}, ""},
	{"", []string{"/** except (/pin, /log)", "/n", "/o except /o/*/t"}, []string{"/n", "/flag", "/log/-"}, ""},
	{"", []string{"/pin", "/flag", "/v/x"}, []string{"/v/kind", "/v", "/v/kind"}, ""},
	{"", []string{"/v/x", "/v/kind", "/v"}, []string{"/n", "/flag", "/pin", "/log/-"}, ""},
	{"p in /m", []string{"/m/{p}", "/n"}, []string{"/m/{p}", "/n", "/log/-"}, ""},
	{"p in /m", []string{"/flag"}, []string{"/flag", "/pin", "/set"}, ""},
	{"p in /o", []string{"/o/{p}/t", "/o/{p}", "/ref"}, []string{"/o/{p}/t", "/o/{p}/i", "/o/{p}/r", "/o/{p}", "/notes/-"}, ""},
	{"p in /k", []string{"/k/{p}/v", "/k/{p}", "/flag"}, []string{"/k/{p}/v", "/k/{p}/w", "/kk", "/k/{p}"}, ""},
	{"p new in /m", []string{"/n", "/pin"}, []string{"/flag", "/log/-"}, "/m/{p}"},
	{"p new in /o", []string{"/n", "/pin", "/flag"}, []string{"/opt"}, "/o/{p}"},
	{"p new in /k", []string{"/n", "/pin"}, []string{"/nums"}, "/k/{p}"},
	{"p = /ref", []string{"/o/{p}/t", "/ref"}, []string{"/o/{p}/i", "/n", "/o/{p}/t"}, ""},
	{"p in /kk, q = /kk/{p}", []string{"/k/{q}/v"}, []string{"/k/{q}/w", "/pin", "/kk/{p}"}, ""},
	{"p in /set", []string{"/n", "/m/{p}"}, []string{"/flag", "/m/{p}", "/log/-"}, ""},
	{"p in /o where { state.o[p].t != state.pin }", []string{"/n", "/o/{p}/t"}, []string{"/flag", "/o/{p}/i", "/log/-"}, ""},
	{"p in /m, q in /o where { state.n < 3 && state.m[p] < 9 }", []string{"/o/{q}/i"}, []string{"/o/{q}/i", "/nums"}, ""},
	{"p in /o, q in /o", []string{"/o/{p}/t"}, []string{"/o/{q}/t", "/o/{q}/i"}, ""},
}

var flowRules = []string{
	"{ state.n < 3 || state.flag }",
	`{ state.pin != "b" || size(state.m) < 3 }`,
	`{ size(state.set) + size(state.log) < 3 || state.n < 2 }`,
	`{ !state.flag || state.pin != "a" }`,
	`each x in /k/* { x.v < 3 || state.pin != "a" }`,
	"{ size(state.nums) < 3 || state.n > 0 }",
	`{ phase != "last" || state.n < 3 }`,
	`{ !(phase in ["zero", "last"]) || state.pin != "a" }`,
	"unique /o/*/t",
	"each k, x in /m/* { x < 3 || k != \"k2\" }",
	"{ sum(state.nums) <= 6 || state.pin == \"a\" }",
	"{ state.u.kind != \"i\" || state.u.i < 3 }",
}

// flowChanges are rules about changes.
var flowChanges = []string{
	`{ before.pin != "b" || after.n == before.n }`,
	`{ after.n >= before.n || state_flag(after) }`,
	`each x in /o/* { before.i <= after.i || before.t == "a" }`,
	`each k, x in /m/* { after >= before - 1 || k == "k1" }`,
}

// flowPhases go from one on, by a choice and by the host.
const flowPhases = `phases { one -> zero, single  zero -> last, one by host  single -> last, zero by host%s  last }
`

var flowArrows = map[string][]string{"one": {"zero", "single"}, "zero": {"last"}, "single": {"last"}}

func (d *drawing) flows() string {
	x, y := d.spellings(2)
	d.line(flowForm, fmt.Sprintf("\n  v: { kind: \"a\"  x: %s } | { kind: \"b\"  x: %s }", x, y))
	if d.phases {
		d.line(flowPhases, d.pick("", " when { state.n > 1 }", ""))
	}
	for i, rule := range d.some(0, 3, flowRules...) {
		if d.phases || !strings.Contains(rule, "phase") {
			d.line("invariant i%d %s", i, rule)
		}
	}
	d.line("define state_flag(s) = { s.flag }")
	for i, rule := range d.some(0, 1, flowChanges...) {
		d.line("change c%d %s", i, rule)
	}
	var sees, writes []string
	for i := range 2 + d.Intn(2) {
		read, write := d.flowStage(fmt.Sprintf("s%d", i), writes)
		for _, r := range read {
			if i == 0 {
				sees = append(sees, wildly(r))
			}
		}
		writes = nil // of the last stage
		for _, w := range write {
			writes = append(writes, wildly(w))
		}
	}
	if d.phases {
		d.line("stage go1 { in one  next zero }\nstage go2 { in one  next single }\nstage go3 { in zero, single  next last }")
	}
	for range 12 {
		from, to := d.pick(flowRegions...), d.pick(flowRegions...)
		if len(sees) > 0 && d.chance(60) {
			from = d.pick(sees...)
		} else if d.chance(50) {
			from = d.pick("/pin", "/n", "/m", "/k")
		}
		if len(writes) > 0 && d.chance(80) {
			to = d.pick(writes...)
		}
		if claim := fmt.Sprintf("prove no flow from %s to %s%s", from, to, d.pick("", " with memory")); !strings.Contains(d.out.String(), claim) {
			d.line("%s", claim)
		}
	}
	return d.out.String()
}

// wildly is a grant as a region without parameters, as claims have it.
func wildly(grant string) string {
	return strings.NewReplacer("{p}", "*", "{q}", "*", "/-", "", "blind ", "").Replace(grant)
}

// flowStage draws a stage, which often sees something of what is given; read and write are
// its grants.
func (d *drawing) flowStage(name string, written []string) (read, write []string) {
	x := flowSorts[d.Intn(len(flowSorts))]
	if d.chance(25) {
		x = flowSorts[d.Intn(4)]
	}
	write = d.some(1, 2, x.write...)
	read = d.some(0, 1, x.read...)
	if len(written) > 0 && d.chance(70) {
		read = append(read, d.pick(written...))
	}
	for _, w := range write {
		if !strings.HasPrefix(w, "blind") && !strings.HasSuffix(w, "-") && !slices.Contains(read, w) {
			read = append(read, w)
		} else if strings.HasSuffix(w, "-") && w != "/log/-" && w != "/notes/-" {
			read = append(read, strings.TrimSuffix(w, "/-"))
		}
	}
	if x.makes != "" {
		write = append(write, x.makes)
	}
	params := x.params
	if d.chance(15) {
		params = strings.TrimPrefix(params+", w: int", ", ")
	}
	d.line("stage %s%s {", name, map[bool]string{true: "(" + params + ")"}[params != ""])
	if strings.Contains(params, "w: ") {
		d.line("  ensure { w != 5 }")
	}
	if d.phases {
		in := d.some(1, 2, "one", "zero", "single", "last")
		next := flowArrows[in[0]]
		if len(in) > 1 {
			next = nil
		}
		d.line("  in %s", strings.Join(in, ", "))
		if len(next) > 0 && d.chance(60) {
			d.line("  next %s", strings.Join(next, ", "))
			if len(next) > 1 && d.chance(25) {
				d.line("  discloses phase")
			}
		}
	}
	if d.chance(60) {
		d.line("  by %s", d.pick("u", "v", "u, v"))
	}
	if len(read) > 0 {
		d.line("  read %s", strings.Join(read, ", "))
	}
	if len(write) > 0 {
		d.line("  write %s", strings.Join(d.limited(write), ", "))
	}
	if d.chance(20) && len(read) > 0 && !strings.Contains(read[0], "**") {
		d.line("  source %s", read[0])
	}
	d.line("}")
	if d.chance(30) && len(read) > 0 && len(write) > 0 {
		d.line("delegate d%s from %s { write %s }", name, name, write[len(write)-1])
	}
	return read, write
}

// flowContract draws a contract with claims about flows, and their answers.
func (m maker) flowContract() (text string, out *decided) {
	for {
		d := &drawing{maker: m, phases: m.chance(50)}
		text := d.flows()
		if out := compileClaims(text); out != nil {
			return text, out
		}
	}
}

func TestMostContractsDrawnForFlowsCompile(t *testing.T) {
	m, compiled := newMaker(42), 0
	for range 40 {
		d := &drawing{maker: m, phases: m.chance(50)}
		if compileClaims(d.flows()) != nil {
			compiled++
		}
	}
	require.Greater(t, compiled, 15)
}
