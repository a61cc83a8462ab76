package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A reachIndex finds the stages that a claim about authority or flow may be about, without
// asking each: what their clauses cover is filed by include patterns, as an Index does.
// It finds too much where an exception, a type or a key says otherwise, never too little.
type reachIndex struct {
	model   *Model
	letters alphabet
	verbs   map[string]*trie // by verb, the stages by what they may do it to
	knowers trie             // the stages by what they know
	stages  map[string]int   // by name

	clauses [][]authority    // by stage, once asked for
	known   []*knowledge     // likewise
	effects map[string]write // by name of a stage, what others may see of it, once asked for
}

// knowledge is what a stage sees, copies or is told, and apart from that what the keys of
// its view tell. Its parameters are A's.
type knowledge struct {
	all, keys, read        region.Region
	allSet, keySet, readIn *region.Set
}

// A write is what a stage may change. Its parameters are B's.
type write struct {
	what region.Region
	set  *region.Set
}

// reachOf is the index of the contract, which must be complete.
func (m *Model) reachOf() *reachIndex {
	if m.reach != nil {
		return m.reach
	}
	n := len(m.Contract.Stages)
	x := &reachIndex{
		model: m, verbs: map[string]*trie{}, stages: make(map[string]int, n),
		clauses: make([][]authority, n), known: make([]*knowledge, n), effects: map[string]write{},
	}
	m.reach = x
	x.letters.numbers = map[region.Segment]symbol{}
	x.knowers.alphabet = &x.letters
	for i := range m.Contract.Stages {
		x.stages[m.Contract.Stages[i].Name] = i
		for _, a := range x.authorities(i) {
			t := x.verbs[a.verb]
			if t == nil {
				t = &trie{alphabet: &x.letters}
				x.verbs[a.verb] = t
			}
			x.file(t, a.region, i)
		}
		k := x.knows(i)
		x.file(&x.knowers, k.all, i)
		x.file(&x.knowers, k.keys, i)
		x.file(&x.knowers, k.read, i)
		x.letters.forget()
	}
	return x
}

func (x *reachIndex) file(t *trie, r region.Region, i int) {
	for _, p := range Includes(r) {
		t.file(x.letters.path(p), i)
	}
}

// find lists the stages filed under what may meet a region.
func (x *reachIndex) find(t *trie, r region.Region) members {
	found := newMembers(len(x.known))
	if t == nil {
		return found
	}
	for _, p := range Includes(r) {
		t.find(x.letters.path(p), found)
	}
	x.letters.forget()
	return found
}

// authorities are those of the i-th stage that are not empty, with their sets.
func (x *reachIndex) authorities(i int) []authority {
	if x.clauses[i] == nil {
		all := slices.DeleteFunc(x.model.authorities(&x.model.Contract.Stages[i]), func(a authority) bool { return len(a.region) == 0 })
		for j := range all {
			all[j].set = region.Compile(all[j].region)
		}
		x.clauses[i] = all
	}
	return x.clauses[i]
}

// knows is what the i-th stage knows.
func (x *reachIndex) knows(i int) *knowledge {
	if x.known[i] == nil {
		s := &x.model.Contract.Stages[i]
		k := &knowledge{all: x.model.knows(s), keys: x.model.KeysKnown(s), read: x.model.Effect(s, OwnerA).Read}
		k.allSet, k.keySet, k.readIn = region.Compile(k.all), region.Compile(k.keys), region.Compile(k.read)
		x.known[i] = k
	}
	return x.known[i]
}

// written is what a stage may change.
func (x *reachIndex) written(s *ir.Stage) write {
	w, known := x.effects[s.Name]
	if !known {
		w.what = x.model.Effect(s, OwnerB).Write
		w.set = region.Compile(w.what)
		x.effects[s.Name] = w
	}
	return w
}

// mayMeet reports whether one search over all patterns at once leaves it open that a stage
// sees, is told or copies some of a region. It says no more where the region has
// parameters, whose values may be equal to the stage's.
func (x *reachIndex) mayMeet(k *knowledge, what *region.Set, r region.Region, mode region.Mode) bool {
	if len(r.Params()) > 0 {
		return true
	}
	apart := func(s *region.Set, in region.Mode, m region.Mode) bool {
		return x.model.overlap(s, what, in, m).Verdict == region.No
	}
	return !apart(k.allSet, region.Plain, mode) || !apart(k.readIn, region.Shown, region.Interior) ||
		mode == region.Plain && !apart(k.keySet, region.Plain, mode)
}

// excepting tells of stages whether they, or one they were delegated from, are named.
func (x *reachIndex) excepting(names []string) func(*ir.Stage) bool {
	named := make(map[string]bool, len(names))
	for _, n := range names {
		named[n] = true
	}
	answers := map[string]bool{}
	var is func(name string) bool
	is = func(name string) bool {
		i, found := x.stages[name]
		if !found || len(named) == 0 {
			return false
		}
		answer, known := answers[name]
		if !known {
			answer = named[name] || is(x.model.Contract.Stages[i].From)
			answers[name] = answer
		}
		return answer
	}
	return func(s *ir.Stage) bool { return is(s.Name) }
}
