package syntax

import "slices"

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

// maxWork bounds the tokens that are looked at because of mistakes, by the grammar and by
// what recovers.
const maxWork = 1 << 22

// section reads a section, which ends before offset end.
func (p *parser) section(tokens []token, end int) {
	s := &section{
		parser: p, stream: newStream(p.balance(tokens), end),
		reported: map[int]bool{}, inserted: map[int]int{},
	}
	lex, started := s.feed(), -1
	for s.pos < len(s.tokens) && p.room > 0 && p.decls <= p.limits.Declarations {
		if s.pos != started {
			started = s.pos
			mended := len(s.inserted)
			s.openings()
			if len(s.inserted) > mended {
				lex = s.feed()
			}
		}
		top, err := parseOne(lex)
		if err == nil {
			p.accept(top)
			s.pos = nextToken(lex)
			continue
		}
		if s.spent() {
			p.tooMany(s.at(s.pos).start)
			return
		}
		s.recover(err)
		lex = s.feed()
	}
}

// feed hands the tokens of the declaration being read to the grammar, and counts what was
// looked at since the last time.
func (s *section) feed() *reader {
	s.feeds++
	s.work += s.looks
	s.looks = 0
	return s.from(s.pos)
}

// spent reports whether no more is done about mistakes.
func (s *section) spent() bool { return s.work+s.looks > maxWork }

// keyword is the keyword of the declaration being read.
func (s *section) keyword() string { return s.at(s.pos).value }

func (s *section) recover(err error) {
	switch m, ok := mistakeOf(err); {
	case !ok || m.at < s.pos:
		s.dropDeclaration(mistake{at: s.pos})
	case m.at == s.pos:
		s.noDeclaration(m)
	case s.repair(m):
	default:
		help, said := s.otherwise(m), len(s.diags)
		s.cut(m)
		s.helped(said, help)
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
	if s.isLateMessage(s.pos) { // of an invariant
		s.lateMessage(t, s.at(s.pos-1))
		s.remove(s.pos, s.pos+1)
		return
	}
	if s.openingOtherwise() {
		return
	}
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
			s.afterDeclaration(t, s.behind(t))
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
	return s.at(i).corrected
}

// become puts a word in the place of a misspelt one.
func (s *section) become(i int, word string) {
	s.tokens[i].value, s.tokens[i].corrected = word, true
}

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
	if s.holdsClauses(open) && (atStart || noClauses[t.value] != "") {
		s.unknownClause(t, "", words)
		return
	}
	if atStart {
		t.lineStart = false // the mistake is the token, not what is missing before it
	}
	s.expected(s.at(m.at-1), t, s.expectation(m, open))
}

// holdsClauses reports whether the block whose bracket has the index open is one of clauses: a
// stage's, a test's, or that of one of its cases.
func (s *section) holdsClauses(open int) bool {
	return clausesOf(s.keyword()) != nil && (open == s.body() || s.keyword() == "test" && s.at(open).value == "{")
}

func (s *section) expectation(m mistake, open int) string {
	if !slices.Contains(m.literals, "}") {
		return m.what()
	}
	switch {
	case s.holdsClauses(open):
		return "a clause or `}`"
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
	for end < len(s.tokens) && s.at(end).value != "," && s.at(end).value != ")" {
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
	return t.sym == symEOF || t.lineStart && t.kind == WordToken && isDeclarationWord(t.value)
}

// insertOnce puts a token in, unless one was put in that place before.
func (s *section) insertOnce(i int, sym symbol, value string) bool {
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

// nextDeclaration is the index of the first declaration keyword from i on that
// starts a line outside brackets, or of the end.
func (s *section) nextDeclaration(i int) int {
	depth := 0
	for j := s.pos; j < len(s.tokens); j++ {
		t := s.at(j)
		if j >= i && depth == 0 && t.lineStart && t.kind == WordToken && isDeclarationWord(t.value) {
			return j
		}
		depth = max(0, depth+bracketStep(t))
	}
	return len(s.tokens)
}

// body is the index of the declaration's first "{".
func (s *section) body() int {
	for i := s.pos; i < len(s.tokens); i++ {
		if s.at(i).value == "{" {
			return i
		}
	}
	return -1
}

// members lists where the members of the block start, and its end.
func (s *section) members(open int) (starts []int, end int) {
	depth := 0
	for i := open + 1; i < len(s.tokens); i++ {
		if depth == 0 && bracketStep(s.at(i)) < 0 {
			return starts, i
		}
		if depth == 0 && s.startsMember(open, i) {
			starts = append(starts, i)
		}
		depth += bracketStep(s.at(i))
	}
	return starts, len(s.tokens)
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

// A stream is the tokens of a part of the file as the grammar sees them.
// Recovering from a mistake means editing it: taking tokens out, putting in what
// is missing, replacing a word by the one that was meant. Tokens put in take no
// room: they start and end where the token before them ends.
type stream struct {
	tokens []token
	end    int // offset of the end of the text, for the end-of-file token
	looks  int // tokens looked at
}

func newStream(tokens []token, end int) *stream { return &stream{tokens: tokens, end: end} }

// at is the token with index i, or one of class EOF after the last.
func (s *stream) at(i int) token {
	s.looks++
	if i < 0 {
		return token{}
	}
	if i >= len(s.tokens) {
		return token{sym: symEOF, start: s.end, end: s.end, lineStart: true}
	}
	return s.tokens[i]
}

// remove takes tokens out; what they name is lost.
func (s *section) remove(from, to int) {
	s.lose(from, to)
	s.stream.remove(from, to)
}

func (s *stream) remove(from, to int) { s.tokens = slices.Delete(s.tokens, from, to) }

// insert puts a token without extent before the one with index i.
func (s *stream) insert(i int, sym symbol, value string) {
	place := s.at(i).start
	if i > 0 {
		place = s.at(i - 1).end
	}
	s.tokens = slices.Insert(s.tokens, i, token{kind: PunctToken, sym: sym, start: place, end: place, value: value})
}
