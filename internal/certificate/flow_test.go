package certificate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/lang/source"
)

// A flowCase is a contract whose last claim is about a flow or reading; says is a part of
// the refutation, "" if it holds.
type flowCase struct{ name, text, says string }

// vault is a state with a secret, and ways for it to get out.
const vault = `contract vault
state { pin: secret string  m: map of int  out: map of string  note: string  k: list of E by id  box: map of secret string }
type E { id: string  v: int }
`

// referring is a state in which logs refer to entries.
const referring = `contract referring
state { o: map of int  n: int  out: string  marks: log of { of: key of /o  n: int }  deep: log of { by: map of key of /o } }
`

// forked goes from one to zero or single, whatever a stage likes.
const forked = vault + `phases { one -> zero, single  zero -> last  single -> last  last }
`

// straight is a line of three phases; looped may go back.
const straight = vault + `phases { one -> two  two -> three  three }
stage on1 { in one next two }
stage on2 { in two next three }
`
const looped = vault + `phases { one -> two  two -> three, one by host  three }
stage on1 { in one next two }
stage on2 { in two next three }
`

var flowCases = []flowCase{
	{"by an argument", vault + `stage look { read /pin, /m write /m }
stage use(p in /m) { read /out/{p} write /out/{p} }
prove no flow from secrets to /out`, "stage use sees /m/{p}"},
	{"by an argument of a delegate", vault + `stage look { read /pin, /m write /m }
stage use(p in /m) { read /out write /out }
delegate less from use { read /out/{p} write /out/{p} }
prove no flow from secrets to /out`, "stage use sees /m/{p}"},
	{"by a key of a keyed list", vault + `stage look { read /pin, /k write /k }
stage use(p in /k) { read /out/{p} write /out/{p} }
prove no flow from secrets to /out`, "stage use sees /k/{p}"},
	{"by what a key is taken from", vault + `stage look { read /pin, /note write /note }
stage use(p = /note) { read /out/{p} write /out/{p} }
prove no flow from secrets to /out`, "stage use sees /note"},
	{"by a new key only", vault + `stage look { read /pin, /m write /m }
stage use(p new in /m) { read /out/{p} write /out/{p} }
prove no flow from secrets to /out`, ""},
	{"not by an argument whose key nobody writes", vault + `stage look { read /pin, /note write /note }
stage use(p in /m) { read /out/{p} write /out/{p} }
prove no flow from secrets to /out`, ""},
	{"not by values below a key", vault + `stage look(q in /k) { read /pin, /k/{q}/v write /k/{q}/v }
stage use(p in /k) { read /out/{p} write /out/{p} }
prove no flow from secrets to /out`, ""},
	{"a secret map is told by its keys", vault + `stage use(p in /box) { read /out write /out }
prove no stage reads secrets`, "is told by its parameters that /box/{p} is there"},
	{"the key field is told", vault + `stage use(p in /k) { read /out write /out }
prove no stage reads /k/*/id`, "/k/{p}/id is there"},
	{"another field is not told", vault + `stage use(p in /k) { read /out write /out }
prove no stage reads /k/*/v`, ""},
	{"by a blind write into it", vault + `stage look { read /pin write blind /out/* }
prove no flow from secrets to /out`, "stage look"},
	{"a delegate of a stage that is excepted", vault + `stage look { read /pin }
delegate less from look { read /pin }
delegate least from less { read /pin }
prove no stage except look reads secrets`, ""},
	{"the parent of a delegate that is excepted", vault + `stage look { read /pin }
delegate less from look { read /pin }
prove no stage except less reads secrets`, "stage look"},
	{"a new key reads nothing", vault + `stage drop(p new in /box) { write /box/{p} }
prove no stage reads secrets`, ""},

	{"by a choice of phase", forked + `stage look { in one read /pin next zero, single }
stage a { in zero read /out write /out next last }
stage b { in single read /out write /out next last }
prove no flow from secrets to /out`, "may choose between the phases zero, single; then stage a runs after that"},
	{"by a choice of phase, much later", forked + `stage look { in one read /pin next zero, single }
stage a { in zero next last }
stage b { in single next last }
stage late { in last read /out write /out }
prove no flow from secrets to /out`, "then stage late runs after that"},
	{"by a choice of phase, told on", forked + `stage look { in one read /pin, /note write /note next zero, single }
stage a { in zero read /out write /out next last }
stage b { in single next last }
prove no flow from secrets to /out`, "stage a runs after that"},
	{"by a choice of phase of one who was told", vault + `phases { one -> zero, single  zero -> last  single -> last  last }
stage look { in one read /pin, /note write /note }
stage pick { in one read /note next zero, single }
stage a { in zero read /out write /out next last }
stage b { in single next last }
prove no flow from secrets to /out`, "stage pick sees /note and may choose"},
	{"by a choice of phase that is disclosed", forked + `stage look { in one read /pin next zero, single discloses phase }
stage a { in zero read /out write /out next last }
stage b { in single read /out write /out next last }
prove no flow from secrets to /out`, ""},
	{"a choice of phase of one who knows nothing", forked + `stage look { in one read /note next zero, single }
stage a { in zero read /out write /out next last }
stage b { in single read /out write /out next last }
prove no flow from secrets to /out`, ""},
	{"a move without a choice", straight + `stage look { in one read /pin next two }
stage a { in two read /out write /out }
prove no flow from secrets to /out`, ""},
	{"a choice of phase after the writer has run", vault + `phases { first -> one  one -> zero, single  zero single }
stage a { in first read /out write /out next one }
stage look { in one read /pin next zero, single }
prove no flow from secrets to /out`, ""},

	{"against the order of the phases", straight + `stage look { in two read /pin, /note write /note }
stage use { in one read /note, /out write /out }
prove no flow from secrets to /out`, ""},
	{"in the order of the phases", straight + `stage look { in one read /pin, /note write /note }
stage use { in three read /note, /out write /out }
prove no flow from secrets to /out`, "stage use sees /note"},
	{"in one phase", straight + `stage look { in two read /pin, /note write /note }
stage use { in two read /note, /out write /out }
prove no flow from secrets to /out`, "stage use sees /note"},
	{"with a way back by the host", looped + `stage look { in two read /pin, /note write /note }
stage use { in one read /note, /out write /out }
prove no flow from secrets to /out`, "stage use sees /note"},
	{"a commit that leaves the phase", straight + `stage look { in one read /pin, /note write /note next two }
stage use { in one read /note, /out write /out }
prove no flow from secrets to /out`, ""},
	{"an order that takes two to break", straight + `stage look { in two read /pin, /note write /note }
stage carry { in one, three read /note, /m write /m }
stage use { in one, two read /m, /out write /out }
prove no flow from secrets to /out`, ""},
	{"one stage in two phases", straight + `stage look { in two read /pin, /note write /note }
stage carry { in one, three read /note, /m write /m }
stage use { in one, three read /m, /out write /out }
prove no flow from secrets to /out`, "stage carry sees /note"},

	{"through the state alone", straight + `stage look { in one by clerk read /pin }
stage use { in two by clerk read /out write /out }
prove no flow from secrets to /out`, ""},
	{"with memory", straight + `stage look { in one by clerk read /pin }
stage use { in two by clerk read /out write /out }
prove no flow from secrets to /out with memory`, "its role remembers; then stage use is run by the same role"},
	{"with memory, after leaving the phase", straight + `stage look { in one by clerk read /pin next two }
stage use { in two by boss, clerk read /out write /out }
prove no flow from secrets to /out with memory`, "its role remembers"},
	{"with memory of another role", straight + `stage look { in one by clerk read /pin }
stage use { in two by boss read /out write /out }
prove no flow from secrets to /out with memory`, ""},
	{"with memory of what comes later", straight + `stage look { in two by clerk read /pin }
stage use { in one by clerk read /out write /out }
prove no flow from secrets to /out with memory`, ""},
	{"with memory of a stage for everybody", straight + `stage look { in one by clerk read /pin }
stage use { in two read /out write /out }
prove no flow from secrets to /out with memory`, "its role remembers"},
	{"with memory of everybody", straight + `stage look { in one read /pin }
stage use { in two by clerk read /out write /out }
prove no flow from secrets to /out with memory`, "its role remembers"},
	{"with memory of nobody in particular", straight + `stage look { in one read /pin }
stage use { in two read /out write /out }
prove no flow from secrets to /out with memory`, "its role remembers"},
	{"with memory that does not spread between roles", straight + `stage look { in one by clerk read /pin }
stage both { in one by clerk, boss read /note }
stage use { in two by boss read /out write /out }
prove no flow from secrets to /out with memory`, ""},
	{"with memory of each role that runs one stage", straight + `stage look { in one by clerk, boss read /pin }
stage use { in two by boss read /out write /out }
prove no flow from secrets to /out with memory`, "stage use is run by the same role"},
	{"with memory and a letter to another role", straight + `stage look { in one by clerk read /pin }
stage letter { in two by clerk read /note write /note }
stage use { in three by boss read /note, /out write /out }
prove no flow from secrets to /out with memory`, "its role remembers; then stage letter"},
	{"with memory and a choice of phase", forked + `stage look { in one by clerk read /pin }
stage pick { in one by clerk read /note next zero, single }
stage a { in zero by boss read /out write /out next last }
stage b { in single by boss next last }
prove no flow from secrets to /out with memory`, "stage pick is run by the same role and may choose"},
}

func TestAFlowTakesEveryCarrierAndNoneThatPhasesForbid(t *testing.T) {
	for _, c := range flowCases {
		t.Run(c.name, func(t *testing.T) {
			out := compileText(c.text + "\n")
			require.NotNil(t, out.Lowered, "%v", out.Diagnostics)
			if c.says == "" {
				require.NotNil(t, out.Contract, "%v", out.Diagnostics)
				return
			}
			require.IsType(t, footprint.Refuted{}, out.Results[0], "%+v", out.Results[0])
			require.True(t, slices.ContainsFunc(out.Diagnostics, func(d source.Diagnostic) bool {
				return d.Code == "claim_refuted" && strings.Contains(d.Message, c.says)
			}), "%v", out.Diagnostics)
		})
	}
}

func TestACertificateShowsWhichFlowsThereAreNot(t *testing.T) {
	for _, c := range flowCases {
		t.Run(c.name, func(t *testing.T) {
			out := compileText(c.text + "\n")
			problems := certificate.Check(footprint.New(out.Lowered).Certificate(), out.Lowered)
			require.Equal(t, c.says == "", len(problems) == 0, "%v", problems)
		})
	}
}

func TestWhatIsToldABitAtATimeIsNoted(t *testing.T) {
	for _, c := range []struct{ name, text, note string }{
		{"a choice of phase", forked + `stage look { in one read /pin next zero, single discloses phase }
stage a { in zero read /out write /out next last }
stage b { in single next last }
prove no flow from secrets to /out`, "stage look tells what it knows by the phase it moves to: zero, single"},
		{"a blind write", vault + `stage look { read /pin, /m write /m }
stage try { read /out write blind /m/*, /out }
prove no flow from secrets to /out`, "stage try is told by a blind write whether /m/* is there"},
		{"a new key", vault + `stage look { read /pin, /m write /m }
stage use(p new in /m) { read /out write /out }
prove no flow from secrets to /out`, "stage use is told by `p new in /m` that a key is free"},
		{"a gate over the origin", vault + `invariant short { size(state.pin) < 9 || state.note == "" }
stage look { read /note write /note discloses short }
prove no flow from secrets to /out`, "stage look is judged by invariant short, which reads /pin"},
		{"a gate over what was written", vault + `invariant few { size(state.m) < 9 || state.note == "" }
stage look { read /pin, /m write /m discloses few }
stage use { read /note write /note discloses few }
prove no flow from secrets to /out`, "stage use is judged by invariant few, which reads /m"},
		{"a guard of the host", vault + `phases { one -> two by host when { state.pin == "x" }  two }
stage use { in two read /out write /out }
prove no flow from secrets to /out`, "the host moves the phase, one -> two, by a guard that reads /pin"},
		{"a rule of the host's move", vault + `phases { one -> two by host  two }
invariant shut { phase == "one" || state.pin != "x" }
stage use { in two read /out write /out }
prove no flow from secrets to /out`, "the host moves the phase, one -> two, under invariant shut, which reads /pin"},
		{"a rule of the host's move over entries", vault + `phases { one -> two by host  two }
invariant shut each x in /box/* { phase != "two" || x != "" }
stage use { in two read /out write /out }
prove no flow from /box/a to /out`, "the host moves the phase, one -> two, under invariant shut, which reads /box/a"},
		{"references in a log", referring + `stage drop { read /o, /out write /o, /out }
prove no flow from /marks to /out`, "stage drop is judged by key at /marks/*/of, which reads /marks/0/of"},
		{"references below an entry of a log", referring + `stage drop { read /o, /out write /o, /out }
prove no flow from /deep/*/by/a to /out`, "stage drop is judged by key at /deep/*/by/*, which reads /deep/0/by/a"},
		{"a rule over entries of a log", referring + `invariant few each x in /marks/* { x.n < state.n }
stage low { read /n, /out write /n, /out }
prove no flow from /marks/*/n to /out`, "stage low is judged by invariant few, which reads /marks/0/n"},
		{"a rule over an entry that is named", referring + `invariant few each x in /o/* { x < state.n }
stage low { read /n, /out write /n, /out }
prove no flow from /o/a to /out`, "stage low is judged by invariant few, which reads /o/a"},
		{"a rule that the outer stage has not", vault + `stage a { read /out write /out require { before.pin == "x" } discloses require }
stage b { read /out write /out }
prove a within b`, "stage a is judged by require, which reads /pin"},
		{"a rule after the commit that the outer stage has not", vault + `stage a(e in /k) { read /out write /out ensure { after.k[e].v > 2 } discloses ensure }
stage b(f in /k) { read /out write /out require { before.k[f].v > 2 } }
stage c(f in /k) { read /out write /out }
prove a within c`, "stage a is judged by ensure, which reads /k/{e}/v"},
		{"something that must be there", vault + `stage a { read /out write /out produce /box/k discloses produce }
stage b { read /out, /m write /out, /m }
prove a within b`, "stage a is judged by produce, which reads /box/k"},
		{"a new key of a secret map", vault + `stage drop(p new in /box) { write /box/{p} }
prove no stage reads secrets`, "stage drop is told by `p new in /box` that a key is free"},
	} {
		out := compileText(c.text + "\n")
		require.NotNil(t, out.Contract, "%s: %v", c.name, out.Diagnostics)
		var notes []string
		for _, n := range explain.Answers(out.Contract, out.Results)[0].Discloses {
			notes = append(notes, n.Text())
		}
		require.Contains(t, notes, c.note, c.name)
	}
}

func TestAStageWithinAnotherIsToldNoMoreByWhatItSeesOrTheOtherIsJudgedByToo(t *testing.T) {
	for _, stages := range []string{
		`stage a { read /out write /out require { before.out.size() > 2 } }
stage b { read /out write /out }`,
		`stage a { read /out write /out require { before.pin == "x" } discloses require }
stage b { read /out write /out require { before.pin == "x" } discloses require }`,
		`stage a(e in /k, f in /m) { read /out write /out require { before.k[e].v > 2 && before.m[f] > 1 } discloses require }
stage b(g in /m, h in /k) { read /out write /out require { before.m[g] > 1 } require { before.k[h].v > 2 } discloses require }`,
	} {
		out := compileText(vault + stages + "\nprove a within b\n")
		require.NotNil(t, out.Contract, "%s: %v", stages, out.Diagnostics)
		require.Empty(t, explain.Answers(out.Contract, out.Results)[0].Discloses, stages)
	}
}

func TestAChoiceOfPhaseIsDisclosedOnlyWhereThereIsOne(t *testing.T) {
	out := compileText(straight + "stage look { in one read /pin next two discloses phase }\n")
	require.Len(t, out.Diagnostics, 1)
	require.Equal(t, "needless_disclosure", out.Diagnostics[0].Code)
	require.Contains(t, out.Diagnostics[0].Message, "never chooses between phases")
	out = compileText(vault + "invariant phase { state.note != \"\" }\n")
	require.Equal(t, "reserved_name", out.Diagnostics[0].Code)
}
