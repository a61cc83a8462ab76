package footprint

import "github.com/patchoptic/poptic/internal/region"

// An alphabet numbers the segments of an index, so that its tries compare numbers.
type alphabet struct {
	numbers  map[region.Segment]symbol
	segments []region.Segment
	alike    [][]symbol // by symbol of a literal, those that share a letter with it
	scratch  []symbol   // what paths are made from
}

// A symbol is the number of a segment.
type symbol int32

// A path is a pattern up to its first AnyDepth.
type path struct {
	symbols []symbol
	shallow bool // it stands for what it matches alone, not for what is below
}

// path numbers the segments of p. The parameters are all one, since any may be equal
// to another. The result is good until the next forget.
func (a *alphabet) path(p region.Pattern) path {
	out, start := path{shallow: p.Shallow}, len(a.scratch)
	for _, s := range p.Segments {
		if s.Kind == region.AnyDepth {
			out.shallow = false
			break
		}
		if s.Kind == region.ParamSegment || s.Kind == region.FreshSegment {
			s.Text = ""
		}
		a.scratch = append(a.scratch, a.symbol(s))
	}
	out.symbols = a.scratch[start:len(a.scratch):len(a.scratch)]
	return out
}

// forget reuses the memory of all paths made so far.
func (a *alphabet) forget() { a.scratch = a.scratch[:0] }

func (a *alphabet) symbol(s region.Segment) symbol {
	n, known := a.numbers[s]
	if known {
		return n
	}
	n = symbol(len(a.segments))
	a.numbers[s] = n
	a.segments = append(a.segments, s)
	a.alike = append(a.alike, nil)
	if s.IsLiteral() {
		for _, l := range s.AppendAlike(nil) {
			if m, known := a.numbers[l]; known {
				a.note(n, m)
				if m != n {
					a.note(m, n)
				}
			}
		}
	}
	return n
}

func (a *alphabet) note(n, like symbol) { a.alike[n] = append(a.alike[n], like) }

// isLiteral reports whether the symbol is a literal's.
func (a *alphabet) isLiteral(n symbol) bool { return a.alike[n] != nil }

// meet reports whether two symbols may stand for one letter. Two fresh keys of
// different instances never do.
func (a *alphabet) meet(n, m symbol) bool {
	s := a.segments[n]
	return s.MayMeet(a.segments[m]) && (n != m || s.Kind != region.FreshSegment)
}
