package expr

import (
	"context"
	"testing"
	"unicode/utf8"
)

func FuzzCheckNeverPanicsAndStaysInRange(f *testing.F) {
	for _, src := range append(append([]string{}, typedSubjects...), untypedSubjects...) {
		f.Add(src)
	}
	for _, src := range []string{`has(t.`, `"\u00e9" == 'é' && foo`, "a\n.b\n// c", `r"\"`, `'''`, `1.e5`, `0x`, `[?a]`, `{?a: b}`, `x{y: z}`, `.a`, `a[?b].c(d)`, `optional.none()`, `cel.bind(a, b, c)`, "b'\\377'", `((((`, `- -1`, `!!true`, `1u`, `type(type(1))`, "`a`", "\xff"} {
		f.Add(src)
	}
	d := newDesk(f)
	in := &Input{State: value(sample), Entry: value(oneTicket)}
	f.Fuzz(func(t *testing.T, src string) {
		x, issues := d.env.Check(src, d.each())
		for _, i := range issues {
			if i.Start < 0 || i.Start > i.End || i.End > len(src) || i.Message == "" || i.Code == "" {
				t.Fatalf("a broken issue: %+v", i)
			}
			if i.Fix != nil && (i.Fix.Start < 0 || i.Fix.Start > i.Fix.End || i.Fix.End > len(src)) {
				t.Fatalf("a broken fix: %+v", i.Fix)
			}
			if utf8.ValidString(src) && !utf8.ValidString(src[i.Start:i.End]) {
				t.Fatalf("a range that splits a character: %+v", i)
			}
		}
		if HasErrors(issues) {
			return
		}
		p, err := d.env.Compile(x, d.each())
		if err != nil {
			t.Fatalf("checked but not compiled: %q: %v", src, err)
		}
		first, err1 := p.Eval(context.Background(), in)
		second, err2 := p.Eval(context.Background(), in)
		if first != second || (err1 == nil) != (err2 == nil) {
			t.Fatalf("two outcomes of %q", src)
		}
	})
}
