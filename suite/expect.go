package suite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// expect compares what came of a step with one thing that is expected of it.
func (s *stepRun) expect(x *check.Expectation) {
	v := &s.outcome.Verdict
	switch x.Kind {
	case check.Commit, check.Noop:
		if string(v.Verdict) != x.Kind {
			s.otherOutcome(x)
		} else if x.Expr != nil {
			s.holds(x)
		}
	case check.Reject:
		s.reject(x, v.Verdict, v.Violations)
	case check.Reply:
		if s.step.Stage == "" {
			s.reject(x, v.Verdict, v.Violations)
			return
		}
		told, err := s.outcome.ActorWithin(s.ctx)
		if err == nil {
			s.reject(x, told.Verdict, told.Violations)
		}
	case check.PhaseIs:
		if s.after.Phase != x.Phase {
			s.fail(x.At, fmt.Sprintf("expected phase %s behind the step, and it is %s", x.Phase, s.after.Phase))
		}
	case check.StateIs:
		s.stateIs(x)
	case check.PlaceIs:
		s.placeIs(x)
	case check.Absent:
		s.absent(x)
	case check.Holds:
		s.holds(x)
	case check.ViewIs, check.Shown, check.Hidden:
		s.seen(x)
	}
}

// otherOutcome says what came in the place of a commit or a noop.
func (s *stepRun) otherOutcome(x *check.Expectation) {
	v := &s.outcome.Verdict
	switch v.Verdict {
	case verify.Reject:
		s.fail(x.At, fmt.Sprintf("expected %s, and the proposal was refused", x.Kind), reasons(v.Violations)...)
	case verify.Noop:
		s.fail(x.At, "expected commit, and the proposal was a noop: it changes nothing")
	default:
		s.changed(s.fail(x.At, fmt.Sprintf("expected %s, and the proposal was committed", x.Kind)))
	}
}

// changed lists what a commit changed that should not have been one.
func (s *stepRun) changed(f *Failure) {
	if s.before.Phase != s.after.Phase {
		f.Reasons = append(f.Reasons, fmt.Sprintf("the phase moved from %s to %s", s.before.Phase, s.after.Phase))
	}
	for i, d := range differences(s.before.State, s.after.State) {
		if i == mostRead {
			f.Reasons = append(f.Reasons, "and more changed")
			return
		}
		f.Reasons = append(f.Reasons, fmt.Sprintf("%s was %s and became %s", orRoot(d.Path), orNothing(d.Expected), orNothing(d.Actual)))
	}
}

func orNothing(value *string) string {
	if value == nil {
		return "nothing"
	}
	return tree.Shorten(*value, 200)
}

// reject compares the reason of a refusal.
func (s *stepRun) reject(x *check.Expectation, verdict verify.Decision, found []verify.Violation) {
	what := "reject"
	if x.Kind == check.Reply {
		what = "the actor to be told"
	}
	switch {
	case verdict == verify.Reject && slices.ContainsFunc(found, func(v verify.Violation) bool { return s.isReason(x.Reason, v) }):
	case verdict == verify.Reject:
		s.fail(x.At, fmt.Sprintf("expected %s%s, and it was refused for another reason", what, describe(x.Reason)), reasons(found)...)
	case verdict == verify.Noop:
		s.fail(x.At, fmt.Sprintf("expected %s%s, and the proposal was a noop: it changes nothing", what, describe(x.Reason)))
	default:
		s.changed(s.fail(x.At, fmt.Sprintf("expected %s%s, and the proposal was committed", what, describe(x.Reason))))
	}
}

func describe(r check.Reason) string {
	out := ""
	for _, part := range []string{r.Gate, r.Name} {
		if part != "" {
			out += " " + part
		}
	}
	if r.Message != "" {
		out += fmt.Sprintf(" %q", r.Message)
	}
	if r.At != "" {
		out += " at " + r.At
	}
	return out
}

// ruleCodes are the codes of the violations of a kind of rule.
var ruleCodes = map[string]verify.Code{
	"require": verify.RequireViolation, "ensure": verify.EnsureViolation, "produce": verify.ProduceViolation,
	"next": verify.TransitionViolation, "invariant": verify.InvariantViolation, "change": verify.ChangeViolation,
}

// isReason reports whether a violation is one that is expected.
func (s *stepRun) isReason(r check.Reason, v verify.Violation) bool {
	code, isRule := ruleCodes[r.Gate]
	switch {
	case r.Message != "" && v.Message != r.Message:
		return false
	case r.At != "" && (v.Path == nil || *v.Path != r.At):
		return false
	case r.Gate == "":
		return true
	case isRule:
		return v.Code == code && s.isRule(r, v.Rule)
	case slices.Contains(check.GateWords, r.Gate):
		return string(v.Gate) == r.Gate
	default:
		return string(v.Code) == r.Gate
	}
}

// isRule reports whether the rule of a violation is the one of a name.
func (s *stepRun) isRule(r check.Reason, rule string) bool {
	switch {
	case r.Name == "":
		return true
	case r.Gate == "next":
		to := s.outcome.Verdict.PhaseBefore + " -> " + r.Name
		return strings.Contains(rule+",", to+",") || !strings.Contains(rule, "->") && s.moves(r.Name)
	case r.Gate == "invariant", r.Gate == "change":
		return rule == r.Gate+" "+r.Name
	default:
		return strings.HasSuffix(rule, ", "+r.Gate+" "+r.Name)
	}
}

// moves reports whether the step asks to move to a phase.
func (s *stepRun) moves(phase string) bool {
	return s.step.Next == phase || s.step.Advance == phase || s.outcome.Read.Next == phase
}

// holds evaluates CEL over the states before and after.
func (s *stepRun) holds(x *check.Expectation) {
	program, err := s.rule(x.Expr, x.Scope)
	if err != nil {
		s.fail(x.At, "the expression does not fit this contract")
		return
	}
	in := &expr.Input{
		Before: s.before.State, After: s.after.State, Phase: s.after.Phase, Params: s.args, Values: map[string]ir.Value{},
		Role: s.step.Role, Actor: s.step.Actor, Now: s.step.Now, Measure: s.program.MeasuresOf(s.ctx, s.after.State),
	}
	for _, v := range x.Scope.Values {
		if n, err := tree.Parse([]byte(s.step.Args[v.Name]), tree.DefaultLimits); err == nil {
			in.Values[v.Name] = n
		}
	}
	s.judge(x, program, in, s.after.State)
}

// judge evaluates what is expected, and where it does not hold shows what it reads.
func (s *stepRun) judge(x *check.Expectation, program *expr.Program, in *expr.Input, of *tree.Node) {
	value, err := program.Eval(s.ctx, in)
	switch {
	case err != nil:
		s.fail(x.At, "the expression has no value: "+err.Error(), s.read(x, of)...)
	case !value:
		s.fail(x.At, "this does not hold", s.read(x, of)...)
	}
}

// mostRead bounds how many of the places that an expression reads are shown.
const mostRead = 8

// read shows the places that an expression reads, as they are in the end.
func (s *stepRun) read(x *check.Expectation, of *tree.Node) []string {
	var out []string
	var listed []region.Word
	for _, p := range x.Expr.Patterns() {
		for _, m := range matches(of, p, s.args) {
			if slices.ContainsFunc(listed, m.at.HasPrefix) {
				continue
			}
			listed = append(listed, m.at)
			if len(out) == mostRead {
				return append(out, "and more")
			}
			out = append(out, m.at.Pointer()+" is "+compact(m.node))
		}
	}
	return out
}

// compact is a value in one line, cut.
func compact(n *tree.Node) string {
	return tree.Shorten(string(tree.AppendJSON(nil, n)), 200)
}

// parsed is JSON of a test.
func (s *stepRun) parsed(x *check.Expectation) *tree.Node {
	n, err := tree.Parse(x.Data.Text, tree.DefaultLimits)
	if err != nil {
		s.fail(x.At, "what is expected is no JSON: "+err.Error())
		return nil
	}
	return n
}

// stateIs compares the whole state with one in the form of a state file.
func (s *stepRun) stateIs(x *check.Expectation) {
	want, err := s.program.ImportWithin(s.ctx, x.Data.Text)
	if err != nil {
		s.fail(x.At, "what is expected is no state of the contract", stateProblems(err)...)
		return
	}
	if d := differences(want, s.after.State); len(d) > 0 {
		s.fail(x.At, "the state is not the one that is expected").Differences = d
	}
}

func (s *stepRun) placeIs(x *check.Expectation) {
	want := s.parsed(x)
	if want == nil {
		return
	}
	for i, p := range x.Paths {
		found := matches(s.after.State, p, s.args)
		if len(found) == 0 {
			at := s.bound(x.Words[i])
			s.fail(x.At, "there is nothing at "+at).Differences = []Difference{{Path: at, Expected: text(want)}}
		}
		for _, m := range found {
			if d := differencesAt(m.at, want, m.node); len(d) > 0 {
				s.fail(x.At, fmt.Sprintf("%s is not what is expected", m.at.Pointer())).Differences = d
			}
		}
	}
}

// bound is a path as written, with parameters bound.
func (s *stepRun) bound(written string) string {
	for name, key := range s.args {
		written = strings.ReplaceAll(written, "{"+name+"}", key)
	}
	return written
}

func (s *stepRun) absent(x *check.Expectation) {
	for _, p := range x.Paths {
		for _, m := range matches(s.after.State, p, s.args) {
			s.fail(x.At, fmt.Sprintf("expected nothing at %s, and there is %s", m.at.Pointer(), compact(m.node)))
			return
		}
	}
}

// seen compares what the stage was shown.
func (s *stepRun) seen(x *check.Expectation) {
	if s.view == nil {
		if s.refused != nil {
			s.fail(x.At, "the stage was shown nothing: its view was refused", reasons(s.refused)...)
		}
		return
	}
	switch {
	case x.Expr != nil:
		program, err := s.rule(x.Expr, x.Scope)
		if err != nil {
			s.fail(x.At, "the expression does not fit this contract")
			return
		}
		s.judge(x, program, &expr.Input{View: s.view.Value}, s.view.Value)
	case x.Kind == check.ViewIs:
		if want := s.parsed(x); want != nil {
			if d := differences(want, s.view.Value); len(d) > 0 {
				s.fail(x.At, "the view is not the one that is expected").Differences = d
			}
		}
	default:
		for i, p := range x.Paths {
			s.visible(x, i, matches(s.before.State, p, s.args))
		}
	}
}

// visible compares the places that a path leads to in the state with those in the view. Where it
// leads to nothing, nothing is shown or hidden, and the test would tell nothing.
func (s *stepRun) visible(x *check.Expectation, i int, places []match) {
	if len(places) == 0 {
		s.fail(x.At, fmt.Sprintf("there is nothing at %s in the state, so that nothing is %s", s.bound(x.Words[i]), x.Kind))
	}
	for _, m := range places {
		n := tree.NodeAt(s.view.Value, m.at)
		if slices.Contains(s.view.Placeholders, m.at.Pointer()) {
			n = nil
		}
		switch {
		case x.Kind == check.Shown && n == nil:
			s.fail(x.At, fmt.Sprintf("expected %s to be shown, and it is not", m.at.Pointer()), "the view: "+compact(s.view.Value))
			return
		case x.Kind == check.Hidden && n != nil:
			s.fail(x.At, fmt.Sprintf("expected %s to be hidden, and it is shown: %s", m.at.Pointer(), compact(n)))
			return
		}
	}
}
