package check

import (
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// expression checks a CEL expression and maps what is wrong with it back into
// the contract's text.
func (c *checker) expression(e *syntax.Expr, s expr.Scope) ir.Expr {
	if e == nil || c.env == nil {
		return ir.Expr{}
	}
	return c.expressionAs(e, e.Text, s, func(i expr.Issue) expr.Issue { return i })
}

// expressionAs is expression for one that is compiled as another text; back places
// an issue about that in the text of e.
func (c *checker) expressionAs(e *syntax.Expr, text string, s expr.Scope, back func(expr.Issue) expr.Issue) ir.Expr {
	if len(c.faultyNames) > 0 {
		mentioned, _ := c.env.ParamUses(text, c.faultyNames)
		c.use(len(mentioned) > 0)
	}
	x, issues := c.env.Check(text, s)
	for _, i := range issues {
		c.report(expressionIssue(e, back(i)))
	}
	if !expr.HasErrors(issues) {
		c.noteWalks(e, x, s)
	}
	return x
}

// noteWalks tells what a rule costs that goes through whole containers.
func (c *checker) noteWalks(e *syntax.Expr, x ir.Expr, s expr.Scope) {
	if walks := c.env.Walks(x, s); len(walks) > 0 {
		c.report(wholeStateRule(e, walks))
	}
}

// expressionIssue places an issue of the expression checker in the file.
func expressionIssue(e *syntax.Expr, i expr.Issue) source.Diagnostic {
	at := func(start, end int) source.Span {
		return source.Span{File: e.Span.File, Start: e.Span.Start + start, End: e.Span.Start + end}
	}
	d := diagnostic.Find(i.Code).Diagnostic(at(i.Start, i.End), i.Help, i.Message)
	if i.Fix != nil {
		d.Fixes = []source.Fix{{Title: i.Fix.Title, Span: at(i.Fix.Start, i.Fix.End), Text: i.Fix.Text}}
	}
	return d
}
