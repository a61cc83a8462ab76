package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
)

// executeWith runs a command line whose words may hold any bytes.
func executeWith(words ...string) (code int, out, errText string) {
	var o, e bytes.Buffer
	code = run(context.Background(), words, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, data, 0o644))
}

// Two names that differ in bytes which are not UTF-8 are two files.
func TestNamesOfFilesAreTheBytesThatWereGiven(t *testing.T) {
	inDesk(t)
	require.NoError(t, os.MkdirAll("d\xfe/lib", 0o755))
	copyTo(t, "lib/more.poptic", "d\xfe/lib/more.poptic")
	copyTo(t, "c.poptic", "d\xfe/c\xff.poptic")
	copyTo(t, "c.poptic", "c\xff.poptic")
	copyTo(t, "c.popticc", "d\xfe/c\xed\xa0\x80.popticc")
	copyTo(t, "state.json", "s\xff.json")
	copyTo(t, "patch.json", "p\xff.json")
	copyTo(t, "log.db", "l\xff.db")
	for _, name := range []string{"out\ufffd.json", "out\ufffd.popticc", "s\ufffd.json"} {
		require.NoError(t, os.WriteFile(name, []byte(`{"notes":["keep"]}`), 0o644))
	}
	for _, words := range [][]string{
		{"check", "c\xff.poptic"},
		{"check", "d\xfe/c\xff.poptic", "d\xfe", "d\xfe/c\xed\xa0\x80.popticc", "--state", "s\xff.json"},
		{"build", "d\xfe/c\xff.poptic", "-oout\xff.popticc"},
		{"prove", "d\xfe/c\xff.poptic", "--root", "d\xfe", "--cert=out\xff.cert"},
		{"prove", "d\xfe/c\xff.poptic", "--root", "d\xfe", "--check=out\xff.cert"},
		{"graph", "c\xff.poptic", "-o", "out\xff.dot"},
		{"diff", "c\xff.poptic", "out\xff.popticc"},
		{"apply", "c\xff.poptic", "--state", "s\xff.json", "--stage", "note", "--patch", "p\xff.json", "-o", "out\xff.json"},
		{"apply", "c\xff.poptic", "--state", "s\xff.json", "--stage", "note", "--patch", "p\xff.json", "--in-place"},
		{"audit", "l\xff.db", "--verify"},
		{"replay", "l\xff.db", "c.popticc"},
		{"replay", "l\xff.db", "c.popticc", "--at", "1", "-o", "at\xff.json"},
	} {
		code, _, errText := executeWith(words...)
		require.Equal(t, exitFine, code, "%q: %s", words, errText)
	}
	for _, name := range []string{"out\xff.json", "s\xff.json"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Contains(t, string(data), "two", "%q", name)
	}
	for _, name := range []string{"out\ufffd.json", "out\ufffd.popticc", "s\ufffd.json"} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Contains(t, string(data), "keep", "%q", name)
	}
	for _, name := range []string{"out\ufffd.cert", "out\ufffd.dot", "at\ufffd.json"} {
		require.NoFileExists(t, name)
	}
}

// A text that is none stands for no other: nothing is decided.
func TestRolesPhasesAndArgumentsAreTextWithinTheirLimits(t *testing.T) {
	inKeyed(t)
	base := []string{"k.poptic", "--state", "k.json", "--stage", "tidy", "--patch", "k.patch"}
	with := func(verb string, more ...string) []string { return append(append([]string{verb}, base...), more...) }
	code, _, errText := executeWith(with("verify", "--arg", "note=\ufffd", "--role", "bot")...)
	require.Equal(t, exitFine, code, errText)
	long := strings.Repeat("a", 1025)
	for what, words := range map[string][]string{
		"the argument note is not UTF-8":   with("verify", "--role", "bot", "--arg", "note=\xff"),
		"the argument note is not UTF-8 ":  with("apply", "--role", "bot", "--arg=note=n\xed\xa0\x80", "-o", "-"),
		"the role is not UTF-8":            with("verify", "--role", "b\xffx", "--arg", "note=n1"),
		"the role is longer":               with("verify", "--role", long, "--arg", "note=n1"),
		"the phase is not UTF-8":           with("verify", "--role", "bot", "--arg", "note=n1", "--next", "\xc3"),
		"the phase is not UTF-8 ":          with("verify", "--role", "bot", "--arg", "note=n1", "--phase", "\xc3"),
		"the phase is longer":              with("verify", "--role", "bot", "--arg", "note=n1", "--next", long),
		"the phase is longer ":             with("verify", "--role", "bot", "--arg", "note=n1", "--phase", long),
		"the phase is longer  ":            {"apply", "k.poptic", "--state", "k.json", "--advance", long},
		"the phase is not UTF-8  ":         {"apply", "k.poptic", "--state", "k.json", "--advance", "\xff"},
		"the argument note is not UTF-8  ": {"view", "k.poptic", "--state", "k.json", "--stage", "tidy", "--arg", "note=n\xff"},
		"no stage":                         {"view", "k.poptic", "--state", "k.json", "--stage", "tidy\xff"},
		"no parameter":                     with("verify", "--role", "bot", "--arg", "no\xffte=n1"),
	} {
		code, out, errText := executeWith(words...)
		require.Equal(t, exitBroken, code, "%q: %s", words, out)
		require.Contains(t, errText, strings.TrimSpace(what), "%q", words)
		require.Empty(t, out, "%q", words)
	}
}

// inKeyed moves the test into a folder with a contract of a map, one of whose keys is
// the character that stands for what is no text.
func inKeyed(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"k.poptic": `contract keyed
state { notes: map of { title: string } }
stage tidy(note in /notes) { by bot read /notes/{note} write /notes/{note} }
`,
		"k.json":  `{"notes": {"n1": {"title": "a"}, "\ufffd": {"title": "b"}}}`,
		"k.patch": `[{"op": "replace", "path": "/notes/\ufffd/title", "value": "c"}]`,
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
}

// A merge patch is refused as the patch is that it stands for.
func TestAMergePatchHasTheLimitsAndTheCodesOfAPatch(t *testing.T) {
	inDesk(t)
	for text, want := range map[string]string{
		`{"notes":"` + strings.Repeat("x", 9<<20) + `"}`:                        "limit limit_exceeded",
		`{"notes":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`: "limit limit_exceeded",
		`{"notes":[` + strings.Repeat("1,", 1_100_000) + `1]}`:                  "limit limit_exceeded",
		`{"limit":1e2000}`:              "limit limit_exceeded",
		`{"notes":["a"],"notes":["b"]}`: "format duplicate_key",
		`{"patch":{"a":1,"\u0061":2}}`:  "format duplicate_key",
		`{"notes":`:                     "format patch_syntax",
		`{"notes":[{"a":null}]}`:        "format patch_syntax",
		`{"notes":["` + "\xff" + `"]}`:  "format patch_syntax",
	} {
		require.NoError(t, os.WriteFile("merge.json", []byte(text), 0o644))
		for _, actor := range [][]string{nil, {"--actor"}, {"--phase", "done"}} {
			words := append([]string{"verify", "c.poptic", "--state", "state.json", "--stage", "note", "--merge-patch", "--patch", "merge.json", "--format", "json"}, actor...)
			code, out, errText := executeWith(words...)
			require.Equal(t, exitNo, code, errText)
			var v verify.Verdict
			require.NoError(t, json.Unmarshal([]byte(out), &v))
			require.Len(t, v.Violations, 1)
			require.Equal(t, want, string(v.Violations[0].Gate)+" "+string(v.Violations[0].Code), "%.40s", text)
			require.True(t, v.Retryable)
		}
	}
}
