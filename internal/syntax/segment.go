package syntax

import "strings"

var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")

// segments reads the segments of a path whose span is known. Those with a
// mistake, which the scanner reported, are taken as keys, as written.
func (f *finisher) segments(p *Path) []*PathSegment {
	start, end := p.Span.Start, p.Span.End
	if end-start > f.limits.PathLength {
		return nil
	}
	var out []*PathSegment
	for _, part := range pathParts(f.file.Text, start, end) {
		out = append(out, f.segment(part))
	}
	return out
}

func (f *finisher) segment(p pathPart) *PathSegment {
	text := f.file.Text[p.start:p.end]
	seg := &PathSegment{Text: text}
	seg.Span = f.span(p.start, p.end)
	_, bad := segmentMistake(text)
	switch {
	case bad:
	case text == "*":
		seg.Kind = StarSegment
	case text == "**":
		seg.Kind = DeepSegment
	case text == "-":
		seg.Kind = DashSegment
	case text[0] == '{':
		seg.Kind, seg.Text = ParamSegment, text[1:len(text)-1]
	case text[0] == '(':
		seg.Kind = ChoiceSegment
		for _, c := range choices(text) {
			seg.Choices = append(seg.Choices, f.key(pathPart{p.start + c.start, p.start + c.end}))
		}
	default:
		return f.key(p)
	}
	return seg
}

// key reads a literal segment or alternative.
func (f *finisher) key(p pathPart) *PathSegment {
	text := f.file.Text[p.start:p.end]
	seg := &PathSegment{Text: pointerEscapes.Replace(text)}
	if text[0] == '"' {
		seg.Text, _ = unquote(text)
	}
	seg.Span = f.span(p.start, p.end)
	return seg
}
