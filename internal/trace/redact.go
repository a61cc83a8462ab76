package trace

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// A Redactor replaces what a trace must not show of one instance. It works from
// the state type alone, so that it treats a rejected patch, whose paths may lead
// anywhere, like a committed one. Under a contract without secret types it
// replaces nothing. It is immutable and safe for concurrent use.
type Redactor struct {
	contract *ir.Contract
	key      *Key
	start    region.Cursor      // of the set of secrets, at the root
	args     map[*ir.Param]bool // parameters whose values are secret
}

// NewRedactor makes the redactor of an instance of c that has the given key.
func NewRedactor(c *ir.Contract, key *Key) *Redactor {
	secrets := region.Compile(c.Secrets)
	r := &Redactor{contract: c, key: key, start: secrets.Start(region.Binding{}), args: map[*ir.Param]bool{}}
	for i := range c.Stages {
		for j := range c.Stages[i].Params {
			param := &c.Stages[i].Params[j]
			r.args[param] = isSecret(param, secrets)
		}
	}
	return r
}

// isSecret reports whether a parameter's values come out of something secret: the
// keys of a secret container, or a secret string.
func isSecret(p *ir.Param, secrets *region.Set) bool {
	from := region.Pattern{Segments: p.Of.Segments, Shallow: true}
	origin := region.Compile(region.Region{{Include: []region.Pattern{from}}})
	a := region.Overlap(secrets, origin, region.Plain, region.Plain, region.Options{VerdictOnly: true})
	return a.Verdict != region.No
}

// Patch writes the operations of a patch for the line's member "patch", with the
// pointers to what was replaced.
func (r *Redactor) Patch(patch tree.Patch) (text json.RawMessage, redacted []string) {
	w := r.begin("/patch", 128*len(patch)+2)
	w.dst = append(w.dst, '[')
	for i := range patch {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.below(strconv.Itoa(i), func() { w.op(&patch[i]) })
	}
	return append(w.dst, ']'), w.redacted
}

// Text writes a text that may quote a patch, or tell how long parts of it are: a
// keyed digest, unless nothing is secret.
func (r *Redactor) Text(text string) (shown string, changed bool) {
	if r.Idle() {
		return text, false
	}
	return r.key.digest(useValue, []byte(text)), true
}

// Idle reports whether nothing is replaced.
func (r *Redactor) Idle() bool { return len(r.contract.Secrets) == 0 }

// Path writes a pointer as an actor wrote it: without the tokens below a place
// that may not be shown. changed tells whether some were replaced.
func (r *Redactor) Path(text string) (shown string, changed bool) {
	if r.Idle() {
		return text, false
	}
	tokens, err := tree.ParsePointer(text)
	if err != nil {
		return r.key.digest(useValue, []byte(text)), true
	}
	w := walker{Redactor: r}
	return w.path(text, tokens)
}

// path is Path for a pointer whose tokens are known.
func (w *walker) path(text string, tokens tree.Pointer) (shown string, changed bool) {
	if w.Idle() {
		return text, false
	}
	at := w.root()
	for i, token := range tokens {
		if at.hidden() {
			return w.cut(tokens, i).String(), true
		}
		at = w.pointer(at, token)
	}
	return text, false
}

// cut copies a pointer with the tokens from position i on replaced.
func (w *walker) cut(tokens tree.Pointer, i int) tree.Pointer {
	shown := slices.Clone(tokens)
	for ; i < len(shown); i++ {
		shown[i] = w.key.digest(useValue, []byte(shown[i]))
	}
	return shown
}

// Args returns a stage's arguments with the pointers to those that were replaced;
// the map it was given, if none were.
func (r *Redactor) Args(stage *ir.Stage, args map[string]string) (shown map[string]string, redacted []string) {
	shown = args
	for i := range stage.Params {
		p := &stage.Params[i]
		value, given := args[p.Name]
		if !given || !r.args[p] {
			continue
		}
		if redacted == nil {
			shown = maps.Clone(args)
		}
		shown[p.Name] = r.key.digest(useValue, []byte(value))
		redacted = append(redacted, "/args/"+region.EscapeToken(p.Name))
	}
	return shown, redacted
}

// An OldValue is what was at Path directly before operation Op of a patch ran:
// read from the state between the operations, not from the one before the patch.
type OldValue struct {
	Op    int
	Path  tree.Pointer
	Text  string // of Path, as the operation has it
	Value *tree.Node
}

// Old writes old values for the line's member "old", with the pointers to what was
// replaced. A value that is written with more than most bytes is replaced as a whole.
func (r *Redactor) Old(all []OldValue, most int) (text json.RawMessage, redacted []string) {
	w := r.begin("/old", 128*len(all)+2)
	for i := range all {
		w.dst = append(w.dst, "[,"[min(i, 1)])
		w.below(strconv.Itoa(i), func() { w.old(&all[i], most) })
	}
	return append(w.dst, ']'), w.redacted
}

// A redaction is one piece of a line while it is written.
type redaction struct {
	walker
	dst      []byte
	where    []byte // pointer to what is being written
	redacted []string
	most     int  // how long dst may become for now, 0 for no end
	tooLong  bool // it would have become longer
}

// begin makes room for a piece of about size bytes that where points to.
func (r *Redactor) begin(where string, size int) redaction {
	w := redaction{walker: walker{Redactor: r}, dst: make([]byte, 0, size)}
	w.where = append(make([]byte, 0, 64), where...)
	if !r.Idle() {
		w.spots = make([]spot, 0, 16)
	}
	return w
}

// below runs f with a token added to where.
func (w *redaction) below(token string, f func()) {
	n := len(w.where)
	w.where = append(append(w.where, '/'), token...)
	f()
	w.where = w.where[:n]
}

func (w *redaction) op(op *tree.Op) {
	w.dst = append(w.dst, `{"op":"`...)
	w.dst = append(w.dst, op.Kind...)
	w.dst = append(w.dst, `","path":`...)
	w.below("path", func() { w.pathMember(op.RawPath, op.Path) })
	if op.Kind.HasFrom() {
		w.dst = append(w.dst, `,"from":`...)
		w.below("from", func() { w.pathMember(op.RawFrom, op.From) })
	}
	if op.Kind.HasValue() {
		w.dst = append(w.dst, `,"value":`...)
		w.below("value", func() { w.value(w.find(op.Path), op.Value) })
		w.spots = w.spots[:0]
	}
	w.dst = append(w.dst, '}')
}

func (w *redaction) old(o *OldValue, most int) {
	w.dst = append(w.dst, `{"op":`...)
	w.dst = strconv.AppendInt(w.dst, int64(o.Op), 10)
	w.dst = append(w.dst, `,"path":`...)
	w.below("path", func() { w.pathMember(o.Text, o.Path) })
	w.dst = append(w.dst, `,"value":`...)
	w.below("value", func() { w.oldValue(o, most) })
	w.spots = w.spots[:0]
	w.dst = append(w.dst, '}')
}

// oldValue writes a value unless that takes too much. What counts is what is written,
// not what the value weighs, which would tell how long the secrets in it are.
func (w *redaction) oldValue(o *OldValue, most int) {
	written, noted := len(w.dst), len(w.redacted)
	w.most, w.tooLong = written+most, false
	w.value(w.find(o.Path), o.Value)
	if w.most = 0; w.tooLong {
		w.dst, w.redacted = w.dst[:written], w.redacted[:noted]
		w.replace(o.Value)
	}
}

// full reports whether too much was written, with n bytes more.
func (w *redaction) full(n int) bool {
	w.tooLong = w.tooLong || w.most > 0 && len(w.dst)+n > w.most
	return w.tooLong
}

func (w *redaction) pathMember(text string, tokens tree.Pointer) {
	shown, changed := w.path(text, tokens)
	w.spots = w.spots[:0]
	if changed {
		w.redacted = append(w.redacted, string(w.where))
	}
	w.dst = quote(w.dst, shown)
}

// value writes n, which stands at p.
func (w *redaction) value(p place, n *tree.Node) {
	switch {
	case w.Idle():
		w.whole(n)
	case p.hidden() || !w.admits(p, n.Kind()):
		w.replace(n)
		w.full(0)
	case n.Kind() == ir.Object:
		w.object(p, n)
	case n.Kind() == ir.Array:
		w.array(p, n)
	default:
		w.whole(n)
	}
}

// whole writes n as it is.
func (w *redaction) whole(n *tree.Node) {
	if !w.full(n.Size()) {
		w.dst = tree.AppendJSON(w.dst, n)
	}
}

func (w *redaction) object(p place, n *tree.Node) {
	before, kept := byte('{'), len(w.spots)
	for name, child := range n.Members() {
		if w.full(len(name)) {
			return
		}
		w.dst = append(quote(append(w.dst, before), name), ':')
		for _, s := range p {
			w.member(kept, s, name)
		}
		w.below(region.EscapeToken(name), func() { w.value(w.since(kept), child) })
		w.spots, before = w.spots[:kept], ','
	}
	w.close(before, '{', '}')
}

func (w *redaction) array(p place, n *tree.Node) {
	before, kept := byte('['), len(w.spots)
	for i, child := range n.Elements() {
		if w.full(0) {
			return
		}
		w.dst = append(w.dst, before)
		for _, s := range p {
			w.element(kept, s, i)
		}
		w.below(strconv.Itoa(i), func() { w.value(w.since(kept), child) })
		w.spots, before = w.spots[:kept], ','
	}
	w.close(before, '[', ']')
}

// close ends a container, which is still to be opened if nothing was written.
func (w *redaction) close(before, open, end byte) {
	if before == open {
		w.dst = append(w.dst, open)
	}
	w.dst = append(w.dst, end)
}

// replace writes a keyed digest in the place of n. It is made from n's own digest:
// equal values have equal ones, and a large subtree that was hashed before costs
// nothing.
func (w *redaction) replace(n *tree.Node) {
	digest := n.Digest()
	w.dst = quote(w.dst, w.key.digest(useValue, digest[:]))
	w.redacted = append(w.redacted, string(w.where))
}

// A place is what the state type says about one path: every type that a value
// there can have, each with the place's cursor in the set of secrets. An empty
// place is one that nothing types.
type place []spot

type spot struct {
	typ    ir.TypeID
	secret region.Cursor
}

// hidden reports whether what is at p may not be shown: something there may be
// secret, or nothing says what is there.
func (p place) hidden() bool {
	for _, s := range p {
		if s.secret.In() {
			return true
		}
	}
	return len(p) == 0
}

// A walker finds places. It keeps the spots of all it found in one stretch of
// memory, so that a walk costs no allocation a step.
type walker struct {
	*Redactor
	spots []spot
}

// since is the place whose spots were kept after the first n.
func (w *walker) since(n int) place { return w.spots[n:len(w.spots):len(w.spots)] }

// root is the place of the whole state.
func (w *walker) root() place {
	n := len(w.spots)
	w.keep(n, w.contract.State, w.start)
	return w.since(n)
}

// keep adds a type, a union as its alternatives, to the place whose spots begin at
// first: each spot once, or a token that can be a name as well as a position would
// double them below "any", at every step.
func (w *walker) keep(first int, typ ir.TypeID, at region.Cursor) {
	t := w.contract.Type(typ)
	if t.Kind != ir.UnionType {
		if s := (spot{typ, at}); !slices.Contains(w.spots[first:], s) {
			w.spots = append(w.spots, s)
		}
		return
	}
	for _, alternative := range t.Alternatives {
		w.keep(first, alternative, at)
	}
}

// find is the place a pointer leads to. What is below a place that may not be
// shown is not looked for.
func (w *walker) find(p tree.Pointer) place {
	if w.Idle() {
		return nil
	}
	at := w.root()
	for _, token := range p {
		if at.hidden() {
			return nil
		}
		at = w.pointer(at, token)
	}
	return at
}

// pointer is the place that a reference token leads to below p: a token that reads
// as an index leads into arrays as well as into objects.
func (w *walker) pointer(p place, token string) place {
	n := len(w.spots)
	for _, s := range p {
		w.member(n, s, token)
	}
	if index, isIndex := arrayToken(token); isIndex {
		for _, s := range p {
			w.element(n, s, index)
		}
	}
	return w.since(n)
}

// member keeps what a member called name has below s, if s can be an object,
// in the place whose spots begin at first.
func (w *walker) member(first int, s spot, name string) {
	t := w.contract.Type(s.typ)
	switch t.Kind {
	case ir.RecordType:
		if m, known := t.Member(name); known {
			w.keep(first, m.Type, s.secret.Key(name))
		} else if t.Rest != ir.NoType {
			w.keep(first, t.Rest, s.secret.Key(name))
		}
	case ir.MapType, ir.KeyedType:
		w.keep(first, t.Elem, s.secret.Key(name))
	case ir.AnyType:
		w.keep(first, s.typ, s.secret.Key(name))
	}
}

// element keeps what an element has below s, if s can be an array.
func (w *walker) element(first int, s spot, index int) {
	t := w.contract.Type(s.typ)
	switch t.Kind {
	case ir.ListType, ir.SetType, ir.LogType:
		w.keep(first, t.Elem, s.secret.Index(index))
	case ir.AnyType:
		w.keep(first, s.typ, s.secret.Index(index))
	}
}

// arrayToken reads a reference token as an array position. "-" is as good as the
// first one: no set of secrets tells positions of an array apart.
func arrayToken(token string) (index int, ok bool) {
	if token == "-" {
		return 0, true
	}
	if token == "" || token[0] < '0' || token[0] > '9' {
		return 0, false
	}
	index, err := strconv.Atoi(token)
	return index, err == nil
}

// admits reports whether a value of the given kind can be at p.
func (w *walker) admits(p place, kind ir.Kind) bool {
	for _, s := range p {
		if admits(w.contract.Type(s.typ), kind) {
			return true
		}
	}
	return false
}

func admits(t *ir.Type, kind ir.Kind) bool {
	switch t.Kind {
	case ir.AnyType:
		return true
	case ir.StringType, ir.RefType:
		return kind == ir.String
	case ir.NumberType, ir.IntType:
		return kind == ir.Number
	case ir.BoolType:
		return kind == ir.Bool
	case ir.NullType:
		return kind == ir.Null
	case ir.LiteralType:
		return kind == literalKind(t.Literal)
	case ir.RecordType, ir.MapType, ir.KeyedType:
		return kind == ir.Object
	default:
		return kind == ir.Array
	}
}

func literalKind(text string) ir.Kind {
	switch text[0] {
	case '"':
		return ir.String
	case 't', 'f':
		return ir.Bool
	case 'n':
		return ir.Null
	default:
		return ir.Number
	}
}
