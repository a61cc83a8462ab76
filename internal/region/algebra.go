package region

import "slices"

// Union is the concatenation of the grant lists: no authority emerges that
// neither had (spec/semantics.md section 3.4).
func Union(regions ...Region) Region {
	var out Region
	for _, r := range regions {
		out = append(out, r...)
	}
	return out
}

// stepPrice is what a pair of segments, or a pattern that is copied, costs beside a step
// of a search.
const stepPrice = 4

// Intersect is pairwise on grants: (U1 and U2) minus (S1 or S2); its interior is
// the intersection of the interiors (section 3.4). The result says the same as
// IntersectSets for every binding that respects reserved literals, unless exact
// is false: then two different parameters stand at the same place, or more than
// maxProduct patterns would be needed, and the result may hold too little. The pairs of
// segments that are looked at count for the meter; once it is spent nothing is exact.
func Intersect(a, b Region, meter *Meter) (r Region, exact bool) {
	if meter.IsSpent() {
		return nil, false
	}
	exact = true
	steps := maxSteps
	defer func() { meter.Spend(stepPrice * (maxSteps - steps)) }()
	others := separate(b)
	for _, g := range separate(a) {
		for _, h := range others {
			include, ok := meetAll(g.Include, h.Include, &steps)
			exact = exact && ok
			r = appendGrant(r, include, g.Except, h.Except)
			if steps -= 1 + len(g.Except) + len(h.Except); steps < 0 || len(r) > maxProduct {
				return r, false
			}
		}
	}
	return r, exact
}

// Difference holds the words of a that are not in b: for each pair of grants
// U1 \ (S1 or U2) and (U1 and S2) \ S1 (section 3.4). Exact, and counted, as for Intersect.
func Difference(a, b Region, meter *Meter) (r Region, exact bool) {
	if meter.IsSpent() {
		return nil, false
	}
	r, exact = separate(a), true
	steps := maxSteps
	defer func() { meter.Spend(stepPrice * (maxSteps - steps)) }()
	for _, h := range b {
		var left Region
		holes := separate(Region{{Include: h.Except}})
		for _, g := range r {
			left = appendGrant(left, g.Include, g.Except, h.Include)
			steps -= 1 + len(g.Except) + len(h.Include)
			for _, hole := range holes {
				include, ok := meetAll(g.Include, hole.Include, &steps)
				exact = exact && ok
				left = appendGrant(left, include, g.Except, hole.Except)
				if steps -= 1 + len(g.Except) + len(hole.Except); steps < 0 || len(left) > maxProduct {
					return r, false
				}
			}
		}
		if r = left; steps < 0 || len(r) > maxProduct {
			return r, false
		}
	}
	return r, exact
}

// Without takes exceptions away from a grant: those that it may meet join its own, the
// others say nothing of it. g is left alone. What is compared counts for the meter; once
// it is spent all of them join.
func (g Grant) Without(except []Pattern, meter *Meter) Grant {
	meter.Spend(1 + len(g.Include)*len(except)/comparisons)
	if len(g.Except) == 0 && !slices.ContainsFunc(except, func(e Pattern) bool { return !g.mayMeet(e) }) {
		g.Except = except[:len(except):len(except)] // many grants may have them all
		return g
	}
	g.Except = slices.Clone(g.Except)
	for _, e := range except {
		if meter.IsSpent() || g.mayMeet(e) {
			g.Except = append(g.Except, e)
		}
	}
	return g
}

// comparisons is how many patterns are looked at for the price of a step of a search.
const comparisons = 8

func (g Grant) mayMeet(except Pattern) bool {
	return slices.ContainsFunc(g.Include, func(p Pattern) bool { return p.MayMeet(except) })
}

func appendGrant(r Region, include []Pattern, excepts ...[]Pattern) Region {
	if len(include) == 0 {
		return r
	}
	g := Grant{Include: include}
	for _, e := range excepts {
		g.Except = append(g.Except, e...)
	}
	return append(r, g)
}

// meetAll intersects two unions of patterns.
func meetAll(a, b []Pattern, steps *int) ([]Pattern, bool) {
	c := product{seen: map[string]bool{}, exact: true, steps: steps}
	for _, p := range a {
		for _, q := range b {
			if c.add(p, q); *steps < 0 {
				return c.out, false
			}
		}
	}
	return c.out, c.exact
}

// separate rewrites r so that no include is both shallow and has an AnyDepth:
// such a pattern p becomes a grant of its own, p except p/* (section 3.2). A
// shallow include adds nothing to the interior, so neither changes.
func separate(r Region) Region {
	var out Region
	for _, g := range r {
		var plain []Pattern
		for _, p := range g.Include {
			if !p.isMinimal() {
				plain = append(plain, p)
				continue
			}
			below := Pattern{Segments: grow(normal(p.Segments), Segment{Kind: AnySegment})}
			out = appendGrant(out, []Pattern{{Segments: p.Segments}}, g.Except, []Pattern{below})
		}
		out = appendGrant(out, plain, g.Except)
	}
	return out
}

// isMinimal reports whether p is shallow and may match both a word and words
// below it, of which only the first count.
func (p Pattern) isMinimal() bool { return p.Shallow && hasDepth(normal(p.Segments)) }

// The words of two patterns' intersection are again a finite union of patterns.
// Walk both in step: two ordinary segments unify to one; an AnyDepth on one side
// either ends or takes the other side's segment; two AnyDepths stay together
// until one of them ends. When one pattern is used up, it accepts everything
// below, so the rest of the other finishes the result. Every step consumes a
// segment, hence the walk ends, though the number of ways is exponential in the
// number of AnyDepths.

// maxProduct bounds the patterns of one intersection or difference, maxSteps the
// pairs of segments that are looked at.
const (
	maxProduct = 4096
	maxSteps   = 1 << 17
)

// A product collects the patterns that make up an intersection.
type product struct {
	out   []Pattern
	seen  map[string]bool
	exact bool // false once something had no pattern, or a bound was reached
	steps *int // that are left
}

// add intersects p and q. Neither may be shallow and have an AnyDepth.
func (c *product) add(p, q Pattern) {
	c.walk(normal(p.Segments), normal(q.Segments), nil, p.Shallow, q.Shallow)
}

func (c *product) walk(p, q, done []Segment, pShallow, qShallow bool) {
	if *c.steps--; len(c.out) >= maxProduct || *c.steps < 0 {
		c.exact = false
		return
	}
	switch {
	case len(p) == 0:
		c.finish(q, done, pShallow, qShallow)
	case len(q) == 0:
		c.finish(p, done, qShallow, pShallow)
	case p[0].Kind == AnyDepth && q[0].Kind == AnyDepth:
		done = grow(done, p[0])
		c.walk(p[1:], q, done, pShallow, qShallow)
		c.walk(p, q[1:], done, pShallow, qShallow)
	case p[0].Kind == AnyDepth:
		c.walk(p[1:], q, done, pShallow, qShallow)
		c.walk(p, q[1:], grow(done, q[0]), pShallow, qShallow)
	case q[0].Kind == AnyDepth:
		c.walk(p, q[1:], done, pShallow, qShallow)
		c.walk(p[1:], q, grow(done, p[0]), pShallow, qShallow)
	default:
		c.step(p, q, done, pShallow, qShallow)
	}
}

func (c *product) step(p, q, done []Segment, pShallow, qShallow bool) {
	both, ok := unify(p[0], q[0])
	if !ok {
		c.exact = c.exact && !dependsOnBinding(p[0], q[0])
		return
	}
	c.walk(p[1:], q[1:], grow(done, both), pShallow, qShallow)
}

// dependsOnBinding reports whether s and t, which do not unify, may meet once
// parameters are bound. Reserved literals (section 9) settle a parameter against
// a literal, but not against another parameter.
func dependsOnBinding(s, t Segment) bool {
	return s.Kind == ParamSegment && t.Kind == ParamSegment
}

// finish ends a walk on which one pattern was used up and rest remains of the
// other. A shallow pattern that is used up allows no further letter.
func (c *product) finish(rest, done []Segment, usedUpShallow, restShallow bool) {
	if usedUpShallow {
		if len(normal(rest)) > 0 {
			return
		}
		rest = nil
	}
	segments := append(append([]Segment(nil), done...), rest...)
	p := Pattern{Segments: normal(segments), Shallow: usedUpShallow || restShallow}
	if key := p.String(); !c.seen[key] {
		c.seen[key] = true
		c.out = append(c.out, p)
	}
}

// grow appends to a copy, since several walks share a beginning.
func grow(done []Segment, s Segment) []Segment {
	return append(done[:len(done):len(done)], s)
}
