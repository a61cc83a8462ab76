package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// What this phase says: one function for each mistake, named after what is wrong. Code and
// severity are those of the catalogue, package diagnostic.

// fault is a finding of a kind, worded.
func fault(k *diagnostic.Kind, at source.Span, help, format string, args ...any) source.Diagnostic {
	return k.Diagnostic(at, help, fmt.Sprintf(format, args...))
}

func related(d source.Diagnostic, message string, at source.Span) source.Diagnostic {
	if !at.IsZero() {
		d.Related = append(d.Related, source.Related{Message: message, Span: at})
	}
	return d
}

func replaced(d source.Diagnostic, at source.Span, text string) source.Diagnostic {
	d.Fixes = append(d.Fixes, source.Fix{Title: "write `" + text + "`", Span: at, Text: text})
	return d
}

// unknownName: name is the part of n that was looked up among the candidates; what was
// looked for is in the code.
func unknownName(unknown *diagnostic.Kind, n syntax.Name, name string, candidates []string) source.Diagnostic {
	kind := strings.TrimPrefix(unknown.Code, "unknown_")
	d := fault(unknown, n.Span, listOf(candidates), "there is no %s called %s", kind, name)
	near := spell.Nearest(name, candidates)
	if near == "" {
		near = misnomers[kind][strings.ToLower(name)]
	}
	if near != "" {
		d.Help = "did you mean `" + near + "`?"
		at := n.Span
		if alias, rest, ok := strings.Cut(n.Text, "."); ok && alias == name && rest != name {
			at.End = at.Start + len(alias)
		} else if ok {
			at.Start = at.End - len(name)
		}
		d = replaced(d, at, near)
	} else if help := elsewhere[kind][strings.ToLower(name)]; help != "" {
		d.Help = help
	}
	return d
}

// misnomers are names that other languages have for what has another one here,
// by kind.
var misnomers = map[string]map[string]string{
	"type": {
		"boolean": "bool", "integer": "int", "long": "int", "int64": "int", "int32": "int", "float": "number",
		"float64": "number", "real": "number", "varchar": "string", "char": "string", "uuid": "string", "url": "string", "uint": "int", "bigint": "int", "nil": "null", "none": "null", "double": "number", "money": "decimal", "numeric": "decimal", "bigdecimal": "decimal", "str": "string", "text": "string", "unknown": "any", "json": "any",
	},
	"region": {"all": "/**", "everything": "/**", "any": "/**"},
}

// elsewhere says how what other languages have a name for is written here, by kind.
var elsewhere = map[string]map[string]string{
	"region": {
		"none": "leave the clause out: what a stage does not say it does not allow", "nothing": "leave the clause out: what a stage does not say it does not allow",
	},
	"type": {
		"undefined": "a member that may be absent is written `name?: TYPE`", "void": "a member that may be absent is written `name?: TYPE`",
		"ref": "a reference is written `key of /PATH`", "reference": "a reference is written `key of /PATH`",
		"map": "write `map of TYPE`", "list": "write `list of TYPE`", "set": "write `set of TYPE`",
		"object":   "a record is written `{ name: TYPE }`, an object with keys of its own `map of TYPE`",
		"record":   "a record is written `{ name: TYPE }`, an object with keys of its own `map of TYPE`",
		"dict":     "an object with keys of its own is written `map of TYPE`",
		"array":    "write `list of TYPE`",
		"enum":     "write the values with `|` between them: `\"a\" | \"b\"`",
		"optional": "a member that may be absent is written `name?: TYPE`",
		"date":     "import \"std/time\" has types for it", "datetime": "import \"std/time\" has types for it", "timestamp": "import \"std/time\" has types for it",
	},
}

// listOf says which names there are, if they are few.
func listOf(candidates []string) string {
	switch {
	case len(candidates) == 0:
		return "none is declared"
	case len(candidates) > 12:
		return ""
	}
	return "there is " + strings.Join(candidates, ", ")
}

// tooLarge: what names a limit as the table of limits does.
func tooLarge(at source.Span, what string, limit int, help string) source.Diagnostic {
	return fault(diagnostic.LimitExceeded, at, help, "there are more than %d %s", limit, what)
}

func moreFindings(at tally, more int) source.Diagnostic {
	end := len(at.file.Text)
	d := fault(diagnostic.TooManyMistakes, source.Span{File: at.file, Start: end, End: end}, "mend those first", "there are %d more mistakes than are shown", more)
	if !at.errors {
		d.Severity, d.Message = source.Warning, fmt.Sprintf("there are %d more findings than are shown", more)
	}
	return d
}

func declaredTwice(d, first syntax.Decl) source.Diagnostic {
	what := key(d)
	return related(fault(diagnostic.DeclaredTwice, nameSpan(d), "rename or remove one of the two", "%s is declared twice", what), "first declared here", nameSpan(first))
}

func nameSpan(d syntax.Decl) source.Span {
	if n := d.DeclName(); n.Text != "" {
		return n.Span
	}
	return d.GetSpan()
}

func aliasTwice(d *syntax.Import, alias string) source.Diagnostic {
	return fault(diagnostic.DeclaredTwice, d.Span, "give one of them another name with `as`", "two imports are called %s", alias)
}

func shadowsBuiltin(n syntax.Name, kind string) source.Diagnostic {
	return fault(diagnostic.ReservedName, n.Span, "choose another name", "no %s can be called %s: %s", kind, n.Text, taken(n.Text))
}

// taken is why a name cannot be given.
func taken(name string) string {
	if expr.IsReserved(name) {
		return "it is a reserved word in expressions"
	}
	return "that means something already"
}

func onlyInContracts(d syntax.Decl, kind string) source.Diagnostic {
	return fault(diagnostic.NotInLibrary, d.GetSpan(), "a library holds types, regions, constants, definitions, measures and invariants; move this to the contract", "a %s cannot stand in a library", kind)
}

func environmentFailed(f *source.File, err error) source.Diagnostic {
	return fault(diagnostic.ExpressionEnvironment, source.Span{File: f}, "", "the expressions of this contract cannot be checked: %v", err)
}

func missingState(f *syntax.File) source.Diagnostic {
	at := source.Span{File: f.Source}
	if f.Header != nil {
		at = f.Header.Span
	}
	return fault(diagnostic.MissingState, at, "declare it with `state { name: TYPE ... }`, or `state any` to leave it untyped", "the contract does not say what its state is")
}

// Types.

func recursiveType(t *syntax.NamedType, first *syntax.TypeDecl) source.Diagnostic {
	return related(fault(diagnostic.RecursiveType, t.Span, "use `any` at this place, or refer to entries of a map with `key of`", "type %s contains itself", first.Name.Text), "declared here", first.Name.Span)
}

// badKeyField: names are the members that could be the key.
func badKeyField(n syntax.FieldName, names []string) source.Diagnostic {
	d := fault(diagnostic.KeyField, n.Span, "the elements of a `list of T by FIELD` are records with FIELD: string", "%s is not a required string member of the elements", n.Text)
	if near := spell.Nearest(n.Text, names); near != "" {
		d = replaced(d, n.Span, near)
	}
	return d
}

func secretKey(n syntax.FieldName) source.Diagnostic {
	return fault(diagnostic.SecretKey, n.Span, "key the list by a field that may be seen, or make the whole list secret: `secret list of ...`",
		"%s is secret, and as the key of a list it is the name under which every element shows", n.Text)
}

func fieldTwice(f, first *syntax.Field) source.Diagnostic {
	return related(fault(diagnostic.DeclaredTwice, f.Name.Span, "remove one of the two", "member %s is declared twice", f.Name.Text), "first declared here", first.Name.Span)
}

func notNumeric(d *syntax.MeasureDecl, what string, entries bool) source.Diagnostic {
	f := fault(diagnostic.MeasureType, d.Over.Span, "`count` takes anything; the others need numbers", "%s needs numbers, this is %s", d.Kind.Text, what)
	if entries {
		f.Help = "write `" + d.Over.Text + "/*` for its entries"
		f.Fixes = append(f.Fixes, insertion("go over its entries", d.Over.Span.File, d.Over.Span.End, "/*"))
	}
	return f
}

func quotedType(t *syntax.LiteralType) source.Diagnostic {
	name := map[string]string{`"integer"`: "int", `"boolean"`: "bool"}[t.Text]
	if name == "" {
		name = strings.Trim(t.Text, `"`)
	}
	d := fault(diagnostic.QuotedType, t.Span, "the name of a type stands without quotation marks", "this can only be the text %s", t.Text)
	return replaced(d, t.Span, name)
}

func deepEach(s *syntax.PathSegment) source.Diagnostic {
	return fault(diagnostic.EachPattern, s.Span, "use `*` for every level", "`each` needs to know how deep its entries are; `**` does not say")
}

func eachWithoutWildcard(e *syntax.Each, most int, open bool) source.Diagnostic {
	d := fault(diagnostic.EachPattern, e.Over.Span, "write `/*` where the entries vary", "`each` goes over entries: its path has between 1 and %d `*`", most)
	if open {
		d.Fixes = append(d.Fixes, insertion("go over its entries", e.Over.Span.File, e.Over.Span.End, "/*"))
	}
	return d
}

// noKeyOfEntry: positions are no keys.
func noKeyOfEntry(e *syntax.Each) source.Diagnostic {
	d := fault(diagnostic.EachPattern, e.Key().Span, "the position of an element changes as others come and go; leave the key out, or use a map or a `list of T by FIELD`",
		"the entries of %s have no keys that could be called %s", e.Over.Text, e.Key().Text)
	at := e.Key().Span
	at.End = e.Var().Span.Start
	d.Fixes = append(d.Fixes, source.Fix{Title: "leave the key out", Span: at, Text: ""})
	return d
}

func entryTwice(e *syntax.Each) source.Diagnostic {
	return fault(diagnostic.DeclaredTwice, e.Var().Span, "call the key otherwise", "the entry and its key are both called %s", e.Var().Text)
}

// noEntry: what needs entries is given a path that names none.
func noEntry(p *syntax.Path, what string) source.Diagnostic {
	return fault(diagnostic.EachPattern, p.Span, "an entry is what the last `*` of the path stands for; `**` does not say how deep it is", "%s is about entries, and %s names none", what, p.Text)
}

// uniqueAlone is about the path of `unique` that leads to one place. entries is the text of one
// that leads to the same in every entry, "" if there is none.
func uniqueAlone(p *syntax.Path, entries string) source.Diagnostic {
	d := fault(diagnostic.EachPattern, p.Span, "write `*` where the entries vary", "%s is one place, and what stands there differs from nothing", p.Text)
	if entries != "" {
		d = replaced(d, p.Span, entries)
		d.Help = "did you mean `" + entries + "`?"
	}
	return d
}

func otherEntry(p, first *syntax.Path) source.Diagnostic {
	return fault(diagnostic.EachPattern, p.Span, "name members of one entry: the paths are alike up to their last `*`", "%s is of other entries than %s", p.Text, first.Text)
}

func wholeStateRule(e *syntax.Expr, walks []region.Pattern) source.Diagnostic {
	var paths []string
	for _, p := range walks {
		paths = append(paths, p.Source())
	}
	return fault(diagnostic.WholeStateRule, e.Span,
		"a rule that asks the same of every entry costs only the entries that a commit touches: `each`, or `all` joined to the rest by `&&`; so does a measure, also with a condition: `count PATH where { ... }`",
		"whenever this rule is checked it goes through all of %s", strings.Join(paths, ", "))
}

// Paths.

func tooManyChoices(p *syntax.Path) source.Diagnostic {
	return fault(diagnostic.TooManyChoices, p.Span, "use fewer `(a|b)`, or `*`", "the alternatives of this path multiply to more than %d", MaxChoices)
}

func notOnePlace(p *syntax.Path, s *syntax.PathSegment) source.Diagnostic {
	d := fault(diagnostic.NotOnePlace, s.Span, "name every step, or use a parameter", "%s must lead to one place; %s leads to many", p.Text, s.Span.Text())
	if last := p.Segments[len(p.Segments)-1]; s == last && len(p.Segments) > 1 && s.Kind == syntax.StarSegment {
		at := s.Span
		at.Start-- // the slash
		d.Help = "name what holds the entries: " + strings.TrimSuffix(p.Text, "/*")
		d.Fixes = append(d.Fixes, source.Fix{Title: "name what holds the entries", Span: at, Text: ""})
	}
	return d
}

func choiceNotAllowed(p *syntax.Path) source.Diagnostic {
	return fault(diagnostic.NotOnePlace, p.Span, "write one declaration for each", "alternatives have no meaning here")
}

func notAMap(p *syntax.Path, what, help string) source.Diagnostic {
	return fault(diagnostic.NotAMap, p.Span, help, "%s has no keys to choose from: it is %s", p.Text, what)
}

func newInList(p *syntax.Param, what string) source.Diagnostic {
	return fault(diagnostic.NotAMap, p.Path.Span, "write `"+p.Name.Text+" new in` a map, or `"+p.Name.Text+" in "+p.Path.Text+"` for a string that it has", "%s holds no entry for a new key: it is %s", p.Path.Text, what)
}

// paramLater: the path of p uses a parameter that is declared after it.
func paramLater(p, later *syntax.Param) source.Diagnostic {
	d := fault(diagnostic.UnknownParameter, p.Path.Span, "write `"+later.Name.Text+"` before `"+p.Name.Text+"`: a parameter may use those before it", "parameter %s is declared only after %s, which uses it", later.Name.Text, p.Name.Text)
	return related(d, "declared here", later.Name.Span)
}

func valueInPath(s *syntax.PathSegment) source.Diagnostic {
	return fault(diagnostic.UnknownParameter, s.Span, "declare it as a key: `"+s.Text+" in /PATH`", "{%s} must be a key, and %s is a value: it stands in conditions only", s.Text, s.Text)
}

func unknownParam(s *syntax.PathSegment, params []string) source.Diagnostic {
	d := fault(diagnostic.UnknownParameter, s.Span, "", "there is no parameter %s here", s.Text)
	switch near := spell.Nearest(s.Text, params); {
	case near != "":
		d.Help = "did you mean `{" + near + "}`?"
		d = replaced(d, s.Span, "{"+near+"}")
	case len(params) == 0:
		d.Help = "parameters are declared after a stage's name: `stage NAME(" + s.Text + " in /PATH)`; elsewhere use `*`"
	default:
		d.Help = listOf(params)
	}
	return d
}

func noSuchMember(s *syntax.PathSegment, what string, names []string) source.Diagnostic {
	d := fault(diagnostic.UnknownMember, s.Span, listOf(names), "%s has no member %s, so this path matches nothing", what, s.Span.Text())
	if near := spell.Nearest(s.Text, names); near != "" {
		near = region.Segment{Kind: region.KeyLiteral, Text: near}.Source()
		d.Help = "did you mean `" + near + "`?"
		d = replaced(d, s.Span, near)
	}
	return d
}

func paramInRecord(s *syntax.PathSegment, what string) source.Diagnostic {
	return fault(diagnostic.ParameterInRecord, s.Span, "parameters stand for keys of maps; name the member", "%s is a record: its members are fixed, {%s} cannot be one of them", what, s.Text)
}

func nothingBelow(s *syntax.PathSegment, above region.Pattern, what string) source.Diagnostic {
	d := fault(diagnostic.NoSuchPath, s.Span, "the path ends at "+above.Source()+", which has nothing below", "%s can match nothing here: %s is %s", s.Span.Text(), above.Source(), what)
	return d
}

func positionInRead(s *syntax.PathSegment, object bool) source.Diagnostic {
	d := fault(diagnostic.PositionInRead, s.Span, "read the whole list, or `*`; or make it a `list of T by FIELD`", "what is visible in a list may not depend on the position: an insertion would move hidden elements into sight")
	if object {
		d.Help = "if " + s.Text + " is a key, write it in quotes; if it is a position, read the whole list"
		d = replaced(d, s.Span, jsonString(s.Text))
	}
	return d
}

func elementOfBag(s *syntax.PathSegment, what string, add bool) source.Diagnostic {
	d := fault(diagnostic.ElementOfBag, s.Span, "grant the whole of it, or `-` to add entries", "the elements of a %s have no place of their own: they cannot be written or taken one by one", what)
	if s.Kind == syntax.StarSegment && add {
		d = replaced(d, s.Span, "-")
	}
	return d
}

func dashOutsideLog(s *syntax.PathSegment, what string) source.Diagnostic {
	return fault(diagnostic.DashOutsideLog, s.Span, "grant the whole list, or make it a `log of T` or a `list of T by FIELD`", "`-` adds to a log or a set; this is %s", what)
}

func dashOutsideWrite(s *syntax.PathSegment) source.Diagnostic {
	return fault(diagnostic.DashOutsideWrite, s.Span, "leave it out", "`-` means a new entry, which only a write clause can grant")
}

func dashNotLast(s *syntax.PathSegment) source.Diagnostic {
	return fault(diagnostic.DashNotLast, s.Span, "end the path here", "`-` grants a whole new entry; nothing can follow it")
}

// Regions.

func recursiveRegion(n syntax.Name, d *syntax.RegionDecl) source.Diagnostic {
	return related(fault(diagnostic.RecursiveRegion, n.Span, "", "region %s contains itself", d.Name.Text), "declared here", d.Name.Span)
}

func inexactRegion(at source.Span, operator string) source.Diagnostic {
	return fault(diagnostic.InexactRegion, at, "write the paths out, fewer of them and without `**` on both sides", "what `%s` leaves here is no list of paths", operator)
}

func logSource(p *syntax.Path) source.Diagnostic {
	return fault(diagnostic.LogSource, p.Span, "leave it out; a `test` needs no more than `read`", "nothing is ever taken from a log: `copy` and `move` refuse it")
}

func emptyIntersection(g *syntax.GrantExpr) source.Diagnostic {
	return fault(diagnostic.EmptyGrant, g.Span, "the operands of `&` share no path", "this grant is empty")
}

func emptyGrant(g *syntax.GrantExpr, mode region.Mode) source.Diagnostic {
	if mode == region.Plain {
		return fault(diagnostic.EmptyGrant, g.Span, "take less away, or remove the grant", "this grant is empty: its exceptions leave nothing of it")
	}
	return fault(diagnostic.EmptyGrant, g.Span,
		"a change, and what is taken, is all that is at and below a place: name the places that may be changed, or take nothing away that may lie below them",
		"this grant allows nothing: what its exceptions name may lie below every place it has")
}

func tooManySecrets(f *syntax.File) source.Diagnostic {
	return fault(diagnostic.TooManySecrets, source.Span{File: f.Source}, "make a whole record secret instead of its members", "the state has more than %d secret places", MaxSecrets)
}

// Phases.

func phaseTwice(p, first *syntax.Phase) source.Diagnostic {
	return related(fault(diagnostic.DeclaredTwice, p.Name.Span, "list all its targets on one line: `a -> b, c`", "phase %s is declared twice", p.Name.Text), "first declared here", first.Name.Span)
}

func noPhases(d *syntax.PhasesDecl) source.Diagnostic {
	return fault(diagnostic.NoPhases, d.Span, "write `first -> second`, or leave `phases` out", "there is no phase in here")
}

func arrowTwice(p *syntax.Phase, a *syntax.Arrow) source.Diagnostic {
	return fault(diagnostic.DeclaredTwice, a.Span, "join the two guards with `||`", "phase %s leads to %s twice", p.Name.Text, a.To.Text)
}

func unreachablePhase(p *syntax.Phase, start string) source.Diagnostic {
	return fault(diagnostic.UnreachablePhase, p.Name.Span, "add an arrow to it, or remove it", "no way leads from %s, where instances start, to phase %s", start, p.Name.Text)
}

func endlessPhase(p *syntax.Phase) source.Diagnostic {
	return fault(diagnostic.EndlessPhase, p.Name.Span, "let some way end in a phase without arrows", "no way leads from phase %s to a phase in which an instance may end", p.Name.Text)
}

func unwalkedArrow(p *syntax.Phase, to string) source.Diagnostic {
	at := p.Name.Span
	for _, a := range p.Arrows {
		if a.To.Text == to {
			at = a.To.Span
		}
	}
	return fault(diagnostic.UnwalkedArrow, at, "give a stage in "+p.Name.Text+" the clause `next "+to+"`, or mark the arrow `by host`", "nobody can walk from %s to %s", p.Name.Text, to)
}

func noSuchArrow(cl *syntax.Clause, from *syntax.Phase, to string) source.Diagnostic {
	d := fault(diagnostic.NoSuchArrow, cl.Span, "add it to `phases`, or change the clause", "there is no arrow from phase %s to %s", from.Name.Text, to)
	return related(d, "the arrows of "+from.Name.Text, from.Span)
}

func missingIn(d *syntax.StageDecl, first string) source.Diagnostic {
	return fault(diagnostic.MissingIn, d.Name.Span, "add `in "+first+"`, or the phases you mean", "stage %s does not say in which phases it runs", d.Name.Text)
}

func clauseNeedsPhases(cl *syntax.Clause) source.Diagnostic {
	return fault(diagnostic.ClauseNeedsPhases, cl.Span, "declare `phases { ... }`, or leave the clause out", "the contract has no phases, so `%s` has no meaning", cl.Keyword.Text)
}

// Stages.

func pathTwice(at source.Span, text string) source.Diagnostic {
	return fault(diagnostic.ListedTwice, at, "remove one", "%s is listed twice", text)
}

func listedTwice(n syntax.Name) source.Diagnostic {
	return fault(diagnostic.ListedTwice, n.Span, "remove one", "%s is listed twice", n.Text)
}

func paramTwice(p *syntax.Param) source.Diagnostic {
	return fault(diagnostic.DeclaredTwice, p.Name.Span, "rename one of the two", "parameter %s is declared twice", p.Name.Text)
}

func valueNeedsState(p *syntax.Param) source.Diagnostic {
	return fault(diagnostic.ParameterType, p.Span, "for a key write `"+p.Name.Text+" in /PATH`; a value may be a text, and `require` may ask what it names",
		"the host gives `%s` before anything is asked of the state, so it can be neither a reference nor a log", p.Name.Text)
}

func paramNotString(p *syntax.Param, what string) source.Diagnostic {
	return fault(diagnostic.ParameterType, p.Path.Span, "take it from a string or a `key of`", "a parameter is a key, so it must come from a string; this is %s", what)
}

func clauseTwice(cl, first *syntax.Clause) source.Diagnostic {
	return related(fault(diagnostic.ClauseTwice, cl.Keyword.Span, "put everything into one clause, separated by commas", "`%s` stands twice in this stage", cl.Name()), "the first one", first.Span)
}

func delegableTwice(cl, other *syntax.Clause) source.Diagnostic {
	return related(fault(diagnostic.ClauseTwice, cl.Keyword.Span, "say of each kind what is handed on: `delegable read`, `delegable write`, `delegable source`",
		"`%s` stands beside `%s`: one hands on a part of what the stage has, the other what it need not have", cl.Name(), other.Name()), "the other one", other.Span)
}

func badAttempts(cl *syntax.Clause) source.Diagnostic {
	return fault(diagnostic.BadAttempts, cl.Number.Span, "write how many proposals one step may make, at least 1", "%d is no number of attempts", cl.Number.Value)
}

func exceptedKey(st *stage, cl *syntax.Clause, key region.Pattern) source.Diagnostic {
	list := footprint.Prefix(key, len(key.Segments)-1)
	return fault(diagnostic.ExceptedKey, cl.Span, "take "+list.Source()+" away as a whole, or leave "+key.Source()+" in: it is the name of the element",
		"%s shows elements of %s under their keys, which is what the exception on %s would hide", st.title(), footprint.Prefix(list, len(list.Segments)-1).Source(), key.Source())
}

func notRead(st *stage, clause string, g writtenGrant, w region.Word) source.Diagnostic {
	verb := map[string]string{"write": "may write", "source": "may take from"}[clause]
	if w == nil {
		return fault(diagnostic.NotRead, g.at, "simplify the "+clause+" or read clause", "it could not be decided whether %s reads all that it %s", st.title(), verb)
	}
	d := fault(diagnostic.NotRead, g.at, "add "+g.read+" to `read`, or narrow `"+clause+"`", "%s %s %s but does not read it", st.title(), verb, wordText(w))
	if cl := st.clauses["read"]; cl != nil {
		d = related(d, "what it reads", cl.Span)
		if r := cl.Region; r != nil && slices.ContainsFunc(r.Grants, func(g *syntax.GrantExpr) bool { return len(g.Except) > 0 }) {
			d.Fixes = []source.Fix{{Title: "read it too", Span: r.Span, Text: "(" + r.Span.Text() + "), " + g.read}}
		} else {
			d.Fixes = []source.Fix{insertion("read it too", cl.Span.File, cl.Span.End, ", "+g.read)}
		}
	} else if cl := st.clauses[clause]; cl != nil {
		d.Fixes = []source.Fix{insertion("read it", cl.Span.File, cl.Span.Start, "read "+g.read+" ")}
	}
	for i := range d.Fixes {
		d.Fixes[i].Widens = true
	}
	return d
}

func insertion(title string, f *source.File, at int, text string) source.Fix {
	return source.Fix{Title: title, Span: source.Span{File: f, Start: at, End: at}, Text: text}
}

func parentUncertain(st *stage, at source.Span, container, missing string) source.Diagnostic {
	help := "make " + missing + " certain: a required member of one type, or the key of a parameter `in` its container; or read " + container + ", which shows all that is in it"
	return fault(diagnostic.ParentUncertain, at, help, "%s adds to %s and does not see it: %s may be missing, and a refusal would tell", st.title(), container, missing)
}

// Gates.

func undisclosed(st *stage, g ir.Gate, sealed bool) source.Diagnostic {
	gate, declaration := gateWords(g)
	asked := "its patch is accepted"
	if g.Kind == ir.BindGate {
		asked = "its arguments bind"
	}
	d := fault(diagnostic.UndisclosedGate, st.decl.Name.Span,
		"add `discloses "+declaration+"` to the stage if that is meant, or read "+g.Unseen,
		"%s does not see %s, which %s reads: whether %s tells one bit about it", st.title(), g.Unseen, gate, asked)
	if sealed {
		d.Severity = source.Error
		d.Message += ", and the contract is sealed"
	}
	return d
}

// gateWords names a gate in a sentence, and as a discloses clause names it.
func gateWords(g ir.Gate) (sentence, declaration string) {
	switch g.Kind {
	case ir.InvariantGate, ir.ChangeGate:
		return string(g.Kind) + " " + g.Name, g.Name
	case ir.GuardGate:
		return "the guard into phase " + g.Name, "next " + g.Name
	case ir.BindGate:
		return "the condition on its parameter " + g.Name, "where " + g.Name
	case ir.TypeGate:
		return "the type of " + g.At.Source(), anyKeys(*g.At).Source()
	case ir.RefGate:
		return "the reference at " + g.At.Source(), anyKeys(*g.At).Source()
	}
	if g.Clause != "" {
		return "its `" + string(g.Kind) + " " + g.Clause + "`", g.Clause
	}
	return "its `" + string(g.Kind) + "` clause", string(g.Kind)
}

func conditionTwice(st *stage, label syntax.Name) source.Diagnostic {
	return fault(diagnostic.DeclaredTwice, label.Span, "give each its own name", "%s has another condition named `%s`", st.title(), label.Text)
}

func conditionTaken(label syntax.Name) source.Diagnostic {
	return fault(diagnostic.DeclaredTwice, label.Span, "give the condition another name", "in `discloses`, `%s` means something else already", label.Text)
}

func noIdentity(e *syntax.Each) source.Diagnostic {
	return fault(diagnostic.EachPattern, e.Over.Span, "use a map, or a `list of T by FIELD`", "the elements of a list, set or log have no names: none can be told to be the one it was before")
}

func needlessDisclosure(st *stage, ref *syntax.GateRef) source.Diagnostic {
	if ref.Path == nil && ref.Name.Text == disclosedPhase {
		return fault(diagnostic.NeedlessDisclosure, ref.Span, "leave it out", "%s never chooses between phases: nothing is disclosed", st.title())
	}
	return fault(diagnostic.NeedlessDisclosure, ref.Span, "leave it out", "%s sees all that this gate reads, or never triggers it: nothing is disclosed", st.title())
}

// Delegates.

func beyondParent(s share, kind ir.HandedKind, verb string, w region.Word, who string) source.Diagnostic {
	st := s.st
	d := fault(diagnostic.DelegateExceeds, st.clauseSpan(s.before+string(kind)), "narrow the clause", "%s may %s %s, which is beyond %s", st.title(), s.verb+verb, wordText(w), who)
	if w == nil {
		d.Message = "it could not be decided whether " + st.title() + " stays within " + who
	}
	return related(d, "the parent", st.parent.clauseSpan(st.parent.handing(kind)))
}

func moreAttempts(st *stage) source.Diagnostic {
	d := fault(diagnostic.DelegateExceeds, st.clauseSpan("attempts"), fmt.Sprintf("give it at most %d", st.parent.out.Tries()), "%s may try more often than %s", st.title(), st.parent.title())
	return related(d, "the parent", st.parent.clauseSpan("attempts"))
}

func notInParent(st *stage, clause string, n syntax.Name, parent []string) source.Diagnostic {
	d := fault(diagnostic.DelegateExceeds, n.Span, "a delegate may only shrink `"+clause+"`: "+strings.Join(parent, ", "), "%s has no `%s %s` to hand down", st.parent.title(), clause, n.Text)
	return related(d, "the parent", st.parent.clauseSpan(clause))
}

// Claims.

func noSharedPhase(a, b *stage, names []syntax.Name) source.Diagnostic {
	at := names[0].Span
	for _, n := range names {
		if n.Text == b.decl.Name.Text {
			at = n.Span
		}
	}
	return fault(diagnostic.NoSharedPhase, at, "", "%s and %s never run in one phase, so the claim says nothing", a.title(), b.title())
}

func paramNotShared(n syntax.Name, st *stage) source.Diagnostic {
	return fault(diagnostic.UnknownParameter, n.Span, listOf(keys(st.params)), "%s has no parameter %s", st.title(), n.Text)
}

func choosesView(st *stage, q ir.Param, written, shown region.Pattern) source.Diagnostic {
	at := st.decl.Name.Span
	if cl := st.clauses["write"]; cl != nil {
		at = cl.Span
	}
	whole := anyKey(region.Grant{Include: []region.Pattern{shown}}, []string{q.Name}).Include[0]
	return fault(diagnostic.ChosenView, at,
		"take "+q.Of.Source()+" out of the `write` of "+st.decl.Name.Text+" and let another stage write it, whose actor is not shown what it leads to; or, if its actor may see all of that, say so: read "+whole.Source(),
		"%s may write %s, where its parameter %s is taken from: its actor chooses what %s shows next", st.title(), written.Source(), q.Name, shown.Source())
}

func requireNoGuard(st *stage, cl *syntax.Clause, shown region.Pattern) source.Diagnostic {
	return fault(diagnostic.RequireNoGuard, cl.Span,
		"a `require` refuses proposals; to keep the stage from showing it, put the condition on the parameter, as in `order in /orders where { state.orders[order].user == user }`, or take it out of a list, as in `order in /users/{user}/orders`",
		"this does not keep %s from showing %s for any arguments", st.title(), shown.Source())
}
