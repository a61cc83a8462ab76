package runtime

import (
	"context"
	"errors"
	"time"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// Key is the instance's key, which a trace does not hold.
func (in *Instance) Key() *trace.Key { return in.key }

// WithRecentBytes sets how many bytes the recent commits may take in memory.
func WithRecentBytes(n int) Option {
	return func(o *options) { o.recentBytes = n }
}

// Store is where the instance's log is.
func (in *Instance) Store() store.Store { return in.store.Store }

// ProposeMeanwhile is Propose, with something that happens whenever the proposal is judged and
// not queued yet.
func (in *Instance) ProposeMeanwhile(ctx context.Context, p Proposal, meanwhile func()) (Verdict, error) {
	q := &proposing{in: in, p: &p, about: in.requestOf(&p)}
	if err := in.claim(ctx, q.about.key); err != nil {
		return Verdict{}, err
	}
	defer in.free(q.about.key)
	err := in.submit(ctx, &interrupted{q, meanwhile})
	if q.answer != nil {
		return *q.answer, err
	}
	return q.verdict, err
}

type interrupted struct {
	question
	meanwhile func()
}

func (q *interrupted) judge(ctx context.Context) (*submission, error) {
	s, err := q.question.judge(ctx)
	q.meanwhile()
	return s, err
}

// Waiting is how many submissions are queued and not in flight.
func (in *Instance) Waiting() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.queue)
}

// Quieten is Quiet for as long as ctx lasts.
func (in *Instance) Quieten(ctx context.Context) error { return in.quiet(ctx) }

// Quiet waits until nothing is on its way to the store.
func (in *Instance) Quiet() { _ = in.quiet(context.Background()) }

// Program is what verifies for the contract's instances.
func (c *Contract) Program() *verify.Program { return c.program }

// MakePending appends what a proposal comes to that everything admits, and that waits. No
// caller of the engine makes such records yet.
func (in *Instance) MakePending(ctx context.Context, p Proposal, expires time.Time) (pending uint64, err error) {
	a := in.requestOf(&p)
	r := in.replayFrom(in.durable.Load())
	now := admission{glance: glance{r.now}, tries: r.attempts.of(a.step)}
	out, err := in.contract.program.Verify(ctx, *r.now, in.proposed(&p, a, &now))
	if err != nil {
		return 0, err
	}
	if out.Verdict.Verdict != verify.Commit {
		return 0, errors.New("it would not commit")
	}
	out.Wait()
	a.identify(in.key, out.Read)
	v := verdictOf(&out)
	asked := in.proposalEntry(&p, a, r.now, &out, true)
	answer, err := in.decisionEntry(ctx, &out, &v, asked)
	if err != nil {
		return 0, err
	}
	answer.waits(asked, expires)
	return in.appendMade(ctx, r, asked, answer)
}

// MakeWithdrawn appends that a proposal does not wait any more.
func (in *Instance) MakeWithdrawn(ctx context.Context, pending uint64, reason string, by Principal) error {
	r := in.replayFrom(in.durable.Load())
	_, err := in.appendMade(ctx, r, in.withdrawnEntry(r.now, pending, reason, by, in.now()))
	return err
}

func (in *Instance) appendMade(ctx context.Context, r *replay, entries ...*entry) (last uint64, err error) {
	records, head, _ := in.chain(r.head, entries...)
	if err := in.store.Append(ctx, in.id, r.head.Seq, records...); err != nil {
		return 0, err
	}
	return head.Seq, in.catchUp(ctx)
}
