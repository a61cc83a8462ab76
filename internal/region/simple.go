package region

// Two closed patterns without exceptions overlap iff they do when each is cut at
// its first AnyDepth, because that absorbs whatever completes the other pattern
// and then goes on with the rest (spec/semantics.md section 8.3). Two cut
// patterns overlap iff the shorter unifies with the beginning of the other.

// simplePatterns returns every pattern of the sources, cut; ok is false if there
// are exceptions, shallow patterns or intersections.
func simplePatterns(sources []source) (cut []Pattern, ok bool) {
	for _, s := range sources {
		if len(s.except) > 0 || len(s.require) != 1 {
			return nil, false
		}
		for _, p := range s.require[0] {
			if p.Shallow {
				return nil, false
			}
			cut = append(cut, Pattern{Segments: beforeDepth(p.Segments)})
		}
	}
	return cut, true
}

func beforeDepth(segments []Segment) []Segment {
	for i, s := range segments {
		if s.Kind == AnyDepth {
			return segments[:i]
		}
	}
	return segments
}

func simpleOverlap(as, bs []Pattern) bool {
	for _, a := range as {
		for _, b := range bs {
			if segmentsMeet(a.Segments, b.Segments) {
				return true
			}
		}
	}
	return false
}

func segmentsMeet(p, q []Segment) bool {
	for i := range min(len(p), len(q)) {
		if _, ok := unify(p[i], q[i]); !ok {
			return false
		}
	}
	return true
}
