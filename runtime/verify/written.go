package verify

import "github.com/patchoptic/poptic/compiler/region"

// A writing is the effective targets of a patch by their letters, so that what wrote
// a place is found at the cost of its depth, however many operations there are. The
// zero writing has no targets.
type writing struct {
	last   int  // of the operations that target this place, counted from 1; 0 for none
	listed bool // see outermost

	letter region.Letter // the only one that leads on, while there is but one
	only   *writing
	next   map[region.Letter]*writing
}

// add notes that operation i writes everything at and below w.
func (t *writing) add(w region.Word, i int) {
	for _, l := range w {
		t = t.make(l)
	}
	t.last = i + 1
}

func (t *writing) make(l region.Letter) *writing {
	if to := t.step(l); to != nil {
		return to
	}
	to := &writing{}
	switch {
	case t.next != nil:
		t.next[l] = to
	case t.only == nil:
		t.letter, t.only = l, to
	default:
		t.next = map[region.Letter]*writing{t.letter: t.only, l: to}
		t.only = nil
	}
	return to
}

// step is what lies one letter on, nil if nothing does.
func (t *writing) step(l region.Letter) *writing {
	if t.only != nil && t.letter == l {
		return t.only
	}
	return t.next[l]
}

// over is the last operation that targets w or a place above it, counted from 1; 0 if
// none does.
func (t *writing) over(w region.Word) int {
	last := t.last
	for _, l := range w {
		if t = t.step(l); t == nil {
			return last
		}
		last = max(last, t.last)
	}
	return last
}

// writer is over, where an element of a set or log counts as written by what was
// appended to it.
func (t *writing) writer(w region.Word) int {
	last := t.last
	for _, l := range w {
		if l.Kind == region.IndexLetter {
			if appended := t.step(region.Fresh("-")); appended != nil {
				last = max(last, appended.last)
			}
		}
		if t = t.step(l); t == nil {
			return last
		}
		last = max(last, t.last)
	}
	return last
}

// outermost reports whether w, a target, has no target above it; of the same word it
// says so once.
func (t *writing) outermost(w region.Word) bool {
	for _, l := range w {
		if t.last > 0 {
			return false
		}
		t = t.step(l)
	}
	first := !t.listed
	t.listed = true
	return first
}
