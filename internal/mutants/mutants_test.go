package mutants_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/mutants"
)

// The list outlives changes of the code only if every mutant can still be planted.
func TestEveryMutantCanBePlanted(t *testing.T) {
	all, err := mutants.All()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 150)
	names := map[string]bool{}
	for _, m := range all {
		require.False(t, names[m.Name], "two mutants are called %s", m.Name)
		names[m.Name] = true
		_, err := m.Apply("../..")
		require.NoError(t, err)
	}
}

func TestTheSpecSaysHowManyMutantsThereAre(t *testing.T) {
	all, err := mutants.All()
	require.NoError(t, err)
	text, err := os.ReadFile("../../spec/assurance.md")
	require.NoError(t, err)
	same := 0
	for _, m := range all {
		if m.Same != "" {
			same++
		}
	}
	require.Contains(t, string(text), fmt.Sprintf("| %d faults: %d noticed, %d that change nothing |", len(all), len(all)-same, same))
}
