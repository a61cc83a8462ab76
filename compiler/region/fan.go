package region

// A fan collects where the states of one subset lead, by letter.
type fan struct {
	machine                    *machine
	anyKey, anyIndex, anyFresh bitset // where every key, index, fresh key leads

	keys    map[string]bitset // what single letters add to that
	values  []bitset
	indices map[int]bitset
	params  map[string]bitset
	fresh   map[string]bitset
	ours    bitset // what every fresh key adds if owners are not told apart
}

func newFan(m *machine) *fan {
	size := len(m.nfa.states)
	return &fan{
		machine:  m,
		anyKey:   newBitset(size),
		anyIndex: newBitset(size),
		anyFresh: newBitset(size),
		keys:     map[string]bitset{},
		values:   make([]bitset, m.values),
		indices:  map[int]bitset{},
		params:   map[string]bitset{},
		fresh:    map[string]bitset{},
		ours:     newBitset(size),
	}
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
		extend(f, f.keys, e.on.Text, e.to)
		if i, ok := asIndex(e.on.Text); ok {
			extend(f, f.indices, i, e.to)
		}
	case KeyLiteral:
		extend(f, f.keys, e.on.Text, e.to)
	case IndexLiteral:
		extend(f, f.indices, e.on.Index, e.to)
	case AnySegment:
		f.enter(e.to, f.anyKey, f.anyIndex, f.anyFresh)
	case AnyKey:
		f.enter(e.to, f.anyKey, f.anyFresh)
	case AnyIndex:
		f.enter(e.to, f.anyIndex, f.anyFresh)
	case ParamSegment:
		f.followParam(e)
	case FreshSegment:
		f.followFresh(e)
	}
}

func (f *fan) followParam(e edge) {
	g := f.machine.groups[e.on.Text]
	switch {
	case !g.bound:
		extend(f, f.params, e.on.Text, e.to)
	case g.literal:
		extend(f, f.keys, g.name, e.to)
	default:
		if f.values[g.number] == nil {
			f.values[g.number] = newBitset(len(f.machine.nfa.states))
		}
		f.enter(e.to, f.values[g.number])
	}
}

func (f *fan) followFresh(e edge) {
	if f.machine.anyFresh {
		f.enter(e.to, f.ours)
	} else {
		extend(f, f.fresh, e.on.Text, e.to)
	}
}

// otherFresh is where a fresh key of an owner that is not listed leads.
func (f *fan) otherFresh() bitset { return f.anyFresh.with(f.ours) }

func extend[K comparable](f *fan, sets map[K]bitset, letter K, to int) {
	if sets[letter] == nil {
		sets[letter] = newBitset(len(f.machine.nfa.states))
	}
	f.enter(to, sets[letter])
}

// with is the union of b and c, a new bitset.
func (b bitset) with(c bitset) bitset {
	out := b.clone()
	for i := range c {
		out[i] |= c[i]
	}
	return out
}
