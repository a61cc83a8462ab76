package tree

import (
	"errors"

	"github.com/patchoptic/poptic/internal/ir"
)

// ParsePatch reads a JSON Patch document (RFC 6902) and checks the shape of all
// operations before any runs. It returns either the patch or every problem there
// is, in operation order; what is not JSON, and a limit, is a problem alone.
// Members of an operation that have no meaning are ignored.
func ParsePatch(data []byte, limits PatchLimits) (Patch, []*Problem) {
	if err := refuseOutright(data, limits.Limits); err != nil {
		return nil, []*Problem{undecodable(err, data)}
	}
	p := newParser(data, limits.Limits)
	defer p.release()
	if p.dec.PeekKind() != '[' {
		return parseOther(data, limits)
	}
	checks := shapeCheck{limits: limits}
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
	p := &Problem{Code: bad.Reply(), Index: opIndexOf(bad.Path), Message: "the patch: " + bad.Error()}
	if bad.Code == InvalidJSON && len(data) > 0 && bad.Offset <= 1 {
		p.Hint = "send the JSON array of operations and nothing else"
	}
	return p
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
func (p *parser) operations(into *shapeCheck, most int) error {
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
		into.add(op)
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
