package format_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/format"
	"github.com/patchoptic/poptic/lang/source"
)

// formatted is the form of a text, of which the properties are checked that every form has.
func formatted(t testing.TB, name, text string) string {
	t.Helper()
	out, err := format.Source(name, []byte(text))
	require.NoError(t, err, text)
	again, err := format.Source(name, out)
	require.NoError(t, err, string(out))
	require.Equal(t, string(out), string(again), "the form of a form is itself; the text was\n%s", text)
	require.True(t, strings.HasSuffix(string(out), "\n"))
	require.False(t, strings.HasSuffix(string(out), "\n\n"))
	require.False(t, strings.HasPrefix(string(out), "\n"))
	return string(out)
}

// requireForm checks the form of a text. Both may be indented like the test's own text.
func requireForm(t *testing.T, text, want string) {
	t.Helper()
	require.Equal(t, want, formatted(t, "a_test.poptic", text))
}

func TestATextIsRespacedAndKeepsItsLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"contract  c", "contract c\n"},
		{"\uFEFF contract c\r\n\r\n\r\n\r\n\tregion r=/a&/b  ,/c\r\n", "contract c\n\nregion r = /a & /b, /c\n"},
		{"contract c type T{a:int b?:string \"x y\":any *:bool}region r=/a", "contract c\ntype T { a: int  b?: string  \"x y\": any  *: bool }\nregion r = /a\n"},
		{"contract c\ntype T{\n\n\na:int b?:string\n\n\n*:bool\n\n}", "contract c\ntype T {\n  a:  int\n  b?: string\n\n  *: bool\n}\n"},
		{"contract\n c\nstage\n s\n(\n a in /x,b new in\n/y\n)\n{\nread\n /a\n}\nstage e{}", "contract c\nstage s(\n  a in /x, b new in /y\n) {\n  read /a\n}\nstage e {}\n"},
		{"contract c\nstate{\na:(map of int where{self>0})where{true}\nb:secret   list of{x:int}by x\n}", "contract c\nstate {\n  a: (map of int where { self>0 }) where { true }\n  b: secret list of { x: int } by x\n}\n"},
		{"contract c\nprove no flow from(/a,/b)to/c\nprove a commutes with b when(p differs and q differs from r)or s differs", "contract c\nprove no flow from (/a, /b) to /c\nprove a commutes with b when (p differs and q differs from r) or s differs\n"},
		{"contract c\ndefine f ( x,y )={x<y}\ndefine g()={}", "contract c\ndefine f(x, y) = { x<y }\ndefine g() = {}\n"},
	} {
		require.Equal(t, c.want, formatted(t, "a.poptic", c.text))
	}
}

func TestLinesBreakWhereTheAuthorBrokeThemIfThatReadsWell(t *testing.T) {
	requireForm(t, `
type P="low"
|"high"|
"top"
 where "x"
{ true }
type Q=
# nobody
"low"
# today
|"high"
region r=/a,
/b
invariant i each t
 in /x/*
"message"
{ t.a
&& t.b }
phases { a->b,
c when
{ phase == "a" } }
stage s {
read /a,
/b except (
/c,
/d
)
write
/e
require open
"it is open"
{ true }
}
`, `type P = "low"
  | "high" |
    "top"
  where "x"
  { true }
type Q =
    # nobody
    "low"
    # today
  | "high"
region r = /a,
    /b
invariant i each t in /x/*
  "message"
  { t.a
    && t.b }
phases {
  a -> b,
       c when
       { phase == "a" }
}
stage s {
  read    /a,
          /b except (
            /c,
            /d
          )
  write   /e
  require open
          "it is open"
          { true }
}
`)
}

func TestWhatStandsBelowEachOtherIsAligned(t *testing.T) {
	requireForm(t, `
state {
  a: int # one
  # of b
  bcd?: string # two

  longer_than_all: {
    x: int
    yy: int
  }
  e: int
  ef: int
}
type A = int
type Bcd = string
type E { x: int }
type Fgh { x: int }
# apart
type I = int
compose a = b + c
parallel de = b | c
stage short { read /a }
stage longer_by_a_few { read /a }
stage so_much_longer_that_nobody_would_align_it(parameter in /a) { read /a }
`, `state {
  a:    int  # one
  # of b
  bcd?: string  # two

  longer_than_all: {
    x:  int
    yy: int
  }
  e:  int
  ef: int
}
type A   = int
type Bcd = string
type E   { x: int }
type Fgh { x: int }
# apart
type I = int
compose  a  = b + c
parallel de = b | c
stage short           { read /a }
stage longer_by_a_few { read /a }
stage so_much_longer_that_nobody_would_align_it(parameter in /a) { read /a }
`)
}

func TestCommentsStayWhereTheyStand(t *testing.T) {
	requireForm(t, `#first   
# second

# of the header
contract c#beside
# alone

type T {   # opens
      # of a
  a: int   # beside
   # below

  # last
}
region r = /a, # first
# of /b
/b # second
stage s # why
{ read /a }
    # at the end`, `#first
# second

# of the header
contract c  #beside
# alone

type T {  # opens
  # of a
  a: int  # beside
  # below

  # last
}
region r = /a,  # first
    # of /b
    /b   # second
stage s  # why
    { read /a }
# at the end
`)
}

func TestExpressionsKeepTheirTextAndHowTheirLinesStand(t *testing.T) {
	requireForm(t, "invariant a {x>1}\ninvariant b {\n\n\n        x > 1\n\t\t\t\t  && y // }\n\n\n    || z\n}\ninvariant c { '''\n  }\n '''+\"\"\" \"\"\" }\ninvariant d {a&&\nb }\n"+
		"invariant far_to_the_right each element in /containers/*/elements \"message\" { a\n&& b }\n",
		"invariant a { x>1 }\ninvariant b {\n      x > 1\n        && y // }\n\n  || z\n}\ninvariant c { '''\n  }\n '''+\"\"\" \"\"\" }\ninvariant d { a&&\n              b }\n"+
			"invariant far_to_the_right each element in /containers/*/elements \"message\" { a\n    && b }\n")
}

func TestJSONIsIndentedByItsBrackets(t *testing.T) {
	requireForm(t, "test \"x\" {\n state {\n\"a\": [1,\n2], \"b\": [{\n\"c\": \"}\\\"\"\n}]\n\n }\nrole r stage s patch [] expect  noop}",
		"test \"x\" {\n  state  {\n    \"a\": [1,\n      2], \"b\": [{\n        \"c\": \"}\\\"\"\n      }]\n  }\n  role   r\n  stage  s\n  patch  []\n  expect noop\n}\n")
}

func TestATextWithMistakesIsRefusedWithThem(t *testing.T) {
	for _, text := range []string{"", "# nothing", "contract", "contract c\nstage s {", "contract c type T = ", "contract c // slashes", "contract c\nregion r = /a @", "contract \xff", "contract c\x00"} {
		out, err := format.Source("a.poptic", []byte(text))
		require.Nil(t, out)
		var mistaken *format.Error
		require.ErrorAs(t, err, &mistaken, text)
		require.NotEmpty(t, mistaken.Diagnostics)
		require.Contains(t, err.Error(), "a.poptic has mistakes, and is not formatted; line ")
	}
}

func TestWhiteSpaceThatAlignsIsBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString("contract c\nstate {\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "a%d: int # x\n", i)
	}
	text.WriteString(strings.Repeat("long", 5000) + ": int # y\n}\nregion " + strings.Repeat("r", 20000) + " = /a\n")
	for i := range 2000 {
		fmt.Fprintf(&text, "region r%d = /a\n", i)
	}
	require.Less(t, len(formatted(t, "a.poptic", text.String())), 2*text.Len())
}

// A specimen is a source file of the repository.
type specimen struct{ name, text string }

// specimens are the source files of the repository, without those that are wrong on purpose.
func specimens(t testing.TB) []specimen {
	var out []specimen
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".poptic" {
			return err
		}
		text, err := os.ReadFile(name)
		if _, found := syntax.Parse(source.NewFile(name, string(text))); err == nil && len(found) == 0 {
			out = append(out, specimen{name, string(text)})
		}
		return err
	})
	require.NoError(t, err)
	require.Greater(t, len(out), 30)
	return out
}

func TestSpacesWithinLinesDoNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, s := range specimens(t) {
		want := formatted(t, s.name, s.text)
		for range 5 {
			require.Equal(t, want, formatted(t, s.name, respaced(t, random, s)), s.name)
		}
	}
}

// respaced is a text with other spaces before its tokens, in the same lines.
func respaced(t testing.TB, random *rand.Rand, s specimen) string {
	return rewritten(t, s, func(before string) string {
		spaces := strings.Repeat(" ", random.IntN(4)) + strings.Repeat("\t", random.IntN(2))
		if breaks := strings.Count(before, "\n"); breaks > 0 {
			return strings.Repeat([]string{"\n", "\r\n", " \n", "\t\r\n"}[random.IntN(4)], breaks) + spaces
		}
		return spaces
	})
}

// rewritten is a text with other white space before each of its tokens; one that begins a
// declaration stays in the first column.
func rewritten(t testing.TB, s specimen, white func(before string) string) string {
	tree, found := syntax.Parse(source.NewFile(s.name, s.text))
	require.Empty(t, found)
	starts := map[int]bool{}
	for _, d := range tree.Decls {
		starts[d.GetSpan().Start] = true
	}
	kept := map[int]bool{} // lines whose closing bracket must not stand further left than they do
	for _, token := range tree.Tokens {
		if token.Kind == syntax.JSONToken && strings.Contains(token.Span.Text(), "\n") {
			kept[tree.Source.Position(token.Span.Start).Line] = true
		}
	}
	var out strings.Builder
	end := 0
	for _, token := range tree.Tokens {
		before := s.text[end:token.Span.Start]
		gap := white(before)
		switch {
		case strings.Contains(before, "\n") && kept[tree.Source.Position(token.Span.Start).Line]:
			gap = before
		case starts[token.Span.Start]:
			gap = strings.TrimRight(gap, " \t")
			if !strings.HasSuffix(gap, "\n") && end > 0 {
				gap += "\n"
			}
		case gap == "" && before != "", strings.HasSuffix(gap, "\n"): // a word in the first column begins a declaration
			gap += " "
		case token.Kind == syntax.PunctToken && before == "": // ":" stands close to its field
			gap = ""
		}
		out.WriteString(gap + token.Span.Text())
		end = token.Span.End
	}
	return out.String()
}

func TestTextsWithScatteredSpaceAndCommentsSayTheSameInTheirForm(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	whites := []string{" ", "  ", "\t", "\n", "\n\n", "\n\n\n\n", " # a\n", "\n# b\n", "\n\n  # c\n\n", " #d\n   #e\n", "\r\n", " \t # f \r\n"}
	read := 0
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	all := specimens(t)
	for _, s := range all {
		for range rounds {
			often := 3 + random.IntN(80)
			text := rewritten(t, s, func(before string) string {
				if strings.Contains(before, "\n") || random.IntN(often+1) > 0 {
					return before
				}
				return whites[random.IntN(len(whites))]
			})
			if _, found := syntax.Parse(source.NewFile(s.name, text)); len(found) > 0 {
				continue // a comment between a field and its ":", a clause without its name on the line
			}
			read++
			formatted(t, s.name, text)
		}
	}
	require.Greater(t, read, len(all)*rounds/2)
}

func FuzzSource(f *testing.F) {
	for _, s := range specimens(f) {
		if len(s.text) < 2000 {
			f.Add(s.text)
		}
	}
	f.Add("test \"x\" { state {\"a\": [\n1]} expect commit { '''\n''' } }")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := format.Source("a_test.poptic", []byte(text))
		var mistaken *format.Error
		if errors.As(err, &mistaken) {
			return
		}
		formatted(t, "a_test.poptic", text)
	})
}

func BenchmarkSource(b *testing.B) {
	one, err := os.ReadFile("../../examples/support/contract.poptic")
	require.NoError(b, err)
	header, rest, _ := strings.Cut(string(one), "state {")
	for _, size := range []int{10 << 10, 100 << 10, 900 << 10} {
		contract := "state {" + rest
		for name, text := range map[string]string{
			"contracts": header + strings.Repeat(contract, size/len(contract)),
			"comments":  "contract c\n" + strings.Repeat("#\n", size/2) + "region r = /a\n",
			"a_line":    "contract c\nregion r = /a" + strings.Repeat(", /a", size/4) + "\n",
			"a_record":  "contract c\ntype T {" + strings.Repeat("a: int ", size/7) + "}\n",
			"an_item":   "contract c\nregion r = /a" + strings.Repeat(",\n /a", size/6) + "\n",
			"blocks":    "contract c\n" + strings.Repeat("type T {\n a: {\n b: {\n c: int\n }\n }\n}\n", size/40),
		} {
			b.Run(fmt.Sprintf("%s/%d_KiB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for range b.N {
					_, err := format.Source("a.poptic", []byte(text))
					var mistaken *format.Error
					if err != nil && !errors.As(err, &mistaken) { // there may be too many declarations
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestOnlyWhatWasTouchedIsFormatted(t *testing.T) {
	before := "contract  c\nstage s {\n  raed   /a\n  write /b\n}\nstage   t{read /a}\nstate{a:int}\n"
	after := strings.Replace(before, "raed ", "read /b, /c,", 1)
	out, err := format.Touched("a.poptic", []byte(before), []byte(after))
	require.NoError(t, err)
	require.Equal(t, "contract  c\nstage s {\n  read  /b, /c, /a\n  write /b\n}\nstage   t{read /a}\nstate{a:int}\n", string(out))

	out, err = format.Touched("a.poptic", []byte(after), []byte(after))
	require.NoError(t, err)
	require.Equal(t, after, string(out))

	_, err = format.Touched("a.poptic", []byte(before), []byte(before))
	var mistaken *format.Error
	require.ErrorAs(t, err, &mistaken)

	for _, s := range specimens(t) {
		form := formatted(t, s.name, s.text)
		out, err := format.Touched(s.name, []byte("something else"), []byte(s.text))
		require.NoError(t, err)
		require.Equal(t, form, string(out), s.name)
	}
}
