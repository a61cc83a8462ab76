// Command textmate prints the TextMate grammar of the language, which colours source text in
// editors before, and without, the language server. Its words are those of the parser.
//
// The rules follow the layout that fmt gives a file: a declaration begins in column 1, and its
// block on the line of its name. A "{" elsewhere in column 1's declarations begins CEL, unless a
// field follows it. The expressions are such as both Oniguruma, which editors have, and Go's
// regexp understand, so that a test can hold the grammar against the parser.
package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/syntax"
)

func main() { os.Stdout.Write(grammar()) }

// A rule is one of the grammar, as TextMate has them.
type rule struct {
	Comment       string          `json:"comment,omitempty"`
	Include       string          `json:"include,omitempty"`
	Name          string          `json:"name,omitempty"`
	ContentName   string          `json:"contentName,omitempty"`
	Match         string          `json:"match,omitempty"`
	Begin         string          `json:"begin,omitempty"`
	End           string          `json:"end,omitempty"`
	Captures      map[string]rule `json:"captures,omitempty"`
	BeginCaptures map[string]rule `json:"beginCaptures,omitempty"`
	EndCaptures   map[string]rule `json:"endCaptures,omitempty"`
	Patterns      []rule          `json:"patterns,omitempty"`
}

// A document is a whole grammar.
type document struct {
	Comment    string          `json:"comment"`
	Name       string          `json:"name"`
	ScopeName  string          `json:"scopeName"`
	FileTypes  []string        `json:"fileTypes"`
	Patterns   []rule          `json:"patterns"`
	Repository map[string]rule `json:"repository"`
}

func use(names ...string) (out []rule) {
	for _, n := range names {
		out = append(out, rule{Include: "#" + n})
	}
	return out
}

// scopes are captures: the n-th group, from 1, has the n-th scope; "" has none.
func scopes(names ...string) map[string]rule {
	out := map[string]rule{}
	for i, name := range names {
		if name != "" {
			out[string(rune('1'+i))] = rule{Name: name + ".poptic"}
		}
	}
	return out
}

// word matches one of some words.
func word(words []string) string { return `\b(?:` + strings.Join(words, "|") + `)\b` }

const (
	name   = `[A-Za-z_][A-Za-z0-9_]*`
	dotted = name + `(?:\.` + name + `)*`
	quoted = `"(?:[^"\\]|\\.)*"`
	path   = `(?:/(?:` + quoted + `|\{[^}\s]*\}|\((?:` + quoted + `|[^()\s"])*\)|[^\s,&#(){}"/]+)?)+`

	declaration = "keyword.control.declaration"
	clause      = "keyword.control.clause"
	other       = "keyword.other"
	punctuation = "punctuation"
)

// grammar is the grammar as JSON.
func grammar() []byte {
	k := syntax.AllKeywords()
	header := func(words []string, scope string, patterns ...string) rule {
		return rule{
			Begin: `^(` + strings.Join(words, "|") + `)\b(?:[ \t]+(` + name + `))?`, End: `$`,
			BeginCaptures: scopes(declaration, scope), Patterns: use(patterns...),
		}
	}
	block := func(patterns ...string) rule {
		return rule{Begin: `\{`, End: `\}`, BeginCaptures: map[string]rule{"0": {Name: "punctuation.section.block.begin.poptic"}},
			EndCaptures: map[string]rule{"0": {Name: "punctuation.section.block.end.poptic"}}, Patterns: use(patterns...)}
	}
	cel := func(begin string, captures map[string]rule) rule {
		return rule{Begin: begin, End: `\}`, BeginCaptures: captures, EndCaptures: map[string]rule{"0": {Name: "punctuation.section.embedded.end.poptic"}},
			ContentName: "meta.embedded.expression.cel", Patterns: use("cel")}
	}
	stageWords := slices.Concat(k.Clauses, []string{"except", "blind", "create", "update", "delete", "secrets", "phase", "where"})
	testWords := slices.Concat(k.Tests, []string{"with", "at", "commit", "noop", "reject", "reply", "view", "shown", "hidden", "no", "true", "false", "null"})
	d := document{
		Comment: "Generated from the words of the parser by: go run ./internal/tools/textmate",
		Name:    "Poptic", ScopeName: "source.poptic", FileTypes: []string{"poptic"},
		Patterns: use("comment", "state", "phases", "stage", "test", "given", "named", "header", "record", "where", "rule", "string", "path", "number", "types", "words", "name", "punctuation"),
		Repository: map[string]rule{
			"comment": {Name: "comment.line.number-sign.poptic", Match: `#.*$`},
			"string": {Name: "string.quoted.double.poptic", Match: quoted, Captures: map[string]rule{
				"0": {Patterns: []rule{{Name: "constant.character.escape.poptic", Match: `\\(?:u[0-9A-Fa-f]{4}|.)`}}},
			}},
			"number": {Name: "constant.numeric.poptic", Match: `-?\b[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\b`},
			"path": {Name: "string.unquoted.path.poptic", Match: path, Captures: map[string]rule{"0": {Patterns: []rule{
				{Match: quoted, Name: "string.quoted.double.poptic"},
				{Match: `\{(` + name + `)\}`, Captures: scopes("variable.parameter")},
				{Match: `\*\*?`, Name: "keyword.operator.wildcard.poptic"},
				{Match: `[/()|]`, Name: "punctuation.separator.path.poptic"},
				{Match: `[^/(){}|*"]+`},
			}}}},
			"punctuation": {Name: "punctuation.poptic", Match: `->|[=|&+,:?()*]`},
			"name":        {Name: "variable.other.poptic", Match: dotted},
			"words":       {Name: "keyword.other.poptic", Match: word(k.All())},
			"types":       {Match: `\b(string|bool|null|number|int|decimal|any)\b`, Captures: scopes("support.type")},

			// Declarations.
			"header": {Match: `^(contract|library)[ \t]+(` + dotted + `)(?:[ \t]+(sealed))?`, Captures: scopes(declaration, "entity.name.namespace", other)},
			"named": {Match: `^(import|const|define|roles|region|measure|invariant|change|compose|parallel|prove)\b(?:[ \t]+(no|all)\b|[ \t]+(` + name + `)\b)?`,
				Captures: scopes(declaration, other, "entity.name")},
			"phases": header([]string{"phases"}, "", "comment", "phase-block"),
			"stage":  header([]string{"stage", "delegate"}, "entity.name.function", "comment", "parameters", "stage-block", "words", "name", "punctuation"),
			"test":   {Begin: `^(test)\b`, End: `$`, BeginCaptures: scopes(declaration), Patterns: use("comment", "string", "test-block")},
			"given":  {Begin: `^(given)\b(?:[ \t]+(` + name + `))?`, End: `$`, BeginCaptures: scopes(declaration, "entity.name"), Patterns: use("comment", "string", "json", "words", "name", "punctuation")},

			// Types.
			"record": {Begin: `(\{)[ \t]*(` + name + `|` + quoted + `)[ \t]*(\??:)`, End: `\}`, BeginCaptures: scopes("punctuation.section.block.begin", "variable.other.member", punctuation),
				EndCaptures: map[string]rule{"0": {Name: "punctuation.section.block.end.poptic"}}, Patterns: use("record-body")},
			"record-block": block("record-body"),
			"field":        {Match: `(` + name + `|` + quoted + `)[ \t]*(\??:)`, Captures: scopes("variable.other.member", punctuation)},
			"where":        cel(`\b(where)\b[ \t]*(`+quoted+`)?[ \t]*(\{)`, scopes(other, "string.quoted.double", "punctuation.section.embedded.begin")),

			// Phases and stages.
			"phase-block": block("comment", "when", "phase-words", "name", "punctuation"),
			"phase-words": {Name: "keyword.other.poptic", Match: `\b(?:by|host|when)\b`},
			"when":        cel(`\b(when)\b[ \t]*(\{)`, scopes(other, "punctuation.section.embedded.begin")),
			"parameters":  {Begin: `\(`, End: `\)`, Patterns: use("comment", "parameter", "where", "string", "path", "types", "name", "punctuation")},
			"parameter":   {Match: `\b(` + name + `)[ \t]*(?:(:|=)|(?:[ \t](new)[ \t]+)?[ \t]*\b(in)\b)`, Captures: scopes("variable.parameter", punctuation, other, other)},
			"stage-block": block("comment", "rule", "string", "path", "number", "stage-words", "name", "punctuation"),
			"stage-words": {Match: `\b(` + strings.Join(k.Clauses, "|") + `)\b|` + word(stageWords), Name: "keyword.other.poptic", Captures: scopes(clause)},
			"rule":        cel(`\{`, map[string]rule{"0": {Name: "punctuation.section.embedded.begin.poptic"}}),
			"test-block":  block("test-body"),
			"test-body":   {Patterns: use("comment", "case", "expected", "refused", "json", "arguments", "string", "path", "number", "test-words", "name", "punctuation")},
			"test-words":  {Match: `\b(` + strings.Join(k.Tests, "|") + `)\b|` + word(testWords), Name: "keyword.other.poptic", Captures: scopes(clause)},
			"refused":     {Match: `\b(expect)[ \t]+(reject|reply)[ \t]+(` + name + `)`, Captures: scopes(clause, other, "keyword.other.gate")},
			"case": {Begin: `\b(case)\b[ \t]*(` + quoted + `)?[ \t]*(\([^)]*\))?[ \t]*(\{)`, End: `\}`,
				BeginCaptures: map[string]rule{"1": {Name: clause + ".poptic"}, "2": {Name: "string.quoted.double.poptic"}, "3": {Patterns: use("arguments")}, "4": {Name: "punctuation.section.block.begin.poptic"}},
				EndCaptures:   map[string]rule{"0": {Name: "punctuation.section.block.end.poptic"}}, Patterns: use("test-body")},
			"expected":  cel(`\b(expect)\b[ \t]*(?:\b(commit|view)\b)?[ \t]*(\{)`, scopes(clause, other, "punctuation.section.embedded.begin")),
			"arguments": {Begin: `\(`, End: `\)`, Patterns: use("comment", "argument", "json", "string", "number", "words", "name", "punctuation")},
			"argument":  {Match: `\b(` + name + `)[ \t]*(:)`, Captures: scopes("variable.parameter", punctuation)},
			"json":      {Begin: `[\[{]`, End: `[\]}]`, Name: "meta.structure.json.poptic", Patterns: use("json-body")},
			"json-body": {Patterns: []rule{{Include: "#json"}, {Include: "#string"}, {Include: "#number"}, {Name: "constant.language.poptic", Match: `\b(?:true|false|null)\b`}, {Match: `\$` + name, Name: "variable.other.poptic"}}},

			// CEL.
			"cel": {Patterns: []rule{
				{Name: "comment.line.double-slash.cel", Match: `//.*$`},
				{Name: "string.quoted.triple.cel", Begin: `[rRbB]{0,2}"""`, End: `"""`},
				{Name: "string.quoted.triple.cel", Begin: `[rRbB]{0,2}'''`, End: `'''`},
				{Name: "string.quoted.double.cel", Match: `\b[rR][bB]?"[^"]*"`},
				{Name: "string.quoted.double.cel", Match: `(?:\b[bB])?"(?:[^"\\]|\\.)*"`},
				{Name: "string.quoted.single.cel", Match: `(?:\b[rRbB])?'(?:[^'\\]|\\.)*'`},
				{Name: "variable.other.member.cel", Match: "`[^`]*`"},
				{Begin: `\{`, End: `\}`, Patterns: use("cel")},
				{Match: `(\.\??)(` + name + `)[ \t]*(\()`, Captures: scopes("punctuation.accessor", "entity.name.function.member")},
				{Match: `(\.\??)(` + name + `)`, Captures: scopes("punctuation.accessor", "variable.other.member")},
				{Name: "keyword.operator.word.cel", Match: `\bin\b`},
				{Name: "constant.language.cel", Match: `\b(?:true|false|null)\b`},
				{Name: "variable.language.cel", Match: `\b(?:state|before|after|self|view|phase|role|actor|now)\b`},
				{Match: `\b(` + name + `)[ \t]*(\()`, Captures: scopes("entity.name.function")},
				{Name: "constant.numeric.cel", Match: `\b(?:0x[0-9A-Fa-f]+|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)u?\b`},
				{Name: "variable.other.cel", Match: name},
				{Name: "keyword.operator.cel", Match: `&&|\|\||[=!<>]=|[-+*/%<>!?:]`},
			}},
		},
	}
	typeBody := append(use("comment", "where", "record-block"), use("key", "container", "types", "string", "path", "number", "type-words", "type-name", "punctuation")...)
	d.Repository["record-body"] = rule{Patterns: append(append(use("comment", "field"), rule{Match: `(\*)(:)`, Captures: scopes(punctuation, punctuation)}), typeBody...)}
	d.Repository["type-words"] = rule{Name: "keyword.other.poptic", Match: `\b(?:map|list|set|log|key|of|by|secret|where|true|false)\b`}
	d.Repository["container"] = rule{Match: `\b(by)[ \t]+(` + name + `)`, Captures: scopes(other, "variable.other.member")}
	d.Repository["key"] = rule{Match: `\b(key)[ \t]+(of)\b`, Captures: scopes(other, other)}
	d.Repository["type-name"] = rule{Name: "entity.name.type.poptic", Match: dotted}
	// A block of fields may begin on the line of its type's name.
	d.Repository["state"] = rule{Begin: `^(?:(state)|(type)[ \t]+(` + name + `))\b`, End: `$`, BeginCaptures: scopes(declaration, declaration, "entity.name.type"), Patterns: typeBody}
	out, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		panic(err) // the grammar is no input
	}
	return append(out, '\n')
}
