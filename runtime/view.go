package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// A Request asks for what a stage's actor may see.
type Request struct {
	Stage string
	Args  map[string]string // the keys that the stage's parameters are bound to
	Role  string

	Principal Principal // who asks
}

// A View is what an actor is shown, and what its host needs to know. Its JSON is
// the host's envelope; the actor gets Value. All of it is the caller's.
type View struct {
	Stage        string          `json:"stage"`
	Version      uint64          `json:"version"` // the Base of proposals made on this view
	Phase        string          `json:"phase"`
	Contract     string          `json:"contract"`
	Digest       string          `json:"view_digest"` // equal for equal views, whatever the version
	Task         string          `json:"task,omitempty"`
	Writes       []string        `json:"writes"`  // the patterns that a patch may write
	Sources      []string        `json:"sources"` // the patterns that it may copy and move from
	Next         []string        `json:"next,omitempty"`
	Placeholders []string        `json:"placeholders"`         // pointers to positions of arrays that show nothing
	Conditions   []string        `json:"conditions,omitempty"` // what judges a proposal, in the contract's words, as far as the actor may know of it
	Value        json.RawMessage `json:"view"`                 // canonical
}

// View projects the current state for a stage, and records that it did, unless the host wants
// fewer views recorded (WithViews). Errors: a
// *ViewRefusedError, with the verdict and no data, outside of the stage's phase, for
// another role, or where an argument does not bind; *UnknownStageError;
// *UnknownArgumentError; *TooLongError, *NotTextError; the context's error; what the store reports.
func (in *Instance) View(ctx context.Context, r Request) (View, error) {
	if err := cmp.Or(CheckGiven(r.Role, "", "", r.Args), r.Principal.Check()); err != nil {
		return View{}, err
	}
	r.Args = in.contract.program.Arguments(r.Stage, r.Args)
	q := &viewing{in: in, r: &r, at: in.now()}
	if err := in.show(ctx, q); err != nil {
		return View{}, err
	}
	if q.refused != nil {
		return View{}, in.refuseView(ctx, r.Stage, q.refused)
	}
	return viewOf(&q.view), nil
}

// A viewing is the question what a stage shows.
type viewing struct {
	in *Instance
	r  *Request
	at time.Time
	glance
	view    verify.View
	refused *verify.Verdict
}

func (q *viewing) judge(ctx context.Context) (*submission, error) {
	if err := q.project(ctx, q.seen); err != nil {
		return nil, err
	}
	e, err := q.in.viewEntry(q.seen, q.r, q.at, &q.view, q.refused)
	return submitted(nil, e), err
}

// project makes the view of a state, or the verdict that refuses it.
func (q *viewing) project(ctx context.Context, of *verify.Snapshot) (err error) {
	r := verify.ViewRequest{Stage: q.r.Stage, Args: q.r.Args, Role: q.r.Role, Actor: q.r.Principal.Subject, Now: q.at}
	q.view, q.refused, err = q.in.contract.program.View(ctx, *of, r)
	return err
}

// show answers a viewing, and records it if the host wants to have it recorded.
func (in *Instance) show(ctx context.Context, q *viewing) error {
	if in.options.views == ViewsFirst || in.options.views == ViewsNone {
		if err := in.checkOpen(); err != nil {
			return err
		}
		if err := q.project(ctx, in.durable.Load().Snapshot); err != nil || in.options.views == ViewsNone || in.hasShown(q) {
			return err
		}
	}
	if err := in.submit(ctx, q); err != nil {
		return err
	}
	if in.options.views == ViewsFirst {
		in.noteShown(q)
	}
	return nil
}

// maxShown is how many views an instance remembers that it has recorded. With more, it records
// some once more.
const maxShown = 4096

func (in *Instance) hasShown(q *viewing) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	_, has := in.shown[q.likeness()]
	return has
}

func (in *Instance) noteShown(q *viewing) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.shown) == maxShown {
		clear(in.shown)
	}
	in.shown[q.likeness()] = struct{}{}
}

// A likeness is what views have in common that are alike to an auditor: who was shown what.
type likeness struct {
	step
	token, onBehalf string // of the principal: the step has its subject alone
	shows           string
}

func (q *viewing) likeness() likeness {
	by := q.r.Principal
	l := likeness{q.in.stepOf(by.Subject, q.r.Stage, q.r.Role, q.r.Args), shown(by.Token), shown(by.OnBehalf), q.view.Digest}
	if q.refused != nil {
		l.shows = strings.Join(codesOf(q.refused.Violations), " ")
	}
	return l
}

// viewOf copies a view, whose lists the contract may share.
func viewOf(v *verify.View) View {
	return View{
		Stage: v.Stage, Version: v.Version, Phase: v.Phase, Contract: v.Contract, Digest: v.Digest, Task: v.Task,
		Writes: list(v.Writes), Sources: list(v.Sources), Next: slices.Clone(v.Next), Placeholders: list(v.Placeholders), Conditions: slices.Clone(v.Conditions),
		Value: tree.AppendRemembered(make([]byte, 0, v.Value.Size()), v.Value),
	}
}

func list(s []string) []string { return append([]string{}, s...) }

// viewEntry records a view that was shown, or the verdict that refused it.
func (in *Instance) viewEntry(seen *verify.Snapshot, r *Request, at time.Time, v *verify.View, refused *verify.Verdict) (*entry, error) {
	e := &entry{Record: *in.record(trace.View, seen.Version, at)}
	in.actor(&e.Record, r.Principal, r.Stage, r.Role, r.Args)
	hidden := sealedPart{Args: hiddenArgs(&e.Record, r.Args)}
	var err error
	if e.sealed, err = hidden.seal(); err != nil {
		return nil, err
	}
	e.Phase = seen.Phase
	if refused == nil {
		e.View = in.key.View(v.Digest)
		return e, nil
	}
	in.addVerdict(&e.Record, refused)
	return e, nil
}

// refuseView makes the error. Its violations are of the phase step, which tells an
// actor what it tells an operator.
func (in *Instance) refuseView(ctx context.Context, stage string, refused *verify.Verdict) error {
	in.logVerdict(ctx, trace.View, stage, refused)
	told, more := refused.Told()
	actor := ActorVerdict{
		Verdict: refused.Verdict, Contract: refused.Contract, PhaseBefore: refused.PhaseBefore, PhaseAfter: refused.PhaseAfter,
		Violations: told, More: more, Retryable: refused.Retryable, Normalised: refused.Normalised,
	}
	return &ViewRefusedError{Verdict{OperatorVerdict: *refused, actor: func() ActorVerdict { return actor }}}
}
