package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

const root = "../../../"

// Written is the grammar that editors get. POPTIC_UPDATE=1 writes it.
func TestTheGrammarOfEditorsIsThatOfTheParser(t *testing.T) {
	file := root + "editors/vscode/syntaxes/poptic.tmLanguage.json"
	if os.Getenv("POPTIC_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, grammar(), 0o644))
	}
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(grammar()), string(written), "POPTIC_UPDATE=1 rewrites it")
}

// Every token that the parser takes for something has the colour of that, in all source files
// of the repository that are without mistakes of syntax.
func TestColoursAreWhatTheParserReads(t *testing.T) {
	var g document
	require.NoError(t, json.Unmarshal(grammar(), &g))
	files := 0
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".poptic" {
			return err
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		tree, found := syntax.Parse(source.NewFile(name, string(text)))
		if len(found) > 0 {
			return nil
		}
		files++
		for _, m := range mismatches(g, tree) {
			t.Errorf("%s: %s", strings.TrimPrefix(name, root), m)
		}
		return nil
	})
	require.NoError(t, err)
	require.Greater(t, files, 30)
}

// What the engine of this test is relied on for.
func TestTheGrammarIsAppliedAsEditorsApplyIt(t *testing.T) {
	var g document
	require.NoError(t, json.Unmarshal(grammar(), &g))
	text := "contract c\nstate { a: int }\ninvariant i \"m\"\n  { size(\"}\") > 0 }\n# end\n"
	at := apply(g, text)
	for part, want := range map[string]string{"contract": "keyword.control.declaration.poptic", "a: int": "variable.other.member.poptic", "int }": "support.type.poptic", "\"m\"": "string.quoted.double.poptic", "size": "entity.name.function.poptic", "}\")": "string.quoted.double.cel", "> 0": "keyword.operator.cel", "# end": "comment.line.number-sign.poptic"} {
		scopes := at[strings.Index(text, part)]
		require.Equal(t, want, scopes[len(scopes)-1], part)
	}
}

// mismatches are the tokens of a tree that have another colour than they should.
func mismatches(g document, tree *syntax.File) (out []string) {
	text := tree.Source.Text
	at := apply(g, text)
	names := namesOf(tree)
	has := func(offset int, prefixes ...string) bool {
		return slices.ContainsFunc(at[offset], func(s string) bool {
			return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
		})
	}
	for _, tok := range tree.Tokens {
		first, last := tok.Span.Start, tok.Span.End-1
		good := true
		switch tok.Kind {
		case syntax.CommentToken:
			good = has(first, "comment.line.number-sign") && has(last, "comment.line.number-sign")
		case syntax.StringToken:
			good = has(first, "string.quoted") && has(last, "string.quoted")
		case syntax.NumberToken:
			good = has(first, "constant.numeric") && has(last, "constant.numeric")
		case syntax.PathToken:
			good = has(first, "string.unquoted.path") && has(last, "string.unquoted.path")
		case syntax.FieldToken:
			good = has(first, "variable.other.member")
		case syntax.ExprToken:
			good = has(first, "punctuation.section.embedded.begin") && has(last, "punctuation.section.embedded.end")
			for i := first + 1; i < last && good; i++ {
				good = text[i] == '\n' || has(i, "meta.embedded.expression.cel")
			}
		case syntax.JSONToken:
			good = has(first, "meta.structure.json") && has(last, "meta.structure.json") || tok.Span.Text()[0] != '{' && tok.Span.Text()[0] != '['
		case syntax.WordToken:
			isKeyword := has(first, "keyword.", "constant.")
			good = isKeyword != names[first]
		}
		if !good {
			p := tree.Source.Position(first)
			out = append(out, strings.Join([]string{tree.Source.Line(p.Line), tok.Span.Text(), strings.Join(at[first], " ")}, "  ·  "))
		}
	}
	return out
}

// namesOf are where the words of a tree stand that are no words of the grammar.
func namesOf(tree *syntax.File) map[int]bool {
	names, words := map[int]bool{}, map[int]bool{}
	syntax.Walk(tree, func(n any) bool {
		grammatical := func(n *syntax.Name) {
			if n != nil {
				words[n.Span.Start] = true
			}
		}
		switch n := n.(type) {
		case *syntax.Name:
			names[n.Span.Start] = true
		case *syntax.FieldName:
			names[n.Span.Start] = true
		case *syntax.Clause:
			grammatical(&n.Keyword)
		case *syntax.ContainerType:
			grammatical(&n.Keyword)
		case *syntax.MeasureDecl:
			grammatical(&n.Kind)
		case *syntax.NoStageClaim:
			grammatical(&n.Verb)
		case *syntax.TestClause:
			grammatical(&n.Keyword)
		case *syntax.Expect:
			grammatical(&n.Kind)
		case *syntax.Reason:
			grammatical(n.Gate)
		case *syntax.GateRef:
			if n.Of.Text != "" || slices.Contains([]string{"require", "ensure", "produce", "phase"}, n.Name.Text) {
				grammatical(&n.Name)
			}
		}
		return true
	})
	for at := range words {
		delete(names, at)
	}
	return names
}

// apply gives the scopes of every byte of a text, outer ones first, as an editor's engine does:
// line by line, with a stack of the rules that have begun. Of what matches, the first in the
// line counts; where several begin at one place, the end of the rule that has begun, then the
// rules in their order.
func apply(g document, text string) [][]string {
	e := &engine{g: g, compiled: map[string]*regexp.Regexp{}, at: make([][]string, len(text)+1)}
	stack := []frame{{rule: rule{Patterns: g.Patterns}}}
	offset := 0
	for line := range strings.Lines(text) {
		content := strings.TrimRight(line, "\r\n")
		stack = e.line(content, offset, stack)
		offset += len(line)
	}
	return e.at
}

type frame struct {
	rule   rule
	scopes []string
}

type engine struct {
	g        document
	compiled map[string]*regexp.Regexp
	at       [][]string
}

// search finds an expression from a byte of a line on; indices are of the line.
func (e *engine) search(expression, line string, from int) []int {
	if strings.HasPrefix(expression, "^") && from > 0 {
		return nil
	}
	re := e.compiled[expression]
	if re == nil {
		re = regexp.MustCompile(expression)
		e.compiled[expression] = re
	}
	m := re.FindStringSubmatchIndex(line[from:])
	for i := range m {
		if m[i] >= 0 {
			m[i] += from
		}
	}
	return m
}

// flat lists the rules that a list of patterns stands for.
func (e *engine) flat(patterns []rule) (out []rule) {
	for _, p := range patterns {
		name, included := strings.CutPrefix(p.Include, "#")
		if included {
			p = e.g.Repository[name]
		}
		if p.Match == "" && p.Begin == "" {
			out = append(out, e.flat(p.Patterns)...)
		} else {
			out = append(out, p)
		}
	}
	return out
}

func (e *engine) line(line string, offset int, stack []frame) []frame {
	for pos := 0; ; {
		top := stack[len(stack)-1]
		var best []int
		var found rule
		ends := false
		if top.rule.End != "" {
			best, ends = e.search(top.rule.End, line, pos), true
		}
		for _, r := range e.flat(top.rule.Patterns) {
			if m := e.search(r.Match+r.Begin, line, pos); m != nil && (best == nil || m[0] < best[0]) && m[1] > m[0] {
				best, found, ends = m, r, false
			}
		}
		if best == nil {
			e.paint(offset+pos, offset+len(line), top.scopes)
			return stack
		}
		e.paint(offset+pos, offset+best[0], top.scopes)
		switch {
		case ends:
			outer := append(slices.Clone(stack[len(stack)-2].scopes), named(top.rule.Name)...)
			e.captures(line, offset, best, top.rule.EndCaptures, outer)
			stack = stack[:len(stack)-1]
		case found.Match != "":
			e.captures(line, offset, best, found.Captures, append(slices.Clone(top.scopes), named(found.Name)...))
		default:
			scopes := append(slices.Clone(top.scopes), named(found.Name)...)
			e.captures(line, offset, best, found.BeginCaptures, scopes)
			stack = append(stack, frame{found, append(slices.Clone(scopes), named(found.ContentName)...)})
		}
		pos = best[1]
	}
}

func named(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// captures gives a match and its groups their scopes.
func (e *engine) captures(line string, offset int, m []int, captures map[string]rule, scopes []string) {
	e.paint(offset+m[0], offset+m[1], scopes)
	for i := 0; i*2 < len(m); i++ {
		c, ok := captures[string(rune('0'+i))]
		if !ok || m[2*i] < 0 {
			continue
		}
		inner := append(slices.Clone(scopes), named(c.Name)...)
		e.paint(offset+m[2*i], offset+m[2*i+1], inner)
		if len(c.Patterns) > 0 {
			e.line(line[m[2*i]:m[2*i+1]], offset+m[2*i], []frame{{rule: rule{Patterns: c.Patterns}, scopes: inner}})
		}
	}
}

func (e *engine) paint(start, end int, scopes []string) {
	for i := start; i < end; i++ {
		e.at[i] = scopes
	}
}
