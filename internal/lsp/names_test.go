package lsp_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const desk = `contract desk
import "./common.poptic" as common
import "std/text"

state { tickets: map of Ticket  budget: number }
# 😀 What somebody wants.
type Ticket {
  subject: text.Line  # 😀
  who:     common.Person
  cost:    number
}
measure spent = sum /tickets/*/cost
region costs = /tickets/*/cost, /budget
invariant within { spent <= state.budget && state.tickets.all(t, t != "" && state.budget > 0.0) }
stage price(ticket in /tickets) {
  by    clerk
  read  /tickets/{ticket}, costs
  write /tickets/{ticket}/cost
}
stage look(ticket in /tickets) { by clerk  read /tickets/{ticket}/who/name }
prove no stage except price writes costs
`

const common = `library common
# Somebody.
type Person { name: string }
`

func hoverAt(c *client, name, text, mark string) string {
	result := c.call("textDocument/hover", c.at(name, text, mark))
	if result == nil {
		return ""
	}
	return result.(map[string]any)["contents"].(map[string]any)["value"].(string)
}

func TestHoverSaysWhatANameIs(t *testing.T) {
	c := open(t, map[string]string{"common.poptic": common})
	c.didOpen("desk.poptic", desk)
	for mark, want := range map[string][]string{
		"Ticket  budget":  {"type Ticket = ", "What somebody wants."},
		"Person\n":        {"type Person", "Somebody.", "from common.poptic"},
		"Line  # ":        {"type Line", "from text.poptic"},
		"cost:    number": {"Ticket { cost: number }"},
		"spent <=":        {"measure spent = sum /tickets/*/cost", "# number"},
		"costs\n  write":  {"region costs = /tickets/*/cost, /budget"},
		"t != ":           {"t: string"},
		"within":          {"invariant within", "**reads**", "exactly `/budget`"},
		"price(":          {"stage price", "**sees** `/tickets/{ticket}`", "**changes** `/tickets/{ticket}/cost`", "**conflicts** with itself: one run sees", "invariant within: seen"},
		"ticket}/cost":    {"ticket in /tickets"},
		"clerk":           {"role clerk", "`price`, `look`"},
		"all(t":           {"whether `P` holds of every element"},
		"prove":           {"A claim about the contract"},
		"write /tickets":  {"What operations may change"},
		"state.budget":    {"The state that is judged"},
		"tickets: map":    {"tickets: map of Ticket"},
		"*/cost\nregion":  {"Ticket"},
		"# 😀 What":        nil,
	} {
		got := hoverAt(c, "desk.poptic", desk, mark)
		if want == nil {
			require.Empty(t, got, mark)
		}
		for _, w := range want {
			require.Contains(t, got, w, mark)
		}
	}
}

func places(result any) (out []string) {
	for _, l := range result.([]any) {
		m := l.(map[string]any)
		uri := m["uri"].(string)
		out = append(out, uri[strings.LastIndexByte(uri, '/')+1:]+" "+rangeText(m["range"]))
	}
	return out
}

func TestDefinitionsAndReferencesCrossFiles(t *testing.T) {
	c := open(t, map[string]string{
		"common.poptic":    common,
		"other.poptic":     "contract other\nimport \"./common.poptic\"\nstate { p: common.Person  q: string }\ninvariant named { state.p.name != \"\" }\n",
		"unrelated.poptic": "contract u\nstate { name: string }\n",
	})
	c.didOpen("desk.poptic", desk)
	for mark, want := range map[string]string{
		"Ticket  budget":  "desk.poptic 6:5-6:11",
		"Person\n":        "common.poptic 2:5-2:11",
		"./common":        "common.poptic 0:0-0:0",
		"std/text":        "text.poptic 0:0-0:0",
		"costs\n  write":  "desk.poptic 12:7-12:12",
		"ticket}/cost":    "desk.poptic 14:12-14:18",
		"who/name":        "desk.poptic 8:2-8:5",
		"name }\nprove":   "common.poptic 2:14-2:18",
		"price writes co": "desk.poptic 14:6-14:11",
	} {
		require.Equal(t, []string{want}, places(c.call("textDocument/definition", c.at("desk.poptic", desk, mark))), mark)
	}
	library := c.call("textDocument/definition", c.at("desk.poptic", desk, "Line  # ")).([]any)[0].(map[string]any)["uri"].(string)
	text, err := os.ReadFile(strings.TrimPrefix(library, "file://"))
	require.NoError(t, err)
	require.Contains(t, string(text), "library text")

	references := func(name, text, mark string, declaration bool) []string {
		params := c.at(name, text, mark)
		params["context"] = map[string]any{"includeDeclaration": declaration}
		return places(c.call("textDocument/references", params))
	}
	require.Equal(t, []string{"desk.poptic 4:24-4:30"}, references("desk.poptic", desk, "Ticket {", false))
	require.Equal(t, []string{"common.poptic 2:14-2:18", "desk.poptic 19:70-19:74", "other.poptic 3:26-3:30"}, references("desk.poptic", desk, "name }\nprove", true))
	require.Equal(t, []string{"common.poptic 2:5-2:11", "desk.poptic 8:18-8:24", "other.poptic 2:18-2:24"}, references("common.poptic", common, "Person", true))

	var marks []string
	for _, h := range c.call("textDocument/documentHighlight", c.at("desk.poptic", desk, "costs\n  write")).([]any) {
		marks = append(marks, fmt.Sprint(rangeText(h.(map[string]any)["range"]), " ", h.(map[string]any)["kind"]))
	}
	require.Equal(t, []string{"12:7-12:12 3", "16:27-16:32 2", "20:35-20:40 2"}, marks)
}

// renames gives the texts after a renaming, or why there is none.
func renames(c *client, files map[string]string, name, mark, to string) (map[string]string, string) {
	params := c.at(name, files[name], mark)
	params["newName"] = to
	result, failure := c.answer(c.ask("textDocument/rename", params))
	if failure != nil {
		return nil, failure["message"].(string)
	}
	out := map[string]string{}
	for uri, edits := range result.(map[string]any)["changes"].(map[string]any) {
		file := strings.TrimPrefix(uri, c.uri("")+"/")
		out[file] = edited(files[file], edits.([]any))
	}
	return out, ""
}

// edited applies edits, whose positions count UTF-16, to a text.
func edited(text string, edits []any) string {
	type edit struct {
		start, end int
		text       string
	}
	var all []edit
	for _, e := range edits {
		r := e.(map[string]any)["range"].(map[string]any)
		all = append(all, edit{offsetOf(text, r["start"]), offsetOf(text, r["end"]), e.(map[string]any)["newText"].(string)})
	}
	slices.SortFunc(all, func(a, b edit) int { return b.start - a.start })
	for _, e := range all {
		text = text[:e.start] + e.text + text[e.end:]
	}
	return text
}

func offsetOf(text string, p any) int {
	line, character := int(p.(map[string]any)["line"].(float64)), int(p.(map[string]any)["character"].(float64))
	at := 0
	for ; line > 0; line-- {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for _, r := range text[at:] {
		if character <= 0 {
			break
		}
		at += len(string(r))
		if character--; r > 0xFFFF {
			character--
		}
	}
	return at
}

func TestRenamingKeepsWhatContractsSay(t *testing.T) {
	files := map[string]string{
		"desk.poptic":   desk,
		"common.poptic": common,
		"other.poptic":  "contract other\nimport \"./common.poptic\"\nstate { p: common.Person  q: string }\ninvariant named { state.p.name != \"\" }\n",
	}
	c := open(t, files)
	c.didOpen("desk.poptic", desk)

	after, reason := renames(c, files, "desk.poptic", "ticket}/cost", "t")
	require.Empty(t, reason)
	require.Contains(t, after["desk.poptic"], "stage price(t in /tickets)")
	require.Contains(t, after["desk.poptic"], "read  /tickets/{t}, costs")
	require.Contains(t, after["desk.poptic"], "stage look(ticket in", "another stage's")

	after, reason = renames(c, files, "desk.poptic", "Person\n", "Human")
	require.Empty(t, reason)
	require.Contains(t, after["desk.poptic"], "common.Human")
	require.Contains(t, after["common.poptic"], "type Human {")
	require.Contains(t, after["other.poptic"], "common.Human")

	after, reason = renames(c, files, "common.poptic", "name: string", "called")
	require.Empty(t, reason)
	require.Contains(t, after["other.poptic"], "state.p.called")
	require.Contains(t, after["desk.poptic"], "who/called }")

	after, reason = renames(c, files, "desk.poptic", "clerk", "agent")
	require.Empty(t, reason)
	require.Equal(t, 2, strings.Count(after["desk.poptic"], "by agent")+strings.Count(after["desk.poptic"], "by    agent"))

	for _, refused := range []struct{ mark, to, why string }{
		{"cost:    number", "who", "declared"},         // the record has that
		{"price(", "look", "declared"},                 // a stage is called so
		{"costs, /", "", "no name"},                    //
		{"costs, /", "a-b", "no name"},                 //
		{"costs, /", "secrets", "cannot be called"},    // a word of the language
		{"t, t != ", "state", "cannot be called"},      // the variable would hide it
		{"spent <=", "state", "cannot be called"},      //
		{"Ticket {", "number", "cannot be called"},     // types would be another one
		{"state.budget", "doc", "belongs"},             // of the language
		{"Line  # ", "Row", "comes with the compiler"}, //
		{"text\"\n\nstate", "words", "after its file"}, // the import
		{"# 😀 What", "words", "there is no name here"}, //
	} {
		if strings.HasPrefix(refused.mark, "costs, /") {
			refused.mark = "costs = /"
		}
		after, reason := renames(c, files, "desk.poptic", refused.mark, refused.to)
		require.Contains(t, reason, refused.why, "%s: %v", refused.mark, after)
	}
	// What would compile, and mean something else.
	files["list.poptic"] = "contract list\nstate { all: list of { n: int } }\ninvariant sorted { state.all.all(a, state.all.exists(b, a.n <= b.n)) }\n"
	c.didOpen("list.poptic", files["list.poptic"])
	after, reason = renames(c, files, "list.poptic", "a.n", "b")
	require.Contains(t, reason, "taken for something else", after)
	after, reason = renames(c, files, "list.poptic", "a.n", "c")
	require.Empty(t, reason)
	require.Contains(t, after["list.poptic"], "all(c, state.all.exists(b, c.n <= b.n))")

	prepared := c.call("textDocument/prepareRename", c.at("desk.poptic", desk, "Person\n")).(map[string]any)
	require.Equal(t, "Person", prepared["placeholder"])
	require.Equal(t, "8:18-8:24", rangeText(prepared["range"]))
	c.refused("textDocument/prepareRename", c.at("desk.poptic", desk, "state {"))
}

// The editor's texts count, saved or not, whichever file asks.
func TestWhatIsNotSavedCounts(t *testing.T) {
	c := open(t, map[string]string{"common.poptic": common})
	c.didOpen("desk.poptic", desk)
	require.Empty(t, c.findings("desk.poptic", 1))
	c.didOpen("common.poptic", strings.Replace(common, "name:", "names:", 1))
	c.settled("desk.poptic", []string{"unknown_member 19:70-19:74"})
	c.didChange("common.poptic", 2, common+"type Broken { a }\n")
	c.settled("common.poptic", []string{"unexpected 3:14-3:15"})
	c.didChange("common.poptic", 3, common)
	c.settled("common.poptic", nil)
	c.settled("desk.poptic", nil)
	c.didChange("common.poptic", 4, strings.Replace(common, "name:", "names:", 1))
	c.settled("desk.poptic", []string{"unknown_member 19:70-19:74"})
	c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": c.uri("common.poptic")}})
	c.settled("desk.poptic", nil)

	c.write(map[string]string{"common.poptic": "library common\ntype Person { n: Nix }\n"})
	c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": c.uri("common.poptic"), "type": 2}}})
	c.settled("common.poptic", []string{"unknown_type 1:17-1:20"})
}

const deskTests = `given start = {"tickets": {}, "budget": 1}

test "nothing is priced by a stranger" {
  state  start
  role   clerk
  stage  price(ticket: "t")
  patch  []
  expect reject invariant within
}
`

func TestTestFilesKnowTheirContract(t *testing.T) {
	files := map[string]string{"common.poptic": common, "desk.poptic": desk, "desk_test.poptic": deskTests}
	c := open(t, files)
	c.didOpen("desk_test.poptic", deskTests)
	for mark, want := range map[string]string{
		"price(":        "desk.poptic 14:6-14:11",
		"ticket: \"t\"": "desk.poptic 14:12-14:18",
		"within":        "desk.poptic 13:10-13:16",
		"start\n  role": "desk_test.poptic 0:6-0:11",
	} {
		require.Equal(t, []string{want}, places(c.call("textDocument/definition", c.at("desk_test.poptic", deskTests, mark))), mark)
	}
	require.Contains(t, hoverAt(c, "desk_test.poptic", deskTests, "price("), "**conflicts** with itself")
	labels := func(text, mark string) string {
		out := ""
		c.didOpen("desk_test.poptic", text)
		for _, item := range c.call("textDocument/completion", c.place("desk_test.poptic", text, strings.Index(text, mark)+len(mark))).(map[string]any)["items"].([]any) {
			out += " " + item.(map[string]any)["label"].(string)
		}
		return out
	}
	require.Contains(t, labels(strings.Replace(deskTests, "price(ticket: \"t\")", "", 1), "stage  "), "price")
	require.Contains(t, labels(strings.Replace(deskTests, "within", "", 1), "reject invariant "), "within")
	require.Contains(t, labels(strings.Replace(deskTests, "state  start", "state  ", 1), "state  "), "start")
	c.didOpen("desk_test.poptic", deskTests)

	after, reason := renames(c, files, "desk.poptic", "price(", "quote")
	require.Empty(t, reason)
	require.Contains(t, after["desk_test.poptic"], "stage  quote(ticket:")
	require.Contains(t, after["desk.poptic"], "except quote writes costs")
	after, reason = renames(c, files, "desk_test.poptic", "start\n  role", "morning")
	require.Empty(t, reason)
	require.Contains(t, after["desk_test.poptic"], "given morning")
	require.Contains(t, after["desk_test.poptic"], "state  morning\n")
	c.settled("desk_test.poptic", nil)
	c.didChange("desk_test.poptic", 2, strings.Replace(deskTests, "price(", "prize(", 1))
	c.settled("desk_test.poptic", []string{"unknown_stage 5:9-5:14"})
}
