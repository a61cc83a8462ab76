package stdlib_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/stdlib"
	"github.com/patchoptic/poptic/suite"
)

func TestEveryLibraryIsFreeOfFindings(t *testing.T) {
	require.NotEmpty(t, stdlib.Names())
	for _, name := range stdlib.Names() {
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: stdlib.FS, Path: name + ".poptic"})
		require.NoError(t, err)
		require.Empty(t, out.Diagnostics, name)
	}
}

func TestEveryConstraintHasAMessageForWhoBreaksIt(t *testing.T) {
	for _, name := range stdlib.Names() {
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: stdlib.FS, Path: name + ".poptic"})
		require.NoError(t, err)
		require.Empty(t, out.Diagnostics)
		text, err := fs.ReadFile(stdlib.FS, name+".poptic")
		require.NoError(t, err)
		require.NotContains(t, string(text), "where {", name)
		require.Contains(t, string(text), `where "`, name)
	}
	for _, v := range values {
		for _, value := range v.unfit {
			for _, message := range problems(program(t, v.library, v.name), value) {
				require.NotContains(t, message, "the constraint of type", "%s of %s.%s", value, v.library, v.name)
			}
		}
	}
}

func TestEveryConstraintIsSeenToHoldAndToRefuseByATest(t *testing.T) {
	s, found, err := suite.Load(t.Context(), suite.Input{FS: os.DirFS("."), Path: "types_test.poptic"})
	require.NoError(t, err)
	require.Empty(t, found)
	var c suite.Coverage
	out, err := s.Run(t.Context(), suite.Options{Cover: &c})
	require.NoError(t, err)
	for _, test := range out.Tests {
		require.True(t, test.Passed, "%s: %+v", test.Name, test.Failures)
	}
	require.Len(t, c.Contracts[0].Points, 16)
	for _, p := range c.Contracts[0].Points {
		require.Empty(t, p.Missing(), "%s:%d, %s", p.File, p.Line, p.Name)
	}
	m, err := suite.Mutate(t.Context(), []*suite.Suite{s}, 0, nil)
	require.NoError(t, err)
	require.Zero(t, m.Survived())
}

func TestEveryLibraryInTheFolderIsEmbeddedAndNoTest(t *testing.T) {
	files, err := filepath.Glob("*.poptic")
	require.NoError(t, err)
	var libraries []string
	for _, file := range files {
		if !strings.HasSuffix(file, suite.Suffix) {
			libraries = append(libraries, strings.TrimSuffix(file, ".poptic"))
		}
	}
	require.Equal(t, libraries, stdlib.Names())
}

// values says of each type what fits it and what does not, as JSON.
var values = []struct {
	library, name string
	fits, unfit   []string
}{
	{"pii", "Email", []string{`"ada@example.com"`, `"a.b+c@mail.example.org"`}, []string{`"ada"`, `"ada@host"`, `"a b@example.com"`, `""`, `7`}},
	{"pii", "Phone", []string{`"+44 20 7946 0018"`, `"+49-30-901820"`}, []string{`"020 7946"`, `"+"`, `"+44 twenty"`}},
	{"pii", "CardNumber", []string{`"4111111111111111"`}, []string{`"4111111111111112"`, `"0"`, `""`}},
	{"pii", "Contact", []string{`{}`, `{"email":"ada@example.com"}`}, []string{`{"email":"ada"}`, `{"fax":"1"}`}},
	{"text", "NonBlank", []string{`"x"`, `" x\ny "`}, []string{`""`, `" \t\n"`}},
	{"text", "Line", []string{`"one line"`}, []string{`"two\nlines"`, `" "`}},
	{"text", "Short", []string{`"title"`}, []string{`"a title that goes on and on, and on, and then on again until it is longer than eighty"`}},
	{"text", "Paragraph", []string{`"some words\nand more"`}, []string{`""`}},
	{"text", "Page", []string{`"some words"`}, []string{`" "`}},
	{"time", "Instant", []string{`"2024-05-01T09:30:00Z"`, `"2024-05-01T09:30:00.5+02:00"`}, []string{`"2024-05-01"`, `"2024-13-01T00:00:00Z"`, `"2024-05-01T09:30:00"`}},
	{"time", "Date", []string{`"2024-02-29"`}, []string{`"2023-02-29"`, `"2024-5-1"`, `"2024-05-01T09:30:00Z"`}},
	{"time", "Interval", []string{`{"begins":"2024-05-01T09:30:00Z","ends":"2024-05-01T11:30:01+02:00"}`},
		[]string{`{"begins":"2024-05-01T09:30:00Z","ends":"2024-05-01T11:30:00+02:00"}`, `{"begins":"2024-05-01T09:30:00Z"}`}},
	{"money", "Amount", []string{`0`, `39.9`, `0.10`, `1e2`}, []string{`-1`, `0.001`, `"1"`}},
	{"money", "Payment", []string{`0.01`}, []string{`0`, `-1`}},
	{"money", "Cents", []string{`0`, `310`}, []string{`-1`, `1.5`}},
	{"money", "Currency", []string{`"EUR"`}, []string{`"eur"`, `"EURO"`, `""`}},
	{"money", "Price", []string{`{"amount":1,"currency":"EUR"}`}, []string{`{"amount":1}`, `{"amount":1.005,"currency":"EUR"}`}},
}

func TestTypesTakeTheValuesTheyDescribeAndNoOthers(t *testing.T) {
	for _, v := range values {
		t.Run(v.library+"."+v.name, func(t *testing.T) {
			p := program(t, v.library, v.name)
			for _, value := range v.fits {
				require.True(t, accepts(p, value), value)
			}
			for _, value := range v.unfit {
				require.False(t, accepts(p, value), value)
			}
		})
	}
}

// program is a contract whose state has one member of the type.
func program(t *testing.T, library, name string) *verify.Program {
	t.Helper()
	text := fmt.Sprintf("contract one\nimport \"std/%s\" as lib\nstate { value: lib.%s }\n", library, name)
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"one.poptic": {Data: []byte(text)}}, Path: "one.poptic"})
	require.NoError(t, err)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
	p, err := verify.Load(out.Contract, verify.DefaultLimits())
	require.NoError(t, err)
	return p
}

func accepts(p *verify.Program, value string) bool {
	state, err := p.Import([]byte(`{"value":` + value + `}`))
	return err == nil && len(p.CheckAll(context.Background(), state, p.Contract().Phases[0].Name)) == 0
}

// problems are the messages about a value that does not fit.
func problems(p *verify.Program, value string) (messages []string) {
	state, err := p.Import([]byte(`{"value":` + value + `}`))
	if err != nil {
		return nil
	}
	for _, v := range p.CheckAll(context.Background(), state, p.Contract().Phases[0].Name) {
		messages = append(messages, v.Message)
	}
	return messages
}
