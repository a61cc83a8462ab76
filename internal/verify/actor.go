package verify

import (
	"context"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// What an actor may be told (spec/semantics.md section 12).
//
// The reply to an actor is computed from its view and its patch. Limits, format and
// phase depend on nothing else but the host's arguments, so they are told as they
// are. So are the gates of require that the stage sees or discloses. Then the scope
// step runs again, on the view. If it finds something there, that is the whole
// explanation, whatever the state had to say: another state with the same view
// would have led to the same words. If it finds nothing, but the state's verdict is
// a rejection, then some rule was violated. Rules that read only what the stage
// sees, or that it discloses, are named; if there are none, all others together are
// one nameless refusal. A rule that is not named must not even decide which named
// ones are reported: therefore, where the first step that failed has none to name,
// the later steps are asked too.
//
// The view that the scope step runs on has, beside what the stage sees, the empty
// containers that it writes into unseen: the log it appends to, the map it creates a
// member of. The contract demands that they always exist.

// Actor is the rendering of an outcome that the stage's actor may see. It is
// computed on demand and costs about what the view costs; for a rejection also what
// the verification cost. Not safe for concurrent use.
func (o *Outcome) Actor() ActorVerdict {
	out, _ := o.ActorWithin(context.Background())
	return out
}

// ActorWithin is Actor, which ends with ctx: the error then is the context's. The
// context that the outcome was made in may have ended long before.
func (o *Outcome) ActorWithin(ctx context.Context) (out ActorVerdict, err error) {
	defer catch(&err)
	bound := *o.verification
	v := &bound
	v.ctx, v.p = ctx, v.p.within(ctx)
	out = ActorVerdict{
		Verdict: o.Verdict.Verdict, Contract: o.Verdict.Contract,
		PhaseBefore: o.Verdict.PhaseBefore, PhaseAfter: o.Verdict.PhaseAfter,
		Violations: []Violation{}, Normalised: o.Verdict.Normalised,
		Attempt: o.Verdict.Attempt, MaxAttempts: o.Verdict.MaxAttempts,
	}
	if v.stage == nil || v.reached <= stepPhase {
		out.Violations, out.More = append(out.Violations, o.Verdict.Violations...), o.Verdict.More
	} else {
		seen, _ := v.project()
		out.ViewDigest = seen.Digest().String()
		told, more := v.told(o.found, seen)
		out.Violations, out.More = append(out.Violations, told...), more
	}
	out.Retryable = out.Verdict == Reject && retryable(out.Violations, out.Attempt, out.MaxAttempts)
	return out, nil
}

// told is what the actor is told of the findings on the state.
func (v *verification) told(found []finding, seen *tree.Node) (told []Violation, more int) {
	switch {
	case len(found) == 0:
		return nil, 0
	case v.reached == stepStale:
		return violations(found)
	}
	again := &verification{
		p: v.p, ctx: v.ctx, stage: v.stage, snapshot: v.snapshot, proposal: v.proposal,
		patch: v.patch, chosen: v.chosen, next: v.next, args: v.args, uses: v.uses, firstUse: v.firstUse, after: v.snapshot.State,
		toActor: true,
	}
	return again.explain(seen)
}

// explain runs the steps that depend on the state, and tells what the first finds
// that finds something the actor may know.
func (v *verification) explain(seen *tree.Node) (told []Violation, more int) {
	v.reached = stepRequire
	if named := v.named(v.checkRequire()); len(named) > 0 {
		return v.tellAll(named)
	}
	v.reached = stepScope
	if onView := v.executeOn(v.withContainers(seen), true); len(onView.found) > 0 {
		return v.tellAll(onView.found)
	}
	if found := v.checkScope(); len(found) > 0 {
		return v.tellRules(v.asOfUnions(found))
	}
	v.reached = stepSchema
	if named := v.named(v.checkSchema()); len(named) > 0 {
		return v.tellAll(named)
	}
	v.reached = stepRules
	return v.tellRules(v.checkRules())
}

// asOfUnions are findings of the scope step that the view had nothing against, each at a
// place in a union as one of the union: what is there hangs on the alternative, which the
// view may not show.
func (v *verification) asOfUnions(found []finding) []finding {
	out := slices.Clone(found)
	for i := range out {
		f := &out[i]
		if f.OpIndex == nil || f.rule != "" || f.known != "" {
			continue
		}
		uses := v.usesOf(&v.patch[*f.OpIndex])
		at := slices.IndexFunc(uses, func(u use) bool { return u.place.union >= 0 })
		if at >= 0 {
			w := uses[at].place.word[:uses[at].place.union]
			f.rule, f.gated = ir.TypeGate, slices.Clone(w)
			f.reads = region.Region{{Include: []region.Pattern{patternOf(w)}}}
		}
	}
	return out
}

// tellRules tells what may be named, or if there is none of it, that something else
// refused.
func (v *verification) tellRules(found []finding) (told []Violation, more int) {
	if named := v.named(found); len(named) > 0 {
		return v.tellAll(named)
	}
	return []Violation{say.refused()}, 0
}

// named is the findings that the actor may know of.
func (v *verification) named(found []finding) []finding {
	var out []finding
	for i := range found {
		if v.visibility(&found[i]) != ir.Hidden {
			out = append(out, found[i])
		}
	}
	return out
}

// tellAll tells of what the stage sees as it is, without paths and hints that name
// what the stage neither sees nor writes; and of what it only discloses one bit.
func (v *verification) tellAll(found []finding) (told []Violation, more int) {
	var out []finding
	failed := make([]bool, len(v.stage.Gates))
	for _, f := range found {
		if gate := v.disclosedBy(&f); gate >= 0 {
			failed[gate] = true
			continue
		}
		if f.at != nil && !v.mayName(f.at) {
			f.Path = nil
		}
		if f.hint != nil && !v.mayName(f.hint) {
			f.Hint = ""
		}
		out = append(out, f)
	}
	for _, bit := range v.bits(failed) {
		out = append(out, finding{Violation: bit})
	}
	return violations(out)
}

// mayName reports whether the stage sees a place or is on the way to what it sees,
// or writes it.
func (v *verification) mayName(w region.Word) bool {
	return v.stage.read.Start(v.args).Walk(w).Live() ||
		v.stage.write.Start(v.args).Walk(w).Interior() ||
		v.stage.blind.Start(v.args).Walk(w).Interior()
}
