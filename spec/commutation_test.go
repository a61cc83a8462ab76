package spec_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/internal/view"
)

// A pairCase is a case of conformance/commutation-cases.json.
type pairCase struct {
	ID         string          `json:"id"`
	Class      string          `json:"class"`
	Doc        json.RawMessage `json:"doc"`
	A, B       pairStep
	Invariants []struct {
		ID        string
		Footprint []string
		Expr      string
	} `json:"invariants"`
	CommutesState   bool `json:"commutes_state"`
	CommutesVerdict bool `json:"commutes_verdict"`
	ViewsStable     bool `json:"views_stable"`
	Normative       struct {
		AcceptA               bool `json:"accept_A"`
		AcceptB               bool `json:"accept_B"`
		CommutesState         bool `json:"commutes_state"`
		CommutesVerdict       bool `json:"commutes_verdict"`
		ViewsStable           bool `json:"views_stable"`
		CertifiesStateVerdict bool `json:"certified_state_verdict"`
		CertifiesViews        bool `json:"certified_views"`
	} `json:"normative"`
}

// A pairStep is one of the two steps; a leading "!" is an exception.
type pairStep struct {
	Reads, Writes, Sources []string
	Patch                  json.RawMessage
}

func pairCases(t *testing.T) []pairCase {
	t.Helper()
	data, err := os.ReadFile("conformance/commutation-cases.json")
	require.NoError(t, err)
	var cases []pairCase
	require.NoError(t, json.Unmarshal(data, &cases))
	require.Len(t, cases, 58)
	return cases
}

// skips says which cases are outside of version 1, and why.
func skips(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("conformance/commutation-skip.json")
	require.NoError(t, err)
	var file struct {
		About string
		Skip  []struct{ ID, Reason string }
	}
	require.NoError(t, json.Unmarshal(data, &file))
	out := map[string]string{}
	for _, s := range file.Skip {
		require.NotEmpty(t, s.Reason, s.ID)
		require.Empty(t, out[s.ID], "%s is skipped twice", s.ID)
		out[s.ID] = s.Reason
	}
	return out
}

// outside is what a case uses that version 1 does not have, "" if it can be run. It
// is worked out from the case alone, so that no case is skipped without need.
func outside(t *testing.T, c json.RawMessage) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(c, &members))
	switch {
	case members["derived"] != nil:
		return "derived"
	case members["phase"] != nil:
		return "phase"
	case strings.Contains(string(members["A"])+string(members["B"]), "["+`s==`):
		return "selector"
	}
	return ""
}

func TestCasesAreSkippedExactlyWhereVersion1EndsShort(t *testing.T) {
	data, err := os.ReadFile("conformance/commutation-cases.json")
	require.NoError(t, err)
	var cases []json.RawMessage
	require.NoError(t, json.Unmarshal(data, &cases))
	skip := skips(t)
	known := 0
	for _, raw := range cases {
		var c pairCase
		require.NoError(t, json.Unmarshal(raw, &c))
		reason := skip[c.ID]
		if what := outside(t, raw); what != "" {
			require.Contains(t, reason, what, "%s must be skipped", c.ID)
			known++
		} else {
			require.Empty(t, reason, "%s can be run", c.ID)
		}
	}
	require.Equal(t, known, len(skip), "the skip list names a case that does not exist")
}

// A pair is a case made ready to run, each step by its own stage.
type pair struct {
	t     *testing.T
	c     *pairCase
	p     *verify.Program
	reads map[string]region.Cursor
	start verify.Snapshot
}

// contract writes the case as source text: every step may do everything.
func (c *pairCase) contract() string {
	text := "contract cases\n\nstate any\n"
	for _, inv := range c.Invariants {
		text += "\ninvariant rule_" + inv.ID + " { " + inv.Expr + " }\n"
	}
	for _, name := range []string{"step_a", "step_b"} {
		text += "\nstage " + name + " { read /** write /** source /** }\n"
	}
	return text
}

func (c *pairCase) open(t *testing.T, p *verify.Program) *pair {
	state, err := p.Import(c.Doc)
	require.NoError(t, err)
	start := verify.Snapshot{State: state, Phase: p.Contract().Phases[0].Name}
	require.Empty(t, p.CheckAll(context.Background(), state, start.Phase))
	at := func(s pairStep) region.Cursor { return region.Compile(region.Of(s.Reads...)).Start(nil) }
	return &pair{t: t, c: c, p: p, start: start, reads: map[string]region.Cursor{"step_a": at(c.A), "step_b": at(c.B)}}
}

// run runs one step and tells whether it was accepted.
func (p *pair) run(stage string, s verify.Snapshot) (verify.Snapshot, bool) {
	step := p.c.A
	if stage == "step_b" {
		step = p.c.B
	}
	out, err := p.p.Verify(context.Background(), s, verify.Proposal{Stage: stage, Patch: step.Patch})
	require.NoError(p.t, err)
	return out.After, out.Verdict.Verdict != verify.Reject
}

// An order is what running both steps one after the other gives.
type order struct {
	acceptsA, acceptsB bool
	end                *tree.Node
	stable             bool // the first step left the view of the second as it was
}

func (p *pair) order(first, second string) order {
	middle, accepts := p.run(first, p.start)
	end, acceptsSecond := p.run(second, middle)
	out := order{acceptsA: accepts, acceptsB: acceptsSecond, end: end.State}
	if first == "step_b" {
		out.acceptsA, out.acceptsB = acceptsSecond, accepts
	}
	out.stable = p.viewOf(second, p.start.State) == p.viewOf(second, middle.State)
	return out
}

// viewOf is the view that a step's own reads give.
func (p *pair) viewOf(stage string, state *tree.Node) string {
	shown, placeholders := view.Project(state, p.reads[stage])
	text := shown.String()
	for _, w := range placeholders {
		text += " " + w.Pointer()
	}
	return text
}

func TestPairsOfPatchesCommuteAsTheCasesSay(t *testing.T) {
	skip := skips(t)
	for _, c := range pairCases(t) {
		if skip[c.ID] != "" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			p := c.open(t, compiled(t, c.contract()))
			ab, ba := p.order("step_a", "step_b"), p.order("step_b", "step_a")
			require.Equal(t, c.CommutesState, tree.Equal(ab.end, ba.end), "%s, %s", ab.end, ba.end)
			require.Equal(t, c.CommutesVerdict, ab.acceptsA == ba.acceptsA && ab.acceptsB == ba.acceptsB)
			require.Equal(t, c.ViewsStable, ab.stable && ba.stable)
		})
	}
}

// judged is the contract of a case with the regions that the case gives each step;
// what it writes and takes it also reads.
func (c *pairCase) judged(t *testing.T) *verify.Program {
	t.Helper()
	contract := *compiled(t, c.contract()).Contract()
	stage := func(name string, s pairStep) ir.Stage {
		writes, sources := region.Of(s.Writes...), region.Of(s.Sources...)
		return ir.Stage{
			Name: name, In: []string{contract.Phases[0].Name},
			Read: region.Union(region.Of(s.Reads...), writes, sources), Write: writes, Source: sources,
		}
	}
	contract.Stages = []ir.Stage{stage("step_a", c.A), stage("step_b", c.B)}
	return load(t, &contract)
}

func TestPairsOfStagesAreJudgedAsTheCasesSay(t *testing.T) {
	skip := skips(t)
	for _, c := range pairCases(t) {
		if skip[c.ID] != "" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			p := c.open(t, c.judged(t))
			_, acceptsA := p.run("step_a", p.start)
			_, acceptsB := p.run("step_b", p.start)
			require.Equal(t, c.Normative.AcceptA, acceptsA)
			require.Equal(t, c.Normative.AcceptB, acceptsB)
			ab, ba := p.order("step_a", "step_b"), p.order("step_b", "step_a")
			require.Equal(t, c.Normative.CommutesState, tree.Equal(ab.end, ba.end), "%s, %s", ab.end, ba.end)
			require.Equal(t, c.Normative.CommutesVerdict, ab.acceptsA == ba.acceptsA && ab.acceptsB == ba.acceptsB)
			require.Equal(t, c.Normative.ViewsStable, ab.stable && ba.stable)
		})
	}
}

func TestPairsOfRegionsAreCertifiedAsTheCasesSay(t *testing.T) {
	skip := skips(t)
	certified := 0
	for _, c := range pairCases(t) {
		if skip[c.ID] != "" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			require.Equal(t, c.Normative.CertifiesStateVerdict, c.certifies())
			views := c.certifies() && apart(c.A.Reads, c.B.Writes, region.Plain) && apart(c.B.Reads, c.A.Writes, region.Plain)
			require.Equal(t, c.Normative.CertifiesViews, views)
			if views {
				require.True(t, c.Normative.CommutesState && c.Normative.CommutesVerdict && c.Normative.ViewsStable)
				certified++
			}
		})
	}
	require.Positive(t, certified)
}

// certifies is theorem 1 of spec/semantics.md section 5, and no gate touched by both.
func (c *pairCase) certifies() bool {
	if !apart(c.A.Writes, c.B.Writes, region.Interior) || !apart(c.A.Sources, c.B.Writes, region.Interior) || !apart(c.B.Sources, c.A.Writes, region.Interior) {
		return false
	}
	for _, inv := range c.Invariants {
		for _, member := range c.members(inv.Footprint) {
			if !apart(member, c.A.Writes, region.Plain) && !apart(member, c.B.Writes, region.Plain) {
				return false
			}
		}
	}
	return true
}

// apart reports whether what some patterns grant, in a mode, meets no write.
func apart(patterns, writes []string, mode region.Mode) bool {
	a, b := region.Compile(region.Of(patterns...)), region.Compile(region.Of(writes...))
	return region.Overlap(a, b, mode, region.Interior, region.Options{}).Verdict == region.No
}

// members are the footprints of a family of gates, for every key that is written.
func (c *pairCase) members(footprint []string) [][]string {
	if !strings.Contains(strings.Join(footprint, " "), "{k}") {
		return [][]string{footprint}
	}
	var out [][]string
	for _, w := range append(append([]string{}, c.A.Writes...), c.B.Writes...) {
		for _, key := range strings.Split(w, "/") {
			member := []string{}
			for _, f := range footprint {
				member = append(member, strings.ReplaceAll(f, "{k}", ":"+key))
			}
			if key != "" {
				out = append(out, member)
			}
		}
	}
	return out
}
