package syntax

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"
)

// cut takes a mistake out of the stream.
func (s *section) cut(m mistake) {
	open := s.brackets(m.at)
	block := s.innermostBlock(open)
	switch {
	case block >= 0:
		s.cutMember(m, block)
	case len(open) == 1 && slices.Contains(bracedDecls, s.keyword()):
		s.cutParam(m, open[0])
	default:
		s.cutHead(m)
	}
}

// innermostBlock is the last "{" of the open brackets, or -1.
func (s *section) innermostBlock(open []int) int {
	for _, o := range slices.Backward(open) {
		if s.at(o).value == "{" {
			return o
		}
	}
	return -1
}

// cutMember takes out the rest of the member or clause with the mistake, or all
// of it. open is the index of its block's bracket.
func (s *section) cutMember(m mistake, open int) {
	starts, end := s.members(open)
	i, found := slices.BinarySearch(starts, m.at)
	atEnd := m.at >= end
	if (found || atEnd) && (atEnd || s.isMember(open, m.at)) && i > 0 { // the one before is not complete
		start := starts[i-1]
		s.reportIncomplete(m, start)
		s.remove(start, min(m.at, end))
		return
	}
	start := m.at
	if !found && i > 0 {
		start = starts[i-1]
	}
	if !s.silence(start, m.at) {
		s.unexpected(m, open, start == m.at)
	}
	next := end
	for _, st := range starts {
		if st > m.at {
			next = st
			break
		}
	}
	if next <= m.at { // a closing bracket that nothing can be cut before
		s.dropDeclaration(m)
		return
	}
	from := s.outermost(open, m.at)
	if continues(s.at(from - 1)) { // what is left would go on with the next member
		from = start
	}
	s.remove(from, next)
}

// outermost is the first bracket opened after the one with index open and still
// open before token i, or i: brackets are taken out in pairs.
func (s *section) outermost(open, i int) int {
	for _, o := range s.brackets(i) {
		if o > open {
			return o
		}
	}
	return i
}

func (s *section) reportIncomplete(m mistake, start int) {
	prev := s.at(m.at - 1)
	switch {
	case s.silence(start, m.at-1):
	case slices.Equal(m.literals, []string{"}"}) && len(m.classes) == 0 && s.at(start).value == "*":
		s.restNotLast(s.at(start))
	default:
		t := s.at(m.at)
		t.lineStart = true
		s.expected(prev, t, m.what())
	}
}

// unexpected reports a token at which nothing of the block fits.
func (s *section) unexpected(m mistake, open int, atStart bool) {
	t := s.at(m.at)
	words := clausesOf(s.keyword())
	if atStart && open == s.body() && words != nil {
		s.unknownClause(t, "", words)
		return
	}
	if atStart {
		t.lineStart = false // the mistake is the token, not what is missing before it
	}
	s.expected(s.at(m.at-1), t, s.expectation(m, open))
}

func (s *section) expectation(m mistake, open int) string {
	if !slices.Contains(m.literals, "}") {
		return m.what()
	}
	switch {
	case open != s.body() || s.keyword() == "state" || s.keyword() == "type":
		return "a field `name: type` or `}`"
	case s.keyword() == "phases":
		return "a phase or `}`"
	}
	return "a clause or `}`"
}

// cutParam takes out the rest of a stage's parameter, or all of it.
func (s *section) cutParam(m mistake, open int) {
	start, end := open+1, m.at
	for i := open + 1; i < m.at; i++ {
		if s.at(i).value == "," {
			start = i + 1
		}
	}
	for end < len(s.tokens()) && s.at(end).value != "," && s.at(end).value != ")" {
		end++
	}
	if !s.silence(start, m.at) {
		s.expected(s.at(m.at-1), s.at(m.at), m.what())
	}
	switch {
	case end > m.at:
		s.remove(m.at, end)
	case s.at(end).value == ",":
		s.remove(start, end+1)
	case s.at(start-1).value == ",":
		s.remove(start-1, end)
	case start < end:
		s.remove(start, end)
	default:
		s.dropDeclaration(m)
	}
}

// cutHead deals with a mistake outside the declaration's blocks.
func (s *section) cutHead(m mistake) {
	t, prev := s.at(m.at), s.at(m.at-1)
	if !s.silence(s.pos, m.at) {
		if m.at == s.pos+1 && m.expects("Name") {
			s.missingName(prev, t, "a name")
		} else {
			s.expected(prev, t, m.what())
		}
	}
	braced := slices.Contains(bracedDecls, s.keyword()) || s.keyword() == "type" || s.keyword() == "test"
	switch {
	case m.expects("Name") && s.insertOnce(m.at, symIdent, ""):
	case m.expects("StringLit") && s.keyword() == "test" && s.insertOnce(m.at, symString, `""`):
	case slices.Contains(m.literals, "{") && s.endsHead(t) && s.insertOnce(m.at, symPunct, "{"):
		s.insert(m.at+1, symPunct, "}")
	case braced && bracketStep(t) == 0 && !s.endsHead(t):
		s.remove(m.at, m.at+1)
	default:
		end := s.nextDeclaration(m.at)
		if end == m.at || m.at == s.pos {
			s.dropDeclaration(m)
			return
		}
		s.remove(m.at, end)
	}
}

// endsHead reports whether a declaration cannot go on with t.
func (s *section) endsHead(t token) bool {
	return t.sym == lexer.EOF || t.lineStart && t.kind == WordToken && isDeclarationWord(t.value)
}

// insertOnce puts a token in, unless one was put in that place before.
func (s *section) insertOnce(i int, sym lexer.TokenType, value string) bool {
	key := s.at(i).start
	if s.inserted[key] > 0 {
		return false
	}
	s.inserted[key]++
	s.insert(i, sym, value)
	return true
}

// dropDeclaration takes the declaration being read out.
func (s *section) dropDeclaration(m mistake) {
	if !s.silence(s.pos, m.at) {
		s.expected(s.at(m.at-1), s.at(m.at), m.what())
	}
	s.remove(s.pos, s.nextDeclaration(s.pos+1))
}
