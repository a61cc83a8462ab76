package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// keptLogs checks that the logs at and below w, which may have been written as a
// whole, still begin with what they held, and still are logs. One that holds something
// goes away only together with an entry of a map or keyed list, or an element of a
// list, that it is inside of.
func (t *touched) keptLogs(w region.Word, was, n *tree.Node, id ir.TypeID) {
	if was == nil || was == n || !t.v.p.types[id].logs || n == nil && t.isEntry(w) {
		return
	}
	t.check.word = append(t.check.word[:0], w...)
	t.take(func() { t.check.logs(was, n, id) })
}

// isEntry reports whether w is an entry of a container whose entries come and go.
func (t *touched) isEntry(w region.Word) bool {
	if len(w) == 0 {
		return false
	}
	p := t.v.p
	parent := w[:len(w)-1]
	settled := p.settle(p.typeAt(t.v.snapshot.State, parent), tree.NodeAt(t.v.snapshot.State, parent))
	k := p.contract.Types[settled].Kind
	return k == ir.MapType || k == ir.KeyedType
}

// logs compares the logs of one value before and after.
func (c *typeCheck) logs(was, n *tree.Node, id ir.TypeID) {
	if was == nil || was == n || !c.p.types[id].logs {
		return
	}
	settled := c.p.settle(id, was)
	t := &c.p.contract.Types[settled]
	switch t.Kind {
	case ir.LogType:
		if !beginsWith(n, was) {
			c.report(say.logChanged())
		}
	case ir.RecordType, ir.MapType, ir.KeyedType:
		for name, child := range was.Members() {
			if next := n.Get(name); next != nil || t.Kind == ir.RecordType {
				c.at(region.Key(name), func() { c.logs(child, next, c.p.below(settled, name)) })
			}
		}
	}
}

// beginsWith reports whether n is a log that has all entries of was in front. Where
// there are none, it may be anything.
func beginsWith(n, was *tree.Node) bool {
	if was.Len() == 0 {
		return true
	}
	if n.Order() != tree.LogOrder {
		return false
	}
	for i, e := range was.Elements() {
		if next := n.At(i); next == nil || !tree.Equal(next, e) {
			return false
		}
	}
	return true
}
