package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Findings that are set aside where they stand: "# poptic:ignore RULE reason" behind the
// line, or on a line of its own above it. It is for one rule, on one line, and says why.
// One that says no reason, or that sets nothing aside, is a finding itself, so that none
// outlives what it was for. Errors are not set aside: they are mended.

const ignoreDirective = syntax.DirectivePrefix + "ignore"

// An ignore is one such comment.
type ignore struct {
	rule, reason string
	at           source.Span
	line         int // that it is about
	used         bool
}

// ignores reads the comments of a file.
func ignores(f *syntax.File) (out []*ignore) {
	for i, t := range f.Tokens {
		text := strings.TrimSpace(strings.TrimPrefix(t.Span.Text(), "#"))
		rest, ok := strings.CutPrefix(text, ignoreDirective)
		if t.Kind != syntax.CommentToken || !ok || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			continue
		}
		rule, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		g := &ignore{rule: rule, reason: strings.TrimSpace(reason), at: t.Span, line: f.Source.Position(t.Span.Start).Line}
		if i == 0 || f.Source.Position(f.Tokens[i-1].Span.End).Line < g.line { // on a line of its own
			for _, next := range f.Tokens[i+1:] {
				if next.Kind != syntax.CommentToken {
					g.line = f.Source.Position(next.Span.Start).Line
					break
				}
			}
		}
		out = append(out, g)
	}
	return out
}

// setAside leaves out what is ignored, and adds what is wrong with the comments that
// ignore. Whether one is used is known of rules that were looked for alone, in a file
// without errors.
func (p *program) setAside(all []source.Diagnostic, looked map[string]bool, c *Config) []source.Diagnostic {
	if p.tree == nil {
		return all
	}
	comments := ignores(p.tree)
	if len(comments) == 0 {
		return all
	}
	out := slices.DeleteFunc(all, func(d source.Diagnostic) bool {
		if d.Span.File != p.tree.Source || !looked[d.Code] || slices.ContainsFunc(p.errors, func(e source.Diagnostic) bool { return e.Code == d.Code && e.Span == d.Span }) {
			return false
		}
		text := d.Span.Text()
		line := d.Span.File.Position(d.Span.Start + len(text) - len(strings.TrimLeft(text, " \t\r\n"))).Line
		hit := false
		for _, g := range comments {
			if g.rule == d.Code && g.line == line {
				g.used, hit = true, true
			}
		}
		return hit
	})
	add := func(k *diagnostic.Kind, g *ignore, help, message string, fix ...source.Fix) {
		r, _ := Find(k.Code)
		if level := c.Level(r); level != Off {
			d := k.Diagnostic(g.at, help, message)
			d.Severity, d.Fixes = level.severity(), fix
			out = append(out, d)
		}
	}
	faulty := source.HasErrors(p.errors)
	for _, g := range comments {
		_, isRule := Find(g.rule)
		switch {
		case g.rule == "":
			add(diagnostic.BadIgnore, g, "write `# poptic:ignore RULE reason`; `poptic check --list-rules` lists the rules", "it does not say what is ignored")
		case !isRule && diagnostic.Find(g.rule) != nil:
			add(diagnostic.BadIgnore, g, "mend it; what a rule finds can be ignored, and an error cannot", g.rule+" is an error")
		case !isRule:
			help, near := "`poptic check --list-rules` lists the rules", spell.Nearest(g.rule, codes())
			if near != "" {
				help = "did you mean `" + near + "`?"
			}
			add(diagnostic.BadIgnore, g, help, fmt.Sprintf("there is no rule %q", g.rule))
		case g.reason == "":
			add(diagnostic.BadIgnore, g, "say behind the rule why it is all right here", "it does not say why "+g.rule+" is ignored")
		case !g.used && looked[g.rule] && !faulty && p.contract != nil:
			add(diagnostic.UnusedIgnore, g, "leave it out", g.rule+" is not found on this line", source.Fix{Title: "leave it out", Span: g.at})
		}
	}
	return out
}

// codes lists the codes of the rules.
func codes() (out []string) {
	for _, r := range rules {
		out = append(out, r.Code)
	}
	return out
}
