package region

import (
	"fmt"
	"slices"
	"strconv"
)

// Overlap, Within, Empty and Equal: the decisions about two sets whose parameters
// stand for themselves.
//
// The search behind every decision (spec/semantics.md section 8.2) walks two
// sets in step, breadth first, until it stands on a word with the wanted
// property. Infinitely many letters come down to a few: at each place those that
// a pattern names there, one other key and one other index, because all letters
// that no pattern names lead to the same subsets. With a Shape the keys it tells
// apart are added, and what it forbids is left out.
//
// Overlap has a shorter way where it is enough. Two closed patterns without
// exceptions overlap iff they do when each is cut at its first AnyDepth, because that
// absorbs whatever completes the other pattern and then goes on with the rest
// (spec/semantics.md section 8.3). Two cut patterns overlap iff the shorter unifies
// with the beginning of the other.

// Verdict is the outcome of a decision. Unknown is an outcome like the others:
// the search was stopped, and the caller must take the cautious side (a conflict,
// not contained) and say so.
type Verdict uint8

// The verdicts.
const (
	Unknown Verdict = iota
	Yes
	No
)

// String is the verdict's name as messages use it.
func (v Verdict) String() string { return [...]string{"unknown", "yes", "no"}[v] }

// An Answer is what a decision returns.
type Answer struct {
	Verdict Verdict
	Witness Word   // a shortest word that shows it, where the function promises one; the root is an empty word, not nil
	Why     string // for Unknown: what stopped the search
	States  int    // search states visited; the same for the same question
}

// Mode says which words of a set are meant.
type Mode uint8

// Plain means the words of the set. Interior means the words that are in it with
// everything below them, grant by grant (spec/semantics.md section 3.3). Shown means
// the words of the nodes that a view of the set shows: those in it, and the containers
// on the way to where words of it may lie, be it that no state has any there (section
// 11.1); with a Shape, containers of a kind that the shape allows.
const (
	Plain Mode = iota
	Interior
	Shown
)

// DefaultBudget is how many states a search may visit before it answers Unknown.
const DefaultBudget = 1 << 14

// Options tune a decision. The zero value is the default.
type Options struct {
	Budget      int    // search states; 0 means DefaultBudget
	Shape       Shape  // which words are possible; nil means all
	VerdictOnly bool   // do without a witness where that is faster
	Meter       *Meter // counts the work of many decisions; nil counts nothing
}

func (o Options) budget() int {
	if o.Budget == 0 {
		return DefaultBudget
	}
	return o.Budget
}

// A Shape restricts a decision to the words that some typed state can have. Node 0
// is the root, which always exists. Implementations are deterministic and may
// number the nodes as they like; the search asks for a node's letters and steps
// along them, and counts each pair of set states and shape node once.
type Shape interface {
	// Step follows l from node; ok is false if no state has such a child. A Param
	// letter is some key, a Fresh letter some position of a log.
	Step(node int, l Letter) (next int, ok bool)
	// Keys lists the declared keys below node in groups that lead to one node each,
	// and tells whether there may be others, and whether there may be array positions.
	Keys(node int) (groups [][]string, open bool, index bool)
	// Values tells whether a value at node may be an object, whether an array, and whether
	// something else.
	Values(node int) (object, array, leaf bool)
}

// Overlap asks whether some word is in a (read in modeA) and in b (in modeB).
// Yes carries a shortest such word, unless o.VerdictOnly. Parameters are symbols
// that equal only themselves; see Conditions for when they meet. Cost: linear in
// the pairs of patterns without exceptions, else spec/semantics.md section 8.4.
func Overlap(a, b *Set, modeA, modeB Mode, o Options) Answer {
	if a.isSimple && b.isSimple && o.Shape == nil {
		met := simpleOverlap(a.simple, b.simple)
		if !met || o.VerdictOnly {
			return Answer{Verdict: verdict(met)}
		}
	}
	s := search{
		left: a, right: b, shape: o.Shape, budget: o.budget(), meter: o.Meter,
		goal:     func(s *search, p place) bool { return s.has(p.a, modeA, p.at) && s.has(p.b, modeB, p.at) },
		dead:     func(x, y *node) bool { return x.isBottom() || y.isBottom() },
		leftEnds: true, rightEnds: true,
	}
	return s.run()
}

// Within asks whether every word of a (in modeA) is in b (in modeB), whatever kind of
// value stands there: to be shown may depend on it. No carries a shortest word that is not.
func Within(a, b *Set, modeA, modeB Mode, o Options) Answer {
	s := search{
		left: a, right: b, shape: o.Shape, budget: o.budget(), meter: o.Meter,
		goal: func(s *search, p place) bool {
			return s.someValue(p.at, func(v value) bool { return p.a.shows(modeA, v) && !p.b.shows(modeB, v) })
		},
		dead:     func(x, y *node) bool { return x.isBottom() || y.isTop() },
		leftEnds: true,
	}
	return s.run().negated()
}

// Empty asks whether a (in the given mode) has no word. No carries a shortest one.
func Empty(a *Set, mode Mode, o Options) Answer {
	return Within(a, nothingSet, mode, mode, o)
}

var nothingSet = Compile(nil)

// Equal asks whether a and b (in the given mode) have the same words. No carries a
// shortest word that only one of them has.
func Equal(a, b *Set, mode Mode, o Options) Answer {
	s := search{
		left: a, right: b, shape: o.Shape, budget: o.budget(), meter: o.Meter,
		goal: func(s *search, p place) bool {
			return s.someValue(p.at, func(v value) bool { return p.a.shows(mode, v) != p.b.shows(mode, v) })
		},
		dead: func(x, y *node) bool {
			return x.isBottom() && y.isBottom() || x.isTop() && y.isTop()
		},
	}
	return s.run().negated()
}

func verdict(yes bool) Verdict {
	if yes {
		return Yes
	}
	return No
}

// negated turns the answer to "is there a word that ..." into the answer to "is
// there none".
func (a Answer) negated() Answer {
	switch a.Verdict {
	case Yes:
		a.Verdict = No
	case No:
		a.Verdict = Yes
	}
	return a
}

// simplePatterns returns every pattern of the sources, cut; ok is false if there
// are exceptions, shallow patterns or intersections.
func simplePatterns(sources []source) (cut []Pattern, ok bool) {
	for _, s := range sources {
		if len(s.except) > 0 || len(s.require) != 1 {
			return nil, false
		}
		for _, p := range s.require[0] {
			if p.Shallow {
				return nil, false
			}
			cut = append(cut, Pattern{Segments: beforeDepth(p.Segments)})
		}
	}
	return cut, true
}

func simpleOverlap(as, bs []Pattern) bool {
	for _, a := range as {
		for _, b := range bs {
			if segmentsMeet(a.Segments, b.Segments) {
				return true
			}
		}
	}
	return false
}

func segmentsMeet(p, q []Segment) bool {
	for i := range min(len(p), len(q)) {
		if _, ok := unify(p[i], q[i]); !ok {
			return false
		}
	}
	return true
}

// A search is one run over pairs of nodes.
type search struct {
	left, right *Set
	shape       Shape
	budget      int
	meter       *Meter
	goal        func(s *search, p place) bool // the word that led here is a witness
	dead        func(a, b *node) bool         // no word below can be one
	leftEnds    bool                          // it is dead where the left one is bottom
	rightEnds   bool                          // or the right one

	queue []visit
	seen  map[place]bool
	index int // a position that no pattern names
}

type place struct {
	a, b *node
	at   int // the shape's node
}

type visit struct {
	place
	from   int
	letter Letter
}

// run returns Yes with a shortest witness, No, or Unknown.
func (s *search) run() Answer {
	s.seen = map[place]bool{}
	s.meter.Spend(s.left.price() + s.right.price())
	for s.left.indices[s.index] || s.right.indices[s.index] {
		s.index++
	}
	start := place{s.left.static.machine.root, s.right.static.machine.root, 0}
	if s.arrive(start, -1, Letter{}) {
		return s.found()
	}
	for i := 0; i < len(s.queue); i++ {
		if len(s.queue) > s.budget {
			return stopped(len(s.queue))
		}
		if s.meter.IsSpent() {
			return spent(len(s.queue))
		}
		if s.leave(i) {
			return s.found()
		}
	}
	return Answer{Verdict: No, States: len(s.queue)}
}

// arrive notes a new place and reports whether it is a goal.
func (s *search) arrive(p place, from int, l Letter) bool {
	if s.dead(p.a, p.b) || s.seen[p] {
		return false
	}
	s.seen[p] = true
	s.queue = append(s.queue, visit{p, from, l})
	return s.goal(s, p)
}

// leave steps along every letter from visit i and reports whether one reaches a
// goal. Letters that only lead to where no word can be one are left out.
func (s *search) leave(i int) bool {
	p := s.queue[i].place
	a, b := p.a.exits(), p.b.exits()
	try := func(l Letter) bool {
		at, ok := s.shapeStep(p.at, l)
		return ok && s.arrive(place{a.step(l), b.step(l), at}, i, l)
	}
	switch leftOnly, rightOnly := s.leftEnds && a.closed, s.rightEnds && b.closed; {
	case rightOnly && (!leftOnly || len(b.letters) < len(a.letters)):
		s.meter.Spend(1 + len(b.letters))
		return slices.ContainsFunc(b.letters, func(l Letter) bool { return a.find(l) != nil && try(l) }) ||
			slices.ContainsFunc(b.letters, try)
	case leftOnly:
		s.meter.Spend(1 + len(a.letters))
		return slices.ContainsFunc(a.letters, try)
	}
	others := s.others(p)
	s.meter.Spend(1 + len(a.letters) + len(b.letters) + len(others))
	return slices.ContainsFunc(a.letters, try) ||
		slices.ContainsFunc(b.letters, try) ||
		slices.ContainsFunc(others, try)
}

func (s *search) shapeStep(at int, l Letter) (int, bool) {
	if s.shape == nil {
		return 0, true
	}
	return s.shape.Step(at, l)
}

// others are the letters to try besides those that patterns name. Of the declared keys
// that lead to one node of the shape, and that no pattern names here, one will do.
func (s *search) others(p place) []Letter {
	if s.shape == nil {
		return []Letter{Key(s.otherKey(nil)), Index(s.index)}
	}
	groups, open, index := s.shape.Keys(p.at)
	a, b := p.a.exits(), p.b.exits()
	var out []Letter
	for _, names := range groups {
		for _, name := range names {
			if l := Key(name); a.find(l) == nil && b.find(l) == nil {
				out = append(out, l)
				break
			}
		}
	}
	slices.SortFunc(out, compareLetters)
	if open {
		out = append(out, Key(s.otherKey(groups)))
	}
	if index {
		out = append(out, Index(s.index))
	}
	return out
}

// otherKey is a readable key that no pattern has, and no group of declared keys.
func (s *search) otherKey(groups [][]string) string {
	declared := func(key string) bool {
		return slices.ContainsFunc(groups, func(names []string) bool { return slices.Contains(names, key) })
	}
	for i := 0; ; i++ {
		key := "k" + strconv.Itoa(i-2)
		if i < 3 {
			key = "xyz"[i : i+1]
		}
		if !s.left.keys[key] && !s.right.keys[key] && !declared(key) {
			return key
		}
	}
}

// found answers with the word that led to the last visit.
func (s *search) found() Answer {
	w := Word{}
	for i := len(s.queue) - 1; s.queue[i].from >= 0; i = s.queue[i].from {
		w = append(w, s.queue[i].letter)
	}
	slices.Reverse(w)
	return Answer{Verdict: Yes, Witness: w, States: len(s.queue)}
}

func stopped(states int) Answer {
	return Answer{Verdict: Unknown, Why: fmt.Sprintf("the search stopped after %d states", states), States: states}
}

func spent(states int) Answer {
	return Answer{Verdict: Unknown, Why: "the searches about the regions of the contract have used up their steps", States: states}
}

// has reports whether the word that led to n, and to a node of the shape, is in the
// set, read in mode, for some value that may stand there.
func (s *search) has(n *node, mode Mode, at int) bool {
	if mode != Shown {
		return n.shows(mode, leaf)
	}
	return s.someValue(at, func(v value) bool { return n.shows(mode, v) })
}

// A value is what a node of a state is.
type value uint8

const (
	leaf value = iota
	object
	array
)

// someValue asks of what may stand at a node of the shape until is says yes.
func (s *search) someValue(at int, is func(value) bool) bool {
	mayObject, mayArray, mayLeaf := true, true, true
	if s.shape != nil {
		mayObject, mayArray, mayLeaf = s.shape.Values(at)
	}
	return mayLeaf && is(leaf) || mayObject && is(object) || mayArray && is(array)
}

// shows reports whether the word that led to n is in the set, read in mode, if v stands there.
func (n *node) shows(mode Mode, v value) bool {
	switch {
	case mode == Interior:
		return n.isTop()
	case n.in || mode == Plain:
		return n.in
	}
	return v == object && n.canHold(Object) || v == array && n.canHold(Array)
}

func (n *node) isTop() bool { return n == n.machine.top }

func (n *node) isBottom() bool { return n == n.machine.bottom }
