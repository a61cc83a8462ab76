package runtime

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// To blame is to tell for a place of an instance's state who wrote what stands there. A commit
// wrote a value if it is another one after it than it was before: who writes what was there already
// wrote nothing. What a patch moves or copies keeps its writers, and has who brought it beside them.

// A Write is a commit that wrote something, or the creation of an instance.
type Write struct {
	Seq       uint64     `json:"seq"`  // of the proposal
	Kind      RecordKind `json:"kind"` // "create", "proposal" or "migrate"
	Version   uint64     `json:"version"`
	Time      time.Time  `json:"time"`
	Stage     string     `json:"stage,omitempty"`
	Role      string     `json:"role,omitempty"`
	Principal Principal  `json:"principal"`
	Key       string     `json:"key,omitempty"`
}

// A Blamed is a place, and who wrote all that stands there and is not listed apart.
type Blamed struct {
	Path    string `json:"path"` // a JSON Pointer; keyed lists have keys, and names at secret places are replaced
	Written Write  `json:"written"`
	Brought *Write `json:"brought,omitempty"` // who moved or copied it there, or what it is in, after it was written
}

// Blame tells who wrote what stands at a place of an instance's state, named by the tokens of its
// pointer, and below it: a place for each part that has a writer of its own, in order, most at the
// most; more is how many are left out. found is false if nothing stands there. contracts are those
// that the instance ran under, in any order. It reads the whole log, and errors are those of Open.
func Blame(ctx context.Context, st store.Store, id string, path []string, most int, contracts ...*Contract) (all []Blamed, more int, found bool, err error) {
	var root *mark
	var end *replay
	var asked Write
	err = readHistory(ctx, st, id, contracts, contracts[0], func(before *auditContext, after *replay, record store.Record) error {
		end = after
		l, _ := readLine(record.Line)
		if before == nil {
			w := writeOf(&l, 0)
			root = &mark{by: w, rest: w}
			return nil
		}
		if l.Kind.Asks() {
			asked = *writeOf(&l, 0)
			return nil
		}
		if l.Kind != trace.Decision || l.verdict.Verdict != verify.Commit {
			return nil
		}
		w := asked
		w.Version = l.verdict.VersionAfter
		was := before.now.State
		if before.proposal != nil {
			root, was = carry(root, was, before.place.in.contract.program.Read(before.patch).Patch, &w)
		}
		root = root.changed(was, after.now.State, &w)
		return nil
	})
	if err != nil {
		return nil, 0, false, err
	}
	at, node, brought := root, end.now.State, root.brought
	for _, name := range path {
		if node = child(node, name); node == nil {
			return nil, 0, false, nil
		}
		at = at.kid(name)
		brought = later(brought, at.brought)
	}
	redactor := end.in.redactor
	list := func(path []string, b Blamed) {
		if len(all) == most {
			more++
			return
		}
		b.Path, _ = trace.RedactPath(tree.Pointer(path).String(), redactor)
		all = append(all, b)
	}
	at.list(slices.Clone(path), node, brought, list)
	return all, more, true, nil
}

func writeOf(l *line, version uint64) *Write {
	return &Write{Seq: l.Seq, Kind: l.Kind, Version: version, Time: l.Time, Stage: l.Stage, Role: l.Role, Principal: Principal(l.Principal), Key: l.Key}
}

// A mark is who wrote a value: by it or something in it was written last, rest wrote what is in it and not in kids.
type mark struct {
	by, rest *Write
	brought  *Write
	kids     map[string]*mark
}

func (m *mark) kid(name string) *mark {
	if k := m.kids[name]; k != nil {
		return k
	}
	return &mark{by: m.rest, rest: m.rest}
}

func (m *mark) put(name string, k *mark) {
	if m.kids == nil {
		m.kids = map[string]*mark{}
	}
	m.kids[name] = k
}

func (m *mark) clone() *mark {
	c := *m
	c.kids = nil
	for name, k := range m.kids {
		c.put(name, k.clone())
	}
	return &c
}

// changed marks what w made of a value.
func (m *mark) changed(was, is *tree.Node, w *Write) *mark {
	if was == is || was != nil && was.Digest() == is.Digest() {
		return m
	}
	if was == nil || was.Kind() != is.Kind() || is.Kind() != ir.Object {
		return &mark{by: w, rest: w}
	}
	m.by = w
	for name, now := range is.Members() {
		if then := was.Get(name); then == nil || then.Digest() != now.Digest() {
			m.put(name, m.kid(name).changed(then, now, w))
		}
	}
	for name := range m.kids {
		if is.Get(name) == nil {
			delete(m.kids, name)
		}
	}
	return m
}

// carry takes marks along where a patch moves and copies, and is the value with which what came of the
// patch is to be compared. A patch that does not is compared as a whole.
func carry(m *mark, root *tree.Node, patch tree.Patch, w *Write) (*mark, *tree.Node) {
	if !slices.ContainsFunc(patch, func(op tree.Op) bool { return op.Kind.HasFrom() }) {
		return m, root
	}
	for i := range patch {
		op := &patch[i]
		var from *mark
		if op.Kind.HasFrom() && stands(root, op.From) {
			from = m.at(op.From).clone()
		}
		next, _, problem := tree.ApplyAll(root, patch[i:i+1])
		if problem != nil {
			return m, root
		}
		m, root = m.changed(root, next, w), next
		if from != nil {
			from.brought = w
			m.set(op.Path, from)
		}
	}
	return m, root
}

// at is the mark at a place.
func (m *mark) at(path []string) *mark {
	for _, name := range path {
		m = m.kid(name)
	}
	return m
}

// set puts a mark at a place, where what it is in is marked already.
func (m *mark) set(path []string, to *mark) {
	for i, name := range path {
		k := m.kid(name)
		if i == len(path)-1 {
			k = to
		}
		m.put(name, k)
		m = k
	}
}

// stands reports whether something stands at a place that objects alone lead to: elements of
// arrays have no marks that could go along.
func stands(root *tree.Node, path []string) bool {
	for _, name := range path {
		root = root.Get(name)
	}
	return root != nil
}

func child(n *tree.Node, name string) *tree.Node {
	if n.Kind() != ir.Array {
		return n.Get(name)
	}
	i, err := strconv.Atoi(name)
	if err != nil || strconv.Itoa(i) != name {
		return nil
	}
	return n.At(i)
}

// uniform reports whether all in a value has one writer.
func (m *mark) uniform() bool {
	for _, k := range m.kids {
		if k.by != m.by || k.brought != nil || !k.uniform() {
			return false
		}
	}
	return m.rest == m.by
}

// list gives the parts of a value that have a writer each, brought where it was.
func (m *mark) list(path []string, n *tree.Node, brought *Write, out func(path []string, b Blamed)) {
	show := func(w *Write) {
		b := Blamed{Written: *w}
		if brought != nil && brought.Version > w.Version {
			b.Brought = brought
		}
		out(path, b)
	}
	if n.Kind() != ir.Object || m.uniform() {
		show(m.by)
		return
	}
	others := n.Len() == 0
	for name := range n.Members() {
		others = others || m.kids[name] == nil
	}
	if others {
		show(m.rest)
	}
	for name, c := range n.Members() {
		if k := m.kids[name]; k != nil {
			k.list(append(slices.Clip(path), name), c, later(brought, k.brought), out)
		}
	}
}

// later is the later one of two writes, either of which may be none.
func later(a, b *Write) *Write {
	if a == nil || b != nil && b.Version >= a.Version {
		return b
	}
	return a
}
