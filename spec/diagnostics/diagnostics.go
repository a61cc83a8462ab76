// Package diagnostics holds the pages of codes: of everything that a check can find, and of
// everything for which a proposal can be refused. Each says what the code means, why that
// matters, and shows it wrong and right; tests run what the pages show. "poptic explain CODE"
// prints one.
//
// The pages of findings are made from the catalogue (internal/diagnostic); those of
// refusals are written by hand.
package diagnostics

import (
	"embed"
	"strings"
)

//go:embed *.md
var pages embed.FS

// Page is the page of a code as Markdown; ok is false if there is none.
func Page(code string) (text string, ok bool) {
	data, err := pages.ReadFile(code + ".md")
	return string(data), err == nil
}

// Codes lists the codes that have a page, in the order of their letters.
func Codes() (out []string) {
	entries, _ := pages.ReadDir(".")
	for _, e := range entries {
		if code, ok := strings.CutSuffix(e.Name(), ".md"); ok {
			out = append(out, code)
		}
	}
	return out
}
