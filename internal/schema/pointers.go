package schema

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The pointers of a place are texts, which a regular expression describes. It is one that
// ECMA-262 and RE2 read alike, without a look ahead: "any key but these" is written out.

// A step is one token of a pointer: a text, or what matches many.
type step struct {
	text    string // the token as it stands in a pointer
	pattern string // or a regular expression for it
}

// token is any token of a pointer.
const token = `(?:[^/~]|~[01])*`

func keyStep(name string) step { return step{text: escaped(name)} }

// anyStep is any key but some.
func anyStep(but []string) step {
	var tokens [][]string
	for _, name := range but {
		tokens = append(tokens, units(escaped(name)))
	}
	return step{pattern: otherThan(tokens)}
}

var indexStep = step{pattern: `(?:0|[1-9][0-9]*)`}

func escaped(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// units are the characters of a token; an escape is one.
func units(token string) []string {
	var out []string
	for _, r := range token {
		if n := len(out); n > 0 && out[n-1] == "~" {
			out[n-1] += string(r)
			continue
		}
		out = append(out, string(r))
	}
	return out
}

// otherThan matches every token but some. Of the texts that begin alike it goes on with each
// unit that one of them has next, and takes anything behind another one.
func otherThan(but [][]string) string {
	if len(but) == 0 {
		return token
	}
	ends := slices.ContainsFunc(but, func(t []string) bool { return len(t) == 0 })
	below := map[string][][]string{}
	var order []string
	for _, t := range but {
		if len(t) == 0 {
			continue
		}
		if _, seen := below[t[0]]; !seen {
			order = append(order, t[0])
		}
		below[t[0]] = append(below[t[0]], t[1:])
	}
	slices.Sort(order)
	var all []string
	other := "/~"
	escapes := []string{"~0", "~1"}
	for _, unit := range order {
		all = append(all, quoted(unit)+otherThan(below[unit]))
		if i := slices.Index(escapes, unit); i >= 0 {
			escapes = slices.Delete(escapes, i, i+1)
		} else {
			other += unit
		}
	}
	all = append(all, "[^"+class(other)+"]"+token)
	for _, e := range escapes {
		all = append(all, e+token)
	}
	if !ends {
		all = append(all, "")
	}
	return "(?:" + strings.Join(all, "|") + ")"
}

// class is characters as they stand in brackets.
func class(chars string) string {
	var b strings.Builder
	for _, r := range chars {
		if strings.ContainsRune(`\]^-[`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// quoted is a text as it stands in a pattern. "-" is left as it is: outside of brackets it means nothing.
func quoted(text string) string { return regexp.QuoteMeta(text) }

// pathSchema describes the pointers of some places.
func pathSchema(places [][]step) Object {
	var fixed []string
	var patterns []string
	for _, p := range places {
		text, pattern, many := "", "", false
		for _, s := range p {
			if s.pattern != "" {
				many = true
				pattern += "/" + s.pattern
				continue
			}
			text += "/" + s.text
			pattern += "/" + quoted(s.text)
		}
		if many {
			patterns = append(patterns, pattern)
		} else {
			fixed = append(fixed, text)
		}
	}
	slices.Sort(fixed)
	fixed = slices.Compact(fixed)
	slices.Sort(patterns)
	patterns = slices.Compact(patterns)
	if len(patterns) == 0 {
		return Object{{"enum", fixed}}
	}
	for _, text := range fixed {
		patterns = append(patterns, quoted(text))
	}
	return Object{{"type", "string"}, {"pattern", "^(?:" + strings.Join(patterns, "|") + ")$"}}
}

// number is a position as a token.
func number(i int) step { return step{text: strconv.Itoa(i)} }
