package syntax

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/participle/v2"
	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/lang/source"
)

// What participle expected is private to it but for the text of its error, and so
// this package reads that (mistakeOf). The tests below hold the text, for each form
// of expectation that the grammar has: an upgrade of participle that words one anew
// fails here and names it, before a user sees a worse message.

const rewordedExpectation = `participle words this error anew. Mend its reader, firstSet, if the new text needs it, and the text in this test.
  source: %s`

// grammarError is the error of the grammar for the declaration that a text starts with.
func grammarError(text string) error {
	file := source.NewFile("a_test.poptic", text)
	_, err := parseOne(newStream(scan(file, DefaultLimits).significant(), len(text)).from(0))
	return err
}

func TestParticipleStillWordsItsExpectationsAsTheyAreRead(t *testing.T) {
	for _, c := range []struct {
		text, message string
		at            int
		what          string
	}{
		{`foo`, `unexpected token "foo"`, 0, ""},
		{`type T 1`, `unexpected token "1" (expected TypeBody)`, 2, "`=` or `{`"},
		{`region r`, `unexpected token "<EOF>" (expected "=" RegionExpr)`, 2, "`=`"},
		{`phases { a -> b by 1 }`, `unexpected token "1" (expected "host")`, 6, "`host`"},
		{`phases { a ->`, `unexpected token "<EOF>" (expected Arrow ("," Arrow)*)`, 4, "a phase"},
		{`state`, `unexpected token "<EOF>" (expected TypeExpr)`, 1, "a type"},
		{`contract`, `unexpected token "<EOF>" (expected Name "sealed"?)`, 1, "a name"},
		{`measure m = sum {`, `unexpected token "{" (expected Path ("where" Expr)?)`, 4, "a path"},
		{`stage s {`, `unexpected token "<EOF>" (expected "}")`, 3, "`}`"},
		{`stage s`, `unexpected token "<EOF>" (expected "{" Clause* "}")`, 2, "`{`"},
		{`stage s(p)`, `unexpected token ")" (expected "in")`, 4, "`in`"},
		{`stage s(p in /a`, `unexpected token "<EOF>" (expected ")")`, 6, "`)`"},
		{`stage s { discloses }`, `unexpected token "}" (expected GateRef ("," GateRef)*)`, 4, "a gate"},
		{`stage s { attempts x }`, `unexpected token "x" (expected Number)`, 4, "a whole number"},
		{`region r = /a except`, `unexpected token "<EOF>" (expected (("(" RegionAtom ("," RegionAtom)* ")") | RegionAtom))`, 5, "a path or region or `(`"},
		{`invariant i 1`, `unexpected token "1" (expected (Expr | ("unique" Path ("," Path)*)))`, 2, "CEL in braces or `unique`"},
		{`invariant`, `unexpected token "<EOF>" (expected Name Each? StringLit? (Expr | ("unique" Path ("," Path)*)))`, 1, "a name"},
		{`prove a /x`, `unexpected token "/x" (expected (("commutes" "with" Name ("when" HypothesisExpr)?) | ("within" Name) | ("before" Name)))`, 2, "`commutes`, `within` or `before`"},
		{`test "x" { expect }`, `unexpected token "}" (expected Expect)`, 4, "a path, CEL in braces, `commit`, `noop`, `reject`, `reply`, `phase`, `state`, `view`, `shown`, `hidden` or `no`"},
		{`test "x" { patch }`, `unexpected token "}" (expected DataRef)`, 4, "JSON or the name of a file in quotation marks"},
		{`test "x" { stage s(a) }`, `unexpected token ")" (expected ":" Value)`, 7, "`:`"},
		{`type T = map of`, `unexpected token "<EOF>" (expected TypeTerm ("by" FieldName)?)`, 5, "a type"},
		{`type T = list of a by`, `unexpected token "<EOF>" (expected FieldName)`, 7, "a field's name"},
		{`type T = { a: int b }`, `unexpected token "b" (expected "}")`, 7, "`}`"},
		{`type T = { * }`, `unexpected token "}" (expected ":" TypeExpr)`, 5, "`:`"},
	} {
		err := grammarError(c.text)
		var unexpected *participle.UnexpectedTokenError
		require.ErrorAs(t, err, &unexpected, c.text)
		require.Equal(t, c.message, unexpected.Message(), rewordedExpectation, c.text)
		m, ok := mistakeOf(err)
		require.True(t, ok, c.text)
		require.Equal(t, c.at, m.at, c.text)
		require.Equal(t, c.what, m.what(), c.text)
	}
	_, ok := mistakeOf(errors.New("not participle's"))
	require.False(t, ok)
}

// ebnf is the grammar in EBNF.
func ebnf() string {
	g := theGrammar()
	return strings.Join([]string{
		g.topLevel.String(), g.body.String(), "TypeExpr = UnionType .", g.union.String(), "TypeTerm = WhereType .", g.where.String(),
	}, "\n")
}

// ebnfToken is a word or mark of participle's EBNF.
var ebnfToken = regexp.MustCompile(`"[^"]*"|<\w+>|\w+|\(\?[=!]|\S`)

// tails lists what can still be expected in a production: the rest of each of its
// sequences after each of the sequence's terms.
func tails(production string) []string {
	tokens := ebnfToken.FindAllString(production, -1)
	var out []string
	for i := 1; i < len(tokens); i++ {
		starts := !strings.ContainsAny(tokens[i][:1], "|)?*+!")
		if !starts || tokens[i-1] == "|" || strings.HasPrefix(tokens[i-1], "(") {
			continue
		}
		end, depth := i, 0
		for end < len(tokens) && (depth > 0 || tokens[end] != "|" && tokens[end] != ")") {
			switch {
			case strings.HasPrefix(tokens[end], "("):
				depth++
			case tokens[end] == ")":
				depth--
			}
			end++
		}
		out = append(out, strings.Join(tokens[i:end], " "))
	}
	return out
}

func TestTheGrammarExpectsNothingWithoutWords(t *testing.T) {
	expected := map[string]bool{}
	for _, line := range strings.Split(ebnf(), "\n") {
		name, production, ok := strings.Cut(strings.TrimSuffix(line, " ."), " = ")
		require.True(t, ok, line)
		require.NotContains(t, production, "~", "%s: the reader knows no negation", name)
		for _, tail := range tails(production) {
			first := &firstSet{rest: tail}
			first.alternatives()
			require.Empty(t, strings.TrimSpace(first.rest), "%s: %s", name, tail)
			require.NotEmpty(t, append(slices.Clone(first.literals), first.classes...), "%s: %s", name, tail)
			for _, class := range first.classes {
				expected[class] = true
				require.NotEmpty(t, productions[class], "%s can expect %s, which has no words", name, class)
			}
			for opened := range opening {
				expected[opened] = expected[opened] || strings.HasPrefix(tail, opened)
			}
		}
	}
	var dead []string
	for _, class := range slices.Concat(slices.Collect(maps.Keys(productions)), slices.Collect(maps.Keys(opening))) {
		if !expected[class] {
			dead = append(dead, class)
		}
	}
	require.Empty(t, dead, "nothing expects these")
}

func TestTheGrammarTextNamesEveryDeclaration(t *testing.T) {
	for _, word := range append(declarationWords, clauseWords...) {
		require.Contains(t, ebnf(), `"`+word+`"`)
	}
}
