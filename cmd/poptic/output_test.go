package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A writing is a command line that writes a file, with OUT in its place.
type writing struct {
	args   string
	inputs []string
}

var writings = []writing{
	{"build c.poptic -o OUT", []string{"c.poptic", "lib/more.poptic"}},
	{"build c.popticc -o OUT", []string{"c.popticc"}},
	{"graph c.poptic -o OUT", []string{"c.poptic", "lib/more.poptic"}},
	{"graph c.poptic --format json -o OUT", []string{"c.poptic"}},
	{"graph c.popticc --format html -o OUT", []string{"c.popticc"}},
	{"prove c.poptic --cert OUT", []string{"c.poptic", "lib/more.poptic"}},
	{"prove --format json --cert OUT c.popticc", []string{"c.popticc"}},
	{"apply c.poptic --state state.json --stage note --patch patch.json -o OUT", []string{"c.poptic", "lib/more.poptic", "state.json", "patch.json"}},
	{"apply c.poptic --state state.json --stage note --patch refused.json -o OUT", []string{"c.poptic", "state.json", "refused.json"}},
	{"apply c.poptic --state state.json --advance done -o OUT", []string{"c.poptic", "lib/more.poptic", "state.json"}},
	{"replay log.db c.poptic --at 1 -o OUT", []string{"c.poptic", "lib/more.poptic", "log.db", "log.db-wal", "log.db-shm", "log.db-journal"}},
}

// spellings are ways to name a file; a link is made first.
var spellings = map[string]func(t *testing.T, name string) string{
	"as it is":      func(_ *testing.T, name string) string { return name },
	"relative":      func(_ *testing.T, name string) string { return "./lib/../" + name },
	"absolute":      func(t *testing.T, name string) string { return absolute(t, name) },
	"symbolic link": func(t *testing.T, name string) string { return linked(t, os.Symlink, absolute(t, name)) },
	"hard link":     func(t *testing.T, name string) string { return linked(t, os.Link, name) },
	"linked folder": func(t *testing.T, name string) string {
		return filepath.Join(linked(t, os.Symlink, absolute(t, ".")), name)
	},
}

func absolute(t *testing.T, name string) string {
	path, err := filepath.Abs(name)
	require.NoError(t, err)
	return path
}

func linked(t *testing.T, link func(old, new string) error, name string) string {
	made := filepath.Join("links", strings.ReplaceAll(t.Name(), "/", "_"))
	require.NoError(t, link(name, made))
	return made
}

func TestNoOutputOverwritesAnInput(t *testing.T) {
	for _, w := range writings {
		t.Run(w.args, func(t *testing.T) {
			inDesk(t)
			before := contents(t, ".")
			for _, name := range w.inputs {
				for how, spell := range spellings {
					t.Run(name+"/"+how, func(t *testing.T) {
						if _, err := os.Stat(name); err != nil && strings.HasSuffix(how, " link") {
							t.Skip("what does not exist has no links")
						}
						out := spell(t, name)
						for _, force := range []string{"", " --force"} {
							code, _, errText := execute(t, "", strings.ReplaceAll(w.args, "OUT", out)+force)
							require.Equal(t, exitBroken, code, errText)
							require.Contains(t, errText, "that is read")
						}
						require.NoError(t, os.RemoveAll("links"))
						require.NoError(t, os.Mkdir("links", 0o755))
						require.Equal(t, before, contents(t, "."))
					})
				}
			}
		})
	}
}

func TestAnInputThatComesThroughStandardInputIsNotOverwrittenEither(t *testing.T) {
	inDesk(t)
	before := contents(t, ".")
	for _, c := range []struct{ stdin, args string }{
		{"state.json", "apply c.poptic --state - --stage note --patch patch.json -o state.json"},
		{"patch.json", "apply c.poptic --state state.json --stage note --patch - -o patch.json"},
	} {
		code, _, errText := execute(t, c.stdin, c.args)
		require.Equal(t, exitBroken, code, errText)
	}
	require.Equal(t, before, contents(t, "."))
}

func TestInPlaceWritesTheStateAndNoOtherInput(t *testing.T) {
	inDesk(t)
	code, _, errText := execute(t, "", "apply c.poptic --state both.json --stage set --patch both.json --in-place")
	require.Equal(t, exitBroken, code, errText)
	require.Contains(t, errText, "it is the patch that is read")
	code, _, errText = execute(t, "", "apply c.poptic --state both.json --stage set --patch set.json --in-place")
	require.Equal(t, exitFine, code, errText)
}

// theirs are files that no verb should write over, and what each verb may.
func TestAFileOfAnotherKindIsOverwrittenByForceOnly(t *testing.T) {
	kinds := map[string][]string{ // written by each verb -> what it may write over
		"build c.poptic -o OUT":                          {"c.popticc", "blank"},
		"graph c.poptic --format svg -o OUT":             {"dot", "mermaid", "svg", "html", "graph.json", "blank"},
		"prove c.poptic --cert OUT":                      {"cert", "blank"},
		"replay log.db c.poptic --at 1 -o OUT":           {"state.json", "blank"},
		"apply c.poptic --state s --advance done -o OUT": {"state.json", "blank"},
	}
	inDesk(t)
	for _, format := range []string{"dot", "mermaid", "svg", "html"} {
		mustRun(t, "graph c.poptic --format "+format+" -o "+format)
	}
	mustRun(t, "graph c.poptic --format json -o graph.json")
	mustRun(t, "prove c.poptic --cert cert")
	require.NoError(t, os.WriteFile("blank", []byte(" \n"), 0o644))
	require.NoError(t, os.WriteFile("text", []byte("dear diary"), 0o644))
	require.NoError(t, os.WriteFile("other.dot", []byte("digraph mine { a -> b }"), 0o644))
	require.NoError(t, os.WriteFile("other.svg", []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"), 0o644))
	require.NoError(t, os.WriteFile("other.json", []byte(`{"name": "package"}`), 0o644))
	require.NoError(t, os.Rename("state.json", "s"))
	require.NoError(t, os.WriteFile("state.json", []byte(`{"notes": 7}`), 0o644))
	for args, own := range kinds {
		for _, name := range []string{
			"c.popticc", "dot", "mermaid", "svg", "html", "graph.json", "cert", "state.json", "patch.json", "blank", "text",
			"other.dot", "other.svg", "other.json", "other.poptic",
		} {
			t.Run(args+"/"+name, func(t *testing.T) {
				data, err := os.ReadFile(name)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile("target", data, 0o644))
				command := strings.ReplaceAll(args, "OUT", "target")
				code, _, errText := execute(t, "", command)
				for _, mine := range own {
					if mine == name {
						require.Equal(t, exitFine, code, errText)
						return
					}
				}
				require.Equal(t, exitBroken, code)
				require.Contains(t, errText, "--force")
				requireFile(t, "target", string(data))
				mustRun(t, command+" --force")
			})
		}
	}
}

func TestWhatHoldsAStateIsReadByNobodyWhoMayNotReadItsSource(t *testing.T) {
	inDesk(t)
	require.NoError(t, os.Chmod("state.json", 0o600))
	require.NoError(t, os.Chmod("log.db", 0o600))
	mustRun(t, "apply c.poptic --state state.json --stage note --patch patch.json -o new.json")
	mustRun(t, "replay log.db c.poptic --at 1 -o then.json")
	for _, name := range []string{"new.json", "then.json"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode())
	}
}

func TestFilesAreWrittenInOneFileOnly(t *testing.T) {
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		if name == "file.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, call := range []string{"os.WriteFile(", "os.Create(", "os.OpenFile(", "os.Rename(", "os.CreateTemp("} {
			require.NotContains(t, string(text), call, "%s must leave that to file.go", name)
		}
	}
	text, err := os.ReadFile("output.go")
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), "writeFile("))
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAnAnswerThatCannotBeWrittenIsNone(t *testing.T) {
	inDesk(t)
	propose := " c.poptic --state state.json --stage note --patch "
	for _, args := range []string{
		"check c.poptic", "explain c.poptic", "prove c.poptic", "plan c.poptic", "graph c.poptic", "diff c.poptic c.poptic",
		"view c.poptic --state state.json --stage note", "verify" + propose + "patch.json", "verify" + propose + "refused.json",
		"apply" + propose + "patch.json", "audit log.db", "audit log.db --verify", "replay log.db c.poptic",
		"replay log.db c.poptic --at 0", "build c.poptic -o -", "version", "demo",
	} {
		var errText bytes.Buffer
		code := run(context.Background(), strings.Fields(args), os.Stdin, fullDisk{}, &errText)
		require.Equal(t, exitBroken, code, args)
		require.Contains(t, errText.String(), "no space left on device", args)
	}
}

func TestWhatAHostGivesHasALength(t *testing.T) {
	inDesk(t)
	for _, flag := range []string{" --role " + strings.Repeat("r", 1025), " --arg a=" + strings.Repeat("v", 70_000)} {
		code, out, errText := execute(t, "", "verify c.poptic --state state.json --stage note --patch patch.json"+flag)
		require.Equal(t, exitBroken, code)
		require.Empty(t, out)
		require.Contains(t, errText, "is longer than")
	}
}

// inDesk moves the test into a folder with a contract, all that a verb reads beside
// it, and a folder for links.
func inDesk(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"c.poptic": `contract c
import "./lib/more.poptic" as more
state { notes?: list of string  patch?: more.Patch  limit?: int }
phases {
  open -> done by host
  done
}
stage note { in open read /notes write /notes }
stage set { in open read /limit write /limit }
prove note commutes with set
`,
		"lib/more.poptic": "library more\ntype Patch = any\n",
		"other.poptic":    "contract other\nstate { a: string }\n",
		"state.json":      `{"notes": ["one"]}`,
		"patch.json":      `[{"op": "add", "path": "/notes/-", "value": "two"}]`,
		"refused.json":    `[{"op": "add", "path": "/limit", "value": 2}]`,
		"set.json":        `[{"op": "add", "path": "/limit", "value": 2}]`,
		"both.json":       `{"patch": [{"op": "add", "path": "/limit", "value": 2}]}`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	require.NoError(t, os.Mkdir("links", 0o755))
	mustRun(t, "build c.poptic -o c.popticc")
	recordLog(t, "log.db")
}

func mustRun(t *testing.T, args string) {
	t.Helper()
	code, _, errText := execute(t, "", args)
	require.Equal(t, exitFine, code, errText)
}

// execute runs a command line; stdin is a file, "" for none.
func execute(t *testing.T, stdin, args string) (code int, out, errText string) {
	t.Helper()
	in := os.Stdin
	if stdin != "" {
		f, err := os.Open(stdin)
		require.NoError(t, err)
		defer f.Close()
		in = f
	}
	var o, e bytes.Buffer
	code = run(context.Background(), strings.Fields(args), in, &o, &e)
	return code, o.String(), e.String()
}

// contents are the files below dir.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		all[name] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	}))
	return all
}

func TestAReplacedFileKeepsItsPermissions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(name, []byte("old"), 0o640))
	require.NoError(t, os.Chmod(name, 0o640))
	require.NoError(t, writeFile(name, []byte("new"), 0))
	requireFile(t, name, "new")
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode())
	requireOnly(t, filepath.Dir(name), "state.json")
}

func TestAFileThatIsReplacedKeepsItsGroupOrIsForItsOwner(t *testing.T) {
	require.Equal(t, fs.FileMode(0o600), likeEverybody(0o640))
	require.Equal(t, fs.FileMode(0o604), likeEverybody(0o664)&^0o040)
	require.Equal(t, fs.FileMode(0o644), likeEverybody(0o644))
	require.Equal(t, fs.FileMode(0o702), likeEverybody(0o752))
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
	name := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(name, []byte("old"), 0o640))
	require.NoError(t, os.Chown(name, 65534, 65533))
	require.NoError(t, writeFile(name, []byte("new"), 0))
	requireFile(t, name, "new")
	require.Equal(t, &owner{65534, 65533}, ownerOf(name))
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o640), info.Mode())

	var in inputs
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	in.noteOpen("state", f)
	require.Equal(t, fs.FileMode(0o600), in.perm("state"), "a new file has another group")
}

func TestANewFileIsForThoseWhoMayReadAllThatIsInIt(t *testing.T) {
	var in inputs
	for what, perm := range map[string]fs.FileMode{"state": 0o604, "patch": 0o640, "contract": 0o600} {
		name := filepath.Join(t.TempDir(), what)
		require.NoError(t, os.WriteFile(name, nil, 0o600))
		require.NoError(t, os.Chown(name, -1, os.Getegid()))
		require.NoError(t, os.Chmod(name, perm))
		f, err := os.Open(name)
		require.NoError(t, err)
		in.noteOpen(what, f)
		require.NoError(t, f.Close())
	}
	require.Equal(t, fs.FileMode(0o604), in.perm("state"))
	require.Equal(t, fs.FileMode(0o640), in.perm("patch"))
	require.Equal(t, fs.FileMode(0o600), in.perm("state", "patch"))
	require.Equal(t, fs.FileMode(0), in.perm("log"))
}

func TestWhatComesThroughAPipeIsForNobodyElse(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	defer write.Close()
	var in inputs
	in.noteOpen("state", read)
	require.Equal(t, fs.FileMode(0o600), in.perm("state"))
}

func TestALinkKeepsPointingWhereItDid(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(target, []byte("old"), 0o600))
	require.NoError(t, os.Symlink("target", link))
	require.NoError(t, writeFile(link, []byte("new"), 0))
	requireFile(t, target, "new")
	kept, err := os.Readlink(link)
	require.NoError(t, err)
	require.Equal(t, "target", kept)
}

func TestALinkToNothingYetKeepsPointingWhereItDid(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Symlink("second", filepath.Join(dir, "first")))
	require.NoError(t, os.Symlink("target", filepath.Join(dir, "second")))
	require.NoError(t, writeFile(filepath.Join(dir, "first"), []byte("new"), 0))
	requireFile(t, filepath.Join(dir, "target"), "new")
	requireOnly(t, dir, "first", "second", "target")
	require.NoError(t, os.Symlink("round", filepath.Join(dir, "round")))
	require.Error(t, writeFile(filepath.Join(dir, "round"), []byte("new"), 0))
}

// The text of a link to an open pipe is no path, so that it looks like a link to
// nothing; /dev/stdout is one.
func TestALinkToAPipeIsWrittenThrough(t *testing.T) {
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	open := fmt.Sprintf("/proc/self/fd/%d", write.Fd())
	if _, err := os.Stat(open); err != nil {
		t.Skip("open files have no names here")
	}
	link := filepath.Join(t.TempDir(), "stdout")
	require.NoError(t, os.Symlink(open, link))
	require.NoError(t, writeFile(link, []byte("new"), 0))
	require.NoError(t, write.Close())
	got, err := io.ReadAll(read)
	require.NoError(t, err)
	require.Equal(t, "new", string(got))
	kept, err := os.Readlink(link)
	require.NoError(t, err)
	require.Equal(t, open, kept)
}

func TestAFailedWriteLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	require.Error(t, writeFile(filepath.Join(dir, "folder"), []byte("new"), 0))
	require.Error(t, writeFile(filepath.Join(dir, "missing", "file"), []byte("new"), 0))
	requireOnly(t, dir, "folder")
}

func TestWhatIsNoRegularFileIsWrittenToDirectly(t *testing.T) {
	require.NoError(t, writeFile(os.DevNull, []byte("new"), 0))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular(), "the device must still be one")
}

func requireFile(t *testing.T, name, want string) {
	t.Helper()
	got, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, want, string(got))
}

func requireOnly(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	require.Equal(t, names, got)
}
