package lsp

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
)

// What can be written at a place. A text that is being written is broken just there, so the
// place is found by tokens, not by the tree. What follows from types is asked of a text that
// is as if what is being written was not begun: "/tickets/{ticket}/st" without its last
// segment, "t.stat" without the member, with the brackets closed that are open before it.

func (s *server) completion(ctx context.Context, docs *snapshot, p positionParams) (completionList, error) {
	list := completionList{Items: []completionItem{}}
	v, err := s.view(ctx, docs, p.TextDocument.URI)
	if err != nil {
		return list, err
	}
	c := &completer{server: s, view: v, ctx: ctx, file: v.file(v.doc.name), offset: v.at(p.Position)}
	c.begin()
	err = c.complete()
	list.Items = append(list.Items, c.items...)
	return list, err
}

// A completer collects what can be written at a place.
type completer struct {
	*server
	*view
	ctx    context.Context
	file   *syntax.File
	offset int
	start  int            // of the word that is being written
	before []syntax.Token // without comments, up to it
	items  []completionItem
}

func (c *completer) text() string { return c.file.Source.Text }

func isWordByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func (c *completer) begin() {
	c.start = c.offset
	for c.start > 0 && isWordByte(c.text()[c.start-1]) {
		c.start--
	}
	for _, t := range c.file.Tokens {
		if t.Kind != syntax.CommentToken && t.Span.End <= c.start {
			c.before = append(c.before, t)
		}
	}
}

// complete finds out in what the place is.
func (c *completer) complete() error {
	for _, t := range c.file.Tokens {
		if t.Span.Start >= c.offset {
			break
		}
		inside := c.offset < t.Span.End || c.offset == t.Span.End
		switch {
		case !inside:
		case t.Kind == syntax.CommentToken:
			return nil
		case t.Kind == syntax.StringToken:
			c.importPath(t)
			return nil
		case t.Kind == syntax.PathToken:
			return c.path(t)
		case t.Kind == syntax.ExprToken && (c.offset < t.Span.End || !strings.HasSuffix(t.Span.Text(), "}")):
			return c.expression(t)
		}
	}
	if n := len(c.before); n > 0 && c.before[n-1].Kind == syntax.ExprToken && !strings.HasSuffix(c.before[n-1].Span.Text(), "}") {
		t := c.before[n-1] // it is not closed, and white space behind it is in it
		t.Span.End = max(t.Span.End, c.offset)
		return c.expression(t)
	}
	c.words()
	return nil
}

// Items.

func (c *completer) add(start int, item completionItem, text string) {
	item.TextEdit = &textEdit{c.rangeOf(start, c.offset), text}
	c.items = append(c.items, item)
}

// named adds the symbols of some kinds that can be named here.
func (c *completer) named(kinds ...symbol.Kind) {
	seen := map[string]bool{}
	for _, sym := range c.scope(c.offset) {
		if slices.Contains(kinds, sym.Kind) && !seen[sym.Name] {
			seen[sym.Name] = true
			c.symbol(c.start, sym, sym.Name)
		}
	}
	if slices.Contains(kinds, symbol.Role) {
		for _, sym := range c.symbols().Symbols { // roles are declared by their use, and by that in this word too
			if sym.Kind == symbol.Role && !seen[sym.Name] && !(sym.Span.File == c.file.Source && sym.Span.Start == c.start) {
				seen[sym.Name] = true
				c.symbol(c.start, sym, sym.Name)
			}
		}
	}
}

var itemKinds = map[symbol.Kind]int{
	symbol.Type: itemClass, symbol.Import: itemModule, symbol.Field: itemField, symbol.Region: itemVariable, symbol.Constant: itemConstant,
	symbol.Definition: itemFunction, symbol.Group: itemEnumMember, symbol.Measure: itemVariable, symbol.Invariant: itemEvent,
	symbol.Phase: itemEnumMember, symbol.Stage: itemFunction, symbol.Parameter: itemVariable, symbol.Condition: itemEvent,
	symbol.Variable: itemVariable, symbol.Given: itemConstant, symbol.Role: itemEnumMember, symbol.Composition: itemFunction, symbol.Parallel: itemFunction,
}

func (c *completer) symbol(start int, sym *symbol.Symbol, text string) {
	item := completionItem{Label: sym.Name, Kind: itemKinds[sym.Kind], Detail: plain(strings.TrimSpace(string(sym.Kind) + " " + sym.Type)), SortText: "1" + sym.Name}
	if sym.Kind == symbol.Field {
		item.Detail = plain(sym.Type)
	}
	if sym.Doc != "" {
		item.Documentation = markdown(plain(sym.Doc))
	}
	c.add(start, item, text)
}

// keywords adds words of the grammar.
func (c *completer) keywords(words ...string) {
	for _, w := range words {
		c.add(c.start, completionItem{Label: w, Kind: itemKeyword, SortText: "2" + w, Documentation: markdown(keywordDocs[strings.Fields(w)[0]])}, w)
	}
}

// snippets adds what follows a word as a rule, for clients that fill it in.
func (c *completer) snippets() {
	if !c.client.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport {
		return
	}
	for _, s := range snippets {
		c.add(c.start, completionItem{Label: s.label, Kind: itemSnippet, InsertTextFormat: 2, SortText: "3" + s.label, Documentation: markdown(code(s.text))}, s.text)
	}
}

// snippets are whole declarations.
var snippets = []struct{ label, text string }{
	{"stage ...", "# ${1:What the actor is asked to do.}\nstage ${2:name}(${3:key} in /${4:map}) {\n  by    ${5:role}\n  read  /$4/{$3}\n  write /$4/{$3}/$0\n}"},
	{"type ...", "type ${1:Name} {\n  ${2:field}: ${3:string}\n}$0"},
	{"invariant ...", "invariant ${1:name} each ${2:x} in /${3:map}/* \"${4:what holds}\" { $0 }"},
	{"change ...", "change ${1:name} each ${2:x} in /${3:map}/* \"${4:what stays}\" { $0 }"},
	{"delegate ...", "delegate ${1:name} from ${2:stage} {\n  read  $0\n}"},
	{"phases ...", "phases {\n  ${1:draft} -> ${2:done}\n  $2\n}$0"},
}

// Words of the grammar, and names.

// words completes between tokens: what may come depends on what was before.
func (c *completer) words() {
	if c.start > 0 && c.text()[c.start-1] == '.' {
		c.qualified()
		return
	}
	decl, depth, parens := c.declaration()
	line := c.text()[strings.LastIndexByte(c.text()[:c.start], '\n')+1 : c.start]
	first := strings.TrimSpace(line) == ""
	if decl < 0 || depth == 0 && parens == 0 && first && line == "" {
		c.beginning()
		return
	}
	last := ""
	if n := len(c.before); n > 0 {
		last = c.before[n-1].Span.Text()
	}
	switch c.before[decl].Span.Text() {
	case "import":
		c.keywords("as")
	case "state", "type":
		c.typeWords(last)
	case "const":
		if last == "=" {
			c.keywords("true", "false")
		}
	case "roles":
		if last == "=" || last == "," {
			c.named(symbol.Role, symbol.Group)
		}
	case "phases":
		switch {
		case last == "->" || last == "," || last == "host" || first && depth > 0:
			c.named(symbol.Phase)
		case last == "by":
			c.keywords("host")
		default:
			c.keywords("by host", "when")
		}
	case "region":
		c.regionWords(last, "=")
	case "measure":
		if last == "=" {
			c.keywords("sum", "count", "min", "max")
		} else {
			c.keywords("where")
		}
	case "invariant", "change":
		switch {
		case last == "each" || last == ",":
		case len(c.before) == decl+2:
			c.keywords("each", "unique")
		case c.follows("each", 1) || c.follows("each", 3):
			c.keywords("in")
		default:
			c.keywords("unique")
		}
	case "stage", "delegate":
		c.stageWords(decl, depth, parens, first, last)
	case "compose", "parallel":
		if slices.Contains([]string{"=", "+", "|"}, last) {
			c.named(symbol.Stage, symbol.Composition)
		} else if len(c.before) > decl+2 {
			c.claimWords(last)
		}
	case "prove":
		c.claimWords(last)
	case "test":
		c.testWords(first, last)
	case "given":
		c.keywords("with")
	}
}

// declaration is where the declaration begins that the place is in, -1 if it is in none, and
// how many brackets are open in it.
func (c *completer) declaration() (at, braces, parens int) {
	at = -1
	words := syntax.AllKeywords().Declarations
	for i, t := range c.before {
		switch text := t.Span.Text(); {
		case t.Kind == syntax.WordToken && slices.Contains(words, text) && (t.Span.Start == 0 || c.text()[t.Span.Start-1] == '\n'):
			at, braces, parens = i, 0, 0
		case t.Kind != syntax.PunctToken:
		case text == "{":
			braces++
		case text == "}":
			braces--
		case text == "(":
			parens++
		case text == ")":
			parens--
		}
	}
	return at, max(braces, 0), max(parens, 0)
}

// follows reports whether the token so many before the last is a word.
func (c *completer) follows(word string, n int) bool {
	i := len(c.before) - 1 - n
	return i >= 0 && c.before[i].Span.Text() == word
}

// beginning completes what begins a declaration.
func (c *completer) beginning() {
	k := syntax.AllKeywords()
	header := c.file.Header != nil && c.file.Header.Span.Start < c.start
	for _, w := range k.Declarations {
		if isHeader := w == "contract" || w == "library"; isHeader != header {
			c.keywords(w)
		}
	}
	if header {
		c.snippets()
	}
}

func (c *completer) typeWords(last string) {
	if len(c.before) > 0 && c.before[len(c.before)-1].Kind == syntax.FieldToken {
		return
	}
	if slices.Contains([]string{":", "?:", "of", "=", "|", "secret", "(", "*:", "state"}, last) {
		c.types()
		return
	}
	switch last {
	case "map", "list", "set", "log", "key":
		c.keywords("of")
	case "{", "}", "type":
	default:
		c.keywords("where", "by")
	}
}

// types completes a type.
func (c *completer) types() {
	for _, t := range []string{"string", "bool", "null", "number", "int", "decimal", "any"} {
		c.add(c.start, completionItem{Label: t, Kind: itemClass, SortText: "1" + t, Documentation: markdown(builtinDocs[t])}, t)
	}
	c.named(symbol.Type, symbol.Import, symbol.Constant)
	for _, w := range []string{"map of", "list of", "set of", "log of", "key of", "secret"} {
		c.keywords(w)
	}
}

func (c *completer) regionWords(last string, openers ...string) {
	if slices.Contains(append(openers, ",", "&", "except", "(", "blind"), last) {
		c.named(symbol.Region, symbol.Import)
		c.keywords("secrets")
		return
	}
	c.keywords("except")
}

func (c *completer) stageWords(decl, depth, parens int, first bool, last string) {
	if depth == 0 {
		switch {
		case parens > 0 && last == ":":
			c.types()
		case parens > 0 && strings.HasPrefix(last, "/"):
			c.keywords("where")
		case parens > 0 && last != "(" && last != "," && last != "new":
			c.keywords("in", "new in")
		case last == "new":
			c.keywords("in")
		case last == "from":
			c.named(symbol.Stage)
		case c.before[decl].Span.Text() == "delegate" && len(c.before) == decl+2:
			c.keywords("from")
		}
		return
	}
	k := syntax.AllKeywords()
	clause, at := "", 0
	for i := decl + 1; i < len(c.before); i++ {
		if t := c.before[i]; t.Kind == syntax.WordToken && slices.Contains(k.Clauses, t.Span.Text()) && !slices.Contains([]string{",", "next", "except"}, c.before[i-1].Span.Text()) {
			clause, at = t.Span.Text(), i
		}
	}
	fresh := len(c.before)-1 == at && clause != "" || last == "," || last == "&" || last == "except"
	if !fresh || first && last != "," {
		var left []string
		for _, w := range k.Clauses {
			if w == "require" || w == "ensure" || w == "delegable" || !c.has(decl, w) {
				left = append(left, w)
			}
		}
		if last != "(" {
			c.keywords(left...)
		}
		if first {
			return
		}
	}
	switch clause {
	case "in", "next":
		if fresh {
			c.named(symbol.Phase)
		}
	case "by":
		if fresh {
			c.named(symbol.Role, symbol.Group)
		}
	case "after":
		if fresh {
			c.named(symbol.Stage)
		}
	case "read", "source", "delegable":
		c.regionWords(last, clause)
		if last == "delegable" {
			c.keywords(syntax.GrantKinds()...)
		}
	case "write":
		c.regionWords(last, clause, "create", "update", "delete")
		if last == "write" || last == "," {
			c.keywords("blind", "create", "update", "delete")
		}
	case "discloses":
		if last == "next" {
			c.named(symbol.Phase)
		} else if last == "where" {
			c.named(symbol.Parameter)
		} else if fresh {
			c.named(symbol.Invariant, symbol.Condition, symbol.Import)
			c.keywords("require", "ensure", "produce", "next", "where", "phase")
		}
	}
}

// has reports whether the declaration has a clause already.
func (c *completer) has(decl int, word string) bool {
	for _, d := range c.file.Decls {
		st, ok := d.(*syntax.StageDecl)
		if !ok || st.Span.Start != c.before[decl].Span.Start {
			continue
		}
		return slices.ContainsFunc(st.Clauses, func(cl *syntax.Clause) bool { return cl.Keyword.Text == word && cl.Keyword.Span.Start != c.start })
	}
	return false
}

func (c *completer) claimWords(last string) {
	switch last {
	case "prove":
		c.keywords("no", "all")
		c.named(symbol.Stage, symbol.Composition, symbol.Phase)
	case "no":
		c.keywords("stage", "flow")
	case "all":
		c.keywords("commute")
	case "commute":
		c.keywords("in")
	case "in", "before":
		c.named(symbol.Phase)
	case "stage":
		c.keywords("except", "reads", "writes", "copies")
	case "commutes":
		c.keywords("with")
	case "flow":
		c.keywords("from")
	case "with":
		if c.follows("commutes", 1) {
			c.named(symbol.Stage, symbol.Composition)
		} else {
			c.keywords("memory")
		}
	case "within", "except", ",":
		c.named(symbol.Stage, symbol.Composition)
	case "reads", "writes", "copies", "to":
		c.regionWords("=", "=")
	case "from":
		if c.follows("differs", 1) {
			c.parameters()
		} else {
			c.regionWords("=", "=")
		}
	case "when", "and", "or", "(":
		c.parameters()
	case "differs":
		c.keywords("from", "and", "or")
	default:
		c.keywords("commutes with", "within", "before", "when", "differs", "to", "with memory", "reads", "writes", "copies", "and", "or", "except")
	}
}

// parameters completes those of all stages: a hypothesis names some of the stages before it.
func (c *completer) parameters() {
	seen := map[string]bool{}
	for _, sym := range c.symbols().Symbols {
		if sym.Kind == symbol.Parameter && sym.Owner != nil && sym.Owner.Kind == symbol.Stage && !seen[sym.Name] {
			seen[sym.Name] = true
			c.symbol(c.start, sym, sym.Name)
		}
	}
}

func (c *completer) testWords(first bool, last string) {
	switch last {
	case "stage":
		c.named(symbol.Stage)
	case "phase", "next", "advance":
		c.named(symbol.Phase)
	case "role":
		c.named(symbol.Role, symbol.Group)
	case "state":
		c.named(symbol.Given)
	case "expect":
		c.keywords("commit", "noop", "reject", "reply", "phase", "state", "view", "shown", "hidden", "no")
	case "reject", "reply":
		c.keywords("invariant", "change", "require", "ensure", "produce", "read", "write", "source", "phase")
	case "invariant", "change", "require", "ensure":
		c.named(symbol.Invariant, symbol.Condition)
	default:
		if first {
			c.keywords(syntax.AllKeywords().Tests...)
		}
	}
}

// qualified completes a name of a library behind its alias.
func (c *completer) qualified() {
	end := c.start - 1
	start := end
	for start > 0 && isWordByte(c.text()[start-1]) {
		start--
	}
	for _, d := range c.file.Decls {
		d, ok := d.(*syntax.Import)
		if !ok || importAlias(d) != c.text()[start:end] {
			continue
		}
		library := c.imported(c.file.Source.Name, d)
		for _, sym := range c.symbols().Symbols {
			if library != nil && sym.Span.File == library.Source && slices.Contains([]symbol.Kind{symbol.Type, symbol.Region, symbol.Constant, symbol.Measure, symbol.Invariant, symbol.Definition}, sym.Kind) {
				c.symbol(c.start, sym, sym.Name)
			}
		}
	}
}

func importAlias(d *syntax.Import) string {
	if d.Alias.Text != "" {
		return d.Alias.Text
	}
	return strings.TrimSuffix(d.Path.Value[strings.LastIndexByte(d.Path.Value, '/')+1:], extension)
}

// importPath completes what is imported.
func (c *completer) importPath(t syntax.Token) {
	if n := len(c.before); n == 0 || !slices.ContainsFunc(c.before, func(b syntax.Token) bool {
		return b.Span.Text() == "import" && strings.TrimSpace(c.text()[b.Span.End:t.Span.Start]) == ""
	}) {
		return
	}
	for _, p := range c.libraries() {
		c.add(t.Span.Start+1, completionItem{Label: p, Kind: itemFile, SortText: "1" + p}, p)
	}
}

// libraries are the files that an import may mean: what comes with the compiler, and what lies
// beside the file.
func (c *completer) libraries() []string {
	out := []string{"std/money", "std/pii", "std/text", "std/time"}
	dir := c.snap.disk(c.name)
	defer dir.close()
	if dir.root == nil {
		return out
	}
	entries, err := dir.root.Open(".")
	if err != nil {
		return out
	}
	defer entries.Close()
	names, _ := entries.Readdirnames(maxFiles)
	slices.Sort(names)
	for _, name := range names {
		if strings.HasSuffix(name, extension) && name != dir.path && !strings.HasSuffix(name, "_test"+extension) {
			out = append(out, "./"+name)
		}
	}
	return out
}

// Paths.

// variant is what would be known of the contract if the file had another text.
func (c *completer) variant(text string) (*analysis, error) {
	d := *c.doc
	d.content = newContent(text)
	return compile(c.ctx, c.snap.with(&d), c.name, &c.analyses.variants)
}

// path completes a segment.
func (c *completer) path(t syntax.Token) error {
	text := c.text()
	written := text[t.Span.Start:c.offset]
	slash, start := 0, 0
	quotes := false
	for i := 0; i < len(written); i++ {
		switch b := written[i]; {
		case b == '"':
			quotes = !quotes
		case quotes:
		case b == '/':
			slash, start = i, i+1
		case b == '(' || b == '|':
			start = i + 1
		}
	}
	slash, start = slash+t.Span.Start, start+t.Span.Start
	// The path stands once more at the end, in a declaration that is whole.
	asked := text[:t.Span.Start] + "/**" + text[t.Span.End:] + "\nregion completed = " + keyless(text[t.Span.Start:slash])
	found, err := c.variant(asked)
	if err != nil {
		return err
	}
	var at symbol.Typed
	if f := found.file(c.doc.name); slash == t.Span.Start {
		at.Fields = rootFields(found, c.doc.name)
	} else if f != nil {
		at = endingAt(found.symbols(), f.Source, len(asked))
	}
	keyed := strings.Contains(at.Type, "map of") || strings.Contains(at.Type, " by ")
	seen := map[string]bool{}
	for _, f := range at.Fields {
		if !seen[f.Name] {
			seen[f.Name] = true
			c.symbol(start, f, segmentText(f.Name))
		}
	}
	if slash+1 != start || strings.HasPrefix(text[start:], "(") {
		return nil // an alternative is a name
	}
	for _, sym := range found.symbols().Symbols {
		if keyed && sym.Kind == symbol.Parameter && sym.Scope.File != nil && sym.Scope.File.Name == c.doc.name && sym.Scope.Start <= t.Span.Start && t.Span.Start <= sym.Scope.End && !strings.HasPrefix(sym.Type, ":") {
			item := completionItem{Label: "{" + sym.Name + "}", Kind: itemVariable, Detail: plain(sym.Type), SortText: "0" + sym.Name, FilterText: "{" + sym.Name}
			item.TextEdit = &textEdit{c.rangeOf(start, c.offset), "{" + sym.Name + "}"}
			if strings.HasPrefix(text[c.offset:], "}") {
				item.TextEdit.Range = c.rangeOf(start, c.offset+1)
			}
			c.items = append(c.items, item)
		}
	}
	if keyed || strings.Contains(at.Type, "list of") || strings.Contains(at.Type, "set of") || strings.Contains(at.Type, "log of") {
		c.add(start, completionItem{Label: "*", Kind: itemValue, Detail: "every entry", SortText: "5*"}, "*")
	}
	if strings.Contains(at.Type, "set of") || strings.Contains(at.Type, "log of") {
		c.add(start, completionItem{Label: "-", Kind: itemValue, Detail: "the next entry, in a write clause", SortText: "5-"}, "-")
	}
	return nil
}

// keyless is a path with every key in the place of a parameter, which regions have none of.
func keyless(path string) string { return parameterSegment.ReplaceAllString(path, "/*") }

var parameterSegment = regexp.MustCompile(`/\{[A-Za-z0-9_]*\}`)

// rootFields are the members of the state.
func rootFields(a *analysis, name string) []*symbol.Symbol {
	f := a.file(name)
	if f == nil || f.Header != nil && f.Header.Library {
		f = a.file(a.name)
	}
	if f == nil {
		return nil
	}
	for _, d := range f.Decls {
		d, ok := d.(*syntax.StateDecl)
		if !ok {
			continue
		}
		var owner *symbol.Symbol
		if t, ok := d.Type.(*syntax.NamedType); ok {
			for _, sym := range a.symbols().At(f.Source, t.Name.Span.End) {
				owner = sym
			}
		}
		var out []*symbol.Symbol
		for _, sym := range a.symbols().Symbols {
			if sym.Kind == symbol.Field && sym.Owner == owner && (owner != nil || sym.Span.File == f.Source && d.Span.Start <= sym.Span.Start && sym.Span.End <= d.Span.End) {
				out = append(out, sym)
			}
		}
		return out
	}
	return nil
}

// endingAt is the innermost expression, or the path, that ends at a byte.
func endingAt(table *symbol.Table, f *source.File, end int) (out symbol.Typed) {
	for _, t := range table.Types {
		if t.Span.File == f && t.Span.End == end && (out.Span.IsZero() || t.Span.Start >= out.Span.Start) {
			out = t
		}
	}
	return out
}

var plainSegment = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]*$`)

// segmentText is how a member's name is written in a path.
func segmentText(name string) string {
	if plainSegment.MatchString(name) {
		return name
	}
	return strconv.Quote(name)
}

// Expressions.

// expression completes CEL.
func (c *completer) expression(t syntax.Token) error {
	text := c.text()
	inside := text[t.Span.Start+1 : c.start]
	open, where := openIn(inside)
	if where != "" {
		return nil
	}
	end := t.Span.End
	closed := strings.HasSuffix(t.Span.Text(), "}")
	rest := text[end:]
	hole := func(upTo int, fill string) string {
		out := text[:upTo] + fill + open + " }"
		if !closed {
			out += "\n"
		}
		return out + rest
	}
	before := strings.TrimRight(inside, " \t\r\n")
	if optional := strings.HasSuffix(before, ".?"); optional || strings.HasSuffix(before, ".") {
		dot := t.Span.Start + 1 + len(before) - 1
		if optional {
			dot--
		}
		a, err := c.variant(hole(dot, ""))
		if err != nil {
			return err
		}
		f := a.file(c.doc.name)
		if f == nil {
			return nil
		}
		of := endingAt(a.symbols(), f.Source, dot)
		c.members(of, optional, text[t.Span.Start+1:dot])
		return nil
	}
	a, err := c.variant(hole(c.start, "true"))
	if err != nil {
		return err
	}
	c.freeNames(a, t)
	return nil
}

// openIn says how the brackets that are open at the end of some CEL are closed, and whether
// its end is in a string or a comment.
func openIn(cel string) (closers, where string) {
	var open []byte
	for i := 0; i < len(cel); i++ {
		switch b := cel[i]; b {
		case '"', '\'', '`':
			j := i + 1
			for j < len(cel) && cel[j] != b {
				if cel[j] == '\\' {
					j++
				}
				j++
			}
			if j >= len(cel) {
				return "", "string"
			}
			i = j
		case '/':
			if strings.HasPrefix(cel[i:], "//") {
				j := strings.IndexByte(cel[i:], '\n')
				if j < 0 {
					return "", "comment"
				}
				i += j
			}
		case '(':
			open = append(open, ')')
		case '[':
			open = append(open, ']')
		case '{':
			open = append(open, '}')
		case ')', ']', '}':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		}
	}
	slices.Reverse(open)
	return string(open), ""
}

// receivers are values, by the beginning of their type in words, and what is called on them.
var receivers = []struct {
	types []string
	names []string
}{
	{[]string{"string", `"`}, []string{"contains", "startsWith", "endsWith", "matches", "trim", "lowerAscii", "upperAscii", "replace", "substring", "indexOf", "split"}},
	{[]string{"list", "set", "log", "map"}, []string{"all", "exists", "exists_one", "filter", "map", "sum"}},
	{[]string{"list"}, []string{"first", "last", "join", "transformList"}},
	{[]string{"map"}, []string{"transformList", "transformMap"}},
	{[]string{"optional"}, []string{"hasValue", "value", "orValue", "optMap", "optFlatMap"}},
	{[]string{"timestamp"}, []string{"getFullYear", "getMonth", "getDate", "getDayOfWeek", "getHours", "getMinutes", "getSeconds"}},
	{[]string{"duration"}, []string{"getHours", "getMinutes", "getSeconds"}},
}

var plainMember = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// members completes what follows a dot.
func (c *completer) members(of symbol.Typed, optional bool, receiver string) {
	seen := map[string]bool{}
	for _, f := range of.Fields {
		if seen[f.Name] {
			continue
		}
		seen[f.Name] = true
		text := f.Name
		if !plainMember.MatchString(text) || slices.Contains([]string{"in", "true", "false", "null"}, text) {
			text = "`" + text + "`"
		}
		c.symbol(c.start, f, text)
	}
	if optional {
		return
	}
	for _, m := range receivers {
		if !slices.ContainsFunc(m.types, func(t string) bool { return strings.HasPrefix(of.Type, t) }) {
			continue
		}
		for _, name := range m.names {
			c.function(c.start, name, name)
		}
	}
	start := len(receiver)
	for start > 0 && isWordByte(receiver[start-1]) {
		start--
	}
	if len(of.Fields) == 0 {
		for _, name := range functionNames { // pii.email and the like
			if rest, ok := strings.CutPrefix(name, receiver[start:]+"."); ok && receiver[start:] != "" {
				c.function(c.start, rest, name)
			}
		}
		c.qualified()
	}
}

func (c *completer) function(start int, name, doc string) {
	c.add(start, completionItem{Label: name, Kind: itemFunction, SortText: "2" + name, Documentation: markdown(builtinDocs[doc])}, name)
}

// functionNames are those that are called by themselves.
var functionNames = []string{
	"size", "has", "int", "double", "string", "decimal", "timestamp", "duration", "sum", "min", "max", "type", "dyn",
	"cel.bind", "optional.of", "optional.none", "pii.email", "pii.phone", "pii.luhn", "pii.digits", "text.blank", "text.words", "text.lines",
	"text.letters", "time.instant", "time.date", "time.before", "time.days", "money.cents", "money.currency",
}

// freeNames completes a name that stands by itself: which are in scope depends on the place.
func (c *completer) freeNames(a *analysis, t syntax.Token) {
	place := ""
	for i := len(c.before) - 1; i >= 0 && place == ""; i-- {
		b := c.before[i]
		if word := b.Span.Text(); b.Kind == syntax.WordToken && b.Span.End <= t.Span.Start && scopes[word] != nil {
			place = word
		}
	}
	if at, _, parens := c.declaration(); place == "where" && at >= 0 && parens > 0 && c.before[at].Span.Text() == "stage" {
		place = "where of a parameter"
	}
	inputs := []string{"role", "actor", "now"}
	for _, name := range scopes[place] {
		if name == "inputs" {
			for _, input := range inputs {
				c.function(c.start, input, input)
			}
			continue
		}
		c.add(c.start, completionItem{Label: name, Kind: itemVariable, SortText: "0" + name, Documentation: markdown(builtinDocs[name])}, name)
	}
	kinds := []symbol.Kind{symbol.Variable, symbol.Constant, symbol.Definition}
	switch place {
	case "where":
	case "change":
	case "require", "ensure", "define", "where of a parameter":
		kinds = append(kinds, symbol.Measure, symbol.Parameter, symbol.Import)
	default:
		kinds = append(kinds, symbol.Measure, symbol.Import)
	}
	f := a.file(c.doc.name)
	if f == nil {
		return
	}
	seen := map[string]bool{}
	for _, sym := range a.symbols().InScope(f.Source, c.start) {
		if slices.Contains(kinds, sym.Kind) && !seen[sym.Name] {
			seen[sym.Name] = true
			c.symbol(c.start, sym, sym.Name)
		}
	}
	for _, name := range functionNames {
		c.function(c.start, name, name)
	}
}

// scopes are the names that expressions may use, by the word that they stand behind.
var scopes = map[string][]string{
	"invariant": {"state", "phase"},
	"when":      {"state", "phase", "inputs"},
	"change":    {"before", "after", "inputs"},
	"require":   {"before", "inputs"},
	"ensure":    {"before", "after", "inputs"},
	"where":     {"self"},

	"where of a parameter": {"state", "inputs"},
	"define":               {"state", "before", "after", "phase", "inputs"},
	"view":                 {"view"},
	"commit":               {"after"},
}
