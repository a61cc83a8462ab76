package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// A committed state is what its file says, whatever its type: these tests draw types of
// every kind, unions above all, states and patches, and compare each state that was
// committed with the one that is read from its file.

// A typeMaker draws types into a contract, and counts what it drew.
type typeMaker struct {
	maker
	b     *builder
	drawn map[string]int
	line  []string // what is above: containers and unions, for counting
}

func (m *typeMaker) note(what string) {
	m.drawn[what]++
	for _, above := range m.line {
		m.drawn[what+" below "+above]++
	}
}

func (m *typeMaker) below(what string, draw func() ir.TypeID) ir.TypeID {
	m.note(what)
	m.line = append(m.line, what)
	id := draw()
	m.line = m.line[:len(m.line)-1]
	return id
}

func (m *typeMaker) typ(depth int) ir.TypeID {
	if depth == 0 || m.chance(10) {
		return m.leaf()
	}
	switch kind := m.pick("record", "record", "map", "list", "set", "log", "log", "keyed", "tagged", "tagged", "tagged", "choice", "choice"); kind {
	case "record":
		return m.below(kind, func() ir.TypeID { return m.record(depth, "") })
	case "map", "list", "log":
		return m.below(kind, func() ir.TypeID { return m.b.of(ir.TypeKind(kind), m.typ(depth-1)) })
	case "set":
		return m.below(kind, func() ir.TypeID { return m.b.of(ir.SetType, m.typ(depth-1)) })
	case "keyed":
		return m.below(kind, func() ir.TypeID {
			return m.b.typ(ir.Type{Kind: ir.KeyedType, Elem: m.record(depth, "id"), KeyField: "id"})
		})
	case "tagged":
		return m.below("union", func() ir.TypeID {
			return m.union(m.record(depth, "one"), m.record(depth, "two"))
		})
	default:
		return m.below("union", func() ir.TypeID { return m.choice(depth) })
	}
}

// choice is a union without a member that tells its alternatives apart.
func (m *typeMaker) choice(depth int) ir.TypeID {
	first := m.typ(depth - 1)
	switch m.Intn(4) {
	case 0:
		m.note("record|any")
		return m.union(m.record(depth, ""), m.b.kind(ir.AnyType))
	case 1:
		return m.union(first, m.b.kind(ir.NullType))
	case 2:
		elem := m.leaf()
		kinds := []ir.TypeKind{ir.SetType, ir.LogType, ir.ListType}
		m.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
		return m.union(m.b.of(kinds[0], elem), m.b.of(kinds[1], m.leaf()))
	default:
		return m.union(first, m.typ(depth-1))
	}
}

func (m *typeMaker) union(alternatives ...ir.TypeID) ir.TypeID {
	return m.b.typ(ir.Type{Kind: ir.UnionType, Alternatives: alternatives})
}

// record has members of few names. The tag "id" is a string; another stands for itself,
// in the member kind.
func (m *typeMaker) record(depth int, tag string) ir.TypeID {
	t := ir.Type{Kind: ir.RecordType}
	if tag == "id" {
		t.Members = append(t.Members, ir.Member{Name: "id", Type: m.b.kind(ir.StringType)})
	} else if tag != "" {
		t.Members = append(t.Members, ir.Member{Name: "kind", Type: m.b.typ(ir.Type{Kind: ir.LiteralType, Literal: `"` + tag + `"`})})
	}
	for _, name := range []string{"a", "b"} {
		if m.chance(70) {
			member := ir.Member{Name: name, Optional: m.chance(35), Type: m.typ(depth - 1)}
			if member.Optional {
				m.note("optional")
			}
			t.Members = append(t.Members, member)
		}
	}
	if m.chance(10) {
		m.note("rest")
		t.Rest = m.leaf()
	}
	return m.b.typ(t)
}

func (m *typeMaker) leaf() ir.TypeID {
	kind := m.pick("string", "int", "int", "number", "null", "any", "literal", "ref", "secret", "where")
	m.note(kind)
	switch kind {
	case "literal":
		return m.b.typ(ir.Type{Kind: ir.LiteralType, Literal: m.pick("1", "2", `"s"`)})
	case "ref":
		return m.b.keyOf("/:m")
	case "secret":
		return m.b.typ(ir.Type{Kind: ir.StringType, Secret: true})
	case "where":
		return m.b.where(m.b.kind(ir.IntType), "self < 4")
	default:
		return m.b.kind(ir.TypeKind(kind))
	}
}

// contract draws a state of a few members, and stages that see and write parts of it.
func (m *typeMaker) contract() *verify.Program {
	m.b.c.State = m.b.record("State", "m", m.b.of(ir.MapType, m.b.kind(ir.IntType)),
		"x", m.typ(3), "y", m.typ(3), "z", m.b.of(ir.MapType, m.typ(3)), "l", m.b.of(ir.ListType, m.typ(2)), "o", m.b.kind(ir.AnyType))
	m.b.stage(ir.Stage{Name: "root", Read: of("/**"), Write: of("/**"), Source: of("/**")})
	for i := range 4 {
		part := of(m.pick("/:x", "/:y", "/:z", "/:l", "/:z/:*/:a"), m.pick("/:x/*", "/:y/*/*", "/**/:a", "/:z/:*/:kind", "/:l/[*]/:b"))
		m.b.stage(ir.Stage{Name: fmt.Sprintf("part%d", i), Read: part, Write: part[:1], Source: part[1:]})
	}
	return m.b.load()
}

// A valueMaker draws values of types: of a file, or of a patch, where keyed lists are
// objects.
type valueMaker struct {
	maker
	c    *ir.Contract
	file bool
}

func (m valueMaker) value(id ir.TypeID) string {
	t := m.c.Type(id)
	switch t.Kind {
	case ir.StringType:
		return m.pick(`"s"`, `"k1"`, `"t"`)
	case ir.RefType:
		return m.pick(`"k1"`, `"k2"`)
	case ir.IntType:
		return m.pick("1", "2", "3", "1.0", "2e0", "30e-1")
	case ir.NumberType, ir.DecimalType:
		return m.pick("1", "1.50", "2.0", "0.1e1")
	case ir.LiteralType:
		if t.Literal == "2" {
			return m.pick("2", "2.000", "0.2e1")
		}
		return t.Literal
	case ir.AnyType:
		return m.pick(`1`, `2.0`, `"s"`, `[2,1]`, `[]`, `["t","s"]`, `{"kind":"one","a":[1]}`, `{"a":1.0}`, `{"id":"k1"}`, `[{"id":"k1"}]`)
	case ir.UnionType:
		return m.value(t.Alternatives[m.Intn(len(t.Alternatives))])
	case ir.ListType, ir.SetType, ir.LogType:
		var elements []string
		for range m.Intn(4) {
			elements = append(elements, m.value(t.Elem))
		}
		return "[" + strings.Join(elements, ",") + "]"
	case ir.MapType, ir.KeyedType, ir.RecordType:
		return m.object(t)
	default:
		return "null"
	}
}

func (m valueMaker) object(t *ir.Type) string {
	var members, elements []string
	member := func(name, value string) { members = append(members, fmt.Sprintf("%q:%s", name, value)) }
	for _, f := range t.Members {
		if !f.Optional || m.chance(60) {
			member(f.Name, m.value(f.Type))
		}
	}
	for _, key := range []string{"k1", "k2", "k3"} {
		switch {
		case m.chance(50):
		case t.Kind == ir.MapType:
			member(key, m.value(t.Elem))
		case t.Kind == ir.KeyedType:
			element := m.element(t, key)
			member(key, element)
			elements = append(elements, element)
		case t.Rest != ir.NoType && t.Kind == ir.RecordType:
			member(key, m.value(t.Rest))
		}
	}
	if t.Kind == ir.KeyedType && m.file {
		return "[" + strings.Join(elements, ",") + "]"
	}
	return "{" + strings.Join(members, ",") + "}"
}

// element is an element of a keyed list that stands under a key.
func (m valueMaker) element(t *ir.Type, key string) string {
	elem := *m.c.Type(t.Elem)
	elem.Members = elem.Members[1:]
	rest := strings.TrimPrefix(m.object(&elem), "{")
	if rest != "}" {
		rest = "," + rest
	}
	return fmt.Sprintf("{%q:%q%s", t.KeyField, key, rest)
}

// typesAt are the types that what stands at a word may have, by any alternatives.
func (m valueMaker) typesAt(w region.Word) []ir.TypeID {
	at := []ir.TypeID{m.c.State}
	for _, l := range w {
		var next []ir.TypeID
		for _, id := range m.flat(at) {
			t := m.c.Type(id)
			switch t.Kind {
			case ir.AnyType:
				next = append(next, id)
			case ir.RecordType:
				if f, ok := t.Member(l.Name); ok {
					next = append(next, f.Type)
				} else if t.Rest != ir.NoType {
					next = append(next, t.Rest)
				}
			default:
				if t.Elem != ir.NoType {
					next = append(next, t.Elem)
				}
			}
		}
		at = next
	}
	return at
}

func (m valueMaker) flat(ids []ir.TypeID) []ir.TypeID {
	var out []ir.TypeID
	for _, id := range ids {
		if t := m.c.Type(id); t.Kind == ir.UnionType {
			out = append(out, m.flat(t.Alternatives)...)
		} else {
			out = append(out, id)
		}
	}
	return out
}

// patch draws operations on a state, most of them such as fit.
func (m valueMaker) patch(n *tree.Node) []byte {
	ops := []string{m.op(n)}
	for m.chance(25) {
		ops = append(ops, m.op(n))
	}
	return []byte("[" + strings.Join(ops, ",") + "]")
}

func (m valueMaker) op(n *tree.Node) string {
	words := m.words(n)[1:]
	w := words[m.Intn(len(words))]
	last := w[len(w)-1]
	types := m.typesAt(w)
	parent := tree.NodeAt(n, w[:len(w)-1])
	switch {
	case len(types) == 0:
	case last.Kind == region.KeyLetter && last.Name == "kind" && m.chance(80):
		return fmt.Sprintf(`{"op":"replace","path":%s,"value":%s}`, quoted(w.Pointer()), m.pick(`"one"`, `"two"`))
	case m.chance(12):
		from := words[m.Intn(len(words))]
		return fmt.Sprintf(`{"op":%q,"from":%s,"path":%s}`, m.pick("copy", "copy", "move"), quoted(from.Pointer()), quoted(w.Pointer()))
	case m.chance(10) && tree.NodeAt(n, w) != nil && parent.Order() == tree.ListOrder:
		return fmt.Sprintf(`{"op":"remove","path":%s}`, quoted(w.Pointer()))
	case last.Kind == region.IndexLetter && parent.Order() != tree.ListOrder:
		w = longer(w[:len(w)-1], region.Fresh("-"))
	}
	op := "replace"
	if tree.NodeAt(n, w) == nil || m.chance(30) {
		op = "add"
	}
	value := m.pick("1", `"s"`, "[]", "{}")
	if len(types) > 0 {
		value = m.value(types[m.Intn(len(types))])
	}
	if parent.Kind() == ir.Object && len(types) > 0 && m.keyedAbove(w) {
		id := m.flat(m.typesAt(w[:len(w)-1]))
		for _, t := range id {
			if m.c.Type(t).Kind == ir.KeyedType {
				value = m.element(m.c.Type(t), last.Name)
			}
		}
	}
	return fmt.Sprintf(`{"op":%q,"path":%s,"value":%s}`, op, quoted(w.Pointer()), value)
}

func (m valueMaker) keyedAbove(w region.Word) bool {
	return slices.ContainsFunc(m.flat(m.typesAt(w[:len(w)-1])), func(id ir.TypeID) bool { return m.c.Type(id).Kind == ir.KeyedType })
}

// state draws a state in which all holds, nil if there is none to be found soon.
func (m valueMaker) state(p *verify.Program) *tree.Node {
	m.file = true
	for range 60 {
		n, err := p.Import([]byte(m.value(m.c.State)))
		if err == nil && len(p.CheckAll(context.Background(), n, "main")) == 0 {
			return n
		}
	}
	return nil
}

func TestACommittedStateIsWhatItsFileSays(t *testing.T) {
	t.Parallel()
	const seed = 22
	m := newMaker(seed)
	drawn := map[string]int{}
	tally := map[verify.Decision]int{}
	copies, contracts := 0, 0
	for commits, enough := 0, max(rounds(5_000), 500); commits < enough; {
		types := &typeMaker{maker: m, b: newBuilder(t), drawn: drawn}
		p := types.contract()
		values := valueMaker{maker: m, c: p.Contract()}
		n := values.state(p)
		if n == nil {
			tally["unlucky"]++
			continue
		}
		contracts++
		now := verify.Snapshot{State: n, Phase: "main", Version: 1}
		for range 30 {
			patch := values.patch(now.State)
			out := propose(t, p, now, "root", patch)
			tally[out.Verdict.Verdict]++
			if out.Verdict.Verdict != verify.Commit {
				continue
			}
			commits++
			c := standing{t, p, values, fmt.Sprintf("seed %d\nstate %s\npatch %s\ntypes %s", seed, p.Export(now.State, false), patch, encoded(p.Contract().Types))}
			c.logsGrew(now.State, out.After.State, out.Patch)
			c.standsAlone(now, out, patch)
			copies += c.copyHolds(now, out, patch)
			now = out.After
		}
	}
	t.Logf("%d commits in %d drawn contracts: 0 states that differ from what their file says; %v", tally[verify.Commit], contracts, tally)
	require.Greater(t, 2*tally[verify.Commit], tally[verify.Reject])
	require.Greater(t, copies, tally[verify.Commit]/200)
	requireDrawn(t, drawn)
}

// What is added to a list may be what only a log may hold: then the list is a log from
// there on, also within the patch, and its entries have no positions.
// What a move takes away may decide what is at its end: a union is then another one.
func TestAMoveIsTypedAsTheStateIsWithoutWhatItTakes(t *testing.T) {
	b := newBuilder(t)
	str := b.kind(ir.StringType)
	words, sets, lists := b.of(ir.ListType, str), b.of(ir.MapType, b.of(ir.SetType, str)), b.of(ir.MapType, b.of(ir.ListType, str))
	tagged := b.record("Tagged", "t", words, "x", sets)
	b.c.State = b.record("State", "v", b.typ(ir.Type{Kind: ir.UnionType, Alternatives: []ir.TypeID{tagged, b.record("Plain", "x", lists)}}))
	b.stage(ir.Stage{Name: "s", Read: of("/**"), Write: of("/:v"), Source: of("/**")})
	r := open(t, b.load(), `{"v":{"t":["b","a","b"],"x":{}}}`)
	r.commits(as("s", `[{"op":"move","from":"/v/t","path":"/v/x/k"}]`))
	require.Equal(t, `["b","a","b"]`, member(t, r, "v", "x", "k"))
	r.commits(as("s", `[{"op":"add","path":"/v/t","value":["z"]},{"op":"replace","path":"/v/x/k","value":["b","a"]}]`))
	require.Equal(t, `["a","b"]`, member(t, r, "v", "x", "k"), "now it is a set")
}

func TestAListThatBecameALogIsTestedAsAWholeAlone(t *testing.T) {
	b := newBuilder(t)
	numbers := b.of(ir.ListType, b.kind(ir.NumberType))
	for _, bag := range []ir.TypeKind{ir.LogType, ir.SetType} {
		x := b.typ(ir.Type{Kind: ir.UnionType, Alternatives: []ir.TypeID{numbers, b.of(bag, b.kind(ir.AnyType))}})
		b.c.State = b.record("", "x", x, "text", b.kind(ir.StringType))
		b.c.Phases = []ir.Phase{{Name: "main"}}
		b.c.Stages = []ir.Stage{{Name: "root", In: []string{"main"}, Read: region.Of(""), Write: region.Of(""), Source: region.Of("")}}
		p := b.load()
		n, err := p.Import([]byte(`{"x":[],"text":"a"}`))
		require.NoError(t, err)
		before := verify.Snapshot{State: n, Phase: "main", Version: 1}
		const copied = `[{"op":"copy","from":"/text","path":"/x/0"}`
		require.Equal(t, verify.Commit, propose(t, p, before, "root", []byte(copied+"]")).Verdict.Verdict)
		require.Equal(t, verify.Commit, propose(t, p, before, "root", []byte(copied+`,{"op":"test","path":"/x","value":["a"]}]`)).Verdict.Verdict)
		require.Equal(t, verify.Reject, propose(t, p, before, "root", []byte(copied+`,{"op":"test","path":"/x/0","value":"a"}]`)).Verdict.Verdict)
		stays := `[{"op":"add","path":"/x/0","value":1},{"op":"test","path":"/x/0","value":1}]`
		require.Equal(t, verify.Commit, propose(t, p, before, "root", []byte(stays)).Verdict.Verdict)
	}
}

// requireDrawn checks that all there is was drawn, below and above unions.
func requireDrawn(t *testing.T, drawn map[string]int) {
	for _, what := range []string{"record", "map", "list", "set", "log", "keyed", "union", "any", "int", "literal", "ref", "secret", "where", "optional"} {
		require.Positive(t, drawn[what], what)
		require.Positive(t, drawn[what+" below union"], what)
	}
	for _, above := range []string{"record", "map", "list", "log", "keyed", "set"} {
		require.Positive(t, drawn["union below "+above], above)
		require.Positive(t, drawn["log below "+above], above)
	}
	require.Positive(t, drawn["record|any"])
}

func propose(t testing.TB, p *verify.Program, s verify.Snapshot, stage string, patch []byte) *verify.Outcome {
	out, err := p.Verify(context.Background(), s, verify.Proposal{Stage: stage, Patch: patch})
	require.NoError(t, err)
	return &out
}

// A standing compares a committed state with what is read from its file.
type standing struct {
	t      testing.TB
	p      *verify.Program
	values valueMaker
	story  string
}

func (c standing) standsAlone(before verify.Snapshot, out *verify.Outcome, patch []byte) {
	after := out.After
	file := c.p.Export(after.State, true)
	n, err := c.p.Import(file)
	require.NoError(c.t, err, c.story)
	require.Equal(c.t, out.Verdict.StateAfter, n.Digest().String(), c.story)
	require.Equal(c.t, string(file), string(c.p.Export(n, true)), c.story)
	c.sameShape(nil, after.State, n)
	require.Empty(c.t, c.p.CheckAll(context.Background(), n, "main"), c.story)

	replayed, _, err := c.p.Replay(context.Background(), before.State, patch)
	require.NoError(c.t, err, c.story)
	require.Equal(c.t, string(file), string(c.p.Export(replayed, true)), c.story)
	c.sameShape(nil, after.State, replayed)

	again := verify.Snapshot{State: n, Phase: after.Phase, Version: after.Version}
	for i := range c.p.Contract().Stages {
		stage := c.p.Contract().Stages[i].Name
		a, b := c.view(after, stage), c.view(again, stage)
		require.True(c.t, sameViews(a, b), "%s\n%s: %s\n%s", c.story, stage, a.Value, b.Value)
		if i > 1 {
			continue
		}
		next := c.values.patch(after.State)
		x, y := propose(c.t, c.p, after, stage, next), propose(c.t, c.p, again, stage, next)
		require.Equal(c.t, encoded(x.Verdict), encoded(y.Verdict), "%s\n%s then %s", c.story, stage, next)
		require.Equal(c.t, encoded(x.Actor()), encoded(y.Actor()), "%s\n%s then %s", c.story, stage, next)
		require.Equal(c.t, string(c.p.Export(x.After.State, true)), string(c.p.Export(y.After.State, true)), "%s\n%s then %s", c.story, stage, next)
	}
}

// copyHolds checks that what a patch copied can be tested for as it shows where it came
// from, and counts that.
func (c standing) copyHolds(before verify.Snapshot, done *verify.Outcome, text []byte) int {
	patch := done.Patch
	if len(patch) > 1 || patch[0].Kind != tree.OpCopy || strings.HasSuffix(patch[0].RawPath, "/-") {
		return 0
	}
	source, err := tree.Find(before.State, patch[0].From)
	require.NoError(c.t, err)
	if isElementOfBag(done.After.State, patch[0].Path) {
		return 0 // what was a list holds what only a set or a log may hold: it has no positions now
	}
	test := fmt.Sprintf(`,{"op":"test","path":%s,"value":%s}]`, quoted(patch[0].RawPath), source)
	out := propose(c.t, c.p, before, "root", append(text[:len(text)-1:len(text)-1], test...))
	require.Equal(c.t, verify.Commit, out.Verdict.Verdict, "%s\n%s", c.story, test)
	return 1
}

func isElementOfBag(state *tree.Node, at tree.Pointer) bool {
	if len(at) == 0 {
		return false
	}
	parent, err := tree.Find(state, at[:len(at)-1])
	return err == nil && (parent.Order() == tree.SetOrder || parent.Order() == tree.LogOrder)
}

func (c standing) view(s verify.Snapshot, stage string) verify.View {
	v, refused, err := c.p.View(context.Background(), s, verify.ViewRequest{Stage: stage})
	require.NoError(c.t, err)
	require.Nil(c.t, refused)
	return v
}

// sameShape compares kinds, orders and the spelling of numbers; of sets the elements in
// the order in which they are written.
func (c standing) sameShape(w region.Word, a, b *tree.Node) {
	if a == nil || b == nil || a.Kind() != b.Kind() || a.Order() != b.Order() || a.Len() != b.Len() || a.Kind() == ir.Number && a.Text() != b.Text() {
		require.Fail(c.t, "the shape differs", "at %s: %s %s, %s %s\n%s", w.Pointer(), a, a.Order(), b, b.Order(), c.story)
	}
	for name, child := range a.Members() {
		c.sameShape(longer(w, region.Key(name)), child, b.Get(name))
	}
	x, y := inWriting(a), inWriting(b)
	for i := range x {
		c.sameShape(longer(w, region.Index(i)), x[i], y[i])
	}
}

func inWriting(n *tree.Node) []*tree.Node {
	var out []*tree.Node
	for _, e := range n.Elements() {
		out = append(out, e)
	}
	if n.Order() == tree.SetOrder {
		slices.SortStableFunc(out, func(a, b *tree.Node) int { return bytes.Compare(tree.AppendJSON(nil, a), tree.AppendJSON(nil, b)) })
	}
	return out
}

// logsGrew checks that every log that stood before still begins so, unless an entry or
// element that it was inside of went.
func (c standing) logsGrew(before, after *tree.Node, patch tree.Patch) {
	for _, w := range c.values.words(before) {
		log := tree.NodeAt(before, w)
		if log == nil || log.Order() != tree.LogOrder || log.Len() == 0 || c.went(w, before, after, patch) {
			continue
		}
		now := tree.NodeAt(after, w)
		require.Equal(c.t, tree.LogOrder, now.Order(), "%s\nlog %s", c.story, w.Pointer())
		for i, e := range log.Elements() {
			require.True(c.t, tree.Equal(e, now.At(i)), "%s\nlog %s", c.story, w.Pointer())
		}
	}
}

// went reports whether an entry of a map or keyed list on the way to w is no more, or an
// element of a list or set may be another.
func (c standing) went(w region.Word, before, after *tree.Node, patch tree.Patch) bool {
	for i, l := range w {
		if l.Kind == region.IndexLetter && (tree.NodeAt(before, w[:i]).Order() == tree.SetOrder ||
			len(patch) > 1 || !strings.HasPrefix(patch[0].Path.String(), w[:i+1].Pointer()+"/")) {
			return true
		}
		if tree.NodeAt(after, w[:i+1]) == nil && !c.declares(w[:i+1]) {
			return true
		}
	}
	return false
}

// declares reports whether every type at a place is a record's member that it declares.
func (c standing) declares(w region.Word) bool {
	for _, id := range c.values.flat(c.values.typesAt(w[:len(w)-1])) {
		t := c.values.c.Type(id)
		if _, ok := t.Member(w[len(w)-1].Name); !ok && (t.Elem != ir.NoType || t.Rest != ir.NoType || t.Kind == ir.AnyType) {
			return false
		}
	}
	return true
}
