package certificate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Two runs commute if nothing that one sees, takes from, depends on or writes meets
// what the other writes, and no gate is touched by both (spec/semantics.md theorems
// 1, 3 and 8). A run that moves the phase commutes with nothing.
func (k *checker) pair(e *evidence, p Pair) string {
	a, b := k.stage(p.A), k.stage(p.B)
	if a == nil || b == nil {
		return "there is no such stage"
	}
	if len(a.Next)+len(b.Next) > 0 {
		return "a stage that moves the phase commutes with nothing"
	}
	for _, t := range p.Unless {
		if len(t) == 0 {
			return "a condition without equalities always holds"
		}
	}
	k.spend(1 + len(k.stateGates)/16)
	ta, tb := k.touch(a, runA), k.touch(b, runB)
	k.disjoint(e, "A writes, B writes", ta.writes, tb.writes, p.Unless)
	k.undisturbed(e, runA, ta, runB, tb, p.Unless)
	k.undisturbed(e, runB, tb, runA, ta, p.Unless)
	for _, g := range k.stateGates {
		if e.failed() {
			break
		}
		kept := k.keeps(a, g) && k.keeps(b, g)
		k.touchedByOne(e, g, kept, judged{g.readsOf(a), ta.writes}, judged{g.readsOf(b), tb.writes}, p.Unless)
	}
	return e.end()
}

// undisturbed takes reasons why what one run writes changes neither view nor verdict
// of the other.
func (k *checker) undisturbed(e *evidence, x string, reader touch, y string, writer touch, unless []Term) {
	writes := ", " + y + " writes"
	k.disjoint(e, x+" sees"+writes, reader.sees, writer.writes, unless)
	k.disjoint(e, x+" takes"+writes, reader.takes, writer.writes, unless)
	k.disjoint(e, x+" depends"+writes, reader.depends, writer.writes, unless)
}

// judged is what a rule reads when a run is judged by it, and what the run writes.
type judged struct {
	reads  []region.Pattern
	writes []side
}

// touchedByOne takes, for every pattern that a gate reads and every one that A
// writes, a reason why they do not meet; or "&" and, for every pattern it reads and
// every one that B writes, a reason why those do not meet, or do not at the same
// time.
//
// Of a rule with bounds, "kept" says that neither run can make it fail: then
// reasons follow why what else it depends on meets nothing that either writes.
func (k *checker) touchedByOne(e *evidence, g gate, kept bool, a, b judged, unless []Term) {
	if len(a.reads) == 0 || len(b.reads) == 0 || len(a.writes) == 0 || len(b.writes) == 0 {
		return
	}
	e.open(g.name)
	if len(g.bounds) > 0 {
		writes := slices.Concat(a.writes, b.writes)
		holds := func(word string) bool { return word == reasonTouched || word == reasonKept && kept }
		if e.word(k.boundReasons(g, writes, unless), holds, "one of them can make it fail") == reasonKept {
			for _, p := range g.rest() {
				for _, w := range writes {
					if k.reason(e, side{include: p}, w, unless); e.failed() {
						return
					}
				}
			}
			e.close()
			return
		}
	}
	for _, read := range a.reads {
		for _, w := range a.writes {
			if k.spent() {
				e.fail("%s", tooMuch)
			}
			if e.failed() {
				return
			}
			l := side{include: read}
			holds := func(word string) bool { return word == reasonTogether || k.apart(word, l, w, unless) }
			if e.word(append(candidates(l, w, unless), reasonTogether), holds, "a word is missing or wrong") == reasonTogether {
				k.notTogether(e, meeting{read, w}, b, unless)
			}
		}
	}
	e.close()
}

// A meeting is a pattern that a gate reads and one that a run writes.
type meeting struct {
	read  region.Pattern
	write side
}

func (k *checker) notTogether(e *evidence, first meeting, b judged, unless []Term) {
	for _, read := range b.reads {
		for _, w := range b.writes {
			if k.spent() {
				e.fail("%s", tooMuch)
			}
			if e.failed() {
				return
			}
			l, second := side{include: read}, meeting{read, w}
			holds := func(word string) bool { return k.apart(word, l, w, unless) || k.differ(word, first, second, unless) }
			words := append(candidates(l, w, unless), keyPairs(first, second)...)
			e.word(words, holds, "A may write %s and B %s", first.write.include.Source(), w.include.Source())
		}
	}
}

// keyPairs lists the reasons of two meetings that have to do with family keys.
func keyPairs(a, b meeting) []string {
	var out []string
	for i := range firm(a.read) {
		for j := range firm(b.read) {
			out = append(out, reasonFamily+strconv.Itoa(i)+"."+strconv.Itoa(j))
		}
	}
	return out
}

// differ reports whether a reason shows that two meetings are not of one gate: they
// fix a family key to segments that exclude each other, or they need a term to hold.
func (k *checker) differ(reason string, a, b meeting, unless []Term) bool {
	k.spend(reasonSteps)
	if text, ok := strings.CutPrefix(reason, reasonFamily); ok {
		i, j, ok := twoNumbers(text)
		return ok && isKey(a, i) && isKey(b, j) && a.read.Segments[i] == b.read.Segments[j] &&
			k.exclude(a.write.include.Segments[i], b.write.include.Segments[j])
	}
	text, ok := strings.CutPrefix(reason, reasonUnless)
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 0 || n >= len(unless) {
		return false
	}
	both := append(forced(a.read, a.write.include), forced(b.read, b.write.include)...)
	return both.has(unless[n])
}

// isKey reports whether the write of a meeting fixes the family key at a place.
func isKey(m meeting, i int) bool {
	return i < firm(m.read) && i < firm(m.write.include) && isFamily(m.read.Segments[i])
}

func twoNumbers(text string) (i, j int, ok bool) {
	one, other, ok := strings.Cut(text, ".")
	i, err := strconv.Atoi(one)
	j, err2 := strconv.Atoi(other)
	return i, j, ok && err == nil && err2 == nil && i >= 0 && j >= 0
}

// keeps reports whether a gate has bounds, and nothing that a stage writes adds one of
// the nodes whose number is bounded, or where it is bounded from below takes one away.
func (k *checker) keeps(s *ir.Stage, g gate) bool {
	for i := range g.bounds {
		if !k.keepsTo(s, &g.bounds[i]) {
			return false
		}
	}
	return len(g.bounds) > 0
}

func (k *checker) keepsTo(s *ir.Stage, b *ir.Bound) bool {
	for _, g := range s.Write {
		for _, p := range g.Include {
			if !k.besides(p, b.Of) && !oneWay(s, p, b) {
				return false
			}
		}
	}
	for _, g := range s.Blind {
		for _, p := range g.Include {
			if !b.Least && !k.besides(p, b.Of) {
				return false
			}
		}
	}
	return true
}

// besides reports whether what p covers lies below the counted nodes, or leads to none.
func (k *checker) besides(p, of region.Pattern) bool {
	if k.spend(1); k.spent() {
		return false
	}
	for i, s := range p.Segments {
		if s.Kind == region.AnyDepth {
			return false
		}
		if i == len(of.Segments) {
			return true
		}
		counted := of.Segments[i]
		if counted.Kind == region.ParamSegment {
			counted = region.Segment{Kind: region.AnyKey}
		}
		if k.exclude(s, counted) {
			return true
		}
	}
	return false
}

// oneWay reports whether p is one counted node, which a commit of the stage can only
// take away (the key of a parameter that is there), or where the bound is from below
// only add (the key of one that is new, the next entry of a set or log).
func oneWay(s *ir.Stage, p region.Pattern, b *ir.Bound) bool {
	n := len(p.Segments) - 1
	if n+1 != len(b.Of.Segments) {
		return false
	}
	for _, segment := range p.Segments {
		if segment.Kind == region.AnyDepth {
			return false
		}
	}
	if p.Segments[n].Kind == region.FreshSegment {
		return b.Least
	}
	for _, q := range s.Params {
		isNew := q.Kind == ir.NewParam
		if p.Segments[n].Kind == region.ParamSegment && q.Name == p.Segments[n].Text && (isNew || q.Kind == ir.ExistingParam) &&
			isNew == b.Least && q.Of.String() == (region.Pattern{Segments: p.Segments[:n]}).String() {
			return true
		}
	}
	return false
}

// rest is what a gate with bounds depends on beside how many nodes there are.
func (g gate) rest() []region.Pattern {
	var out []region.Pattern
	for _, b := range g.bounds {
		for _, p := range b.Rest {
			if !slices.ContainsFunc(out, func(q region.Pattern) bool { return q.Source() == p.Source() }) {
				out = append(out, p)
			}
		}
	}
	return out
}

// boundReasons lists the ways to show a gate of a bound, "kept" only if all of it can be
// shown.
func (k *checker) boundReasons(g gate, writes []side, unless []Term) []string {
	for _, p := range g.rest() {
		for _, w := range writes {
			if k.spent() {
				return []string{reasonTouched}
			}
			l, found := side{include: p}, false
			for _, word := range candidates(l, w, unless) {
				found = found || k.apart(word, l, w, unless)
			}
			if !found {
				return []string{reasonTouched}
			}
		}
	}
	return []string{reasonKept, reasonTouched}
}
