// Package prompt puts a view into the words that a language model works from: its task, what
// it sees, what it may change, and how to answer. It holds nothing that the view does not,
// so it may be sent to whoever may see the view.
//
//	view, err := instance.View(ctx, runtime.Request{Stage: "tidy", Args: args, Role: "bot"})
//	text := prompt.Of(view).Text()
//
// Of gives the parts as data, for those who lay them out themselves.
package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/runtime"
)

// A Prompt is what a model is told of one step. Its JSON is for programs that lay it out
// in their own way.
type Prompt struct {
	Task         string          `json:"task"`
	View         json.RawMessage `json:"view"`                 // canonical
	Placeholders []string        `json:"placeholders"`         // pointers to positions of View whose null stands for what is not shown
	Changes      []string        `json:"changes"`              // patterns that the patch may write; none for nothing
	Takes        []string        `json:"takes"`                // patterns that it may copy and move from
	Conditions   []string        `json:"conditions,omitempty"` // what judges the answer, in the contract's words
	Answer       Answer          `json:"answer"`
}

// An Answer is the shape that the model's answer is to have.
type Answer struct {
	Shape Shape    `json:"shape"`
	Next  []string `json:"next,omitempty"` // phases, one of which an Object must name
}

// A Shape is a form of proposals.
type Shape string

// The shapes of an answer.
const (
	Array  Shape = "array"  // a JSON Patch: [{"op": ...}, ...]
	Object Shape = "object" // {"patch": [...], "next": "PHASE"}
)

// Of is the prompt of a view. The lists and the view are shared with v. One next phase is
// taken without being named; of several, the model must name one.
func Of(v runtime.View) Prompt {
	p := Prompt{
		Task: v.Task, View: v.Value, Placeholders: v.Placeholders, Changes: v.Writes, Takes: v.Sources, Conditions: v.Conditions,
		Answer: Answer{Shape: Array},
	}
	if p.Task == "" {
		p.Task = fmt.Sprintf("Do the step %q.", v.Stage)
	}
	if len(v.Next) > 1 {
		p.Answer = Answer{Shape: Object, Next: v.Next}
	}
	return p
}

// Text is the prompt in Markdown, ending in a blank line.
func (p Prompt) Text() string {
	var b strings.Builder
	section := func(title, body string) { fmt.Fprintf(&b, "# %s\n\n%s\n\n", title, body) }
	section("Task", p.Task)
	section("What you see", "```json\n"+indented(p.View)+"\n```"+hidden(p.Placeholders))
	section("What you may change", bullets(p.Changes, "Nothing: answer with an empty patch."))
	section("What you may copy or move from", bullets(p.Takes, "Nothing."))
	if len(p.Conditions) > 0 {
		section("What must hold", "- "+strings.Join(p.Conditions, "\n- "))
	}
	section("How to answer", p.Answer.text())
	return b.String()
}

// hidden says what the nulls in the view are that stand for nothing.
func hidden(places []string) string {
	if len(places) == 0 {
		return ""
	}
	return "\n\nThe nulls at these places stand for entries you do not see: " + strings.Join(places, ", ") + "."
}

func bullets(items []string, none string) string {
	if len(items) == 0 {
		return none
	}
	return "- `" + strings.Join(items, "`\n- `") + "`"
}

func (a Answer) text() string {
	form := "Answer with a JSON Patch (RFC 6902) and nothing else: a JSON array of operations, such as\n" +
		"`[{\"op\": \"add\", \"path\": \"/a/b\", \"value\": 1}]`. `replace` needs an existing member, `add` makes a new one."
	if a.Shape != Object {
		return form
	}
	last := len(a.Next) - 1
	return form + "\n\nYou also choose how it goes on: answer with an object `{\"patch\": [...], \"next\": \"" + a.Next[0] +
		"\"}`, where `next` is one of " + strings.Join(a.Next[:last], ", ") + " or " + a.Next[last] + "."
}

// indented lays a JSON text out over lines; what is none stays as it is.
func indented(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}
