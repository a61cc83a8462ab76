package check

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/compiler/region"
)

// authorText writes a pattern as an author would: typed segments lose their mark,
// family keys are wildcards again.
func authorText(p region.Pattern) string {
	if len(p.Segments) == 0 {
		return "/**"
	}
	var b strings.Builder
	for _, s := range p.Segments {
		b.WriteByte('/')
		b.WriteString(segmentText(s))
	}
	return b.String()
}

func segmentText(s region.Segment) string {
	switch s.Kind {
	case region.Literal, region.KeyLiteral:
		if strings.ContainsAny(s.Text, "*(){}|\"&,# \t\n") || s.Text == "-" || s.Text == "" {
			return jsonString(s.Text)
		}
		return region.EscapeToken(s.Text)
	case region.IndexLiteral:
		return strconv.Itoa(s.Index)
	case region.AnyDepth:
		return "**"
	case region.FreshSegment:
		return "-"
	case region.ParamSegment:
		if strings.HasPrefix(s.Text, "@") {
			return "*"
		}
		return "{" + s.Text + "}"
	}
	return "*"
}

// wordText writes a witness as an author would; the root is "the whole state".
func wordText(w region.Word) string {
	if len(w) == 0 {
		return "the whole state"
	}
	return w.Pointer()
}

// jsonString is the canonical JSON text of a string.
func jsonString(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
