package lean

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/decimal"
)

// An operation is one of a patch, as it is read.
type operation struct {
	kind  string
	path  []string
	value *value
}

// A reader reads JSON in one pass.
type reader struct {
	text string
	at   int
	bad  bool
}

// readPatch reads a JSON Patch.
func readPatch(patch []byte) ([]operation, error) {
	r := reader{text: string(patch)}
	ops := make([]operation, 0, 8)
	tokens := make([]string, 0, 32)
	r.items('[', ']', func() {
		var op operation
		r.items('{', '}', func() {
			switch name := r.name(); name {
			case "op":
				op.kind = r.string()
			case "path":
				first := len(tokens)
				tokens = r.pointer(tokens)
				op.path = tokens[first:]
			case "value":
				op.value = r.value()
			default:
				r.value()
			}
		})
		ops = append(ops, op)
		r.bad = r.bad || !op.complete()
	})
	r.space()
	if r.bad || r.at < len(r.text) || !utf8.ValidString(r.text) {
		return nil, ErrSyntax
	}
	return ops, nil
}

// complete reports whether an operation has what it needs.
func (op *operation) complete() bool {
	switch op.kind {
	case "add", "replace", "test":
		return len(op.path) > 0 && op.value != nil
	case "remove", "move", "copy":
		return len(op.path) > 0
	default:
		return false
	}
}

func (r *reader) document() (*value, error) {
	v := r.value()
	r.space()
	if r.bad || r.at < len(r.text) || !utf8.ValidString(r.text) {
		return nil, ErrSyntax
	}
	return v, nil
}

func (r *reader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \n\r\t", r.text[r.at]) >= 0 {
		r.at++
	}
}

// peek is the next byte that is no space, 0 at the end or where something was wrong.
func (r *reader) peek() byte {
	r.space()
	if r.bad || r.at >= len(r.text) {
		return 0
	}
	return r.text[r.at]
}

// skip passes over a byte that must come next.
func (r *reader) skip(c byte) {
	if r.peek() != c {
		r.bad = true
		return
	}
	r.at++
}

// items calls read for everything between two brackets.
func (r *reader) items(open, end byte, read func()) {
	r.skip(open)
	if r.peek() == end {
		r.at++
		return
	}
	for !r.bad {
		read()
		if r.peek() == end {
			r.at++
			return
		}
		r.skip(',')
	}
}

func (r *reader) name() string {
	name := r.string()
	r.skip(':')
	return name
}

// string reads a string; without escapes, it is a part of the text.
func (r *reader) string() string {
	r.skip('"')
	start := r.at
	for ; !r.bad && r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '"':
			r.at++
			return r.text[start : r.at-1]
		case c == '\\':
			return r.escaped(start)
		case c < ' ':
			r.bad = true
		}
	}
	r.bad = true
	return ""
}

// escaped reads a string that has escapes.
func (r *reader) escaped(start int) string {
	for ; r.at < len(r.text); r.at++ {
		switch r.text[r.at] {
		case '\\':
			r.at++
		case '"':
			r.at++
			var s string
			r.bad = json.Unmarshal([]byte(r.text[start-1:r.at]), &s) != nil
			return s
		}
	}
	r.bad = true
	return ""
}

var tilde = strings.NewReplacer("~1", "/", "~0", "~")

// pointer reads a JSON Pointer and appends its tokens.
func (r *reader) pointer(tokens []string) []string {
	rest := r.string()
	if rest != "" && rest[0] != '/' {
		r.bad = true
	}
	for rest != "" && !r.bad {
		var token string
		token, rest = rest[1:], ""
		if end := strings.IndexByte(token, '/'); end >= 0 {
			token, rest = token[:end], token[end:]
		}
		if strings.IndexByte(token, '~') >= 0 {
			token = tilde.Replace(token)
		}
		tokens = append(tokens, token)
	}
	return tokens
}

// value reads a value, which keeps nothing of the text.
func (r *reader) value() *value {
	switch c := r.peek(); {
	case c == '"':
		return &value{kind: text, text: strings.Clone(r.string())}
	case c == '[':
		v := &value{kind: array}
		r.items('[', ']', func() { v.items = append(v.items, r.value()) })
		return v
	case c == '{':
		return r.object()
	default:
		return r.literal()
	}
}

func (r *reader) object() *value {
	v := &value{kind: object}
	var e edit
	r.items('{', '}', func() {
		name := r.name()
		if v.get(name) != nil {
			r.bad = true
			return
		}
		e.put(v, strings.Clone(name), r.value())
	})
	return v
}

// literal reads true, false, null or a number.
func (r *reader) literal() *value {
	start := r.at
	for r.at < len(r.text) && strings.IndexByte(",]} \n\r\t", r.text[r.at]) < 0 {
		r.at++
	}
	word := r.text[start:r.at]
	switch word {
	case "true", "false", "null":
		return &value{kind: kind(word[0]), text: strings.Clone(word)}
	}
	if !decimal.Valid(word) {
		r.bad = true
		return nil
	}
	return &value{kind: digits, text: strings.Clone(word)}
}
