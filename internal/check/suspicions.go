package check

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Suspicions: what means something by the rules, and hardly what its author meant. A comma
// that ends the exceptions, a key that is spelled like a parameter or a pattern, a stage of
// which nothing can come.

// checkGivenBack reports a grant that lies within one before it which takes something away:
// its comma begins a grant, where one more exception was meant. Where the first stands in
// parentheses, or has a name, the second is meant.
func (c *checker) checkGivenBack(r *syntax.RegionExpr, patterns [][]region.Pattern) {
	for i, first := range r.Grants {
		if len(first.Except) == 0 || len(first.Intersect) != 1 || first.Intersect[0].Path == nil {
			continue
		}
		for j := i + 1; j < len(r.Grants); j++ {
			later := r.Grants[j]
			if later.Blind != first.Blind || len(later.Except) > 0 || len(later.Intersect) != 1 || later.Intersect[0].Path == nil || len(patterns[j]) == 0 {
				continue
			}
			if within(patterns[j], patterns[i]) {
				c.report(givenBack(first, later, j == i+1))
			}
		}
	}
}

// within reports whether every pattern starts with one of the others, or with what it stands for.
func within(patterns, others []region.Pattern) bool {
	return !slices.ContainsFunc(patterns, func(p region.Pattern) bool {
		return !slices.ContainsFunc(others, func(o region.Pattern) bool { return startsWith(p, o) })
	})
}

func startsWith(p, o region.Pattern) bool {
	if len(p.Segments) <= len(o.Segments) {
		return false
	}
	for i, s := range o.Segments {
		t := p.Segments[i]
		if s.Kind == region.AnyDepth || t.Kind == region.AnyDepth {
			return false
		}
		if s != t && s.Kind != region.AnyKey && s.Kind != region.AnySegment && s.Kind != region.AnyIndex {
			return false
		}
	}
	return true
}

func givenBack(first, later *syntax.GrantExpr, next bool) source.Diagnostic {
	last := first.Except[len(first.Except)-1]
	taken := first.Except[0].Span
	taken.End = last.Span.End
	d := fault(diagnostic.GivenBack, later.Span,
		"to take it away as well, put the exceptions in parentheses: `except ("+taken.Text()+", "+later.Span.Text()+")`; if it is meant, put the first grant in them: `("+first.Intersect[0].Span.Text()+" except ...), "+later.Span.Text()+"`",
		"the comma before %s begins a new grant, which gives back what the one before it takes away or has already", later.Span.Text())
	if next && first.Span.File == later.Span.File {
		at := taken
		at.End = later.Span.End
		text := "(" + taken.Text() + ", " + later.Span.Text() + ")"
		d.Fixes = append(d.Fixes, source.Fix{Title: "take it away as well", Span: at, Text: text})
		if len(first.Except) > 1 || strings.HasPrefix(strings.TrimSpace(source.Span{File: at.File, Start: at.Start - 1, End: at.Start}.Text()), "(") {
			d.Fixes = nil
		}
	}
	return d
}

// checkLiteral reports a key that is spelled like something else: like a parameter of the
// stage, like a pattern, or with the escapes that hold without quotation marks only.
func (t *typer) checkLiteral(s *syntax.PathSegment, object bool) {
	written := s.Span.Text()
	quoted := strings.HasPrefix(written, `"`)
	name := strings.Trim(s.Text, ":$<>@%#[]")
	_, isParam := t.params[name]
	switch {
	case !object || t.said[s.Span]:
		return
	case !quoted && isParam:
		t.report(likeParameter(s, name))
	case quoted && len(s.Text) > 1 && strings.Contains(s.Text, "*"):
		t.report(fault(diagnostic.LiteralSegment, s.Span, "a segment matches as a whole or not at all: there are no beginnings of keys; keep what is to be told apart in maps of their own",
			"this is the one key %s: in quotation marks a `*` is no pattern", written))
	case len(s.Text) > 1 && strings.ContainsAny(s.Text[len(s.Text)-1:], "?%") || len(s.Text) > 2 && strings.HasPrefix(s.Text, "^"):
		t.report(fault(diagnostic.LiteralSegment, s.Span, "a segment matches as a whole or not at all; `*` alone stands for any key",
			"this is the one key %s, and no pattern", jsonString(s.Text)))
	case quoted && (strings.Contains(s.Text, "~0") || strings.Contains(s.Text, "~1")):
		plain := jsonString(strings.NewReplacer("~1", "/", "~0", "~").Replace(s.Text))
		t.report(replaced(fault(diagnostic.LiteralSegment, s.Span, "write "+plain+", or leave the quotation marks out",
			"in quotation marks `~` is a `~`: the escapes of JSON Pointer hold without them"), s.Span, plain))
	default:
		return
	}
	t.said[s.Span] = true
}

func likeParameter(s *syntax.PathSegment, name string) source.Diagnostic {
	return replaced(fault(diagnostic.LiteralSegment, s.Span, "did you mean `{"+name+"}`? If the key is meant, put it in quotation marks",
		"this is the one key %q, and no parameter", s.Text), s.Span, "{"+name+"}")
}

// checkEffect reports a stage of which nothing can come, and parameters that nothing uses.
func (c *checker) checkEffect() {
	if !c.parsed {
		return
	}
	for _, st := range c.stages {
		if st.faulty || st.parent != nil {
			continue
		}
		s := st.out
		if len(s.Read)+len(s.Write)+len(s.Blind)+len(s.Source)+len(s.Next)+len(s.Delegable)+len(s.Produce)+len(s.Params)+len(s.Values) == 0 && s.Handed == nil && len(st.decl.Clauses) == len(st.withClause("in", "by")) {
			c.report(fault(diagnostic.NoEffect, st.decl.Name.Span, "say what its actor sees with `read`, and what may be changed with `write`", "%s shows nothing and changes nothing", st.title()))
			continue
		}
		for _, p := range st.decl.Params {
			c.checkParamUse(st, p)
		}
	}
}

// withClause lists the clauses with one of the keywords.
func (st *stage) withClause(keywords ...string) []*syntax.Clause {
	var out []*syntax.Clause
	for _, cl := range st.decl.Clauses {
		if slices.Contains(keywords, cl.Keyword.Text) {
			out = append(out, cl)
		}
	}
	return out
}

// checkParamUse reports a parameter that no clause uses, and a new key that may not be added.
func (c *checker) checkParamUse(st *stage, p *syntax.Param) {
	if p.Path == nil && p.Type == nil || p.Name.Text == "" {
		return
	}
	if !c.mentions(st, p) {
		c.report(fault(diagnostic.Unused, p.Name.Span, "use it in a path, as `{"+p.Name.Text+"}`, or in a condition, or leave it out", "nothing in %s uses its parameter %s", st.title(), p.Name.Text))
		return
	}
	out := st.params[p.Name.Text]
	if !p.New || out == nil {
		return
	}
	isOfKey := func(s region.Segment) bool { return s.Kind == region.ParamSegment && s.Text == p.Name.Text }
	limited, below := false, false
	for _, g := range st.out.Write {
		limited = limited || slices.ContainsFunc(g.Include, func(w region.Pattern) bool { return slices.ContainsFunc(w.Segments, isOfKey) })
	}
	for _, g := range slices.Concat(st.out.Blind, st.out.Writing(ir.Create)) {
		for _, w := range g.Include {
			if !c.mayMeet(w, out.Of) {
				continue
			}
			if len(w.Segments) <= len(out.Of.Segments)+1 || slices.ContainsFunc(w.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth }) {
				return
			}
			below = below || slices.ContainsFunc(w.Segments, isOfKey)
		}
	}
	entry := p.Path.Text + "/{" + p.Name.Text + "}"
	switch {
	case below:
		c.report(fault(diagnostic.NoEffect, p.Name.Span, "an entry is added as a whole: write "+entry, "%s may not add the entry %s: it may write only what is in it, which is not there yet", st.title(), entry))
	case limited:
		c.report(fault(diagnostic.NoEffect, p.Name.Span, "an entry is added as a whole: write create "+entry, "%s may not add the entry %s: it has no right to create it, and nothing is there yet to update or delete", st.title(), entry))
	}
}

// mayMeet reports whether a pattern may lead to, above or below the place of a container.
func (c *checker) mayMeet(w, of region.Pattern) bool {
	for i, s := range of.Segments {
		if i >= len(w.Segments) || w.Segments[i].Kind == region.AnyDepth {
			return true
		}
		if t := w.Segments[i]; t != s && t.Kind != region.AnyKey && t.Kind != region.AnySegment && t.Kind != region.ParamSegment && s.Kind != region.ParamSegment {
			return false
		}
	}
	return true
}

// mentions reports whether something else in a stage, its delegates or a claim about it names a
// parameter: by its words, so that what is unsure counts as a use.
func (c *checker) mentions(st *stage, p *syntax.Param) bool {
	at, name := p.Name.Span, p.Name.Text
	uses := func(d *syntax.StageDecl) bool {
		text := d.Span.Text()
		for i := 0; i+len(name) <= len(text); i++ {
			j := strings.Index(text[i:], name)
			if j < 0 {
				return false
			}
			i += j
			end := i + len(name)
			isWord := (i == 0 || !isWordByte(text[i-1])) && (end == len(text) || !isWordByte(text[end]))
			if isWord && d.Span.Start+i != at.Start && !(i > 0 && text[i-1] == '.') {
				return true
			}
		}
		return false
	}
	if uses(st.decl) {
		return true
	}
	for _, other := range c.stages {
		if other.parent == st && uses(other.decl) {
			return true
		}
	}
	return false
}

func isWordByte(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// checkClaimsTwice reports a claim that stands twice.
func (c *checker) checkClaimsTwice() {
	seen := map[string]source.Span{}
	for _, d := range c.root.file.Decls {
		p, ok := d.(*syntax.ProveDecl)
		if !ok {
			continue
		}
		text := strings.Join(strings.Fields(p.Span.Text()), " ")
		if first, ok := seen[text]; ok {
			c.report(related(fault(diagnostic.ListedTwice, p.Span, "remove one", "this claim stands twice"), "first", first))
			continue
		}
		seen[text] = p.Span
	}
}

// unknownRegion says what a name that is no region may have meant: mostly a path without its slash.
func (c *checker) unknownRegion(n syntax.Name, name string, candidates []string) source.Diagnostic {
	d := unknownName(diagnostic.UnknownRegion, n, name, candidates)
	if c.isMember(name) {
		d.Help, d.Fixes = "did you mean `/"+name+"`? A path starts with `/`", nil
		d = replaced(d, n.Span, "/"+name)
	}
	if c.root.constant(name) != nil && len(d.Fixes) == 0 {
		d.Help = name + " is a constant, and stands in expressions and types; a name for a path is declared by `region`"
	}
	if ir.RightOf(name) != 0 && len(d.Fixes) == 0 {
		d.Help = "what may be done stands before a path: `write " + name + " /PATH`"
	}
	return d
}

// isMember reports whether the state has a member, as far as it is known.
func (c *checker) isMember(name string) bool {
	return c.out.State != 0 && slices.Contains(c.model.Shape.MemberNames(c.model.Shape.Root()), name)
}

// unknownImport says what is called by an alias that no import has: a library that comes with
// the compiler, or a path with dots.
func (c *checker) unknownImport(s *scope, n syntax.Name, alias, rest string) source.Diagnostic {
	d := unknownName(diagnostic.UnknownImport, n, alias, keys(s.imports))
	_, tail, _ := strings.Cut(rest, ".")
	switch {
	case len(d.Fixes) > 0:
	case s.imports[rest[:len(rest)-len(tail)-min(len(tail), 1)]] != nil && tail != "": // std.pii.Email
		d.Help = "did you mean `" + rest + "`?"
		d = replaced(d, n.Span, rest)
	case slices.Contains(standard, alias) && s.file.Header != nil:
		d.Help = "it is a library that comes with the compiler: `import \"std/" + alias + "\"`"
		at := s.file.Header.Span
		d.Fixes = []source.Fix{insertion("import it", at.File, at.End, "\nimport \"std/"+alias+"\"")}
	case (alias == "state" || alias == "before" || alias == "after") && c.isMember(rest):
		d.Help = "did you mean `/" + rest + "`? A path starts with `/`"
		d = replaced(d, n.Span, "/"+rest)
	case c.isMember(alias):
		d.Help = "a path starts with `/`, and its segments stand with `/` between them: `/" + alias + "/" + strings.ReplaceAll(rest, ".", "/") + "`"
	}
	return d
}

// standard are the libraries that come with the compiler.
var standard = []string{"money", "pii", "text", "time"}

// hasNumbers reports whether what is at a place has numbers for entries.
func (c *checker) hasNumbers(at footprint.TypeSet) bool {
	below := c.model.Shape.Children(at, true, true)
	return len(below) > 0 && !slices.ContainsFunc(below, func(id ir.TypeID) bool { return !c.isNumericType(id) }) && !c.model.Shape.Only(at, ir.RecordType)
}
