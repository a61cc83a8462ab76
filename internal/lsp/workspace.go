package lsp

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
	"github.com/patchoptic/poptic/stdlib"
)

// A document is a file that is open in the editor, in one version. It is not changed: an edit
// makes another one.
type document struct {
	uri     string // as the client writes it
	name    string // the file, as compilations call it: see fileName
	version int
	*content
}

// A snapshot is what is open at one time, and the folders of the workspace. It is not changed.
type snapshot struct {
	docs    map[string]*document // by name
	folders []string
	recent  string // what was changed last
}

func (s *snapshot) with(d *document) *snapshot {
	out := &snapshot{docs: map[string]*document{}, folders: s.folders, recent: d.name}
	maps.Copy(out.docs, s.docs)
	out.docs[d.name] = d
	return out
}

func (s *snapshot) without(name string) *snapshot {
	out := &snapshot{docs: maps.Clone(s.docs), folders: s.folders, recent: s.recent}
	delete(out.docs, name)
	return out
}

// fileName is what compilations call the file of a URI: its path, or the URI itself where
// that is of no file, as that of a text which was never saved.
func fileName(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	p := u.Path
	if runtime.GOOS == "windows" && len(p) > 2 && p[0] == '/' && p[2] == ':' {
		p = strings.ToUpper(p[1:2]) + p[2:]
	}
	return filepath.Clean(filepath.FromSlash(p))
}

// uriOf is the URI of a file: the client's own for one that it has opened.
func (s *snapshot) uriOf(name string) string {
	if d := s.docs[name]; d != nil {
		return d.uri
	}
	if !filepath.IsAbs(name) {
		return name
	}
	p := filepath.ToSlash(name)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// place finds the folder that the imports of a file may not leave, the innermost of the
// workspace's that the file is in, else its own; and the file's path in it.
func (s *snapshot) place(name string) (dir, in string) {
	if !filepath.IsAbs(name) {
		return "", "unsaved" + extensionOf(name)
	}
	for _, folder := range s.folders {
		rel, err := filepath.Rel(folder, name)
		// "std/" starts what comes with the compiler, whatever a folder has by that name.
		if err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(filepath.ToSlash(rel), stdPrefix) && len(folder) > len(dir) {
			dir = folder
		}
	}
	dir = cmp.Or(dir, filepath.Dir(name))
	rel, _ := filepath.Rel(dir, name)
	return dir, filepath.ToSlash(rel)
}

const (
	stdPrefix = "std/"
	extension = ".poptic"
)

func extensionOf(name string) string {
	if strings.HasSuffix(name, compiler.TestSuffix) {
		return compiler.TestSuffix
	}
	return extension
}

// A disk is the files of a folder as the editor has them: what is open stands for what is
// saved. It notes what is read, so that it can be seen later whether that has changed.
type disk struct {
	snap *snapshot
	dir  string
	self *document         // the document that is compiled
	path string            // its path
	read map[string]string // the text of a file by its path; one that cannot be read has none
	root *os.Root          // nil where there is no folder
}

func (s *snapshot) disk(name string) *disk {
	d := &disk{snap: s, read: map[string]string{}, self: s.docs[name]}
	if d.dir, d.path = s.place(name); d.dir != "" {
		d.root, _ = os.OpenRoot(d.dir)
	}
	return d
}

func (d *disk) close() {
	if d.root != nil {
		d.root.Close()
	}
}

// show is what compilations call a file: its name, or for one that comes with the compiler
// its path, which is no absolute one.
func (d *disk) show(p string) string {
	switch {
	case strings.HasPrefix(p, stdPrefix):
		return p
	case p == d.path && d.self != nil:
		return d.self.name
	}
	return filepath.Join(d.dir, filepath.FromSlash(p))
}

// missing stands for the text of a file that cannot be read; no source text has it.
const missing = "\x00missing"

// ReadFile implements fs.ReadFileFS.
func (d *disk) ReadFile(p string) ([]byte, error) {
	if open := d.snap.docs[d.show(p)]; open != nil {
		d.read[p] = open.text
		return []byte(open.text), nil
	}
	if d.root == nil {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	text, err := fs.ReadFile(d.root.FS(), p)
	if d.read[p] = string(text); err != nil {
		d.read[p] = missing
	}
	return text, err
}

// Open implements fs.FS.
func (d *disk) Open(p string) (fs.File, error) {
	if d.root == nil {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return d.root.FS().Open(p)
}

// An analysis is what compiling a file said, and of which texts it said that.
type analysis struct {
	name    string
	dir     string
	path    string
	read    map[string]string
	config  *lint.Config
	out     compiler.Output
	whole   bool // claims are answered, and all rules were asked
	found   []source.Diagnostic
	symbols func() *symbol.Table
}

// holds reports whether an analysis is one of what a snapshot has.
func (a *analysis) holds(s *snapshot) bool {
	dir, in := s.place(a.name)
	if config, _ := configOf(a.name); dir != a.dir || in != a.path || config != a.config {
		return false
	}
	d := s.disk(a.name)
	defer d.close()
	for p, text := range a.read {
		now, err := d.ReadFile(p)
		if err != nil {
			now = []byte(missing)
		}
		if string(now) != text {
			return false
		}
	}
	return true
}

// compile analyses a file, but for its claims and what takes longer than compiling.
func compile(ctx context.Context, s *snapshot, name string, cache *compiler.Cache) (*analysis, error) {
	d := s.disk(name)
	defer d.close()
	out, err := compiler.Compile(ctx, compiler.Input{FS: d, Path: d.path, Show: d.show, Cache: cache, LeaveClaims: true})
	if err != nil {
		return nil, err
	}
	a := &analysis{name: name, dir: d.dir, path: d.path, read: d.read, out: out, symbols: symbolsOf(out)}
	a.config, _ = configOf(name)
	a.found, err = lint.Findings(ctx, lint.Input{Output: out, FS: d, Path: d.path, Config: a.config, Noted: true})
	return a, err
}

// configs are the configurations that were read, by their file's name and text: one that has
// not changed stays the same value.
var configs sync.Map

// configOf is the configuration that holds for a file, nil if there is none, and what is wrong
// with it.
func configOf(name string) (*lint.Config, *lint.ConfigError) {
	if !filepath.IsAbs(name) {
		return nil, nil
	}
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		file := filepath.Join(dir, lint.ConfigFile)
		text, err := os.ReadFile(file)
		if err == nil {
			return parsedConfig(file, string(text))
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return nil, nil
		}
	}
}

func parsedConfig(file, text string) (*lint.Config, *lint.ConfigError) {
	type result struct {
		config *lint.Config
		wrong  *lint.ConfigError
	}
	key := file + "\x00" + text
	if known, ok := configs.Load(key); ok {
		return known.(result).config, known.(result).wrong
	}
	var out result
	config, err := lint.ParseConfig(file, []byte(text))
	if errors.As(err, &out.wrong); err == nil {
		out.config = config
	}
	known, _ := configs.LoadOrStore(key, out)
	return known.(result).config, known.(result).wrong
}

// file is the tree of a file that was read, nil if it was not.
func (a *analysis) file(name string) *syntax.File {
	for _, f := range a.out.Files {
		if f.Source.Name == name {
			return f
		}
	}
	return nil
}

// imported is the file that an import of another one means, nil if it was not read.
func (a *analysis) imported(from string, d *syntax.Import) *syntax.File {
	name := d.Path.Value
	if std, ok := strings.CutPrefix(name, stdPrefix); ok {
		return a.file(stdPrefix + strings.TrimSuffix(std, extension) + extension)
	}
	return a.file(filepath.Join(filepath.Dir(from), filepath.FromSlash(name)))
}

// Analyses are the latest one of each file that something was asked of.
type analyses struct {
	cache    compiler.Cache
	variants compiler.Cache // of texts that were never in the editor

	mu     sync.Mutex
	latest map[string]*slot
}

// A slot is for the analysis of one file; who makes it holds the lock, so that it is made once.
type slot struct {
	sync.Mutex
	*analysis
}

func (l *analyses) slot(name string) *slot {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.latest == nil {
		l.latest = map[string]*slot{}
	}
	if l.latest[name] == nil {
		l.latest[name] = &slot{}
	}
	return l.latest[name]
}

// of is the analysis of a file in a snapshot. The error is that of ctx.
func (l *analyses) of(ctx context.Context, s *snapshot, name string) (*analysis, error) {
	at := l.slot(name)
	at.Lock()
	defer at.Unlock()
	if at.analysis != nil && at.analysis.holds(s) {
		return at.analysis, ctx.Err()
	}
	made, err := compile(ctx, s, name, &l.cache)
	if err != nil {
		return nil, err
	}
	at.analysis = made
	return made, nil
}

// keep puts an analysis in the place of the one that it was made of.
func (l *analyses) keep(before, after *analysis) {
	at := l.slot(after.name)
	at.Lock()
	defer at.Unlock()
	if at.analysis == before {
		at.analysis = after
	}
}

// forget drops what is kept of a file.
func (l *analyses) forget(name string) {
	l.mu.Lock()
	delete(l.latest, name)
	l.mu.Unlock()
	l.cache.Forget(name)
}

// about is the analysis that knows most of a file: of a library that of an open contract
// which imports it, since its paths are paths of that contract's state.
func (l *analyses) about(ctx context.Context, s *snapshot, name string) (*analysis, error) {
	own, err := l.of(ctx, s, name)
	if err != nil || own.out.Draft != nil || own.out.Subject != nil {
		return own, err
	}
	for _, other := range slices.Sorted(maps.Keys(s.docs)) {
		if other == name || !s.importsFrom(other, name) {
			continue
		}
		a, err := l.of(ctx, s, other)
		if err != nil {
			return nil, err
		}
		if a.out.Draft != nil && a.file(name) != nil {
			return a, nil
		}
	}
	return own, nil
}

var importLine = regexp.MustCompile(`(?m)^[ \t]*import[ \t]+"([^"\n]+)"`)

// importsFrom reports whether a file imports another, itself or through what it imports, or
// has tests of it. It
// looks at the text only, so that a workspace can be searched for it.
func (s *snapshot) importsFrom(name, library string) bool {
	seen := map[string]bool{name: true}
	for todo := []string{name}; len(todo) > 0; todo = todo[1:] {
		if subject, is := subjectOf(todo[0]); is {
			if subject == library {
				return true
			}
			todo = append(todo, subject)
		}
		for _, m := range importLine.FindAllStringSubmatch(s.textOf(todo[0]), -1) {
			if strings.HasPrefix(m[1], stdPrefix) {
				continue
			}
			target := filepath.Join(filepath.Dir(todo[0]), filepath.FromSlash(m[1]))
			if target == library {
				return true
			}
			if !seen[target] && len(seen) < maxFiles {
				seen[target] = true
				todo = append(todo, target)
			}
		}
	}
	return false
}

// textOf is the text of a file, "" if it cannot be read.
func (s *snapshot) textOf(name string) string {
	if d := s.docs[name]; d != nil {
		return d.text
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxSize {
		return ""
	}
	text, _ := os.ReadFile(name)
	return string(text)
}

// Bounds of what is searched in a workspace.
const (
	maxFiles = 5000
	maxSize  = 1 << 20
)

// files lists the source files of the workspace and what is open, sorted. Hidden folders and
// those of packages are passed over.
func (s *snapshot) files(ctx context.Context) []string {
	found := map[string]bool{}
	for name := range s.docs {
		found[name] = true
	}
	for _, folder := range s.folders {
		filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return nil
			case ctx.Err() != nil || len(found) >= maxFiles:
				return fs.SkipAll
			case d.IsDir() && name != folder && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
				return fs.SkipDir
			case !d.IsDir() && filepath.Ext(name) == extension:
				found[name] = true
			}
			return nil
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// standardFile puts a library that comes with the compiler where an editor can open it, and
// gives its name; "" if that is not possible.
func standardFile(folder, p string) string {
	text, err := fs.ReadFile(stdlib.FS, strings.TrimPrefix(p, stdPrefix))
	if err != nil || folder == "" {
		return ""
	}
	name := filepath.Join(folder, path.Base(p))
	if now, err := os.ReadFile(name); err == nil && string(now) == string(text) {
		return name
	}
	if os.MkdirAll(folder, 0o755) != nil || os.WriteFile(name, text, 0o644) != nil {
		return ""
	}
	return name
}
