package examples_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/suite"
)

// tested are the folders of contracts with tests beside them.
var tested = []string{"support", "clinical", "release", "embed"}

func loadSuite(t *testing.T, name string) *suite.Suite {
	t.Helper()
	s, found, err := suite.Load(t.Context(), suite.Input{FS: os.DirFS("."), Path: name + "/contract_test.poptic"})
	require.NoError(t, err)
	require.Empty(t, listed(found))
	return s
}

func TestContractTestsPassAndExerciseEveryPartOfEveryExample(t *testing.T) {
	for _, name := range tested {
		t.Run(name, func(t *testing.T) {
			var c suite.Coverage
			out, err := loadSuite(t, name).Run(t.Context(), suite.Options{Cover: &c})
			require.NoError(t, err)
			require.NotEmpty(t, out.Tests)
			for _, test := range out.Tests {
				require.True(t, test.Passed, "%s: %+v", test.Name, test.Failures)
			}
			for _, p := range c.Contracts[0].Points {
				require.Empty(t, p.Missing(), "line %d, %s", p.Line, p.Name)
			}
		})
	}
}

// survivors are the mutants that no contract test notices, with the reason.
var survivors = map[string]string{}

func TestNoClauseOfAnExampleCanBeWeakenedUnnoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("every mutant is compiled")
	}
	var all []*suite.Suite
	for _, name := range tested {
		all = append(all, loadSuite(t, name))
	}
	m, err := suite.Mutate(t.Context(), all, 0, nil)
	require.NoError(t, err)
	require.Len(t, m.Contracts, len(tested))
	require.LessOrEqual(t, m.Survived(), len(survivors))
	for _, c := range m.Contracts {
		require.Greater(t, c.Killed, 0)
		for _, x := range c.Mutants {
			if x.Status == suite.Survived {
				require.NotEmpty(t, survivors[x.Name+": "+x.Change], "%s:%d: %s: %s", x.File, x.Line, x.Name, x.Change)
			}
		}
	}
}
