package runtime_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// principals are the members "principal" of an instance's lines, by kind.
func principals(t *testing.T, in *runtime.Instance) map[string][]runtime.Principal {
	t.Helper()
	all := map[string][]runtime.Principal{}
	for text := range strings.Lines(traceOf(t, in)) {
		var l struct {
			Kind      string
			Principal runtime.Principal
		}
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		all[l.Kind] = append(all[l.Kind], l.Principal)
	}
	return all
}

func TestTheLogTellsWhoAskedForEverything(t *testing.T) {
	ann := runtime.Principal{Subject: "ann"}
	bot := runtime.Principal{Subject: "bot", Token: "t-1", OnBehalf: "ann"}
	odd := runtime.Principal{Subject: "b\"\n\u202e", OnBehalf: "é"}
	in, st := begin(t, runtime.WithPrincipal(ann))
	for _, who := range []runtime.Principal{bot, odd, {}} {
		_, err := in.View(ctx, runtime.Request{Stage: "draft", Principal: who})
		require.NoError(t, err)
		_, err = in.View(ctx, runtime.Request{Stage: "decide", Principal: who})
		require.Error(t, err, "a refused view is recorded too")
		commits(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: in.Version(), Patch: []byte(inside), Principal: who}))
		rejects(t, proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: in.Version(), Patch: []byte(outside(1)), Principal: who}), verify.WriteScopeViolation)
		_, err = in.Advance(ctx, "nowhere", "host", who)
		require.NoError(t, err)
	}
	require.Equal(t, map[string][]runtime.Principal{
		"create": {ann}, "view": {bot, bot, odd, odd, {}, {}}, "proposal": {bot, bot, odd, odd, {}, {}},
		"advance": {bot, odd, {}}, "decision": make([]runtime.Principal, 9),
	}, principals(t, in))
	text := traceOf(t, in)
	require.Contains(t, text, `"principal":{"subject":"bot","token":"t-1","on_behalf":"ann"}`)
	require.Contains(t, text, `"principal":{"subject":"b\"\n\u202e","on_behalf":"é"}`, "as a screen may show it")
	require.Equal(t, 11, strings.Count(text, `"principal":`), "it is left out where there is none")
	for _, snapshots := range []bool{false, true} {
		if snapshots {
			in = reopened(t, in, st)
		}
		got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
		require.NoError(t, err)
		require.Nil(t, got.Different)
	}
}

func TestAPrincipalIsTextWithinItsLimits(t *testing.T) {
	in, _ := begin(t)
	before := traceOf(t, in)
	for what, at := range map[string]func(p *runtime.Principal) *string{
		"subject":   func(p *runtime.Principal) *string { return &p.Subject },
		"token":     func(p *runtime.Principal) *string { return &p.Token },
		"on behalf": func(p *runtime.Principal) *string { return &p.OnBehalf },
	} {
		each := func(text string, check func(err error)) {
			var who runtime.Principal
			*at(&who) = text
			_, err := in.View(ctx, runtime.Request{Stage: "draft", Principal: who})
			check(err)
			_, err = in.Propose(ctx, runtime.Proposal{Stage: "draft", Patch: []byte(`[]`), Principal: who})
			check(err)
			_, err = in.Advance(ctx, "nowhere", "", who)
			check(err)
			_, err = runtime.Create(ctx, in.Contract(), store.NewMemory(), "T-8", []byte(sampleState), runtime.WithPrincipal(who))
			check(err)
		}
		each(strings.Repeat("p", runtime.MaxGiven+1), func(err error) {
			var tooLong *runtime.TooLongError
			require.ErrorAs(t, err, &tooLong)
			require.Equal(t, what, tooLong.What)
		})
		each("p\xff", func(err error) {
			var noText *runtime.NotTextError
			require.ErrorAs(t, err, &noText)
			require.Equal(t, what, noText.What)
		})
		require.Equal(t, before, traceOf(t, in))
	}
	long := strings.Repeat("p", runtime.MaxGiven)
	_, err := in.View(ctx, runtime.Request{Stage: "draft", Principal: runtime.Principal{Subject: long, Token: long, OnBehalf: long}})
	require.NoError(t, err)
}

func TestNobodysBadPatchesUseUpAnothersTries(t *testing.T) {
	in, st := begin(t)
	by := func(in *runtime.Instance, subject, patch string) runtime.Verdict {
		return proposeAs(t, in, runtime.Proposal{Stage: "draft", Base: in.Version(), Patch: []byte(patch),
			Principal: runtime.Principal{Subject: subject, Token: patch, OnBehalf: patch}})
	}
	for n := range 3 {
		rejects(t, by(in, "bot", outside(n)), verify.WriteScopeViolation)
	}
	rejects(t, by(in, "bot", inside), verify.AttemptsExhausted)
	for _, other := range []string{"", "ann", "bot ", "Bot"} {
		v := by(in, other, outside(0))
		rejects(t, v, verify.WriteScopeViolation)
		require.Equal(t, 1, v.Attempt, "%q has tries of its own, and repeats nobody else", other)
		rejects(t, by(in, other, outside(0)), verify.Repeat)
	}
	in = reopened(t, in, st)
	rejects(t, by(in, "bot", inside), verify.AttemptsExhausted)
	commits(t, by(in, "ann", inside))
	commits(t, by(in, "bot", inside))
	got, err := runtime.Replay(ctx, in.Contract(), st, "T-7")
	require.NoError(t, err)
	require.Nil(t, got.Different)
}

// The verdict that a key stands for is for who has proposed.
func TestAKeyOfAnotherPrincipalIsTaken(t *testing.T) {
	in, _ := begin(t)
	p := runtime.Proposal{Stage: "draft", Patch: []byte(inside), Key: "k", Principal: runtime.Principal{Subject: "bot", Token: "t-1"}}
	first := proposeAs(t, in, p)
	commits(t, first)
	p.Principal.Token, p.Principal.OnBehalf = "t-2", "ann"
	require.Equal(t, first.OperatorVerdict, proposeAs(t, in, p).OperatorVerdict, "the subject is the same")
	for _, other := range []string{"", "ann"} {
		p.Principal.Subject, p.Base = other, in.Version()
		rejects(t, proposeAs(t, in, p), verify.Repeat)
	}
}

// Whose tries were used up is decided again, not believed.
func TestAForgedPrincipalThatChangesADecisionDiffers(t *testing.T) {
	in, st := begin(t)
	by := func(subject, patch string) runtime.Verdict {
		return proposeAs(t, in, runtime.Proposal{Stage: "draft", Patch: []byte(patch), Principal: runtime.Principal{Subject: subject}})
	}
	rejects(t, by("ann", outside(1)), verify.WriteScopeViolation)
	rejects(t, by("bot", outside(2)), verify.WriteScopeViolation)
	log := logOf(t, st)
	for i, record := range log {
		if !strings.Contains(string(record.Line), `"subject":"bot"`) {
			continue
		}
		for _, other := range []string{`"principal":{"subject":"ann"},`, `"principal":{"subject":"ann","subject":"ann"},`, `"principal":{"token":"bot","subject":"bot"},`, `"principal":{},`} {
			forged := store.NewMemory()
			line := strings.Replace(string(record.Line), `"principal":{"subject":"bot"},`, other, 1)
			require.NoError(t, forged.Create(ctx, "T-7", chainedWith(log, i, line)...))
			got, err := runtime.Replay(ctx, in.Contract(), forged, "T-7")
			require.NoError(t, err)
			require.NotNil(t, got.Different, other)
		}
		for _, other := range []string{`"principal":"bot",`, `"principal":{"subject":7},`, `"principal":["bot"],`} {
			line := strings.Replace(string(record.Line), `"principal":{"subject":"bot"},`, other, 1)
			for _, corrupt := range checked(t, in.Contract(), chainedWith(log, i, line)) {
				require.NotNil(t, corrupt, other)
				require.Equal(t, record.Seq, corrupt.Seq)
			}
		}
	}
}

// What a decision rests on is the time that its records tell.
func TestTheClockIsReadOnceForEachRequest(t *testing.T) {
	read := 0
	clock := func() time.Time { read++; return time.Unix(int64(read), 123_456_789).In(time.FixedZone("x", 3600)) }
	in, _ := begin(t, runtime.WithClock(clock))
	_, err := in.View(ctx, runtime.Request{Stage: "draft"})
	require.NoError(t, err)
	commits(t, propose(t, in, inside))
	rejects(t, propose(t, in, outside(1)), verify.WriteScopeViolation)
	keyed(t, in, "k", outside(2))
	_, err = in.Advance(ctx, "nowhere", "")
	require.NoError(t, err)
	_, err = in.Runnable(ctx, "", runtime.Principal{Subject: "ann"})
	require.NoError(t, err)
	require.Equal(t, 7, read)
	var times []string
	for _, l := range linesOf(t, in) {
		times = append(times, l.Time[len("1970-01-01T00:00:"):])
	}
	require.Equal(t, []string{
		"01.123456789Z", "02.123456789Z", "03.123456789Z", "03.123456789Z", "04.123456789Z", "04.123456789Z",
		"05.123456789Z", "05.123456789Z", "06.123456789Z", "06.123456789Z",
	}, times)
}
