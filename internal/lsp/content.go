package lsp

import (
	"sort"
	"unicode/utf8"
)

// A content is the text of a document with its lines as the protocol counts them: they end
// with LF, CRLF or CR. It is not changed after it was made.
type content struct {
	text   string
	starts []int // offset of each line's first byte
}

func newContent(text string) *content {
	c := &content{text: text, starts: []int{0}}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' || text[i] == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			c.starts = append(c.starts, i+1)
		}
	}
	return c
}

// An encoding is what the characters of a position count.
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16" // what a client counts that says nothing of it
)

// line is the start of a line and its end, before its line end.
func (c *content) line(n int) (start, end int) {
	start, end = c.starts[n], len(c.text)
	if n+1 < len(c.starts) {
		end = c.starts[n+1]
	}
	for end > start && (c.text[end-1] == '\n' || c.text[end-1] == '\r') {
		end--
	}
	return start, end
}

// offset is the byte that a position is before. One behind the end of its line is at the end
// of it, one in a character before it.
func (c *content) offset(p position, units encoding) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(c.starts) {
		return len(c.text)
	}
	at, end := c.line(p.Line)
	for n := 0; at < end; {
		r, size := utf8.DecodeRuneInString(c.text[at:end])
		n += width(r, size, units)
		if n > p.Character {
			break
		}
		at += size
	}
	return at
}

// position is where a byte is. One within a line end is at the end of the line.
func (c *content) position(offset int, units encoding) position {
	offset = min(max(offset, 0), len(c.text))
	n := sort.SearchInts(c.starts, offset+1) - 1
	at, end := c.line(n)
	p := position{Line: n}
	for end = min(end, offset); at < end; {
		r, size := utf8.DecodeRuneInString(c.text[at:])
		p.Character += width(r, size, units)
		at += size
	}
	return p
}

// width is how many units a character counts.
func width(r rune, size int, units encoding) int {
	switch {
	case units == utf8Units:
		return size
	case r > 0xFFFF:
		return 2
	}
	return 1
}

// span is where the bytes from start to end are.
func (c *content) span(start, end int, units encoding) textRange {
	return textRange{c.position(start, units), c.position(end, units)}
}

// edited is the text after a change.
func (c *content) edited(change contentChange, units encoding) *content {
	if change.Range == nil {
		return newContent(change.Text)
	}
	start, end := c.offset(change.Range.Start, units), c.offset(change.Range.End, units)
	if end < start {
		start, end = end, start
	}
	return newContent(c.text[:start] + change.Text + c.text[end:])
}
