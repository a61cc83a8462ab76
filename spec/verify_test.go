package spec_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/spec/block"
)

func TestVerificationCasesGiveTheVerdictTheyExpect(t *testing.T) {
	ids := map[string]string{}
	for file, s := range suites(t) {
		for _, c := range s.Cases {
			require.Empty(t, ids[c.ID], "case %s stands in two files", c.ID)
			ids[c.ID] = file
			t.Run(c.ID, func(t *testing.T) { runCase(t, c) })
		}
	}
}

func TestCasesShownGiveTheVerdictTheyExpect(t *testing.T) {
	for _, b := range blocksOf(t, "json") {
		if b.Has("case") {
			c := decodeSuite(t, b.File, []byte(`{"cases":[`+b.Text+`]}`)).Cases[0]
			t.Run(c.ID, func(t *testing.T) { runCase(t, c) })
		}
	}
}

func TestEveryCodeThatNeedsNoServiceHasACase(t *testing.T) {
	seen := map[verify.Code]bool{verify.Stale: true, verify.Repeat: true, verify.AttemptsExhausted: true}
	for _, s := range suites(t) {
		for _, c := range s.Cases {
			for _, v := range append(c.Expect.Violations, c.Expect.Actor...) {
				seen[verify.Code(v["code"].(string))] = true
			}
		}
	}
	for _, entry := range verify.Codes() {
		require.True(t, seen[entry.Code], "no case expects %s", entry.Code)
	}
}

// programs are the contracts that cases share, compiled once.
var programs = map[string]*verify.Program{}

// program compiles the contract of a case.
func program(t *testing.T, c verifyCase) *verify.Program {
	t.Helper()
	text := sourceText(t, c.Contract)
	if p := programs[text]; p != nil {
		return p
	}
	files := fstest.MapFS{"case.poptic": {Data: []byte(text)}}
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "case.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, listed(out.Diagnostics))
	p, err := verify.Load(out.Contract, verify.DefaultLimits())
	require.NoError(t, err)
	programs[text] = p
	return p
}

func runCase(t *testing.T, c verifyCase) {
	ctx := context.Background()
	p := program(t, c)
	_, stateFile := contents(t, c.State)
	state, err := p.Import(stateFile)
	require.NoError(t, err)
	phase := c.Phase
	if phase == "" {
		phase = p.Contract().Phases[0].Name
	}
	before := verify.Snapshot{State: state, Phase: phase, Version: 5}
	if c.Expect.View != nil {
		view, refused, err := p.View(ctx, before, verify.ViewRequest{Stage: c.Stage, Args: c.Args, Role: c.Role, Actor: c.Actor, Now: c.Now})
		require.NoError(t, err)
		require.Nil(t, refused)
		require.JSONEq(t, string(c.Expect.View), string(tree.AppendJSON(nil, view.Value)))
	}
	out, err := p.Verify(ctx, before, verify.Proposal{Stage: c.Stage, Args: c.Args, Role: c.Role, Actor: c.Actor, Now: c.Now, Patch: c.proposalBytes(t), Next: c.Next})
	require.NoError(t, err)
	compare(t, p, c.Expect, before, out)
}

func compare(t *testing.T, p *verify.Program, want expectation, before verify.Snapshot, out verify.Outcome) {
	t.Helper()
	require.Equal(t, want.Verdict, string(out.Verdict.Verdict), "%+v", out.Verdict.Violations)
	if want.Violations != nil {
		requireViolations(t, want.Violations, out.Verdict.Violations)
	}
	if want.Actor != nil {
		requireViolations(t, want.Actor, out.Actor().Violations)
	}
	if want.Phase != "" {
		require.Equal(t, want.Phase, out.After.Phase)
	}
	after := p.Export(out.After.State, false)
	if want.Verdict != string(verify.Commit) {
		require.Equal(t, string(p.Export(before.State, false)), string(after))
		require.Equal(t, before.Version, out.After.Version)
		require.Equal(t, before.Phase, out.After.Phase)
	}
	again, err := p.Import(after)
	require.NoError(t, err, "a state that was committed cannot be imported")
	require.Equal(t, out.Verdict.StateAfter, again.Digest().String(), "a state that was committed is another one when imported")
	for pointer, value := range want.State {
		require.JSONEq(t, string(value), string(valueAt(t, after, pointer)), pointer)
	}
}

// requireViolations compares the members that each expected violation gives.
func requireViolations(t *testing.T, want []map[string]any, got []verify.Violation) {
	t.Helper()
	encoded, err := json.Marshal(got)
	require.NoError(t, err)
	var members []map[string]any
	require.NoError(t, json.Unmarshal(encoded, &members))
	require.Len(t, members, len(want), string(encoded))
	for i := range want {
		for name, value := range want[i] {
			require.Equal(t, value, members[i][name], "violation %d, %s, of %s", i, name, encoded)
		}
	}
}

// valueAt finds the value at a JSON Pointer without escapes in a state file.
func valueAt(t *testing.T, file []byte, pointer string) []byte {
	t.Helper()
	at := json.RawMessage(file)
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var members map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(at, &members), pointer)
		require.Contains(t, members, token)
		at = members[token]
	}
	return at
}

func TestConfigurationsAreRead(t *testing.T) {
	read := 0
	for _, page := range pages(t) {
		found, err := block.Read(page)
		require.NoError(t, err)
		for _, b := range found {
			if b.Language == "yaml" {
				_, err := lint.ParseConfig(b.File, []byte(b.Text))
				require.NoError(t, err)
				read++
			}
		}
	}
	require.NotZero(t, read)
}

// blocks are listed here so that a fence nobody executes is noticed.
func TestNoFenceIsMisspelt(t *testing.T) {
	known := []string{"", "poptic", "json", "sh", "text", "ebnf", "yaml"}
	for _, page := range pages(t) {
		found, err := block.Read(page)
		require.NoError(t, err)
		for _, b := range found {
			require.Contains(t, known, b.Language, "%s:%d", b.File, b.Line)
		}
	}
}
