package tree

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/region"
)

// A Pointer is a JSON Pointer (RFC 6901) as its decoded reference tokens. Whether
// a token is a member name or an index depends on the value it is applied to. The
// empty pointer is the root.
type Pointer []string

// A PointerError says why a text is no JSON Pointer.
type PointerError struct{ Message, Hint string }

// Error is the message alone.
func (e *PointerError) Error() string { return e.Message }

// ParsePointer reads the string form of RFC 6901 section 3: "" or tokens each
// preceded by "/", in which "~" stands only in "~0" and "~1". The error is a
// *PointerError.
func ParsePointer(text string) (Pointer, error) {
	p, bad := parsePointer(text)
	if bad != nil {
		return nil, bad
	}
	return p, nil
}

// overPointer says which limit a pointer exceeds, "" if none. What goes down a pointer
// step by step may rely on its length: there never is a pointer without an end.
func (l PatchLimits) overPointer(text string) string {
	most := l.MaxTokens
	if most == 0 || most > deepest {
		most = deepest
	}
	switch {
	case over(len(text), l.MaxPointerBytes):
		return fmt.Sprintf("the path is longer than %d bytes", l.MaxPointerBytes)
	case strings.Count(text, "/") > most:
		return fmt.Sprintf("the path is deeper than %d levels", most)
	default:
		return ""
	}
}

func parsePointer(text string) (Pointer, *PointerError) {
	switch {
	case text == "":
		return Pointer{}, nil
	case text[0] != '/':
		return nil, &PointerError{"a JSON Pointer is empty or begins with /", "begin the path with /"}
	case !utf8.ValidString(text):
		return nil, &PointerError{"a JSON Pointer is UTF-8 text", ""}
	}
	tokens := strings.Split(text[1:], "/")
	for i, token := range tokens {
		decoded, ok := unescape(token)
		if !ok {
			return nil, &PointerError{"~ in a JSON Pointer is followed by 0 or 1", "write ~ in a name as ~0, / as ~1"}
		}
		tokens[i] = decoded
	}
	return tokens, nil
}

// unescape decodes one token: ~1 is /, ~0 is ~, each decoded once (RFC 6901 section 4).
func unescape(token string) (string, bool) {
	if !strings.Contains(token, "~") {
		return token, true
	}
	var b strings.Builder
	for i := 0; i < len(token); i++ {
		if token[i] != '~' {
			b.WriteByte(token[i])
			continue
		}
		if i++; i == len(token) || token[i] != '0' && token[i] != '1' {
			return "", false
		}
		b.WriteByte("~/"[token[i]-'0'])
	}
	return b.String(), true
}

// String writes p in the form that ParsePointer reads.
func (p Pointer) String() string {
	var b strings.Builder
	for _, token := range p {
		b.WriteByte('/')
		b.WriteString(region.EscapeToken(token))
	}
	return b.String()
}

// isProperPrefixOf compares token by token.
func (p Pointer) isProperPrefixOf(q Pointer) bool {
	if len(p) >= len(q) {
		return false
	}
	for i, token := range p {
		if q[i] != token {
			return false
		}
	}
	return true
}

// isIndex checks the grammar of an array index: 0, or digits that do not begin with 0.
func isIndex(token string) bool {
	return token != "" && strings.Trim(token, "0123456789") == "" && (len(token) == 1 || token[0] != '0')
}
