package lsp

import (
	"context"
	"errors"

	"github.com/aymanbagabas/go-udiff"

	"github.com/patchoptic/poptic/lang/format"
)

// formatting puts a document in canonical form, by edits of the lines that change: what the
// editor holds at the others stays. One with mistakes is left alone.
func (s *server) formatting(_ context.Context, docs *snapshot, p documentParams) ([]textEdit, error) {
	d := docs.docs[fileName(p.TextDocument.URI)]
	if d == nil {
		return nil, refuse("%s is not open", p.TextDocument.URI)
	}
	formatted, err := format.Source(d.name, []byte(d.text))
	var mistaken *format.Error
	if errors.As(err, &mistaken) {
		return nil, refuse("it has mistakes; mend them, and format again")
	}
	if err != nil {
		return nil, err
	}
	out := []textEdit{}
	for _, e := range udiff.Lines(d.text, string(formatted)) {
		out = append(out, textEdit{d.span(e.Start, e.End, s.units), e.New})
	}
	return out, nil
}
