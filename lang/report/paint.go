package report

import "github.com/patchoptic/poptic/lang/source"

// painter wraps text in ANSI colours, or leaves it alone if it is false.
type painter bool

const (
	bold   = "1"
	dim    = "2"
	red    = "1;31"
	yellow = "1;33"
	blue   = "1;34"
)

func (p painter) wrap(style, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

func (p painter) bold(text string) string { return p.wrap(bold, text) }
func (p painter) dim(text string) string  { return p.wrap(dim, text) }

func (p painter) severity(s source.Severity, text string) string {
	return p.wrap(map[source.Severity]string{source.Error: red, source.Warning: yellow, source.Info: blue}[s], text)
}
