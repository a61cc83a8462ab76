package compiler_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
)

func TestTheKeyOfAListIsNotSecret(t *testing.T) {
	for _, elem := range []string{
		"{ email: secret string  name: string }", "secret { email: string }", "{ email: Address }", "C", "D", `{ email: "a" | secret "b" }`,
		"{ email: secret key of /m }", "{ email: lib.Address }", "lib.Person", "secret lib.Plain",
	} {
		text := fmt.Sprintf(`contract c
import "./lib.poptic" as lib
state { m: map of int  box: { customers: list of (%s) by email } }
type Address = secret string
type C { email: Address  n: int }
type D = secret { email: string }
stage s { read /m, /box }
`, elem)
		files := fstest.MapFS{"c.poptic": {Data: []byte(text)}, "lib.poptic": {Data: []byte(`library lib
type Address = secret string where { self != "" }
type Person { email: Address }
type Plain { email: string }
`)}}
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic"})
		require.NoError(t, err)
		require.NotEmpty(t, out.Diagnostics, elem)
		require.Equal(t, "secret_key", out.Diagnostics[0].Code, "%s: %+v", elem, out.Diagnostics)
	}
}

func TestAListThatIsSecretAsAWholeHidesItsKeys(t *testing.T) {
	const contract = `contract c
state { customers: secret list of { email: string  name: string } by email  n: int }
stage s { read /** except secrets  write /n }
prove no stage reads secrets
prove no stage reads /customers/*/email
prove no flow from /customers/*/email to /n
`
	requireFindings(t, contract, nil)
}

func TestAnExceptionOnAKeyThatShowsIsRefused(t *testing.T) {
	const contract = `contract c
state { customers: list of Customer by email  m: map of list of Customer by email  o: map of key of /customers }
type Customer { email: string  name: string  box?: { email: string } }
region addresses = /customers/*/email, /m/*/*/email
stage s { read %s }
`
	for read, refused := range map[string]bool{
		"/customers except /customers/*/email":                                      true,
		"/customers/* except /customers/k/email":                                    true,
		"/** except addresses":                                                      true,
		"/m except /m/*/*/email":                                                    true,
		"/** except /**/email":                                                      true,
		"/customers/* except (/customers/*/email, /customers/*/name)":               true,
		"/customers except /customers/*":                                            false,
		"/customers except /customers/*/name":                                       false,
		"/customers except /customers/*/box/email":                                  false,
		"/customers/*/name":                                                         false,
		"/m except (/m/*/*, /m/*/*/email), /o":                                      false,
		"/customers except (/customers/*, /customers/*/email), /m/*":                false,
		"(/customers except (/customers/*, /customers/*/email)), /customers/*/name": true,
	} {
		out := compile(fmt.Sprintf(contract, read))
		require.Equal(t, refused, len(out.Diagnostics) > 0, "%s: %+v", read, out.Diagnostics)
		for _, d := range out.Diagnostics {
			require.Equal(t, "excepted_key", d.Code, d.Message)
		}
	}
}

func TestWhoSeesAKeyReadsTheFieldThatHoldsIt(t *testing.T) {
	const contract = `contract c
state {
  customers: list of { email: string  name: string } by email
  orders: map of { by: key of /customers  n: int }
  m: map of list of { id: string  v: int } by id
  note: string
}
stage s%s { %s  write /note }
prove %s
`
	for _, c := range []struct {
		params, clauses, claim string
		told                   bool
	}{
		{"", "read /customers/*/name, /note", "no stage reads /customers/*/email", true},
		{"", "read /customers except /customers/*, /note", "no stage reads /customers/*/email", false},
		{"(c in /customers)", "read /customers/{c}/name, /note", "no stage reads /customers/*/email", true},
		{"", "read /orders/*/n, /note", "no stage reads /customers/*/email", false},
		{"", "read /orders, /note", "no stage reads /customers/*/email", true},
		{"(o in /orders)", "read /orders/{o}/by, /note", "no stage reads /customers/*/email", true},
		{"", "read /m/*/*/v, /note", "no stage reads /m/*/*/id", true},
		{"", "read /m/*/*/v, /note", "no stage reads /customers/*/email", false},
		{"", "read /customers/*/name, /note", "no flow from /customers/*/email to /note", true},
		{"", "read /orders, /note", "no flow from /customers/*/email to /note", true},
		{"", "read /orders/*/n, /note", "no flow from /customers/*/email to /note", false},
		{"", "read /m, /note", "no flow from /m/*/*/id to /note", true},
	} {
		out := compile(fmt.Sprintf(contract, c.params, c.clauses, c.claim))
		require.Equal(t, c.told, len(out.Diagnostics) > 0, "%s, %s: %+v", c.clauses, c.claim, out.Diagnostics)
		for _, d := range out.Diagnostics {
			require.Equal(t, "claim_refuted", d.Code, d.Message)
		}
	}
}
