package footprint

import "github.com/patchoptic/poptic/compiler/region"

// A trie files numbers under patterns and finds those whose patterns meet another
// one, for some values of the parameters on both sides. It looks at the segments of
// a pattern up to its first AnyDepth, which is all that matters unless a pattern has
// exceptions or is shallow (spec/semantics.md section 8.3); then it finds too much,
// never too little.
//
// A number is noted at the node where its pattern ends, "here", and at every node on
// the way, "below". A pattern meets those that end on its own way, since they cover
// it, and those at or below the node where it ends, which it covers itself.
type trie struct{ root branch }

// A branch is a node of a trie. Its children are kept apart by whether their
// segment is a literal, which can be looked up, or has to be tried.
type branch struct {
	here, below filed
	literal     map[region.Segment]*branch
	other       []limb
}

type limb struct {
	segment region.Segment
	to      *branch
}

// file notes i under a pattern. Numbers must come in ascending order.
func (t *trie) file(p region.Pattern, i int) {
	at := &t.root
	at.below.add(i)
	shallow := p.Shallow
	for _, s := range p.Segments {
		if s.Kind == region.AnyDepth {
			shallow = false
			break
		}
		at = at.child(unnamed(s))
		at.below.add(i)
	}
	if !shallow {
		at.here.add(i)
	}
}

// unnamed is a segment as it is filed: any parameter may be equal to another one.
func unnamed(s region.Segment) region.Segment {
	if s.Kind == region.ParamSegment {
		s.Text = ""
	}
	return s
}

func (b *branch) child(s region.Segment) *branch {
	if s.IsLiteral() {
		to := b.literal[s]
		if to == nil {
			if b.literal == nil {
				b.literal = map[region.Segment]*branch{}
			}
			to = &branch{}
			b.literal[s] = to
		}
		return to
	}
	for _, l := range b.other {
		if l.segment == s {
			return l.to
		}
	}
	to := &branch{}
	b.other = append(b.other, limb{s, to})
	return to
}

// find adds to found what is filed under patterns that p may meet. Shallow
// patterns on both sides are taken to miss each other.
func (t *trie) find(p region.Pattern, found *members) {
	t.root.find(p.Segments, p.Shallow, found)
}

func (b *branch) find(rest []region.Segment, shallow bool, found *members) {
	b.here.addTo(found)
	switch {
	case len(rest) > 0 && rest[0].Kind != region.AnyDepth:
		b.follow(rest[0], rest[1:], shallow, found)
	case len(rest) > 0 || !shallow:
		b.below.addTo(found)
	}
}

// follow goes on along every child whose segment meets s.
func (b *branch) follow(s region.Segment, rest []region.Segment, shallow bool, found *members) {
	if s.IsLiteral() {
		var buf [3]region.Segment
		for _, l := range s.AppendAlike(buf[:0]) {
			if to := b.literal[l]; to != nil {
				to.find(rest, shallow, found)
			}
		}
	} else if s.Kind != region.ParamSegment && s.Kind != region.FreshSegment {
		for l, to := range b.literal {
			if s.MayMeet(l) {
				to.find(rest, shallow, found)
			}
		}
	}
	for _, l := range b.other {
		if s.MayMeet(l.segment) {
			l.to.find(rest, shallow, found)
		}
	}
}
