package walk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/runtime"
)

// A Happening is a step and what came of it.
type Happening struct {
	Step    *Step
	Phase   string        // the phase before the step
	View    *runtime.View // what the stage saw; nil for the host, and for a stage that may not run
	Verdict runtime.Verdict
}

// Run walks a scenario on an instance, up to its end or the first step that could
// not be judged at all. An unexpected verdict is no error: see Surprise.
func Run(ctx context.Context, in *runtime.Instance, s *Scenario) ([]Happening, error) {
	var story []Happening
	for i := range s.Steps {
		h, err := take(ctx, in, &s.Steps[i])
		if err != nil {
			return story, fmt.Errorf("step %d: %w", i+1, err)
		}
		story = append(story, h)
	}
	return story, nil
}

func take(ctx context.Context, in *runtime.Instance, s *Step) (h Happening, err error) {
	h = Happening{Step: s, Phase: in.Phase()}
	if s.Advance != "" {
		h.Verdict, err = in.Advance(ctx, s.Advance, s.Role)
		return h, err
	}
	view, err := in.View(ctx, runtime.Request{Stage: s.Stage, Args: s.Args, Role: s.Role})
	var refused *runtime.ViewRefusedError
	switch {
	case err == nil:
		h.View = &view
	case !errors.As(err, &refused):
		return h, err
	}
	h.Verdict, err = in.Propose(ctx, runtime.Proposal{
		Stage: s.Stage, Args: s.Args, Role: s.Role, Base: in.Version(), Patch: s.Patch, Next: s.Next,
	})
	return h, err
}

// Surprise says how a happening differs from what its step expects; "" if it does
// not.
func (h Happening) Surprise() string {
	s, v := h.Step, h.Verdict
	switch {
	case s.Phase != "" && s.Phase != h.Phase:
		return fmt.Sprintf("the phase is %s, not %s", h.Phase, s.Phase)
	case string(v.Verdict) != s.Expect:
		return fmt.Sprintf("the verdict is %s%s, not %s", v.Verdict, reasons(v), s.Expect)
	case s.Expect == "reject" && !slices.ContainsFunc(v.Violations, s.expects):
		return fmt.Sprintf("no violation is %s at gate %s:%s", s.Code, s.Gate, reasons(v))
	}
	return ""
}

// expects reports whether the step expects this violation; what it leaves out may
// be anything.
func (s *Step) expects(v runtime.Violation) bool {
	return (s.Gate == "" || s.Gate == string(v.Gate)) && (s.Code == "" || s.Code == string(v.Code))
}

func reasons(v runtime.Verdict) string {
	text := ""
	for _, violation := range v.Violations {
		text += fmt.Sprintf(" (%s: %s)", violation.Code, violation.Message)
	}
	return text
}
