package lint_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler/lint"
)

func TestAConfigurationSetsLevelsOfRulesBeforeThoseOfTheirCategories(t *testing.T) {
	c, err := lint.ParseConfig("poptic.yaml", []byte("# ours\nrules:\n  clarity: off\n  unused_type: error # here we mean it\n"))
	require.NoError(t, err)
	for code, want := range map[string]lint.Level{"unused_type": lint.Error, "unused_region": lint.Off, "silent_rule": lint.Off, "deep_write": lint.Warning} {
		r, ok := lint.Find(code)
		require.True(t, ok)
		require.Equal(t, want, c.Level(r), code)
	}
	files := fstest.MapFS{"c.poptic": {Data: []byte("contract c\nstate { a: int }\ntype T = int\nregion r = /a\n")}}
	found := findings(t, files, "c.poptic", "rules: {clarity: off, unused_type: error}")
	require.Len(t, found, 1)
	require.Equal(t, "unused_type", found[0].Code)
	require.Equal(t, "error", found[0].Severity.String())
}

func TestWhatAConfigurationDoesNotKnowIsAnErrorAtItsPlace(t *testing.T) {
	for text, want := range map[string]lint.ConfigError{
		"rule:\n  unused: off\n":                  {Line: 1, Column: 1, Message: `there is no key "rule"`, Help: "did you mean `rules`?"},
		"rules:\n  unused_tipe: off\n":            {Line: 2, Column: 3, Message: `there is no rule "unused_tipe"`, Help: "did you mean `unused_type`?"},
		"rules:\n  unused: of\n":                  {Line: 2, Column: 11, Message: `"of" is no level`, Help: "did you mean `off`?"},
		"rules:\n  unused: true\n":                {Line: 2, Column: 11, Message: `"true" is no level`, Help: "a level is off, info, warning or error"},
		"rules:\n  claim_refuted: off\n":          {Line: 2, Column: 3, Message: `there is no rule "claim_refuted"`, Help: "it is an error, whose level is fixed"},
		"rules:\n  unused: off\n  unused: info\n": {Line: 3, Column: 3},
		"rules: [unused]\n":                       {Line: 1, Column: 8, Message: "rules is no mapping", Help: "write `NAME: VALUE` on lines of their own"},
		"rules:\n  unused:\n    level: off\n":     {Line: 3, Column: 5},
		"- rules\n":                               {Line: 1, Column: 1, Message: "the configuration is no mapping", Help: "write `NAME: VALUE` on lines of their own"},
		"rules: {\n":                              {},
	} {
		_, err := lint.ParseConfig("poptic.yaml", []byte(text))
		var got *lint.ConfigError
		require.ErrorAs(t, err, &got, text)
		require.Equal(t, "poptic.yaml", got.File)
		if want.Line > 0 {
			require.Equal(t, [2]int{want.Line, want.Column}, [2]int{got.Line, got.Column}, "%s: %s", text, got)
		}
		if want.Message != "" {
			require.Equal(t, want.Message, got.Message, text)
			require.Equal(t, want.Help, got.Help, text)
		}
	}
}

func TestTheNearestConfigurationUpwardsHolds(t *testing.T) {
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	level := func(at string) lint.Level {
		c, err := lint.NearestConfig(at)
		require.NoError(t, err)
		r, _ := lint.Find("deep_write")
		return c.Level(r)
	}
	require.Equal(t, lint.Warning, level(deep))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "poptic.yaml"), []byte("rules: {deep_write: off}"), 0o644))
	require.Equal(t, lint.Off, level(deep))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "poptic.yaml"), nil, 0o644))
	require.Equal(t, lint.Warning, level(deep), "configurations are not merged")
	require.Equal(t, lint.Off, level(dir))
}
