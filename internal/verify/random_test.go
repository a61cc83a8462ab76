package verify_test

import (
	"flag"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// The properties of spec/semantics.md section 11 are tested on small worlds: few
// names, shallow states, regions that overlap them. Everything is drawn from a
// seed, so that a failure can be repeated.

var long = flag.Bool("long", false, "run at full size")

// rounds is n with -long; a third of it else, or a twentieth where time is short.
func rounds(n int) int {
	switch {
	case testing.Short() || raceDetector:
		return n / 20
	case *long:
		return n
	default:
		return n / 3
	}
}

// A maker draws random things.
type maker struct{ *rand.Rand }

// newMaker draws from a seed. POPTIC_SEED moves all seeds: a run with another one tries
// other things.
func newMaker(seed int64) maker {
	moved, _ := strconv.ParseInt(os.Getenv("POPTIC_SEED"), 10, 64)
	return maker{rand.New(rand.NewSource(seed + 1000*moved))}
}

func (m maker) pick(from ...string) string { return from[m.Intn(len(from))] }

func (m maker) chance(percent int) bool { return m.Intn(100) < percent }

// memberNames collide with indices, escapes and code points beyond ASCII.
var memberNames = []string{"a", "b", "0", "é/~"}

func (m maker) name() string { return memberNames[m.Intn(len(memberNames))] }

// canary is in every string of a value that may be hidden, and never in a patch.
const canary = "canary"

// value draws a value at most that many containers deep.
func (m maker) value(depth int) *tree.Node {
	if depth == 0 || m.chance(30) {
		return m.scalar()
	}
	if m.chance(35) {
		elements := make([]*tree.Node, m.Intn(4))
		for i := range elements {
			elements[i] = m.value(depth - 1)
		}
		return tree.NewArray(elements)
	}
	members := map[string]*tree.Node{}
	for range m.Intn(4) {
		members[m.name()] = m.value(depth - 1)
	}
	return tree.NewObject(members)
}

func (m maker) scalar() *tree.Node {
	switch m.Intn(5) {
	case 0:
		return tree.NewNull()
	case 1:
		return tree.NewBool(m.chance(50))
	case 2:
		return tree.NewInt(int64(m.Intn(3)))
	default:
		return tree.NewString(m.pick("s", "1", "ß"))
	}
}

// secret draws a value whose strings are canaries.
func (m maker) secret(depth int) *tree.Node {
	return mapScalars(m.value(depth), func(n *tree.Node) *tree.Node {
		if n.Kind() == ir.String {
			return tree.NewString(canary + strconv.Itoa(m.Intn(3)))
		}
		return n
	})
}

func mapScalars(n *tree.Node, f func(*tree.Node) *tree.Node) *tree.Node {
	switch n.Kind() {
	case ir.Object:
		members := map[string]*tree.Node{}
		for name, child := range n.Members() {
			members[name] = mapScalars(child, f)
		}
		return tree.NewObject(members)
	case ir.Array:
		var elements []*tree.Node
		for _, child := range n.Elements() {
			elements = append(elements, mapScalars(child, f))
		}
		return tree.NewArray(elements).WithOrder(n.Order())
	default:
		return f(n)
	}
}

// state draws a state: nearly always an object.
func (m maker) state() *tree.Node {
	if m.chance(5) {
		return m.value(2)
	}
	members := map[string]*tree.Node{}
	for _, name := range memberNames {
		if m.chance(70) {
			members[name] = m.value(3)
		}
	}
	return tree.NewObject(members)
}

// pattern draws a pattern. Without indices, what it matches below an array does
// not depend on the position, as regions that are read must not
// (spec/semantics.md section 11.1).
func (m maker) pattern(indices bool) string {
	var b strings.Builder
	for range [...]int{0, 1, 1, 1, 2, 2, 2, 3}[m.Intn(8)] {
		b.WriteString("/" + m.segment(indices))
	}
	return b.String()
}

func (m maker) segment(indices bool) string {
	switch k := m.Intn(20); {
	case k < 3:
		return "*"
	case k < 4:
		return "**"
	case k < 6:
		return ":*"
	case k < 9:
		return "[*]"
	case k < 11 && indices:
		return m.pick("[0]", "[1]", "0")
	default:
		return ":" + region.EscapeToken(m.name())
	}
}

// region draws up to three grants, some with exceptions.
func (m maker) region(indices bool) region.Region {
	var out region.Region
	for range 1 + m.Intn(3) {
		patterns := []string{m.pattern(indices)}
		if m.chance(25) {
			patterns = append(patterns, m.pattern(indices))
		}
		for range m.Intn(6) / 3 {
			patterns = append(patterns, "!"+patterns[0]+"/"+m.segment(indices))
		}
		out = append(out, region.Of(patterns...)...)
	}
	return out
}

// part draws a region inside of another one: an intersection, or a few grants
// narrowed.
func (m maker) part(whole region.Region) region.Region {
	if m.chance(30) {
		out, _ := region.Intersect(m.region(true), whole, nil)
		return out
	}
	var out region.Region
	for _, g := range whole {
		narrow := region.Grant{Except: g.Except}
		for _, p := range g.Include {
			if p = region.MustParse(p.String()); m.chance(40) {
				p.Segments = append(p.Segments, region.MustParse("/"+m.segment(true)).Segments...)
			}
			narrow.Include = append(narrow.Include, p)
		}
		if m.chance(70) {
			out = append(out, narrow)
		}
	}
	return out
}

// words lists the words of all nodes of n, and of some that are not there.
func (m maker) words(n *tree.Node) []region.Word {
	var out []region.Word
	var visit func(w region.Word, n *tree.Node)
	visit = func(w region.Word, n *tree.Node) {
		out = append(out, w)
		for name, child := range n.Members() {
			visit(longer(w, region.Key(name)), child)
		}
		for i, child := range n.Elements() {
			visit(longer(w, region.Index(i)), child)
		}
		switch n.Kind() {
		case ir.Object:
			out = append(out, longer(w, region.Key(m.name())))
		case ir.Array:
			out = append(out, longer(w, region.Index(n.Len())))
			if n.Order() != tree.ListOrder {
				out[len(out)-1] = longer(w, region.Fresh("-"))
			}
		}
	}
	visit(region.Word{}, n)
	return out
}

func longer(w region.Word, l region.Letter) region.Word { return append(w[:len(w):len(w)], l) }

// An opMaker writes operations, most of them such as the stage may do.
type opMaker struct {
	maker
	daring                       int           // percent of paths from anywhere
	anywhere                     []region.Word // words of the states, and some that are not there
	edits, places, takes, visits []region.Word // to add and remove, to replace, to take from, to test
	shown                        *tree.Node    // where tests look for values that hold
	donors                       []*tree.Node  // where values come from that fit a place
}

func (o opMaker) path(allowed []region.Word) string {
	switch {
	case len(allowed) > 0 && !o.chance(o.daring):
		return o.among(allowed)
	case o.chance(85):
		return o.among(o.anywhere)
	}
	return o.pick("", "/") + o.pick("", "/a/b", "/0", "/a/-", "/b/01", "/é~1~0/0", "/a~2", "/0/0")
}

func (o opMaker) among(words []region.Word) string { return words[o.Intn(len(words))].Pointer() }

// patch writes up to three operations of all kinds.
func (o opMaker) patch() []byte {
	b := append([]byte{'['}, o.op()...)
	for range o.Intn(5) / 2 {
		b = append(append(b, ','), o.op()...)
	}
	return append(b, ']')
}

func (o opMaker) op() []byte {
	kind := o.kind()
	path := o.path(map[string][]region.Word{"replace": o.places, "test": o.visits}[kind])
	if kind != "replace" && kind != "test" {
		path = o.path(o.edits)
	}
	b := append([]byte(`{"op":"`+kind+`","path":`), quoted(path)...)
	switch kind {
	case "copy", "move":
		b = append(append(b, `,"from":`...), quoted(o.path(o.takes))...)
	case "test":
		b = tree.AppendJSON(append(b, `,"value":`...), o.presumed(path))
	case "add", "replace":
		b = tree.AppendJSON(append(b, `,"value":`...), o.fitting(path))
	}
	return append(b, '}')
}

// kind draws a kind of operation that can be allowed, unless it is daring.
func (o opMaker) kind() string {
	for {
		kind := o.pick("add", "add", "replace", "replace", "remove", "test", "copy", "move")
		edits, takes := kind != "replace" && kind != "test", kind == "copy" || kind == "move"
		impossible := edits && len(o.edits) == 0 || takes && len(o.takes) == 0 || kind == "replace" && len(o.places) == 0 || kind == "test" && len(o.visits) == 0
		if !impossible || o.chance(o.daring) || o.idle() {
			return kind
		}
	}
}

// idle reports whether the stage can change nothing.
func (o opMaker) idle() bool { return len(o.edits) == 0 && len(o.places) == 0 }

// tries is how many patches a state is worth.
func (o opMaker) tries() int {
	if o.idle() {
		return 1
	}
	return 8
}

// presumed is a value to test for, often the one that is shown.
func (o opMaker) presumed(path string) *tree.Node {
	if ptr, err := tree.ParsePointer(path); err == nil && o.chance(70) {
		if n, err := tree.Find(o.shown, ptr); err == nil {
			return n
		}
	}
	return o.value(2)
}

// fitting is a value, often one that stands at the place in another state.
func (o opMaker) fitting(path string) *tree.Node {
	if len(o.donors) == 0 || o.chance(10) {
		return o.value(2)
	}
	text := strings.NewReplacer("/-", "/0", "/X", o.pick("/I0", "/V0", "/P0")).Replace(path)
	donor := o.donors[o.Intn(len(o.donors))]
	if ptr, err := tree.ParsePointer(text); err == nil {
		if n := anyOrder(donor, ptr); n != nil {
			return n
		}
	}
	return o.value(1)
}

// anyOrder follows a pointer, into sets and logs too.
func anyOrder(n *tree.Node, ptr tree.Pointer) *tree.Node {
	for _, token := range ptr {
		if n != nil && n.Kind() == ir.Array {
			i, _ := strconv.Atoi(token)
			n = n.At(i)
		} else {
			n = n.Get(token)
		}
	}
	return n
}

func quoted(s string) []byte { return tree.AppendJSON(nil, tree.NewString(s)) }
