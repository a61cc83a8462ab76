package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/patchoptic/poptic/runtime"
)

// writePrompt renders a view as text for a language model: its task, what it
// sees, what it may change and how to answer. It holds nothing the view does not.
func writePrompt(w io.Writer, v runtime.View) {
	section(w, "Task", orElse(v.Task, "Do the step \""+v.Stage+"\"."))
	section(w, "What you see", "```json\n"+indented(v.Value)+"\n```"+placeholderNote(v.Placeholders))
	section(w, "What you may change", bullets(v.Writes, "Nothing: answer with an empty patch."))
	section(w, "What you may copy or move from", bullets(v.Sources, "Nothing."))
	section(w, "How to answer", howToAnswer(v.Next))
}

func section(w io.Writer, title, body string) { fmt.Fprintf(w, "# %s\n\n%s\n\n", title, body) }

func placeholderNote(places []string) string {
	if len(places) == 0 {
		return ""
	}
	return "\n\nThe nulls at these places stand for entries you do not see: " + strings.Join(places, ", ") + "."
}

// howToAnswer explains the form of a proposal. One next phase is taken without
// being named; of several, one must be.
func howToAnswer(next []string) string {
	form := "Answer with a JSON Patch (RFC 6902) and nothing else: a JSON array of operations, such as\n" +
		"`[{\"op\": \"add\", \"path\": \"/a/b\", \"value\": 1}]`. `replace` needs an existing member, `add` makes a new one."
	if len(next) < 2 {
		return form
	}
	return form + "\n\nYou also choose how it goes on: answer with an object `{\"patch\": [...], \"next\": \"" + next[0] +
		"\"}`, where `next` is one of " + listed(next, "or") + "."
}

func bullets(items []string, none string) string {
	if len(items) == 0 {
		return none
	}
	return "- `" + strings.Join(items, "`\n- `") + "`"
}

// indented lays a canonical JSON text out over lines.
func indented(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}
