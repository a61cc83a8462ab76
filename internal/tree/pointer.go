package tree

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/ir"
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
	p, bad := parsePointer(nil, text)
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

// parsePointer appends the tokens of a pointer to room, which is empty.
func parsePointer(room []string, text string) (Pointer, *PointerError) {
	switch {
	case text == "":
		return Pointer{}, nil
	case text[0] != '/':
		return nil, &PointerError{"a JSON Pointer is empty or begins with /", "write " + asPointer(text)}
	case !utf8.ValidString(text):
		return nil, &PointerError{"a JSON Pointer is UTF-8 text", ""}
	}
	if room == nil {
		room = make([]string, 0, strings.Count(text, "/"))
	}
	for rest, more := text[1:], true; more; {
		var token string
		token, rest, more = strings.Cut(rest, "/")
		decoded, ok := unescape(token)
		if !ok {
			return nil, &PointerError{"~ in a JSON Pointer is followed by 0 or 1", "write ~ in a name as ~0, / as ~1"}
		}
		room = append(room, decoded)
	}
	return room, nil
}

// asPointer is what a path that is written in another way would be as a pointer: as a URI
// fragment (#/a/b), without its first / (a/b), or with dots and brackets (a.b, $.a.b, $['a'][0]).
func asPointer(text string) string {
	const most = 256
	text = strings.ToValidUTF8(Shorten(text, most), "?")
	text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(text), "#"), "$"), "@")
	switch {
	case strings.HasPrefix(text, "/"):
		return text
	case strings.Contains(text, "/"):
		return "/" + strings.TrimPrefix(text, "./")
	}
	var b strings.Builder
	for text = strings.TrimLeft(text, "."); text != ""; text = strings.TrimPrefix(text, ".") {
		name := ""
		if text[0] == '[' {
			name, text, _ = strings.Cut(text[1:], "]")
			name = strings.Trim(name, `'"`)
		} else if end := strings.IndexAny(text, ".["); end >= 0 {
			name, text = text[:end], text[end:]
		} else {
			name, text = text, ""
		}
		b.WriteByte('/')
		b.WriteString(region.EscapeToken(name))
	}
	return b.String()
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

// What a pointer means in a value.

// A deadEnd says why and where a pointer could not be followed.
type deadEnd struct {
	Code    Code
	Typed   int // leading tokens that were typed
	Message string
	Hint    string
}

// typedWord walks root along p and, in room for as many letters as p has tokens, returns the typed word (spec/semantics.md section 1)
// and the node there, nil if everything but the last step exists. A final "-"
// under a list of length n is the index n, under a set or log the fresh key.
//
// Where the walk cannot go on, stop says why. The word then is a best guess in
// which tokens that nothing types are keys (a final "-" the fresh key), so that
// authority can be judged before existence.
func typedWord(room region.Word, root *Node, p Pointer) (word region.Word, node *Node, stop *deadEnd) {
	word, node = room, root
	for i, token := range p {
		letter, stop := letterOf(node, token, i == len(p)-1)
		if stop != nil {
			stop.Typed = i
			return guess(word, p[i:]), nil, stop
		}
		word = append(word, letter)
		next := follow(node, letter)
		if next == nil && i < len(p)-1 {
			return guess(word, p[i+1:]), nil, missingOnTheWay(node, p, i)
		}
		node = next
	}
	return word, node, nil
}

func guess(word region.Word, rest Pointer) region.Word {
	for i, token := range rest {
		if token == "-" && i == len(rest)-1 {
			return append(word, region.Fresh("-"))
		}
		word = append(word, region.Key(token))
	}
	return word
}

// follow takes one typed step, nil if nothing is there.
func follow(n *Node, l region.Letter) *Node {
	switch l.Kind {
	case region.KeyLetter:
		return n.Get(l.Name)
	case region.IndexLetter:
		return n.At(l.Index)
	default:
		return nil
	}
}

// letterOf types one token under n.
func letterOf(n *Node, token string, last bool) (region.Letter, *deadEnd) {
	switch {
	case n.kind == ir.Object:
		return region.Key(token), nil
	case n.kind != ir.Array:
		return region.Letter{}, &deadEnd{
			Code:    CodeTypeMismatch,
			Message: fmt.Sprintf("the path goes on below a %s, which has nothing below it", n.kind),
		}
	case n.order != ListOrder && token == "-" && last:
		return region.Fresh("-"), nil
	case n.order != ListOrder:
		return region.Letter{}, &deadEnd{
			Code:    CodeTypeMismatch,
			Message: fmt.Sprintf("elements of a %s are not addressed by index", n.order),
			Hint:    fmt.Sprintf("append with add and a path that ends in /-, or name the whole %s", n.order),
		}
	default:
		return indexLetter(n, token)
	}
}

func indexLetter(n *Node, token string) (region.Letter, *deadEnd) {
	if token == "-" {
		return region.Index(n.Len()), nil
	}
	if !isIndex(token) {
		return region.Letter{}, &deadEnd{
			Code:    CodePointerSyntax,
			Message: "an array index is 0 or digits that do not begin with 0",
			Hint:    "count from 0; - stands for the end of the array",
		}
	}
	i, err := strconv.Atoi(token)
	if err != nil {
		return region.Letter{}, outOfRange()
	}
	return region.Index(i), nil
}

func outOfRange() *deadEnd {
	return &deadEnd{Code: CodeOutOfRange, Message: "the array has no element of this index"}
}

// missingOnTheWay explains that token i, which is not the last, names nothing.
func missingOnTheWay(n *Node, p Pointer, i int) *deadEnd {
	if n.kind == ir.Array && p[i] != "-" {
		stop := outOfRange()
		stop.Typed = i + 1
		return stop
	}
	stop := &deadEnd{Code: CodePathMissing, Typed: i + 1, Message: "the path leads through something that does not exist"}
	if i == len(p)-2 {
		stop.Message = "the container that the path ends in does not exist"
		stop.Hint = "add an object first"
		if p[i+1] == "-" {
			stop.Hint = "add an array first"
		}
	}
	return stop
}

// Find returns the node that p leads to, or an error that says, without a value,
// why there is none.
func Find(root *Node, p Pointer) (*Node, error) {
	_, node, stop := typedWord(make(region.Word, 0, len(p)), root, p)
	switch {
	case stop != nil:
		return nil, fmt.Errorf("%s: %s", p, stop.Message)
	case node == nil:
		return nil, fmt.Errorf("%s: there is nothing at this path", p)
	default:
		return node, nil
	}
}

// NodeAt returns the node that a typed word leads to, nil if there is none.
func NodeAt(root *Node, w region.Word) *Node {
	for _, l := range w {
		root = follow(root, l)
	}
	return root
}
