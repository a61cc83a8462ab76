package verify

import (
	"context"
	"errors"

	"github.com/patchoptic/poptic/internal/tree"
)

// A Migration is what a host asks for that puts a running instance under this contract.
type Migration struct {
	File     []byte // its state, in the form of a state file of the contract that it is under
	Contract string // digest of that contract
	Patch    []byte // a JSON Patch on the file, before it is read under this contract; empty for none
	Phase    string // the phase to go on in
}

// Migrate decides whether an instance can go on under this contract: whether the patch
// applies to its state file, the contract has the phase, and the file is then a state that
// breaks none of its rules. s is what it was. A rejection is an outcome, its paths are those
// of the file, and its contract is the one before. The error is the context's. It costs what the state is large.
func (p *Program) Migrate(ctx context.Context, s Snapshot, m Migration) (out Outcome, err error) {
	defer catch(&err)
	v := &verification{p: p.within(ctx), ctx: ctx, snapshot: s, after: s.State, next: m.Phase}
	found, root, err := v.migrated(m)
	if err != nil {
		return Outcome{}, err
	}
	v.after = s.State
	out = v.outcome(found)
	out.Patch, out.Read = v.patch, v.reading()
	out.Effects, out.Next = nil, ""
	if len(found) > 0 {
		out.Verdict.Contract = m.Contract
		return out, nil
	}
	out.After = Snapshot{State: root, Phase: m.Phase, Version: s.Version + 1}
	out.Verdict.Verdict = Commit
	out.Verdict.VersionAfter = out.After.Version
	out.Verdict.StateAfter = root.Digest().String()
	out.Verdict.PhaseAfter = m.Phase
	leaveIfEnded(ctx)
	return out, nil
}

// migrated is the state under this contract, or the first things that are in its way.
func (v *verification) migrated(m Migration) (found []finding, root *tree.Node, err error) {
	file := m.File
	if len(m.Patch) > 0 {
		var problems []*tree.Problem
		v.patch, problems = tree.ParsePatch(m.Patch, v.p.limits.Patch)
		if v.whole = len(problems) == 0; !v.whole {
			return problemsFound(problems), nil, nil
		}
	}
	if v.p.contract.Phase(m.Phase) == nil {
		return []finding{messages.noPhase(m.Phase, v.p.contract)}, nil, nil
	}
	if len(v.patch) > 0 {
		document, err := tree.ParseStepwise(file, v.p.limits.State, v.p.watch.tick)
		if err != nil {
			return fileProblems(err), nil, nil
		}
		document, _, problem := v.p.limits.State.ApplyAll(document, v.patch)
		if problem != nil {
			return problemsFound([]*tree.Problem{problem}), nil, nil
		}
		file = tree.AppendJSON(nil, document)
	}
	root, err = v.p.ImportWithin(v.ctx, file)
	if ended := v.ctx.Err(); ended != nil {
		return nil, nil, ended
	}
	if err != nil {
		return fileProblems(err), nil, nil
	}
	violations, err := v.p.CheckWithin(v.ctx, root, m.Phase)
	for _, violation := range violations {
		found = append(found, finding{Violation: violation})
	}
	return found, root, err
}

// fileProblems are the reasons why a file is no state of the contract.
func fileProblems(err error) []finding {
	var state *StateError
	if !errors.As(err, &state) {
		var bad *tree.DecodeError
		errors.As(err, &bad)
		return []finding{messages.finding(Code(bad.Reply()), "", "the state: "+bad.Error())}
	}
	var found []finding
	for _, p := range state.Problems {
		f := messages.finding(p.Code, "", p.Message)
		f.Path, f.Hint = &p.Path, p.Hint
		found = append(found, f)
	}
	if state.More > 0 {
		found[len(found)-1].others = state.More
	}
	return found
}
