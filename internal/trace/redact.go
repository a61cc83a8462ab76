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
	*Secrets
	key *Key
}

// NewRedactor makes the redactor of an instance of c that has the given key.
func NewRedactor(c *ir.Contract, key *Key) *Redactor { return NewSecrets(c).Redactor(key) }

// Redactor makes the redactor of an instance that has the given key.
func (s *Secrets) Redactor(key *Key) *Redactor { return &Redactor{s, key} }

// Patch writes the operations of a patch for the line's member "patch", with the
// pointers to what was replaced.
func (r *Redactor) Patch(patch tree.Patch) (text json.RawMessage, redacted []string) {
	size := 2
	for i := range patch {
		size += 48 + len(patch[i].RawPath) + len(patch[i].RawFrom) + patch[i].Value.Size()
	}
	var room [8]step
	w := redaction{Redactor: r, dst: make([]byte, 0, size), begins: "/patch", where: room[:0]}
	w.dst = append(w.dst, '[')
	for i := range patch {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.enter("", i)
		w.op(&patch[i])
		w.leave()
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

// RedactPath writes a pointer as an actor wrote it: without the tokens below a place that one of
// several redactors, of one key and none of them idle, may not show. changed tells whether some
// were replaced.
func RedactPath(text string, by ...*Redactor) (shown string, changed bool) {
	tokens, err := tree.ParsePointer(text)
	if err != nil {
		return by[0].Text(text)
	}
	first := len(tokens)
	for _, r := range by {
		first = min(first, r.hides(tokens))
	}
	if first == len(tokens) {
		return text, false
	}
	return by[0].cut(tokens, first).String(), true
}

// path is RedactPath for a pointer whose tokens are known.
func (r *Redactor) path(text string, tokens tree.Pointer) (shown string, changed bool) {
	if r.Idle() {
		return text, false
	}
	if i := r.hides(tokens); i < len(tokens) {
		return r.cut(tokens, i).String(), true
	}
	return text, false
}

// hides is the position of the first token that may not be shown, or how many there are.
func (r *Redactor) hides(tokens tree.Pointer) int {
	at := r.root
	for i, token := range tokens {
		if at.hidden {
			return i
		}
		at = at.token(token)
	}
	return len(tokens)
}

// cut copies a pointer with the tokens from position i on replaced.
func (r *Redactor) cut(tokens tree.Pointer, i int) tree.Pointer {
	shown := slices.Clone(tokens)
	for ; i < len(shown); i++ {
		shown[i] = r.key.digest(useValue, []byte(shown[i]))
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
	for i := range stage.Values {
		v := &stage.Values[i]
		value, given := args[v.Name]
		if !given || !v.Secret {
			continue
		}
		if redacted == nil {
			shown = maps.Clone(args)
		}
		shown[v.Name] = r.key.digest(useValue, []byte(value))
		redacted = append(redacted, "/args/"+region.EscapeToken(v.Name))
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
	size := 2
	for i := range all {
		size += 32 + len(all[i].Text) + min(most, all[i].Value.Size())
	}
	var room [8]step
	w := redaction{Redactor: r, dst: make([]byte, 0, size), begins: "/old", where: room[:0]}
	for i := range all {
		w.dst = append(w.dst, "[,"[min(i, 1)])
		w.enter("", i)
		w.old(&all[i], most)
		w.leave()
	}
	return append(w.dst, ']'), w.redacted
}

// A redaction is one piece of a line while it is written.
type redaction struct {
	*Redactor
	dst      []byte
	begins   string // pointer to the piece
	where    []step // from there to what is being written
	redacted []string
	most     int  // how long dst may become for now, 0 for no end
	tooLong  bool // it would have become longer
}

// A step is a name or, if that is empty, a position.
type step struct {
	name  string
	index int
}

// enter adds a step to where; leave takes it back.
func (w *redaction) enter(name string, index int) { w.where = append(w.where, step{name, index}) }

func (w *redaction) leave() { w.where = w.where[:len(w.where)-1] }

// note lists what is being written as replaced.
func (w *redaction) note() {
	pointer := append(make([]byte, 0, 64), w.begins...)
	for _, s := range w.where {
		pointer = append(pointer, '/')
		if s.index < 0 {
			pointer = append(pointer, region.EscapeToken(s.name)...)
		} else {
			pointer = strconv.AppendInt(pointer, int64(s.index), 10)
		}
	}
	w.redacted = append(w.redacted, string(pointer))
}

// named is the index of a step that is a name.
const named = -1

func (w *redaction) op(op *tree.Op) {
	w.dst = append(w.dst, `{"op":"`...)
	w.dst = append(w.dst, op.Kind...)
	w.dst = append(w.dst, '"')
	w.pathMember("path", op.RawPath, op.Path)
	if op.Kind.HasFrom() {
		w.pathMember("from", op.RawFrom, op.From)
	}
	if op.Kind.HasValue() {
		w.dst = append(w.dst, `,"value":`...)
		w.enter("value", named)
		w.value(w.find(op.Path), op.Value)
		w.leave()
	}
	w.dst = append(w.dst, '}')
}

func (w *redaction) old(o *OldValue, most int) {
	w.dst = append(w.dst, `{"op":`...)
	w.dst = strconv.AppendInt(w.dst, int64(o.Op), 10)
	w.pathMember("path", o.Text, o.Path)
	w.dst = append(w.dst, `,"value":`...)
	w.enter("value", named)
	w.oldValue(o, most)
	w.leave()
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

// pathMember writes a pointer as a member.
func (w *redaction) pathMember(name, text string, tokens tree.Pointer) {
	w.dst = append(append(append(w.dst, `,"`...), name...), `":`...)
	shown, changed := w.path(text, tokens)
	if changed {
		w.enter(name, named)
		w.note()
		w.leave()
	}
	w.dst = quote(w.dst, shown)
}

// value writes n, which stands at p.
func (w *redaction) value(p *place, n *tree.Node) {
	switch {
	case w.Idle():
		w.whole(n)
	case p.hidden || !p.admits(n.Kind()):
		w.replace(n)
		w.full(0)
	case p.open && (w.most == 0 || len(w.dst)+n.Size() <= w.most):
		w.dst = tree.AppendJSON(w.dst, n)
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

func (w *redaction) object(p *place, n *tree.Node) {
	before := byte('{')
	for name, child := range n.Members() {
		if w.full(len(name)) {
			return
		}
		w.dst = append(quote(append(w.dst, before), name), ':')
		w.enter(name, named)
		w.value(p.member(name), child)
		w.leave()
		before = ','
	}
	w.close(before, '{', '}')
}

func (w *redaction) array(p *place, n *tree.Node) {
	before := byte('[')
	for i, child := range n.Elements() {
		if w.full(0) {
			return
		}
		w.dst = append(w.dst, before)
		w.enter("", i)
		w.value(p.element(i), child)
		w.leave()
		before = ','
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
	w.note()
}
