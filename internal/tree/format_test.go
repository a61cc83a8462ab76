package tree

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Digests stand in logs, which are read for years: where one comes out otherwise than
// here, trace.Format has to be raised, and then this test's digests may be changed.
func TestDigestsAreThoseOfTheFormatOfLogs(t *testing.T) {
	for name, c := range map[string]struct {
		text  func(i int) string
		order Order
		want  string
	}{
		"numbers":        {func(i int) string { return fmt.Sprint(i * i) }, ListOrder, "a3d90c666870e3f8"},
		"one text":       {func(int) string { return `"t"` }, ListOrder, "86132da2b986962f"},
		"texts in a log": {func(i int) string { return fmt.Sprintf(`"entry %d"`, i*7919%1000) }, LogOrder, "bb74b2c97cae2bc3"},
		"a set":          {func(i int) string { return fmt.Sprintf(`"%x"`, i*7919) }, SetOrder, "80c2d74575fcd238"},
		"records":        {func(i int) string { return fmt.Sprintf(`{"id":%d,"n":%d.50,"ok":%t,"none":null}`, i, i, i%3 == 0) }, ListOrder, "8ec62620be1b1c7f"},
	} {
		sum := sha256.New()
		for _, n := range []int{0, 1, 2, 30, 100, 430, 3000} {
			var elements, members []string
			for i := range n {
				elements = append(elements, c.text(i))
				members = append(members, fmt.Sprintf(`"k%d":%s`, i*i, c.text(i)))
			}
			array := parsed(t, "["+strings.Join(elements, ",")+"]").WithOrder(c.order)
			object := parsed(t, "{"+strings.Join(members, ",")+"}")
			fmt.Fprintln(sum, array.Digest(), object.Digest())
		}
		assert.Equal(t, c.want, fmt.Sprintf("%x", sum.Sum(nil)[:8]), name)
	}
}
