package diff_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/diff"
	"github.com/patchoptic/poptic/internal/ir"
)

func compiled(t *testing.T, text string) *ir.Contract {
	t.Helper()
	return compile(t, compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
}

func compile(t *testing.T, in compiler.Input) *ir.Contract {
	t.Helper()
	out, err := compiler.Compile(t.Context(), in)
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	return out.Contract
}

const base = `contract c
state { m: map of E  note?: string  budget: int where { self >= 0 } }
type E { a: int  b: string  r: key of /m  h?: secret string }
phases { one -> two when { state.budget > 0 }  two -> three by host  three }
measure total = sum /m/*/a
invariant few "few" { total <= 10 }
invariant tidy unique /m/*/b
stage fill(k in /m) {
  in one
  by bot
  read /m/{k} except secrets
  write /m/{k}/a
  source /m/{k}/b
  delegable /m/{k}/a
  require { before.m[k].a < 5 }
  attempts 2
}
stage add(k new in /m) { in one read /m/{k} except secrets write /m/{k}/(a|b|r) }
stage go { in one next two }
prove no stage reads secrets
`

// effects lists the changes as "effect what".
func effects(c diff.Comparison) []string {
	var out []string
	for _, x := range c.Changes {
		out = append(out, string(x.Effect)+" "+x.What)
	}
	return out
}

func TestAContractComparedWithItselfIsTheSame(t *testing.T) {
	c := compiled(t, base)
	d := diff.Contracts(c, c)
	require.Empty(t, d.Changes)
	require.False(t, d.Widened)
	for _, name := range []string{"support", "clinical", "release"} {
		c := compile(t, compiler.Input{FS: os.DirFS("../../examples/" + name), Path: "contract.poptic"})
		require.Empty(t, diff.Contracts(c, c).Changes)
	}
}

// TestEveryKindOfChangeIsFoundInItsDirection also goes the other way: what widens
// forwards narrows backwards.
func TestEveryKindOfChangeIsFoundInItsDirection(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"read /m/{k} except secrets\n", "read /m/{k} except secrets, /budget\n", "read"},
		{"write /m/{k}/a\n", "write /m/{k}/(a|b)\n", "write"},
		{"write /m/{k}/a\n", "write /m/{k}/a, blind /note\n", "write"},
		{"source /m/{k}/b\n", "source /m/{k}/(a|b)\n", "source"},
		{"delegable /m/{k}/a\n", "delegable /m/{k}/(a|b)\n", "delegable"},
		{"  delegable /m/{k}/a\n", "", "delegable"},
		{"  by bot\n", "", "by"},
		{"  by bot\n", "  by bot, clerk\n", "by"},
		{"  in one\n", "  in one, two\n", "in"},
		{"  require { before.m[k].a < 5 }\n", "", "rule"},
		{"attempts 2\n", "attempts 3\n", "attempts"},
		{"  attempts 2\n", "", "attempts"},
		{"prove no stage reads secrets\n", "", "claim"},
		{"invariant tidy unique /m/*/b\n", "", "rule"},
		{"one -> two when { state.budget > 0 }", "one -> two", "rule"},
		{"three by host  three", "three by host, one by host  three", "phase"},
		{"budget: int where { self >= 0 }", "budget: int", "type"},
		{"b: string  r", "b?: string  r", "type"},
		{"b: string  r", "b: string | null  r", "type"},
		{"r: key of /m", "r: string", "type"},
	} {
		require.Contains(t, base, c.old)
		changed := strings.Replace(base, c.old, c.new, 1)
		old, new := compiled(t, base), compiled(t, changed)
		require.Contains(t, effects(diff.Contracts(old, new)), "widened "+c.want, "%s -> %s", c.old, c.new)
		require.Contains(t, effects(diff.Contracts(new, old)), "narrowed "+c.want, "%s -> %s", c.new, c.old)
		require.True(t, diff.Contracts(old, new).Widened)
	}
}

func TestARightMoreWidens(t *testing.T) {
	write := func(grants string) *ir.Contract {
		return compiled(t, "contract c\nstate { m: map of int }\nstage s { read /m write "+grants+" }\n")
	}
	for _, c := range []struct{ old, new, detail string }{
		{"create /m", "/m", "updates /m"},
		{"create, update /m", "/m", "deletes /m"},
		{"update, delete /m", "create, update, delete /m", "creates /m"},
		{"update /m", "update /m, create /m/*", "creates /m/"},
		{"update /m", "update /m, blind /m/*", "writes blind /m/"},
	} {
		old, new := write(c.old), write(c.new)
		d, back := diff.Contracts(old, new), diff.Contracts(new, old)
		require.True(t, d.Widened, "%s -> %s", c.old, c.new)
		require.False(t, back.Widened, "%s -> %s: %v", c.new, c.old, back.Changes)
		require.Contains(t, fmt.Sprint(d.Changes), c.detail)
		require.Contains(t, fmt.Sprint(back.Changes), "no longer "+c.detail)
	}
	require.Empty(t, diff.Contracts(write("create, update, delete /m"), write("/m")).Changes)
	require.Empty(t, diff.Contracts(write("create /m, update, delete /m"), write("/m")).Changes)
}

func TestASealThatIsBrokenWidens(t *testing.T) {
	const open = "contract c\nstate { a: int }\nstage s { read /a write /a }\n"
	sealed := strings.Replace(open, "contract c", "contract c sealed", 1)
	require.Equal(t, []string{"widened sealed"}, effects(diff.Contracts(compiled(t, sealed), compiled(t, open))))
	require.Equal(t, []string{"narrowed sealed"}, effects(diff.Contracts(compiled(t, open), compiled(t, sealed))))
}

func TestWhatIsDisclosedOnlyNowWidens(t *testing.T) {
	hidden := compiled(t, base)
	told := compiled(t, strings.Replace(base, "  attempts 2\n", "  attempts 2\n  discloses few\n", 1))
	require.Equal(t, []string{"widened discloses"}, effects(diff.Contracts(hidden, told)))
	require.Equal(t, []string{"narrowed discloses"}, effects(diff.Contracts(told, hidden)))
}

func TestANewStageIsListedWithAllItMayDo(t *testing.T) {
	old := compiled(t, base)
	grown := compiled(t, base+"stage note { in two read /note, /budget write /note }\n")
	d := diff.Contracts(old, grown)
	require.Equal(t, []string{"widened stage", "widened read", "widened read", "widened write"}, effects(d))
	require.Equal(t, "/budget", d.Changes[2].Path)
	require.Equal(t, []string{"narrowed stage"}, effects(diff.Contracts(grown, old)))
}

func TestANewMemberIsListedForTheStagesThatReachIt(t *testing.T) {
	d := diff.Contracts(compiled(t, base), compiled(t, strings.Replace(base, "b: string  r", "b: string  z?: int  r", 1)))
	require.Equal(t, []diff.Change{
		{Effect: diff.Widened, Stage: "fill", What: "read", Path: "/m/*/z", Detail: "reads /m/*/z, which is new in the state"},
		{Effect: diff.Widened, Stage: "add", What: "read", Path: "/m/*/z", Detail: "reads /m/*/z, which is new in the state"},
	}, d.Changes)
}

func TestNamesOfParametersDoNotCount(t *testing.T) {
	renamed := strings.NewReplacer("fill(k in", "fill(key in", "  read /m/{k}", "  read /m/{key}", "write /m/{k}/a\n", "write /m/{key}/a\n",
		"source /m/{k}", "source /m/{key}", "delegable /m/{k}", "delegable /m/{key}", "before.m[k]", "before.m[key]").Replace(base)
	require.NotEqual(t, base, renamed)
	require.Empty(t, diff.Contracts(compiled(t, base), compiled(t, renamed)).Changes)
}

func TestARewrittenRuleIsToBeLookedAt(t *testing.T) {
	d := diff.Contracts(compiled(t, base), compiled(t, strings.Replace(base, "{ total <= 10 }", "{ total <= 11 }", 1)))
	require.Equal(t, []string{"changed rule"}, effects(d))
	require.True(t, d.Widened)
}

func TestADiffOfManyNewPlacesEndsAtItsLimit(t *testing.T) {
	contract := func(member string) *ir.Contract {
		var state, hidden strings.Builder
		for i := range 3000 {
			fmt.Fprintf(&state, " %s%d: string", member, i)
			if i < 1200 {
				fmt.Fprintf(&hidden, "/m/k%d, ", i)
			}
		}
		text := "contract c\nstate { m: map of string " + state.String() + " }\nstage s { read /m except (" + hidden.String() + "/m/k) }\n"
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
		require.NoError(t, err)
		require.Empty(t, out.Diagnostics)
		return out.Contract
	}
	var said []string
	for _, c := range diff.Contracts(contract("a"), contract("b")).Changes {
		if strings.Contains(c.Detail, "steps of searches") {
			said = append(said, c.Detail)
		}
	}
	require.Len(t, said, 1)
	require.Empty(t, diff.Contracts(contract("a"), contract("a")).Changes)
}

func TestWhatIsHandedOnIsComparedKindByKind(t *testing.T) {
	hands := func(clauses string) *ir.Contract {
		return compiled(t, strings.Replace(base, "  delegable /m/{k}/a\n", clauses, 1))
	}
	for _, c := range []struct {
		old, new string
		want     []string
	}{
		{"", "  delegable write /m/{k}/(a|b)\n", []string{"widened delegable write"}},
		{"", "  delegable write update /m/{k}/a\n", []string{"narrowed delegable write", "narrowed delegable write"}},
		{"  delegable read /budget\n", "  delegable read /budget, /note\n", []string{"widened delegable read"}},
		{"  delegable write update /budget\n", "  delegable write update, delete /budget\n", []string{"widened delegable write"}},
		{"  delegable source /budget\n", "  delegable source /note\n", []string{"widened delegable source", "narrowed delegable source"}},
		{"  delegable write /budget\n", "  delegable write /budget, blind /note\n", []string{"widened delegable write"}},
		{"  delegable /m/{k}/a\n", "  delegable read /m/{k}/a\n", []string{"widened delegable source"}},
		{"  delegable read /budget\n", "  delegable read /budget\n", nil},
	} {
		forth := diff.Contracts(hands(c.old), hands(c.new))
		require.Equal(t, c.want, effects(forth), "%s > %s: %+v", c.old, c.new, forth.Changes)
		back := diff.Contracts(hands(c.new), hands(c.old))
		require.Len(t, back.Changes, len(c.want), "%s < %s: %+v", c.old, c.new, back.Changes)
	}
}

func TestNamesOfParametersDoNotCountInWhatIsHandedOn(t *testing.T) {
	with := strings.Replace(base, "  delegable /m/{k}/a\n", "  delegable read /m/{k}/b\n", 1)
	renamed := strings.NewReplacer("fill(k in", "fill(key in", "  read /m/{k}", "  read /m/{key}", "write /m/{k}/a\n", "write /m/{key}/a\n",
		"source /m/{k}", "source /m/{key}", "delegable read /m/{k}", "delegable read /m/{key}", "before.m[k]", "before.m[key]").Replace(with)
	require.Empty(t, diff.Contracts(compiled(t, with), compiled(t, renamed)).Changes)
}
