package region_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/region"
)

func TestOnlyKeysListsNamedAndBoundKeysThatStillLeadSomewhere(t *testing.T) {
	for _, test := range []struct {
		name     string
		patterns []string
		args     region.Binding
		below    region.Word
		keys     []string
		only     bool
	}{
		{"literal keys", []string{"/a/x", "/b", "/c", "!/c"}, region.Binding{}, nil, []string{"a", "b"}, true},
		{"bound parameter", []string{"/m/{p}/x"}, region.Binding{"p": "k"}, region.Word{region.Key("m")}, []string{"k"}, true},
		{"parameter bound to a literal", []string{"/m/{p}", "/m/k"}, region.Binding{"p": "k"}, region.Word{region.Key("m")}, []string{"k"}, true},
		{"wildcard", []string{"/m/*/x"}, region.Binding{}, region.Word{region.Key("m")}, nil, false},
		{"wildcard taken away", []string{"/m/*", "/m/a", "!/m/*"}, region.Binding{}, region.Word{region.Key("m")}, nil, true},
		{"everything", []string{"/**"}, region.Binding{}, nil, nil, false},
		{"nothing below", []string{"/a"}, region.Binding{}, region.Word{region.Key("b")}, nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			keys, only := region.SetOf(test.patterns...).Start(test.args).Walk(test.below).OnlyKeys()
			require.Equal(t, test.only, only)
			require.ElementsMatch(t, test.keys, keys)
		})
	}
}
