package region_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/region"
)

func TestAWalkIsFixedWhereNeitherValuesNorPositionsMatterBelow(t *testing.T) {
	for _, test := range []struct {
		patterns []string
		below    string
		fixed    bool
	}{
		{[]string{"/m/*/x", "!/m/*/x/y"}, "", true},
		{[]string{"/m/{p}", "/n/*/x"}, "", false},
		{[]string{"/m/{p}", "/n/*/x"}, "n", true},
		{[]string{"/m/{p}", "/n/*/x"}, "m", false},
		{[]string{"/m/{p}/*/x"}, "m/k", true},
		{[]string{"/l/[0]/x", "/l/[*]/y"}, "l", false},
		{[]string{"/l/[*]/y"}, "l", true},
		{[]string{"/**/{p}"}, "a/b", false},
	} {
		args := region.Binding{"p": "k"}
		_, fixed := walked(region.SetOf(test.patterns...).Start(args), test.below).Fixed()
		require.Equal(t, test.fixed, fixed, "%v below %q", test.patterns, test.below)
	}
}

func walked(c region.Cursor, keys string) region.Cursor {
	for _, name := range strings.FieldsFunc(keys, func(r rune) bool { return r == '/' }) {
		c = c.Key(name)
	}
	return c
}

func TestFixedWalksOfDifferentBindingsAreTheSame(t *testing.T) {
	set := region.SetOf("/m/{p}", "/n/*/x", "!/n/a/x")
	a, okA := set.Start(region.Binding{"p": "k"}).Key("n").Fixed()
	b, okB := set.Start(region.Binding{"p": "other"}).Key("n").Fixed()
	require.True(t, okA && okB)
	require.True(t, a == b)
	c, _ := set.Start(region.Binding{"p": "k"}).Key("n").Key("b").Fixed()
	require.False(t, a == c)
}
