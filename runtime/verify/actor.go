package verify

import (
	"slices"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
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
	v := o.verification
	out := ActorVerdict{
		Verdict: o.Verdict.Verdict, Contract: o.Verdict.Contract,
		PhaseBefore: o.Verdict.PhaseBefore, PhaseAfter: o.Verdict.PhaseAfter,
		Violations: []Violation{}, Normalised: o.Verdict.Normalised,
		Attempt: o.Verdict.Attempt, MaxAttempts: o.Verdict.MaxAttempts,
	}
	if v.stage == nil || v.reached <= stepPhase {
		out.Violations = append(out.Violations, o.Verdict.Violations...)
	} else {
		seen, _ := v.project()
		out.ViewDigest = seen.Digest().String()
		out.Violations = append(out.Violations, v.told(o.found, seen)...)
	}
	out.Retryable = out.Verdict == Reject && retryable(out.Violations, out.Attempt, out.MaxAttempts)
	return out
}

// told is what the actor is told of the findings on the state.
func (v *verification) told(found []finding, seen *tree.Node) []Violation {
	switch {
	case len(found) == 0:
		return nil
	case v.reached == stepStale:
		return violations(found)
	}
	again := &verification{
		p: v.p, ctx: v.ctx, stage: v.stage, snapshot: v.snapshot, proposal: v.proposal,
		patch: v.patch, chosen: v.chosen, next: v.next, args: v.args, uses: v.uses, after: v.snapshot.State,
	}
	return again.explain(seen)
}

// explain runs the steps that depend on the state, and tells what the first finds
// that finds something the actor may know.
func (v *verification) explain(seen *tree.Node) []Violation {
	v.reached = stepRequire
	if named := v.named(v.checkRequire()); len(named) > 0 {
		return v.tellAll(named)
	}
	v.reached = stepScope
	if onView := v.execute(v.withContainers(seen)); len(onView.found) > 0 {
		return v.tellAll(onView.found)
	}
	if found := v.checkScope(); len(found) > 0 {
		return v.tellRules(found)
	}
	v.reached = stepSchema
	if named := v.named(v.checkSchema()); len(named) > 0 {
		return v.tellAll(named)
	}
	v.reached = stepRules
	return v.tellRules(v.checkRules())
}

// tellRules tells what may be named, or if there is none of it, that something else
// refused.
func (v *verification) tellRules(found []finding) []Violation {
	if named := v.named(found); len(named) > 0 {
		return v.tellAll(named)
	}
	return []Violation{say.refused()}
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

// tellAll leaves out paths and hints that name what the stage neither sees nor writes.
func (v *verification) tellAll(found []finding) []Violation {
	out := violations(found)
	for i, f := range found {
		if f.at != nil && !v.mayName(f.at) {
			out[i].Path = nil
		}
		if f.hint != nil && !v.mayName(f.hint) {
			out[i].Hint = ""
		}
	}
	return out
}

// mayName reports whether the stage sees a place or is on the way to what it sees,
// or writes it.
func (v *verification) mayName(w region.Word) bool {
	return v.stage.read.Start(v.args).Walk(w).Live() ||
		v.stage.write.Start(v.args).Walk(w).Interior() ||
		v.stage.blind.Start(v.args).Walk(w).Interior()
}

// visibility tells whether the actor may know that the gate of f failed. The
// contract lists the gates that a stage can trigger. One that is not listed is
// seen if what it read lies in the stage's region.
func (v *verification) visibility(f *finding) ir.Visibility {
	switch {
	case f.known != "":
		return f.known
	case v.reached == stepScope && f.Gate != GateLimit:
		return ir.Hidden // the view had nothing against it
	case f.rule == "":
		return ir.Seen
	}
	if listed := v.listedGates(f); len(listed) > 0 {
		return worst(listed)
	}
	if v.sees(f.reads) {
		return ir.Seen
	}
	return ir.Hidden
}

// listedGates are the contract's entries about the gate of f.
func (v *verification) listedGates(f *finding) []ir.Visibility {
	var all []ir.Visibility
	for i := range v.stage.Gates {
		g := &v.stage.Gates[i]
		if g.Kind != f.rule || g.Name != "" && g.Name != f.name || g.At != nil && !v.isAt(g, f) {
			continue
		}
		all = append(all, g.Visibility)
	}
	return all
}

// isAt reports whether the gate g, which has a place, is about the place of f.
func (v *verification) isAt(g *ir.Gate, f *finding) bool {
	if f.rule == ir.ProduceGate {
		return g.At.String() == f.typed.String()
	}
	at := f.at
	if f.gated != nil {
		at = f.gated
	}
	return matchesWord(g.At.Bind(v.args).Segments, at)
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
func (v *verification) sees(reads region.Region) bool {
	if len(reads) == 0 {
		return true
	}
	shown := v.stage.Read.Bind(v.args)
	whole, withSpine := region.Compile(shown), region.Compile(region.Union(shown, v.p.spine(shown)))
	for _, g := range reads {
		for _, p := range g.Include {
			if p.Shallow && !within(p, withSpine) || !p.Shallow && !within(p, whole) || !v.seesAbove(p, whole) {
				return false
			}
		}
	}
	return true
}

// seesAbove is the same for the labels above a pattern that lies in the region.
func (v *verification) seesAbove(p region.Pattern, whole *region.Set) bool {
	for i := range p.Segments {
		above := region.Pattern{Segments: p.Segments[:i], Shallow: true}
		if !v.p.alwaysContainer(above.Segments, p.Segments[i]) && !within(above, whole) {
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
func (p *Program) spine(r region.Region) region.Region {
	var out region.Grant
	for _, g := range r {
		for _, include := range g.Include {
			if slices.ContainsFunc(g.Except, func(e region.Pattern) bool { return fixedDepth(e) <= len(include.Segments) }) {
				continue
			}
			for i := range include.Segments {
				if p.alwaysContainer(include.Segments[:i], include.Segments[i]) {
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

// alwaysContainer reports whether every value that the path leads to is, by its
// type, a container that next leads on from.
func (p *Program) alwaysContainer(path []region.Segment, next region.Segment) bool {
	id := p.contract.State
	for _, s := range path {
		if !p.leadsOn(id, s) {
			return false
		}
		id = p.below(id, s.Text)
	}
	return p.leadsOn(id, next)
}

// leadsOn reports whether every value of a type is a container with the letters
// that a segment matches: in a record, only a declared member.
func (p *Program) leadsOn(id ir.TypeID, s region.Segment) bool {
	t := &p.contract.Types[id]
	switch {
	case s.Kind == region.AnyDepth || t.Kind == ir.UnionType:
		return false
	case t.Kind == ir.RecordType:
		_, declared := t.Member(s.Text)
		return declared && (s.Kind == region.KeyLiteral || s.Kind == region.Literal)
	case p.types[id].form == objectForm:
		return s.Kind != region.AnyIndex && s.Kind != region.IndexLiteral
	default:
		return p.types[id].form != openForm && p.types[id].form != scalarForm && (s.Kind == region.AnyIndex || s.Kind == region.AnySegment)
	}
}

// withContainers adds to what a stage sees the empty containers it writes into
// without seeing them.
func (v *verification) withContainers(seen *tree.Node) *tree.Node {
	for _, container := range v.stage.unseen {
		seen = addContainer(seen, v.snapshot.State, container.Bind(v.args).Segments)
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
