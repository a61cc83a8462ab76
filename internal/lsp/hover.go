package lsp

import (
	"context"
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/internal/explain"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
)

// What is shown of the place that the pointer is over.

func (s *server) hover(ctx context.Context, docs *snapshot, p positionParams) (*hover, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	offset := v.at(p.Position)
	var parts []string
	var at source.Span
	for _, u := range v.symbols().Uses {
		if u.Span.File.Name == v.doc.name && u.Span.Start <= offset && offset < max(u.Span.End, u.Span.Start+1) {
			text := v.about(ctx, u.Symbol)
			if at.IsZero() || at != u.Span {
				parts, at = nil, u.Span // the last part of a qualified name comes last
			}
			if text != "" {
				parts = append(parts, text)
			}
		}
	}
	if len(parts) == 0 {
		if text, span := v.keyword(offset); text != "" {
			parts, at = append(parts, text), span
		}
	}
	if len(parts) == 0 {
		f := v.file(v.doc.name)
		if t, ok := v.symbols().TypeAt(f.Source, offset); ok && t.Type != "" {
			parts, at = append(parts, code(t.Type)), t.Span
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	where := v.rangeOf(at.Start, at.End)
	return &hover{markdown(plain(strings.Join(parts, "\n\n---\n\n"))), &where}, nil
}

// code is a text as a line of the language.
func code(text string) string { return "```poptic\n" + text + "\n```" }

// about says of a symbol what it is, what is written above it, and what follows from it.
func (v *view) about(ctx context.Context, sym *symbol.Symbol) string {
	var out strings.Builder
	title := string(sym.Kind) + " " + sym.Name
	switch sym.Kind {
	case symbol.Builtin:
		doc := builtinDocs[sym.Name]
		if doc == "" {
			return ""
		}
		return code(sym.Name) + "\n\n" + doc
	case symbol.Field:
		title = sym.Name + ": " + sym.Type
		if sym.Owner != nil && sym.Owner.Kind == symbol.Type {
			title = sym.Owner.Name + " { " + title + " }"
		}
	case symbol.Variable:
		title = sym.Name + ": " + sym.Type
	case symbol.Parameter:
		title = strings.TrimSpace(sym.Name + " " + sym.Type)
	case symbol.Type, symbol.Region, symbol.Constant:
		title = first(sym.Kind == symbol.Constant, "const", string(sym.Kind)) + " " + sym.Name + " = " + sym.Type
	case symbol.Measure:
		title = folded(sym.Whole.Text()) + "   # " + sym.Type
	case symbol.Definition, symbol.Group, symbol.Composition, symbol.Parallel, symbol.Import:
		title = folded(sym.Whole.Text())
	case symbol.Invariant:
		title = folded(sym.Whole.Text())
	case symbol.Condition, symbol.Given:
		title = folded(sym.Whole.Text())
	}
	out.WriteString(code(title))
	if sym.Doc != "" {
		out.WriteString("\n\n" + sym.Doc)
	}
	more := ""
	switch sym.Kind {
	case symbol.Stage:
		more = v.footprint(sym.Name)
	case symbol.Invariant:
		more = v.reads(sym)
	case symbol.Role:
		more = v.mayRun(sym.Name)
	case symbol.Phase:
		more = v.runsIn(sym.Name)
	}
	if more != "" {
		out.WriteString("\n\n" + more)
	}
	if n := sym.Span.File; n != nil && n.Name != v.doc.name {
		out.WriteString("\n\n*from " + baseName(n.Name) + "*")
	}
	return out.String()
}

func baseName(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }

// folded is a text on one line, cut where it is long.
func folded(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line, _, _ = strings.Cut(line, "#"); strings.TrimSpace(line) != "" {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
	}
	out := strings.Join(lines, " ")
	if len(out) > 300 {
		out = strings.ToValidUTF8(out[:300], "") + " ..."
	}
	return out
}

// contract is what no error touches of the contract, nil where there is none.
func (v *view) contract() *ir.Contract {
	if v.out.Subject != nil {
		return (*ir.Contract)(v.out.Subject.Draft)
	}
	return (*ir.Contract)(v.out.Draft)
}

// footprint says what a stage may do, what judges it, and what may run beside it.
func (v *view) footprint(stage string) string {
	c := v.contract()
	if c == nil || c.Stage(stage) == nil {
		return ""
	}
	e, err := explain.OneStage(c, stage)
	if err != nil || len(e.Stages) == 0 {
		return ""
	}
	s := e.Stages[0]
	var out []string
	add := func(name string, values ...string) {
		if text := strings.Join(values, ", "); text != "" {
			out = append(out, "- "+name+" "+text)
		}
	}
	add("**by**", s.By...)
	add("**in**", s.In...)
	add("**sees**", grantTexts(s.Reads)...)
	add("**changes**", grantTexts(s.Writes)...)
	add("**adds blind**", grantTexts(s.Blind)...)
	add("**takes from**", grantTexts(s.Sources)...)
	if h := s.HandsOn; h != nil {
		add("**hands on what it has of**", grantTexts(h.Part)...)
		add("**hands on seeing**", grantTexts(h.Reads)...)
		add("**hands on changing**", grantTexts(h.Writes)...)
		add("**hands on adding blind**", grantTexts(h.Blind)...)
		add("**hands on taking from**", grantTexts(h.Sources)...)
	}
	add("**produces**", quoted(s.Produces)...)
	add("**moves to**", s.Next...)
	for _, g := range s.Gates {
		text := g.Gate + ": " + g.Visibility
		if g.Unseen != "" {
			text += ", reads `" + g.Unseen + "` unseen"
		}
		add("**judged by**", text)
	}
	out = append(out, besideLines(s)...)
	return strings.Join(out, "\n")
}

// besideLines say what does not commute with a stage.
func besideLines(s explain.Stage) (out []string) {
	if len(s.Next) > 0 {
		return []string{"- **beside** nothing: it moves the phase"}
	}
	for _, b := range s.Beside {
		name := b.Stage
		if name == s.Name {
			name = "itself"
		}
		switch {
		case b.Commutes == plan.Yes:
		case b.Commutes == plan.Unless:
			out = append(out, "- **conflicts** with "+name+" if "+strings.Join(b.Unless, ", or "))
		case len(b.Why) > 0:
			out = append(out, "- **conflicts** with "+name+": "+b.Why[0])
		}
	}
	return out
}

func quoted(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, "`"+t+"`")
	}
	return out
}

func grantTexts(grants []explain.Grant) (out []string) {
	for _, g := range grants {
		text := strings.Join(quoted(g.Paths), ", ")
		if len(g.Except) > 0 {
			text += " but not " + strings.Join(quoted(g.Except), ", ")
		}
		out = append(out, text)
	}
	return out
}

// reads says what a rule reads of the state.
func (v *view) reads(sym *symbol.Symbol) string {
	c := v.contract()
	if c == nil {
		return ""
	}
	for i := range c.Invariants {
		inv := &c.Invariants[i]
		if inv.Name != sym.Name && !strings.HasSuffix(inv.Name, "."+sym.Name) || inv.Expr == nil {
			continue
		}
		var out []string
		for _, r := range inv.Expr.Reads {
			how := "exactly"
			if r.Inexact {
				how = "at most"
			}
			out = append(out, fmt.Sprintf("%s `%s`", how, r.Pattern.Source()))
		}
		if inv.Expr.ReadsPhase {
			out = append(out, "the phase")
		}
		return "**reads** " + strings.Join(out, ", ")
	}
	return ""
}

func (v *view) mayRun(role string) string {
	return v.stagesWhere("may run", func(s *ir.Stage) bool { return len(s.By) == 0 || contains(s.By, role) })
}

func (v *view) runsIn(phase string) string {
	return v.stagesWhere("stages", func(s *ir.Stage) bool { return contains(s.In, phase) })
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func (v *view) stagesWhere(title string, is func(*ir.Stage) bool) string {
	c := v.contract()
	if c == nil {
		return ""
	}
	var out []string
	for i := range c.Stages {
		if is(&c.Stages[i]) {
			out = append(out, "`"+c.Stages[i].Name+"`")
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "**" + title + "** " + strings.Join(out, ", ")
}

// tokenAt is the token that a byte is in, or at the end of.
func tokenAt(f *syntax.File, offset int) (syntax.Token, bool) {
	for i := len(f.Tokens) - 1; i >= 0; i-- {
		t := f.Tokens[i]
		if t.Span.Start <= offset {
			return t, offset <= t.Span.End
		}
	}
	return syntax.Token{}, false
}

// keyword says what a word of the grammar means.
func (v *view) keyword(offset int) (string, source.Span) {
	t, ok := tokenAt(v.file(v.doc.name), offset)
	if !ok || t.Kind != syntax.WordToken {
		return "", source.Span{}
	}
	word := t.Span.Text()
	if doc := keywordDocs[word]; doc != "" {
		return code(word) + "\n\n" + doc, t.Span
	}
	return "", source.Span{}
}
