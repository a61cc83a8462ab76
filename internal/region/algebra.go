package region

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
