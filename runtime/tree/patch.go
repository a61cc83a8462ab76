package tree

import (
	"errors"
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/compiler/ir"
)

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
	MaxOps int // operations; 0 is no limit
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
	MaxOps: 10_000,
}

// ParsePatch reads a JSON Patch document (RFC 6902) and checks the shape of all
// operations before any runs. It returns either the patch or every problem there
// is, in operation order.
func ParsePatch(data []byte, limits PatchLimits) (Patch, []*Problem) {
	n, err := Parse(data, limits.Limits)
	if err == nil {
		return PatchOf(n, limits)
	}
	var bad *DecodeError
	errors.As(err, &bad)
	p := &Problem{Code: bad.Reply(), Index: opIndexOf(bad.Path), Message: "the patch: " + bad.Error()}
	if bad.Code == InvalidJSON && len(data) > 0 && bad.Offset <= 1 {
		p.Hint = "send the JSON array of operations and nothing else"
	}
	return nil, []*Problem{p}
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

// PatchOf reads a patch from a JSON value, as ParsePatch does from text.
func PatchOf(n *Node, limits PatchLimits) (Patch, []*Problem) {
	if p := refuseWhole(n, limits); p != nil {
		return nil, []*Problem{p}
	}
	patch := make(Patch, 0, n.Len())
	var problems []*Problem
	for i, element := range n.Elements() {
		c := opCheck{op: Op{Index: i}, from: element}
		c.run()
		problems = append(problems, c.problems...)
		patch = append(patch, c.op)
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return patch, nil
}

func refuseWhole(n *Node, limits PatchLimits) *Problem {
	whole := func(code Code, message, hint string) *Problem {
		return &Problem{Code: code, Index: WholePatch, Message: message, Hint: hint}
	}
	if bad := limits.Check(n); bad != nil {
		return whole(CodeLimitExceeded, "the patch: "+bad.Error(), "")
	}
	if n.Kind() != ir.Array {
		return whole(CodePatchSyntax, fmt.Sprintf("a patch is an array of operations, not a %s", n.Kind()), notArrayHint(n))
	}
	if over(n.Len(), limits.MaxOps) {
		return whole(CodeLimitExceeded, fmt.Sprintf("the patch has more than %d operations", limits.MaxOps), "")
	}
	return nil
}

func notArrayHint(n *Node) string {
	text := strings.TrimLeft(n.Text(), " \t\r\n")
	switch {
	case n.Kind() == ir.String && (strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")):
		return "the patch was sent as a JSON string; send the array itself"
	case n.Get("op") != nil:
		return "put the operation into an array"
	default:
		return ""
	}
}
