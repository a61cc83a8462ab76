package starter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/starter"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/format"
	"github.com/patchoptic/poptic/lang/source"
)

// compiled is what a draft compiles to: there must be no finding worse than a note.
func compiled(t *testing.T, text string, worst source.Severity) *ir.Contract {
	t.Helper()
	files := fstest.MapFS{"c.poptic": {Data: []byte(text)}}
	out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: "c.poptic"})
	require.NoError(t, err)
	for _, d := range out.Diagnostics {
		require.LessOrEqual(t, d.Severity, worst, "%s: %s\n%s", d.Code, d.Message, text)
	}
	require.NotNil(t, out.Contract, text)
	return out.Contract
}

// begun is a contract from a draft, which is in canonical form, grants nothing, and still compiles with its stage.
func begun(t *testing.T, d *starter.Draft) (text string, c *ir.Contract) {
	t.Helper()
	data, err := d.Contract("drafted", "it")
	require.NoError(t, err)
	form, err := format.Source("c.poptic", data)
	require.NoError(t, err)
	require.Equal(t, string(form), string(data))
	c = compiled(t, string(data), source.Warning)
	require.Empty(t, c.Stages)
	staged := starter.Uncommented(string(data))
	require.NotEqual(t, staged, string(data))
	require.Len(t, compiled(t, staged, source.Warning).Stages, 1)
	return string(data), c
}

func TestSchemasOfPydanticAndZodBecomeContracts(t *testing.T) {
	for _, name := range []string{"pydantic", "zod"} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		require.NoError(t, err)
		d, err := starter.FromSchema(text)
		require.NoError(t, err)
		got, _ := begun(t, d)
		golden := "testdata/" + name + ".golden"
		if os.Getenv("POPTIC_UPDATE") != "" {
			require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		require.Equal(t, string(want), got)
	}
}

func TestTypesOfASchemaAreSaidAsFarAsTheyCanBe(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"string"}`:                                       `a?: string`,
		`{"type":["string","null"]}`:                              `a?: string | null`,
		`{"type":"integer","minimum":1,"exclusiveMaximum":5}`:     `a?: int where { self >= 1 } where { self < 5 }`,
		`{"type":"number","maximum":1}`:                           `a?: number where { self <= 1.0 }`,
		`{"enum":["x",1,true,null]}`:                              `a?: "x" | 1 | true | null`,
		`{"const":"x"}`:                                           `a?: "x"`,
		`{"type":"array","items":{"type":"string"},"minItems":1}`: `a?: (list of string) where { size(self) >= 1 }`,
		`{"type":"array","items":{"enum":["x","y"]}}`:             `a?: list of ("x" | "y")`,
		`{"type":"array"}`:                                        `a?: list of any`,
		`{"type":"object"}`:                                       `a?: map of any`,
		`{"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}}}`: `a?: map of list of int`,
		`{"anyOf":[{"type":"integer"},{"type":"array","items":{"type":"integer"}}]}`:           `a?: int | (list of int)`,
		`{"type":"string","format":"email"}`:                                                   `a?: pii.Email`,
		`{"type":"string","pattern":"^\"\\d$"}`:                                                `a?: string where { self.matches("^\"\\d$") }`,
		`{"type":"string","pattern":"(?=x)"}`:                                                  `a?: string  # not said here: pattern (?=x)`,
		`{"$ref":"https://example.org/x.json"}`:                                                `a?: any  # not said here: what is at https://example.org/x.json`,
		`{"type":"string","writeOnly":true,"maxLength":3}`:                                     `a?: secret string where { size(self) <= 3 }`,
		`{"type":"string","not":{"const":"x"},"description":"why\nnot"}`:                       "# why\n  # not\n  a?: string  # not said here: not",
		`true`:  `a?: any`,
		`false`: `a?: any  # not said here: that nothing may stand here`,
		`{"allOf":[{"properties":{"b":{"type":"string"}},"required":["b"]},{"properties":{"c":{"type":"null"}}}],"type":"object"}`: "type A {\n  b:  string\n  c?: null\n}",
		`{"type":"object","properties":{"state":{"type":"string"}},"additionalProperties":{"type":"integer"}}`:                     "type A {\n  state?: string\n  *:      int\n}",
	} {
		d, err := starter.FromSchema([]byte(`{"type":"object","properties":{"a":` + schema + `}}`))
		require.NoError(t, err, schema)
		text, _ := begun(t, d)
		require.Contains(t, text, want+"\n", schema)
	}
}

func TestASampleIsReadAsWhatItLooksLike(t *testing.T) {
	for sample, want := range map[string]string{
		`{"a":1,"b":1.5,"c":"x","d":true,"e":null}`:                         "state {\n  a: int\n  b: number\n  c: string\n  d: bool\n  e: any  # the sample has null here\n}",
		`{"a":{"t1":{"x":1},"t2":{"x":2,"y":"z"}}}`:                         "a: map of A",
		`{"people":{"ada":{"x":1},"bob":{"x":2}}}`:                          "people: map of Person",
		`{"box":{"left":1,"right":"2"}}`:                                    "box: Box",
		`{"items":[{"id":"a","n":1},{"id":"b"}]}`:                           "items: list of Item by id",
		`{"items":[{"id":"a","n":1},{"id":"a"}]}`:                           "items: list of Item\n",
		`{"when":"2024-05-01T09:30:00Z","day":"2024-05-01","by":"a@b.org"}`: "when: time.Instant\n  day:  time.Date\n  by:   pii.Email",
		`{"mixed":[1,"x",null,[2]]}`:                                        "mixed: list of ((list of int) | string | int | null)",
		`{"a b":1,"":2}`:                                                    `"a b": int`,
		`{}`:                                                                "state {}",
		`[1]`:                                                               "state list of int",
	} {
		d, err := starter.FromSample([]byte(sample), false)
		require.NoError(t, err)
		text, c := begun(t, d)
		require.Contains(t, text, want, sample)
		requireState(t, c, sample, text)
	}
	for _, broken := range []string{``, `{`, `{"a":1,"a":2}`, `{} {}`} {
		_, err := starter.FromSample([]byte(broken), false)
		require.Error(t, err)
		_, err = starter.FromSchema([]byte(broken))
		require.Error(t, err)
	}
}

func requireState(t *testing.T, c *ir.Contract, sample, text string) {
	t.Helper()
	p, err := verify.Load(c, verify.DefaultLimits())
	require.NoError(t, err)
	_, err = p.Import([]byte(sample))
	require.NoError(t, err, "%s\n%s", sample, text)
}

// A drawer draws JSON.
type drawer struct{ *rand.Rand }

func (d drawer) pick(of ...string) string { return of[d.IntN(len(of))] }

func (d drawer) name() string {
	return d.pick("a", "b", "state", "id", "k1", "k2", "x y", "type", "Items", "secret", "~", "", "in", "2nd")
}

func (d drawer) json(depth int) string {
	switch n := d.IntN(9); {
	case n < 2 && depth > 0:
		var parts []string
		seen := map[string]bool{}
		for range d.IntN(5) {
			if name := d.name(); !seen[name] {
				seen[name] = true
				parts = append(parts, quoted(name)+":"+d.json(depth-1))
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	case n == 2 && depth > 0:
		var parts []string
		for range d.IntN(4) {
			parts = append(parts, d.json(depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return d.pick("1", "-2.5", "1e3", `"x"`, `"2024-05-01"`, "true", "null", `"a@b.org"`, "12345678901234567890")
}

func quoted(text string) string { data, _ := json.Marshal(text); return string(data) }

func TestEverySampleIsAStateOfItsDraft(t *testing.T) {
	d := drawer{rand.New(rand.NewPCG(1, 1))}
	for range 300 {
		sample := "{" + quoted(d.name()) + ":" + d.json(4) + "}"
		draft, err := starter.FromSample([]byte(sample), true)
		require.NoError(t, err)
		text, c := begun(t, draft)
		requireState(t, c, sample, text)
	}
}

func (d drawer) schema(depth int) string {
	parts := []string{}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if d.IntN(4) == 0 {
		add(`"description":%q`, d.pick("what it is", "two\nlines", "# odd"))
	}
	switch n := d.IntN(12); {
	case depth == 0 || n < 3:
		add(`"type":%q`, d.pick("string", "integer", "number", "boolean", "null", "strange"))
		if d.IntN(2) == 0 {
			add(`%s`, d.pick(`"minimum":1`, `"maximum":2.5`, `"maxLength":4`, `"format":"date"`, `"format":"uri"`, `"pattern":"^a{2}$"`, `"multipleOf":3`, `"not":{}`, `"writeOnly":true`))
		}
	case n < 6:
		var members []string
		seen := map[string]bool{}
		for range d.IntN(4) {
			if name := d.name(); !seen[name] {
				seen[name] = true
				members = append(members, quoted(name)+":"+d.schema(depth-1))
			}
		}
		add(`"type":"object","properties":{%s}`, strings.Join(members, ","))
		if d.IntN(2) == 0 {
			add(`"additionalProperties":%s`, d.pick("true", "false", d.schema(depth-1)))
		}
		if d.IntN(2) == 0 {
			add(`"required":["a","id"]`)
		}
	case n < 8:
		add(`"type":"array","items":%s`, d.schema(depth-1))
		if d.IntN(2) == 0 {
			add(`%s`, d.pick(`"uniqueItems":true`, `"minItems":2`, `"maxItems":3`))
		}
	case n < 10:
		add(`%q:[%s,%s]`, d.pick("anyOf", "oneOf", "allOf"), d.schema(depth-1), d.schema(depth-1))
	case n == 10:
		add(`"$ref":%q`, d.pick("#/$defs/A", "#/$defs/B", "#/$defs/type", "#/nowhere", "#"))
	default:
		add(`"enum":%s`, d.pick(`["x","y"]`, `[1,2,null]`, `[true]`, `[{"a":1}]`))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func TestEverySchemaBecomesAContract(t *testing.T) {
	d := drawer{rand.New(rand.NewPCG(2, 2))}
	for range 300 {
		schema := fmt.Sprintf(`{"$defs":{"A":%s,"B":%s,"type":%s},"type":"object","properties":{"x":%s,"y":%s}}`,
			d.schema(3), d.schema(2), d.schema(1), d.schema(3), d.schema(2))
		draft, err := starter.FromSchema([]byte(schema))
		require.NoError(t, err)
		data, err := draft.Contract("drafted", "it")
		require.NoError(t, err, schema)
		out, err := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: data}}, Path: "c.poptic"})
		require.NoError(t, err)
		for _, found := range out.Diagnostics {
			require.NotEqual(t, source.Error, found.Severity, "%s: %s\n%s\n%s", found.Code, found.Message, schema, data)
		}
	}
}

func TestASchemaThatLeadsBackToItselfEnds(t *testing.T) {
	for _, schema := range []string{
		`{"allOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		`{"$ref":"#"}`,
		`{"$ref":"#/a","a":{"$ref":"#/b"},"b":{"$ref":"#/a"}}`,
		`{"properties":{"a":{"allOf":[{"$ref":"#/properties/a"},{"type":"object","properties":{"b":{"$ref":"#"}}}]}}}`,
		`{"properties":{"a":` + strings.Repeat(`{"items":`, 90) + `true` + strings.Repeat(`}`, 90) + `}}`,
	} {
		d, err := starter.FromSchema([]byte(schema))
		if err == nil {
			_, err = d.Contract("c", "it")
			require.NoError(t, err, schema)
		}
	}
}

func FuzzFromSchema(f *testing.F) {
	for _, name := range []string{"pydantic", "zod"} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(`{"allOf":[{"$ref":"#"},{"properties":{"a":{"$ref":"#/properties"}}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := starter.FromSchema(text)
		if err != nil {
			return
		}
		if out, err := d.Contract("c", "it"); err == nil {
			_, err = format.Source("c.poptic", out)
			require.NoError(t, err)
		}
	})
}

func FuzzFromSample(f *testing.F) {
	f.Add([]byte(`{"a":[{"id":"x","b":[1,2.5,null]},{"id":"y"}],"m":{"k1":{"z":true},"k2":{"z":false}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := starter.FromSample(text, false)
		if err != nil {
			return
		}
		_, err = d.Contract("c", "it")
		var mistaken *format.Error
		if err != nil && !errors.As(err, &mistaken) {
			t.Fatal(err)
		}
	})
}
