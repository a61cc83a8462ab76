package region

import (
	"cmp"
	"slices"
	"strings"
)

// A fan collects where the states of one subset lead: all letters of a kind
// through wildcards, and single letters in addition to that.
type fan struct {
	machine                    *machine
	anyKey, anyIndex, anyFresh bitset
	steps                      []step
}

// A step leads along one letter to one state.
type step struct {
	on Letter
	to int
}

func newFan(m *machine) *fan {
	size := len(m.nfa.states)
	return &fan{machine: m, anyKey: newBitset(size), anyIndex: newBitset(size), anyFresh: newBitset(size)}
}

// leave adds the steps out of state s.
func (f *fan) leave(s int) {
	from := &f.machine.nfa.states[s]
	if from.stays {
		f.enter(s, f.anyKey, f.anyIndex, f.anyFresh)
	}
	for _, e := range from.edges {
		f.follow(e)
	}
}

func (f *fan) enter(to int, sets ...bitset) {
	for _, set := range sets {
		f.machine.nfa.enter(set, to)
	}
}

func (f *fan) follow(e edge) {
	switch e.on.Kind {
	case Literal:
		f.add(Key(e.on.Text), e.to)
		if i, ok := asIndex(e.on.Text); ok {
			f.add(Index(i), e.to)
		}
	case KeyLiteral:
		f.add(Key(e.on.Text), e.to)
	case IndexLiteral:
		f.add(Index(e.on.Index), e.to)
	case AnySegment:
		f.enter(e.to, f.anyKey, f.anyIndex, f.anyFresh)
	case AnyKey:
		f.enter(e.to, f.anyKey, f.anyFresh)
	case AnyIndex:
		f.enter(e.to, f.anyIndex, f.anyFresh)
	case ParamSegment:
		f.add(f.machine.groups[e.on.Text].letter(e.on.Text), e.to)
	case FreshSegment:
		f.add(f.machine.freshLetter(e.on.Text), e.to)
	}
}

func (f *fan) add(on Letter, to int) { f.steps = append(f.steps, step{on, to}) }

// letter is what a parameter in group g matches.
func (g group) letter(param string) Letter {
	switch {
	case !g.bound:
		return Param(param)
	case g.literal:
		return Key(g.name)
	default:
		return Letter{Kind: valueLetter, Index: g.number}
	}
}

// freshLetter is what owner's fresh segments match: without owners, any fresh key.
func (m *machine) freshLetter(owner string) Letter {
	if m.anyFresh {
		owner = ""
	}
	return Fresh(owner)
}

// eachLetter calls visit for every letter that has a step of its own, in the
// order of compareLetters, with the subset it leads to. The subset is visit's to
// change, but not to keep.
func (f *fan) eachLetter(visit func(l Letter, set bitset)) {
	slices.SortFunc(f.steps, func(a, b step) int { return compareLetters(a.on, b.on) })
	scratch := newBitset(len(f.machine.nfa.states))
	for i := 0; i < len(f.steps); {
		l := f.steps[i].on
		copy(scratch, f.base(l.Kind))
		for ; i < len(f.steps) && f.steps[i].on == l; i++ {
			f.enter(f.steps[i].to, scratch)
		}
		visit(l, scratch)
	}
}

func (f *fan) base(k LetterKind) bitset {
	switch k {
	case IndexLetter:
		return f.anyIndex
	case FreshLetter:
		return f.anyFresh
	default:
		return f.anyKey
	}
}

// compareLetters orders keys before parameters, fresh keys and indices, so that
// the most readable witness comes first.
func compareLetters(a, b Letter) int {
	return cmp.Or(cmp.Compare(letterRank(a.Kind), letterRank(b.Kind)), strings.Compare(a.Name, b.Name), cmp.Compare(a.Index, b.Index))
}

func letterRank(k LetterKind) int {
	return [...]int{KeyLetter: 0, valueLetter: 1, ParamLetter: 2, FreshLetter: 3, IndexLetter: 4}[k]
}
