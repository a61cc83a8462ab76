// Command house measures how the repository is divided: into files, functions,
// types and names. It prints the figures that show whether a reader finds a
// subject in one place.
//
//	go run ./internal/tools/house [-types] [-unused] [DIR]
//
// Test files count only where the table says so. A type is scattered when its
// methods lie in five files or more. An exported name is unused when no other
// package of the module names it (methods and fields are not counted).
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// scattered is the number of files from which a type's methods count as scattered.
const scattered = 5

func main() {
	types := flag.Bool("types", false, "name the types whose methods lie in "+strconv.Itoa(scattered)+" files or more")
	unused := flag.Bool("unused", false, "name the exported names that no other package uses")
	flag.Parse()
	dir := "."
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	h, err := measure(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(2)
	}
	h.print(os.Stdout)
	if *types {
		for _, t := range h.scatteredTypes() {
			fmt.Printf("%3d files  %s\n", len(h.methodFiles[t]), t)
		}
	}
	if *unused {
		for _, n := range h.unusedNames() {
			fmt.Println(n)
		}
	}
}

// A house is what measure found in one module.
type house struct {
	module      string
	files       []int                      // lines of each file of code
	functions   []int                      // lines of each function of code
	methodFiles map[string]map[string]bool // package.Type -> files that hold its methods
	examples    int                        // testable examples
	exported    map[string]bool            // import path and name of each exported declaration
	used        map[string]bool            // those that another package names
	packages    map[string]*room
}

// A room is one package's share.
type room struct{ files, lines, tests int }

// measure reads every Go file below dir that belongs to its module.
func measure(dir string) (*house, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	h := &house{
		module:      strings.TrimSpace(strings.TrimPrefix(first, "module")),
		methodFiles: map[string]map[string]bool{}, exported: map[string]bool{}, used: map[string]bool{}, packages: map[string]*room{},
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return h.read(name, filepath.ToSlash(rel))
	})
	return h, err
}

func (h *house) read(name, rel string) error {
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	pkg := path.Dir(rel)
	if h.packages[pkg] == nil {
		h.packages[pkg] = &room{}
	}
	lines := strings.Count(string(src), "\n")
	h.uses(file, pkg)
	if strings.HasSuffix(rel, "_test.go") {
		h.packages[pkg].tests += lines
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Example") {
				h.examples++
			}
		}
		return nil
	}
	h.packages[pkg].files++
	h.packages[pkg].lines += lines
	h.files = append(h.files, lines)
	for _, d := range file.Decls {
		h.declare(fset, d, pkg, rel)
	}
	return nil
}

// declare counts one top-level declaration of a file of code.
func (h *house) declare(fset *token.FileSet, d ast.Decl, pkg, rel string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		h.functions = append(h.functions, fset.Position(d.End()).Line-fset.Position(d.Pos()).Line+1)
		if d.Recv == nil {
			h.export(pkg, d.Name)
			return
		}
		key := pkg + "." + receiver(d.Recv.List[0].Type)
		if h.methodFiles[key] == nil {
			h.methodFiles[key] = map[string]bool{}
		}
		h.methodFiles[key][rel] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				h.export(pkg, s.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					h.export(pkg, n)
				}
			}
		}
	}
}

func (h *house) export(pkg string, name *ast.Ident) {
	if name.IsExported() && !strings.HasPrefix(pkg, "cmd/") {
		h.exported[path.Join(h.module, pkg)+"."+name.Name] = true
	}
}

// receiver is the name of a method's type, without pointer and type arguments.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// uses marks the names of other packages that a file, test or not, speaks of.
func (h *house) uses(file *ast.File, pkg string) {
	imports := map[string]string{}
	for _, i := range file.Imports {
		p, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = p
	}
	own := path.Join(h.module, pkg)
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && imports[x.Name] != "" && imports[x.Name] != own {
				h.used[imports[x.Name]+"."+s.Sel.Name] = true
			}
		}
		return true
	})
}

func (h *house) scatteredTypes() []string {
	var out []string
	for t, files := range h.methodFiles {
		if len(files) >= scattered {
			out = append(out, t)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := len(h.methodFiles[out[i]]), len(h.methodFiles[out[j]])
		return a > b || a == b && out[i] < out[j]
	})
	return out
}

func (h *house) unusedNames() []string {
	var out []string
	for n := range h.exported {
		if !h.used[n] {
			out = append(out, strings.TrimPrefix(n, h.module+"/"))
		}
	}
	sort.Strings(out)
	return out
}

func (h *house) print(w io.Writer) {
	total := 0
	for _, n := range h.files {
		total += n
	}
	row := func(name, value string) { fmt.Fprintf(w, "%-42s %s\n", name, value) }
	row("code lines", strconv.Itoa(total))
	row("files; median, p90, max lines", fmt.Sprintf("%d; %s", len(h.files), ranks(h.files, 50, 90, 100)))
	row("functions p50, p90, p99, max", ranks(h.functions, 50, 90, 99, 100))
	row(fmt.Sprintf("types with methods in >= %d files", scattered), strconv.Itoa(len(h.scatteredTypes())))
	row("testable Examples", strconv.Itoa(h.examples))
	row("exported names; used by no other package", fmt.Sprintf("%d; %d", len(h.exported), len(h.unusedNames())))
	fmt.Fprintf(w, "\n%-34s %6s %7s %7s\n", "package", "files", "lines", "tests")
	names := make([]string, 0, len(h.packages))
	for n := range h.packages {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		r := h.packages[n]
		fmt.Fprintf(w, "%-34s %6d %7d %7d\n", n, r.files, r.lines, r.tests)
	}
}

// ranks lists the values below which the given shares of a population lie.
func ranks(values []int, percent ...int) string {
	sorted := append([]int(nil), values...)
	sort.Ints(sorted)
	var out []string
	for _, p := range percent {
		if len(sorted) == 0 {
			return "-"
		}
		out = append(out, strconv.Itoa(sorted[(len(sorted)-1)*p/100]))
	}
	return strings.Join(out, ", ")
}
