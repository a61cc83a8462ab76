package report

import "github.com/patchoptic/poptic/lang/source"

// A painter wraps text in the colour of a style, or leaves it alone if it is nil.
type painter func(style, text string) string

const (
	bold   = "1"
	dim    = "2"
	red    = "1;31"
	yellow = "1;33"
	blue   = "1;34"
)

func (p painter) wrap(style, text string) string {
	if p == nil || text == "" {
		return text
	}
	return p(style, text)
}

func (p painter) bold(text string) string { return p.wrap(bold, text) }
func (p painter) dim(text string) string  { return p.wrap(dim, text) }

func (p painter) severity(s source.Severity, text string) string {
	return p.wrap(map[source.Severity]string{source.Error: red, source.Warning: yellow, source.Info: blue}[s], text)
}
