package tree

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree/jsonpatch"
)

// oracle applies a patch with the usual Go library.
func oracle(doc *Node, patch Patch) ([]byte, error) {
	return jsonpatch.Apply(AppendJSON(nil, doc), AppendJSON(nil, patch.Node()))
}

// The library departs from the RFCs for the root, empty tokens, odd indices, null
// and the spelling of numbers. The documents and operations here avoid these.
var (
	plainValues = []string{`1`, `2`, `"x"`, `true`, `{}`, `[]`, `{"a":1}`, `[1,2]`, `{"b":{"a":"x"}}`, `[["x"],{"a":2}]`}
	plainTokens = []string{"a", "b", "c~0", "d~1", "0", "1", "2"}
)

func plainDocument(t *testing.T, r *rand.Rand) *Node {
	doc := emptyObject
	for _, name := range []string{"a", "b", "c~", "d/"} {
		if r.Intn(4) > 0 {
			doc = doc.With(name, parsed(t, plainValues[r.Intn(len(plainValues))]))
		}
	}
	return doc
}

func plainOp(t *testing.T, r *rand.Rand, i int) Op {
	op := Op{Index: i, Kind: opKinds[r.Intn(len(opKinds))]}
	op.RawPath = plainPointer(r)
	op.Path, _ = ParsePointer(op.RawPath)
	if op.Kind == OpAdd && r.Intn(3) == 0 {
		op.RawPath, op.Path = op.RawPath+"/-", below(op.Path, "-")
	}
	if op.Kind.HasFrom() {
		op.RawFrom = plainPointer(r)
		op.From, _ = ParsePointer(op.RawFrom)
	}
	if op.Kind.HasValue() {
		op.Value = parsed(t, plainValues[r.Intn(len(plainValues))])
	}
	return op
}

func plainPointer(r *rand.Rand) string {
	p := ""
	for range 1 + r.Intn(2) {
		p += "/" + plainTokens[r.Intn(len(plainTokens))]
	}
	return p
}

// tame reports whether the library follows the RFC for op on doc: it does not for
// "-" in objects, and moves values into their own children in arrays.
func tame(doc *Node, op Op) bool {
	if op.MovesIntoItself() {
		return false
	}
	if n := len(op.Path); op.Path[n-1] == "-" {
		parent, err := Find(doc, op.Path[:n-1])
		return err == nil && parent.Kind() == ir.Array
	}
	return true
}

func TestThePatchLibraryAgreesWhereItFollowsTheRFC(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	accepted, refused := 0, 0
	for range rounds(20_000) {
		doc, op := plainDocument(t, r), plainOp(t, r, 0)
		if !tame(doc, op) {
			continue
		}
		want, err := oracle(doc, Patch{op})
		got, _, problem := Apply(doc, op)
		if (err == nil) != (problem == nil) {
			require.Fail(t, "verdict", "%s on %s: %v, library %v", Patch{op}.Node(), doc, problem, err)
		}
		if err != nil {
			refused++
			continue
		}
		accepted++
		require.True(t, Equal(parsed(t, string(want)), got), "%s on %s", Patch{op}.Node(), doc)
	}
	require.Greater(t, accepted, rounds(20_000)/10)
	require.Greater(t, refused, rounds(20_000)/10)
}
