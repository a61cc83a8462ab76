package compiler_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/lang/source"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A mistake is a case of testdata/mistakes.txt, which says what its lines are.
type mistake struct {
	title, text string // of a fragment, text is without the contract below which it stands
	below       string // that contract
	found       string // the lines behind ">"
}

// slips reads the cases, and what stands before each of them and belongs to none.
func slips(t *testing.T) (cases []mistake, between []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/mistakes.txt")
	require.NoError(t, err)
	gap := ""
	for line := range strings.Lines(string(text)) {
		last := len(cases) - 1
		switch {
		case strings.HasPrefix(line, "== "), strings.HasPrefix(line, "++ "):
			m := mistake{title: line}
			if line[0] == '+' {
				m.below = cases[0].text
			}
			cases, between, gap = append(cases, m), append(between, gap), ""
		case last < 0, line == "\n", strings.HasPrefix(line, "# "):
			gap += line
		case strings.HasPrefix(line, ">"):
			cases[last].found += line
		default:
			cases[last].text += line
		}
	}
	return cases, between
}

// said is what the golden file says of a case.
func (m mistake) said() string {
	var out strings.Builder
	found := compileWhole(m.below + m.text).Diagnostics
	if len(found) == 0 {
		return "> nothing\n"
	}
	d := found[0]
	fmt.Fprintf(&out, "> %s %s %s: %s\n", m.place(d.Span), d.Severity, d.Code, d.Message)
	if d.Help != "" {
		fmt.Fprintf(&out, ">   help: %s\n", d.Help)
	}
	for i, f := range d.Fixes {
		fmt.Fprintf(&out, ">   fix: %s: %q -> %q\n", f.Title, f.Span.Text(), f.Text)
		if i == 0 {
			fmt.Fprintf(&out, ">   then: %s\n", m.left(f))
		}
	}
	for _, d := range found[1:] {
		fmt.Fprintf(&out, "> also %s %s %s: %s\n", m.place(d.Span), d.Severity, d.Code, d.Message)
	}
	return out.String()
}

func (m mistake) left(f source.Fix) string {
	text := m.below + m.text
	var codes []string
	for _, d := range compileWhole(text[:f.Span.Start] + f.Text + text[f.Span.End:]).Diagnostics {
		codes = append(codes, d.Code)
	}
	if len(codes) == 0 {
		return "nothing"
	}
	return strings.Join(codes, ", ")
}

// place is where a finding stands, in the text of the case.
func (m mistake) place(at source.Span) string {
	p := at.File.Position(at.Start)
	return fmt.Sprintf("%d:%d", p.Line-strings.Count(m.below, "\n"), p.Column)
}

func TestTheFirstFindingsOfBeginnersMistakes(t *testing.T) {
	cases, between := slips(t)
	require.Greater(t, len(cases), 150)
	var out strings.Builder
	for i, m := range cases {
		said := m.said()
		if i > 0 && between[i] == "" {
			between[i] = "\n"
		}
		out.WriteString(between[i] + m.title + m.text + said)
		if !*update {
			require.Equal(t, m.found, said, m.title+m.text)
		}
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/mistakes.txt", []byte(out.String()), 0o644))
	}
}

// requireFixesMend applies every fix of every finding about a text: what it is about is gone,
// and there are fewer errors, or as many and the first of them further on. What the first fix
// of the first finding leads to, again and again, is no circle.
func requireFixesMend(t *testing.T, text string) {
	t.Helper()
	found := compileWhole(text).Diagnostics
	for _, d := range found {
		if strings.Contains(d.Help, "did you mean") {
			require.NotEmpty(t, d.Fixes, "%s: %s\n%s", d.Message, d.Help, text)
		}
		for _, f := range d.Fixes {
			if d.Span.File.Text != text || f.Span.File.Text != text {
				continue // in an imported file
			}
			mended := applied(text, f)
			left := compileWhole(mended).Diagnostics
			for _, l := range left {
				same := l.Code == d.Code && l.Message == d.Message && l.Span.Start == d.Span.Start
				require.False(t, same, "the fix %q leaves %s: %s\n%s", f.Title, d.Code, d.Message, mended)
			}
			before, first := errorsOf(found, text, f)
			after, then := errorsOf(left, text, source.Fix{})
			meaning := d.Code == "cel_syntax" && after > 0 && then == first // it can be read, and what it means is wrong
			require.True(t, after < before || after == before && (d.Severity != source.Error || after == 0 || then > first || meaning),
				"%s: %s\nthe fix %q leaves no less:\n%s%s", d.Code, d.Message, f.Title, mended, listed(left))
		}
	}
	seen := map[string]bool{}
	for len(found) > 0 && len(found[0].Fixes) > 0 && found[0].Fixes[0].Span.File.Text == text {
		require.False(t, seen[text], "the fixes go in a circle: %q\n%s", found[0].Fixes[0].Title, text)
		seen[text] = true
		text = applied(text, found[0].Fixes[0])
		found = compileWhole(text).Diagnostics
	}
}

func applied(text string, f source.Fix) string {
	return text[:f.Span.Start] + f.Text + text[f.Span.End:]
}

// errorsOf counts the errors, and says where the first would stand after a fix.
func errorsOf(found []source.Diagnostic, text string, f source.Fix) (n, first int) {
	first = len(text)
	for _, d := range found {
		if d.Severity != source.Error {
			continue
		}
		if n++; n == 1 {
			first = d.Span.Start
			if f.Title != "" && first > f.Span.Start {
				first += len(f.Text) - (f.Span.End - f.Span.Start)
			}
		}
	}
	return n, first
}

func listed(found []source.Diagnostic) string {
	var out strings.Builder
	for _, d := range found {
		fmt.Fprintf(&out, "  %d: %s: %s\n", d.Span.Start, d.Code, d.Message)
	}
	return out.String()
}

func TestEveryFixOfABeginnersMistakeMends(t *testing.T) {
	cases, _ := slips(t)
	for _, m := range cases {
		t.Run(strings.TrimSpace(m.title), func(t *testing.T) { requireFixesMend(t, m.below+m.text) })
	}
}

func TestEveryFixOfAnExampleMends(t *testing.T) {
	for _, k := range diagnostic.All() {
		if len(k.Beside) == 0 && k.File == "" && len(k.Wrong) < 1<<12 {
			t.Run(k.Code, func(t *testing.T) { requireFixesMend(t, diagnostic.Source(k.Wrong)) })
		}
	}
	for _, e := range otherShapes {
		if len(e.source) < 1<<12 {
			t.Run(e.code, func(t *testing.T) { requireFixesMend(t, e.source) })
		}
	}
}
