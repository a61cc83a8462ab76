package certificate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

// answered is the answer to the last claim of a contract, which holds.
func answered(t *testing.T, text string) explain.Answer {
	t.Helper()
	out := compileText(text + "\n")
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	answers := explain.Answers(out.Contract, out.Results)
	return answers[len(answers)-1]
}

const notes = `contract notes
state { m: map of int  n: map of int  l: list of int  note: string  pin: secret string }
`

func TestAProvedClaimSaysHowItIsKnown(t *testing.T) {
	for _, c := range []struct {
		name, text string
		basis      ir.Basis
		assumes    string
		unmodelled string
	}{
		{"commuting", notes + `stage a(k in /m) { read /m/{k} write /m/{k} }
prove a commutes with a when k differs`, ir.Decided, "", "limits on sizes"},
		{"commuting beside a rule that is read too much of", notes + `invariant i { state.m[state.note] > 0 || state.l[0] > 1 || state.m.exists(x, x == state.note) }
stage a { read /n write /n }
stage b { read /pin write /pin }
prove a commutes with b`, ir.Decided, "", "limits on sizes"},
		{"commuting under such a rule", notes + `stage a(k in /m) { read /m/{k} write /m/{k} require { before.m[k == "x" ? "x" : "y"] == 1 } discloses require }
stage b { read /pin write /pin }
prove a commutes with b`, ir.Overdrawn, "", "`require` of a may read less than is counted"},
		{"new keys", notes + `stage a(k new in /m) { write /m/{k} }
prove a commutes with a`, ir.Assumed, "no key that is new in /m is bound twice", ""},
		{"within", notes + `stage a { read /m }
stage b { read /m, /n }
prove a within b`, ir.Decided, "", ""},
		{"within, with attempts", notes + `stage a { read /m attempts 2 }
stage b { read /m }
prove a within b`, ir.Assumed, "the 3 that they have", ""},
		{"reading", notes + `stage a { read /m }
prove no stage reads secrets`, ir.Decided, "", ""},
		{"flows", notes + `stage a { read /pin, /note write /note }
stage b { read /m write /m }
prove no flow from secrets to /m`, ir.Assumed, "actors keep nothing between steps", "what is written"},
		{"flows with memory", notes + `stage a { by u read /pin, /note write /note }
stage b { by v read /m write /m }
prove no flow from secrets to /m with memory`, ir.Assumed, "whether, when and how often", "what is written"},
		{"phases", notes + `phases { one -> two by host two -> three by host three }
prove two before three`, ir.Decided, "", ""},
		{"phases behind guards", notes + `phases { one -> two by host when { state.note != "" } two -> three by host three }
prove two before three`, ir.Overdrawn, "", "guards"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := answered(t, c.text)
			require.Equal(t, c.basis, a.Basis, "%+v", a)
			require.Contains(t, strings.Join(a.Assumes, "; "), c.assumes)
			require.Contains(t, strings.Join(a.Unmodelled, "; "), c.unmodelled)
			require.Equal(t, c.basis == ir.Assumed, len(a.Assumes) > 0)
			require.Empty(t, a.Vacuous)
		})
	}
	a := answered(t, notes+"stage a { by u read /pin }\nstage b { by v read /m write /m }\nprove no flow from secrets to /m with memory")
	require.NotContains(t, strings.Join(a.Assumes, "; "), "keep nothing")
}

func TestACertificateSaysHowItsClaimsAreKnown(t *testing.T) {
	out := compileText(notes + "stage a { read /pin, /note write /note }\nstage b { read /m write /m }\nprove no flow from secrets to /m\nprove no stage writes /n\n")
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	cert := footprint.New(out.Contract).Certificate()
	decoded, err := certificate.Decode(cert)
	require.NoError(t, err)
	require.Equal(t, ir.Assumed, decoded.Claims[0].Known.Basis)
	require.Equal(t, ir.Decided, decoded.Claims[1].Known.Basis)
	for name, change := range map[string]func(*certificate.Certificate){
		"a basis":       func(c *certificate.Certificate) { c.Claims[0].Known.Basis = ir.Decided },
		"an assumption": func(c *certificate.Certificate) { c.Claims[0].Known.Assumes = c.Claims[0].Known.Assumes[1:] },
		"what is not modelled": func(c *certificate.Certificate) {
			c.Claims[0].Known.Unmodelled = nil
		},
		"all": func(c *certificate.Certificate) { c.Claims[0].Known = c.Claims[1].Known },
	} {
		require.NotEmpty(t, certificate.Check(changed(t, cert, change), out.Contract), name)
	}
}

func TestAClaimThatCannotFailIsVacuous(t *testing.T) {
	phased := notes + "phases { one -> two by host  two -> three by host  three }\n"
	for _, c := range []struct{ text, says string }{
		{notes + "stage a { write blind /m/* }\nprove no stage reads secrets", "no stage reads anything"},
		{notes + "stage a { read /pin }\nprove no stage except a reads secrets", "no other stage reads anything"},
		{notes + "stage a { read /m }\nprove no stage copies /m", "no stage copies anything"},
		{"contract c\nstate { a: int  b: int }\nstage s { read /a write /a }\nprove no stage reads secrets", "no state has anything at that region"},
		{"contract c\nstate { a: int  b: int }\nstage s { read /a write /a }\nprove no flow from secrets to /a", "no state has anything at the first region"},
		{"contract c\nstate { a: int  b: int }\nstage s { read /a write /a }\nprove no flow from /a to secrets", "no state has anything at the second region"},
		{notes + "stage a { read /m write /m }\nprove no flow from secrets to /m", "no stage knows anything of the first region"},
		{notes + "stage a { read /pin }\nprove no flow from secrets to /m", "no stage writes into the second region"},
		{phased + "stage a { in one read /m write /m }\nprove all commute in one", "fewer than two stages of phase one stay in it"},
		{phased + "prove all commute in three", "fewer than two stages of phase three stay in it"},
		{notes + "stage a { read /m }\nstage b { read /m }\nprove a commutes with b", "neither a nor b writes anything"},
		{notes + "stage a(k = /note) { read /m/{k} write /m/{k} }\nprove a commutes with a when k differs", "taken from one place"},
		{notes + "stage a { read /m }\nprove a within a", "a is compared with itself"},
		{notes + "stage a {}\nstage b { read /m }\nprove a within b", "a may do nothing at all"},
		{phased + "prove one before three", "one is the first phase"},
		{phased + "prove two before two", "one phase twice"},
	} {
		require.Contains(t, answered(t, c.text).Vacuous, c.says, c.text)
	}
}
