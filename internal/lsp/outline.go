package lsp

import (
	"context"
	"strings"

	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// What is in a file: its symbols, and what of it can be folded. Both are read off its tree, so
// that they are there for test files and in spite of mistakes.

func (s *server) documentSymbol(ctx context.Context, docs *snapshot, p documentParams) (any, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	symbols := v.outline()
	if s.client.Capabilities.TextDocument.DocumentSymbol.Hierarchical {
		return symbols, nil
	}
	return flat([]symbolInformation{}, symbols, p.TextDocument.URI, ""), nil
}

// flat is an outline as a list, for clients that take no tree.
func flat(out []symbolInformation, symbols []documentSymbol, uri, in string) []symbolInformation {
	for _, d := range symbols {
		out = append(out, symbolInformation{d.Name, d.Kind, location{uri, d.SelectionRange}, in})
		out = flat(out, d.Children, uri, d.Name)
	}
	return out
}

// outline is the tree of a file's declarations.
func (v *view) outline() []documentSymbol {
	out := []documentSymbol{}
	f := v.file(v.doc.name)
	if h := f.Header; h != nil && h.Name.Text != "" {
		out = append(out, v.entry(h.Name.Text, first(h.Library, "library", "contract"), kindModule, h.Span, h.Name.Span))
	}
	for _, d := range f.Decls {
		if e, ok := v.declared(d); ok {
			out = append(out, e)
		}
	}
	return out
}

func first(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// entry is a symbol without children. What it is called by lies in all of it.
func (v *view) entry(name, detail string, kind int, whole, at source.Span) documentSymbol {
	if at.IsZero() || at.Start < whole.Start || at.End > whole.End {
		at = source.Span{File: whole.File, Start: whole.Start, End: whole.Start}
	}
	return documentSymbol{Name: name, Detail: detail, Kind: kind, Range: v.rangeOf(whole.Start, whole.End), SelectionRange: v.rangeOf(at.Start, at.End)}
}

// declared is the symbol of a declaration; there is none for a claim, and for one whose name is
// missing.
func (v *view) declared(d syntax.Decl) (documentSymbol, bool) {
	name, whole := d.DeclName(), d.GetSpan()
	plain := func(detail string, kind int) (documentSymbol, bool) {
		return v.entry(name.Text, detail, kind, whole, name.Span), name.Text != ""
	}
	switch d := d.(type) {
	case *syntax.StateDecl:
		e := v.entry("state", "", kindObject, whole, source.Span{})
		e.Children = v.fields(d.Type)
		return e, true
	case *syntax.PhasesDecl:
		e := v.entry("phases", "", kindEnum, whole, source.Span{})
		for _, ph := range d.Phases {
			if ph.Name.Text != "" {
				e.Children = append(e.Children, v.entry(ph.Name.Text, "", kindEnumMember, ph.Span, ph.Name.Span))
			}
		}
		return e, true
	case *syntax.TypeDecl:
		e, ok := plain("type", kindClass)
		e.Children = v.fields(d.Type)
		return e, ok
	case *syntax.TestDecl:
		e := v.entry(d.Title.Value, "test", kindMethod, whole, d.Title.Span)
		for _, c := range d.Cases {
			if c.Title.Value != "" {
				e.Children = append(e.Children, v.entry(c.Title.Value, "case", kindMethod, c.Span, c.Title.Span))
			}
		}
		return e, d.Title.Value != ""
	case *syntax.GivenDecl:
		return plain("given", kindConstant)
	case *syntax.StageDecl:
		e, ok := plain(first(d.Delegate, "delegate", "stage"), kindFunction)
		for _, p := range d.Params {
			if p.Name.Text != "" {
				e.Children = append(e.Children, v.entry(p.Name.Text, "parameter", kindVariable, p.Span, p.Name.Span))
			}
		}
		for _, c := range d.Clauses {
			if c.Label != nil && c.Label.Text != "" {
				e.Children = append(e.Children, v.entry(c.Label.Text, c.Keyword.Text, kindRule, c.Span, c.Label.Span))
			}
		}
		return e, ok
	case *syntax.RegionDecl:
		return plain("region", kindArray)
	case *syntax.RolesDecl:
		return plain("roles", kindEnum)
	case *syntax.ConstDecl:
		return plain("const", kindConstant)
	case *syntax.DefineDecl:
		return plain("define", kindMethod)
	case *syntax.MeasureDecl:
		return plain("measure", kindVariable)
	case *syntax.InvariantDecl:
		return plain(first(d.Change, "change", "invariant"), kindRule)
	case *syntax.ComposeDecl:
		return plain("compose", kindComposition)
	case *syntax.ParallelDecl:
		return plain("parallel", kindComposition)
	}
	return documentSymbol{}, false
}

// fields are the members of the records in a type.
func (v *view) fields(t syntax.TypeExpr) (out []documentSymbol) {
	if t == nil {
		return nil
	}
	syntax.Walk(t, func(n any) bool {
		f, ok := n.(*syntax.Field)
		if !ok {
			return true
		}
		e := v.entry(f.Name.Text, "", kindField, f.Span, f.Name.Span)
		e.Children = v.fields(f.Type)
		out = append(out, e)
		return false
	})
	return out
}

func (s *server) workspaceSymbol(ctx context.Context, docs *snapshot, p workspaceSymbolParams) ([]symbolInformation, error) {
	out := []symbolInformation{}
	query := strings.ToLower(p.Query)
	for _, name := range docs.files(ctx) {
		d := docs.docs[name]
		if d == nil {
			d = &document{uri: docs.uriOf(name), name: name, content: newContent(docs.textOf(name))}
		}
		tree, _ := syntax.Parse(source.NewFile(name, d.text))
		a := &analysis{name: name}
		a.out.Files = []*syntax.File{tree}
		v := &view{a, docs, s.units, d}
		for _, sym := range flat(nil, v.outline(), d.uri, "") {
			if matches(strings.ToLower(sym.Name), query) {
				out = append(out, sym)
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return out, nil
}

// matches reports whether a name has the letters of a query, in their order.
func matches(name, query string) bool {
	for _, r := range query {
		i := strings.IndexRune(name, r)
		if i < 0 {
			return false
		}
		name = name[i+len(string(r)):]
	}
	return true
}

func (s *server) foldingRange(ctx context.Context, docs *snapshot, p documentParams) ([]foldingRange, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	f := v.file(v.doc.name)
	out := []foldingRange{}
	seen := map[[2]int]bool{}
	fold := func(start, end int, kind string) {
		from, to := v.rangeOf(start, end).Start.Line, v.rangeOf(start, end).End.Line
		if from < to && !seen[[2]int{from, to}] {
			seen[[2]int{from, to}] = true
			out = append(out, foldingRange{from, to, kind})
		}
	}
	var imports source.Span
	for _, d := range f.Decls {
		if _, ok := d.(*syntax.Import); ok {
			imports = imports.To(d.GetSpan())
			continue
		}
		syntax.Walk(d, func(n any) bool {
			switch n := n.(type) {
			case *syntax.RecordType, *syntax.Clause, *syntax.TestClause, *syntax.TestCase, *syntax.Phase, syntax.Decl:
				span := n.(interface{ GetSpan() source.Span }).GetSpan()
				fold(span.Start, span.End, "")
			case *syntax.Expr:
				fold(n.Outer.Start, n.Outer.End, "")
			}
			return true
		})
	}
	if !imports.IsZero() {
		fold(imports.Start, imports.End, "imports")
	}
	var run source.Span // comment lines that follow each other
	flush := func() {
		if !run.IsZero() {
			fold(run.Start, run.End, "comment")
		}
		run = source.Span{}
	}
	for _, t := range f.Tokens {
		alone := t.Kind == syntax.CommentToken && strings.TrimSpace(f.Source.Text[strings.LastIndexByte(f.Source.Text[:t.Span.Start], '\n')+1:t.Span.Start]) == ""
		switch {
		case !alone:
			flush()
		case !run.IsZero() && f.Source.Position(t.Span.Start).Line == f.Source.Position(run.End).Line+1:
			run.End = t.Span.End
		default:
			flush()
			run = t.Span
		}
	}
	flush()
	return out, nil
}
