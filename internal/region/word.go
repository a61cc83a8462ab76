package region

import (
	"strconv"
	"strings"
)

// LetterKind tells what one step of a path is.
type LetterKind uint8

// The four kinds of letters. Key and Index occur in states; Param and Fresh
// occur only in static analysis, where they stand for a value bound later.
const (
	KeyLetter   LetterKind = iota // a member of an object
	IndexLetter                   // a position of an array
	ParamLetter                   // the key a stage parameter will be bound to
	FreshLetter                   // the private key a stage instance appends a log entry under (semantics 6.5)
)

// A Letter is one step of a typed path: K(s), I(n), or one of the two symbols
// that static analysis uses for keys it does not know yet.
type Letter struct {
	Kind  LetterKind
	Name  string // key, parameter name, or owner of the fresh key
	Index int    // position, for IndexLetter
}

// Key is the letter of the object member called name.
func Key(name string) Letter { return Letter{Kind: KeyLetter, Name: name} }

// Index is the letter of array position n.
func Index(n int) Letter { return Letter{Kind: IndexLetter, Index: n} }

// Param is the letter of a parameter that is not bound yet.
func Param(name string) Letter { return Letter{Kind: ParamLetter, Name: name} }

// Fresh is the letter of a log entry appended by owner; it equals only itself.
func Fresh(owner string) Letter { return Letter{Kind: FreshLetter, Name: owner} }

// A Word is a typed path: the letters from the root to a node.
type Word []Letter

// Pointer writes w as an RFC 6901 JSON Pointer. Parameters appear as {name},
// fresh keys as "-".
func (w Word) Pointer() string {
	var b strings.Builder
	for _, l := range w {
		b.WriteByte('/')
		switch l.Kind {
		case KeyLetter:
			b.WriteString(EscapeToken(l.Name))
		case IndexLetter:
			b.WriteString(strconv.Itoa(l.Index))
		case ParamLetter:
			b.WriteString("{" + l.Name + "}")
		case FreshLetter:
			b.WriteByte('-')
		}
	}
	return b.String()
}

// HasPrefix reports whether p is a prefix of w, w itself included.
func (w Word) HasPrefix(p Word) bool {
	if len(p) > len(w) {
		return false
	}
	for i := range p {
		if p[i] != w[i] {
			return false
		}
	}
	return true
}

var tokenEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// EscapeToken writes a key as an RFC 6901 reference token.
func EscapeToken(key string) string { return tokenEscaper.Replace(key) }
