package compiler_test

import (
	"fmt"
	"strings"
)

// A family writes sources that grow with a number, each along a line on which
// something could be copied, compared pair by pair, or multiplied.
type family struct {
	name  string
	write func(n int) string
}

// world is a state for families that are about something else.
const world = `contract c
state { a: string  b: string  n: int  m: map of Item  h: log of string  t: set of string }
type Item { f: string  g: int  of?: string  m: map of string }
`

// steps writes one line for each i from 1, in which $i is i and $p the number before.
func steps(n int, line string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		b.WriteString(strings.NewReplacer("$i", fmt.Sprint(i), "$p", fmt.Sprint(i-1)).Replace(line) + "\n")
	}
	return b.String()
}

// joined is steps on one line, with a separator.
func joined(n int, item, separator string) string {
	return strings.Join(strings.Split(strings.TrimSuffix(steps(n, item), "\n"), "\n"), separator)
}

// doubling is n types of which each holds the one before it in two places.
func doubling(first, next string) func(int) string {
	return func(n int) string {
		return fmt.Sprintf("contract c\nstate { x: T%d  m: map of string  k: list of T0 }\ntype T0 = %s\n", n, first) + steps(n, "type T$i = "+next) +
			"stage s { read /x/** except secrets write /x/a }\nprove no stage reads secrets\nmeasure c = count /x/**\ninvariant i { state.x.a == state.x.a || c > 0 }\n"
	}
}

func inWorld(text func(n int) string) func(int) string {
	return func(n int) string { return world + text(n) }
}

func lines(before, line, after string) func(int) string {
	return inWorld(func(n int) string { return before + steps(n, line) + after })
}

func list(before, item, separator, after string) func(int) string {
	return inWorld(func(n int) string { return before + joined(n, item, separator) + after })
}

func nested(before, open, middle, shut, after string) func(int) string {
	return inWorld(func(n int) string {
		return before + strings.Repeat(open, n) + middle + strings.Repeat(shut, n) + after
	})
}

// most is a stage of up to 32 parameters that is claimed to commute with itself.
func most(before, param, write, when string) func(n int) string {
	return inWorld(func(n int) string {
		k := min(n, 32)
		return before + "stage s(" + joined(k, param, ", ") + ") { read /m, /n write " + joined(k, write, ", ") + " }\nprove s commutes with s" + when + "\n"
	})
}

var families = []family{
	// types
	{"types twice each", doubling("{ a: string }", "{ a: T$p  b: T$p }")},
	{"secret types twice each", doubling("{ a: secret string }", "{ a: T$p  b: T$p }")},
	{"constrained types twice each", doubling(`{ a: string where { self != "" } }`, "{ a: T$p  b: T$p }")},
	{"constraints all the way", doubling(`{ a: string where { self != "" } }`, "{ a: T$p  b: T$p } where { self.a == self.b }")},
	{"references twice each", doubling("{ a: key of /m }", "{ a: T$p  b: T$p }")},
	{"containers twice each", doubling("{ a: log of string }", "{ a: T$p  b: map of T$p }")},
	{"lists twice each", doubling("{ a: string }", "{ a: T$p  b: list of T$p  *: T$p }")},
	{"keyed lists twice each", doubling("{ id: string  a: string }", "{ id: string  a: T$p  b: list of T$p by id }")},
	{"unions twice each", doubling("{ a: string }", "{ a: T$p } | { b: T$p }")},
	{"unions of unions", doubling("{ a: string }", "T$p | T$p")},
	{"unions of constrained unions", doubling("({ a: string } | { b: string }) where { true }", "(T$p | T$p) where { true }")},
	{"unions of secret unions", doubling("secret ({ a: string } | { b: string })", "secret (T$p | T$p)")},
	{"unions that grow", doubling("{ a: string }", "T$p | { a$i: T$p }")},
	{"aliases of aliases", doubling("{ a: string }", "T$p")},
	{"maps of maps", doubling("{ a: string }", "map of T$p")},
	{"a deep record", func(n int) string {
		return doubling("{ a: string }", "{ a: T$p }")(n) + "stage deep { read /x" + strings.Repeat("/a", min(n, 250)) + " }\n"
	}},
	{"a union of literals", list("type U = ", `"v$i"`, " | ", "\n")},
	{"a union of numbers", list("type U = ", `$i`, " | ", "\n")},
	{"a union of records", list("type U = ", `{ a$i: string }`, " | ", "\n")},
	{"a state of a union of records", func(n int) string {
		return "contract c\nstate { x: " + joined(n, `{ kind: "v$i" a$i: string }`, " | ") + "}\nstage s { read /x write /x }\n"
	}},
	{"a state of a union of literals", func(n int) string {
		return "contract c\nstate { x: " + joined(n, `"v$i"`, " | ") + "  y: string }\nstage s { read /x write /x ensure { after.x == \"v1\" } }\ninvariant i { state.x == \"v1\" || state.y == state.x }\n"
	}},
	{"a record of many members", func(n int) string {
		return "contract c\nstate { " + joined(n, "a$i: string", " ") + " }\nstage s { read /** write /a1 ensure { after.a1 == before.a2 } }\n"
	}},
	{"a record of many secrets", func(n int) string {
		return "contract c\nstate { " + joined(n, "a$i: secret string", " ") + " b: string }\n" + steps(min(n, 50), "stage s$i { read /** except secrets write /b }") + "prove no stage reads secrets\nprove no flow from secrets to /b\n"
	}},
	{"a record of many references", func(n int) string {
		return "contract c\nstate { m: map of string " + joined(n, "a$i: key of /m", " ") + " }\nstage s(k in /m) { read /** write /m/{k} }\nstage r(k in /m) { read /m/{k}, /a1 write /m/{k} }\n"
	}},
	{"many constrained members", func(n int) string {
		return "contract c\nstate { " + joined(n, `a$i: string where { self != "" }`, " ") + " }\n" + steps(n, "stage s$i { read /a$i write /a$i }")
	}},
	{"many types", lines("", "type N$i { a: string }", "")},
	{"a type used often", lines("type N { a: string  b: Item }\n", "type N$i { a: N  b: N }", "")},
	{"unknown types", list("type U { ", "a$i: Strng$i", " ", " }\n")},
	{"members declared twice", list("type U { ", "a: string", " ", " }\n")},
	{"types declared twice", lines("", "type N = string", "")},
	{"recursive types", lines("type R0 = string\n", "type R$i { a: R$i  b: R$p }", "")},
	{"a recursion through all", func(n int) string {
		return world + steps(n, "type R$i { a: R$p b: R$p }") + fmt.Sprintf("type R0 { a: R%d }\n", n)
	}},
	// regions
	{"regions twice each", lines("region r0 = /a, /b\n", "region r$i = r$p, r$p", "")},
	{"regions met with themselves", lines("region r0 = /a, /b\n", "region r$i = r$p & r$p, r$p", "")},
	{"regions taken from themselves", lines("region r0 = /m except /m/*/f\n", "region r$i = r$p except r$p, r$p", "")},
	{"regions without regions in a chain", lines("region r0 = /a\n", "region r$i = r$p except r$p, r$p", "")},
	{"exceptions that pile up", lines("region r0 = /m\n", "region r$i = r$p except /m/*/f, r$p except /m/*/g", "")},
	{"meets of exceptions", lines("region r0 = /m/**/f, /m/*/g\n", "region r$i = (r$p except /m/*/g) & (/m/**/f, r$p)", "")},
	{"a region of regions", lines("region r0 = /a, /b\n", "region r$i = r$p, r$p", "stage s { read /** write /a }\n")},
	{"meets of lists", inWorld(func(n int) string {
		return "region r = (" + joined(n, "/m/k$i", ", ") + ") & (" + joined(n, "/m/*/f", ", ") + ")\n"
	})},
	{"a long region", list("region r = ", "/m/k$i", ", ", "\nprove no stage reads r\n")},
	{"a long exception", list("region r = /m except (", "/m/k$i", ", ", ")\nstage s { read r write /a }\n")},
	{"a long read and write", inWorld(func(n int) string {
		l := joined(n, "/m/k$i", ", ")
		return "stage s { read " + l + " write " + l + " }\nstage t { read " + l + " write " + l + " }\nprove s commutes with t\nprove s within t\n"
	})},
	{"a long read with exceptions", inWorld(func(n int) string {
		l := joined(n, "/m/k$i except /m/k$i/f", ", ")
		return "stage s { read " + l + " write " + l + " }\nprove no stage reads /m/*/f\n"
	})},
	{"wildcards with exceptions", inWorld(func(n int) string {
		l := joined(n, "/m/*/m/k$i except /m/x$i", ", ")
		return "stage s { read " + l + " write " + l + " }\nprove no stage reads /m/*/f\n"
	})},
	{"nested groups", nested("region r = ", "(", "/a", ")", "\n")},
	{"choices of choices", func(n int) string {
		return "contract c\nstate any\nregion r = " + strings.Repeat("/(a|b)", n) + "\n"
	}},
	{"one long choice", func(n int) string {
		return "contract c\nstate any\nregion r = /(" + joined(n, "a$i", "|") + ")\n"
	}},
	{"deep wildcards", func(n int) string {
		return "contract c\nstate any\nregion r = " + strings.Repeat("/**/a", n) + "\nstage s { read r write " + strings.Repeat("/**/a", n) + " }\nprove no stage reads " + strings.Repeat("/**/b", n) + "\n"
	}},
	{"many deep wildcards", func(n int) string {
		l := joined(n, "/**/a$i/**", ", ")
		return "contract c\nstate any\nstage s { read " + l + " write " + l + " }\nstage t { read " + l + " write " + l + " }\nprove s within t\n"
	}},
	{"deep wildcards taken away", func(n int) string {
		l := joined(n, "/**/a$i", ", ")
		return "contract c\nstate any\nstage s { read /** except (" + l + ") write /x except (" + l + ") }\nprove no stage reads /**/a1\n"
	}},
	{"unknown members", inWorld(func(n int) string { return "region r = " + joined(n, "/mm$i", ", ") + "\n" })},
	{"unknown regions", inWorld(func(n int) string { return steps(n, "region r$i = q$i") })},
	// phases
	{"phases in a row", func(n int) string {
		return world + "phases {\n" + steps(n, " p$p -> p$i by host") + fmt.Sprintf(" p%d\n}\nstage s { in p0 read /a }\nprove p0 before p%d\n", n, n)
	}},
	{"phases with many arrows", func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " p%d -> ", i)
			for j := range 20 {
				fmt.Fprintf(&b, "p%d by host, ", (i+j+1)%n)
			}
			b.WriteString("end by host\n")
		}
		return world + "phases {\n" + b.String() + " end\n}\nstage s { in p0 read /a }\nprove p0 before end\n"
	}},
	{"phases from one", func(n int) string {
		return world + "phases {\n p0 -> " + joined(n, "p$i by host", ", ") + "\n" + steps(n, "p$i") + "}\nstage s { in p0 read /a write /a }\n"
	}},
	{"a stage in all phases", func(n int) string {
		return world + "phases {\n p0 -> " + joined(n, "p$i", ", ") + "\n" + steps(n, "p$i -> p0, e by host") + "e }\nstage s { in p0, " + joined(n, "p$i", ", ") + " read /a next " + joined(n, "p$i", ", ") + " }\n"
	}},
	{"stages that walk", func(n int) string {
		return world + "phases {\n" + steps(n, " p$p -> p$i when { state.n > $i }") + fmt.Sprintf(" p%d\n}\n", n) + steps(n, "stage s$i { in p$p read /a, /n write /a next p$i }") + "prove no flow from /a to /n\n"
	}},
	// stages
	{"parameters", inWorld(func(n int) string { return "stage s(" + joined(n, "p$i in /m", ", ") + ") { read /a }\n" })},
	{"parameters that are used", inWorld(func(n int) string {
		return "stage s(" + joined(n, "p$i in /m", ", ") + ") { read " + joined(n, "/m/{p$i}", ", ") + " write " + joined(n, "/m/{p$i}/f", ", ") + " }\nprove s commutes with s\n"
	})},
	{"as many parameters as there may be", most("", "p$i in /m", "/m/{p$i}", "")},
	{"as many parameters at two depths", func(n int) string {
		l := joined(min(n, 32), "/m/{p$i}/m/{p1}, /m/{p1}/m/{p$i}, /m/{p$i}/m/{p7}, /m/{p7}/m/{p$i}", ", ")
		return world + "stage s(" + joined(max(min(n, 32), 7), "p$i in /m", ", ") + ") { read /m write " + l + " except (" + l + ") }\n" +
			"stage t(" + joined(max(min(n, 32), 7), "p$i in /m", ", ") + ") { read /m write " + l + " }\nprove t commutes with t\n"
	}},
	{"as many new parameters as there may be", most("", "p$i new in /m", "/m/{p$i}", " when p1 differs")},
	{"as many parameters under a rule", most("invariant i each e in /m/* { e.g > state.n }\n", "p$i in /m", "/m/{p$i}/g", "")},
	{"as many parameters under a rule that nothing keeps", most("invariant i each e in /m/* { e.g > 0 && e.g < 0 }\n", "p$i in /m", "/m/{p$i}/f", "")},
	{"parameters from parameters", inWorld(func(n int) string {
		return "stage s(p0 in /m, " + joined(n, "p$i = /m/{p$p}/f", ", ") + ") { read /m write /m/{p0}/f }\nprove s commutes with s\n"
	})},
	{"new parameters", inWorld(func(n int) string {
		return "stage s(" + joined(n, "p$i new in /m", ", ") + ") { read /a write " + joined(n, "/m/{p$i}", ", ") + " }\nprove s commutes with s when p1 differs\n"
	})},
	{"few parameters in many stages", lines("", "stage s$i(p in /m, q in /m, r in /m, s in /m) { read /m/{p}, /m/{q}, /m/{r}, /m/{s} write /m/{p}/f, /m/{q}/g, /m/{r}/f, /m/{s}/g }", "prove all commute in main\n")},
	{"stages that all clash", lines("", "stage s$i { read /a write /a }", "prove all commute in main\n")},
	{"stages that clash by a rule", lines("invariant i { state.n > 0 || state.a != state.b }\n", "stage s$i { read /a, /b, /n write /a }", "prove all commute in main\n")},
	{"stages that clash in vain", lines("invariant i { state.n > 0 && state.n < 0 }\n", "stage s$i { read /a, /b, /n write /a }", "prove all commute in main\n")},
	{"stages that all commute", lines("", "stage s$i { read /m/k$i write /m/k$i/f }", "prove all commute in main\n")},
	{"claims of pairs", lines("", "stage s$i { read /a write /a }\nprove s$i commutes with s$i", "")},
	{"claims of one pair", lines("stage s { read /a write /a }\nstage t { read /a write /a }\n", "prove s commutes with t", "")},
	{"unknown stages", lines("stage s { read /a }\n", "prove t$i within u$i", "")},
	{"stages declared twice", lines("", "stage s { read /a }", "")},
	{"a stage of many rules", list("stage s { read /a, /n write /a ", "require { before.n > $i } ensure { after.n > $i }", " ", " }\n")},
	{"a stage that makes much", list("stage s { read /m write /m produce ", "/m/k$i", ", ", " }\n")},
	{"a stage that discloses much", func(n int) string {
		return world + steps(n, "invariant i$i { state.n > $i || state.a != \"\" }") + "stage s { read /a write /a discloses " + joined(n, "i$i", ", ") + " }\n"
	}},
	{"paths that are disclosed", list("stage s { read /m write /m discloses ", "/m/k$i", ", ", " }\n")},
	{"order of stages", func(n int) string {
		return world + "stage s0 { read /a }\n" + steps(n, "stage s$i { read /a after s$p }")
	}},
	{"after all before", func(n int) string {
		return world + "stage s { read /a after " + joined(n, "s$i", ", ") + " }\n" + steps(n, "stage s$i { read /a }")
	}},
	{"delegates of delegates", func(n int) string {
		return world + "stage s0 { read /a write /a }\n" + steps(n, "delegate s$i from s$p { read /a }")
	}},
	{"delegates upside down", func(n int) string {
		text := world
		for i := n; i > 0; i-- {
			text += fmt.Sprintf("delegate s%d from s%d { read /a }\n", i, i-1)
		}
		return text + "stage s0 { read /a write /a }\n"
	}},
	{"delegates that add rules", func(n int) string {
		return world + "stage s0 { read /a, /n write /a discloses require }\n" + steps(n, "delegate s$i from s$p { require { before.n > $i } }")
	}},
	{"delegates of nobody", lines("", "delegate s$i from t$i { read /a }", "")},
	{"a long composition", func(n int) string {
		return world + steps(n, "stage s$i { read /m/k$i write /m/k$i/f }") + "compose every = " + joined(n, "s$i", " + ") + "\nprove every within every\nprove s1 within every\n"
	}},
	{"compositions within each other", func(n int) string {
		return world + steps(n, "stage s$i { read /m/k$i write /m/k$i/f }\nstage t$i { read /m/k$i write /m/k$i/f }") +
			"compose x = " + joined(n, "s$i", " + ") + "\ncompose y = " + joined(n, "t$i", " + ") + "\nprove x within y\nprove y within x\n"
	}},
	{"a composition of stages with parameters", func(n int) string {
		return world + steps(n, "stage s$i(p in /m) { read /m/{p} write /m/{p}/f }") + "compose x = " + joined(n, "s$i", " + ") + "\nprove x within x\n"
	}},
	{"claims within one composition", func(n int) string {
		return world + steps(n, "stage s$i { read /a, /m/k$i write /m/k$i/f }\nprove s$i within x") + "compose x = " + joined(n, "s$i", " + ") + "\n"
	}},
	{"many compositions", func(n int) string {
		return world + steps(n, "stage s$i { read /m/k$i write /m/k$i/f }\ncompose c$i = s$i + s1\nprove s$i within c$i")
	}},
	{"a long parallel group", func(n int) string {
		return world + steps(n, "stage s$i { read /m/k$i write /m/k$i/f }") + "parallel every = " + joined(n, "s$i", " | ") + "\n"
	}},
	{"a parallel group that clashes", func(n int) string {
		return world + steps(n, "stage s$i { read /a write /a }") + "parallel every = " + joined(n, "s$i", " | ") + "\n"
	}},
	{"a parallel group of one stage", list("stage s { read /a write /b }\nparallel every = ", "s", " | ", "\n")},
	{"a parallel group that never meets", func(n int) string {
		return world + "phases {\n p0 -> p1 by host\n p1\n}\n" + steps(n, "stage s$i { in p0 read /a }\nstage t$i { in p1 read /a }") + "parallel every = " + joined(n, "s$i | t$i", " | ") + "\n"
	}},
	{"exceptions of a claim", func(n int) string {
		return world + steps(n, "stage s$i { read /m/k$i write /m/k$i }") + "prove no stage except " + joined(n, "s$i", ", ") + " writes /m\n"
	}},
	{"exceptions of a claim over delegates", func(n int) string {
		return world + "stage s0 { read /a write /a }\n" + steps(n, "delegate s$i from s$p { read /a }") + "prove no stage except " + joined(n, "s$i", ", ") + " writes /m\n"
	}},
	{"claims about all stages", lines("", "stage s$i { read /m/k$i write /m/k$i }\nprove no stage reads /a", "")},
	{"a flow through all", func(n int) string {
		return world + steps(n, "stage s$i { read /m/k$p, /m/k$i write /m/k$i }") + fmt.Sprintf("prove no flow from /m/k0 to /m/k%d\nprove no flow from /m/k%d to /m/k0\n", n, n)
	}},
	{"a flow backwards", func(n int) string {
		return world + steps(n, "stage s$i { read /m/k$p, /m/k$i write /m/k$p }") + fmt.Sprintf("prove no flow from /m/k0 to /m/k%d\nprove no flow from /m/k%d to /m/k0\n", n, n)
	}},
	{"flows of everything", lines("", "stage s$i { read /m, /a write /m }", "prove no flow from /b to /m\nprove no flow from /m to /b\n")},
	{"many claims of flow", lines("stage s { read /a write /m }\n", "prove no flow from /b to /m/k$i", "")},
	// rules
	{"invariants", lines("stage s { read /a, /n write /a, /n }\n", "invariant i$i { state.n > $i }", "")},
	{"invariants of entries", lines("stage s(p in /m) { read /m/{p} write /m/{p} }\n", "invariant i$i each e in /m/* { e.g > $i }", "")},
	{"invariants and stages", func(n int) string {
		return world + steps(n, "invariant i$i { state.n > $i }\nstage s$i { read /n write /n }")
	}},
	{"hidden invariants and stages", func(n int) string {
		return world + steps(n, "invariant i$i { state.n > $i || state.a != \"\" }\nstage s$i { read /n write /n }")
	}},
	{"measures", lines("stage s { read /m write /m }\n", "measure c$i = sum /m/*/g", "invariant i { c1 > 0 }\n")},
	{"measures of everything", lines("stage s { read /m write /m }\n", "measure c$i = count /**/k$i", "invariant i { c1 > 0 }\n")},
	{"a rule over all measures", inWorld(func(n int) string {
		return steps(n, "measure c$i = sum /m/*/g") + "invariant i { " + joined(n, "c$i > 0", " && ") + " }\nstage s { read /m write /m }\n"
	})},
	{"a long conjunction", list("invariant i { ", "state.n > $i", " && ", " }\nstage s { read /n write /n }\n")},
	{"a long comparison list", list("invariant i { state.a in [", `"v$i"`, ", ", "] }\nstage s { read /a write /a }\n")},
	{"choices in a rule", nested("invariant i { ", "state.n > 0 ? (", "true", ") : false", " }\n")},
	{"brackets in a rule", nested("invariant i { ", "(", "true", ")", " }\n")},
	{"negations", nested("invariant i { ", "!", "true", "", " }\n")},
	{"macros in macros", func(n int) string {
		text := "true"
		for i := range n {
			text = fmt.Sprintf("state.m.all(k%d, v%d, %s)", i, i, text)
		}
		return world + "invariant i { " + text + " }\nstage s { read /m write /m }\n"
	}},
	{"maps of lists", func(n int) string {
		text := "[1]"
		for i := range n {
			text = fmt.Sprintf("[%s, %s]", text, strings.Repeat("1", i+1))
		}
		return world + "invariant i { " + text + " == [1] }\nstage s { read /m write /m }\n"
	}},
	{"guards of optional members", func(n int) string {
		return world + "invariant i each e in /m/* { " + joined(n, `(!has(e.of) || e.of != "v$i")`, " && ") + " }\nstage s { read /m write /m }\n"
	}},
	{"cases in a rule", func(n int) string {
		return world + "invariant i each e in /m/* { " + joined(n, `(e.f == "v$i" || has(e.of))`, " || ") + " }\nstage s { read /m write /m }\n"
	}},
	{"values through choices", func(n int) string {
		return world + "invariant i { (" + joined(n, `state.a == "v$i" ? state.m["k$i"]`, " : ") + " : state.m[\"k\"]).g > 0 }\nstage s { read /m, /a write /m }\n"
	}},
	{"unions of literals compared", func(n int) string {
		return "contract c\nstate { x: " + joined(n, `"v$i"`, " | ") + " y: " + joined(n, `"w$i"`, " | ") + " }\ninvariant i { state.x == state.y }\n"
	}},
	{"unknown names in rules", lines("", "invariant i$i { state.q$i > 0 }", "")},
	{"unknown names", list("stage s { ", "require { z$i > 0 }", " ", " }\n")},
	{"a long regular expression", func(n int) string {
		return world + "invariant i { state.a.matches(\"" + strings.Repeat("(a|b)*", n) + "\") }\n"
	}},
	{"repetitions of repetitions", func(n int) string {
		return world + "invariant i { state.a.matches(\"" + strings.Repeat("(", n) + "a" + strings.Repeat("){9}", n) + "\") }\n"
	}},
	// text
	{"comments", lines("", "# $i", "stage s { read /a }\n")},
	{"words that mean nothing", lines("", "wibble $i", "")},
	{"open brackets", lines("", "stage s$i {", "")},
	{"brackets of all kinds", nested("type U = ", "{ a: ", "string", " }", "\n")},
	{"prefixes", nested("type U = ", "map of ", "string", "", "\n")},
	{"commas", list("region r = ", "/a", ",,", "\n")},
}
