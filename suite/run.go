package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/source"
)

// A Test is what came of one test, or of one of its cases.
type Test struct {
	Name     string    `json:"name"` // the title, and behind a "/" that of the case
	Line     int       `json:"line"`
	Passed   bool      `json:"passed"`
	Failures []Failure `json:"failures,omitempty"`
}

// A Failure is one expectation that was not met, or why a test could not go on.
type Failure struct {
	Step        int          `json:"step"`            // from 1; 0 if the test could not begin
	Stage       string       `json:"stage,omitempty"` // "" of a move of the host
	Line        int          `json:"line"`            // of what was expected
	Message     string       `json:"message"`         // what was expected, and what came
	Reasons     []string     `json:"reasons,omitempty"`
	Differences []Difference `json:"differences,omitempty"`

	at source.Span
}

// At is where the expectation was written.
func (f *Failure) At() source.Span { return f.at }

// A runner runs the tests of one file on one contract. It is safe for concurrent use.
type runner struct {
	program *verify.Program
	env     *expr.Env
	cover   *cover // nil if nothing is measured

	mu     sync.Mutex
	starts map[string]start         // by what they are made of
	rules  map[*ir.Expr]*expectRule // of the tests
}

// start is a state that tests start from, or why it is none.
type start struct {
	node *tree.Node
	why  []string
}

type expectRule struct {
	program *expr.Program
	err     error
}

func newRunner(p *verify.Program) (*runner, error) {
	env, err := expr.New(p.Contract(), expr.Default())
	if err != nil {
		return nil, err
	}
	return &runner{program: p, env: env, starts: map[string]start{}, rules: map[*ir.Expr]*expectRule{}}, nil
}

// run runs a test to its end, or to the first step that is not as expected: what comes after
// would follow from that.
func (r *runner) run(ctx context.Context, t *check.Test) Test {
	out := Test{Name: t.Name(), Line: lineOf(t.At), Passed: true}
	fail := func(fs ...Failure) {
		out.Passed = out.Passed && len(fs) == 0
		out.Failures = append(out.Failures, fs...)
	}
	begin := r.start(ctx, t.State)
	if begin.node == nil {
		fail(failure(t.State.At, "the test cannot start from this state", begin.why...))
		return out
	}
	if broken := r.program.CheckAll(ctx, begin.node, t.Phase); len(broken) > 0 {
		fail(failure(t.State.At, "the test cannot start from this state: something in it breaks the contract", reasons(broken)...))
		return out
	}
	now := verify.Snapshot{State: begin.node, Phase: t.Phase}
	for i := range t.Steps {
		s := &stepRun{runner: r, ctx: ctx, step: &t.Steps[i], number: i + 1, before: now}
		now = s.run()
		fail(s.failures...)
		if !out.Passed || ctx.Err() != nil {
			break
		}
	}
	return out
}

func lineOf(at source.Span) int {
	if at.IsZero() {
		return 0
	}
	return at.File.Position(at.Start).Line
}

func failure(at source.Span, message string, why ...string) Failure {
	if !at.IsZero() { // of JSON that goes on, the first line is enough
		line := at.File.Position(at.Start).Line
		at.End = max(at.Start, min(at.End, at.File.LineStart(line)+len(at.File.Line(line))))
	}
	return Failure{Line: lineOf(at), Message: message, Reasons: why, at: at}
}

// start makes the state that a test starts from: the document, and the patches made to it. What
// patches make of it is checked by who starts from it.
func (r *runner) start(ctx context.Context, s check.State) start {
	var key strings.Builder
	for _, d := range append([]check.Data{s.Document}, s.Patches...) {
		key.WriteString(strconv.Itoa(len(d.Text)))
		key.WriteByte(' ')
		key.Write(d.Text)
	}
	r.mu.Lock()
	known, ok := r.starts[key.String()]
	r.mu.Unlock()
	if ok {
		return known
	}
	out := r.makeStart(ctx, s)
	r.mu.Lock()
	r.starts[key.String()] = out
	r.mu.Unlock()
	return out
}

func (r *runner) makeStart(ctx context.Context, s check.State) start {
	n, err := r.program.ImportWithin(ctx, s.Document.Text)
	if err != nil {
		return start{why: stateProblems(err)}
	}
	for _, patch := range s.Patches {
		if n, _, err = r.program.Replay(ctx, n, patch.Text); err != nil {
			return start{why: []string{"what `with` does to it cannot be done: " + err.Error()}}
		}
	}
	return start{node: n}
}

// stateProblems say why a document is no state of the contract.
func stateProblems(err error) []string {
	var bad *verify.StateError
	if !errors.As(err, &bad) {
		return []string{err.Error()}
	}
	var out []string
	for _, p := range bad.Problems {
		text := p.Message
		if p.Path != "" {
			text = p.Path + ": " + text
		}
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		out = append(out, text)
	}
	if bad.More > 0 {
		out = append(out, fmt.Sprintf("and %d more", bad.More))
	}
	return out
}

// reasons puts violations into a line each.
func reasons(vs []verify.Violation) []string {
	var out []string
	for _, v := range vs {
		text := string(v.Code)
		if v.Rule != "" {
			text += ", " + v.Rule
		}
		if v.Path != nil && *v.Path != "" {
			text += ", at " + *v.Path
		}
		text += ": " + v.Message
		if v.Hint != "" {
			text += " (" + v.Hint + ")"
		}
		out = append(out, text)
	}
	return out
}

// stepRun is one step of a test while it runs.
type stepRun struct {
	*runner
	ctx      context.Context
	step     *check.Step
	number   int
	before   verify.Snapshot
	after    verify.Snapshot
	outcome  verify.Outcome
	failures []Failure

	view    *verify.View // what the stage was shown; nil if it was not looked at, or refused
	refused []verify.Violation
	args    region.Binding // what the parameters of the stage are bound to
}

// run runs the step and returns what the next one starts from.
func (s *stepRun) run() verify.Snapshot {
	if s.cover != nil {
		judged := &judgements{}
		s.ctx = context.WithValue(s.ctx, judgementsKey{}, judged)
		defer func() { s.cover.step(s, judged.all) }()
	}
	s.after = s.before
	if s.step.Stage != "" {
		s.bind()
		s.look()
	}
	if s.step.Proposes && !s.propose() {
		return s.after
	}
	for i := range s.step.Expects { // where another outcome came, what else is not as expected follows from that
		if x := &s.step.Expects[i]; slices.Contains(outcomes, x.Kind) {
			s.expect(x)
		}
	}
	otherwise := len(s.failures) > 0
	for i := range s.step.Expects {
		x := &s.step.Expects[i]
		switch {
		case slices.Contains(outcomes, x.Kind):
		case !otherwise || slices.Contains(views, x.Kind):
			s.expect(x)
		}
	}
	return s.after
}

// outcomes say what comes of a proposal, views are about what was shown before it.
var (
	outcomes = []string{check.Commit, check.Noop, check.Reject, check.Reply}
	views    = []string{check.ViewIs, check.Shown, check.Hidden}
)

func (s *stepRun) fail(at source.Span, message string, why ...string) *Failure {
	f := failure(at, message, why...)
	f.Step, f.Stage = s.number, s.step.Stage
	s.failures = append(s.failures, f)
	return &s.failures[len(s.failures)-1]
}

// look shows the stage its view, if something is expected of it.
func (s *stepRun) look() {
	for i := range s.step.Expects {
		if slices.Contains(views, s.step.Expects[i].Kind) {
			view, refused, err := s.program.View(s.ctx, s.before, verify.ViewRequest{Stage: s.step.Stage, Args: s.step.Args, Role: s.step.Role, Actor: s.step.Actor, Now: s.step.Now})
			switch {
			case err != nil:
				s.fail(s.step.At, "the stage cannot be shown its view: "+err.Error())
			case refused != nil:
				s.refused = refused.Violations
			default:
				s.view = &view
			}
			return
		}
	}
}

// propose has the step judged.
func (s *stepRun) propose() (done bool) {
	var err error
	if s.step.Stage == "" {
		s.outcome, err = s.program.Advance(s.ctx, s.before, verify.Move{To: s.step.Advance, Role: s.step.Role, Actor: s.step.Actor, Now: s.step.Now})
	} else {
		s.outcome, err = s.program.Verify(s.ctx, s.before, verify.Proposal{
			Stage: s.step.Stage, Args: s.step.Args, Role: s.step.Role, Actor: s.step.Actor, Now: s.step.Now,
			Patch: s.step.Patch.Text, Next: s.step.Next,
		})
	}
	if err != nil {
		s.fail(s.step.At, "the step cannot be judged: "+err.Error())
		return false
	}
	s.after = s.outcome.After
	return true
}

// bind finds the keys that the stage's parameters stand for in paths of the test. One that does
// not bind is left out: the proposal is refused for it.
func (s *stepRun) bind() {
	s.args = region.Binding{}
	for _, p := range s.program.Contract().Stage(s.step.Stage).Params {
		if p.Kind != ir.DependentParam {
			s.args[p.Name] = s.step.Args[p.Name]
			continue
		}
		for _, n := range matches(s.before.State, p.Of, s.args) {
			if n.node.Kind() == ir.String {
				s.args[p.Name] = n.node.Text()
			}
		}
	}
}

// rule compiles an expression of a test, once.
func (r *runner) rule(x *ir.Expr, scope expr.Scope) (*expr.Program, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.rules[x]
	if known == nil {
		known = &expectRule{}
		known.program, known.err = r.env.Compile(*x, scope)
		r.rules[x] = known
	}
	return known.program, known.err
}

// A match is a place of a state that a pattern leads to.
type match struct {
	at   region.Word
	node *tree.Node
}

// matches lists the places of a state that a pattern leads to, with parameters bound, in order.
func matches(n *tree.Node, p region.Pattern, args region.Binding) []match {
	var out []match
	var walk func(at region.Word, n *tree.Node, rest []region.Segment)
	walk = func(at region.Word, n *tree.Node, rest []region.Segment) {
		if n == nil {
			return
		}
		if len(rest) == 0 {
			out = append(out, match{append(region.Word{}, at...), n})
			return
		}
		s, deep := rest[0], rest[0].Kind == region.AnyDepth
		if deep {
			walk(at, n, rest[1:])
		}
		down := func(l region.Letter, child *tree.Node) {
			switch {
			case deep:
				walk(append(at, l), child, rest)
			case s.Kind == region.ParamSegment && l.Kind == region.KeyLetter && l.Name == args[s.Text], s.Kind != region.ParamSegment && s.Matches(l):
				walk(append(at, l), child, rest[1:])
			}
		}
		switch n.Kind() {
		case ir.Object:
			for name, child := range n.Members() {
				down(region.Key(name), child)
			}
		case ir.Array:
			for i, child := range n.Elements() {
				down(region.Index(i), child)
			}
		}
	}
	walk(nil, n, p.Segments)
	return out
}
