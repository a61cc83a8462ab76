package check

// The catalogue of this phase's diagnostics: one function for each, named after
// what is wrong. Code and severity are those of the catalogue, package diagnostic.

import (
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

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
	near := source.Nearest(name, candidates)
	if near == "" {
		near = misnomers[kind][strings.ToLower(name)]
	}
	if near != "" {
		d.Help = "did you mean `" + near + "`?"
		d = replaced(d, n.Span, strings.TrimSuffix(n.Text, name)+near)
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
		"float64": "number", "double": "number", "decimal": "number", "str": "string", "text": "string", "unknown": "any", "json": "any",
	},
	"region": {"all": "/**", "everything": "/**", "any": "/**"},
}

// elsewhere says how what other languages have a name for is written here, by kind.
var elsewhere = map[string]map[string]string{
	"type": {
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
	return fault(diagnostic.ReservedName, n.Span, "choose another name", "%s cannot be the name of a %s: it means something already", n.Text, kind)
}

func onlyInContracts(d syntax.Decl, kind string) source.Diagnostic {
	return fault(diagnostic.NotInLibrary, d.GetSpan(), "a library holds types, regions, measures and invariants; move this to the contract", "a %s cannot stand in a library", kind)
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
func badKeyField(n syntax.Name, names []string) source.Diagnostic {
	d := fault(diagnostic.KeyField, n.Span, "the elements of a `list of T by FIELD` are records with FIELD: string", "%s is not a required string member of the elements", n.Text)
	if near := source.Nearest(n.Text, names); near != "" {
		d = replaced(d, n.Span, near)
	}
	return d
}

func secretKey(n syntax.Name) source.Diagnostic {
	return fault(diagnostic.SecretKey, n.Span, "key the list by a field that may be seen, or make the whole list secret: `secret list of ...`",
		"%s is secret, and as the key of a list it is the name under which every element shows", n.Text)
}

func fieldTwice(f, first *syntax.Field) source.Diagnostic {
	return related(fault(diagnostic.DeclaredTwice, f.Name.Span, "remove one of the two", "member %s is declared twice", f.Name.Text), "first declared here", first.Name.Span)
}

func notNumeric(d *syntax.MeasureDecl, what string) source.Diagnostic {
	return fault(diagnostic.MeasureType, d.Over.Span, "`count` takes anything; the others need numbers", "%s needs numbers, this is %s", d.Kind.Text, what)
}

func deepEach(s *syntax.PathSegment) source.Diagnostic {
	return fault(diagnostic.EachPattern, s.Span, "use `*` for every level", "`each` needs to know how deep its entries are; `**` does not say")
}

func eachWithoutWildcard(e *syntax.Each, most int) source.Diagnostic {
	return fault(diagnostic.EachPattern, e.Over.Span, "write `/*` where the entries vary", "`each` goes over entries: its path has between 1 and %d `*`", most)
}

func wholeStateRule(e *syntax.Expr, walks []region.Pattern) source.Diagnostic {
	var paths []string
	for _, p := range walks {
		paths = append(paths, p.Source())
	}
	return fault(diagnostic.WholeStateRule, e.Span,
		"a rule that asks the same of every entry, and of nothing else, costs only the entries that a commit touches: `each`, or `all` joined to the rest by `&&`. The elements of a list are told apart only by a rule that looks at nothing else: those of a map or a `list of T by FIELD` go by key",
		"whenever this rule is checked it goes through all of %s", strings.Join(paths, ", "))
}
