package verify

import "github.com/patchoptic/poptic/internal/region"

// A writing is the effective targets of a patch, by which operation each was written.
// A few of them are looked through. Of many there is a tree by letters, so that what
// wrote a place is found at the cost of its depth, however many there are.
type writing struct {
	few  []written
	many *writtenBelow // all of them, nil while they are few
}

// fewTargets is how many targets are looked through.
const fewTargets = 16

// A written is a target and the operation that wrote it, counted from 1.
type written struct {
	target region.Word
	by     int
}

// A writtenBelow is a place in the tree of the targets.
type writtenBelow struct {
	last int  // of the operations that target this place, counted from 1; 0 for none
	told bool // see outermost

	letter region.Letter // the only one that leads on, while there is but one
	only   *writtenBelow
	next   map[region.Letter]*writtenBelow
}

// add notes that operation i writes everything at and below w. Operations are added in
// their order.
func (t *writing) add(w region.Word, i int) {
	t.few = append(t.few, written{w, i + 1})
	switch {
	case t.many != nil:
		t.many.add(w, i+1)
	case len(t.few) > fewTargets:
		t.many = &writtenBelow{}
		for _, f := range t.few {
			t.many.add(f.target, f.by)
		}
	}
}

// outermost lists the targets that have no target above them, each once, in the order
// in which they were first written.
func (t *writing) outermost() []region.Word {
	out := make([]region.Word, 0, len(t.few))
	for i, f := range t.few {
		if t.many != nil && t.many.outermost(f.target) || t.many == nil && t.isOutermost(i) {
			out = append(out, f.target)
		}
	}
	return out
}

func (t *writing) isOutermost(i int) bool {
	w := t.few[i].target
	for j, other := range t.few {
		if w.HasPrefix(other.target) && (len(other.target) < len(w) || j < i) {
			return false
		}
	}
	return true
}

// over is the last operation that targets w or a place above it, counted from 1; 0 if
// none does.
func (t *writing) over(w region.Word) int {
	if t.many != nil {
		return t.many.over(w, false)
	}
	last := 0
	for _, f := range t.few {
		if w.HasPrefix(f.target) {
			last = f.by
		}
	}
	return last
}

// writer is over, where an element of a set or log counts as written by what was
// appended to it.
func (t *writing) writer(w region.Word) int {
	if t.many != nil {
		return t.many.over(w, true)
	}
	last := 0
	for _, f := range t.few {
		if w.HasPrefix(f.target) || isAppended(w, f.target) {
			last = f.by
		}
	}
	return last
}

// isAppended reports whether w is at or below an element of the set or log that the
// target appends to.
func isAppended(w, target region.Word) bool {
	n := len(target) - 1
	return n >= 0 && isFresh(target[n]) && len(w) > n && w[n].Kind == region.IndexLetter && w.HasPrefix(target[:n])
}

func (t *writtenBelow) add(w region.Word, by int) {
	for _, l := range w {
		t = t.make(l)
	}
	t.last = by
}

func (t *writtenBelow) make(l region.Letter) *writtenBelow {
	if to := t.step(l); to != nil {
		return to
	}
	to := &writtenBelow{}
	switch {
	case t.next != nil:
		t.next[l] = to
	case t.only == nil:
		t.letter, t.only = l, to
	default:
		t.next = map[region.Letter]*writtenBelow{t.letter: t.only, l: to}
		t.only = nil
	}
	return to
}

// step is what lies one letter on, nil if nothing does.
func (t *writtenBelow) step(l region.Letter) *writtenBelow {
	if t.only != nil && t.letter == l {
		return t.only
	}
	return t.next[l]
}

// over is the last operation that targets w or a place above it, or if asked for
// appends what w is at or below.
func (t *writtenBelow) over(w region.Word, appended bool) int {
	last := t.last
	for _, l := range w {
		if appended && l.Kind == region.IndexLetter {
			if entry := t.step(region.Fresh("-")); entry != nil {
				last = max(last, entry.last)
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
func (t *writtenBelow) outermost(w region.Word) bool {
	for _, l := range w {
		if t.last > 0 {
			return false
		}
		t = t.step(l)
	}
	first := !t.told
	t.told = true
	return first
}

func isFresh(l region.Letter) bool { return l.Kind == region.FreshLetter }
