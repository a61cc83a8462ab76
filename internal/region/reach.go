package region

import "sync/atomic"

// Liveness asks whether a node from which the set's words go on is reachable.
// Subsets whose includes are alive may still have every word taken away by
// exceptions, so it takes a search, whose result is then remembered.
//
// What is remembered must not depend on what was asked before, or two views of
// equal states might differ. Therefore a search reads no answers of others, and
// its budget is checked between levels only: whatever it finds out about the
// nodes it passes is then what their own search would find out.

// wholeBudget bounds the search of Cursor.Whole, which may give up early.
const wholeBudget = 256

// A memo remembers a yes or no.
type memo struct{ value atomic.Uint32 }

func (m *memo) get() (answer, known bool) {
	v := m.value.Load()
	return v == 1, v != 0
}

func (m *memo) set(answer bool) {
	if answer {
		m.value.Store(1)
	} else {
		m.value.Store(2)
	}
}

func (n *node) isLive() bool {
	if answer, known := n.live.get(); known {
		return answer
	}
	found, path := n.reach(DefaultBudget, func(x *node) bool { return x.in })
	for _, x := range path {
		x.live.set(found == Yes)
	}
	return found == Yes
}

func (n *node) isWhole() bool {
	if answer, known := n.whole.get(); known {
		return answer
	}
	found, path := n.reach(wholeBudget, func(x *node) bool { return !x.in })
	for _, x := range path {
		x.whole.set(found == No)
	}
	return found == No
}

func (n *node) canHold(kind Container) bool {
	if answer, known := n.holds[kind].get(); known {
		return answer
	}
	answer := false
	for _, child := range n.exits().below(kind) {
		answer = answer || child.isLive()
	}
	n.holds[kind].set(answer)
	return answer
}

// reach searches breadth-first for a node with the goal. It returns the nodes
// the answer is also true of: for Yes the way there, for No all that were
// reached, for Unknown n alone.
func (n *node) reach(budget int, goal func(*node) bool) (Verdict, []*node) {
	if goal(n) {
		return Yes, []*node{n}
	}
	cameFrom := map[*node]*node{n: nil}
	all := []*node{n}
	for level := all; len(level) > 0; {
		first := len(all)
		for _, from := range level {
			for _, to := range from.children() {
				if _, seen := cameFrom[to]; seen {
					continue
				}
				cameFrom[to] = from
				all = append(all, to)
				if goal(to) {
					return Yes, wayTo(to, cameFrom)
				}
			}
		}
		if level = all[first:]; len(all) > budget {
			return Unknown, []*node{n}
		}
	}
	return No, all
}

func wayTo(n *node, cameFrom map[*node]*node) []*node {
	var way []*node
	for ; n != nil; n = cameFrom[n] {
		way = append(way, n)
	}
	return way
}

func (n *node) children() []*node {
	e := n.exits()
	return append(e.below(Object), e.below(Array)...)
}
