package check

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
)

// Names. Each file has a scope: what it declares, and the libraries that it imports by
// alias. Names of a library are written behind its alias; its measures and invariants join
// the contract's own under that. Types and regions are lowered where they are first used, so
// that they may be declared in any order and one that contains itself is met again.

// A scope is the names one file declares, and the libraries it imports by alias.
type scope struct {
	file    *syntax.File
	prefix  string // what its measures and invariants are called by in the contract: "alias." or ""
	types   map[string]*typeDef
	regions map[string]*regionDef
	macros  map[string]*expr.Macro // constants and definitions
	imports map[string]*scope      // by alias; nil for what could not be read, which was reported

	path     string // of the file
	standard bool   // it is a standard library
}

// typeDef is a declared type; it is lowered when first used.
type typeDef struct {
	decl   *syntax.TypeDecl
	scope  *scope
	id     ir.TypeID
	active bool // being lowered: meeting it again means it contains itself
}

// regionDef is a declared region; it is lowered when first used.
type regionDef struct {
	decl   *syntax.RegionDecl
	scope  *scope
	region region.Region
	done   bool
	active bool
	faulty bool
}

// collect gathers the declarations of a file and of what it imports, and
// reports names declared twice.
func (c *checker) collect(u *Unit, prefix string) *scope {
	s := &scope{file: u.File, prefix: prefix, types: map[string]*typeDef{}, regions: map[string]*regionDef{}, macros: map[string]*expr.Macro{}, imports: map[string]*scope{}, path: u.Path, standard: u.Standard}
	seen := map[string]syntax.Decl{}
	if c.scopeOf[u.File.Source] == nil {
		c.scopeOf[u.File.Source] = s
	}
	for _, d := range u.File.Decls {
		if first, ok := seen[key(d)]; ok {
			c.report(declaredTwice(d, first))
			continue
		}
		if k := key(d); k != "" {
			seen[k] = d
		}
		switch d := d.(type) {
		case *syntax.Import:
			c.collectImport(u, s, d)
		case *syntax.TypeDecl:
			if slices.Contains(builtinTypes, d.Name.Text) {
				c.shadows(d.Name, "type")
			}
			s.types[d.Name.Text] = &typeDef{decl: d, scope: s}
		case *syntax.RegionDecl:
			s.regions[d.Name.Text] = &regionDef{decl: d, scope: s}
		case *syntax.ConstDecl, *syntax.DefineDecl:
			s.collectMacro(d)
		}
	}
	return s
}

func (c *checker) collectImport(u *Unit, s *scope, d *syntax.Import) {
	alias := importAlias(d)
	if _, taken := s.imports[alias]; taken {
		c.report(aliasTwice(d, alias))
		return
	}
	s.imports[alias] = nil
	if lib, ok := u.Imports[d]; ok && !c.tooManyDeclarations(lib, d) {
		s.imports[alias] = c.collect(lib, s.prefix+alias+".")
	}
}

// MaxImported bounds the declarations of all libraries of a contract, each as often as it
// is imported: one that imports another twice doubles what that one imports.
const MaxImported = 1 << 16

// tooManyDeclarations counts a library and what it declares, and reports once that there
// are too many.
func (c *checker) tooManyDeclarations(lib *Unit, at *syntax.Import) bool {
	before := c.imported
	c.imported += 1 + len(lib.File.Decls)
	if before <= MaxImported && c.imported > MaxImported {
		c.report(tooLarge(at.Span, "declarations of imported libraries", MaxImported, "a library counts as often as it is imported, by whatever way; import it once"))
	}
	return c.imported > MaxImported
}

// importAlias is the name an import is used by.
func importAlias(d *syntax.Import) string {
	if d.Alias.Text != "" {
		return d.Alias.Text
	}
	base := d.Path.Value[strings.LastIndexByte(d.Path.Value, '/')+1:]
	return strings.TrimSuffix(base, ".poptic")
}

// key identifies what a declaration declares; two with one key clash. Types,
// regions and the rest have name spaces of their own, but a stage, delegate,
// composition and parallel group share one, as claims name them alike.
func key(d syntax.Decl) string {
	name := d.DeclName().Text
	switch d.(type) {
	case *syntax.StateDecl:
		return "state"
	case *syntax.PhasesDecl:
		return "phases"
	case *syntax.TypeDecl:
		return named("type ", name)
	case *syntax.RegionDecl:
		return named("region ", name)
	case *syntax.MeasureDecl:
		return named("measure ", name)
	case *syntax.InvariantDecl:
		return named("invariant ", name)
	case *syntax.ConstDecl, *syntax.DefineDecl:
		return named("constant or definition ", name)
	case *syntax.RolesDecl:
		return named("group of roles ", name)
	case *syntax.StageDecl, *syntax.ComposeDecl, *syntax.ParallelDecl:
		return named("stage ", name)
	}
	return ""
}

func named(kind, name string) string {
	if name == "" {
		return ""
	}
	return kind + name
}

// resolve splits a possibly qualified name into the scope it belongs to and its
// last part; nil if its alias is unknown, which it reports, or could not be read.
func (c *checker) resolve(s *scope, n syntax.Name) (*scope, string) {
	alias, rest, qualified := strings.Cut(n.Text, ".")
	if !qualified {
		return s, n.Text
	}
	lib, ok := s.imports[alias]
	c.use(ok && lib == nil)
	if !ok {
		c.report(c.unknownImport(s, n, alias, rest))
		return nil, ""
	}
	return lib, rest
}

// shadows reports a name that means something already. That it is a word of the grammar
// the parser has reported.
func (c *checker) shadows(n syntax.Name, kind string) {
	if syntax.IsReserved(n.Text) {
		c.use(true)
		return
	}
	c.report(shadowsBuiltin(n, kind))
}

// scopes lists s and everything imported below it, the contract's own first.
func (s *scope) scopes() []*scope {
	out := []*scope{s}
	for _, alias := range keys(s.imports) {
		if lib := s.imports[alias]; lib != nil {
			out = append(out, lib.scopes()...)
		}
	}
	return out
}

// measures lists what the measures of s and of everything imported below it are
// called in s.
func (s *scope) measures() []string {
	var out []string
	for _, below := range s.scopes() {
		for _, d := range below.file.Decls {
			if d, ok := d.(*syntax.MeasureDecl); ok {
				out = append(out, strings.TrimPrefix(below.prefix, s.prefix)+d.Name.Text)
			}
		}
	}
	return out
}

// keys lists the keys of a map in order.
func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// contractOnly reports whether a declaration may stand in a contract only, and what it is called.
func contractOnly(d syntax.Decl) (string, bool) {
	switch d := d.(type) {
	case *syntax.StateDecl:
		return "state", true
	case *syntax.PhasesDecl:
		return "phases", true
	case *syntax.RolesDecl:
		return "roles", true
	case *syntax.StageDecl:
		if d.From != nil {
			return "delegate", true
		}
		return "stage", true
	case *syntax.ComposeDecl:
		return "compose", true
	case *syntax.ParallelDecl:
		return "parallel", true
	case *syntax.ProveDecl:
		return "prove", true
	case *syntax.GivenDecl:
		return "given", true
	case *syntax.TestDecl:
		return "test", true
	}
	return "", false
}
