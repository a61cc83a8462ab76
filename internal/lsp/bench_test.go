package lsp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// long is a contract of at least so many lines, such as people write: types, rules and stages
// by turns, with claims.
func long(lines int) string {
	const part = `
# What a customer wrote, and what became of it.
type Ticket@ {
  subject:   string where { self != "" }
  body:      string
  status:    "open" | "waiting" | "solved"
  labels:    set of string
  reply?:    string where "a reply is short" { size(self) <= 4000 }
  amount:    number
  internal?: secret string
}

# Everything that was paid back.
measure refunded@ = sum /tickets@/*/amount

invariant solved@ each t in /tickets@/* "a solved ticket carries a reply"
  { t.status != "solved" || has(t.reply) }

invariant budget@ "refunds stay within the budget"
  { refunded@ <= 1000.0 }

# Sort one ticket: choose its labels.
stage classify@(ticket in /tickets@) {
  in       triage
  by       triage_bot
  read     /tickets@/{ticket} except secrets
  write    /tickets@/{ticket}/labels
  ensure   few "at most three labels" { size(after.tickets@[ticket].labels) <= 3 }
}

# Answer it.
stage draft@(ticket in /tickets@) {
  in      triage
  by      writer
  read    /tickets@/{ticket} except secrets
  write   /tickets@/{ticket}/(reply|status|amount)
  discloses budget@
  require open "only an open ticket is answered" { before.tickets@[ticket].status == "open" }
}
`
	parts := 1 + lines/(strings.Count(part, "\n")+1)
	var out strings.Builder
	out.WriteString("contract long\n\nstate {\n")
	for i := range parts {
		fmt.Fprintf(&out, "  tickets%d: map of Ticket%d\n", i, i)
	}
	out.WriteString("}\n\nphases {\n  triage -> done\n  done\n}\nstage finish { in triage  by clerk  next done }\n")
	for i := range parts {
		out.WriteString(strings.ReplaceAll(part, "@", fmt.Sprint(i)))
	}
	out.WriteString("\nprove classify0 commutes with classify0 when ticket differs\nprove no stage reads secrets\n")
	return out.String()
}

// From a keystroke in the middle of a contract to its diagnostics in the editor, over the
// server's own streams. The text is right after every other one.
func BenchmarkAKeystroke(b *testing.B) {
	for _, lines := range []int{300, 2000} {
		b.Run(fmt.Sprint(lines, " lines"), func(b *testing.B) {
			text := long(lines)
			require.GreaterOrEqual(b, strings.Count(text, "\n"), lines)
			c := program(b).with(nil)
			c.didOpen("c.poptic", text)
			require.Empty(b, c.findings("c.poptic", 1))
			line := strings.Count(text[:len(text)/2], "\n")
			for strings.TrimSpace(strings.Split(text, "\n")[line]) != "by       triage_bot" {
				line++
			}
			version := 1
			var all []time.Duration
			for b.Loop() {
				began := time.Now()
				version++
				typed := change(line+2, 2, line+2, 2, "x")
				if version%2 == 1 {
					typed = change(line+2, 2, line+2, 3, "")
				}
				c.edit("c.poptic", version, typed)
				found := c.findings("c.poptic", version)
				all = append(all, time.Since(began))
				require.Equal(b, version%2 == 0, len(found) > 0, "%v", found)
			}
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "ms-median")
			b.ReportMetric(float64(all[len(all)*95/100].Microseconds())/1000, "ms-p95")
			// The processor's time tells of the server where a machine is busy with other things.
			require.Equal(b, 0, c.ends(true))
			used := c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
			b.ReportMetric(float64(used.Microseconds())/1000/float64(len(all)), "ms-cpu")
		})
	}
}
