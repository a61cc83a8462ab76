package main

import (
	"github.com/patchoptic/poptic/internal/verify"
)

// A decided proposal, in both renderings, and the state it leads to.
type decided struct {
	operator verify.Verdict
	actor    verify.ActorVerdict
	after    verify.Snapshot
}

func decidedAs(outcome verify.Outcome) *decided {
	return &decided{operator: outcome.Verdict, actor: outcome.Actor(), after: outcome.After}
}

func (d *decided) rejected() bool { return d.operator.Verdict == verify.Reject }

// answer is the exit code's reason: a reject is a no.
func (d *decided) answer() error {
	if d.rejected() {
		return errNo
	}
	return nil
}

// refuse decides a proposal that cannot be read as a patch at all: the actor's
// answer holds several, or a merge patch that cannot be used.
func (o *opened) refuse(c *console, s *stageFlags, n *normalised) (*decided, error) {
	view, _, err := o.program.View(c.ctx, o.snapshot, verify.ViewRequest{Stage: s.Stage, Args: o.args, Role: s.Role})
	if err != nil {
		return nil, misnamed(o.contract, err)
	}
	violations := []verify.Violation{verify.Unreadable(n.refused)}
	state := o.snapshot.State.Digest().String()
	return &decided{
		operator: verify.Verdict{
			Verdict: verify.Reject, VersionBefore: o.snapshot.Version, VersionAfter: o.snapshot.Version,
			StateBefore: state, StateAfter: state, Contract: o.program.Digest(),
			PhaseBefore: o.snapshot.Phase, PhaseAfter: o.snapshot.Phase,
			Violations: violations, Retryable: true, Normalised: orEmpty(n.applied),
		},
		actor: verify.ActorVerdict{
			Verdict: verify.Reject, ViewDigest: view.Digest, Contract: o.program.Digest(),
			PhaseBefore: o.snapshot.Phase, PhaseAfter: o.snapshot.Phase,
			Violations: violations, Retryable: true, Normalised: orEmpty(n.applied),
		},
		after: o.snapshot,
	}, nil
}

// orEmpty makes a list that JSON writes as [] rather than null.
func orEmpty(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}
