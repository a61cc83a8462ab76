package replay

import (
	"context"
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/internal/witness"
)

// Two proposals part on a state if, run in either order, one of them is accepted
// in one order only, or both are accepted in both orders and the states differ, or
// one sees something else when it runs second. Base versions play no part: each
// proposal is judged on the state that it meets.

// runs remembers the states and first steps of the trials of one search, which
// come back often.
type runs struct {
	program *verify.Program
	states  map[string]*tree.Node // by phase and file; nil for an invalid one
	firsts  map[string]step       // by phase, file and proposal
}

// A step is a proposal judged on a snapshot.
type step struct {
	accepted bool
	after    verify.Snapshot
	why      string // of a rejection, for people: gate and code
	view     view
}

// A view is what a stage saw before it acted; zero if it was refused entry.
type view struct {
	node         *tree.Node
	placeholders []string
}

func newRuns(p *verify.Program) *runs {
	return &runs{program: p, states: map[string]*tree.Node{}, firsts: map[string]step{}}
}

// compare runs a trial. It returns nil if the state is invalid or the orders agree.
func (r *runs) compare(t witness.Trial) *footprint.Counterexample {
	n := r.state(t)
	if n == nil {
		return nil
	}
	x := verify.Snapshot{State: n, Phase: t.Phase}
	a, b := r.first(t, x, t.A), r.first(t, x, t.B)
	if !a.accepted && !b.accepted {
		return nil
	}
	out := part(r.names(t), order{a, r.run(a.after, t.B)}, order{b, r.run(b.after, t.A)})
	if out.Differ == "" {
		return nil
	}
	out.State, out.Phase, out.A, out.B = t.State, t.Phase, t.A, t.B
	return &out
}

// admitted reports whether a trial's state is valid and its arguments are within what
// is claimed of the pair. They are those on the state that both orders start from.
func (r *runs) admitted(p footprint.Pair, t witness.Trial) bool {
	n := r.state(t)
	return n != nil && p.Admits(arguments(p.A, t.A, n), arguments(p.B, t.B, n))
}

// arguments are all parameters of a proposal on a state.
func arguments(s *ir.Stage, p footprint.Proposal, state *tree.Node) region.Binding {
	out := region.Binding{}
	for i := range s.Params {
		q := &s.Params[i]
		if q.Kind != ir.DependentParam {
			out[q.Name] = p.Args[q.Name]
			continue
		}
		word := region.Word{}
		for _, segment := range q.Of.Bind(out).Segments {
			word = append(word, region.Key(segment.Text))
		}
		if at := tree.NodeAt(state, word); at != nil && at.Kind() == ir.String {
			out[q.Name] = at.Text()
		}
	}
	return out
}

// state imports a trial's state and checks all its rules, once.
func (r *runs) state(t witness.Trial) *tree.Node {
	key := t.Phase + "\x00" + t.State
	if n, known := r.states[key]; known {
		return n
	}
	n, err := r.program.Import([]byte(t.State))
	if err != nil || len(r.program.CheckAll(context.Background(), n, t.Phase)) > 0 {
		n = nil
	}
	r.states[key] = n
	return n
}

// first is a proposal judged on the trial's own state.
func (r *runs) first(t witness.Trial, x verify.Snapshot, p footprint.Proposal) step {
	key := fmt.Sprintf("%s\x00%s\x00%v", t.Phase, t.State, p)
	if s, known := r.firsts[key]; known {
		return s
	}
	s := r.run(x, p)
	r.firsts[key] = s
	return s
}

// run judges a proposal on a snapshot, and notes what its stage sees there.
func (r *runs) run(x verify.Snapshot, p footprint.Proposal) step {
	ctx := context.Background()
	out := step{after: x}
	if v, _, err := r.program.View(ctx, x, verify.ViewRequest{Stage: p.Stage, Args: p.Args, Role: p.Role}); err == nil {
		out.view = view{v.Value, v.Placeholders}
	}
	o, err := r.program.Verify(ctx, x, verify.Proposal{Stage: p.Stage, Args: p.Args, Role: p.Role, Actor: p.Actor, Now: p.Now, Patch: []byte(p.Patch), Next: p.Next})
	switch {
	case err != nil:
		out.why = err.Error()
	case o.Verdict.Verdict == verify.Reject:
		out.why = reason(o.Verdict.Violations[0])
	default:
		out.accepted, out.after = true, o.After
	}
	return out
}

// reason is a violation in few words: the rule that failed, or gate and code.
func reason(v verify.Violation) string {
	if v.Gate == verify.GateInvariant && v.Rule != "" {
		return v.Rule
	}
	return fmt.Sprintf("%s, %s", v.Gate, v.Code)
}

// names are the two stages as messages name them.
func (r *runs) names(t witness.Trial) [2]string {
	if t.A.Stage == t.B.Stage {
		return [2]string{"the first " + t.A.Stage, "the second " + t.B.Stage}
	}
	return [2]string{t.A.Stage, t.B.Stage}
}

// An order is one proposal judged on the state, and the other after it.
type order struct{ first, second step }

// part says where two orders part, and how in words; it is empty if nowhere. ab runs A
// first, ba runs B first.
func part(names [2]string, ab, ba order) footprint.Counterexample {
	at := func(differ string, place *string, detail string, args ...any) footprint.Counterexample {
		return footprint.Counterexample{Differ: differ, Place: place, Detail: fmt.Sprintf(detail, args...)}
	}
	for i, pair := range [][2]step{{ab.first, ba.second}, {ba.first, ab.second}} {
		before, after := pair[0], pair[1]
		if before.accepted != after.accepted {
			return at("verdict", nil, "%s", verdictDetail(names[i], names[1-i], before, after))
		}
	}
	if w, ok := difference(ab.second.after.State, ba.second.after.State, tree.Equal); ok {
		return at("state", w, "both orders are accepted and end in different states at %s", footprint.PlaceMark)
	}
	if ab.second.after.Phase != ba.second.after.Phase {
		return at("state", nil, "both orders are accepted and end in different phases")
	}
	for i, pair := range [][2]step{{ab.first, ba.second}, {ba.first, ab.second}} {
		before, after := pair[0].view, pair[1].view
		if w, ok := difference(before.node, after.node, sameBytes); ok {
			return at("view", w, "the view of %s changes at %s when %s runs first", names[i], footprint.PlaceMark, names[1-i])
		}
		if !slices.Equal(before.placeholders, after.placeholders) {
			return at("view", nil, "the view of %s hides other elements when %s runs first", names[i], names[1-i])
		}
	}
	return footprint.Counterexample{}
}

func verdictDetail(name, other string, before, after step) string {
	if before.accepted {
		return fmt.Sprintf("%s is accepted first and refused after %s (%s)", name, other, after.why)
	}
	return fmt.Sprintf("%s is refused first (%s) and accepted after %s", name, before.why, other)
}
