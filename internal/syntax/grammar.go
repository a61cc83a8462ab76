package syntax

import (
	"errors"
	"io"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/patchoptic/poptic/lang/source"
)

// The token classes of the grammar. They are finer than TokenKind: a Keyword is
// a word that starts a clause or a declaration where it stands and can be no
// name there; an Int is a number that attempts may be followed by.
const (
	symIdent lexer.TokenType = iota + 1
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
)

var symbols = map[string]lexer.TokenType{
	"EOF": lexer.EOF, "Ident": symIdent, "Qualified": symQualified, "Keyword": symKeyword,
	"Field": symField, "String": symString, "Int": symInt, "Number": symNumber,
	"Path": symPath, "Expr": symExpr, "JSON": symJSON, "Punct": symPunct,
}

// topLevel is what a file is a sequence of.
type topLevel struct {
	Header *Header `parser:"  @@"`
	Decl   Decl    `parser:"| @@"`
}

var (
	topLevelParser = sync.OnceValue(func() *participle.Parser[topLevel] {
		return participle.MustBuild[topLevel](
			participle.Lexer(definition{}),
			participle.UseLookahead(0),
			participle.Union[Decl](
				&Import{}, &StateDecl{}, &TypeDecl{}, &PhasesDecl{}, &RegionDecl{}, &MeasureDecl{}, &InvariantDecl{},
				&StageDecl{}, &ComposeDecl{}, &ParallelDecl{}, &proveSyntax{}, &TestDecl{},
			),
			participle.ParseTypeWith(parseType),
		)
	})
	typeParser = sync.OnceValue(func() *participle.Parser[typeSyntax] {
		return participle.MustBuild[typeSyntax](participle.Lexer(definition{}), participle.UseLookahead(0))
	})
)

// parseType reads a type with the grammar of typesyntax.go.
func parseType(lex *lexer.PeekingLexer) (TypeExpr, error) {
	start := lex.Cursor()
	s, err := typeParser().ParseFromLexer(lex, participle.AllowTrailing(true))
	if err != nil && lex.Cursor() == start {
		return nil, participle.NextMatch
	}
	if err != nil {
		return nil, err
	}
	return s.convert(), nil
}

// errGrammar stands for a panic inside the parser library.
var errGrammar = errors.New("the grammar library failed")

// parseOne reads one header or declaration from lex and leaves it after the
// last token it took. An error carries the token it is about; no panic escapes.
func parseOne(lex *lexer.PeekingLexer) (top *topLevel, err error) {
	parser, _ := topLevelParser(), typeParser() // a broken grammar is no input's fault: it does panic
	defer func() {
		if recover() != nil {
			top, err = nil, errGrammar
		}
	}()
	return parser.ParseFromLexer(lex, participle.AllowTrailing(true))
}

// Grammar is the grammar in EBNF: declarations first, then types.
func Grammar() string {
	return topLevelParser().String() + "\n" + typeParser().String()
}

// definition presents the lexer to participle.
type definition struct{}

func (definition) Symbols() map[string]lexer.TokenType { return symbols }

func (d definition) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return d.LexString(name, string(text))
}

func (definition) LexString(name, text string) (lexer.Lexer, error) {
	s := scan(source.NewFile(name, text), DefaultLimits)
	return newStream(s.significant(), len(text)).lexer(), nil
}
