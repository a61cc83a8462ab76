package format

import (
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/syntax"
)

// Lines that stand below each other are aligned: the members of a record, the phases, the
// clauses of a stage, and declarations of one sort that take a line each.

// A pad is the columns left free before tokens of a line, by their index.
type pad map[int]int

func (p pad) before(i int) int { return p[i] }

// cell is the index of the token of a line that is aligned with others, 0 if none is.
func cell(l *line) int {
	if len(l.tokens) < 2 {
		return 0
	}
	second := l.tokens[1]
	switch l.item() {
	case member:
		if len(l.tokens) > 2 && isOneOf(second, ":", "?:") {
			return 2
		}
	case phase:
		if second.is("->") {
			return 1
		}
	case clause:
		if second.role == inside {
			return 1
		}
	case declaration:
		for i, t := range l.tokens {
			if t.is("=") && alignedAt[l.tokens[0].text] == "=" || t.is("{") {
				if want := alignedAt[l.tokens[0].text]; want != "" {
					return i
				}
				return 0
			}
		}
	}
	return 0
}

// alignedAt says which declarations are aligned, and at what: types at the "=" or the "{".
var alignedAt = map[string]string{
	"type": "=", "region": "=", "const": "=", "roles": "=", "measure": "=", "compose": "=", "parallel": "=", "stage": "{", "given": "=",
}

// align says how many columns to leave free in which line.
func align(lines []*line) map[*line]pad {
	pads := map[*line]pad{}
	var blocks []*run
	blocks = append(blocks, &run{limit: farApart})
	for i, l := range lines {
		top := blocks[len(blocks)-1]
		switch {
		case len(l.tokens) == 0:
			if l.blank || !l.goesOn && len(blocks) == 1 {
				top.end(pads)
			}
			continue
		case l.tokens[0].closes():
			top.end(pads)
			blocks = blocks[:len(blocks)-1]
			top = blocks[len(blocks)-1]
		}
		if l.item() != inside {
			top.add(l, isWhole(lines, i), pads)
		}
		if l.last().opens() {
			top.end(pads)
			blocks = append(blocks, &run{limit: widestColumn})
		}
	}
	blocks[0].end(pads)
	return pads
}

// isWhole reports whether line i has all of the item that it begins.
func isWhole(lines []*line, i int) bool {
	if i+1 < len(lines) && lines[i+1].goesOn {
		return false
	}
	for _, t := range lines[i].tokens {
		if t.opens() || t.kind == syntax.ExprToken && len(syntax.Lines(t.text)) > 1 {
			return false
		}
	}
	return true
}

// A run is lines that follow each other and are aligned.
type run struct {
	limit       int
	lines       []*line
	sort        string
	least, most int
}

// add adds a line to the run, or begins a new one with it.
func (r *run) add(l *line, whole bool, pads map[*line]pad) {
	at := cell(l)
	kind := sortOf(l, at)
	width := widthOf(l.tokens[:at])
	if l.blank || kind != r.sort || l.item() == declaration && max(r.most, width)-min(r.least, width) > r.limit {
		r.end(pads)
	}
	if l.item() == declaration && !whole || l.last().opens() {
		r.end(pads)
		return
	}
	if at == 0 || l.item() != declaration && width > r.limit {
		return
	}
	if len(r.lines) == 0 {
		r.sort, r.least, r.most = kind, width, width
	}
	r.lines = append(r.lines, l)
	r.least, r.most = min(r.least, width), max(r.most, width)
}

// end sets the pads of the run's lines.
func (r *run) end(pads map[*line]pad) {
	names := 0 // the width of the keywords, which differ for crews
	for _, l := range r.lines {
		names = max(names, utf8.RuneCountInString(l.tokens[0].text))
	}
	most := 0
	for _, l := range r.lines {
		most = max(most, widthOf(l.tokens[:cell(l)])+r.keyword(l, names))
	}
	for _, l := range r.lines {
		at := cell(l)
		p := pad{}
		p[1] += r.keyword(l, names)
		p[at] += most - widthOf(l.tokens[:at]) - r.keyword(l, names)
		pads[l] = p
	}
	*r = run{limit: r.limit}
}

// keyword is how many columns to leave free behind the keyword of a line.
func (r *run) keyword(l *line, widest int) int {
	if l.item() != declaration {
		return 0
	}
	return widest - utf8.RuneCountInString(l.tokens[0].text)
}

// sortOf tells lines that are aligned with each other from others.
func sortOf(l *line, at int) string {
	if at == 0 || l.item() != declaration {
		return ""
	}
	word := l.tokens[0].text
	if word == "parallel" {
		word = "compose"
	}
	return word + l.tokens[at].text
}

// widthOf is the width of tokens in a line.
func widthOf(tokens []*token) int {
	width := 0
	for i, t := range tokens {
		if i > 0 {
			width += gap(tokens[i-1], t)
		}
		width += utf8.RuneCountInString(t.text)
	}
	return width
}
