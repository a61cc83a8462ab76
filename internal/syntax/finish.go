package syntax

import (
	"slices"
	"sort"
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
		first = Name{Node: Node{Span: f.span(start, n.Tokens[0].Pos.Column)}, Text: n.Tokens[0].Value}
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
	case *Expect:
		n.Kind = keyword
	case *GateRef:
		if !n.Phase.absent() {
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
		lines, next = append(lines, commentText(file.Text[t.start:t.end])), line+1
	}
	return docs
}

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
			if c.Keyword.Text == "write" && c.Region != nil {
				for _, g := range c.Region.Grants {
					may[g] = true
				}
			}
		}
	}
	misplaced := func(word string, at source.Span) {
		p.wrong(diagnostic.MisplacedWord, at, "`"+word+"` belongs in a write clause only, before a grant that stands in no parentheses", "")
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
			p.wrong(diagnostic.ListedTwice, right.Span, "`"+right.Text+"` is given twice", "")
		}
	}
}

// checkTest reports clauses that a test may have once: the tree has room for one.
func (p *parser) checkTest(d *TestDecl) {
	first := map[string]token{}
	depth := 0
	from := sort.Search(len(p.significant), func(i int) bool { return p.significant[i].start >= d.Title.Span.End })
	for i := from; i < len(p.significant) && p.significant[i].end <= d.Span.End; i++ {
		t, prev := p.significant[i], p.significant[i-1]
		depth += bracketStep(t)
		if depth != 1 || t.kind != WordToken || !slices.Contains(testWords, t.value) || t.value == "expect" ||
			t.sym != symKeyword && (slices.Contains(testWords, prev.value) || prev.value == "reject") {
			continue
		}
		if before, ok := first[t.value]; ok {
			p.duplicateClause(t, before)
		}
		first[t.value] = t
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
	case *Expect:
		p.checkExpect(n)
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

func (p *parser) checkExpect(e *Expect) {
	if e.Kind.Text == "view" && e.Expr == nil {
		p.wrong(diagnostic.Missing, e.Span, "expected CEL in braces after `view`", "")
	}
}
