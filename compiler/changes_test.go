package compiler_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const changing = `contract c
phases { one -> two  two }
state { a: int  m: map of { n: int  k: "x" | "y" }  l: list of { n: int }  kl: list of { id: string  n: int } by id  s: set of int }
measure sum_n = sum /m/*/n
DECLARATIONS
stage move { in one next two }
`

func TestARuleAboutChangesIsCheckedOverBeforeAndAfter(t *testing.T) {
	for declarations, want := range map[string][]finding{
		`change c { after.a >= before.a }`:                                                                         nil,
		`change c each e in /m/* { after.n > before.n || e.k == "x" }`:                                             nil,
		`change c each k, e in /kl/* { after.n > before.n && k != "" }`:                                            nil,
		`change c { before.s == after.s }`:                                                                         nil,
		`change c { state.a > 1 }`:                                                                                 {{"unknown_name", "state", "a change rule sees `before` and `after`, not `state`"}},
		`change c { phase == "one" || after.a > 1 }`:                                                               {{"unknown_name", "phase", ""}},
		`change c { sum_n > 1 }`:                                                                                   {{"unknown_name", "sum_n", ""}},
		`change c each e in /l/* { after.n > before.n }`:                                                           {{"each_pattern", "/l/*", "have no names"}},
		`change c each e in /s/* { after > before }`:                                                               {{"each_pattern", "/s/*", "have no names"}},
		`change c each e in /m/* { after.q > 1 }`:                                                                  {{"unknown_member", "q", ""}},
		`change c each e in /m/* { after.k == "z" }`:                                                               {{"constant_comparison", `"z"`, ""}},
		`change c each e in /m/* { after.a > 1 }`:                                                                  {{"unknown_member", "a", ""}},
		"change c { after.a > 1 }\ninvariant c { state.a > 1 }":                                                    {{"declared_twice", "c", "declared twice"}},
		`change c unique /m/*/n`:                                                                                   {{"misplaced_word", "change c unique /m/*/n", "an `invariant`"}},
		"change c { after.a > 1 }\nstage s { in one read /m write /m }":                                            nil,
		"change c { after.a > before.m.size() }\nstage s { in one read /m write /m }":                              {{"undisclosed_gate", "s", "which change c reads"}},
		"change c { after.a > before.m.size() }\nstage s { in one read /m write /m discloses c }":                  nil,
		"change c each e in /m/* { after.n > before.n }\nstage s(p in /m) { in one read /m/{p}/n write /m/{p}/n }": nil,
		"change c each e in /m/* { after.n > before.n || e.k == \"x\" }\nstage s(p in /m) { in one read /m/{p}/n write /m/{p}/n }": {{"undisclosed_gate", "s", "does not see /m/"}},
		"change c each e in /m/* { after.n > before.n || e.k == \"x\" }\nstage s(p new in /m) { in one write /m/{p} }":             nil,
	} {
		t.Run(declarations, func(t *testing.T) {
			requireFindings(t, strings.ReplaceAll(changing, "DECLARATIONS", declarations), want)
		})
	}
}

func TestARuleAboutChangesSetsStagesApartAsAnInvariantDoes(t *testing.T) {
	const text = `contract c
state { a: int  b: int  m: map of { n: int  k: int } }
change both { after.a + after.b > before.a + before.b }
change each_one each e in /m/* { after.n + after.k > before.n + before.k }
stage a { read /a  write /a  discloses both }
stage b { read /b  write /b  discloses both }
stage n(p in /m) { read /m/{p}/n  write /m/{p}/n  discloses each_one }
stage k(p in /m) { read /m/{p}/k  write /m/{p}/k  discloses each_one }
prove CLAIM
`
	unruled := regexp.MustCompile(`(?m)^change .*|discloses \w+`).ReplaceAllString(text, "")
	for claim, proved := range map[string]bool{
		"a commutes with b":                false,
		"a commutes with n":                true,
		"n commutes with n when p differs": true,
		"n commutes with k when p differs": true,
		"n commutes with k":                false,
	} {
		out := compile(strings.ReplaceAll(text, "CLAIM", claim))
		require.Equal(t, proved, out.Unproved() == 0, "%s: %v", claim, out.Diagnostics)
		free := compile(strings.ReplaceAll(unruled, "CLAIM", claim))
		require.Zero(t, free.Unproved(), "without the rules: %s: %v", claim, free.Diagnostics)
	}
}
