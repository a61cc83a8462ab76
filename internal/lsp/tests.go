package lsp

import (
	"slices"
	"strings"
	"sync"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
)

// Test files name what their contract declares: its table holds for them, with the names that
// the tests use and the states that they give names to.

// symbolsOf is what the names in the files of a compilation mean.
func symbolsOf(out compiler.Output) func() *symbol.Table {
	if out.Subject == nil || len(out.Files) == 0 {
		return out.Symbols
	}
	return sync.OnceValue(func() *symbol.Table {
		known := out.Subject.Symbols()
		t := &tester{known: known, own: map[string]*symbol.Symbol{}, table: &symbol.Table{
			Symbols: slices.Clone(known.Symbols), Uses: slices.Clone(known.Uses), Types: slices.Clone(known.Types),
		}}
		t.file(out.Files[0])
		t.table.Finish()
		return t.table
	})
}

// A tester notes the names in tests.
type tester struct {
	known *symbol.Table
	table *symbol.Table
	own   map[string]*symbol.Symbol // states with names
}

func (t *tester) file(f *syntax.File) {
	for _, d := range f.Decls {
		if d, ok := d.(*syntax.GivenDecl); ok && d.Name.Text != "" {
			s := &symbol.Symbol{Kind: symbol.Given, Name: d.Name.Text, Span: d.Name.Span, Whole: d.Span, Doc: d.Doc}
			t.own[s.Name] = s
			t.table.Symbols = append(t.table.Symbols, s)
			t.use(&d.Name, s)
		}
	}
	for _, d := range f.Decls {
		stage := ""
		syntax.Walk(d, func(n any) bool {
			switch n := n.(type) {
			case *syntax.StateRef:
				if n.Given != nil {
					t.use(n.Given, t.own[n.Given.Text])
				}
			case *syntax.TestClause:
				switch n.Keyword.Text {
				case "phase", "advance", "next":
					t.named(n.Name, symbol.Phase)
				case "role":
					t.named(n.Name, symbol.Role, symbol.Group)
				case "stage":
					if t.named(n.Stage, symbol.Stage); n.Stage != nil {
						stage = n.Stage.Text
					}
					for _, arg := range n.Args {
						t.parameter(&arg.Name, stage)
					}
				}
			case *syntax.Expect:
				t.named(n.Phase, symbol.Phase)
			case *syntax.Reason:
				t.named(n.Name, symbol.Invariant, symbol.Condition)
			}
			return true
		})
	}
}

func (t *tester) use(name *syntax.Name, s *symbol.Symbol) {
	if s != nil && name != nil {
		t.table.Uses = append(t.table.Uses, symbol.Use{Span: name.Span, Symbol: s})
	}
}

// named notes the use of a name of the contract.
func (t *tester) named(name *syntax.Name, kinds ...symbol.Kind) {
	if name == nil {
		return
	}
	at := name.Span
	at.Start += strings.LastIndexByte(name.Text, '.') + 1
	for _, s := range t.known.Symbols {
		if s.Name == name.Text[strings.LastIndexByte(name.Text, '.')+1:] && slices.Contains(kinds, s.Kind) {
			t.table.Uses = append(t.table.Uses, symbol.Use{Span: at, Symbol: s})
			return
		}
	}
}

// parameter notes the use of one of a stage.
func (t *tester) parameter(name *syntax.Name, stage string) {
	for _, s := range t.known.Symbols {
		if s.Kind == symbol.Parameter && s.Name == name.Text && s.Owner != nil && s.Owner.Name == stage {
			t.use(name, s)
			return
		}
	}
}

// subjectOf is the contract that the tests of a file are about, as far as its name says so.
func subjectOf(name string) (string, bool) {
	base, ok := strings.CutSuffix(name, compiler.TestSuffix)
	return base + extension, ok
}

// scope are the symbols that can be named at a byte of a file: in a test those of its contract.
func (v *view) scope(offset int) []*symbol.Symbol {
	f := v.file(v.doc.name)
	if v.out.Subject == nil {
		return v.symbols().InScope(f.Source, offset)
	}
	var out []*symbol.Symbol
	var subject *source.File
	for _, s := range v.symbols().Symbols {
		if s.Kind == symbol.Contract {
			subject = s.Span.File
		}
	}
	for _, s := range v.symbols().Symbols {
		if s.Kind == symbol.Given || s.Span.File == subject && s.Kind != symbol.Field && s.Kind != symbol.Variable && s.Kind != symbol.Parameter {
			out = append(out, s)
		}
	}
	return out
}
