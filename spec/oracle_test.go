package spec_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
)

// Random types are written twice, in the language and as JSON Schema, and random
// values judged by both. What a schema cannot say is left out: references, and that
// the keys of a keyed list differ.

// A shape is one type in both languages.
type shape struct {
	text   string
	schema map[string]any
	sample func(r *rand.Rand) any // a value that fits
}

// simple are the shapes that others are made of.
var simple = []shape{
	{"string", is("string"), func(r *rand.Rand) any { return word(r) }},
	{"number", is("number"), func(r *rand.Rand) any { return number(r) }},
	{"int", map[string]any{"type": "integer", "minimum": json.Number("-9223372036854775808"), "maximum": json.Number("9223372036854775807")},
		func(r *rand.Rand) any {
			return json.Number([]string{"0", "-3", "1.0", "1e2", "9223372036854775807"}[r.Intn(5)])
		}},
	{"bool", is("boolean"), func(r *rand.Rand) any { return r.Intn(2) == 0 }},
	{"null", is("null"), func(*rand.Rand) any { return nil }},
	{"any", map[string]any{}, func(r *rand.Rand) any { return anything(r, 2) }},
	{"string where { size(self) <= 1 }", map[string]any{"type": "string", "maxLength": 1}, func(r *rand.Rand) any { return []string{"", "a", "💩"}[r.Intn(3)] }},
	{"decimal", is("number"), func(r *rand.Rand) any { return number(r) }},
	{"decimal where { self >= 1.0 }", map[string]any{"type": "number", "minimum": 1}, func(r *rand.Rand) any { return json.Number("1.0") }},
	{"number where { self >= 1.0 }", map[string]any{"type": "number", "minimum": 1}, func(r *rand.Rand) any { return json.Number("1.0") }},
}

func is(kind string) map[string]any { return map[string]any{"type": kind} }

func word(r *rand.Rand) string {
	return []string{"", "a", "b", "é", "x y", "💩", "e\u0301"}[r.Intn(7)]
}

func number(r *rand.Rand) json.Number {
	return json.Number([]string{"0", "1", "-1", "1.0", "0.5", "1e2", "9223372036854775807", "9223372036854775808", "1E-3"}[r.Intn(9)])
}

// anything draws a value of any kind.
func anything(r *rand.Rand, depth int) any {
	switch k := r.Intn(8); {
	case k == 0:
		return nil
	case k == 1:
		return r.Intn(2) == 0
	case k <= 3 || depth == 0:
		return []any{word(r), number(r)}[r.Intn(2)]
	case k <= 5:
		return many(r, func() any { return anything(r, depth-1) })
	default:
		out := map[string]any{}
		for range r.Intn(3) {
			out[[]string{"a", "b", "c", "k"}[r.Intn(4)]] = anything(r, depth-1)
		}
		return out
	}
}

func many(r *rand.Rand, one func() any) []any {
	out := []any{}
	for range r.Intn(4) {
		out = append(out, one())
	}
	return out
}

// randomShape draws a type at most so deep.
func randomShape(r *rand.Rand, depth int) shape {
	if depth == 0 || r.Intn(5) == 0 {
		return simple[r.Intn(len(simple))]
	}
	switch r.Intn(7) {
	case 0:
		return literals(r)
	case 1:
		return either(randomShape(r, depth-1), randomShape(r, depth-1))
	case 2:
		return mapOf(randomShape(r, depth-1))
	case 3:
		return arrayOf(r, randomShape(r, depth-1))
	case 4:
		return keyed(randomShape(r, depth-1))
	default:
		return record(r, depth)
	}
}

func literals(r *rand.Rand) shape {
	pool := []any{"a", "b", json.Number("1"), true, "é"}
	first := r.Intn(len(pool) - 1)
	pool = pool[first : first+2]
	texts := make([]string, len(pool))
	for i, v := range pool {
		texts[i] = text(v)
	}
	return shape{strings.Join(texts, " | "), map[string]any{"enum": pool}, func(r *rand.Rand) any { return pool[r.Intn(len(pool))] }}
}

func either(a, b shape) shape {
	return shape{"(" + a.text + ") | (" + b.text + ")", map[string]any{"anyOf": []any{a.schema, b.schema}},
		func(r *rand.Rand) any { return []shape{a, b}[r.Intn(2)].sample(r) }}
}

func mapOf(elem shape) shape {
	return shape{"map of (" + elem.text + ")", map[string]any{"type": "object", "additionalProperties": elem.schema}, func(r *rand.Rand) any {
		out := map[string]any{}
		for range r.Intn(3) {
			out[word(r)] = elem.sample(r)
		}
		return out
	}}
}

func arrayOf(r *rand.Rand, elem shape) shape {
	kind := []string{"list", "set", "log"}[r.Intn(3)]
	schema := map[string]any{"type": "array", "items": elem.schema, "uniqueItems": kind == "set"}
	return shape{kind + " of (" + elem.text + ")", schema, func(r *rand.Rand) any { return many(r, func() any { return elem.sample(r) }) }}
}

func keyed(elem shape) shape {
	schema := map[string]any{"type": "array", "items": map[string]any{
		"type": "object", "properties": map[string]any{"id": is("string"), "v": elem.schema},
		"required": []any{"id", "v"}, "additionalProperties": false,
	}}
	return shape{"list of { id: string  v: (" + elem.text + ") } by id", schema, func(r *rand.Rand) any {
		out := []any{}
		for i := range r.Intn(3) {
			out = append(out, map[string]any{"id": fmt.Sprint(i), "v": elem.sample(r)})
		}
		return out
	}}
}

// record draws members a and b, the second perhaps optional, and perhaps others.
func record(r *rand.Rand, depth int) shape {
	a, b, rest := randomShape(r, depth-1), randomShape(r, depth-1), randomShape(r, 0)
	optional, open := r.Intn(2) == 0, r.Intn(3) == 0
	schema := map[string]any{"type": "object", "properties": map[string]any{"a": a.schema, "b": b.schema}, "required": []any{"a", "b"}, "additionalProperties": false}
	mark, tail := "", ""
	if optional {
		mark, schema["required"] = "?", []any{"a"}
	}
	if open {
		tail, schema["additionalProperties"] = "  *: ("+rest.text+")", rest.schema
	}
	return shape{"{ a: (" + a.text + ")  b" + mark + ": (" + b.text + ")" + tail + " }", schema, func(r *rand.Rand) any {
		out := map[string]any{"a": a.sample(r), "b": b.sample(r)}
		if optional && r.Intn(2) == 0 {
			delete(out, "b")
		}
		if open && r.Intn(2) == 0 {
			out["c"] = rest.sample(r)
		}
		return out
	}}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// spoilt changes something somewhere in v.
func spoilt(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 && r.Intn(3) > 0 {
			out := append([]any{}, v...)
			i := r.Intn(len(out))
			out[i] = spoilt(r, out[i])
			return out
		}
	case map[string]any:
		return spoiltObject(r, v)
	}
	return anything(r, 1)
}

func spoiltObject(r *rand.Rand, v map[string]any) any {
	out := map[string]any{}
	for name, child := range v {
		out[name] = child
	}
	at := []string{"a", "b", "c", "v", "id"}[r.Intn(5)]
	switch child, there := out[at]; {
	case there && r.Intn(3) == 0:
		delete(out, at)
	case there && at != "id":
		out[at] = spoilt(r, child)
	case !there:
		out[at] = anything(r, 1)
	default:
		return anything(r, 1)
	}
	return out
}

// emptiesMeet reports whether {} and [] stand in one array: where one is an empty map and the
// other an empty keyed list, they are one value, and twice in a set.
func emptiesMeet(v any) bool {
	switch v := v.(type) {
	case []any:
		object, array := false, false
		for _, e := range v {
			m, isObject := e.(map[string]any)
			l, isArray := e.([]any)
			object, array = object || isObject && len(m) == 0, array || isArray && len(l) == 0
			if emptiesMeet(e) {
				return true
			}
		}
		return object && array
	case map[string]any:
		for _, e := range v {
			if emptiesMeet(e) {
				return true
			}
		}
	}
	return false
}

func TestTypesAndSchemasAgreeOnWhichStatesFit(t *testing.T) {
	const seed = 1
	r := rand.New(rand.NewSource(seed))
	types, fit, unfit := 0, 0, 0
	for fit+unfit < 20_000 {
		s := randomShape(r, 3)
		source := "contract oracle\n\nstate {\n  value: (" + s.text + ")\n}\n"
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(source)}}, Path: "c.poptic"})
		require.NoError(t, err)
		require.NotNil(t, out.Contract, "%s\n%s", source, listed(out.Diagnostics))
		types++
		p := load(t, out.Contract)
		schema, err := newSchema([]byte(text(s.schema)))
		require.NoError(t, err, text(s.schema))
		for i := range 60 {
			v := s.sample(r)
			if i%3 > 0 {
				v = spoilt(r, v)
			}
			_, valid, err := validate(schema, []byte(text(v)))
			require.NoError(t, err)
			_, err = p.Import([]byte(`{"value":` + text(v) + `}`))
			if valid && err != nil && emptiesMeet(v) {
				continue
			}
			if valid != (err == nil) {
				t.Fatalf("seed %d: type %s\nvalue %s\nthe schema says %v, the type: %v", seed, s.text, text(v), valid, err)
			}
			if valid {
				fit++
			} else {
				unfit++
			}
		}
	}
	t.Logf("%d types, %d values that fit, %d that do not", types, fit, unfit)
	require.Greater(t, fit, 2_000)
	require.Greater(t, unfit, 2_000)
}
