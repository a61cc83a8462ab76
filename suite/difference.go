package suite

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// A Difference is one place at which two JSON values differ; what is nil is not there.
type Difference struct {
	Path     string  `json:"path"`
	Expected *string `json:"expected"` // JSON
	Actual   *string `json:"actual"`
}

// mostDifferences bounds how many places are listed.
const mostDifferences = 100

// differences lists the places at which two values differ, in order. Sets and logs, as the
// actual value has them, are compared without order.
func differences(want, got *tree.Node) []Difference { return differencesAt(nil, want, got) }

func differencesAt(at region.Word, want, got *tree.Node) []Difference {
	var out []Difference
	compare(at, want, got, &out)
	return out
}

func compare(at region.Word, want, got *tree.Node, out *[]Difference) {
	switch {
	case len(*out) >= mostDifferences, want == nil && got == nil:
	case want == nil || got == nil || want.Kind() != got.Kind():
		differ(at, want, got, out)
	case want.Kind() == ir.Object:
		var names []string
		for name := range want.Members() {
			names = append(names, name)
		}
		for name := range got.Members() {
			if want.Get(name) == nil {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			compare(append(at[:len(at):len(at)], region.Key(name)), want.Get(name), got.Get(name), out)
		}
	case want.Kind() == ir.Array && got.Order() != tree.ListOrder:
		if !sameBag(want, got) {
			differ(at, want, got, out)
		}
	case want.Kind() == ir.Array:
		for i := range max(want.Len(), got.Len()) {
			compare(append(at[:len(at):len(at)], region.Index(i)), want.At(i), got.At(i), out)
		}
	default:
		if !tree.Equal(want, got) {
			differ(at, want, got, out)
		}
	}
}

// sameBag compares arrays without order: each element of one is one of the other.
func sameBag(want, got *tree.Node) bool {
	if want.Len() != got.Len() {
		return false
	}
	taken := make([]bool, got.Len())
	for _, w := range want.Elements() {
		found := false
		for i, g := range got.Elements() {
			var d []Difference
			if taken[i] {
				continue
			}
			if compare(nil, w, g, &d); len(d) == 0 {
				taken[i], found = true, true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

func differ(at region.Word, want, got *tree.Node, out *[]Difference) {
	*out = append(*out, Difference{Path: at.Pointer(), Expected: text(want), Actual: text(got)})
}

// text is a value as JSON, nil if there is none.
func text(n *tree.Node) *string {
	if n == nil {
		return nil
	}
	out := string(tree.AppendJSON(nil, n))
	return &out
}
