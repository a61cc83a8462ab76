package footprint

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A corpusCase is what this package needs of a case of
// spec/conformance/commutation-cases.json.
type corpusCase struct {
	ID         string
	A, B       corpusSide
	Invariants []struct {
		ID        string
		Footprint []string
	}
	Normative struct {
		StateVerdict bool `json:"certified_state_verdict"`
		Views        bool `json:"certified_views"`
	}
}

type corpusSide struct{ Reads, Writes, Sources []string }

func readCorpus(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile("../../spec/conformance/" + name)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, v))
}

// effect is a side as it stands: what it sees counts for views alone.
func (s corpusSide) effect(owner string) Effect {
	return Effect{
		Stage: &ir.Stage{Name: owner, In: []string{"main"}}, Owner: owner,
		Read: region.Of(s.Reads...), Write: region.Of(s.Writes...), Source: region.Of(s.Sources...),
		gates: map[int]region.Condition{},
	}
}

// model has the gates of a case: {k} in a footprint is the key of a family.
func (c corpusCase) model() *Model {
	contract := &ir.Contract{Types: []ir.Type{{}, {Kind: ir.AnyType}}, State: 1, Phases: []ir.Phase{{Name: "main"}}}
	for _, inv := range c.Invariants {
		v := ir.Invariant{Name: inv.ID, Expr: &ir.Expr{}}
		for _, f := range inv.Footprint {
			if at, _, family := strings.Cut(f, "/{k}"); family {
				v.Each = &ir.Each{Over: region.MustParse(at + "/*"), Type: 1}
			}
			p := region.MustParse(strings.ReplaceAll(f, "{k}", "{"+ir.FamilyParam(1)+"}"))
			v.Expr.Reads = append(v.Expr.Reads, ir.Read{Pattern: p})
		}
		contract.Invariants = append(contract.Invariants, v)
	}
	return New(contract)
}

func TestTheCommutationCorpusIsCertifiedAsItSays(t *testing.T) {
	var cases []corpusCase
	readCorpus(t, "commutation-cases.json", &cases)
	var skip struct{ Skip []struct{ ID, Reason string } }
	readCorpus(t, "commutation-skip.json", &skip)
	skipped := map[string]bool{}
	for _, s := range skip.Skip {
		require.NotEmpty(t, s.Reason)
		skipped[s.ID] = true
	}
	run := 0
	for _, c := range cases {
		if skipped[c.ID] {
			continue
		}
		run++
		stateVerdict, views := true, true
		for _, conflict := range c.model().commutation(c.A.effect(OwnerA), c.B.effect(OwnerB)) {
			stateVerdict = stateVerdict && conflict.Kind == ViewConflict
			views = false
		}
		require.Equal(t, c.Normative.StateVerdict, stateVerdict, "%s, state and verdict", c.ID)
		require.Equal(t, c.Normative.Views, views, "%s, views", c.ID)
	}
	require.Equal(t, len(cases)-len(skip.Skip), run)
	require.Greater(t, run, 45)
}
