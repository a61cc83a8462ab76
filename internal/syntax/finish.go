package syntax

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/lang/source"
)

// The tree that the grammar built is completed (finisher) and then checked for what
// the grammar lets through because a tree of it is useful all the same (check).

// finisher gives the nodes what the grammar does not: spans, keywords that it
// matches but does not keep, documentation, decoded strings, the text of
// expressions and the segments of paths.
type finisher struct {
	file   *source.File
	limits Limits
	docs   map[int]string // by the start of the documented token
}

// finish completes n and everything below it.
func (f *finisher) finish(n any) {
	Walk(n, func(n any) bool {
		var keyword Name
		if has, ok := n.(interface{ node() *Node }); ok {
			keyword = f.place(has.node())
		}
		if has, ok := n.(interface{ document(string) }); ok {
			has.document(f.docs[keyword.Span.Start])
		}
		f.complete(n, keyword)
		return true
	})
}

// place gives a node its span. It returns the node's first token: a misspelt keyword
// keeps its place, its text is what it was taken for.
func (f *finisher) place(n *Node) (first Name) {
	if len(n.Tokens) > 0 {
		start, end := n.bounds()
		n.Span = f.span(start, end)
		word := n.Tokens[0]
		first = Name{Node: Node{Span: f.span(word.Pos.Offset, word.Pos.Column)}, Text: word.Value}
	}
	n.extent = extent{}
	return first
}

func (f *finisher) span(start, end int) source.Span {
	return source.Span{File: f.file, Start: start, End: end}
}

// complete adds to a node what it lacks; keyword is its first token.
func (f *finisher) complete(n any, keyword Name) {
	switch n := n.(type) {
	case *FieldName:
		n.Text = fieldKey(n.Text)
	case *Clause:
		n.Keyword = keyword
	case *TestClause:
		n.Keyword = keyword
	case *Expect:
		if n.Holds == nil && n.Path == nil {
			n.Kind = keyword
		}
	case *GateRef:
		if !n.Of.absent() {
			n.Name = keyword
		}
	case *ContainerType:
		n.Keyword = keyword
	case *StringLit:
		n.Value = decode(n.Value)
	case *Expr:
		f.expr(n)
	case *Path:
		n.Segments = f.segments(n)
	}
}

// expr strips the braces, of which the closing one may be missing.
func (f *finisher) expr(e *Expr) {
	e.Outer = e.Span
	start, end := e.Span.Start+1, e.Span.End
	if strings.HasSuffix(e.Text, "}") && len(e.Text) > 1 {
		end--
	}
	e.Span = f.span(start, max(start, end))
	e.Text = e.Span.Text()
}

// documentation finds the comment lines directly above the tokens that start a line.
func documentation(file *source.File, tokens []token) map[int]string {
	docs := map[int]string{}
	var lines []string
	next := 0 // the line that goes on with the comment
	bar := "" // what stands above a "|" that was the token before
	for _, t := range tokens {
		if bar != "" && t.kind != CommentToken {
			docs[t.start], bar = bar, ""
		}
		if !t.lineStart {
			continue
		}
		line := file.Position(t.start).Line
		if line != next {
			lines = lines[:0]
		}
		if t.kind != CommentToken {
			if len(lines) > 0 {
				docs[t.start] = strings.Join(lines, "\n")
				if file.Text[t.start:t.end] == "|" {
					bar = docs[t.start]
				}
			}
			lines = lines[:0]
			continue
		}
		next = line + 1
		if text := commentText(file.Text[t.start:t.end]); !strings.HasPrefix(text, DirectivePrefix) {
			lines = append(lines, text)
		}
	}
	return docs
}

// DirectivePrefix begins a comment that is for a tool: it is no documentation, and stands
// among the lines of one without parting them.
const DirectivePrefix = "poptic:"

func commentText(comment string) string {
	text := strings.TrimPrefix(strings.TrimPrefix(comment, "#"), "//")
	return strings.TrimRight(strings.TrimPrefix(text, " "), " \t")
}

// check reports what the grammar lets through because a tree of it is useful all
// the same: names that cannot be declared, words out of a fixed list that the
// grammar reads as names, and forms that only look right.
func (p *parser) check() {
	if h := p.tree.Header; h != nil && h.Library && h.Sealed {
		p.wrong(diagnostic.MisplacedWord, h.Span, "a library cannot be sealed; the contract that imports it can", "")
	}
	for _, d := range p.tree.Decls {
		p.checkDecl(d)
		p.checkGrantWords(d)
		Walk(d, func(n any) bool {
			p.checkNode(n)
			return true
		})
	}
}

func (p *parser) checkDecl(d Decl) {
	switch d := d.(type) {
	case *Import:
		p.checkName(&d.Alias)
	case *TypeDecl:
		p.checkName(&d.Name)
	case *RegionDecl:
		p.checkName(&d.Name)
	case *InvariantDecl:
		p.checkName(&d.Name)
		if d.Change && len(d.Unique) > 0 {
			p.wrong(diagnostic.MisplacedWord, d.Span, "`unique` is a rule about a state: an `invariant`", "")
		}
	case *RolesDecl:
		p.checkName(&d.Name)
	case *ConstDecl:
		p.checkName(&d.Name)
	case *DefineDecl:
		p.checkName(&d.Name)
		for i := range d.Params {
			p.checkName(&d.Params[i])
		}
	case *ComposeDecl:
		p.checkName(&d.Name)
	case *ParallelDecl:
		p.checkName(&d.Name)
	case *MeasureDecl:
		p.checkName(&d.Name)
		p.checkWord(&d.Kind, "measure", measureWords)
	case *StageDecl:
		p.checkName(&d.Name)
		p.checkStage(d)
	case *ProveDecl:
		if d.NoStage != nil {
			p.checkWord(&d.NoStage.Verb, "effect", verbWords)
		}
	case *GivenDecl:
		p.checkName(&d.Name)
	case *TestDecl:
		p.checkTest(d)
	}
}

func (p *parser) checkName(n *Name) {
	switch {
	case n.Text == "":
	case IsReserved(n.Text):
		p.reservedName(n)
	case slices.Contains([]byte(n.Text), '.'):
		p.dottedName(n)
	}
}

func (p *parser) checkWord(n *Name, what string, words []string) {
	if n.Text != "" && !slices.Contains(words, n.Text) {
		p.unknownOf(n, what, words)
	}
}

func (p *parser) checkStage(d *StageDecl) {
	switch {
	case d.Delegate && d.From == nil:
		p.wrong(diagnostic.Missing, d.Name.Span, "expected `from STAGE` after the name of a delegate", "")
	case !d.Delegate && d.From != nil:
		p.wrong(diagnostic.Unexpected, d.From.Span, "a stage is `from` no other; a part of one is a `delegate`", "")
	case d.Delegate && len(d.Params) > 0:
		p.wrong(diagnostic.DelegateParams, d.Params[0].Span, "a delegate has the parameters of its stage and declares none", "")
	}
}

// checkGrantWords reports words that say how a place is written anywhere but in a write
// clause itself, where they would be lost, below parentheses or in a region's name; and
// rights that are given twice.
func (p *parser) checkGrantWords(d Decl) {
	may := map[*GrantExpr]bool{}
	if stage, ok := d.(*StageDecl); ok {
		for _, c := range stage.Clauses {
			if c.Region != nil && (c.Keyword.Text == "write" || c.Kind != nil && c.Kind.Text == "write") {
				for _, g := range c.Region.Grants {
					may[g] = true
				}
			}
		}
	}
	misplaced := func(word string, at source.Span) {
		p.wrong(diagnostic.MisplacedWord, at, "`"+word+"` belongs in a write clause only, before a grant that stands in no parentheses", "leave it out, or write each grant of `write` with a right of its own")
	}
	Walk(d, func(n any) bool {
		g, ok := n.(*GrantExpr)
		switch {
		case !ok:
		case may[g]:
			p.checkRights(g.Rights)
		case g.Blind:
			misplaced("blind", g.Span)
		case len(g.Rights) > 0:
			misplaced(g.Rights[0].Text, g.Rights[0].Span)
		}
		return true
	})
}

func (p *parser) checkRights(rights []Right) {
	for i, right := range rights {
		if slices.ContainsFunc(rights[:i], func(r Right) bool { return r.Text == right.Text }) {
			p.wrong(diagnostic.ListedTwice, right.Span, "`"+right.Text+"` is given twice", "leave one out")
		}
	}
}

func (p *parser) checkNode(n any) {
	switch n := n.(type) {
	case *Phase:
		p.checkName(&n.Name)
	case *Param:
		p.checkName(&n.Name)
	case *Each:
		p.checkName(&n.First)
		if n.Second != nil {
			p.checkName(n.Second)
		}
	case *Clause:
		if n.Label != nil {
			p.checkName(n.Label)
		}
	case *UnionType:
		p.checkUnion(n)
	}
}

// checkUnion reports "map of A | B": nothing says what the union is of.
func (p *parser) checkUnion(u *UnionType) {
	for _, a := range u.Alternatives[:len(u.Alternatives)-1] {
		c, ok := a.(*ContainerType)
		if ok && tokenAfter(p.significant, c.Span.End).value == "|" {
			p.unionAfterOf(u.Span, c.Span, typeSpan(c.Elem).Start)
			return
		}
	}
}

func typeSpan(t TypeExpr) source.Span { return t.(interface{ GetSpan() source.Span }).GetSpan() }

// checkTest reports clauses that a test may have once, or a step of it, and those that stand
// where they are about nothing. A case goes on with what its test says.
func (p *parser) checkTest(d *TestDecl) {
	if p.hasMistake(d.Span.Start, d.Span.End) {
		return
	}
	begun := p.checkTestClauses(d.Clauses, false)
	for _, c := range d.Cases {
		p.checkTestClauses(c.Clauses, begun)
	}
}

// checkTestClauses reports whether a step was begun, by the clauses or before.
func (p *parser) checkTestClauses(clauses []*TestClause, before bool) (begun bool) {
	first := map[string]*TestClause{}
	for _, c := range clauses {
		word := c.Keyword
		switch word.Text {
		case "stage", "advance":
			begun = true
			clear(first)
			continue
		case "state", "phase":
			if begun {
				p.wrong(diagnostic.MisplacedClause, word.Span, fmt.Sprintf("`%s` is where a test starts: it stands before the first `stage` or `advance`", word.Text), "")
			}
		case "patch", "next", "expect":
			if !begun && !before {
				p.wrong(diagnostic.MisplacedClause, word.Span, fmt.Sprintf("`%s` belongs to a step: it stands behind a `stage` or an `advance`", word.Text), "")
			}
			if word.Text == "expect" {
				continue
			}
		}
		if twice := first[word.Text]; twice != nil {
			p.duplicateClause(c, twice)
			continue
		}
		first[word.Text] = c
	}
	return begun || before
}
