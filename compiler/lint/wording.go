package lint

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// What is said to people and models: messages, and the comment that is a stage's task.

// placeholder is what other languages put values in for.
var placeholder = regexp.MustCompile(`\$?\{[A-Za-z_][A-Za-z0-9_.\[\]]*\}|%[sdvq]\b`)

// messageValues finds messages that look as if a value were put into them, and such as
// repeat a constant.
func messageValues(p *program) (out []source.Diagnostic) {
	if p.contract == nil {
		return nil
	}
	constants := map[string]string{}
	for _, d := range p.tree.Decls {
		if d, ok := d.(*syntax.ConstDecl); ok && d.Value != nil {
			constants[d.Name.Text] = strings.Trim(d.Value.Span.Text(), `"`)
		}
	}
	look := func(m *syntax.StringLit, e *syntax.Expr) {
		if m == nil || e == nil {
			return
		}
		if found := placeholder.FindString(m.Value); found != "" {
			out = append(out, diagnostic.MessageValue.Diagnostic(m.Span, "say what must hold without naming values", fmt.Sprintf("nothing is put in for %q: a message is told as it stands", found)))
			return
		}
		for name, value := range constants {
			if len(value) > 1 && hasWord(e.Text, name) && hasWord(m.Value, value) {
				out = append(out, diagnostic.MessageValue.Diagnostic(m.Span, "say it without the value, so that it stays true when "+name+" is another one", fmt.Sprintf("the message repeats the value of %s, and does not change with it", name)))
				return
			}
		}
	}
	for _, d := range p.tree.Decls {
		syntax.Walk(d, func(n any) bool {
			switch n := n.(type) {
			case *syntax.InvariantDecl:
				look(n.Message, n.Expr)
			case *syntax.Clause:
				look(n.Message, n.Expr)
			case *syntax.Constraint:
				look(n.Message, n.Expr)
			}
			return true
		})
	}
	return out
}

// hasWord reports whether a text has a word, with nothing of a word or number beside it.
func hasWord(text, word string) bool {
	return regexp.MustCompile(`(^|[^\w.])` + regexp.QuoteMeta(word) + `($|[^\w.]|[.]$|[.]\s)`).MatchString(text)
}

// undocumentedStages finds stages whose actors are given no task.
func undocumentedStages(p *program) (out []source.Diagnostic) {
	p.eachStage(func(s *ir.Stage, d *syntax.StageDecl) {
		if strings.TrimSpace(d.Doc) == "" && len(s.Read)+len(s.Write)+len(s.Blind) > 0 && s.From == "" {
			out = append(out, diagnostic.UndocumentedStage.Diagnostic(d.Name.Span, "say above it, in a comment, what its actor is to do", "stage "+s.Name+" has no documentation: its actor is given no task"))
		}
	})
	return out
}

// silentRules finds conditions that tell no message.
func silentRules(p *program) (out []source.Diagnostic) {
	if p.contract == nil {
		return nil
	}
	for _, d := range p.tree.Decls {
		switch d := d.(type) {
		case *syntax.InvariantDecl:
			if d.Message == nil {
				out = append(out, diagnostic.SilentRule.Diagnostic(d.Name.Span, "say in quotation marks what must hold", d.Name.Text+" has no message: who is refused is shown its CEL, or nothing"))
			}
		case *syntax.StageDecl:
			for _, cl := range d.Clauses {
				if cl.Expr != nil && cl.Message == nil {
					out = append(out, diagnostic.SilentRule.Diagnostic(cl.Keyword.Span, "say in quotation marks what must hold", "this "+cl.Keyword.Text+" has no message: who is refused is shown its CEL, or nothing"))
				}
			}
		}
	}
	return out
}
