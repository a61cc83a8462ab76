package region

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Source writes p as a contract would, for people: typed segments lose their mark,
// and family keys (parameters that start with "@") are wildcards.
func (p Pattern) Source() string {
	if len(p.Segments) == 0 {
		return "/**"
	}
	var b strings.Builder
	for _, s := range p.Segments {
		b.WriteByte('/')
		b.WriteString(s.Source())
	}
	return b.String()
}

// Source writes s as a contract would.
func (s Segment) Source() string {
	switch s.Kind {
	case Literal, KeyLiteral:
		if strings.ContainsAny(s.Text, "*(){}|\"&,# \t\n") || s.Text == "-" || s.Text == "" {
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
