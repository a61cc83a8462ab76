package verify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// A corpusCase is a case of the public collection that has a patch. They run here
// under a stage, through all steps.
type corpusCase struct {
	ID, Kind    string
	Doc, Patch  json.RawMessage
	DocText     *string `json:"doc_text"`
	PatchText   *string `json:"patch_text"`
	Read, Write []string
	PatchGen    *struct {
		Repeat int
		Op     json.RawMessage
	} `json:"patch_gen"`
	DocGen *struct {
		Nest              int
		Open, Close, Core string
	} `json:"doc_gen"`
	Apply  int `json:"apply_times"`
	Expect struct {
		Result json.RawMessage
		Error  string
		Of     string
		Op     *int
	}
}

func (c *corpusCase) document() []byte {
	switch {
	case c.DocText != nil:
		return []byte(*c.DocText)
	case c.DocGen != nil:
		g := c.DocGen
		return []byte(strings.Repeat(g.Open, g.Nest) + g.Core + strings.Repeat(g.Close, g.Nest))
	default:
		return c.Doc
	}
}

func (c *corpusCase) proposal() []byte {
	switch {
	case c.PatchText != nil:
		return []byte(*c.PatchText)
	case c.PatchGen != nil:
		ops := bytes.Repeat(append(c.PatchGen.Op, ','), c.PatchGen.Repeat)
		return append(append([]byte{'['}, ops[:len(ops)-1]...), ']')
	default:
		return c.Patch
	}
}

// program is a contract over any state whose only stage has the case's regions.
func (c *corpusCase) program(t *testing.T) *verify.Program {
	everything := func(patterns []string) []string {
		if len(patterns) == 0 && c.Kind == "patch" || len(patterns) == 1 && patterns[0] == "/" {
			return []string{"/**"}
		}
		return patterns
	}
	b := newBuilder(t)
	b.c.State = b.kind(ir.AnyType)
	read := of(everything(c.Read)...)
	b.stage(ir.Stage{Name: "s", Read: read, Source: read, Write: of(everything(c.Write)...)})
	return b.load()
}

func TestThePublicCasesGetTheVerdictTheyExpect(t *testing.T) {
	data, err := os.ReadFile("../../spec/conformance/jsonpatch-cases.json")
	require.NoError(t, err)
	var cases []corpusCase
	require.NoError(t, json.Unmarshal(data, &cases))
	ran := 0
	for _, c := range cases {
		if c.Kind == "patch" || c.Kind == "policy" {
			ran++
			t.Run(c.ID, func(t *testing.T) { runCorpusCase(t, &c) })
		}
	}
	require.Equal(t, 92, ran)
}

func runCorpusCase(t *testing.T, c *corpusCase) {
	p := c.program(t)
	state, err := p.Import(c.document())
	if err != nil {
		require.Equal(t, "doc", c.Expect.Of, "%v", err)
		var text *tree.DecodeError
		var unfit *verify.StateError
		require.True(t, errors.As(err, &text) || errors.As(err, &unfit))
		return
	}
	r := &run{t, p, verify.Snapshot{State: state, Phase: "main"}}
	out := r.try(as("s", string(c.proposal())))
	for range c.Apply - 1 {
		r.s = out.After
		out = r.try(as("s", string(c.proposal())))
	}
	if c.Expect.Error == "" {
		require.NotEqual(t, verify.Reject, out.Verdict.Verdict, "%+v", out.Verdict.Violations)
		want, err := tree.Parse(c.Expect.Result, tree.DefaultLimits)
		require.NoError(t, err)
		require.True(t, tree.Equal(want, out.After.State))
		return
	}
	require.Equal(t, verify.Reject, out.Verdict.Verdict)
	first := out.Verdict.Violations[0]
	require.Equal(t, c.Expect.Error, string(first.Code), "%+v", first)
	if c.Expect.Op != nil {
		require.NotNil(t, first.OpIndex)
		require.Equal(t, *c.Expect.Op, *first.OpIndex)
	}
}
