package replay_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/lang/source"
)

// Sealed contracts at random, as source text: what their compiler accepts is what
// noninterference is claimed of. A draft remembers what it drew, so that a test can
// demand that every construct is drawn and survives the compiler.

type draft struct {
	maker
	members  []string // of the state
	places   []spot
	decls    []string // of groups and types
	rules    []string
	clauses  []string
	params   []string
	grants   []string // of read
	phases   bool
	delegate bool
	drew     map[string]bool
	ruled    []string // what rules alone drew
}

// A spot is a typed place: its path, and what the type is called.
type spot struct{ path, kind string }

func (d *draft) did(what string) { d.drew[what] = true }

func (m maker) draft() *draft {
	d := &draft{maker: m, drew: map[string]bool{}}
	d.member("n", "map of ("+d.typ("/n/*", m.Intn(3))+")")
	d.places = append(d.places, spot{"/n", "map"})
	d.member("limit", d.scalar("/limit", "int"))
	for _, name := range []string{"e", "f", "g"}[m.Intn(2):] {
		d.member(name, d.typ("/"+name, 1+m.Intn(3)))
	}
	if m.chance(20) {
		d.places = append(d.places, spot{"/h", "list"})
		d.member("h", "list of "+d.scalar("/h/*", "int"))
	}
	if m.chance(35) {
		d.member("at", d.scalar("/at", "ref"))
	}
	if m.chance(35) {
		d.places = append(d.places, spot{"/ds", "map"}, spot{"/ds/*", "decimal"}, spot{"/ds/*", "decimal"})
		d.member("ds", "map of decimal")
	}
	for range m.Intn(6) {
		for before := len(d.rules); len(d.rules) == before; {
			d.rule()
		}
	}
	d.phases = m.chance(20)
	d.stage()
	return d
}

func (d *draft) member(name, t string) { d.members = append(d.members, name+": "+t) }

// typ draws a type for a path.
func (d *draft) typ(path string, depth int) string {
	if depth == 0 {
		return d.scalar(path, d.pick("int", "int", "int", "small", "letter", "spelled", "decimal", "ref", "ref", "bool", "string"))
	}
	kind := d.pick("record", "record", "map", "keyed", "list", "set", "log", "union", "optional", "tagged", "tagged", "any")
	d.places = append(d.places, spot{path, kind})
	d.did(kind)
	switch kind {
	case "record":
		return d.record(path, depth)
	case "map":
		return "map of (" + d.typ(path+"/*", depth-1) + ")"
	case "keyed":
		d.places = append(d.places, spot{path + "/*/id", "string"})
		return "list of { id: string  " + d.fields(path+"/*", depth-1) + " } by id"
	case "list":
		return "list of (" + d.typ(path+"/*", depth-1) + ")"
	case "log":
		mark := len(d.places)
		elem := d.typ(path+"/*", depth-1)
		if d.chance(70) {
			d.places = d.places[:mark] // nor are entries
		}
		return "log of (" + elem + ")"
	case "set":
		mark := len(d.places)
		elem := d.typ(path+"/*", min(depth-1, 1))
		if d.chance(85) {
			d.places = d.places[:mark] // elements are never written alone
		}
		return "set of (" + elem + ")"
	case "union":
		return "(" + d.typ(path, depth-1) + ") | " + d.pick("null", `"none"`, "{ a: int }")
	case "optional":
		return "{ a?: (" + d.typ(path+"/a", depth-1) + ")  b: int }"
	case "tagged":
		d.places = append(d.places, spot{path + "/v", "int"})
		return `{ k: "x"  v: ` + d.pick("int", "secret int", "decimal") + `  ` + d.fields(path, depth-1) + ` } | { k: "y"  ` + d.fields(path, depth-1) + ` }`
	}
	return "any"
}

func (d *draft) record(path string, depth int) string {
	switch {
	case d.chance(15):
		d.did("further members")
		return "{ " + d.fields(path, depth-1) + " *: " + d.typ(path+"/*", 0) + " }"
	case d.chance(15):
		d.did("where on a record")
		d.places = append(d.places, spot{path + "/a", "int"}, spot{path + "/b", "int"})
		return "{ a: int  b: " + d.pick("int", "secret int") + " } where { self.a <= self.b + 2 }"
	}
	return "{ " + d.fields(path, depth-1) + " }"
}

func (d *draft) fields(path string, depth int) string {
	var out []string
	for _, name := range []string{"a", "b", "c", quotedMember} {
		if !d.chance(65) || name == quotedMember && d.chance(50) {
			continue
		}
		mark, secret := ":", ""
		if d.chance(30) {
			mark = "?:"
		}
		if d.chance(20) {
			d.did("secret")
			secret = "secret "
		}
		spelled := name
		if name == quotedMember {
			spelled = `"` + name + `"`
		}
		out = append(out, spelled+mark+" "+secret+"("+d.typ(path+"/"+name, d.Intn(depth+1))+")")
	}
	return strings.Join(append(out, "z: int"), "  ")
}

// quotedMember is a member whose name expressions have in backquotes.
const quotedMember = "d-e"

// members is how an expression reads what is below a path.
func members(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "/", "."), quotedMember, "`"+quotedMember+"`")
}

func (d *draft) scalar(path, kind string) string {
	d.places = append(d.places, spot{path, kind})
	switch kind {
	case "small":
		d.did("where")
		return "int where { self < 5 }"
	case "letter":
		return `"a" | "b"`
	case "spelled":
		d.did("a number that is spelled its own way")
		return d.pick("1 | 2", "1.0 | 2", "1e0 | 2.0", "number")
	case "ref":
		d.did("reference")
		return "key of /n"
	}
	return kind
}

// where picks a place of a kind, "" if there is none.
func (d *draft) where(wildcards bool, kinds ...string) string {
	for range 10 {
		s := d.places[d.Intn(len(d.places))]
		if (len(kinds) == 0 || slices.Contains(kinds, s.kind)) && (!wildcards || strings.Contains(s.path, "*")) {
			return s.path
		}
	}
	return ""
}

// rule draws an invariant, if the types have something for it.
func (d *draft) rule() {
	n := len(d.rules)
	add := func(what, text string, args ...any) {
		d.did(what)
		d.ruled = append(d.ruled, what)
		d.rules = append(d.rules, fmt.Sprintf(text, args...))
	}
	ints, decimals := d.where(true, "int", "small"), d.where(true, "decimal")
	dots := func(path string) string { return "state" + members(path) }
	for _, at := range []string{ints, decimals} {
		if strings.Contains(at, quotedMember) {
			d.did("member in backquotes")
		}
	}
	switch top := d.where(false, "list", "log", "set", "map", "keyed"); d.Intn(28) {
	case 0:
		d.unread(n, add)
	case 1:
		if ints != "" {
			add("each", "invariant r%d each e in %s { e <= state.limit + %d }", n, ints, 2+d.Intn(3))
		}
	case 2:
		if u := d.where(true, "int", "string", "letter", "ref"); u != "" {
			add("unique", "invariant r%d unique %s", n, u)
		}
	case 3, 4:
		if ints != "" {
			add("measure", "measure m%d = %s %s\ninvariant r%d { m%d <= state.limit + 9 }", n, d.pick("sum", "count"), ints, n, n)
		}
	case 5:
		if top != "" && !strings.Contains(top, "*") && strings.Count(top, "/") == 1 {
			add("size", "invariant r%d { size(%s) <= state.limit + 1 }", n, dots(top))
		}
	case 6, 7, 27:
		if at := d.numbers(); at != "" {
			add("order", "invariant r%d { size(%[2]s) < 2 || %[2]s[0] <= %[2]s[1] + state.limit }", n, dots(at))
		}
	case 9:
		if ints != "" {
			add("condition", "measure m%d = %s %s where { %s }\ninvariant r%d { m%d <= state.limit + 6 }", n, d.pick("sum", "count"), ints, d.entryHolds(ints), n, n)
		}
	case 10, 21:
		if path, ok := strings.CutSuffix(ints, "/*"); ok && !strings.Contains(path, "*") {
			add("sum", "invariant r%d { sum(%s) <= state.limit + 9 }", n, dots(path))
		} else {
			add("key", "invariant r%d each k, e in /n/* { k != %q || state.limit < %d }", n, d.pick("a", "b"), 3+d.Intn(3))
		}
	case 11, 22:
		if u := d.where(true, "int", "string", "letter", "ref"); u != "" {
			if v := d.beside(u); v != "" {
				add("unique together", "invariant r%d unique %s, %s", n, u, v)
			}
		}
	case 12, 23:
		if decimals != "" {
			add("decimal", "invariant r%d each e in %s%s { e * %s - %s <= state.limit }", n, decimals, d.message(), d.pick("2", "0.5", "1.25"), d.pick("4.5", "3", "2.75"))
		}
	case 13, 24:
		if decimals != "" {
			add("sum of decimals", "measure m%d = sum %s\ninvariant r%d%s { m%d - 0.5 <= state.limit + 8 }", n, decimals, n, d.message(), n)
		}
	case 14:
		if ints != "" {
			add("constant and definition", "const MOST%d = %d\ndefine few%d(e) = { e <= state.limit + MOST%d }\ninvariant r%d each e in %s%s { few%d(e) }", n, 2+d.Intn(3), n, n, n, ints, d.message(), n)
		}
	case 15, 26:
		if ints != "" {
			add("least and largest with a condition", "measure m%d = %s %s where { %s }\ninvariant r%d%s { m%d.orValue(0) <= state.limit + 3 }", n, d.pick("min", "max"), ints, d.entryHolds(ints), n, d.message(), n)
		}
	case 16:
		add("change", "change r%d%s { %s }", n, d.message(), d.pick("after.limit >= before.limit - 1", "before.n.all(k, k in after.n) || after.limit > 2", "size(after.n) <= size(before.n) + 1 || actor == \"ann\"", `role == "u" || after.limit == before.limit`))
	case 17, 18:
		if ints != "" {
			add("change of entries", "change r%d each %se in %s%s { %s }", n, d.pick("", "k, "), ints, d.message(), d.pick("after <= before + 2", "after >= before || after == 0", `after != before + 1 || role == "u"`, "e != 1 || before == 1 || now.getFullYear() > 2000"))
		}
	case 19, 20, 25:
		if at := d.where(d.chance(70), "tagged"); at != "" {
			what := fmt.Sprintf("ENTRY.k != \"x\" || ENTRY.v %s state.limit + 3", d.pick("<", "<=", "!="))
			switch {
			case !strings.Contains(at, "*"):
				add("narrowed union", "invariant r%d%s { %s }", n, d.message(), strings.ReplaceAll(what, "ENTRY", dots(at)))
			case d.chance(30):
				add("narrowed union", "change r%d each e in %s%s { before.k != \"x\" || after.k != \"x\" || after.v >= before.v }", n, at, d.message())
			default:
				add("narrowed union", "invariant r%d each e in %s%s { %s }", n, at, d.message(), strings.ReplaceAll(what, "ENTRY", "e"))
			}
		}
	case 8:
		add("reference count", "invariant r%d { size(state.n) <= state.limit + 2 || state.limit > 2 }", n)
	}
}

// message is one that a rule tells, or none.
func (d *draft) message() string {
	if d.chance(60) {
		return ""
	}
	d.did("message")
	return ` "it is a rule"`
}

// entryHolds is a condition on the entry of a place: on the number there, by the names
// that lead to it.
func (d *draft) entryHolds(path string) string {
	_, rest, _ := cutLast(path)
	if rest != "" && d.chance(50) { // one that may be absent
		return fmt.Sprintf("self%s.orValue(1) %s %d", strings.ReplaceAll(members(rest), ".", ".?"), d.pick("<", ">"), 1+d.Intn(2))
	}
	return fmt.Sprintf("self%s %s %d", members(rest), d.pick("<", ">"), 1+d.Intn(2))
}

// cutLast cuts a path behind its last wildcard.
func cutLast(path string) (entry, rest string, ok bool) {
	at := strings.LastIndex(path, "*") + 1
	return path[:at], path[at:], at > 0
}

// beside is another place of the same entry, "" if there is none.
func (d *draft) beside(path string) string {
	entry, _, _ := cutLast(path)
	for _, s := range d.places {
		if other, _, _ := cutLast(s.path); other == entry && s.path != path && slices.Contains([]string{"int", "string", "letter", "ref"}, s.kind) {
			return s.path
		}
	}
	return ""
}

// unread draws a rule over entries that looks at nothing of them.
func (d *draft) unread(n int, add func(what, text string, args ...any)) {
	switch d.Intn(3) {
	case 0:
		add("rule on keys", "invariant r%d { state.n.all(k, k != %q) }", n, d.pick("a", "b"))
	case 1:
		add("entry not read", "invariant r%d { !state.n.exists(k, state.limit > %d) }", n, 2+d.Intn(3))
	default:
		if at := d.where(true); at != "" {
			add("entry not read", "invariant r%d each e in %s { state.limit <= %d }", n, at, 2+d.Intn(3))
		}
	}
}

// numbers is a member of the state that is a list of integers, "" if there is none.
func (d *draft) numbers() string {
	for _, s := range d.places {
		if s.kind == "list" && strings.Count(s.path, "/") == 1 && (slices.Contains(d.places, spot{s.path + "/*", "int"}) || slices.Contains(d.places, spot{s.path + "/*", "small"})) {
			return s.path
		}
	}
	return ""
}

// stage draws the stage that acts.
func (d *draft) stage() {
	for _, p := range []struct{ name, text string }{{"p", "p in /n"}, {"q", "q new in /n"}} {
		if d.chance(35) {
			d.params = append(d.params, p.text)
			d.did(strings.Fields(p.text)[0] + " " + strings.Fields(p.text)[1])
		}
	}
	at := d.where(false, "ref")
	if slices.Contains(d.places, spot{"/at", "ref"}) {
		at = "/at"
	}
	if at != "" && d.chance(50) && !strings.Contains(at, "*") {
		d.did("dependent parameter")
		d.params = append(d.params, "o = "+at)
		d.grants = append(d.grants, d.some([]string{at, "/n/{o}"})...)
	}
	d.keepBack()
	for range 1 + d.Intn(4) {
		d.grants = append(d.grants, d.grant())
	}
	for _, whole := range []string{"/limit", "/n"} {
		if d.chance(40) && !slices.Contains(d.grants, whole) {
			d.grants = append(d.grants, whole)
		}
	}
	write := d.some(d.grants)
	source := d.some(d.grants)
	if at := d.where(false, "log"); at != "" && d.chance(50) {
		d.did("append")
		write = append(write, d.bind(at)+"/-")
	}
	if d.has("q") && d.chance(80) {
		write = append(write, "/n/{q}")
	}
	if d.chance(10) {
		d.did("blind")
		write = append(write, "blind /n/*")
	}
	if d.chance(20) {
		d.value()
	}
	if d.chance(15) {
		d.did("roles")
		d.decls = append(d.decls, "roles staff = u, v")
		d.clauses = append(d.clauses, "by "+d.pick("staff", "u", "staff, x"))
	}
	d.clause("read", d.grants)
	if limited := d.limited(write); !slices.Equal(limited, write) {
		d.did("rights")
		write = limited
	}
	d.clause("write", write)
	d.clause("source", source)
	for _, c := range []struct{ what, text string }{
		{"require", "require { before.limit > 0 }"}, {"require", "require { size(before.n) < 4 }"},
		{"ensure", "ensure { after.limit >= before.limit - 2 }"}, {"ensure", "ensure { size(after.n) <= size(before.n) + 1 }"},
		{"produce", "produce /limit"},
	} {
		if d.chance(8) {
			d.did(c.what)
			d.clauses = append(d.clauses, c.text)
		}
	}
	for i, text := range []string{`role != "x"`, `before.limit > 0 || actor == "ann"`, `now.getFullYear() < 2020 || size(before.n) > 0`} {
		if d.chance(6) {
			d.did("inputs")
			d.clauses = append(d.clauses, fmt.Sprintf("%s%s%s { %s }", d.pick("require", "ensure"), d.pick("", fmt.Sprintf(" asked%d", i)), d.message(), text))
		}
	}
	d.delegate = d.chance(15)
}

// keepBack draws conditions on binding.
func (d *draft) keepBack() {
	for i, p := range d.params {
		if d.chance(25) {
			d.did("condition on binding")
			name, _, _ := strings.Cut(p, " ")
			d.params[i] += " where { " + strings.ReplaceAll(d.pick("state.limit < 3", `P != "k1"`, "size(state.n) < 3", "!(P in state.n) || state.limit > 0", `role == "u"`), "P", name) + " }"
		}
	}
}

// value draws an argument that is no key, with a condition that asks for it.
func (d *draft) value() {
	d.did("value")
	v := values[d.Intn(4)]
	if d.chance(30) {
		v = value{`Said`, nil}
		d.decls = append(d.decls, "type Said { n: int  at?: string  price: decimal }")
	}
	d.params = append(d.params, "w: "+v.of)
	n := "w"
	if v.of == "Said" {
		n = d.pick("w.n", "w.price")
	}
	d.clauses = append(d.clauses, fmt.Sprintf(d.pick("require%s { %s < 6 }", "require%s { before.limit <= %s + 1 }", "ensure%s { after.limit != %s || size(after.n) > 0 }"), d.pick("", " as_said", ` said "it is as was said"`), n))
}

func (d *draft) clause(word string, grants []string) {
	if len(grants) > 0 {
		d.clauses = append(d.clauses, word+" "+strings.Join(grants, ", "))
	}
}

// some picks grants, whole or narrowed.
func (d *draft) some(grants []string) []string {
	var out []string
	for _, g := range grants {
		if !d.chance(75) {
			continue
		}
		path, except, _ := strings.Cut(g, " except ")
		if below := d.below(path); below != "" && d.chance(40) {
			if path = below; except != "" {
				path += " except " + except
			}
			g = path
		}
		out = append(out, g)
	}
	return out
}

func (d *draft) has(param string) bool {
	return slices.ContainsFunc(d.params, func(p string) bool { return strings.HasPrefix(p, param+" ") })
}

// bind puts parameters in the place of keys.
func (d *draft) bind(path string) string {
	for _, p := range []string{"p", "o"} {
		if d.has(p) && d.chance(50) {
			path = strings.Replace(path, "/n/*", "/n/{"+p+"}", 1)
		}
	}
	return path
}

// grant draws a grant of a read clause.
func (d *draft) grant() string {
	path := d.where(false)
	switch {
	case d.chance(12):
		d.did("any depth")
		path = d.pick("/**/a", "/**/z", "/f/**/a", "/g/**/z")
	case d.chance(10) && strings.Contains(path, "*"):
		d.did("literal key")
		path = strings.Replace(path, "*", "a", 1)
	case d.chance(10) && strings.Count(path, "/") > 1:
		d.did("wildcard for a member")
		path = path[:strings.LastIndex(path, "/")] + "/*"
	}
	path = d.bind(path)
	if !d.chance(45) || d.below(path) == "" {
		return path
	}
	d.did("except")
	var excepts []string
	for range 1 + d.Intn(2) {
		excepts = append(excepts, d.exception(path))
	}
	return path + " except (" + strings.Join(excepts, ", ") + ")"
}

func (d *draft) exception(path string) string {
	switch d.Intn(6) {
	case 0:
		return "secrets"
	case 1:
		return d.pick("/**/a", "/**/z", "/**/k1")
	}
	below := d.below(path)
	switch {
	case below == "":
		return "secrets"
	case d.chance(25):
		return strings.Replace(below, "*", "a", 1)
	case d.chance(15):
		return path + "/*"
	}
	return below
}

// below picks a place under a path, "" if there is none.
func (d *draft) below(path string) string {
	for range 30 {
		s := d.where(false)
		for _, p := range []string{"p", "o"} {
			if strings.HasPrefix(path, "/n/{"+p+"}") {
				s = strings.Replace(s, "/n/*", "/n/{"+p+"}", 1)
			}
		}
		if strings.HasPrefix(s, path+"/") {
			return s
		}
	}
	return ""
}

// text is the contract, with more clauses of its stage.
func (d *draft) text(more ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "contract drawn sealed\nstate {\n  %s\n}\n%s\n", strings.Join(d.members, "\n  "), strings.Join(append(slices.Clone(d.decls), d.rules...), "\n"))
	in := ""
	if d.phases {
		d.did("phases")
		b.WriteString("phases { one -> two, three when { state.limit < 3 }  two -> three by host  three }\n")
		b.WriteString("invariant moved { phase != \"two\" || state.limit > 0 }\n")
		in = "in one next two, three "
	}
	params := ""
	if len(d.params) > 0 {
		params = "(" + strings.Join(d.params, ", ") + ")"
	}
	fmt.Fprintf(&b, "stage s%s { %s%s }\n", params, in, strings.Join(append(slices.Clone(d.clauses), more...), "\n  "))
	if d.delegate {
		d.did("delegate")
		b.WriteString("delegate t from s { }\n")
	}
	return b.String()
}

var suggestion = regexp.MustCompile("add `(discloses [^`]*)`")

// sealed draws contracts until the compiler accepts one; what is left undisclosed is
// disclosed, or what reads it dropped. It counts what it tried.
func (m maker) sealed(sum *secrecy) (*draft, *ir.Contract) {
	for {
		d := m.draft()
		for range 3 {
			sum.tried++
			text := d.text()
			out, _ := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
			if out.Contract != nil {
				sum.contracts++
				if slices.ContainsFunc(out.Diagnostics, func(f source.Diagnostic) bool { return f.Code == "chosen_view" }) {
					d.did("view chosen")
				}
				sum.note(d, out.Contract)
				return d, out.Contract
			}
			var disclose []string
			for _, f := range out.Diagnostics {
				if found := suggestion.FindStringSubmatch(f.Help); f.Code == "undisclosed_gate" && found != nil {
					if !slices.Contains(disclose, found[1]) {
						disclose = append(disclose, found[1])
					}
					continue
				}
				sum.refused[f.Code]++
			}
			if len(disclose) == 0 {
				break
			}
			if d.chance(70) {
				d.clauses = append(d.clauses, disclose...)
			} else {
				d.rules = nil
				for _, what := range d.ruled {
					delete(d.drew, what)
				}
			}
		}
	}
}
