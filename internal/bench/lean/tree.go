package lean

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
)

// A value is one JSON value. An object of more than full members is a B-tree: a value
// with level above 0 has kids of the level below, and the first name of each. Only the
// edit that made a value changes it.
type value struct {
	kind  kind
	level int8
	text  string   // of a text or a number
	names []string // of an object, ascending
	items []*value
	turn  *turn  // of the edit that made it
	shown []byte // see shownTickets

	digest [sha256.Size]byte // see hash; all zero where it is not known
}

// A kind is the first byte of a value's encoding, digits for a number.
type kind byte

const (
	text   kind = '"'
	digits kind = '0'
	array  kind = '['
	object kind = '{'
)

// full is how many items a node of an object has at most.
const full = 24

// get is the member of an object, nil if there is none.
func (v *value) get(name string) *value {
	i, found := slices.BinarySearch(v.names, name)
	for v.level > 0 {
		v = v.items[kid(i, found)]
		i, found = slices.BinarySearch(v.names, name)
	}
	if !found {
		return nil
	}
	return v.items[i]
}

// kid is which kid a name is in that would be at position i.
func kid(i int, found bool) int {
	if found || i == 0 {
		return i
	}
	return i - 1
}

// each calls f for every member of an object.
func (v *value) each(f func(name string, child *value)) {
	for i, item := range v.items {
		if v.level > 0 {
			item.each(f)
		} else {
			f(v.names[i], item)
		}
	}
}

// An edit makes a new version of a tree. It copies every node once, when it first comes to
// it; what is shared from then on belongs to another turn.
type edit struct{ turn *turn }

type turn struct{ _ byte }

// own is v, or a copy of it that the edit may change.
func (e *edit) own(v *value) *value {
	if v.turn == e.turn {
		return v
	}
	c := &value{kind: v.kind, level: v.level, text: v.text, names: v.names, turn: e.turn}
	if len(v.items) > 0 {
		c.items = append(make([]*value, 0, len(v.items)+1), v.items...)
	}
	return c
}

// run runs one operation on a root that the edit owns.
func (e *edit) run(root *value, op *operation) error {
	switch op.kind {
	case "test":
		if at := find(root, op.path); at == nil || !equal(at, op.value) {
			return ErrTest
		}
		return nil
	case "remove":
		return e.remove(root, op.path)
	}
	in, err := e.parent(root, op.path)
	if err != nil {
		return err
	}
	last := op.path[len(op.path)-1]
	switch {
	case op.kind == "replace":
		slot := e.slot(in, last)
		if slot == nil {
			return ErrMissing
		}
		*slot = op.value
		return nil
	case in.kind == object:
		e.put(in, last, op.value)
		return nil
	case in.kind == array && last == "-": // the only arrays are sets
		in.items = append(in.items, op.value)
		return nil
	default:
		return ErrMissing
	}
}

// parent leads to what the end of a path is in, and owns all on the way.
func (e *edit) parent(v *value, path []string) (*value, error) {
	for _, token := range path[:len(path)-1] {
		slot := e.slot(v, token)
		if slot == nil {
			return nil, ErrMissing
		}
		*slot = e.own(*slot)
		v = *slot
	}
	return v, nil
}

// slot is the place of what is one step below v, nil if nothing is there.
func (e *edit) slot(v *value, token string) **value {
	i, found := slices.BinarySearch(v.names, token)
	for v.level > 0 {
		k := kid(i, found)
		v.items[k] = e.own(v.items[k])
		v = v.items[k]
		i, found = slices.BinarySearch(v.names, token)
	}
	if !found {
		return nil
	}
	return &v.items[i]
}

// put sets a member of an object.
func (e *edit) put(v *value, name string, child *value) {
	right := e.putBelow(v, name, child)
	if right == nil {
		return
	}
	left := *v
	*v = value{
		kind: object, level: left.level + 1, turn: e.turn,
		names: []string{left.names[0], right.names[0]}, items: []*value{&left, right},
	}
}

// putBelow sets a member at or below a node. Of one that is too full, it returns the half
// that is split off.
func (e *edit) putBelow(v *value, name string, child *value) (right *value) {
	i, found := slices.BinarySearch(v.names, name)
	switch {
	case v.level > 0:
		k := kid(i, found)
		v.items[k] = e.own(v.items[k])
		half := e.putBelow(v.items[k], name, child)
		if half == nil {
			return nil
		}
		i, name, child = k+1, half.names[0], half
	case found:
		v.items[i] = child
		return nil
	}
	names := append(make([]string, 0, len(v.names)+1), v.names[:i]...)
	v.names = append(append(names, name), v.names[i:]...)
	v.items = slices.Insert(v.items, i, child)
	if len(v.items) <= full {
		return nil
	}
	half := len(v.items) / 2
	right = &value{kind: object, level: v.level, turn: e.turn, names: v.names[half:], items: slices.Clone(v.items[half:])}
	v.names, v.items = v.names[:half:half], v.items[:half:half]
	return right
}

func (e *edit) remove(root *value, path []string) error {
	if find(root, path) == nil {
		return ErrMissing
	}
	v, err := e.parent(root, path)
	if err != nil {
		return err
	}
	last := path[len(path)-1]
	i, found := slices.BinarySearch(v.names, last)
	for v.level > 0 {
		k := kid(i, found)
		v.items[k] = e.own(v.items[k])
		v = v.items[k]
		i, found = slices.BinarySearch(v.names, last)
	}
	v.names = slices.Delete(slices.Clone(v.names), i, i+1)
	v.items = slices.Delete(v.items, i, i+1)
	return nil
}

// find is what a path leads to, nil if nothing.
func find(v *value, path []string) *value {
	for _, token := range path {
		if v == nil {
			return nil
		}
		v = v.get(token)
	}
	return v
}

func equal(a, b *value) bool {
	return a == b || a.kind == b.kind && string(a.append(nil)) == string(b.append(nil))
}

// isSet reports whether the elements of an array are texts that differ, and sorts them.
func (v *value) isSet() bool {
	for i, e := range v.items {
		if e.kind != text {
			return false
		}
		for j := i; j > 0 && v.items[j].text < v.items[j-1].text; j-- {
			v.items[j], v.items[j-1] = v.items[j-1], v.items[j]
		}
	}
	for i := 1; i < len(v.items); i++ {
		if v.items[i].text == v.items[i-1].text {
			return false
		}
	}
	return true
}

// append writes a value.
func (v *value) append(out []byte) []byte {
	switch v.kind {
	case text:
		return appendText(out, v.text)
	case array:
		out = append(out, '[')
		for i, e := range v.items {
			if i > 0 {
				out = append(out, ',')
			}
			out = e.append(out)
		}
		return append(out, ']')
	case object:
		out = append(out, '{')
		v.each(func(name string, child *value) {
			if out[len(out)-1] != '{' {
				out = append(out, ',')
			}
			out = child.append(append(appendText(out, name), ':'))
		})
		return append(out, '}')
	default:
		return append(out, v.text...)
	}
}

func appendText(out []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
			quoted, _ := json.Marshal(s)
			return append(out, quoted...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}
