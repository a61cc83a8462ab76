package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// complete asks as the shells' scripts do.
func complete(t *testing.T, words ...string) []string {
	t.Helper()
	last := len(words) - 1
	words[last] = "=" + words[last]
	var out, errOut bytes.Buffer
	code := run(context.Background(), append([]string{"__complete"}, words...), strings.NewReader(""), &out, &errOut)
	require.Equal(t, exitFine, code)
	require.Empty(t, errOut.String())
	var texts []string
	for _, l := range strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n") {
		text, _, _ := strings.Cut(l, "\t")
		texts = append(texts, text)
	}
	return texts
}

func TestVerbsAreCompletedAndTheHiddenOneIsNot(t *testing.T) {
	var v verbs
	parser, err := newParser(&v, io.Discard, io.Discard)
	require.NoError(t, err)
	var want []string
	for _, n := range parser.Model.Leaves(true) {
		want = append(want, n.Name)
	}
	require.NotContains(t, want, "__complete")
	require.Equal(t, want, complete(t, ""))
	require.Equal(t, []string{"verify", "version"}, complete(t, "ver"))
}

func TestEveryFlagOfEveryVerbIsCompleted(t *testing.T) {
	var v verbs
	parser, err := newParser(&v, io.Discard, io.Discard)
	require.NoError(t, err)
	for _, n := range parser.Model.Leaves(true) {
		got := complete(t, n.Name, "--")
		for _, group := range n.AllFlags(true) {
			for _, f := range group {
				require.Contains(t, got, "--"+f.Name, n.Name)
			}
		}
	}
}

func TestAGivenFlagIsNotProposedAgainUnlessItRepeats(t *testing.T) {
	got := complete(t, "view", "--stage", "x", "--arg", "a=b", "--")
	require.NotContains(t, got, "--stage")
	require.Contains(t, got, "--arg")
}

func TestChoicesAreCompleted(t *testing.T) {
	require.Equal(t, []string{"text", "json", "sarif", "junit", "github"}, complete(t, "check", "--format", ""))
	require.Equal(t, []string{"--format=json", "--format=junit"}, complete(t, "check", "--format=j"))
	require.Equal(t, []string{"bash", "zsh", "fish", "powershell"}, complete(t, "completion", ""))
	require.Equal(t, []string{"clinical"}, complete(t, "demo", "cl"))
}

func TestFilesAndFoldersAreLeftToTheShell(t *testing.T) {
	require.Equal(t, []string{":files"}, complete(t, "view", "--state", "st"))
	require.Equal(t, []string{":files"}, complete(t, "view", "des"))
	require.Equal(t, []string{":files"}, complete(t, "check", "one.poptic", "two"))
	require.Equal(t, []string{":folders"}, complete(t, "check", "--root", ""))
}

func TestNamesComeFromTheContractOnTheLine(t *testing.T) {
	const desk = "testdata/desk/desk.poptic"
	require.Equal(t, []string{"classify", "refund", "finish"}, complete(t, "view", desk, "--stage", ""))
	require.Equal(t, []string{"triage", "review", "closed"}, complete(t, "view", desk, "--phase", ""))
	require.Equal(t, []string{"triage_bot"}, complete(t, "view", desk, "--role", ""))
	require.Equal(t, []string{"id=", "ticket="}, complete(t, "view", desk, "--stage", "refund", "--arg", ""))
	require.Equal(t, []string{"review"}, complete(t, "apply", desk, "--advance", "r"))
	require.Equal(t, []string{""}, complete(t, "view", "nowhere.poptic", "--stage", ""))
}

func TestStoresAndTheirInstancesAreCompleted(t *testing.T) {
	t.Chdir("testdata/desk")
	dir := t.TempDir()
	url := "sqlite:" + dir + "/desk.db"
	for _, id := range []string{"T-7", "T-8"} {
		code, _, errText := execute(t, "", "create desk.poptic --state state.json --store "+url+" --instance "+id)
		require.Equal(t, exitFine, code, errText)
	}
	require.NoError(t, os.Mkdir(dir+"/more", 0o755))
	require.Equal(t, []string{"sqlite:"}, complete(t, "view", "desk.poptic", "--store", "sq"))
	require.Equal(t, []string{url}, complete(t, "audit", "--store", url[:len(url)-4]))
	require.Equal(t, []string{"--store=" + url}, complete(t, "audit", "--store="+url[:len(url)-4]))
	require.Equal(t, []string{"sqlite:" + dir + "/more/"}, complete(t, "audit", "--store", "sqlite:"+dir+"/m"))
	require.Equal(t, []string{"T-7", "T-8"}, complete(t, "apply", "desk.poptic", "--store", url, "--instance", ""))
	require.Equal(t, []string{"--instance=T-8"}, complete(t, "replay", "--store="+url, "--instance=T-8"))
	require.Equal(t, []string{"T-7", "T-8"}, complete(t, "audit", dir+"/desk.db", "--instance", "T"))
	require.Equal(t, []string{""}, complete(t, "create", "desk.poptic", "--store", url, "--instance", ""))
	require.Equal(t, []string{""}, complete(t, "view", "desk.poptic", "--store", "sqlite:none.db", "--instance", ""))
	require.NoFileExists(t, "none.db")
}

func TestEveryVerbHasExamplesAndExitCodes(t *testing.T) {
	var v verbs
	parser, err := newParser(&v, io.Discard, io.Discard)
	require.NoError(t, err)
	for _, n := range parser.Model.Leaves(true) {
		help, ok := n.Target.Addr().Interface().(kong.HelpProvider)
		require.True(t, ok, n.Name)
		require.NotEmpty(t, n.Help, n.Name)
		require.Contains(t, help.Help(), "\n\nExamples:\n\n    ", n.Name)
		require.Contains(t, help.Help(), "poptic "+n.Name, n.Name)
		require.Contains(t, help.Help(), "Exit codes:\n\n    0  ", n.Name)
	}
}
