package compiler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/lang/source"
)

// base is a contract without any finding. A case replaces one of its lines.
const base = `contract base
import "std/pii" as pii
state {
  tickets:   map of Ticket
  customers: map of Customer
  items:     list of Item by id
  rows:      list of Row
  history:   log of Event
  tags:      set of string
  budget:    number where { self >= 0.0 }
  note?:     string
}
type Ticket { status: "open" | "solved"  customer: key of /customers  reply?: string  hidden?: secret string }
type Customer { name: string  email: secret pii.Email }
type Item { id: string  n: int }
type Row { a: string  b: string }
type Event { what: string }
phases {
  one -> two
  two -> one, done
  done
}
region money = /budget, /note
measure solved = count /tickets/*/reply
measure total = sum /items/*/n
invariant replied each t in /tickets/* { t.status != "solved" || has(t.reply) }
invariant mails unique /customers/*/email
stage sort(ticket in /tickets) {
  in one
  read /tickets/{ticket} except secrets
  write /tickets/{ticket}/(status|reply)
  next two
}
stage tell(ticket in /tickets, customer = /tickets/{ticket}/customer) {
  in two
  read /tickets/{ticket} except secrets, /customers/{customer}/name
  write /tickets/{ticket}/reply, /history/-
  next one, done
}
`

// with replaces one line of base, found by its start, and adds text at the end.
func with(t *testing.T, line, by string) string {
	t.Helper()
	lines := strings.Split(base, "\n")
	for i, l := range lines {
		if line != "" && strings.HasPrefix(strings.TrimSpace(l), line) {
			lines[i] = by
			return strings.Join(lines, "\n")
		}
	}
	require.Empty(t, line, "no such line in base")
	return base + by
}

// compile compiles a contract. That parameters are not used, and that stages do nothing, is left
// out: many contracts of these tests have a stage for the parameters of all its cases.
func compile(text string) compiler.Output {
	out := compileWhole(text)
	out.Diagnostics = used(out.Diagnostics)
	return out
}

func used(ds []source.Diagnostic) []source.Diagnostic {
	return slices.DeleteFunc(slices.Clone(ds), func(d source.Diagnostic) bool { return d.Code == "unused" || d.Code == "no_effect" })
}

func compileWhole(text string) compiler.Output {
	out, _ := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
	return out
}

// A finding is what a case expects: the code, the text it points at, and a part
// of the message or help.
type finding struct{ code, at, says string }

func requireFindings(t *testing.T, text string, want []finding) {
	t.Helper()
	out := compile(text)
	var got []finding
	for _, d := range out.Diagnostics {
		got = append(got, finding{d.Code, d.Span.Text(), d.Message + " | " + d.Help})
	}
	require.Len(t, got, len(want), "%+v", got)
	for i, w := range want {
		require.Equal(t, w.code, got[i].code, "%+v", got[i])
		require.Equal(t, w.at, got[i].at, "%+v", got[i])
		require.Contains(t, got[i].says, w.says)
	}
	require.Equal(t, out.Contract == nil, source.HasErrors(out.Diagnostics))
	requireFixesMend(t, text)
}

func TestTheBaseContractHasNoFindings(t *testing.T) { requireFindings(t, base, nil) }

func TestDiagnostics(t *testing.T) {
	cases := []struct {
		name, line, by string
		want           []finding
	}{
		// names
		{"unknown type", "rows:", "rows: list of Rwo", []finding{{"unknown_type", "Rwo", "did you mean `Row`"}}},
		{"misspelt library", "import", "import \"std/pi\" as pii\ntype Odd { a: strin }", []finding{{"import_not_found", `"std/pi"`, "did you mean `std/pii`"}, {"unknown_type", "strin", "did you mean `string`"}}},
		{"unknown library", "type Row", "type Row { a: pi.Email b: string }", []finding{{"unknown_import", "pi.Email", "did you mean `pii`"}}},
		{"unknown library type", "type Row", "type Row { a: pii.Emial b: string }", []finding{{"unknown_type", "pii.Emial", "did you mean `Email`"}}},
		{"type declared twice", "type Row", "type Item { id: string }\ntype Row { a: string }", []finding{{"declared_twice", "Item", "type Item is declared twice"}}},
		{"member declared twice", "type Row", "type Row { a: string a: int }", []finding{{"declared_twice", "a", "member a is declared twice"}}},
		{"recursive type", "type Row", "type Row { a: list of Row }", []finding{{"recursive_type", "Row", "type Row contains itself"}}},
		{"type of another language", "budget:", "budget: Float", []finding{{"unknown_type", "Float", "did you mean `number`"}}},
		{"type written otherwise", "budget:", "budget: enum", []finding{{"unknown_type", "enum", "`|` between them"}}},
		{"everything by another name", "region money", "region money = everything", []finding{{"unknown_region", "everything", "did you mean `/**`"}}},
		{"key field", "items:", "items: list of Item by n", []finding{{"key_field", "n", "not a required string member"}}},
		{"empty segment", "region money", "region money = /tickets//x", []finding{{"bad_path", "/", "an empty segment"}}},
		{"key of no map", "type Ticket", `type Ticket { status: "open" | "solved" customer: key of /budget reply?: string hidden?: secret string }`, []finding{{"not_a_map", "/budget", "it is number"}}},
		{"missing state", "state {", "type Unused {", []finding{{"missing_state", "contract base", "does not say what its state is"}, {"dash_outside_log", "-", "this is any"}}},
		{"type named as a built-in", "type Event", "type int { what: string }\ntype Event { what: string }", []finding{{"reserved_name", "int", "means something already"}}},
		// paths
		{"unknown member", "region money", "region money = /budgte", []finding{{"unknown_member", "budgte", "did you mean `budget`"}}},
		{"below a scalar", "region money", "region money = /budget/x", []finding{{"no_such_path", "x", "/budget is number"}}},
		{"unknown parameter", "write /tickets/{ticket}/(", "  write /tickets/{tikcet}/status", []finding{{"unknown_parameter", "{tikcet}", "did you mean `{ticket}`"}}},
		{"parameter in a region", "region money", "region money = /tickets/{t}", []finding{{"unknown_parameter", "{t}", "elsewhere use `*`"}}},
		{"dash on a list", "write /tickets/{ticket}/(", "  write /rows/-", []finding{{"dash_outside_log", "-", "make it a `log of T`"}}},
		{"dash in read", "region money", "region money = /history/-", []finding{{"dash_outside_write", "-", "only a write clause"}}},
		{"position in read", "read /tickets/{ticket} except secrets", "  read /rows/0, /tickets/{ticket} except secrets", []finding{{"position_in_read", "0", "may not depend on the position"}}},
		{"element of a log as a source", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/status source /history/*", []finding{{"element_of_bag", "*", "no place of their own"}}},
		{"measure of text", "measure total", "measure total = sum /tickets/*/status", []finding{{"measure_type", "/tickets/*/status", "sum needs numbers"}}},
		{"measure of an unknown kind", "measure total", "measure total = summ /items/*/n", []finding{{"unknown_word", "summ", "`sum`"}}},
		{"each without entries", "invariant replied", "invariant replied each t in /tickets { true }", []finding{{"each_pattern", "/tickets", "where the entries vary"}}},
		// phases
		{"unknown phase", "one -> two", "  one -> tow", []finding{{"unknown_phase", "tow", "did you mean `two`"}}},
		{"unreachable phase", "done", "  done\n  lost -> done by host", []finding{{"unreachable_phase", "lost", "no way leads from one"}}},
		{"arrow nobody walks", "done", "  done -> one, over\n  over", []finding{{"unwalked_arrow", "one", "by host"}, {"unwalked_arrow", "over", "nobody can walk from done to over"}}},
		{"endless phase", "two -> one, done", "  two -> one", []finding{{"endless_phase", "one", "in which an instance may end"}, {"endless_phase", "two", ""}, {"unreachable_phase", "done", ""}, {"no_such_arrow", "next one, done", ""}}},
		{"stage without in", "in one", "", []finding{{"missing_in", "sort", "in which phases"}}},
		{"unknown phase in a stage", "in one", "  in oen", []finding{{"unknown_phase", "oen", "did you mean `one`"}}},
		{"no such arrow", "next two", "  next two, done", []finding{{"no_such_arrow", "next two, done", "from phase one to done"}}},
		// authority
		{"write beyond read", "read /tickets/{ticket} except secrets", "  read /tickets/{ticket}/status", []finding{{"not_read", "/tickets/{ticket}/(status|reply)", "may write /tickets/{ticket}/reply but does not read it"}}},
		{"source beyond read", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/(status|reply)\n  source /tickets/{ticket}/hidden", []finding{{"not_read", "/tickets/{ticket}/hidden", "may take from /tickets/{ticket}/hidden"}}},
		{"append under an uncertain parent", "history:", "history?: log of Event", []finding{{"parent_uncertain", "/history/-", "may be missing"}}},
		{"undisclosed gate", "read /tickets/{ticket} except secrets, /customers", "  read /tickets/{ticket}/reply, /customers/{customer}/name", []finding{{"undisclosed_gate", "tell", "does not see /tickets/{ticket}/status, which invariant replied reads"}}},
		{"disclosed gate", "read /tickets/{ticket} except secrets, /customers", "  read /tickets/{ticket}/reply, /customers/{customer}/name discloses replied", nil},
		{"undisclosed reference", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/customer", []finding{{"undisclosed_gate", "sort", "does not see /customers/*, which the reference at /tickets/*/customer reads"}}},
		{"disclosed reference", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/customer discloses /tickets/*/customer", nil},
		{"rules over what the stage adds itself", "type Event", "type Event { what: string where { self != \"\" } }", nil},
		{"unknown gate", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/reply discloses repleid", []finding{{"unknown_gate", "repleid", "did you mean `replied`"}}},
		{"needless disclosure", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/reply discloses mails", []finding{{"needless_disclosure", "mails", "nothing is disclosed"}}},
		{"clause twice", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/status\n  write /tickets/{ticket}/reply", []finding{{"clause_twice", "write", "stands twice"}}},
		{"parameter from a number", "stage tell(", "stage tell(ticket in /tickets, customer = /budget) {", []finding{{"parameter_type", "/budget", "this is number"}}},
		{"blind in read", "read /tickets/{ticket} except secrets", "  read blind /tickets/{ticket}", []finding{{"misplaced_word", "blind /tickets/{ticket}", "in a write clause only"}}},
		{"expressions point into the file", "invariant replied", "invariant replied each t in /tickets/* { t.statsu == \"open\" }", []finding{{"unknown_member", "statsu", "did you mean"}}},
		{"unguarded optional", "invariant replied", "invariant replied each t in /tickets/* { t.reply != \"\" }", []finding{{"unguarded_optional", "t.reply", "has(t.reply)"}}},
		{"never true", "invariant replied", "invariant replied each t in /tickets/* { t.status == \"solvd\" }", []finding{{"constant_comparison", `"solvd"`, "did you mean"}}},
		{"a write that allows nothing", "write /tickets/{ticket}/(", "  write /tickets/{ticket} except /tickets/{ticket}/**/hidden", []finding{{"empty_grant", "/tickets/{ticket} except /tickets/{ticket}/**/hidden", "allows nothing"}}},
		{"a source that allows nothing", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/status\n  source /tickets/{ticket}/reply except /**/x", []finding{{"empty_grant", "/tickets/{ticket}/reply except /**/x", "allows nothing"}}},
		{"a write of which all is taken away", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/status, (/tickets/{ticket}/reply & /tickets/*/reply) except /tickets", []finding{{"empty_grant", "(/tickets/{ticket}/reply & /tickets/*/reply) except /tickets", "allows nothing"}}},
		{"a read that shows nothing", "read /tickets/{ticket} except secrets, /customers", "  read /tickets/{ticket} except secrets, /customers/{customer}/name, /note except /**", []finding{{"empty_grant", "/note except /**", "leave nothing"}}},
		{"a region of which nothing is left", "region money", "region money = /budget except (/note, /budget)", []finding{{"empty_grant", "/budget except (/note, /budget)", "leave nothing"}}},
		{"a require that guards no view", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/(status|reply) require { before.tickets[ticket].customer + \"1\" == ticket }", []finding{{"require_no_guard", "require { before.tickets[ticket].customer + \"1\" == ticket }", "does not keep stage sort from showing /tickets/{ticket}"}}},
		{"a require about the state of what is shown", "write /tickets/{ticket}/(", "  write /tickets/{ticket}/(status|reply) require { before.tickets[ticket].status == \"open\" }", nil},
		// claims
		{"no stage, true", "", "prove no stage reads secrets\n", nil},
		{"no stage, false", "", "prove no stage writes /history\n", []finding{{"claim_refuted", "prove no stage writes /history", "stage tell writes /history/-"}}},
		{"no stage but one", "", "prove no stage except tell writes /history\n", nil},
		{"within, true", "", "compose both = sort + tell\nprove sort within both\n", nil},
		{"within, false", "", "prove sort within tell\n", []finding{{"claim_refuted", "prove sort within tell", "sort may do what tell may not: it runs in phase one"}}},
		{"no flow, true", "", "prove no flow from secrets to /history\n", nil},
		{"no flow, false", "", "prove no flow from /tickets/*/status to /history\n", []finding{{"claim_refuted", "prove no flow from /tickets/*/status to /history", "stage tell sees /tickets/{ticket}/status and may write /history/-"}}},
		{"before, true", "", "prove two before done\n", nil},
		{"before, false", "", "prove done before two\n", []finding{{"claim_refuted", "prove done before two", "one -> two"}}},
		{"claim over phases apart", "", "prove sort commutes with tell\n", []finding{{"no_shared_phase", "tell", "never run in one phase"}}},
		{"claim over an unknown stage", "", "compose both = sort + tel\n", []finding{{"unknown_stage", "tel", "did you mean `tell`"}}},
		// delegates
		{"delegate", "", "delegate less from sort { read /tickets/{ticket}/status write /tickets/{ticket}/status discloses replied }\n", nil},
		{"delegate that exceeds", "", "delegate more from sort { read /tickets/{ticket} write /tickets/{ticket}/status }\n", []finding{{"delegate_exceeds", "read /tickets/{ticket}", "may read /tickets/{ticket}/hidden, which is beyond stage sort"}}},
		{"delegate for a role more", "next two", "  next two by clerk\n}\ndelegate more from sort { by clerk, boss", []finding{{"delegate_exceeds", "boss", "has no `by boss` to hand down"}}},
		{"delegate in a phase more", "next two", "  next two\n}\ndelegate more from sort { in one, done next two", []finding{{"delegate_exceeds", "done", "has no `in done` to hand down"}, {"no_such_arrow", "next two", ""}}},
		{"delegate with tries more", "next two", "  next two attempts 2\n}\ndelegate more from sort { attempts 3", []finding{{"delegate_exceeds", "attempts 3", "may try more often"}}},
		{"delegate with tries more than the default", "next two", "  next two\n}\ndelegate more from sort { attempts 4", []finding{{"delegate_exceeds", "attempts 4", "may try more often"}}},
		{"delegate of an unknown stage", "", "delegate more from srot { }\n", []finding{{"unknown_stage", "srot", "did you mean `sort`"}}},
		{"delegate beyond the delegable region", "next two", "  next two delegable /tickets/{ticket}/status\n}\ndelegate every from sort {", []finding{{"delegate_exceeds", "every", "beyond the delegable region of stage sort"}, {"delegate_exceeds", "every", ""}}},
	}
	for _, c := range cases {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) { requireFindings(t, with(t, c.line, c.by), c.want) })
	}
}

func TestAGateBelowAnUntypedNodeDependsOnTheNodeItself(t *testing.T) {
	const contract = `contract open
state { box: any }
invariant small { !has(state.box.inner.n) || state.box.inner.n < 3.0 }
stage put { read /box/inner/n  write /box/inner/n }
`
	requireFindings(t, contract, []finding{{"undisclosed_gate", "put", "does not see /box"}})
	requireFindings(t, strings.Replace(contract, "read /box/inner/n", "read /box", 1), nil)
}

func TestWhatABlindGrantAddsIsKnownToItsActorAndTheOthersAreNot(t *testing.T) {
	const contract = `contract votes
state { votes: map of Vote }
type Vote { by: string where { self != "" } }
stage vote { write blind /votes/* }
`
	requireFindings(t, contract, nil)
	requireFindings(t, contract+"invariant one_each unique /votes/*/by\n", []finding{{"undisclosed_gate", "vote", "invariant one_each"}})
}

func TestABlindAddLeavesNoReferenceDangling(t *testing.T) {
	const contract = `contract refs sealed
state { docs: map of Doc  refs: list of key of /docs }
type Doc { title: string }
`
	requireFindings(t, contract+"stage put { write blind /docs/* }\n", nil)
	requireFindings(t, contract+"stage drop(d in /docs) { read /docs/{d}  write /docs/{d} }\n", []finding{{"undisclosed_gate", "drop", "the reference at /refs/*"}})
}

func TestTheWayToWhatIsExceptedIsNotSeen(t *testing.T) {
	requireFindings(t, `contract spine
state { items: map of { note: secret string }  hits: int }
stage s { read /hits, /items/*/note except secrets  write /hits  ensure { size(after.items) < 3 } }
`, []finding{{"undisclosed_gate", "s", "does not see /items/*"}, {"empty_grant", "/items/*/note except secrets", "leave nothing"}})
	requireFindings(t, `contract open sealed
state any
stage s { read /b/c  write /b/c  require { !has(before.b.c) || before.b.c != 1 } }
`, []finding{{"undisclosed_gate", "s", "does not see /b"}})
}

func TestAFileOfWhichNothingCouldBeReadIsReportedOnce(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "binary": "contract c\x00", "large": strings.Repeat("{", 2<<20)} {
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
		require.NoError(t, err)
		require.Len(t, out.Diagnostics, 1, name)
	}
}

func TestOnlyAMemberThatCanBeTheKeyIsProposedAsKey(t *testing.T) {
	fixes := func(field string) []source.Fix {
		return compile("contract c\nstate { rows: list of { ab: int  id: string  ib?: string } by " + field + " }\n").Diagnostics[0].Fixes
	}
	require.Equal(t, "id", fixes("it")[0].Text)
	require.Empty(t, fixes("abb"))
}

func TestReadingWhatIsWrittenAsTheFixSaysIsRight(t *testing.T) {
	const contract = `contract fix
state { rows: list of Row  m: map of Row  tags: set of string  keyed: list of K by id  n: int }
type Row { a: int  b?: string }
type K { id: string  v: int }
region money = /m/*/a, /n
stage s(k in /m) { READ WRITE }
`
	for _, read := range []string{"", "read /m/*/b"} {
		for _, write := range []string{"write /rows/*/a", "write money", "write /m/{k}/a", "write /tags/-", "write /keyed/*/v", `write /m/"a b"/a`, "write /**/a & /m", "source /m/*"} {
			text := strings.NewReplacer("READ", read, "WRITE", write).Replace(contract)
			found := compile(text).Diagnostics
			require.Len(t, found, 1, text)
			require.Equal(t, "not_read", found[0].Code)
			fix := found[0].Fixes[0]
			text = text[:fix.Span.Start] + fix.Text + text[fix.Span.End:]
			require.Empty(t, compile(text).Diagnostics, text)
		}
	}
}

func TestWhatFollowsFromAMistakeIsNotReported(t *testing.T) {
	const contract = "contract x\nstate { a: int  f: number  s: set of string  m: map of { v: string }  u: \"a\" | 1  w: true | \"x\" | null }\nstage A { read /a  write /a }\n"
	for line, codes := range map[string][]string{
		"prove A commutes with": {"missing"},
		"prove A within":        {"missing"},
		"compose q = A +":       {"missing"},
		"parallel q = A |":      {"missing"},
		"delegate D from {}":    {"unexpected"},
		"stage B(p in /m) { read /m/{p} }\nprove B commutes with B when p differs from": {"missing"},
		"phases { p -> }":                                                      {"missing"},
		"invariant i { math.abs(state.a) > 1 }":                                {"unknown_name"},
		"invariant i { sets.contains(state.s, [\"a\"]) }":                      {"unknown_name"},
		"invariant i { state.nothing.startsWith(\"a\") }":                      {"unknown_member"},
		"stage F(q = /m/{p}/v, p in /m) { read /m/{q} }":                       {"unknown_parameter"},
		"stage F(q in /m, r = /m/{s}/v, s = /m/{q}/v) { read /m/{r}, /m/{s} }": {"unknown_parameter"},
		"invariant i { state.u != \"zz\" }":                                    {"constant_comparison"},
		"invariant i { state.w != \"zz\" }":                                    {"constant_comparison"},
		"invariant i { state.u in [\"a\", \"b\"] || state.u == 1 }":            {"constant_comparison"},
	} {
		var got []string
		for _, d := range compile(contract + line + "\n").Diagnostics {
			got = append(got, d.Code)
			require.NotContains(t, d.Message, "called \n")
		}
		require.Equal(t, codes, got, line)
	}
}

func TestHelpGivesTheNameThatOtherLanguagesHaveAnotherOneFor(t *testing.T) {
	const contract = "contract x\nstate { f: number  l: list of int  t: string }\n"
	for rule, help := range map[string]string{
		"state.f % 2 == 0.0":     "takes two ints",
		"len(state.l) > 1":       "size(x)",
		"state.l.length > 1":     "size(x)",
		"state.t.length > 1":     "size(x)",
		"state.l.length() > 1":   "size(x)",
		"state.f > 1.0 || True":  "did you mean `true`",
		"state.f > 1.0 || False": "did you mean `false`",
	} {
		out := compile(contract + "invariant i { " + rule + " }\n")
		require.Len(t, out.Diagnostics, 1, rule)
		require.Contains(t, out.Diagnostics[0].Help, help, rule)
		for _, f := range out.Diagnostics[0].Fixes {
			require.NotContains(t, f.Text, "2.0", rule)
		}
	}
}

func TestAPhaseIsComparedWithThePhasesThereAre(t *testing.T) {
	const contract = `contract x
phases { draft -> signed by host  signed }
state { n: int }
stage z { in draft  read /n  write /n }
invariant i %s
`
	for rule, says := range map[string]string{
		`{ phase != "signd" || state.n > 0 }`:               `did you mean "signed"`,
		`{ !(phase in ["signed", "drft"]) || state.n > 0 }`: `did you mean "draft"`,
		`{ (phase == "done" ? 1 : 2) > state.n }`:           `it is "draft" or "signed"`,
		`{ phase != "signed" || state.n > 0 }`:              "",
		`{ phase in ["signed", "draft"] || state.n > 0 }`:   "",
	} {
		out := compile(fmt.Sprintf(contract, rule))
		if says == "" {
			require.Empty(t, out.Diagnostics, rule)
			continue
		}
		require.Len(t, out.Diagnostics, 1, rule)
		require.Equal(t, "constant_comparison", out.Diagnostics[0].Code)
		require.Contains(t, out.Diagnostics[0].Help, says)
	}
}

func TestANameIsListedOnceInEveryList(t *testing.T) {
	const contract = "contract x\nphases { p -> q by host  q }\nstate { a: int }\nstage A { in p  read /a }\nstage B { in p  read /a }\n"
	for _, line := range []string{
		"stage C { in p  by x, x  read /a }",
		"stage C { in p, p  read /a }",
		"stage C { in p  after A, B, A  read /a }",
		"compose c = A + B + A",
		"prove no stage except A, A writes /a",
	} {
		out := compile(contract + line + "\n")
		require.Len(t, out.Diagnostics, 1, line)
		require.Equal(t, "listed_twice", out.Diagnostics[0].Code)
	}
	requireFindings(t, contract+"stage C { in p, q  by x, y  after A, B  read /a }\nparallel two = A | A\n", nil)
}

func TestAFailedWithinNamesWhatTheOtherSideAsksMore(t *testing.T) {
	const cases = "contract x\nstate { a: int b: int d: int c: map of {n: string w: int} }\n"
	const both = "stage A { read /a, /b, /d write /a }\nstage B { read /a write /a }\n"
	for text, want := range map[string]string{
		"stage A(p in /c, q in /c) { read /c write /c/{p} require { before.c[p].w > before.c[q].w } }\n" +
			"stage B(p in /c, q in /c) { read /c write /c/{p} require { before.c[q].w > before.c[p].w } }\nprove A within B\n": "A may do what B may not: it is not judged by `require { before.c[q].w > before.c[p].w }` of B",
		both + "stage C { read /b, /d write /d ensure { after.d > 0 } }\ncompose D = B + C\nprove A within D\n":                                             "it is not judged by `ensure { after.d > 0 }` of C",
		strings.ReplaceAll(both, "/b, ", "") + "stage C { read /b write /b ensure { after.b > 0 } }\ncompose D = B + C\nprove A within D\n":                 "A has `read` of /d, which D has not",
		"phases { one -> two two }\n" + strings.ReplaceAll(both, "{", "{ in one") + "stage C { in two read /b, /d }\ncompose D = B + C\nprove A within D\n": "A may do what D may not: it runs in phase one, as C does not",
	} {
		var all []string
		for _, d := range compile(cases + text).Diagnostics {
			if d.Code == "claim_refuted" {
				all = append(all, d.Message)
			}
		}
		require.Len(t, all, 1, text)
		require.Contains(t, all[0], want, text)
	}
}

func TestAStageThatTakesAParameterFromAPlaceIsToldItByTheParameter(t *testing.T) {
	for text, want := range map[string]string{
		"stage s(k = /pin) { read /out write /out }\n":       "stage s is told by its parameters that /pin is there",
		"stage s(k = /pin) { read /out, /box write /out }\n": "stage s is told by its parameters that /pin is there",
		"stage s(k = /pin) { read /** except /out }\n":       "stage s reads /pin",
		"stage s(k = /out) { read /pin }\n":                  "stage s reads /pin",
	} {
		text = "contract x\nstate { pin: string out: string box: int }\n" + text + "prove no stage reads /pin\n"
		var all []string
		for _, d := range compile(text).Diagnostics {
			if d.Code == "claim_refuted" {
				all = append(all, d.Message)
			}
		}
		require.Equal(t, []string{want}, all, text)
	}
}
