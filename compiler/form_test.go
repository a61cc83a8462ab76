package compiler_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
)

// form is the compiled form of testdata/form.poptic, as it was first written under a number.
func form(t *testing.T, number int) []byte {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("testdata/form.%d.popticc", number))
	require.NoError(t, err, "a new number of the compiled form needs what it writes: poptic build form.poptic -o form.%d.popticc", number)
	return data
}

// A compiled contract and the digest in a log are kept for years: other bytes are another form.
func TestTheCompiledFormChangesWithItsNumberOnly(t *testing.T) {
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("testdata"), Path: "form.poptic"})
	require.NoError(t, err)
	compiled, ok := out.Compiled()
	require.True(t, ok)
	require.Zero(t, out.Unproved())
	require.Equal(t, string(form(t, ir.Version)), string(compiled),
		"the compiled form changed: raise ir.Version, and keep what it writes as form.VERSION.popticc; what was kept under another number stays as it is")
	_, err = ir.Decode(compiled)
	require.NoError(t, err)
}

func TestACompiledContractOfAnotherFormIsRefusedByItsNumber(t *testing.T) {
	for number := 1; number < ir.Version; number++ {
		_, err := ir.Decode(form(t, number))
		var codec *ir.CodecError
		require.ErrorAs(t, err, &codec)
		require.Equal(t, "version_unsupported", codec.Code)
		require.EqualError(t, err, fmt.Sprintf("the compiled contract is of form %d, this version reads %d; build it again from its source", number, ir.Version))
	}
}

// What the fixed contract did not hold could change unseen.
func TestTheFixedContractHoldsEveryMemberOfTheCompiledForm(t *testing.T) {
	_, body, _ := strings.Cut(string(form(t, ir.Version)), "\n")
	var contract any
	require.NoError(t, json.Unmarshal([]byte(body), &contract))
	have := members{}
	have.note(reflect.TypeFor[ir.Contract](), nil)
	have.note(reflect.TypeFor[ir.Contract](), contract)
	var missing []string
	for name, held := range have {
		if !held {
			missing = append(missing, name)
		}
	}
	require.Empty(t, missing)
}

// members are those of the compiled form, as TYPE.MEMBER, and whether they were seen.
type members map[string]bool

// note notes the members of a value; without one, those that a value of the type can have.
func (m members) note(of reflect.Type, value any) {
	switch of.Kind() {
	case reflect.Pointer:
		m.note(of.Elem(), value)
	case reflect.Slice:
		elements, _ := value.([]any)
		for _, e := range elements {
			m.note(of.Elem(), e)
		}
		if value == nil {
			m.note(of.Elem(), nil)
		}
	case reflect.Struct:
		held, _ := value.(map[string]any)
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			key := of.Name() + "." + name
			known := m[key]
			_, listed := m[key]
			inside, is := held[name]
			if name == "" || value == nil && listed || value != nil && !is {
				continue
			}
			m[key] = known || is
			m.note(of.Field(i).Type, inside)
		}
	}
}
