package starter

import (
	"encoding/json"
	"strings"

	"github.com/patchoptic/poptic/internal/tree"
)

// A value is JSON whose members keep their order: a draft has them in the order of its source.
type value struct {
	kind     string // object, array, string, number, bool, null
	text     string // of a string; of a number and bool as it is written
	names    []string
	members  map[string]*value
	elements []*value
}

// read parses JSON, strictly.
func read(text []byte) (*value, error) {
	if _, err := tree.Parse(text, tree.DefaultLimits); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(strings.NewReader(string(text)))
	dec.UseNumber()
	return next(dec)
}

func next(dec *json.Decoder) (*value, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		v := &value{kind: map[json.Delim]string{'{': "object", '[': "array"}[t], members: map[string]*value{}}
		for dec.More() {
			if t == '{' {
				name, err := dec.Token()
				if err != nil {
					return nil, err
				}
				v.names = append(v.names, name.(string))
			}
			child, err := next(dec)
			if err != nil {
				return nil, err
			}
			if t == '{' {
				v.members[v.names[len(v.names)-1]] = child
			} else {
				v.elements = append(v.elements, child)
			}
		}
		_, err = dec.Token()
		return v, err
	case string:
		return &value{kind: "string", text: t}, nil
	case json.Number:
		return &value{kind: "number", text: t.String()}, nil
	case bool:
		return &value{kind: "bool", text: map[bool]string{true: "true", false: "false"}[t]}, nil
	}
	return &value{kind: "null", text: "null"}, nil
}

// get is a member, nil if there is none.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	return v.members[name]
}

// literal is a scalar as JSON writes it.
func (v *value) literal() string {
	if v.kind == "string" {
		return quoted(v.text)
	}
	return v.text
}

func (v *value) isScalar() bool { return v.kind != "object" && v.kind != "array" }

// is reports whether a value is true, or a text.
func (v *value) is(text string) bool { return v != nil && v.isScalar() && v.text == text }
