package symbol

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/lang/source"
)

func TestATableIsAskedByPlace(t *testing.T) {
	f, other := source.NewFile("a", `ab "ab" outer(ab)`), source.NewFile("b", "ab")
	at := func(f *source.File, start, end int) source.Span { return source.Span{File: f, Start: start, End: end} }
	s := &Symbol{Kind: Field, Name: "ab", Span: at(f, 0, 2)}
	local := &Symbol{Kind: Parameter, Name: "p", Span: at(f, 8, 9), Scope: at(f, 8, 17)}
	builtin := &Symbol{Kind: Builtin, Name: "outer"}
	table := &Table{
		Symbols: []*Symbol{local, s, builtin},
		Uses:    []Use{{at(other, 0, 2), s}, {at(f, 14, 16), s}, {at(f, 3, 7), s}, {at(f, 0, 2), s}, {at(f, 0, 2), s}, {at(f, 8, 13), builtin}},
		Types:   []Typed{{Span: at(f, 14, 16), Type: "inner"}, {Span: at(f, 8, 17), Type: "whole"}, {Span: at(f, 8, 17), Type: "of the expansion"}},
	}
	table.Finish()
	require.Equal(t, []*Symbol{s}, table.At(f, 2))
	require.Empty(t, table.At(f, 17))
	require.Equal(t, []*Symbol{s}, table.At(other, 1))
	require.Equal(t, []source.Span{at(f, 0, 2), at(f, 3, 7), at(f, 14, 16), at(other, 0, 2)}, table.References(s))

	inner, ok := table.TypeAt(f, 15)
	require.True(t, ok)
	require.Equal(t, "inner", inner.Type)
	outer, ok := table.TypeAt(f, 9)
	require.True(t, ok)
	require.Equal(t, "whole", outer.Type)
	_, ok = table.TypeAt(other, 0)
	require.False(t, ok)

	require.Equal(t, []*Symbol{builtin, local}, table.InScope(f, 10))
	require.Equal(t, []*Symbol{builtin}, table.InScope(f, 0))
}

func TestRenamingKeepsTheFormOfEachUse(t *testing.T) {
	f := source.NewFile("a", `ab "ab" 'ab' "./lib"`)
	at := func(start, end int) source.Span { return source.Span{File: f, Start: start, End: end} }
	s, lib := &Symbol{Kind: Field, Name: "ab"}, &Symbol{Kind: Import, Name: "lib"}
	table := &Table{Uses: []Use{{at(0, 2), s}, {at(3, 7), s}, {at(8, 12), s}, {at(13, 20), lib}}}
	edits, ok := table.Rename(s, "c")
	require.True(t, ok)
	var texts []string
	for _, e := range edits {
		texts = append(texts, e.Text)
	}
	require.Equal(t, []string{"c", `"c"`, `"c"`}, texts)
	for _, name := range []string{"", "1", "a-b", `a"`} {
		_, ok = table.Rename(s, name)
		require.False(t, ok, name)
	}
	_, ok = table.Rename(lib, "c")
	require.False(t, ok, "an import that is called after its file")
	_, ok = table.Rename(&Symbol{Kind: Builtin, Name: "int"}, "c")
	require.False(t, ok)
}
