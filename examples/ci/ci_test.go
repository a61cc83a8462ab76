// Package ci_test runs what the settings for build servers and hooks in this folder say, as far
// as that goes without the platforms.
package ci_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// A sandbox is a repository with a contract, and poptic in front of the search path.
type sandbox struct {
	*testing.T
	dir, bin string
}

const (
	clean = "contract notes\nstate { notes: map of { title: string } }\n\n# Give a note a title.\nstage retitle(note in /notes) {\n  read  /notes/{note}\n  write /notes/{note}/title\n}\n"
	known = "type Unused = int\n" // a finding that is there from the beginning
	worse = "region nobody_uses = /notes\n"
)

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	for _, tool := range []string{"git", "sh", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("there is no " + tool)
		}
	}
	s := &sandbox{T: t, dir: t.TempDir(), bin: t.TempDir()}
	out, err := exec.Command("go", "build", "-o", filepath.Join(s.bin, "poptic"), "../../cmd/poptic").CombinedOutput()
	require.NoError(t, err, "%s", out)
	s.write("contracts/notes.poptic", clean+known)
	s.git("init", "-q", "-b", "main", ".")
	s.git("add", ".")
	s.git("commit", "-q", "-m", "first")
	return s
}

func (s *sandbox) write(name, text string) {
	s.Helper()
	at := filepath.Join(s.dir, name)
	require.NoError(s, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(s, os.WriteFile(at, []byte(text), 0o644))
}

// run gives a script to a shell as the platforms do, without what installs poptic.
func (s *sandbox) run(shell, script string, env ...string) (said string, err error) {
	s.Helper()
	script = regexp.MustCompile(`(?m)^\s*go install .*$`).ReplaceAllString(script, "true")
	args := []string{"-e", "-c", script}
	if shell == "bash" {
		args = []string{"--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script}
	}
	cmd := exec.Command(shell, args...)
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "PATH="+s.bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (s *sandbox) git(args ...string) {
	s.Helper()
	out, err := s.run("sh", "git "+strings.Join(args, " "))
	require.NoError(s, err, out)
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalWithOptions(data, into, yaml.Strict()))
}

// An action is a composite action of GitHub.
type action struct {
	Name, Description string
	Inputs            map[string]struct{ Description, Default string }
	Runs              struct {
		Using string
		Steps []step
	}
}

type step struct {
	Name, Shell, Run, Uses, If string
	Env                        map[string]string
	With                       map[string]any
}

// filled puts values in the place of `${{ inputs.NAME }}`.
func (s step) filled(inputs map[string]string) (env []string) {
	for name, value := range s.Env {
		for input, is := range inputs {
			value = strings.ReplaceAll(value, "${{ inputs."+input+" }}", is)
		}
		env = append(env, name+"="+value)
	}
	return env
}

func (s *sandbox) act(inputs map[string]string) (said string, err error) {
	s.Helper()
	var a action
	read(s.T, "action.yml", &a)
	require.Equal(s, "composite", a.Runs.Using)
	all := map[string]string{}
	for name, input := range a.Inputs {
		all[name] = input.Default
	}
	for name, value := range inputs {
		require.Contains(s, all, name)
		all[name] = value
	}
	for _, step := range a.Runs.Steps {
		require.Equal(s, "bash", step.Shell)
		require.NotContains(s, step.Run, "${{", "what a step runs takes inputs from its environment: a branch may be called anything")
		out, err := s.run("bash", step.Run, step.filled(all)...)
		said += out
		if err != nil {
			return said, err
		}
	}
	return said, nil
}

func TestTheActionShowsWhatIsNewAtItsLine(t *testing.T) {
	s := newSandbox(t)
	var w struct {
		Name        string
		On          map[string]any
		Permissions map[string]string
		Jobs        map[string]struct {
			If     string
			RunsOn string `yaml:"runs-on"`
			Steps  []step
		}
	}
	read(t, "github-workflow.yml", &w)
	with := w.Jobs["pull-request"].Steps[2].With
	require.Equal(t, "origin/${{ github.base_ref }}", with["since"])
	inputs := map[string]string{"since": "main"}

	s.git("checkout", "-q", "-b", "change")
	said, err := s.act(inputs)
	require.NoError(t, err, said)
	require.NotContains(t, said, "unused_type")
	_, err = s.act(nil)
	require.Error(t, err, "without a commit to compare with all findings count")

	s.write("contracts/notes.poptic", clean+known+worse)
	said, err = s.act(inputs)
	require.Error(t, err)
	require.Contains(t, said, "::warning file=contracts/notes.poptic,line=10,endLine=10,col=8,endColumn=19,title=unused_region::")
	require.NotContains(t, said, "unused_type")

	s.write("contracts/notes.poptic", strings.ReplaceAll(clean, "  read", "     read")+known)
	said, err = s.act(inputs)
	require.Error(t, err, "it is out of form")
	require.Contains(t, said, "notes.poptic")

	s.write("contracts/notes.poptic", clean+known)
	s.write("contracts/notes_test.poptic", "test \"a title is no number\" {\n  state  { \"notes\": { \"N\": { \"title\": \"x\" } } }\n  stage  retitle(note: \"N\")\n  patch  [{\"op\": \"replace\", \"path\": \"/notes/N/title\", \"value\": 1}]\n  expect commit\n}\n")
	said, err = s.act(inputs)
	require.Error(t, err, "a test fails")
	require.Contains(t, said, "a title is no number")

	s.git("checkout", "-q", "main")
	s.git("checkout", "-q", "-b", "wider")
	s.write("contracts/notes.poptic", strings.Replace(clean, "read  /notes/{note}", "read  /notes/*", 1)+known)
	summary := filepath.Join(s.TempDir(), "summary.md")
	allows := w.Jobs["pull-request"].Steps[3]
	require.Equal(t, "What the change allows", allows.Name)
	said, err = s.run("bash", allows.Run, "SINCE=main", "GITHUB_STEP_SUMMARY="+summary)
	require.NoError(t, err, said)
	comment, err := os.ReadFile(filepath.Join(s.dir, "allows.md"))
	require.NoError(t, err)
	require.Contains(t, string(comment), "**Allows more** (1)\n\n| where | what |\n|---|---|\n| [stage retitle](contracts/notes.poptic#L5) | reads /notes/x |\n")
	require.FileExists(t, summary)
	_, err = s.run("bash", allows.Run, "SINCE=nowhere", "GITHUB_STEP_SUMMARY="+summary)
	require.Error(t, err, "what cannot be compared fails")

	for _, step := range w.Jobs["main"].Steps {
		if step.Run != "" {
			said, err := s.run("bash", step.Run)
			require.NoError(t, err, said)
		}
		if step.With["sarif_file"] != nil {
			data, err := os.ReadFile(filepath.Join(s.dir, step.With["sarif_file"].(string)))
			require.NoError(t, err)
			require.Contains(t, string(data), `"ruleId": "unused_type"`)
		}
	}
}

func TestGitLabIsGivenAReportOfWhatIsNew(t *testing.T) {
	s := newSandbox(t)
	var pipeline map[string]struct {
		Image, Stage string
		Rules        []map[string]any
		Variables    map[string]string
		Script       []string
		Artifacts    struct {
			When    string
			Paths   []string
			Reports map[string]string
		}
	}
	read(t, "gitlab-ci.yml", &pipeline)
	job := pipeline["contracts"]
	script := strings.Join(job.Script, "\n")
	said, err := s.run("sh", script, "CI_MERGE_REQUEST_DIFF_BASE_SHA=main")
	require.NoError(t, err, said)
	s.write("contracts/notes.poptic", clean+known+worse)
	said, err = s.run("sh", script, "CI_MERGE_REQUEST_DIFF_BASE_SHA=main")
	require.Error(t, err, said)
	data, err := os.ReadFile(filepath.Join(s.dir, job.Artifacts.Reports["junit"]))
	require.NoError(t, err)
	require.Contains(t, string(data), `tests="1" failures="1"`)
	require.Contains(t, string(data), "unused_region")
	allows, err := os.ReadFile(filepath.Join(s.dir, job.Artifacts.Paths[0]))
	require.NoError(t, err)
	require.Contains(t, string(allows), "No contract changed in what it allows.")
}

func TestTheHookRefusesWhatIsCommittedAndNotWhatLiesThere(t *testing.T) {
	s := newSandbox(t)
	hook, err := os.ReadFile("pre-commit")
	require.NoError(t, err)
	at := filepath.Join(s.dir, ".git", "hooks", "pre-commit")
	require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(t, os.WriteFile(at, hook, 0o755))
	commit := func() (string, error) { return s.run("sh", "git commit -q -m change") }

	s.write("contracts/notes.poptic", clean+known+worse)
	s.git("add", ".")
	said, err := commit()
	require.Error(t, err)
	require.Contains(t, said, "unused_region")
	require.NotContains(t, said, "unused_type")

	s.write("contracts/notes.poptic", clean+known+"# All right.\n") // not added: what is committed is still the other
	said, err = commit()
	require.Error(t, err, said)

	s.git("add", ".")
	s.write("contracts/notes.poptic", "contract broken\n")
	said, err = commit()
	require.NoError(t, err, said)

	s.write("README.md", "no contract")
	s.git("add", "README.md")
	said, err = commit()
	require.NoError(t, err, said)
}

func TestTheHooksOfTheFrameworkAreCommandsThatDoWhatTheySay(t *testing.T) {
	s := newSandbox(t)
	var hooks []struct{ ID, Name, Language, Entry, Files string }
	read(t, "pre-commit-hooks.yaml", &hooks)
	run := func() (said string, failed []string) {
		for _, h := range hooks {
			require.Regexp(t, h.Files, "contracts/notes.poptic")
			before, err := os.ReadFile(filepath.Join(s.dir, "contracts/notes.poptic"))
			require.NoError(t, err)
			out, err := s.run("sh", h.Entry+" contracts/notes.poptic")
			after, _ := os.ReadFile(filepath.Join(s.dir, "contracts/notes.poptic"))
			if said += out; err != nil || string(before) != string(after) { // the framework fails what changes files
				failed = append(failed, h.ID)
			}
		}
		return said, failed
	}
	said, failed := run()
	require.Empty(t, failed, said)
	s.write("contracts/notes.poptic", strings.ReplaceAll(clean, "  read", "     read")+known)
	_, failed = run()
	require.Equal(t, []string{"poptic-fmt"}, failed)
	s.write("contracts/notes.poptic", clean+known+worse)
	said, failed = run()
	require.Equal(t, []string{"poptic-check"}, failed, said)
}
