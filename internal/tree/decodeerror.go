package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// DecodeCode tells what is wrong with a JSON text.
type DecodeCode string

// The codes of a DecodeError.
const (
	InvalidJSON    DecodeCode = "invalid_json"    // not the grammar of RFC 8259
	InvalidUTF8    DecodeCode = "invalid_utf8"    // bytes that are not UTF-8
	InvalidUnicode DecodeCode = "invalid_unicode" // half of a surrogate pair (RFC 8259 section 8.2)
	DuplicateName  DecodeCode = "duplicate_key"   // two members of one name, however spelled
	LimitSize      DecodeCode = "limit_size"
	LimitDepth     DecodeCode = "limit_depth"
	LimitNodes     DecodeCode = "limit_nodes"
	LimitNumber    DecodeCode = "limit_number"
)

// A DecodeError says why a text was not accepted as a JSON value. It tells where,
// and never what was there.
type DecodeError struct {
	Code    DecodeCode
	Offset  int    // byte offset at or just before the error; -1 if it has none
	Path    string // pointer to the value concerned, as far as known
	Message string // without the place
}

// longestPlace is how many bytes of a place a message shows.
const longestPlace = 256

// Error is the message with the place.
func (e *DecodeError) Error() string {
	text := e.Message
	if e.Path != "" {
		text += " at " + Shorten(e.Path, longestPlace)
	}
	if e.Offset >= 0 {
		text += " (byte " + strconv.Itoa(e.Offset) + ")"
	}
	return text
}

// Reply is the code by which a patch or proposal with this error is refused.
func (e *DecodeError) Reply() Code {
	switch e.Code {
	case DuplicateName:
		return CodeDuplicateKey
	case LimitSize, LimitDepth, LimitNodes, LimitNumber:
		return CodeLimitExceeded
	default:
		return CodePatchSyntax
	}
}

// exceeded is the error of each limit.
func (l Limits) exceeded(code DecodeCode) *DecodeError {
	message := ""
	switch code {
	case LimitSize:
		message = fmt.Sprintf("larger than %d bytes", l.MaxBytes)
	case LimitDepth:
		message = fmt.Sprintf("nested deeper than %d levels", l.MaxDepth)
	case LimitNodes:
		message = fmt.Sprintf("more than %d JSON values", l.MaxNodes)
	default:
		message = fmt.Sprintf("a number longer than %d characters or with an exponent beyond %d",
			l.MaxNumberLength, l.MaxExponent)
	}
	return &DecodeError{Code: code, Offset: -1, Message: message}
}

// explain turns any error of reading into a DecodeError with its place. The
// decoder's own text is not used, since it quotes the input.
func (p *parser) explain(err error) *DecodeError {
	var own *DecodeError
	if errors.As(err, &own) {
		if own.Offset < 0 {
			own.Offset, own.Path = int(p.dec.InputOffset()), p.known(string(p.dec.StackPointer()))
		}
		return own
	}
	e := &DecodeError{Offset: int(p.dec.InputOffset()), Path: string(p.dec.StackPointer())}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		e.Offset, e.Path = int(syntactic.ByteOffset), string(syntactic.JSONPointer)
	}
	e.Path = p.known(e.Path)
	e.Code, e.Message = p.diagnose(err, min(e.Offset, len(p.data)))
	return e
}

// known is the path without a last name that no colon follows: where a bracket or a name
// is missing, what stands there is no name but a value.
func (p *parser) known(path string) string {
	kind, read := p.dec.StackIndex(p.dec.StackDepth())
	isName := kind == '{' && read%2 == 1
	if !isName {
		return path
	}
	rest := bytes.TrimLeft(p.data[min(int(p.dec.InputOffset()), len(p.data)):], " \t\r\n")
	if len(rest) > 0 && rest[0] == ':' {
		return path
	}
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

func (p *parser) diagnose(err error, offset int) (DecodeCode, string) {
	rest := p.data[offset:]
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return DuplicateName, "an object has two members of this name"
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return InvalidJSON, "the text ends too early"
	case isSurrogateEscape(rest):
		return InvalidUnicode, `half of a surrogate pair (\ud800 to \udfff stand in pairs)`
	case startsInvalid(rest):
		return InvalidUTF8, "the text is not UTF-8"
	default:
		return InvalidJSON, "the text is not JSON"
	}
}

func isSurrogateEscape(b []byte) bool {
	return len(b) >= 4 && b[0] == '\\' && b[1] == 'u' && (b[2] == 'd' || b[2] == 'D') &&
		bytes.IndexByte([]byte("89abcdefABCDEF"), b[3]) >= 0
}

func startsInvalid(b []byte) bool {
	r, size := utf8.DecodeRune(b)
	return r == utf8.RuneError && size == 1
}
