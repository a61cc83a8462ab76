// Package source holds what every phase says about a text: files, byte-offset
// spans in them, and the one Diagnostic type, which package report renders. Byte offsets are the truth; lines
// and columns are computed when something is shown.
package source

import (
	"sort"
	"sync"
	"unicode/utf8"
)

// A File is the text of one source file. It is immutable and safe for
// concurrent use.
type File struct {
	Name string // as the user wrote it, for messages
	Text string

	once  sync.Once
	lines []int // byte offset of each line's first byte
}

// NewFile makes a File of text; name is used in messages only.
func NewFile(name, text string) *File { return &File{Name: name, Text: text} }

// A Span is the half-open byte range [Start, End) of a file.
type Span struct {
	File  *File
	Start int
	End   int
}

// Text is the source text that s covers.
func (s Span) Text() string {
	if s.File == nil {
		return ""
	}
	return s.File.Text[s.Start:s.End]
}

// IsZero reports whether s points nowhere.
func (s Span) IsZero() bool { return s.File == nil }

// To is the span from the start of s to the end of t, both in one file.
func (s Span) To(t Span) Span {
	if s.IsZero() {
		return t
	}
	if t.IsZero() || t.End < s.End {
		return s
	}
	return Span{File: s.File, Start: s.Start, End: t.End}
}

// A Position is a place as people count it: line and column from 1, the column
// in code points; Offset is in bytes from 0.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Offset int `json:"offset"`
}

// Position finds the line and column of a byte offset in O(log lines).
func (f *File) Position(offset int) Position {
	line, start := f.line(offset)
	return Position{Line: line + 1, Column: utf8.RuneCountInString(f.Text[start:offset]) + 1, Offset: offset}
}

// UTF16Column is the column of offset counted from 0 in UTF-16 code units, as
// the Language Server Protocol counts.
func (f *File) UTF16Column(offset int) int {
	_, start := f.line(offset)
	n := 0
	for _, r := range f.Text[start:offset] {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Line is the text of the line with number n (from 1), without its line end.
func (f *File) Line(n int) string {
	f.index()
	if n < 1 || n > len(f.lines) {
		return ""
	}
	start, end := f.lines[n-1], len(f.Text)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	if end > start && f.Text[end-1] == '\r' {
		end--
	}
	return f.Text[start:end]
}

// LineStart is the byte offset of the first byte of the line with number n (from
// 1), the length of the text if there is no such line.
func (f *File) LineStart(n int) int {
	f.index()
	if n < 1 || n > len(f.lines) {
		return len(f.Text)
	}
	return f.lines[n-1]
}

func (f *File) line(offset int) (index, start int) {
	f.index()
	i := sort.SearchInts(f.lines, offset+1) - 1
	return i, f.lines[i]
}

func (f *File) index() {
	f.once.Do(func() {
		f.lines = []int{0}
		for i := 0; i < len(f.Text); i++ {
			if f.Text[i] == '\n' {
				f.lines = append(f.lines, i+1)
			}
		}
	})
}
