package region

// Fixed identifies where the walk is, if what the set holds below does not depend on
// the binding and not on the positions in arrays: walks with equal identities, of any
// binding, then go on alike, and so does every Index. The identity is a pointer that
// belongs to the set. ok may be false where it takes long to see.
func (c Cursor) Fixed() (identity any, ok bool) { return c.at, c.at.isFixed() }

// isFixed reports whether no letter of a parameter's value and no single index leads
// anywhere of its own from any node that can be reached.
func (n *node) isFixed() bool {
	if answer, known := n.fixed.get(); known {
		return answer
	}
	found, path := n.reach(wholeBudget, (*node).tellsApart)
	for _, x := range path {
		x.fixed.set(found == No)
	}
	return found == No
}

func (n *node) tellsApart() bool {
	for _, l := range n.exits().letters {
		if l.Kind == valueLetter || l.Kind == IndexLetter {
			return true
		}
	}
	return false
}
