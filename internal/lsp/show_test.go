package lsp_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
)

func document(c *client, name string) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": c.uri(name)}}
}

// outline writes symbols as an indented list of kinds, names and places.
func outline(symbols any, indent string, text string) string {
	var out strings.Builder
	for _, s := range symbols.([]any) {
		m := s.(map[string]any)
		fmt.Fprintf(&out, "%s%v %s\n", indent, m["name"], rangeText(m["selectionRange"]))
		if m["children"] != nil {
			out.WriteString(outline(m["children"], indent+"  ", text))
		}
	}
	return out.String()
}

func TestSymbolsAreThereInSpiteOfMistakes(t *testing.T) {
	c := open(t, map[string]string{"other.poptic": "library other\ntype Retired { a: int }\n"})
	c.didOpen("c.poptic", notes+"stage broken { reed /x\ntype Last = int\n")
	require.Equal(t, `notes 1:9-1:14
state 3:0-3:0
  notes 4:2-4:7
  limit 5:2-5:7
Note 9:5-9:9
  title 11:2-11:7
  text 12:2-12:6
  done 13:2-13:6
titles 16:7-16:13
few 18:10-18:13
retitle 21:6-21:13
  note 21:14-21:18
broken 26:6-26:12
Last 27:5-27:9
`, outline(c.call("textDocument/documentSymbol", document(c, "c.poptic")), "", notes))

	var found []string
	for _, s := range c.call("workspace/symbol", map[string]any{"query": "ret"}).([]any) {
		found = append(found, s.(map[string]any)["name"].(string))
	}
	require.Equal(t, []string{"retitle", "Retired"}, found)

	c.didOpen("c_test.poptic", "test \"it works\" {\n  phase x\n  case \"twice\"\n}\n")
	require.Contains(t, outline(c.call("textDocument/documentSymbol", document(c, "c_test.poptic")), "", ""), "it works 0:5-0:15\n  twice 2:7-2:14")
}

func TestWhatHasSeveralLinesFolds(t *testing.T) {
	c := open(t, nil)
	c.didOpen("c.poptic", "# one\n# two\ncontract c\nimport \"std/pii\"\nimport \"std/text\"\nstate {\n  a: {\n    b: int\n  }\n}\ninvariant i {\n  state.a.b > 0\n}\n")
	var folds []string
	for _, f := range c.call("textDocument/foldingRange", document(c, "c.poptic")).([]any) {
		m := f.(map[string]any)
		folds = append(folds, strings.TrimSuffix(fmt.Sprintf("%v-%v %v", m["startLine"], m["endLine"], m["kind"]), " <nil>"))
	}
	slices.Sort(folds)
	require.Equal(t, []string{"0-1 comment", "10-12", "3-4 imports", "5-9", "6-8"}, folds)
}

// tokens decodes colours: the text that each covers, and its type.
func tokens(t *testing.T, text string, data []any, legend []any) (out []string) {
	t.Helper()
	lines := strings.Split(text, "\n")
	line, column, end := 0, 0, 0
	for i := 0; i < len(data); i += 5 {
		n := func(j int) int { return int(data[i+j].(float64)) }
		if n(0) > 0 {
			line, column, end = line+n(0), 0, 0
		}
		column += n(1)
		require.GreaterOrEqual(t, column, end, "line %d: tokens overlap", line)
		units := utf16.Encode([]rune(strings.TrimSuffix(lines[line], "\r")))
		end = column + n(2)
		require.LessOrEqual(t, end, len(units))
		require.Greater(t, n(2), 0)
		out = append(out, string(utf16.Decode(units[column:end]))+" "+legend[n(3)].(string))
	}
	return out
}

func TestColoursSayWhatThingsAre(t *testing.T) {
	c := start(t)
	c.write(map[string]string{"common.poptic": common})
	result := c.call("initialize", map[string]any{"rootUri": c.uri(""), "capabilities": map[string]any{}}).(map[string]any)
	legend := result["capabilities"].(map[string]any)["semanticTokensProvider"].(map[string]any)["legend"].(map[string]any)["tokenTypes"].([]any)
	c.didOpen("desk.poptic", desk)
	got := tokens(t, desk, c.call("textDocument/semanticTokens/full", document(c, "desk.poptic")).(map[string]any)["data"].([]any), legend)
	for _, want := range []string{
		"contract keyword", "tickets property", "# 😀 What somebody wants. comment", "Ticket type", "string", "text namespace", "Line type",
		"spent variable", "costs macro", "within event", "t variable", "all function", "price function", "ticket parameter", "clerk enumMember", "\"\" string", "write keyword",
	} {
		require.True(t, slices.ContainsFunc(got, func(g string) bool { return strings.HasSuffix(g, want) }), "%q in %q", want, got)
	}
	part := c.call("textDocument/semanticTokens/range", map[string]any{"textDocument": map[string]any{"uri": c.uri("desk.poptic")}, "range": map[string]any{
		"start": map[string]any{"line": 12, "character": 0}, "end": map[string]any{"line": 13, "character": 0}}}).(map[string]any)["data"].([]any)
	require.Equal(t, []string{"region keyword", "costs macro", "tickets property", "cost property", "budget property"}, tokens(t, desk, part, legend))

	// Whatever the file, the colours are in order, apart, and within their lines.
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".poptic" {
			return err
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		c.didOpen("any.poptic", string(text))
		tokens(t, string(text), c.call("textDocument/semanticTokens/full", document(c, "any.poptic")).(map[string]any)["data"].([]any), legend)
		return nil
	})
	require.NoError(t, err)
}

func TestHintsSayWhatIsInferred(t *testing.T) {
	c := open(t, map[string]string{"common.poptic": common})
	c.didOpen("desk.poptic", desk+"invariant costly each t in /tickets/* { t.cost >= 0.0 }\nstage refer(ticket in /tickets, s = /tickets/{ticket}/subject) { read /tickets/{ticket}/subject, costs }\n")
	params := document(c, "desk.poptic")
	params["range"] = map[string]any{"start": map[string]any{"line": 0, "character": 0}, "end": map[string]any{"line": 99, "character": 0}}
	var hints []string
	for _, h := range c.call("textDocument/inlayHint", params).([]any) {
		m := h.(map[string]any)
		hints = append(hints, fmt.Sprint(m["position"].(map[string]any)["line"], " ", m["label"]))
	}
	require.Equal(t, []string{
		"11 : number", "16 = /tickets/*/cost, /budget", "20 = /tickets/*/cost, /budget", "21 : Ticket", "22 : Line", "22 = /tickets/*/cost, /budget",
	}, hints)
}

// actions are the titles of what is offered for a line, and the text after the one asked for.
func actions(c *client, name, text string, line int, choose string, only ...string) (titles []string, after string) {
	params := document(c, name)
	params["range"] = map[string]any{"start": map[string]any{"line": line, "character": 0}, "end": map[string]any{"line": line, "character": 999}}
	params["context"] = map[string]any{"diagnostics": []any{}, "only": only}
	for _, a := range c.call("textDocument/codeAction", params).([]any) {
		m := a.(map[string]any)
		titles = append(titles, m["title"].(string))
		if m["title"] == choose {
			after = edited(text, m["edit"].(map[string]any)["changes"].(map[string]any)[c.uri(name)].([]any))
		}
	}
	return titles, after
}

func TestFixesOfFindingsAreOffered(t *testing.T) {
	c := open(t, nil)
	text := strings.NewReplacer("map of Note", "map of Notte", "/notes/{note}/title", "/notes/{note}/titel", "invariant few", "invariantt few").Replace(notes)
	c.didOpen("c.poptic", text)
	_, after := actions(c, "c.poptic", text, 4, "write `Note`")
	require.Contains(t, after, "map of Note\n")
	titles, after := actions(c, "c.poptic", text, 0, "Apply 2 fixes", "source.fixAll")
	require.Equal(t, []string{"Apply 2 fixes"}, titles)
	c.didChange("c.poptic", 2, after)
	found := c.findings("c.poptic", 2)
	require.Equal(t, []string{"unknown_member 24:22-24:27"}, found, "what the type hid")
	titles, after = actions(c, "c.poptic", after, 24, "write `title`")
	require.Equal(t, []string{"write `title`"}, titles)
	c.didChange("c.poptic", 3, after)
	require.Empty(t, c.findings("c.poptic", 3))
	titles, _ = actions(c, "c.poptic", after, 24, "")
	require.Empty(t, titles)
}

func TestFindingsOfRulesFollowTheConfigurationAndCanBeSetAside(t *testing.T) {
	c := open(t, map[string]string{"poptic.yaml": "rules:\n  undisclosed_gate: error\n"})
	text := notes + "\nregion nowhere = /limit\n"
	c.didOpen("c.poptic", text)
	c.settled("c.poptic", []string{"unused_region 27:7-27:14"})
	titles, after := actions(c, "c.poptic", text, 27, "ignore unused_region here")
	require.Contains(t, titles, "ignore unused_region here")
	require.Contains(t, after, "\n# poptic:ignore unused_region \nregion nowhere")
	c.didChange("c.poptic", 2, after)
	c.settled("c.poptic", []string{"bad_ignore 27:0-27:30"})
	c.didChange("c.poptic", 3, strings.Replace(after, "unused_region \n", "unused_region soon\n", 1))
	c.settled("c.poptic", nil)

	c.didChange("c.poptic", 4, text)
	c.write(map[string]string{"poptic.yaml": "rules:\n  unused_region: off\n"})
	c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	c.settled("c.poptic", nil)
	c.write(map[string]string{"poptic.yaml": "rules:\n  unused_regin: off\n"})
	c.notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{}})
	c.wait("what is wrong with the configuration", func() bool {
		p := c.published[c.uri("poptic.yaml")]
		return p != nil && strings.Contains(fmt.Sprint(p), "unused_region")
	})
	require.Equal(t, 0, c.ends(true))
}

func TestLensesCountConflictsAndRunTests(t *testing.T) {
	c := open(t, map[string]string{"common.poptic": common})
	c.didOpen("desk.poptic", desk)
	titles := map[string]string{}
	for _, l := range c.call("textDocument/codeLens", document(c, "desk.poptic")).([]any) {
		lens := c.call("codeLens/resolve", l).(map[string]any)
		command := lens["command"].(map[string]any)
		titles[command["arguments"].([]any)[1].(string)] = command["title"].(string)
		require.Equal(t, "poptic.showConflicts", command["command"])
	}
	require.Equal(t, map[string]string{"price": "1 conflict", "look": "no conflicts"}, titles)
	require.Len(t, c.call("workspace/executeCommand", map[string]any{"command": "poptic.showConflicts", "arguments": []any{c.uri("desk.poptic"), "price"}}), 1)
	c.wait("a message", func() bool {
		return slices.ContainsFunc(c.asked, func(m map[string]any) bool { return m["method"] == "window/showMessage" })
	})
	c.refused("workspace/executeCommand", map[string]any{"command": "rm"})

	c.didOpen("desk_test.poptic", "test \"it works\" {\n  phase x\n  case \"twice\"\n}\n")
	lens := c.call("textDocument/codeLens", document(c, "desk_test.poptic")).([]any)[0].(map[string]any)
	require.Equal(t, []any{c.uri("desk_test.poptic"), "it works"}, lens["command"].(map[string]any)["arguments"])
}

func TestWhatIsCancelledIsNotAnswered(t *testing.T) {
	c := open(t, nil)
	c.didOpen("c.poptic", long(3000))
	var ids []string
	for range 20 {
		ids = append(ids, c.ask("textDocument/inlayHint", map[string]any{"textDocument": map[string]any{"uri": c.uri("c.poptic")}, "range": map[string]any{
			"start": map[string]any{"line": 0, "character": 0}, "end": map[string]any{"line": 9, "character": 0}}}))
	}
	for _, id := range ids[1:] {
		var n int
		fmt.Sscan(id, &n)
		c.notify("$/cancelRequest", map[string]any{"id": n})
	}
	cancelled := 0
	for _, id := range ids {
		if _, failure := c.answer(id); failure != nil {
			require.Equal(t, float64(-32800), failure["code"])
			cancelled++
		}
	}
	require.Greater(t, cancelled, 10)
	require.Equal(t, 0, c.ends(true))
}

func TestFormattingEditsWhatIsNotCanonical(t *testing.T) {
	c := open(t, nil)
	want := "contract c\n\nstate { a: int }\n\n# 😀\nstage s {\n  read  /a\n  write /a\n}\n"
	for name, text := range map[string]string{
		"LF":   "contract c\n\n\n\nstate {a:int}\n\n# 😀\nstage s {\n read /a\n     write    /a }\n\n",
		"CRLF": "contract c\r\n\r\nstate { a: int }\r\n\r\n# 😀   \r\nstage s {\r\n  read  /a\r\n  write   /a\r\n}",
		"same": want,
	} {
		c.didOpen(name+".poptic", text)
		params := document(c, name+".poptic")
		params["options"] = map[string]any{"tabSize": 2, "insertSpaces": true}
		edits := c.call("textDocument/formatting", params).([]any)
		require.Equal(t, want, strings.ReplaceAll(edited(text, edits), "\r", ""), name)
		require.Equal(t, name == "same", len(edits) == 0)
	}
	c.didOpen("broken.poptic", "contract c\nstate {\n")
	require.Contains(t, c.refused("textDocument/formatting", document(c, "broken.poptic")), "mistakes")
}
