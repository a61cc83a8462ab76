package replay_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/source"
)

// Where a stage is within another, or delegated by it, the other may run in its place:
// what the one commits, so does the other, with the arguments that the certificate names,
// and it is shown all that the one is shown.

// A blueprint is a stage of the drawn contracts, clause by clause. Its paths and rules
// name parameters in braces.
type blueprint struct {
	name                           string
	params                         []string
	in, by, next                   []string
	read, write, source, delegable []string
	hands                          [3][]string // what is handed on to read, write and take
	require, ensure, produce       []string
	where                          string // the condition on the last parameter
	attempts                       int
	rights                         string            // of the write grants, "" for all
	rename                         map[string]string // of parameters
	heads                          []string          // names and messages of the conditions, by turns
}

func (b blueprint) clone() blueprint {
	for _, list := range []*[]string{&b.params, &b.in, &b.by, &b.next, &b.read, &b.write, &b.source, &b.delegable, &b.hands[0], &b.hands[1], &b.hands[2], &b.require, &b.ensure, &b.produce} {
		*list = slices.Clone(*list)
	}
	return b
}

// text writes the stage; what it writes and takes, it reads.
func (b blueprint) text() string {
	var out strings.Builder
	named := func(s string) string {
		var pairs []string
		for _, p := range slices.Sorted(maps.Keys(b.rename)) {
			pairs = append(pairs, "{"+p+"}", "{"+b.rename[p]+"}")
		}
		return strings.NewReplacer(pairs...).Replace(s)
	}
	var params []string
	for _, p := range b.params {
		name, rest, _ := strings.Cut(p, " ")
		params = append(params, cmp.Or(b.rename[name], name)+" "+named(rest))
	}
	if b.where != "" {
		params[len(params)-1] += " where { " + strings.NewReplacer("{", "", "}", "").Replace(named(b.where)) + " }"
	}
	fmt.Fprintf(&out, "stage %s(%s) {\n", b.name, strings.Join(params, ", "))
	clause := func(name string, of []string) {
		if len(of) > 0 {
			fmt.Fprintf(&out, "  %s %s\n", name, named(strings.Join(of, ", ")))
		}
	}
	rules := func(name string, of []string) {
		for i, x := range of {
			head := ""
			if len(b.heads) > 0 {
				head = strings.ReplaceAll(b.heads[i%len(b.heads)], "NAME", fmt.Sprint(name, i))
			}
			fmt.Fprintf(&out, "  %s%s { %s }\n", name, head, strings.NewReplacer("{", "", "}", "").Replace(named(x)))
		}
	}
	clause("in", b.in)
	clause("by", b.by)
	clause("read", b.allRead())
	clause("write", b.granted(b.write))
	clause("source", b.source)
	clause("delegable", b.delegable)
	for i, kind := range handedKinds {
		clause("delegable "+kind, b.hands[i])
	}
	rules("require", b.require)
	rules("ensure", b.ensure)
	clause("produce", b.produce)
	clause("next", b.next)
	if b.attempts > 0 {
		fmt.Fprintf(&out, "  attempts %d\n", b.attempts)
	}
	out.WriteString("}")
	return out.String()
}

var handedKinds = [3]string{"read", "write", "source"}

// granted is what is written, with the rights that it has.
func (b blueprint) granted(write []string) []string {
	out := slices.Clone(write)
	for i, w := range out {
		if b.rights != "" && !strings.HasPrefix(w, "blind") {
			out[i] = b.rights + " " + w
		}
	}
	return out
}

func (b blueprint) allRead() []string {
	out := slices.Clone(b.read)
	for _, w := range append(slices.Clone(b.write), b.source...) {
		isNew := slices.ContainsFunc(b.params, func(p string) bool {
			name, of, ok := strings.Cut(p, " new in ")
			return ok && strings.HasPrefix(w, of+"/{"+name+"}")
		})
		if w != "/log/-" {
			w = strings.TrimSuffix(w, "/-")
		}
		if !isNew && !strings.HasPrefix(w, "blind") && w != "/log/-" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// containerOf is what a parameter is a key of, "" if it is free to be any other.
func (b blueprint) containerOf(param string) (name, of string) {
	name, rest, _ := strings.Cut(param, " ")
	switch {
	case strings.HasSuffix(rest, "/a") && strings.Contains(rest, "= /b/"):
		return name, "a"
	case strings.HasSuffix(rest, "/b") && strings.Contains(rest, "= /k/"), rest == "in /set":
		return name, "b"
	case strings.HasSuffix(rest, "}/set"):
		return name, "n"
	}
	return name, rest[strings.LastIndex(rest, "/")+1:]
}

// chains are paths, each within the next. {a} is a key of /a, and so on.
var chains = [][]string{
	{"/a/{a}/i", "/a/{a}/(i|s)", "/a/{a} except /a/{a}/t", "/a/{a}", "/a/*", "/a"},
	{"/a/{a}/t", "/a/{a}/(t|r)", "/a/{a} except /a/{a}/(i|s)", "/a/{a}", "/a"},
	{"/a/{a}/s", "/a/*/s", "/a/*/(i|s)", "/a except /a/*/(t|r)", "/a"},
	{"/a/{a}/t", "/a/*/t", "/**/t"},
	{"/b/{b}/v/lo", "/b/{b}/v", "/b/{b}/(t|v)", "/b/{b}", "/b/*", "/b"},
	{"/b/{b}/i", "/b/{b}/(i|a)", "/b/{b} except /b/{b}/v/lo", "/b/{b} except /b/{b}/v/lo", "/b/{b}", "/b"},
	{"/b/{b}/a", "/b/*/a", "/b/*/(a|i)", "/b except /b/*/v/**", "/b"},
	{"/k/{k}/i", "/k/{k}/(i|b)", "/k/{k} except /k/{k}/set", "/k/{k} except /k/{k}/set/*", "/k/{k}", "/k"},
	{"/k/{k}/set/*", "/k/{k}/set", "/k/{k}", "/k/*", "/k"},
	{"/k/{k}/id", "/k/*/id", "/k/*/(id|i)", "/k"},
	{"/n/{n}", "/n/*", "/n"},
	{"/x"}, {"/y"}, {"/opt"}, {"/ref"},
	{"/one/i", "/one/(i|s)", "/one except /one/t", "/one"},
	{"/u/i", "/u/(i|kind)", "/u"}, {"/u/m/*", "/u/m", "/u/(kind|m)", "/u"},
	{"/li/*", "/li"}, {"/set/*", "/set"}, {"/log/*", "/log"}, {"/pr"}, {"/ds/*", "/ds"}, {"/hd/\"eo:c\"", "/hd/(\"eo:c\"|in)", "/hd"},
	{"/ts/*/ok", "/ts/*/(ok|v)", "/ts/*", "/ts"}, {"/k/{k}/c", "/k/{k}/(c|i)", "/k/{k}"},
	{"/w/x", "/w/(x|y)", "/w"}, {"/w/**", "/w"},
	{"/o/x", "/o/(x|m)", "/o except /o/m/*", "/o"}, {"/o/m/*", "/o/m", "/o"},
	{"/g/*/x", "/g/*/(x|y)", "/g/*", "/g"}, {"/g/*/y", "/g except /g/*/x", "/g"},
	{"/h/*/*", "/h/*", "/h"}, {"/h/*/0", "/h/*/*", "/h"},
}

// more is members of the state that only these contracts have.
const more = `
  w: W  o?: { x: int  m: map of string }  g: map of W  h: map of (string | (map of int) | (list of int))`

var writable = []string{
	"/log/-", "/set/-", "blind /n/*", "blind /g/*", "/a/{a}", "/a/{a}/(i|s)", "/b/{b}/v", "/b/{b}/(i|t)", "/k/{k}/i", "/k/{k}/set", "/n/{n}",
	"/x", "/opt", "/one/(i|s)", "/u", "/u/m", "/li", "/set", "/w", "/o", "/o/m", "/g", "/a", "/b/*/i", "/n", "/h/*", "/k/{k}/set/-",
	"/pr", "/ds", "/hd", "/ts", "/k/{k}/c",
}

// conditions of a stage that has keys of what they name.
var (
	requirable = []string{"before.x < 3", `before.a[{a}].s == "p"`, "before.a[{a}].i < 3", "before.b[{b}].i < 3 && before.x < 3", "before.n[{n}] < 3", "before.k[{k}].i < 3", "before.b[{b}].a == {a}",
		"low(before.a[{a}], TOP)", "before.pr * rate < 2.5", "before.k[{k}].c <= before.pr + 4", `role != "x"`, "actor != before.one.t", `now < timestamp("2026-01-01T00:00:00Z") || before.x < TOP`, "before.u.kind != \"n\" || before.u.i < TOP"}
	ensurable = []string{"after.y < 3", `after.a[{a}].s != "r"`, "after.a[{a}].i < 3 && after.y < 3", "after.b[{b}].i < 3", "after.k[{k}].i <= before.k[{k}].i", "after.b[{b}].a == {a}", "has(after.opt)",
		"!gone(after.a[{a}].s)", "sum(after.ds) <= 9.5", "after.k[{k}].c - rate <= before.k[{k}].c", "same(before.one, after.one) || actor == \"ann\"", "after.hd.`eo:c` < 3"}
	producible = []string{"/opt", "/a/{a}/r", "/b/{b}/t", "/o"}
)

var parameterLists = [][]string{
	nil, {"p in /a"}, {"p in /b"}, {"p in /k"}, {"p in /n"}, {"p new in /a"}, {"p new in /b", "q in /a"}, {"p in /a", "q in /a"},
	{"p in /b", "q in /a"}, {"p in /b", "q = /b/{p}/a"}, {"p in /k", "q = /k/{p}/b"}, {"p in /k", "q in /b"},
	{"p in /b", "q = /b/{p}/a", "r in /a"}, {"p new in /n", "q new in /n"}, {"p in /k", "q = /k/{p}/b", "r = /b/{q}/a"}, {"p in /a", "q in /b", "r in /n"},
	{"p in /a", "q new in /a"}, {"p in /k", "q in /k/{p}/set"}, {"q in /set"}, {"p in /set", "q in /b"},
}

// bound gives a path the stage's parameters; "" if it has none of that sort.
func (d *drawing) bound(b blueprint, path string) string {
	for _, container := range []string{"a", "b", "k", "n"} {
		if !strings.Contains(path, "{"+container+"}") {
			continue
		}
		var fit []string
		for _, p := range b.params {
			if name, of := b.containerOf(p); of == container {
				fit = append(fit, name)
			}
		}
		if len(fit) == 0 {
			return ""
		}
		path = strings.ReplaceAll(path, "{"+container+"}", "{"+d.pick(fit...)+"}")
	}
	return path
}

// condition draws a condition on binding; "" for none.
func (d *drawing) condition(b blueprint) string {
	return d.bound(b, strings.ReplaceAll(d.pick(requirable...), "before.", "state."))
}

// several draws up to most of a list, as the stage has them.
func (d *drawing) several(b blueprint, most int, list []string) []string {
	var out []string
	for range d.Intn(most + 1) {
		if x := d.bound(b, d.pick(list...)); x != "" && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	return out
}

func allPaths() []string {
	var out []string
	for _, c := range chains {
		out = append(out, c...)
	}
	return out
}

// wide draws a stage.
func (d *drawing) wide(name string) blueprint {
	b := blueprint{name: name, params: slices.Clone(parameterLists[d.Intn(len(parameterLists))])}
	if d.phases {
		b.in = d.some(1, 2, "one", "two", "three")
		if d.chance(30) {
			from := d.pick("one", "two", "three")
			b.in, b.next = []string{from}, map[string][]string{"one": {"two", "three"}, "two": {"three"}, "three": {"one"}}[from]
		}
	}
	if d.chance(40) {
		b.by = d.some(1, 2, "u", "v", "w")
	} else if d.chance(20) {
		b.by = []string{d.pick("staff", "anyone")}
	}
	if d.chance(50) {
		b.heads = d.some(1, 3, "", ` "it is so"`, " NAME", ` NAME "it is so"`)
	}
	b.read = d.several(b, 4, allPaths())
	b.write = d.several(b, 3, writable)
	for _, p := range b.params {
		if name, of, isNew := strings.Cut(p, " new in "); isNew {
			b.write = append(b.write, of+"/{"+name+"}")
		}
	}
	if d.chance(30) {
		b.rights = d.pick(someRights...)
	}
	if d.chance(30) {
		b.source = d.several(b, 2, []string{"/a/{a}/i", "/x", "/one/i", "/b/{b}", "/n/{n}", "/opt", "/a/*/t"})
	}
	switch {
	case d.chance(15):
		b.delegable = b.allRead()
	case d.chance(25):
		b.hands = d.handing(b)
	}
	b.require, b.ensure, b.produce = d.several(b, 1, requirable), d.several(b, 1, ensurable), nil
	if len(b.params) > 0 && d.chance(30) {
		b.where = d.condition(b)
	}
	if d.chance(25) {
		d.asks(&b)
	}
	if d.chance(10) {
		b.produce = d.several(b, 1, producible)
	}
	if d.chance(20) {
		b.attempts = 1 + d.Intn(5)
	}
	return b
}

// handing draws what a stage hands on, with what it must be possible to see of that.
func (d *drawing) handing(b blueprint) (hands [3][]string) {
	if d.chance(70) {
		hands[1] = b.granted(d.several(b, 2, writable))
	}
	if d.chance(30) {
		hands[2] = d.several(b, 1, []string{"/a/{a}/i", "/x", "/one/i", "/opt", "/a/*/t"})
	}
	if d.chance(80) {
		seen := b.clone()
		seen.read, seen.source = append(seen.allRead(), d.several(b, 2, allPaths())...), hands[2]
		for _, w := range hands[1] {
			if i := strings.Index(w, "/"); !strings.HasPrefix(w, "blind") {
				seen.write = append(seen.write, w[i:])
			}
		}
		hands[0] = seen.allRead()
	}
	return hands
}

// asks gives a stage an argument that is a value, and perhaps a condition about it.
func (d *drawing) asks(b *blueprint) {
	v := values[d.Intn(len(values))]
	name := d.pick("w", "w", "said")
	b.params = append(b.params, name+": "+v.of)
	if v.of == "int" || v.of == "decimal" {
		b.require = append(b.require, d.pick(name+" < 6", "before.x <= "+name, name+" != 2"))
	} else {
		b.ensure = append(b.ensure, "after.y < 4 || "+name+" == "+name)
	}
}

// narrower is a path that one of a chain holds; often itself.
func (d *drawing) narrower(path string, up bool) string {
	if d.chance(30) {
		return path
	}
	shape, names := path, map[string]string{}
	for _, param := range []string{"p", "q", "r"} {
		for _, container := range []string{"a", "b", "k", "n"} {
			if strings.Contains(path, "/"+container+"/{"+param+"}") {
				shape, names[container] = strings.ReplaceAll(shape, "{"+param+"}", "{"+container+"}"), param
			}
		}
	}
	for _, i := range d.Perm(len(chains)) {
		at := slices.Index(chains[i], shape)
		if at < 0 {
			continue
		}
		other := chains[i][d.Intn(at+1)]
		if up {
			other = chains[i][at+d.Intn(len(chains[i])-at)]
		}
		for container, param := range names {
			other = strings.ReplaceAll(other, "{"+container+"}", "{"+param+"}")
		}
		if !strings.Contains(strings.NewReplacer("{p}", "", "{q}", "", "{r}", "").Replace(other), "{") {
			return other
		}
	}
	return path
}

// narrow draws a stage that may do less than another, mostly.
func (d *drawing) narrow(b blueprint, name string) blueprint {
	a := b.clone()
	a.name = name
	less := func(list []string, keep int) []string {
		return slices.DeleteFunc(list, func(string) bool { return len(list) > 1 && !d.chance(keep) })
	}
	a.in, a.by, a.next = less(a.in, 80), less(a.by, 70), less(a.next, 70)
	if len(a.by) == 0 && d.chance(30) {
		a.by = []string{"u"}
	}
	for _, list := range []*[]string{&a.read, &a.source} {
		*list = less(*list, 80)
		for i, p := range *list {
			(*list)[i] = d.narrower(p, false)
		}
	}
	a.write = slices.DeleteFunc(a.write, func(w string) bool { return !strings.Contains(w, "{") && d.chance(25) })
	for i, w := range a.write {
		if !strings.HasPrefix(w, "blind") && len(d.news(a)) == 0 {
			a.write[i] = d.narrower(w, false)
		}
	}
	if all := strings.Split(cmp.Or(a.rights, "create, update, delete"), ", "); d.chance(30) {
		a.rights = strings.Join(d.some(1, len(all), all...), ", ")
	}
	for i, of := range a.hands {
		if of = less(of, 70); i != 1 {
			for j, p := range of {
				of[j] = d.narrower(p, false)
			}
		}
		a.hands[i] = of
	}
	if len(a.delegable) > 0 && d.chance(60) {
		a.delegable = a.delegable[:1]
	}
	switch {
	case len(a.params) > 0 && d.chance(10):
		a.where = d.condition(a)
	case a.where != "" && d.chance(30):
		a.where += " && " + cmp.Or(d.condition(a), "state.y < 7")
	}
	a.require = append(a.require, d.several(a, 1, requirable)...)
	if d.chance(30) {
		a.ensure = append(a.ensure, d.several(a, 1, ensurable)...)
	}
	if b.attempts > 0 && d.chance(50) {
		a.attempts = 1 + d.Intn(b.attempts)
	}
	if d.chance(10) {
		d.asks(&a)
	}
	if d.chance(50) {
		a.heads = d.some(1, 3, "", ` "this is so"`, " NAME", ` NAME "it is so"`)
	}
	d.parameters(&a)
	if d.chance(35) {
		d.spoil(&a, b)
	}
	return a
}

func (d *drawing) news(b blueprint) []string {
	return slices.DeleteFunc(slices.Clone(b.params), func(p string) bool { return !strings.Contains(p, " new in ") })
}

// parameters gives a stage others that may serve in place of its own.
func (d *drawing) parameters(a *blueprint) {
	merge := func(from, to string) {
		for _, list := range []*[]string{&a.read, &a.write, &a.source, &a.delegable, &a.hands[0], &a.hands[1], &a.hands[2], &a.require, &a.ensure, &a.produce} {
			for i := range *list {
				(*list)[i] = strings.ReplaceAll((*list)[i], "{"+from+"}", "{"+to+"}")
			}
		}
	}
	switch text := strings.Join(a.params, ", "); {
	case text == "p in /a, q in /a" && d.chance(40):
		a.params = []string{"p in /a"}
		merge("q", "p")
	case text == "p new in /n, q new in /n" && d.chance(50):
		a.params = []string{"p new in /n"}
		merge("q", "p")
	case text == "p in /b, q in /a" && d.chance(50):
		a.params = []string{"p in /b", "q = /b/{p}/a"}
	case text == "p in /k, q in /b" && d.chance(50):
		a.params = []string{"p in /k", "q = /k/{p}/b"}
	case text == "p in /b, q = /b/{p}/a, r in /a" && d.chance(50):
		a.params = []string{"p in /b", "q = /b/{p}/a"}
		merge("r", "q")
	case !strings.Contains(text, "=") && d.chance(30):
		slices.Reverse(a.params)
	}
	if d.chance(20) {
		a.params = append(a.params, "z in /"+d.pick("a", "n", "k"))
	}
	if d.chance(50) {
		a.rename = d.renaming()
	}
}

func (d *drawing) renaming() map[string]string {
	return []map[string]string{{"p": "e", "q": "f", "r": "g"}, {"p": "q", "q": "p"}, {"p": "q", "q": "r", "r": "p"}}[d.Intn(3)]
}

// spoil gives a stage something that the other may not have.
func (d *drawing) spoil(a *blueprint, b blueprint) {
	switch d.Intn(12) {
	case 0, 1:
		a.read = append(a.read, d.several(*a, 2, allPaths())...)
	case 2:
		for i := range a.read {
			a.read[i] = d.narrower(a.read[i], true)
		}
	case 3:
		a.write = append(a.write, d.several(*a, 2, writable)...)
		a.rights = d.pick("", a.rights, d.pick(someRights...))
	case 4:
		for i := range a.write {
			a.write[i] = d.narrower(a.write[i], true)
		}
	case 5:
		a.require = nil
	case 6:
		a.ensure, a.produce = nil, nil
	case 7:
		if len(a.in) > 0 && len(a.next) == 0 {
			a.in = []string{"one", "two"}
		}
		a.by = d.some(0, 2, "u", "v", "w")
	case 8:
		a.source = append(a.source, d.several(*a, 2, []string{"/x", "/one/i", "/b/{b}", "/n/{n}"})...)
	case 9:
		a.attempts = cmp.Or(b.attempts, 3) + 1
	case 10:
		if i := slices.IndexFunc(a.params, func(p string) bool { return strings.Contains(p, " in /b") }); i >= 0 && len(a.params) == 1 {
			a.params = append(a.params, "y in /b")
			a.read, a.write = append(a.read, "/b/{y}/i"), append(a.write, "/b/{y}/i")
		}
	case 11:
		if len(a.next) == 0 && slices.Equal(a.in, []string{"two"}) {
			a.next = []string{"three"}
		} else {
			a.next = nil
		}
	}
}

// containments draws a contract with claims that one stage is within another.
func (m maker) containments() (text string, c *ir.Contract, results []footprint.Result, drawn int) {
	for {
		drawn++
		d := &drawing{maker: m, phases: m.chance(60)}
		d.header(more)
		d.line(`type W = string | { x: int  y?: int }`)
		b := d.wide("b")
		a := d.narrow(b, "a")
		switch {
		case d.chance(20): // the other in two
			half := b.clone()
			b.name, half.name = "b1", "b2"
			take := func(list []string) (one, two []string) {
				for _, x := range list {
					if d.chance(50) {
						one = append(one, x)
					} else {
						two = append(two, x)
					}
				}
				return one, two
			}
			b.read, half.read = take(b.read)
			b.write, half.write = take(b.write)
			b.require, half.require = take(b.require)
			if d.chance(60) {
				half.rename = d.renaming()
			}
			d.line("%s\n%s\n%s\ncompose b = b1 + b2\nprove a within b", a.text(), b.text(), half.text())
		case d.chance(15): // the one in two
			second := d.narrow(b, "a2")
			a.name = "a1"
			d.line("%s\n%s\n%s\ncompose a = a1 + a2\nprove a within b", a.text(), second.text(), b.text())
		case d.chance(45): // one handed down
			d.line("%s\n%s", b.text(), a.text())
			child := d.handedDown(b)
			d.line("%s\nprove a within d\nprove d within a\nprove d within b\nprove a within b", child)
		default:
			d.line("%s\n%s\nprove a within b\nprove b within a", a.text(), b.text())
		}
		d.movers()
		out := compileClaims(d.out.String())
		if out != nil {
			return d.out.String(), out.c, out.results, drawn
		}
	}
}

// handedDown draws a delegate of a stage.
func (d *drawing) handedDown(b blueprint) string {
	out := "delegate d from b {\n"
	for _, clause := range []struct {
		name string
		of   []string
	}{{"read", b.allRead()}, {"write", b.write}, {"source", b.source}} {
		handed := b.hands[slices.Index(handedKinds[:], clause.name)]
		if len(handed) > 0 {
			out += "  " + clause.name + " " + strings.Join(d.less(handed), ", ") + "\n"
			continue
		}
		if len(clause.of) > 0 && d.chance(70) {
			less := d.less(clause.of)
			if clause.name == "write" {
				less = b.granted(less)
			}
			out += "  " + clause.name + " " + strings.Join(less, ", ") + "\n"
		}
	}
	if len(b.by) > 0 {
		out += "  by " + b.by[0] + "\n"
	}
	return out + d.pick("", "  attempts 1\n", "  require { before.y < 3 }\n", "  ensure { after.y < 3 }\n") + "}"
}

// less is some of the paths, each perhaps a narrower one.
func (d *drawing) less(paths []string) []string {
	var out []string
	for _, p := range paths {
		if d.chance(80) {
			out = append(out, d.narrower(p, false))
		}
	}
	if len(out) == 0 {
		out = append(out, paths...)
	}
	return out
}

type decided struct {
	c       *ir.Contract
	results []footprint.Result
}

// compileClaims is a contract that has no errors but false claims; nil if it has others.
func compileClaims(text string) *decided {
	out, _ := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
	for _, x := range out.Diagnostics {
		if x.Severity == source.Error && !strings.HasPrefix(x.Code, "claim_") {
			return nil
		}
	}
	if out.Lowered == nil {
		return nil
	}
	return &decided{out.Lowered, out.Results}
}

// A standIn is a stage that may run in place of another, with arguments that are
// the other's.
type standIn struct {
	stage *ir.Stage
	args  map[string]string
}

// given are its arguments where the other runs.
func (x standIn) given(r innerRun) map[string]string {
	out := map[string]string{}
	for _, q := range x.stage.Params {
		if q.Kind != ir.DependentParam {
			out[q.Name] = r.args[x.args[q.Name]]
		}
	}
	for _, v := range x.stage.Values {
		if said, ok := r.values[v.Name]; ok {
			out[v.Name] = said
		}
	}
	return out
}

// A place is a stand-in of a program.
type place struct {
	program *verify.Program
	standIn
}

// A bout compares a stage with those that may run in its place.
type bout struct {
	maker
	t     *testing.T
	text  string
	p     *verify.Program
	c     *ir.Contract
	inner *ir.Stage
	reach reach
}

// A run is one proposal of the inner stage.
type innerRun struct {
	at     verify.Snapshot
	role   string
	actor  string
	now    time.Time
	args   region.Binding
	values map[string]string // of arguments that are no keys
	patch  string
	next   string
	view   verify.View
	out    verify.Outcome
}

func given(s *ir.Stage, args region.Binding, values map[string]string) map[string]string {
	out := maps.Clone(values)
	if out == nil {
		out = map[string]string{}
	}
	for _, q := range s.Params {
		if q.Kind != ir.DependentParam {
			out[q.Name] = args[q.Name]
		}
	}
	return out
}

// said draws the values that a stage asks for.
func (m maker) said(c *ir.Contract, s *ir.Stage) map[string]string {
	out := map[string]string{}
	for _, v := range s.Values {
		out[v.Name] = m.typed(c, v.Type)
	}
	return out
}

// run draws a run; ok is false if the stage cannot start.
func (b *bout) run(states map[string][]*tree.Node) (r innerRun, ok bool) {
	s := b.inner
	phase := b.pick(s.In...)
	if len(states[phase]) == 0 {
		return r, false
	}
	r.at = verify.Snapshot{State: states[phase][b.Intn(len(states[phase]))], Phase: phase}
	if r.role = "stranger"; len(s.By) > 0 {
		r.role = b.pick(s.By...)
	}
	if r.args, ok = (&course{maker: b.maker}).arguments(s, r.at.State); !ok {
		return r, false
	}
	ctx := context.Background()
	r.values = b.said(b.c, s)
	var by footprint.Proposal
	b.inputs(s, &by)
	r.actor, r.now = by.Actor, by.Now
	v, refused, err := b.p.View(ctx, r.at, r.asks(s, given(s, r.args, r.values)))
	require.NoError(b.t, err)
	if refused != nil {
		return r, false
	}
	r.view = v
	other := states[phase][b.Intn(len(states[phase]))]
	who := b.actor(s, b.reach, r.args, placed{r.at.State, "", places(r.at.State)}, other)
	r.patch = "[]"
	if !who.idle() {
		r.patch = b.typedPatch(audience{p: b.p, c: b.c, stage: s, phase: phase, args: r.args, states: []*tree.Node{r.at.State}}, who)
	}
	if len(s.Next) > 0 {
		r.next = b.pick(s.Next...)
	}
	r.out, err = b.p.Verify(ctx, r.at, r.proposes(s, given(s, r.args, r.values)))
	require.NoError(b.t, err)
	return r, true
}

// asks is the request for the view of a stage that runs as this one did.
func (r innerRun) asks(s *ir.Stage, args map[string]string) verify.ViewRequest {
	return verify.ViewRequest{Stage: s.Name, Args: args, Role: r.role, Actor: r.actor, Now: r.now}
}

// proposes is its proposal.
func (r innerRun) proposes(s *ir.Stage, args map[string]string) verify.Proposal {
	return verify.Proposal{Stage: s.Name, Args: args, Role: r.role, Actor: r.actor, Now: r.now, Patch: []byte(r.patch), Next: r.next}
}

// differs says how a stage in the inner one's place falls short of a run; "" if it does not.
func differs(t *testing.T, p *verify.Program, r innerRun, x standIn) string {
	ctx, args := context.Background(), x.given(r)
	v, refused, err := p.View(ctx, r.at, r.asks(x.stage, args))
	require.NoError(t, err)
	if refused != nil {
		return fmt.Sprintf("it is shown nothing: %v", refused.Violations)
	}
	if at, ok := shows(v, r.view, nil, v.Value, r.view.Value); !ok {
		return "it is not shown " + at.Pointer()
	}
	if r.out.Verdict.Verdict == verify.Reject {
		return ""
	}
	out, err := p.Verify(ctx, r.at, r.proposes(x.stage, args))
	require.NoError(t, err)
	switch {
	case out.Verdict.Verdict != r.out.Verdict.Verdict:
		return fmt.Sprintf("%s, not %s: %v", out.Verdict.Verdict, r.out.Verdict.Verdict, out.Verdict.Violations)
	case out.After.Phase != r.out.After.Phase:
		return "it moves to another phase"
	}
	if !tree.Equal(out.After.State, r.out.After.State) {
		return "it ends in another state"
	}
	return ""
}

// shows reports whether one view shows what another does, and if not where.
func shows(big, small verify.View, at region.Word, b, s *tree.Node) (region.Word, bool) {
	if slices.Contains(small.Placeholders, at.Pointer()) {
		return at, b != nil
	}
	if b == nil || b.Kind() != s.Kind() || slices.Contains(big.Placeholders, at.Pointer()) || s.Kind() == ir.Array && s.Len() != b.Len() {
		return at, false
	}
	below := func(l region.Letter) region.Word { return append(at[:len(at):len(at)], l) }
	for name, child := range s.Members() {
		if w, ok := shows(big, small, below(region.Key(name)), b.Get(name), child); !ok {
			return w, false
		}
	}
	for i, child := range s.Elements() {
		if w, ok := shows(big, small, below(region.Index(i)), b.At(i), child); !ok {
			return w, false
		}
	}
	scalar := s.Kind() != ir.Object && s.Kind() != ir.Array
	return at, !scalar || s.String() == b.String()
}

// together is a stage that has the grants of all that stand in for another, in a contract
// of its own; its parameters are the other's.
func together(t *testing.T, c *ir.Contract, inner *ir.Stage, xs []standIn) place {
	all := ir.Stage{Name: "together", Params: inner.Params, Values: inner.Values, In: inner.In, Next: inner.Next}
	for _, x := range xs {
		as := func(p string) string { return x.args[p] }
		all.Read = append(all.Read, x.stage.Read.Rename(as)...)
		all.Write = append(all.Write, x.stage.Write.Rename(as)...)
		all.Blind = append(all.Blind, x.stage.Blind.Rename(as)...)
		all.Source = append(all.Source, x.stage.Source.Rename(as)...)
	}
	own := map[string]string{}
	for _, p := range inner.Params {
		own[p.Name] = p.Name
	}
	more := *c
	more.Stages = append(slices.Clone(c.Stages), all)
	p, err := verify.Load(&more, verify.DefaultLimits())
	require.NoError(t, err)
	return place{p, standIn{&more.Stages[len(c.Stages)], own}}
}

// toldKeys reports whether a stand-in sees the keys that only the inner stage is bound to.
func toldKeys(t *testing.T, program *verify.Program, r innerRun, inner *ir.Stage, xs []standIn, one standIn) bool {
	v, _, err := program.View(context.Background(), r.at, r.asks(one.stage, one.given(r)))
	require.NoError(t, err)
	for _, p := range inner.Params {
		served := p.Kind != ir.ExistingParam && p.Kind != ir.ElementParam
		for _, x := range xs {
			for _, q := range x.stage.Params {
				served = served || x.args[q.Name] == p.Name && q.Kind == p.Kind
			}
		}
		if p.Kind == ir.ElementParam {
			if !served && tree.NodeAt(v.Value, wordOf(p.Of.Bind(r.args))) == nil {
				return false
			}
			continue
		}
		if !served && tree.NodeAt(v.Value, append(wordOf(p.Of.Bind(r.args)), region.Key(r.args[p.Name]))) == nil {
			return false
		}
	}
	return true
}

// mappings lists the ways to give a stage arguments of another.
func mappings(inner, outer *ir.Stage) []standIn {
	out := []standIn{{outer, map[string]string{}}}
	for _, q := range outer.Params {
		var next []standIn
		for _, x := range out {
			for _, p := range inner.Params {
				args := maps.Clone(x.args)
				args[q.Name] = p.Name
				next = append(next, standIn{outer, args})
			}
		}
		out = next
	}
	return out
}

// A within tally counts what was drawn, and what came of it.
type withinTally struct {
	claims, proved, uncertified, refuted, shown int
	runs, commits, delegated, delegatedCommits  int
	handed                                      int // delegates of what their stage need not have
	constructs                                  map[string]int
}

// provedConstructs are what the proved claims must hold, by a pattern of the text.
var provedConstructs = map[string]*regexp.Regexp{
	"other names":           regexp.MustCompile(`stage a\((e|q) `),
	"two parameters":        regexp.MustCompile(`stage a\([^,)]*,[^)]*\)`),
	"three parameters":      regexp.MustCompile(`stage a\([^,)]*,[^,)]*,[^)]*\)`),
	"a new key":             regexp.MustCompile(`stage a\([^)]* new in`),
	"a dependent key":       regexp.MustCompile(`stage a\([^)]* = /`),
	"a dependent key of b":  regexp.MustCompile(`stage b\([^)]* = /`),
	"a reference for a key": regexp.MustCompile(`(?s)stage a\([^)]* = /.*stage b\(\w in /\w, \w in /\w\)`),
	"a key more":            regexp.MustCompile(`stage a\([^)]*z in /`),
	"roles":                 regexp.MustCompile(`by \w, \w`),
	"a move":                regexp.MustCompile(`(?s)stage a\([^}]*next three`),
	"a choice":              regexp.MustCompile(`(?s)stage b\([^}]*next two, three`),
	"attempts":              regexp.MustCompile(`attempts`),
	"require":               regexp.MustCompile(`require`),
	"ensure":                regexp.MustCompile(`ensure`),
	"produce":               regexp.MustCompile(`produce`),
	"source":                regexp.MustCompile(`source`),
	"blind":                 regexp.MustCompile(`blind`),
	"rights":                regexp.MustCompile(`(?s)stage a\([^}]*write (create|update|delete).*stage b\([^}]*write (create|update|delete)`),
	"rights less":           regexp.MustCompile(`(?s)stage a\([^}]*write (create|update|delete).*stage b\([^}]*write /`),
	"an append":             regexp.MustCompile(`/log/-`),
	"exceptions":            regexp.MustCompile(`read .* except`),
	"a hand-down":           regexp.MustCompile(`delegable`),
	"what is handed on":     regexp.MustCompile(`delegable (read|write|source) `),
	"a composition, right":  regexp.MustCompile(`compose b`),
	"a composition, left":   regexp.MustCompile(`compose a`),
	"a delegate":            regexp.MustCompile(`delegate d`),
	"a union of kinds":      regexp.MustCompile(`read .*/(w|g|h)\b`),
	"a value, in both":      regexp.MustCompile(`(?s)stage a\([^)]*(w|said): .*stage b\([^)]*(w|said): `),
	"a value more":          regexp.MustCompile(`stage a\([^)]*(w|said): .*(?s:.*)stage b\([^:)]*\)`),
	"a value that is asked": regexp.MustCompile(`(?s)stage a\([^)]*: [^}]*(require|ensure)[^}]*\b(w|said)\b`),
	"a group of roles":      regexp.MustCompile(`by (staff|anyone)`),
	"a condition's name":    regexp.MustCompile(`(require|ensure) (require|ensure)\d`),
	"a condition's message": regexp.MustCompile(`(require|ensure) .*"(it|this) is so"`),
	"a decimal":             regexp.MustCompile(`(require|ensure) .*(\.pr|\.c|after\.ds|eo:c)\b`),
	"a definition":          regexp.MustCompile(`(require|ensure) .*(low|gone|same)\(`),
	"the inputs":            regexp.MustCompile(`(require|ensure) .*\b(role|actor|now) `),
	"everything below":      regexp.MustCompile(`\*\*`),
}

func TestWhatAStageWithinAnotherCommitsTheOtherCommits(t *testing.T) {
	t.Parallel()
	m := newMaker(51)
	sum := withinTally{constructs: map[string]int{}}
	drawn, contracts := 0, min(rounds(100, 40), 20_000)
	for range contracts {
		text, c, results, tries := m.containments()
		drawn += tries
		p, err := verify.Load(c, verify.DefaultLimits())
		require.NoError(t, err)
		states := map[string][]*tree.Node{}
		for _, phase := range c.Phases {
			for range 3 {
				if n := m.valid(p, c, phase.Name); n != nil {
					states[phase.Name] = append(states[phase.Name], n)
				}
			}
		}
		cert, err := certificate.Decode(footprint.New(c).Certificate())
		require.NoError(t, err)
		for i, claim := range c.Claims {
			sum.claims++
			_, holds := results[i].(footprint.Proved)
			w := &containment{m, t, text, p, c, states, &sum}
			switch {
			case holds && cert.Claims[i].Uncertified != "":
				sum.uncertified++ // a reason that certificates do not have
				if inner, outer := c.Stage(claim.Stages[0]), c.Stage(claim.Stages[1]); inner != nil && outer != nil {
					require.False(t, w.refute(inner, outer), "%s\n%s", claim.Text, text)
				}
			case holds:
				sum.proved++
				for name, pattern := range provedConstructs {
					if pattern.MatchString(text) {
						sum.constructs[name]++
					}
				}
				w.keeps(cert.Claims[i].Matches)
			case c.Stage(claim.Stages[0]) != nil && c.Stage(claim.Stages[1]) != nil:
				sum.refuted++
				if w.refute(c.Stage(claim.Stages[0]), c.Stage(claim.Stages[1])) {
					sum.shown++
				}
			}
		}
		for i := range c.Stages {
			if s := &c.Stages[i]; s.From != "" {
				w := &containment{m, t, text, p, c, states, &sum}
				w.delegated(s, c.Stage(s.From))
			}
		}
	}
	t.Logf("%d contracts of %d drawn: %+v", contracts, drawn, sum)
	for name := range provedConstructs {
		require.True(t, sum.constructs[name] > 0 || contracts < 600, name)
	}
	require.Positive(t, sum.commits)
	require.True(t, sum.delegatedCommits > 0 || contracts < 100)
	require.True(t, sum.handed > 0 || contracts < 600)
	require.Greater(t, sum.shown, sum.refuted/4)
}

// A containment is a contract with states, in which stages are compared.
type containment struct {
	maker
	t      *testing.T
	text   string
	p      *verify.Program
	c      *ir.Contract
	states map[string][]*tree.Node
	sum    *withinTally
}

func (w *containment) bout(inner *ir.Stage) *bout {
	return &bout{w.maker, w.t, w.text, w.p, w.c, inner, reachOf(inner)}
}

const runsPerContainment = 30

// keeps runs the inner stages of a claim, each beside what the certificate has in its place.
func (w *containment) keeps(matches []certificate.Match) {
	by := map[string][]standIn{}
	for _, x := range matches {
		args := map[string]string{}
		for _, a := range x.Args {
			args[a[0]] = a[1]
		}
		by[x.Inner] = append(by[x.Inner], standIn{w.c.Stage(x.Outer), args})
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		b, joint := w.bout(w.c.Stage(name)), map[string]place{}
		for range runsPerContainment {
			r, ok := b.run(w.states)
			if !ok {
				continue
			}
			able := slices.DeleteFunc(slices.Clone(by[name]), func(x standIn) bool { return !mayStandIn(w.c, x.stage, b.inner, r) })
			require.NotEmpty(w.t, able, w.text)
			x, known := joint[fmt.Sprint(able)]
			if !known {
				x = place{w.p, able[0]}
				if len(able) > 1 {
					x = together(w.t, w.c, b.inner, able)
				}
				joint[fmt.Sprint(able)] = x
			}
			why := differs(w.t, x.program, r, x.standIn)
			if why == "" && !toldKeys(w.t, x.program, r, b.inner, able, x.standIn) {
				why = "it is not told a key"
			}
			require.Empty(w.t, why, w.describe(r))
			tally(r, &w.sum.runs, &w.sum.commits)
		}
	}
}

func (w *containment) describe(r innerRun) string {
	return fmt.Sprintf("%s\nphase %s role %s args %v next %q\nstate %s\npatch %s", w.text, r.at.Phase, r.role, r.args, r.next, r.at.State, r.patch)
}

func tally(r innerRun, runs, commits *int) {
	*runs++
	if r.out.Verdict.Verdict != verify.Reject {
		*commits++
	}
}

// mayStandIn reports whether a stage may run in place of another, as it runs.
func mayStandIn(c *ir.Contract, s, inner *ir.Stage, r innerRun) bool {
	byRole := len(s.By) == 0 || len(inner.By) > 0 && slices.Contains(s.By, r.role)
	return slices.Contains(s.In, r.at.Phase) && byRole && (r.next == "" && len(s.Next) == 0 || slices.Contains(s.Next, r.next)) && s.Tries() >= inner.Tries()
}

// refute looks for runs that show that a stage is not within another, whatever its
// arguments serve for.
func (w *containment) refute(inner, outer *ir.Stage) bool {
	if inner.Tries() > outer.Tries() {
		return true
	}
	left, b := mappings(inner, outer), w.bout(inner)
	for range 2 * runsPerContainment {
		r, ok := b.run(w.states)
		if !ok {
			continue
		}
		left = slices.DeleteFunc(left, func(x standIn) bool {
			return differs(w.t, w.p, r, x) != "" || !toldKeys(w.t, w.p, r, inner, []standIn{x}, x)
		})
		if len(left) == 0 {
			return true
		}
	}
	return false
}

// handing is a stage that has what another one hands on, in a contract of its own. Where its
// parameters are taken from is seen by all who have them.
func (w *containment) handing(parent *ir.Stage) (*verify.Program, *ir.Stage) {
	if parent.Handed == nil {
		return w.p, parent
	}
	all := *parent.HandsOn()
	all.Name, all.Handed = "handing", nil
	for _, p := range parent.Params {
		if p.Kind == ir.DependentParam {
			all.Read = append(slices.Clone(all.Read), region.Grant{Include: []region.Pattern{p.Of}})
		}
	}
	more := *w.c
	more.Stages = append(slices.Clone(w.c.Stages), all)
	p, err := verify.Load(&more, verify.DefaultLimits())
	require.NoError(w.t, err)
	return p, &more.Stages[len(w.c.Stages)]
}

// delegated runs a delegate beside the stage that it comes from, or that has what this hands on.
func (w *containment) delegated(child, parent *ir.Stage) {
	if parent.Handed != nil {
		w.sum.handed++
	}
	program, parent := w.handing(parent)
	own := map[string]string{}
	for _, p := range parent.Params {
		own[p.Name] = p.Name
	}
	b := w.bout(child)
	require.LessOrEqual(w.t, child.Tries(), parent.Tries(), w.text)
	for range runsPerContainment {
		if r, ok := b.run(w.states); ok {
			require.Empty(w.t, differs(w.t, program, r, standIn{parent, own}), w.describe(r))
			tally(r, &w.sum.delegated, &w.sum.delegatedCommits)
		}
	}
}
