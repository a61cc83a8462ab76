package spec_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/source"
)

// A jsonCase is a case of conformance/jsonpatch-cases.json.
type jsonCase struct {
	ID          string          `json:"id"`
	Kind        string          `json:"kind"`
	Doc         json.RawMessage `json:"doc"`
	DocText     *string         `json:"doc_text"`
	DocGen      *nesting        `json:"doc_gen"`
	DocAfter    json.RawMessage `json:"doc_after"`
	Patch       json.RawMessage `json:"patch"`
	PatchText   *string         `json:"patch_text"`
	PatchGen    *repetition     `json:"patch_gen"`
	Times       int             `json:"apply_times"`
	Read, Write []string
	Expr        string          `json:"expr"`
	Schema      json.RawMessage `json:"schema"`
	Expect      struct {
		Result json.RawMessage `json:"result"`
		Valid  *bool           `json:"valid"`
		At     string          `json:"at"`
		Error  string          `json:"error"`
		Of     string          `json:"of"` // "doc" if the document is refused, not the patch
		Op     *int            `json:"op"`
	} `json:"expect"`
}

// A nesting is containers inside each other around a core.
type nesting struct {
	Nest              int
	Open, Close, Core string
}

// A repetition is a patch of one operation many times.
type repetition struct {
	Repeat int
	Op     json.RawMessage
}

func (c *jsonCase) doc() string {
	switch g := c.DocGen; {
	case c.DocText != nil:
		return *c.DocText
	case g != nil:
		return strings.Repeat(g.Open, g.Nest) + g.Core + strings.Repeat(g.Close, g.Nest)
	default:
		return string(c.Doc)
	}
}

func (c *jsonCase) patch() string {
	switch g := c.PatchGen; {
	case c.PatchText != nil:
		return *c.PatchText
	case g != nil:
		return "[" + strings.Repeat(","+string(g.Op), g.Repeat)[1:] + "]"
	default:
		return string(c.Patch)
	}
}

// jsonCases are the cases of a kind, of which there must be so many.
func jsonCases(t *testing.T, kind string, count int) []jsonCase {
	t.Helper()
	data, err := os.ReadFile("conformance/jsonpatch-cases.json")
	require.NoError(t, err)
	var all, out []jsonCase
	require.NoError(t, json.Unmarshal(data, &all))
	require.Len(t, all, 106)
	for _, c := range all {
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	require.Len(t, out, count)
	return out
}

func TestPatchCasesGiveTheirResultOnTheCommandLine(t *testing.T) {
	everything := []string{"/**"}
	contract := untyped(everything, everything, everything)
	for _, c := range jsonCases(t, "patch", 88) {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			for range max(1, c.Times) {
				c.judge(t, apply(t, contract, c.doc(), c.patch()))
			}
		})
	}
}

func TestPolicyCasesAreRefusedOnTheCommandLine(t *testing.T) {
	for _, c := range jsonCases(t, "policy", 4) {
		t.Run(c.ID, func(t *testing.T) {
			read := everythingFor(c.Read)
			c.judge(t, apply(t, untyped(read, c.Write, read), c.doc(), c.patch()))
		})
	}
}

// everythingFor writes the root as the language does.
func everythingFor(patterns []string) []string {
	out := []string{}
	for _, p := range patterns {
		if p == "/" {
			p = "/**"
		}
		out = append(out, p)
	}
	return out
}

// judge compares exit code, code and operation, or the new document.
func (c *jsonCase) judge(t *testing.T, got applied) {
	t.Helper()
	if c.Expect.Of == "doc" {
		require.Equal(t, 2, got.exit, got.stderr)
		require.NotEmpty(t, got.stderr)
		return
	}
	if c.Expect.Error == "" {
		require.Equal(t, 0, got.exit, "%s %v", got.stderr, got.Violations)
		require.True(t, tree.Equal(parsedJSON(t, c.Expect.Result), parsedJSON(t, got.State)), string(got.State))
		return
	}
	require.Equal(t, 1, got.exit, "%s", got.stderr)
	require.Equal(t, "reject", got.Verdict)
	require.Empty(t, got.State)
	want := verify.Code(c.Expect.Error)
	first := got.Violations[0]
	require.Equal(t, want, first.Code, "%+v", first)
	require.Equal(t, gateOf(want), first.Gate)
	if c.Expect.Op != nil {
		require.Equal(t, *c.Expect.Op, *first.OpIndex)
	}
}

func gateOf(code verify.Code) verify.Gate {
	for _, e := range verify.Codes() {
		if e.Code == code {
			return e.Gate
		}
	}
	return ""
}

func TestExpressionCasesHoldOrFailAsInvariants(t *testing.T) {
	for _, c := range jsonCases(t, "cel", 6) {
		t.Run(c.ID, func(t *testing.T) {
			text := untyped(nil, nil, nil) + "\ninvariant rule { " + c.Expr + " }\n"
			files := fstest.MapFS{"case.poptic": {Data: []byte(text)}}
			out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "case.poptic"})
			require.NoError(t, err)
			if out.Contract == nil {
				require.NotEmpty(t, c.Expect.Error, listed(out.Diagnostics))
				require.NotEmpty(t, codes(out.Diagnostics, source.Error))
				return
			}
			p := load(t, out.Contract)
			state, err := p.Import([]byte(c.doc()))
			require.NoError(t, err)
			found := p.CheckAll(context.Background(), state, p.Contract().Phases[0].Name)
			switch {
			case string(c.Expect.Result) == "true":
				require.Empty(t, found)
			case string(c.Expect.Result) == "false":
				require.Len(t, found, 1)
				require.Equal(t, verify.InvariantViolation, found[0].Code)
			default:
				require.Len(t, found, 1)
				require.Equal(t, verify.EvaluationError, found[0].Code)
			}
		})
	}
}
