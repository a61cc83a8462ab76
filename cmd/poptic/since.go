package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing/fstest"

	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
)

// What is new since a commit: findings in the files as they are, of which there were fewer
// in the files as they were then. One is told from others by its code, its message and the
// text of its line, so that neither lines that moved nor files that were renamed make it
// new. Levels are those of today in both.

// A revision is the sources of a repository as they were at a commit.
type revision struct {
	top   string // the repository's folder
	files fstest.MapFS
}

// longestOld bounds the files of a commit that are read: fixtures of tests may be large.
const longestOld = 1 << 26

// readRevision reads what a check may look at from a commit of the repository that a folder
// is in.
func readRevision(ctx context.Context, dir, ref string) (*revision, error) {
	git := func(in io.Reader, args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
		var out, errOut bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &errOut
		if err := cmd.Run(); err != nil {
			if errors.Is(err, exec.ErrNotFound) {
				return nil, fail("install git, or leave --since out", "there is no git to ask what was there at %s", ref)
			}
			reason, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(errOut.String()), "fatal: "), "\n")
			return nil, fail("name a branch, a tag or a commit of the repository that the files are in; a shallow clone may have to be fetched deeper", "git cannot say what was there at %s: %s", ref, reason)
		}
		return out.Bytes(), nil
	}
	top, err := git(nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	commit, err := git(nil, "rev-parse", "--verify", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return nil, err
	}
	listing, err := git(nil, "ls-tree", "-r", "-z", "-l", "--full-tree", strings.TrimSpace(string(commit)))
	if err != nil {
		return nil, err
	}
	r := &revision{top: strings.TrimRight(string(top), "\r\n"), files: fstest.MapFS{}}
	var names []string
	var asked strings.Builder
	for _, entry := range strings.Split(string(listing), "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(about) // mode, type, object, size
		if len(fields) != 4 || fields[1] != "blob" || !slices.Contains([]string{".poptic", ".json"}, path.Ext(name)) || !fs.ValidPath(name) {
			continue
		}
		if size, err := strconv.Atoi(fields[3]); err == nil && size <= longestOld {
			names = append(names, name)
			asked.WriteString(fields[2] + "\n")
		}
	}
	contents, err := git(strings.NewReader(asked.String()), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	in := bufio.NewReader(bytes.NewReader(contents))
	for _, name := range names {
		head, err := in.ReadString('\n') // object, type, size
		if err != nil {
			return nil, fmt.Errorf("what git gave of %s is cut off: %w", ref, err)
		}
		fields := strings.Fields(head)
		size, err := strconv.Atoi(fields[len(fields)-1])
		if err != nil {
			return nil, fmt.Errorf("git has no text of %s at %s", name, ref)
		}
		text := make([]byte, size+1) // and a line feed
		if _, err := io.ReadFull(in, text); err != nil {
			return nil, fmt.Errorf("what git gave of %s is cut off: %w", ref, err)
		}
		r.files[name] = &fstest.MapFile{Data: text[:size]}
	}
	return r, nil
}

// within is where a file or folder lies in the repository.
func (r *revision) within(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	top := r.top
	if real, err := filepath.EvalSymlinks(top); err == nil {
		top = real
	}
	rel, err := filepath.Rel(top, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fail("check the files of one repository at a time", "%s is not in the repository %s", name, r.top)
	}
	return filepath.ToSlash(rel), nil
}

// findings are those of the files below some paths, as they were.
func (r *revision) findings(c *console, paths []string, root string, states []namedState, configs configurations) ([]source.Diagnostic, error) {
	var all []source.Diagnostic
	for _, p := range paths {
		inside, err := r.within(p)
		if err != nil {
			return nil, err
		}
		for name := range r.files {
			rest := strings.TrimPrefix(name, strings.TrimSuffix(inside, "/")+"/")
			if inside == "." {
				rest = name
			}
			if path.Ext(name) != ".poptic" || name != inside && (rest == name && inside != "." || isPassedOver(rest)) {
				continue
			}
			found, err := r.judge(c, filepath.Join(r.top, filepath.FromSlash(name)), name, root, states, configs)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return withoutRepeats(all), nil
}

// isPassedOver reports whether a file lies in a folder that a search leaves out.
func isPassedOver(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return dir != "." && strings.HasPrefix(dir, ".") || dir == "testdata"
	})
}

// judge gives the findings of a file as it was, below the root that it would have today.
func (r *revision) judge(c *console, file, name, root string, states []namedState, configs configurations) ([]source.Diagnostic, error) {
	if root == "" {
		root = defaultRoot(file)
	}
	at, err := r.within(root)
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(r.files, at)
	if err != nil {
		return nil, err
	}
	inside := name
	if at != "." {
		inside = strings.TrimPrefix(name, at+"/")
	}
	_, found, err := judgeIn(c, files, inside, func(p string) string { return filepath.Join(root, filepath.FromSlash(p)) }, states, filepath.Dir(file), configs)
	return found, err
}

// newSince leaves out the findings that there were at a commit, as often as there were.
func newSince(now, then []source.Diagnostic) []source.Diagnostic {
	known := map[string]int{}
	for _, d := range then {
		known[report.Fingerprint(d)]++
	}
	return slices.DeleteFunc(slices.Clone(now), func(d source.Diagnostic) bool {
		key := report.Fingerprint(d)
		known[key]--
		return known[key] >= 0
	})
}

// folderOf is a folder to ask git in: of a path, or of the file that it is.
func folderOf(name string) string {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return name
	}
	return filepath.Dir(name)
}
