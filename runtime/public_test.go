package runtime_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
)

const module = "github.com/patchoptic/poptic/"

// aliases are the public names of types that are made elsewhere.
var aliases = map[string]reflect.Type{
	"Guide":                reflect.TypeFor[runtime.Guide](),
	"GuideArgument":        reflect.TypeFor[runtime.GuideArgument](),
	"Place":                reflect.TypeFor[runtime.Place](),
	"PlaceKeys":            reflect.TypeFor[runtime.PlaceKeys](),
	"Shape":                reflect.TypeFor[runtime.Shape](),
	"ShapeMember":          reflect.TypeFor[runtime.ShapeMember](),
	"NamedShape":           reflect.TypeFor[runtime.NamedShape](),
	"ShapeKind":            reflect.TypeFor[runtime.ShapeKind](),
	"Limits":               reflect.TypeFor[runtime.Limits](),
	"StateLimits":          reflect.TypeFor[runtime.StateLimits](),
	"PatchLimits":          reflect.TypeFor[runtime.PatchLimits](),
	"ExpressionLimits":     reflect.TypeFor[runtime.ExpressionLimits](),
	"CostLimits":           reflect.TypeFor[runtime.CostLimits](),
	"Head":                 reflect.TypeFor[runtime.Head](),
	"RecordKind":           reflect.TypeFor[runtime.RecordKind](),
	"OperatorVerdict":      reflect.TypeFor[runtime.OperatorVerdict](),
	"ActorVerdict":         reflect.TypeFor[runtime.ActorVerdict](),
	"Decision":             reflect.TypeFor[runtime.Decision](),
	"Violation":            reflect.TypeFor[runtime.Violation](),
	"Gate":                 reflect.TypeFor[runtime.Gate](),
	"Code":                 reflect.TypeFor[runtime.Code](),
	"CodecError":           reflect.TypeFor[runtime.CodecError](),
	"UnknownStageError":    reflect.TypeFor[runtime.UnknownStageError](),
	"UnknownArgumentError": reflect.TypeFor[runtime.UnknownArgumentError](),
	"StateError":           reflect.TypeFor[runtime.StateError](),
	"StateProblem":         reflect.TypeFor[runtime.StateProblem](),
	"FormatError":          reflect.TypeFor[runtime.FormatError](),
	"BrokenTraceError":     reflect.TypeFor[runtime.BrokenTraceError](),
}

// publicFiles are the sources of the packages that an embedding program sees.
func publicFiles(t *testing.T) (files []*ast.File) {
	t.Helper()
	for _, dir := range []string{".", "prompt", "store", "store/sqlite"} {
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			require.NoError(t, err)
			files = append(files, f)
		}
	}
	require.Greater(t, len(files), 10)
	return files
}

// internals lists the names by which a file calls the packages that nobody else can import.
func internals(t *testing.T, f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		require.NoError(t, err)
		if strings.HasPrefix(name, module+"internal/") {
			names[path.Base(name)] = true
		}
	}
	return names
}

// signatures calls see with what each exported declaration shows: types of parameters,
// results, exported fields and embedded ones; what an alias stands for is not shown.
func signatures(f *ast.File, see func(declared string, shown ast.Node)) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || receiverIsExported(d)) {
				see(d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && !s.Assign.IsValid() {
						shownOf(s, see)
					}
				case *ast.ValueSpec:
					if s.Type != nil && s.Names[0].IsExported() {
						see(s.Names[0].Name, s.Type)
					}
				}
			}
		}
	}
}

func shownOf(s *ast.TypeSpec, see func(string, ast.Node)) {
	fields, ok := s.Type.(*ast.StructType)
	if !ok {
		see(s.Name.Name, s.Type)
		return
	}
	for _, field := range fields.Fields.List {
		if len(field.Names) == 0 || field.Names[0].IsExported() {
			see(s.Name.Name, field.Type)
		}
	}
}

func receiverIsExported(d *ast.FuncDecl) bool {
	receiver := d.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	name, ok := receiver.(*ast.Ident)
	return ok && name.IsExported()
}

func TestPublicSignaturesNameNoTypeThatOnlyThisModuleCanImport(t *testing.T) {
	seen := 0
	for _, f := range publicFiles(t) {
		hidden := internals(t, f)
		signatures(f, func(declared string, shown ast.Node) {
			seen++
			ast.Inspect(shown, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && hidden[x.Name] {
						t.Errorf("%s shows %s.%s: give it a public name", declared, x.Name, s.Sel.Name)
					}
				}
				return true
			})
		})
	}
	require.Greater(t, seen, 80)
}

func TestEveryPublicNameOfATypeMadeElsewhereListsItsFields(t *testing.T) {
	docs := map[string]string{}
	for _, f := range publicFiles(t) {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && s.Assign.IsValid() {
					docs[s.Name.Name] = s.Doc.Text() + g.Doc.Text()
				}
			}
		}
	}
	require.Equal(t, len(aliases), len(docs))
	public := map[reflect.Type]bool{}
	for _, made := range aliases {
		public[made] = true
	}
	for name, made := range aliases {
		require.NotEmpty(t, docs[name], name)
		if made.Kind() != reflect.Struct {
			continue
		}
		for i := range made.NumField() {
			field := made.Field(i)
			if !field.IsExported() {
				continue
			}
			listed := strings.Contains(docs[name], field.Name)
			if name == "ActorVerdict" { // but for these, its fields are those of the operator's
				listed = listed || strings.Contains(docs["OperatorVerdict"], field.Name)
			}
			require.True(t, listed, "%s does not tell of its field %s", name, field.Name)
			of := field.Type
			for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
				of = of.Elem()
			}
			require.True(t, public[of] || !strings.HasPrefix(of.PkgPath(), module), "%s.%s is a %s, which has no public name", name, field.Name, of)
		}
	}
}
