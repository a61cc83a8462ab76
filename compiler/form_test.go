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

// fixed are the contracts whose compiled form is kept: form, and with what came to the
// language later more, whose members no contract has that does without.
var fixed = []string{"form", "more", "values", "binding", "handed"}

// form is the compiled form of a fixed contract, as it was first written under a number.
func form(t *testing.T, name string, number int) []byte {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("testdata/%s.%d.popticc", name, number))
	require.NoError(t, err, "a new number of the compiled form needs what it writes: poptic build %[1]s.poptic -o %[1]s.%[2]d.popticc", name, number)
	return data
}

// A compiled contract and the digest in a log are kept for years: other bytes are another form.
func TestTheCompiledFormChangesWithItsNumberOnly(t *testing.T) {
	for _, name := range fixed {
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("testdata"), Path: name + ".poptic"})
		require.NoError(t, err)
		compiled, ok := out.Compiled()
		require.True(t, ok, "%v", out.Diagnostics)
		require.Zero(t, out.Unproved())
		require.Equal(t, string(form(t, name, ir.Version)), string(compiled),
			"the compiled form changed: raise ir.Version, and keep what it writes as %s.VERSION.popticc; what was kept under another number stays as it is", name)
		_, err = ir.Decode(compiled)
		require.NoError(t, err)
	}
}

func TestACompiledContractOfAnotherFormIsRefusedByItsNumber(t *testing.T) {
	for number := 1; number < ir.Version; number++ {
		_, err := ir.Decode(form(t, "form", number))
		var codec *ir.CodecError
		require.ErrorAs(t, err, &codec)
		require.Equal(t, "version_unsupported", codec.Code)
		require.EqualError(t, err, fmt.Sprintf("the compiled contract is of form %d, this version reads %d and %d; build it again from its source", number, ir.Version, ir.DecimalVersion))
	}
}

// What the fixed contract did not hold could change unseen.
func TestTheFixedContractHoldsEveryMemberOfTheCompiledForm(t *testing.T) {
	have := members{}
	have.note(reflect.TypeFor[ir.Contract](), nil)
	for _, name := range fixed {
		_, body, _ := strings.Cut(string(form(t, name, ir.Version)), "\n")
		var contract any
		require.NoError(t, json.Unmarshal([]byte(body), &contract))
		have.note(reflect.TypeFor[ir.Contract](), contract)
	}
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
