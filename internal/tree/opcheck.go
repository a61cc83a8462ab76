package tree

import (
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

var opKinds = []OpKind{OpAdd, OpRemove, OpReplace, OpMove, OpCopy, OpTest}

// A field is a member of an operation that has to be a string.
type field struct {
	present bool
	kind    ir.Kind
	text    string
}

// rawOp is an operation as read, before its shape is checked.
type rawOp struct {
	kind           ir.Kind // object, if it can be an operation at all
	op, path, from field
	value          *Node
}

// rawOpOf reads an operation from a node.
func rawOpOf(n *Node) rawOp {
	return rawOp{
		kind: n.Kind(), op: fieldOf(n.Get("op")), path: fieldOf(n.Get("path")), from: fieldOf(n.Get("from")),
		value: n.Get("value"),
	}
}

func fieldOf(n *Node) field {
	if n == nil {
		return field{}
	}
	return field{true, n.Kind(), n.Text()}
}

// A shapeCheck checks operations, one after the other, and collects everything
// wrong with their shapes.
type shapeCheck struct {
	limits   PatchLimits
	patch    Patch
	tokens   int  // of the pointers so far
	full     bool // they are more than there may be
	problems []*Problem
}

func (s *shapeCheck) add(raw rawOp) {
	const usual = 8
	if s.patch == nil {
		s.patch = make(Patch, 0, usual)
	}
	s.patch = append(s.patch, Op{Index: len(s.patch)})
	c := opCheck{shapeCheck: s, op: &s.patch[len(s.patch)-1], raw: raw}
	c.run()
}

// result is the patch, or what is wrong with it.
func (s *shapeCheck) result() (Patch, []*Problem) {
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
	*shapeCheck
	op  *Op
	raw rawOp
}

func (c *opCheck) fail(code Code, path, message, hint string) {
	c.problems = append(c.problems, &Problem{
		Code: code, Index: c.op.Index, Path: path, Message: message, Hint: hint,
	})
}

func (c *opCheck) run() {
	if c.raw.kind != ir.Object {
		c.fail(CodePatchSyntax, "", "an operation is an object, not "+c.raw.kind.Article(), "")
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
	c.fail(CodePatchSyntax, c.op.RawPath,
		"op is none of add, remove, replace, move, copy and test", nearestOp(c.raw.op.text))
	return false
}

// check tells whether a member is there and a string.
func (c *opCheck) check(name string, f field) bool {
	switch {
	case !f.present:
		c.fail(CodePatchSyntax, c.op.RawPath, c.what()+" has no member "+name, "")
	case f.kind != ir.String:
		c.fail(CodePatchSyntax, c.op.RawPath, fmt.Sprintf("the member %s is a string, not %s", name, f.kind.Article()), "")
	default:
		return true
	}
	return false
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
	p, bad := parsePointer(f.text)
	if bad != nil {
		c.fail(CodePointerSyntax, f.text, bad.Message, bad.Hint)
		return nil
	}
	return p
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
		c.fail(CodePatchSyntax, c.op.RawPath, c.what()+" has no member value", "a missing value is not null; write null if that is meant")
	}
}

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
	near := ir.Nearest(lower, known)
	if near == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", near)
}
