package syntax

import "slices"

// balance makes the brackets of a section match before the grammar sees it, so
// that one missing or surplus bracket is one mistake. A bracket still open at the
// end is closed there; one whose line is further right than a "}" that closes an
// outer line is closed before that "}"; a "(" is closed before a clause that
// starts a line, and before the "{" of a stage. Closing brackets without an
// opening one are dropped.
type balance struct {
	*parser
	in   []token
	out  []token
	open []token // the opening brackets not closed yet
}

func (p *parser) balance(tokens []token) []token {
	b := &balance{parser: p, in: tokens, out: make([]token, 0, len(tokens))}
	for i, t := range tokens {
		b.add(i, t)
	}
	for len(b.open) > 0 {
		b.closeInnermost()
	}
	return b.out
}

func (b *balance) add(i int, t token) {
	if t.unopened {
		b.openMissing()
	}
	if t.sym == symKeyword && b.innermost().value == "(" {
		b.closeInnermost()
	}
	if t.sym == symPunct {
		switch t.value {
		case "{", "(":
			b.opening(i, t)
			return
		case "}", ")":
			b.closing(t)
			return
		}
	}
	b.out = append(b.out, t)
}

// openMissing opens a block whose bracket is missing after the last token.
func (b *balance) openMissing() {
	if len(b.out) == 0 {
		return
	}
	prev := b.out[len(b.out)-1]
	b.missingBrace(prev)
	o := token{kind: PunctToken, sym: symPunct, start: prev.end, end: prev.end, value: "{"}
	b.open = append(b.open, o)
	b.out = append(b.out, o)
}

func (b *balance) innermost() token {
	if len(b.open) == 0 {
		return token{}
	}
	return b.open[len(b.open)-1]
}

func (b *balance) opening(i int, t token) {
	keyword := b.in[0].value
	if t.value == "{" && (keyword == "contract" || keyword == "library") && b.endsHeader(i) {
		b.headerBraces(t)
		b.braced = true
		return
	}
	if t.value == "{" && b.innermost().value == "(" && slices.Contains(bracedDecls, keyword) {
		b.closeInnermost()
	}
	b.open = append(b.open, t)
	b.out = append(b.out, t)
}

// endsHeader reports whether the header of the file ends before token i.
func (b *balance) endsHeader(i int) bool {
	return i <= 2 || i == 3 && b.in[2].value == "sealed"
}

func (b *balance) closing(t token) {
	opener := map[string]string{"}": "{", ")": "("}[t.value]
	if !slices.ContainsFunc(b.open, func(o token) bool { return o.value == opener }) {
		if t.value == "}" && b.braced {
			b.braced = false
			return
		}
		b.closesNothing(t)
		return
	}
	for b.innermost().value != opener || b.belongsOutside(t) {
		b.closeInnermost()
	}
	b.open = b.open[:len(b.open)-1]
	b.out = append(b.out, t)
}

// belongsOutside reports whether t is a "}" that stands first on its line, left of the
// line of the innermost bracket and level with the line of one further out.
func (b *balance) belongsOutside(t token) bool {
	if t.value != "}" || !t.lineStart || len(b.open) < 2 {
		return false
	}
	column := indentation(b.file.Text, t.start)
	if column >= indentation(b.file.Text, b.innermost().start) {
		return false
	}
	return slices.ContainsFunc(b.open[:len(b.open)-1], func(o token) bool {
		return o.value == "{" && indentation(b.file.Text, o.start) == column
	})
}

// closeInnermost reports the innermost open bracket and closes it.
func (b *balance) closeInnermost() {
	o := b.innermost()
	b.open = b.open[:len(b.open)-1]
	place := b.out[len(b.out)-1].end
	if !b.stopped && (!b.hasLexicalMistake(o.start, place) || o.value == "{") { // else the rest was not read
		b.unclosed(o.start, place, o.value)
	}
	closing := map[string]string{"{": "}", "(": ")"}[o.value]
	b.out = append(b.out, token{kind: PunctToken, sym: symPunct, start: place, end: place, value: closing})
}
