package expr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// typeTable builds the types of a contract.
type typeTable struct{ types []ir.Type }

func (t *typeTable) add(x ir.Type) ir.TypeID {
	t.types = append(t.types, x)
	return ir.TypeID(len(t.types) - 1)
}

func (t *typeTable) kind(k ir.TypeKind) ir.TypeID { return t.add(ir.Type{Kind: k}) }

func (t *typeTable) of(k ir.TypeKind, elem ir.TypeID) ir.TypeID {
	return t.add(ir.Type{Kind: k, Elem: elem})
}

func (t *typeTable) record(name string, members ...ir.Member) ir.TypeID {
	return t.add(ir.Type{Kind: ir.RecordType, Name: name, Members: members})
}

func (t *typeTable) union(alternatives ...ir.TypeID) ir.TypeID {
	return t.add(ir.Type{Kind: ir.UnionType, Alternatives: alternatives})
}

func (t *typeTable) words(words ...string) ir.TypeID {
	var ids []ir.TypeID
	for _, w := range words {
		ids = append(ids, t.add(ir.Type{Kind: ir.LiteralType, Literal: strconv.Quote(w)}))
	}
	return t.union(ids...)
}

func member(name string, id ir.TypeID) ir.Member { return ir.Member{Name: name, Type: id} }

func optional(name string, id ir.TypeID) ir.Member {
	return ir.Member{Name: name, Type: id, Optional: true}
}

// desk is the contract of support tickets that most tests use.
type desk struct {
	contract        *ir.Contract
	ticket, account ir.TypeID
	env             *Env
}

func newDesk(t testing.TB) *desk {
	tt := &typeTable{types: make([]ir.Type, 1)}
	str, num, whole, boolean := tt.kind(ir.StringType), tt.kind(ir.NumberType), tt.kind(ir.IntType), tt.kind(ir.BoolType)
	null, anything := tt.kind(ir.NullType), tt.kind(ir.AnyType)
	author := tt.record("Author", member("name", str), optional("email", str))
	ticket := tt.record("Ticket",
		member("subject", str),
		member("status", tt.words("open", "waiting", "solved")),
		member("customer", tt.kind(ir.RefType)),
		member("labels", tt.of(ir.SetType, str)),
		member("notes", tt.of(ir.ListType, str)),
		member("score", tt.union(whole, null)),
		member("urgent", boolean),
		optional("reply", str),
		optional("author", author),
	)
	account := tt.record("Account", member("name", str), member("role", tt.words("user", "admin")))
	item := tt.record("Item", member("id", str), member("price", num), member("count", whole))
	event := tt.record("Event", member("at", str), member("what", str))
	cat := tt.record("Cat", member("kind", tt.words("cat")), member("lives", whole))
	dog := tt.record("Dog", member("kind", tt.words("dog")), member("tricks", tt.of(ir.ListType, str)))
	open := tt.add(ir.Type{Kind: ir.RecordType, Name: "Open", Members: []ir.Member{member("id", str)}, Rest: num})
	state := tt.record("",
		member("tickets", tt.of(ir.MapType, ticket)),
		member("customers", tt.of(ir.MapType, account)),
		member("items", tt.add(ir.Type{Kind: ir.KeyedType, Elem: item, KeyField: "id"})),
		member("orders", tt.of(ir.ListType, item)),
		member("history", tt.of(ir.LogType, event)),
		member("pets", tt.of(ir.ListType, tt.union(cat, dog))),
		member("budget", num),
		member("limit", whole),
		member("extra", anything),
		member("open", open),
		member("tags", tt.of(ir.SetType, str)),
		optional("meta", author),
	)
	amount := pattern(key("items"), anyKey, key("price"))
	d := &desk{ticket: ticket, account: account}
	d.contract = &ir.Contract{Types: tt.types, State: state, Measures: []ir.Measure{
		{Name: "spent", Kind: ir.Sum, Over: amount},
		{Name: "pieces", Kind: ir.Sum, Over: pattern(key("items"), anyKey, key("count"))},
		{Name: "entries", Kind: ir.Count, Over: pattern(key("items"), anyKey)},
		{Name: "cheapest", Kind: ir.Min, Over: amount},
		{Name: "shop.spent", Kind: ir.Sum, Over: amount},
	}}
	env, err := New(d.contract, Default())
	require.NoError(t, err)
	d.env = env
	return d
}

func (d *desk) each() Scope {
	return Scope{Vars: ir.EachVars, Each: &ir.Each{Var: "t", Over: pattern(key("tickets"), anyKey), Type: d.ticket}}
}

var (
	stateScope  = Scope{Vars: ir.StateVars}
	beforeScope = Scope{Vars: ir.BeforeVars, Params: []string{"ticket", "customer"}}
	afterScope  = Scope{Vars: ir.AfterVars, Params: []string{"ticket", "customer"}}
)

func pattern(segments ...region.Segment) region.Pattern { return region.Pattern{Segments: segments} }

func key(name string) region.Segment { return region.Segment{Kind: region.KeyLiteral, Text: name} }

var anyKey = region.Segment{Kind: region.AnyKey}

func segmentText(s region.Segment) string {
	switch s.Kind {
	case region.Literal:
		return s.Text
	case region.KeyLiteral:
		return ":" + s.Text
	case region.IndexLiteral:
		return "[" + strconv.Itoa(s.Index) + "]"
	case region.AnySegment:
		return "*"
	case region.AnyKey:
		return ":*"
	case region.AnyIndex:
		return "[*]"
	case region.AnyDepth:
		return "**"
	case region.ParamSegment:
		return "{" + s.Text + "}"
	}
	return "-"
}

func footprintText(x ir.Expr) []string {
	var out []string
	for _, r := range x.Reads {
		out = append(out, patternText(r))
	}
	return out
}

// jsonValue is an ir.Value over what encoding/json decodes with UseNumber.
type jsonValue struct{ v any }

func value(text string) ir.Value {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return jsonValue{v}
}

func (j jsonValue) Kind() ir.Kind {
	switch j.v.(type) {
	case nil:
		return ir.Null
	case bool:
		return ir.Bool
	case json.Number:
		return ir.Number
	case string:
		return ir.String
	case []any:
		return ir.Array
	}
	return ir.Object
}

func (j jsonValue) Len() int {
	switch x := j.v.(type) {
	case []any:
		return len(x)
	case map[string]any:
		return len(x)
	}
	return 0
}

func (j jsonValue) Member(name string) ir.Value {
	m, _ := j.v.(map[string]any)
	if v, ok := m[name]; ok {
		return jsonValue{v}
	}
	return nil
}

func (j jsonValue) Element(i int) ir.Value {
	if l, ok := j.v.([]any); ok && i >= 0 && i < len(l) {
		return jsonValue{l[i]}
	}
	return nil
}

func (j jsonValue) EachMember(f func(string, ir.Value) bool) {
	m, _ := j.v.(map[string]any)
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !f(name, jsonValue{m[name]}) {
			return
		}
	}
}

func (j jsonValue) EachSorted(f func(ir.Value) bool) {
	l, _ := j.v.([]any)
	texts := map[string]any{}
	for i, v := range l {
		text, _ := json.Marshal(v)
		texts[fmt.Sprintf("%s %d", text, i)] = v
	}
	for _, text := range slices.Sorted(maps.Keys(texts)) {
		if !f(jsonValue{texts[text]}) {
			return
		}
	}
}

func (j jsonValue) EachElement(f func(int, ir.Value) bool) {
	l, _ := j.v.([]any)
	for i, v := range l {
		if !f(i, jsonValue{v}) {
			return
		}
	}
}

func (j jsonValue) Bool() bool { b, _ := j.v.(bool); return b }

func (j jsonValue) Text() string {
	switch x := j.v.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	}
	return ""
}

// patternText writes a pattern in the notation of spec/semantics.md section 3.1.
func patternText(r ir.Read) string {
	var b strings.Builder
	for _, s := range r.Pattern.Segments {
		b.WriteByte('/')
		b.WriteString(segmentText(s))
	}
	if r.Pattern.Shallow {
		b.WriteByte('!')
	}
	if r.Inexact {
		b.WriteByte('~')
	}
	return b.String()
}

// The properties make many small values that live briefly: collecting them more rarely
// saves a third of the time.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
