package view_test

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/view"
)

func parse(t testing.TB, text string) *tree.Node {
	t.Helper()
	n, err := tree.Parse([]byte(text), tree.DefaultLimits)
	require.NoError(t, err)
	return n
}

func project(root *tree.Node, r region.Region, args region.Binding) (*tree.Node, []string) {
	if args == nil {
		args = region.Binding{}
	}
	shown, words := view.Project(root, region.Compile(r).Start(args))
	var placeholders []string
	for _, w := range words {
		placeholders = append(placeholders, w.Pointer())
	}
	return shown, placeholders
}

func TestProjectShowsTheRegionAndItsSpine(t *testing.T) {
	for _, test := range []struct {
		name, state  string
		patterns     []string
		want         string
		placeholders []string
	}{
		{"nothing", `{"a":1}`, nil, `absent`, nil},
		{"everything", `{"a":[1,{"b":2}]}`, []string{"/**"}, `{"a":[1,{"b":2}]}`, nil},
		{"one member", `{"a":1,"b":2}`, []string{"/a"}, `{"a":1}`, nil},
		{"the spine is shown when empty", `{"a":{"c":1}}`, []string{"/a/b"}, `{"a":{}}`, nil},
		{"a scalar where the spine would be is not", `{"a":1}`, []string{"/a/b"}, `{}`, nil},
		{"nor an array where only keys go on", `{"a":[1]}`, []string{"/a/:b"}, `{}`, nil},
		{"nor an object where only positions go on", `{"a":{"0":1}}`, []string{"/a/[*]"}, `{}`, nil},
		{"an exception is left out", `{"a":{"x":1,"y":2}}`, []string{"/a", "!/a/x"}, `{"a":{"y":2}}`, nil},
		{"an exception that leaves nothing", `{"a":{"x":{"z":1}}}`, []string{"/a/x", "!/a/x/**"}, `absent`, nil},
		{"a shallow pattern shows a container without its members", `{"a":{"x":1}}`, []string{"/a!"}, `{"a":{}}`, nil},
		{"arrays keep their positions", `{"a":[{"x":1},7,{"y":2}]}`, []string{"/a/*/x"}, `{"a":[{"x":1},null,{}]}`, []string{"/a/1"}},
		{"a null that is there is no placeholder", `{"a":[null,1]}`, []string{"/a"}, `{"a":[null,1]}`, nil},
		{"placeholders below placeholders' siblings", `{"a":[[1,{"x":2}],3]}`, []string{"/a/*/*/x"}, `{"a":[[null,{"x":2}],null]}`, []string{"/a/0/0", "/a/1"}},
		{"a scalar root", `7`, []string{"/**"}, `7`, nil},
		{"two grants", `{"a":{"x":1,"y":2}}`, []string{"/a/x", "/a/y"}, `{"a":{"x":1,"y":2}}`, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			shown, placeholders := project(parse(t, test.state), region.Of(test.patterns...), nil)
			require.Equal(t, test.want, shown.String())
			require.Equal(t, test.placeholders, placeholders)
		})
	}
}

func TestProjectBindsParameters(t *testing.T) {
	root := parse(t, `{"m":{"k":{"x":1,"y":2},"l":{"x":3}}}`)
	shown, _ := project(root, region.Of("/m/{p}/x"), region.Binding{"p": "k"})
	require.Equal(t, `{"m":{"k":{"x":1}}}`, shown.String())
	shown, _ = project(root, region.Of("/m/{p}/x"), region.Binding{"p": "absent"})
	require.Equal(t, `{"m":{}}`, shown.String())
}

// The order of what is shown of a set's elements, and which of them show nothing, tell
// nothing of what is hidden in them.
func TestASetIsShownInTheOrderOfWhatIsShownOfIt(t *testing.T) {
	for _, c := range []struct {
		state, pattern, want string
		placeholders         []string
	}{
		{`[{"hidden":1,"x":2},{"hidden":2,"x":1}]`, "/s/*/x", `{"s":[{"x":1},{"x":2}]}`, nil},
		{`[{"x":2},{"hidden":1,"x":1}]`, "/s/*/x", `{"s":[{"x":1},{"x":2}]}`, nil},
		{`["hidden",[1]]`, "/s/*/*", `{"s":[[1],null]}`, []string{"/s/1"}},
		{`["hidden",[1],7,[2]]`, "/s/*/*", `{"s":[[1],[2],null,null]}`, []string{"/s/2", "/s/3"}},
	} {
		root := tree.NewObject(map[string]*tree.Node{"s": parse(t, c.state).WithOrder(tree.SetOrder)})
		shown, placeholders := project(root, region.Of(c.pattern), nil)
		require.Equal(t, c.want, shown.String())
		require.Equal(t, c.placeholders, placeholders)
	}
}

func TestProjectSharesWhatIsShownWhole(t *testing.T) {
	root := parse(t, `{"a":{"b":{"c":[1,2,3]}},"d":4}`)
	shown, _ := project(root, region.Of("/a/b"), nil)
	require.Same(t, root.Get("a").Get("b"), shown.Get("a").Get("b"))
	whole, _ := project(root, region.Of("/**"), nil)
	require.Same(t, root, whole)
}

func TestProjectKeepsOrdersAndCountsInTheOrderThatIsWritten(t *testing.T) {
	set := tree.NewArray([]*tree.Node{parse(t, `{"x":2}`), parse(t, `7`), parse(t, `{"x":1}`)}).WithOrder(tree.SetOrder)
	shown, placeholders := project(tree.NewObject(map[string]*tree.Node{"s": set}), region.Of("/s/*/x"), nil)
	require.Equal(t, tree.SetOrder, shown.Get("s").Order())
	require.Equal(t, `{"s":[null,{"x":1},{"x":2}]}`, shown.String())
	require.Equal(t, []string{"/s/0"}, placeholders)
	log := tree.NewArray([]*tree.Node{parse(t, `"b"`), parse(t, `"a"`)}).WithOrder(tree.LogOrder)
	shown, _ = project(log, region.Of("/**"), nil)
	require.Equal(t, `["b","a"]`, shown.String())
}

// Of a record it is looked at what may be shown of it alone; which members that are is
// known from the one before.
func TestAnEntryThatWasShownIsShownAgainAsItWas(t *testing.T) {
	root := parse(t, `{"m":{"k":{"x":1,"y":2,"z":{"w":3}},"l":{"x":[4],"y":5}}}`)
	one, all := region.SetOf("/m/{p}", "!/m/{p}/y"), region.SetOf("/m", "!/m/*/y")
	for _, p := range []string{"k", "l", "k"} {
		shown, _ := view.Project(root, one.Start(region.Binding{"p": p}))
		again, _ := view.Project(root.With("n", tree.NewInt(7)), one.Start(region.Binding{"p": p}))
		require.Same(t, shown.Get("m").Get(p), again.Get("m").Get(p))
		require.Nil(t, shown.Get("m").Get(p).Get("y"))
	}
	shown, _ := view.Project(root, all.Start(region.Binding{}))
	require.Equal(t, `{"m":{"k":{"x":1,"z":{"w":3}},"l":{"x":[4]}}}`, shown.String())
}

func TestANarrowViewLooksAtNothingButItsEntry(t *testing.T) {
	small, wide := entries(100), entries(100_000)
	set := region.Compile(region.Of("/m/{p}"))
	cost := func(root *tree.Node) float64 {
		return testing.AllocsPerRun(20, func() { view.Project(root, set.Start(region.Binding{"p": "k50"})) })
	}
	require.LessOrEqual(t, cost(wide), cost(small))
}

func entries(n int) *tree.Node {
	members := map[string]*tree.Node{}
	for i := range n {
		members["k"+strconv.Itoa(i)] = tree.NewObject(map[string]*tree.Node{"v": tree.NewInt(int64(i))})
	}
	return tree.NewObject(map[string]*tree.Node{"m": tree.NewObject(members)})
}

// TestProjectEqualsItsDefinition compares Project with a transcription of section
// 11.1 that asks the set about single words only.
func TestProjectEqualsItsDefinition(t *testing.T) {
	cases := 100_000
	if testing.Short() {
		cases = 5_000
	}
	random := rand.New(rand.NewSource(3))
	const perRegion = 10
	for range cases / perRegion {
		r := randomRegion(random)
		set := region.Compile(r)
		root := randomNode(random, 3)
		for range perRegion {
			keys := []string{"a", "b", "c", "0"}
			args := region.Binding{"p": keys[random.Intn(4)], "q": keys[random.Intn(4)]}
			want := definition{set: set, args: args}
			expected := want.show(root, nil)
			shown, words := view.Project(root, set.Start(args))
			require.Equal(t, expected.String(), shown.String(), "%v of %s with %v", r, root, args)
			require.Equal(t, want.placeholders, words, "%v of %s with %v", r, root, args)
			if random.Intn(3) == 0 {
				root = randomNode(random, 3)
			} else if root.Kind() == ir.Object { // what was shown of the rest is remembered
				root = root.With(keys[random.Intn(4)], randomNode(random, 2))
			}
		}
	}
}

type definition struct {
	set          *region.Set
	args         region.Binding
	placeholders []region.Word
}

func (d *definition) show(n *tree.Node, w region.Word) *tree.Node {
	cursor := d.set.Start(d.args).Walk(w)
	isObject, isArray := n.Kind() == ir.Object, n.Kind() == ir.Array
	spine := isObject && cursor.CanHold(region.Object) || isArray && cursor.CanHold(region.Array)
	if !cursor.In() && !spine {
		return nil
	}
	switch {
	case isObject:
		out := tree.NewObject(nil)
		for name, child := range n.Members() {
			out = out.With(name, d.show(child, extend(w, region.Key(name))))
		}
		return out
	case isArray:
		var out []*tree.Node
		for i, child := range n.Elements() {
			at := extend(w, region.Index(i))
			shown := d.show(child, at)
			if shown == nil {
				d.placeholders = append(d.placeholders, at)
				shown = tree.NewNull()
			}
			out = append(out, shown)
		}
		return tree.NewArray(out)
	default:
		return n
	}
}

func extend(w region.Word, l region.Letter) region.Word { return append(w[:len(w):len(w)], l) }

func randomNode(random *rand.Rand, depth int) *tree.Node {
	switch kind := random.Intn(4); {
	case depth == 0 || kind == 0:
		return tree.NewInt(int64(random.Intn(3)))
	case kind == 1:
		var elements []*tree.Node
		for range random.Intn(3) {
			elements = append(elements, randomNode(random, depth-1))
		}
		return tree.NewArray(elements)
	default:
		members := map[string]*tree.Node{}
		for _, name := range []string{"a", "b", "c", "0"} {
			if random.Intn(2) == 0 {
				members[name] = randomNode(random, depth-1)
			}
		}
		return tree.NewObject(members)
	}
}

func randomRegion(random *rand.Rand) region.Region {
	var out region.Region
	for range 1 + random.Intn(2) {
		g := region.Grant{Include: []region.Pattern{randomPattern(random)}}
		for range random.Intn(3) {
			g.Except = append(g.Except, randomPattern(random))
		}
		out = append(out, g)
	}
	return out
}

func randomPattern(random *rand.Rand) region.Pattern {
	segments := []string{"a", "b", "*", "**", ":*", "[*]", ":a", "0", "{p}", "{q}"}
	text := ""
	for range random.Intn(4) {
		text += "/" + segments[random.Intn(len(segments))]
	}
	if random.Intn(5) == 0 {
		text += "!"
	}
	return region.MustParse(text)
}

// wide is an object and a list of entries with a member that is not shown.
func wide(t *testing.T, entries int) *tree.Node {
	var members, elements []string
	for i := range entries {
		members = append(members, fmt.Sprintf(`"k%d":{"also":0,"shown":%d,"hidden":1}`, i, i))
		elements = append(elements, fmt.Sprintf(`{"also":0,"shown":%d,"hidden":1}`, i))
	}
	n, err := tree.Parse([]byte(`{"m":{`+strings.Join(members, ",")+`},"l":[`+strings.Join(elements, ",")+`]}`), tree.DefaultLimits)
	require.NoError(t, err)
	return n
}

func TestTheViewOfTheNextVersionSharesWhatDidNotChange(t *testing.T) {
	const entries = 5000
	set := region.SetOf("", "!/m/*/hidden", "!/l/*/hidden")
	before := wide(t, entries)
	first, _ := view.Project(before, set.Start(nil))
	entry := before.Get("m").Get("k17").With("shown", tree.NewInt(-1))
	after := before.With("m", before.Get("m").With("k17", entry)).With("l", before.Get("l").SetAt(17, entry))
	second, _ := view.Project(after, set.Start(nil))
	require.Equal(t, `{"also":0,"shown":-1}`, second.Get("m").Get("k17").String())
	require.Equal(t, `{"also":0,"shown":-1}`, second.Get("l").At(17).String())
	renewed := 0
	for name, child := range second.Get("m").Members() {
		if first.Get("m").Get(name) != child {
			renewed++
		}
	}
	for i, child := range second.Get("l").Elements() {
		if first.Get("l").At(i) != child {
			renewed++
		}
	}
	require.Equal(t, 2, renewed)
	again, _ := view.Project(after, set.Start(nil))
	require.Same(t, second.Get("m"), again.Get("m"))
}

func BenchmarkNarrowViewOf20000Entries(b *testing.B) {
	root, set := entries(20_000), region.Compile(region.Of("/m/{p}"))
	b.ReportAllocs()
	for b.Loop() {
		view.Project(root, set.Start(region.Binding{"p": "k50"}))
	}
}

func BenchmarkWideViewOf20000Entries(b *testing.B) {
	root, set := entries(20_000), region.Compile(region.Of("/m/*/v", "!/m/*/w"))
	b.ReportAllocs()
	for b.Loop() {
		view.Project(root, set.Start(region.Binding{}))
	}
}
