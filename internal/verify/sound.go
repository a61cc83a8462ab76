package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// Whether the items of a container are of their type, constraints included, is a
// fold; so is whether they fit it, by which unions choose. What was once found sound
// is not looked into again, wherever it is copied or moved to. References are apart:
// they depend on the rest of the state.

// A typeFold is what is remembered of the containers of one type.
type typeFold struct {
	sound *tree.Fold[bool]
	fits  *tree.Fold[bool]
}

func newTypeFolds(types []ir.Type) []typeFold {
	out := make([]typeFold, len(types))
	both := func(a, b bool) bool { return a && b }
	for i := range types {
		switch types[i].Kind {
		case ir.MapType, ir.KeyedType, ir.ListType, ir.SetType, ir.LogType:
			out[i] = typeFold{tree.NewFold(both), tree.NewFold(both)}
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
	if c.state != nil && c.p.types[t.Elem].refs {
		c.referencesIn(n, t.Elem)
	}
	return true
}

// worthAsking is how many values a container must hold to be asked about as a whole.
const worthAsking = 48

func (c *typeCheck) soundBesideReferences(n *tree.Node, id ir.TypeID, t *ir.Type) bool {
	inside := typeCheck{p: c.p, ctx: c.ctx}
	sound, _ := c.p.folds[id].sound.Of(n, func(name string, child *tree.Node) (bool, bool) {
		inside.collection, inside.word = collection{}, inside.word[:0]
		inside.check(child, t.Elem)
		ok := inside.total == 0 && (t.Kind != ir.KeyedType || namesItself(t, name, child))
		return ok, true
	})
	return sound && (t.Kind != ir.SetType || !hasDuplicates(n))
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
	c.p.watch.step()
	t := &c.p.contract.Types[id]
	switch {
	case !c.p.types[id].refs:
	case t.Kind == ir.RecordType:
		for name, child := range n.Members() {
			c.at(region.Key(name), func() { c.references(child, c.p.below(id, name)) })
		}
	case c.p.folds[id].sound != nil:
		c.referencesIn(n, t.Elem)
	default:
		c.check(n, id)
	}
}
