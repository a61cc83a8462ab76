package syntax

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"
)

// A section is a run of tokens from one declaration in column 1 to the next;
// mostly it is that one declaration. It is read by repeating: let the grammar
// read a declaration; where it cannot go on, report the mistake, edit the stream
// so that the mistake is gone, and let it read that declaration again. Every edit
// either removes a token or is one of a few that happen once in a place, so this
// ends. The edits, in the order tried:
//
//   - a repair, where it is known what was meant (repair.go);
//   - in a block: the rest of the member or clause is taken out, and if what is
//     left of it is not complete, all of it;
//   - before the block: a missing name is put in, a surplus token taken out;
//   - else the declaration is taken out.
//
// A member, a clause or the head of a declaration gets one report, however many
// edits it needs: those after the first are silent. So is what a reported
// character or literal of the same member causes.
type section struct {
	*parser
	*stream
	pos      int          // where the declaration being read starts
	reported map[int]bool // members and heads with a report, by their start in the file
	inserted map[int]int  // tokens put in, by place
}

// maxWork bounds the tokens fed to the grammar because of mistakes.
const maxWork = 1 << 18

// section reads a section, which ends before offset end.
func (p *parser) section(tokens []token, end int) {
	s := &section{
		parser: p, stream: newStream(p.balance(tokens), end),
		reported: map[int]bool{}, inserted: map[int]int{},
	}
	lex := s.feed()
	for s.pos < len(s.tokens()) && p.room > 0 && p.decls <= p.limits.Declarations {
		top, err := parseOne(lex)
		if err == nil {
			p.accept(top)
			s.pos = lex.Peek().Pos.Line - 1
			continue
		}
		if p.work > maxWork {
			p.tooMany(s.at(s.pos).start)
			return
		}
		s.recover(err)
		lex = s.feed()
	}
}

func (s *section) tokens() []token { return s.stream.tokens }

func (s *section) feed() *lexer.PeekingLexer {
	s.work += len(s.tokens()) - s.pos
	return s.from(s.pos)
}

// keyword is the keyword of the declaration being read.
func (s *section) keyword() string { return s.at(s.pos).value }

func (s *section) recover(err error) {
	m, ok := mistakeOf(err)
	if s.keyword() == "type" && m.at == s.pos+2 { // the lookahead in its grammar tells no expectation
		m.literals = []string{"=", "{"}
	}
	switch {
	case !ok || m.at < s.pos:
		s.dropDeclaration(mistake{at: s.pos})
	case m.at == s.pos:
		s.noDeclaration(m)
	case s.repair(m):
	default:
		s.cut(m)
	}
}

// silence reports whether a mistake in what starts at token start needs no
// report, and notes that it has one.
func (s *section) silence(start, at int) bool {
	key := s.at(start).start
	silent := s.reported[key] || s.hasLexicalMistake(key, s.at(at).end)
	s.reported[key] = true
	return silent
}

// noDeclaration deals with a token that starts no declaration where one starts.
func (s *section) noDeclaration(m mistake) {
	t := s.at(s.pos)
	meant := ""
	if t.kind == WordToken && t.lineStart {
		meant = nearestWord(t.value, declarationWords, misnomers[""])
	}
	junk := s.pos > 0 && s.hasLexicalMistake(s.at(s.pos-1).end, t.end)
	if !s.silence(s.pos, s.pos) && !junk {
		switch {
		case slices.Contains(clauseWords, t.value) && !isDeclarationWord(t.value) && t.lineStart:
			s.strayClause(t)
			meant = ""
		case meant != "":
			s.unknownDeclaration(t, meant)
		case !t.lineStart && s.pos > 0:
			s.afterDeclaration(t)
		default:
			s.unknownDeclaration(t, "")
		}
	}
	if meant != "" && meant != t.value && !s.corrected(s.pos) {
		s.become(s.pos, meant)
		return
	}
	s.remove(s.pos, s.nextDeclaration(s.pos+1))
}

// corrected reports whether a word was put in the place of token i, which happens once.
func (s *section) corrected(i int) bool {
	_, done := s.words[s.at(i).start]
	return done
}

// become puts a word in the place of a misspelt one.
func (s *section) become(i int, word string) {
	s.tokens()[i].value = word
	s.words[s.at(i).start] = word
}

// nextDeclaration is the index of the first declaration keyword from i on that
// starts a line outside brackets, or of the end.
func (s *section) nextDeclaration(i int) int {
	depth := 0
	for j := s.pos; j < len(s.tokens()); j++ {
		t := s.at(j)
		if j >= i && depth == 0 && t.lineStart && t.kind == WordToken && isDeclarationWord(t.value) {
			return j
		}
		depth = max(0, depth+bracketStep(t))
	}
	return len(s.tokens())
}

// bracketStep is 1 for an opening bracket, -1 for a closing one, else 0.
func bracketStep(t token) int {
	switch {
	case t.sym != symPunct:
	case t.value == "{" || t.value == "(":
		return 1
	case t.value == "}" || t.value == ")":
		return -1
	}
	return 0
}

// brackets lists the brackets open before token i in the declaration being read,
// as indices.
func (s *section) brackets(i int) []int {
	var open []int
	for j := s.pos; j < i; j++ {
		switch bracketStep(s.at(j)) {
		case 1:
			open = append(open, j)
		case -1:
			open = open[:max(0, len(open)-1)]
		}
	}
	return open
}
