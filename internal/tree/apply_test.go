package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree/jsonpatch"
)

// stateWithOrders has a list, a set and a log.
func stateWithOrders(t *testing.T) *Node {
	return parsed(t, `{"o":{"x":1,"y":{"z":2}},"l":[10,[20],30],"n":null}`).
		With("set", parsed(t, `["a","b"]`).WithOrder(SetOrder)).
		With("log", parsed(t, `[{"e":1}]`).WithOrder(LogOrder))
}

func opOf(t *testing.T, text string) Op { return patchOf(t, `[`+text+`]`)[0] }

// effectText writes an effect as "target, target < source".
func effectText(e Effect) string {
	join := func(words []region.Word) string {
		parts := make([]string, len(words))
		for i, w := range words {
			for _, l := range w {
				parts[i] += "/" + letterText(l)
			}
			if len(w) == 0 {
				parts[i] = "root"
			}
		}
		return strings.Join(parts, ", ")
	}
	return strings.TrimSpace(join(e.Targets) + " < " + join(e.Sources))
}

func letterText(l region.Letter) string {
	switch l.Kind {
	case region.IndexLetter:
		return fmt.Sprintf("[%d]", l.Index)
	case region.FreshLetter:
		return "fresh"
	default:
		return l.Name
	}
}

func TestEffectsAreThoseOfTheTableOfTheSemantics(t *testing.T) {
	for op, want := range map[string]string{
		`{"op":"add","path":"/o/new","value":1}`:            `/o/new <`,
		`{"op":"add","path":"/o/x","value":1}`:              `/o/x <`,
		`{"op":"add","path":"/l/1","value":1}`:              `/l <`,
		`{"op":"add","path":"/l/-","value":1}`:              `/l <`,
		`{"op":"add","path":"/l/1/-","value":1}`:            `/l/[1] <`,
		`{"op":"add","path":"/set/-","value":1}`:            `/set/fresh <`,
		`{"op":"add","path":"/log/-","value":1}`:            `/log/fresh <`,
		`{"op":"add","path":"","value":1}`:                  `root <`,
		`{"op":"remove","path":"/o/x"}`:                     `/o/x <`,
		`{"op":"remove","path":"/l/2"}`:                     `/l <`,
		`{"op":"replace","path":"/l/2","value":1}`:          `/l/[2] <`,
		`{"op":"replace","path":"/log","value":[]}`:         `/log <`,
		`{"op":"replace","path":"","value":1}`:              `root <`,
		`{"op":"test","path":"/o","value":{"x":1}}`:         `< /o`,
		`{"op":"test","path":"","value":1}`:                 `< root`,
		`{"op":"copy","from":"/l/0","path":"/o/x"}`:         `/o/x < /l/[0]`,
		`{"op":"copy","from":"/o/x","path":"/l/0"}`:         `/l < /o/x`,
		`{"op":"copy","from":"","path":"/log/-"}`:           `/log/fresh < root`,
		`{"op":"move","from":"/l/0","path":"/l/2"}`:         `/l, /l < /l/[0]`,
		`{"op":"move","from":"/l/0","path":"/l/0/0"}`:       `/l, /l/[0]/0 < /l/[0]`,
		`{"op":"move","from":"/o/x","path":"/o/y/z"}`:       `/o/x, /o/y/z < /o/x`,
		`{"op":"move","from":"/o/x","path":"/o/x"}`:         `/o/x, /o/x < /o/x`,
		`{"op":"move","from":"/o/y","path":""}`:             `/o/y, root < /o/y`,
		`{"op":"move","from":"","path":""}`:                 `root, root < root`,
		`{"op":"move","from":"/l/0","path":"/l/0/-"}`:       `/l, /l/[0]/fresh < /l/[0]`,
		`{"op":"add","path":"/nowhere/at/all","value":1}`:   `/nowhere/at/all <`,
		`{"op":"add","path":"/nowhere/-","value":1}`:        `/nowhere/fresh <`,
		`{"op":"copy","from":"/no/no","path":"/none/x"}`:    `/none/x < /no/no`,
		`{"op":"move","from":"/no/no","path":"/l/9"}`:       `/no/no, /l < /no/no`,
		`{"op":"remove","path":"/o/x/deeper"}`:              `/o/x/deeper <`,
		`{"op":"test","path":"/set/0","value":1}`:           `< /set/0`,
		`{"op":"move","from":"/l/1","path":"/l/0/x","x":1}`: `/l, /l/[0]/x < /l/[1]`,
	} {
		root, parsedOp := stateWithOrders(t), opOf(t, op)
		effect, problem := Resolve(root, parsedOp)
		require.Equal(t, want, effectText(effect), op)
		_, applied, failed := Apply(root, parsedOp)
		require.Equal(t, []any{effect.Targets, effect.Sources}, []any{applied.Targets, applied.Sources}, op)
		if problem != nil {
			require.Equal(t, problem, failed, op)
		}
	}
}

func TestAMoveIsResolvedAfterItsRemoval(t *testing.T) {
	root := parsed(t, `{"c":[{"k":[]},{"m":1}]}`)
	effect, problem := Resolve(root, opOf(t, `{"op":"move","from":"/c/0","path":"/c/0/k"}`))
	require.Equal(t, CodeMoveIntoChild, problem.Code)
	require.Equal(t, "/c, /c/[0]/k < /c/[0]", effectText(effect))
	_, problem = Resolve(root, opOf(t, `{"op":"move","from":"/c/0","path":"/c/1/k"}`))
	require.Equal(t, CodeOutOfRange, problem.Code)
}

func TestARefusedOperationSaysWhatToDoInstead(t *testing.T) {
	for op, want := range map[string]string{
		`{"op":"replace","path":"/o/new","value":1}`:   `path_missing /o/new: there is nothing at this path | use add to create a member`,
		`{"op":"remove","path":"/o/new"}`:              `path_missing /o/new: there is nothing at this path | `,
		`{"op":"test","path":"/o/new","value":null}`:   `path_missing /o/new: there is nothing at this path | `,
		`{"op":"copy","from":"/q","path":"/o/new"}`:    `path_missing /q: there is nothing at this path | `,
		`{"op":"add","path":"/no/-","value":1}`:        `path_missing /no/-: the container that the path ends in does not exist | add an array first`,
		`{"op":"add","path":"/no/x","value":1}`:        `path_missing /no/x: the container that the path ends in does not exist | add an object first`,
		`{"op":"add","path":"/no/x/y","value":1}`:      `path_missing /no/x/y: the path leads through something that does not exist | `,
		`{"op":"add","path":"/n/x","value":1}`:         `type_mismatch /n/x: the path goes on below a null, which has nothing below it | `,
		`{"op":"add","path":"/l/9","value":1}`:         `index_out_of_range /l/9: the index is beyond the end of the array | end the path with - to append`,
		`{"op":"replace","path":"/l/3","value":1}`:     `index_out_of_range /l/3: the array has no element of this index | `,
		`{"op":"remove","path":"/l/-"}`:                `path_missing /l/-: - stands for the end of the array, where nothing is yet | `,
		`{"op":"remove","path":"/log/-"}`:              `path_missing /log/-: - stands for the end of the array, where nothing is yet | `,
		`{"op":"remove","path":"/l/-1"}`:               `pointer_syntax /l/-1: an array index is 0 or digits that do not begin with 0 | count from 0; - stands for the end of the array`,
		`{"op":"remove","path":"/set/0"}`:              `type_mismatch /set/0: elements of a set are not addressed by index | append with add and a path that ends in /-, or name the whole set`,
		`{"op":"add","path":"/log/0","value":1}`:       `type_mismatch /log/0: elements of a log are not addressed by index | append with add and a path that ends in /-, or name the whole log`,
		`{"op":"copy","from":"/log/0","path":"/o/x"}`:  `type_mismatch /log/0: elements of a log are not addressed by index | append with add and a path that ends in /-, or name the whole log`,
		`{"op":"replace","path":"/log/0/e","value":1}`: `type_mismatch /log/0/e: elements of a log are not addressed by index | append with add and a path that ends in /-, or name the whole log`,
		`{"op":"move","from":"/o","path":"/o/y"}`:      `move_into_child /o/y: a value cannot be moved to below itself | copy it instead, or move it elsewhere first`,
		`{"op":"test","path":"/o/x","value":2}`:        `test_failed /o/x: the value at this path is not the one the test gives | `,
	} {
		root := stateWithOrders(t)
		next, _, p := Apply(root, opOf(t, op))
		require.NotNil(t, p, op)
		require.Same(t, root, next)
		require.Equal(t, want, fmt.Sprintf("%s %s: %s | %s", p.Code, p.Path, p.Message, p.Hint), op)
	}
}

// The messages above are fixed texts; this makes sure that nothing of the state
// slips into one, by filling the state with canaries.
func TestNoProblemShowsAValueOrTheNameOfASibling(t *testing.T) {
	root := parsed(t, `{"a":{"kanarie1":"kanarie2","n":"kanarie3"},"l":["kanarie4",{"kanarie5":1}]}`).
		With("set", parsed(t, `["kanarie6"]`).WithOrder(SetOrder))
	paths := []string{"", "/a", "/a/x", "/a/n", "/a/n/x", "/l/0", "/l/0/x", "/l/9", "/l/01", "/l/1/x", "/set/0", "/set/-", "/no/x"}
	refused := 0
	for _, path := range paths {
		for _, from := range paths {
			for _, op := range []string{
				fmt.Sprintf(`{"op":"test","path":%q,"value":"guess"}`, path),
				fmt.Sprintf(`{"op":"replace","path":%q,"value":1}`, path),
				fmt.Sprintf(`{"op":"move","from":%q,"path":%q}`, from, path),
				fmt.Sprintf(`{"op":"copy","from":%q,"path":%q}`, from, path),
			} {
				if _, _, p := Apply(root, opOf(t, op)); p != nil {
					refused++
					require.NotContains(t, p.Error()+p.Hint+p.Path, "kanarie")
				}
			}
		}
	}
	require.Greater(t, refused, 200)
}

func TestResolveComparesNoValue(t *testing.T) {
	_, problem := Resolve(stateWithOrders(t), opOf(t, `{"op":"test","path":"/o/x","value":"wrong"}`))
	require.Nil(t, problem)
}

func TestAppendsToALogOrSetCommute(t *testing.T) {
	root := stateWithOrders(t)
	for _, path := range []string{"/log/-", "/set/-"} {
		a := patchOf(t, `[{"op":"add","path":"`+path+`","value":"p"}]`)
		b := patchOf(t, `[{"op":"add","path":"`+path+`","value":"q"}]`)
		ab, _, p1 := ApplyAll(root, append(a[:1:1], b...))
		ba, _, p2 := ApplyAll(root, append(b[:1:1], a...))
		require.Nil(t, p1)
		require.Nil(t, p2)
		require.True(t, Equal(ab, ba))
		require.Equal(t, ab.Digest(), ba.Digest())
		require.False(t, Equal(root, ab))
	}
}

func TestAddingWhatASetHoldsChangesNothing(t *testing.T) {
	root := stateWithOrders(t)
	next, effect, problem := Apply(root, opOf(t, `{"op":"add","path":"/set/-","value":"a"}`))
	require.Nil(t, problem)
	require.Same(t, root, next)
	require.Equal(t, "/set/fresh <", effectText(effect))
	next, _, _ = Apply(root, opOf(t, `{"op":"add","path":"/log/-","value":{"e":1}}`))
	require.Equal(t, 2, next.Get("log").Len())
	for _, size := range []int{1, 2, 100} { // one element, a leaf of them, several chunks
		root := NewObject(map[string]*Node{"set": wideArray(size).WithOrder(SetOrder)})
		for _, held := range []int{0, size - 1} {
			next, _, problem := Apply(root, Op{Kind: OpAdd, Path: Pointer{"set", "-"}, Value: root.Get("set").At(held)})
			require.Nil(t, problem)
			require.Same(t, root, next, "element %d of %d", held, size)
		}
	}
}

func TestTheOrderOfAnArraySurvivesEditsBesideAndInside(t *testing.T) {
	root, _, problem := ApplyAll(stateWithOrders(t), patchOf(t, `[
		{"op":"add","path":"/log/-","value":1},{"op":"add","path":"/set/-","value":"c"},{"op":"replace","path":"/o/x","value":2},
		{"op":"move","from":"/log","path":"/moved"}]`))
	require.Nil(t, problem)
	require.Equal(t, LogOrder, root.Get("moved").Order())
	require.Equal(t, SetOrder, root.Get("set").Order())
}

func TestAnEditTellsWhatEachOperationReplacedAndTook(t *testing.T) {
	root := parsed(t, `{"a":{"x":1},"l":[1,{"y":2},3]}`)
	patch := patchOf(t, `[
		{"op":"replace","path":"/a/x","value":2},{"op":"test","path":"/a/x","value":2},{"op":"add","path":"/a","value":{"x":3}},
		{"op":"add","path":"/a/z","value":0},{"op":"add","path":"/l/0","value":0},{"op":"move","from":"/l/0","path":"/l/1/y"},
		{"op":"copy","from":"/a","path":"/a/x"},{"op":"move","from":"/a","path":"/a"},{"op":"replace","path":"/a/x/x","value":5},{"op":"remove","path":"/a/x"}]`)
	e := NewEdit(root, patch)
	var seen []string
	for i := range patch {
		effect, problem := e.Apply(&patch[i], DefaultLimits)
		require.Nil(t, problem)
		seen = append(seen, fmt.Sprintf("%s replaced %s, took %s", patch[i].Kind, effect.Replaced, effect.Taken))
	}
	require.Equal(t, []string{
		`replace replaced 1, took absent`, `test replaced absent, took absent`, `add replaced {"x":2}, took absent`,
		`add replaced absent, took absent`, `add replaced absent, took absent`, `move replaced 2, took 0`,
		`copy replaced 3, took absent`, `move replaced absent, took {"x":{"x":3,"z":0},"z":0}`, `replace replaced 3, took absent`, `remove replaced absent, took {"x":5,"z":0}`,
	}, seen)
	require.Equal(t, `{"a":{"z":0},"l":[1,{"y":0},3]}`, e.Root().String())
	require.Equal(t, `{"a":{"x":1},"l":[1,{"y":2},3]}`, root.String())
}

func TestAResultBeyondTheLimitsIsRefused(t *testing.T) {
	root := parsed(t, `{"a":[0,1]}`)
	op := opOf(t, `{"op":"copy","from":"","path":"/b"}`)
	whole := Limits{MaxBytes: 27, MaxDepth: 3, MaxNodes: 8}
	next, _, problem := whole.Apply(root, op)
	require.Nil(t, problem)
	require.Equal(t, []int{27, 3, 8}, []int{next.Size(), next.Depth(), next.Weight()})
	for _, l := range []Limits{{MaxBytes: 26}, {MaxDepth: 2}, {MaxNodes: 7}} {
		same, _, problem := l.Apply(root, op)
		require.Same(t, root, same)
		require.Equal(t, CodeLimitExceeded, problem.Code)
		require.Equal(t, "/b", problem.Path)
	}
}

// patchCase is one case of spec/conformance/jsonpatch-cases.json.
type patchCase struct {
	ID       string          `json:"id"`
	Kind     string          `json:"kind"`
	Doc      json.RawMessage `json:"doc"`
	DocText  *string         `json:"doc_text"`
	DocGen   *docGen         `json:"doc_gen"`
	Patch    json.RawMessage `json:"patch"`
	Text     *string         `json:"patch_text"`
	PatchGen *patchGen       `json:"patch_gen"`
	Times    int             `json:"apply_times"`
	After    json.RawMessage `json:"doc_after"`
	Expect   struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
		Op     *int            `json:"op"`
	} `json:"expect"`
}

type docGen struct {
	Nest              int
	Open, Close, Core string
}

type patchGen struct {
	Repeat int
	Op     json.RawMessage
}

func (c *patchCase) doc() string {
	switch {
	case c.DocText != nil:
		return *c.DocText
	case c.DocGen != nil:
		g := c.DocGen
		return strings.Repeat(g.Open, g.Nest) + g.Core + strings.Repeat(g.Close, g.Nest)
	default:
		return string(c.Doc)
	}
}

func (c *patchCase) patch() string {
	switch {
	case c.Text != nil:
		return *c.Text
	case c.PatchGen != nil:
		ops := strings.Repeat(","+string(c.PatchGen.Op), c.PatchGen.Repeat)
		return "[" + ops[1:] + "]"
	default:
		return string(c.Patch)
	}
}

// outcome is what a case leads to, in the words of the verdict.
type outcome struct {
	result *Node
	code   string
	op     int
}

func (c *patchCase) run(t *testing.T) outcome {
	doc, err := Parse([]byte(c.doc()), DefaultLimits)
	if err != nil {
		var bad *DecodeError
		require.True(t, errors.As(err, &bad))
		return outcome{code: string(bad.Code), op: WholePatch}
	}
	patch, problems := ParsePatch([]byte(c.patch()), DefaultPatchLimits)
	if len(problems) > 0 {
		return outcome{code: string(problems[0].Code), op: problems[0].Index}
	}
	before := doc.String()
	var out outcome
	for range max(1, c.Times) {
		result, _, problem := ApplyAll(doc, patch)
		require.Equal(t, before, doc.String(), "the document changed")
		if problem != nil {
			require.Same(t, doc, result)
			return outcome{code: string(problem.Code), op: problem.Index}
		}
		out.result = result
	}
	return out
}

func TestEveryPatchCaseOfTheConformanceFile(t *testing.T) {
	data, err := os.ReadFile("../../spec/conformance/jsonpatch-cases.json")
	require.NoError(t, err)
	var cases []patchCase
	require.NoError(t, json.Unmarshal(data, &cases))
	run := 0
	for _, c := range cases {
		if c.Kind != "patch" {
			continue
		}
		run++
		t.Run(c.ID, func(t *testing.T) { c.judge(t) })
	}
	require.Equal(t, 88, run)
}

func (c *patchCase) judge(t *testing.T) {
	got := c.run(t)
	if c.Expect.Error == "" {
		require.Empty(t, got.code)
		want := parsed(t, string(c.Expect.Result))
		require.True(t, Equal(want, got.result), "got %s", got.result)
		require.Equal(t, want.Digest(), got.result.Digest())
		return
	}
	require.Equal(t, c.Expect.Error, got.code)
	if c.Expect.Op != nil {
		require.Equal(t, *c.Expect.Op, got.op)
	}
}

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
