package verify_test

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
)

// What a commit touched is all that is checked. The tests here compare that with
// checking everything.

func TestAcceptedCommitsLeaveStatesInWhichEverythingHolds(t *testing.T) {
	patches := rounds(10_000)
	ctx := context.Background()
	random := rand.New(rand.NewSource(7))
	r := openDesk(t)
	start := r.s
	decided := map[verify.Decision]int{}
	for i := range patches {
		if i%40 == 0 {
			r.s = start
		}
		out, err := r.p.Verify(ctx, r.s, as("root", randomPatch(random)))
		require.NoError(t, err)
		decided[out.Verdict.Verdict]++
		if out.Verdict.Verdict != verify.Commit {
			continue
		}
		require.Empty(t, r.p.CheckAll(ctx, out.After.State, out.After.Phase), "%v", out.Patch)
		again, err := r.p.Import(r.p.Export(out.After.State, false))
		require.NoError(t, err)
		require.Equal(t, out.After.State.Digest(), again.Digest(), "arrays are marked as an import marks them: %v", out.Patch)
		r.s = out.After
	}
	require.Greater(t, decided[verify.Commit], patches/25)
	require.Greater(t, decided[verify.Reject], patches/10)
}

func TestWhatIsRefusedByTypesOrRulesWouldNotHold(t *testing.T) {
	patches := rounds(10_000)
	ctx := context.Background()
	random := rand.New(rand.NewSource(8))
	r := openDesk(t)
	refused := 0
	for range patches {
		patch := randomPatch(random)
		out, err := r.p.Verify(ctx, r.s, as("root", patch))
		require.NoError(t, err)
		if out.Verdict.Verdict != verify.Reject || out.Patch == nil ||
			gate(out) == verify.GateScope || gate(out) == verify.GateFormat {
			continue
		}
		if strings.Contains(patch, "history") || strings.Contains(patch, "labels/-") {
			continue // a log may be cut and a set's element added twice without that showing in the state
		}
		after, _, err := r.p.Replay(context.Background(), r.s.State, []byte(patch))
		require.NoError(t, err)
		require.NotEmpty(t, r.p.CheckAll(ctx, after, r.s.Phase), patch)
		refused++
	}
	require.Greater(t, refused, patches/10)
}

func gate(o verify.Outcome) verify.Gate { return o.Verdict.Violations[0].Gate }

var (
	somePaths = []string{
		"/tickets/T1", "/tickets/T2", "/tickets/T3", "/tickets/T1/status", "/tickets/T2/status", "/tickets/T1/reply", "/tickets/T2/reply",
		"/tickets/T1/customer", "/tickets/T1/labels", "/tickets/T1/labels/-", "/tickets/T1/steps", "/tickets/T1/steps/0", "/tickets/T1/steps/-",
		"/tickets/T1/lines", "/tickets/T1/lines/A", "/tickets/T1/lines/A/sku", "/tickets/T1/lines/A/count", "/tickets/T1/lines/C",
		"/customers", "/customers/C1", "/customers/C2/email", "/customers/C3", "/refunds/R1", "/refunds/R1/amount", "/refunds/R2", "/refunds/R1/ticket",
		"/budget", "/history", "/history/-", "/window", "/window/from", "/window/to", "/notes", "/notes/list", "/notes/list/0", "/notes/deep/0", "/votes/V1", "/votes", "",
	}
	someValues = []string{
		`"open"`, `"solved"`, `"waiting"`, `"C1"`, `"C2"`, `"C3"`, `"T1"`, `"T2"`, `"A"`, `"short"`, `"longer than ten"`, `7`, `50`, `1.5`, `-1`, `null`,
		`[]`, `["a","b"]`, `["a","a"]`, `["opened","more"]`, `{}`, `{"sku":"C","count":1}`, `{"sku":"A","count":9}`, `{"from":3,"to":4}`, `{"name":"N","email":"e"}`,
		`{"ticket":"T1","amount":10}`, `{"subject":"S","status":"open","customer":"C2","labels":["x"],"steps":[],"lines":{"A":{"sku":"A","count":1}}}`,
		`{"subject":"S","status":"solved","customer":"C1","labels":[],"steps":[],"lines":{},"reply":"ok"}`, `{"C1":{"name":"a","email":"b"},"C2":{"name":"a","email":"c"}}`,
	}
)

func randomPatch(random *rand.Rand) string {
	pick := func(from []string) string { return from[random.Intn(len(from))] }
	var ops []string
	for range 1 + random.Intn(3) {
		switch random.Intn(8) {
		case 0:
			ops = append(ops, fmt.Sprintf(`{"op":"remove","path":%q}`, somePaths[random.Intn(len(somePaths)-1)]))
		case 1:
			ops = append(ops, fmt.Sprintf(`{"op":"copy","from":%q,"path":%q}`, pick(somePaths), pick(somePaths)))
		case 2:
			ops = append(ops, fmt.Sprintf(`{"op":"move","from":%q,"path":%q}`, pick(somePaths), pick(somePaths)))
		case 3, 4:
			ops = append(ops, fmt.Sprintf(`{"op":"replace","path":%q,"value":%s}`, pick(somePaths), pick(someValues)))
		default:
			ops = append(ops, fmt.Sprintf(`{"op":"add","path":%q,"value":%s}`, pick(somePaths), pick(someValues)))
		}
	}
	return "[" + strings.Join(ops, ",") + "]"
}
