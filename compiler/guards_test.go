package compiler_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARequireThatLooksLikeAConditionOnWhoSeesIsWarnedOf(t *testing.T) {
	const state = `contract c
state {
  users: map of { tenant: string }
  orders: map of { user: string  who: set of string  tenant: string  n: int }
  carts: list of { id: string  order: key of /orders  owner: string } by id
}
`
	warned := func(stage string) (out bool) {
		for _, d := range compile(state + stage).Diagnostics {
			switch d.Code {
			case "require_no_guard":
				out = true
			default:
				require.Contains(t, []string{"undisclosed_gate"}, d.Code, d.Message)
			}
		}
		return out
	}
	for _, stage := range []string{
		`stage s(user in /users, order in /orders) { read /orders/{order}  require { before.orders[order].user == user } }`,
		`stage s(user in /users, order in /orders) { read /orders/{order}/n  require { user in before.orders[order].who } }`,
		`stage s(user in /users, order in /orders) { read /orders/{order}  require { before.orders[order].who.exists(w, w == user) || before.orders[order].n > 3 } }`,
		`stage s(user in /users, cart in /carts, order = /carts/{cart}/order) { read /orders/{order}  require { before.carts[cart].owner == user } }`,
		`stage s(user in /users, order in /orders) { read /orders/{order}/n  require { before.orders[order].tenant == before.users[user].tenant } }`,
		`stage s(user in /users, order in /orders) { read /orders/{order}/n  require { !(before.users[user].tenant != before.orders[order].tenant) } }`,
		`stage s(a in /orders, b in /orders) { read /orders/{b}/n  require { before.orders[a].user in before.orders[b].who } }`,
	} {
		require.True(t, warned(stage), stage)
	}
	for _, stage := range []string{
		`stage s(user in /users, order in /orders) { read /orders/{order}  require { before.orders[order].n > 3 } }`,
		`stage s(user in /users, order in /orders) { read /orders/{order}  require { before.orders[order].n > 3 && before.users[user].tenant == "x" } }`,
		`stage s(user in /users, order in /orders) { read /carts  require { before.orders[order].user == user } }`,
		`stage s(user in /users, order new in /orders) { read /orders/{order}  require { size(before.orders) > 1 && user != order } }`,
		`stage s(user in /users, order in /orders) { read /orders/{order}  require { before.orders[order].n > before.orders[order].n - 1 } }`,
	} {
		require.False(t, warned(stage), stage)
	}
}
