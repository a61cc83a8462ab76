package syntax

import "strings"

// A path pattern is one token, "/a/{p}/(b|c)". The scanner needs its end (pathEnd) and
// its first mistake (segmentMistake), the tree its segments (finisher.segments). All
// cut it at the same slashes (pathParts).

// pathEnd is the end of the path at pos: white space, ",", "&", "#", a bracket
// that nothing in the path opened, or a "{" that does not stand directly after "/".
func pathEnd(text string, pos int) int {
	var open []byte
	for i := pos; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n', ',', '&', '#':
			return i
		case '"':
			if previous := text[i-1]; previous == '/' || previous == '(' || previous == '|' {
				end, _ := stringEnd(text, i)
				i = end - 1
			}
		case '(':
			open = append(open, ')')
		case '{':
			if text[i-1] != '/' {
				return i
			}
			open = append(open, '}')
		case ')', '}':
			if len(open) == 0 || open[len(open)-1] != c {
				return i
			}
			open = open[:len(open)-1]
		}
	}
	return len(text)
}

// pathPart is one segment of a path as written, without its "/".
type pathPart struct{ start, end int }

// pathParts cuts the path text[start:end] at the slashes outside quotation marks.
func pathParts(text string, start, end int) []pathPart {
	var parts []pathPart
	from := start + 1
	for i := from; i < end; i++ {
		switch text[i] {
		case '"':
			if previous := text[i-1]; previous == '/' || previous == '(' || previous == '|' {
				closing, _ := stringEnd(text[:end], i)
				i = closing - 1
			}
		case '/':
			parts = append(parts, pathPart{from, i})
			from = i + 1
		}
	}
	return append(parts, pathPart{from, end})
}

// segmentMistake says what is wrong with a segment, if something is.
func segmentMistake(text string) (string, bool) {
	switch {
	case text == "":
		return `an empty segment; an empty key is written "" (with its quotation marks)`, true
	case text == "*" || text == "**" || text == "-":
		return "", false
	case text[0] == '"':
		return quotedMistake(text)
	case text[0] == '{':
		return paramMistake(text)
	case text[0] == '(':
		return choiceMistake(text)
	}
	return literalMistake(text)
}

func quotedMistake(text string) (string, bool) {
	end, closed := stringEnd(text, 0)
	switch _, valid := unquote(text[:end]); {
	case !closed:
		return "the quotation mark is not closed", true
	case !valid:
		return "a quoted segment is a JSON string, and this is none", true
	case end < len(text):
		return "a quoted segment ends with its quotation mark", true
	}
	return "", false
}

func paramMistake(text string) (string, bool) {
	if text[len(text)-1] != '}' {
		return "a parameter is a whole segment: {name}", true
	}
	name := text[1 : len(text)-1]
	if name == "" || !isWordStart(name[0]) || wordEnd(name, 0) != len(name) {
		return "a parameter is a name in braces: {name}", true
	}
	return "", false
}

func choiceMistake(text string) (string, bool) {
	if text[len(text)-1] != ')' {
		return "a choice is a whole segment: (a|b)", true
	}
	for _, c := range choices(text) {
		member := text[c.start:c.end]
		switch {
		case member == "":
			return "an alternative of the choice is missing", true
		case member == "*" || member == "**" || member == "-" || strings.ContainsAny(member[:1], "{("):
			return "a choice is between keys; " + member + " is none (a key of that name is quoted)", true
		case member[0] == '"':
			if m, bad := quotedMistake(member); bad {
				return m, true
			}
		default:
			if m, bad := literalMistake(member); bad {
				return m, true
			}
		}
	}
	return "", false
}

// choices cuts "(a|b)" at its bars.
func choices(text string) []pathPart {
	var parts []pathPart
	from := 1
	for i := 1; i < len(text)-1; i++ {
		switch text[i] {
		case '"':
			if text[i-1] == '(' || text[i-1] == '|' {
				end, _ := stringEnd(text[:len(text)-1], i)
				i = end - 1
			}
		case '|':
			parts = append(parts, pathPart{from, i})
			from = i + 1
		}
	}
	return append(parts, pathPart{from, len(text) - 1})
}

func literalMistake(text string) (string, bool) {
	if i := strings.IndexAny(text, `*(){}|"`); i >= 0 {
		if text[i] == '*' {
			return "* means something in a path, as a whole segment: a key matches as a whole, there are no beginnings; quote the segment if the key contains it", true
		}
		return text[i:i+1] + " means something in a path; quote the segment if the key contains it", true
	}
	for i := 0; i < len(text); i++ {
		if text[i] == '~' && (i+1 == len(text) || text[i+1] != '0' && text[i+1] != '1') {
			return "~ is written ~0, and / is written ~1 (RFC 6901)", true
		}
	}
	return "", false
}

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
		seg.Bad = true
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

var pointerEscapes = strings.NewReplacer("~1", "/", "~0", "~")
