package trace

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// The types of the sample contract, by their place in it.
const (
	_ ir.TypeID = iota
	textType
	secretText
	numberType
	customerType
	customersType
	secretListType
	pickType
	openType
	anyType
	tagsType
	stateType
)

// sampleContract has secrets in records, lists, unions and an open record:
//
//	state { customers: map of Customer  pins: list of secret string  pick: number | secret string
//	        open: { name: string, *: any }  tags: set of string }
//	type Customer { name: string  card?: secret string }
func sampleContract() *ir.Contract {
	return &ir.Contract{
		Name:  "sample",
		State: stateType,
		Types: []ir.Type{
			{}, {Kind: ir.StringType}, {Kind: ir.StringType, Secret: true}, {Kind: ir.NumberType},
			{Kind: ir.RecordType, Name: "Customer", Members: []ir.Member{{Name: "name", Type: textType}, {Name: "card", Type: secretText, Optional: true}}},
			{Kind: ir.MapType, Elem: customerType},
			{Kind: ir.ListType, Elem: secretText},
			{Kind: ir.UnionType, Alternatives: []ir.TypeID{numberType, secretText}},
			{Kind: ir.RecordType, Members: []ir.Member{{Name: "name", Type: textType}}, Rest: anyType},
			{Kind: ir.AnyType},
			{Kind: ir.SetType, Elem: textType},
			{Kind: ir.RecordType, Members: []ir.Member{
				{Name: "customers", Type: customersType}, {Name: "pins", Type: secretListType},
				{Name: "pick", Type: pickType}, {Name: "open", Type: openType}, {Name: "tags", Type: tagsType}}},
		},
		Secrets: region.Of("/:customers/:*/:card", "/:pins/[*]", "/:pick"),
		Phases:  []ir.Phase{{Name: "main"}},
		Stages: []ir.Stage{{Name: "s", In: []string{"main"}, Params: []ir.Param{
			{Name: "c", Kind: ir.ExistingParam, Of: region.MustParse("/:customers")},
			{Name: "card", Kind: ir.DependentParam, Of: region.MustParse("/:customers/{c}/:card")},
			{Name: "name", Kind: ir.DependentParam, Of: region.MustParse("/:customers/{c}/:name")}}}},
	}
}

func sampleRedactor(t testing.TB) *Redactor { return NewRedactor(sampleContract(), testKey(t, 1)) }

func patchOf(t testing.TB, text string) tree.Patch {
	t.Helper()
	patch, problems := tree.ParsePatch([]byte(text), tree.DefaultPatchLimits)
	require.Empty(t, problems)
	return patch
}

// mask is how the sample redactor writes a value it does not show.
func mask(t testing.TB, value string) string {
	t.Helper()
	n, err := tree.Parse([]byte(value), tree.DefaultLimits)
	require.NoError(t, err)
	digest := n.Digest()
	return `"` + testKey(t, 1).digest(useValue, digest[:]) + `"`
}

func TestValuesAreReplacedWhereTheyAreOrMayBeSecret(t *testing.T) {
	for _, c := range []struct{ name, path, value, want, where string }{
		{"a plain value is shown", "/customers/A/name", `"Ann"`, `"Ann"`, ""},
		{"a secret value is replaced", "/customers/A/card", `"41"`, mask(t, `"41"`), "/patch/0/value"},
		{"a secret below the value is replaced alone", "/customers/A", `{"card":"41","name":"Ann"}`, `{"card":` + mask(t, `"41"`) + `,"name":"Ann"}`, "/patch/0/value/card"},
		{"a secret deep below", "/customers", `{"A/B":{"name":"x","card":"41"}}`, `{"A/B":{"card":` + mask(t, `"41"`) + `,"name":"x"}}`, "/patch/0/value/A~1B/card"},
		{"below the whole state", "", `{"customers":{},"pins":["1"],"tags":[]}`, `{"customers":{},"pins":[` + mask(t, `"1"`) + `],"tags":[]}`, "/patch/0/value/pins/0"},
		{"an element of a list of secrets", "/pins/0", `"1"`, mask(t, `"1"`), "/patch/0/value"},
		{"an element appended to it", "/pins/-", `"1"`, mask(t, `"1"`), "/patch/0/value"},
		{"one alternative is secret", "/pick", `3`, mask(t, `3`), "/patch/0/value"},
		{"an unknown member", "/customers/A/crad", `"41"`, mask(t, `"41"`), "/patch/0/value"},
		{"an unknown member inside the value", "/customers/A", `{"crad":"41"}`, `{"crad":` + mask(t, `"41"`) + `}`, "/patch/0/value/crad"},
		{"a scalar where a record belongs", "/customers/A", `"41"`, mask(t, `"41"`), "/patch/0/value"},
		{"a list where a map belongs", "/customers", `["41"]`, mask(t, `["41"]`), "/patch/0/value"},
		{"a record where a string belongs", "/customers/A/name", `{"a":"41"}`, mask(t, `{"a":"41"}`), "/patch/0/value"},
		{"below a scalar", "/customers/A/name/first", `"41"`, mask(t, `"41"`), "/patch/0/value"},
		{"below a secret", "/customers/A/card/x", `"41"`, mask(t, `"41"`), "/patch/0/value"},
		{"a name where a list has positions", "/tags/x", `"41"`, mask(t, `"41"`), "/patch/0/value"},
		{"an entry of a plain set", "/tags/-", `"a"`, `"a"`, ""},
		{"anything below an open type is typed", "/open/x/0/y", `{"z":[1,{"k":null}]}`, `{"z":[1,{"k":null}]}`, ""},
		{"empty containers", "/open/x", `[{},[]]`, `[{},[]]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := `[{"op":"add","path":` + quoted(c.path) + `,"value":` + c.value + `}]`
			got, redacted := sampleRedactor(t).Patch(patchOf(t, text))
			var ops []struct{ Value json.RawMessage }
			require.NoError(t, json.Unmarshal(got, &ops))
			require.Equal(t, c.want, string(ops[0].Value))
			require.Equal(t, c.where, strings.Join(hidden(redacted, "/value"), " "))
		})
	}
}

func quoted(s string) string { return string(quote(nil, s)) }

func hidden(redacted []string, part string) (out []string) {
	for _, where := range redacted {
		if strings.Contains(where, part) {
			out = append(out, where)
		}
	}
	return out
}

func TestAPatchKeepsItsOperationsButNotWhatTheyDoNotMean(t *testing.T) {
	got, redacted := sampleRedactor(t).Patch(patchOf(t, `[
		{"op":"test","path":"/customers/A/name","value":"Ann","comment":"41"},
		{"op":"move","from":"/customers/A/card","path":"/customers/B/card"},
		{"op":"remove","path":"/customers/A","value":"41"}]`))
	require.Empty(t, redacted)
	require.Equal(t, `[{"op":"test","path":"/customers/A/name","value":"Ann"},`+
		`{"op":"move","path":"/customers/B/card","from":"/customers/A/card"},`+
		`{"op":"remove","path":"/customers/A"}]`, string(got))
}

func TestTokensOfAPathBelowWhatMayNotBeShownAreReplaced(t *testing.T) {
	r := sampleRedactor(t)
	token := func(s string) string { return testKey(t, 1).digest(useValue, []byte(s)) }
	for _, c := range []struct{ path, want string }{
		{"", ""},
		{"/customers/A/card", "/customers/A/card"},
		{"/customers/A/card/41/2", "/customers/A/card/" + token("41") + "/" + token("2")},
		{"/customers/A/crad", "/customers/A/crad"},
		{"/customers/A/crad/41", "/customers/A/crad/" + token("41")},
		{"/pins/0/41", "/pins/0/" + token("41")},
		{"41", token("41")},
		{"/customers/~2", token("/customers/~2")},
		{"/open/a~1b/c", "/open/a~1b/c"},
	} {
		shown, changed := RedactPath(c.path, r)
		require.Equal(t, c.want, shown)
		require.Equal(t, c.want != c.path, changed, c.path)
	}
	_, redacted := r.Patch(patchOf(t, `[{"op":"copy","from":"/pins/0/41","path":"/customers/A/card/41"}]`))
	require.Equal(t, []string{"/patch/0/path", "/patch/0/from"}, redacted)
}

func TestArgumentsTakenFromSecretsAreReplaced(t *testing.T) {
	r := sampleRedactor(t)
	args := map[string]string{"c": "A", "card": "41", "name": "Ann"}
	shown, redacted := r.Args(&r.contract.Stages[0], args)
	require.Equal(t, []string{"/args/card"}, redacted)
	require.Equal(t, "A", shown["c"])
	require.Equal(t, "Ann", shown["name"])
	require.Equal(t, testKey(t, 1).digest(useValue, []byte("41")), shown["card"])
	require.Equal(t, "41", args["card"], "the caller's map is left alone")
}

func TestAContractWithoutSecretsIsShownAsItIs(t *testing.T) {
	c := sampleContract()
	c.Secrets = nil
	r := NewRedactor(c, testKey(t, 1))
	text := `[{"op":"add","path":"/nowhere/x","value":{"a":[1.50,"y"]}}]`
	got, redacted := r.Patch(patchOf(t, text))
	require.Empty(t, redacted)
	require.Equal(t, text, string(got))
	shown, changed := RedactPath("no pointer", r)
	require.False(t, changed)
	require.Equal(t, "no pointer", shown)
}

func TestOldValuesAreWrittenAsTheirPlacesAllow(t *testing.T) {
	card, name := tree.NewString("41"), tree.NewString("Ann")
	text, redacted := sampleRedactor(t).Old([]OldValue{
		{0, tree.Pointer{"customers", "A", "name"}, "/customers/A/name", name},
		{2, tree.Pointer{"customers", "A", "card"}, "/customers/A/card", card},
		{3, tree.Pointer{"customers", "A", "card", "x"}, "/customers/A/card/x", name},
	}, 100)
	var got []struct {
		Op    int
		Path  string
		Value json.RawMessage
	}
	require.NoError(t, json.Unmarshal(text, &got))
	require.Equal(t, []int{0, 2, 3}, []int{got[0].Op, got[1].Op, got[2].Op})
	require.Equal(t, []string{`"Ann"`, mask(t, `"41"`), mask(t, `"Ann"`)}, []string{string(got[0].Value), string(got[1].Value), string(got[2].Value)})
	require.Equal(t, "/customers/A/card", got[1].Path)
	require.Equal(t, []string{"/old/1/value", "/old/2/path", "/old/2/value"}, redacted)
}

func TestALongOldValueIsReplacedAsAWhole(t *testing.T) {
	r := sampleRedactor(t)
	old := []OldValue{{0, tree.Pointer{"customers", "A", "name"}, "/customers/A/name", tree.NewString("Ann")}}
	text, redacted := r.Old(old, len(`"Ann"`))
	require.Empty(t, redacted)
	require.Contains(t, string(text), `"Ann"`)
	text, redacted = r.Old(old, len(`"Ann"`)-1)
	require.Equal(t, []string{"/old/0/value"}, redacted)
	require.Contains(t, string(text), mask(t, `"Ann"`))
}

func TestEqualSecretsCompareWithinAnInstanceOnly(t *testing.T) {
	patch := patchOf(t, `[{"op":"add","path":"/pins/0","value":"41"},{"op":"add","path":"/pins/1","value":"41"}]`)
	mine, _ := sampleRedactor(t).Patch(patch)
	other, _ := NewRedactor(sampleContract(), testKey(t, 2)).Patch(patch)
	require.Equal(t, 2, strings.Count(string(mine), strings.Trim(mask(t, `"41"`), `"`)))
	require.NotEqual(t, string(mine), string(other))
}

func BenchmarkRedactAPatchOfFiveOperations(b *testing.B) {
	r := sampleRedactor(b)
	patch := patchOf(b, `[
		{"op":"test","path":"/customers/A/name","value":"Ann"},
		{"op":"replace","path":"/customers/A/name","value":"Anna"},
		{"op":"add","path":"/customers/B","value":{"name":"Bob","card":"41"}},
		{"op":"add","path":"/open/x","value":[1,2,3]},
		{"op":"add","path":"/tags/-","value":"new"}]`)
	b.ReportAllocs()
	for b.Loop() {
		r.Patch(patch)
	}
}

func BenchmarkSealALine(b *testing.B) {
	lines, head := sampleLines(1)
	record := &Record{Kind: Proposal, Contract: Origin, Stage: "draft", Patch: json.RawMessage(lines[0])}
	b.ReportAllocs()
	for b.Loop() {
		head.Seal(record)
	}
}

// Below "any", a token can be a name as well as a position; what a place can be must
// not double with each of them.
func TestAPathOfNumbersBelowAnythingCostsItsLength(t *testing.T) {
	c := sampleContract()
	for _, path := range []string{"/open/x" + strings.Repeat("/0", 400), "/open/x" + strings.Repeat("/-", 400), "/open/x" + strings.Repeat("/7/name", 200)} {
		r := NewRedactor(c, testKey(t, 1))
		shown, changed := RedactPath(path, r)
		require.Equal(t, path, shown)
		require.False(t, changed)
		p, err := tree.ParsePointer(path)
		require.NoError(t, err)
		text, redacted := r.Patch(tree.Patch{{Kind: tree.OpAdd, Path: p, RawPath: path, Value: tree.NewNull()}})
		require.Contains(t, string(text), path)
		require.Empty(t, redacted)
	}
}
