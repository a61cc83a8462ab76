package replay_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// What a condition keeps from being bound is told as what is not there, whatever else binds
// or does not. Stages with several parameters of every kind, and conditions on some of them,
// are drawn here and asked with arguments that mostly do not bind.

// bound draws a contract with a stage that is all parameters.
func (m maker) bound() (text string, c *ir.Contract) {
	for {
		d := &drawing{maker: m}
		d.header("")
		d.line("stage s(%s) {\n  read /x\n  write /x\n}", d.keepers())
		if codes, c, _ := findings(d.out.String()); len(codes) == 0 {
			return d.out.String(), c
		}
	}
}

// places of which a parameter is one, each with conditions on a parameter P.
var bindable = map[string][]string{
	"/a": {`state.a[P].s != "r"`, "state.a[P].i < 2", "P != state.ref", "state.a[P].i <= state.x"},
	"/b": {"state.b[P].i < 2", "state.a[state.b[P].a].i < 2", `!has(state.b[P].t)`},
	"/k": {"state.k[P].i < 2", "size(state.k[P].set) < 1"},
	"/n": {"state.n[P] < 2", "size(state.n) < 2"}, "/set": {`P != "a"`, "size(state.set) < 2"},
}

// freeConditions are conditions on any parameter.
var freeConditions = []string{"state.x < 2", "total < 4.0", `P != "k1"`, "!(P in state.n)", `role == "u"`, "state.x / state.y > 0"}

// keepers draws what a stage is bound to: two to five parameters.
func (d *drawing) keepers() string {
	var out, names []string
	of := map[string]string{} // the maps that parameters are keys of
	for i := range 2 + d.Intn(3) {
		name, at := fmt.Sprintf("p%d", i), d.pick("/a", "/b", "/k", "/n", "/set")
		conditions := slices.Concat(freeConditions, bindable[at])
		param := name + " in " + at
		switch from := d.earlier(names); {
		case of[from] != "" && d.chance(60):
			below := map[string]string{"/b": " = /b/{%s}/a", "/a": d.pick(" = /a/{%s}/r", " = /a/{%s}/t"), "/k": d.pick(" in /k/{%s}/set", " = /k/{%s}/b")}
			param, conditions = name+fmt.Sprintf(below[of[from]], from), freeConditions
		case at != "/set" && d.chance(25):
			param, conditions = name+" new in "+at, freeConditions
		case at != "/n" && at != "/set":
			of[name] = at
		}
		if other := d.earlier(names); other != "" && d.chance(30) {
			conditions = []string{"P != " + other, "P == " + other}
		}
		if d.chance(60) {
			param += fmt.Sprintf(" where %s{ %s }", d.pick("", `"it is so" `), strings.ReplaceAll(d.pick(conditions...), "P", name))
		}
		out, names = append(out, param), append(names, name)
	}
	if d.chance(40) {
		out = append(out, "w: int where { self < 3 }")
	}
	return strings.Join(out, ", ")
}

// earlier is one of some names, "" if there is none.
func (m maker) earlier(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return m.pick(names...)
}

// A door is a stage that arguments are bound to, on a state.
type door struct {
	t     testing.TB
	p     *verify.Program
	s     *ir.Stage
	patch string
	by    footprint.Proposal // who asks, and when
}

// A refusal is what is told of arguments, and what is wrong with them.
type refusal struct {
	told  string          // the reply to a proposal and the refusal of a view
	wrong map[string]bool // parameters
	kept  bool            // a condition does not hold
}

func (d *door) ask(n *tree.Node, args map[string]string) refusal {
	ctx, at := context.Background(), verify.Snapshot{State: n, Phase: d.s.In[0], Version: 1}
	out, err := d.p.Verify(ctx, at, verify.Proposal{Stage: d.s.Name, Args: args, Patch: []byte(d.patch), Role: d.by.Role, Actor: d.by.Actor, Now: d.by.Now})
	require.NoError(d.t, err)
	shown, refused, err := d.p.View(ctx, at, verify.ViewRequest{Stage: d.s.Name, Args: args, Role: d.by.Role, Actor: d.by.Actor, Now: d.by.Now})
	require.NoError(d.t, err)
	r := refusal{told: string(encode(d.t, out.Actor())), wrong: map[string]bool{}}
	if refused == nil {
		r.told += string(encode(d.t, shown))
		return r
	}
	told, more := refused.Told()
	r.told += string(encode(d.t, told)) + fmt.Sprint(more)
	for _, v := range refused.Violations {
		if _, of, is := strings.Cut(v.Rule, ", parameter "); is {
			name, where, _ := strings.Cut(of, ",")
			r.wrong[name] = true
			r.kept = r.kept || where != ""
		}
	}
	return r
}

// binds reports whether a parameter is bound: nothing is wrong with it, nor with what it follows.
func (d *door) binds(r refusal, param int) bool {
	before := func(name string) bool {
		at := slices.IndexFunc(d.s.Params, func(p ir.Param) bool { return p.Name == name })
		return at <= param // values are bound first
	}
	return !slices.ContainsFunc(slices.Collect(maps.Keys(r.wrong)), before)
}

// guesses draws arguments, of which most are there.
func (m maker) guesses(s *ir.Stage, n *tree.Node) (given map[string]string, all region.Binding) {
	given, all = map[string]string{}, region.Binding{}
	for i := range s.Params {
		p := &s.Params[i]
		at := tree.NodeAt(n, wordOf(p.Of.Bind(all)))
		switch {
		case p.Kind == ir.DependentParam:
			all[p.Name] = at.Text()
			continue
		case m.chance(15):
			all[p.Name] = m.pick("", "none", "k1")
		case p.Kind == ir.ElementParam:
			all[p.Name] = m.pick(append(textsOf(at), "a")...)
		case p.Kind == ir.NewParam:
			all[p.Name] = m.newKey(at)
		default:
			all[p.Name] = m.pick(stateKeys...)
		}
		given[p.Name] = all[p.Name]
	}
	for _, v := range s.Values {
		given[v.Name] = m.pick("1", "1", "1", "9", `"a"`)
	}
	return given, all
}

// without is a state without what a parameter is bound to.
func without(n *tree.Node, w region.Word, element string) *tree.Node {
	if len(w) > 1 || element != "" && len(w) > 0 {
		child := n.Get(w[0].Name)
		if child == nil {
			return n
		}
		return n.With(w[0].Name, without(child, w[1:], element))
	}
	if element == "" {
		return n.Without(w[0].Name)
	}
	var rest []*tree.Node
	for _, e := range n.Elements() {
		if e.Text() != element {
			rest = append(rest, e)
		}
	}
	return tree.NewArray(rest).WithOrder(n.Order())
}

// none are ways in which a parameter is bound to nothing: other arguments, and other states.
func (m maker) none(p *ir.Param, n *tree.Node, given map[string]string, all region.Binding) (args map[string]string, states []*tree.Node) {
	of := wordOf(p.Of.Bind(all))
	at := tree.NodeAt(n, of)
	args = maps.Clone(given)
	switch p.Kind {
	case ir.DependentParam:
		states = []*tree.Node{without(n, of, "")}
		if at != nil && at.Kind() == ir.String {
			empty := without(n, of[:len(of)-1], "")
			parent := tree.NodeAt(n, of[:len(of)-1])
			states = append(states, putAt(empty, of[:len(of)-1], parent.With(of[len(of)-1].Name, tree.NewString(""))))
		}
	case ir.NewParam:
		for key := range at.Members() {
			args[p.Name] = key
		}
	default:
		args[p.Name] = "none"
		if key := given[p.Name]; p.Kind == ir.ElementParam && key != "" {
			states = []*tree.Node{without(n, of, key)}
		} else if key != "" {
			states = []*tree.Node{without(n, append(of, region.Key(key)), "")}
		}
	}
	return args, states
}

// putAt is a state with a node at a place of it.
func putAt(n *tree.Node, w region.Word, v *tree.Node) *tree.Node {
	if len(w) == 0 {
		return v
	}
	return n.With(w[0].Name, putAt(n.Get(w[0].Name), w[1:], v))
}

func TestWhatAConditionKeepsFromBindingIsToldAsWhatIsNotThere(t *testing.T) {
	t.Parallel()
	m := newMaker(31)
	counts := map[string]int{}
	for enough := rounds(4_000, 2_000); counts["compared"] < enough; {
		text, c := m.bound()
		p, err := verify.Load(c, verify.DefaultLimits())
		require.NoError(t, err)
		d := &door{t: t, p: p, s: c.Stage("s")}
		for range 60 {
			n := m.fileNode(p, c)
			d.patch = m.pick("[]", `[{"op":"replace","path":"/x","value":1}]`, `[{"op":"add","path":"/y/z","value":1}]`, "{")
			m.inputs(d.s, &d.by)
			m.keep(t, d, n, text, counts)
		}
	}
	t.Logf("%v, 0 differences", counts)
	for _, what := range []string{"by its condition", "beside another", "a new key", "an element", "a key that depends", "out of the state"} {
		require.Greater(t, 50*counts[what], counts["compared"], what)
	}
}

// keep asks for what is kept back, and for nothing in its place.
func (m maker) keep(t *testing.T, d *door, n *tree.Node, text string, counts map[string]int) {
	given, all := m.guesses(d.s, n)
	r := d.ask(n, given)
	for i := range d.s.Params {
		p := &d.s.Params[i]
		if p.Where == nil || d.binds(r, i) || given[p.Name] == "" && p.Kind != ir.DependentParam {
			continue
		}
		count := func(also string) {
			counts["compared"]++
			counts[also]++
			counts[map[ir.ParamKind]string{ir.NewParam: "a new key", ir.ElementParam: "an element", ir.DependentParam: "a key that depends", ir.ExistingParam: "a key"}[p.Kind]]++
			counts[map[bool]string{true: "by its condition", false: "beside another"}[r.kept && r.wrong[p.Name]]]++
		}
		args, states := m.none(p, n, given, all)
		if !maps.Equal(args, given) {
			count("in the arguments")
			require.Equal(t, r.told, d.ask(n, args).told, "%s\nstate %s\nargs %v, and for %s instead %v\npatch %s", text, n, given, p.Name, args, d.patch)
		}
		for _, other := range states {
			s := d.ask(other, given)
			others := func(w map[string]bool) map[string]bool {
				w = maps.Clone(w)
				delete(w, p.Name)
				return w
			}
			if tree.Equal(n, other) || d.binds(s, i) || !maps.Equal(others(r.wrong), others(s.wrong)) {
				continue // another condition reads it
			}
			count("out of the state")
			require.Equal(t, r.told, s.told, "%s\nstate %s\nand %s\nargs %v", text, n, other, given)
		}
	}
}
