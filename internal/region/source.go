package region

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// Source writes p as a contract would, for people: typed segments lose their mark,
// and family keys (parameters that start with "@") are wildcards.
func (p Pattern) Source() string {
	var stack [64]byte
	return string(p.AppendSource(stack[:0], nil))
}

// AppendSource appends the source of p with the parameters of args bound.
func (p Pattern) AppendSource(dst []byte, args Binding) []byte {
	if len(p.Segments) == 0 {
		return append(dst, "/**"...)
	}
	for _, s := range p.Segments {
		dst = append(append(dst, '/'), s.bound(args).Source()...)
	}
	return dst
}

func (s Segment) bound(args Binding) Segment {
	if s.Kind == ParamSegment {
		if value, ok := args[s.Text]; ok {
			return Segment{Kind: KeyLiteral, Text: value}
		}
	}
	return s
}

func isSpaceOrControl(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// Source writes s as a contract would.
func (s Segment) Source() string {
	switch s.Kind {
	case Literal, KeyLiteral:
		if strings.ContainsAny(s.Text, "*(){}|\"&,#") || strings.ContainsFunc(s.Text, isSpaceOrControl) || s.Text == "-" || s.Text == "" {
			quoted, _ := json.Marshal(s.Text)
			return string(quoted)
		}
		return EscapeToken(s.Text)
	case IndexLiteral:
		return strconv.Itoa(s.Index)
	case AnyDepth:
		return "**"
	case FreshSegment:
		return "-"
	case ParamSegment:
		if strings.HasPrefix(s.Text, "@") {
			return "*"
		}
		return "{" + s.Text + "}"
	}
	return "*"
}
