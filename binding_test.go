package poptic_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// Parameters that are elements of a list or set.
const listed = `contract accounts
state {
  users: map of { orders: list of string  labels?: set of ("new" | "vip")  cards: list of (secret string) }
  orders: map of { open: bool  total: int }
}
stage cancel(user in /users, order in /users/{user}/orders) { read /orders/{order}  write /orders/{order}/open }
stage greet(user in /users, label in /users/{user}/labels) { read /orders  write /orders/*/total  require { label != "new" } }
stage charge(user in /users, card in /users/{user}/cards) { read /orders  write /orders/*/total }
`

func TestAParameterOutOfAListIsOneOfItsStrings(t *testing.T) {
	ctx := t.Context()
	contract, err := poptic.Load(ctx, fstest.MapFS{"c.poptic": {Data: []byte(listed)}}, "c.poptic")
	require.NoError(t, err)
	stage, _ := contract.Stage("cancel")
	require.Equal(t, runtime.Parameter{Name: "order", Kind: runtime.ParameterOneOf, Of: "/users/{user}/orders"}, stage.Parameters[1])

	memory := store.NewMemory()
	in, err := runtime.Create(ctx, contract, memory, "i", []byte(`{
		"users": {"ada": {"orders": ["o1", "o9", ""], "labels": ["vip", "new"], "cards": ["4111"]}, "bob": {"orders": [], "cards": []}},
		"orders": {"o1": {"open": true, "total": 1}, "o2": {"open": true, "total": 2}}}`))
	require.NoError(t, err)
	for _, c := range []struct {
		stage, user, name, value string
		binds                    bool
	}{
		{"cancel", "ada", "order", "o1", true},
		{"cancel", "ada", "order", "o9", true}, // no order, but in the list
		{"cancel", "ada", "order", "o2", false},
		{"cancel", "ada", "order", "", false},
		{"cancel", "ada", "order", "0", false}, // a position
		{"cancel", "bob", "order", "o1", false},
		{"greet", "ada", "label", "vip", true},
		{"greet", "ada", "label", "old", false},
		{"greet", "bob", "label", "vip", false}, // there is no list
		{"charge", "ada", "card", "4111", true},
	} {
		_, err := in.View(ctx, runtime.Request{Stage: c.stage, Args: map[string]string{"user": c.user, c.name: c.value}})
		if c.binds {
			require.NoError(t, err, c)
			continue
		}
		var refused *runtime.ViewRefusedError
		require.ErrorAs(t, err, &refused, c)
		require.Equal(t, runtime.CodeArgumentViolation, refused.Verdict.Violations[0].Code, c)
	}
	_, err = in.Propose(ctx, runtime.Proposal{Stage: "charge", Args: map[string]string{"user": "ada", "card": "4111"}, Patch: []byte(`[]`)})
	require.NoError(t, err)
	for r, err := range memory.Read(ctx, "i", 2, 0) {
		require.NoError(t, err)
		require.NotContains(t, string(r.Line), "4111", "an element of a list of secrets is one")
	}
	require.NoError(t, in.Close(ctx))
	again, err := runtime.Replay(ctx, contract, memory, "i")
	require.NoError(t, err)
	require.Nil(t, again.Different)
}

// refers has lists that some stages take parameters from, and others change.
const refers = `contract refers
state {
  users: map of { name: string  orders: set of key of /orders  plain: list of string }
  orders: list of { id: string  open: bool  total: int } by id
  m: map of int  all: set of key of /orders  texts: list of string
}
stage some(order in /all) { read /orders/{order}/open  write /orders/{order}/open }
stage text(order in /texts) { read /texts, /orders/{order}/open  write /orders/{order}/open }
stage both(order in /orders) { read /texts, /all, /orders/{order}/open  write /orders/{order}/open }
stage cancel(user in /users, order in /users/{user}/orders) { read /orders/{order}/open  write /orders/{order}/open }
stage void(user in /users, order in /users/{user}/orders) { read /users/{user}/orders, /orders/{order}/open  write /orders/{order}/open }
stage close(order in /orders) { read /orders/{order}/open  write /orders/{order}/open }
stage wide(order in /orders) { read /users/*/orders, /orders/{order}  write /orders/{order}/open }
stage plainly(user in /users, order in /users/{user}/plain) { read /users/{user}/plain, /orders/{order}/open  write /orders/{order}/open }
stage move(user in /users) { read /users/{user}/orders  write /users/{user}/orders  discloses /users/*/orders/* }
stage note(user in /users, order in /users/{user}/orders) { read /m  write /m  require { order != "x" } }
stage twice(user in /users, one in /users/{user}/plain, two in /users/{user}/plain) { read /m/{one}, /m/{two}  write /m/{one}, /m/{two} }
`

func TestWhatAListHoldsIsReadByWhoIsBoundToAnElement(t *testing.T) {
	for claim, holds := range map[string]bool{
		"cancel commutes with close when order differs": true, "cancel commutes with close": false,
		"cancel commutes with move when user differs": true, "cancel commutes with move": false, "note commutes with move": false,
		"twice commutes with twice when one differs and two differs and one differs from two and two differs from one": true,
		"twice commutes with twice when user differs":                                                                  false, "twice commutes with twice when one differs and two differs": false,
		"no stage except void, move, wide reads /users/*/orders": false, "no stage except void, move, note, cancel, wide reads /users/*/orders": true,
		"no stage except void, cancel, close, plainly, wide, some, text, both, move reads /orders/*/id":       false, // a reference is one
		"no stage except void, cancel, close, plainly, wide, some, text, both, note, move reads /orders/*/id": true,
		"no flow from /users/*/orders to /m": false, "no flow from /users/*/name to /m": true, "no flow from /orders/*/id to /m": false,
		"void within cancel": false, "cancel within void": true, "cancel within wide": true, "plainly within wide": false, "void within close": false, "cancel within close": false, "plainly within close": false,
		"some within close": false, "some within both": true, "text within both": false, "text within text": true,
		"note within note": true, "cancel within cancel": true,
	} {
		_, err := poptic.Load(t.Context(), fstest.MapFS{"c.poptic": {Data: []byte(refers + "prove " + claim + "\n")}}, "c.poptic")
		if holds {
			require.NoError(t, err, claim)
		} else {
			require.ErrorContains(t, err, "claim_", claim)
		}
	}
}
