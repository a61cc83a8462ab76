package syntax

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/spell"
)

// The words of the language. They are contextual: a field may be called by any
// of them, a declaration by none of the reserved ones.
var (
	declarationWords = []string{
		"contract", "library", "import", "const", "define", "state", "type", "roles", "phases", "region", "measure",
		"invariant", "change", "stage", "delegate", "compose", "parallel", "prove", "given", "test",
	}
	// lineWords came later than contracts that use them as names: they begin a declaration
	// only where they begin a line, and are not reserved.
	lineWords   = []string{"const", "define", "roles", "change", "given"}
	clauseWords = []string{
		"in", "by", "read", "write", "source", "produce", "require", "ensure",
		"next", "after", "attempts", "delegable", "discloses",
	}
	testWords       = []string{"state", "phase", "role", "actor", "now", "stage", "advance", "patch", "next", "expect", "case"}
	otherReserved   = []string{"no", "all", "any", "secrets", "differs"}
	measureWords    = []string{"sum", "count", "min", "max"}
	containerWords  = []string{"map", "list", "set", "log"}
	verbWords       = []string{"reads", "writes", "copies"}
	gateWords       = []string{"require", "ensure", "produce", "next"}
	outcomeWords    = []string{"commit", "noop", "reject", "reply", "phase", "state", "view", "shown", "hidden", "no"}
	bracedDecls     = []string{"stage", "delegate"}
	regionWords     = []string{"read", "write", "source", "delegable"}
	grantKinds      = []string{"read", "write", "source"} // what a stage has, and what it hands on
	conditionWords  = []string{"require", "ensure"}
	listedWords     = []string{"in", "by", "next", "after", "discloses"}
	recordWords     = []string{"struct", "class", "record", "object", "interface"} // of other languages, between a type's name and its braces
	rightWords      = []string{"create", "update", "delete"}                       // before a grant of a write clause
	continuingWords = []string{"of", "where", "when", "except", "from", "secret", "blind", "and", "or"}
)

// Keywords are the words of the grammar by what they begin, for what completes and colours
// source text. A word of one group may be in another one as well: "state" begins a
// declaration and a clause of a test.
type Keywords struct {
	Declarations []string
	Lines        []string // those of the declarations that begin one only where they begin a line
	Clauses      []string // of a stage
	Tests        []string // clauses of a test
	Others       []string // the words within declarations and clauses
}

// AllKeywords are the words of the grammar: those that it was made of, so that none is missing.
func AllKeywords() Keywords {
	k := Keywords{Declarations: slices.Clone(declarationWords), Lines: slices.Clone(lineWords), Clauses: slices.Clone(clauseWords), Tests: slices.Clone(testWords)}
	others := slices.Concat(otherReserved, rightWords, measureWords, containerWords, verbWords, outcomeWords)
	g := theGrammar()
	for _, ebnf := range []string{g.topLevel.String(), g.body.String(), g.union.String(), g.where.String()} {
		for i, part := range strings.Split(ebnf, `"`) {
			if i%2 == 1 && part != "" && strings.Trim(part, "abcdefghijklmnopqrstuvwxyz") == "" {
				others = append(others, part)
			}
		}
	}
	slices.Sort(others)
	for _, word := range slices.Compact(others) {
		if !slices.Contains(k.Declarations, word) && !slices.Contains(k.Clauses, word) && !slices.Contains(k.Tests, word) {
			k.Others = append(k.Others, word)
		}
	}
	return k
}

// All lists every word once.
func (k Keywords) All() []string {
	all := slices.Concat(k.Declarations, k.Clauses, k.Tests, k.Others)
	slices.Sort(all)
	return slices.Compact(all)
}

// GrantKinds are the clauses that grant something, and the kinds of what may be handed on.
func GrantKinds() []string { return slices.Clone(grantKinds) }

// GrantClauses are the clauses of a stage that are made of grants, by Clause.Name.
func GrantClauses() []string {
	out := append(slices.Clone(grantKinds), "delegable")
	for _, kind := range grantKinds {
		out = append(out, "delegable "+kind)
	}
	return out
}

// IsReserved reports whether word is a declaration or clause keyword, or one of
// the words that stand where a name could: such a word cannot name a declaration.
func IsReserved(word string) bool {
	return isDeclarationWord(word) && !slices.Contains(lineWords, word) || slices.Contains(clauseWords, word) ||
		slices.Contains(otherReserved, word)
}

func isDeclarationWord(word string) bool { return slices.Contains(declarationWords, word) }

// clausesOf lists the words that start a clause in the body of a declaration.
func clausesOf(declaration string) []string {
	switch declaration {
	case "stage", "delegate":
		return clauseWords
	case "test":
		return testWords
	}
	return nil
}

// misnomers are words of other languages, or of another place of this one, and
// the word that is meant, by the declaration they are written in.
var misnomers = map[string]map[string]string{
	"stage":    stageMisnomers,
	"delegate": stageMisnomers,
	"test": {
		"in": "phase", "by": "role", "given": "state", "from": "state", "fixture": "state", "call": "stage", "run": "stage", "when": "stage", "step": "stage",
		"expects": "expect", "assert": "expect", "then": "expect", "who": "actor", "user": "actor", "principal": "actor", "time": "now", "clock": "now",
		"host": "advance", "move": "advance", "proposal": "patch", "propose": "patch", "operations": "patch", "cases": "case", "example": "case", "row": "case",
	},
	"": {
		"interface": "type", "struct": "type", "record": "type", "enum": "type", "function": "stage", "step": "stage",
		"rule": "invariant", "transition": "change", "transitions": "change", "assert": "invariant", "check": "invariant", "requires": "invariant",
		"claim": "prove", "theorem": "prove", "use": "import", "phase": "phases", "class": "type", "schema": "type",
		"action": "stage", "task": "stage", "operation": "stage", "tool": "stage", "command": "stage", "procedure": "stage", "func": "stage", "fn": "stage",
		"role": "roles", "group": "roles", "constant": "const", "let": "const", "val": "const", "var": "const",
		"def": "define", "macro": "define", "predicate": "define", "module": "contract", "package": "contract", "policy": "contract", "spec": "contract",
	},
}

var stageMisnomers = map[string]string{
	"phase": "in", "phases": "in", "role": "by", "roles": "by", "actor": "by", "reads": "read", "writes": "write",
	"pre": "require", "post": "ensure", "precondition": "require", "postcondition": "ensure", "retries": "attempts", "limit": "attempts",
	"copy": "source", "from": "source", "goto": "next", "edit": "write", "output": "produce", "produces": "produce",
	"update": "write", "modify": "write", "set": "write", "append": "write", "add": "write", "create": "write", "insert": "write", "mutate": "write", "writable": "write",
	"view": "read", "show": "read", "see": "read", "sees": "read", "get": "read", "select": "read", "input": "read", "readable": "read",
	"when": "require", "if": "require", "given": "require", "guard": "require", "where": "require", "condition": "require",
	"assert": "ensure", "check": "ensure", "then": "ensure", "invariant": "ensure", "goal": "ensure",
	"max_retries": "attempts", "max_attempts": "attempts", "tries": "attempts", "retry": "attempts", "move": "next", "to": "next",
	"who": "by", "allow": "by", "user": "by", "leaks": "discloses", "reveals": "discloses", "declassify": "discloses",
}

// noClauses are words that other languages have for what is said otherwise here.
var noClauses = map[string]string{
	"description": docHelp, "doc": docHelp, "title": docHelp, "prompt": docHelp, "task": docHelp, "instructions": docHelp, "label": docHelp, "comment": docHelp,
	"deny": denyHelp, "hide": denyHelp, "forbid": denyHelp, "exclude": denyHelp, "block": denyHelp, "except": denyHelp, "deny_read": denyHelp,
	"delete": deleteHelp, "remove": deleteHelp,
	"stage": "a stage stands in no other: a `}` may be missing before it", "delegate": "a delegate stands in no stage: a `}` may be missing before it",
	"type": "a declaration stands in no stage: a `}` may be missing before it", "state": "a declaration stands in no stage: a `}` may be missing before it",
}

const (
	docHelp    = "the comment lines above the stage, which begin with `#`, are its task"
	deleteHelp = "`write delete /PATH` lets something be removed"
	denyHelp   = "what a stage does not grant it does not allow; `read /a except /a/b` takes away from a grant"
)

// connectives are the little words that are taken for one another.
var connectives = []string{"of", "in", "on", "at", "to", "from", "with", "as", "is", "for", "into", "and", "by"}

// nearestWord is what word was meant to be: a misnomer's meaning or the word of
// the list closest to it, "" if there is none.
func nearestWord(word string, words []string, misnomers map[string]string) string {
	if slices.Contains(words, word) {
		return word
	}
	if meant := misnomers[strings.ToLower(word)]; meant != "" {
		return meant
	}
	return spell.Nearest(word, words)
}

// continues reports whether a declaration, clause or member cannot end with t.
func continues(t token) bool {
	if t.sym == symPunct {
		return strings.Contains(",->=>|&=+([?:", t.value)
	}
	return t.sym == symIdent && slices.Contains(continuingWords, t.value)
}
