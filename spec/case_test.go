package spec_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A suite is a file of conformance/verify: cases with what they share.
type suite struct {
	About    string          `json:"about"`
	Contract json.RawMessage `json:"contract"`
	State    json.RawMessage `json:"state"`
	Cases    []verifyCase    `json:"cases"`
}

// A verifyCase is one proposal and what must come of it.
type verifyCase struct {
	ID       string            `json:"id"`
	About    string            `json:"about"`
	Contract json.RawMessage   `json:"contract"`
	State    json.RawMessage   `json:"state"`
	Phase    string            `json:"phase"`
	Stage    string            `json:"stage"`
	Args     map[string]string `json:"args"`
	Role     string            `json:"role"`
	Actor    string            `json:"actor"`
	Now      time.Time         `json:"now"`
	Patch    json.RawMessage   `json:"patch"`
	Proposal json.RawMessage   `json:"proposal"`
	Next     string            `json:"next"`
	Expect   expectation       `json:"expect"`
}

// An expectation is compared member by member; what is left out is not compared.
type expectation struct {
	Verdict    string                     `json:"verdict"`
	Violations []map[string]any           `json:"violations"`
	Actor      []map[string]any           `json:"actor"`
	State      map[string]json.RawMessage `json:"state"`
	Phase      string                     `json:"phase"`
	View       json.RawMessage            `json:"view"`
}

// suites reads the files of conformance/verify; cases inherit contract and state.
func suites(t *testing.T) map[string]suite {
	t.Helper()
	files, err := filepath.Glob("conformance/verify/*.json")
	require.NoError(t, err)
	out := map[string]suite{}
	for _, file := range files {
		if strings.HasSuffix(file, "state.json") {
			continue
		}
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		out[file] = decodeSuite(t, file, data)
	}
	require.NotEmpty(t, out)
	return out
}

func decodeSuite(t *testing.T, file string, data []byte) suite {
	t.Helper()
	var s suite
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&s), file)
	for i := range s.Cases {
		c := &s.Cases[i]
		if c.Contract == nil {
			c.Contract = s.Contract
		}
		if c.State == nil {
			c.State = s.State
		}
	}
	return s
}

// contents resolves a {"file": PATH} relative to conformance/verify.
func contents(t *testing.T, raw json.RawMessage) (file string, data []byte) {
	t.Helper()
	var ref struct{ File string }
	if json.Unmarshal(raw, &ref) == nil && ref.File != "" {
		data, err := os.ReadFile(filepath.Join("conformance/verify", ref.File))
		require.NoError(t, err)
		return ref.File, data
	}
	return "", raw
}

// sourceText is the contract of a case as source text.
func sourceText(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	file, data := contents(t, raw)
	if file != "" {
		return string(data)
	}
	var lines []string
	require.NoError(t, json.Unmarshal(data, &lines))
	return strings.Join(lines, "\n") + "\n"
}

// proposalBytes is what the actor of a case sends.
func (c verifyCase) proposalBytes(t *testing.T) []byte {
	t.Helper()
	if c.Proposal == nil {
		return c.Patch
	}
	var text string
	if json.Unmarshal(c.Proposal, &text) == nil {
		return []byte(text)
	}
	var parts [][2]json.RawMessage
	require.NoError(t, json.Unmarshal(c.Proposal, &parts))
	var b bytes.Buffer
	for _, part := range parts {
		var times int
		require.NoError(t, json.Unmarshal(part[0], &text))
		require.NoError(t, json.Unmarshal(part[1], &times))
		b.WriteString(strings.Repeat(text, times))
	}
	return b.Bytes()
}
