package verify

import "github.com/patchoptic/poptic/internal/region"

// A targetSet is the effective targets of a patch, by which operation each was written.
// A few of them are looked through. Of many there is a trie by letters, so that what
// wrote a place is found at the cost of its depth, however many there are.
type targetSet struct {
	few  []target
	trie *targetTrie // all of them, nil while they are few
}

// fewTargets is how many targets are looked through.
const fewTargets = 16

// A target is a place that was written at and below, and the operation that wrote it, counted from 1.
type target struct {
	target region.Word
	by     int
}

// A targetTrie is a place in the trie of the targets.
type targetTrie struct {
	last int  // of the operations that target this place, counted from 1; 0 for none
	told bool // see outermost

	letter region.Letter // the only one that leads on, while there is but one
	only   *targetTrie
	next   map[region.Letter]*targetTrie
}

// add notes that operation i writes everything at and below w. Operations are added in
// their order.
func (t *targetSet) add(w region.Word, i int) {
	t.few = append(t.few, target{w, i + 1})
	switch {
	case t.trie != nil:
		t.trie.add(w, i+1)
	case len(t.few) > fewTargets:
		t.trie = &targetTrie{}
		for _, f := range t.few {
			t.trie.add(f.target, f.by)
		}
	}
}

// outermost lists the targets that have no target above them, each once, in the order
// in which they were first written.
func (t *targetSet) outermost() []region.Word {
	out := make([]region.Word, 0, len(t.few))
	for i, f := range t.few {
		if t.trie != nil && t.trie.outermost(f.target) || t.trie == nil && t.isOutermost(i) {
			out = append(out, f.target)
		}
	}
	return out
}

func (t *targetSet) isOutermost(i int) bool {
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
func (t *targetSet) over(w region.Word) int {
	if t.trie != nil {
		return t.trie.over(w, false)
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
func (t *targetSet) writer(w region.Word) int {
	if t.trie != nil {
		return t.trie.over(w, true)
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

func (t *targetTrie) add(w region.Word, by int) {
	for _, l := range w {
		t = t.make(l)
	}
	t.last = by
}

func (t *targetTrie) make(l region.Letter) *targetTrie {
	if to := t.child(l); to != nil {
		return to
	}
	to := &targetTrie{}
	switch {
	case t.next != nil:
		t.next[l] = to
	case t.only == nil:
		t.letter, t.only = l, to
	default:
		t.next = map[region.Letter]*targetTrie{t.letter: t.only, l: to}
		t.only = nil
	}
	return to
}

// child is what lies one letter on, nil if nothing does.
func (t *targetTrie) child(l region.Letter) *targetTrie {
	if t.only != nil && t.letter == l {
		return t.only
	}
	return t.next[l]
}

// over is the last operation that targets w or a place above it, or if asked for
// appends what w is at or below.
func (t *targetTrie) over(w region.Word, appended bool) int {
	last := t.last
	for _, l := range w {
		if appended && l.Kind == region.IndexLetter {
			if entry := t.child(region.Fresh("-")); entry != nil {
				last = max(last, entry.last)
			}
		}
		if t = t.child(l); t == nil {
			return last
		}
		last = max(last, t.last)
	}
	return last
}

// outermost reports whether w, a target, has no target above it; of the same word it
// says so once.
func (t *targetTrie) outermost(w region.Word) bool {
	for _, l := range w {
		if t.last > 0 {
			return false
		}
		t = t.child(l)
	}
	first := !t.told
	t.told = true
	return first
}

func isFresh(l region.Letter) bool { return l.Kind == region.FreshLetter }
