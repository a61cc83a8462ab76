package tree

import (
	"fmt"
	"math/rand"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// rounds is n, or a tenth of it where time is short.
func rounds(n int) int {
	if testing.Short() || raceDetector {
		return n / 10
	}
	return n
}

func parsed(t testing.TB, text string) *Node {
	t.Helper()
	n, err := Parse([]byte(text), DefaultLimits)
	require.NoError(t, err, text)
	return n
}

func patchOf(t testing.TB, text string) Patch {
	t.Helper()
	p, problems := ParsePatch([]byte(text), DefaultPatchLimits)
	require.Empty(t, problems, text)
	return p
}

// scalars that collide with each other in value but not in spelling, and the reverse.
var scalarTexts = []string{`null`, `true`, `false`, `0`, `-0`, `1`, `1.0`, `10e-1`, `"1"`, `""`, `"a"`, `9007199254740993`, `9007199254740992`}

var names = []string{"a", "b", "0", "1", "", "-", "a/b", "m~n", "é"}

// randomNode draws a value of at most the given depth.
func randomNode(r *rand.Rand, depth int) *Node {
	switch k := r.Intn(6); {
	case depth == 0 || k < 2:
		n, err := Parse([]byte(scalarTexts[r.Intn(len(scalarTexts))]), DefaultLimits)
		if err != nil {
			panic(err)
		}
		return n
	case k < 4:
		elements := make([]*Node, r.Intn(4))
		for i := range elements {
			elements[i] = randomNode(r, depth-1)
		}
		return NewArray(elements)
	default:
		members := map[string]*Node{}
		for range r.Intn(4) {
			members[names[r.Intn(len(names))]] = randomNode(r, depth-1)
		}
		return NewObject(members)
	}
}

// wideObject has n members k0 to k(n-1), each an object of two members.
func wideObject(n int) *Node {
	members := make(map[string]*Node, n)
	for i := range n {
		members["k"+strconv.Itoa(i)] = smallEntry(i)
	}
	return NewObject(members)
}

func wideArray(n int) *Node {
	elements := make([]*Node, n)
	for i := range elements {
		elements[i] = smallEntry(i)
	}
	return NewArray(elements)
}

func smallEntry(i int) *Node {
	return NewObject(map[string]*Node{"n": NewInt(int64(i)), "s": NewString("entry")})
}

// rebuilt makes n again, from scratch and bottom up.
func rebuilt(n *Node) *Node {
	switch n.Kind() {
	case ir.Object:
		members := map[string]*Node{}
		for name, child := range n.Members() {
			members[name] = rebuilt(child)
		}
		return NewObject(members)
	case ir.Array:
		var elements []*Node
		for _, e := range n.Elements() {
			elements = append(elements, rebuilt(e))
		}
		return NewArray(elements).WithOrder(n.Order())
	default:
		return n
	}
}

// sameShape checks that two chunk trees remember equal things, and those of objects
// that they have equal chunks. Those of arrays depend on how they came to be; b must be
// a tree all the same.
func sameShape(t testing.TB, a, b *chunk) {
	t.Helper()
	require.Equal(t, a == nil, b == nil)
	if a == nil {
		return
	}
	if a.names == nil {
		require.Equal(t, a.summary, b.summary)
		require.Equal(t, a.count, b.count)
		balanced(t, b)
		return
	}
	require.Equal(t, a.summary, b.summary)
	require.Equal(t, a.names, b.names)
	require.Equal(t, []int{a.count, int(a.height), len(a.nodes), len(a.kids)},
		[]int{b.count, int(b.height), len(b.nodes), len(b.kids)})
	for i := range a.kids {
		sameShape(t, a.kids[i], b.kids[i])
	}
}

// balanced checks that the chunks of an array are full enough, and remember what they
// hold.
func balanced(t testing.TB, root *chunk) {
	t.Helper()
	height := 0
	for n := root.count; n > fullArray; n /= sparse {
		height++
	}
	require.LessOrEqual(t, int(root.height), height+1, "%d items", root.count)
	var visit func(c *chunk)
	visit = func(c *chunk) {
		require.Positive(t, c.width())
		require.LessOrEqual(t, c.width(), fullArray)
		again := c.run(false)
		again.nodes, again.kids = slices.Clone(again.nodes), slices.Clone(again.kids)
		fresh := again.chunk(0)
		require.Equal(t, fresh.summary, c.summary)
		require.Equal(t, fresh.count, c.count)
		for _, kid := range c.kids {
			require.Equal(t, c.height, kid.height+1)
			visit(kid)
		}
	}
	visit(root)
}

// chunksOf collects the chunks of n's own items.
func chunksOf(n *Node) map[*chunk]bool {
	all := map[*chunk]bool{}
	var visit func(c *chunk)
	visit = func(c *chunk) {
		all[c] = true
		for _, kid := range c.kids {
			visit(kid)
		}
	}
	if n.root != nil {
		visit(n.root)
	}
	return all
}

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
		word, _, _ := typedWord(region.Word{}, before, change.Path)
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

// oneByOne is the second model: each operation copies its own path, as if it were the only
// one, and nothing is ever changed in place.
func oneByOne(root *Node, patch Patch) (*Node, *Problem) {
	now := root
	for i := range patch {
		next, _, problem := Apply(now, patch[i])
		if problem != nil {
			return root, problem
		}
		now = next
	}
	return now, nil
}

// randomState has containers of every size and order to go into.
func randomState(r *rand.Rand) *Node {
	n := r.Intn(80)
	root := randomNode(r, 3)
	if root.Kind() != ir.Object {
		root = emptyObject
	}
	root = root.With("a", wideObject(n)).With("b", wideArray(r.Intn(80))).With("0", randomNode(r, 3))
	return root.With("1", wideArray(r.Intn(40)).WithOrder(SetOrder)).With("m~n", wideArray(r.Intn(40)).WithOrder(LogOrder))
}

// randomStep draws an operation that can mostly be applied.
func randomStep(r *rand.Rand, root *Node) Op {
	op := Op{Kind: opKinds[r.Intn(len(opKinds))], Path: randomPlace(r, root), From: randomPlace(r, root), Value: randomNode(r, 2)}
	if op.Kind == OpTest {
		if at, err := Find(root, op.Path); err == nil {
			op.Value = at
		}
	}
	if op.Kind == OpCopy && r.Intn(4) > 0 || op.Kind == OpRemove && len(op.Path) == 0 {
		op.Kind = OpReplace
	}
	op.RawPath, op.RawFrom = op.Path.String(), op.From.String()
	return op
}

// randomPlace goes down from root, and sometimes one step too far.
func randomPlace(r *rand.Rand, root *Node) Pointer {
	p := Pointer{}
	for n := root; r.Intn(5) > 0; {
		switch {
		case n.Kind() == ir.Array && n.order == ListOrder && n.Len() > 0 && r.Intn(6) > 0:
			p = append(p, strconv.Itoa(r.Intn(n.Len())))
		case n.Kind() == ir.Array:
			return append(p, "-")
		case n.Len() > 0 && r.Intn(6) > 0:
			p = append(p, n.root.nameAt(r.Intn(n.Len())))
		default:
			return append(p, names[r.Intn(len(names))])
		}
		if n, _ = Find(root, p); n == nil {
			return p
		}
	}
	return p
}

// remember makes a value remember all that it can.
func remember(n *Node) {
	n.Digest()
	n.Map(&names, func(_ string, child *Node) Image { return Image{Node: child} })
	AppendRemembered(nil, n)
	if n.Kind() == ir.Array {
		n.Holds(NewInt(0))
	}
	n.EachMember(func(_ string, v ir.Value) bool { remember(v.(*Node)); return true })
	n.EachElement(func(_ int, v ir.Value) bool { remember(v.(*Node)); return true })
}

// What an edit changes in place must be seen by nobody: not by the root that it began with,
// nor by what it replaced or copied, nor by what was remembered in between.
func TestAnEditOfManyStepsComesToWhatEachStepAloneDoes(t *testing.T) {
	r := rand.New(rand.NewSource(11))
	kinds := map[OpKind]int{}
	for range rounds(2_000) {
		root := randomState(r)
		if r.Intn(2) == 0 {
			remember(root)
		}
		text, digest := root.String(), rebuilt(root).Digest()
		e, want := NewEdit(root, nil), root
		old := map[*Node]string{}
		for range 1 + r.Intn(12) {
			op := randomStep(r, want)
			next, _, problem := Apply(want, op)
			if problem != nil {
				continue
			}
			effect, problem := e.Apply(&op, DefaultLimits)
			require.Nil(t, problem)
			kinds[op.Kind]++
			for _, n := range []*Node{effect.Taken, effect.Replaced} {
				if n != nil {
					old[n] = n.String()
				}
			}
			want = next
			if r.Intn(3) == 0 {
				remember(e.Root())
			}
			require.Equal(t, want.String(), e.Root().String(), "%s %s from %s", op.Kind, op.Path, op.From)
		}
		requireSound(t, e.Root(), want)
		require.Equal(t, text, root.String())
		require.Equal(t, digest, root.Digest())
		for n, was := range old {
			require.Equal(t, was, n.String())
		}
	}
	for _, k := range opKinds {
		require.Greater(t, kinds[k], rounds(2_000)/20, k)
	}
}

// requireSound checks all that a value remembers of itself, beside what it should be.
func requireSound(t *testing.T, got, want *Node) {
	t.Helper()
	fresh := rebuilt(want)
	require.Equal(t, fresh.Digest(), got.Digest())
	require.True(t, Equal(fresh, got))
	require.Equal(t, string(AppendJSON(nil, fresh)), string(AppendRemembered(nil, got)))
	requireSameShapes(t, fresh, got)
}

func requireSameShapes(t *testing.T, a, b *Node) {
	t.Helper()
	if a.Kind() != ir.Object && a.Kind() != ir.Array {
		return
	}
	sameShape(t, a.root, b.root)
	for name, child := range a.Members() {
		requireSameShapes(t, child, b.Get(name))
	}
	for i, child := range a.Elements() {
		requireSameShapes(t, child, b.At(i))
	}
}
