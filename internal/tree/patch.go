package tree

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/spell"
)

// Patches as they are read (RFC 6902). ParsePatch reads an array of operations without
// making nodes of them, PatchOf one that was read already; both check the shape of every
// operation (opCheck) and list everything that is wrong with them.

// OpKind is one of the six operations of RFC 6902 section 4.
type OpKind string

// The operations.
const (
	OpAdd     OpKind = "add"
	OpRemove  OpKind = "remove"
	OpReplace OpKind = "replace"
	OpMove    OpKind = "move"
	OpCopy    OpKind = "copy"
	OpTest    OpKind = "test"
)

// HasFrom reports whether operations of this kind have a source.
func (k OpKind) HasFrom() bool { return k == OpMove || k == OpCopy }

// HasValue reports whether operations of this kind carry a value.
func (k OpKind) HasValue() bool { return k == OpAdd || k == OpReplace || k == OpTest }

// An Op is one operation of a patch whose shape was checked.
type Op struct {
	Index   int // in its patch, from 0
	Kind    OpKind
	Path    Pointer
	From    Pointer // of move and copy
	RawPath string  // as written
	RawFrom string
	Value   *Node // of add, replace and test
}

// MovesIntoItself reports whether op is a move to below its own source: from is a
// proper prefix of path, token by token (RFC 6902 section 4.4).
func (op *Op) MovesIntoItself() bool { return op.Kind == OpMove && op.From.isProperPrefixOf(op.Path) }

// A Patch is a sequence of operations.
type Patch []Op

// Node returns the patch as the JSON array it was read from, without the members
// that have no meaning.
func (p Patch) Node() *Node {
	ops := make([]*Node, len(p))
	for i, op := range p {
		members := map[string]*Node{"op": NewString(string(op.Kind)), "path": NewString(op.RawPath)}
		if op.Kind.HasFrom() {
			members["from"] = NewString(op.RawFrom)
		}
		if op.Kind.HasValue() {
			members["value"] = op.Value
		}
		ops[i] = NewObject(members)
	}
	return NewArray(ops)
}

// PatchLimits bound a patch as it is read.
type PatchLimits struct {
	Limits
	MaxOps          int // operations; 0 is no limit
	MaxTokens       int // of one pointer: one that is deeper than the state may be leads nowhere
	MaxPointerBytes int // of one pointer as written
	MaxPatchTokens  int // of all pointers together: each is kept apart and costs more than its bytes
}

// DefaultPatchLimits hold where none are given.
var DefaultPatchLimits = PatchLimits{
	Limits: Limits{
		MaxBytes:        8 << 20,
		MaxDepth:        DefaultLimits.MaxDepth,
		MaxNodes:        1 << 20,
		MaxNumberLength: DefaultLimits.MaxNumberLength,
		MaxExponent:     DefaultLimits.MaxExponent,
	},
	MaxOps:          10_000,
	MaxTokens:       DefaultLimits.MaxDepth,
	MaxPointerBytes: 64 << 10,
	MaxPatchTokens:  256 << 10,
}

// A Code names a way in which a patch can be wrong. These are the codes of a
// verdict's violations that a patch alone, or a patch and a state, can earn.
type Code string

// The codes.
const (
	CodePatchSyntax   Code = "patch_syntax"
	CodePointerSyntax Code = "pointer_syntax" // bad escapes, and index spellings such as 01
	CodeDuplicateKey  Code = "duplicate_key"
	CodeLimitExceeded Code = "limit_exceeded"
	CodePathMissing   Code = "path_missing"
	CodeOutOfRange    Code = "index_out_of_range"
	CodeTestFailed    Code = "test_failed"
	CodeTypeMismatch  Code = "type_mismatch" // a scalar on the way, or an index into a set or log
	CodeMoveIntoChild Code = "move_into_child"
)

// WholePatch is the index of a problem that belongs to no single operation.
const WholePatch = -1

// A Problem is one reason why a patch cannot be applied. Its texts name paths as
// the actor wrote them and kinds, never values or names the actor did not write.
type Problem struct {
	Code    Code
	Index   int    // of the operation, from 0; or WholePatch
	Path    string // the pointer at fault as written: the operation's path or from
	NoPath  bool   // the operation has no path that could be read
	Message string
	Hint    string // what to do instead, "" if nothing can be said

	// Typed is the number of leading tokens of Path that the state could type;
	// only for problems that Resolve or Apply find.
	Typed int
}

// Error makes a Problem usable as an error.
func (p *Problem) Error() string {
	if p.Index == WholePatch {
		return fmt.Sprintf("%s: %s", p.Code, p.Message)
	}
	return fmt.Sprintf("%s: operation %d: %s", p.Code, p.Index, p.Message)
}

// Reading.

// ParsePatch reads a JSON Patch document (RFC 6902) and checks the shape of all
// operations before any runs. It returns either the patch or every problem there
// is, in operation order; what is not JSON, and a limit, is a problem alone.
// Members of an operation that have no meaning are ignored.
func ParsePatch(data []byte, limits PatchLimits) (Patch, []*Problem) {
	return ParsePatchOf(nil, data, limits)
}

// ParsePatchOf is ParsePatch where some texts are to be expected as values: for each of
// them it takes the node that is known.
func ParsePatchOf(known map[string]*Node, data []byte, limits PatchLimits) (Patch, []*Problem) {
	if err := refuseOutright(data, limits.Limits); err != nil {
		return nil, []*Problem{undecodable(err, data)}
	}
	s, ok := scanPatch(data, limits, known)
	defer s.release()
	if !ok {
		return parsePatch(data, limits)
	}
	checks := patchCheck{limits: limits}
	checks.reserve(len(s.ops), bytes.Count(s.paths, slash))
	s.each(checks.add)
	return checks.result()
}

var slash = []byte{'/'}

// parsePatch reads any patch, and explains what is none.
func parsePatch(data []byte, limits PatchLimits) (Patch, []*Problem) {
	checks := patchCheck{limits: limits}
	p := newParser(data, limits.Limits)
	defer p.release()
	if p.dec.PeekKind() != '[' {
		return parseOther(data, limits)
	}
	switch err := p.operations(&checks, limits.MaxOps); {
	case err == errTooManyOps:
		return nil, []*Problem{limits.tooManyOps()}
	case err != nil:
		return nil, []*Problem{undecodable(p.explain(err), data)}
	default:
		return checks.result()
	}
}

// parseOther explains a document that is no array.
func parseOther(data []byte, limits PatchLimits) (Patch, []*Problem) {
	n, err := Parse(data, limits.Limits)
	if err != nil {
		return nil, []*Problem{undecodable(err, data)}
	}
	return PatchOf(n, limits)
}

func undecodable(err error, data []byte) *Problem {
	var bad *DecodeError
	errors.As(err, &bad)
	return &Problem{Code: bad.Reply(), Index: opIndexOf(bad.Path), Message: "the patch: " + bad.In(data), Hint: bad.Hint}
}

// opIndexOf reads the operation's index off a path into the patch document.
func opIndexOf(path string) int {
	p, err := ParsePointer(path)
	if err != nil || len(p) == 0 || !isIndex(p[0]) || len(p[0]) > 9 {
		return WholePatch
	}
	i := 0
	for _, digit := range p[0] {
		i = i*10 + int(digit-'0')
	}
	return i
}

var errTooManyOps = errors.New("too many operations")

// operations reads the array of operations without making nodes of them; only
// their values become nodes.
func (p *parser) operations(into *patchCheck, most int) error {
	if err := p.count(); err != nil {
		return err
	}
	if err := p.open(); err != nil {
		return err
	}
	for p.dec.PeekKind() != ']' {
		if over(len(into.patch)+1, most) {
			return errTooManyOps
		}
		op, err := p.operation()
		if err != nil {
			return err
		}
		into.add(&op)
	}
	if err := p.close(); err != nil {
		return err
	}
	return p.end()
}

func (p *parser) operation() (op rawOp, err error) {
	if p.dec.PeekKind() != '{' {
		n, err := p.value()
		if err != nil {
			return op, err
		}
		return rawOp{kind: n.Kind()}, nil
	}
	op.kind = ir.Object
	if err := p.count(); err != nil {
		return op, err
	}
	if err := p.open(); err != nil {
		return op, err
	}
	for p.dec.PeekKind() != '}' {
		if err := p.opMember(&op); err != nil {
			return op, err
		}
	}
	return op, p.close()
}

func (p *parser) opMember(op *rawOp) error {
	name, err := p.quoted()
	if err != nil {
		return err
	}
	switch name {
	case "op":
		op.op, err = p.field()
	case "path":
		op.path, err = p.field()
	case "from":
		op.from, err = p.field()
	case "value":
		op.value, err = p.value()
	default:
		op.other = cmp.Or(op.other, name)
		_, err = p.value()
	}
	return err
}

func (p *parser) field() (field, error) {
	if p.dec.PeekKind() != '"' {
		n, err := p.value()
		if err != nil {
			return field{}, err
		}
		return fieldOf(n), nil
	}
	if err := p.count(); err != nil {
		return field{}, err
	}
	text, err := p.quoted()
	return field{true, ir.String, text}, err
}

// opWord returns a word that every patch consists of without allocating it, "" for
// any other.
func opWord(b []byte) string {
	for _, w := range opWords {
		if string(b) == w {
			return w
		}
	}
	return ""
}

var opWords = [...]string{
	"op", "path", "value", "from",
	string(OpAdd), string(OpRemove), string(OpReplace), string(OpMove), string(OpCopy), string(OpTest),
}

// PatchOf reads a patch from a JSON value, as ParsePatch does from text.
func PatchOf(n *Node, limits PatchLimits) (Patch, []*Problem) {
	if p := refuseWhole(n, limits); p != nil {
		return nil, []*Problem{p}
	}
	checks := patchCheck{limits: limits, patch: make(Patch, 0, n.Len())}
	for _, element := range n.Elements() {
		raw := rawOpOf(element)
		checks.add(&raw)
	}
	return checks.result()
}

func refuseWhole(n *Node, limits PatchLimits) *Problem {
	whole := func(code Code, message, hint string) *Problem {
		return &Problem{Code: code, Index: WholePatch, Message: message, Hint: hint}
	}
	if bad := limits.Check(n); bad != nil {
		return whole(CodeLimitExceeded, "the patch: "+bad.Error(), "")
	}
	if n.Kind() != ir.Array {
		return whole(CodePatchSyntax, "a patch is an array of operations, not "+n.Kind().Article(), notArrayHint(n))
	}
	if over(n.Len(), limits.MaxOps) {
		return limits.tooManyOps()
	}
	return nil
}

func (l PatchLimits) tooManyOps() *Problem {
	return &Problem{
		Code: CodeLimitExceeded, Index: WholePatch,
		Message: fmt.Sprintf("the patch has more than %d operations", l.MaxOps),
	}
}

func notArrayHint(n *Node) string {
	text := strings.TrimLeft(n.Text(), " \t\r\n")
	switch {
	case n.Kind() == ir.String && (strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")):
		return "the patch was sent as a JSON string; send the array itself"
	case n.Kind() == ir.String:
		return `answer with the JSON alone, as in [{"op": "replace", "path": "/a/b", "value": 1}]`
	case n.Get("op") != nil:
		return "put the operation into an array: [{...}]"
	default:
		return `send the array of operations, as in [{"op": "replace", "path": "/a/b", "value": 1}]; [] changes nothing`
	}
}

// Checking shapes.

// rawOp is an operation as read, before its shape is checked.
type rawOp struct {
	kind           ir.Kind // object, if it can be an operation at all
	op, path, from field
	value          *Node
	other          string // the first member that means nothing
}

// A field is a member of an operation that has to be a string.
type field struct {
	present bool
	kind    ir.Kind
	text    string
}

// rawOpOf reads an operation from a node.
func rawOpOf(n *Node) rawOp {
	raw := rawOp{
		kind: n.Kind(), op: fieldOf(n.Get("op")), path: fieldOf(n.Get("path")), from: fieldOf(n.Get("from")),
		value: n.Get("value"),
	}
	if raw.value == nil || !raw.op.present || !raw.path.present {
		for name := range n.Members() {
			if opWord([]byte(name)) == "" {
				raw.other = cmp.Or(raw.other, name)
			}
		}
	}
	return raw
}

func fieldOf(n *Node) field {
	if n == nil {
		return field{}
	}
	return field{true, n.Kind(), n.Text()}
}

// A patchCheck checks operations, one after the other, and collects everything
// wrong with their shapes.
type patchCheck struct {
	limits   PatchLimits
	patch    Patch
	room     []string // for the tokens of pointers
	tokens   int      // of the pointers so far
	full     bool     // they are more than there may be
	problems []*Problem
}

// reserve makes room for operations, and for the tokens of their pointers.
func (s *patchCheck) reserve(ops, tokens int) {
	s.patch = make(Patch, 0, ops)
	if !over(tokens, s.limits.MaxPatchTokens) {
		s.room = make([]string, 0, tokens)
	}
}

func (s *patchCheck) add(raw *rawOp) {
	const usual = 8
	if s.patch == nil {
		s.patch = make(Patch, 0, usual)
	}
	s.patch = append(s.patch, Op{Index: len(s.patch)})
	c := opCheck{patchCheck: s, op: &s.patch[len(s.patch)-1], raw: raw}
	c.run()
}

// result is the patch, or what is wrong with it.
func (s *patchCheck) result() (Patch, []*Problem) {
	switch {
	case len(s.problems) > 0:
		return nil, s.problems
	case s.patch == nil:
		return Patch{}, nil
	default:
		return s.patch, nil
	}
}

// An opCheck checks one operation.
type opCheck struct {
	*patchCheck
	op  *Op
	raw *rawOp
}

func (c *opCheck) run() {
	if c.raw.kind != ir.Object {
		hint := `as in {"op": "replace", "path": "/a/b", "value": 1}`
		if c.raw.kind == ir.Array {
			hint = "leave out the inner brackets: [{...}, {...}]"
		}
		c.fail(CodePatchSyntax, "", "an operation is an object, not "+c.raw.kind.Article(), hint)
		return
	}
	c.op.RawPath = c.raw.path.text
	known := c.kind()
	c.op.Path = c.pointer("path", c.raw.path)
	if !known {
		return
	}
	if c.op.Kind.HasFrom() {
		c.op.RawFrom = c.raw.from.text
		c.op.From = c.pointer("from", c.raw.from)
	}
	if c.op.Kind.HasValue() {
		c.value()
	}
	if c.op.Kind == OpRemove && c.op.Path != nil && len(c.op.Path) == 0 {
		c.fail(CodePatchSyntax, "", "the whole document cannot be removed",
			"remove what is below it, or replace it")
	}
}

// kind reads the member op and reports whether it names an operation.
func (c *opCheck) kind() bool {
	if !c.check("op", c.raw.op) {
		return false
	}
	for _, k := range opKinds {
		if string(k) == c.raw.op.text {
			c.op.Kind = k
			return true
		}
	}
	what := "op is none of add, remove, replace, move, copy and test"
	if word := strings.ToLower(c.raw.op.text); otherOps[word] != "" { // what is in no list might be a value
		what = fmt.Sprintf("%q is no operation: op is add, remove, replace, move, copy or test", word)
	}
	c.fail(CodePatchSyntax, c.op.RawPath, what, nearestOp(c.raw.op.text))
	return false
}

var opKinds = []OpKind{OpAdd, OpRemove, OpReplace, OpMove, OpCopy, OpTest}

// check tells whether a member is there and a string.
func (c *opCheck) check(name string, f field) bool {
	switch {
	case !f.present:
		c.fail(CodePatchSyntax, c.op.RawPath, c.what()+" has no member "+name, c.misnamed(name))
	case f.kind != ir.String && name != "op":
		c.fail(CodePatchSyntax, c.op.RawPath, fmt.Sprintf("the member %s is a string, not %s", name, f.kind.Article()),
			"a JSON Pointer is a text with / before every name, as in /a/b")
	case f.kind != ir.String:
		c.fail(CodePatchSyntax, c.op.RawPath, fmt.Sprintf("the member %s is a string, not %s", name, f.kind.Article()), "")
	default:
		return true
	}
	return false
}

// misnamed is the hint for a member that is missing.
func (c *opCheck) misnamed(name string) string {
	hint := ""
	if c.raw.other != "" {
		hint = "; there is a member beside op, path, from and value, which means nothing"
	}
	switch name {
	case "op":
		return "it is add, remove, replace, move, copy or test" + hint
	case "value":
		return "write the value as the member value; null only if null is meant" + hint
	case "from":
		return "it is the path of what is copied or moved; path is where it goes" + hint
	default:
		return "it is a JSON Pointer, with / before every name, as in /a/b" + hint
	}
}

func (c *opCheck) what() string {
	if c.op.Kind == "" {
		return "the operation"
	}
	return "the " + string(c.op.Kind) + " operation"
}

// pointer reads a member that is a JSON Pointer, nil if it is none.
func (c *opCheck) pointer(name string, f field) Pointer {
	if !c.check(name, f) {
		return nil
	}
	if message := c.limits.overPointer(f.text); message != "" {
		c.fail(CodeLimitExceeded, f.text, message, "")
		return nil
	}
	if c.tokens += strings.Count(f.text, "/"); over(c.tokens, c.limits.MaxPatchTokens) {
		c.overTokens()
		return nil
	}
	first := len(c.room)
	p, bad := parsePointer(c.room[first:], f.text)
	if bad != nil {
		c.fail(CodePointerSyntax, f.text, bad.Message, bad.Hint)
		return nil
	}
	if n := first + len(p); n <= cap(c.room) {
		c.room = c.room[:n]
	}
	return slices.Clip(p)
}

// overTokens is said once: the pointers behind it are not read.
func (c *opCheck) overTokens() {
	if !c.full {
		c.full = true
		c.problems = append(c.problems, &Problem{
			Code: CodeLimitExceeded, Index: WholePatch, Hint: "send it as several patches",
			Message: fmt.Sprintf("the paths of the patch have more than %d tokens together", c.limits.MaxPatchTokens),
		})
	}
}

func (c *opCheck) value() {
	if c.op.Value = c.raw.value; c.op.Value == nil {
		c.fail(CodePatchSyntax, c.op.RawPath, c.what()+" has no member value", c.misnamed("value"))
	}
}

func (c *opCheck) fail(code Code, path, message, hint string) {
	c.problems = append(c.problems, &Problem{
		Code: code, Index: c.op.Index, Path: path, Message: message, Hint: hint,
		NoPath: c.raw.path.kind != ir.String || !c.raw.path.present,
	})
}

// otherOps are what other languages call the operations.
var otherOps = map[string]string{
	"set": changes, "update": changes, "change": changes, "modify": changes, "edit": changes, "put": changes, "assign": changes,
	"upsert": changes, "overwrite": changes, "merge": changes, "patch": changes, "write": changes, "increment": changes, "inc": changes,
	"append": appends, "push": appends, "insert": appends, "prepend": appends, "extend": appends, "concat": appends,
	"create": `"add" puts a member that is not there yet`, "new": `"add" puts a member that is not there yet`,
	"delete": removes, "del": removes, "unset": removes, "drop": removes, "clear": removes, "erase": removes,
	"rename": `"move" takes a value from one path to another`,
	"check":  `"test" compares a value`, "assert": `"test" compares a value`, "expect": `"test" compares a value`,
	"clone": `"copy" copies a value from one path to another`, "duplicate": `"copy" copies a value from one path to another`,
}

const (
	changes = `"replace" changes what is there, "add" puts what is not`
	appends = `"add" with a path that ends in /- appends to a list, set or log`
	removes = `"remove" takes away what is there`
)

// nearestOp is the hint for an unknown operation.
func nearestOp(name string) string {
	lower := strings.ToLower(name)
	var known []string
	for _, k := range opKinds {
		if lower == string(k) {
			return fmt.Sprintf("did you mean %q?", k)
		}
		known = append(known, string(k))
	}
	if means := otherOps[lower]; means != "" {
		return means
	}
	near := spell.Nearest(lower, known)
	if near == "" {
		return changes + "; " + removes
	}
	return fmt.Sprintf("did you mean %q?", near)
}
