// Package normalise turns what an actor answered into the bytes of a proposal,
// under leniencies the host names one by one. Without any, the answer passes
// through untouched and the verifier judges it strictly.
//
// Proposal is the entry point. Every leniency that changed something is reported,
// so that the verdict can record it, and none of them ever looks inside a patch:
// what a "value" member holds reaches the verifier as the actor wrote it.
package normalise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// The leniencies, as flags spell them and verdicts record them.
const (
	Fence       = "fence"       // the proposal stands in a Markdown code fence
	Stringified = "stringified" // the proposal, or its "patch" member, is a JSON string that holds JSON
)

// Allowed says which leniencies hold. The zero value allows none.
type Allowed struct {
	Fence       bool
	Stringified bool
}

// An AmbiguousError says that an answer holds several proposals. Choosing one of
// them would be guessing, so the host must refuse the answer.
type AmbiguousError struct{ Candidates int }

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("the answer is ambiguous: %d of its code fences hold JSON, and only one proposal is taken", e.Candidates)
}

// Proposal extracts the proposal from an answer and names the leniencies that
// were needed, in the order they were applied. Bytes that are JSON already are
// never searched for fences. When nothing applies the answer comes back as it is,
// for the verifier to judge. The only error is *AmbiguousError.
func Proposal(answer []byte, allow Allowed) (proposal []byte, applied []string, err error) {
	proposal = answer
	if allow.Fence && !json.Valid(answer) {
		body, found, err := unfence(answer)
		if err != nil {
			return nil, nil, err
		}
		if found {
			proposal, applied = body, append(applied, Fence)
		}
	}
	if allow.Stringified {
		if body, found := destringify(proposal); found {
			proposal, applied = body, append(applied, Stringified)
		}
	}
	return proposal, applied, nil
}

// unfence finds the one fence whose body is a JSON array, object or string.
// Fences with other content (code, logs) are no candidates.
func unfence(answer []byte) (body []byte, found bool, err error) {
	candidates := 0
	for f := range fences(answer) {
		if isProposal(f) {
			body = f
			candidates++
		}
	}
	if candidates > 1 {
		return nil, false, &AmbiguousError{Candidates: candidates}
	}
	if candidates == 0 {
		return soleFence(answer)
	}
	return body, true, nil
}

// soleFence unwraps a fence that is the whole answer even when its body is not
// JSON, so that the verifier's message is about the body and not about the fence.
func soleFence(answer []byte) (body []byte, found bool, err error) {
	trimmed := bytes.TrimSpace(answer)
	for f := range fences(trimmed) {
		opening := bytes.IndexByte(trimmed, '\n') + 1
		if opening > 0 && isWhole(trimmed, opening, f) {
			return f, true, nil
		}
		break
	}
	return nil, false, nil
}

// isWhole reports whether body starts at offset opening of text and nothing but
// the closing fence follows it.
func isWhole(text []byte, opening int, body []byte) bool {
	rest := text[opening:]
	if !bytes.HasPrefix(rest, body) {
		return false
	}
	_, isFence := parseFence(bytes.TrimSpace(rest[len(body):]))
	return isFence && !bytes.ContainsRune(bytes.TrimSpace(rest[len(body):]), '\n')
}

func isProposal(body []byte) bool {
	trimmed := bytes.TrimSpace(body)
	return len(trimmed) > 0 && bytes.IndexByte([]byte(`[{"`), trimmed[0]) >= 0 && json.Valid(trimmed)
}

// destringify decodes a JSON string that holds an array or an object, or the
// same in the "patch" member of an object; once, never again on the result.
func destringify(proposal []byte) (decoded []byte, found bool) {
	trimmed := bytes.TrimSpace(proposal)
	if len(trimmed) == 0 || !json.Valid(trimmed) {
		return nil, false
	}
	switch trimmed[0] {
	case '"':
		return unquote(trimmed)
	case '{':
		return destringifyMember(trimmed)
	}
	return nil, false
}

// destringifyMember replaces the value of the top-level member "patch" in place;
// every other byte stays, so that repeated or unknown members are still judged.
func destringifyMember(object []byte) (decoded []byte, found bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		isPatch := name.String() == "patch"
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		if !isPatch {
			continue
		}
		inner, ok := unquote(value)
		if !ok {
			return nil, false
		}
		end := int(dec.InputOffset())
		return bytes.Join([][]byte{object[:end-len(value)], inner, object[end:]}, nil), true
	}
	return nil, false
}

// unquote gives the text of a JSON string if that text is an array or an object.
func unquote(literal []byte) (text []byte, found bool) {
	text, err := jsontext.AppendUnquote(nil, literal)
	if err != nil {
		return nil, false
	}
	trimmed := bytes.TrimSpace(text)
	isContainer := len(trimmed) > 0 && (trimmed[0] == '[' || trimmed[0] == '{')
	return text, isContainer && json.Valid(trimmed)
}

// A fence is an opening or closing line of a Markdown code block, as CommonMark
// section 4.5 defines it: at least three backticks or tildes, indented by at most
// three spaces.
type fence struct {
	mark  byte
	width int
	bare  bool // no info string, so that it may close a block
}

// fences yields the body of every closed code block of text, verbatim. A block
// that is never closed was cut off and yields nothing.
func fences(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var open fence
		inside, start := false, 0
		for at := 0; at < len(text); {
			end := lineEnd(text, at)
			f, isFence := parseFence(text[at:end])
			switch {
			case isFence && !inside:
				open, inside, start = f, true, end
			case isFence && f.bare && f.mark == open.mark && f.width >= open.width:
				inside = false
				if !yield(text[start:at]) {
					return
				}
			}
			at = end
		}
	}
}

// lineEnd is the offset just behind the line that starts at offset at.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

func parseFence(line []byte) (fence, bool) {
	unindented := bytes.TrimLeft(line, " ")
	if len(line)-len(unindented) > 3 || len(unindented) == 0 {
		return fence{}, false
	}
	mark := unindented[0]
	if mark != '`' && mark != '~' {
		return fence{}, false
	}
	info := bytes.TrimLeft(unindented, string(mark))
	width := len(unindented) - len(info)
	if width < 3 || mark == '`' && bytes.IndexByte(info, '`') >= 0 {
		return fence{}, false
	}
	return fence{mark: mark, width: width, bare: len(bytes.TrimSpace(info)) == 0}, true
}
