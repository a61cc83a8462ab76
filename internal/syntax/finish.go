package syntax

import (
	"sort"
	"strings"

	"github.com/patchoptic/poptic/lang/source"
)

// finisher completes the tree that participle built: spans from marks, decoded
// strings, the text of expressions, the segments of paths, keywords that the
// grammar matches but does not keep, and documentation.
type finisher struct {
	file   *source.File
	limits Limits
	docs   map[int]string // by the start of the documented token
	words  map[int]string // keywords in the place of misspelt ones, by their start
}

func (f *finisher) span(start, end int) source.Span {
	return source.Span{File: f.file, Start: start, End: end}
}

// finish completes n and everything below it.
func (f *finisher) finish(n any) {
	Walk(n, func(n any) bool {
		if has, ok := n.(interface{ node() *Node }); ok {
			f.place(has.node())
		}
		f.complete(n)
		return true
	})
}

func (f *finisher) place(n *Node) {
	if n.Pos.Line > 0 {
		n.Span = f.span(n.Pos.Offset, max(n.Pos.Offset, n.EndPos.Column))
	}
	n.extent = extent{}
}

func (f *finisher) complete(n any) {
	switch n := n.(type) {
	case *Header:
		n.Doc = f.docs[n.Span.Start]
	case *Field:
		n.Doc, n.Name.Text = f.docs[n.Span.Start], fieldKey(n.Name.Text)
	case *Phase:
		n.Doc = f.docs[n.Span.Start]
	case *Clause:
		n.Doc, n.Keyword = f.docs[n.Span.Start], f.firstWord(n.Span)
	case *Expect:
		n.Kind = f.firstWord(n.Span)
	case *GateRef:
		if !n.Phase.absent() {
			n.Name = f.firstWord(n.Span)
		}
	case *ContainerType:
		n.Keyword = f.firstWord(n.Span)
		if n.By != nil {
			n.By.Text = fieldKey(n.By.Text)
		}
	case *StringLit:
		n.Value = decode(n.Value)
	case *Expr:
		f.expr(n)
	case *Path:
		n.Segments = f.segments(n)
	case Decl:
		f.document(n)
	}
}

func (f *finisher) document(d Decl) {
	doc := f.docs[d.GetSpan().Start]
	switch d := d.(type) {
	case *Import:
		d.Doc = doc
	case *StateDecl:
		d.Doc = doc
	case *TypeDecl:
		d.Doc = doc
	case *PhasesDecl:
		d.Doc = doc
	case *RegionDecl:
		d.Doc = doc
	case *MeasureDecl:
		d.Doc = doc
	case *InvariantDecl:
		d.Doc = doc
	case *StageDecl:
		d.Doc = doc
	case *ComposeDecl:
		d.Doc = doc
	case *ParallelDecl:
		d.Doc = doc
	case *ProveDecl:
		d.Doc = doc
	case *TestDecl:
		d.Doc = doc
	}
}

// firstWord is the keyword that a node starts with. A misspelt one keeps its
// span; its text is what the parser took it for.
func (f *finisher) firstWord(s source.Span) Name {
	span := f.span(s.Start, wordEnd(f.file.Text, s.Start))
	if meant, ok := f.words[s.Start]; ok {
		return Name{Node: Node{Span: span}, Text: meant}
	}
	return Name{Node: Node{Span: span}, Text: span.Text()}
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

// fieldKey is the name of a field from the value of its token.
func fieldKey(value string) string { return decode(strings.TrimSuffix(value, ":")) }

// decode undoes a JSON string's quoting; a broken string loses its quotation marks.
func decode(literal string) string {
	if !strings.HasPrefix(literal, `"`) {
		return literal
	}
	if value, ok := unquote(literal); ok {
		return value
	}
	return strings.Trim(literal, `"`)
}

// documentation finds the comment lines directly above the tokens that start a line.
func documentation(file *source.File, tokens []token) map[int]string {
	docs := map[int]string{}
	var lines []string
	next := 0 // the line that goes on with the comment
	for _, t := range tokens {
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

// publicTokens is the token list of the tree.
func publicTokens(file *source.File, tokens []token) []Token {
	out := make([]Token, len(tokens))
	for i, t := range tokens {
		out[i] = Token{Span: source.Span{File: file, Start: t.start, End: t.end}, Kind: t.kind}
	}
	return out
}

// tokenAfter is the first of tokens, which are in order, that starts at offset or later.
func tokenAfter(tokens []token, offset int) token {
	i := sort.Search(len(tokens), func(i int) bool { return tokens[i].start >= offset })
	if i == len(tokens) {
		return token{}
	}
	return tokens[i]
}
