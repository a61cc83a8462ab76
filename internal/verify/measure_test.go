package verify

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

func TestMeasuresAreExactDecimals(t *testing.T) {
	for _, test := range []struct {
		kind    ir.MeasureKind
		numbers string
		literal string
		present bool
	}{
		{ir.Sum, `[0.1,0.2]`, "0.3", true},
		{ir.Sum, `[9007199254740993,1]`, "9007199254740994", true},
		{ir.Sum, `[1e3,-0.5e-1]`, "999.95", true},
		{ir.Sum, `[1.50,1.50]`, "3", true},
		{ir.Sum, `[-0.3,0.1]`, "-0.2", true},
		{ir.Sum, `[1e2,1E+2]`, "200", true},
		{ir.Sum, `[]`, "0", true},
		{ir.Count, `[1,2,3]`, "3", true},
		{ir.Count, `[]`, "0", true},
		{ir.Min, `[3,1.5,2]`, "1.5", true},
		{ir.Max, `[9007199254740992,9007199254740993]`, "9007199254740993", true},
		{ir.Min, `[]`, "", false},
		{ir.Max, `[]`, "", false},
	} {
		state, err := tree.Parse([]byte(test.numbers), tree.DefaultLimits)
		require.NoError(t, err)
		m, err := (&Program{}).newMeasure(&ir.Measure{Kind: test.kind, Over: region.MustParse("/*")})
		require.NoError(t, err)
		got := m.value(context.Background(), nil, state)
		require.Equal(t, measured{test.literal, test.present}, got, "%s of %s", test.kind, test.numbers)
	}
}

func TestAMeasureIsComputedOnceAStateAndOnlyIfAsked(t *testing.T) {
	n, err := (&Program{}).newMeasure(&ir.Measure{Name: "n", Kind: ir.Count, Over: region.MustParse("/*")})
	require.NoError(t, err)
	m := measures{p: &Program{measures: []measure{n}}, state: tree.NewArray([]*tree.Node{tree.NewNull()})}
	require.Empty(t, m.known)
	for range 2 {
		literal, present := m.lookup("n")
		require.Equal(t, "1", literal)
		require.True(t, present)
	}
	require.Len(t, m.known, 1)
	_, present := m.lookup("other")
	require.False(t, present)
}
