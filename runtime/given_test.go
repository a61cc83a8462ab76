package runtime_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/runtime"
)

func TestATextOfTheHostThatIsTooLongIsAnErrorAndNotRecorded(t *testing.T) {
	in, _ := begin(t)
	before, long := traceOf(t, in), strings.Repeat("r", runtime.MaxGiven+1)
	refused := func(err error, what string) {
		t.Helper()
		var tooLong *runtime.TooLongError
		require.ErrorAs(t, err, &tooLong)
		require.Equal(t, what, tooLong.What)
		require.Less(t, len(err.Error()), 2000)
	}
	for what, p := range map[string]runtime.Proposal{
		"role": {Role: long}, "phase": {Next: long}, "key": {Key: long}, "normalised": {Normalised: []string{long}},
		"argument c": {Args: map[string]string{"c": strings.Repeat("c", tree.DefaultPatchLimits.MaxPointerBytes+1)}},
	} {
		p.Stage, p.Patch = "draft", []byte(`[]`)
		_, err := in.Propose(ctx, p)
		refused(err, what)
	}
	_, err := in.View(ctx, runtime.Request{Stage: "draft", Role: long})
	refused(err, "role")
	_, err = in.Advance(ctx, long, "")
	refused(err, "phase")
	_, err = in.Advance(ctx, "closed", long)
	refused(err, "role")
	_, err = in.Propose(ctx, runtime.Proposal{Stage: strings.Repeat("s", 1<<20)})
	require.Less(t, len(err.Error()), 2000)
	require.Equal(t, before, traceOf(t, in))
	_, err = in.Propose(ctx, runtime.Proposal{Stage: "draft", Role: long[1:], Key: long[1:], Next: long[1:], Patch: []byte(`[]`)})
	require.NoError(t, err)
}

func TestAClockBeyondTheYearsThatALineHasTellsTheLast(t *testing.T) {
	for year, want := range map[int]string{10_000: "9999-12-31T23:59:59.999999999Z", -1: "0000-01-01T00:00:00Z"} {
		clock := func() time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
		in, st := begin(t, runtime.WithClock(clock))
		commits(t, propose(t, in, inside))
		require.Contains(t, traceOf(t, in), `"time":"`+want+`"`)
		got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
		require.NoError(t, err)
		require.Nil(t, got.Different)
	}
}

// Two texts that differ in what is no text would read the same in the log.
func TestWhatTheHostGivesIsText(t *testing.T) {
	in, _ := begin(t)
	before := traceOf(t, in)
	for what, p := range map[string]runtime.Proposal{
		"role": {Role: "r\xff"}, "phase": {Next: "\xfe"}, "normalised": {Normalised: []string{"fence", "\xff"}}, "key": {Key: "\xed\xa0\x80"}, "argument c": {Args: map[string]string{"c": "c\xff"}},
	} {
		p.Stage, p.Patch = "draft", []byte(`[]`)
		_, err := in.Propose(ctx, p)
		var noText *runtime.NotTextError
		require.ErrorAs(t, err, &noText)
		require.Equal(t, what, noText.What)
	}
	require.Equal(t, before, traceOf(t, in))
}

// What a decision's record repeats of a proposal is as short as the reply.
func TestTheRecordOfARejectionDoesNotRepeatTheProposal(t *testing.T) {
	in, st := begin(t)
	for _, patch := range []string{
		`[{"op":"add","path":"/` + strings.Repeat("k", 1<<20) + `~","value":1}]`,
		`[{"op":"remove","path":"` + strings.Repeat("/a", 1<<19) + `"}]`,
		`{"` + strings.Repeat("é", 1<<19) + `":1}`,
		`[` + strings.Repeat(`{"op":"x"},`, 9_999) + `0]`,
	} {
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "draft", Base: in.Version(), Patch: []byte(patch)})
		require.NoError(t, err)
		require.Len(t, v.Actor().Violations, len(v.Violations))
	}
	for r, err := range st.Read(ctx, in.ID(), 1) {
		require.NoError(t, err)
		require.Less(t, len(r.Line), 64<<10)
	}
}
