package check

import (
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/region"
)

// The key field of a keyed list holds the name under which an element shows. An exception
// that takes the field away from what a stage reads, and leaves the element in sight,
// hides nothing, and looks as if it did.

func (c *checker) checkKeys() {
	lists := c.model.KeyedLists()
	for _, st := range c.stages {
		cl := st.clauses["read"]
		if c.exhausted(st.decl.Name.Span) {
			return
		}
		if cl == nil {
			continue
		}
		for _, list := range lists {
			if c.exceptsKey(st.out.Read, list) && c.model.ShowsEntries(st.out.Read, list) {
				c.report(exceptedKey(st, cl, list.Key))
			}
		}
	}
}

// exceptsKey reports whether an exception takes away the key field of elements by itself.
func (c *checker) exceptsKey(r region.Region, list footprint.KeyedList) bool {
	for _, g := range r {
		for _, e := range g.Except {
			if e.Shallow = true; c.meet(e, list.Key) && c.meet(list.Key, g.Include...) {
				return true
			}
		}
	}
	return false
}

// meet reports whether some state has a place that a pattern has and one of others too.
func (c *checker) meet(p region.Pattern, others ...region.Pattern) bool {
	a, b := region.Compile(region.Region{{Include: []region.Pattern{p}}}), region.Compile(region.Region{{Include: others}})
	return region.Overlap(a, b, region.Plain, region.Plain, c.model.Options()).Verdict != region.No
}
