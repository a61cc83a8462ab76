package report

import (
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/lang/source"
)

// A Summary counts diagnostics by severity.
type Summary struct {
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`
	Infos    int `json:"infos"`
}

// Summarize counts ds.
func Summarize(ds []source.Diagnostic) Summary {
	var s Summary
	for _, d := range ds {
		switch d.Severity {
		case source.Error:
			s.Errors++
		case source.Warning:
			s.Warnings++
		default:
			s.Infos++
		}
	}
	return s
}

// String is "2 errors, 1 warning"; kinds that do not occur are left out.
func (s Summary) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{s.Errors, "error"}, {s.Warnings, "warning"}, {s.Infos, "info"}} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.word)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.word))
		}
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}
