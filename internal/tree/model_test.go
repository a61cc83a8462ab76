package tree

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// The model is a second interpreter, as literal a reading of RFC 6902 as can be:
// on Go maps and slices, mutated in place, and with the refusals as panics.

type refusal Code

func toModel(n *Node) any {
	switch n.Kind() {
	case ir.Object:
		m := map[string]any{}
		for name, child := range n.Members() {
			m[name] = toModel(child)
		}
		return m
	case ir.Array:
		a := []any{}
		for _, e := range n.Elements() {
			a = append(a, toModel(e))
		}
		return &a
	default:
		return n
	}
}

func fromModel(v any) *Node {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]*Node{}
		for name, child := range v {
			m[name] = fromModel(child)
		}
		return NewObject(m)
	case *[]any:
		var a []*Node
		for _, e := range *v {
			a = append(a, fromModel(e))
		}
		return NewArray(a)
	default:
		return v.(*Node)
	}
}

func modelIndex(token string, n int) int {
	if token == "-" {
		return n
	}
	for i := range 1000 {
		if fmt.Sprint(i) == token {
			return i
		}
	}
	panic(refusal(CodePointerSyntax))
}

func modelGet(v any, p Pointer) any {
	for _, token := range p {
		switch c := v.(type) {
		case map[string]any:
			next, ok := c[token]
			if !ok {
				panic(refusal(CodePathMissing))
			}
			v = next
		case *[]any:
			i := modelIndex(token, len(*c))
			if token == "-" {
				panic(refusal(CodePathMissing))
			}
			if i >= len(*c) {
				panic(refusal(CodeOutOfRange))
			}
			v = (*c)[i]
		default:
			panic(refusal(CodeTypeMismatch))
		}
	}
	return v
}

func modelAdd(root any, p Pointer, value any) any {
	if len(p) == 0 {
		return value
	}
	last := p[len(p)-1]
	switch c := modelGet(root, p[:len(p)-1]).(type) {
	case map[string]any:
		c[last] = value
	case *[]any:
		i := modelIndex(last, len(*c))
		if i > len(*c) {
			panic(refusal(CodeOutOfRange))
		}
		*c = slices.Insert(*c, i, value)
	default:
		panic(refusal(CodeTypeMismatch))
	}
	return root
}

func modelRemove(root any, p Pointer) any {
	modelGet(root, p)
	last := p[len(p)-1]
	switch c := modelGet(root, p[:len(p)-1]).(type) {
	case map[string]any:
		delete(c, last)
	case *[]any:
		i := modelIndex(last, len(*c))
		*c = slices.Delete(*c, i, i+1)
	}
	return root
}

func modelReplace(root any, p Pointer, value any) any {
	modelGet(root, p)
	if len(p) == 0 {
		return value
	}
	return modelAdd(modelRemove(root, p), p, value)
}

// modelApply returns the result or the code of the refusal.
func modelApply(root *Node, op Op) (result *Node, code Code) {
	defer func() {
		if r := recover(); r != nil {
			result, code = nil, Code(r.(refusal))
		}
	}()
	doc := toModel(root)
	switch op.Kind {
	case OpAdd:
		doc = modelAdd(doc, op.Path, toModel(op.Value))
	case OpRemove:
		doc = modelRemove(doc, op.Path)
	case OpReplace:
		doc = modelReplace(doc, op.Path, toModel(op.Value))
	case OpTest:
		if fromModel(modelGet(doc, op.Path)).Digest() != op.Value.Digest() {
			panic(refusal(CodeTestFailed))
		}
	case OpCopy:
		doc = modelAdd(doc, op.Path, toModel(fromModel(modelGet(doc, op.From))))
	case OpMove:
		doc = modelMove(doc, op)
	}
	return fromModel(doc), ""
}

func modelMove(doc any, op Op) any {
	if op.MovesIntoItself() {
		panic(refusal(CodeMoveIntoChild))
	}
	value := modelGet(doc, op.From)
	if slices.Equal(op.From, op.Path) {
		return doc
	}
	return modelAdd(modelRemove(doc, op.From), op.Path, value)
}

// universe is every document of depth at most 2 over two names and short arrays,
// and every operation with pointers of at most two tokens.
func universe(t *testing.T) (docs []*Node, ops []Op) {
	leaves := []string{`0`, `"s"`}
	inner := append([]string{`{}`, `[]`}, leaves...)
	for _, a := range leaves {
		inner = append(inner, `{"a":`+a+`}`, `{"0":`+a+`}`, `[`+a+`]`, `[`+a+`,0]`)
	}
	for _, a := range inner {
		docs = append(docs, parsed(t, a), parsed(t, `[`+a+`]`), parsed(t, `{"a":`+a+`}`))
		for _, b := range inner {
			docs = append(docs, parsed(t, `[`+a+`,`+b+`]`), parsed(t, `{"0":`+a+`,"a":`+b+`}`))
		}
	}
	return docs, operations(t)
}

func operations(t *testing.T) (ops []Op) {
	tokens := []string{"a", "0", "1", "-", "01"}
	pointers := []Pointer{{}}
	for _, a := range tokens {
		pointers = append(pointers, Pointer{a})
		for _, b := range tokens {
			pointers = append(pointers, Pointer{a, b})
		}
	}
	values := []*Node{parsed(t, `0`), parsed(t, `{"a":0}`), parsed(t, `[]`)}
	for _, p := range pointers {
		for _, k := range opKinds {
			switch {
			case k.HasFrom():
				for _, from := range pointers {
					ops = append(ops, Op{Kind: k, Path: p, From: from})
				}
			case k.HasValue():
				for _, v := range values {
					ops = append(ops, Op{Kind: k, Path: p, Value: v})
				}
			case len(p) > 0:
				ops = append(ops, Op{Kind: k, Path: p})
			}
		}
	}
	return ops
}

func TestEveryOperationOnSmallDocumentsAgreesWithTheModel(t *testing.T) {
	docs, ops := universe(t)
	step := 7
	if testing.Short() || raceDetector {
		step = 53
	}
	codes := map[Code]int{}
	for d := 0; d < len(docs); d += step {
		for _, op := range ops {
			codes[agreesWithModel(t, docs[d], op)]++
		}
	}
	for _, code := range []Code{"", CodePathMissing, CodeOutOfRange, CodeTestFailed, CodeTypeMismatch, CodePointerSyntax, CodeMoveIntoChild} {
		require.Greater(t, codes[code], 10, code)
	}
}

func agreesWithModel(t *testing.T, doc *Node, op Op) Code {
	want, wantCode := modelApply(doc, op)
	got, effect, problem := Apply(doc, op)
	if problem != nil {
		if problem.Code != wantCode || got != doc {
			require.Fail(t, "refusal", "%s %s from %s on %s: got %s, want %s", op.Kind, op.Path, op.From, doc, problem.Code, wantCode)
		}
		return wantCode
	}
	if wantCode != "" || got.String() != want.String() {
		require.Fail(t, "result", "%s %s from %s on %s: got %s, want %s %s", op.Kind, op.Path, op.From, doc, got, want, wantCode)
	}
	staysInside(t, doc, got, op, effect)
	return ""
}

// staysInside checks lemma 1 of spec/semantics.md: outside the targets nothing changes.
func staysInside(t *testing.T, before, after *Node, op Op, effect Effect) {
	for _, change := range Diff(before, after) {
		word, _, _ := Typed(before, change.Path)
		covered := slices.ContainsFunc(effect.Targets, func(target region.Word) bool { return word.HasPrefix(target) })
		if !covered {
			require.Fail(t, "frame", "%s %s from %s on %s changed %s", op.Kind, op.Path, op.From, before, change.Path)
		}
	}
}

func TestRandomPatchesAgreeWithTheModelOperationByOperation(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	ops := operations(t)
	applied := 0
	for range rounds(3_000) {
		doc := randomNode(r, 3)
		for range 6 {
			op := ops[r.Intn(len(ops))]
			if agreesWithModel(t, doc, op) == "" {
				applied++
			}
			doc, _, _ = Apply(doc, op)
		}
	}
	require.Greater(t, applied, rounds(3_000)/10)
}
