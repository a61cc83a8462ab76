package certificate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Why two patterns share no path. What has to be shown of a pair, a delegation or a claim
// comes to statements "X, Y": no path lies in both. An argument has one word for every
// include of X and every include of Y, and each word is verified on the two patterns
// alone, with the exceptions of their grants and the state's type. Told here: the
// reader of words (which writes them when issuing), the words and what they say, then
// what a segment matches, what an exception takes away, and which paths a state can have.

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

// A side is one include pattern with the exceptions of its grant. Whole says that
// only words count which lie in it with everything below them. Shown says that the
// containers on the way count too, which a view shows whether or not some state has
// anything to show there.
type side struct {
	include region.Pattern
	except  []region.Pattern
	whole   bool
	shown   bool
}

// sides lists a region's includes in order, grant by grant.
func sides(r region.Region, whole bool) []side {
	var out []side
	for _, g := range r {
		for _, p := range g.Include {
			out = append(out, side{include: p, except: g.Except, whole: whole})
		}
	}
	return out
}

// showingSides lists the includes of what a view shows.
func showingSides(r region.Region) []side {
	out := sides(r, false)
	for i := range out {
		out[i].shown = true
	}
	return out
}

// The words that reasons are written in. N counts from 0.
const (
	reasonShort    = "short" // one is only about nodes, and the other lies below them
	reasonLeft     = "l"     // lN: exception N of the left side takes away all that is shared
	reasonRight    = "r"     // rN: the same of the right side
	reasonType     = "t"     // tN: no state has a path that matches both up to segment N
	reasonUnless   = "?"     // ?N: they share a word only if term N holds
	reasonFamily   = "@"     // @N.M: they are about different members of a family
	reasonTogether = "&"     // the gate is touched by A here: what follows is about B
	reasonKept     = "kept"  // the gate is a bound that neither can make fail
	reasonTouched  = "-"     // the gate is a bound, and is looked at like any other
)

// apart reports whether a reason shows that two sides share no word. A number N is
// the reason that segments N exclude each other.
func (k *checker) apart(reason string, l, r side, unless []Term) bool {
	if k.spend(reasonSteps); k.spent() {
		return false
	}
	if n, err := strconv.Atoi(reason); err == nil {
		return n >= 0 && n < firm(l.include) && n < firm(r.include) && k.exclude(l.include.Segments[n], r.include.Segments[n])
	}
	if reason == reasonShort {
		return tooShort(l.include, r.include) || tooShort(r.include, l.include)
	}
	n, err := strconv.Atoi(reason[min(1, len(reason)):])
	if err != nil || n < 0 {
		return false
	}
	shared := between(l.include, r.include)
	switch reason[:1] {
	case reasonLeft:
		return n < len(l.except) && shared.covered(l.except[n], l.whole)
	case reasonRight:
		return n < len(r.except) && shared.covered(r.except[n], r.whole)
	case reasonType:
		return n < len(shared.at) && k.impossible(shared.at[:n+1]) && !(l.shown && k.onTheWay(shared.at, firm(r.include), n))
	case reasonUnless:
		return n < len(unless) && forced(l.include, r.include).has(unless[n])
	}
	return false
}

// tooShort reports whether p is about nodes that lie above every word of q.
func tooShort(p, q region.Pattern) bool {
	if !p.Shallow || !fixed(p) {
		return false
	}
	least := 0
	for _, s := range q.Segments {
		if s.Kind != region.AnyDepth {
			least++
		}
	}
	return least > len(p.Segments)
}

// impossible reports whether no state has a path through all places.
func (k *checker) impossible(places [][]region.Segment) bool {
	at := []ir.TypeID{k.contract.State}
	for _, segments := range places {
		at = k.below(at, segments)
	}
	return len(at) == 0
}

// onTheWay reports whether a view may show a container, though no state has a path below
// it: at a place that the right side has, of a kind with letters that lead on. What has
// no path before the end of the right side is written nowhere.
func (k *checker) onTheWay(places [][]region.Segment, end, n int) bool {
	if n < end {
		return false
	}
	at := []ir.TypeID{k.contract.State}
	for _, segments := range places[:end] {
		at = k.below(at, segments)
	}
	next := places[end]
	for _, id := range at {
		object, array := k.containers(id)
		if object > 0 && admitSome(next, keys) || array > 0 && admitSome(next, positions) {
			return true
		}
	}
	return false
}

// Equalities are what parameters have in common if two patterns share a word.
type equalities []Equality

func forced(p, q region.Pattern) equalities {
	var out equalities
	for i := range min(firm(p), firm(q)) {
		s, t := p.Segments[i], q.Segments[i]
		if s.Kind == region.ParamSegment && t.Kind == region.ParamSegment {
			out = append(out, Equality{s.Text, t.Text})
		}
	}
	return out
}

// has reports whether every equality of a term follows.
func (e equalities) has(t Term) bool {
	for _, want := range t {
		if !e.follows(want) {
			return false
		}
	}
	return true
}

func (e equalities) follows(want Equality) bool {
	reached := map[string]bool{want[0]: true}
	for range e {
		for _, x := range e {
			if reached[x[0]] || reached[x[1]] {
				reached[x[0]], reached[x[1]] = true, true
			}
		}
	}
	return reached[want[1]]
}

// isReserved reports whether a parameter, written with its owner or without, is
// never bound to a key. Family keys stand for any.
func (k *checker) isReserved(param, key string) bool {
	p := k.params[param]
	return p != nil && contains(p.Reserved, key)
}

// A segment of a pattern matches keys of objects, positions of arrays, or both. A
// part is what it matches of one of the two.
type part struct {
	kind partKind
	text string // the key or position, the parameter, or the owner of the entry
}

type partKind uint8

const (
	nothing   partKind = iota
	one                // the key or position text
	parameter          // the key that a parameter is bound to, or a family key stands for
	entry              // the position of a log entry that the run called text appends
	anything
)

// keys is what a segment matches of keys.
func keys(s region.Segment) part {
	switch s.Kind {
	case region.Literal, region.KeyLiteral:
		return part{one, s.Text}
	case region.ParamSegment:
		return part{parameter, s.Text}
	case region.AnySegment, region.AnyKey, region.AnyDepth:
		return part{kind: anything}
	}
	return part{}
}

// positions is what a segment matches of positions.
func positions(s region.Segment) part {
	switch s.Kind {
	case region.Literal:
		if n, err := strconv.Atoi(s.Text); err == nil && n >= 0 && strconv.Itoa(n) == s.Text {
			return part{one, s.Text}
		}
	case region.IndexLiteral:
		return part{one, strconv.Itoa(s.Index)}
	case region.FreshSegment:
		return part{entry, s.Text}
	case region.AnySegment, region.AnyIndex, region.AnyDepth:
		return part{kind: anything}
	}
	return part{}
}

// exclude reports whether no letter is matched by both segments, for any values of
// the parameters. A parameter is bound to a key, and not to one that is reserved.
func (k *checker) exclude(s, t region.Segment) bool {
	return k.excludeParts(keys(s), keys(t)) && k.excludeParts(positions(s), positions(t))
}

func (k *checker) excludeParts(x, y part) bool {
	if x.kind > y.kind {
		x, y = y, x
	}
	switch {
	case x.kind == nothing:
		return true
	case x.kind == one && y.kind == one, x.kind == entry && y.kind == entry:
		return x.text != y.text
	case x.kind == one && y.kind == parameter:
		return k.isReserved(y.text, x.text)
	}
	return false
}

// inside reports whether t matches every letter that s matches.
func inside(s, t region.Segment) bool {
	return insidePart(keys(s), keys(t)) && insidePart(positions(s), positions(t))
}

func insidePart(x, y part) bool { return x.kind == nothing || y.kind == anything || x == y }

func isFamily(s region.Segment) bool {
	return s.Kind == region.ParamSegment && strings.HasPrefix(s.Text, familyMark)
}

// familyMark starts the names of family keys, which stand for any key.
const familyMark = "@"

// A corridor is what is known of the words that two patterns share: for each place
// the segments that match its letter. Words are at least that long; exact says that
// they are no longer.
type corridor struct {
	at    [][]region.Segment
	exact bool
}

// between is the corridor of two patterns: each constrains its places up to its
// first "**".
func between(p, q region.Pattern) corridor {
	c := corridor{exact: p.Shallow && fixed(p) || q.Shallow && fixed(q)}
	for i := range max(firm(p), firm(q)) {
		var at []region.Segment
		for _, x := range []region.Pattern{p, q} {
			if i < firm(x) {
				at = append(at, x.Segments[i])
			}
		}
		c.at = append(c.at, at)
	}
	return c
}

// firm is how many segments a pattern has before its first "**".
func firm(p region.Pattern) int {
	for i, s := range p.Segments {
		if s.Kind == region.AnyDepth {
			return i
		}
	}
	return len(p.Segments)
}

func fixed(p region.Pattern) bool { return firm(p) == len(p.Segments) }

// covered reports whether the words of a corridor are all taken away by an
// exception. It is if each has a beginning that the exception matches. A side that
// needs whole subtrees loses a word also where the exception lies below it; a "**"
// in the exception then lies below everything.
func (c corridor) covered(exception region.Pattern, whole bool) bool {
	return !exception.Shallow && c.match(exception.Segments, c.at, whole)
}

func (c corridor) match(e []region.Segment, at [][]region.Segment, whole bool) bool {
	switch {
	case len(e) == 0:
		return true
	case e[0].Kind == region.AnyDepth:
		return whole || c.match(e[1:], at, whole) || len(at) > 0 && c.match(e, at[1:], whole)
	case len(at) > 0:
		return insideAny(at[0], e[0]) && c.match(e[1:], at[1:], whole)
	case whole && c.exact:
		return true
	}
	return whole && e[0].Kind == region.AnySegment && c.match(e[1:], at, whole)
}

func insideAny(at []region.Segment, s region.Segment) bool {
	for _, x := range at {
		if inside(x, s) {
			return true
		}
	}
	return false
}

// subsumes reports whether every word of p is one of outer, "**" included.
func subsumes(outer, p region.Pattern) bool {
	if outer.Shallow && !(p.Shallow && fixed(p) && fixed(outer) && len(p.Segments) == len(outer.Segments)) {
		return false
	}
	return subsumesFrom(outer.Segments, p.Segments)
}

func subsumesFrom(outer, p []region.Segment) bool {
	switch {
	case len(outer) == 0:
		return true
	case outer[0].Kind == region.AnyDepth:
		return subsumesFrom(outer[1:], p) || len(p) > 0 && subsumesFrom(outer, p[1:])
	case len(p) == 0 || p[0].Kind == region.AnyDepth:
		return false
	}
	return inside(p[0], outer[0]) && subsumesFrom(outer[1:], p[1:])
}

// below lists the types of the nodes that lie one step below nodes of the given
// types, on a letter that all segments match. It may list too many.
func (k *checker) below(types []ir.TypeID, segments []region.Segment) []ir.TypeID {
	var out []ir.TypeID
	for _, id := range types {
		t := k.contract.Type(id)
		switch t.Kind {
		case ir.AnyType:
			out = append(out, id)
		case ir.UnionType:
			out = append(out, k.below(t.Alternatives, segments)...)
		case ir.RecordType:
			for _, m := range t.Members {
				if admitKey(segments, m.Name) {
					out = append(out, m.Type)
				}
			}
			if t.Rest != ir.NoType && admitSome(segments, keys) {
				out = append(out, t.Rest)
			}
		case ir.MapType, ir.KeyedType:
			if admitSome(segments, keys) {
				out = append(out, t.Elem)
			}
		case ir.ListType, ir.SetType, ir.LogType:
			if admitSome(segments, positions) {
				out = append(out, t.Elem)
			}
		}
	}
	return distinct(out)
}

func admitKey(segments []region.Segment, key string) bool {
	for _, s := range segments {
		if x := keys(s); x.kind == nothing || x.kind == one && x.text != key {
			return false
		}
	}
	return true
}

func admitSome(segments []region.Segment, of func(region.Segment) part) bool {
	for _, s := range segments {
		if of(s).kind == nothing {
			return false
		}
	}
	return true
}

func distinct(ids []ir.TypeID) []ir.TypeID {
	seen := map[ir.TypeID]bool{}
	var out []ir.TypeID
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// isLog reports whether every node at a list of segments without "**" is a log.
func (k *checker) isLog(path []region.Segment) bool {
	at := []ir.TypeID{k.contract.State}
	for _, s := range path {
		if s.Kind == region.AnyDepth {
			return false
		}
		at = k.below(at, []region.Segment{s})
	}
	for _, id := range at {
		if k.contract.Type(id).Kind != ir.LogType {
			return false
		}
	}
	return len(at) > 0
}

// mayGrow reports whether some node at a list of segments may be a set or log.
func (k *checker) mayGrow(path []region.Segment) bool {
	at := []ir.TypeID{k.contract.State}
	for _, s := range path {
		if s.Kind == region.AnyDepth {
			return true
		}
		at = k.below(at, []region.Segment{s})
	}
	for len(at) > 0 {
		t := k.contract.Type(at[0])
		if t.Kind == ir.SetType || t.Kind == ir.LogType {
			return true
		}
		at = append(at[1:], t.Alternatives...)
	}
	return false
}

// typesAt lists the types of the nodes at a list of segments without "**".
func (k *checker) typesAt(path []region.Segment) []ir.TypeID {
	at := []ir.TypeID{k.contract.State}
	for _, s := range path {
		at = k.below(at, []region.Segment{s})
	}
	return at
}
