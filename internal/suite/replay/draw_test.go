package replay_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

// Contracts drawn as text, so that all of the compiler takes part: several sorts of
// containers, rules of many forms, stages with parameters of every kind, phases.

// A drawing is a contract being drawn.
type drawing struct {
	maker
	out    strings.Builder
	phases bool
}

// contract draws the text of a contract without errors.
func (m maker) contract() (text string, c *ir.Contract) {
	for {
		d := &drawing{maker: m, phases: m.chance(40)}
		text := d.text()
		if codes, c, _ := findings(text); len(codes) == 0 {
			return text, c
		}
	}
}

func (d *drawing) line(format string, args ...any) { fmt.Fprintf(&d.out, format+"\n", args...) }

// some draws between least and most of the parts, in order.
func (d *drawing) some(least, most int, parts ...string) []string {
	n := least + d.Intn(most-least+1)
	var out []string
	for _, i := range d.Perm(len(parts))[:min(n, len(parts))] {
		out = append(out, parts[i])
	}
	return out
}

func (d *drawing) text() string {
	d.header("")
	stages := 3 + d.Intn(3)
	for i := range stages {
		d.stage(fmt.Sprintf("s%d", i))
	}
	d.movers()
	return d.out.String()
}

// header draws the state, phases and rules; more is further members of the state.
func (d *drawing) header(more string) {
	d.line("contract drawn")
	d.line(`state {
  a: map of A  b: map of B  k: list of K by id  n: map of int  log: log of %s  set: set of %s  li: list of %s
  x: int  y: int  one: A  u: U  v: V  opt?: string  ref: key of /a
  pr: decimal  ds: map of decimal  ts: map of T  hd: H%s
}`, d.pick("E", "string", "key of /a"), d.pick("string", "key of /b", "string"), d.pick("E", "int", "key of /k"), more)
	d.line("const TOP = 3\nconst GONE = \"r\"\nconst rate = 0.5\nroles staff = u, v\nroles anyone = staff, x")
	d.line("define low(e, most) = { e.i < most }\ndefine gone(s) = { s == GONE }\ndefine same(b, a) = { b == a }\ndefine small(e) = { low(e, TOP) && !gone(e.s) }")
	d.line(`type A { s: "p" | "q" | %s  i: int%s  t: string  r?: key of /b }`, d.pick(`"r"`, "GONE"), d.pick("", "", " where { self < 4 }", ` where "i is small" { self <= TOP }`))
	d.line(`type B { a: key of /a  i: int  t?: string  v: { lo: int  hi: int }  "b-n": int }%s`, d.pick("", " where { self.i != 9 }", ` where "i is not nine" { self.i != 9 || self.v.lo < self.v.hi }`))
	d.line(`type K { id: string  b: key of /b  i: int  set: set of string  c: decimal%s }`, d.pick("", "", " where { self * rate <= 4.0 }"))
	d.line(`type E { w: string  a: key of /a }`)
	d.line(`type U = { kind: "n"  i: int } | { kind: "m"  m: map of int  %s }`, d.pick("", "a: key of /a", "log: log of string"))
	d.line(`type T = { ok: true  v: int } | { ok: false  e: string  r?: key of /b }`)
	d.line(`type H { "x-id": string  in?: int  "eo:c": decimal }`)
	d.line(`type Said { n: int  at?: string  price: decimal  of: set of string }`)
	x, y := d.spellings(2)
	d.line(`type V = { kind: "n"  x: %s } | { kind: "m"  x: %s }`, x, y)
	if d.phases {
		d.line("phases { one -> two, three  two -> three  three -> one, end by host  end }")
	}
	d.line("measure total = sum /a/*/i")
	d.line("measure top = max /k/*/i")
	d.line(`measure live = count /a/* where { self.s != "r" }`)
	d.line(`measure owed = sum /b/*/i where { !has(self.t) || self.v.lo < 2 }`)
	d.line(`measure bill = sum /k/*/c`)
	d.line(`measure cheap = sum /k/*/c where { self.c <= 2.0 && self.i < TOP }`)
	d.line(`measure dear = max /ds/*`)
	d.line(`measure least = min /b/*/i where { self.v.lo <= self.v.hi }`)
	d.line(`measure most = max /a/*/i where { !gone(self.s) }`)
	for i, rule := range d.some(0, 7, rules...) {
		if strings.Contains(rule, "phase") && !d.phases {
			continue
		}
		d.line("invariant i%d %s", i, d.told(rule))
	}
	for i, rule := range d.some(0, 3, changes...) {
		d.line("change c%d %s", i, d.told(rule))
	}
}

// told is a rule, which may have a message.
func (d *drawing) told(rule string) string {
	at := strings.Index(rule, "{")
	if strings.HasPrefix(rule, "unique") {
		at = 0
	}
	return rule[:at] + d.pick("", "", `"this is a rule" `) + rule[at:]
}

// changes are rules about changes.
var changes = []string{
	`{ after.x >= before.x }`, `{ after.x > before.x && after.y == before.y || after.y > before.y }`,
	`{ !has(before.opt) || has(after.opt) && before.opt == after.opt }`,
	`each e in /a/* { before.s == after.s || before.s == "p" }`,
	`each k, e in /a/* { e.i <= before.i + 1 || k == "z" }`,
	`each e in /b/* { before.a == after.a && after.v.hi >= before.v.hi }`,
	`each e in /k/* { before.set.all(x, x in after.set) }`,
	`{ before.n.all(k, k in after.n) }`, `{ size(after.b) >= size(before.b) || after.x == 0 }`,
	`each e in /n/* { after != before + 1 || now < timestamp("2026-01-01T00:00:00Z") }`,
	`{ before.one == after.one || after.one.i > before.one.i }`, `{ before.u.kind == after.u.kind }`,
	`each d in /ds/* { after <= before * 2 }`, `{ after.pr >= before.pr - 1.5 }`,
	`each t in /ts/* { before.ok == after.ok || t.ok }`,
	`each t in /ts/* { !(before.ok && after.ok) || after.v >= before.v }`,
	`each t in /ts/* { before.ok || after.ok || before.e == after.e }`,
	"{ same(before.hd.`x-id`, after.hd.`x-id`) || actor != \"ann\" }",
	`each e in /a/* { same(before.s, after.s) || role != "v" || actor == "a" }`,
	`{ sum(after.n) >= sum(before.n) }`, `{ sum(after.ds) <= sum(before.ds) + rate }`,
	`each k, e in /k/* { same(before.b, after.b) || low(after, TOP) || k == "k3" }`,
	`each k, e in /k/* { after.c >= before.c || k == "k1" }`,
	`{ before.u.kind != "n" || after.u.kind != "n" || after.u.i >= before.u.i }`,
	`{ max(after.k.map(e, after.k[e].i)).orValue(0) >= max(before.k.map(e, before.k[e].i)).orValue(0) }`,
	`each e in /a/* { low(after, TOP) || role in ["u", "x"] || now.getFullYear() < 2000 }`,
}

// movers are stages that walk the arrows which are not the host's.
func (d *drawing) movers() {
	if d.phases {
		d.line("stage m1 { in one  read /x  next two, three }\nstage m2 { in two  read /x  next three }\nstage m3 { in three  read /x  next one }")
	}
}

// rules are of all forms that are judged in another way.
var rules = []string{
	`each r in /a/* { r.i <= 2 || r.s != "p" }`,
	`each r in /a/* { !has(r.r) || state.b[r.r].i < 3 }`,
	`each r in /b/* { state.a[r.a].s != "r" }`,
	`each r in /b/* { state.a[r.a].i <= r.i }`,
	`each r in /k/* { r.i < 3 || state.b[r.b].v.lo < 2 }`,
	`each r in /k/* { state.a[state.b[r.b].a].s != "q" }`,
	`each r in /b/* { r.v.lo <= r.v.hi }`,
	`each r in /b/* { !has(r.t) || r.t in state.n }`,
	`{ total <= double(state.x + 3) }`,
	`{ top.orValue(0) <= 3 }`,
	`{ size(state.n) <= 2 }`,
	`{ state.x <= state.y }`,
	`{ state.x + state.y < 6 }`,
	`{ state.a[state.ref].s != "r" }`,
	`{ size(state.li) < 3 }`,
	`{ state.a.all(e, state.a[e].i < 3) }`,
	`{ state.n.exists(e, state.n[e] == 0) || size(state.n) == 0 }`,
	`{ size(state.log) < 4 }`,
	`{ state.one.i < 3 || state.x > 0 }`,
	`unique /a/*/t`,
	`unique /k/*/i`,
	`unique /a/*/s, /a/*/i`,
	`unique /b/*/a, /b/*/t`,
	`{ live <= 2 }`,
	`{ live <= state.x || size(state.n) > 2 }`,
	`{ owed <= state.y + 4 }`,
	`each k, r in /a/* { k != "b" || r.i < 2 }`,
	`each k, r in /b/* { k != r.a }`,
	`each k, r in /k/* { k != state.ref || r.i > 0 }`,
	`each k, r in /n/* { !(k in state.a) || state.a[k].s != "q" }`,
	`each k, r in /k/*/b { k == "x" || state.b[r].i < 3 }`,
	`each r in /li/* { state.x < 3 || state.y < 3 }`,
	`{ sum(state.n) <= 4 }`,
	`{ sum(state.k.map(e, state.k[e].i)) + state.x < 6 }`,
	`{ state.a.all(e, state.a[e].i <= max(state.n).orValue(3)) }`,
	`each r in /b/* { sum([r.i, r.v.lo]) < 5 }`,
	"each r in /b/* { r.`b-n` < 3 || r.i > 0 }",
	`{ phase != "two" || state.x < 2 }`,
	`{ phase == "one" || state.a.all(e, state.a[e].s != "q") }`,
	`each r in /b/* { phase != "three" || r.i < 2 }`,
	`{ state.pr <= 2.5 }`,
	`{ bill <= state.pr + 6.0 }`,
	`{ cheap * 2 <= state.pr * 2 + 7 }`,
	`{ dear.orValue(0.0) <= 3.0 }`,
	`{ dear.orValue(0.0) < state.pr + 2.5 || state.x > 2 }`,
	`{ sum(state.ds) <= 5.5 }`,
	`{ sum(state.k.map(e, state.k[e].c * 2)) - state.pr < 9.5 }`,
	`each r in /k/* { r.c * rate < 1.25 || r.i > 0 }`,
	`each r in /k/* { -r.c <= state.pr - 1 }`,
	`each k, r in /ds/* { r >= state.pr * rate || k == "k1" }`,
	`each k, r in /ds/* { !(k in state.a) || !gone(state.a[k].s) || r == 1 }`,
	"{ state.hd.`eo:c` <= state.pr + 2 }",
	"{ state.hd.`x-id` != \"a\" || state.hd.?`in`.orValue(0) < TOP }",
	`{ least.orValue(0) <= 3 }`,
	`{ most.orValue(0) <= state.x + 2 }`,
	`{ min(state.a.map(e, state.a[e].i)).orValue(0) <= state.y }`,
	`{ state.x <= TOP }`,
	`each r in /a/* { low(r, 4) || gone(r.s) }`,
	`each r in /a/* { small(r) || state.x < TOP }`,
	`{ state.a.all(e, low(state.a[e], TOP)) }`,
	`{ low(state.one, state.y + 3) }`,
	`each t in /ts/* { t.ok ? t.v < TOP : t.e != "a" }`,
	`each t in /ts/* { t.ok || !has(t.r) || state.b[t.r].i < 3 }`,
	`each k, t in /ts/* { !t.ok || t.v <= state.x || k in state.n }`,
	`{ state.ts.all(t, !state.ts[t].ok || state.ts[t].v < 4) }`,
	`{ state.u.kind != "n" || state.u.i < state.x + 3 }`,
	`{ state.u.kind == "n" || size(state.u.m) < 3 }`,
	`unique /ts/*/ok, /ts/*/v`,
	`unique /k/*/b, /k/*/c`,
	`unique /ds/*`,
	`each r in /n/* { state.x < 3 }`,
	`each r in /log/* { state.y < 3 }`,
	`each r in /k/* { phase != "two" || state.y < 2 }`,
	`each r in /a/*/r { phase != "one" }`,
	`{ state.n.all(e, e != "a") }`,
	`{ state.a.all(e, state.a[e].i < 9 && state.y < 3) }`,
	`{ !state.k.exists(e, state.k[e].set.exists(w, state.x > 2)) }`,
}

// A sort is a way in which a stage gets hold of entries, with what it may do there.
type sort struct {
	params         []string
	read, write    []string
	source         []string
	require, after []string
}

// sorts use {p} and {q} for their parameters.
var sorts = []sort{
	{nil, []string{"/x", "/y", "/opt", "/u", "/one/i"}, []string{"/x", "/y", "/opt", "/u", "/one/(i|s)", "/u/m"}, []string{"/y", "/one/i"}, []string{"before.x < 3"}, []string{"after.x >= before.x"}},
	{nil, []string{"/li", "/set", "/n", "/a/*/s"}, []string{"/li", "/li/*", "/set/-", "/set", "/n", "/log/-"}, []string{"/li"}, []string{"size(before.li) > 0"}, []string{"size(after.li) < 3"}},
	{nil, []string{"/a/*/(i|s)", "/b/*/i", "/n/*"}, []string{"/a/*/i", "/log/-", "/n"}, []string{"/a/*/i"}, nil, []string{"after.a.all(e, after.a[e].i < 9)"}},
	{nil, []string{"/ref"}, []string{"/ref", "/one/r", "blind /n/*"}, nil, nil, nil},
	{[]string{"p in /a"}, []string{"/a/{p}", "/x"}, []string{"/a/{p}/i", "/a/{p}/(s|t)", "/a/{p}/r", "/a/{p}"}, []string{"/a/{p}/t"}, []string{`before.a[p].s == "p"`}, []string{`after.a[p].s != "r"`}},
	{[]string{"p in /b"}, []string{"/b/{p}", "/y"}, []string{"/b/{p}/i", "/b/{p}/v/lo", "/b/{p}/a", "/b/{p}/(t|v)", "/b/{p}/b-n"}, []string{"/b/{p}/i"}, []string{"before.b[p].i < 3"}, nil},
	{[]string{"p new in /a"}, []string{"/x"}, []string{"/a/{p}", "/log/-"}, nil, nil, []string{`after.a[p].i < 2`}},
	{[]string{"p new in /b", "q in /a"}, []string{"/a/{q}/(s|i)"}, []string{"/b/{p}", "/a/{q}/i"}, nil, nil, []string{"after.b[p].a == q"}},
	{[]string{"p in /b", "q = /b/{p}/a"}, []string{"/b/{p}", "/a/{q}"}, []string{"/b/{p}/i", "/a/{q}/(i|s)", "/b/{p}/v"}, []string{"/a/{q}/i"}, []string{`before.a[q].s != "q"`}, nil},
	{[]string{"p in /k", "q = /k/{p}/b"}, []string{"/k/{p}", "/b/{q}/i"}, []string{"/k/{p}/i", "/k/{p}/set/-", "/b/{q}/i"}, nil, nil, []string{"after.k[p].i < 3"}},
	{[]string{"p new in /k", "q in /b"}, []string{"/b/{q}"}, []string{"/k/{p}"}, nil, nil, []string{"after.k[p].b == q"}},
	{[]string{"p in /a", "q in /a"}, []string{"/a/{p}", "/a/{q}/(s|i)"}, []string{"/a/{p}/i", "/a/{q}/s"}, []string{"/a/{q}/i"}, nil, []string{"after.a[p].i <= after.a[q].i"}},
	{[]string{"p in /n", "q in /n"}, []string{"/n/{p}", "/n/{q}"}, []string{"/n/{p}", "/n/{q}"}, []string{"/n/{q}"}, []string{"before.n[p] < 3"}, nil},
	{nil, []string{"/y", "/v/x"}, []string{"/v/kind", "/v"}, nil, nil, nil},
	{nil, []string{"/v/x", "/v"}, []string{"/y", "/x"}, []string{"/v/x"}, nil, nil},
	{nil, []string{"/one/t", "/a/*/t", "/opt"}, []string{"/one/t", "/opt"}, []string{"/one/t"}, nil, nil},
	{[]string{"p in /a"}, []string{"/one/t", "/opt", "/a/{p}/s"}, []string{"/a/{p}/t", "/a/{p}/i"}, nil, []string{`before.a[p].t != "z"`}, nil},
	{[]string{"p in /b", "q = /b/{p}/a"}, []string{"/a/{q}/t", "/b/{p}/i"}, []string{"/b/{p}/t", "/a/{q}/t"}, nil, nil, nil},
	{[]string{"p in /k", "q in /k/{p}/set"}, []string{"/k/{p}/(i|set)", "/n/{q}"}, []string{"/n/{q}", "/k/{p}/i", "/k/{p}/set", "/k/{p}/set/-"}, nil, []string{`q != "z"`}, nil},
	{[]string{"p in /set"}, []string{"/b/{p}/(i|t)", "/x"}, []string{"/b/{p}/i", "/b/{p}/t", "/x"}, nil, []string{"before.x < 3"}, nil},
	{[]string{"p in /a", "q new in /n"}, []string{"/a/{p}/i"}, []string{"/n/{q}", "/a/{p}/i"}, nil, nil, []string{"after.n[q] == 0"}},
	{nil, []string{"/pr", "/hd"}, []string{"/pr", "/hd/x-id", "/hd/in", "/hd/\"eo:c\"", "/hd"}, []string{"/pr"}, []string{"before.pr < 2.5"}, []string{"after.hd.`eo:c` >= before.hd.`eo:c` - rate"}},
	{[]string{"p in /ds"}, []string{"/ds/{p}", "/pr"}, []string{"/ds/{p}", "/pr"}, []string{"/ds/{p}"}, []string{"before.ds[p] * 2 <= 5.0"}, []string{"after.ds[p] <= before.ds[p] + rate"}},
	{[]string{"p new in /ds"}, []string{"/pr"}, []string{"/ds/{p}"}, nil, nil, []string{"after.ds[p] < after.pr + 2"}},
	{[]string{"p in /ts"}, []string{"/ts/{p}", "/x"}, []string{"/ts/{p}", "/ts/{p}/(ok|v)", "/ts/{p}/v", "/ts/{p}/e"}, []string{"/x"}, []string{"before.ts[p].ok"}, []string{`after.ts[p].ok ? after.ts[p].v < TOP : after.ts[p].e != "b"`}},
	{[]string{"p new in /ts"}, []string{"/x", "/n"}, []string{"/ts/{p}", "/n"}, nil, nil, []string{`!after.ts[p].ok || after.ts[p].v == 0`}},
	{[]string{"p in /k"}, []string{"/k/{p}/c", "/pr"}, []string{"/k/{p}/(c|i)", "/pr"}, []string{"/pr"}, []string{"before.k[p].c < 3.0"}, []string{"after.k[p].c <= after.pr + 2"}},
	{[]string{"p in /a"}, []string{"/a/{p}", "/y"}, []string{"/a/{p}/(i|s)", "/y"}, nil, []string{"low(before.a[p], TOP)"}, []string{"small(after.a[p]) || same(before.a[p].i, after.a[p].i)"}},
}

// bindings are conditions under which parameters are bound.
var bindings = map[string][]string{
	"p in /a":         {`state.a[p].s != "r"`, "state.a[p].i < 3", "state.x < 3", "total < 9.0", `p != state.ref`},
	"q in /a":         {"state.a[q].i < 3 && q != state.ref", `p != q`, "state.y < 3"},
	"p in /b":         {"state.b[p].i < 3", "state.a[state.b[p].a].i < 3", `!has(state.b[p].t) || state.b[p].t != "z"`},
	"q in /b":         {"state.b[q].v.lo <= state.b[q].v.hi", `state.b[q].a != "z"`},
	"p in /k":         {"state.k[p].i < 3", "size(state.k[p].set) < 3", "state.b[state.k[p].b].i < 4"},
	"p in /n":         {"state.n[p] < 3", "size(state.n) < 3"},
	"q in /n":         {"state.n[p] <= state.n[q] || p == q"},
	"p new in /a":     {"size(state.a) < 4", "state.x < 3"},
	"p new in /b":     {"size(state.b) < 4"},
	"q = /b/{p}/a":    {`state.a[q].s != "r"`, "state.a[q].i <= state.b[p].i + 3"},
	"q in /k/{p}/set": {"!(q in state.n) || state.n[q] < 3", "state.k[p].i < 3"},
	"p in /set":       {"size(state.set) < 3", "state.x < 3"},
}

// stage draws a stage, sometimes with a delegate.
func (d *drawing) stage(name string) {
	x := sorts[d.Intn(len(sorts))]
	params, given := "", d.chance(25)
	var said value
	if all := slices.Clone(x.params); given || len(all) > 0 {
		for i, p := range all {
			if of := bindings[p]; len(of) > 0 && d.chance(15) {
				all[i] += d.pick(" where { ", " where { ", ` where "it is so" { `) + d.pick(of...) + d.pick("", "", "", " && "+d.pick(asked...)) + " }"
			}
		}
		if given {
			said = values[d.Intn(len(values))]
			all = append(all, "w: "+said.of)
		}
		params = "(" + strings.Join(all, ", ") + ")"
	}
	write := d.some(1, 2, x.write...)
	if strings.Contains(params, " new in ") && !slices.Contains(write, x.write[0]) {
		write = append(write, x.write[0]) // what is created
	}
	var seen []string
	for _, w := range write {
		if !strings.HasPrefix(w, "blind") && w != "/log/-" && !d.creates(x, w) {
			seen = append(seen, strings.TrimSuffix(w, "/-"))
		}
	}
	seen = append(seen, d.some(0, 2, x.read...)...)
	d.line("stage %s%s {", name, params)
	if d.phases {
		d.line("  in %s", strings.Join(d.some(1, 2, "one", "two", "three"), ", "))
	}
	if d.chance(20) {
		d.line("  by %s", d.pick("staff", "anyone", "u", "v, x"))
	}
	if len(seen) > 0 {
		d.line("  read %s", strings.Join(seen, ", "))
	}
	granted := d.useful(x, d.limited(write), write)
	d.line("  write %s", strings.Join(granted, ", "))
	if d.chance(25) && len(x.source) > 0 && slices.Contains(seen, x.source[0]) {
		d.line("  source %s", x.source[0])
	}
	if d.chance(25) && len(x.require) > 0 {
		d.line("  require%s { %s%s }", d.pick("", "", ` "it was so"`, ` was "it was so"`), x.require[0], d.pick("", "", "", " && "+d.pick(asked...)))
	}
	if d.chance(35) && len(x.after) > 0 && d.mayHold(x.after[0], write) {
		d.line("  ensure%s { %s }", d.pick("", "", ` "it is so"`, ` is`), x.after[0])
	}
	if given {
		d.line("  %s", d.pick(said.conditions...))
	}
	if d.chance(15) {
		d.line("  discloses ensure, require")
	}
	if d.chance(12) {
		d.handOn(x, name, seen)
		return
	}
	d.line("}")
	if d.chance(20) && len(write) > 1 && (!strings.Contains(params, " new in ") || write[0] == x.write[0]) {
		d.line("delegate d%s from %s { write %s }", name, name, granted[0])
	}
}

// handOn ends a stage with what it hands on, which it need not have, and draws a delegate that
// has it.
func (d *drawing) handOn(x sort, name string, seen []string) {
	write := d.some(1, 2, x.write...)
	for _, w := range write {
		if see := strings.TrimSuffix(w, "/-"); !strings.HasPrefix(w, "blind") && w != "/log/-" && !d.creates(x, w) && !slices.Contains(seen, see) {
			seen = append(slices.Clone(seen), see)
		}
	}
	granted := strings.Join(d.useful(x, d.limited(write), write), ", ")
	reads := ""
	if len(seen) > 0 {
		reads = "read " + strings.Join(seen, ", ")
		d.line("  delegable %s", reads)
	}
	d.line("  delegable write %s\n}", granted)
	d.line("delegate d%s from %s { %s  write %s }", name, name, reads, granted)
}

// limited gives some of a stage's grants rights, of which each has one at least.
func (m maker) limited(write []string) []string {
	out := slices.Clone(write)
	for i, w := range out {
		if !strings.HasPrefix(w, "blind") && m.chance(20) {
			out[i] = m.pick(someRights...) + " " + w
		}
	}
	return out
}

// useful has limited grants whole again whose rights change nothing alone: a required member
// is missing neither before a commit nor after it, and a new entry is created.
func (d *drawing) useful(x sort, granted, write []string) []string {
	for i, g := range granted {
		w := write[i]
		creates, changes := strings.Contains(g, "create"), strings.Contains(g, "update") || strings.Contains(g, "create, delete")
		switch {
		case strings.HasPrefix(g, "blind"):
		case strings.HasSuffix(w, "/-") || d.creates(x, w):
			if !creates {
				granted[i] = w
			}
		case !changes && (strings.HasPrefix(w, "/li") || !mayGo.MatchString(w)):
			granted[i] = w
		}
	}
	return granted
}

// mayGo are places that may be missing.
var mayGo = regexp.MustCompile(`^/(opt|u/m|.*/(\*|\{\w\}|r|in))$|^/ts/\{p\}/(v|e)$|^/b/\{p\}/t$`)

var someRights = []string{"create", "update", "delete", "create, update", "update, delete", "create, delete", "create, update, delete"}

// A value is the type of an argument, with conditions that ask for it.
type value struct {
	of         string
	conditions []string
}

var values = []value{
	{"int", []string{"require { w < 6 }", "ensure { w != 2 && after.x < w + 4 }", "require { before.y <= w }", "ensure { after.x != w || before.y < 2 }"}},
	{"secret int", []string{"require { w < 6 }", "ensure { after.x != w || before.y < 2 }"}},
	{"0 | 1 | 7", []string{"require { w != 7 }", "ensure { after.x != w || before.y < 2 }"}},
	{"decimal", []string{"require { w * rate < 2.5 }", `ensure as_said "it is as was said" { after.pr <= w + 1 || before.x > 1 }`}},
	{"Said", []string{`require as_said { w.n < 5 && w.price <= before.pr + 4 }`, `ensure { w.of == after.set || w.?at.orValue("") != "a" }`, `require "it was said" { before.x in [w.n, w.n + 1] || size(w.of) > 0 }`}},
	{"set of string", []string{"require { size(w) < 3 }", `ensure { size(after.set) < 3 || w.all(e, e in after.set) }`}},
	{`"p" | "q" | GONE`, []string{"require { !gone(w) }", "ensure { gone(w) || after.one.s != w || low(after.one, TOP) }"}},
}

// asked are conditions over the inputs of a decision.
var asked = []string{`role != "x"`, `(actor == "" || role == "x")`, `now < timestamp("2026-01-01T00:00:00Z")`, `now.getFullYear() == 1`, `actor != before.one.t`, `(role == "u" || actor == "ann")`, `(now - duration("36h")).getFullYear() < 2030`}

// inputs are what a drawn proposal is decided by beside its arguments and its patch.
func (m maker) inputs(s *ir.Stage, p *footprint.Proposal) {
	if p.Role = m.pick("", "u", "v", "x"); len(s.By) > 0 {
		p.Role = m.pick(s.By...)
	}
	p.Actor, p.Now = m.pick("", "ann", "a"), clocks[m.Intn(len(clocks))]
}

var clocks = []time.Time{{}, time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC)}

// mayHold reports whether a condition may hold on what a stage writes.
func (d *drawing) mayHold(condition string, write []string) bool {
	return condition != "after.x >= before.x" || slices.Contains(write, "/x")
}

// creates reports whether a write is below a key that a parameter creates.
func (d *drawing) creates(x sort, write string) bool {
	return slices.ContainsFunc(x.params, func(p string) bool {
		name, of, isNew := strings.Cut(p, " new in ")
		return isNew && strings.HasPrefix(write, of+"/{"+name+"}")
	})
}

// drawnConstructs are what the drawn contracts must hold, each by a pattern of its text.
var drawnConstructs = map[string]*regexp.Regexp{
	"a value as an argument":           regexp.MustCompile(`w: .*\) \{`),
	"a parameter in a map":             regexp.MustCompile(`\(p in /a`),
	"two parameters":                   regexp.MustCompile(`\(p in /a.*, q in /a`),
	"what a condition asks":            regexp.MustCompile(`require.*(role|actor|now)`),
	"a rule about changes":             regexp.MustCompile(`change c0 \{`),
	"a rule about changes of entries":  regexp.MustCompile(`change c\d each`),
	"a condition on binding":           regexp.MustCompile(`in /\w+ where \{ state`),
	"a condition on a new key":         regexp.MustCompile(`new in /\w+ where`),
	"a condition that asks":            regexp.MustCompile(`\(.* where .*(role|actor|now).*\) \{`),
	"one of a set":                     regexp.MustCompile(`\(p in /set`),
	"one of an entry's set":            regexp.MustCompile(`q in /k/\{p\}/set`),
	"a new key":                        regexp.MustCompile(`p new in /a`),
	"a new key and another":            regexp.MustCompile(`p new in /b.*, q in /a`),
	"a dependent parameter":            regexp.MustCompile(`q = /b/\{p\}/a`),
	"a key of a keyed list":            regexp.MustCompile(`p in /k.*, q = /k/\{p\}/b`),
	"references in a log":              regexp.MustCompile(`log: log of key of /a`),
	"references in a set":              regexp.MustCompile(`set: set of key of /b`),
	"references in a list":             regexp.MustCompile(`li: list of key of /k`),
	"records with references in a log": regexp.MustCompile(`log: log of E`),
	"references in a union":            regexp.MustCompile(`kind: "m"  m: map of int  a: key`),
	"a log in a union":                 regexp.MustCompile(`kind: "m"  m: map of int  log: log`),
	"a turn of a union":                regexp.MustCompile(`write .*/v/kind`),
	"what a union spells":              regexp.MustCompile(`read .*/v/x`),
	"a look-up":                        regexp.MustCompile(`state\.a\[r\.a\]`),
	"a look-up through a look-up":      regexp.MustCompile(`state\.a\[state\.b\[r\.b\]\.a\]`),
	"a sum":                            regexp.MustCompile(`total <=`),
	"a largest value":                  regexp.MustCompile(`top\.orValue`),
	"a length":                         regexp.MustCompile(`size\(state\.n\)`),
	"a length of a log":                regexp.MustCompile(`size\(state\.log\)`),
	"all entries":                      regexp.MustCompile(`state\.a\.all`),
	"some entry":                       regexp.MustCompile(`state\.n\.exists`),
	"an entry that is not looked at":   regexp.MustCompile(`each r in \S+ \{ state\.`),
	"a rule about keys alone":          regexp.MustCompile(`all\(e, e != `),
	"unique values":                    regexp.MustCompile(`unique`),
	"values unique together":           regexp.MustCompile(`unique \S+, `),
	"a count with a condition":         regexp.MustCompile(`\{ live <= `),
	"a sum with a condition":           regexp.MustCompile(`\{ owed <= `),
	"a member in backquotes":           regexp.MustCompile("r.`b-n`"),
	"the key of an entry":              regexp.MustCompile(`each k, r in`),
	"a look-up by an entry's key":      regexp.MustCompile(`state\.a\[k\]`),
	"a fold of a map":                  regexp.MustCompile(`sum\(state\.n\)|max\(state\.n\)`),
	"a fold of what a macro makes":     regexp.MustCompile(`sum\(state\.k\.map`),
	"a rule of a list's elements":      regexp.MustCompile(`each r in /li/`),
	"a rule of a phase":                regexp.MustCompile(`phase [!=]= `),
	"a choice of phases":               regexp.MustCompile(`next two, three`),
	"a delegate of what is handed on":  regexp.MustCompile(`delegable write`),
	"a delegate":                       regexp.MustCompile(`delegate `),
	"require":                          regexp.MustCompile(`require \{`),
	"ensure":                           regexp.MustCompile(`ensure \{`),
	"a record as an argument":          regexp.MustCompile(`w: Said`),
	"a decimal as an argument":         regexp.MustCompile(`w: decimal`),
	"a set as an argument":             regexp.MustCompile(`w: set`),
	"a secret argument":                regexp.MustCompile(`w: secret`),
	"a decimal that is compared":       regexp.MustCompile(`(state|before|after)\.pr\b|\br\.c\b|(dear|bill) <`),
	"a decimal that is computed":       regexp.MustCompile(`\* rate|\* 2|[-+] rate|pr [-+]|-r\.c`),
	"a sum of decimals":                regexp.MustCompile(`\b(bill|cheap) |sum\(\w+\.(ds|k\.map\(e, \w+\.k\[e\]\.c)`),
	"a constant":                       regexp.MustCompile(`\b(TOP|rate)\b`),
	"a constant in a type":             regexp.MustCompile(`\| GONE`),
	"a definition":                     regexp.MustCompile(`\b(low|gone|same)\(`),
	"a definition in another":          regexp.MustCompile(`\bsmall\(`),
	"a group of roles":                 regexp.MustCompile(`by (staff|anyone)`),
	"the role":                         regexp.MustCompile(`\brole (==|!=|in)`),
	"the actor":                        regexp.MustCompile(`\bactor [=!]=`),
	"the clock":                        regexp.MustCompile(`now (<|-|\.)|now\.get`),
	"a message of a rule":              regexp.MustCompile(`(?m)^(invariant|change) .*"this is a rule"`),
	"a message of a condition":         regexp.MustCompile(`(require|ensure)( \w+)? "`),
	"a message of a constraint":        regexp.MustCompile(`where "`),
	"a condition with a name":          regexp.MustCompile(`(require|ensure) \w`),
	"a least value with a condition":   regexp.MustCompile(`\bleast\.`),
	"a largest value with a condition": regexp.MustCompile(`\bmost\.`),
	"a fold of a least value":          regexp.MustCompile(`\bmin\(`),
	"a change of an entry by its key":  regexp.MustCompile(`change \w+ each k, `),
	"a change of a sum":                regexp.MustCompile(`sum\(after`),
	"a change of a union":              regexp.MustCompile(`before\.(ok|u\.kind)`),
	"a change that asks":               regexp.MustCompile(`(?m)^change .*\b(role|actor|now)\b`),
	"a union narrowed by a literal":    regexp.MustCompile(`t\.ok \?|\.ok \|\||u\.kind [!=]= `),
	"another name in backquotes":       regexp.MustCompile("hd\\.\\??`"),
	"a pin":                            regexp.MustCompile(`after\.b\[p\]\.a == q`),
	"a source":                         regexp.MustCompile(`source /`),
	"a right":                          regexp.MustCompile(`write .*(create|update|delete) /`),
	"two rights":                       regexp.MustCompile(`write .*create, (update|delete) /`),
	"a blind grant":                    regexp.MustCompile(`write .*blind`),
	"an append":                        regexp.MustCompile(`/log/-`),
	"an element of a set":              regexp.MustCompile(`/set/-`),
	"elements of a list":               regexp.MustCompile(`write .*/li/\*`),
	"disclosures":                      regexp.MustCompile(`discloses`),
	"a constraint":                     regexp.MustCompile(`where \{`),
}

func TestTheDrawnContractsHoldEveryConstruct(t *testing.T) {
	m := newMaker(21)
	counts, distinct := map[string]int{}, map[string]bool{}
	const contracts = 600
	for range contracts {
		text, _ := m.contract()
		distinct[text] = true
		part := used(text)
		for name, pattern := range drawnConstructs {
			if pattern.MatchString(part) {
				counts[name]++
			}
		}
	}
	t.Logf("%d distinct contracts: %v", len(distinct), counts)
	for name := range drawnConstructs {
		require.GreaterOrEqual(t, 100*counts[name], leastDrawn*contracts, name)
	}
	require.Greater(t, len(distinct), contracts-10)
}

// used is a contract without the constants, definitions, groups and measures that all drawn
// contracts declare and nothing of this one names.
func used(text string) string {
	for {
		names := map[string]int{}
		for _, name := range word.FindAllString(text, -1) {
			names[name]++
		}
		left := declared.ReplaceAllStringFunc(text, func(line string) string {
			if names[declared.FindStringSubmatch(line)[2]] > 1 {
				return line
			}
			return ""
		})
		if left == text {
			return text
		}
		text = left
	}
}

var word = regexp.MustCompile(`\w+`)

var declared = regexp.MustCompile(`(?m)^(const|define|roles|measure) (\w+).*\n`)

// involved is the part of a contract that two stages have to do with: themselves, the rules
// that they may trigger, and what these name.
func involved(text string, stages ...*ir.Stage) string {
	keep := map[string]bool{}
	for _, s := range stages {
		keep["stage "+s.Name], keep["delegate "+s.Name] = true, true
		for _, g := range s.Gates {
			keep[string(g.Kind)+" "+g.Name] = true
			keep["types"] = keep["types"] || g.Kind == ir.TypeGate
		}
	}
	return used(declarations.ReplaceAllStringFunc(text, func(block string) string {
		of := declarations.FindStringSubmatch(block)
		if kind := of[1]; kind == "type" && keep["types"] || keep[kind+" "+of[2]] {
			return block
		}
		return ""
	}))
}

// declarations are the parts of a drawn contract that are left out unless they take part.
var declarations = regexp.MustCompile(`(?m)^(stage|delegate|invariant|change|type) (\w+)(.*\{\n(  .*\n)*\}\n|.*\n)`)
