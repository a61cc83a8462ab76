package region

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
