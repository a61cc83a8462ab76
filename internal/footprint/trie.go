package footprint

// A trie files numbers under paths and finds those whose paths meet another one, for
// some values of the parameters on both sides. A path is a pattern up to its first
// AnyDepth, and that is all that matters unless a pattern has exceptions or is shallow
// (spec/semantics.md section 8.3); then a trie finds too much, never too little.
//
// A number is noted at the node where its path ends, "here", and at every node on the
// way, "below". A path meets those that end on its own way, since they cover it, and
// those that end below its own end, since it covers them.
type trie struct {
	alphabet *alphabet
	root     branch
	free     []branch // to take new nodes from
}

// A branch is a node of a trie. Its literals are looked up, the handful of other
// symbols are tried.
type branch struct {
	here, below filed
	literals    []symbol
	to          []*branch          // by position in literals
	named       map[symbol]*branch // the same by symbol, once there are many
	others      []limb
}

type limb struct {
	on symbol
	to *branch
}

// maxScanned is up to how many literals one is looked for without a map.
const maxScanned = 32

// file notes i under a path. Numbers must come in ascending order.
func (t *trie) file(p path, i int) {
	at := &t.root
	for _, s := range p.symbols {
		at.below.add(i)
		at = t.child(at, s)
	}
	if p.shallow {
		at.below.add(i) // nothing that goes on from here meets it
	} else {
		at.here.add(i)
	}
}

// child is where s leads from b, a new node if nowhere yet.
func (t *trie) child(b *branch, s symbol) *branch {
	literal := t.alphabet.isLiteral(s)
	if literal {
		if to := b.literal(s); to != nil {
			return to
		}
	} else {
		for _, l := range b.others {
			if l.on == s {
				return l.to
			}
		}
	}
	to := t.branch()
	if literal {
		b.name(s, to)
	} else {
		b.others = append(b.others, limb{s, to})
	}
	return to
}

func (t *trie) branch() *branch {
	if len(t.free) == 0 {
		t.free = make([]branch, 64)
	}
	b := &t.free[0]
	t.free = t.free[1:]
	return b
}

func (b *branch) name(s symbol, to *branch) {
	b.literals, b.to = append(b.literals, s), append(b.to, to)
	switch {
	case b.named != nil:
		b.named[s] = to
	case len(b.literals) > maxScanned:
		b.named = make(map[symbol]*branch, 2*maxScanned)
		for i, l := range b.literals {
			b.named[l] = b.to[i]
		}
	}
}

// literal is where a literal leads, nil if nowhere.
func (b *branch) literal(s symbol) *branch {
	if b.named != nil {
		return b.named[s]
	}
	for i, l := range b.literals {
		if l == s {
			return b.to[i]
		}
	}
	return nil
}

// find adds to found, which must have room, what is filed under paths that p may
// meet. Two shallow paths are taken to miss each other.
func (t *trie) find(p path, found members) { t.findBelow(&t.root, p.symbols, p.shallow, found) }

func (t *trie) findBelow(b *branch, rest []symbol, shallow bool, found members) {
	b.here.addTo(found)
	if len(rest) == 0 {
		if !shallow {
			b.below.addTo(found)
		}
		return
	}
	s, rest := rest[0], rest[1:]
	if t.alphabet.isLiteral(s) {
		for _, l := range t.alphabet.alike[s] {
			if to := b.literal(l); to != nil {
				t.findBelow(to, rest, shallow, found)
			}
		}
	} else {
		for i, l := range b.literals {
			if t.alphabet.meet(s, l) {
				t.findBelow(b.to[i], rest, shallow, found)
			}
		}
	}
	for _, l := range b.others {
		if t.alphabet.meet(s, l.on) {
			t.findBelow(l.to, rest, shallow, found)
		}
	}
}
