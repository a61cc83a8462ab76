package compiler_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

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
	found := compile(m.below + m.text).Diagnostics
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
	for _, d := range compile(text[:f.Span.Start] + f.Text + text[f.Span.End:]).Diagnostics {
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
