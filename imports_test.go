// Package poptic_test checks the arrows between the project's folders: imports
// go one way, along the pipeline from source text to runtime.
package poptic_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/patchoptic/poptic/"

// A ban says which packages may not be imported from where. Project packages are
// written without the module path; a name covers the folders below it.
type ban struct {
	From      []string // packages the ban holds for
	FromBut   []string // packages below From it does not hold for
	Import    []string // what they may not import
	ImportBut []string // what they may import all the same
	Tests     bool     // whether it holds for test files too
	Reason    string
}

// everything stands for every package of the project, or every import of one.
const everything = ""

// The floors, from the source text up. A package may use those of its own floor
// and of the floors before it, as far as the bans below allow.
var (
	langFloor     = []string{"lang", "internal/diagnostic", "internal/syntax"}
	kernel        = []string{"internal/region", "internal/ir", "internal/expr"}
	compilerFloor = []string{
		"compiler", "internal/check", "internal/explain", "internal/footprint", "internal/certificate", "internal/witness", "internal/plan", "internal/diff",
	}
	runtimeFloor = []string{
		"runtime", "internal/tree", "internal/view", "internal/verify", "internal/trace", "internal/normalise", "internal/guide", "internal/schema",
	}
	suiteFloor = []string{"internal/suite", "suite"}
	leaves     = []string{"cmd", "stdlib", "examples"}
)

// but is a list without some of its names.
func but(list []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(n string) bool { return slices.Contains(names, n) })
}

// all joins floors into one list.
func all(floors ...[]string) []string {
	var out []string
	for _, f := range floors {
		out = append(out, f...)
	}
	return out
}

var bans = []ban{
	{
		From: langFloor, Import: all(kernel, compilerFloor, runtimeFloor, suiteFloor, leaves), Tests: true,
		Reason: "the source language knows nothing of what follows it, so that a formatter or editor links nothing else",
	},
	{
		From: []string{"internal/decimal", "internal/spell"}, Import: all(langFloor, kernel, compilerFloor, runtimeFloor, suiteFloor, leaves), Tests: true,
		Reason: "the arithmetic of numbers and the distance of names know nothing of contracts",
	},
	{
		From: []string{"internal/region"}, Import: all(langFloor, but(kernel, "internal/region"), compilerFloor, runtimeFloor, suiteFloor, leaves), Tests: true,
		Reason: "path sets are pure mathematics that every other package builds on",
	},
	{
		From: []string{"internal/ir"}, Import: all(langFloor, []string{"internal/expr"}, compilerFloor, runtimeFloor, suiteFloor, leaves), Tests: true,
		Reason: "a compiled contract is plain data without pointers into sources or engines",
	},
	{
		From: []string{"internal/expr"}, Import: all(langFloor, compilerFloor, runtimeFloor, suiteFloor, leaves),
		Reason: "the runtime compiles expressions again when it loads a contract, and must not link the front end for it",
	},
	{
		From: runtimeFloor, Import: all(langFloor, compilerFloor, suiteFloor, leaves), Tests: true,
		Reason: "a program that embeds the runtime links neither the parser nor the linter",
	},
	{
		From: compilerFloor, Import: all(runtimeFloor, suiteFloor),
		Reason: "contracts are judged statically; only contract tests and the replay of witnesses run them",
	},
	{
		From:   []string{"internal/certificate"},
		Import: all(langFloor, []string{"internal/expr"}, but(compilerFloor, "internal/certificate"), runtimeFloor, suiteFloor, leaves),
		Reason: "what checks a proof shares nothing with what found it; of regions it uses the data types only",
	},
	{
		From: []string{"internal/explain"}, Import: []string{"internal/syntax", "internal/check", "compiler"},
		Reason: "what is said of a compiled contract is said by services and agents too, which link no front end",
	},
	{
		From: []string{everything}, Import: []string{"cmd"}, Tests: true,
		Reason: "the command line is a leaf: what others need of it belongs in a package",
	},
	{
		From: []string{everything}, FromBut: []string{"cmd", "internal/lsp"}, Import: []string{"internal/lsp"}, Tests: true,
		Reason: "the language server is a front of the compiler, as the command line is; what others need of it belongs below",
	},
	{
		From: []string{everything}, FromBut: []string{"internal/lsp"}, Import: []string{"github.com/sourcegraph/jsonrpc2"}, Tests: true,
		Reason: "one package speaks to editors",
	},
	{
		From: []string{everything}, FromBut: []string{"internal/expr"}, Import: []string{"github.com/google/cel-go", "cel.dev/cel-go"},
		Reason: "one package fixes what an expression means, its limits and its reads",
	},
	{
		From: []string{everything}, FromBut: []string{"internal/syntax"}, Import: []string{"github.com/alecthomas/participle"}, Tests: true,
		Reason: "the grammar is one package's concern, and its library's errors reach no user",
	},
	{
		From: []string{everything}, FromBut: []string{"internal/tree/jsonpatch"}, Import: []string{"github.com/evanphx/json-patch"}, Tests: true,
		Reason: "that library deviates from RFC 6902; one package knows where it may be trusted",
	},
	{
		From: []string{everything}, FromBut: []string{"runtime/store/sqlite"}, Import: []string{"modernc.org/sqlite", "github.com/mattn/go-sqlite3"}, Tests: true,
		Reason: "a database driver belongs to its store package only",
	},
	{
		From: []string{everything}, FromBut: []string{"cmd"}, Import: []string{"github.com/tiktoken-go/tokenizer"},
		Reason: "a vocabulary has megabytes, and what counts tokens decides nothing: the command line tells authors, and embedding programs bring their model's own",
	},
	{
		From: all(langFloor, kernel, compilerFloor), Import: []string{"net"}, ImportBut: []string{"net/mail", "net/netip", "net/url"},
		Reason: "compiling a contract needs no network",
	},
}

func TestImportsGoOneWay(t *testing.T) {
	for _, imp := range projectImports(t) {
		for _, b := range bans {
			if b.forbids(imp) {
				t.Errorf("%s imports %s: %s", imp.file, imp.path, b.Reason)
			}
		}
	}
}

func TestTheCheckOfImportsFindsEachBannedArrow(t *testing.T) {
	for i, b := range bans {
		for _, target := range b.Import {
			imp := importLine{pkg: path.Join(b.From[0], "x"), path: qualified(target), file: "x.go"}
			require.True(t, b.forbids(imp), "ban %d does not forbid %s -> %s", i, imp.pkg, imp.path)
			imp.test = true
			require.Equal(t, b.Tests, b.forbids(imp), "ban %d in a test file", i)
		}
		for _, allowed := range b.FromBut {
			require.False(t, b.forbids(importLine{pkg: allowed, path: qualified(b.Import[0])}))
		}
		for _, allowed := range b.ImportBut {
			require.False(t, b.forbids(importLine{pkg: b.From[0], path: qualified(allowed)}))
		}
	}
}

func TestTheStandardLibrarysRuntimeIsNotTheProjects(t *testing.T) {
	for _, b := range bans {
		require.False(t, b.forbids(importLine{pkg: "lang/source", path: "runtime/debug"}))
	}
}

func TestEveryBanHasItsReason(t *testing.T) {
	for _, b := range bans {
		require.NotEmpty(t, b.Reason)
	}
}

// An importLine is one import of one file of the project.
type importLine struct {
	pkg  string // importing package, relative to the module
	path string // import path
	file string
	test bool
}

func (b ban) forbids(imp importLine) bool {
	if imp.test && !b.Tests {
		return false
	}
	return covers(b.From, imp.pkg) && !covers(b.FromBut, imp.pkg) &&
		covers(qualifiedAll(b.Import), imp.path) && !covers(qualifiedAll(b.ImportBut), imp.path)
}

// covers reports whether pkg is one of folders or lies below one.
func covers(folders []string, pkg string) bool {
	for _, f := range folders {
		if f == everything || pkg == f || strings.HasPrefix(pkg, f+"/") {
			return true
		}
	}
	return false
}

// qualified turns a name as bans write it into an import path: a first element
// that is a folder of the project means the project's own, so "runtime" is never
// the standard library's package of that name.
func qualified(name string) string {
	switch first, _, _ := strings.Cut(name, "/"); first {
	case "lang", "internal", "compiler", "runtime", "suite", "cmd", "stdlib", "examples":
		return module + name
	}
	return name
}

func qualifiedAll(names []string) []string {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = qualified(name)
	}
	return paths
}

func projectImports(t *testing.T) []importLine {
	var all []importLine
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		lines, err := fileImports(filepath.ToSlash(name))
		all = append(all, lines...)
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, all)
	sort.Slice(all, func(i, j int) bool { return all[i].file < all[j].file })
	return all
}

func fileImports(name string) ([]importLine, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly)
	if err != nil {
		return nil, fmt.Errorf("the imports of %s cannot be read: %w", name, err)
	}
	var lines []importLine
	for _, spec := range parsed.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		lines = append(lines, importLine{pkg: path.Dir(name), path: target, file: name, test: strings.HasSuffix(name, "_test.go")})
	}
	return lines, nil
}

// linked lists the packages that a program links which imports those given.
func linked(t *testing.T, packages ...string) []string {
	t.Helper()
	list := exec.Command("go", append([]string{"list", "-deps"}, packages...)...)
	out, err := list.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// inAny reports whether a package is one of those named, or below one.
func inAny(pkg string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return pkg == n || strings.HasPrefix(pkg, n+"/") })
}

func TestAnEmbeddingProgramLinksWhatRunsAContractAndNoMore(t *testing.T) {
	own := []string{}
	for _, name := range all([]string{"internal/decimal", "internal/spell"}, kernel, runtimeFloor) {
		own = append(own, qualified(name))
	}
	sqlite := []string{"modernc.org", qualified("runtime/store/sqlite")}
	alien := append([]string{"github.com/alecthomas", "github.com/evanphx", "github.com/stretchr", "net/http", "go/parser", "testing"}, sqlite...)
	for _, program := range []struct {
		packages []string
		more     []string // what it links beside what every one does
	}{
		{[]string{"./runtime", "./runtime/store"}, nil},
		{[]string{"./runtime", "./runtime/store/sqlite"}, sqlite},
		{[]string{"./examples/embed"}, append([]string{qualified("examples/embed")}, sqlite...)},
	} {
		all := linked(t, program.packages...)
		require.Contains(t, all, qualified("runtime"))
		for _, pkg := range all {
			if inAny(pkg, program.more) {
				continue
			}
			require.False(t, inAny(pkg, alien), "%v links %s", program.packages, pkg)
			require.True(t, !strings.HasPrefix(pkg, module) || inAny(pkg, own), "%v links %s", program.packages, pkg)
		}
		for _, pkg := range program.more {
			require.True(t, slices.ContainsFunc(all, func(p string) bool { return inAny(p, []string{pkg}) }), "%v does not link %s", program.packages, pkg)
		}
	}
}
