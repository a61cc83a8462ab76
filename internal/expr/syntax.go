package expr

import (
	"strings"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
)

// parse reads src. The tree is nil if there are errors; all of them are worded here.
func (e *Env) parse(src string) (*ast.AST, *extents, []Issue) {
	if len(src) > e.limits.MaxSource {
		return nil, nil, []Issue{whole(src, tooLarge("bytes", e.limits.MaxSource))}
	}
	tokens := tokenize(src)
	if issue, found := plainMistake(src, tokens); found {
		return nil, nil, []Issue{issue}
	}
	if tooDeep(src, tokens, e.limits.MaxNesting) {
		return nil, nil, []Issue{whole(src, tooLarge("levels of nesting", e.limits.MaxNesting))}
	}
	tree, errs := e.parser.Parse(common.NewTextSource(src))
	if problems := errs.GetErrors(); len(problems) > 0 {
		return nil, nil, []Issue{e.parseError(src, tokens, problems)}
	}
	if issue, found := inexactLiteral(src, tokens); found {
		return nil, nil, []Issue{issue}
	}
	if ast.NodeCount(tree) > e.limits.MaxNodes {
		return nil, nil, []Issue{whole(src, tooLarge("parts", e.limits.MaxNodes))}
	}
	return tree, newExtents(src, tokens, tree.SourceInfo()), nil
}

// inexactLiteral finds a number that the parser rounded to another one.
func inexactLiteral(src string, tokens []token) (Issue, bool) {
	for _, t := range tokens {
		text := src[t.start:t.end]
		if t.kind != numberToken || strings.HasPrefix(text, "0x") || !strings.ContainsAny(text, ".eE") || !lost(text) {
			continue
		}
		issue := syntax("no double holds this number; it would be read as another one", "write as many digits as a double tells apart, or a whole number as an int")
		issue.Start, issue.End = t.start, t.end
		return issue, true
	}
	return Issue{}, false
}

func whole(src string, i Issue) Issue {
	i.Start, i.End = 0, len(src)
	return i
}

func tooDeep(src string, tokens []token, limit int) bool {
	depth := 0
	for _, t := range tokens {
		switch {
		case t.kind != punctuation:
		case strings.IndexByte("([{", src[t.start]) >= 0:
			if depth++; depth > limit {
				return true
			}
		case strings.IndexByte(")]}", src[t.start]) >= 0:
			depth--
		}
	}
	return false
}

// words are operators of other languages.
var words = map[string]string{"and": "&&", "or": "||", "not": "!", "is": "==", "equals": "=="}

// plainMistake finds what can be told from the tokens alone: an empty text, an open
// string or bracket, an operator of another language.
func plainMistake(src string, tokens []token) (Issue, bool) {
	if len(tokens) == 0 {
		return whole(src, syntax("the expression is empty", "write a condition in CEL")), true
	}
	for i, t := range tokens {
		if issue, found := tokenMistake(src, tokens, i); found {
			if issue.Start == 0 && issue.End == 0 {
				issue.Start, issue.End = t.start, t.end
			}
			return issue, true
		}
	}
	return Issue{}, false
}

func tokenMistake(src string, tokens []token, i int) (Issue, bool) {
	t := tokens[i]
	text := src[t.start:t.end]
	switch {
	case t.kind == openTextToken:
		return syntax("this string has no end", "close it with "+quoteOf(text)), true
	case t.kind == unknownToken:
		return strangeToken(src, tokens, i)
	case t.kind == punctuation && strings.Contains(brackets, text) && t.mate < 0:
		if strings.Contains("([{", text) {
			return syntax("this `"+text+"` is never closed", ""), true
		}
		return syntax("this `"+text+"` closes nothing", ""), true
	case t.kind == nameToken && words[text] != "" && betweenOperands(src, tokens, i, text == "not"):
		issue := syntax("`"+text+"` is no operator", "write `"+words[text]+"`")
		issue.Fix = &Fix{Start: t.start, End: t.end, Text: words[text], Title: "change to `" + words[text] + "`"}
		return issue, true
	}
	return Issue{}, false
}

func quoteOf(text string) string {
	text = strings.TrimLeft(text, "rRbB")
	if strings.HasPrefix(text, `"""`) || strings.HasPrefix(text, "'''") {
		return text[:3]
	}
	return text[:1]
}

// betweenOperands reports whether the name at i stands where only an operator can:
// directly before an operand, and directly after one unless it is a prefix.
func betweenOperands(src string, tokens []token, i int, prefix bool) bool {
	ends := func(t token) bool {
		return t.kind != punctuation || strings.Contains(")]}", src[t.start:t.end])
	}
	begins := func(t token) bool {
		return t.kind != punctuation || !prefix && strings.Contains("([{!-", src[t.start:t.end])
	}
	if i+1 >= len(tokens) || !begins(tokens[i+1]) {
		return false
	}
	return prefix || i > 0 && ends(tokens[i-1])
}

// strangeToken is a character that CEL has no use for.
func strangeToken(src string, tokens []token, i int) (Issue, bool) {
	t := tokens[i]
	at := func(issue Issue, end int, text string) (Issue, bool) {
		issue.Start, issue.End = t.start, end
		issue.Fix = &Fix{Start: t.start, End: end, Text: text, Title: "change to `" + text + "`"}
		return issue, true
	}
	rest := src[t.start:]
	switch {
	case strings.HasPrefix(rest, "="):
		if i > 0 && tokens[i-1].end == t.start && strings.HasSuffix(src[:t.start], "==") {
			issue := syntax("`===` is no operator", "`==` compares values")
			issue.Start, issue.End = tokens[i-1].start, t.end
			issue.Fix = &Fix{Start: issue.Start, End: t.end, Text: "==", Title: "change to `==`"}
			return issue, true
		}
		return at(syntax("`=` is no operator", "`==` compares values"), t.end, "==")
	case strings.HasPrefix(rest, "&"):
		return at(syntax("`&` is no operator", "`&&` joins two conditions"), t.end, "&&")
	case strings.HasPrefix(rest, "|"):
		return at(syntax("`|` is no operator", "`||` joins two conditions"), t.end, "||")
	case strings.HasPrefix(rest, "“"), strings.HasPrefix(rest, "”"):
		return at(syntax("a string stands in plain quotes", `write "..." or '...'`), t.end, `"`)
	case strings.HasPrefix(rest, "#"):
		return syntax("a comment inside an expression begins with `//`", ""), true
	}
	return syntax("`"+src[t.start:t.end]+"` means nothing in an expression", ""), true
}

// parseError words the first of CEL's syntax errors, by the place it names.
func (e *Env) parseError(src string, tokens []token, problems []*common.Error) Issue {
	first := problems[0]
	for _, p := range problems {
		if p.Location.Line() < first.Location.Line() || p.Location.Line() == first.Location.Line() && p.Location.Column() < first.Location.Column() {
			first = p
		}
	}
	switch message := strings.ToLower(first.Message); {
	case strings.Contains(message, "recursion"):
		return whole(src, tooLarge("levels of nesting", e.limits.MaxNesting))
	case strings.Contains(message, "expression count"), strings.Contains(message, "node"):
		return whole(src, tooLarge("parts", e.limits.MaxNodes))
	}
	offset := locate(src, first.Location)
	x := &extents{src: src, tokens: tokens}
	if offset >= tokens[len(tokens)-1].end {
		last := tokens[len(tokens)-1]
		issue := syntax("the expression ends too early", "something must follow `"+src[last.start:last.end]+"`")
		issue.Start, issue.End = last.start, last.end
		return issue
	}
	i := x.tokenAt(offset)
	issue := misuse(first.Message, x.text(i))
	issue.Start, issue.End = tokens[i].start, tokens[i].end
	return issue
}

// misuse words an error at a token: the wrong use of a macro, a number out of
// range, or a token that cannot stand where it does.
func misuse(message, text string) Issue {
	switch {
	case strings.Contains(message, "has() macro"), strings.Contains(message, "has("):
		return syntax("has() takes one member", "such as `has(x.member)`")
	case strings.Contains(message, "must be a simple name"), strings.Contains(message, "simple identifier"):
		return syntax("a macro's variable is a plain name", "such as `x` in `list.all(x, ...)`")
	case strings.Contains(message, "invalid int literal"), strings.Contains(message, "invalid double literal"):
		return syntax("the number is out of range", "an int has 64 bits")
	case strings.Contains(message, "reserved identifier"):
		return syntax("`"+text+"` is a reserved word", "a choice is written `condition ? one : other`")
	}
	return syntax("`"+text+"` cannot stand here", "")
}

// locate is the byte offset of a line and a column counted in code points.
func locate(src string, l common.Location) int {
	offset := 0
	for line := 1; line < l.Line(); line++ {
		next := strings.IndexByte(src[offset:], '\n')
		if next < 0 {
			return len(src)
		}
		offset += next + 1
	}
	column := 0
	for i := range src[offset:] {
		if column == l.Column() {
			return offset + i
		}
		column++
	}
	return len(src)
}

// isName reports whether s can follow a dot.
func isName(s string) bool {
	return s != "" && isLetter(s[0]) && spanOf(s, isNameByte) == len(s)
}
