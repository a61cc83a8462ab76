package poptic_test

import (
	"bytes"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

const cancelling = `contract shop
type Said { total: int  items: set of string }
type Code = secret string where "a code has four digits" { self.matches("^[0-9]{4}$") }
state { orders: map of { open: bool  total: int  items: set of string } }
stage cancel(order in /orders, said: Said, code: Code) {
  read /orders/{order}  write /orders/{order}/open
  require same { said.total == before.orders[order].total && said.items == before.orders[order].items && code != "0000" }
}
`

func TestAValueThatTheHostGivesIsPartOfTheStepInOneSpellingAndRecordedUnlessItIsSecret(t *testing.T) {
	ctx := t.Context()
	contract, err := poptic.Load(ctx, fstest.MapFS{"shop.poptic": {Data: []byte(cancelling)}}, "shop.poptic")
	require.NoError(t, err)
	stage, _ := contract.Stage("cancel")
	require.Equal(t, runtime.Parameter{Name: "said", Kind: runtime.ParameterValue, Of: "Said"}, stage.Parameters[1])

	memory := store.NewMemory()
	in, err := runtime.Create(ctx, contract, memory, "i", []byte(`{"orders": {"o": {"open": true, "total": 3, "items": ["a", "b"]}}}`))
	require.NoError(t, err)
	propose := func(said, code, key string) runtime.Verdict {
		v, err := in.Propose(ctx, runtime.Proposal{
			Stage: "cancel", Args: map[string]string{"order": "o", "said": said, "code": code}, Key: key,
			Patch: []byte(`[{"op": "replace", "path": "/orders/o/open", "value": false}]`),
		})
		require.NoError(t, err)
		return v
	}
	v := propose(`{"total": 4, "items": ["b", "a"]}`, `"9876"`, "")
	require.Equal(t, runtime.CodeRequireViolation, v.Violations[0].Code)
	require.Equal(t, 1, v.Attempt)
	v = propose(`{"items":["a","b"],  "total":4.0}`, `"9876"`, "") // the same step and patch
	require.Equal(t, runtime.CodeRepeat, v.Violations[0].Code)
	require.Equal(t, 2, v.Attempt)
	v = propose(`{"total": 4, "items": ["b", "a"]}`, `"9875"`, "") // another one
	require.Equal(t, 1, v.Attempt)
	for _, code := range []string{`9876`, `"98765"`, `null`, `"`, ``, `["9876"]`} {
		v = propose(`{"total": 3, "items": ["b", "a"]}`, code, "")
		require.Equal(t, runtime.CodeArgumentViolation, v.Violations[0].Code, code)
		require.Len(t, v.Violations, 1)
	}
	_, err = in.View(ctx, runtime.Request{Stage: "cancel", Args: map[string]string{"order": "o", "said": `{"total": 3}`, "code": `"9876"`}})
	var refused *runtime.ViewRefusedError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, runtime.CodeArgumentViolation, refused.Verdict.Violations[0].Code)
	v = propose(`{"total": 3, "items": ["b", "a"]}`, `"1234"`, "k")
	require.Equal(t, runtime.Commit, v.Verdict)
	require.Equal(t, v.OperatorVerdict, propose(`{"items": ["a", "b"], "total": 3}`, ` "1234"`, "k").OperatorVerdict, "the key answers for what reads the same")

	require.NoError(t, in.Close(ctx))
	_, err = runtime.Open(ctx, contract, memory, "i")
	require.NoError(t, err)
	var log bytes.Buffer
	for r, err := range memory.Read(ctx, "i", 0, 0) {
		require.NoError(t, err)
		log.Write(r.Line)
		log.WriteByte('\n')
	}
	require.Contains(t, log.String(), `"said":"{\"items\":[\"a\",\"b\"],\"total\":3}"`)
	for _, secret := range []string{"1234", "9876", "9875", "98765"} {
		require.NotContains(t, log.String(), `\"`+secret)
	}
	require.Contains(t, log.String(), `"redacted":["/args/code"]`)
	again, err := runtime.Replay(ctx, contract, memory, "i")
	require.NoError(t, err)
	require.Nil(t, again.Different)
}

// Stages that differ in the values that they take, each the same otherwise.
const taking = `contract taking
type R = "a" | "b"
state { x: int }
stage named(r: R) { read /x  write /x  require { r == "a" } }
stage spelled(r: "a" | "b") { read /x  write /x  require { r == "a" } }
stage wider(r: string) { read /x  write /x  require { r == "a" } }
stage secret_one(r: secret R) { read /x  write /x  require { r == "a" } }
stage other(q: R) { read /x  write /x  require { q == "a" } }
stage none { read /x  write /x }
stage value(actor: string) { read /x  write /x  require { actor == "a" } }
stage input { read /x  write /x  require { actor == "a" } }
`

func TestOnlyAValueOfTheSameNameAndTypeServesForAnother(t *testing.T) {
	for claim, holds := range map[string]bool{
		"named within spelled": true, "spelled within named": true, "named within none": true, "value within none": true,
		"named within wider": false, "wider within named": false, "named within other": false, "none within named": false,
		"named within secret_one": false, "input within value": false, "value within input": false,
	} {
		_, err := poptic.Load(t.Context(), fstest.MapFS{"c.poptic": {Data: []byte(taking + "prove " + claim + "\n")}}, "c.poptic")
		if holds {
			require.NoError(t, err, claim)
		} else {
			require.ErrorContains(t, err, "claim_refuted", claim)
		}
	}
}
