package poptic_test

import (
	"encoding/json"
	"maps"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/prompt"
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

// Conditions on binding. What is hidden, and what the messages and the state say of it, no
// actor is told.
const owned = `contract owned sealed
type Reason = "mistake" | "delay"
state {
  users: map of { name: string  admin: bool }
  orders: map of { owner: key of /users  open: bool  total: int  reason?: Reason }
  current: string  limit: int
}
measure spent = sum /orders/*/total
stage cancel(user in /users, order in /orders where "the order is the user's" { state.orders[order].owner == user && state.orders[order].total / (state.limit - 9) < 100 }, reason: Reason) {
  read  /orders/{order}, /limit
  write /orders/{order}/open, /orders/{order}/reason
}
stage take(user in /users, order = /current where { state.orders[order].owner == user }) {
  read /orders  write /orders/*/open
}
stage place(user in /users where { role == "clerk" || actor == user }, order new in /orders where { state.users[user].admin && spent < 100 || order.startsWith(user) }) {
  read /users/{user}/admin, /orders/*/total
  write /orders/{order}
  discloses /orders/*/owner, where order
}
stage later(user in /users where { now > timestamp("2026-01-01T00:00:00Z") }, n: int) { read /users/{user}/name  require { n > 0 } }
`

func TestAParameterIsBoundOnlyWhereItsConditionHolds(t *testing.T) {
	ctx := t.Context()
	contract, err := poptic.Load(ctx, fstest.MapFS{"c.poptic": {Data: []byte(owned)}}, "c.poptic")
	require.NoError(t, err)
	stage, _ := contract.Stage("cancel")
	require.Equal(t, runtime.Parameter{Name: "order", Kind: runtime.ParameterIn, Of: "/orders", Message: "the order is the user's",
		Where: "state.orders[order].owner == user && state.orders[order].total / (state.limit - 9) < 100"}, stage.Parameters[1])
	memory := store.NewMemory()
	clock := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	in, err := runtime.Create(ctx, contract, memory, "i", []byte(`{
		"users": {"ada": {"name": "A", "admin": true}, "bob": {"name": "B", "admin": false}},
		"orders": {"o1": {"owner": "ada", "open": true, "total": 1}, "o2": {"owner": "bob", "open": true, "total": 2}},
		"current": "o2", "limit": 5}`), runtime.WithClock(func() time.Time { return clock }))
	require.NoError(t, err)
	const none = "argument order is no key of /orders"
	for _, c := range []struct {
		stage, role, actor string
		args               map[string]string
		operator, told     string // "" if it binds
	}{
		{"cancel", "", "", map[string]string{"user": "ada", "order": "o1", "reason": `"delay"`}, "", ""},
		{"cancel", "", "", map[string]string{"user": "bob", "order": "o1", "reason": `"delay"`}, "the order is the user's", none},
		{"cancel", "", "", map[string]string{"user": "bob", "order": "o9", "reason": `"delay"`}, none, none},
		{"take", "", "", map[string]string{"user": "bob"}, "", ""},
		{"take", "", "", map[string]string{"user": "ada"}, "the condition on argument order does not hold", "argument order is taken from /current, where there is no string"},
		{"place", "clerk", "", map[string]string{"user": "ada", "order": "x"}, "", ""},
		{"place", "", "bob", map[string]string{"user": "bob", "order": "bob1"}, "", ""},
		{"place", "", "bob", map[string]string{"user": "bob", "order": "x"}, "the condition on argument order does not hold", "argument order must be a new key, and /orders has it already"},
		{"place", "", "bob", map[string]string{"user": "ada", "order": "ada1"}, "the condition on argument user does not hold", "argument user is no key of /users"},
		{"later", "", "", map[string]string{"user": "ada", "n": "1"}, "", ""},
	} {
		for _, of := range []func() error{
			func() error {
				_, err := in.View(ctx, runtime.Request{Stage: c.stage, Role: c.role, Principal: runtime.Principal{Subject: c.actor}, Args: c.args})
				return err
			},
			func() error {
				v, err := in.Propose(ctx, runtime.Proposal{Stage: c.stage, Role: c.role, Principal: runtime.Principal{Subject: c.actor}, Args: c.args, Patch: []byte(`[]`)})
				require.NoError(t, err)
				if len(v.Violations) == 0 || v.Violations[0].Gate != runtime.GatePhase {
					return nil
				}
				return &runtime.ViewRefusedError{Verdict: v}
			},
		} {
			var refused *runtime.ViewRefusedError
			if err := of(); c.operator == "" {
				require.NoError(t, err, c)
				continue
			} else {
				require.ErrorAs(t, err, &refused, c)
			}
			require.Equal(t, c.operator, refused.Verdict.Violations[0].Message)
			told := refused.Verdict.Actor().Violations
			require.Len(t, told, 1)
			require.Equal(t, c.told, told[0].Message)
			require.Empty(t, told[0].Hint)
			require.NotContains(t, told[0].Rule, "where")
		}
	}

	clock = time.Date(2025, 2, 1, 0, 0, 0, 0, time.UTC)
	_, err = in.View(ctx, runtime.Request{Stage: "later", Args: map[string]string{"user": "ada", "n": "1"}})
	require.ErrorAs(t, err, new(*runtime.ViewRefusedError))
	require.NoError(t, in.Close(ctx))
	again, err := runtime.Replay(ctx, contract, memory, "i")
	require.NoError(t, err)
	require.Nil(t, again.Different, "%v", again.Different)
}

func TestWhatIsOneAndIsNotTheUsersIsToldAsWhatIsNone(t *testing.T) {
	ctx := t.Context()
	contract, err := poptic.Load(ctx, fstest.MapFS{"c.poptic": {Data: []byte(owned)}}, "c.poptic")
	require.NoError(t, err)
	var replies []string
	for _, orders := range []string{`"o1": {"owner": "bob", "open": true, "total": 1}`, ``, `"o1": {"owner": "ada", "open": true, "total": 1000}`} {
		limit := "5"
		if orders != "" {
			limit = "9" // the condition has no value
		}
		in, err := runtime.Create(ctx, contract, store.NewMemory(), "i", []byte(`{
			"users": {"ada": {"name": "A", "admin": true}, "bob": {"name": "B", "admin": false}}, "orders": {`+orders+`}, "current": "", "limit": `+limit+`}`))
		require.NoError(t, err)
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "cancel", Args: map[string]string{"user": "ada", "order": "o1", "reason": `"delay"`}, Patch: []byte(`[]`)})
		require.NoError(t, err)
		reply, err := json.Marshal(v.Actor())
		require.NoError(t, err)
		replies = append(replies, string(reply))
	}
	require.Equal(t, replies[0], replies[1])
	require.Equal(t, replies[0], replies[2])
}

// Beside an argument that does not bind, the conditions are not asked: then neither may it show
// which keys there are.
func TestBesideAnotherWrongArgumentWhatIsKeptBackIsToldAsWhatIsNone(t *testing.T) {
	ctx := t.Context()
	contract, err := poptic.Load(ctx, fstest.MapFS{"c.poptic": {Data: []byte(`contract c
state { users: map of string  orders: map of { user: key of /users  next: string }  mine: list of string }
define owns(user, order) = { state.orders[order].user == user }
stage look(user in /users, order in /orders where { owns(user, order) }, then = /orders/{order}/next, also in /orders where { owns(user, also) },
           pick in /mine where { pick == user }, fresh new in /orders where { user != "bob" }, f: int where { self > 0 }) {
  read /orders/{order}/next
  discloses where order, where also, where pick
}
`)}}, "c.poptic")
	require.NoError(t, err)
	in, err := runtime.Create(ctx, contract, store.NewMemory(), "i", []byte(`{"users": {"ada": "", "bob": ""},
		"orders": {"a1": {"user": "ada", "next": "a1"}, "a2": {"user": "ada", "next": ""}, "b1": {"user": "bob", "next": "b1"}}, "mine": ["ada", "bob"]}`))
	require.NoError(t, err)
	reply := func(args map[string]string) string {
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "look", Args: args, Patch: []byte(`[]`)})
		require.NoError(t, err)
		told := v.Actor()
		told.Attempt = 0
		out, err := json.Marshal(told)
		require.NoError(t, err)
		return string(out)
	}
	good := map[string]string{"user": "ada", "order": "a1", "also": "a1", "pick": "ada", "fresh": "n", "f": "1"}
	require.NotContains(t, reply(good), "argument_violation")
	for wrong, value := range map[string]string{"none": "", "user": "eve", "order": "b1", "also": "b1", "pick": "bob", "fresh": "a1", "f": "0"} {
		for asked, other := range map[string][2]string{"order": {"b1", "none"}, "also": {"b1", "none"}, "pick": {"bob", "none"}} {
			if asked == wrong {
				continue
			}
			args := maps.Clone(good)
			if wrong != "none" {
				args[wrong] = value
			}
			args[asked] = other[0]
			kept := reply(args)
			args[asked] = other[1]
			require.Equal(t, kept, reply(args), "%s beside a wrong %s", asked, wrong)
		}
	}
}

// A text that can be no key is no key that a condition could be asked of.
func TestATextThatCannotBeBoundIsToldAsOneThatAConditionKeepsBack(t *testing.T) {
	ctx := t.Context()
	for _, stage := range []string{
		`look(order in /orders, then = /orders/{order}/next where { role == "boss" }) { read /orders/{then}/next, /orders/main/next  discloses where then }`,
		`look(order in /orders where { order != "x" }, then = /orders/{order}/next where { then != "o2" && then in state.orders }) { read /orders/{then}/next, /orders/main/next  discloses where then }`,
		`look(order in /orders, then = /orders/{order}/next where { size(state.orders) > 5 }, last = /orders/{then}/next) { read /orders/{last}/next, /orders/{then}/next, /orders/main/next  discloses where then }`,
	} {
		contract, err := poptic.Load(ctx, fstest.MapFS{"c.poptic": {Data: []byte("contract c\nstate { orders: map of { next?: string } }\nstage " + stage + "\n")}}, "c.poptic")
		require.NoError(t, err)
		var replies []string
		for _, next := range []string{`"next": "o2"`, `"next": ""`, `"next": "main"`, ``} {
			in, err := runtime.Create(ctx, contract, store.NewMemory(), "i", []byte(`{"orders": {"o1": {`+next+`}, "o2": {}, "main": {}}}`))
			require.NoError(t, err)
			v, err := in.Propose(ctx, runtime.Proposal{Stage: "look", Args: map[string]string{"order": "o1"}, Patch: []byte(`[]`)})
			require.NoError(t, err)
			reply, err := json.Marshal(v.Actor())
			require.NoError(t, err)
			require.Contains(t, string(reply), "argument_violation")
			replies = append(replies, string(reply))
		}
		for _, reply := range replies[1:] {
			require.Equal(t, replies[0], reply, stage)
		}
	}
}

func TestALateProposalIsJudgedByWhatItsArgumentsBindToNow(t *testing.T) {
	ctx := t.Context()
	contract, err := poptic.Load(ctx, fstest.MapFS{"c.poptic": {Data: []byte(`contract c
state { users: map of string  orders: map of { owner: string  open: bool } }
stage close(user in /users, order in /orders where { state.orders[order].owner == user }) { read /orders/{order}/open  write /orders/{order}/open }
stage give(order in /orders) { read /orders/{order}/owner  write /orders/{order}/owner }
`)}}, "c.poptic")
	require.NoError(t, err)
	in, err := runtime.Create(ctx, contract, store.NewMemory(), "i", []byte(`{"users": {"ada": "", "bob": ""}, "orders": {"o": {"owner": "bob", "open": true}}}`))
	require.NoError(t, err)
	give := func(base uint64, to string) {
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "give", Base: base, Args: map[string]string{"order": "o"}, Patch: []byte(`[{"op": "replace", "path": "/orders/o/owner", "value": "` + to + `"}]`)})
		require.NoError(t, err)
		require.Equal(t, runtime.Commit, v.Verdict)
	}
	closing := func(base uint64) runtime.Verdict {
		v, err := in.Propose(ctx, runtime.Proposal{Stage: "close", Base: base, Args: map[string]string{"user": "ada", "order": "o"}, Patch: []byte(`[{"op": "replace", "path": "/orders/o/open", "value": false}]`)})
		require.NoError(t, err)
		return v
	}
	give(0, "ada")
	give(1, "bob")
	require.Equal(t, runtime.CodeArgumentViolation, closing(1).Violations[0].Code, "bound when it was seen, and not now")
	give(2, "ada")
	require.Equal(t, runtime.Commit, closing(2).Verdict, "bound now, and it would have shown the same")
}

// conditioned has stages that differ in the conditions on their parameters.
const conditioned = `contract conditioned
state { users: map of string  orders: map of { owner: string  open: bool }  refs: map of key of /keyed  keyed: list of { id: string } by id  out: string  pin: secret string }
stage close(user in /users, order in /orders where { state.orders[order].owner == user }) { read /orders/{order}/open  write /orders/{order}/open }
stage also(u in /users, o in /orders where { state.pin != "" && state.orders[o].owner == u }) { read /orders/{o}/open  write /orders/{o}/open }
stage free(user in /users, order in /orders) { read /orders/{order}/open  write /orders/{order}/open }
stage needs(user in /users, order in /orders) { read /orders/{order}  write /orders/{order}/open  require { before.orders[order].owner == user } }
stage give(order in /orders) { read /orders/{order}/owner  write /orders/{order}/owner }
stage tell(user in /users where { state.pin.startsWith(user) }) { read /out  write /out }
stage refer(r in /refs where { state.refs[r] == "k" }) { read /out  write /out }
stage asks(user in /users where { role == "x" && actor == user }) { read /out  write /out }
delegate part from close { write /orders/{order}/open }
`

func TestAConditionOnBindingCountsAsReadAndAsARule(t *testing.T) {
	for claim, holds := range map[string]bool{
		"close commutes with give": false, "close commutes with give when order differs": true, "free commutes with give": true,
		"part commutes with give": false, "asks commutes with give": true,
		"close within free": true, "also within close": true, "close within also": false, "free within close": false, "needs within close": false, "close within needs": false, "part within close": true,
		"no stage except give, needs, close, also reads /orders/*/owner": true, "no stage except give, needs, close reads /orders/*/owner": false,
		"no stage except also reads secrets": false, "no stage except also, tell reads secrets": true,
		"no flow from secrets to /out": false, "no stage reads /keyed/*/id": false, "no stage except refer reads /keyed/*/id": true,
	} {
		_, err := poptic.Load(t.Context(), fstest.MapFS{"c.poptic": {Data: []byte(conditioned + "prove " + claim + "\n")}}, "c.poptic")
		if holds {
			require.NoError(t, err, claim)
		} else {
			require.ErrorContains(t, err, "claim_", claim)
		}
	}
}

func TestADisclosureNamesTheParameterWhoseConditionItIsAbout(t *testing.T) {
	for discloses, says := range map[string]string{
		"discloses where a, where b": "", "discloses where a": "does not see /n, which the condition on its parameter b reads", "": "undisclosed_gate",
		"discloses where c": "unknown_gate", "discloses where o": "unknown_gate", "discloses a, where b": "unknown_gate", "discloses where a, where b, require": "needless_disclosure",
	} {
		_, err := poptic.Load(t.Context(), fstest.MapFS{"c.poptic": {Data: []byte(`contract c sealed
state { m: map of int  n: int }
stage s(a in /m where { state.n > 0 }, o in /m, b in /m where { state.n < 9 || state.m[b] > 3 }) {
  read /m/{a}, /m/{b}, /m/{o}  write /m/{a}
  ` + discloses + `
}
`)}}, "c.poptic")
		if says == "" || says == "needless_disclosure" {
			require.NoError(t, err, discloses)
		} else {
			require.ErrorContains(t, err, says, discloses)
		}
	}
}

func TestAPromptTellsWhatTheHostBoundAndWhatThatMeans(t *testing.T) {
	ctx := t.Context()
	contract, err := poptic.Load(ctx, fstest.MapFS{"c.poptic": {Data: []byte(`contract shop
type Reason =
    # they ordered it by mistake
    "mistake"
    # it comes too late
  | "late"
type Said {
  # what they take it to cost
  total: int
  why:   Reason | "none"
  note?: string
}
state { users: map of string  orders: map of { user: string  open: bool  total: int }  hidden: int }
stage cancel(user in /users where "nobody is told" { state.hidden > 0 }, order in /orders where "the order is the user's" { state.orders[order].user == user },
  reason: Reason, said: Said, often: int, pin: secret string) {
  read /orders/{order}  write /orders/{order}/open
}
`)}}, "c.poptic")
	require.NoError(t, err)
	in, err := runtime.Create(ctx, contract, store.NewMemory(), "i", []byte(`{"users": {"ada": ""}, "orders": {"o": {"user": "ada", "open": true, "total": 3}}, "hidden": 1}`))
	require.NoError(t, err)
	r := runtime.Request{Stage: "cancel", Args: map[string]string{"user": "ada", "order": "o", "reason": ` "late"`, "said": `{"why": "mistake", "total": 3.0}`, "often": "2", "pin": `"1234"`}}
	v, err := in.View(ctx, r)
	require.NoError(t, err)
	d, err := prompt.Of(contract, r, v)
	require.NoError(t, err)
	text := d.Text()
	require.Contains(t, text, `user = "ada", order = "o" (the order is the user's), reason = "late" (it comes too late), `+
		`said = {"total":3,"why":"mistake"} (total: what they take it to cost; why: they ordered it by mistake), often = 2.`)
	require.NotContains(t, text, "1234")
	require.NotContains(t, text, "nobody is told")
}
