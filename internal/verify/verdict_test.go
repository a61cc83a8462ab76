package verify_test

import (
	"context"
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
)

func replaced(text, old, with string) string { return strings.Replace(text, old, with, 1) }

func TestAVerdictHasTheAgreedMembersInTheAgreedOrder(t *testing.T) {
	r := openDesk(t)
	pr := edit(`[{"op":"replace","path":"/budget","value":1}]`)
	pr.Attempt, pr.Normalised = 2, []string{"fence"}
	out := r.try(pr)
	digest := r.s.State.Digest().String()
	text, err := json.Marshal(out.Verdict)
	require.NoError(t, err)
	require.Equal(t, `{"verdict":"reject","version_before":5,"version_after":5,"state_before":"`+digest+`","state_after":"`+digest+
		`","contract":"`+r.p.Digest()+`","phase_before":"triage","phase_after":"triage","violations":[{"gate":"scope","code":"patch_write_scope_violation",`+
		`"op_index":0,"path":"/budget","rule":"stage edit, write","message":"the stage may not write all of this path",`+
		`"hint":"allowed: /tickets/T1/status, /tickets/T1/reply, /tickets/T1/labels, /tickets/T1/steps and 2 more"}],"not_checked":["schema","invariant"],"retryable":true,"attempt":2,"normalised":["fence"]}`, string(text))

	actor, err := json.Marshal(out.Actor())
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(actor), `{"verdict":"reject","view_digest":"sha256:`), string(actor))

	committed, err := json.Marshal(r.try(edit(`[]`)).Verdict)
	require.NoError(t, err)
	require.Contains(t, string(committed), `"violations":[],"retryable":false,"normalised":[]`)
}

func TestHintsListTheGrantsNearestToThePath(t *testing.T) {
	r := openDesk(t)
	out := r.try(edit(`[{"op":"add","path":"/history/x/y","value":1}]`))
	require.Equal(t, "allowed: /history/-, /tickets/T1/status, /tickets/T1/reply, /tickets/T1/labels and 2 more", out.Verdict.Violations[0].Hint)
	out = r.try(as("idle", `[{"op":"add","path":"/x","value":1}]`))
	require.Equal(t, "the stage may not write anything", out.Verdict.Violations[0].Hint)
	out = r.try(edit(`[{"op":"test","path":"/tickets/T1/customer","value":"C1"}]`))
	require.Contains(t, out.Verdict.Violations[0].Hint, "/tickets/T1 except /tickets/T1/internal and /tickets/T1/customer")
}

func TestElementsOfAKeyedListGoByKey(t *testing.T) {
	r := openDesk(t)
	for patch, violation := range map[string]string{
		`[{"op":"replace","path":"/tickets/T1/lines/0/count","value":1}]`:           "scope path_missing 0 /tickets/T1/lines/0/count",
		`[{"op":"remove","path":"/tickets/T1/lines/0"}]`:                            "scope path_missing 0 /tickets/T1/lines/0",
		`[{"op":"add","path":"/tickets/T1/lines/-","value":{"sku":"C","count":1}}]`: "schema schema_violation 0 /tickets/T1/lines/-",
	} {
		out := r.refuses(edit(patch), violation)
		require.Contains(t, out.Verdict.Violations[0].Hint, "go by key", patch)
	}
}

func TestARejectionIsRetryableIfAnotherProposalCanHelp(t *testing.T) {
	r := openDesk(t)
	misfit := edit(`[{"op":"replace","path":"/tickets/T1/status","value":"none"}]`)
	require.True(t, r.try(misfit).Verdict.Retryable)
	require.False(t, r.try(as("finish", `[]`)).Verdict.Retryable)

	b := desk(t)
	b.c.Stage("edit").Attempts = 3
	limited := open(t, b.load(), deskState)
	for attempt, want := range map[int]bool{1: true, 2: true, 3: false} {
		misfit.Attempt = attempt
		out := limited.try(misfit)
		require.Equal(t, want, out.Verdict.Retryable, attempt)
		require.Equal(t, want, out.Actor().Retryable, attempt)
		require.Equal(t, 3, out.Verdict.MaxAttempts)
	}
}

func TestReplayDoesWhatTheCommitDid(t *testing.T) {
	r := openDesk(t)
	before := r.s.State
	out := r.commits(edit(`{"patch":` + fiveOperations + `}`))
	after, _, err := r.p.Replay(context.Background(), before, []byte(`{"patch":`+fiveOperations+`}`))
	require.NoError(t, err)
	require.Equal(t, out.Verdict.StateAfter, after.Digest().String())
	_, _, err = r.p.Replay(context.Background(), after, []byte(fiveOperations))
	require.Error(t, err, "its test does not hold any more")
}

func TestAProgramServesManyAtOnce(t *testing.T) {
	r := openDesk(t)
	want := r.try(edit(fiveOperations)).Verdict
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 20 {
				out, err := r.p.Verify(context.Background(), r.s, edit(fiveOperations))
				if err != nil || out.Verdict.StateAfter != want.StateAfter {
					t.Error("another outcome", err)
				}
				out.Actor()
				if v, _, err := r.p.View(context.Background(), r.s, editT1); err != nil || v.Value == nil {
					t.Error("no view", err)
				}
			}
		}()
	}
	all.Wait()
}

func TestEveryCodeIsDescribed(t *testing.T) {
	seen := map[verify.Code]bool{}
	for _, c := range verify.Codes() {
		require.NotEmpty(t, c.Meaning)
		require.NotEmpty(t, c.Gate)
		require.False(t, seen[c.Code])
		seen[c.Code] = true
	}
}

func FuzzVerify(f *testing.F) {
	for _, seed := range []string{fiveOperations, `{"patch":[],"next":"review"}`, `"[]"`, `[{"op":"move","from":"","path":"/a"}]`, `[{"op":"copy","from":"/history","path":"/notes"}]`} {
		f.Add("root", []byte(seed))
		f.Add("edit", []byte(seed))
	}
	r := openDesk(f)
	f.Fuzz(func(t *testing.T, stage string, patch []byte) {
		pr := verify.Proposal{Stage: stage, Patch: patch}
		if stage == "edit" {
			pr = edit(string(patch))
		}
		before := r.s.State.Digest()
		out, err := r.p.Verify(context.Background(), r.s, pr)
		if err != nil {
			return
		}
		if r.s.State.Digest() != before {
			t.Fatal("the state changed")
		}
		if out.Verdict.Verdict == verify.Commit && len(r.p.CheckAll(context.Background(), out.After.State, out.After.Phase)) > 0 {
			t.Fatal("a commit that does not hold")
		}
		if _, err := json.Marshal(out.Actor()); err != nil {
			t.Fatal(err)
		}
	})
}

// What is written by hand is what encoding/json writes, whatever the members are.
func TestAVerdictIsWrittenAsItsTagsSay(t *testing.T) {
	random := rand.New(rand.NewSource(5))
	texts := []string{"", "commit", "sha256:0f", "/a~1b", "with \"quotes\" and <tags> & such", "tab\tbreak\n\\", "\u00e9\u2028\U0001F600", "\xff", "\x7f\x00"}
	for range 3000 {
		var v verify.Verdict
		var a verify.ActorVerdict
		drawInto(random, texts, reflect.ValueOf(&v).Elem())
		drawInto(random, texts, reflect.ValueOf(&a).Elem())
		want, err := json.Marshal(&v)
		require.NoError(t, err)
		require.Equal(t, string(want), string(v.AppendJSON(nil)))
		want, err = json.Marshal(&a)
		require.NoError(t, err)
		require.Equal(t, string(want), string(a.AppendJSON(nil)))
	}
}

// drawInto sets a value, and all that is in it, to what it is sometimes.
func drawInto(random *rand.Rand, texts []string, v reflect.Value) {
	if !v.CanSet() { // no member of the text
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[random.Intn(len(texts))])
	case reflect.Int:
		v.SetInt(int64(random.Intn(3) - 1))
	case reflect.Uint64:
		v.SetUint(uint64(random.Intn(3)))
	case reflect.Bool:
		v.SetBool(random.Intn(2) == 0)
	case reflect.Pointer:
		if random.Intn(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			drawInto(random, texts, v.Elem())
		}
	case reflect.Slice:
		if n := random.Intn(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range n - 1 {
				drawInto(random, texts, v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			drawInto(random, texts, v.Field(i))
		}
	default:
		panic("a verdict has a member of a kind that is not drawn: " + v.Type().String())
	}
}

func TestAHintSpellsThePathThatWasMeant(t *testing.T) {
	r := openDesk(t)
	for path, meant := range map[string]string{
		"/tickets/T1/staus":      "did you mean /tickets/T1/status?",
		"/tikets/T1/reply":       "did you mean /tickets/T1/reply?",
		"/tickets[T1]/reply":     "did you mean /tickets/T1/reply?",
		"/tickets['T1']/labels":  "did you mean /tickets/T1/labels?",
		"/tickets/T1/labels[0]":  "did you mean /tickets/T1/labels/0?",
		"/somewhere/else/at/all": "",
		"/budget":                "",
		"/tickets/T1":            "",
	} {
		out := r.try(edit(`[{"op":"replace","path":"` + path + `","value":"x"}]`))
		require.Len(t, out.Verdict.Violations, 1, path)
		_, said, _ := strings.Cut(out.Verdict.Violations[0].Hint, "; ")
		require.Equal(t, meant, said, "%s: %s", path, out.Verdict.Violations[0].Hint)
		require.Equal(t, out.Verdict.Violations, out.Actor().Violations)
	}
}

func TestWhatFitsNoneOfManyRecordsIsToldWhatTheyHave(t *testing.T) {
	b := newBuilder(t)
	text := b.kind(ir.StringType)
	literal := func(text string) ir.TypeID { return b.typ(ir.Type{Kind: ir.LiteralType, Literal: text}) }
	union := b.typ(ir.Type{Kind: ir.UnionType, Alternatives: []ir.TypeID{
		b.record("Draft", "kind", literal(`"draft"`), "note?", text), b.record("Sent", "kind", literal(`"sent"`), "at", text),
		b.record("Gone", "kind", literal(`"gone"`), "why", text), b.record("Paid", "sum", text),
	}})
	b.c.State = b.record("State", "x", union)
	b.c.Stages = []ir.Stage{{Name: "act", In: []string{"main"}, Read: region.Of("/x"), Write: region.Of("/x")}}
	p, err := verify.Load(b.c, verify.DefaultLimits())
	require.NoError(t, err)
	state, err := p.Import([]byte(`{"x": {"kind": "sent", "at": "1"}}`))
	require.NoError(t, err)
	for _, patch := range []string{
		`[{"op": "replace", "path": "/x/kind", "value": "gone"}]`, `[{"op": "replace", "path": "/x", "value": {"kind": "gone", "at": "1"}}]`, `[{"op": "remove", "path": "/x/at"}]`,
	} {
		out, err := p.Verify(context.Background(), verify.Snapshot{State: state, Phase: "main"}, verify.Proposal{Stage: "act", Patch: []byte(patch)})
		require.NoError(t, err)
		require.Len(t, out.Actor().Violations, 1, patch)
		require.Equal(t, `write an object with "kind": "draft" or an object with "kind": "sent", "at" or an object with "kind": "gone", "why" or an object with "sum"`,
			out.Actor().Violations[0].Hint, patch)
	}
}
