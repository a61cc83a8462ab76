package guide

import (
	"context"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// The example: a small patch that passes what can be told from the view. It begins with what must be
// brought, or else with one change. Where gates that see no more than the view would refuse that, others
// are tried: another value or member, another place, and two places together.

// maxRehearsals bounds how many patches are tried.
const maxRehearsals = 400

// A step is an operation of an example.
type step struct {
	site    int // of the places
	value   *tree.Node
	removes bool
	within  []region.Segment // where, in what stands at the place; then something is added there
}

// example makes the example of the guide.
func (b *builder) example() {
	r := &rehearsal{builder: b, left: maxRehearsals}
	r.shown = b.withContainers()
	first := r.produced()
	if len(first) == 0 {
		if i := b.best(); i >= 0 {
			first = []step{r.stepAt(i)}
		}
	}
	best := first
	if failed, runs := r.try(first); runs && failed > 0 {
		best = r.improve(first, failed)
	}
	b.guide.Example = r.patch(best)
	b.guide.Guesses = b.guessed(best)
}

// guessed reports whether steps have a key that is made up.
func (b *builder) guessed(steps []step) bool {
	return slices.ContainsFunc(steps, func(s step) bool { return s.value != nil && b.guesses(s.value) })
}

// A rehearsal tries patches on the view.
type rehearsal struct {
	*builder
	shown *tree.Node // the view, with the empty containers that are written into unseen
	left  int        // how many patches may be tried yet
}

// withContainers is the view with an empty container wherever places lie in one that it does not show.
func (b *builder) withContainers() *tree.Node {
	out := b.view
	for i := range b.sites {
		s := b.sites[i].segments
		for n := 1; n < len(s); n++ {
			if slices.ContainsFunc(s[:n], func(s region.Segment) bool { return s.Kind != region.KeyLiteral }) {
				break
			}
			if nodeAt(out, region.Pattern{Segments: s[:n]}) != nil {
				continue
			}
			empty := tree.NewObject(nil)
			for _, id := range b.typesAt(region.Pattern{Segments: s[:n]}) {
				if k := b.contract.Types[id].Kind; k == ir.ListType || k == ir.SetType || k == ir.LogType {
					empty = tree.NewArray(nil)
				}
			}
			if with := putAt(out, s[:n], empty); with != nil {
				out = with
			}
		}
	}
	return out
}

// stepAt is the step of a place, with the value that the guide has for it.
func (r *rehearsal) stepAt(i int) step {
	p := &r.guide.Places[i]
	if r.opFor(p) == "remove" {
		return step{site: i, removes: true}
	}
	v, _ := tree.Parse(p.Example, tree.DefaultLimits)
	return step{site: i, value: v}
}

// produced are the steps that bring what must be there and is not: each at its place, or at the place
// that it lies in.
func (r *rehearsal) produced() []step {
	var out []step
	for _, p := range r.stage.Produce {
		at := p.Bind(r.args)
		if len(at.Segments) == 0 || slices.ContainsFunc(at.Segments, isWildcard) || nodeAt(r.view, at) != nil {
			continue
		}
		i := r.placeOf(at.Segments)
		if i < 0 {
			continue
		}
		above := region.Pattern{Segments: at.Segments[:len(at.Segments)-1]}
		if rest := at.Segments[len(r.sites[i].segments):]; len(rest) > 0 && nodeAt(r.view, above) != nil {
			for _, id := range r.typesAt(at) {
				if of := r.valuesOf(id); len(of) > 0 {
					out = append(out, step{site: i, value: of[0], within: rest})
					break
				}
			}
			continue
		}
		j := slices.IndexFunc(out, func(s step) bool { return s.site == i && s.within == nil })
		if j < 0 {
			j = len(out)
			out = append(out, r.stepAt(i))
		}
		if rest := at.Segments[len(r.sites[i].segments):]; len(rest) > 0 {
			for _, id := range r.flat(r.sites[i].raw) {
				if v := r.withAt(out[j].value, id, rest); v != nil && r.fits(&r.sites[i], v) {
					out[j].value = v
					break
				}
			}
		}
	}
	return out
}

// placeOf is the place that has an example and is, or is nearest above, what some segments lead to; -1 if none is.
func (r *rehearsal) placeOf(segments []region.Segment) int {
	best := -1
	for i := range r.sites {
		s := r.sites[i].segments
		if r.guide.Places[i].Example == nil || len(s) > len(segments) || !leadsTo(s, segments) || slices.ContainsFunc(s, isWildcard) {
			continue
		}
		if best < 0 || len(s) > len(r.sites[best].segments) {
			best = i
		}
	}
	return best
}

// withAt is a value of a type with something at a place below; nil if nothing can be there.
func (r *rehearsal) withAt(n *tree.Node, id ir.TypeID, rest []region.Segment) *tree.Node {
	if len(rest) == 0 {
		if n != nil {
			return n
		}
		if of := r.valuesOf(id); len(of) > 0 {
			return of[0]
		}
		return nil
	}
	if n == nil || n.Kind() != ir.Object {
		if of := r.valuesOf(id); len(of) > 0 && of[0].Kind() == ir.Object {
			n = of[0]
		} else {
			return nil
		}
	}
	name := rest[0].Text
	for _, below := range r.flat(r.typesBelow([]ir.TypeID{id}, rest[0])) {
		if v := r.withAt(n.Get(name), below, rest[1:]); v != nil {
			if t := &r.contract.Types[id]; t.Kind == ir.KeyedType {
				v = withMember(v, t.KeyField, tree.NewString(name))
			}
			return withMember(n, name, v)
		}
	}
	return nil
}

// fits reports whether a value may be put at a site.
func (b *builder) fits(s *site, v *tree.Node) bool {
	return slices.ContainsFunc(b.flat(s.raw), func(id ir.TypeID) bool { return b.program.Accepts(v, id) }) && !b.breaksAbove(s, v) &&
		(s.keyField == "" || v.Get(s.keyField) != nil && v.Get(s.keyField).Text() == b.keyFor(s)) && (s.bag == nil || !holds(s.bag, v))
}

// patch writes steps.
func (r *rehearsal) patch(steps []step) []byte {
	out := []operation{}
	for _, s := range steps {
		p := &r.guide.Places[s.site]
		o := operation{Op: "remove", Path: ExamplePath(p)}
		if !s.removes {
			o.Op, o.Value = r.opFor(p), tree.AppendJSON(nil, s.value)
		}
		if s.within != nil {
			o.Op, o.Path = "add", o.Path+r.pointerOf(region.Pattern{Segments: s.within})
		}
		out = append(out, o)
	}
	return encoded(out)
}

// try runs steps on the view, and says how many gates would refuse them.
func (r *rehearsal) try(steps []step) (failed int, runs bool) {
	r.left--
	pr := verify.Proposal{Stage: r.stage.Name, Args: r.given, Patch: r.patch(steps)}
	if len(r.guide.Next) > 0 {
		pr.Next = r.guide.Next[0]
	}
	failed, runs, err := r.program.Rehearse(context.Background(), verify.Snapshot{State: r.shown, Phase: r.phase}, pr)
	return failed, runs && err == nil
}

// improve looks for steps that fewer gates refuse, by way of others of which one thing is another, until
// none does or too many were tried. Of two places, which alone would change nothing for the better, pairs are tried.
func (r *rehearsal) improve(steps []step, failed int) []step {
	for failed > 0 {
		next, now := r.better(steps, failed)
		if now >= failed {
			break
		}
		steps, failed = next, now
	}
	return r.pruned(steps, failed)
}

// pruned leaves out what makes nothing better: what was added, and what begins with one more in a container.
func (r *rehearsal) pruned(steps []step, failed int) []step {
	for i := len(steps) - 1; i >= 0 && len(steps) > 1; i-- {
		if first := &r.sites[steps[0].site]; i == 0 && first.hang != last && first.hang != appended {
			break
		}
		fewer := slices.Delete(slices.Clone(steps), i, i+1)
		if now, runs := r.try(fewer); runs && now <= failed {
			steps = fewer
		}
	}
	return steps
}

// better is the first found of steps near some others that fewer gates refuse.
func (r *rehearsal) better(steps []step, failed int) ([]step, int) {
	var found []step
	sure := !r.guessed(steps)
	try := func(candidate []step) bool {
		if r.left <= 0 {
			return true
		}
		if sure && r.guessed(candidate) {
			return false
		}
		now, runs := r.try(candidate)
		if runs && now < failed {
			found, failed = candidate, now
			return true
		}
		return false
	}
	others := func(take func(step) bool) bool {
		for i := range r.guide.Places {
			if slices.ContainsFunc(steps, func(s step) bool { return s.site == i }) || r.guide.Places[i].Example == nil || r.sites[i].hang == element {
				continue
			}
			for _, v := range r.near(i, nil) {
				if take(step{site: i, value: v}) {
					return true
				}
			}
		}
		return false
	}
	for i, s := range steps { // another value
		if s.removes || s.within != nil {
			continue
		}
		for _, v := range r.near(s.site, s.value) {
			if try(replaced(steps, i, step{site: s.site, value: v})) {
				return found, failed
			}
		}
	}
	if others(func(s step) bool { return try(append(slices.Clone(steps), s)) }) { // one more place
		return found, failed
	}
	if len(steps) == 1 && steps[0].within == nil {
		spare := r.left / 3
		r.left -= spare
		for _, v := range r.near(steps[0].site, steps[0].value) { // both
			if others(func(s step) bool { return try([]step{{site: steps[0].site, value: v}, s}) }) && found != nil {
				return found, failed
			}
		}
		r.left += spare
		others(func(s step) bool { return try([]step{s}) }) // another place
	}
	return found, failed
}

func replaced(steps []step, i int, by step) []step {
	out := slices.Clone(steps)
	out[i] = by
	return out
}

// near are values for a place: those that its types have, what the arguments and the view say, and
// records that differ in one member from the one that is given.
func (r *rehearsal) near(i int, from *tree.Node) []*tree.Node {
	s := &r.sites[i]
	var out []*tree.Node
	offer := func(v *tree.Node) {
		if s.keyField != "" && v.Kind() == ir.Object {
			v = withMember(v, s.keyField, tree.NewString(r.keyFor(s)))
		}
		if (s.node == nil || v.Digest() != s.node.Digest()) && r.fits(s, v) && !slices.ContainsFunc(out, func(o *tree.Node) bool { return o.Digest() == v.Digest() }) {
			out = append(out, v)
		}
	}
	for _, id := range r.flat(s.raw) {
		for _, v := range r.valuesAt(s, id) {
			offer(v)
		}
		for _, v := range r.said(id, s.node) {
			offer(v)
		}
		if from != nil && r.program.Accepts(from, id) {
			r.altered(from, id, 3, offer)
		}
	}
	return out
}

// altered offers a value with one thing in it changed.
func (r *rehearsal) altered(n *tree.Node, id ir.TypeID, depth int, offer func(*tree.Node)) {
	t := &r.contract.Types[id]
	switch {
	case depth == 0:
	case t.Kind == ir.UnionType:
		for _, a := range t.Alternatives {
			if r.program.Accepts(n, a) {
				r.altered(n, a, depth, offer)
			}
		}
	case t.Kind == ir.RecordType:
		for _, m := range t.Members {
			put := func(v *tree.Node) { offer(withMember(n, m.Name, v)) }
			for _, v := range r.valuesOf(m.Type) {
				put(v)
			}
			for _, v := range r.said(m.Type, nil) {
				put(v)
			}
			if child := n.Get(m.Name); child != nil {
				r.altered(child, m.Type, depth-1, put)
			}
		}
	case t.Kind == ir.ListType, t.Kind == ir.SetType, t.Kind == ir.LogType:
		for n := 0; n <= len(r.valuesOf(t.Elem)); n++ {
			offer(tree.NewArray(slices.Clone(r.valuesOf(t.Elem)[:n])))
		}
	}
}

// said are values of a type that somebody said: arguments, and of numbers the next ones to that which
// is there, and of texts the keys of what the view shows.
func (r *rehearsal) said(id ir.TypeID, there *tree.Node) []*tree.Node {
	var out []*tree.Node
	add := func(n *tree.Node) {
		if n != nil && len(out) < 16 && r.program.Accepts(n, id) {
			out = append(out, n)
		}
	}
	for _, a := range r.guide.Arguments {
		n, _ := tree.Parse(a.Value, tree.DefaultLimits)
		add(n)
	}
	switch t := &r.contract.Types[id]; t.Kind {
	case ir.IntType, ir.NumberType, ir.DecimalType:
		if there != nil && there.Kind() == ir.Number {
			for _, x := range nextTo(string(tree.AppendJSON(nil, there))) {
				n, _ := tree.NewNumber(x)
				add(n)
			}
		}
	case ir.StringType:
		r.keysShown(r.view, 3, add)
	}
	return out
}

// keysShown offers the keys of maps that the view shows, and the texts of its lists.
func (r *rehearsal) keysShown(n *tree.Node, depth int, offer func(*tree.Node)) {
	switch {
	case depth < 0:
	case n.Kind() == ir.Object:
		for name, child := range n.Members() {
			if depth < 2 && !strings.Contains(name, " ") {
				offer(tree.NewString(name))
			}
			r.keysShown(child, depth-1, offer)
		}
	case n.Kind() == ir.Array:
		for _, child := range n.Elements() {
			if child.Kind() == ir.String {
				offer(child)
			}
		}
	}
}
