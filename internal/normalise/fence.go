package normalise

import (
	"bytes"
	"iter"
)

// A fence is an opening or closing line of a Markdown code block, as CommonMark
// section 4.5 defines it: at least three backticks or tildes, indented by at most
// three spaces.
type fence struct {
	mark  byte
	width int
	bare  bool // no info string, so that it may close a block
}

// fences yields the body of every closed code block of text, verbatim. A block
// that is never closed was cut off and yields nothing.
func fences(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var open fence
		inside, start := false, 0
		for at := 0; at < len(text); {
			end := lineEnd(text, at)
			f, isFence := parseFence(text[at:end])
			switch {
			case isFence && !inside:
				open, inside, start = f, true, end
			case isFence && f.bare && f.mark == open.mark && f.width >= open.width:
				inside = false
				if !yield(text[start:at]) {
					return
				}
			}
			at = end
		}
	}
}

// lineEnd is the offset just behind the line that starts at offset at.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

func parseFence(line []byte) (fence, bool) {
	unindented := bytes.TrimLeft(line, " ")
	if len(line)-len(unindented) > 3 || len(unindented) == 0 {
		return fence{}, false
	}
	mark := unindented[0]
	if mark != '`' && mark != '~' {
		return fence{}, false
	}
	info := bytes.TrimLeft(unindented, string(mark))
	width := len(unindented) - len(info)
	if width < 3 || mark == '`' && bytes.IndexByte(info, '`') >= 0 {
		return fence{}, false
	}
	return fence{mark: mark, width: width, bare: len(bytes.TrimSpace(info)) == 0}, true
}
