package main

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
)

// layout writes a JSON value for people: a container stands on one line where it
// fits into width, and is opened up where it does not.
func layout(n *tree.Node, width int) []string {
	l := layouter{width: width}
	l.value("", "", n, "")
	return l.lines
}

type layouter struct {
	width int
	lines []string
}

// value writes n behind indent and a member's name, and before the comma that may
// follow it.
func (l *layouter) value(indent, name string, n *tree.Node, comma string) {
	flat := indent + name + string(spaced(n)) + comma
	if n.Len() == 0 || len(flat) <= l.width {
		l.lines = append(l.lines, flat)
		return
	}
	brackets := map[ir.Kind]string{ir.Object: "{}", ir.Array: "[]"}[n.Kind()]
	l.lines = append(l.lines, indent+name+brackets[:1])
	left := n.Len()
	for key, child := range n.Members() {
		left--
		l.value(indent+"  ", quoted(key)+": ", child, when(left > 0, ","))
	}
	for _, child := range n.Elements() {
		left--
		l.value(indent+"  ", "", child, when(left > 0, ","))
	}
	l.lines = append(l.lines, indent+brackets[1:]+comma)
}

// spaced writes n on one line, with a space behind each colon and comma.
func spaced(n *tree.Node) []byte {
	var out []byte
	separator := ""
	switch n.Kind() {
	case ir.Object:
		for key, child := range n.Members() {
			out = append(append(out, separator+quoted(key)+": "...), spaced(child)...)
			separator = ", "
		}
		return append(append([]byte{'{'}, out...), '}')
	case ir.Array:
		for _, child := range n.Elements() {
			out = append(append(out, separator...), spaced(child)...)
			separator = ", "
		}
		return append(append([]byte{'['}, out...), ']')
	}
	return tree.AppendJSON(nil, n)
}

func quoted(key string) string { return string(tree.AppendJSON(nil, tree.NewString(key))) }
