package verify_test

import (
	"context"
	"encoding/json"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// hostileWorld has a place of every form to write to, and a stage that may.
func hostileWorld(t testing.TB, limits verify.Limits) *run {
	b := newBuilder(t)
	integer, str, anything := b.kind(ir.IntType), b.kind(ir.StringType), b.kind(ir.AnyType)
	pair := b.record("Pair", "a", integer, "b?", integer)
	cat := b.record("Cat", "kind", b.oneOf("cat"), "tags", b.of(ir.MapType, integer))
	dog := b.record("Dog", "kind", b.oneOf("dog"), "tags", b.of(ir.ListType, integer))
	b.c.State = b.record("State",
		"any", anything, "ints", b.of(ir.ListType, integer), "names", b.of(ir.SetType, str),
		"log", b.of(ir.LogType, str), "pairs", b.of(ir.MapType, pair), "one", pair,
		"pet", b.typ(ir.Type{Kind: ir.UnionType, Alternatives: []ir.TypeID{cat, dog}}),
		"refs", b.of(ir.ListType, b.keyOf("/pairs")), "limit", b.where(b.record("Limit", "all", b.of(ir.MapType, integer)), "self.all.all(k, self.all[k] < 9)"),
	)
	b.c.Invariants = []ir.Invariant{{Name: "distinct", Unique: at("/ints/[*]")}}
	all := of("")
	b.stage(ir.Stage{Name: "all", Read: all, Write: all, Source: all})
	b.stage(ir.Stage{Name: "none", Read: of("/one/a")})
	b.stage(ir.Stage{Name: "deep", Read: of("/any/**/x/**/y"), Write: of("/any/**/x/**/y")})
	p, err := verify.Load(b.c, limits)
	require.NoError(t, err)
	return open(t, p, `{"any":{},"ints":[],"names":[],"log":[],"pairs":{},"one":{"a":1},
		"pet":{"kind":"cat","tags":{}},"refs":[],"limit":{"all":{}}}`)
}

// hostileLimits are the limits that the patches below exhaust: the usual ones with
// -long, else a sixteenth of them.
func hostileLimits() verify.Limits {
	l := verify.DefaultLimits()
	if !*long {
		l.Patch.MaxBytes, l.Patch.MaxNodes, l.Patch.MaxOps = l.Patch.MaxBytes/16, l.Patch.MaxNodes/16, l.Patch.MaxOps/16
		l.Patch.MaxPatchTokens /= 16
	}
	return l
}

// padded repeats a piece until the patch around it is about as large as one may be.
func padded(before, piece, after string) string {
	most := hostileLimits().Patch.MaxBytes
	return before + strings.Repeat(piece, (most-len(before)-len(after))/len(piece)) + after
}

// ops is a patch of as many operations as there may be.
func ops(op func(i int) string) string {
	all := make([]string, hostileLimits().Patch.MaxOps)
	for i := range all {
		all[i] = op(i)
	}
	return "[" + strings.Join(all, ",") + "]"
}

// hostile are patches that are as large as they may be, in one respect each.
func hostile() map[string]string {
	deepest := strings.Repeat("/0", tree.DefaultPatchLimits.MaxTokens-1)
	return map[string]string{
		"a pointer of millions of tokens":        padded(`[{"op":"add","path":"/any`, "/a", `","value":1}]`),
		"a pointer of empty tokens":              padded(`[{"op":"remove","path":"/ints`, "/", `"}]`),
		"a source of millions of tokens":         padded(`[{"op":"move","path":"/any/x","from":"/any`, "/0", `"}]`),
		"a pointer of escapes":                   padded(`[{"op":"test","path":"/pairs/`, "~1", `","value":1}]`),
		"a name of millions of bytes":            padded(`[{"op":"add","path":"/one","value":{"a":1,"`, "é", `":2}}]`),
		"an operation of millions of bytes":      padded(`[{"op":"`, "add", `","path":"/any","value":1}]`),
		"a path with a bad escape at its end":    padded(`[{"op":"add","path":"/any/`, "x", `~","value":1}]`),
		"a member of the proposal":               padded(`{"patch":[],"`, "next", `":1}`),
		"a next phase":                           padded(`{"patch":[],"next":"`, "n", `"}`),
		"a million values of the wrong type":     padded(`[{"op":"replace","path":"/ints","value":[""`, `,""`+strings.Repeat(" ", 6), `]}]`),
		"a million equal elements":               padded(`[{"op":"replace","path":"/names","value":["x"`, `,"x"      `, `]}]`),
		"a million equal values":                 padded(`[{"op":"replace","path":"/ints","value":[7`, `,7        `, `]}]`),
		"a million keys of nothing":              padded(`[{"op":"replace","path":"/refs","value":["x"`, `,"x"      `, `]}]`),
		"a million unknown members":              "[" + `{"op":"add","path":"/one","value":{` + members(hostileLimits().Patch.MaxBytes/18) + `}}]`,
		"a value nested too deeply":              padded(`[{"op":"add","path":"/any/x","value":`, "[", ""),
		"deep pointers into nothing":             ops(func(int) string { return `{"op":"add","path":"/any` + deepest[:770] + `","value":1}` }),
		"operations outside of the type":         ops(func(i int) string { return `{"op":"add","path":"/nowhere` + strconv.Itoa(i) + `","value":1}` }),
		"operations that are none":               ops(func(int) string { return `{"op":"x"}` }),
		"operations that are no objects":         ops(func(int) string { return `0` }),
		"many wrong members":                     ops(func(i int) string { return `{"op":"add","path":"/pairs/p` + strconv.Itoa(i) + `","value":{"z":0}}` }),
		"many members of a union":                ops(func(i int) string { return `{"op":"add","path":"/pet/tags/t` + strconv.Itoa(i) + `","value":""}` }),
		"many members of something with a where": ops(func(i int) string { return `{"op":"add","path":"/limit/all/t` + strconv.Itoa(i) + `","value":10}` }),
		"many equal additions to a set":          ops(func(int) string { return `{"op":"add","path":"/names/-","value":"x"}` }),
		"more tokens than there may be":          ops(func(int) string { return `{"op":"test","path":"/any` + deepest[:600] + `","value":1}` }),
		"as many tokens as there may be": ops(func(int) string {
			return `{"op":"move","from":"/any` + deepest[:22] + `","path":"/any` + deepest[:22] + `"}`
		}),
		"copies that double a value":      ops(func(i int) string { return `{"op":"copy","from":"/any","path":"/any/` + strconv.Itoa(i) + `"}` }),
		"moves of one value over another": ops(func(i int) string { return `{"op":"move","from":"/` + []string{"any", "one"}[i%2] + `","path":"/any"}` }),
		"names that begin alike":          ops(func(i int) string { return `{"op":"add","path":"/any/` + longName(i) + `","value":1}` }),
		"escapes of every character":      padded(`[{"op":"add","path":"/any","value":"`, `\u00e9`, `"}]`),
		"values nested in values": ops(func(i int) string {
			return `{"op":"add","path":"/any/x","value":` + strings.Repeat(`[`, 120) + strings.Repeat(`]`, 120) + `}`
		}),
		"numbers of the longest exponents": padded(`[{"op":"replace","path":"/any","value":[1`, `,1e-1024,-1e1024`, `]}]`),
		"many elements at the front":       ops(func(i int) string { return `{"op":"add","path":"/ints/0","value":` + strconv.Itoa(i) + `}` }),
	}
}

// longName is the i-th of names that begin alike.
func longName(i int) string { return strings.Repeat("x", 40) + strconv.Itoa(1_000_000+i) }

func members(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"m` + strconv.Itoa(i) + `":1`)
	}
	return b.String()
}

// Whatever an actor sends, what judging it allocates is linear in it, and what comes
// back is small. Of each form of a pointer and a value there is a patch that is nothing
// but that.
func TestNoPatchCostsMoreThanItsSizeAndNoReplyRepeatsIt(t *testing.T) {
	limits := hostileLimits()
	r := hostileWorld(t, limits)
	const factor, perOp, largestReply = 200, 32 << 10, 256 << 10
	most := factor*limits.Patch.MaxBytes + perOp*limits.Patch.MaxOps
	for name, patch := range hostile() {
		for _, stage := range []string{"all", "none", "deep"} {
			require.LessOrEqual(t, len(patch), limits.Patch.MaxBytes, name)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			out, err := r.p.Verify(context.Background(), r.s, verify.Proposal{Stage: stage, Patch: []byte(patch)})
			require.NoError(t, err)
			told := out.Actor()
			runtime.ReadMemStats(&after)
			if !raceDetector {
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most), "%s, stage %s", name, stage)
			}
			for _, reply := range []any{out.Verdict, told} {
				text, err := json.Marshal(reply)
				require.NoError(t, err)
				require.Less(t, len(text), largestReply, "%s, stage %s", name, stage)
			}
		}
	}
}

func TestAPointerDeeperThanAStateMayBeIsRefusedByTheLimit(t *testing.T) {
	r := hostileWorld(t, verify.DefaultLimits())
	most := tree.DefaultPatchLimits.MaxTokens
	deep, long := strings.Repeat("/a", most+1), "/"+strings.Repeat("k", tree.DefaultPatchLimits.MaxPointerBytes)
	for _, patch := range []string{
		`[{"op":"add","path":"/any` + deep + `","value":1}]`,
		`[{"op":"add","path":"` + strings.Repeat("/0", 4_000_000) + `","value":1}]`,
		`[{"op":"remove","path":"` + strings.Repeat("/", most+1) + `"}]`,
		`[{"op":"test","path":"` + long + `","value":1}]`,
		`{"patch":[{"op":"move","from":"/any` + deep + `","path":"/any/b"}]}`,
		`{"patch":[{"op":"copy","from":"` + long + `","path":"/any/b"}],"next":null}`,
		`[{"op":"test","path":"` + long + `","value":1},{"op":"nop"}]`,
	} {
		for _, stage := range []string{"all", "none"} {
			out := r.try(verify.Proposal{Stage: stage, Patch: []byte(patch)})
			require.Equal(t, verify.Reject, out.Verdict.Verdict)
			require.Len(t, out.Verdict.Violations, 1, "an exceeded limit comes before everything else")
			v := out.Verdict.Violations[0]
			require.Equal(t, [2]any{verify.GateLimit, verify.LimitExceeded}, [2]any{v.Gate, v.Code})
			require.Equal(t, 0, *v.OpIndex)
			require.Less(t, len(*v.Path), 1024)
			require.Contains(t, v.Message, "the path is")
		}
	}
	deepest := `[{"op":"add","path":"/any` + strings.Repeat("/a", most-1) + `","value":1}]`
	r.refuses(verify.Proposal{Stage: "all", Patch: []byte(deepest)}, "scope path_missing 0 "+tree.Shorten("/any"+strings.Repeat("/a", most-1), 512))
}

func TestAReplyListsTheFirstViolationsAndCountsTheOthers(t *testing.T) {
	r := hostileWorld(t, verify.DefaultLimits())
	for patch, all := range map[string]int{
		`[` + strings.Repeat(`{"op":"x","path":"/ints"},`, 9_999) + `0]`:                                                                     10_000,
		`[` + strings.Repeat(`{"op":"add","path":"/nowhere","value":1},`, 150) + `{"op":"remove","path":"/neither"}]`:                        151,
		`[{"op":"replace","path":"/ints","value":["a"` + strings.Repeat(`,"b"`, 20_000) + `]}]`:                                              20_001,
		`[{"op":"add","path":"/pairs/x","value":{"a":""}},{"op":"replace","path":"/refs","value":[` + strings.Repeat(`"y",`, 500) + `"x"]}]`: 501,
		`[{"op":"replace","path":"/ints","value":[1` + strings.Repeat(`,1`, 300) + `]}]`:                                                     300,
	} {
		stage := "all"
		if strings.Contains(patch, "nowhere") {
			stage = "none"
		}
		out := r.try(verify.Proposal{Stage: stage, Patch: []byte(patch)})
		require.LessOrEqual(t, len(out.Verdict.Violations), verify.MaxViolations, patch[:60])
		require.Equal(t, all, len(out.Verdict.Violations)+out.Verdict.More, patch[:60])
		told := out.Actor()
		require.Equal(t, all, len(told.Violations)+told.More, "the actor sees all of it: %s", patch[:60])
		text, err := json.Marshal(out.Verdict)
		require.NoError(t, err)
		require.LessOrEqual(t, len(text), verify.MaxReply)
		require.Contains(t, string(text), `"more":`+strconv.Itoa(all-len(out.Verdict.Violations)))
	}
	out := r.try(verify.Proposal{Stage: "all", Patch: []byte(`[{"op":"remove","path":"/nowhere"}]`)})
	require.Zero(t, out.Verdict.More)
}

// What is not listed must not depend on what is hidden: findings about a hidden rule
// take no place from those that the actor may know.
func TestManyHiddenViolationsHideNoneThatIsTold(t *testing.T) {
	b := newBuilder(t)
	integer := b.kind(ir.IntType)
	b.c.State = b.record("State", "shown", b.of(ir.MapType, integer), "hidden", b.of(ir.MapType, integer), "limit", integer)
	for _, of := range []string{"hidden", "shown"} {
		scope := expr.Scope{Vars: ir.EachVars, Each: &ir.Each{Var: "e", Over: region.MustParse("/" + of + "/:*"), Type: integer}}
		x := b.expr("e <= state.limit", scope)
		b.c.Invariants = append(b.c.Invariants, ir.Invariant{Name: of + "_within", Each: scope.Each, Expr: &x})
	}
	b.stage(ir.Stage{Name: "s", Read: of("/shown", "/limit"), Write: of("/limit"), Gates: []ir.Gate{
		{Kind: ir.InvariantGate, Name: "hidden_within", Visibility: ir.Hidden},
		{Kind: ir.InvariantGate, Name: "shown_within", Visibility: ir.Seen},
	}})
	r := open(t, b.load(), `{"limit":9,"hidden":{`+members(300)+`},"shown":{"a":1}}`)
	told := r.try(verify.Proposal{Stage: "s", Patch: []byte(`[{"op":"replace","path":"/limit","value":0}]`)}).Actor()
	require.Equal(t, []string{"invariant invariant_violation /shown/a"}, short(told.Violations))
	require.Zero(t, told.More)
}

func TestAPatternMatchesAWordInTimeThatBothLengthsBound(t *testing.T) {
	r := hostileWorld(t, verify.DefaultLimits())
	value := `{"x":{"y":1}}`
	for range 200 {
		value = `{"a":` + value + `}`
	}
	start := time.Now()
	r.commits(verify.Proposal{Stage: "all", Patch: []byte(`[{"op":"replace","path":"/any","value":` + value + `}]`)})
	r.commits(verify.Proposal{Stage: "deep", Patch: []byte(`[{"op":"replace","path":"/any` + strings.Repeat("/a", 200) + `/x/y","value":2}]`)})
	require.Less(t, time.Since(start), time.Minute)
}

func TestEditsAtAnyPositionOfALongListCostAboutTheSame(t *testing.T) {
	b := newBuilder(t)
	integer := b.kind(ir.IntType)
	row := b.record("Row", "id", integer, "tags?", b.of(ir.ListType, integer))
	b.c.State = b.record("State", "l", b.of(ir.ListType, integer), "rows", b.of(ir.ListType, row), "x", b.kind(ir.AnyType))
	b.c.Measures = []ir.Measure{{Name: "sum", Kind: ir.Sum, Over: region.MustParse("/l/[*]")}}
	bounded := b.expr("sum >= 0", expr.Scope{Vars: ir.StateVars})
	each := &ir.Each{Var: "r", Over: region.MustParse("/rows/[*]"), Type: row}
	positive := b.expr("r.id >= 0", expr.Scope{Vars: ir.EachVars, Each: each})
	b.c.Invariants = []ir.Invariant{{Name: "bounded", Expr: &bounded}, {Name: "positive", Each: each, Expr: &positive}, {Name: "distinct", Unique: at("/rows/[*]/:id")}}
	b.stage(ir.Stage{Name: "s", Read: of(""), Write: of(""), Source: of("")})
	const n = 60_000
	rows, ints := make([]string, n), make([]string, n)
	for i := range rows {
		rows[i], ints[i] = `{"id":`+strconv.Itoa(i)+`}`, strconv.Itoa(i%10)
	}
	r := open(t, b.load(), `{"x":[0,1,2,3,4,5],"l":[`+strings.Join(ints, ",")+`],"rows":[`+strings.Join(rows, ",")+`]}`)
	patches := map[string]string{
		"front":    ops(func(i int) string { return `{"op":"add","path":"/l/0","value":` + strconv.Itoa(i) + `}` }),
		"middle":   ops(func(i int) string { return `{"op":"add","path":"/l/30000","value":0}` }),
		"remove":   ops(func(i int) string { return `{"op":"remove","path":"/rows/0"}` }),
		"move":     ops(func(i int) string { return `{"op":"move","from":"/rows/` + strconv.Itoa(n-1) + `","path":"/rows/7"}` }),
		"untyped":  ops(func(i int) string { return `{"op":"add","path":"/x/5","value":1}` }),
		"one each": `[{"op":"add","path":"/rows/0","value":{"id":70000}},{"op":"remove","path":"/l/0"}]`,
	}
	for what, patch := range patches {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, err := r.p.Verify(context.Background(), r.s, verify.Proposal{Stage: "s", Patch: []byte(patch)})
		require.NoError(t, err)
		require.Equal(t, verify.Commit, out.Verdict.Verdict, "%s: %v", what, out.Verdict.Violations)
		runtime.ReadMemStats(&after)
		if !raceDetector {
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(24<<20+24<<10*hostileLimits().Patch.MaxOps), what)
		}
	}
}

func TestTheHostSaysHowLongAReplyMayBe(t *testing.T) {
	patch := []byte(`[` + strings.Repeat(`{"op":"add","path":"/nowhere","value":1},`, 150) + `{"op":"remove","path":"/neither"}]`)
	lengths := map[int]int{}
	for _, most := range []int{0, 1, verify.MinReply, 10_000} {
		limits := verify.DefaultLimits()
		limits.Reply = most
		out := hostileWorld(t, limits).try(verify.Proposal{Stage: "none", Patch: patch})
		told := out.Actor()
		lengths[most] = len(out.Verdict.Violations)
		require.Equal(t, 151, len(told.Violations)+told.More)
		text, err := json.Marshal(told)
		require.NoError(t, err)
		if most == 0 {
			most = verify.MaxReply
		}
		require.LessOrEqual(t, len(text), max(most, verify.MinReply))
	}
	require.Less(t, lengths[verify.MinReply], lengths[0])
	require.Less(t, lengths[0], lengths[10_000])
	require.Equal(t, lengths[verify.MinReply], lengths[1])
}
