package syntax

import "slices"

// body is the index of the declaration's first "{".
func (s *section) body() int {
	for i := s.pos; i < len(s.tokens()); i++ {
		if s.at(i).value == "{" {
			return i
		}
	}
	return -1
}

// members lists where the members of the block start, and its end.
func (s *section) members(open int) (starts []int, end int) {
	depth := 0
	for i := open + 1; i < len(s.tokens()); i++ {
		if depth == 0 && bracketStep(s.at(i)) < 0 {
			return starts, i
		}
		if depth == 0 && s.startsMember(open, i) {
			starts = append(starts, i)
		}
		depth += bracketStep(s.at(i))
	}
	return starts, len(s.tokens())
}

// startsMember reports whether the member of a block can be taken to start at token i.
func (s *section) startsMember(open, i int) bool {
	t, prev := s.at(i), s.at(i-1)
	if i == open+1 || s.isMember(open, i) {
		return true
	}
	return t.lineStart && !continues(prev) && t.sym != symPunct && t.sym != symExpr
}

// isMember reports whether token i starts a member of the block by its kind.
func (s *section) isMember(open, i int) bool {
	t, prev := s.at(i), s.at(i-1)
	words := clausesOf(s.keyword())
	switch {
	case t.kind == FieldToken:
		return true
	case s.keyword() == "phases":
		return t.sym == symIdent && t.lineStart && (prev.value != "->" && prev.value != "," || s.at(i+1).value == "->")
	case words == nil:
		return t.value == "*" && s.at(i+1).value == ":"
	case t.sym == symKeyword:
		return true
	}
	return t.sym == symIdent && slices.Contains(words, t.value) && !continues(prev) &&
		(i == open+1 || !slices.Contains(words, prev.value))
}
