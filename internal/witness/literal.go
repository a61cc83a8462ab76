package witness

import (
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// The values that a rule is about stand in its source, or next to what stands
// there: `a + b <= 10` is about 10, and a text of the form of the regular
// expression is what `matches` asks for. hints are such values.
type hints struct {
	numbers []json.Number
	texts   []string
}

var (
	numberLiteral = regexp.MustCompile(`\b\d+(\.\d+)?\b`)
	textLiteral   = regexp.MustCompile(`r?"(?:[^"\\]|\\.)*"|r?'(?:[^'\\]|\\.)*'`)
)

// hintsOf collects the literals of expressions.
func hintsOf(exprs []ir.Expr) hints {
	var h hints
	for _, x := range exprs {
		for _, quoted := range textLiteral.FindAllString(x.Source, -1) {
			text := unquote(quoted)
			h.texts = append(h.texts, text)
			if strings.Contains(x.Source, "matches") {
				h.texts = append(h.texts, samples(text)...)
			}
		}
		for _, n := range numberLiteral.FindAllString(textLiteral.ReplaceAllString(x.Source, ""), -1) {
			h.number(n)
		}
	}
	return h
}

// number notes a number and its neighbours.
func (h *hints) number(text string) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return
	}
	for _, n := range []float64{f, f + 1, f - 1} {
		j := json.Number(strconv.FormatFloat(n, 'f', -1, 64))
		if !slices.Contains(h.numbers, j) {
			h.numbers = append(h.numbers, j)
		}
	}
}

// sizes lists the numbers that may be meant as sizes, up to most.
func (h hints) sizes(most int) []int {
	var out []int
	for _, n := range h.numbers {
		if size, err := strconv.Atoi(string(n)); err == nil && size > 0 && size <= most {
			out = append(out, size)
		}
	}
	return out
}

func (h hints) and(other hints) hints {
	return hints{slices.Concat(h.numbers, other.numbers), slices.Concat(h.texts, other.texts)}
}

// unquote reads a CEL string literal. One that Go would write otherwise is taken
// as it stands, which costs a hint and no more.
func unquote(literal string) string {
	if raw, ok := strings.CutPrefix(literal, "r"); ok {
		return raw[1 : len(raw)-1]
	}
	body := literal[1 : len(literal)-1]
	if literal[0] == '\'' {
		literal = `"` + strings.NewReplacer(`\'`, `'`, `"`, `\"`).Replace(body) + `"`
	}
	if text, err := strconv.Unquote(literal); err == nil {
		return text
	}
	return body
}

// samples gives two short texts of a regular expression's form, none if the text
// is no regular expression.
func samples(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	var out []string
	for pick := range 2 {
		var b strings.Builder
		sample(&b, re.Simplify(), pick)
		out = append(out, b.String())
	}
	return out
}

// sample writes a text that re matches; pick tells which of several characters or
// alternatives to take.
func sample(b *strings.Builder, re *syntax.Regexp, pick int) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(character(re.Rune, pick))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune('a' + rune(pick))
	case syntax.OpAlternate:
		sample(b, re.Sub[min(pick, len(re.Sub)-1)], pick)
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range re.Sub {
			sample(b, sub, pick)
		}
	}
}

// character takes one of a class, a letter or digit if there is one.
func character(ranges []rune, pick int) rune {
	in := func(r rune) bool {
		for i := 0; i < len(ranges); i += 2 {
			if ranges[i] <= r && r <= ranges[i+1] {
				return true
			}
		}
		return false
	}
	var good []rune
	for _, r := range "ab01AB" {
		if in(r) {
			good = append(good, r)
		}
	}
	if len(good) > 0 {
		return good[min(pick, len(good)-1)]
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}
