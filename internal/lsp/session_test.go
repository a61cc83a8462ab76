package lsp_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const notes = `# Notes.
contract notes

state {
  notes: map of Note
  limit: int
}

# One note.
type Note {
  # What it is called.
  title: string
  text:  string
  done:  bool
}

region titles = /notes/*/title

invariant few "not too many" { size(state.notes) <= state.limit }

# Give it a better title.
stage retitle(note in /notes) {
  by    editor
  read  /notes/{note}, titles
  write /notes/{note}/title
}
`

func TestASessionEndsAsItsClientAsks(t *testing.T) {
	require.Equal(t, 0, program(t).with(nil).ends(true))
	require.Equal(t, 1, program(t).with(nil).ends(false))

	c := program(t).with(nil)
	c.in.Close()
	require.Equal(t, 1, c.ended())
}

func TestRequestsOutOfTurnAreRefused(t *testing.T) {
	c := start(t)
	require.Contains(t, c.refused("textDocument/hover", c.place("c.poptic", "", 0)), "initialize")
	c.notify("textDocument/didOpen", map[string]any{})
	c.call("initialize", map[string]any{"capabilities": map[string]any{}})
	c.refused("initialize", map[string]any{"capabilities": map[string]any{}})
	require.Contains(t, c.refused("textDocument/implode", map[string]any{}), "implode")
	require.NotEmpty(t, c.refused("textDocument/hover", []any{1}))
	c.notify("$/whatever", map[string]any{})
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": "file:///not/open.poptic", "version": 2}, "contentChanges": []any{}})
	c.call("shutdown", nil)
	c.refused("textDocument/hover", c.place("c.poptic", "", 0))
	require.Equal(t, 0, c.ends(false))
}

func TestABrokenMessageEndsNothing(t *testing.T) {
	c := open(t, nil)
	c.raw("Content-Length: 5\r\n\r\n{\"a\":")
	c.raw("content-type: application/vscode-jsonrpc; charset=utf-8\ncontent-length: 2\n\n[]")
	c.raw("Content-Length: 17\r\n\r\n{\"jsonrpc\":\"2.0\"}")
	c.didOpen("c.poptic", notes)
	require.Empty(t, c.findings("c.poptic", 1))
	c.raw("hello\r\n")
	require.Equal(t, 1, c.ended())
}

// What editors send first, as they sent it.
func TestEditorsAreGreetedAsTheyGreet(t *testing.T) {
	for editor, units := range map[string]string{"vscode": "utf-16", "neovim": "utf-16", "neovim-0.11": "utf-8"} {
		t.Run(editor, func(t *testing.T) {
			text, err := os.ReadFile("testdata/initialize/" + editor + ".json")
			require.NoError(t, err)
			c := program(t)
			var params map[string]any
			require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(string(text), "file:///WORKSPACE", c.uri(""))), &params))
			result := c.call("initialize", params).(map[string]any)
			can := result["capabilities"].(map[string]any)
			require.Equal(t, units, can["positionEncoding"])
			require.Equal(t, "poptic", result["serverInfo"].(map[string]any)["name"])
			c.notify("initialized", map[string]any{})
			c.didOpen("c.poptic", "contract c\nstate { n: Nix }\n")
			require.Equal(t, []string{"unknown_type 1:11-1:14"}, c.findings("c.poptic", 1))
			require.Equal(t, 0, c.ends(true))
		})
	}
}

func TestDiagnosticsFollowTheText(t *testing.T) {
	c := open(t, nil)
	c.didOpen("c.poptic", notes)
	require.Empty(t, c.findings("c.poptic", 1))
	c.didChange("c.poptic", 2, strings.Replace(notes, "/notes/{note}/title", "/notes/{note}/titel", 1))
	require.Equal(t, []string{"unknown_member 24:22-24:27"}, c.findings("c.poptic", 2))
	c.edit("c.poptic", 3, change(24, 22, 24, 27, "title"), change(19, 0, 19, 0, "# more\n"))
	require.Empty(t, c.findings("c.poptic", 3))
	c.edit("c.poptic", 4, change(0, 0, 999, 0, ""))
	require.Equal(t, []string{"empty_file 0:0-0:0"}, c.findings("c.poptic", 4))
	c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": c.uri("c.poptic")}})
	c.settled("c.poptic", nil)
}

func change(line, character, endLine, endCharacter int, text string) map[string]any {
	return map[string]any{"text": text, "range": map[string]any{
		"start": map[string]any{"line": line, "character": character}, "end": map[string]any{"line": endLine, "character": endCharacter},
	}}
}
