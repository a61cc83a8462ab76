package syntax

import (
	"slices"

	"github.com/patchoptic/poptic/internal/spell"
)

// repairArray: "string[]".
func (s *section) repairArray(m mistake) bool {
	if s.at(m.at).value != "[" || s.at(m.at+1).value != "]" {
		return false
	}
	s.arrayBrackets(s.at(m.at-1), s.at(m.at), s.at(m.at+1))
	s.remove(m.at, m.at+2)
	return true
}

// repairOptional: "name: string?".
func (s *section) repairOptional(m mistake) bool {
	if s.at(m.at).value != "?" || s.at(m.at-1).sym == symField {
		return false
	}
	s.optionalType(s.at(m.at-3), s.at(m.at))
	s.remove(m.at, m.at+1)
	return true
}

// repairContainer: "mpa of T".
func (s *section) repairContainer(m mistake) bool {
	t, prev := s.at(m.at), s.at(m.at-1)
	if t.value != "of" || prev.sym != symIdent || s.corrected(m.at-1) || !s.inType() {
		return false
	}
	meant := spell.Nearest(prev.value, append([]string{"key"}, containerWords...))
	if meant == "" {
		return false
	}
	s.unknownWord(prev, meant)
	s.become(m.at-1, meant)
	return true
}

// repairColon: "name string", "name = string" in a record.
func (s *section) repairColon(m mistake) bool {
	if !s.inType() || s.innermostBlock(s.brackets(m.at)) < 0 || !slices.Contains(m.literals, "}") {
		return false
	}
	name, after := s.at(m.at), s.at(m.at+1)
	optional := after.value == "?"
	if optional {
		after = s.at(m.at + 2)
	}
	equals := after.value == "="
	if name.kind != WordToken && name.kind != StringToken || !equals && !startsType(after) {
		return false
	}
	if !s.silence(m.at, m.at+1) {
		s.missingColon(name, after)
	}
	s.tokens()[m.at].kind, s.tokens()[m.at].sym, s.tokens()[m.at].value = FieldToken, symField, name.value+":"
	if equals {
		s.remove(m.at+1, m.at+2)
	}
	mark := ":"
	if optional {
		mark = "?:"
		s.remove(m.at+1, m.at+2)
	}
	s.insert(m.at+1, symPunct, mark)
	return true
}

func startsType(t token) bool {
	switch t.sym {
	case symIdent, symQualified, symString, symInt, symNumber, symExpr:
		return true
	}
	return t.value == "{" || t.value == "("
}
