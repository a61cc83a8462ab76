// Package prompt puts a view into the words that a language model works from: its task, what
// it sees, what it may change and what fits there, what judges it, and how to answer. It is made
// of the contract, the request and the view alone, so that it may be sent to whoever may see
// the view, and is the same for states that look the same.
//
//	request := runtime.Request{Stage: "tidy", Args: args, Role: "bot"}
//	view, err := instance.View(ctx, request)
//	data, err := prompt.Of(contract, request, view)
//	data.AttemptsLeft, _ = instance.AttemptsLeft(request)
//	text := data.Text()
//
// Of gives the parts as data, for those who lay them out themselves or build a schema of answers.
package prompt

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/patchoptic/poptic/runtime"
)

// Data is what a model is told of one step: the guide, and what it sees. Its JSON is for
// programs that lay it out in their own way.
type Data struct {
	runtime.Guide

	View         json.RawMessage `json:"view"`                    // canonical
	Placeholders []string        `json:"placeholders"`            // pointers to positions of View whose null stands for what is not shown
	Form         Form            `json:"form"`                    // of the answer
	AttemptsLeft int             `json:"attempts_left,omitempty"` // 0 where it is not known; what Of says is what the stage declares
}

// A Form is a form of answers, which are proposals.
type Form string

// The forms of an answer.
const (
	Array  Form = "array"  // a JSON Patch: [{"op": ...}, ...]
	Object Form = "object" // {"patch": [...], "next": "PHASE"}
)

// Of is the prompt of a view that was shown for a request under a contract. The view is
// shared with v. One next phase is taken without being named; of several, the model must name
// one. The errors are those of Contract.Guide.
func Of(c *runtime.Contract, r runtime.Request, v runtime.View) (Data, error) {
	g, err := c.Guide(r, v)
	if err != nil {
		return Data{}, err
	}
	d := Data{Guide: g, View: v.Value, Placeholders: v.Placeholders, Form: Array, AttemptsLeft: g.Attempts}
	if len(g.Next) > 1 {
		d.Form = Object
	}
	return d, nil
}

// Text is the prompt in Markdown, ending in a blank line.
func (d *Data) Text() string {
	var b strings.Builder
	section := func(title, body string) {
		if body != "" {
			b.WriteString("# " + title + "\n\n" + body + "\n\n")
		}
	}
	section("Task", d.Task+arguments(d.Arguments))
	section("What you see", "```json\n"+indented(d.View)+"\n```"+hidden(d.Placeholders))
	section("What you may change", d.changes())
	section("What you may copy or move from", code(d.Takes))
	section("What must hold", d.mustHold())
	section("How to answer", d.answer())
	return b.String()
}

func arguments(all []runtime.GuideArgument) string {
	var out []string
	for _, a := range all {
		text := a.Name + " = " + string(a.Value)
		if len(a.Meaning) > 0 {
			text += " (" + strings.Join(a.Meaning, "; ") + ")"
		}
		out = append(out, text)
	}
	if len(out) == 0 {
		return ""
	}
	return "\n\nIt is about " + strings.Join(out, ", ") + "."
}

// hidden says what the nulls in the view are that stand for nothing.
func hidden(places []string) string {
	if len(places) == 0 {
		return ""
	}
	return "\n\nThe nulls at these places stand for entries you do not see: " + strings.Join(places, ", ") + "."
}

func code(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return "`" + strings.Join(paths, "`, `") + "`"
}

func (d *Data) mustHold() string {
	all := d.Conditions
	if len(d.Produce) > 0 {
		all = append([]string{code(d.Produce) + " must be there"}, all...)
	}
	if len(all) == 0 {
		return ""
	}
	return "- " + strings.Join(all, "\n- ")
}

func (d *Data) answer() string {
	var b strings.Builder
	if d.Form == Object {
		last := len(d.Next) - 1
		b.WriteString("Answer with this JSON object and nothing else, where `patch` is a JSON Patch (RFC 6902) and `next` is " +
			strings.Join(d.Next[:last], ", ") + " or " + d.Next[last] + ". Its form:\n\n")
		next, _ := json.Marshal(d.Next[0])
		b.WriteString("{\"patch\": " + string(d.Example) + ", \"next\": " + string(next) + "}")
	} else {
		b.WriteString("Answer with a JSON Patch (RFC 6902) and nothing else, of this form:\n\n" + string(d.Example))
		if len(d.Next) == 1 {
			b.WriteString("\n\nThen it goes on to the phase " + d.Next[0] + ".")
		}
	}
	if d.AttemptsLeft > 0 {
		b.WriteString("\n\n" + attempts(d.AttemptsLeft))
	}
	return b.String()
}

func attempts(n int) string {
	if n == 1 {
		return "You have one attempt."
	}
	number, _ := json.Marshal(n)
	return "You have " + string(number) + " attempts."
}

// indented lays a JSON text out over lines; what is none stays as it is.
func indented(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return string(text)
	}
	return b.String()
}
