package format

import (
	"slices"
	"sort"
	"strings"

	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// A text is laid out in lines. The author decides where they break, as far as it reads well:
//
//   - A declaration begins a line. A block whose braces stand on different lines has one item
//     (member, clause, phase) a line; any other block stands on one line.
//   - Within an item a line may break where a list or an operation goes on, before what is
//     in braces or quotation marks, and before a word that begins a part.
//   - A comment stands at the end of the line it was written on, or on a line of its own.
//   - Of several empty lines one is kept, and none at the edges of a block.
//
// Everything depends on the tokens and on which of them a line break stood between, and each
// break that is made is one that would be kept: that is why the form of a form is itself.

// A role is what a token begins.
type role uint8

const (
	inside      role = iota // nothing
	declaration             // a header or declaration
	member                  // a field of a record, or what the other members are
	phase
	clause // of a stage or a test
)

// A token is a token and what stood before it.
type token struct {
	text   string
	kind   syntax.TokenKind
	role   role
	breaks int  // line breaks between the token before and this one
	spread bool // a brace of a block whose braces stand on different lines
	call   bool // the parenthesis of parameters or arguments: it follows its name without a space
}

func (t *token) isComment() bool { return t.kind == syntax.CommentToken }
func (t *token) is(punct string) bool {
	return t.kind == syntax.PunctToken && t.text == punct
}

// opens and closes report whether a token is a brace of a block with an item a line.
func (t *token) opens() bool  { return t.spread && t.text == "{" }
func (t *token) closes() bool { return t.spread && t.text == "}" }

// A line is a line of the form: tokens (of which CEL and JSON may reach over several lines of
// text), and a comment behind them. A comment of its own is a line without tokens.
type line struct {
	tokens  []*token
	comment *token
	blank   bool   // an empty line stands before it
	goesOn  bool   // it goes on with an item, or is a comment within one
	after   *token // what stands before it, comments left out
}

// item is what the line begins, inside where it begins nothing.
func (l *line) item() role {
	if len(l.tokens) == 0 {
		return inside
	}
	return l.tokens[0].role
}

func (l *line) last() *token { return l.tokens[len(l.tokens)-1] }

// layout cuts the tokens of a tree in lines.
func layout(tree *syntax.File) []*line {
	tokens := tokensOf(tree)
	var lines []*line
	var current *line
	var last *token // that is no comment
	goesOn := goingOn(tokens)
	for i, t := range tokens {
		var before *token
		if i > 0 {
			before = tokens[i-1]
		}
		switch {
		case t.isComment() && t.breaks == 0 && before != nil && !before.isComment():
			current.comment = t
			continue
		case before == nil || breaksBefore(tokens, i):
			current = &line{blank: keepsBlank(before, t), goesOn: goesOn[i], after: last}
			lines = append(lines, current)
		}
		if t.isComment() {
			current.comment = t
		} else {
			current.tokens = append(current.tokens, t)
			last = t
		}
	}
	return lines
}

// goingOn says of each token whether a line that begins with it goes on with an item: what
// follows a comment decides for the comment.
func goingOn(tokens []*token) []bool {
	out := make([]bool, len(tokens))
	goesOn := false
	for i := len(tokens) - 1; i >= 0; i-- {
		if t := tokens[i]; !t.isComment() {
			goesOn = t.role == inside && !t.closes()
		}
		out[i] = goesOn
	}
	return out
}

// keepsBlank reports whether an empty line between two tokens on different lines is kept.
// What is above a comment, or below, decides what the comment is the documentation of.
func keepsBlank(before, t *token) bool {
	return before != nil && t.breaks > 1 && !before.opens() && !t.closes() && (before.isComment() || t.isComment() || t.role != inside)
}

// breaksBefore reports whether a line begins with token i, which is not the first.
func breaksBefore(tokens []*token, i int) bool {
	before, t := tokens[i-1], tokens[i]
	switch {
	case before.isComment(), t.isComment(), t.role == declaration, before.opens(), t.closes():
		return true
	case t.role != inside && t.spread:
		return true
	}
	return t.breaks > 0 && t.role == inside && before.role == inside && mayBreak(before, t)
}

// leaders are words that begin a part of an item.
var leaders = map[string]bool{
	"where": true, "when": true, "except": true, "each": true, "unique": true, "from": true, "to": true,
	"with": true, "or": true, "and": true, "by": true,
}

// mayBreak reports whether a line may end between two tokens within an item.
func mayBreak(before, t *token) bool {
	switch {
	case t.is("{"), t.is("(") && !t.call:
		return isOneOf(before, "=", "|", "&", "(", ",")
	case t.call, isOneOf(before, ":", "?:"), before.is("(") && t.is(")"):
		return false
	case isOneOf(before, ",", "(", "=", "|", "&", "+", "->"):
		return true
	case t.kind == syntax.PunctToken:
		return isOneOf(t, ")", "|", "&", "+")
	case t.kind == syntax.ExprToken, t.kind == syntax.StringToken:
		return true
	}
	return t.kind == syntax.WordToken && leaders[t.text]
}

func isOneOf(t *token, puncts ...string) bool {
	return t.kind == syntax.PunctToken && slices.Contains(puncts, t.text)
}

// gap is the number of spaces between two tokens on one line.
func gap(before, t *token) int {
	switch {
	case t.call, t.is(","), t.is(")"), t.is(":"), t.is("?:"), before.is("("):
		return 0
	case before.is("{") && t.is("}"):
		return 0
	case t.role != inside && !before.is("{"):
		return 2
	}
	return 1
}

// tokensOf prepares the tokens of a tree for their layout.
func tokensOf(tree *syntax.File) []*token {
	roles := rolesOf(tree)
	out := make([]*token, len(tree.Tokens))
	var braces []*token // open, and for each:
	var lines []int     // the line it stands on
	var within [][]*token
	at, end := 0, 0 // the number of line breaks before end
	for i, t := range tree.Tokens {
		text := t.Span.Text()
		breaks := strings.Count(tree.Source.Text[end:t.Span.Start], "\n")
		out[i] = &token{text: text, kind: t.Kind, role: roles[t.Span.Start], breaks: breaks}
		if t.Kind == syntax.CommentToken {
			out[i].text = commentText(t)
		}
		at, end = at+breaks, t.Span.End
		if n := len(braces); n > 0 && out[i].role != inside {
			within[n-1] = append(within[n-1], out[i])
		}
		switch {
		case out[i].is("{"):
			braces, lines, within = append(braces, out[i]), append(lines, at), append(within, nil)
		case out[i].is("}") && len(braces) > 0:
			n := len(braces) - 1
			spread := at > lines[n]
			out[i].spread, braces[n].spread = spread, spread
			for _, item := range within[n] {
				item.spread = spread
			}
			braces, lines, within = braces[:n], lines[:n], within[:n]
		case out[i].is("("):
			out[i].call = i > 1 && tree.Tokens[i-1].Kind == syntax.WordToken && takesArguments(tree.Tokens[i-2])
		}
		at += strings.Count(text, "\n")
	}
	return out
}

// takesArguments reports whether a parenthesis follows the name that follows t.
func takesArguments(t syntax.Token) bool {
	if t.Kind != syntax.WordToken {
		return false
	}
	text := t.Span.Text()
	return text == "stage" || text == "define"
}

// rolesOf says where items begin, by the offset of their first token.
func rolesOf(tree *syntax.File) map[int]role {
	roles := map[int]role{}
	syntax.Walk(tree, func(n any) bool {
		if r, ok := n.(*syntax.RecordType); ok && r.Rest != nil {
			roles[restStart(tree, r)] = member
		}
		if !syntax.IsItem(n) {
			return true
		}
		start := n.(interface{ GetSpan() source.Span }).GetSpan().Start
		switch n.(type) {
		case *syntax.Field:
			roles[start] = member
		case *syntax.Phase:
			roles[start] = phase
		case *syntax.Header, syntax.Decl:
			roles[start] = declaration
		default:
			roles[start] = clause
		}
		return true
	})
	return roles
}

// restStart is the offset of the "*" of "*: TYPE", which is no node.
func restStart(tree *syntax.File, n *syntax.RecordType) int {
	i := tokenAt(tree, n.Rest.(interface{ GetSpan() source.Span }).GetSpan().Start) - 1
	for i > 0 && tree.Tokens[i].Span.Text() != "*" {
		i--
	}
	return tree.Tokens[i].Span.Start
}

// tokenAt is the index of the first token at offset or later.
func tokenAt(tree *syntax.File, offset int) int {
	return sort.Search(len(tree.Tokens), func(i int) bool { return tree.Tokens[i].Span.Start >= offset })
}
