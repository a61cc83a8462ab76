package main

import (
	"errors"
	"time"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/normalise"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// proposalFlags say what the actor proposes.
type proposalFlags struct {
	Patch      string   `help:"Proposal: a JSON Patch, or an object with \"patch\" and \"next\"; - is standard input." placeholder:"FILE"`
	Next       string   `help:"Phase to move to, where the stage leaves a choice." placeholder:"NAME"`
	MergePatch bool     `help:"The proposal is a JSON Merge Patch (RFC 7396) over what the stage sees."`
	Lenient    []string `enum:"fence,stringified" help:"Accept a proposal in one code fence (fence), or given as a JSON string (stringified); recorded in the verdict." placeholder:"WHAT"`
}

// normalised is a proposal as the verifier takes it, with the leniencies that
// were needed; or the reason it is refused unread.
type normalised struct {
	patch   []byte
	applied []string
	refused error      // why it is
	written *tree.Node // the merge patch, if it was one
}

// mergePatchApplied is how a verdict records --merge-patch.
const mergePatchApplied = "merge_patch"

// read gets the proposal's bytes and applies the leniencies the flags allow.
func (f *proposalFlags) read(c *console) (*normalised, error) {
	answer, err := c.read("patch", f.Patch)
	if err != nil {
		return nil, err
	}
	patch, applied, err := normalise.Proposal(answer, f.allowed())
	var ambiguous *normalise.AmbiguousError
	if errors.As(err, &ambiguous) {
		return &normalised{patch: answer, refused: err}, nil
	}
	return &normalised{patch: patch, applied: applied}, err
}

// complete checks that the flags say what is proposed, and by which stage.
func (f *proposalFlags) complete(contract *ir.Contract, s *stageFlags) error {
	if err := checkGiven(s.Role, f.Next, nil); err != nil {
		return err
	}
	if err := needStage(contract, s.Stage); err != nil {
		return err
	}
	if f.Patch == "" {
		return fail("give a file, or - for standard input", "which proposal? --patch is missing")
	}
	return nil
}

// apart checks that the state and the proposal are not both standard input.
func (f *proposalFlags) apart(state string) error {
	if f.Patch == "-" && state == "-" {
		return fail("give one of them as a file", "--state and --patch both read standard input")
	}
	return nil
}

func (f *proposalFlags) allowed() normalise.Allowed {
	var allow normalise.Allowed
	for _, name := range f.Lenient {
		switch name {
		case normalise.Fence:
			allow.Fence = true
		case normalise.Stringified:
			allow.Stringified = true
		}
	}
	return allow
}

// merge translates a merge patch against what the stage sees. A stage that may
// not run sees nothing; its proposal is then refused at the phase gate, if it can be
// read, so an empty patch stands for it.
func (n *normalised) merge(c *console, o *opened, stage, role string) error {
	n.applied = append(n.applied, mergePatchApplied)
	view, refusal, err := o.program.View(c.ctx, o.snapshot, verify.ViewRequest{Stage: stage, Args: o.args, Role: role, Now: time.Now().UTC()})
	if err != nil {
		return misnamed(o.contract, err)
	}
	n.written, _ = tree.Parse(n.patch, tree.DefaultPatchLimits.Limits)
	var patch tree.Patch
	if refusal == nil {
		patch, n.refused = tree.MergePatch(view.Value, n.patch)
	} else {
		n.refused = tree.CheckMergePatch(n.patch)
	}
	if n.refused == nil {
		n.patch = tree.AppendJSON(nil, patch.Node())
	}
	return nil
}
