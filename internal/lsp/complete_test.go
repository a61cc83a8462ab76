package lsp_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// half is a contract in which something is being written, at the mark.
const half = `contract desk
import "std/text" as text
import "./common.poptic"
state { tickets: map of Ticket  people: list of Person by id  history: log of string  budget: number }
type Ticket { subject: text.Line  status: "open" | "solved"  labels: set of string  reply?: string  "x id": string  who: Person }
type Person { id: string  name: string }
phases { draft -> review when { size(state.tickets) > 0 }  review -> done  done }
region purse = /budget
measure many = count /tickets/*
const OPEN = "open"
define late(t) = { t.status == OPEN }
roles staff = clerk, boss
invariant few { many < 100 }
stage file(ticket new in /tickets) { in draft  by clerk  write /tickets/{ticket} }
`

// completions are the labels that are offered at the mark, in their order.
func completions(c *client, text string) (labels []string, items map[string]map[string]any) {
	i := strings.Index(text, "§")
	require.GreaterOrEqual(c.tb, i, 0)
	text = strings.Replace(text, "§", "", 1)
	c.didOpen("c.poptic", text)
	items = map[string]map[string]any{}
	for _, item := range c.call("textDocument/completion", c.place("c.poptic", text, i)).(map[string]any)["items"].([]any) {
		label := item.(map[string]any)["label"].(string)
		labels, items[label] = append(labels, label), item.(map[string]any)
	}
	c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": c.uri("c.poptic")}})
	return labels, items
}

func TestCompletionKnowsThePlace(t *testing.T) {
	c := open(t, map[string]string{"common.poptic": common})
	const stage = "stage s(ticket in /tickets, other in /tickets) {\n"
	for text, want := range map[string]string{
		// words of the grammar, where they may stand
		"§":                                            "stage type invariant prove measure -contract -read",
		"st§":                                          "stage state",
		stage + "  §":                                  "in by read write discloses -stage -where",
		stage + "  re§":                                "read require",
		stage + "  read /budget\n  §\n}":               "write require -read",
		"type T { a: map §":                            "of -where",
		"type T { a: §":                                "string int Ticket Person map of text common -stage",
		"type T = §":                                   "string Ticket",
		"type T = list of §":                           "Person",
		"type T { a: text.§ }":                         "Line Page -Ticket",
		"type T { a: common.P§ }":                      "Person -Ticket",
		"measure m = §":                                "sum count min max",
		"prove §":                                      "no all file",
		"prove no §":                                   "stage flow",
		"prove all commute in §":                       "draft review done",
		"prove no flow from §":                         "purse secrets",
		"prove file commutes with §":                   "file",
		"prove file commutes with file when §":         "ticket",
		"compose x = §":                                "file",
		"region r = §":                                 "purse secrets",
		"region r = /budget §":                         "except",
		"delegate d from §":                            "file",
		"roles x = §":                                  "clerk boss staff",
		"phases { a -> §":                              "draft",
		"import \"§":                                   "std/pii ./common.poptic",
		stage + "  in §\n}":                            "draft review done -file",
		stage + "  by §\n}":                            "clerk staff boss -draft",
		stage + "  next dr§\n}":                        "draft",
		stage + "  after §\n}":                         "file",
		stage + "  discloses §\n}":                     "few require phase where",
		stage + "  read §\n}":                          "purse secrets",
		stage + "  write §\n}":                         "purse secrets blind create",
		stage + "  read /budget, §\n}":                 "purse secrets",
		stage + "  delegable §\n}":                     "read write source purse",
		stage + "  delegable write §\n}":               "create blind purse -source",
		stage + "  delegable read /bud§\n}":            "budget",
		stage + "  read /tickets/{ticket} except §\n}": "secrets purse",
		"stage s(k §":                                  "in new in",
		"stage s(k in /tickets §":                      "where -in",
		"stage s(k in /tickets where { §":              "state k now many -before -self",
		"stage s(k in /tickets where { state.tickets[k].§ }) { read /tickets/{k} }": "status subject",
		"stage s(k in /tickets where { state.tickets[§] }) { read /tickets/{k} }":   "k state",
		// paths
		stage + "  read /§\n}":                             "tickets people history budget",
		stage + "  read /tic§\n}":                          "tickets",
		stage + "  read /budget, /§":                       "tickets",
		stage + "  read /tickets/§\n}":                     "{ticket} {other} * -status",
		stage + "  read /tickets/{§\n}":                    "{ticket}",
		stage + "  read /tickets/{ti§}\n}":                 "{ticket}",
		stage + "  read /tickets/{ticket}/§\n}":            "subject status labels reply x id who -tickets",
		stage + "  read /tickets/{ticket}/su§, /budget\n}": "subject",
		stage + "  read /tickets/{ticket}/(subject|§)\n}":  "status",
		stage + "  read /tickets/*/who/§\n}":               "id name",
		stage + "  write /history/§\n}":                    "- *",
		stage + "  write /tickets/{ticket}/labels/§":       "- *",
		"stage s(p in /§":                                  "tickets people",
		"invariant i each p in /people/*/§":                "name id",
		"measure m = sum /tickets/*/§":                     "subject",
		// expressions
		"invariant i { §":                                       "state phase many OPEN late size -before -self",
		"invariant i { state.§ }":                               "tickets people budget",
		"invariant i { state.tickets.§ }":                       "all exists filter",
		"invariant i { state.tickets.all(k, state.tickets[k].§": "subject status reply",
		"invariant i { state.people.all(k, k != \"\" && state.people[k].na§ != \"\") }": "name id -subject",
		"invariant i { state.tickets.all(k, §) }":                                       "k state",
		"invariant i each t in /tickets/* { t.§ }":                                      "subject status labels who",
		"invariant i each t in /tickets/* { t.who.§ != \"\" }":                          "name",
		"invariant i each t in /tickets/* { t.?§ }":                                     "reply -contains",
		"invariant i each t in /tickets/* { §":                                          "t state",
		"invariant i each t in /tickets/* { t.subject.§":                                "contains startsWith -all",
		"invariant i each t in /tickets/* { t.status == \"§":                            "",
		"change i { §": "before after now -state -many",
		"change i each t in /tickets/* { before.§":      "status",
		stage + "  require { §":                         "before ticket many now -after -state",
		stage + "  ensure { after.tickets[ticket].§\n}": "status",
		stage + "  ensure { after.tickets[§] }\n}":      "ticket",
		"type T = string where { §":                     "self -state",
		"type T = string where { self.§":                "startsWith",
		"define d(x) = { §":                             "x state late",
		"invariant i { pii.§":                           "email luhn",
		"# a comment §":                                 "",
	} {
		labels, _ := completions(c, half+text)
		for _, word := range strings.Split(want, " ") {
			if absent, ok := strings.CutPrefix(word, "-"); ok && absent != "" {
				assert.NotContains(t, labels, absent, text)
			} else if word != "" {
				assert.True(t, slices.ContainsFunc(labels, func(l string) bool {
					return l == word || strings.Contains(l, " ") && slices.Contains(strings.Fields(l), word)
				}), "%s: %q in %q", text, word, labels)
			}
		}
		if want == "" {
			assert.Empty(t, labels, text)
		}
	}
}

func TestACompletionReplacesWhatIsBegun(t *testing.T) {
	c := open(t, nil)
	_, items := completions(c, strings.Replace(half, "import \"./common.poptic\"\n", "", 1)+"stage s(ticket in /tickets) {\n  read /tickets/{ticket}/x§\n}\n")
	edit := items["x id"]["textEdit"].(map[string]any)
	require.Equal(t, `"x id"`, edit["newText"])
	require.Equal(t, "14:25-14:26", rangeText(edit["range"]))
	require.Equal(t, "string", items["x id"]["detail"])
	_, items = completions(c, half+"stage s(ticket in /tickets) {\n  read /tickets/{ti§}\n}\n")
	require.Equal(t, "{ticket}", items["{ticket}"]["textEdit"].(map[string]any)["newText"])
	require.Equal(t, "15:16-15:20", rangeText(items["{ticket}"]["textEdit"].(map[string]any)["range"]))
}
