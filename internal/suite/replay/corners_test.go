package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// The contracts in testdata/corners put types, rules and grants together that are easy
// to forget about one another. Their states are drawn by type.

func TestCertifiedPairsCommuteInAwkwardCorners(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/corners/*.poptic")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	parted := 0
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".poptic"), func(t *testing.T) {
			source, err := os.ReadFile(name)
			require.NoError(t, err)
			c := compile(t, string(source), nil).Lowered
			m, sum := newMaker(5), newShape()
			pairs := pairsOf(c, sum)
			for enough := min(rounds(1_500, 200), 100_000); sum.trials < enough; {
				sum.note(t, name)
				m.course(t, c, sum, func(p *verify.Program) *tree.Node { return m.fitting(t, p, c) }).all(t, pairs, 20)
			}
			sum.log(t)
			parted += sum.parted
			require.Greater(t, sum.accepted[2], sum.trials/40)
		})
	}
	require.Positive(t, parted, "the generator makes nothing that parts")
}

// fitting draws states until one fits its type.
func (m maker) fitting(t *testing.T, p *verify.Program, c *ir.Contract) *tree.Node {
	for range 10_000 {
		if n, err := p.Import([]byte(m.typed(c, c.State))); err == nil {
			return n
		}
	}
	t.Fatal("no state fits its type")
	return nil
}

// typed draws the file of a value of a type, which need not keep constraints.
func (m maker) typed(c *ir.Contract, id ir.TypeID) string {
	t := c.Type(id)
	switch t.Kind {
	case ir.StringType:
		return strconv.Quote(m.pick("a", "b", "k1", "k2", ""))
	case ir.RefType:
		return strconv.Quote(m.pick(someKeys...))
	case ir.DecimalType:
		return m.pick("0", "1", "1.0", "0.5", "2.50", "25e-1", "0.1", "3")
	case ir.NumberType:
		return strconv.Itoa(m.Intn(6)) + m.pick("", "", ".0", "e0")
	case ir.IntType:
		return strconv.Itoa(m.Intn(6))
	case ir.BoolType:
		return m.pick("true", "false")
	case ir.LiteralType:
		return t.Literal
	case ir.AnyType:
		return string(tree.AppendJSON(nil, m.node(2)))
	case ir.UnionType:
		return m.typed(c, t.Alternatives[m.Intn(len(t.Alternatives))])
	case ir.ListType, ir.LogType, ir.SetType:
		return m.array(c, t)
	case ir.MapType, ir.KeyedType, ir.RecordType:
		return m.object(c, t)
	}
	return "null"
}

func (m maker) array(c *ir.Contract, t *ir.Type) string {
	var out []string
	for range m.Intn(4) {
		if e := m.typed(c, t.Elem); t.Kind != ir.SetType || !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return "[" + strings.Join(out, ",") + "]"
}

var someKeys = []string{"k1", "k2", "a", "b"}

func (m maker) object(c *ir.Contract, t *ir.Type) string {
	var out []string
	member := func(name string, id ir.TypeID) { out = append(out, fmt.Sprintf("%q:%s", name, m.typed(c, id))) }
	for _, f := range t.Members {
		if !f.Optional || m.chance(50) {
			member(f.Name, f.Type)
		}
	}
	for _, key := range someKeys {
		_, declared := t.Member(key)
		switch {
		case declared || m.chance(45):
		case t.Kind == ir.MapType:
			member(key, t.Elem)
		case t.Kind == ir.KeyedType:
			out = append(out, m.keyed(c, t, key))
		case t.Rest != ir.NoType:
			member(key, t.Rest)
		}
	}
	if t.Kind == ir.KeyedType {
		return "[" + strings.Join(out, ",") + "]"
	}
	return "{" + strings.Join(out, ",") + "}"
}

// keyed draws the element of a keyed list that has a key.
func (m maker) keyed(c *ir.Contract, t *ir.Type, key string) string {
	elem := *c.Type(t.Elem)
	elem.Members = slices.Clone(elem.Members)
	at := slices.IndexFunc(elem.Members, func(f ir.Member) bool { return f.Name == t.KeyField })
	elem.Members = slices.Delete(elem.Members, at, at+1)
	rest := strings.TrimPrefix(m.object(c, &elem), "{")
	if rest != "}" {
		rest = "," + rest
	}
	return fmt.Sprintf("{%q:%q%s", t.KeyField, key, rest)
}
