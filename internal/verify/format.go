package verify

import (
	"bytes"
	"errors"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
)

// readProposal is the limit and format steps: the shape and pointers of the whole
// patch. Exceeded limits come before everything else.
func (v *verification) readProposal() []finding {
	found := v.parseProposal()
	if over := slices.DeleteFunc(slices.Clone(found), func(f finding) bool { return f.Gate != GateLimit }); len(over) > 0 {
		return over
	}
	if len(found) > 0 {
		return found
	}
	return v.checkSpelling()
}

// parseProposal reads an array of operations, or an object that has one.
func (v *verification) parseProposal() []finding {
	data, limits := v.proposal.Patch, v.p.limits.Patch
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) > 0 && text[0] == '{' {
		return v.parseObject(data)
	}
	patch, problems := tree.ParsePatch(data, limits)
	v.patch = patch
	found := problemsFound(problems)
	if len(found) == 0 {
		return nil
	}
	if _, err := tree.Parse(data, limits.Limits); err != nil {
		for i := range found {
			found[i].Path = nil // no operation could be read, so none has a path
		}
	}
	return found
}

func problemsFound(problems []*tree.Problem) []finding {
	var found []finding
	for _, p := range problems {
		found = append(found, say.problem(p))
	}
	return found
}

// parseObject reads {"patch": [...], "next": "phase"}.
func (v *verification) parseObject(data []byte) []finding {
	limits := v.p.limits.Patch
	n, err := tree.Parse(data, limits.Limits)
	var bad *tree.DecodeError
	if errors.As(err, &bad) {
		return []finding{say.decodeProblem(bad)}
	}
	patch := n.Get("patch")
	if patch == nil && n.Get("op") != nil {
		_, problems := tree.PatchOf(n, limits)
		return problemsFound(problems)
	}
	var found []finding
	for name := range n.Members() {
		if name != "patch" && name != "next" {
			found = append(found, say.unknownProposalMember(name))
		}
	}
	found = append(found, v.readNext(n.Get("next"))...)
	if patch == nil {
		return append(found, say.noPatchMember())
	}
	var problems []*tree.Problem
	v.patch, problems = tree.PatchOf(patch, limits)
	return append(found, problemsFound(problems)...)
}

// readNext takes the actor's choice of the next phase; null is none.
func (v *verification) readNext(n *tree.Node) []finding {
	switch {
	case n == nil || n.Kind() == ir.Null:
		return nil
	case n.Kind() != ir.String:
		return []finding{say.nextNoString(n.Kind())}
	}
	v.chosen = n.Text()
	return nil
}

// checkSpelling refuses positions that are not spelled as such, where the state
// type says that they are positions.
func (v *verification) checkSpelling() []finding {
	v.typeUses()
	var found []finding
	for i := range v.uses {
		if u := &v.uses[i]; u.place.fault == badIndex && !u.again {
			found = append(found, say.badIndex(u.op.Index, u.raw))
		}
	}
	return found
}
