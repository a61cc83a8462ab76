package expr

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

func TestLibraryFunctionsDecideTheForms(t *testing.T) {
	e, err := New(&ir.Contract{}, Default())
	require.NoError(t, err)
	for function, cases := range map[string]struct{ yes, no []string }{
		"text.blank": {[]string{"", " \t\n\u00a0"}, []string{"a", " . "}},
		"time.instant": {
			[]string{"2024-05-01T09:30:00Z", "2024-05-01T09:30:00.5+02:00", "2024-02-29T23:59:59-00:00", "2024-05-01t09:30:00z"},
			[]string{"", "2024-05-01", "2024-05-01 09:30:00Z", "2024-05-01T09:30:00", "2024-13-01T09:30:00Z", "2023-02-29T00:00:00Z", "2024-05-01T25:00:00Z", "2024-05-01T09:30Z", "2024-05-01T09:30:00,5Z", "2024-05-01T09:30:00+25:00"},
		},
		"time.date":      {[]string{"2024-02-29", "0001-01-01"}, []string{"", "2023-02-29", "2024-2-9", "2024-05-01T00:00:00Z", "24-05-01"}},
		"money.currency": {[]string{"EUR", "XXX"}, []string{"", "eur", "EU", "EURO", "E1R", "ÉUR"}},
		"pii.email": {
			[]string{"a@b.de", "first.last+tag@sub.example.com", "o'neill@x-y.org"},
			[]string{"", "a@b", "@b.de", "a@", "a b@c.de", "a@b..de", ".a@b.de", "a.@b.de", "a..b@c.de", "a@-b.de", "a@b.de\n", strings.Repeat("a", 65) + "@b.de"},
		},
		"pii.phone": {[]string{"+49 30 901820", "+1-202-555-0172", "+4930901820"}, []string{"", "030 901820", "+0 30 901820", "+49", "+49  30 901820", "+49 30 901820x", "+1234567890123456"}},
		"pii.luhn":  {[]string{"4539 1488 0343 6467", "4539148803436467", "6011-1111-1111-1117"}, []string{"", "4539148803436468", "0", "4539 1488 0343 646x", "453914880343646"}},
	} {
		p := compile(t, e, function+"(self)", Scope{Vars: ir.SelfVars})
		for want, texts := range map[bool][]string{true: cases.yes, false: cases.no} {
			for _, text := range texts {
				got, err := p.Eval(context.Background(), &Input{Self: jsonValue{text}})
				require.NoError(t, err)
				require.Equal(t, want, got, "%s(%q)", function, text)
			}
		}
	}
}

func TestLibraryFunctionsCompute(t *testing.T) {
	e, err := New(&ir.Contract{}, Default())
	require.NoError(t, err)
	for _, src := range []string{
		`text.words("") == 0 && text.words("  one\ttwo\nthree ") == 3`,
		`text.lines("") == 0 && text.lines("a") == 1 && text.lines("a\n") == 1 && text.lines("a\r\nb\rc\n\n") == 4`,
		`text.letters("añ1 _β") == 3`,
		`time.before("2024-05-01", "2024-05-02") && !time.before("2024-05-02", "2024-05-02")`,
		`time.before("2024-05-01T23:30:00-02:00", "2024-05-02T02:00:00Z")`,
		`time.days("2024-02-28", "2024-03-01") == 2 && time.days("2024-03-01", "2024-02-28") == -2`,
		`time.days("2024-01-01T23:00:00Z", "2024-01-02T22:00:00Z") == 0`,
		`money.cents(19.99) && money.cents(0.0) && money.cents(-3.5) && money.cents(1e15)`,
		`!money.cents(19.999) && !money.cents(0.001)`,
		`pii.digits("+49 (30) 9-0") == "493090"`,
		`" a b ".trim() == "a b" && "AbÉ".lowerAscii() == "abÉ" && "abé".upperAscii() == "ABé"`,
		`"héllo".indexOf("l") == 2 && "a".indexOf("x") == -1 && "héllo".substring(1, 3) == "él"`,
		`"a,b,".split(",") == ["a", "b", ""] && ["a", "b"].join("-") == "a-b" && "aXbX".replace("X", "") == "ab"`,
		`"abc".matches("^a.c$") && "abc".contains("b") && "abc".startsWith("a") && size("é") == 1`,
	} {
		got, err := compile(t, e, src, Scope{Vars: ir.SelfVars}).Eval(context.Background(), &Input{})
		require.NoError(t, err, src)
		require.True(t, got, src)
	}
	_, err = compile(t, e, `"abc".substring(2, 9) == ""`, Scope{Vars: ir.SelfVars}).Eval(context.Background(), &Input{})
	require.ErrorContains(t, err, "position")
}

func TestEveryLibraryFunctionIsDocumentedAndUnique(t *testing.T) {
	var seen []string
	for _, f := range Functions {
		require.NotEmpty(t, f.Doc, f.Name)
		require.NotEmpty(t, f.Signature, f.Name)
		require.NotContains(t, seen, f.Name)
		require.Equal(t, f.Method, !strings.Contains(f.Name, "."), f.Name)
		seen = append(seen, f.Name)
	}
	for _, name := range []string{"pii.email", "pii.phone", "pii.luhn", "text.blank", "text.words", "text.lines", "time.instant", "time.date", "time.before", "money.cents", "money.currency"} {
		require.True(t, slices.Contains(seen, name), name)
	}
}

// The specification lists the functions and macros that there are, and no others.
func TestTheSpecificationListsTheFunctions(t *testing.T) {
	text, err := os.ReadFile("../../spec/language.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "\n## 8. Expressions\n")
	section, _, _ = strings.Cut(section, "\n## 9.")
	listed := map[string]bool{}
	spans, calls := regexp.MustCompile("`[^`]+`"), regexp.MustCompile(`([A-Za-z_.]+)\(`)
	for _, line := range strings.Split(section, "\n") {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !strings.HasPrefix(line, "| `") && !strings.HasPrefix(line, "**Folds.**") {
			continue
		}
		if strings.HasPrefix(line, "**Folds.**") {
			cell = line
		}
		for _, span := range spans.FindAllString(cell, -1) {
			for _, call := range calls.FindAllStringSubmatch(span, -1) {
				name := call[1]
				if len(name) > 2 && name[1] == '.' {
					name = name[2:] // a method of s, l, c, t or o
				}
				listed[name] = true
			}
		}
	}
	for _, place := range []string{"require", "ensure"} {
		delete(listed, place)
	}
	s, err := standardEnv(standardKey{limits: Default(), decimals: true})
	require.NoError(t, err)
	there := map[string]bool{}
	for name, f := range s.cel.Functions() {
		if word := strings.ReplaceAll(name, ".", ""); !f.IsDeclarationDisabled() && isName(word) && !strings.Contains(name, "@") && word[0] != '_' {
			there[name] = true
		}
	}
	for _, m := range s.cel.Macros() {
		name := m.Function()
		if name == "bind" {
			name = "cel.bind"
		}
		there[name] = true
	}
	require.Equal(t, slices.Sorted(maps.Keys(there)), slices.Sorted(maps.Keys(listed)))
	for name := range there {
		offered := slices.Concat(functionNames(), methodNames())
		require.True(t, slices.Contains(offered, name) || strings.HasPrefix(name, "get") || strings.Contains(" bytes decimal uint dyn first last exists_one existsOne optional.unwrap optFlatMap transformMapEntry unwrapOpt ", " "+name+" "), "%s is never meant", name)
	}
}

func TestInstantsAndSpansAreThoseOfUTC(t *testing.T) {
	e, err := New(&ir.Contract{}, Default())
	require.NoError(t, err)
	for _, src := range []string{
		`timestamp("2024-03-31T01:30:00Z") - timestamp("2024-03-30T01:30:00Z") == duration("24h")`,
		`timestamp("2024-05-01T00:30:00+02:00").getDate() == 30 && timestamp("2024-05-01T00:30:00+02:00").getHours() == 22`,
		`timestamp("2024-05-01T00:00:00Z") + duration("90m") == timestamp("2024-05-01T01:30:00Z")`,
		`timestamp(self) < timestamp("2030-01-01T00:00:00Z") && int(timestamp("1970-01-01T00:01:00Z")) == 60 && timestamp(60) == timestamp("1970-01-01T00:01:00Z")`,
		`duration("1h30m").getMinutes() == 90 && string(duration("90s")) == "90s" && timestamp("2024-12-31T00:00:00Z").getDayOfYear() == 365`,
	} {
		got, err := compile(t, e, src, Scope{Vars: ir.SelfVars}).Eval(context.Background(), &Input{Self: jsonValue{"2024-05-01T09:30:00Z"}})
		require.NoError(t, err, src)
		require.True(t, got, src)
	}
	_, issues := e.Check(`timestamp(self).getHours("Europe/Berlin") > 1`, Scope{Vars: ir.SelfVars})
	require.True(t, HasErrors(issues))
}
