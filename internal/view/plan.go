package view

import (
	"slices"
	"sync/atomic"

	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// A plan is what a place of a region shows of a value there. It is compiled when a walk
// first comes to the place, and kept with it: so a stage's view is compiled once, with the
// keys that its parameters are bound to open, and a call looks them up.
type plan struct {
	in      bool                      // the value itself is shown
	object  way                       // of an object
	array   way                       // of an array: whole, hidden or each
	keys    []region.KeyOf            // byKeys
	same    any                       // alike, and of arrays: what identifies the place; else nil
	entries tree.Memo[*tree.Node]     // what is shown of objects here
	choices atomic.Pointer[[]*choice] // of members of small objects
}

// A way is how a container is projected.
type way uint8

const (
	hidden way = iota
	whole      // as it is
	bare       // without what is in it
	byKeys     // what is under certain keys alone
	alike      // item by item, and the same whatever the parameters are bound to
	each       // item by item
)

func planOf(c region.Cursor) *plan { return c.Derived(newPlan).(*plan) }

func newPlan(c region.Cursor) any {
	p := &plan{in: c.In(), entries: tree.NewMemo[*tree.Node]()}
	if same, ok := c.BindingIndependent(); ok {
		p.same = same
	}
	switch {
	case c.Universal():
		p.object, p.array = whole, whole
		return p
	case c.In() || c.CanHold(region.Array):
		p.array = each
	}
	if !c.CanHold(region.Object) {
		if c.In() {
			p.object = bare
		}
		return p
	}
	keys, only := c.OnlyKeys()
	switch {
	case only:
		p.keys, p.object = keys, byKeys
	case p.same != nil:
		p.object = alike
	default:
		p.object = each
	}
	return p
}

// shows reports whether some value may have something to show here.
func (p *plan) shows() bool { return p.in || p.object != hidden || p.array != hidden }

// A choice is which members of an object may be shown that has certain members. Records of
// one type are mostly alike in that.
type choice struct {
	of    []string // the names of all
	at    []int    // of which these
	to    []region.Place
	names []string // their names
}

const (
	maxChoices   = 8    // how many a plan keeps
	maxNameBytes = 1024 // how long the names are that it keeps, all together
)

// choice is the choice among members of the given names, nil if it is not to be kept.
func (p *plan) choice(names []string, c region.Cursor) *choice {
	var known []*choice
	if all := p.choices.Load(); all != nil {
		known = *all
	}
	for _, k := range known {
		if len(k.of) == len(names) && (&k.of[0] == &names[0] || slices.Equal(k.of, names)) {
			return k
		}
	}
	size := 0
	for _, name := range names {
		size += len(name)
	}
	if len(known) == maxChoices || size > maxNameBytes {
		return nil
	}
	made := &choice{of: names}
	for i, name := range names {
		if to := c.Key(name); planOf(to).shows() {
			made.at, made.to, made.names = append(made.at, i), append(made.to, to.Place()), append(made.names, name)
		}
	}
	made.names = slices.Clip(made.names)
	all := append(slices.Clone(known), made)
	p.choices.Store(&all)
	return made
}
