package verify_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
)

// A countdown is a context that ends when it has been looked at so often.
type countdown struct {
	context.Context
	left, looks int
	never       chan struct{}
}

func newCountdown(left int) *countdown {
	return &countdown{Context: context.Background(), left: left, never: make(chan struct{})}
}

func (c *countdown) Done() <-chan struct{} { return c.never }

func (c *countdown) Err() error {
	if c.looks++; c.looks > c.left {
		return context.DeadlineExceeded
	}
	return nil
}

// watchWorld is a contract with a rule of every kind that goes through many entries.
func watchWorld(t testing.TB) (p *verify.Program, state string) {
	b := newBuilder(t)
	integer, str := b.kind(ir.IntType), b.kind(ir.StringType)
	entry := b.record("Entry", "id", str, "n", b.where(b.kind(ir.IntType), "self >= 0"), "ref?", b.keyOf("/:m"), "hidden?", str)
	b.c.State = b.record("State", "m", b.of(ir.MapType, entry), "l", b.of(ir.ListType, integer), "bound", integer,
		"k", b.typ(ir.Type{Kind: ir.KeyedType, Elem: b.record("Row", "id", str), KeyField: "id"}))
	b.c.Measures = []ir.Measure{{Name: "sum", Kind: ir.Sum, Over: region.MustParse("/:m/:*/:n")}}
	measured := b.expr("sum < 1000000000", expr.Scope{Vars: ir.StateVars})
	each := &ir.Each{Var: "e", Over: region.MustParse("/:m/:*"), Type: entry}
	bounded := b.expr("e.n < state.bound", expr.Scope{Vars: ir.EachVars, Each: each})
	alone := b.expr("e.n < 1000000", expr.Scope{Vars: ir.EachVars, Each: each})
	b.c.Invariants = []ir.Invariant{
		{Name: "measured", Expr: &measured}, {Name: "bounded", Each: each, Expr: &bounded},
		{Name: "alone", Each: each, Expr: &alone}, {Name: "distinct", Unique: at("/:m/:*/:id")},
	}
	all := of("")
	b.stage(ir.Stage{Name: "all", Read: all, Write: all, Source: all})
	b.stage(ir.Stage{Name: "partly", Read: grants([]string{"/m", "!/m/*/hidden"})})
	const n = 1500
	entries, rows := make([]string, n), make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(`"e%d":{"id":"%d","n":%d,"ref":"e%d","hidden":"x"}`, i, i, i, (i+1)%n)
		rows[i] = fmt.Sprintf(`{"id":"%d"}`, i)
	}
	return b.load(), `{"m":{` + strings.Join(entries, ",") + `},"l":[],"bound":10000,"k":[` + strings.Join(rows, ",") + `]}`
}

// The end of a context is noticed inside whatever takes long, is never taken for an
// answer, and leaves nothing behind that would change a later one.
func TestTheEndOfAContextIsItsErrorWhereverItComes(t *testing.T) {
	build, state := watchWorld(t)
	many := "[" + strings.Repeat(`{"op":"add","path":"/l/-","value":1},`, 600) + `{"op":"add","path":"/l/-","value":1}]`
	whole := `[{"op":"replace","path":"/m","value":` + state[len(`{"m":`):strings.Index(state, `,"l"`)] + `}]`
	for name, c := range map[string]struct {
		patch   string
		atLeast int // looks
	}{
		"a rule over all entries":       {`[{"op":"replace","path":"/bound","value":20000}]`, 1500},
		"a rule that fails everywhere":  {`[{"op":"replace","path":"/bound","value":0}]`, 1500},
		"a value that is replaced":      {whole, 1500},
		"a value of the wrong type":     {strings.ReplaceAll(whole, `"ref"`, `"fer"`), 10},
		"an entry that is referred to":  {`[{"op":"remove","path":"/m/e0"}]`, 15},
		"a value that is not distinct":  {`[{"op":"replace","path":"/m/e0/id","value":"7"}]`, 15},
		"an operation after the other":  {many, 600},
		"one entry, all else for first": {`[{"op":"replace","path":"/m/e0/n","value":7}]`, 10},
	} {
		fresh := func() verify.Snapshot { // nothing remembered
			n, err := build.Import([]byte(state))
			require.NoError(t, err)
			return verify.Snapshot{State: n, Phase: "main"}
		}
		pr := verify.Proposal{Stage: "all", Patch: []byte(c.patch)}
		want, err := build.Verify(context.Background(), fresh(), pr)
		require.NoError(t, err, name)
		counted := newCountdown(math.MaxInt)
		_, err = build.Verify(counted, fresh(), pr)
		require.NoError(t, err)
		require.GreaterOrEqual(t, counted.looks, c.atLeast, name)
		var on verify.Snapshot
		for left := 0; left < counted.looks; left += 1 + counted.looks/7 {
			on = fresh()
			_, err := build.Verify(newCountdown(left), on, pr)
			require.ErrorIs(t, err, context.DeadlineExceeded, "%s, after %d of %d looks", name, left, counted.looks)
		}
		again, err := build.Verify(context.Background(), on, pr)
		require.NoError(t, err)
		require.Equal(t, want.Verdict, again.Verdict, name)
		actor := again.Actor()
		counted = newCountdown(math.MaxInt)
		_, err = again.ActorWithin(counted)
		require.NoError(t, err)
		for left := 0; left < counted.looks; left += 1 + counted.looks/3 {
			_, err := again.ActorWithin(newCountdown(left))
			require.ErrorIs(t, err, context.DeadlineExceeded)
		}
		require.Equal(t, actor, again.Actor())
	}
}

func TestReadingAndShowingAStateEndWithTheirContext(t *testing.T) {
	p, state := watchWorld(t)
	n, err := p.Import([]byte(state))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		run     func(ctx context.Context) error
		atLeast int
	}{
		"import": {func(ctx context.Context) error { _, err := p.ImportWithin(ctx, []byte(state)); return err }, 40},
		"check":  {func(ctx context.Context) error { _, err := p.CheckWithin(ctx, n, "main"); return err }, 1500},
		"view": {func(ctx context.Context) error {
			fresh, err := p.Import([]byte(state))
			require.NoError(t, err)
			_, _, err = p.View(ctx, verify.Snapshot{State: fresh, Phase: "main"}, verify.ViewRequest{Stage: "partly"})
			return err
		}, 8},
		"replay": {func(ctx context.Context) error {
			_, _, err := p.Replay(ctx, n, []byte("["+strings.Repeat(`{"op":"add","path":"/l/-","value":1},`, 50)+`{"op":"test","path":"/bound","value":10000}]`))
			return err
		}, 50},
	} {
		counted := newCountdown(math.MaxInt)
		require.NoError(t, c.run(counted), name)
		require.GreaterOrEqual(t, counted.looks, c.atLeast, name)
		for left := 0; left < counted.looks; left += 1 + counted.looks/9 {
			err := c.run(newCountdown(left))
			if name == "check" && left > 0 { // what is remembered needs no looking at
				require.True(t, err == nil || errors.Is(err, context.DeadlineExceeded))
				continue
			}
			require.ErrorIs(t, err, context.DeadlineExceeded, "%s, after %d of %d looks", name, left, counted.looks)
		}
		require.NoError(t, c.run(context.Background()), name)
	}
}

// A host may end a proposal's context as soon as it has the verdict.
func TestTheActorsRenderingNeedsNoContext(t *testing.T) {
	p, state := watchWorld(t)
	n, err := p.Import([]byte(state))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	out, err := p.Verify(ctx, verify.Snapshot{State: n, Phase: "main"}, verify.Proposal{Stage: "all", Patch: []byte(`[{"op":"replace","path":"/bound","value":0}]`)})
	require.NoError(t, err)
	cancel()
	told := out.Actor()
	require.Greater(t, len(told.Violations)+told.More, verify.MaxViolations)
	require.Equal(t, verify.InvariantViolation, told.Violations[0].Code)
}
