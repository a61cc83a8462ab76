package tree

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The digests are those that the first version which kept logs made of the same values.
func TestFormat1DigestsAreThoseThatWereRecorded(t *testing.T) {
	object := func(n int, name func(i int) string) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf("%q:%d", name(i), i))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	array := func(n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprint(i%997))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	plain := func(i int) string { return fmt.Sprint("n", i) }
	long := func(i int) string { return strings.Repeat("x", 100) + fmt.Sprint(i) + strings.Repeat("y", 100) }
	for _, c := range []struct {
		text  string
		order Order
		want  string
		same  bool // as today
	}{
		{object(32, plain), ListOrder, "4a45db643b85d73197a61eaa5a2f9cff76e8d65b7592d24dfbee444fef8ee9ac", true},
		{object(33, plain), ListOrder, "a4c0cac34884dde2f0e05a01f0417557be698cac4d26f70468b711b7c43a0f68", true},
		{object(5000, plain), ListOrder, "b92749210f04fedd64e1e2f050f54aad6d076631cab7b28ff43fcfed589a52b1", false},
		{object(600, long), ListOrder, "678655168c96cfe05275eba891b403716280f99250f524b7cc23539c9a811c4b", false},
		{array(32), ListOrder, "0ee27f3cc4f7808c56dd9f7f3c95196134dd8049ab8c97b1d7317c117aaf60d2", true},
		{array(33), ListOrder, "50a739b218ba7586aab40f976c0d28c74811670212c18ab2ac3692b60c776d01", true},
		{array(5000), ListOrder, "c7fe33dd18aa2ccebce373b01720b062fb9ede4777fcd486fcc7043c4ec44a39", true},
		{array(32), SetOrder, "f26f030de6a1da8dbe9a9ca75153782b23ce3240db72397d3edb4a5dc7d5ae8c", true},
		{array(33), SetOrder, "f5a08151d3906c0ef178c7af053f636d3a941cbacdb231b511af52093b104bcd", true},
		{array(5000), SetOrder, "f58ded4d0c94b3122bcd2626868b00ddccacdc9669ca55befac632e32be02869", true},
		{array(5000), LogOrder, "f58ded4d0c94b3122bcd2626868b00ddccacdc9669ca55befac632e32be02869", true},
		{`{"a":` + object(5000, plain) + `,"b":[` + array(40) + `,{},[],null,1.50,"s"]}`, ListOrder, "ce394810a9b174cc95c15e9647168296de39121bb883f7b662ea3d0191de7de8", false},
		{`null`, ListOrder, "1b16b1df538ba12dc3f97edbb85caa7050d46c148134290feba80f8236c83db9", true},
		{`{}`, ListOrder, "021fb596db81e6d02bf3d2586ee3981fe519f275c0ac9ca76bbcf2ebb4097d96", true},
		{`[]`, ListOrder, "245843abef9e72e7efac30138a994bf6301e7e1d7d7042a33d42e863d2638811", true},
	} {
		n, err := Parse([]byte(c.text), Limits{})
		require.NoError(t, err)
		n = n.WithOrder(c.order)
		for range 2 {
			require.Equal(t, "sha256:"+c.want, n.Format1Digest().String(), "%.40s", c.text)
		}
		require.Equal(t, c.same, n.Digest() == n.Format1Digest(), "%.40s", c.text)
	}
}

// What is remembered of containers is theirs: after edits the digest is that of the value built anew.
func TestFormat1DigestsFollowEdits(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	n, err := Parse([]byte(`{"m":{},"l":[],"s":[]}`), Limits{})
	require.NoError(t, err)
	n = n.With("s", n.Get("s").WithOrder(SetOrder))
	for i := range 400 {
		text := fmt.Sprintf(`[{"op":"add","path":"/m/k%d","value":[%d]},{"op":"add","path":"/l/%d","value":%[2]d},{"op":"add","path":"/s/-","value":"e%d"}]`,
			random.Intn(300), i, random.Intn(n.Get("l").Len()+1), i)
		if i%5 == 4 {
			text = fmt.Sprintf(`[{"op":"remove","path":"/l/%d"}]`, random.Intn(n.Get("l").Len()))
		}
		patch, problems := ParsePatch([]byte(text), DefaultPatchLimits)
		require.Empty(t, problems)
		var problem *Problem
		n, _, problem = ApplyAll(n, patch)
		require.Nil(t, problem)
		n.Format1Digest()
		if i%10 == 0 {
			anew, err := Parse(AppendJSON(nil, n), Limits{})
			require.NoError(t, err)
			anew = anew.With("s", anew.Get("s").WithOrder(SetOrder))
			require.Equal(t, anew.Format1Digest(), n.Format1Digest(), "after %d edits", i)
		}
	}
}
