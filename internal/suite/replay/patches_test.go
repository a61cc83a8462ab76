package replay_test

import (
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// An actor writes patches of a stage on a state: most operations are ones that the
// stage may do there, and most values stand in another state at the same place.
type actor struct {
	maker
	other                 *tree.Node
	all                   []region.Word
	targets, looks, takes []region.Word
}

// A reach is what a stage may do, compiled once.
type reach struct{ write, look, take *region.Set }

func reachOf(s *ir.Stage) reach {
	return reach{
		write: region.Compile(region.Union(s.Write, s.Blind)),
		look:  region.Compile(region.Union(s.Source, s.Read)),
		take:  region.Compile(s.Source),
	}
}

// actor prepares a stage for a state, whose places are given.
func (m maker) actor(s *ir.Stage, r reach, args region.Binding, state placed, other *tree.Node) actor {
	write, look, take := r.write.Start(args), r.look.Start(args), r.take.Start(args)
	a := actor{maker: m, other: other, all: state.places}
	for _, w := range state.places {
		present := tree.NodeAt(state.node, w) != nil
		if write.Walk(w).Interior() {
			a.targets = append(a.targets, w)
		}
		if present && look.Walk(w).Interior() {
			a.looks = append(a.looks, w)
		}
		if present && take.Walk(w).Interior() {
			a.takes = append(a.takes, w)
		}
	}
	for _, p := range s.Params {
		if p.Kind == ir.NewParam {
			a.targets = append(a.targets, append(wordOf(p.Of.Bind(args)), region.Key(args[p.Name])))
		}
	}
	return a
}

// placed is a state with its file and the words of its places.
type placed struct {
	node   *tree.Node
	file   string
	places []region.Word
}

func wordOf(p region.Pattern) region.Word {
	w := region.Word{}
	for _, s := range p.Segments {
		w = append(w, region.Key(s.Text))
	}
	return w
}

// places lists the words of all nodes, and of some that are not there.
func places(n *tree.Node) []region.Word {
	var out []region.Word
	var visit func(w region.Word, n *tree.Node)
	visit = func(w region.Word, n *tree.Node) {
		out = append(out, w)
		below := func(l region.Letter) region.Word { return append(w[:len(w):len(w)], l) }
		for name, child := range n.Members() {
			visit(below(region.Key(name)), child)
		}
		for i, child := range n.Elements() {
			visit(below(region.Index(i)), child)
		}
		switch n.Kind() {
		case ir.Object:
			for _, name := range append([]string{"reply", "k1"}, memberNames...) {
				if n.Get(name) == nil {
					out = append(out, below(region.Key(name)))
				}
			}
		case ir.Array:
			end := region.Index(n.Len())
			if n.Order() != tree.ListOrder {
				end = region.Fresh("")
			}
			out = append(out, below(end))
		}
	}
	visit(region.Word{}, n)
	return out
}

// patch writes up to three operations.
func (a actor) patch(state *tree.Node) string {
	var ops []string
	for range 1 + a.Intn(6)/4 {
		ops = append(ops, a.op(state))
	}
	return "[" + strings.Join(ops, ",") + "]"
}

// idle reports whether the stage can do nothing on the state.
func (a actor) idle() bool { return len(a.targets)+len(a.looks) == 0 }

func (a actor) op(state *tree.Node) string {
	kind := a.kind()
	at := a.among(map[string][]region.Word{"test": a.looks}[kind], a.targets)
	if n := len(at); kind != "test" && n > 0 && at[n-1].Kind == region.IndexLetter && a.chance(70) {
		kind = "replace" // insertion and removal are writes of the whole array
	} else if n > 0 && at[n-1].Kind == region.FreshLetter {
		kind = "add"
	}
	op := `{"op":"` + kind + `","path":` + quoted(at.Pointer())
	switch kind {
	case "copy", "move":
		op += `,"from":` + quoted(a.among(a.takes, a.looks).Pointer())
	case "test":
		op += `,"value":` + string(tree.AppendJSON(nil, a.value(at, state)))
	case "add", "replace":
		op += `,"value":` + string(tree.AppendJSON(nil, a.value(at, a.other)))
	}
	return op + "}"
}

// kind draws a kind of operation that the stage has a use for.
func (a actor) kind() string {
	switch {
	case len(a.targets) == 0:
		return "test"
	case len(a.takes) > 0 && a.chance(30):
		return a.pick("copy", "copy", "move")
	case len(a.looks) > 0 && a.chance(25):
		return "test"
	}
	return a.pick("add", "replace", "replace", "replace", "remove")
}

// among takes a word of the first list that has one, and now and then any.
func (a actor) among(lists ...[]region.Word) region.Word {
	for _, words := range lists {
		if len(words) > 0 && a.chance(92) {
			return words[a.Intn(len(words))]
		}
	}
	return a.all[a.Intn(len(a.all))]
}

// value is what stands at a place of a state, or near it, or a small value.
func (a actor) value(w region.Word, state *tree.Node) *tree.Node {
	n := state
	for _, l := range w {
		next := tree.NodeAt(n, region.Word{l})
		if next == nil {
			next = a.child(n)
		}
		n = next
	}
	if n == nil || a.chance(10) {
		return a.node(1)
	}
	return n
}

func (a actor) child(n *tree.Node) *tree.Node {
	var all []*tree.Node
	for _, c := range n.Members() {
		all = append(all, c)
	}
	for _, c := range n.Elements() {
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil
	}
	return all[a.Intn(len(all))]
}

// plant puts a value at w, and containers on the way, where there is nothing.
func (m maker) plant(n *tree.Node, w region.Word) *tree.Node {
	switch {
	case len(w) == 0 && n != nil:
		return n
	case len(w) == 0:
		return m.node(2)
	case w[0].Kind == region.KeyLetter:
		if n == nil || n.Kind() != ir.Object {
			n = tree.NewObject(nil)
		}
		return n.With(w[0].Name, m.plant(n.Get(w[0].Name), w[1:]))
	}
	if n == nil || n.Kind() != ir.Array {
		n = tree.NewArray(nil)
	}
	for n.Len() <= w[0].Index {
		n = n.InsertAt(n.Len(), m.node(1))
	}
	return n.SetAt(w[0].Index, m.plant(n.At(w[0].Index), w[1:]))
}

// instance is a word that a pattern matches.
func (m maker) instance(p region.Pattern) region.Word {
	w := region.Word{}
	for _, s := range p.Segments {
		switch s.Kind {
		case region.AnyDepth:
		case region.AnyIndex:
			w = append(w, region.Index(m.Intn(2)))
		case region.IndexLiteral:
			w = append(w, region.Index(s.Index))
		case region.AnySegment, region.AnyKey:
			w = append(w, region.Key(m.pick("a", "b", "0", "k1", "k2")))
		case region.ParamSegment:
			w = append(w, region.Key(m.pick("k1", "k2")))
		default:
			w = append(w, region.Key(s.Text))
		}
	}
	return w
}

// planted draws a state in which places exist that the stages may write or see.
func (m maker) planted(c *ir.Contract) *tree.Node {
	n := tree.NewObject(nil)
	for i := range c.Stages {
		s := &c.Stages[i]
		for _, g := range append(append(s.Write[:len(s.Write):len(s.Write)], s.Read...), s.Source...) {
			if m.chance(60) {
				n = m.plant(n, m.instance(g.Include[0]))
			}
		}
		for _, p := range s.Params {
			switch p.Kind {
			case ir.DependentParam:
				n = m.plant(n, wordOf(p.Of))
			case ir.ExistingParam:
				n = m.plant(n, append(wordOf(p.Of), region.Key(m.pick("k1", "k2"))))
			}
		}
	}
	return n
}

// node draws an untyped value.
func (m maker) node(depth int) *tree.Node {
	if depth == 0 || m.chance(30) {
		return []*tree.Node{tree.NewNull(), tree.NewBool(true), tree.NewInt(int64(m.Intn(4))), tree.NewString(m.pick("a", "k1", "k2"))}[m.Intn(4)]
	}
	if m.chance(35) {
		var elements []*tree.Node
		for range m.Intn(3) {
			elements = append(elements, m.node(depth-1))
		}
		return tree.NewArray(elements)
	}
	members := map[string]*tree.Node{}
	for range m.Intn(4) {
		members[m.pick("a", "b", "0", "k1", "k2")] = m.node(depth - 1)
	}
	return tree.NewObject(members)
}

func quoted(s string) string { return string(tree.AppendJSON(nil, tree.NewString(s))) }
