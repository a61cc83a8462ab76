package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
)

// Names that a contract declares and nothing uses. A use within a declaration that nothing
// uses is none. Libraries declare for others, so that of their names but the imports nothing
// is said.

// nameKinds are the declarations that are of no use without one.
var nameKinds = map[symbol.Kind]*diagnostic.Kind{
	symbol.Import:     diagnostic.UnusedImport,
	symbol.Type:       diagnostic.UnusedType,
	symbol.Region:     diagnostic.UnusedRegion,
	symbol.Constant:   diagnostic.UnusedConst,
	symbol.Definition: diagnostic.UnusedDefine,
	symbol.Group:      diagnostic.UnusedRoles,
	symbol.Measure:    diagnostic.UnusedMeasure,
}

// unusedNames finds them all; each rule takes what is of its code.
func unusedNames(p *program) []source.Diagnostic {
	if p.contract == nil && (!p.isLibrary() || source.HasErrors(p.errors)) {
		return nil
	}
	return p.once.unused()
}

func (p *program) isLibrary() bool {
	return p.tree != nil && p.tree.Header != nil && p.tree.Header.Library
}

func (p *program) findUnused() (out []source.Diagnostic) {
	table := p.in.Output.Symbols()
	var open []*symbol.Symbol // not known to be used
	uses := map[*symbol.Symbol][]source.Span{}
	for _, s := range table.Symbols {
		if nameKinds[s.Kind] != nil && s.Span.File == p.tree.Source && (s.Kind == symbol.Import || !p.isLibrary()) {
			open = append(open, s)
		}
	}
	for _, u := range table.Uses {
		if u.Span != u.Symbol.Span {
			uses[u.Symbol] = append(uses[u.Symbol], u.Span)
		}
	}
	isUsed := func(s *symbol.Symbol) bool {
		return slices.ContainsFunc(uses[s], func(at source.Span) bool {
			i, _ := slices.BinarySearchFunc(open, at.Start+1, func(o *symbol.Symbol, start int) int { return o.Whole.Start - start })
			return i == 0 || !holds(open[i-1].Whole, at) // declarations do not overlap
		}) || p.testsName(s.Name) || s.Kind == symbol.Group && p.isMeant(s.Name) || s.Kind == symbol.Import && p.hasRules(s)
	}
	slices.SortFunc(open, func(a, b *symbol.Symbol) int { return a.Whole.Start - b.Whole.Start })
	for {
		left := slices.DeleteFunc(slices.Clone(open), isUsed)
		if len(left) == len(open) {
			break
		}
		open = left
	}
	for _, s := range open {
		d := p.unused(s)
		if len(uses[s]) > 0 { // by what nothing uses either, which goes first
			d.Fixes = nil
		}
		out = append(out, d)
	}
	return out
}

// isMeant reports whether a misspelt role was to be a group: it is used where that is mended.
func (p *program) isMeant(group string) bool {
	return slices.ContainsFunc(p.noted[diagnostic.UnknownRole.Code], func(d source.Diagnostic) bool {
		return slices.ContainsFunc(d.Fixes, func(f source.Fix) bool { return f.Text == group })
	})
}

// hasRules reports whether an imported library has rules, which hold because it is imported.
func (p *program) hasRules(s *symbol.Symbol) bool {
	if p.contract == nil { // of a library: whatever it imports may have some
		return slices.ContainsFunc(p.in.Output.Files[1:], func(f *syntax.File) bool {
			return slices.ContainsFunc(f.Decls, func(d syntax.Decl) bool { _, isRule := d.(*syntax.InvariantDecl); return isRule })
		})
	}
	return slices.ContainsFunc(p.contract.Invariants, func(v ir.Invariant) bool { return strings.HasPrefix(v.Name, s.Name+".") })
}

// holds reports whether a span lies in another one.
func holds(whole, at source.Span) bool {
	return whole.File == at.File && whole.Start <= at.Start && at.End <= whole.End
}

func (p *program) unused(s *symbol.Symbol) source.Diagnostic {
	what := map[symbol.Kind]string{symbol.Definition: "definition", symbol.Group: "group of roles"}[s.Kind]
	if what == "" {
		what = string(s.Kind)
	}
	d := nameKinds[s.Kind].Diagnostic(s.Span, "use it where it was meant, or leave it out", fmt.Sprintf("nothing uses the %s %s", what, s.Name))
	d.Fixes = []source.Fix{{Title: "leave it out", Choice: true, Span: p.declaration(s.Whole)}}
	return d
}

// declaration is a declaration with the comments that are its documentation, and the line
// breaks behind it.
func (p *program) declaration(at source.Span) source.Span {
	text := at.File.Text
	line := strings.LastIndexByte(text[:at.Start], '\n') + 1
	if strings.TrimSpace(text[line:at.Start]) != "" {
		return at
	}
	at.Start = line
	for at.Start > 0 {
		above := strings.LastIndexByte(text[:at.Start-1], '\n') + 1
		if !strings.HasPrefix(strings.TrimSpace(text[above:at.Start]), "#") {
			break
		}
		at.Start = above
	}
	if rest := text[at.End:]; strings.HasPrefix(rest, "\n") {
		at.End++
		if at.Start == 0 || strings.HasPrefix(rest, "\n\n") && strings.HasSuffix(text[:at.Start], "\n\n") {
			at.End += len(rest[1:]) - len(strings.TrimLeft(rest[1:], "\n"))
		}
	}
	return at
}

// testsName reports whether the tests of the contract mention a word.
func (p *program) testsName(word string) bool { return p.tests != nil && p.tests.words[word] }

// unusedDelegables finds what stages hand down to nobody.
func unusedDelegables(p *program) (out []source.Diagnostic) {
	parents := map[string]bool{}
	for _, d := range p.stages {
		if d.From != nil {
			parents[d.From.Text] = true
		}
	}
	for _, d := range p.sortedStages() {
		for _, cl := range d.Clauses {
			if cl.Keyword.Text == "delegable" && !parents[d.Name.Text] {
				f := diagnostic.UnusedDelegable.Diagnostic(cl.Span, "leave it out, or declare `delegate NAME from "+d.Name.Text+"`", "stage "+d.Name.Text+" hands something down, and no delegate takes it")
				f.Fixes = []source.Fix{{Title: "leave it out", Choice: true, Span: p.declaration(cl.Span)}}
				out = append(out, f)
			}
		}
	}
	return out
}

// sortedStages are the stages that the file declares, in order.
func (p *program) sortedStages() []*syntax.StageDecl {
	var out []*syntax.StageDecl
	if p.contract == nil {
		return nil
	}
	for _, d := range p.tree.Decls {
		if d, ok := d.(*syntax.StageDecl); ok {
			out = append(out, d)
		}
	}
	return out
}
