package schema

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// A writer writes the schemas of types. Types with a name are written once, below $defs.
type writer struct {
	contract *ir.Contract
	files    bool // keyed lists are arrays, as in files; in views and patches they are objects
	defs     Object
	names    map[ir.TypeID]string // of what stands in defs
	places   int                  // of a proposal, so far
}

// schemaOf is the schema of a type.
func (w *writer) schemaOf(id ir.TypeID) Object {
	t := w.contract.Type(id)
	if t.Name == "" {
		return w.describe(t)
	}
	if name, known := w.names[id]; known {
		return ref(name)
	}
	if w.names == nil {
		w.names = map[ir.TypeID]string{}
	}
	name := t.Name
	for n := 2; slices.ContainsFunc(w.defs, func(m Member) bool { return m.Name == name }) || name == "patch"; n++ {
		name = t.Name + "_" + strconv.Itoa(n)
	}
	w.names[id] = name
	at := len(w.defs)
	w.defs = append(w.defs, Member{Name: name})
	w.defs[at].Value = w.describe(t)
	return ref(name)
}

// describe writes a type where it stands.
func (w *writer) describe(t *ir.Type) Object {
	var out Object
	switch t.Kind {
	case ir.StringType:
		out = Object{{"type", "string"}}
	case ir.RefType:
		out = Object{{"type", "string"}, {"description", "a key of " + t.Target.Source()}}
	case ir.NumberType, ir.DecimalType:
		out = Object{{"type", "number"}}
	case ir.IntType:
		out = Object{{"type", "integer"}}
	case ir.BoolType:
		out = Object{{"type", "boolean"}}
	case ir.NullType:
		out = Object{{"type", "null"}}
	case ir.LiteralType:
		out = Object{{"const", json.RawMessage(t.Literal)}}
		if t.Doc != "" {
			out = out.with("description", t.Doc)
		}
	case ir.UnionType:
		out = w.union(t)
	case ir.MapType:
		out = Object{{"type", "object"}, {"additionalProperties", w.schemaOf(t.Elem)}}
	case ir.KeyedType:
		out = Object{{"type", "object"}, {"additionalProperties", w.schemaOf(t.Elem)}, {"description", "entries by their " + t.KeyField}}
		if w.files {
			out = Object{{"type", "array"}, {"items", w.schemaOf(t.Elem)}, {"description", "no two have the same " + t.KeyField}}
		}
	case ir.ListType, ir.LogType:
		out = Object{{"type", "array"}, {"items", w.schemaOf(t.Elem)}}
	case ir.SetType:
		out = Object{{"type", "array"}, {"items", w.schemaOf(t.Elem)}, {"uniqueItems", true}}
	case ir.RecordType:
		out = w.record(t)
	}
	return w.demands(t, out)
}

// union is the schema of one of several types; of literals, their list.
func (w *writer) union(t *ir.Type) Object {
	var literals []any
	var all []any
	for _, id := range t.Alternatives {
		a := w.contract.Type(id)
		if a.Kind == ir.LiteralType && a.Doc == "" {
			literals = append(literals, json.RawMessage(a.Literal))
		}
		all = append(all, w.schemaOf(id))
	}
	if len(literals) == len(all) {
		return Object{{"enum", literals}}
	}
	return Object{{"anyOf", all}}
}

func (w *writer) record(t *ir.Type) Object {
	properties := Object{}
	required := []string{}
	for _, m := range t.Members {
		properties = properties.with(m.Name, documented(w.schemaOf(m.Type), m.Doc))
		if !m.Optional {
			required = append(required, m.Name)
		}
	}
	out := Object{{"type", "object"}, {"properties", properties}, {"required", required}}
	if t.Rest == ir.NoType {
		return out.with("additionalProperties", false)
	}
	return out.with("additionalProperties", w.schemaOf(t.Rest))
}

// documented is a schema with a description, before the one it has.
func documented(s Object, doc string) Object {
	if doc == "" {
		return s
	}
	out := slices.Clone(s)
	for i := range out {
		if out[i].Name == "description" {
			out[i].Value = doc + "\n" + out[i].Value.(string)
			return out
		}
	}
	return out.with("description", doc)
}

// demands adds what the constraints of a type ask: in words, and as far as JSON Schema can say it.
func (w *writer) demands(t *ir.Type, out Object) Object {
	for _, x := range t.Where {
		for _, part := range strings.Split(strings.Join(strings.Fields(x.Source), " "), " && ") {
			out = asked(t, out, part)
		}
	}
	if words := t.Demands(); len(words) > 0 {
		out = documented(out, strings.Join(words, "; "))
	}
	return out
}

var (
	sizeAsked   = regexp.MustCompile(`^size\(self\) (<=|<|>=|>|==) (\d{1,9})$`)
	boundAsked  = regexp.MustCompile(`^self (<=|<|>=|>) (-?\d{1,15}(?:\.\d{1,15})?)$`)
	formatAsked = regexp.MustCompile(`^(time\.date|time\.instant|pii\.email)\(self\)$`)
	formats     = map[string]string{"time.date": "date", "time.instant": "date-time", "pii.email": "email"}
	bounds      = map[string]string{"<=": "maximum", "<": "exclusiveMaximum", ">=": "minimum", ">": "exclusiveMinimum"}
)

// asked adds one constraint, if it is one that is common. What stands beside it in an "or" was
// not taken apart: such a part matches nothing here.
func asked(t *ir.Type, out Object, part string) Object {
	count := "Items"
	switch t.Kind {
	case ir.StringType:
		count = "Length"
	case ir.MapType, ir.RecordType:
		count = "Properties"
	}
	switch t.Kind {
	case ir.StringType, ir.MapType, ir.RecordType, ir.ListType, ir.SetType, ir.LogType:
		if part == `self != ""` && t.Kind == ir.StringType {
			return set(out, "minLength", 1)
		}
		if m := sizeAsked.FindStringSubmatch(part); m != nil {
			n, _ := strconv.Atoi(m[2])
			switch m[1] {
			case "<=":
				return set(out, "max"+count, n)
			case "<":
				return set(out, "max"+count, max(0, n-1))
			case ">=":
				return set(out, "min"+count, n)
			case ">":
				return set(out, "min"+count, n+1)
			}
			return set(set(out, "min"+count, n), "max"+count, n)
		}
		if m := formatAsked.FindStringSubmatch(part); m != nil {
			return set(out, "format", formats[m[1]])
		}
	case ir.NumberType, ir.IntType, ir.DecimalType:
		if m := boundAsked.FindStringSubmatch(part); m != nil {
			return set(out, bounds[m[1]], json.RawMessage(m[2]))
		}
	}
	return out
}

// set adds a keyword, unless it is there: then the other constraint is only told in words.
func set(o Object, name string, value any) Object {
	if slices.ContainsFunc(o, func(m Member) bool { return m.Name == name }) {
		return o
	}
	return o.with(name, value)
}
