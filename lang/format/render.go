package format

import (
	"strings"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/syntax"
)

// Lines are given their columns:
//
//   - A block's items stand two columns further right than the line that opens it.
//   - What members, phases and clauses say begins in one column, for those that no empty line
//     parts. So it does for declarations of one sort in lines that follow each other.
//   - A line that goes on with an item begins where what the item says begins, one that goes
//     on with a declaration four columns further right than it, or two if it begins a part
//     ("where", "|", a message, a rule). A "|" stands so that what it is between is level.
//   - What is in parentheses over several lines stands two columns further right.
//   - Comments at the ends of lines that follow each other begin in one column.
//
// CEL is kept as it is but for the white space at its ends and before its lines; JSON too,
// and its lines stand as deep as the brackets around them.

const (
	step         = 2  // from a block to its items
	farApart     = 16 // columns in which declarations differ that are not aligned
	widestColumn = 40 // the widest member, phase or clause that the others are aligned with
	furthest     = 60 // the column beyond which nothing is aligned with what CEL begins with
)

// A renderer writes lines.
type renderer struct {
	rows   []row
	row    []byte   // the row being written
	column int      // where it ends
	blocks []*frame // open, the file first
}

// A row is a line of text.
type row struct {
	text    string
	comment string
	block   int // how many blocks are open around it, 0 for an empty row
}

// A frame is a block, and the item of it that is being written.
type frame struct {
	indent int    // of its items
	base   int    // of the line that opens it
	plain  int    // where a line begins that goes on with the item
	leads  int    // where one begins that begins a part of it
	bars   int    // where one begins that begins with "|"
	parens int    // open in the item
	closes int    // the column of a line that begins with a ")" of the first of them
	word   string // with which the item begins, if it is a declaration
}

func render(lines []*line) string {
	r := &renderer{blocks: []*frame{{}}}
	pads := align(lines)
	for _, l := range lines {
		r.line(l, pads[l])
	}
	return r.text()
}

func (r *renderer) frame() *frame { return r.blocks[len(r.blocks)-1] }

// line writes a line. pad is the columns to leave free before its tokens.
func (r *renderer) line(l *line, pad pad) {
	if l.blank {
		r.rows = append(r.rows, row{})
	}
	indent := r.indent(l)
	r.begin(indent)
	if len(l.tokens) > 0 && l.tokens[0].closes() {
		r.blocks = r.blocks[:len(r.blocks)-1]
	}
	block := len(r.blocks)
	if l.item() != inside {
		r.frame().enter(l.tokens[0], indent)
	}
	second := 0
	if l.item() != declaration {
		second = cell(l)
	}
	for i, t := range l.tokens {
		if i > 0 {
			r.space(gap(l.tokens[i-1], t) + pad.before(i))
		}
		if i > 0 && i == second {
			r.frame().says(l, t, r.column)
		}
		r.token(t, indent)
		r.brackets(t, l, indent)
	}
	if len(l.tokens) == 0 {
		r.write(l.comment.text)
	}
	r.end(block)
	if len(l.tokens) > 0 && l.comment != nil {
		r.rows[len(r.rows)-1].comment = l.comment.text
	}
}

// enter begins an item in a column.
func (f *frame) enter(first *token, indent int) {
	f.plain, f.leads, f.bars, f.parens, f.closes, f.word = indent+2*step, indent+2*step, indent+step, 0, indent, ""
	if first.role == declaration {
		f.leads, f.word = indent+step, first.text
	}
}

// says notes the column in which an item's second cell begins, with token t.
func (f *frame) says(l *line, t *token, column int) {
	f.plain, f.leads, f.bars, f.closes = column, column, column-step, column
	if l.item() == phase && t.is("->") {
		f.plain, f.leads = column+len("-> "), column+len("-> ")
	}
}

// indent is the column of a line.
func (r *renderer) indent(l *line) int {
	f := r.frame()
	switch {
	case len(l.tokens) > 0 && l.tokens[0].closes():
		return f.base
	case !l.goesOn:
		return f.indent
	}
	first := l.comment
	if len(l.tokens) > 0 {
		first = l.tokens[0]
	}
	if f.parens > 0 {
		depth := f.parens
		if first.is(")") {
			depth--
		}
		return f.closes + step*depth
	}
	switch {
	case first.is("|"):
		return f.bars
	case first.leads(l.after):
		return f.leads
	}
	return f.plain
}

// leads reports whether a line that goes on with t, after another token, begins a part.
func (t *token) leads(after *token) bool {
	switch t.kind {
	case syntax.PunctToken:
		return !t.is("{")
	case syntax.ExprToken:
		return true
	case syntax.StringToken:
		return after.kind != syntax.PunctToken
	}
	return t.kind == syntax.WordToken && leaders[t.text] && !after.is(",")
}

// brackets follows the brackets that a token opens or closes.
func (r *renderer) brackets(t *token, l *line, indent int) {
	f := r.frame()
	switch {
	case t.is("("):
		f.parens++
	case t.is(")"):
		f.parens--
	case t.opens():
		switch {
		case f.word != "" && f.word != "state" && f.word != "type":
			indent = f.indent // parameters over several lines stand before it
		case l.tokens[0].is("|"):
			indent += step
		}
		r.blocks = append(r.blocks, &frame{indent: indent + step, base: indent})
	}
}

// begin begins a row in a column.
func (r *renderer) begin(column int) {
	r.row, r.column = r.row[:0], 0
	r.space(column)
}

// end ends the row.
func (r *renderer) end(block int) {
	r.rows = append(r.rows, row{text: strings.TrimRight(string(r.row), " "), block: block})
}

func (r *renderer) space(columns int) {
	for range columns {
		r.row = append(r.row, ' ')
	}
	r.column += columns
}

// write adds text to the row; it may hold a string over several rows.
func (r *renderer) write(text string) {
	for {
		part, rest, more := strings.Cut(text, "\n")
		r.row = append(r.row, part...)
		r.column += utf8.RuneCountInString(part)
		if !more {
			return
		}
		r.rows = append(r.rows, row{text: string(r.row), block: len(r.blocks)})
		r.begin(0)
		text = rest
	}
}

// next ends the row and begins another in a column.
func (r *renderer) next(column int) {
	r.end(len(r.blocks))
	r.begin(column)
}

func (r *renderer) token(t *token, indent int) {
	switch t.kind {
	case syntax.ExprToken:
		r.cel(t.text, indent)
	case syntax.JSONToken:
		r.json(t.text, indent)
	default:
		r.write(t.text)
	}
}

// text is what was written, with the comments at the ends of lines in their columns.
func (r *renderer) text() string {
	var b strings.Builder
	for i := 0; i < len(r.rows); {
		column, run := commentColumn(r.rows[i:])
		for _, w := range r.rows[i : i+run] {
			b.WriteString(w.text)
			if w.comment != "" {
				b.WriteString(strings.Repeat(" ", column-utf8.RuneCountInString(w.text)))
				b.WriteString(w.comment)
			}
			b.WriteByte('\n')
		}
		i += run
	}
	return b.String()
}

// commentColumn is where the comments of the first rows begin, and how many rows have theirs there.
func commentColumn(rows []row) (column, run int) {
	least, most := 0, 0
	for _, w := range rows {
		width := utf8.RuneCountInString(w.text)
		if w.comment == "" || w.block != rows[0].block || run > 0 && max(most, width)-min(least, width) > widestColumn {
			break
		}
		if run == 0 {
			least = width
		}
		least, most = min(least, width), max(most, width)
		run++
	}
	return most + 2, max(run, 1)
}

const space = " \t\r\n"

// cel writes CEL in braces. Where it goes over several lines, they keep how they stand to each
// other. They begin where the first one begins, or, if that is far to the right or nothing
// stands behind the brace, further right than the line of the brace.
func (r *renderer) cel(text string, indent int) {
	lines := syntax.Lines(text[1 : len(text)-1])
	first := strings.Trim(lines[0], space)
	if len(lines) == 1 && first == "" {
		r.write("{}")
		return
	}
	r.write("{ ")
	at := indent + step
	if first != "" {
		at = r.column
		if at > furthest {
			at = indent + 2*step
		}
	}
	r.write(first)
	shift := at - leastIndent(lines[1:])
	wrote, blank := first != "", false
	for _, text := range lines[1:] {
		content := strings.Trim(text, space)
		if content == "" {
			blank = wrote
			continue
		}
		if blank {
			r.next(0)
		}
		r.next(indentOf(text) + shift)
		r.write(content)
		wrote, blank = true, false
	}
	if last := lines[len(lines)-1]; len(lines) > 1 && strings.Trim(last, space) == "" {
		r.next(indent)
		r.write("}")
		return
	}
	r.write(" }")
}

// leastIndent is the least column in which one of lines begins that are not empty.
func leastIndent(lines []string) int {
	least := -1
	for _, text := range lines {
		if w := indentOf(text); strings.Trim(text, space) != "" && (least < 0 || w < least) {
			least = w
		}
	}
	return max(least, 0)
}

// indentOf is the column in which a line begins; a tab is as wide as a step.
func indentOf(text string) int {
	columns := 0
	for _, c := range []byte(text) {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += step
		case '\r':
		default:
			return columns
		}
	}
	return columns
}

// json writes JSON in brackets. A line stands a step further right than the line that opens
// the innermost bracket around it, or level with it if it closes that.
func (r *renderer) json(text string, indent int) {
	var open []int // of each open bracket the column of its line
	for i, line := range strings.Split(text, "\n") {
		content := strings.Trim(line, space)
		if content == "" {
			continue
		}
		column := indent
		if i > 0 {
			closers := len(content) - len(strings.TrimLeft(content, "]}"))
			switch {
			case closers > 0 && closers <= len(open):
				column = open[len(open)-closers]
			case len(open) > 0:
				column = open[len(open)-1] + step
			}
			r.next(column)
		}
		r.write(content)
		open = brackets(open, content, column)
	}
}

// brackets follows the brackets of a line of JSON that begins in a column.
func brackets(open []int, text string, column int) []int {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{', c == '[':
			open = append(open, column)
		case (c == '}' || c == ']') && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return open
}
