package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/lang/source"
)

// Fixes: the edits that findings carry, at the place that the client asks about, and all of a
// file at once.

const (
	quickFix = "quickfix"
	fixAll   = "source.fixAll"
)

func (s *server) codeAction(ctx context.Context, docs *snapshot, p codeActionParams) ([]codeAction, error) {
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	own, err := s.analyses.of(ctx, docs, v.doc.name)
	if err != nil {
		return nil, err
	}
	found := slices.Clone(v.found)
	if own != v.analysis {
		found = append(found, own.found...)
	}
	start, end := v.at(p.Range.Start), v.at(p.Range.End)
	wanted := func(kind string) bool {
		return len(p.Context.Only) == 0 || slices.ContainsFunc(p.Context.Only, func(only string) bool {
			return only == "" || kind == only || strings.HasPrefix(kind, only+".")
		})
	}
	texts := contents{docs: docs, units: s.units, of: map[*source.File]*content{}}
	edit := func(fixes ...source.Fix) *workspaceEdit {
		out := &workspaceEdit{Changes: map[string][]textEdit{}}
		for _, f := range fixes {
			at := texts.location(f.Span)
			out.Changes[at.URI] = append(out.Changes[at.URI], textEdit{at.Range, f.Text})
		}
		return out
	}
	out := []codeAction{}
	seen := map[string]bool{}
	var sure []source.Fix // the only fix of a finding each, apart from each other; none lets a stage do more
	for _, d := range source.Sort(found) {
		if d.Span.File == nil || d.Span.File.Name != v.doc.name {
			continue
		}
		if len(d.Fixes) == 1 && !d.Fixes[0].Widens && d.Fixes[0].Span.File != nil && d.Fixes[0].Span.File.Name == v.doc.name && !slices.ContainsFunc(sure, func(f source.Fix) bool { return meets(f.Span, d.Fixes[0].Span) }) {
			sure = append(sure, d.Fixes[0])
		}
		if d.Span.Start > end || d.Span.End < start || !wanted(quickFix) {
			continue
		}
		fixes := d.Fixes
		if _, isRule := lint.Find(d.Code); isRule && d.Severity != source.Error && d.Code != "bad_ignore" && d.Code != "unused_ignore" {
			fixes = append(slices.Clone(fixes), ignoring(d))
		}
		for _, f := range fixes {
			key := fmt.Sprint(f.Title, f.Text, f.Span.Start, f.Span.End)
			if f.Span.File == nil || strings.HasPrefix(f.Span.File.Name, stdPrefix) || seen[key] {
				continue
			}
			seen[key] = true
			out = append(out, codeAction{Title: plain(f.Title), Kind: quickFix, Diagnostics: []diagnostic{texts.render(v.doc.name, d)}, IsPreferred: len(d.Fixes) == 1 && f == d.Fixes[0], Edit: edit(f)})
		}
	}
	if len(sure) > 0 && wanted(fixAll) && (len(p.Context.Only) > 0 || len(sure) > 1) {
		out = append(out, codeAction{Title: "Apply " + plural(len(sure), "fix"), Kind: fixAll, Edit: edit(sure...)})
	}
	return out, nil
}

// ignoring is the comment that sets a finding aside, on a line of its own above it. The reason
// is the author's to write: without one it is a finding itself.
func ignoring(d source.Diagnostic) source.Fix {
	f := d.Span.File
	start := f.LineStart(f.Position(d.Span.Start).Line)
	line := f.Text[start:]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	end := "\n"
	if i := strings.IndexByte(line, '\n'); i > 0 && line[i-1] == '\r' {
		end = "\r\n"
	}
	return source.Fix{Title: "ignore " + d.Code + " here", Span: source.Span{File: f, Start: start, End: start}, Text: indent + "# poptic:ignore " + d.Code + " " + end}
}

// meets reports whether two spans of a file share a byte, or a place between bytes.
func meets(a, b source.Span) bool { return a.Start <= b.End && b.Start <= a.End }

func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "x"):
		return fmt.Sprintf("%d %ses", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
