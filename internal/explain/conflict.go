package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/lang/source"
)

// Places tells where in the source the parts of a contract are.
type Places interface {
	Clause(stage, keyword string) source.Span
	Param(stage, name string) source.Span
	Invariant(name string) source.Span
}

// Related points at the clauses that keep two stages from commuting, and shows the
// run in which the order mattered.
func Related(m *footprint.Model, result footprint.Result, at Places) []source.Related {
	switch r := result.(type) {
	case footprint.Refuted:
		if r.Counterexample != nil {
			return append(clauses(*r.Pair, *r.Conflict, at), replayed(*r.Pair, m.Shown(*r.Pair, *r.Counterexample))...)
		}
	case footprint.Unknown:
		if r.Pair != nil && len(r.Pair.Conflicts) > 0 {
			return clauses(*r.Pair, r.Pair.Conflicts[0], at)
		}
	}
	return nil
}

// clauses points at what of the two stages meets.
func clauses(p footprint.Pair, c footprint.Conflict, at Places) []source.Related {
	if c.IsUnsearched() {
		return nil
	}
	a, b := p.Stage(c.A), p.Stage(c.B)
	path := footprint.PathText(c.Path)
	point := func(span source.Span, message string, args ...any) source.Related {
		return source.Related{Span: span, Message: fmt.Sprintf(message, args...)}
	}
	writes := func(owner string, path region.Word) source.Related {
		return point(at.Clause(p.Stage(owner).Name, "write"), "%s writes %s", p.Name(owner), footprint.PathText(path))
	}
	switch c.Kind {
	case footprint.PhaseConflict:
		return []source.Related{point(at.Clause(a.Name, "next"), "%s moves the phase", p.Name(c.A))}
	case footprint.WriteConflict:
		if a == b {
			return []source.Related{point(at.Clause(a.Name, "write"), "both write %s", path)}
		}
		return []source.Related{writes(c.A, c.Path), writes(c.B, c.Path)}
	case footprint.GateConflict:
		out := []source.Related{writes(c.A, c.Path), writes(c.B, c.Other)}
		if span := at.Invariant(c.Gate.Name); (c.Gate.Kind == ir.InvariantGate || c.Gate.Kind == ir.ChangeGate) && !span.IsZero() {
			out = append(out, point(span, "both are judged by this"))
		}
		return out
	case footprint.LocalConflict:
		return []source.Related{point(ruleSpan(a, c, at), "this part of %s depends on %s", p.Name(c.A), path), writes(c.B, c.Path)}
	case footprint.SourceConflict:
		keyword := "read"
		if region.Compile(a.Source).Contains(disowned(c.Path)) {
			keyword = "source"
		}
		return []source.Related{point(at.Clause(a.Name, keyword), "%s may test or take from %s", p.Name(c.A), path), writes(c.B, c.Path)}
	}
	return []source.Related{
		point(at.Clause(a.Name, "read"), "%s sees %s", p.Name(c.A), path),
		point(at.Clause(b.Name, "write"), "%s writes it", p.Name(c.B)),
	}
}

// ruleSpan is the rule or parameter of a stage that depends on the conflict's path.
func ruleSpan(s *ir.Stage, c footprint.Conflict, at Places) source.Span {
	w := disowned(c.Path)
	reads := func(patterns ...region.Pattern) bool {
		return region.Compile(region.Region{{Include: patterns}}).Contains(w)
	}
	for _, p := range s.Params {
		of := p.Of
		if p.Kind.IsKey() {
			of = footprint.Extend(of, region.Segment{Kind: region.ParamSegment, Text: p.Name})
		}
		if reads(of) || p.Where != nil && reads(footprint.ReadPatterns(*p.Where)...) {
			return at.Param(s.Name, p.Name)
		}
	}
	keyword := "next"
	switch {
	case slices.ContainsFunc(s.Require, func(x ir.Expr) bool { return reads(footprint.ReadPatterns(x)...) }):
		keyword = "require"
	case slices.ContainsFunc(s.Ensure, func(x ir.Expr) bool { return reads(footprint.ReadPatterns(x)...) }):
		keyword = "ensure"
	case reads(s.Produce...):
		keyword = "produce"
	}
	return at.Clause(s.Name, keyword)
}

// disowned is a witness with its symbols as the stage's own clauses have them.
func disowned(w region.Word) region.Word {
	out := slices.Clone(w)
	for i, l := range out {
		if _, name, owned := strings.Cut(l.Name, "."); owned && l.Kind == region.ParamLetter {
			out[i].Name = name
		}
		if l.Kind == region.FreshLetter {
			out[i].Name = ""
		}
	}
	return out
}

// replayed shows a run: the state and the two proposals.
func replayed(p footprint.Pair, run footprint.Counterexample) []source.Related {
	return []source.Related{
		{Message: fmt.Sprintf("this was run, in phase %s, on the state %s", run.Phase, run.State)},
		{Message: proposal(p.Name(footprint.OwnerA), run.A)},
		{Message: proposal(p.Name(footprint.OwnerB), run.B)},
	}
}

// proposal writes a proposal as a call: stage(arg: key) by role with patch.
func proposal(name string, p footprint.Proposal) string {
	var args []string
	for _, name := range slices.Sorted(maps.Keys(p.Args)) {
		args = append(args, fmt.Sprintf("%s: %q", name, p.Args[name]))
	}
	text := name
	if len(args) > 0 {
		text += "(" + strings.Join(args, ", ") + ")"
	}
	if p.Role != "" {
		text += " by " + p.Role
	}
	if p.Actor != "" {
		text += fmt.Sprintf(" as %q", p.Actor)
	}
	if !p.Now.IsZero() {
		text += " at " + p.Now.Format(time.RFC3339)
	}
	text += " with " + p.Patch
	if p.Next != "" {
		text += " to phase " + p.Next
	}
	return text
}
