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
	case v.Kind() == reflect.Struct && v.Type() == reflect.TypeFor[Name]():
		if name := v.Interface().(Name); name.Text != "" {
			fmt.Fprintf(out, "%s%s %s\n", indent, label, name.Text)
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
