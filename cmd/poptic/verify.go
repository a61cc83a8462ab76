package main

import (
	"time"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

type verifyVerb struct {
	stageFlags
	stateFlag
	proposalFlags
	verdictFlags
	Principal string `help:"Who proposes, for conditions that ask." placeholder:"SUBJECT"`
}

// Help is printed by --help.
func (verifyVerb) Help() string {
	return `Runs every gate on the proposal: limits, format, phase, scope, types, rules. Nothing is written.

Examples:

    poptic verify contract.poptic --state state.json \
        --stage classify --arg ticket=T1 --patch patch.json
    generate | poptic verify contract.poptic --state state.json \
        --stage classify --arg ticket=T1 --patch - --actor --format json

Exit codes:

    0  the proposal would commit, or change nothing
    1  it is rejected
    2  usage, unreadable or unfit input, unknown names, a contract with errors`
}

// Run implements the verb.
func (v *verifyVerb) Run(c *console) error {
	if err := v.apart(v.State); err != nil {
		return err
	}
	o, err := v.stageFlags.open(c, v.State)
	if err != nil {
		return err
	}
	d, err := propose(c, o, &v.stageFlags, &v.proposalFlags, v.Principal)
	if err != nil {
		return err
	}
	if err := v.print(c, c.outText(), d); err != nil {
		return err
	}
	return d.answer()
}

// propose judges the proposal that the flags describe, made by an actor.
func propose(c *console, o *opened, s *stageFlags, f *proposalFlags, actor string) (*decided, error) {
	if err := f.complete(o.contract, s); err != nil {
		return nil, err
	}
	if err := o.requireValid(c); err != nil {
		return nil, err
	}
	n, err := f.read(c)
	if err != nil {
		return nil, err
	}
	if f.MergePatch && n.refused == nil {
		if err := n.merge(c, o, s.Stage, s.Role); err != nil {
			return nil, err
		}
	}
	if n.refused != nil {
		return o.refuse(c, s, n)
	}
	written := n.written
	outcome, err := o.program.Verify(c.ctx, o.snapshot, verify.Proposal{
		Stage: s.Stage, Args: o.args, Role: s.Role, Patch: n.patch, Next: f.Next,
		Normalised: n.applied, Actor: actor, Now: time.Now().UTC(),
	})
	if err != nil {
		return nil, misnamed(o.contract, err)
	}
	d := decidedAs(outcome)
	if f.MergePatch {
		ofMergePatch(d.operator.Violations, written)
		ofMergePatch(d.actor.Violations, written)
	}
	return d, nil
}

// ofMergePatch words violations for whoever wrote a merge patch, which has no operations, and
// in which null takes a member away.
func ofMergePatch(found []verify.Violation, written *tree.Node) {
	for i := range found {
		v := &found[i]
		v.OpIndex = nil
		if v.Path == nil || written == nil {
			continue
		}
		at := written
		pointer, err := tree.ParsePointer(*v.Path)
		for _, name := range pointer {
			at = at.Get(name)
		}
		if err == nil && at != nil && at.Kind() == ir.Null {
			v.Hint = "in a merge patch null removes a member; where null is meant as the value, send a JSON Patch"
		}
	}
}
