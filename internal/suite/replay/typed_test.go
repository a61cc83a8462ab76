package replay_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// compile is the contract of a text, whose claims may be false.
func compile(t testing.TB, text string, replay footprint.Replayer) compiler.Output {
	t.Helper()
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic", Replay: replay})
	require.NoError(t, err)
	require.NotNil(t, out.Lowered, "%+v", out.Diagnostics)
	return out
}

func desk(t testing.TB) *ir.Contract {
	t.Helper()
	source, err := os.ReadFile("testdata/desk.poptic")
	require.NoError(t, err)
	return compile(t, string(source), nil).Lowered
}

// entries draws an object with some of the keys, none twice.
func (m maker) entries(prefix string, most int, entry func(key string) string) string {
	var out []string
	for i := range 1 + m.Intn(most) {
		key := fmt.Sprintf("%s%d", prefix, i+1)
		out = append(out, fmt.Sprintf("%q:%s", key, entry(key)))
	}
	return "{" + strings.Join(out, ",") + "}"
}

func (m maker) elements(most int, element func(i int) string) string {
	var out []string
	for i := range m.Intn(most + 1) {
		out = append(out, element(i))
	}
	return "[" + strings.Join(out, ",") + "]"
}

// maybe is a member that is there or not.
func (m maker) maybe(member string) string {
	if m.chance(50) {
		return ""
	}
	return "," + member
}

// deskState draws a state file of the desk. Most keep all rules.
func (m maker) deskState() string {
	names := []string{"k1", "k2", "a", "b"}
	text := func() string { return m.pick("a", "b", "c") }
	tickets := m.entries("k", 2, func(string) string {
		reply := m.maybe(`"reply":"` + text() + `"`)
		status := m.pick("open", "waiting", "solved")
		if reply == "" {
			status = m.pick("open", "waiting")
		}
		return fmt.Sprintf(`{"status":%q,"customer":%q,"labels":[%q]%s}`, status, m.pick("c1", "c2"), text(), reply)
	})
	customers := fmt.Sprintf(`{"c1":{"name":%q,"email":"a"%s},"c2":{"name":%q,"email":%q}%s}`,
		text(), m.maybe(`"rank":1`), text(), m.pick("b", "c"), m.maybe(`"c3":{"name":"x","email":"d"}`))
	refunds := m.entries("r", 2, func(string) string {
		return fmt.Sprintf(`{"ticket":"k1","amount":%d}`, 1+m.Intn(2))
	})
	from, lo := m.Intn(3), m.Intn(3)
	return fmt.Sprintf(`{"tickets":%s,"customers":%s,"refunds":%s,"budget":%d,"window":{"from":%d,"to":%d},"lo":%d,"hi":%d,
"rows":%s,"items":%s,"history":%s,"tags":%s,"notes":%s%s}`,
		tickets, customers, refunds, m.Intn(6), from, from+m.Intn(3), lo, lo+1+m.Intn(2),
		m.elements(2, func(int) string { n := m.Intn(4); return fmt.Sprintf(`{"n":%d,"m":%d}`, n, n+m.Intn(3)) }),
		m.elements(3, func(i int) string {
			qty := m.Intn(4)
			return fmt.Sprintf(`{"sku":%q,"qty":%d%s}`, names[i], qty, m.maybe(fmt.Sprintf(`"price":%d`, qty+m.Intn(2))))
		}),
		m.elements(4, func(int) string { return fmt.Sprintf(`{"what":%q}`, text()) }),
		m.elements(2, func(i int) string { return fmt.Sprintf("%q", names[i+m.Intn(2)*2]) }),
		m.node(3), m.maybe(`"note":"a"`))
}

func TestCertifiedPairsCommuteWithTypes(t *testing.T) {
	t.Parallel()
	const seed = 3
	m, sum, c := newMaker(seed), newShape(), desk(t)
	pairs := pairsOf(c, sum)
	for enough := trials(); sum.trials < enough; {
		sum.note(t, "desk")
		m.course(t, c, sum, func(p *verify.Program) *tree.Node {
			for {
				if n, err := p.Import([]byte(m.deskState())); err == nil {
					return n
				}
			}
		}).all(t, pairs, 4)
	}
	sum.log(t)
	require.Positive(t, sum.parted, "the generator makes nothing that parts")
	require.Greater(t, sum.accepted[2], sum.trials/10)
}
