package spec_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/tree"
)

// A second opinion on types: a JSON Schema validator behind a guard. The library
// loads files and panics on numbers with huge exponents, so it is given no way to
// load and only what the strict decoder let through.

// errRefused says that a schema asks for another document.
var errRefused = errors.New("schemas are not loaded")

type refusingLoader struct{}

func (refusingLoader) Load(string) (any, error) { return nil, errRefused }

// newSchema compiles a schema that refers to nothing outside of itself.
func newSchema(text []byte) (*jsonschema.Schema, error) {
	doc, err := strictly(text)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(refusingLoader{})
	if err := c.AddResource("schema.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("schema.json")
}

// strictly decodes JSON for the library, if the strict decoder accepts it.
func strictly(text []byte) (any, error) {
	if _, err := tree.Parse(text, tree.DefaultLimits); err != nil {
		return nil, err
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// validate tells whether a document fits, and if not, where it does not first. A
// number beyond the limits fits nothing. The error says that it is no document.
func validate(s *jsonschema.Schema, text []byte) (at string, valid bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the validator panicked: %v", p)
		}
	}()
	doc, err := strictly(text)
	var bad *tree.DecodeError
	if errors.As(err, &bad) && bad.Code == tree.LimitNumber {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	var unfit *jsonschema.ValidationError
	if err = s.Validate(doc); errors.As(err, &unfit) {
		for len(unfit.Causes) > 0 {
			unfit = unfit.Causes[0]
		}
		return tree.Pointer(unfit.InstanceLocation).String(), false, nil
	}
	return "", err == nil, err
}

func TestSchemaCasesAreJudgedBehindTheGuard(t *testing.T) {
	for _, c := range jsonCases(t, "schema", 8) {
		t.Run(c.ID, func(t *testing.T) {
			s, err := newSchema(c.Schema)
			if c.Expect.Error == "schema-compile" {
				require.ErrorContains(t, err, errRefused.Error())
				return
			}
			require.NoError(t, err)
			at, valid, err := validate(s, []byte(c.doc()))
			if c.Expect.Error == "invalid-json" {
				var bad *tree.DecodeError
				require.ErrorAs(t, err, &bad)
				require.Equal(t, tree.InvalidJSON, bad.Code)
				return
			}
			require.NoError(t, err)
			require.Equal(t, *c.Expect.Valid, valid)
			require.Equal(t, c.Expect.At, at)
		})
	}
}
