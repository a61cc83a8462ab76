package tree

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/ir"
)

// AppendJSON appends the canonical encoding of n, which must not be nil: no white
// space, members in ascending order of names, the elements of a set in ascending
// order of their own encodings, strings with the fewest escapes, numbers as they
// were written but without the sign of a negative zero. It appends n.Size() bytes.
func AppendJSON(dst []byte, n *Node) []byte {
	w := writer{dst: dst}
	w.value(n, 0)
	return w.dst
}

// AppendIndent appends the same encoding laid out for people, two spaces a level,
// empty containers closed at once, without a final line break.
func AppendIndent(dst []byte, n *Node) []byte {
	w := writer{dst: dst, lines: true}
	w.value(n, 0)
	return w.dst
}

// AppendRemembered appends the bytes of AppendJSON and remembers those of stretches
// of items that hold much, so that the next version is encoded by copying what it
// shares with this one. It is for what is written again and again, as views are: what
// is remembered takes up to the size of the text.
func AppendRemembered(dst []byte, n *Node) []byte {
	w := writer{dst: dst, remembers: true}
	w.value(n, 0)
	return w.dst
}

type writer struct {
	dst       []byte
	lines     bool
	remembers bool // only without lines
}

func (w *writer) value(n *Node, depth int) {
	switch n.kind {
	case ir.Null:
		w.dst = append(w.dst, "null"...)
	case ir.Bool:
		if n.truth {
			w.dst = append(w.dst, "true"...)
		} else {
			w.dst = append(w.dst, "false"...)
		}
	case ir.Number:
		w.dst = append(w.dst, n.text...)
	case ir.String:
		if int(n.width) == len(n.text)+len(`""`) { // nothing in it is escaped
			w.dst = append(append(append(w.dst, '"'), n.text...), '"')
			return
		}
		w.dst = appendQuoted(w.dst, n.text)
	case ir.Array:
		w.items(n, '[', ']', depth)
	case ir.Object:
		w.items(n, '{', '}', depth)
	}
}

func (w *writer) items(n *Node, begin, end byte, depth int) {
	w.dst = append(w.dst, begin)
	if n.root != nil {
		switch {
		case w.remembers && n.root.weight >= heavy:
			w.remembered(n)
		case n.order == SetOrder:
			w.set(n, depth+1)
		default:
			n.root.each(0, func(i int, name string, child *Node) bool {
				w.item(i, n.kind == ir.Object, name, child, depth+1)
				return true
			})
		}
		w.line(depth)
	}
	w.dst = append(w.dst, end)
}

func (w *writer) item(i int, named bool, name string, child *Node, depth int) {
	if i > 0 {
		w.dst = append(w.dst, ',')
	}
	w.line(depth)
	if named {
		w.dst = append(appendQuoted(w.dst, name), ':')
		if w.lines {
			w.dst = append(w.dst, ' ')
		}
	}
	w.value(child, depth)
}

func (w *writer) line(depth int) {
	if !w.lines {
		return
	}
	w.dst = append(w.dst, '\n')
	for range depth {
		w.dst = append(w.dst, "  "...)
	}
}

// set writes the elements of a set in ascending order of their canonical bytes. They
// stand so, but in a set that is being made.
func (w *writer) set(n *Node, depth int) {
	if !w.lines && w.inOrder(n) {
		return
	}
	for i, e := range sortedElements(n) {
		w.item(i, false, "", e, depth)
	}
}

// inOrder writes the elements as they stand, if that is the order of their bytes; else it
// writes nothing.
func (w *writer) inOrder(n *Node) bool {
	start := len(w.dst)
	from, to := start, start // of the element before
	sorted := n.eachItem(func(e *Node) bool {
		if to > start {
			w.dst = append(w.dst, ',')
		}
		at := len(w.dst)
		w.value(e, 0)
		ascends := bytes.Compare(w.dst[from:to], w.dst[at:]) <= 0
		from, to = at, len(w.dst)
		return ascends
	})
	if !sorted {
		w.dst = w.dst[:start]
	}
	return sorted
}

func sortedElements(n *Node) []*Node {
	type keyed struct {
		node *Node
		key  []byte
	}
	all := make([]keyed, 0, n.Len())
	for _, e := range n.Elements() {
		all = append(all, keyed{e, AppendJSON(make([]byte, 0, e.Size()), e)})
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return bytes.Compare(a.key, b.key) })
	out := make([]*Node, len(all))
	for i, k := range all {
		out[i] = k.node
	}
	return out
}

// longestRemembered bounds the encoding that is remembered of one chunk: what is
// above holds little but long texts, which are copied as fast.
const longestRemembered = fullKeyed << 10

var (
	encodedItems = new(identity)
	encodedSets  = new(identity)
)

// remembered writes the items of a container that holds much.
func (w *writer) remembered(n *Node) {
	if n.order == SetOrder {
		w.once(&n.root.memos, encodedSets, func() { w.set(n, 1) })
		return
	}
	w.chunk(n.root)
}

func (w *writer) chunk(c *chunk) {
	for i, kid := range c.kids {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.chunk(kid)
	}
	if c.height > 0 {
		return
	}
	if c.size <= longestRemembered && !c.holdsHeavy() {
		w.once(&c.memos, encodedItems, func() { w.leaf(c) })
		return
	}
	w.leaf(c)
}

// holdsHeavy reports whether an item of a leaf remembers what is in it itself. The way to
// what a view shows is made anew each time, and has nothing to remember.
func (c *chunk) holdsHeavy() bool {
	return slices.ContainsFunc(c.nodes, func(n *Node) bool { return !n.isEmpty() && n.root.weight >= heavy })
}

func (w *writer) leaf(c *chunk) {
	for i, child := range c.nodes {
		w.item(i, c.names != nil, c.name(i), child, 0)
	}
}

// once copies what is remembered, or writes and remembers it.
func (w *writer) once(m *memos, key *identity, write func()) {
	if known, ok := m.get(key); ok {
		w.dst = append(w.dst, known.([]byte)...)
		return
	}
	start := len(w.dst)
	w.remembers = false // inside: once is enough
	write()
	w.remembers = true
	m.put(key, bytes.Clone(w.dst[start:]))
}

// Strings are written with the fewest escapes JSON allows, as RFC 8785 section
// 3.2.2.2 has it: the quote, the backslash and the control characters, the usual
// five of which have a short form.

const hexDigits = "0123456789abcdef"

func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	default:
		return 0
	}
}

// appendQuoted appends s, which must be UTF-8, as a JSON string.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		if short := shortEscape(c); short != 0 {
			dst = append(dst, '\\', short)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// quotedLen is the length of what appendQuoted appends.
func quotedLen(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c < 0x20 && shortEscape(c) != 0:
			n++
		case c < 0x20:
			n += len(`u0000`)
		}
	}
	return n
}

// ellipsis stands for what was cut off a text.
const ellipsis = "…"

// Shorten returns text if it has at most most bytes, else its beginning and an
// ellipsis, together at most that long. Neither a character nor an escape of a
// pointer (~0, ~1) is cut in two. It is for all that repeats what an actor sent.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := max(0, most-len(ellipsis))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if end > 0 && text[end-1] == '~' {
		end--
	}
	return text[:end] + ellipsis
}
