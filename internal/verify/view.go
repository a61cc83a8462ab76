package verify

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/view"
)

// A ViewRequest asks for what a stage sees.
type ViewRequest struct {
	Stage string
	Args  map[string]string
	Role  string

	Actor string    // who asks, as the host knows it; "" if it does not say
	Now   time.Time // when
}

// proposal is r for a verification, of nothing.
func (r *ViewRequest) proposal() Proposal {
	return Proposal{Stage: r.Stage, Args: r.Args, Role: r.Role, Actor: r.Actor, Now: r.Now}
}

// A View is what a stage sees of a state, and what its host needs to know about
// it. Actors get Value; the rest names versions and is for the host.
type View struct {
	Stage        string
	Value        *tree.Node // in patch space
	Placeholders []string   // pointers of the array positions with nothing to show
	Digest       string     // of Value: equal views, equal digests
	Writes       []string   // what the stage may write, with arguments bound
	Sources      []string   // what it may copy and move from
	Task         string     // what the contract says about the stage
	Contract     string     // digest
	Version      uint64
	Phase        string
	Next         []string // phases a proposal may name
	Conditions   []string // what judges a proposal, in the contract's words, as far as the actor may know of it
}

// MarshalJSON gives the envelope: the view with everything beside it.
func (v View) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Stage        string          `json:"stage"`
		Version      uint64          `json:"version"`
		Phase        string          `json:"phase"`
		Contract     string          `json:"contract"`
		Digest       string          `json:"view_digest"`
		Task         string          `json:"task,omitempty"`
		Writes       []string        `json:"writes"`
		Sources      []string        `json:"sources"`
		Next         []string        `json:"next,omitempty"`
		Placeholders []string        `json:"placeholders"`
		Conditions   []string        `json:"conditions,omitempty"`
		View         json.RawMessage `json:"view"`
	}{
		v.Stage, v.Version, v.Phase, v.Contract, v.Digest, v.Task, list(v.Writes), list(v.Sources),
		v.Next, list(v.Placeholders), v.Conditions, tree.AppendRemembered(nil, v.Value),
	})
}

func list(s []string) []string { return append([]string{}, s...) }

// View projects a state to what a stage sees, in any of its phases, for any of its
// roles and with its arguments bound. Outside of these it gives a rejecting verdict
// and no data. The error is an *UnknownStageError, an *UnknownArgumentError or the
// context's. It costs what is shown. The lists of what is shown may be the contract's own.
func (p *Program) View(ctx context.Context, s Snapshot, r ViewRequest) (shown View, refused *Verdict, err error) {
	st, err := p.stage(r.Stage, r.Args)
	if err != nil {
		return View{}, nil, err
	}
	defer catch(&err)
	leaveIfEnded(ctx)
	v := viewings.Get().(*verification)
	v.p, v.ctx, v.stage, v.snapshot = p, ctx, st, s
	v.proposal = r.proposal()
	if found := v.checkEntry(); len(found) > 0 {
		verdict := v.outcome(found).Verdict // which keeps v
		return View{}, &verdict, nil
	}
	value, placeholders := st.project(s.State, v.args, newWatch(ctx))
	shown = View{
		Stage: st.Name, Value: value, Placeholders: pointers(placeholders), Digest: value.Digest().String(),
		Writes: st.writes.bound(v.args), Sources: st.sources.bound(v.args),
		Task: st.Doc, Contract: p.digest, Version: s.Version, Phase: s.Phase, Next: st.Next,
		Conditions: st.conditions,
	}
	args := v.args
	clear(args)
	*v = verification{args: args}
	viewings.Put(v)
	leaveIfEnded(ctx)
	return shown, nil, nil
}

// viewings are verifications that did nothing but show a view, to be used again.
var viewings = sync.Pool{New: func() any { return new(verification) }}

// conditions lists the messages of the rules that judge a stage's commits and may be named
// to its actor, each once.
func (p *Program) conditions(s *ir.Stage) []string {
	var out []string
	for i := range s.Gates {
		g := &s.Gates[i]
		message := ""
		switch g.Kind {
		case ir.RequireGate, ir.EnsureGate:
			for j, x := range s.Conditions(g.Kind) {
				if nth(j) == g.Name {
					message = x.Message
				}
			}
		case ir.InvariantGate, ir.ChangeGate:
			message = p.contract.Invariant(g.Name).Message
		}
		if g.Visibility != ir.Hidden && message != "" && !slices.Contains(out, message) {
			out = append(out, message)
		}
	}
	return out
}

// project is what the stage sees of a state, with its arguments bound. If that is nothing
// at all, it is an empty object; but null if the stage does see objects in place of the
// root: an empty object would then say that the root is one.
func (s *stage) project(state *tree.Node, args region.Binding, watch *watch) (*tree.Node, []region.Word) {
	at := s.read.Start(args)
	value, placeholders := view.ProjectStepwise(state, at, watch.tick)
	switch {
	case value != nil:
		return value, placeholders
	case at.CanHold(region.Object):
		return tree.NewNull(), nil
	default:
		return tree.NewObject(nil), nil
	}
}

// A grantList is regions as a view lists them, one text a pattern, where arguments stand in
// for parameters.
type grantList struct {
	fixed []string // the texts, if none has a parameter
	of    []region.Region

	rights []ir.Rights // of the grants of the first region; nil for all
}

func newGrantList(rights []ir.Rights, of ...region.Region) grantList {
	l := grantList{of: of, rights: rights}
	if texts, open := l.texts(nil); !open {
		l.fixed = texts
	}
	return l
}

// bound is the list with arguments bound. It is not to be changed.
func (l *grantList) bound(args region.Binding) []string {
	if l.fixed != nil {
		return l.fixed
	}
	texts, _ := l.texts(args)
	return texts
}

// texts writes the list, and reports whether there are parameters in it.
func (l *grantList) texts(args region.Binding) (texts []string, open bool) {
	var stack [256]byte
	var ends [16]int
	text, at := stack[:0], ends[:0]
	for n, r := range l.of {
		for i := range r {
			for j := range r[i].Include {
				text = appendGrant(appendRights(text, l.rightsOf(n, i)), &r[i], j, args)
				at = append(at, len(text))
				open = open || hasParams(&r[i])
			}
		}
	}
	all, from := string(text), 0
	texts = make([]string, len(at))
	for i, to := range at {
		texts[i], from = all[from:to], to
	}
	return texts, open
}

// rightsOf are the rights of grant i of region n.
func (l *grantList) rightsOf(n, i int) ir.Rights {
	if n > 0 || l.rights == nil {
		return ir.AllRights
	}
	return l.rights[i]
}

// appendRights writes the rights before a grant, none if it has all.
func appendRights(text []byte, rights ir.Rights) []byte {
	if rights == ir.AllRights {
		return text
	}
	return append(append(text, strings.Join(rights.Words(), ", ")...), ' ')
}

func hasParams(g *region.Grant) bool {
	isOpen := func(p region.Pattern) bool {
		return slices.ContainsFunc(p.Segments, func(s region.Segment) bool { return s.Kind == region.ParamSegment })
	}
	return slices.ContainsFunc(g.Include, isOpen) || slices.ContainsFunc(g.Except, isOpen)
}

// appendGrant writes one include of a grant as the language does, with arguments bound.
func appendGrant(text []byte, g *region.Grant, include int, args region.Binding) []byte {
	text = g.Include[include].AppendSource(text, args)
	for i, e := range g.Except {
		text = append(text, [...]string{" except ", ", "}[min(i, 1)]...)
		text = e.AppendSource(text, args)
	}
	return text
}

func pointers(words []region.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Pointer()
	}
	return out
}

// Reads says what a write would show a stage: the function it returns reports
// whether something at or below a word decides about the stage's view, with its
// arguments bound on s, which they must be, and where: at the word, or, if nothing is
// read there itself, at the nearest place above that is on the way to what is read. A
// new entry of a set or log that the view has a place for is one of these.
// Cost: that of binding, then of a few walks for each word. Any goroutine may call it.
func (p *Program) Reads(s Snapshot, stage string, args map[string]string) func(region.Word) (at region.Word, met bool) {
	v := p.viewing(s, stage, args)
	v.bind(false)
	read, seen := v.stage.read.Start(v.args), v.stage.seen.Start(v.args)
	return func(w region.Word) (region.Word, bool) {
		if !seen.Walk(w).Reachable() && !hasPlaceFor(read, w) {
			return nil, false
		}
		for len(w) > 0 && !read.Walk(w).Reachable() {
			w = w[:len(w)-1]
		}
		return w, true
	}
}

// hasPlaceFor reports whether w is a new entry of a set or log that a view shows.
func hasPlaceFor(read region.Cursor, w region.Word) bool {
	last := len(w) - 1
	if last < 0 || !isFresh(w[last]) {
		return false
	}
	bag := read.Walk(w[:last])
	return bag.In() || bag.CanHold(region.Array)
}

// LooksAlike reports whether a stage sees the same of two states: the phase, and its
// view with placeholders, for arguments that bind on both. It costs two views.
func (p *Program) LooksAlike(a, b Snapshot, stage string, args map[string]string) bool {
	x, y := p.viewing(a, stage, args), p.viewing(b, stage, args)
	if a.Phase != b.Phase || len(x.bind(false))+len(y.bind(false)) > 0 {
		return false
	}
	seen, hidden := x.stage.project(a.State, x.args, p.watch)
	sees, hides := y.stage.project(b.State, y.args, p.watch)
	return seen.Digest() == sees.Digest() && slices.EqualFunc(hidden, hides, slices.Equal[region.Word])
}

// viewing is a verification that binds the stage's arguments and shows its view, no more.
func (p *Program) viewing(s Snapshot, stage string, args map[string]string) *verification {
	return &verification{p: p, stage: p.stages[stage], snapshot: s, proposal: Proposal{Stage: stage, Args: args}}
}
