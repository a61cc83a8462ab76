package certificate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An evidence is the arguments of one entry. Checking reads it from the front, word
// by word. Issuing goes the same way and writes each word instead: the first
// candidate that holds. The first thing that is wrong is kept, and nothing after it
// counts.
type evidence struct {
	issuing bool
	all     []Argument // when checking: what is left
	about   string
	words   []string // of the argument about that; when checking: what is left
	wrong   string
	assumed []string // of a claim about commuting: the containers whose new keys are bound once
}

func (e *evidence) failed() bool { return e.wrong != "" }

func (e *evidence) fail(format string, args ...any) {
	if !e.failed() {
		e.wrong = fmt.Sprintf(format, args...)
	}
}

// open goes on to the argument about a statement.
func (e *evidence) open(about string) {
	if e.failed() {
		return
	}
	e.about, e.words = about, nil
	if e.issuing {
		return
	}
	if len(e.all) == 0 || e.all[0].About != about {
		e.fail("there is no argument for %q where it is due", about)
		return
	}
	e.words, e.all = strings.Split(e.all[0].Because, " "), e.all[1:]
}

// word is the next word of the argument, which must hold. It is empty if there is
// none.
func (e *evidence) word(candidates []string, holds func(string) bool, why string, args ...any) string {
	if e.failed() {
		return ""
	}
	var word string
	if e.issuing {
		if i := slices.IndexFunc(candidates, holds); i >= 0 {
			word = candidates[i]
			e.words = append(e.words, word)
			return word
		}
	} else if len(e.words) > 0 {
		word, e.words = e.words[0], e.words[1:]
		if holds(word) {
			return word
		}
	}
	e.fail("%q is not shown: %s", e.about, fmt.Sprintf(why, args...))
	return ""
}

// close ends an argument, which must be used up.
func (e *evidence) close() {
	switch {
	case e.failed():
	case e.issuing:
		e.all = append(e.all, Argument{e.about, strings.Join(e.words, " ")})
	case len(e.words) > 0:
		e.fail("the argument for %q is too long", e.about)
	}
}

// end ends the entry.
func (e *evidence) end() string {
	if !e.issuing && len(e.all) > 0 {
		e.fail("there is an argument too many: %q", e.all[0].About)
	}
	return e.wrong
}

// disjoint takes one reason for every two sides.
func (k *checker) disjoint(e *evidence, about string, left, right []side, unless []Term) {
	if len(left) == 0 || len(right) == 0 {
		return
	}
	e.open(about)
	for _, l := range left {
		for _, r := range right {
			if k.reason(e, l, r, unless); e.failed() {
				return
			}
		}
	}
	e.close()
}

// reason takes a reason why two sides share no word.
func (k *checker) reason(e *evidence, l, r side, unless []Term) {
	if k.spent() {
		e.fail("%s", tooMuch)
		return
	}
	holds := func(word string) bool { return k.apart(word, l, r, unless) }
	e.word(candidates(l, r, unless), holds, "%s and %s may share a path", l.include.Source(), r.include.Source())
}

// candidates lists the reasons that two sides could have.
func candidates(l, r side, unless []Term) []string {
	out := numbered("", min(firm(l.include), firm(r.include)))
	out = append(out, reasonShort)
	out = append(out, numbered(reasonLeft, len(l.except))...)
	out = append(out, numbered(reasonRight, len(r.except))...)
	out = append(out, numbered(reasonType, max(firm(l.include), firm(r.include)))...)
	return append(out, numbered(reasonUnless, len(unless))...)
}

func numbered(prefix string, n int) []string {
	var out []string
	for i := range n {
		out = append(out, prefix+strconv.Itoa(i))
	}
	return out
}
