package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/runtime"
)

// What may be changed, in words: the places, each with what fits there, in notation close to
// that of TypeScript, and the shapes that have a name once below them.

// changes lists the places.
func (d *Data) changes() string {
	if len(d.Places) == 0 {
		return "Nothing can be changed now: answer with an empty patch."
	}
	w := writer{types: map[string]runtime.Shape{}, uses: map[string]int{}}
	for _, t := range d.Types {
		w.types[t.Name] = t.Shape
	}
	for i := range d.Places {
		if takesValue(&d.Places[i]) {
			w.count(&d.Places[i].Shape)
		}
	}
	var lines []string
	for i := range d.Places {
		lines = append(lines, w.place(&d.Places[i]))
	}
	if d.Omitted > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more places like these", d.Omitted))
	}
	out := strings.Join(lines, "\n")
	if types := w.described(d.Types); types != "" {
		out += "\n\nwhere\n\n```\n" + types + "```"
	}
	if notes := w.notes(d); len(notes) > 0 {
		out += "\n\n" + strings.Join(notes, " ")
	}
	return out
}

// A writer writes shapes.
type writer struct {
	types    map[string]runtime.Shape
	uses     map[string]int // how often each named shape stands somewhere
	record   bool           // what was written of
	optional bool
}

// count counts the uses of named shapes at and below one.
func (w *writer) count(s *runtime.Shape) {
	if s.Name != "" {
		if w.uses[s.Name]++; w.uses[s.Name] == 1 {
			named := w.types[s.Name]
			w.count(&named)
		}
	}
	for _, below := range []*runtime.Shape{s.Of, s.Rest} {
		if below != nil {
			w.count(below)
		}
	}
	for i := range s.Alternatives {
		w.count(&s.Alternatives[i])
	}
	for i := range s.Members {
		w.count(&s.Members[i].Shape)
	}
}

func (w *writer) place(p *runtime.Place) string {
	text := "- `" + p.Path + "` (" + strings.Join(p.Ops, ", ") + ")"
	if takesValue(p) {
		text += ": " + w.shape(&p.Shape)
	}
	if len(p.Except) > 0 {
		text += ", but not " + code(p.Except)
	}
	if p.Doc != "" {
		text += " — " + oneLine(p.Doc)
	}
	return text
}

// takesValue reports whether something may be put at a place.
func takesValue(p *runtime.Place) bool {
	return slices.ContainsFunc(p.Ops, func(op string) bool { return op != "remove" })
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// described are the shapes with a name that are not written where they stand.
func (w *writer) described(all []runtime.NamedShape) string {
	var b strings.Builder
	for i := range all {
		if s := &all[i]; w.uses[s.Name] > 0 && w.isApart(s.Name) {
			b.WriteString(s.Name + " = " + w.shape(&s.Shape) + "\n")
		}
	}
	return b.String()
}

// isApart reports whether a named shape is described below the places: one that is used twice,
// unless it is short.
func (w *writer) isApart(name string) bool {
	named := w.types[name]
	return w.uses[name] > 1 && len(w.shape(&named)) > 2*len(name)+4
}

// shape writes a shape.
func (w *writer) shape(s *runtime.Shape) string {
	text := ""
	switch s.Kind {
	case "named":
		if w.isApart(s.Name) {
			return s.Name
		}
		named := w.types[s.Name]
		return w.shape(&named)
	case "literal":
		text = string(s.Literal)
		if s.Doc != "" {
			text += " /* " + oneLine(s.Doc) + " */"
		}
	case "union":
		var all []string
		for i := range s.Alternatives {
			all = append(all, w.shape(&s.Alternatives[i]))
		}
		text = strings.Join(all, " | ")
		if len(s.Where) > 0 && len(all) > 1 {
			text = "(" + text + ")"
		}
	case "map":
		text = "{<key>: " + w.shape(s.Of) + "}"
	case "keyed":
		text = "{<" + s.KeyField + ">: " + w.shape(s.Of) + "} keyed by " + s.KeyField
	case "list":
		text = w.element(s.Of) + "[]"
	case "set":
		text = w.element(s.Of) + "[] without duplicates"
	case "log":
		text = w.element(s.Of) + "[] that only grows"
	case "key":
		text = "a key of " + s.Target
	case "record":
		text = w.fields(s)
	default:
		text = string(s.Kind)
	}
	if len(s.Where) > 0 {
		text += " (" + strings.Join(s.Where, "; ") + ")"
	}
	return text
}

// element writes what stands before [].
func (w *writer) element(s *runtime.Shape) string {
	text := w.shape(s)
	if w.isUnion(s) || strings.ContainsAny(text, " |") && !strings.HasSuffix(text, "}") {
		return "(" + text + ")"
	}
	return text
}

// isUnion reports whether a shape is written as alternatives where it stands.
func (w *writer) isUnion(s *runtime.Shape) bool {
	if s.Kind == "named" && !w.isApart(s.Name) {
		named := w.types[s.Name]
		return w.isUnion(&named)
	}
	return s.Kind == "union" && len(s.Alternatives) > 1
}

func (w *writer) fields(s *runtime.Shape) string {
	w.record = true
	var all []string
	for i := range s.Members {
		m := &s.Members[i]
		text := m.Name
		if !isName(m.Name) {
			text = quoted(m.Name)
		}
		if m.Optional {
			w.optional = true
			text += "?"
		}
		text += ": " + w.shape(&m.Shape)
		if m.Doc != "" {
			text += " /* " + oneLine(m.Doc) + " */"
		}
		all = append(all, text)
	}
	if s.Rest != nil {
		all = append(all, "<any other>: "+w.shape(s.Rest))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func isName(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// notes explain what was written.
func (w *writer) notes(d *Data) []string {
	var out []string
	if w.optional {
		out = append(out, "`?` marks what may be left out.")
	}
	whole := func(p runtime.Place) bool {
		return p.Exists && slices.Contains(p.Ops, "replace") && w.hasParts(&p.Shape)
	}
	if slices.ContainsFunc(d.Places, whole) {
		out = append(out, "What lies below these places may be changed one by one as well.")
	}
	var keys []string
	escaped, fresh := "", false
	for i := range d.Places {
		for _, k := range d.Places[i].Keys {
			if strings.HasPrefix(k.Token, "<index") {
				continue
			}
			if text := "`" + k.Token + "` is " + keyOf(&k); !slices.Contains(keys, text) {
				keys = append(keys, text)
			}
			for _, known := range k.Known {
				if strings.Contains(known, "~") && escaped == "" {
					escaped = known
				}
			}
			fresh = fresh || k.New
		}
	}
	if len(keys) > 0 {
		out = append(out, strings.Join(keys, "; ")+".")
	}
	if escaped != "" {
		out = append(out, "In a path, `~` in a key is written `~0`, and `/` is written `~1`, as in `"+escaped+"`.")
	}
	return out
}

func keyOf(k *runtime.PlaceKeys) string {
	of := "`" + k.Of + "`"
	switch {
	case k.New && len(k.Known) == 0:
		return "a new key of " + of
	case k.New:
		return "a key of " + of + " in the view, or with add a new one"
	}
	return "a key of " + of + " in the view"
}

func quoted(text string) string {
	out, _ := json.Marshal(text)
	return string(out)
}

// hasParts reports whether a value of a shape has parts that have names.
func (w *writer) hasParts(s *runtime.Shape) bool {
	switch s.Kind {
	case "named":
		named := w.types[s.Name]
		return w.hasParts(&named)
	case "union":
		return slices.ContainsFunc(s.Alternatives, func(a runtime.Shape) bool { return w.hasParts(&a) })
	}
	return s.Kind == "record" || s.Kind == "map" || s.Kind == "keyed" || s.Kind == "list"
}
