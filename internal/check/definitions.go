package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Names that only the source has: constants, definitions and groups of roles. A constant or
// definition is a macro of expressions (package expr); a group stands for its roles. What is
// compiled has what they stand for.

// collectMacro adds a constant or definition to its scope.
func (s *scope) collectMacro(d syntax.Decl) {
	m := &expr.Macro{Name: d.DeclName().Text, Origin: d, In: s.macro}
	switch d := d.(type) {
	case *syntax.ConstDecl:
		if d.Value == nil {
			return
		}
		m.Body = celLiteral(d.Value.Text)
	case *syntax.DefineDecl:
		if d.Expr == nil {
			return
		}
		m.Call, m.Params, m.Body = true, texts(d.Params), d.Expr.Text
	}
	if m.Name != "" {
		s.macros[m.Name] = m
	}
}

// macro finds the constant or definition of a name, which may begin with an alias.
func (s *scope) macro(name string) *expr.Macro {
	if m := s.macros[name]; m != nil {
		return m
	}
	alias, rest, qualified := strings.Cut(name, ".")
	if lib := s.imports[alias]; qualified && lib != nil {
		return lib.macro(rest)
	}
	return nil
}

// constant is the declaration of a constant, nil if there is none of that name.
func (s *scope) constant(name string) *syntax.ConstDecl {
	if m := s.macros[name]; m != nil {
		d, _ := m.Origin.(*syntax.ConstDecl)
		return d
	}
	return nil
}

// celLiteral is a literal of the language as CEL writes it.
func celLiteral(text string) string {
	if !strings.HasPrefix(text, `"`) {
		return text
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range decoded(text) {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func decoded(literal string) string {
	text, err := strconv.Unquote(canonicalLiteral(literal))
	if err != nil {
		return strings.Trim(literal, `"`)
	}
	return text
}

// checkDefinitions checks constants and definitions by themselves, whether they are used or not.
func (c *checker) checkDefinitions() {
	checked := map[*syntax.File]bool{}
	for _, s := range c.root.scopes() {
		if checked[s.file] {
			continue
		}
		checked[s.file] = true
		for _, name := range keys(s.macros) {
			c.checkDefinition(s, s.macros[name])
		}
	}
}

func (c *checker) checkDefinition(s *scope, m *expr.Macro) {
	kind, name := "constant", m.Origin.(syntax.Decl).DeclName()
	if m.Call {
		kind = "definition"
	}
	switch {
	case reservedVariable(m.Name), c.env.IsTaken(m.Name):
		c.shadows(name, kind)
	case slices.Contains(s.measures(), m.Name):
		c.report(declaredAsMeasure(name))
	}
	if d, ok := m.Origin.(*syntax.DefineDecl); ok {
		c.checkParameters(s, d)
	}
	free, issues := c.env.Body(m)
	for _, i := range issues {
		c.reportAt(m, nil, i)
	}
	if len(issues) > 0 {
		return
	}
	for _, name := range free {
		if !reservedVariable(name) && !slices.Contains(ir.Inputs(), name) && s.macros[name] == nil && !slices.Contains(m.Params, name) && !s.isMeasureRoot(name) && s.imports[name] == nil && !strings.HasPrefix(name, "@") && !strings.HasPrefix(name, "#") && !strings.HasPrefix(name, "__") {
			c.report(unknownInDefinition(m, name, s))
		}
	}
}

func (c *checker) checkParameters(s *scope, d *syntax.DefineDecl) {
	for i, p := range d.Params {
		switch {
		case p.Text == "":
		case slices.ContainsFunc(d.Params[:i], func(q syntax.Name) bool { return q.Text == p.Text }):
			c.report(listedTwice(p))
		case reservedVariable(p.Text) || s.macros[p.Text] != nil || c.env.IsTaken(p.Text):
			c.shadows(p, "parameter")
		}
	}
}

// isMeasureRoot reports whether a name is, or begins, that of a measure of the scope.
func (s *scope) isMeasureRoot(name string) bool {
	return slices.ContainsFunc(s.measures(), func(m string) bool { return m == name || strings.HasPrefix(m, name+".") })
}

// reportAt reports an issue that was found in the body of a macro, or in an expression if
// that is nil, with the uses that led there. One in a body is reported once.
func (c *checker) reportAt(m *expr.Macro, e *syntax.Expr, i expr.Issue, uses ...expr.MacroPlace) {
	d := diagnostic.Find(i.Code).Diagnostic(textSpan(m, e, i.Start, i.End), i.Help, i.Message)
	if i.Fix != nil {
		d.Fixes = []source.Fix{{Title: i.Fix.Title, Span: textSpan(m, e, i.Fix.Start, i.Fix.End), Text: i.Fix.Text}}
	}
	for _, use := range uses {
		d = related(d, "used here", textSpan(use.Of, e, use.Start, use.End))
	}
	if m != nil {
		key := fmt.Sprint(d.Code, d.Span.Start, d.Span.End, d.Message, d.Span.File.Name)
		if c.inBodies[key] {
			c.use(d.Severity == source.Error)
			return
		}
		c.inBodies[key] = true
	}
	c.report(d)
}

// textSpan is where a range of the body of a macro stands, or of an expression if that is nil.
func textSpan(m *expr.Macro, e *syntax.Expr, start, end int) source.Span {
	if m == nil {
		return source.Span{File: e.Span.File, Start: e.Span.Start + start, End: e.Span.Start + end}
	}
	switch d := m.Origin.(type) {
	case *syntax.DefineDecl:
		return source.Span{File: d.Expr.Span.File, Start: d.Expr.Span.Start + start, End: d.Expr.Span.Start + end}
	case *syntax.ConstDecl:
		return d.Value.Span
	}
	return source.Span{}
}

func declaredAsMeasure(n syntax.Name) source.Diagnostic {
	return fault(diagnostic.DeclaredTwice, n.Span, "rename or remove one of the two", "%s is the name of a measure", n.Text)
}

func unknownInDefinition(m *expr.Macro, name string, s *scope) source.Diagnostic {
	at := m.Origin.(*syntax.DefineDecl).Expr.Span
	if i := wordIn(at.Text(), name); i >= 0 {
		at.Start, at.End = at.Start+i, at.Start+i+len(name)
	}
	known := slices.Concat(m.Params, keys(s.macros), s.measures(), []string{"state", "before", "after", "phase", "self"}, ir.Inputs())
	d := fault(diagnostic.UnknownName, at, "a definition has its parameters, and what is in scope where it is used: make `"+name+"` a parameter", "`%s` is not defined here", name)
	if near := spell.Nearest(name, known); near != "" {
		d.Help = "did you mean `" + near + "`?"
		d = replaced(d, at, near)
	}
	return d
}

// wordIn is where a name stands in a text, -1 if it does not.
func wordIn(text, name string) int {
	isPart := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] == '_' || text[i] >= '0' && text[i] <= '9' || text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z')
	}
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return -1
		}
		if i += from; !isPart(i-1) && !isPart(i+len(name)) && (i == 0 || text[i-1] != '.') {
			return i
		}
		from = i + len(name)
	}
}

// Groups of roles.

// lowerRoles finds out which roles the groups stand for.
func (c *checker) lowerRoles() {
	for _, d := range c.root.file.Decls {
		if d, ok := d.(*syntax.RolesDecl); ok && d.Name.Text != "" && c.groups[d.Name.Text] == nil {
			c.groups[d.Name.Text] = &group{decl: d}
		}
	}
	for _, name := range keys(c.groups) {
		c.rolesOf(c.groups[name])
	}
}

// A group is a declared group of roles.
type group struct {
	decl         *syntax.RolesDecl
	roles        []string
	done, active bool
}

func (c *checker) rolesOf(g *group) []string {
	if g.done {
		return g.roles
	}
	g.active = true
	g.roles = c.expandRoles(g.decl.Roles)
	g.active, g.done = false, true
	return g.roles
}

// expandRoles lists the roles that names of roles and groups stand for, each once.
func (c *checker) expandRoles(names []syntax.Name) []string {
	var out []string
	written := map[string]bool{}
	for _, n := range names {
		if n.Text == "" { // the parser reported it
			c.use(true)
			continue
		}
		if written[n.Text] {
			c.report(listedTwice(n))
			continue
		}
		written[n.Text] = true
		roles := []string{n.Text}
		if g := c.groups[n.Text]; g != nil {
			if g.active {
				c.report(recursiveRoles(n, g.decl))
				continue
			}
			roles = c.rolesOf(g)
		}
		for _, role := range roles {
			if !slices.Contains(out, role) {
				out = append(out, role)
			}
		}
	}
	return out
}

// checkRoles warns of a role that only one clause names, and that is called nearly as a group
// or as a role of one: without a declaration nothing else tells a slip.
func (c *checker) checkRoles() {
	if len(c.groups) == 0 {
		return
	}
	uses, known := map[string]int{}, keys(c.groups)
	for _, g := range c.groups {
		known = append(known, g.roles...)
	}
	eachBy := func(visit func(syntax.Name)) {
		for _, st := range c.stages {
			if cl := st.clauses["by"]; cl != nil {
				for _, n := range cl.Names {
					visit(n)
				}
			}
		}
	}
	eachBy(func(n syntax.Name) { uses[n.Text]++ })
	eachBy(func(n syntax.Name) {
		if near := spell.Nearest(n.Text, known); near != "" && uses[n.Text] == 1 && !slices.Contains(known, n.Text) {
			c.report(unknownRole(n, near))
		}
	})
}

func recursiveRoles(n syntax.Name, d *syntax.RolesDecl) source.Diagnostic {
	help := "leave it out"
	if len(d.Roles) == 1 || d.Name.Text == n.Text {
		help = "a group has another name than its roles"
	}
	return related(fault(diagnostic.RecursiveDefinition, n.Span, help, "the group of roles %s contains itself", d.Name.Text), "declared here", d.Name.Span)
}

func unknownRole(n syntax.Name, near string) source.Diagnostic {
	d := fault(diagnostic.UnknownRole, n.Span, "did you mean `"+near+"`?", "no other stage or group names the role %s", n.Text)
	return replaced(d, n.Span, near)
}
