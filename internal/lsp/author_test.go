package lsp_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/examples"
)

// slips are what an author writes first, before what was meant.
var slips = []struct{ meant, written string }{
	{`import "std/pii" as pii`, `import "std/pi" as pii`},
	{`tickets:   map of Ticket`, `tickets:   map off Ticket`},
	{`budget:    money.Amount`, `budget:    money.Amonut`},
	{`status:    "open" | "waiting" | "solved"`, `status:    'open' | "waiting" | "solved"`},
	{`customer:  key of /customers`, `customer:  key of /customer`},
	{`items:     list of Item by sku`, `items:     list of Item by code`},
	{`contact: secret pii.Contact`, `contact  secret pii.Contact`},
	{`triage   -> drafting`, `triage   -> draftin`},
	{`region purse = /budget, /refunds`, `region purse = /budget, /refund`},
	{`measure refunded = sum /refunds/*/amount`, `measure refunded = total /refunds/*/amount`},
	{`{ t.status != "solved" || has(t.reply) }`, `{ t.status != "solvd" || has(t.reply) }`},
	{`{ refunded <= state.budget }`, `{ refunded <= budget }`},
	{`write     create /tickets/{ticket}, /history/-`, `write     create /tickets/{ticket}, /histroy/-`},
	{"  write     create /customers/{customer}\n  discloses one_card_one_customer\n", "  write     create /customers/{customer}\n"},
	{`{ size(after.tickets[ticket].labels) <= 3 }`, `{ size(after.tickets[ticket].labels <= 3 }`},
	{"by    language_bot\n  read  /tickets/{ticket}/(body|language)", "by    language_bot\n  read  /tickets/{ticket}/body"},
	{`write   create, update /tickets/{ticket}/reply, `, `write   create, update /tickets/{tickt}/reply, `},
	{`{ before.tickets[ticket].status == "open" }`, `{ after.tickets[ticket].status == "open" }`},
	{"  write /tickets/{ticket}/internal\n}\n", "  write /tickets/{ticket}/internal\n"},
	{"stage begin   { in triage  by clerk  next drafting }", "stage begin   { in triage  by clerk  next closed }"},
	{`read   /tickets/{ticket}/(subject|labels)`, `read   /tickets/{ticket}/(subject|labels|reply)`},
	{`prove no stage except refund writes purse`, `prove no stage writes purse`},
}

// An author who writes the support contract from nothing, letter by letter, is told of every
// slip where it is, and of nothing when all is mended. What each is told is in
// testdata/author.txt; POPTIC_UPDATE=1 rewrites that.
func TestAnAuthorIsToldOfEverySlip(t *testing.T) {
	data, err := examples.FS.ReadFile("support/contract.poptic")
	require.NoError(t, err)
	contract := string(data)
	c := program(t).with(nil)
	c.didOpen("contract.poptic", "")
	a := &author{client: c, version: 1}
	var told strings.Builder
	for _, part := range strings.SplitAfter(contract, "\n\n") {
		for i, slip := range slips {
			require.Equal(t, 1, strings.Count(contract, slip.meant), slip.meant)
			at := strings.Index(part, slip.meant)
			if at < 0 {
				continue
			}
			a.letters(part[:at] + slip.written + part[at+len(slip.meant):])
			with := a.hears()
			start := len(a.text) - (len(part) - len(slip.meant) + len(slip.written)) + at
			wrong := a.text
			a.replaces(start, start+len(slip.written), slip.meant)
			without := a.hears()
			fmt.Fprintf(&told, "# %d: %s\n", i+1, strings.TrimSpace(slip.written))
			found := 0
			for _, d := range with {
				if !slices.ContainsFunc(without, func(o finding) bool { return o.message == d.message && o.code == d.code && o.text == d.text }) {
					fmt.Fprintf(&told, "%s %s %q\n  %s\n", d.code, d.place, d.text, strings.ReplaceAll(d.message, "\n", "\n  "))
					found++
				}
			}
			require.Positive(t, found, "nothing is said of %q in\n%s", slip.written, wrong)
			told.WriteString("\n")
			part = part[at+len(slip.meant):]
			a.replaces(len(a.text)-len(part), len(a.text), "")
		}
		a.letters(part)
	}
	require.Equal(t, contract, a.text)
	require.Empty(t, a.hears())
	require.Equal(t, len(slips), strings.Count(told.String(), "# "))
	if os.Getenv("POPTIC_UPDATE") != "" {
		require.NoError(t, os.WriteFile("testdata/author.txt", []byte(told.String()), 0o644))
	}
	want, err := os.ReadFile("testdata/author.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), told.String(), "POPTIC_UPDATE=1 rewrites testdata/author.txt")
	require.Equal(t, 0, c.ends(true))
}

// An author types into one file.
type author struct {
	*client
	text    string
	version int
}

// A finding is what an author sees of one.
type finding struct{ code, place, text, message string }

func (a *author) replaces(start, end int, by string) {
	a.version++
	r := map[string]any{"start": a.place("", a.text, start)["position"], "end": a.place("", a.text, end)["position"]}
	a.edit("contract.poptic", a.version, map[string]any{"range": r, "text": by})
	a.text = a.text[:start] + by + a.text[end:]
}

// letters types at the end.
func (a *author) letters(text string) {
	for _, r := range text {
		a.replaces(len(a.text), len(a.text), string(r))
	}
}

// hears is what is published of the text as it is now, its claims included.
func (a *author) hears() (out []finding) {
	a.tb.Helper()
	want := checked(a.tb, "contract.poptic", a.text, nil, false)
	a.settled("contract.poptic", want)
	a.findings("contract.poptic", a.version)
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, d := range a.published[a.uri("contract.poptic")]["diagnostics"].([]any) {
		m := d.(map[string]any)
		r := m["range"].(map[string]any)
		out = append(out, finding{m["code"].(string), rangeText(r), a.text[offsetOf(a.text, r["start"]):offsetOf(a.text, r["end"])], m["message"].(string)})
	}
	return out
}
