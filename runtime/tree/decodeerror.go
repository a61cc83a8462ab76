package tree

import (
	"fmt"
	"strconv"
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

// Error is the message with the place.
func (e *DecodeError) Error() string {
	text := e.Message
	if e.Path != "" {
		text += " at " + e.Path
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
