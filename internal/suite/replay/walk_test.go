package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// Where no flow is proved, two walks from states that differ in the origin alone agree on
// the goal. The host chooses the same in both. An actor is a function, drawn at random, of
// what it is shown: its arguments, its view, what it is answered and, in a claim with
// memory, all that its role was shown before. So whatever tells it of the origin makes it
// write something else, and choose another phase.
//
// The walks are of two kinds, spec/language.md section 11. Those in step take a proposal
// only where both accept one; what is told by a bit is withheld. Then the claim alone says
// that the goals agree. Those out of step keep nothing back; then the goals agree if
// there is no way to tell a bit that `prove` lists.

// A walker is one of two walks.
type walker struct {
	at     verify.Snapshot
	memory map[string]string // by role, all that it was shown
}

// A country is a contract to walk in.
type country struct {
	maker
	t              *testing.T
	c              *ir.Contract
	p              *verify.Program
	model          *footprint.Model
	reach          map[string]reach
	states, others []*tree.Node // to begin in, and for values to propose
}

// country prepares a contract; nil if no two states to begin in are found soon.
func (m maker) country(t *testing.T, c *ir.Contract) *country {
	p, err := verify.Load(c, verify.DefaultLimits())
	require.NoError(t, err)
	in := &country{maker: m, t: t, c: c, p: p, model: footprint.New(c), reach: map[string]reach{}}
	for i := range c.Stages {
		in.reach[c.Stages[i].Name] = reachOf(&c.Stages[i])
	}
	for range 6 {
		if n := m.valid(p, c, c.Phases[0].Name); n != nil {
			in.states = append(in.states, n)
		}
	}
	for range 12 {
		if n, err := p.Import([]byte(m.file(c))); err == nil {
			in.others = append(in.others, n)
		}
	}
	if len(in.states) < 2 || len(in.others) == 0 {
		return nil
	}
	return in
}

// Walks are two that the host leads alike.
type walks struct {
	*country
	claim    ir.Claim
	from, to *region.Set
	inStep   bool

	begun, two [2]walker
	seed       uint64          // of the step
	parted     bool            // by a choice of phase
	made       map[string]bool // entries that a parameter created

	commits, knowing int             // of all steps, and of those by actors who are shown other things
	carriers         map[string]bool // by what the last actor knew, once the goals differ
}

const stepsPerWalk = 12

// walk goes from two states that differ in a claim's origin alone; nil if it finds none.
func (in *country) walk(claim ir.Claim, inStep bool) *walks {
	w := &walks{country: in, claim: claim, from: region.Compile(claim.From), to: region.Compile(claim.To), inStep: inStep, made: map[string]bool{}}
	if !w.begin() {
		return nil
	}
	w.begun = w.two
	for range stepsPerWalk {
		w.step()
	}
	return w
}

// String tells where the walks led.
func (w *walks) String() string {
	out := fmt.Sprintf("%s, in step: %v", w.claim.Text, w.inStep)
	for _, at := range []walker{w.begun[0], w.begun[1], w.two[0], w.two[1]} {
		out += fmt.Sprintf("\n%s %s", at.at.Phase, at.at.State)
	}
	return out
}

// A visit is an actor's step in one walk.
type visit struct {
	stage  *ir.Stage
	role   string
	args   region.Binding
	values map[string]string
	view   verify.View
	shown  string // all of what it is shown, and remembers
}

// A host's choice is made without looking at the states.
type choice struct {
	stage, role int
	keys        []int
}

func (w *walks) choice() choice {
	return choice{w.Intn(1 << 20), w.Intn(1 << 20), []int{w.Intn(1 << 20), w.Intn(1 << 20), w.Intn(1 << 20)}}
}

// visit begins a step; ok is false if it cannot.
func (w *walks) visit(x *walker, by choice) (v visit, ok bool) {
	var able []*ir.Stage
	for i := range w.c.Stages {
		if s := &w.c.Stages[i]; slices.Contains(s.In, x.at.Phase) {
			able = append(able, s)
		}
	}
	if len(able) == 0 {
		return v, false
	}
	v.stage = able[by.stage%len(able)]
	roles := v.stage.By
	if len(roles) == 0 {
		roles = []string{"u", "v", "stranger"}
	}
	v.role = roles[by.role%len(roles)]
	if v.args, ok = w.arguments(v.stage, x.at.State, by.keys); !ok {
		return v, false
	}
	v.values = maker{rand.New(&mix{uint64(by.keys[0])})}.said(w.c, v.stage)
	shown, refused, err := w.p.View(context.Background(), x.at, verify.ViewRequest{Stage: v.stage.Name, Args: given(v.stage, v.args, v.values), Role: v.role})
	require.NoError(w.t, err)
	if refused != nil {
		return v, false
	}
	v.view = shown
	v.shown = fmt.Sprint(x.at.Phase, v.stage.Name, v.role, v.args, v.values, v.view.Placeholders, v.view.Value)
	return v, true
}

// recall adds what an actor is shown to what its role remembers.
func (w *walks) recall(x *walker, v *visit) {
	if w.claim.Memory {
		x.memory[v.role] += v.shown
		v.shown = x.memory[v.role]
	}
}

// arguments are the first keys that there are, in an order that no state has a say in: the
// same in two states unless there is another key, or what a parameter is taken from differs.
func (w *walks) arguments(s *ir.Stage, state *tree.Node, keys []int) (region.Binding, bool) {
	args := region.Binding{}
	for i, p := range s.Params {
		at := tree.NodeAt(state, wordOf(p.Of.Bind(args)))
		switch {
		case p.Kind == ir.NewParam:
			args[p.Name] = []string{"k1", "k2", "k3", "k4", "k5"}[keys[i]%5]
		case p.Kind == ir.DependentParam && at != nil && at.Kind() == ir.String:
			args[p.Name] = at.Text()
		case p.Kind == ir.ExistingParam:
			first := uint64(math.MaxUint64)
			for name := range at.Members() {
				if rank := rank(keys[i], name); rank < first && !slices.Contains(p.Reserved, name) {
					args[p.Name], first = name, rank
				}
			}
		case p.Kind == ir.ElementParam:
			first := uint64(math.MaxUint64)
			for _, text := range textsOf(at) {
				if rank := rank(keys[i], text); rank < first && !slices.Contains(p.Reserved, text) {
					args[p.Name], first = text, rank
				}
			}
		}
		if args[p.Name] == "" {
			return nil, false
		}
	}
	return args, true
}

func rank(order int, name string) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, order, name)
	return (&mix{h.Sum64()}).Uint64()
}

// A mix is a source of random numbers that costs nothing to make.
type mix struct{ state uint64 }

func (m *mix) Seed(seed int64) { m.state = uint64(seed) }
func (m *mix) Int63() int64    { return int64(m.Uint64() >> 1) }
func (m *mix) Uint64() uint64 {
	m.state += 0x9e3779b97f4a7c15
	z := m.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// answer is the try-th proposal of an actor, a function of what it is shown.
func (w *walks) answer(v visit, try int) verify.Proposal {
	h := fnv.New64a()
	fmt.Fprint(h, w.seed, try, v.shown)
	m := maker{rand.New(&mix{h.Sum64()})}
	out := verify.Proposal{Stage: v.stage.Name, Args: given(v.stage, v.args, v.values), Role: v.role, Patch: []byte("[]")}
	a := m.actor(v.stage, w.reach[v.stage.Name], v.args, placed{v.view.Value, "", w.spots(v)}, w.others[m.Intn(len(w.others))])
	if len(a.targets) > 0 {
		ops := []string{a.proposes(v.view.Value)}
		if m.chance(30) {
			ops = append(ops, a.proposes(v.view.Value))
		}
		out.Patch = []byte(m.echo("["+strings.Join(ops, ",")+"]", v))
	}
	if to := w.moves(v); len(to) > 0 {
		out.Next = m.pick(to...)
	}
	return out
}

// proposes is an operation that fits what the actor sees, mostly.
func (a actor) proposes(view *tree.Node) string {
	at := a.among(a.targets)
	op, there := "replace", tree.NodeAt(view, at) != nil
	switch n := len(at); {
	case !there || n > 0 && at[n-1].Kind == region.FreshLetter:
		op = "add"
	case a.chance(20):
		return `{"op":"remove","path":` + quoted(at.Pointer()) + "}"
	}
	if len(a.takes) > 0 && a.chance(40) {
		return `{"op":"copy","path":` + quoted(at.Pointer()) + `,"from":` + quoted(a.among(a.takes).Pointer()) + "}"
	}
	return `{"op":"` + op + `","path":` + quoted(at.Pointer()) + `,"value":` + a.value(at, a.other).String() + "}"
}

// spots are places that the view shows, and ones where something new may be.
func (w *walks) spots(v visit) []region.Word {
	out := places(v.view.Value)
	write := append(region.Region{}, v.stage.Write...)
	for _, g := range append(write, v.stage.Blind...) {
		for _, p := range g.Include {
			at := region.Word{}
			for _, s := range p.Bind(v.args).Segments {
				switch s.Kind {
				case region.KeyLiteral, region.Literal:
					at = append(at, region.Key(s.Text))
				case region.FreshSegment:
					at = append(at, region.Fresh(""))
				case region.AnyKey, region.AnySegment:
					at = append(at, region.Key([]string{"k1", "k2", "k3", "k4"}[len(v.shown)%4]))
				default:
					at = append(at, region.Index(0))
				}
			}
			out = append(out, at, at)
			if len(at) > 0 && w.kind(at) == ir.MapType {
				out = append(out, append(slices.Clone(at), region.Key("k2")), append(slices.Clone(at), region.Key("k4")))
			}
		}
	}
	return out
}

// echo replaces texts of a patch's values by ones that an actor was shown.
func (m maker) echo(patch string, v visit) string {
	if !m.chance(40) {
		return patch
	}
	var seen []string
	for _, p := range places(v.view.Value) {
		if n := tree.NodeAt(v.view.Value, p); n != nil && n.Kind() == ir.String {
			seen = append(seen, n.Text())
		}
		if len(p) > 0 && p[len(p)-1].Kind == region.KeyLetter {
			seen = append(seen, p[len(p)-1].Name)
		}
	}
	seen = append(seen, slices.Sorted(maps.Values(v.args))...)
	if len(seen) == 0 {
		return patch
	}
	said := quoted(m.pick(seen...))
	for _, text := range []string{`:"a"`, `:"b"`, `:"k1"`} {
		patch = strings.ReplaceAll(patch, `"value"`+text, `"value":`+said)
		patch = strings.ReplaceAll(patch, `"t"`+text, `"t":`+said)
	}
	return patch
}

// moves lists the phases that a visitor may choose from.
func (w *walks) moves(v visit) []string {
	return slices.DeleteFunc(slices.Clone(v.stage.Next), func(to string) bool {
		return !slices.ContainsFunc(w.c.Phase(v.view.Phase).Arrows, func(a ir.Arrow) bool { return a.To == to })
	})
}

// judge decides a proposal and says what the actor is answered, and whether that tells
// nothing of what it does not see.
func (w *walks) judge(x *walker, v visit, pr verify.Proposal) (out verify.Outcome, reply string, silent bool) {
	out, err := w.p.Verify(context.Background(), x.at, pr)
	require.NoError(w.t, err)
	said := out.Actor()
	text, err := json.Marshal(said)
	require.NoError(w.t, err)
	tells := slices.ContainsFunc(said.Violations, func(f verify.Violation) bool {
		return f.Code == verify.Refused || strings.HasSuffix(f.Rule, ", write blind") ||
			slices.ContainsFunc(v.stage.Gates, func(g ir.Gate) bool { return g.Visibility != ir.Seen && ruleOf(&g, f.Rule) })
	})
	return out, string(text), !tells
}

// remember keeps what an actor was answered, for its next try or for good.
func (w *walks) remember(x *walker, v *visit, reply string) {
	v.shown += reply
	if w.claim.Memory {
		x.memory[v.role] = v.shown
	}
}

const tries = 3

// step lets a stage act, in both walks.
func (w *walks) step() {
	by := w.choice()
	w.seed = uint64(w.Int63())
	if w.chance(8) {
		w.advance(by)
		return
	}
	if !w.inStep || w.parted {
		w.apart(by)
		return
	}
	var vs [2]visit
	for i := range w.two {
		var ok bool
		if vs[i], ok = w.visit(&w.two[i], by); !ok {
			return
		}
	}
	for i := range w.two {
		w.recall(&w.two[i], &vs[i])
	}
	for try := range tries {
		if w.together(&vs, try) {
			return
		}
	}
}

// together tries one proposal in each walk, and takes them if both are accepted.
func (w *walks) together(vs *[2]visit, try int) (done bool) {
	var prs [2]verify.Proposal
	var outs [2]verify.Outcome
	var replies [2]string
	accepted, silent := true, true
	for i := range w.two {
		var quiet bool
		prs[i] = w.answer(vs[i], try)
		outs[i], replies[i], quiet = w.judge(&w.two[i], vs[i], prs[i])
		accepted, silent = accepted && outs[i].Verdict.Verdict != verify.Reject, silent && quiet
	}
	chosen := prs[0].Next != prs[1].Next
	if chosen && vs[0].stage.DisclosesPhase {
		return false
	}
	if silent && (accepted || outs[0].Verdict.Verdict == outs[1].Verdict.Verdict) {
		for i := range w.two {
			w.remember(&w.two[i], &vs[i], replies[i])
		}
	}
	if !accepted {
		return false
	}
	for i := range w.two {
		w.two[i].at = verify.Snapshot{State: outs[i].After.State, Phase: outs[i].After.Phase}
	}
	w.commits++
	if vs[0].shown != vs[1].shown {
		w.knowing++
	}
	w.creates(vs[0])
	w.creates(vs[1])
	w.parted = w.parted || chosen
	w.look(vs, "")
	return true
}

// apart lets a stage act in each walk for itself. Only a move is taken in both or in
// none, as long as their phases tell nothing: nothing is told by whether a proposal commits.
func (w *walks) apart(by choice) {
	var vs [2]visit
	var outs [2]*verify.Outcome
	for i := range w.two {
		x := &w.two[i]
		v, ok := w.visit(x, by)
		if ok {
			w.recall(x, &v)
		}
		for try := 0; ok && try < tries && outs[i] == nil; try++ {
			out, reply, _ := w.judge(x, v, w.answer(v, try))
			w.remember(x, &v, reply)
			if out.Verdict.Verdict != verify.Reject {
				outs[i] = &out
			}
		}
		vs[i] = v
	}
	moves := func(out *verify.Outcome) bool { return out != nil && out.Next != "" }
	if !w.parted && (moves(outs[0]) && outs[1] == nil || moves(outs[1]) && outs[0] == nil) {
		return
	}
	for i, out := range outs {
		if out != nil {
			w.two[i].at = verify.Snapshot{State: out.After.State, Phase: out.After.Phase}
			w.commits++
			w.creates(vs[i])
		}
	}
	told := ""
	if w.parted = w.parted || w.two[0].at.Phase != w.two[1].at.Phase; w.parted {
		told = "a choice of phase"
	}
	w.look(&vs, told)
}

// advance lets the host walk an arrow.
func (w *walks) advance(by choice) {
	var outs [2]verify.Outcome
	for i := range w.two {
		arrows := slices.DeleteFunc(slices.Clone(w.c.Phase(w.two[i].at.Phase).Arrows), func(a ir.Arrow) bool { return !a.ByHost })
		if len(arrows) == 0 {
			if w.inStep && !w.parted {
				return
			}
			continue
		}
		out, err := w.p.Advance(context.Background(), w.two[i].at, verify.Move{To: arrows[by.stage%len(arrows)].To})
		require.NoError(w.t, err)
		outs[i] = out
		if out.Verdict.Verdict == verify.Reject && w.inStep && !w.parted {
			return
		}
	}
	for i, out := range outs {
		if out.Verdict.Verdict == verify.Commit {
			w.two[i].at = verify.Snapshot{State: out.After.State, Phase: out.After.Phase}
		}
	}
}

// creates notes the entries that a stage's parameters create.
func (w *walks) creates(v visit) {
	for _, p := range v.stage.Params {
		if p.Kind == ir.NewParam {
			w.made[append(wordOf(p.Of.Bind(v.args)), region.Key(v.args[p.Name])).Pointer()] = true
		}
	}
}

// look notes, once the goals differ, what those knew who made them.
func (w *walks) look(vs *[2]visit, by string) {
	if w.carriers != nil || w.agree() {
		return
	}
	w.carriers = map[string]bool{}
	if by != "" {
		w.carriers[by] = true
	}
	if vs[0].stage == nil || vs[1].stage == nil || by != "" {
		return
	}
	if vs[0].stage.From != "" {
		w.carriers["a delegate"] = true
	}
	found := map[string]bool{}
	w.differ(vs[0].view.Value, vs[1].view.Value, nil, replay.SameBytes, func(at region.Word) (below bool) {
		found[w.carrier(vs, at)] = true
		return false
	})
	same := maps.Equal(vs[0].args, vs[1].args)
	switch {
	case len(found) == 1 && !found["the origin"]:
		maps.Copy(w.carriers, found)
	case len(found) == 0 && same && w.claim.Memory:
		w.carriers["a memory"] = true
	}
	if !same {
		w.carriers["an argument"] = true
	}
}

// carrier names what differs at a place, by its type and what it is in.
func (w *walks) carrier(vs *[2]visit, at region.Word) string {
	if w.from.Start(nil).Walk(at).In() {
		return "the origin"
	}
	for i := range at {
		if w.made[at[:i+1].Pointer()] {
			return "a new key"
		}
		switch w.kind(at[:i]) {
		case ir.SetType:
			return "an element of a set"
		case ir.LogType:
			return "an entry of a log"
		case ir.ListType:
			return "an element of a list"
		}
	}
	one, other := tree.NodeAt(vs[0].view.Value, at), tree.NodeAt(vs[1].view.Value, at)
	if len(at) > 0 && (one == nil) != (other == nil) {
		return map[ir.TypeKind]string{ir.MapType: "a key of a map", ir.KeyedType: "a key of a keyed list", ir.RecordType: "an optional member"}[w.kind(at[:len(at)-1])]
	}
	return map[ir.TypeKind]string{
		ir.StringType: "a text", ir.IntType: "a number", ir.BoolType: "a boolean", ir.RefType: "a reference", ir.LiteralType: "a literal",
		ir.SetType: "an element of a set", ir.LogType: "an entry of a log", ir.ListType: "an element of a list",
	}[w.kind(at)]
}

// kind is the kind of the type at a place, if there is one.
func (w *walks) kind(at region.Word) ir.TypeKind {
	set := w.model.Shape.Root()
	for _, l := range at {
		set = w.model.Shape.Letter(set, l)
	}
	if len(set) == 0 {
		return ir.AnyType
	}
	return w.c.Type(set[0]).Kind
}

// differ visits the places at which two trees are not the same, below one if visit says so.
func (w *walks) differ(a, b *tree.Node, at region.Word, same func(a, b *tree.Node) bool, visit func(region.Word) (below bool)) {
	if same(a, b) {
		return
	}
	if a == nil || b == nil || a.Kind() != b.Kind() || a.Kind() != ir.Object && a.Kind() != ir.Array || a.Kind() == ir.Array && a.Len() != b.Len() {
		if !visit(at) {
			return
		}
	}
	below := func(l region.Letter) region.Word { return append(at[:len(at):len(at)], l) }
	names := map[string]bool{}
	for _, n := range []*tree.Node{a, b} {
		for name := range n.Members() {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		w.differ(a.Get(name), b.Get(name), below(region.Key(name)), same, visit)
	}
	for i := 0; a.At(i) != nil || b.At(i) != nil; i++ {
		w.differ(a.At(i), b.At(i), below(region.Index(i)), same, visit)
	}
}

// agree reports whether the goals are the same, to the byte: 1 is another sight than 1.0.
func (w *walks) agree() bool {
	equal := true
	w.differ(w.two[0].at.State, w.two[1].at.State, nil, replay.SameBytes, func(at region.Word) (below bool) {
		equal = equal && !w.to.Start(nil).Walk(at).In()
		return equal
	})
	return equal
}

// begin finds two states that differ in the origin alone, and agree on the goal.
func (w *walks) begin() bool {
	states := w.states
	phase := w.c.Phases[0].Name
	for range 12 {
		one := states[w.Intn(len(states))]
		other := w.mixed(one, states[w.Intn(len(states))], w.from.Start(nil))
		if w.from.Start(nil).Walk(keyField).In() && w.chance(60) {
			other = renamed(one)
		}
		other, err := w.p.Import(w.p.Export(other, false))
		if err != nil || tree.Equal(one, other) || len(w.p.CheckAll(context.Background(), other, phase)) > 0 {
			continue
		}
		w.two = [2]walker{{verify.Snapshot{State: one, Phase: phase}, map[string]string{}}, {verify.Snapshot{State: other, Phase: phase}, map[string]string{}}}
		apart := true
		w.differ(one, other, nil, tree.Equal, func(at region.Word) (below bool) {
			apart = apart && (w.from.Start(nil).Walk(at).In() || w.keyOf(at))
			return apart
		})
		if apart && w.agree() {
			return true
		}
	}
	return false
}

// mixed is a state with the origin of another.
func (w *walks) mixed(a, b *tree.Node, c region.Cursor) *tree.Node {
	switch {
	case c.Universal():
		return b
	case c.In() && (a == nil || b == nil || a.Kind() != b.Kind()):
		return b
	case a == nil || b == nil || a.Kind() != ir.Object || b.Kind() != ir.Object:
		if c.In() {
			return b
		}
		return a
	}
	names := map[string]bool{}
	for _, n := range []*tree.Node{a, b} {
		for name := range n.Members() {
			names[name] = true
		}
	}
	for name := range names {
		if child := w.mixed(a.Get(name), b.Get(name), c.Key(name)); child != nil {
			a = a.With(name, child)
		} else {
			a = a.Without(name)
		}
	}
	return a
}

// The key of an entry of /k is its field id: where that is the origin, an entry has
// another key, and all that refer to it hold that.
var keyField = region.Word{region.Key("k"), region.Key("k7"), region.Key("id")}

func renamed(n *tree.Node) *tree.Node {
	as := func(v *tree.Node) *tree.Node {
		if v.Text() == "k1" {
			return tree.NewString("k7")
		}
		return v
	}
	list := n.Get("k")
	if entry := list.Get("k1"); entry != nil {
		list = list.Without("k1").With("k7", entry.With("id", tree.NewString("k7")))
	}
	n = n.With("k", list).With("kk", n.Get("kk").MapMembers(func(_ string, v *tree.Node) *tree.Node { return as(v) }))
	if ref := n.Get("kref"); ref != nil {
		n = n.With("kref", as(ref))
	}
	return n
}

// keyOf reports whether a place follows from the field that is the key of an entry of /k.
func (w *walks) keyOf(at region.Word) bool {
	known := w.from.Start(nil).Walk(keyField).In()
	return known && len(at) > 0 && slices.Contains([]string{"k", "kk", "kref"}, at[0].Name)
}

// crossings are contracts in which something gets to the goal in one way.
var crossings = map[string]string{
	"a text": `stage look { read /pin, /o/*/t  write /o/*/t }
stage use { read /o/*/t, /n  write /n }
prove no flow from /pin to /n`,
	"a number": `stage look { read /pin, /n  write /n }
stage use { read /n, /flag  write /flag }
prove no flow from /pin to /flag`,
	"a boolean": `stage look { read /pin, /flag  write /flag }
stage use { read /flag, /n  write /n }
prove no flow from /pin to /n`,
	"a reference": `stage look { read /pin, /ref  write /ref }
stage use { read /ref, /n  write /n }
prove no flow from /pin to /n`,
	"a key of a map": `stage look { read /pin, /m  write /m }
stage use { read /m, /n  write /n }
prove no flow from /pin to /n`,
	"a key of a keyed list": `stage look { read /pin, /k  write /k }
stage use { read /k/*/w, /n  write /n }
prove no flow from /pin to /n`,
	"a new key": `stage look(p new in /m) { read /pin  write /m/{p} }
stage use { read /m, /n  write /n }
prove no flow from /pin to /n`,
	"an optional member": `stage look { read /pin, /opt  write /opt }
stage use { read /opt, /n  write /n }
prove no flow from /pin to /n`,
	"an entry of a log": `stage look { read /pin  write /log/- }
stage use { read /log, /n  write /n }
prove no flow from /pin to /n`,
	"an element of a set": `stage look { read /pin, /set  write /set/- }
stage use { read /set, /n  write /n }
prove no flow from /pin to /n`,
	"an element of a list": `stage look { read /pin, /li  write /li }
stage use { read /li, /n  write /n }
prove no flow from /pin to /n`,
	"an argument": `stage look { read /pin, /m  write /m }
stage use(p in /m) { read /n  write /n }
prove no flow from /pin to /n`,
	"a delegate": `stage look { read /pin, /flag  write /flag }
stage rest { read /flag, /n, /opt  write /n, /opt }
delegate use from rest { write /n }
prove no flow from /pin to /n`,
	"a memory": `stage look { by u, v  read /pin }
stage use { by u  read /n  write /n }
prove no flow from /pin to /n with memory`,
	"a choice of phase": `phases { one -> zero, single  zero single }
stage look { in one  read /pin  next zero, single }
stage use { in zero  read /n  write /n }
stage rest { in single  read /opt  write /opt }
prove no flow from /pin to /n`,
}

// leaks are contracts in which a bit of the origin gets to the goal in the one way that
// is noted, and nothing else does.
var leaks = map[footprint.NoteKind][]string{
	footprint.GateNote: {`invariant low { state.pin == "a" || state.n < 2 }
stage use { read /n  write /n  discloses low }
prove no flow from /pin to /n`},
	footprint.BlindNote: {`stage use { read /flag  write /flag, blind /m/* }
prove no flow from /m to /flag`},
	footprint.NewNote: {`stage use(p new in /m) { read /n  write /n, /m/{p} }
prove no flow from /m to /n`, `stage use(p new in /k) { read /n  write /n, /k/{p} }
prove no flow from /k/*/id to /n`},
	footprint.PhaseNote: {`phases { one -> zero, single  zero single }
stage look { in one  read /pin  next zero, single  discloses phase }
stage use { in zero  read /n  write /n }
stage rest { in single  read /opt  write /opt }
prove no flow from /pin to /n`},
	footprint.GuardNote: {`phases { one -> zero by host when { state.pin == "a" }  zero }
stage use { in zero  read /n  write /n }
prove no flow from /pin to /n`},
	footprint.RuleNote: {`phases { one -> zero by host  zero }
invariant low { phase == "one" || state.pin == "a" }
stage use { in zero  read /n  write /n }
prove no flow from /pin to /n`},
}

const walksPerCrossing = 400

func TestAnOriginIsCarriedToAGoalInEveryWay(t *testing.T) {
	t.Parallel()
	for name, text := range crossings {
		out := compileClaims(flowState + text + "\n")
		require.NotNil(t, out, name)
		require.IsType(t, footprint.Refuted{}, out.results[0], name)
		in := newMaker(43).country(t, out.c)
		require.NotNil(t, in, name)
		arrived := false
		for i := 0; i < walksPerCrossing && !arrived; i++ {
			w := in.walk(out.c.Claims[0], true)
			arrived = w != nil && w.carriers[name]
		}
		require.True(t, arrived, name)
	}
}

func TestABitOfAnOriginGetsToAGoalInTheWaysThatAreNotedAndNotInStep(t *testing.T) {
	t.Parallel()
	for kind, texts := range leaks {
		for _, text := range texts {
			bitArrives(t, kind, text)
		}
	}
}

func bitArrives(t *testing.T, kind footprint.NoteKind, text string) {
	out := compileClaims(flowState + text + "\n")
	require.NotNil(t, out, kind)
	require.IsType(t, footprint.Proved{}, out.results[0], kind)
	in := newMaker(44).country(t, out.c)
	require.NotNil(t, in, kind)
	notes := in.model.Notes(out.c.Claims[0])
	require.Len(t, notes, 1, kind)
	require.Equal(t, kind, notes[0].Kind)
	arrived := false
	for i := 0; i < walksPerCrossing && !arrived; i++ {
		w := in.walk(out.c.Claims[0], false)
		arrived = w != nil && !w.agree()
		if w = in.walk(out.c.Claims[0], true); w != nil {
			require.True(t, w.agree(), "%s\n%s", text, w)
		}
	}
	require.True(t, arrived, kind)
}

// What stands in a union whose alternatives disagree on it is spelled, or is an array of a
// kind, by what is written elsewhere in the union.
func TestAFlowIntoAUnionThatDecidesTheShapeOfTheGoalIsRefuted(t *testing.T) {
	for union, refuted := range map[string]bool{
		`{ kind: "a"  x: { r: 1 | 2 } } | { kind: "b"  x: { r: 1.0 | 2.0 } }`:   true,
		`{ kind: "a"  x: log of (1 | 2) } | { kind: "b"  x: log of (1.0 | 2) }`: true,
		`{ kind: "a"  x: list of string } | { kind: "b"  x: set of string }`:    true,
		`{ kind: "a"  x: int } | { kind: "b"  x: number }`:                      true,
		`{ kind: "a"  x: log of (1 | 2) } | { kind: "b"  x: log of (1 | 3) }`:   false,
		`{ kind: "a"  x: string } | { kind: "b"  x: string }`:                   false,
	} {
		for _, form := range []string{
			"state { pin: string  v: U }\nstage turn { read /pin, /v/kind  write /v/kind  discloses /v }\nprove no flow from /pin to /v/x\n",
			"state { pin: string  m: map of { v: U } }\nstage turn(p in /m) { read /pin, /m/{p}/v/kind  write /m/{p}/v/kind  discloses /m/*/v }\nprove no flow from /pin to /m/*/v/x\n",
		} {
			out := compileClaims("contract flows\ntype U = " + union + "\n" + form)
			require.NotNil(t, out, union)
			if refuted {
				require.IsType(t, footprint.Refuted{}, out.results[0], union)
			} else {
				require.IsType(t, footprint.Proved{}, out.results[0], union)
			}
		}
	}
}

func TestWalksThatDifferInTheOriginAgreeOnTheGoalWhereNoFlowIsProved(t *testing.T) {
	t.Parallel()
	m := newMaker(41)
	proved, silent, arrived, commits, knowing := 0, 0, 0, 0, 0
	by, bits := map[string]int{}, map[footprint.NoteKind]int{}
	contracts := min(rounds(60, 30), 20_000)
	for range contracts {
		text, out := m.flowContract()
		in := m.country(t, out.c)
		if in == nil {
			continue
		}
		for i, claim := range out.c.Claims {
			_, holds := out.results[i].(footprint.Proved)
			var notes []footprint.Note
			if holds {
				notes = in.model.Notes(claim)
			}
			for round := range 4 {
				w := in.walk(claim, !holds || round%2 == 0)
				if w == nil {
					break
				}
				commits, knowing = commits+w.commits, knowing+w.knowing
				switch {
				case holds && (w.inStep || len(notes) == 0):
					if proved++; !w.inStep {
						silent++
					}
					require.True(t, w.agree(), "%s\n%s", text, w)
				case holds && !w.agree():
					for _, n := range notes {
						bits[n.Kind]++
					}
				case w.carriers != nil:
					arrived++
					for name := range w.carriers {
						by[name]++
					}
				}
			}
		}
	}
	t.Logf("%d walks where no flow is proved, %d of them with nothing kept back; %d commits, %d by actors who knew; %d of the other walks arrived: %v; with what is noted: %v",
		proved, silent, commits, knowing, arrived, by, bits)
	require.Positive(t, silent)
	require.Positive(t, arrived)
	for name := range crossings {
		require.True(t, by[name] > 0 || contracts < 2_000, name)
	}
	for kind := range leaks {
		require.True(t, bits[kind] > 0 || contracts < 2_000, kind)
	}
}
