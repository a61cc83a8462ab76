package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

func countWords(s string) int {
	n, inWord := 0, false
	for _, r := range s {
		space := unicode.IsSpace(r)
		if !space && !inWord {
			n++
		}
		inWord = !space
	}
	return n
}

// countLines counts "\n", "\r\n" and "\r" as one line break each.
func countLines(s string) int {
	if s == "" {
		return 0
	}
	breaks := strings.Count(s, "\n") + strings.Count(s, "\r") - strings.Count(s, "\r\n")
	if strings.HasSuffix(s, "\n") || strings.HasSuffix(s, "\r") {
		return breaks
	}
	return breaks + 1
}

func countLetters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

func trim(s string) ref.Val { return types.String(strings.TrimSpace(s)) }

func lowerASCII(s string) ref.Val { return types.String(mapASCII(s, 'A', 'Z', 'a'-'A')) }

func upperASCII(s string) ref.Val { return types.String(mapASCII(s, 'a', 'z', 'A'-'a')) }

func mapASCII(s string, from, to, shift rune) string {
	return strings.Map(func(r rune) rune {
		if r >= from && r <= to {
			return r + shift
		}
		return r
	}, s)
}

func indexOf(s, part string) ref.Val {
	at := strings.Index(s, part)
	if at < 0 {
		return types.Int(-1)
	}
	return types.Int(utf8.RuneCountInString(s[:at]))
}

func substring(_ Limits, args []ref.Val) ref.Val {
	s, ok := args[0].(types.String)
	from, okFrom := args[1].(types.Int)
	to, okTo := args[2].(types.Int)
	if !ok || !okFrom || !okTo {
		return noOverload()
	}
	characters := []rune(string(s))
	if from < 0 || to < from || int(to) > len(characters) {
		return outOfRange()
	}
	return types.String(characters[from:to])
}

func split(s, separator string) ref.Val {
	return types.NewStringList(types.DefaultTypeAdapter, strings.Split(s, separator))
}

func joinTexts(l Limits, args []ref.Val) ref.Val {
	list, ok := args[0].(traits.Lister)
	separator, okSeparator := args[1].(types.String)
	if !ok || !okSeparator {
		return noOverload()
	}
	var b strings.Builder
	for i := list.Iterator(); i.HasNext() == types.True; {
		part, ok := i.Next().(types.String)
		if !ok {
			return noOverload()
		}
		if b.Len() > 0 {
			b.WriteString(string(separator))
		}
		b.WriteString(string(part))
		if b.Len() > l.MaxText {
			return tooLong()
		}
	}
	return types.String(b.String())
}

func replace(l Limits, args []ref.Val) ref.Val {
	s, ok := args[0].(types.String)
	old, okOld := args[1].(types.String)
	text, okText := args[2].(types.String)
	if !ok || !okOld || !okText {
		return noOverload()
	}
	if len(s)+strings.Count(string(s), string(old))*len(text) > l.MaxText+len(s) {
		return tooLong()
	}
	return types.String(strings.ReplaceAll(string(s), string(old), string(text)))
}

func tooLong() ref.Val { return types.NewErr("text too long") }
