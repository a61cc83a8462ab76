package tree

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/patchoptic/poptic/internal/decimal"
	"github.com/patchoptic/poptic/internal/ir"
)

// deepest is as deep as the decoder below goes; no limit can allow more.
const deepest = 9_999

// Parse reads one JSON text (RFC 8259) strictly: UTF-8 without a byte order mark,
// no lone surrogates, no two members of one name, nothing behind the value, and
// within limits. All arrays are lists. The error is a *DecodeError. Nothing of
// data is kept.
func Parse(data []byte, limits Limits) (*Node, error) {
	return ParseStepwise(data, limits, nil)
}

// ParseStepwise is Parse, which calls step for every value it reads: a step that panics
// ends it.
func ParseStepwise(data []byte, limits Limits, step func()) (*Node, error) {
	if err := refuseOutright(data, limits); err != nil {
		return nil, err
	}
	p := newParser(data, limits)
	p.step = step
	defer p.release()
	n, err := p.value()
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return nil, p.explain(err)
	}
	return n, nil
}

// refuseOutright finds what needs no decoding to be found.
func refuseOutright(data []byte, limits Limits) error {
	refuse := func(code DecodeCode, message string) error {
		return &DecodeError{Code: code, Message: message}
	}
	switch {
	case over(len(data), limits.MaxBytes):
		return limits.exceeded(LimitSize)
	case bytes.HasPrefix(data, []byte("\xEF\xBB\xBF")):
		return refuse(InvalidJSON, "the text begins with a byte order mark; save it as UTF-8 without one")
	case bytes.HasPrefix(data, []byte("\xFF\xFE")) || bytes.HasPrefix(data, []byte("\xFE\xFF")):
		return refuse(InvalidUTF8, "the text is UTF-16; JSON is UTF-8")
	case len(bytes.TrimLeft(data, " \t\r\n")) == 0:
		return &DecodeError{Code: InvalidJSON, Message: "the text is empty", Hint: "[] is the patch that changes nothing"}
	default:
		return nil
	}
}

type parser struct {
	dec     *jsontext.Decoder
	data    []byte
	limits  Limits
	step    func() // called for every value, nil for nothing
	seen    int    // values so far
	depth   int
	names   []string
	nodes   []*Node
	shapes  []shapes // by depth
	scalars []*Node  // see shared
	buf     []byte
}

func newParser(data []byte, limits Limits) *parser {
	if limits.MaxDepth == 0 || limits.MaxDepth > deepest {
		limits.MaxDepth = deepest
	}
	dec := decoders.Get().(*jsontext.Decoder)
	dec.Reset(bytes.NewBuffer(data))
	return &parser{dec: dec, data: data, limits: limits}
}

// decoders are used again for what they allocate.
var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// release gives the decoder back, which must not be used afterwards, nor anything it
// returned.
func (p *parser) release() {
	p.dec.Reset(nothing{})
	decoders.Put(p.dec)
	p.dec = nil
}

// nothing is an input that holds no bytes.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// end checks that nothing follows the value.
func (p *parser) end() error {
	end := int(p.dec.InputOffset())
	if _, err := p.dec.ReadToken(); err != io.EOF {
		s, _ := slipBehind(p.data[min(end, len(p.data)):])
		return &DecodeError{Code: InvalidJSON, Offset: end, Message: s.what, Hint: s.hint}
	}
	return nil
}

// count counts one value.
func (p *parser) count() error {
	if p.step != nil {
		p.step()
	}
	if p.seen++; over(p.seen, p.limits.MaxNodes) {
		return p.limits.exceeded(LimitNodes)
	}
	return nil
}

func (p *parser) value() (*Node, error) {
	if err := p.count(); err != nil {
		return nil, err
	}
	switch p.dec.PeekKind() {
	case '{':
		return p.nested(p.object)
	case '[':
		return p.nested(p.array)
	default:
		return p.scalar()
	}
}

// nested reads a container: read does, what is between the brackets.
func (p *parser) nested(read func() (*Node, error)) (*Node, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	n, err := read()
	if err != nil {
		return nil, err
	}
	return n, p.close()
}

func (p *parser) open() error {
	if p.depth++; over(p.depth, p.limits.MaxDepth) {
		return p.limits.exceeded(LimitDepth)
	}
	_, err := p.dec.ReadToken()
	return err
}

func (p *parser) close() error {
	p.depth--
	_, err := p.dec.ReadToken()
	return err
}

func (p *parser) scalar() (*Node, error) {
	raw, err := p.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	switch raw.Kind() {
	case '"':
		if bytes.IndexByte(raw, '\\') < 0 {
			return p.shared(raw[1:len(raw)-1], ir.String, stringNode), nil
		}
		text, err := p.text(raw)
		return stringNode(text), err
	case 't':
		return trueNode, nil
	case 'f':
		return falseNode, nil
	case 'n':
		return nullNode, nil
	default:
		return p.number(raw)
	}
}

func (p *parser) number(raw []byte) (*Node, error) {
	if err := p.limits.checkNumber(string(raw)); err != nil {
		return nil, err
	}
	return p.shared(raw, ir.Number, numberNode), nil
}

// shared is the scalar that is written as text. In a text of some size, short ones that were
// met before are kept once, as long as few others came since: most values of most states
// are words, keys and small numbers that occur again and again.
func (p *parser) shared(text []byte, kind ir.Kind, node func(string) *Node) *Node {
	const short, some = 32, 64
	if len(text) > short || p.seen < some {
		return node(string(text))
	}
	slot := p.slot(text)
	if n := *slot; n != nil && n.kind == kind && n.text == string(text) {
		return n
	}
	*slot = node(string(text))
	return *slot
}

// slot is where the scalar is kept that was written as text, or like it.
func (p *parser) slot(text []byte) **Node {
	const few, many, large = 1 << 8, 1 << 13, 1 << 16
	if p.scalars == nil {
		p.scalars = make([]*Node, few)
		if len(p.data) >= large {
			p.scalars = make([]*Node, many)
		}
	}
	return &p.scalars[maphash.Bytes(slotSeed, text)%uint64(len(p.scalars))]
}

var slotSeed = maphash.MakeSeed()

// text decodes a name or a string.
func (p *parser) text(raw jsontext.Value) (string, error) {
	var err error
	if p.buf, err = jsontext.AppendUnquote(p.buf[:0], raw); err != nil {
		return "", err
	}
	if word := opWord(p.buf); word != "" {
		return word, nil
	}
	return string(p.buf), nil
}

// array and object collect what they read on a stack that all levels share, and
// keep a copy of exactly the size needed.
func (p *parser) array() (*Node, error) {
	base := len(p.nodes)
	for p.dec.PeekKind() != ']' {
		child, err := p.value()
		if err != nil {
			return nil, err
		}
		p.nodes = append(p.nodes, child)
	}
	elements := slices.Clone(p.nodes[base:])
	p.nodes = p.nodes[:base]
	return run{nodes: elements}.node(ir.Array, ListOrder), nil
}

func (p *parser) object() (*Node, error) {
	baseName, base := len(p.names), len(p.nodes)
	for p.dec.PeekKind() != '}' {
		name, err := p.name(len(p.names) - baseName)
		if err != nil {
			return nil, err
		}
		p.names = append(p.names, name)
		child, err := p.value()
		if err != nil {
			return nil, err
		}
		p.nodes = append(p.nodes, child)
	}
	n := p.record(p.names[baseName:], p.nodes[base:])
	p.names, p.nodes = p.names[:baseName], p.nodes[:base]
	return n, nil
}

// A shape is the names of an object as they were read, and in ascending order.
type shape struct {
	read, names []string
	order       []int // where each of names was read; nil if they were in order
}

// Shapes are those of the objects that were read last at one depth, of which there are
// mostly few: each name is expected to be the one that stood there last, and equal names
// are kept once.
type shapes struct {
	all  [4]shape
	last int
}

// find is the shape of names that were read.
func (s *shapes) find(read []string) *shape {
	for i := range s.all {
		at := (s.last + i) % len(s.all)
		if slices.Equal(s.all[at].read, read) {
			s.last = at
			return &s.all[at]
		}
	}
	s.last = (s.last + 1) % len(s.all)
	s.all[s.last] = shapeOf(read)
	return &s.all[s.last]
}

// record makes an object of members as they were read.
func (p *parser) record(names []string, nodes []*Node) *Node {
	if len(names) == 0 {
		return emptyObject
	}
	s := p.shapesAt(p.depth).find(names)
	if s.order == nil {
		nodes = slices.Clone(nodes)
	} else {
		sorted := make([]*Node, len(nodes))
		for i, from := range s.order {
			sorted[i] = nodes[from]
		}
		nodes = sorted
	}
	return objectNode(s.names, nodes)
}

// shapesAt is the shapes of objects that are nested so deep.
func (p *parser) shapesAt(depth int) *shapes {
	for len(p.shapes) <= depth {
		p.shapes = append(p.shapes, shapes{})
	}
	return &p.shapes[depth]
}

func shapeOf(read []string) shape {
	s := shape{read: slices.Clone(read)}
	if s.names = s.read; slices.IsSorted(read) {
		return s
	}
	s.order = make([]int, len(read))
	for i := range s.order {
		s.order[i] = i
	}
	slices.SortFunc(s.order, func(a, b int) int { return strings.Compare(read[a], read[b]) })
	s.names = make([]string, len(read))
	for i, from := range s.order {
		s.names[i] = read[from]
	}
	return s
}

// name reads the name of member i of an object.
func (p *parser) name(i int) (string, error) {
	raw, err := p.dec.ReadValue()
	if err != nil {
		return "", err
	}
	known := p.shapesAt(p.depth)
	if read := known.all[known.last].read; i < len(read) && string(raw[1:len(raw)-1]) == read[i] && bytes.IndexByte(raw, '\\') < 0 {
		return read[i], nil
	}
	return p.text(raw)
}

// quoted reads a member name or a string.
func (p *parser) quoted() (string, error) {
	raw, err := p.dec.ReadValue()
	if err != nil {
		return "", err
	}
	return p.text(raw)
}

// What is wrong with a text.

// DecodeCode tells what is wrong with a JSON text.
type DecodeCode string

// The codes of a DecodeError.
const (
	InvalidJSON    DecodeCode = "invalid_json"    // not the grammar of RFC 8259
	InvalidUTF8    DecodeCode = "invalid_utf8"    // bytes that are not UTF-8
	InvalidUnicode DecodeCode = "invalid_unicode" // half of a surrogate pair (RFC 8259 section 8.2)
	DuplicateName  DecodeCode = "duplicate_key"   // two members of one name, however spelled
	LimitSize      DecodeCode = "limit_size"
	LimitDepth     DecodeCode = "limit_depth"
	LimitNodes     DecodeCode = "limit_nodes"
	LimitNumber    DecodeCode = "limit_number"
)

// A DecodeError says why a text was not accepted as a JSON value. It tells where,
// and never what was there.
type DecodeError struct {
	Code    DecodeCode
	Offset  int    // byte offset at or just before the error; -1 if it has none
	Path    string // pointer to the value concerned, as far as known
	Message string // without the place
	Hint    string // what JSON writes instead, "" if nothing can be said
}

// longestPlace is how many bytes of a place a message shows.
const longestPlace = 256

// Error is the message with the place.
func (e *DecodeError) Error() string {
	text := e.Message
	if e.Path != "" {
		text += " at " + Shorten(e.Path, longestPlace)
	}
	if e.Offset >= 0 {
		text += " (byte " + strconv.Itoa(e.Offset) + ")"
	}
	return text
}

// In is Error with a little of the text that it is about, which whoever wrote the text may
// be shown.
func (e *DecodeError) In(text []byte) string {
	if e.Code != InvalidJSON || e.Offset < 0 || len(text) == 0 {
		return e.Error()
	}
	return e.Error() + ": " + excerpt(text, e.Offset)
}

// Reply is the code by which a patch or proposal with this error is refused.
func (e *DecodeError) Reply() Code {
	switch e.Code {
	case DuplicateName:
		return CodeDuplicateKey
	case LimitSize, LimitDepth, LimitNodes, LimitNumber:
		return CodeLimitExceeded
	default:
		return CodePatchSyntax
	}
}

// exceeded is the error of each limit.
func (l Limits) exceeded(code DecodeCode) *DecodeError {
	message := ""
	switch code {
	case LimitSize:
		message = fmt.Sprintf("larger than %d bytes", l.MaxBytes)
	case LimitDepth:
		message = fmt.Sprintf("nested deeper than %d levels", l.MaxDepth)
	case LimitNodes:
		message = fmt.Sprintf("more than %d JSON values", l.MaxNodes)
	default:
		message = fmt.Sprintf("a number longer than %d characters or with an exponent beyond %d",
			l.MaxNumberLength, l.MaxExponent)
	}
	return &DecodeError{Code: code, Offset: -1, Message: message}
}

// explain turns any error of reading into a DecodeError with its place. The
// decoder's own text is not used, since it quotes the input.
func (p *parser) explain(err error) *DecodeError {
	var own *DecodeError
	if errors.As(err, &own) {
		if own.Offset < 0 {
			own.Offset, own.Path = int(p.dec.InputOffset()), p.known(string(p.dec.StackPointer()))
		}
		return own
	}
	e := &DecodeError{Offset: int(p.dec.InputOffset()), Path: string(p.dec.StackPointer())}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		e.Offset, e.Path = int(syntactic.ByteOffset), string(syntactic.JSONPointer)
	}
	e.Path = p.known(e.Path)
	e.Code, e.Message = p.diagnose(err, min(e.Offset, len(p.data)))
	if e.Code == InvalidJSON {
		if s, ok := slipAt(p.data, e.Offset); ok {
			e.Message, e.Hint = "the text is not JSON: "+s.what, s.hint
			if strings.HasPrefix(s.what, "the text") {
				e.Message = s.what
			}
		}
	}
	return e
}

// known is the path without a last name that no colon follows: where a bracket or a name
// is missing, what stands there is no name but a value.
func (p *parser) known(path string) string {
	kind, read := p.dec.StackIndex(p.dec.StackDepth())
	isName := kind == '{' && read%2 == 1
	if !isName {
		return path
	}
	rest := bytes.TrimLeft(p.data[min(int(p.dec.InputOffset()), len(p.data)):], " \t\r\n")
	if len(rest) > 0 && rest[0] == ':' {
		return path
	}
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

func (p *parser) diagnose(err error, offset int) (DecodeCode, string) {
	rest := p.data[offset:]
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return DuplicateName, "an object has two members of this name"
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return InvalidJSON, "the text ends too early"
	case isSurrogateEscape(rest):
		return InvalidUnicode, `half of a surrogate pair (\ud800 to \udfff stand in pairs)`
	case startsInvalid(rest):
		return InvalidUTF8, "the text is not UTF-8"
	default:
		return InvalidJSON, "the text is not JSON"
	}
}

func isSurrogateEscape(b []byte) bool {
	return len(b) >= 4 && b[0] == '\\' && b[1] == 'u' && (b[2] == 'd' || b[2] == 'D') &&
		bytes.IndexByte([]byte("89abcdefABCDEF"), b[3]) >= 0
}

func startsInvalid(b []byte) bool {
	r, size := utf8.DecodeRune(b)
	return r == utf8.RuneError && size == 1
}

// Limits.

// Limits bound what Parse reads and what an operation may produce, so that neither
// a document nor a patch that copies what it copied can grow without end. A limit
// of 0 is no limit.
type Limits struct {
	MaxBytes        int // of the text read, and of the encoding of a result
	MaxDepth        int // containers inside each other
	MaxNodes        int // JSON values
	MaxNumberLength int // bytes of one number's literal
	MaxExponent     int // absolute value of an exponent as written
}

// DefaultLimits are the limits that hold where none are given.
var DefaultLimits = Limits{
	MaxBytes:        64 << 20,
	MaxDepth:        512,
	MaxNodes:        8 << 20,
	MaxNumberLength: 1024,
	MaxExponent:     1024,
}

// Check judges a value that was not parsed with l: size, depth and number of
// values, each remembered by n. It returns nil or a *DecodeError without offset.
func (l Limits) Check(n *Node) *DecodeError {
	switch {
	case over(n.Size(), l.MaxBytes):
		return l.exceeded(LimitSize)
	case over(n.Depth(), l.MaxDepth):
		return l.exceeded(LimitDepth)
	case over(n.Weight(), l.MaxNodes):
		return l.exceeded(LimitNodes)
	default:
		return nil
	}
}

func over[N int | int64](n, limit N) bool { return limit > 0 && n > limit }

// checkNumber judges a well-formed literal; its error is nil or a *DecodeError.
func (l Limits) checkNumber(literal string) error {
	if over(len(literal), l.MaxNumberLength) {
		return l.exceeded(LimitNumber)
	}
	if power := decimal.Exponent(literal); over(max(power, -power), int64(l.MaxExponent)) {
		return l.exceeded(LimitNumber)
	}
	return nil
}
