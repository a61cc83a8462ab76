package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
)

// What names mean: where they are defined, where else they are used, and other names for them.

// symbolsAt are what the name at a byte of the view's document stands for; the last part of a
// qualified name comes before its alias.
func (v *view) symbolsAt(offset int) []*symbol.Symbol {
	f := v.file(v.doc.name)
	found := v.symbols().At(f.Source, offset)
	slices.Reverse(found)
	return slices.DeleteFunc(found, func(s *symbol.Symbol) bool { return s == nil })
}

// located is where a span is, for the client to go to: what comes with the compiler is written
// to a file first.
func (s *server) located(docs *snapshot, span source.Span) (location, bool) {
	texts := contents{docs: docs, units: s.units, of: map[*source.File]*content{}}
	if span.File == nil {
		return location{}, false
	}
	at := texts.location(span)
	if strings.HasPrefix(span.File.Name, stdPrefix) {
		name := standardFile(s.Libraries, span.File.Name)
		if name == "" {
			return location{}, false
		}
		at.URI = docs.uriOf(name)
	}
	return at, true
}

func (s *server) definition(ctx context.Context, docs *snapshot, p positionParams) ([]location, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	offset := v.at(p.Position)
	out := []location{}
	if f := v.importAt(offset); f != nil {
		if at, ok := s.located(docs, source.Span{File: f.Source}); ok {
			return append(out, at), nil
		}
	}
	for _, sym := range v.symbolsAt(offset) {
		at, ok := s.located(docs, sym.Span)
		if ok && !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	return out, nil
}

// importAt is the file that is imported at a byte of the view's document, by its path.
func (v *view) importAt(offset int) *syntax.File {
	for _, d := range v.file(v.doc.name).Decls {
		if d, ok := d.(*syntax.Import); ok && d.Path.Span.Start <= offset && offset <= d.Path.Span.End {
			return v.imported(v.doc.name, d)
		}
	}
	return nil
}

// An occurrence is one use of a name.
type occurrence struct {
	name       string // of the file
	span       source.Span
	definition bool
}

// everywhere lists the uses of what the name at a byte of the view's document stands for, in
// all files of the workspace, each once and in order.
func (s *server) everywhere(ctx context.Context, v *view, offset int) ([]occurrence, error) {
	targets := map[string]bool{}
	for _, sym := range v.symbolsAt(offset) {
		if !sym.Span.IsZero() {
			targets[identity(sym)] = true
		}
	}
	roots, err := s.contractsWith(ctx, v.snap, v.symbolsAt(offset))
	if err != nil {
		return nil, err
	}
	roots = append(roots, v.analysis)
	found := map[string]occurrence{}
	for _, a := range roots {
		for _, u := range a.symbols().Uses {
			if u.Symbol.Span.IsZero() || !targets[identity(u.Symbol)] {
				continue
			}
			at := fmt.Sprintf("%s %09d %09d", u.Span.File.Name, u.Span.Start, u.Span.End)
			found[at] = occurrence{u.Span.File.Name, u.Span, u.Span == u.Symbol.Span}
		}
	}
	var out []occurrence
	for _, at := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[at])
	}
	return out, nil
}

// identity is the same for what different analyses know of one symbol. A role is defined
// wherever it is named first: its name says which it is.
func identity(s *symbol.Symbol) string {
	if s.Kind == symbol.Role {
		return "role " + s.Name
	}
	return fmt.Sprintf("%s %s %d", s.Kind, s.Span.File.Name, s.Span.Start)
}

// contractsWith are the analyses of the workspace's files that read one of those in which
// some symbols are defined.
func (s *server) contractsWith(ctx context.Context, docs *snapshot, symbols []*symbol.Symbol) ([]*analysis, error) {
	libraries := map[string]bool{}
	for _, sym := range symbols {
		if sym.Span.File != nil {
			libraries[sym.Span.File.Name] = true
		}
	}
	var out []*analysis
	for _, name := range docs.files(ctx) {
		for library := range libraries {
			if name != library && !docs.importsFrom(name, library) {
				continue
			}
			a, err := s.analyses.of(ctx, docs, name)
			if err != nil {
				return nil, err
			}
			out = append(out, a)
			break
		}
	}
	return out, ctx.Err()
}

func (s *server) references(ctx context.Context, docs *snapshot, p referenceParams) ([]location, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	all, err := s.everywhere(ctx, v, v.at(p.Position))
	out := []location{}
	for _, o := range all {
		if at, ok := s.located(docs, o.span); ok && (p.Context.IncludeDeclaration || !o.definition) {
			out = append(out, at)
		}
	}
	return out, err
}

func (s *server) highlight(ctx context.Context, docs *snapshot, p positionParams) ([]documentHighlight, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	out := []documentHighlight{}
	targets := v.symbolsAt(v.at(p.Position))
	for _, u := range v.symbols().Uses {
		if u.Span.File.Name != v.doc.name || !slices.Contains(targets, u.Symbol) {
			continue
		}
		kind := 2
		if u.Span == u.Symbol.Span {
			kind = 3
		}
		out = append(out, documentHighlight{v.rangeOf(u.Span.Start, u.Span.End), kind})
	}
	return out, nil
}

// Renaming.

// nameAt is the name at a byte that may be changed, and where it stands; a reason if there is
// none.
func (v *view) nameAt(offset int) (sym *symbol.Symbol, at source.Span, reason error) {
	for _, u := range v.symbols().Uses {
		if u.Span.File.Name == v.doc.name && u.Span.Start <= offset && offset <= u.Span.End {
			sym, at = u.Symbol, u.Span // the last part of a qualified name comes last
		}
	}
	switch {
	case sym == nil:
		return nil, at, refuse("there is no name here")
	case sym.Kind == symbol.Builtin:
		return nil, at, refuse("%s belongs to the language", sym.Name)
	case strings.HasPrefix(sym.Span.File.Name, stdPrefix):
		return nil, at, refuse("%s is declared in a library that comes with the compiler", sym.Name)
	}
	return sym, at, nil
}

func (s *server) prepareRename(ctx context.Context, docs *snapshot, p positionParams) (prepareRename, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return prepareRename{}, err
	}
	sym, at, err := v.nameAt(v.at(p.Position))
	if err != nil {
		return prepareRename{}, err
	}
	if strings.ContainsAny(at.Text()[:1], "`\"'") {
		at.Start, at.End = at.Start+1, at.End-1
	}
	return prepareRename{v.rangeOf(at.Start, at.End), sym.Name}, nil
}

// rename edits all files that name something. It is refused where another name would then
// mean something else, or the same name two things: then the contracts would no longer say
// what they say now.
func (s *server) rename(ctx context.Context, docs *snapshot, p renameParams) (*workspaceEdit, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	offset := v.at(p.Position)
	sym, _, err := v.nameAt(offset)
	if err != nil {
		return nil, err
	}
	if _, ok := v.symbols().Rename(sym, p.NewName); !ok {
		if sym.Kind == symbol.Import {
			return nil, refuse("this import is called after its file; give it a name with `as` first")
		}
		return nil, refuse("%q is no name: letters, digits and _ are", p.NewName)
	}
	all, err := s.everywhere(ctx, v, offset)
	if err != nil {
		return nil, err
	}
	changes := map[string][]source.Fix{}
	for _, o := range all {
		if strings.HasPrefix(o.name, stdPrefix) {
			return nil, refuse("%s is declared in a library that comes with the compiler", sym.Name)
		}
		changes[o.name] = append(changes[o.name], source.Fix{Span: o.span, Text: renamed(o.span.Text(), p.NewName)})
	}
	if err := s.requireSameMeaning(ctx, docs, v.analysis, changes, sym.Name, p.NewName); err != nil {
		return nil, err
	}
	edit := &workspaceEdit{Changes: map[string][]textEdit{}}
	texts := contents{docs: docs, units: s.units, of: map[*source.File]*content{}}
	for name, fixes := range changes {
		for _, f := range fixes {
			edit.Changes[docs.uriOf(name)] = append(edit.Changes[docs.uriOf(name)], textEdit{texts.textRange(f.Span), f.Text})
		}
	}
	return edit, nil
}

// renamed is what stands for a name in place of what stood for another one.
func renamed(written, name string) string {
	switch {
	case strings.HasPrefix(written, "`"):
		return "`" + name + "`"
	case strings.ContainsAny(written, `"'`):
		return `"` + name + `"`
	}
	return name
}

// requireSameMeaning compiles the files that a renaming changes as they would be, and refuses
// it if a name in them would then lead elsewhere, or something new would be found.
func (s *server) requireSameMeaning(ctx context.Context, docs *snapshot, own *analysis, changes map[string][]source.Fix, from, to string) error {
	after := docs
	for name, fixes := range changes {
		sort.Slice(fixes, func(i, j int) bool { return fixes[i].Span.Start < fixes[j].Span.Start })
		uri := docs.uriOf(name)
		after = after.with(&document{uri, name, 0, newContent(apply(docs.textOf(name), fixes))})
	}
	roots := map[string]bool{own.name: true}
	for _, name := range docs.files(ctx) {
		for changed := range changes {
			if name == changed || docs.importsFrom(name, changed) {
				roots[name] = true
			}
		}
	}
	for name := range roots {
		before, err := s.analyses.of(ctx, docs, name)
		if err != nil {
			return err
		}
		now, err := compile(ctx, after, name, nil)
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(now.found, func(d source.Diagnostic) bool {
			return count(now.found, d.Code) > count(before.found, d.Code)
		}); i >= 0 {
			return refuse("%s cannot be called %s: %s", from, to, now.found[i].Message)
		}
		if !slices.Equal(meaning(before, changes), meaning(now, nil)) {
			return refuse("%s cannot be called %s: in %s that would be taken for something else", from, to, name)
		}
	}
	return nil
}

func count(found []source.Diagnostic, code string) (n int) {
	for _, d := range found {
		if d.Code == code {
			n++
		}
	}
	return n
}

// apply makes edits, which are in order and apart.
func apply(text string, fixes []source.Fix) string {
	var out strings.Builder
	at := 0
	for _, f := range fixes {
		out.WriteString(text[at:f.Span.Start])
		out.WriteString(f.Text)
		at = f.Span.End
	}
	out.WriteString(text[at:])
	return out.String()
}

// meaning lists for every use of a name what it leads to, by places in the files as they will
// be after some changes.
func meaning(a *analysis, changes map[string][]source.Fix) []string {
	var out []string
	at := func(span source.Span) string {
		start := span.Start
		for _, f := range changes[span.File.Name] {
			if f.Span.Start < span.Start {
				start += len(f.Text) - (f.Span.End - f.Span.Start)
			}
		}
		return fmt.Sprintf("%s %d", span.File.Name, start)
	}
	for _, u := range a.symbols().Uses {
		if !u.Symbol.Span.IsZero() {
			out = append(out, at(u.Span)+" "+string(u.Symbol.Kind)+" "+at(u.Symbol.Span))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
