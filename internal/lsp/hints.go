package lsp

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
)

// What an editor writes between the lines: types that are inferred, paths that a named region
// stands for, and above each stage what it conflicts with.

func (s *server) inlayHint(ctx context.Context, docs *snapshot, p rangeParams) ([]inlayHint, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	start, end := v.at(p.Range.Start), v.at(p.Range.End)
	out := []inlayHint{}
	add := func(at source.Span, label string, kind int) {
		if label == "" || at.IsZero() || at.End < start || at.Start > end {
			return
		}
		hint := inlayHint{Position: v.rangeOf(at.End, at.End).Start, Label: plain(label), Kind: kind, PaddingLeft: kind != 1}
		if short := shortened(label); short != label {
			hint.Label, hint.Tooltip = plain(short), markdown(plain(code(label)))
		}
		out = append(out, hint)
	}
	f := v.file(v.doc.name)
	named := map[source.Span]*symbol.Symbol{} // by where they are named
	for _, u := range v.symbols().Uses {
		if u.Span.File == f.Source {
			named[u.Span] = u.Symbol
		}
	}
	typed := func(name *syntax.Name) {
		if name == nil {
			return
		}
		if sym := named[name.Span]; sym != nil && sym.Type != "" {
			add(name.Span, ": "+sym.Type, 1)
		}
	}
	for _, d := range f.Decls {
		syntax.Walk(d, func(n any) bool {
			switch n := n.(type) {
			case *syntax.MeasureDecl:
				typed(&n.Name)
			case *syntax.Each:
				typed(n.Var())
			case *syntax.Param:
				if n.From && n.Path != nil {
					t := endingAt(v.symbols(), f.Source, n.Path.Span.End)
					if t.Type != "" {
						add(n.Name.Span, ": "+t.Type, 1)
					}
				}
			case *syntax.RegionAtom:
				if n.Name == nil {
					return true
				}
				last := n.Name.Span
				last.Start += strings.LastIndexByte(n.Name.Text, '.') + 1
				if sym := named[last]; sym != nil && sym.Kind == symbol.Region && sym.Type != "" {
					add(n.Span, "= "+sym.Type, 0)
				}
			}
			return true
		})
	}
	return out, nil
}

// shortened is a text that fits between the lines.
func shortened(text string) string {
	const most = 48
	if runes := []rune(text); len(runes) > most {
		return strings.TrimRight(string(runes[:most-1]), " ,") + "…"
	}
	return text
}

// Lenses.

// The commands that lenses run. The first is the client's, which has a terminal; the second is
// the server's.
const (
	runTest       = "poptic.runTest"
	showConflicts = "poptic.showConflicts"
)

// A lensOf says what a lens is about until it is shown.
type lensOf struct {
	URI   string `json:"uri"`
	Stage string `json:"stage"`
}

func (s *server) codeLens(ctx context.Context, docs *snapshot, p documentParams) ([]codeLens, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := []codeLens{}
	for _, d := range v.file(v.doc.name).Decls {
		switch d := d.(type) {
		case *syntax.StageDecl:
			if c := v.contract(); c != nil && c.Stage(d.Name.Text) != nil {
				out = append(out, codeLens{Range: v.rangeOf(d.Name.Span.Start, d.Name.Span.End), Data: lensOf{p.TextDocument.URI, d.Name.Text}})
			}
		case *syntax.TestDecl:
			out = append(out, codeLens{
				Range:   v.rangeOf(d.Title.Span.Start, d.Title.Span.End),
				Command: &command{"Run test", runTest, []any{p.TextDocument.URI, d.Title.Value}},
			})
		}
	}
	return out, nil
}

// resolveLens compares a stage with all that it meets, which takes a while in a large contract:
// so it is done for the lenses that are on the screen.
func (s *server) resolveLens(ctx context.Context, docs *snapshot, p codeLens) (codeLens, error) {
	var of lensOf
	data, _ := json.Marshal(p.Data)
	if json.Unmarshal(data, &of) != nil || of.Stage == "" {
		return p, nil
	}
	lines, err := s.conflicts(ctx, docs, of)
	if err != nil {
		return p, err
	}
	title := "no conflicts"
	if len(lines) > 0 {
		title = plural(len(lines), "conflict")
	}
	p.Command = &command{title, showConflicts, []any{of.URI, of.Stage}}
	return p, nil
}

// conflicts says what does not commute with a stage, a line each.
func (s *server) conflicts(ctx context.Context, docs *snapshot, of lensOf) ([]string, error) {
	v, err := s.view(ctx, docs, of.URI)
	if err != nil {
		return nil, err
	}
	c := v.contract()
	if c == nil || c.Stage(of.Stage) == nil {
		return nil, refuse("there is no stage %q without errors", of.Stage)
	}
	e, err := explain.OneStage(c, of.Stage)
	if err != nil || len(e.Stages) == 0 {
		return nil, err
	}
	var out []string
	for _, line := range besideLines(e.Stages[0]) {
		out = append(out, strings.ReplaceAll(strings.TrimPrefix(line, "- "), "**", ""))
	}
	return out, nil
}

// execute runs the server's command, which shows what a lens counted.
func (s *server) execute(ctx context.Context, docs *snapshot, p executeParams) (any, error) {
	var of lensOf
	if p.Command != showConflicts || len(p.Arguments) != 2 || json.Unmarshal(p.Arguments[0], &of.URI) != nil || json.Unmarshal(p.Arguments[1], &of.Stage) != nil {
		return nil, refuse("there is no such command, or it has other arguments: %s takes a URI and a stage", showConflicts)
	}
	lines, err := s.conflicts(ctx, docs, of)
	if err != nil {
		return nil, err
	}
	text := of.Stage + " commutes with everything in its phases"
	if len(lines) > 0 {
		text = of.Stage + " " + strings.Join(lines, "\n"+of.Stage+" ")
	}
	s.conn.Notify(ctx, "window/showMessage", showMessage{3, plain(text)})
	return lines, nil
}
