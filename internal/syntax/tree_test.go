package syntax

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/lang/source"
)

// outline prints a tree: a line per node with its type, its span's text where the
// node is a leaf, and its plain fields.
func outline(n any) string {
	var out strings.Builder
	printNode(&out, reflect.ValueOf(n), "", "")
	return out.String()
}

func printNode(out *strings.Builder, v reflect.Value, indent, label string) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			printNode(out, v.Index(i), indent, label)
		}
	case v.Kind() == reflect.Struct && v.Type() == reflect.TypeFor[Name]() || v.Type() == reflect.TypeFor[FieldName]():
		if text := v.FieldByName("Text").String(); text != "" {
			fmt.Fprintf(out, "%s%s %s\n", indent, label, text)
		}
	case v.Kind() == reflect.Struct:
		printStruct(out, v, indent, label)
	case !v.IsZero():
		fmt.Fprintf(out, "%s%s %q\n", indent, label, fmt.Sprint(v.Interface()))
	}
}

func printStruct(out *strings.Builder, v reflect.Value, indent, label string) {
	fmt.Fprintf(out, "%s%s %s\n", indent, label, v.Type().Name())
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Type == reflect.TypeFor[Node]() || f.Type == reflect.TypeFor[source.Span]() || f.Type == reflect.TypeFor[*source.File]() || f.Name == "Tokens" {
			continue
		}
		if f.Type == reflect.TypeFor[Documented]() {
			printNode(out, v.Field(i).Field(0), indent+"  ", "Doc")
			continue
		}
		printNode(out, v.Field(i), indent+"  ", f.Name)
	}
}

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if os.Getenv("POPTIC_UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestTheWholeContractHasTheExpectedTree(t *testing.T) {
	for _, name := range []string{"support", "support_test", "constructs", "library", "constructs_test"} {
		t.Run(name, func(t *testing.T) {
			tree, ds := parse(name+".poptic", readTestdata(t, name+".poptic"))
			require.Empty(t, ds)
			requireSound(t, tree, ds)
			requireGolden(t, name+".golden", outline(tree))
		})
	}
}

func TestSpansCoverExactlyTheirText(t *testing.T) {
	text := `contract a.b sealed # end
import "x" as y # end
state { s?: map of (string where { self != "" }) } # end
stage go(p new in /s/{q}) { # end
  read /s/"k"/(a|b) except secrets, r # end
  ensure {  after.x > 1 # no comment
  }
  discloses next q , /t
}
`
	tree, ds := parse("a.poptic", text)
	require.Empty(t, ds)
	var got []string
	Walk(tree, func(n any) bool {
		if e, ok := n.(*Expr); ok {
			require.Equal(t, "{"+e.Text+"}", e.Outer.Text())
			require.Equal(t, e.Text, e.Span.Text())
		}
		if has, ok := n.(interface{ GetSpan() source.Span }); ok {
			got = append(got, has.GetSpan().Text())
		}
		return true
	})
	require.Equal(t, []string{
		"contract a.b sealed", "a.b",
		`import "x" as y`, `"x"`, "y",
		`state { s?: map of (string where { self != "" }) }`, `{ s?: map of (string where { self != "" }) }`,
		`s?: map of (string where { self != "" })`, "s", `map of (string where { self != "" })`, "map",
		`string where { self != "" }`, "string", "string", `{ self != "" }`, ` self != "" `,
		text[len(text)-len(tree.Decls[2].GetSpan().Text())-1 : len(text)-1], "go",
		"p new in /s/{q}", "p", "/s/{q}", "s", "{q}",
		`read /s/"k"/(a|b) except secrets, r`, "read", `/s/"k"/(a|b) except secrets, r`, `/s/"k"/(a|b) except secrets`,
		`/s/"k"/(a|b)`, `/s/"k"/(a|b)`, "s", `"k"`, "(a|b)", "a", "b", "secrets", "r", "r", "r",
		"ensure {  after.x > 1 # no comment\n  }", "ensure", "  after.x > 1 # no comment\n  ",
		"discloses next q , /t", "discloses", "next q", "next", "q", "/t", "/t", "t",
	}, got)
}

func TestCommentsDirectlyAboveAreDocumentation(t *testing.T) {
	tree, ds := parse("a.poptic", `# not this

# Head
#   two
contract c # nor this
# of T
type T { # trailing
  # of a
  a: int
  # lost

  b: int }
# of s
stage s {
  # of read
  read /a  # beside
  write /a
}
`)
	require.Empty(t, ds)
	require.Equal(t, "Head\n  two", tree.Header.Doc)
	record := tree.Decls[0].(*TypeDecl)
	require.Equal(t, "of T", record.Doc)
	require.Equal(t, "of a", record.Type.(*RecordType).Fields[0].Doc)
	require.Empty(t, record.Type.(*RecordType).Fields[1].Doc)
	stage := tree.Decls[1].(*StageDecl)
	require.Equal(t, "of s", stage.Doc)
	require.Equal(t, "of read", stage.Clauses[0].Doc)
	require.Empty(t, stage.Clauses[1].Doc)
}
