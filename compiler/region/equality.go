package region

// classes is the partition of parameters and keys that some equalities make:
// each member points towards the representative of its class.
type classes struct {
	parent map[operand]operand
}

type operand struct {
	name    string
	literal bool
}

func (e Equality) operands() (left, right operand) {
	return operand{name: e.Left}, operand{name: e.Right, literal: e.Literal}
}

func (c *classes) find(x operand) operand {
	for {
		up, ok := c.parent[x]
		if !ok {
			return x
		}
		x = up
	}
}

// join puts x and y into one class, of which a key is the representative if there
// is one. It reports false if that would make two keys equal.
func (c *classes) join(x, y operand) bool {
	x, y = c.find(x), c.find(y)
	switch {
	case x == y:
		return true
	case x.literal && y.literal:
		return false
	case x.literal:
		c.parent[y] = x
	default:
		c.parent[x] = y
	}
	return true
}

// classesOf reads the equalities of all; ok is false if they contradict each
// other.
func classesOf(all []Equality) (c classes, ok bool) {
	c.parent = map[operand]operand{}
	for _, e := range all {
		if x, y := e.operands(); !e.Not && !c.join(x, y) {
			return c, false
		}
	}
	for _, e := range all {
		if x, y := e.operands(); e.Not && c.find(x) == c.find(y) {
			return c, false
		}
	}
	return c, true
}

// withoutImplied drops equalities that follow from earlier ones; ok is false if
// they contradict each other.
func withoutImplied(all []Equality) (kept []Equality, ok bool) {
	for _, e := range all {
		if !implies(kept, e) {
			kept = append(kept, e)
		}
		if _, ok := classesOf(kept); !ok {
			return nil, false
		}
	}
	return kept, true
}

// implies reports whether e follows from all, which is consistent.
func implies(all []Equality, e Equality) bool {
	if len(all) == 1 && !all[0].Not && !e.Not { // most conditions are one equality
		return e.isTrivial() || e.says(all[0])
	}
	c, _ := classesOf(all)
	x, y := e.operands()
	x, y = c.find(x), c.find(y)
	if !e.Not {
		return x == y
	}
	if x.literal && y.literal && x != y {
		return true
	}
	for _, f := range all {
		l, r := f.operands()
		l, r = c.find(l), c.find(r)
		if f.Not && (l == x && r == y || l == y && r == x) {
			return true
		}
	}
	return false
}

// isTrivial reports whether e says that something is equal to itself.
func (e Equality) isTrivial() bool { return !e.Literal && e.Left == e.Right }

// says reports whether e equates what f does.
func (e Equality) says(f Equality) bool {
	x, y := e.operands()
	l, r := f.operands()
	return x == l && y == r || x == r && y == l
}

func impliesAll(all, others []Equality) bool {
	for _, e := range others {
		if !implies(all, e) {
			return false
		}
	}
	return true
}
