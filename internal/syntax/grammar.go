package syntax

import (
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/patchoptic/poptic/lang/source"
)

// The grammar is the struct tags of the tree; participle reads them and builds the tree
// from tokens. This file is all that knows participle: it shows it a stream of tokens,
// lets it read one declaration, and reads its error.
//
// The error is read for two things: the token that does not fit, and what could have
// stood there. The second is private to participle except in the text of the message,
// as EBNF; of that only the first symbols are used (firstSet). Whatever is read of the
// text is held by a test, so that another version of participle that words it anew is
// noticed.

// The token classes of the grammar. They are finer than TokenKind: a Keyword is
// a word that starts a clause or a declaration where it stands and can be no
// name there; an Int is a number that attempts may be followed by.
const (
	symIdent symbol = iota + 1
	symQualified
	symKeyword
	symField
	symString
	symInt
	symNumber
	symPath
	symExpr
	symJSON
	symPunct

	symEOF = lexer.EOF
)

type symbol = lexer.TokenType

var symbols = map[string]symbol{
	"EOF": symEOF, "Ident": symIdent, "Qualified": symQualified, "Keyword": symKeyword,
	"Field": symField, "String": symString, "Int": symInt, "Number": symNumber,
	"Path": symPath, "Expr": symExpr, "JSON": symJSON, "Punct": symPunct,
}

// topLevel is what a file is a sequence of.
type topLevel struct {
	Header *Header `parser:"  @@"`
	Decl   Decl    `parser:"| @@"`
}

// grammar holds the parsers that participle made of the tags. Its productions are
// the node types. Three of them are read by functions of this package, which have a
// parser of their own: a type and a term, whose node is left out where there is one
// alternative and no constraint, and what stands in a type declaration.
type grammar struct {
	topLevel *participle.Parser[topLevel]
	body     *participle.Parser[typeBody]
	union    *participle.Parser[UnionType]
	where    *participle.Parser[WhereType]
}

var theGrammar = sync.OnceValue(func() *grammar {
	g := &grammar{}
	options := []participle.Option{
		participle.Lexer(definition{}),
		participle.UseLookahead(0),
		participle.Union[Decl](
			&Import{}, &StateDecl{}, &TypeDecl{}, &PhasesDecl{}, &RegionDecl{}, &RolesDecl{}, &ConstDecl{}, &DefineDecl{}, &MeasureDecl{}, &InvariantDecl{},
			&StageDecl{}, &ComposeDecl{}, &ParallelDecl{}, &ProveDecl{}, &GivenDecl{}, &TestDecl{},
		),
		participle.Union[TypeAtom](
			&SecretType{}, &KeyType{}, &ContainerType{}, &RecordType{}, &typeGroup{}, &LiteralType{}, &NamedType{},
		),
		participle.ParseTypeWith(g.parseBody),
		participle.ParseTypeWith(g.parseType),
		participle.ParseTypeWith(g.parseTerm),
	}
	g.topLevel = participle.MustBuild[topLevel](options...)
	g.body = participle.MustBuild[typeBody](options...)
	g.union = participle.MustBuild[UnionType](options...)
	g.where = participle.MustBuild[WhereType](options...)
	return g
})

// errGrammar stands for a panic inside the parser library.
var errGrammar = errors.New("the grammar library failed")

// parseOne reads one header or declaration from lex and leaves it after the
// last token it took. An error carries the token it is about; no panic escapes.
func parseOne(lex *reader) (top *topLevel, err error) {
	g := theGrammar() // a broken grammar is no input's fault: it does panic
	defer func() {
		if recover() != nil {
			top, err = nil, errGrammar
		}
	}()
	return g.topLevel.ParseFromLexer(lex, participle.AllowTrailing(true))
}

// parseBody reads the type of a type declaration.
func (g *grammar) parseBody(lex *reader) (TypeBody, error) {
	body, err := production(g.body, lex)
	if err != nil {
		return nil, err
	}
	return body.Type, nil
}

// parseType reads a type.
func (g *grammar) parseType(lex *reader) (TypeExpr, error) {
	union, err := production(g.union, lex)
	if err != nil {
		return nil, err
	}
	if len(union.Alternatives) == 1 {
		return union.Alternatives[0], nil
	}
	return union, nil
}

// parseTerm reads a type up to a "|".
func (g *grammar) parseTerm(lex *reader) (TypeTerm, error) {
	where, err := production(g.where, lex)
	if err != nil {
		return nil, err
	}
	if group, ok := where.Type.(*typeGroup); ok {
		where.Type = group.Type
	}
	if len(where.Constraints) == 0 {
		return where.Type, nil
	}
	return where, nil
}

// production reads a node with its parser, unless none starts here.
func production[N any](parser *participle.Parser[N], lex *reader) (*N, error) {
	start := lex.Cursor()
	node, err := parser.ParseFromLexer(lex, participle.AllowTrailing(true))
	if err != nil && lex.Cursor() == start {
		return nil, participle.NextMatch
	}
	return node, err
}

// Parse reads a right. Its word may be the name of a region as well: it is a right where,
// after others perhaps, a path or region follows it.
func (r *Right) Parse(lex *reader) error {
	start := lex.MakeCheckpoint()
	word := *lex.Next()
	ahead := lex.MakeCheckpoint()
	first := word
	for slices.Contains(rightWords, first.Value) && first.Type == symIdent && lex.Peek().Value == "," {
		lex.Next()
		first = *lex.Next()
	}
	isRight := slices.Contains(rightWords, first.Value) && first.Type == symIdent && opensRegion(lex.Peek())
	lex.LoadCheckpoint(ahead)
	if !isRight {
		lex.LoadCheckpoint(start)
		return participle.NextMatch
	}
	r.Text, r.Tokens = word.Value, []lexer.Token{word}
	return nil
}

// Parse reads the kind of what is handed on. A word that begins a line begins a clause.
func (k *GrantKind) Parse(lex *reader) error {
	if t := lex.Peek(); t.Type != symIdent || !slices.Contains(grantKinds, t.Value) {
		return participle.NextMatch
	}
	word := *lex.Next()
	k.Text, k.Tokens = word.Value, []lexer.Token{word}
	return nil
}

// opensRegion reports whether a path or region may begin with t.
func opensRegion(t *lexer.Token) bool {
	switch t.Type {
	case symPath, symQualified:
		return true
	case symIdent:
		return t.Value == "secrets" || t.Value != "except" && !IsReserved(t.Value)
	}
	return t.Value == "("
}

// definition presents the lexer to participle.
type definition struct{}

func (definition) Symbols() map[string]symbol { return symbols }

func (definition) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	s := scan(source.NewFile(name, string(text)), DefaultLimits)
	return &feed{stream: newStream(s.significant(), len(text))}, err
}

// A reader reads the tokens of a stream.
type reader = lexer.PeekingLexer

// from prepares the tokens from index i on for the grammar. Indices into the
// stream stay in the tokens' places (see feed).
func (s *stream) from(i int) *reader {
	lex, _ := lexer.Upgrade(&feed{stream: s, next: i}) // a feed has no errors
	return lex
}

// nextToken is the index in the stream of the token that is read next.
func nextToken(lex *reader) int { return lex.Peek().Pos.Line - 1 }

// A feed hands the tokens of a stream out. It tells a token's place in the form that
// participle has: Offset is its first byte, Column the end of it, Line its index in
// the stream plus one.
type feed struct {
	stream *stream
	next   int
}

func (f *feed) Next() (lexer.Token, error) {
	t := f.stream.at(f.next)
	f.next++
	return lexer.Token{Type: t.sym, Value: t.value, Pos: lexer.Position{Offset: t.start, Column: t.end, Line: f.next}}, nil
}

// extent is where participle notes the tokens that a node was read from. They give
// the node its Span and are cleared before Parse returns.
type extent struct {
	Tokens []lexer.Token
}

// bounds are the first byte of a node that has tokens and the byte after it. A repair may
// have put its tokens in another order than the text has: a node holds all that is below it
// because it holds all its tokens.
func (e extent) bounds() (start, end int) {
	start, end = e.Tokens[0].Pos.Offset, e.Tokens[0].Pos.Column
	for _, t := range e.Tokens[1:] {
		start, end = min(start, t.Pos.Offset), max(end, t.Pos.Column)
	}
	return start, end
}

// A mistake is where the grammar could not go on.
type mistake struct {
	at       int      // index of the token in the stream
	literals []string // words and marks that could have stood there
	classes  []string // productions that could have stood there
}

// mistakeOf reads participle's error. The expectation is private to participle
// except in the text of the message, where it stands as EBNF; what can come first
// in it is all that is used.
func mistakeOf(err error) (mistake, bool) {
	perr, ok := err.(participle.Error)
	if !ok {
		return mistake{}, false
	}
	m := mistake{at: perr.Position().Line - 1}
	if _, ebnf, ok := strings.Cut(perr.Message(), " (expected "); ok {
		first := &firstSet{rest: strings.TrimSuffix(ebnf, ")")}
		first.alternatives()
		m.literals, m.classes = first.literals, first.classes
	}
	return m, m.at >= 0
}

// expects reports whether the production could have stood at the mistake.
func (m mistake) expects(production string) bool { return slices.Contains(m.classes, production) }

// what words the expectation, "" if the grammar does not tell.
func (m mistake) what() string {
	var parts []string
	for _, c := range m.classes {
		if name := productions[c]; name != "" && !slices.Contains(parts, name) {
			parts = append(parts, name)
		}
	}
	for _, l := range m.literals {
		if part := "`" + l + "`"; !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return joinOr(parts)
}

// productions are the human names of what the grammar may expect.
var productions = map[string]string{
	"Name": "a name", "FieldName": "a field's name", "Field": "a field",
	"TypeExpr": "a type", "TypeTerm": "a type",
	"Path": "a path", "RegionExpr": "a path or region", "GrantExpr": "a path or region", "RegionAtom": "a path or region",
	"Expr": "CEL in braces", "Constraint": "CEL in braces", "StringLit": "a string", "Number": "a whole number",
	"LiteralType": "a string, a number, `true` or `false`", "Phase": "a phase", "Arrow": "a phase", "Param": "a parameter", "Clause": "a clause", "GateRef": "a gate",
	"DataRef": "JSON or the name of a file in quotation marks", "StateRef": "a given state, JSON or the name of a file in quotation marks", "Arg": "an argument",
	"Value": "a JSON value", "TestClause": "a clause", "TestCase": "a case", "View": "CEL in braces or `=`", "Reason": "a gate, a code or a message",
	"HypothesisExpr": "a parameter", "DifferencesExpr": "a parameter", "DifferenceExpr": "a parameter",
	"PairClaim": "a claim", "NoStageClaim": "a claim",
}

// alsoOpening are the productions that one of opening may start with beside its words.
var alsoOpening = map[string][]string{"Expect": {"Path", "Expr"}}

// opening are the productions that always start with one of a few words.
var opening = map[string][]string{"NoFlowClaim": {"from"}, "TypeBody": {"=", "{"}, "Each": {"each"}, "Expect": outcomeWords, "TestCase": {"case"}, "Right": rightWords, "GrantKind": grantKinds}

// firstSet collects the symbols that can come first in EBNF.
type firstSet struct {
	rest     string
	literals []string
	classes  []string
}

// alternatives reads "sequence | sequence ..." up to a closing parenthesis.
func (f *firstSet) alternatives() {
	for {
		f.sequence()
		if !f.take("|") {
			return
		}
	}
}

// sequence notes the symbols up to and with the first that is not optional, and
// skips the others.
func (f *firstSet) sequence() {
	open := true
	for {
		f.rest = strings.TrimLeft(f.rest, " ")
		if f.rest == "" || f.rest[0] == '|' || f.rest[0] == ')' {
			return
		}
		if strings.HasPrefix(f.rest, "(?") {
			f.lookahead()
			continue
		}
		literals, classes := len(f.literals), len(f.classes)
		f.term()
		if !open {
			f.literals, f.classes = f.literals[:literals], f.classes[:classes]
		}
		optional := f.take("?") || f.take("*")
		open = open && optional
		_ = f.take("+") || f.take("!")
	}
}

// lookahead skips "(?= ...)" or "(?! ...)", which adds no symbol.
func (f *firstSet) lookahead() {
	literals, classes := len(f.literals), len(f.classes)
	f.rest = f.rest[len("(?="):]
	f.alternatives()
	f.take(")")
	f.literals, f.classes = f.literals[:literals], f.classes[:classes]
}

func (f *firstSet) term() {
	if f.take("(") {
		f.alternatives()
		f.take(")")
		return
	}
	end := strings.IndexAny(f.rest[1:], " ()|?*+!\"") + 1
	if f.rest[0] == '"' {
		end = strings.IndexByte(f.rest[1:], '"') + 2
		f.literals = append(f.literals, f.rest[1:end-1])
		f.rest = f.rest[end:]
		return
	}
	if end == 0 {
		end = len(f.rest)
	}
	if words, ok := opening[f.rest[:end]]; ok {
		f.literals = append(f.literals, words...)
		f.classes = append(f.classes, alsoOpening[f.rest[:end]]...)
	} else {
		f.classes = append(f.classes, f.rest[:end])
	}
	f.rest = f.rest[end:]
}

func (f *firstSet) take(mark string) bool {
	trimmed := strings.TrimLeft(f.rest, " ")
	if !strings.HasPrefix(trimmed, mark) {
		return false
	}
	f.rest = trimmed[len(mark):]
	return true
}
