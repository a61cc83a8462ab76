package ir

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConstraintsAreSaidInWordsOnce(t *testing.T) {
	for _, c := range []struct {
		kind TypeKind
		of   []Expr
		want []string
	}{
		{StringType, []Expr{{Source: " size(self) < 5 "}}, []string{"fewer than 5 characters"}},
		{ListType, []Expr{{Source: "size(self) > 2"}, {Source: "size(self) <= 9"}}, []string{"more than 2 entries", "at most 9 entries"}},
		{StringType, []Expr{{Source: "!text.blank(self)", Message: "the text is not blank"}}, []string{"not blank"}},
		{StringType, []Expr{{Source: "size(self) <= 80", Message: "at most 80 characters"}}, []string{"at most 80 characters"}},
		{StringType, []Expr{{Source: `self.matches("^[a-z]+$")`, Message: "small letters"}}, []string{"small letters: matches /^[a-z]+$/"}},
		{IntType, []Expr{{Source: "self % 2 == 0"}}, []string{"self % 2 == 0"}},
		{IntType, []Expr{{Source: "self % 2 == 0", Message: "an even number"}}, []string{"an even number"}},
		{IntType, []Expr{{Source: "self > 0"}, {Source: "self > 0"}}, []string{"> 0"}},
	} {
		require.Equal(t, c.want, (&Type{Kind: c.kind, Where: c.of}).Demands())
	}
}
