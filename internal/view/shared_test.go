package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/view"
)

// wide is an object and a list of entries with a member that is not shown.
func wide(t *testing.T, entries int) *tree.Node {
	var members, elements []string
	for i := range entries {
		members = append(members, fmt.Sprintf(`"k%d":{"shown":%d,"hidden":1}`, i, i))
		elements = append(elements, fmt.Sprintf(`{"shown":%d,"hidden":1}`, i))
	}
	n, err := tree.Parse([]byte(`{"m":{`+strings.Join(members, ",")+`},"l":[`+strings.Join(elements, ",")+`]}`), tree.DefaultLimits)
	require.NoError(t, err)
	return n
}

func TestTheViewOfTheNextVersionSharesWhatDidNotChange(t *testing.T) {
	const entries = 5000
	set := region.SetOf("", "!/m/*/hidden", "!/l/*/hidden")
	before := wide(t, entries)
	first, _ := view.Project(before, set.Start(nil))
	entry := before.Get("m").Get("k17").With("shown", tree.NewInt(-1))
	after := before.With("m", before.Get("m").With("k17", entry)).With("l", before.Get("l").SetAt(17, entry))
	second, _ := view.Project(after, set.Start(nil))
	require.Equal(t, `{"shown":-1}`, second.Get("m").Get("k17").String())
	require.Equal(t, `{"shown":-1}`, second.Get("l").At(17).String())
	renewed := 0
	for name, child := range second.Get("m").Members() {
		if first.Get("m").Get(name) != child {
			renewed++
		}
	}
	for i, child := range second.Get("l").Elements() {
		if first.Get("l").At(i) != child {
			renewed++
		}
	}
	require.Less(t, renewed, 128)
	again, _ := view.Project(after, set.Start(nil))
	require.Same(t, second.Get("m"), again.Get("m"))
}
