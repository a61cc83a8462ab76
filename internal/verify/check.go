package verify

import (
	"context"
	"math"
	"slices"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/tree"
)

// Two questions are asked about a value and a type. Does it fit: has it the structure?
// By that a union chooses its alternative; the answer is yes or no (fits). And is it
// valid: does it fit, and do references lead to something and constraints hold? The answer
// is everything that is wrong with it (typeCheck). Both answers about a container are
// remembered where it holds much.

// A typeCheck checks values of one state against their types, whole subtrees at a
// time, and collects everything that is wrong.
type typeCheck struct {
	*types
	ctx   context.Context
	state *tree.Node  // where references lead; nil to leave references alone
	word  region.Word // of the value being checked
	room  ruleCost    // of all constraints together
	collection
}

// check checks n, which stands at c.word, against type id.
func (c *typeCheck) check(n *tree.Node, id ir.TypeID) {
	c.watch.tick()
	if c.room.over() {
		return
	}
	if c.contract.Types[id].Kind == ir.UnionType {
		c.union(n, id)
	} else if c.structure(n, id) {
		c.constraints(n, id)
	}
}

// structure checks everything but constraints, and reports whether n is of the
// right kind itself, so that a constraint on it makes sense.
func (c *typeCheck) structure(n *tree.Node, id ir.TypeID) bool {
	t := &c.contract.Types[id]
	switch {
	case t.Kind == ir.KeyedType && n.Kind() == ir.Array:
		c.report(messages.keyedAsArray(t))
	case !c.sameKind(id, n):
		c.misfit(n, id)
	default:
		before := c.total
		switch t.Kind {
		case ir.RecordType:
			c.record(n, t, c.info[id].text)
		case ir.MapType, ir.KeyedType:
			c.members(n, id, t)
		case ir.ListType, ir.SetType, ir.LogType:
			c.elements(n, id, t)
		case ir.RefType:
			c.reference(n, t)
		}
		return c.total == before
	}
	return false
}

func (c *typeCheck) misfit(n *tree.Node, id ir.TypeID) {
	text := c.info[id].text
	literal := c.literals[id]
	if literal != nil && n.Kind() == literal.Kind() || c.contract.Types[id].Kind == ir.IntType && n.Kind() == ir.Number {
		c.reportMisfit(messages.otherValue(text, n.Kind()), n, id)
		return
	}
	c.reportMisfit(messages.misfit(text, n.Kind()), n, id)
}

// reportMisfit reports that n does not fit a type, and hints at what does.
func (c *typeCheck) reportMisfit(f finding, n *tree.Node, id ir.TypeID) {
	c.add(f, func(f finding) finding {
		f = f.about(c.word)
		f.Hint = c.wants(n, id)
		return f
	})
}

func (c *typeCheck) record(n *tree.Node, t *ir.Type, text string) {
	for i := range t.Members {
		if m := &t.Members[i]; !m.Optional && n.Get(m.Name) == nil {
			c.at(region.Key(m.Name), func() {
				c.add(messages.missingMember(text, m.Name), func(f finding) finding {
					f = f.about(c.word)
					f.Hint = "write " + c.asks(m.Type)
					return f
				})
			})
		}
	}
	for name, child := range n.Members() {
		c.at(region.Key(name), func() { c.member(t, text, name, child) })
	}
}

func (c *typeCheck) member(t *ir.Type, text, name string, child *tree.Node) {
	if m, ok := t.Member(name); ok {
		c.check(child, m.Type)
	} else if t.Rest != ir.NoType {
		c.check(child, t.Rest)
	} else {
		c.add(messages.unknownMember(text, name), func(finding) finding { return c.unknownMember(t, text, name, c.word) })
	}
}

// unknownMember is the finding about a member that a closed record does not have.
func (ts *types) unknownMember(t *ir.Type, text, name string, w region.Word) finding {
	f := messages.unknownMember(text, name).about(w)
	var declared []string
	for _, m := range t.Members {
		declared = append(declared, m.Name)
	}
	if near := spell.Nearest(name, declared); near != "" {
		f = f.hinted("did you mean %q?", near)
		f.hint = append(append(region.Word{}, w[:len(w)-1]...), region.Key(near))
		return f
	}
	f = f.hinted("leave it out; it is %s", ts.members(t))
	f.hint = slices.Clone(w[:len(w)-1])
	return f
}

// notOfType is the finding about a place that the type does not have.
func (ts *types) notOfType(w region.Word) finding {
	id := ts.contract.State
	for _, l := range w[:len(w)-1] {
		id = ts.below(id, l.Name)
	}
	if t := &ts.contract.Types[id]; t.Kind == ir.RecordType && w[len(w)-1].Kind == region.KeyLetter {
		return ts.unknownMember(t, ts.info[id].text, w[len(w)-1].Name, w)
	}
	return messages.noSuchPlace().about(w)
}

func (c *typeCheck) members(n *tree.Node, id ir.TypeID, t *ir.Type) {
	if c.sound(n, id, t) {
		return
	}
	for name, child := range n.Members() {
		c.at(region.Key(name), func() {
			before := c.total
			c.check(child, t.Elem)
			if t.Kind == ir.KeyedType && c.total == before && !namesItself(t, name, child) {
				c.report(messages.otherKey(t))
			}
		})
	}
}

func (c *typeCheck) elements(n *tree.Node, id ir.TypeID, t *ir.Type) {
	if c.sound(n, id, t) {
		return
	}
	for i, child := range n.Elements() {
		c.at(region.Index(i), func() { c.check(child, t.Elem) })
	}
	if t.Kind == ir.SetType && hasDuplicates(n) {
		c.report(messages.duplicates())
	}
}

// reference checks that a key of a container names one of its members.
func (c *typeCheck) reference(n *tree.Node, t *ir.Type) {
	if c.state == nil || nodeAtPattern(c.state, *t.Target).Get(n.Text()) != nil {
		return
	}
	c.add(messages.danglingKey(*t.Target).of(ir.RefGate, ""), func(f finding) finding {
		f = f.about(c.word)
		f.reads = region.Region{{Include: []region.Pattern{
			patternOf(c.word), {Segments: append(append([]region.Segment{}, t.Target.Segments...), region.Segment{Kind: region.KeyLiteral, Text: n.Text()}), Shallow: true},
		}}}
		return f
	})
}

// union reports the constraints of the first alternative that fits, if no fitting
// alternative is without any; and if none fits, what is wrong with the one that is
// meant, as far as one can tell.
func (c *typeCheck) union(n *tree.Node, id ir.TypeID) {
	t := &c.contract.Types[id]
	if c.info[id].confusable && c.fits(id, n) && !c.readsBack(n, id) {
		c.report(messages.readsOtherwise(c.info[id].text))
		return
	}
	var first []finding
	fitting := 0
	for _, alt := range t.Alternatives {
		if !c.fits(alt, n) {
			continue
		}
		if !c.info[alt].ruled {
			c.constraints(n, id)
			return
		}
		sub := typeCheck{types: c.types, ctx: c.ctx, state: c.state, word: c.word, room: c.room}
		sub.check(n, alt)
		if sub.total == 0 {
			c.constraints(n, id)
			return
		}
		if fitting++; fitting == 1 {
			first = sub.found
		}
	}
	if fitting == 0 {
		c.misfitUnion(n, id, t)
		return
	}
	c.addAll(first)
}

// misfitUnion goes into the only alternative of n's kind, if there is just one and
// it is a container; else it reports the union as a whole.
func (c *typeCheck) misfitUnion(n *tree.Node, id ir.TypeID, t *ir.Type) {
	meant, several := ir.NoType, false
	for _, alt := range t.Alternatives {
		if c.sameKind(alt, n) {
			several = several || meant != ir.NoType
			meant = alt
		}
	}
	text := c.info[id].text
	switch {
	case meant != ir.NoType && !several:
		c.check(n, meant)
	case several:
		c.reportMisfit(messages.misfitInside(text), n, id)
	case c.hasLiteralOf(t, n.Kind()):
		c.reportMisfit(messages.otherValue(text, n.Kind()), n, id)
	default:
		c.reportMisfit(messages.misfit(text, n.Kind()), n, id)
	}
}

// constraints evaluates the where constraints of the type id on n.
func (c *typeCheck) constraints(n *tree.Node, id ir.TypeID) {
	for i := range c.wheres[id] {
		w := &c.wheres[id][i]
		if c.room.over() {
			return
		}
		if j := w.judge(c.ctx, &expr.Input{Self: n, Budget: c.room.budget}); j != holds {
			c.add(c.room.because(c.unmet(id, i), j), func(f finding) finding { return f.below(w, c.word) })
		}
	}
}

// unmet is the finding that the i-th constraint of type id does not hold.
func (ts *types) unmet(id ir.TypeID, i int) finding {
	return messages.constraint(ts.info[id].text, ts.wheres[id], i).of(ir.TypeGate, "")
}

// hasLiteralOf reports whether an alternative is a literal of the given kind.
func (ts *types) hasLiteralOf(t *ir.Type, k ir.Kind) bool {
	for _, alt := range t.Alternatives {
		if l := ts.literals[alt]; l != nil && l.Kind() == k {
			return true
		}
	}
	return false
}

// at runs f one step further down.
func (c *typeCheck) at(l region.Letter, f func()) {
	c.word = append(c.word, l)
	f()
	c.word = c.word[:len(c.word)-1]
}

func (c *typeCheck) report(f finding) {
	c.add(f, func(f finding) finding { return f.about(c.word) })
}

// Whether the items of a container are sound, that is valid but for references, is a
// fold; so is whether they fit. What was once found sound is not looked into again,
// wherever it is copied or moved to. References are apart: they depend on the rest of the
// state.

// A typeFold is what is remembered of the containers of one type.
type typeFold struct {
	sound *tree.Fold[soundness]
	fits  *tree.Fold[bool]
}

// A soundness is whether items are sound, and how many steps their constraints take.
type soundness struct {
	ok    bool
	steps int64
}

func newTypeFolds(types []ir.Type) []typeFold {
	out := make([]typeFold, len(types))
	both := func(a, b bool) bool { return a && b }
	bothSound := func(a, b soundness) soundness {
		return soundness{a.ok && b.ok, min(a.steps+b.steps, math.MaxInt64/2)}
	}
	for i := range types {
		switch types[i].Kind {
		case ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType:
			out[i] = typeFold{tree.NewFold(bothSound), tree.NewFold(both)}
		}
	}
	return out
}

// sound reports whether nothing is wrong with the items of a container, by what is
// remembered as far as possible. Findings about references alone are added to c's;
// for others, the items have to be gone through.
func (c *typeCheck) sound(n *tree.Node, id ir.TypeID, t *ir.Type) bool {
	if n.Len() == 0 {
		return true
	}
	if n.Weight() < worthAsking || !c.soundBesideReferences(n, id, t) {
		return false
	}
	if c.state != nil && c.info[t.Elem].refs {
		c.referencesIn(n, t.Elem)
	}
	return true
}

// worthAsking is how many values a container must hold to be asked about as a whole.
const worthAsking = 48

func (c *typeCheck) soundBesideReferences(n *tree.Node, id ir.TypeID, t *ir.Type) bool {
	left := c.room.budget.Room()
	inside := typeCheck{types: c.types, ctx: c.ctx, room: ruleCost{budget: expr.NewBudget(uint64(left), nil)}}
	all, _ := c.folds[id].sound.Of(n, func(name string, child *tree.Node) (soundness, bool) {
		inside.collection, inside.word = collection{}, inside.word[:0]
		before := inside.room.budget.Room()
		inside.check(child, t.Elem)
		ok := inside.total == 0 && (t.Kind != ir.KeyedType || namesItself(t, name, child))
		return soundness{ok, before - inside.room.budget.Room()}, !inside.room.over()
	})
	if inside.room.over() {
		all.steps = left + 1
	}
	if c.room.budget.Spend(all.steps); c.room.over() {
		c.report(c.room.because(messages.constraints(c.info[t.Elem].text).of(ir.TypeGate, ""), exhausted))
		return true
	}
	return all.ok && (t.Kind != ir.SetType || !hasDuplicates(n))
}

// referencesIn checks the references in the items of a sound container.
func (c *typeCheck) referencesIn(n *tree.Node, elem ir.TypeID) {
	for name, child := range n.Members() {
		c.at(region.Key(name), func() { c.references(child, elem) })
	}
	for i, child := range n.Elements() {
		c.at(region.Index(i), func() { c.references(child, elem) })
	}
}

// references checks the references in a value that is sound beside them.
func (c *typeCheck) references(n *tree.Node, id ir.TypeID) {
	c.watch.tick()
	t := &c.contract.Types[id]
	switch {
	case !c.info[id].refs:
	case t.Kind == ir.RecordType:
		for name, child := range n.Members() {
			c.at(region.Key(name), func() { c.references(child, c.below(id, name)) })
		}
	case c.folds[id].sound != nil:
		c.referencesIn(n, t.Elem)
	default:
		c.check(n, id)
	}
}

// Fitting.

// fits reports whether n has the structure of type t: kinds, literals, members,
// keys of keyed lists, no duplicates in sets. References and where constraints
// are rules, not structure: a union does not choose by them. Linear in n.
func (ts *types) fits(id ir.TypeID, n *tree.Node) bool {
	ts.watch.tick()
	t := &ts.contract.Types[id]
	switch t.Kind {
	case ir.StringType, ir.RefType:
		return n.Kind() == ir.String
	case ir.NumberType, ir.DecimalType:
		return n.Kind() == ir.Number
	case ir.IntType:
		return n.Kind() == ir.Number && tree.IsInt64(n)
	case ir.BoolType:
		return n.Kind() == ir.Bool
	case ir.NullType:
		return n.Kind() == ir.Null
	case ir.LiteralType:
		return tree.Equal(n, ts.literals[id])
	case ir.UnionType:
		for _, alt := range t.Alternatives {
			if ts.fits(alt, n) {
				return true
			}
		}
		return false
	case ir.RecordType:
		return n.Kind() == ir.Object && ts.fitsRecord(t, n)
	case ir.MapType, ir.KeyedType:
		return n.Kind() == ir.Object && ts.fitItems(id, t, n)
	case ir.ListType, ir.SetType, ir.LogType:
		return n.Kind() == ir.Array && ts.fitItems(id, t, n) && (t.Kind != ir.SetType || !ts.repeats(n, t.Elem))
	default:
		return true
	}
}

func (ts *types) fitsRecord(t *ir.Type, n *tree.Node) bool {
	known := 0
	for _, m := range t.Members {
		child := n.Get(m.Name)
		if child == nil && !m.Optional || child != nil && !ts.fits(m.Type, child) {
			return false
		}
		if child != nil {
			known++
		}
	}
	if known == n.Len() {
		return true
	}
	for name, child := range n.Members() {
		if _, declared := t.Member(name); !declared && (t.Rest == ir.NoType || !ts.fits(t.Rest, child)) {
			return false
		}
	}
	return true
}

// fitItems reports whether the items of a container fit; remembered where it holds
// much.
func (ts *types) fitItems(id ir.TypeID, t *ir.Type, n *tree.Node) bool {
	if n.Len() == 0 {
		return true
	}
	fit, _ := ts.folds[id].fits.Of(n, func(name string, child *tree.Node) (bool, bool) {
		return ts.fits(t.Elem, child) && (t.Kind != ir.KeyedType || namesItself(t, name, child)), true
	})
	return fit
}

// namesItself reports whether the element of a keyed list holds the key it stands under.
func namesItself(t *ir.Type, name string, element *tree.Node) bool {
	field := element.Get(t.KeyField)
	return field != nil && field.Kind() == ir.String && field.Text() == name
}

// repeats reports whether an array has two elements that are equal as values of type
// elem, in whose shape they need not be yet.
func (ts *types) repeats(n *tree.Node, elem ir.TypeID) bool {
	if ts.info[elem].ordered && n.Len() > 1 {
		n = n.MapElements(func(_ int, child *tree.Node) *tree.Node { return ts.reshape(child, elem) })
	}
	return hasDuplicates(n)
}

// hasDuplicates reports whether two elements of an array are equal.
func hasDuplicates(n *tree.Node) bool {
	if n.Len() < 2 {
		return false
	}
	if n.Len() <= 8 {
		return hasDuplicatesFew(n)
	}
	if n.Order() == tree.SetOrder {
		return !n.Distinct()
	}
	seen := make(map[tree.Digest]bool, n.Len())
	for _, child := range n.Elements() {
		d := child.Digest()
		if seen[d] {
			return true
		}
		seen[d] = true
	}
	return false
}

// hasDuplicatesFew compares pairs, which for a handful is cheaper than digests.
func hasDuplicatesFew(n *tree.Node) bool {
	for i := range n.Len() {
		for j := range i {
			if tree.Equal(n.At(i), n.At(j)) {
				return true
			}
		}
	}
	return false
}
