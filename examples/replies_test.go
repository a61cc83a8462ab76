package examples_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/verify"
)

// What models send that is wrong, and what the contracts of this directory reply to it:
// each reply must be enough to mend all of the patch. testdata/replies.txt shows them for
// reading; POPTIC_UPDATE=1 writes it anew.

// A setting is who sends something.
type setting struct {
	workflow, stage, role, phase string
	args                         map[string]string
}

var settings = map[string]setting{
	"classify":  {"support", "classify", "triage_bot", "triage", map[string]string{"ticket": "T1"}},
	"draft":     {"support", "draft", "writer_bot", "drafting", map[string]string{"ticket": "T1"}},
	"file":      {"support", "file", "mailbox", "intake", map[string]string{"ticket": "T3"}},
	"refund":    {"support", "refund", "clerk", "review", map[string]string{"ticket": "T1", "id": "R1", "reason": `"Leaking kettle"`}},
	"inspect":   {"support", "inspect", "triage_bot", "triage", map[string]string{"ticket": "T1", "item": "KT-100"}},
	"rate":      {"support", "rate", "customer", "review", map[string]string{"customer": "C1", "ticket": "T1"}},
	"finish":    {"support", "finish", "clerk", "review", nil},
	"enrol":     {"support", "enrol", "clerk", "intake", map[string]string{"customer": "C3"}},
	"scribe":    {"clinical", "scribe", "scribe_bot", "drafting", nil},
	"order":     {"clinical", "order", "order_bot", "drafting", map[string]string{"id": "O1", "drug": "doxycycline"}},
	"code":      {"clinical", "code_visit", "coding_bot", "review", nil},
	"sign":      {"clinical", "sign", "physician", "review", nil},
	"reconcile": {"clinical", "reconcile", "pharmacy_bot", "drafting", map[string]string{"med": "lisinopril"}},
	"build":     {"release", "build", "builder", "building", map[string]string{"component": "gateway"}},
	"queue":     {"release", "queue", "builder", "testing", map[string]string{"check": "K2"}},
	"plan":      {"release", "plan", "planner_bot", "planning", map[string]string{"id": "C2"}},
	"widen":     {"release", "widen", "release_bot", "rollout", nil},
	"vote":      {"release", "vote", "reviewer", "approval", nil},
}

// A slip is an answer that a model sent, and where there is one, what it sends after it has
// read the reply.
type slip struct{ name, setting, answer, mended string }

const (
	labelled = `[{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect"}]`
	answered = `[{"op": "add", "path": "/tickets/T1/reply", "value": "Dear Ada Byron, we are sorry."}]`
	ticket   = `{"subject": "Thank you", "body": "Splendid.", "opened": "2024-05-02T09:05:00Z", "status": "open", "customer": "C1", "labels": [], "items": {}}`
	paid     = `[{"op": "add", "path": "/refunds/R1", "value": {"ticket": "T1", "amount": 39.9, "reason": "Leaking kettle"}}]`
	noted    = `[{"op": "add", "path": "/note/assessment", "value": "Pneumonia."}, {"op": "add", "path": "/note/plan", "value": "Rest."}]`
	ordered  = `[{"op": "add", "path": "/orders/O1", "value": {"drug": "doxycycline", "dose": "100 mg", "indication": "Pneumonia", "status": "proposed"}}]`
	built    = `[{"op": "replace", "path": "/components/gateway/version", "value": "2.4.0"}, {"op": "add", "path": "/components/gateway/digest", "value": "sha256:` + hex64 + `"}]`
	hex64    = "4f1d0c6f4f1d0c6f4f1d0c6f4f1d0c6f4f1d0c6f4f1d0c6f4f1d0c6f4f1d0c6f"
	queued   = `[{"op": "add", "path": "/checks/K2", "value": {"component": "gateway", "kind": "security", "status": "queued", "cents": 0}}]`
	planned  = `[{"op": "add", "path": "/changes/C2", "value": {"title": "Faster", "component": "gateway", "author": "Mei", "risk": "low", "breaking": false}}]`
)

var slips = []slip{
	// Texts that are not JSON.
	{"trailing comma in an array", "classify", `[{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect"},]`, labelled},
	{"trailing comma in an object", "classify", `[{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect",}]`, labelled},
	{"single quotes", "classify", `[{'op': 'add', 'path': '/tickets/T1/labels/-', 'value': 'defect'}]`, labelled},
	{"a line comment", "classify", "[\n  // the kettle leaks\n  {\"op\": \"add\", \"path\": \"/tickets/T1/labels/-\", \"value\": \"defect\"}\n]", labelled},
	{"a block comment", "classify", `[{"op": "add", /* label */ "path": "/tickets/T1/labels/-", "value": "defect"}]`, labelled},
	{"a hash comment", "classify", "[{\"op\": \"add\", \"path\": \"/tickets/T1/labels/-\", \"value\": \"defect\"}] # done", labelled},
	{"NaN", "widen", `[{"op": "replace", "path": "/rollout/percent", "value": NaN}]`, `[{"op": "replace", "path": "/rollout/percent", "value": 1}]`},
	{"minus infinity", "widen", `[{"op": "replace", "path": "/rollout/percent", "value": -Infinity}]`, ""},
	{"True of Python", "inspect", `[{"op": "replace", "path": "/tickets/T1/items/KT-100/faulty", "value": True}]`, `[{"op": "replace", "path": "/tickets/T1/items/KT-100/faulty", "value": true}]`},
	{"None of Python", "classify", `[{"op": "replace", "path": "/tickets/T1/status", "value": None}]`, ""},
	{"undefined", "classify", `[{"op": "replace", "path": "/tickets/T1/status", "value": undefined}]`, ""},
	{"a code fence", "classify", "```json\n" + labelled + "\n```", labelled},
	{"prose before", "classify", "Here is the patch:\n" + labelled, labelled},
	{"prose behind", "classify", labelled + "\n\nThis labels the ticket as a defect.", labelled},
	{"prose alone", "classify", "I am sorry, but I cannot label this ticket.", labelled},
	{"names without quotes", "classify", `[{op: "add", path: "/tickets/T1/labels/-", value: "defect"}]`, labelled},
	{"a text without quotes", "classify", `[{"op": "add", "path": "/tickets/T1/labels/-", "value": defect}]`, labelled},
	{"typographic quotes", "classify", `[{“op”: “add”, “path”: “/tickets/T1/labels/-”, “value”: “defect”}]`, labelled},
	{"a line break in a text", "draft", "[{\"op\": \"add\", \"path\": \"/tickets/T1/reply\", \"value\": \"Dear Ada Byron,\nwe are sorry.\"}]", answered},
	{"a wrong escape", "draft", `[{"op": "add", "path": "/tickets/T1/reply", "value": "It\'s on its way."}]`, answered},
	{"a quote inside a text", "draft", `[{"op": "add", "path": "/tickets/T1/reply", "value": "We say "sorry"."}]`, answered},
	{"no end", "classify", `[{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect"}`, labelled},
	{"a missing comma between operations", "classify", `[{"op": "test", "path": "/tickets/T1/status", "value": "open"} {"op": "add", "path": "/tickets/T1/labels/-", "value": "defect"}]`, labelled},
	{"a missing comma between members", "classify", `[{"op": "add" "path": "/tickets/T1/labels/-", "value": "defect"}]`, labelled},
	{"an equals sign", "classify", `[{"op" = "add", "path": "/tickets/T1/labels/-", "value": "defect"}]`, labelled},
	{"a number with a plus sign", "refund", `[{"op": "add", "path": "/refunds/R1", "value": {"ticket": "T1", "amount": +39.9, "reason": "Leaking kettle"}}]`, paid},
	{"a number that begins with a point", "build", `[{"op": "replace", "path": "/components/gateway/coverage", "value": .86}]`, ""},
	{"a number that begins with 0", "widen", `[{"op": "replace", "path": "/rollout/percent", "value": 01}]`, ""},
	{"several lines of operations", "classify", "{\"op\": \"test\", \"path\": \"/tickets/T1/status\", \"value\": \"open\"}\n{\"op\": \"add\", \"path\": \"/tickets/T1/labels/-\", \"value\": \"defect\"}", labelled},
	{"an ellipsis", "classify", `[{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect"}, ...]`, labelled},
	{"nothing", "classify", ``, labelled},
	{"a member twice", "classify", `[{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect", "value": "urgent"}]`, labelled},

	// JSON that is no patch.
	{"an operation without an array", "classify", `{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect"}`, labelled},
	{"a patch as a string", "classify", `"[{\"op\": \"add\", \"path\": \"/tickets/T1/labels/-\", \"value\": \"defect\"}]"`, labelled},
	{"a patch as a string in an object", "classify", `{"patch": "[{\"op\": \"add\", \"path\": \"/tickets/T1/labels/-\", \"value\": \"defect\"}]"}`, labelled},
	{"operations under another name", "classify", `{"operations": [{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect"}]}`, labelled},
	{"the document instead of a patch", "classify", `{"tickets": {"T1": {"labels": ["defect"], "status": "open"}}}`, labelled},
	{"a merge patch of one member", "refund", `{"refunds": {"R1": {"ticket": "T1", "amount": 39.9, "reason": "Leaking kettle"}}}`, paid},
	{"an array of arrays", "classify", `[[{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect"}]]`, labelled},
	{"a stage beside the patch", "classify", `{"stage": "classify", "patch": [{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect"}]}`, labelled},
	{"set for replace", "classify", `[{"op": "set", "path": "/tickets/T1/status", "value": "waiting"}]`, `[{"op": "replace", "path": "/tickets/T1/status", "value": "waiting"}]`},
	{"update and append", "classify", `[{"op": "update", "path": "/tickets/T1/status", "value": "waiting"}, {"op": "append", "path": "/tickets/T1/labels", "value": "defect"}]`, labelled},
	{"delete for remove", "scribe", `[{"op": "delete", "path": "/note/plan"}]`, ""},
	{"capitals in op", "classify", `[{"op": "Add", "path": "/tickets/T1/labels/-", "value": "defect"}]`, labelled},
	{"no value", "classify", `[{"op": "replace", "path": "/tickets/T1/status"}]`, ""},
	{"a value under another name", "classify", `[{"op": "replace", "path": "/tickets/T1/status", "content": "waiting"}]`, ""},
	{"no op", "classify", `[{"path": "/tickets/T1/status", "value": "waiting"}]`, ""},
	{"no path", "classify", `[{"op": "add", "value": "defect"}]`, ""},
	{"a path as an array", "classify", `[{"op": "replace", "path": ["tickets", "T1", "status"], "value": "waiting"}]`, ""},

	// Paths.
	{"JSONPath", "classify", `[{"op": "replace", "path": "$.tickets.T1.status", "value": "waiting"}]`, `[{"op": "replace", "path": "/tickets/T1/status", "value": "waiting"}]`},
	{"JSONPath with brackets", "classify", `[{"op": "replace", "path": "$['tickets']['T1']['status']", "value": "waiting"}]`, ""},
	{"dots", "classify", `[{"op": "replace", "path": "tickets.T1.status", "value": "waiting"}]`, `[{"op": "replace", "path": "/tickets/T1/status", "value": "waiting"}]`},
	{"dots behind a slash", "classify", `[{"op": "replace", "path": "/tickets.T1.status", "value": "waiting"}]`, `[{"op": "replace", "path": "/tickets/T1/status", "value": "waiting"}]`},
	{"no first slash", "classify", `[{"op": "replace", "path": "tickets/T1/status", "value": "waiting"}]`, `[{"op": "replace", "path": "/tickets/T1/status", "value": "waiting"}]`},
	{"a URI fragment", "classify", `[{"op": "replace", "path": "#/tickets/T1/status", "value": "waiting"}]`, `[{"op": "replace", "path": "/tickets/T1/status", "value": "waiting"}]`},
	{"a slash at the end", "classify", `[{"op": "replace", "path": "/tickets/T1/status/", "value": "waiting"}]`, ""},
	{"a wildcard", "classify", `[{"op": "replace", "path": "/tickets/*/status", "value": "waiting"}]`, ""},
	{"a parameter's name", "classify", `[{"op": "replace", "path": "/tickets/{ticket}/status", "value": "waiting"}]`, ""},
	{"a path relative to the entry", "classify", `[{"op": "replace", "path": "/status", "value": "waiting"}]`, `[{"op": "replace", "path": "/tickets/T1/status", "value": "waiting"}]`},
	{"a wrong escape in a path", "classify", `[{"op": "replace", "path": "/tickets/T1/~status", "value": "waiting"}]`, ""},
	{"an index into a set", "classify", `[{"op": "add", "path": "/tickets/T1/labels/0", "value": "defect"}]`, labelled},
	{"an index into a keyed list", "build", `[{"op": "replace", "path": "/components/0/version", "value": "2.4.0"}]`, built},
	{"a removal of what may only be changed", "draft", `[{"op": "remove", "path": "/tickets/T1/status"}, {"op": "add", "path": "/tickets/T1/reply", "value": "Dear Ada Byron."}]`, ""},
	{"an append to a map", "plan", `[{"op": "add", "path": "/changes/-", "value": {"title": "Faster", "component": "gateway", "author": "Mei", "risk": "low", "breaking": false}}]`, planned},
	{"a log without the dash", "draft", `[{"op": "add", "path": "/tickets/T1/reply", "value": "Dear Ada Byron."}, {"op": "add", "path": "/history", "value": {"at": "2024-05-02T10:00:00Z", "what": "answered"}}]`, answered},
	{"an element that replaces its set", "classify", `[{"op": "replace", "path": "/tickets/T1/labels", "value": "defect"}]`, labelled},

	// What the stage may not do.
	{"a misspelt member", "classify", `[{"op": "replace", "path": "/tickets/T1/staus", "value": "waiting"}]`, ""},
	{"a member the stage does not write", "classify", `[{"op": "replace", "path": "/tickets/T1/subject", "value": "Kettle"}]`, ""},
	{"another ticket", "classify", `[{"op": "replace", "path": "/tickets/T2/status", "value": "waiting"}]`, ""},
	{"two misspelt paths", "classify", `[{"op": "add", "path": "/drafft/text", "value": "x"}, {"op": "add", "path": "/z", "value": 1}]`, ""},
	{"a hidden member tested", "classify", `[{"op": "test", "path": "/tickets/T1/internal", "value": "x"}, {"op": "replace", "path": "/tickets/T1/status", "value": "waiting"}]`, ""},
	{"a whole map replaced", "file", `[{"op": "replace", "path": "/tickets", "value": {"T3": ` + ticket + `}}]`, `[{"op": "add", "path": "/tickets/T3", "value": ` + ticket + `}]`},
	{"a replace of what is not there", "draft", `[{"op": "replace", "path": "/tickets/T1/reply", "value": "Dear Ada Byron."}]`, answered},
	{"a member of what is not there", "file", `[{"op": "add", "path": "/tickets/T3/subject", "value": "Thank you"}]`, ""},
	{"a test that fails", "draft", `[{"op": "test", "path": "/tickets/T1/status", "value": "solved"}, {"op": "add", "path": "/tickets/T1/reply", "value": "Dear Ada Byron."}]`, answered},
	{"scope and type at once", "classify", `[{"op": "replace", "path": "/tickets/T1/subject", "value": "Kettle"}, {"op": "add", "path": "/tickets/T1/labels/-", "value": "broken"}, {"op": "replace", "path": "/tickets/T1/status", "value": "done"}]`, ""},
	{"a vote for another's key twice", "vote", `[{"op": "replace", "path": "/approvals/ada", "value": {"by": "ada@example.com", "verdict": "go"}}]`, ""},

	// Values.
	{"a label that is none", "classify", `[{"op": "add", "path": "/tickets/T1/labels/-", "value": "broken"}]`, labelled},
	{"a label of another case", "classify", `[{"op": "add", "path": "/tickets/T1/labels/-", "value": "Defect"}]`, labelled},
	{"a status as a boolean", "classify", `[{"op": "replace", "path": "/tickets/T1/status", "value": true}]`, ""},
	{"a number as a text", "refund", `[{"op": "add", "path": "/refunds/R1", "value": {"ticket": "T1", "amount": "39.9", "reason": "Leaking kettle"}}]`, paid},
	{"members that are missing", "refund", `[{"op": "add", "path": "/refunds/R1", "value": {"amount": 39.9}}]`, paid},
	{"members that are misspelt", "refund", `[{"op": "add", "path": "/refunds/R1", "value": {"ticket_id": "T1", "amount": 39.9, "raeson": "Leaking kettle"}}]`, paid},
	{"an array for a keyed list", "file", `[{"op": "add", "path": "/tickets/T3", "value": ` + strings.Replace(ticket, `"items": {}`, `"items": [{"sku": "KT-100", "title": "Kettle", "price": {"amount": 39.9, "currency": "EUR"}, "faulty": true}]`, 1) + `}]`, ""},
	{"an entry of a log that misses its time", "draft", `[{"op": "add", "path": "/tickets/T1/reply", "value": "Dear Ada Byron."}, {"op": "add", "path": "/history/-", "value": {"what": "answered"}}]`, ""},
	{"an entry of a log as a text", "draft", `[{"op": "add", "path": "/tickets/T1/reply", "value": "Dear Ada Byron."}, {"op": "add", "path": "/history/-", "value": "answered"}]`, answered},
	{"a date without a time", "draft", `[{"op": "add", "path": "/tickets/T1/reply", "value": "Dear Ada Byron."}, {"op": "add", "path": "/history/-", "value": {"at": "2024-05-02", "what": "answered"}}]`, ""},
	{"null for an optional member", "draft", `[{"op": "add", "path": "/tickets/T1/reply", "value": null}]`, answered},
	{"an unknown key", "file", `[{"op": "add", "path": "/tickets/T3", "value": ` + strings.Replace(ticket, `"C1"`, `"Ada"`, 1) + `}]`, ""},
	{"stars as a text", "rate", `[{"op": "add", "path": "/ratings/T1", "value": {"stars": "5"}}]`, `[{"op": "add", "path": "/ratings/T1", "value": {"stars": 5}}]`},
	{"a code that is misspelt", "code", `[{"op": "add", "path": "/codes/-", "value": "j18.9"}]`, `[{"op": "add", "path": "/codes/-", "value": "J18.9"}]`},
	{"a percentage of a fraction", "build", `[{"op": "replace", "path": "/components/gateway/coverage", "value": 86}]`, ""},
	{"a renamed element", "build", strings.Replace(built, "]", `, {"op": "replace", "path": "/components/gateway/name", "value": "gate"}]`, 1), built},

	// Rules.
	{"nothing at all", "scribe", `[]`, noted},
	{"one of two that are produced", "scribe", `[{"op": "add", "path": "/note/plan", "value": "Rest."}]`, noted},
	{"a rule of the stage", "classify", `[{"op": "add", "path": "/tickets/T1/labels/-", "value": "defect"}, {"op": "add", "path": "/tickets/T1/labels/-", "value": "urgent"}, {"op": "add", "path": "/tickets/T1/labels/-", "value": "billing"}, {"op": "add", "path": "/tickets/T1/labels/-", "value": "praise"}]`, labelled},
	{"two rules of the stage", "file", `[{"op": "add", "path": "/tickets/T3", "value": ` + strings.Replace(ticket, `"open"`, `"solved", "reply": "Thanks."`, 1) + `}]`, ""},
	{"a condition without a message", "order", strings.Replace(ordered, "proposed", "approved", 1), ordered},
	{"an allergy", "order", strings.Replace(ordered, "doxycycline", "amoxicillin", 1), ordered},
	{"a version that stays", "build", strings.Replace(built, "2.4.0", "2.3.1", 1), built},
	{"a hidden rule", "rate", `[{"op": "add", "path": "/ratings/T9", "value": {"stars": 5}}]`, ""},
	{"a budget", "refund", strings.Replace(paid, "39.9", "399", 1), paid},
	{"a card on file", "enrol", `[{"op": "add", "path": "/customers/C3", "value": {"name": "Eve", "contact": {"email": "eve@example.com"}, "card": "4111111111111111"}}]`, ""},
	{"a cost of a new check", "queue", strings.Replace(queued, `"cents": 0`, `"cents": 10`, 1), queued},
	{"a type and a rule at once", "file", `[{"op": "add", "path": "/tickets/T3", "value": ` + strings.Replace(ticket, `"open"`, `"waiting"`, 1) + `}, {"op": "add", "path": "/history/-", "value": {"what": "filed"}}]`, ""},
	{"no phase where there are two", "finish", `[]`, ""},
	{"a phase that is none", "finish", `{"patch": [], "next": "close"}`, ""},
	{"a guard", "finish", `{"patch": [], "next": "closed"}`, `{"patch": [], "next": "drafting"}`},
	{"too large a step", "widen", `[{"op": "replace", "path": "/rollout/percent", "value": 50}]`, `[{"op": "replace", "path": "/rollout/percent", "value": 1}]`},
	{"a fraction for an integer", "widen", `[{"op": "replace", "path": "/rollout/percent", "value": 0.5}]`, `[{"op": "replace", "path": "/rollout/percent", "value": 1}]`},
	{"a great many mistakes", "classify", "[" + strings.Repeat(`{"op": "replace", "path": "/tickets/T1/subject`+strings.Repeat("x", 300)+`", "value": 1},`, 200) + `{"op": "add", "path": "/z", "value": 1}]`, ""},
}

const maxReply = verify.MaxReply

func TestRepliesToSlipsLetAModelMendThem(t *testing.T) {
	programs := map[string]*verify.Program{}
	states := map[string][]byte{}
	for _, name := range examples.Names() {
		p, err := verify.Load(contract(t, name), verify.Limits{})
		require.NoError(t, err)
		programs[name] = p
		states[name], err = fs.ReadFile(examples.FS, name+"/state.json")
		require.NoError(t, err)
	}
	propose := func(s slip, answer string) verify.ActorVerdict {
		by := settings[s.setting]
		state, err := programs[by.workflow].Import(states[by.workflow])
		require.NoError(t, err)
		out, err := programs[by.workflow].Verify(t.Context(), verify.Snapshot{State: state, Phase: by.phase, Version: 7}, verify.Proposal{
			Stage: by.stage, Args: by.args, Role: by.role, Patch: []byte(answer), Attempt: 1, MaxAttempts: 3,
		})
		require.NoError(t, err)
		return out.Actor()
	}
	var all strings.Builder
	names := map[string]bool{}
	for _, s := range slips {
		require.False(t, names[s.name], s.name)
		names[s.name] = true
		reply := propose(s, s.answer)
		require.Equal(t, verify.Reject, reply.Verdict, s.name)
		require.LessOrEqual(t, len(reply.AppendJSON(nil)), maxReply, s.name)
		writeReply(&all, s, reply)
		if s.mended != "" {
			after := propose(s, s.mended)
			require.Equal(t, verify.Commit, after.Verdict, "%s: %v", s.name, after.Violations)
		}
	}
	const golden = "testdata/replies.txt"
	if os.Getenv("POPTIC_UPDATE") != "" {
		require.NoError(t, os.WriteFile(golden, []byte(all.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), all.String())
}

// writeReply writes an answer and what its actor is told of it.
func writeReply(b *strings.Builder, s slip, reply verify.ActorVerdict) {
	fmt.Fprintf(b, "== %s (%s)\n%s\n", s.name, s.setting, shortened(s.answer))
	for _, v := range reply.Violations {
		line := plain(v)
		fmt.Fprintf(b, "-> %s\n", line)
	}
	if reply.More > 0 {
		fmt.Fprintf(b, "   and %d more\n", reply.More)
	}
	if len(reply.NotChecked) > 0 {
		fmt.Fprintf(b, "   not checked yet: %s\n", reply.NotChecked)
	}
	b.WriteString("\n")
}

func shortened(text string) string {
	const most = 600
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// plain is JSON with <, > and & as they are.
func plain(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}
