package expr

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
)

// From a text to a syntax tree, and from its nodes back to ranges of the text.
//
// The text is cut into tokens first. The CEL parser keeps one position per node, often
// that of an operator, and words its errors for those who know its grammar. Exact
// ranges, and what is wrong with a text that does not parse, come from the tokens: the
// tokenizer is plain and never fails.

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
	tree, errs := e.parser.Parse(common.NewTextSource(hideNames(src, tokens)))
	if problems := errs.GetErrors(); len(problems) > 0 {
		return nil, nil, []Issue{e.parseError(src, tokens, problems)}
	}
	inexact := inexactLiterals(src, tokens)
	if len(inexact) > 0 && !e.decimals { // beside a decimal they are exact
		return nil, nil, []Issue{inexactLiteral(inexact[0])}
	}
	if ast.NodeCount(tree) > e.limits.MaxNodes {
		return nil, nil, []Issue{whole(src, tooLarge("parts", e.limits.MaxNodes))}
	}
	x := newExtents(src, tokens, tree.SourceInfo())
	x.inexact = inexact
	if !showNames(tree, x) {
		return nil, nil, []Issue{whole(src, misplacedQuotes())}
	}
	return tree, x, nil
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

// inexactLiterals finds the numbers that the parser rounded to others.
func inexactLiterals(src string, tokens []token) []token {
	var out []token
	for _, t := range tokens {
		text := src[t.start:t.end]
		if t.kind == numberToken && !strings.HasPrefix(text, "0x") && strings.ContainsAny(text, ".eE") && lost(text) {
			out = append(out, t)
		}
	}
	return out
}

func inexactLiteral(t token) Issue {
	issue := syntax("no double holds this number; it would be read as another one", "write as many digits as a double tells apart, or a whole number as an int")
	issue.Start, issue.End = t.start, t.end
	return issue
}

type tokenKind uint8

const (
	nameToken tokenKind = iota
	numberToken
	textToken       // a string or bytes literal
	openTextToken   // one without its end
	quotedToken     // a member's name in backquotes
	punctuation     // an operator or bracket
	unknownToken    // a character that CEL has no use for
	longestOperator = 2
)

type token struct {
	kind       tokenKind
	start, end int
	mate       int // index of the matching bracket, -1 if there is none
}

const brackets = "()[]{}"

// tokenize splits src into tokens and pairs the brackets.
func tokenize(src string) []token {
	var out []token
	for at := 0; at < len(src); {
		switch c := src[at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			at++
		case strings.HasPrefix(src[at:], "//"):
			at += lineLength(src[at:])
		default:
			t := scan(src, at)
			out = append(out, t)
			at = t.end
		}
	}
	pairBrackets(src, out)
	return out
}

// pairBrackets sets the mates. A bracket that closes the wrong kind has none.
func pairBrackets(src string, tokens []token) {
	var open []int
	for i := range tokens {
		if tokens[i].kind != punctuation {
			continue
		}
		switch kind := strings.IndexByte(brackets, src[tokens[i].start]); {
		case kind < 0:
		case kind%2 == 0:
			open = append(open, i)
		case len(open) > 0 && src[tokens[open[len(open)-1]].start] == brackets[kind-1]:
			mate := open[len(open)-1]
			tokens[i].mate, tokens[mate].mate = mate, i
			open = open[:len(open)-1]
		}
	}
}

func lineLength(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

func scan(src string, at int) token {
	rest := src[at:]
	if n, closed := textLength(rest); n > 0 {
		kind := textToken
		if !closed {
			kind = openTextToken
		}
		return token{kind: kind, start: at, end: at + n, mate: -1}
	}
	switch c := rest[0]; {
	case c == '`':
		n, closed := quotedLength(rest)
		kind := quotedToken
		if !closed {
			kind = openTextToken
		}
		return token{kind: kind, start: at, end: at + n, mate: -1}
	case isLetter(c):
		return token{kind: nameToken, start: at, end: at + spanOf(rest, isNameByte), mate: -1}
	case isDigit(c), c == '.' && len(rest) > 1 && isDigit(rest[1]):
		return token{kind: numberToken, start: at, end: at + numberLength(rest), mate: -1}
	}
	for _, operator := range []string{"&&", "||", "==", "!=", "<=", ">="} {
		if strings.HasPrefix(rest, operator) {
			return token{kind: punctuation, start: at, end: at + longestOperator, mate: -1}
		}
	}
	if strings.IndexByte("()[]{}.,:?!<>+-*/%", rest[0]) >= 0 {
		return token{kind: punctuation, start: at, end: at + 1, mate: -1}
	}
	_, n := utf8.DecodeRuneInString(rest)
	return token{kind: unknownToken, start: at, end: at + n, mate: -1}
}

func spanOf(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameByte(c byte) bool { return isLetter(c) || isDigit(c) }

// isName reports whether s can follow a dot.
func isName(s string) bool {
	return s != "" && isLetter(s[0]) && spanOf(s, isNameByte) == len(s)
}

// numberLength is the length of the number at the start of s, its suffix included.
func numberLength(s string) int {
	n := 0
	for n < len(s) {
		c := s[n]
		sign := (c == '+' || c == '-') && n > 0 && s[n-1]|0x20 == 'e' && !strings.HasPrefix(s, "0x")
		point := c == '.' && n+1 < len(s) && isDigit(s[n+1])
		if !isNameByte(c) && !sign && !point {
			break
		}
		n++
	}
	return n
}

// textLength is the length of the string literal at the start of s, 0 if there is
// none. closed is false if the literal has no end; it then reaches to the end of
// its line, or of s if it may have several.
func textLength(s string) (n int, closed bool) {
	prefix := 0
	for prefix < len(s) && prefix < 2 && strings.IndexByte("rRbB", s[prefix]) >= 0 {
		prefix++
	}
	if prefix == len(s) || s[prefix] != '"' && s[prefix] != '\'' {
		return 0, false
	}
	raw := strings.ContainsAny(s[:prefix], "rR")
	quote := s[prefix : prefix+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s[prefix:], triple) {
		quote = triple
	}
	for at := prefix + len(quote); at < len(s); at++ {
		switch {
		case strings.HasPrefix(s[at:], quote):
			return at + len(quote), true
		case s[at] == '\\' && !raw:
			at++
		case s[at] == '\n' && len(quote) == 1:
			return at, false
		}
	}
	return len(s), false
}

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
	case t.kind == openTextToken && text[0] == '`':
		return syntax("this name has no end", "close it with a backquote"), true
	case t.kind == openTextToken:
		return syntax("this string has no end", "close it with "+quoteOf(text)), true
	case t.kind == quotedToken:
		return quotedMistake(src, tokens, i)
	case t.kind == nameToken && slices.Contains(reserved[:4], text) && isMember(src, tokens, i):
		issue := syntax("`"+text+"` is a word of the language; as the name of a member it stands in backquotes", "write "+memberSpelling(text))
		issue.Fix = &Fix{Start: t.start, End: t.end, Text: memberSpelling(text), Title: "put the name in backquotes"}
		return issue, true
	case t.kind == unknownToken:
		return strangeToken(src, tokens, i)
	case t.kind == punctuation && strings.Contains(brackets, text) && t.mate < 0:
		if strings.Contains("([{", text) {
			return syntax("this `"+text+"` is never closed", ""), true
		}
		return syntax("this `"+text+"` closes nothing", ""), true
	case t.kind == nameToken && words[text] != "" && betweenOperands(src, tokens, i, text == "not"):
		issue := syntax("`"+text+"` is no operator", "write `"+words[text]+"`")
		if end := comparisonEnd(src, tokens, i); text == "not" && end > 0 {
			negated := "!(" + strings.TrimSpace(src[t.end:end]) + ")"
			issue.Help = "write `" + negated + "`"
			issue.Fix = &Fix{Start: t.start, End: end, Text: negated, Title: "write `" + negated + "`"}
			return issue, true
		}
		issue.Fix = &Fix{Start: t.start, End: t.end, Text: words[text], Title: "change to `" + words[text] + "`"}
		return issue, true
	}
	return Issue{}, false
}

// comparisonEnd is where the comparison behind token i ends, 0 if there is none.
func comparisonEnd(src string, tokens []token, i int) int {
	compares := false
	for j := i + 1; j < len(tokens); j++ {
		switch text := src[tokens[j].start:tokens[j].end]; {
		case strings.Contains("([{", text) && tokens[j].kind == punctuation && tokens[j].mate > j:
			j = tokens[j].mate
		case text == "&&" || text == "||" || text == "and" || text == "or" || text == "?" || text == ":" || text == "," || text == ")":
			if !compares {
				return 0
			}
			return tokens[j-1].end
		case slices.Contains([]string{"<", ">", "<=", ">=", "==", "!=", "in"}, text):
			compares = true
		}
	}
	if !compares {
		return 0
	}
	return tokens[len(tokens)-1].end
}

// quotedMistake finds a name in backquotes that is none, or that names no member.
func quotedMistake(src string, tokens []token, i int) (Issue, bool) {
	t := tokens[i]
	_, ok := quotedName(src[t.start:t.end])
	switch {
	case !ok:
		return syntax("this is no name of a member", "in backquotes it is written as a JSON string is in quotation marks, with the same escapes"), true
	case !isMember(src, tokens, i):
		return misplacedQuotes(), true
	}
	return Issue{}, false
}

func misplacedQuotes() Issue {
	return syntax("only the name of a member stands in backquotes", "after a dot: r.`x-id`; a string stands in quotation marks")
}

// isMember reports whether the token at i stands where the name of a member does.
func isMember(src string, tokens []token, i int) bool {
	text := func(i int) string {
		if i < 0 {
			return ""
		}
		return src[tokens[i].start:tokens[i].end]
	}
	return text(i-1) == "." || text(i-1) == "?" && text(i-2) == "."
}

// words are operators of other languages.
var words = map[string]string{"and": "&&", "or": "||", "not": "!", "is": "==", "equals": "=="}

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
	if issue, ok := bareMember(src, t.start); ok {
		return issue, true
	}
	if issue, ok := strangeOperator(src, tokens, i); ok {
		return issue, true
	}
	switch {
	case strings.HasPrefix(rest, ";") && i+1 < len(tokens):
		return at(syntax("`;` means nothing in an expression", "there is one expression; conditions are joined by `&&`"), t.end, " &&")
	case strings.HasPrefix(rest, "="):
		return at(syntax("`=` is no operator", "`==` compares values"), t.end, "==")
	case strings.HasPrefix(rest, "&"):
		return at(syntax("`&` is no operator", "`&&` joins two conditions"), t.end, "&&")
	case strings.HasPrefix(rest, "|"):
		return at(syntax("`|` is no operator", "`||` joins two conditions"), t.end, "||")
	case strings.HasPrefix(rest, "“"), strings.HasPrefix(rest, "”"):
		return at(syntax("a string stands in plain quotes", `write "..." or '...'`), t.end, `"`)
	case strings.HasPrefix(rest, "#"):
		return at(syntax("a comment inside an expression begins with `//`", ""), t.start+1, "//")
	case i > 0 && src[tokens[i-1].start:tokens[i-1].end] == "/" && strings.HasPrefix(rest, "^"):
		return syntax("a regular expression is a string, and stands between quotation marks", `write text.matches("^...$")`), true
	}
	return syntax("`"+src[t.start:t.end]+"` means nothing in an expression", ""), true
}

// bareMember is about the name of a member, behind a dot, that has other characters in it than
// names have, one of them at a place.
func bareMember(src string, at int) (Issue, bool) {
	part := func(r rune) bool { return r == '$' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	start := strings.LastIndexFunc(src[:at], func(r rune) bool { return !part(r) }) + 1
	end := at + strings.IndexFunc(src[at:]+" ", func(r rune) bool { return !part(r) })
	if end == at || start == 0 || src[start-1] != '.' {
		return Issue{}, false
	}
	issue := syntax("the name of this member stands in backquotes", "write "+memberSpelling(src[start:end]))
	issue.Start, issue.End = start, end
	issue.Fix = &Fix{Start: start, End: end, Text: memberSpelling(src[start:end]), Title: "put the name in backquotes"}
	return issue, true
}

// parseError words the first of CEL's syntax errors, by the place it names.
func (e *Env) parseError(src string, tokens []token, problems []*common.Error) Issue {
	first := problems[0]
	for _, p := range problems {
		if p.Location.Line() < first.Location.Line() || p.Location.Line() == first.Location.Line() && p.Location.Column() < first.Location.Column() {
			first = p
		}
	}
	for _, known := range limitErrors {
		if strings.HasPrefix(first.Message, known.sign) {
			return whole(src, known.issue(e.limits))
		}
	}
	offset := locate(src, first.Location)
	x := &extents{src: src, tokens: tokens}
	for i := range tokens { // a mark of another language that CEL reads as two of its own
		if i > 0 && tokens[i].kind == punctuation && tokens[i-1].kind == punctuation && tokens[i-1].end == tokens[i].start {
			if issue, ok := strangeOperator(src, tokens, i); ok {
				return issue
			}
		}
	}
	if offset >= tokens[len(tokens)-1].end {
		last := tokens[len(tokens)-1]
		issue := syntax("the expression ends too early", "something must follow `"+src[last.start:last.end]+"`")
		issue.Start, issue.End = last.start, last.end
		return issue
	}
	i := x.tokenAt(offset)
	issue := standing(src, tokens, i)
	for _, known := range misuses {
		if strings.HasPrefix(first.Message, known.sign) {
			issue = known.issue(x.text(i))
		}
	}
	issue.Start, issue.End = tokens[i].start, tokens[i].end
	return issue
}

// limitErrors and misuses tell CEL's syntax errors apart, by how their texts begin: what
// comes later may be out of the source. Any other is a token that cannot stand where it
// does.
var limitErrors = []struct {
	sign  string
	issue func(l Limits) Issue
}{
	{"expression recursion limit exceeded", func(l Limits) Issue { return tooLarge("levels of nesting", l.MaxNesting) }},
	{"max recursion depth exceeded", func(l Limits) Issue { return tooLarge("levels of nesting", l.MaxNesting) }},
	{"expression count exceeds limit", func(l Limits) Issue { return tooLarge("parts", l.MaxNodes) }},
}

var misuses = []struct {
	sign  string
	issue func(token string) Issue
}{
	{"invalid argument to has() macro", func(string) Issue {
		return syntax("has() takes one member", "such as `has(x.member)`; whether a map has a key is asked by `\"key\" in m`")
	}},
	{"argument must be a simple name", notAName},
	{"cel.bind() variable names must be simple identifiers", notAName},
	{"invalid int literal", outOfBits},
	{"invalid double literal", outOfBits},
	{"reserved identifier", func(token string) Issue {
		help := "nothing in an expression can have this name; call it otherwise where it is declared"
		if token == "if" || token == "else" {
			help = "a choice is written `condition ? one : other`"
		}
		return syntax("`"+token+"` is a reserved word", help)
	}},
}

func notAName(string) Issue {
	return syntax("a macro's variable is a plain name", "such as `x` in `list.all(x, ...)`")
}

func outOfBits(string) Issue { return syntax("the number is out of range", "an int has 64 bits") }

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

// A span is a range of bytes of the source.
type span struct{ start, end int }

// extents finds the exact range of every node of a syntax tree.
type extents struct {
	src     string
	tokens  []token
	info    *ast.SourceInfo
	bytes   []int   // byte offset of every code point, and the end
	inexact []token // literals that are other numbers as doubles
}

func newExtents(src string, tokens []token, info *ast.SourceInfo) *extents {
	x := &extents{src: src, tokens: tokens, info: info}
	for i := range src {
		x.bytes = append(x.bytes, i)
	}
	x.bytes = append(x.bytes, len(src))
	return x
}

// of is the range of e, without parentheses around it.
func (x *extents) of(e ast.Expr) span {
	if len(x.tokens) == 0 {
		return span{0, len(x.src)}
	}
	mark := x.mark(e.ID())
	if x.text(mark) == "(" && isMade(e) {
		return x.call(mark, nil)
	}
	if x.isExactLiteral(e) {
		return x.literal(mark)
	}
	switch e.Kind() {
	case ast.SelectKind:
		sel := e.AsSelect()
		if sel.IsTestOnly() {
			return x.call(mark, nil)
		}
		return span{x.operand(sel.Operand()).start, x.tokens[min(mark+1, len(x.tokens)-1)].end}
	case ast.CallKind:
		return x.callNode(e, mark)
	case ast.ListKind, ast.MapKind, ast.StructKind:
		return span{x.tokens[mark].start, x.closing(mark)}
	case ast.ComprehensionKind:
		return x.fold(e, mark)
	case ast.LiteralKind:
		return x.literal(mark)
	}
	t := x.tokens[mark]
	return span{t.start, t.end}
}

// literal is the range of the literal at a token, which may be its sign.
func (x *extents) literal(mark int) span {
	end := x.tokens[mark].end
	if x.text(mark) == "-" {
		end = x.tokens[min(mark+1, len(x.tokens)-1)].end
	}
	return span{x.tokens[mark].start, end}
}

// isMade reports whether e, noted at a parenthesis, was made by a macro: its range
// is the macro's then. Calls, has() and macros themselves are noted there as well.
func isMade(e ast.Expr) bool {
	switch e.Kind() {
	case ast.CallKind:
		_, operator := operatorText(e.AsCall().FunctionName())
		return operator
	case ast.SelectKind:
		return !e.AsSelect().IsTestOnly()
	case ast.ComprehensionKind:
		return false
	}
	return true
}

func (x *extents) callNode(e ast.Expr, mark int) span {
	c := e.AsCall()
	args := c.Args()
	switch f := c.FunctionName(); f {
	case operators.Index, operators.OptIndex:
		return span{x.operand(args[0]).start, x.closing(mark)}
	case operators.OptSelect:
		return span{x.operand(args[0]).start, x.tokens[min(mark+2, len(x.tokens)-1)].end}
	case operators.LogicalNot, operators.Negate:
		return span{x.tokens[mark].start, x.operand(args[0]).end}
	case operators.Conditional:
		return span{x.operand(args[0]).start, x.operand(args[2]).end}
	default:
		if _, binary := operatorText(f); binary && len(args) == 2 {
			return span{x.operand(args[0]).start, x.operand(args[1]).end}
		}
	}
	if c.IsMemberFunction() {
		return x.call(mark, c.Target())
	}
	return x.call(mark, nil)
}

// call is the range of a call whose opening parenthesis is at token open. Without
// a target it begins with the (qualified) name before the parenthesis.
func (x *extents) call(open int, target ast.Expr) span {
	end := x.closing(open)
	if target != nil {
		return span{x.operand(target).start, end}
	}
	first := open
	if first > 0 && x.tokens[first-1].kind == nameToken {
		first = x.chain(first - 1)
	}
	return span{x.tokens[first].start, end}
}

// chain is the token at which the members, indexes and calls begin whose last token is i.
func (x *extents) chain(i int) int {
	for {
		if open := x.tokens[i].mate; open >= 0 && open < i {
			i = open
			called := x.text(i) == "(" && i > 0 && x.tokens[i-1].kind == nameToken && x.text(i-1) != "in"
			if called || x.text(i) == "[" && i > 0 && x.endsOperand(i-1) {
				i--
				continue
			}
		}
		dot := i - 1
		if dot > 0 && x.text(dot) == "?" {
			dot-- // the member is optional
		}
		if dot < 0 || x.text(dot) != "." {
			return i
		}
		if dot == 0 || !x.endsOperand(dot-1) {
			return dot
		}
		i = dot - 1
	}
}

// endsOperand reports whether a token may be the last one of an operand.
func (x *extents) endsOperand(i int) bool {
	switch t := x.tokens[i]; t.kind {
	case nameToken:
		return x.text(i) != "in"
	case punctuation:
		return t.mate >= 0 && t.mate < i
	default:
		return true
	}
}

// fold is the range of a macro that was expanded to a comprehension.
func (x *extents) fold(e ast.Expr, mark int) span {
	c := e.AsComprehension()
	if c.IterRange().Kind() == ast.ListKind && c.IterRange().AsList().Size() == 0 {
		return x.call(mark, nil)
	}
	return x.call(mark, c.IterRange())
}

// operand is the range of e with the parentheses around it.
func (x *extents) operand(e ast.Expr) span {
	s := x.of(e)
	for {
		before, after := x.tokenAt(s.start)-1, x.tokenAt(s.end-1)+1
		if before < 0 || after >= len(x.tokens) || x.text(before) != "(" || x.tokens[before].mate != after {
			return s
		}
		if before > 0 && x.tokens[before-1].kind == nameToken && x.text(before-1) != "in" {
			return s // the parentheses of a call
		}
		s = span{x.tokens[before].start, x.tokens[after].end}
	}
}

// functionName is the range of the name in a call.
func (x *extents) functionName(e ast.Expr) span {
	mark := x.mark(e.ID())
	if mark > 0 && x.tokens[mark-1].kind == nameToken {
		return span{x.tokens[mark-1].start, x.tokens[mark-1].end}
	}
	return x.of(e)
}

// memberName is the range of the name after the dot of a selection.
func (x *extents) memberName(e ast.Expr) span {
	if e.Kind() == ast.SelectKind && e.AsSelect().IsTestOnly() {
		close := x.tokens[x.mark(e.ID())].mate
		if close > 0 {
			return span{x.tokens[close-1].start, x.tokens[close-1].end}
		}
		return x.of(e)
	}
	end := x.of(e).end
	t := x.tokens[x.tokenAt(end-1)]
	return span{t.start, t.end}
}

// mark is the index of the token that the parser noted for a node, or of the
// nearest one before it.
func (x *extents) mark(id int64) int {
	r, _ := x.info.GetOffsetRange(id)
	return x.tokenAt(x.byteOffset(int(r.Start)))
}

// byteOffset turns the parser's code point offset into a byte offset.
func (x *extents) byteOffset(codePoint int) int {
	return x.bytes[max(0, min(codePoint, len(x.bytes)-1))]
}

func (x *extents) tokenAt(offset int) int {
	i := sort.Search(len(x.tokens), func(i int) bool { return x.tokens[i].start > offset })
	return max(i-1, 0)
}

func (x *extents) text(i int) string { return x.src[x.tokens[i].start:x.tokens[i].end] }

// closing is where the bracket at token i ends.
func (x *extents) closing(i int) int {
	if mate := x.tokens[i].mate; mate >= 0 {
		return x.tokens[mate].end
	}
	return x.tokens[i].end
}

// operatorText is how an operator is written.
func operatorText(function string) (string, bool) {
	if function == operators.Conditional { // which has no one text
		return "?", true
	}
	if text, found := operators.FindReverseBinaryOperator(function); found {
		return text, true
	}
	text, found := operators.FindReverse(function)
	return text, found && text != ""
}

// operands are the arguments of a call, after the target that it may have.
func operands(c ast.CallExpr) []ast.Expr {
	if c.IsMemberFunction() {
		return append([]ast.Expr{c.Target()}, c.Args()...)
	}
	return c.Args()
}

// children are the nodes directly below e, in the order of the text.
func children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		return operands(e.AsCall())
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var out []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			out = append(out, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return out
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		return []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}
	}
	return nil
}

// nodes indexes the tree by id.
func nodes(root ast.Expr) map[int64]ast.Expr {
	out := map[int64]ast.Expr{}
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) { out[e.ID()] = e }))
	return out
}

// trail is the way from root to the node with the given id, both included.
func trail(root ast.Expr, id int64) []ast.Expr {
	if root.ID() == id {
		return []ast.Expr{root}
	}
	for _, child := range children(root) {
		if found := trail(child, id); found != nil {
			return append([]ast.Expr{root}, found...)
		}
	}
	return nil
}

// conjuncts are the operands of the outermost &&.
func conjuncts(e ast.Expr) []ast.Expr {
	if callName(e) != operators.LogicalAnd {
		return []ast.Expr{e}
	}
	var out []ast.Expr
	for _, operand := range e.AsCall().Args() {
		out = append(out, conjuncts(operand)...)
	}
	return out
}

// memberPath reads root.a.b.
func memberPath(e ast.Expr) (path []string, root string, ok bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return nil, e.AsIdent(), true
	case ast.SelectKind:
		s := e.AsSelect()
		path, root, ok = memberPath(s.Operand())
		return append(path, s.FieldName()), root, ok && !s.IsTestOnly()
	default:
		return nil, "", false
	}
}

// callName is the function or operator that e calls, "" if it is no call.
func callName(e ast.Expr) string {
	if e.Kind() != ast.CallKind {
		return ""
	}
	return e.AsCall().FunctionName()
}

// literalOf is the value that e writes out, nil if it is no literal.
func literalOf(e ast.Expr) ref.Val {
	if e.Kind() != ast.LiteralKind {
		return nil
	}
	return e.AsLiteral()
}
