package syntax

import (
	"reflect"
	"strings"

	"github.com/patchoptic/poptic/lang/source"
)

// Two trees say the same if they differ in places only, and in white space where it means
// nothing. It is what a formatter must keep.

// Same reports whether two trees say the same: they are equal but for spans and tokens, and
// for the white space of CEL and JSON outside of their strings. Documentation counts. The
// time is linear in the trees.
func Same(a, b *File) bool { return sameNode(reflect.ValueOf(a), reflect.ValueOf(b)) }

var placeTypes = map[reflect.Type]bool{
	reflect.TypeFor[Node](): true, reflect.TypeFor[source.Span](): true, reflect.TypeFor[*source.File](): true, reflect.TypeFor[[]Token](): true,
}

func sameNode(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	if !a.IsValid() || placeTypes[a.Type()] {
		return true
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		return a.IsNil() == b.IsNil() && (a.IsNil() || sameNode(a.Elem(), b.Elem()))
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameNode(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		return sameStruct(a, b)
	case reflect.Map:
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
	return a.Equal(b)
}

func sameStruct(a, b reflect.Value) bool {
	for i := range a.NumField() {
		x, y := a.Field(i), b.Field(i)
		switch {
		case a.Type() == reflect.TypeFor[Expr]() && x.Kind() == reflect.String:
			if squeezeCEL(x.String()) != squeezeCEL(y.String()) {
				return false
			}
		case (a.Type() == reflect.TypeFor[DataRef]() || a.Type() == reflect.TypeFor[Value]()) && x.Kind() == reflect.String:
			if squeezeJSON(x.String()) != squeezeJSON(y.String()) {
				return false
			}
		case !sameNode(x, y):
			return false
		}
	}
	return true
}

// squeezeCEL is CEL with one space for every white space outside of strings, and none at its ends.
func squeezeCEL(text string) string { return squeeze(text, celAtomEnd) }

// squeezeJSON is squeezeCEL for JSON.
func squeezeJSON(text string) string {
	return squeeze(text, func(text string, pos int) int {
		if text[pos] != '"' {
			return pos
		}
		end, _ := stringEnd(text, pos)
		return end
	})
}

func squeeze(text string, atomEnd func(text string, pos int) int) string {
	var out strings.Builder
	space := false
	for i := 0; i < len(text); {
		if strings.IndexByte(" \t\r\n", text[i]) >= 0 {
			space = true
			i++
			continue
		}
		if space && out.Len() > 0 {
			out.WriteByte(' ')
		}
		space = false
		end := max(atomEnd(text, i), i+1)
		out.WriteString(strings.TrimRight(text[i:end], " \t\r"))
		i = end
	}
	return out.String()
}

// Lines cuts CEL at the line breaks that are white space: a string over several
// lines is part of one. A break is in none of them.
func Lines(cel string) []string {
	var out []string
	from := 0
	for i := 0; i < len(cel); {
		if cel[i] == '\n' {
			out = append(out, cel[from:i])
			from = i + 1
		}
		i = max(celAtomEnd(cel, i), i+1)
	}
	return append(out, cel[from:])
}

// Plain is CEL without what its layout is free in: its lines begin in the first column, none
// is empty, and a space stands at each end. It is what is compiled, so that the layout of a
// file does not show in what it compiles to.
func Plain(cel string) string {
	var lines []string
	for _, line := range Lines(cel) {
		if line = strings.Trim(line, " \t\r\n"); line != "" {
			lines = append(lines, line)
		}
	}
	if lines == nil {
		return ""
	}
	return " " + strings.Join(lines, "\n") + " "
}
