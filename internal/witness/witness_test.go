package witness

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

func compiled(t testing.TB, text string) *ir.Contract {
	t.Helper()
	files := fstest.MapFS{"c.poptic": {Data: []byte("contract c\n" + text)}}
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Lowered, "%+v", out.Diagnostics)
	return out.Lowered
}

func TestTheGradedOrderVisitsEveryVectorOnceBySum(t *testing.T) {
	dims := []int{2, 1, 3, 4}
	seen := map[string]bool{}
	last := 0
	for at := range graded(dims) {
		sum := 0
		for i, n := range at {
			require.Less(t, n, dims[i])
			sum += n
		}
		require.GreaterOrEqual(t, sum, last)
		last = sum
		key, _ := json.Marshal(at)
		require.False(t, seen[string(key)])
		seen[string(key)] = true
	}
	require.Len(t, seen, 2*3*4)
	for range graded([]int{2, 0}) {
		t.Fatal("a choice without options was made")
	}
}

func TestSamplesHaveTheFormOfTheirExpression(t *testing.T) {
	for _, pattern := range []string{
		`^[a-z]{2}(-[A-Z]{2})?$`, `^[A-Z]+-\d{3}$`, `^(red|green)$`, `^#[0-9a-f]{6}$`, `^a?b*c+$`, `^v\d+\.\d+$`, `^[^a-z]$`, `^.{3}$`, `x`, `^$`,
	} {
		texts := samples(pattern)
		require.Len(t, texts, 2, pattern)
		for _, s := range texts {
			require.Regexp(t, regexp.MustCompile(pattern), s)
		}
	}
	require.Empty(t, samples(`(`))
}

func TestHintsAreTheLiteralsOfARuleAndTheirNeighbours(t *testing.T) {
	h := hintsOf([]ir.Expr{{Source: `self.n <= 10 && self.s != "a\"b" || self.t == r'\d' || self.u.matches("^x{2}$")`}})
	require.Equal(t, []json.Number{"10", "11", "9"}, h.numbers)
	require.Equal(t, []string{`a"b`, `a"b`, `a"b`, `\d`, "0", "1", "^x{2}$", "xx", "xx"}, h.texts)
}

func TestCandidatesKeepTheConstraintsOfTheirType(t *testing.T) {
	c := compiled(t, `import "std/pii" as pii
import "std/time" as time
import "std/money" as money
import "std/text" as text
state {
  mail: pii.Email  card: pii.CardNumber  phone: pii.Phone  at: time.Instant  day: time.Date  span: time.Interval
  price: money.Price  paid: money.Payment  title: text.Short
  code: string where { self.matches("^[A-Z]{2}\\d{2}$") }
  long: string where { size(self) >= 100 }
  many: (list of int) where { size(self) == 5 }
  odd: int where { self % 2 == 1 && self > 16 }
  pair: ({ lo: int  hi: int }) where { self.lo + 3 == self.hi }
  some: (map of int) where { size(self) > 0 }
}`)
	m, err := newGenerator(c)
	require.NoError(t, err)
	m = m.with(hints{}, nil)
	for _, member := range c.Type(c.State).Members {
		values := m.values(member.Type)
		require.NotEmpty(t, values)
		for _, v := range values {
			require.True(t, m.fits(v, member.Type) && m.holds(member.Type, v), "%s: %s", member.Name, encode(v))
		}
	}
	for _, distinct := range []string{"mail", "card", "phone", "at", "day", "title"} {
		member, _ := c.Type(c.State).Member(distinct)
		require.GreaterOrEqual(t, len(m.values(member.Type)), 3, distinct)
	}
}

func TestAStateFileIsReadAsItIsWritten(t *testing.T) {
	c := compiled(t, `type I { sku: string  below: list of J by id }
type J { id: string }
state { items: list of I by sku  or: map of (int | list of J by id)  any: any }`)
	m, err := newGenerator(c)
	require.NoError(t, err)
	const file = `{"any":[{"id":"x"}],"items":[{"below":[{"id":"1"},{"id":"2"}],"sku":"a"},{"below":[],"sku":"b"}],"or":{"k":[{"id":"q"}],"n":7}}`
	state, ok := m.fromFile(file)
	require.True(t, ok)
	require.Equal(t, []string{"a", "b"}, keysOf(state.(object)["items"]))
	require.Equal(t, []string{"q"}, keysOf(state.(object)["or"].(object)["k"]))
	require.Equal(t, file, m.toFile(state))
}

// first is the first trial of a conflict of two stages.
func first(t *testing.T, c *ir.Contract, a, b string, kind footprint.ConflictKind) Trial {
	t.Helper()
	p := footprint.Pair{A: c.Stage(a), B: c.Stage(b)}
	p.Conflicts = footprint.New(c).Commutation(p.A, p.B)
	i := slices.IndexFunc(p.Conflicts, func(x footprint.Conflict) bool { return x.Kind == kind })
	require.GreaterOrEqual(t, i, 0, "%+v", p.Conflicts)
	s, err := New(c, nil)
	require.NoError(t, err)
	for trial := range s.Trials(p, p.Conflicts[i]) {
		return trial
	}
	t.Fatal("no trial")
	return Trial{}
}

func TestTheFirstTrialIsTheSpineOfTheConflict(t *testing.T) {
	c := compiled(t, `state any
stage x { read /a/b  write /a/b/c }
stage y { read /a  write /a/b }`)
	require.Equal(t, Trial{
		State: `{"a":{"b":{"c":0}}}`, Phase: "main",
		A: footprint.Proposal{Stage: "x", Patch: `[{"op":"replace","path":"/a/b/c","value":0}]`},
		B: footprint.Proposal{Stage: "y", Patch: `[{"op":"replace","path":"/a/b/c","value":0}]`},
	}, first(t, c, "x", "y", footprint.WriteConflict))
}

func TestParametersAreEqualWhereTheConflictNeedsItAndDifferElsewhere(t *testing.T) {
	c := compiled(t, `state { ts: map of T  us: map of string } type T { a: int }
stage x(t in /ts, u in /us) { read /ts/{t}  write /ts/{t} }
stage y(t in /ts, v in /us) { read /ts/{t}  write /ts/{t} }`)
	trial := first(t, c, "x", "y", footprint.WriteConflict)
	require.Equal(t, trial.A.Args["t"], trial.B.Args["t"])
	require.NotEqual(t, trial.A.Args["u"], trial.B.Args["v"])
	require.JSONEq(t, `{"ts": {"t1": {"a": 0}}, "us": {"u1": "a", "u2": "a"}}`, trial.State)
}

func TestReferencesOfATrialPointToSomething(t *testing.T) {
	c := compiled(t, `state { ts: map of T  us: map of U  vs: map of string } type T { u: key of /us  n: int } type U { v: key of /vs }
stage x(t in /ts) { read /ts/{t}/n  write /ts/{t}/n }`)
	trial := first(t, c, "x", "x", footprint.WriteConflict)
	require.JSONEq(t, `{"ts": {"t1": {"u": "u1", "n": 0}}, "us": {"u1": {"v": "v1"}}, "vs": {"v1": "a"}}`, trial.State)
}

func TestAConditionThatCannotHoldMakesNoTrial(t *testing.T) {
	c := compiled(t, `state { ts: map of string }
stage x(t in /ts) { read /ts/{t}  write /ts/{t} }`)
	b := newBinder(&generator{contract: c, shape: footprint.NewShape(c)}, footprint.Conflict{})
	b.give("A.t", "one")
	b.give("B.t", "two")
	require.False(t, b.join("A.t", "B.t"))
}

func TestTrialsEndAndAreTheSameEveryTime(t *testing.T) {
	c := compiled(t, `state { a: int  b: string }
invariant r { state.a < 3 || size(state.b) > 4 }
stage x { read /a  write /a discloses r }
stage y { read /b  write /b discloses r }`)
	p := footprint.Pair{A: c.Stage("x"), B: c.Stage("y")}
	p.Conflicts = footprint.New(c).Commutation(p.A, p.B)
	s, err := New(c, []string{`{"a": 1, "b": "seen"}`})
	require.NoError(t, err)
	s.Round = 50
	all := slices.Collect(s.Trials(p, p.Conflicts[0]))
	require.LessOrEqual(t, len(all), 8*50)
	require.Greater(t, len(all), 100)
	require.Equal(t, all, slices.Collect(s.Trials(p, p.Conflicts[0])))
}

// FuzzFixtures gives any text as a fixture.
func FuzzFixtures(f *testing.F) {
	c := compiled(f, `state { items: list of I by sku  or: (int | list of I by sku)  refs: map of R }
type I { sku: string  n?: int } type R { i: key of /items }
stage x(i in /items) { read /items/{i}  write /items/{i} discloses /refs/*/i }`)
	p := footprint.Pair{A: c.Stage("x"), B: c.Stage("x")}
	p.Conflicts = footprint.New(c).Commutation(p.A, p.B)
	for _, seed := range []string{`{"items":[{"sku":"a"},{"sku":"b","n":1}],"or":[],"refs":{"r":{"i":"a"}}}`, `[]`, `{"items":{},"or":null,"refs":[1]}`, `1e9`, `{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := New(c, []string{text})
		require.NoError(t, err)
		n := 0
		for range s.Trials(p, p.Conflicts[0]) {
			if n++; n == 40 {
				break
			}
		}
	})
}

func TestTheSidesOfATrialDoWhatTheyHaveTheRightTo(t *testing.T) {
	for _, test := range []struct{ a, b, ops string }{
		{"create /m/*", "delete /m/*", `^add$ ^remove$`},
		{"update /m", "create /m/*", `^replace$ ^add$`},
		{"update /l", "delete /o", ``},
		{"create /s/-", "create /s", `^add$ ^add$`},
		{"delete /o", "create, update /o", `^remove$ ^(add|replace)$`},
		{"blind /m/*", "delete /m", `^add$ ^remove$`},
	} {
		c := compiled(t, "state { m: map of int  s: set of int  o?: int  l: list of int }\nstage a { read /m, /s, /o, /l  write "+test.a+" }\nstage b { read /m, /s, /o, /l  write "+test.b+" }\n")
		p := footprint.Pair{A: c.Stage("a"), B: c.Stage("b")}
		conflicts := footprint.New(c).Commutation(p.A, p.B)
		i := slices.IndexFunc(conflicts, func(x footprint.Conflict) bool { return x.Kind == footprint.WriteConflict })
		if test.ops == "" {
			require.Negative(t, i, "%s, %s", test.a, test.b)
			continue
		}
		require.GreaterOrEqual(t, i, 0, "%s, %s", test.a, test.b)
		s, err := New(c, nil)
		require.NoError(t, err)
		a, b, _ := strings.Cut(test.ops, " ")
		trials := 0
		for trial := range s.Trials(p, conflicts[i]) {
			trials++
			for patch, want := range map[string]string{trial.A.Patch: a, trial.B.Patch: b} {
				var ops []struct{ Op string }
				require.NoError(t, json.Unmarshal([]byte(patch), &ops))
				for _, o := range ops {
					require.Regexp(t, want, o.Op, "%s, %s: %s", test.a, test.b, patch)
				}
			}
		}
		require.Positive(t, trials, "%s, %s", test.a, test.b)
	}
}
