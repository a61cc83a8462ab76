package expr

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

// oddNames are members that CEL has no spelling for, or one that means something else.
var oddNames = []string{
	"content-type", "eo:cloud_cover", "$ref", "a.b", "über", "in", "true", "null", "false", "package", "if", "x`y", `say "no"`, "", "\n", "}", "{", "a\\b", "1", "日本", "//", " ", "$", "#", "-", "--", "__",
}

func oddContract() *ir.Contract {
	tt := &typeTable{types: make([]ir.Type, 1)}
	whole := tt.kind(ir.IntType)
	var members []ir.Member
	for _, name := range oddNames {
		members = append(members, member(name, whole))
	}
	inner := tt.record("Odd", append(slices.Clone(members), optional("o-o", whole), member("a", tt.record("A", optional("b", whole))))...)
	state := tt.record("", append(members, member("m", tt.of(ir.MapType, inner)))...)
	return &ir.Contract{Types: tt.types, State: state}
}

func TestEveryMemberThatATypeDeclaresCanBeRead(t *testing.T) {
	e, err := New(oddContract(), Default())
	require.NoError(t, err)
	doc := map[string]any{}
	for i, name := range oddNames {
		doc[name] = json.Number(string(rune('0' + i%10)))
	}
	entry := map[string]any{"a": map[string]any{}}
	for name, v := range doc {
		entry[name] = v
	}
	doc["m"] = map[string]any{"k": entry}
	for i, name := range oddNames {
		spelled := memberSpelling(name)
		value := string(rune('0' + i%10))
		for _, src := range []string{
			"state." + spelled + " == " + value,
			"has(state." + spelled + ") && state.?" + spelled + ".orValue(-1) == " + value,
			"state.m.all(k, v, v." + spelled + " == " + value + ") && state.m[\"k\"] . " + spelled + " == " + value,
			"cel.bind(v, state.m[\"k\"], v." + spelled + " + 1 == 1 + " + value + ")",
		} {
			x, issues := e.Check(src, stateScope)
			require.Empty(t, issues, src)
			require.Contains(t, x.Reads[len(x.Reads)-1].Pattern.Segments, key(name), src)
			p, err := e.Compile(x, stateScope)
			require.NoError(t, err, src)
			got, err := p.Eval(context.Background(), &Input{State: jsonValue{doc}})
			require.NoError(t, err, src)
			require.True(t, got, src)
			require.NotEmpty(t, Canonical(src, func(s string) string { return s }), src)
		}
	}
}

// The paths of guards do not mix members with a dot in their name with members of members.
func TestAGuardOfAMemberWithADotIsNoneOfAnother(t *testing.T) {
	e, err := New(oddContract(), Default())
	require.NoError(t, err)
	checkMistakes(t, e, stateScope, []mistake{
		{"has(state.m[\"k\"].`a.b`) && «state.m[\"k\"].a.b» > 0", Unguarded, "may be absent", "has(state.m[\"k\"].`a.b`) && has(state.m[\"k\"].a.b) && state.m[\"k\"].a.b > 0"},
		{"«state.m[\"k\"].`o-o`» > 0", Unguarded, "may be absent", "has(state.m[\"k\"].`o-o`) && state.m[\"k\"].`o-o` > 0"},
		{"«state[\"content-type\"]» > 0", NoIndex, "named with a dot", "state.`content-type` > 0"},
		{"state.«`content-typ`» > 0", UnknownMember, "no member", "state.`content-type` > 0"},
		{"state.m[\"k\"].«nul» > 0", UnknownMember, "no member", "state.m[\"k\"].`null` > 0"},
		{"state.«in» > 0", SyntaxError, "word of the language", "state.`in` > 0"},
	})
	x, issues := e.Check("has(state.m[\"k\"].`o-o`) && state.m[\"k\"].`o-o` > 0", stateScope)
	require.Empty(t, issues)
	require.NotEmpty(t, x.Reads)
	names, _ := e.Names("state.`a.b` > 0", stateScope)
	require.Contains(t, names, Name{Kind: MemberName, Text: "a.b", Start: 6, End: 11, Records: names[len(names)-1].Records})
}
