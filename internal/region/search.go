package region

import (
	"slices"
	"strconv"
)

// The search behind every decision (spec/semantics.md section 8.2) walks two
// sets in step, breadth first, until it stands on a word with the wanted
// property. Infinitely many letters come down to a few: at each place those that
// a pattern names there, one other key and one other index, because all letters
// that no pattern names lead to the same subsets. With a Shape the keys it tells
// apart are added, and what it forbids is left out.

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
