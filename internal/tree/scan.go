package tree

import (
	"slices"
	"sort"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/ir"
)

// Reading a patch in one pass. Nearly every patch is one: then it is read here, by a
// scanner that knows JSON and the shape of operations and stops at the first thing that is
// not as usual. It explains nothing. Whatever it does not read, because it is wrong, beyond
// a limit or merely unusual, is read again by the parser, which does. So what a scanner
// reads must be what the parser reads; that they agree is tested.

// A scanner reads one text. It is used again for the room it has.
type scanner struct {
	data   []byte
	at     int
	limits Limits
	known  map[string]*Node
	seen   int // values so far
	depth  int

	names []string // of the objects that are open
	nodes []*Node
	word  []byte

	paths []byte // the pointers of the operations, one after the other
	ops   []scannedOp
	raw   rawOp // the one that is given
}

// A scannedOp is an operation with its pointers as they lie in paths.
type scannedOp struct {
	kind       OpKind
	path, from stretch
	value      *Node
}

// A stretch is a part of a text; absent if it ends before it begins.
type stretch struct{ from, to int }

var (
	absent   = stretch{0, -1}
	scanners = sync.Pool{New: func() any { return new(scanner) }}
)

// scanPatch reads the operations of a patch, if it is as patches usually are. known are
// nodes of texts that need no other. The scanner is to be released, whether ok or not.
func scanPatch(data []byte, limits PatchLimits, known map[string]*Node) (s *scanner, ok bool) {
	s = scanners.Get().(*scanner)
	s.data, s.at, s.limits, s.known, s.seen, s.depth = data, 0, limits.Limits, known, 0, 0
	if s.limits.MaxDepth == 0 || s.limits.MaxDepth > deepest {
		s.limits.MaxDepth = deepest
	}
	return s, s.patch(limits.MaxOps)
}

// each gives the operations that were read, each until the next.
func (s *scanner) each(f func(raw *rawOp)) {
	paths := string(s.paths) // one text for all: they stay together, in the patch
	text := func(x stretch) field {
		if x == absent {
			return field{}
		}
		return field{true, ir.String, paths[x.from:x.to]}
	}
	for i := range s.ops {
		op := &s.ops[i]
		s.raw = rawOp{kind: ir.Object, op: field{true, ir.String, string(op.kind)}, path: text(op.path), from: text(op.from), value: op.value}
		f(&s.raw)
	}
	s.raw = rawOp{}
}

// release gives the scanner back, with nothing of what it read.
func (s *scanner) release() {
	const usual = 1 << 12
	if cap(s.nodes)+cap(s.paths)+cap(s.word)+cap(s.ops) > 4*usual {
		return
	}
	clear(s.names[:cap(s.names)])
	clear(s.nodes[:cap(s.nodes)])
	clear(s.ops)
	s.data, s.known, s.names, s.nodes, s.word, s.paths, s.ops = nil, nil, s.names[:0], s.nodes[:0], s.word[:0], s.paths[:0], s.ops[:0]
	scanners.Put(s)
}

// patch reads an array of operations and the end of the text.
func (s *scanner) patch(most int) bool {
	if s.next() != '[' || !s.open() {
		return false
	}
	for first := true; s.more(']', first); first = false {
		if over(len(s.ops)+1, most) || !s.operation() {
			return false
		}
	}
	return s.close(']') && s.next() == 0 && s.at == len(s.data)
}

// operation reads an operation that has no members but its own.
func (s *scanner) operation() bool {
	if s.next() != '{' || !s.open() {
		return false
	}
	op := scannedOp{path: absent, from: absent}
	for first := true; s.more('}', first); first = false {
		name, ok := s.text()
		if !ok || !s.skip(':') {
			return false
		}
		switch string(name) {
		case "op":
			ok = op.kind == "" && s.kind(&op.kind)
		case "path":
			ok = op.path == absent && s.pointer(&op.path)
		case "from":
			ok = op.from == absent && s.pointer(&op.from)
		case "value":
			if ok = op.value == nil; ok {
				op.value, ok = s.value()
			}
		default:
			ok = false
		}
		if !ok {
			return false
		}
	}
	s.ops = append(s.ops, op)
	return op.kind != "" && s.close('}')
}

func (s *scanner) kind(into *OpKind) bool {
	word, ok := s.counted()
	if !ok {
		return false
	}
	for _, k := range opKinds {
		if string(word) == string(k) {
			*into = k
			return true
		}
	}
	return false
}

func (s *scanner) pointer(into *stretch) bool {
	text, ok := s.counted()
	from := len(s.paths)
	s.paths = append(s.paths, text...)
	*into = stretch{from, len(s.paths)}
	return ok
}

// counted reads a string that counts as a value.
func (s *scanner) counted() ([]byte, bool) {
	if s.next() != '"' || !s.count() {
		return nil, false
	}
	return s.text()
}

// The grammar of RFC 8259.

// next is the byte after what is space, 0 at the end.
func (s *scanner) next() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\n', '\t', '\r':
		default:
			return c
		}
	}
	return 0
}

// skip passes over a byte that must be the next.
func (s *scanner) skip(c byte) bool {
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

// more reports whether another item follows before the end of a container. Where neither
// does, it says so, and what is read next fails.
func (s *scanner) more(end byte, first bool) bool {
	if s.next() == end {
		return false
	}
	return first || s.skip(',') || s.fail()
}

// fail makes what is read next fail.
func (s *scanner) fail() bool {
	s.at = len(s.data)
	return true
}

func (s *scanner) count() bool {
	s.seen++
	return !over(s.seen, s.limits.MaxNodes)
}

// open begins a container, which counts as a value.
func (s *scanner) open() bool {
	s.at++
	s.depth++
	return s.count() && !over(s.depth, s.limits.MaxDepth)
}

func (s *scanner) close(end byte) bool {
	s.depth--
	return s.skip(end)
}

func (s *scanner) value() (*Node, bool) {
	switch s.next() {
	case '{':
		return s.object()
	case '[':
		return s.array()
	case '"':
		text, ok := s.counted()
		if !ok {
			return nil, false
		}
		if n := s.known[string(text)]; n != nil {
			return n, true
		}
		return stringNode(string(text)), true
	default:
		return s.literal()
	}
}

func (s *scanner) array() (*Node, bool) {
	base := len(s.nodes)
	if !s.open() {
		return nil, false
	}
	for first := true; s.more(']', first); first = false {
		n, ok := s.value()
		if !ok {
			return nil, false
		}
		s.nodes = append(s.nodes, n)
	}
	elements := slices.Clone(s.nodes[base:])
	s.nodes = s.nodes[:base]
	return run{nodes: elements}.node(ir.Array, ListOrder), s.close(']')
}

func (s *scanner) object() (*Node, bool) {
	baseName, base := len(s.names), len(s.nodes)
	if !s.open() {
		return nil, false
	}
	for first := true; s.more('}', first); first = false {
		if s.next() != '"' {
			return nil, false
		}
		name, ok := s.text()
		if !ok || !s.skip(':') {
			return nil, false
		}
		s.names = append(s.names, string(name))
		n, ok := s.value()
		if !ok {
			return nil, false
		}
		s.nodes = append(s.nodes, n)
	}
	m := byName{slices.Clone(s.names[baseName:]), slices.Clone(s.nodes[base:])}
	s.names, s.nodes = s.names[:baseName], s.nodes[:base]
	if !sort.IsSorted(m) {
		sort.Sort(m)
	}
	for i := 1; i < len(m.names); i++ {
		if m.names[i] == m.names[i-1] {
			return nil, false
		}
	}
	return objectNode(m.names, m.nodes), s.close('}')
}

// byName sorts the members of an object.
type byName struct {
	names []string
	nodes []*Node
}

func (m byName) Len() int           { return len(m.names) }
func (m byName) Less(i, j int) bool { return m.names[i] < m.names[j] }
func (m byName) Swap(i, j int) {
	m.names[i], m.names[j] = m.names[j], m.names[i]
	m.nodes[i], m.nodes[j] = m.nodes[j], m.nodes[i]
}

// text reads a string; what it returns is true until the next is read.
func (s *scanner) text() ([]byte, bool) {
	if s.at >= len(s.data) || s.data[s.at] != '"' {
		return nil, false
	}
	s.at++
	ascii := true
	for i := s.at; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			text := s.data[s.at:i]
			s.at = i + 1
			return text, ascii || utf8.Valid(text)
		case c == '\\':
			return s.escaped(i)
		case c < ' ':
			return nil, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, false
}

// escaped reads a string whose first escape is at i.
func (s *scanner) escaped(i int) ([]byte, bool) {
	from := s.at - 1
	for ; i < len(s.data) && s.data[i] != '"'; i++ {
		if s.data[i] == '\\' {
			i++
		}
	}
	if i >= len(s.data) {
		return nil, false
	}
	s.at = i + 1
	var err error
	s.word, err = jsontext.AppendUnquote(s.word[:0], s.data[from:s.at])
	return s.word, err == nil
}

// literal reads a number, true, false or null.
func (s *scanner) literal() (*Node, bool) {
	from := s.at
	for s.at < len(s.data) && isLiteral[s.data[s.at]] {
		s.at++
	}
	word := s.data[from:s.at]
	switch string(word) {
	case "true":
		return trueNode, s.count()
	case "false":
		return falseNode, s.count()
	case "null":
		return nullNode, s.count()
	}
	if n := smallInt(word); n != nil {
		return n, s.count()
	}
	text := string(word)
	if !decimal.Valid(text) || s.limits.checkNumber(text) != nil {
		return nil, false
	}
	return numberNode(text), s.count()
}

// isLiteral holds for the bytes that numbers, true, false and null are made of.
var isLiteral = func() (is [256]bool) {
	for _, c := range "0123456789+-.eEtrufalsn" {
		is[c] = true
	}
	return is
}()
