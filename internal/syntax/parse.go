// Package syntax turns source text into a syntax tree. Parse never fails as a
// whole: it returns the tree of everything it could read and one diagnostic for
// every mistake, resynchronising at declarations, then at clauses.
//
// The tree keeps exact byte spans. Comments stay with the token list of the
// File, and those directly above a declaration, field, phase or clause are also
// its Doc.
//
// Entry points: Parse and ParseWithLimits read a file, Walk visits a tree (tree.go,
// type.go). A file is read in these steps:
//
//   - scan.go makes tokens of the text (literal.go and path.go know where one ends,
//     words.go the words of the language);
//   - parse.go cuts them into sections, one a declaration in column 1;
//   - balance.go makes the brackets of a section match;
//   - grammar.go has participle build the tree, whose struct tags are the grammar;
//   - recover.go goes on after a mistake, by an edit of the tokens; repair.go holds
//     those that know what was meant;
//   - finish.go completes the tree and looks for what the grammar lets through.
//
// What all of them can say stands in messages.go.
package syntax

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/patchoptic/poptic/lang/source"
)

// Parse reads a source file within DefaultLimits. It always returns a tree: of
// everything it could read, where there are mistakes. The diagnostics are sorted
// and all errors; without one the whole file was read. A file whose name ends in
// "_test.poptic" may lack the header. The time is linear in the file's size and,
// where there are mistakes, in the size of a declaration for each of them.
func Parse(file *source.File) (*File, []source.Diagnostic) {
	return ParseWithLimits(file, DefaultLimits)
}

// ParseWithLimits is Parse with other limits.
func ParseWithLimits(file *source.File, limits Limits) (*File, []source.Diagnostic) {
	p := &parser{messages: messages{file: file, room: limits.Diagnostics + 1}, limits: limits, tree: &File{Source: file}}
	if !p.unreadable() {
		p.parse()
	}
	return p.tree, p.result()
}

// Limits bound what Parse accepts; each is inclusive. What exceeds one is
// reported with code "limit_exceeded" and left unread.
type Limits struct {
	FileSize     int // bytes of a file
	Nesting      int // brackets and type prefixes ("map of", "secret") open at once
	Declarations int // declarations of a file
	PathLength   int // bytes of one path pattern
	StringLength int // bytes of one string, as written
	ExprLength   int // bytes of one CEL expression
	Diagnostics  int // diagnostics reported for a file; the rest is only counted
}

// DefaultLimits are the limits of Parse.
var DefaultLimits = Limits{
	FileSize:     1 << 20,
	Nesting:      64,
	Declarations: 10_000,
	PathLength:   1024,
	StringLength: 16 << 10,
	ExprLength:   64 << 10,
	Diagnostics:  200,
}

// parser holds what the parts of a file share.
type parser struct {
	messages
	limits      Limits
	tree        *File
	lexical     []source.Diagnostic // of the scanner, in order
	significant []token             // significant tokens of the file
	feeds       int                 // times that a section was handed to the grammar
	work        int                 // tokens looked at, by the grammar and by recovery
	decls       int
	braced      bool // the header was followed by a brace, whose end is still to come
	stopped     bool
}

// unreadable reports a file that is not worth scanning.
func (p *parser) unreadable() bool {
	text := p.file.Text
	if len(text) > p.limits.FileSize {
		p.limit("file size", p.limits.FileSize, 0, 0)
		return true
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		p.notText(i)
		return true
	}
	if !utf8.ValidString(text) {
		p.notUTF8(invalidByte(text))
		return true
	}
	return false
}

func invalidByte(text string) int {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return 0
}

func (p *parser) parse() {
	s := scan(p.file, p.limits)
	p.lexical, p.stopped = s.diags, s.stopped
	p.tree.Tokens = publicTokens(p.file, s.tokens)
	p.significant = s.significant()
	if len(p.significant) == 0 && len(p.lexical) == 0 {
		p.empty()
		return
	}
	sections := p.sections()
	for i, tokens := range sections {
		end := len(p.file.Text)
		if i+1 < len(sections) {
			end = sections[i+1][0].start - 1
		}
		if p.decls > p.limits.Declarations || p.room == 0 {
			break
		}
		p.section(tokens, end)
	}
	p.checkHeader()
	f := &finisher{file: p.file, limits: p.limits, docs: documentation(p.file, s.tokens)}
	f.finish(p.tree)
	p.check()
}

// sections cuts the tokens before every declaration that starts in column 1.
func (p *parser) sections() [][]token {
	var out [][]token
	from := 0
	for i, t := range p.significant {
		if t.starts && i > from {
			out = append(out, p.significant[from:i])
			from = i
		}
	}
	if from < len(p.significant) {
		out = append(out, p.significant[from:])
	}
	return out
}

// accept adds what the grammar read to the tree.
func (p *parser) accept(top *topLevel) {
	switch {
	case top.Header != nil && (p.tree.Header != nil || len(p.tree.Decls) > 0):
		start, _ := top.Header.bounds()
		p.misplacedHeader(start, wordEnd(p.file.Text, start), p.tree.Header != nil)
		if p.tree.Header == nil {
			p.tree.Header = top.Header
		}
	case top.Header != nil:
		p.tree.Header = top.Header
	case top.Decl != nil:
		p.declare(top.Decl)
	}
}

func (p *parser) declare(d Decl) {
	p.decls++
	if p.decls > p.limits.Declarations {
		if p.decls == p.limits.Declarations+1 {
			start, _ := d.(interface{ node() *Node }).node().bounds()
			p.limit("declarations", p.limits.Declarations, start, start)
		}
		return
	}
	p.tree.Decls = append(p.tree.Decls, d)
}

func (p *parser) checkHeader() {
	if p.tree.Header != nil || p.stopped || strings.HasSuffix(path.Base(p.file.Name), "_test.poptic") {
		return
	}
	if start := p.significant; len(start) > 0 && !p.hasMistake(0, start[0].end) {
		p.missingHeader(start[0].start)
	}
}

// hasMistake reports whether something was reported between two offsets.
func (p *parser) hasMistake(start, end int) bool {
	for _, d := range p.diags {
		if d.Span.Start >= start && d.Span.Start <= end {
			return true
		}
	}
	return p.hasLexicalMistake(start, end)
}

func (p *parser) hasLexicalMistake(start, end int) bool {
	for _, d := range p.lexical {
		if d.Span.Start >= start && d.Span.Start <= end {
			return true
		}
	}
	return false
}

// result is the sorted list of diagnostics, cut at the limit.
func (p *parser) result() []source.Diagnostic {
	all := source.Sort(append(p.lexical, p.diags...))
	if len(all) <= p.limits.Diagnostics {
		return all
	}
	cut := all[:p.limits.Diagnostics]
	rest := &messages{file: p.file, room: 1}
	rest.tooMany(all[p.limits.Diagnostics].Span.Start)
	return append(cut[:len(cut):len(cut)], rest.diags...)
}
