package tree

import (
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
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

// PatchOf reads a patch from a JSON value, as ParsePatch does from text.
func PatchOf(n *Node, limits PatchLimits) (Patch, []*Problem) {
	if p := refuseWhole(n, limits); p != nil {
		return nil, []*Problem{p}
	}
	checks := shapeCheck{limits: limits, patch: make(Patch, 0, n.Len())}
	for _, element := range n.Elements() {
		checks.add(rawOpOf(element))
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
	case n.Get("op") != nil:
		return "put the operation into an array"
	default:
		return ""
	}
}
