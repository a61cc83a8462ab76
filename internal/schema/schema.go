// Package schema writes JSON Schemas (2020-12) of what a contract types: the state as a
// document, what a stage sees of it, and the proposals that it may make.
//
// A schema says less than the contract where JSON Schema has no words: that a key exists,
// that an expression holds. It never says more: what a gate would let pass fits the schema.
// What it cannot say stands in its descriptions.
//
// State, View and Proposal are the entry points. types.go writes types, view.go what is left
// of them in a view, proposal.go the operations, and pointers.go the patterns of their paths.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

const dialect = "https://json-schema.org/draft/2020-12/schema"

// An Object is a JSON object whose members keep their order.
type Object []Member

// A Member is a name and a value that encoding/json can write.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.Value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// with is an object with one more member.
func (o Object) with(name string, value any) Object { return append(o, Member{name, value}) }

// A TooLargeError says that a schema would have too many places to be of use.
type TooLargeError struct{ Stage string }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("what stage %s may write has more than %d places", e.Stage, MaxPlaces)
}

// MaxPlaces bounds the places of a proposal's schema.
const MaxPlaces = 10_000

// State is the schema of a state document of the contract, in the form of files.
func State(c *ir.Contract) Object {
	w := &writer{contract: c, files: true}
	root := w.schemaOf(c.State)
	return w.document("the state of "+c.Name, c.Doc, root)
}

// View is the schema of what a stage sees of any state. A parameter without argument may be any key.
func View(c *ir.Contract, s *ir.Stage, args map[string]string) Object {
	w := &writer{contract: c}
	args = stoodFor(s, args)
	root, ok := w.shown([]ir.TypeID{c.State}, region.Compile(s.Read).Start(args), s)
	if !ok {
		root = Object{{"const", Object{}}} // the root is there, with nothing in it
	}
	return w.document("what stage "+s.Name+" sees of "+c.Name, s.Doc, root)
}

// Proposal is the schema of the proposals whose operations the stage may make: a patch, or an object
// with a patch and the phase to go on to. A parameter without argument may be any key. The error is a *TooLargeError.
func Proposal(c *ir.Contract, s *ir.Stage, args map[string]string) (Object, error) {
	w := &writer{contract: c}
	items, err := w.operations(s, stoodFor(s, args))
	if err != nil {
		return nil, err
	}
	patch := Object{{"type", "array"}, {"items", items}}
	if items == nil {
		patch = Object{{"type", "array"}, {"maxItems", 0}}
	}
	w.defs = append(w.defs, Member{"patch", patch})
	properties := Object{{"patch", ref("patch")}}
	if len(s.Next) > 0 {
		properties = properties.with("next", Object{{"enum", s.Next}, {"description", "the phase to go on to"}})
	}
	root := Object{{"anyOf", []any{
		ref("patch"),
		Object{{"type", "object"}, {"properties", properties}, {"required", []string{"patch"}}, {"additionalProperties", false}},
	}}}
	return w.document("what stage "+s.Name+" of "+c.Name+" may propose", s.Doc, root), nil
}

// document is a whole schema.
func (w *writer) document(title, doc string, root Object) Object {
	out := Object{{"$schema", dialect}, {"title", title}}
	if doc != "" {
		out = out.with("description", doc)
	}
	for _, m := range root {
		if m.Name != "description" || doc == "" {
			out = append(out, m)
		}
	}
	if len(w.defs) > 0 {
		out = out.with("$defs", w.defs)
	}
	return out
}

func ref(name string) Object { return Object{{"$ref", "#/$defs/" + escaped(name)}} }

// standsFor begins what stands for the value of a parameter that is not known. No key begins so.
const standsFor = "\x00"

// stoodFor are arguments for all parameters that are keys: what stands for each that is not given.
func stoodFor(s *ir.Stage, args map[string]string) map[string]string {
	out := map[string]string{}
	for _, p := range s.Params {
		out[p.Name] = standsFor + p.Name
		if value, given := args[p.Name]; given {
			out[p.Name] = value
		}
	}
	return out
}
