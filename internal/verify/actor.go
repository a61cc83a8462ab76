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
// phase depend on nothing else but the host's arguments, so they are told as they are, but
// for conditions on those (bind.go). So are the gates of require that the stage sees or discloses. Then the scope
// step runs again, on the view. If it finds something there, that is the whole
// explanation, whatever the state had to say: another state with the same view
// would have led to the same words. If it finds nothing, but the state's verdict is
// a rejection, then some rule was violated. Rules that read only what the stage
// sees, or that it discloses, are named; if there are none, all others together are
// one nameless refusal. A rule that is not named must not even decide which named
// ones are reported: therefore, where the first step that failed has none to name,
// the later steps are asked too.
//
// A gate that a stage does not see and discloses tells one bit: that it failed. How
// many entries failed it, where, in which order and in which way would tell more, so
// all its findings are one violation, whose text depends on the contract alone. What
// has one name in "discloses" is one gate.
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
		told, more := o.Verdict.Told()
		out.Violations, out.More, out.NotChecked = append(out.Violations, told...), more, o.Verdict.NotChecked
	} else {
		seen, _ := v.stage.project(v.snapshot.State, v.args, v.p.watch)
		out.ViewDigest = seen.Digest().String()
		var told []Violation
		switch {
		case len(o.found) == 0:
		case v.reached == stepStale:
			told, out.More = v.p.violations(o.found)
			out.NotChecked = v.reached.notChecked()
		default:
			r := reply{verification: verification{
				p: v.p, ctx: ctx, stage: v.stage, snapshot: v.snapshot, proposal: v.proposal,
				patch: v.patch, chosen: v.chosen, next: v.next, args: v.args, values: v.values,
				accesses: v.accesses, firstAccess: v.firstAccess, after: v.snapshot.State, toActor: true,
				costs: newCosts(v.p.limits.Cost),
			}}
			told, out.More = r.explain(seen)
			out.NotChecked = r.unchecked
		}
		out.Violations = append(out.Violations, told...)
	}
	out.Retryable = out.Verdict == Reject && retryable(out.Violations, out.Attempt, out.MaxAttempts)
	return out, nil
}

// A reply is a verification that runs again, from the require step on, to find out what
// the actor may be told.
type reply struct {
	verification
	unchecked []Gate // what the step that is told of kept from being judged
}

// explain runs the steps that depend on the state, and tells what the first finds
// that finds something the actor may know, and what can be told beside it. Which gates were
// not judged follows from what is told: where nothing is, nothing is said of them.
func (r *reply) explain(seen *tree.Node) (told []Violation, more int) {
	r.reached = stepRequire
	if named := r.named(r.checkRequire()); len(named) > 0 {
		return r.tellStep(named)
	}
	r.reached = stepScope
	if onView := r.execute(r.withContainers(seen), true); len(onView.found) > 0 {
		return r.tellStep(append(onView.found, r.checkValues(onView.found)...))
	}
	if found := r.checkScope(); len(found) > 0 {
		if named := r.named(r.asOfUnions(found)); len(named) > 0 {
			return r.tellStep(named)
		}
		return []Violation{messages.refused()}, 0
	}
	r.reached = stepSchema
	if named := r.named(r.checkSchema()); len(named) > 0 {
		seen := slices.DeleteFunc(slices.Clone(named), func(f finding) bool { return r.disclosedBy(&f) >= 0 })
		r.unchecked = r.reached.notChecked()
		r.reached = stepRules
		return r.tellAll(append(named, unaffected(r.named(r.checkRules()), seen)...))
	}
	r.reached = stepRules
	return r.tellRules(r.checkRules())
}

// tellStep tells of what a step has found, behind which others were not reached.
func (r *reply) tellStep(named []finding) (told []Violation, more int) {
	r.unchecked = r.reached.notChecked()
	return r.tellAll(named)
}

// asOfUnions are findings of the scope step that the view had nothing against, each at a
// place in a union as one of the union: what is there hangs on the alternative, which the
// view may not show.
func (r *reply) asOfUnions(found []finding) []finding {
	out := slices.Clone(found)
	for i := range out {
		f := &out[i]
		if f.OpIndex == nil || f.rule != "" || f.known != "" {
			continue
		}
		accesses := r.accessesOf(&r.patch[*f.OpIndex])
		at := slices.IndexFunc(accesses, func(a access) bool { return a.typed.union >= 0 })
		if at >= 0 {
			w := accesses[at].typed.word[:accesses[at].typed.union]
			f.rule, f.gated = ir.TypeGate, slices.Clone(w)
			f.reads = region.Region{{Include: []region.Pattern{patternOf(w)}}}
		}
	}
	return out
}

// tellRules tells what may be named, or if there is none of it, that something else
// refused.
func (r *reply) tellRules(found []finding) (told []Violation, more int) {
	if named := r.named(found); len(named) > 0 {
		return r.tellAll(named)
	}
	return []Violation{messages.refused()}, 0
}

// named is the findings that the actor may know of.
func (r *reply) named(found []finding) []finding {
	var out []finding
	for i := range found {
		if r.visibility(&found[i]) != ir.Hidden {
			out = append(out, found[i])
		}
	}
	return out
}

// tellAll tells of what the stage sees as it is, without paths and hints that name
// what the stage neither sees nor writes; and of what it only discloses one bit.
func (r *reply) tellAll(found []finding) (told []Violation, more int) {
	var out []finding
	failed := make([]bool, len(r.stage.Gates))
	for _, f := range found {
		if gate := r.disclosedBy(&f); gate >= 0 {
			failed[gate] = true
			continue
		}
		if f.at != nil && !f.own && !r.mayName(f.at) {
			f.Path = nil
		}
		if f.hint != nil && !r.mayName(f.hint) {
			f.Hint = ""
		}
		out = append(out, f)
	}
	out, unjudged := withoutFollowing(out) // of what is seen alone: the rest may not decide what is told
	if r.reached == stepRules && len(r.unchecked) == 0 && len(out) > 0 && (unjudged || r.costs.unasked) {
		r.unchecked = []Gate{GateInvariant}
	}
	for i := range r.stage.Gates {
		if failed[i] {
			f := r.bit(&r.stage.Gates[i])
			f.Hint = "" // a condition's text names what the stage does not see
			out = append(out, f)
		}
	}
	return r.p.violations(out)
}

// mayName reports whether the stage sees a place or is on the way to what it sees,
// or writes it.
func (r *reply) mayName(w region.Word) bool {
	return r.stage.read.Start(r.args).Walk(w).Reachable() ||
		r.stage.write.Start(r.args).Walk(w).Interior() ||
		r.stage.blind.Start(r.args).Walk(w).Interior()
}

// Gates that tell one bit.

// disclosedBy is the number of the stage's gate that f is a finding of, if all that the
// actor may know of it is whether it holds; else -1.
func (r *reply) disclosedBy(f *finding) int {
	if f.known != "" || r.visibility(f) != ir.Disclosed {
		return -1
	}
	for i := range r.stage.Gates {
		if g := &r.stage.Gates[i]; g.Visibility == ir.Disclosed && r.isOf(f, g) {
			return r.firstOf(i)
		}
	}
	return -1
}

// firstOf is the first of the gates that one name discloses.
func (r *reply) firstOf(i int) int {
	for j := range r.stage.Gates {
		if sharesBit(&r.stage.Gates[j], &r.stage.Gates[i]) {
			return j
		}
	}
	return i
}

// sharesBit reports whether one name discloses two gates of a stage, of which the second is
// disclosed.
func sharesBit(g, h *ir.Gate) bool {
	switch h.Kind {
	case ir.RequireGate, ir.EnsureGate, ir.ProduceGate:
		return g.Kind == h.Kind && g.Visibility == ir.Disclosed && g.Clause == h.Clause
	}
	return false
}

// bit is the finding that tells no more of a gate than that it failed.
func (r *reply) bit(g *ir.Gate) finding {
	switch g.Kind {
	case ir.RequireGate, ir.EnsureGate:
		return r.conditionBit(g)
	case ir.ProduceGate:
		return messages.nothingProduced(r.stage.Name)
	case ir.GuardGate:
		return messages.guard(r.snapshot.Phase, g.Name)
	case ir.InvariantGate, ir.ChangeGate:
		return messages.invariant(r.p.contract.Invariant(g.Name))
	default:
		return messages.typeUnmet(g)
	}
}

// conditionBit is the bit of a require or ensure, with its message if no other one shares it.
func (r *reply) conditionBit(g *ir.Gate) finding {
	for i := range r.stage.Gates {
		if h := &r.stage.Gates[i]; h != g && sharesBit(h, g) {
			return messages.conditions(r.stage.Stage, g.Kind)
		}
	}
	for i := range r.stage.Conditions(g.Kind) {
		if nth(i) == g.Name {
			return messages.condition(r.stage.Stage, g.Kind, i)
		}
	}
	return messages.conditions(r.stage.Stage, g.Kind)
}

// Whether a gate is seen.

// visibility tells whether the actor may know that the gate of f failed. The
// contract lists the gates that a stage can trigger. One that is not listed is
// seen if what it read lies in the stage's region.
func (r *reply) visibility(f *finding) ir.Visibility {
	switch {
	case f.known != "":
		return f.known
	case r.reached == stepScope && f.Gate != GateLimit && f.gated == nil:
		return ir.Hidden // the view had nothing against it
	case f.rule == "":
		return ir.Seen
	}
	if listed := r.listedGates(f); len(listed) > 0 {
		return worst(listed)
	}
	if r.sees(f.reads) {
		return ir.Seen
	}
	return ir.Hidden
}

// listedGates are the contract's entries about the gate of f.
func (r *reply) listedGates(f *finding) []ir.Visibility {
	var all []ir.Visibility
	for i := range r.stage.Gates {
		if g := &r.stage.Gates[i]; r.isOf(f, g) {
			if slices.ContainsFunc(g.Given, r.contradicts) {
				all = append(all, ir.Hidden)
				continue
			}
			all = append(all, g.Visibility)
		}
	}
	return all
}

// isOf reports whether f is a finding of a gate of the stage.
func (r *reply) isOf(f *finding, g *ir.Gate) bool {
	return g.Kind == f.rule && (g.Name == "" || g.Name == f.name) && (g.At == nil || r.isAt(g, f))
}

// contradicts reports whether a place does not hold what a condition of the stage says.
// Then that refuses the patch, and what a gate comes to that hangs on it may follow from
// what is hidden. The view and the patch decide this: whether whole conditions hold might
// follow from more.
func (r *reply) contradicts(p ir.Pin) bool {
	root := r.after
	if p.Before {
		root = r.snapshot.State
	}
	n := nodeAtPattern(root, p.At.Bind(r.args))
	switch {
	case n == nil:
		return p.Texts != nil // without a key nothing is looked up
	case n.Kind() != ir.String:
		return true
	case p.Texts != nil:
		return !slices.Contains(p.Texts, n.Text())
	}
	return n.Text() != r.args[p.Param]
}

// isAt reports whether the gate g, which has a place, is about the place of f.
func (r *reply) isAt(g *ir.Gate, f *finding) bool {
	if f.rule == ir.ProduceGate {
		return g.At.String() == f.typed.String()
	}
	at := f.at
	if f.gated != nil {
		at = f.gated
	}
	return matchesWord(g.At.Bind(r.args).Segments, at)
}

func worst(all []ir.Visibility) ir.Visibility {
	out := ir.Seen
	for _, v := range all {
		if v == ir.Hidden {
			return v
		}
		if v == ir.Disclosed {
			out = v
		}
	}
	return out
}

// sees reports whether the view shows everything that a rule read: every pattern
// lies in the stage's region, or is a label on the way to it; and so do the labels
// above each, which decide whether a path leads anywhere.
func (r *reply) sees(reads region.Region) bool {
	if len(reads) == 0 {
		return true
	}
	return r.p.sees(r.stage.Read.Bind(r.args), reads)
}

// sees is the same for a region that is shown.
func (p *Program) sees(shown, reads region.Region) bool {
	whole, withSpine := region.Compile(shown), region.Compile(region.Union(shown, spine(&p.types, shown)))
	for _, g := range reads {
		for _, one := range g.Include {
			if one.Shallow && !within(one, withSpine) || !one.Shallow && !within(one, whole) || !p.seesAbove(one, whole) {
				return false
			}
		}
	}
	return true
}

// seesAbove is the same for the labels above a pattern that lies in the region.
func (p *Program) seesAbove(one region.Pattern, whole *region.Set) bool {
	for i := range one.Segments {
		above := region.Pattern{Segments: one.Segments[:i], Shallow: true}
		if !p.alwaysContainer(above.Segments, one.Segments[i]) && !within(above, whole) {
			return false
		}
	}
	return true
}

func within(p region.Pattern, set *region.Set) bool {
	one := region.Compile(region.Region{{Include: []region.Pattern{p}}})
	return region.Within(one, set, region.Plain, region.Plain, region.Options{VerdictOnly: true}).Verdict == region.Yes
}

// spine is the places above what a region shows whose existence and kind always
// show: containers of one kind by their type, with something visible below however
// the state is. Of a grant, exceptions that reach up to an include might leave
// nothing there to see; such an include counts for nothing.
func spine(ts *types, shown region.Region) region.Region {
	var out region.Grant
	for _, g := range shown {
		for _, include := range g.Include {
			if slices.ContainsFunc(g.Except, func(e region.Pattern) bool { return fixedDepth(e) <= len(include.Segments) }) {
				continue
			}
			for i := range include.Segments {
				if ts.alwaysContainer(include.Segments[:i], include.Segments[i]) {
					out.Include = append(out.Include, region.Pattern{Segments: include.Segments[:i], Shallow: true})
				}
			}
		}
	}
	return asRegion(out)
}

// fixedDepth is the number of segments before the first that matches any depth.
func fixedDepth(p region.Pattern) int {
	for i, s := range p.Segments {
		if s.Kind == region.AnyDepth {
			return i
		}
	}
	return len(p.Segments)
}

// The view, with the containers that are written into unseen.

// withContainers adds to what a stage sees the empty containers it writes into
// without seeing them.
func (r *reply) withContainers(seen *tree.Node) *tree.Node {
	for _, container := range r.stage.unseen {
		seen = addContainer(seen, r.snapshot.State, container.Bind(r.args).Segments)
	}
	return seen
}

// unseenContainers lists the containers that the exceptions to "what is written is
// read" need: of appends, of new members, of blind additions.
func unseenContainers(s *ir.Stage) []region.Pattern {
	var out []region.Pattern
	above := func(p region.Pattern) region.Pattern {
		return region.Pattern{Segments: p.Segments[:len(p.Segments)-1]}
	}
	for _, g := range s.Write {
		for _, p := range g.Include {
			if n := len(p.Segments); n > 0 && p.Segments[n-1].Kind == region.FreshSegment {
				out = append(out, above(p))
			}
		}
	}
	for _, g := range s.Blind {
		for _, p := range g.Include {
			if len(p.Segments) > 0 {
				out = append(out, above(p))
			}
		}
	}
	for _, p := range s.Params {
		if p.Kind == ir.NewParam {
			out = append(out, p.Of)
		}
	}
	return out
}

// addContainer returns seen with the containers on the path that exist in the
// state. A wildcard goes through what is seen only, so that nothing is shown whose
// existence the stage does not know.
func addContainer(seen, state *tree.Node, path []region.Segment) *tree.Node {
	if state == nil || state.Kind() != ir.Object && state.Kind() != ir.Array {
		return seen
	}
	if seen == nil {
		seen = tree.NewObject(nil)
		if state.Kind() == ir.Array {
			seen = tree.NewArray(nil).WithOrder(state.Order())
		}
	}
	if len(path) == 0 || seen.Kind() != ir.Object {
		return seen
	}
	if s := path[0]; s.Kind == region.KeyLiteral || s.Kind == region.Literal {
		if child := addContainer(seen.Get(s.Text), state.Get(s.Text), path[1:]); child != nil {
			return seen.With(s.Text, child)
		}
		return seen
	}
	return seen.MapMembers(func(name string, child *tree.Node) *tree.Node {
		if !path[0].Matches(region.Key(name)) {
			return child
		}
		return addContainer(child, state.Get(name), path[1:])
	})
}
