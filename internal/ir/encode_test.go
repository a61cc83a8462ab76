package ir_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

// Equal contracts have equal bytes, so a compiled contract has one spelling: no other
// first line stands for the same.
func TestTheFirstLineOfACompiledContractHasOneSpelling(t *testing.T) {
	compiled := ir.Encode(&ir.Contract{
		Name: "c", Types: []ir.Type{{}, {Kind: ir.AnyType}}, State: 1, Phases: []ir.Phase{{Name: "main"}},
	})
	line, body, _ := strings.Cut(string(compiled), "\n")
	digest := strings.TrimPrefix(line, "poptic-contract 2 ")
	_, err := ir.Decode(compiled)
	requireCode(t, err, "")
	for _, other := range []string{
		"poptic-contract  2 " + digest, "poptic-contract 02 " + digest, "poptic-contract  02  " + digest, "poptic-contract +2 " + digest,
		"poptic-contract 2  " + digest, "poptic-contract 2\t" + digest, "poptic-contract 2 " + digest + " ", "poptic-contract 2 " + digest + "\r",
		"poptic-contract 2 " + digest + " more", "poptic-contract 2 " + strings.ToUpper(digest), "poptic-contract 2 sha256:" + strings.ToUpper(digest[7:]),
		"poptic-contract 2 " + digest[7:], "poptic-contract 2 " + digest[:70], "poptic-contract 2 " + digest + "0", "poptic-contract 2 ", "poptic-contract 2",
		"poptic-contract 0 " + digest, "poptic-contract -2 " + digest, "poptic-contract 2.0 " + digest, "poptic-contract 0x2 " + digest,
		"poptic-contract 2_ " + digest, "poptic-contract ٢ " + digest, "poptic-contract 18446744073709551618 " + digest,
	} {
		require.NotEqual(t, line, other)
		_, err := ir.Decode([]byte(other + "\n" + body))
		requireCode(t, err, "malformed")
	}
	for _, version := range []int{1, 4, 9, 10, 11, 100} {
		_, err := ir.Decode(fmt.Appendf(nil, "poptic-contract %d %s\n%s", version, digest, body))
		requireCode(t, err, "version_unsupported")
	}
}

func requireCode(t *testing.T, err error, code string) {
	t.Helper()
	if code == "" {
		require.NoError(t, err)
		return
	}
	var codec *ir.CodecError
	require.ErrorAs(t, err, &codec)
	require.Equal(t, code, codec.Code)
}
