// Package diagnostic is the catalogue of what the front end can find: each code once,
// as a value, with its severity, what it is about, why it matters, and an example.
// Phases word their messages near the code that finds them, and take code and severity
// from here; the table of the language's section 14, the test that each code is found,
// and the page that explains one are made from it.
package diagnostic

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/lang/source"
)

// A Kind of finding. Wrong and Right are whole files, as a page shows them: Source
// writes out what they shorten. Only two kinds have no example: Unreadable is about a
// file that is not there, ExpressionEnvironment about the program itself.
type Kind struct {
	Code     string // stable, snake_case
	Severity source.Severity
	Unless   string // when the severity is another one; "" if it never is
	Unasked  bool   // it is found only where a configuration asks for it
	What     string // what is found, in a few words
	Why      string // why it is a mistake

	Wrong  string            // a file in which it is found, once
	At     string            // the text it is found at; "" if it is found between characters, or anywhere
	Right  string            // the file without the mistake: it compiles
	File   string            // what these files are called, if it matters; "" for c.poptic
	Beside map[string]string // what they import, or what tests them, by file name
}

// A Chapter is the kinds that belong together, in the order of the specification.
type Chapter struct {
	Title string
	Kinds []*Kind
	Lint  bool // rules find them (compiler/lint), not the compiler
}

// Chapters lists every kind once.
func Chapters() []Chapter {
	return []Chapter{text, names, types, stages, regions, expressions, claims, tests, suspicions}
}

// All lists the kinds of all chapters.
func All() []*Kind {
	var out []*Kind
	for _, c := range Chapters() {
		out = append(out, c.Kinds...)
	}
	return out
}

// Find is the kind of a code, nil if there is none.
func Find(code string) *Kind { return byCode[code] }

var byCode = func() map[string]*Kind {
	out := map[string]*Kind{}
	for _, k := range All() {
		out[k.Code] = k
	}
	return out
}()

// HelpURI is where the page of a code can be read.
func HelpURI(code string) string {
	return "https://github.com/patchoptic/poptic/blob/main/spec/diagnostics/" + code + ".md"
}

// Diagnostic is a finding of the kind at a place, worded: message says what is wrong in
// one sentence, help what to do about it.
func (k *Kind) Diagnostic(at source.Span, help, message string) source.Diagnostic {
	return source.Diagnostic{Code: k.Code, Severity: k.Severity, Span: at, Help: help, Message: message}
}

// Summary is what is found, with the severity where it is no error.
func (k *Kind) Summary() string {
	if k.Severity == source.Error {
		return k.What
	}
	how := k.Severity.String()
	if k.Unless != "" {
		how += "; " + k.Unless
	}
	if k.Unasked {
		how += ", where it is asked for"
	}
	return fmt.Sprintf("%s (%s)", k.What, how)
}

// Table is the catalogue as a table in Markdown: a row for each chapter, and below it
// one for each of its codes.
func Table() string {
	out := "| code | what is found |\n|---|---|\n"
	for _, c := range Chapters() {
		out += fmt.Sprintf("| **%s** | |\n", c.Title)
		for _, k := range c.Kinds {
			out += fmt.Sprintf("| `%s` | %s |\n", k.Code, strings.ReplaceAll(k.Summary(), "|", `\|`))
		}
	}
	return out
}

// shortened is what an example does not write out: a byte that is no text, or a text
// that is repeated, in which $i counts from 1.
var shortened = regexp.MustCompile(`(?s)«(byte|[0-9]+) (.*?)»`)

// Source writes an example out: «3 a$i, » is "a1, a2, a3, ", and «byte ff» is that byte.
func Source(example string) string {
	return shortened.ReplaceAllStringFunc(example, func(s string) string {
		m := shortened.FindStringSubmatch(s)
		if m[1] == "byte" {
			b, _ := strconv.ParseUint(m[2], 16, 8)
			return string([]byte{byte(b)})
		}
		n, _ := strconv.Atoi(m[1])
		var out strings.Builder
		for i := 1; i <= n; i++ {
			out.WriteString(strings.ReplaceAll(m[2], "$i", strconv.Itoa(i)))
		}
		return out.String()
	})
}
