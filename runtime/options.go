package runtime

import (
	"crypto/rand"
	"io"
	"log/slog"
	"maps"
	"time"
)

// minSnapshotLog is how many bytes of log there are between snapshots at least.
const minSnapshotLog = 256 << 10

// An Option sets up an instance. One that is given nil means the default, a number below
// zero means zero.
type Option func(*options)

type options struct {
	clock       func() time.Time
	random      io.Reader
	logger      *slog.Logger
	snapshotLog int
	attempts    int
	recent      int
	recentBytes int
	idle        int
	principal   Principal
	labels      map[string]string
	views       Views
	standsIn    bool // the contract stands in for one that was not given: what comes out tells whether it can
}

func optionsOf(all []Option) options {
	o := options{
		snapshotLog: minSnapshotLog, attempts: DefaultAttempts, recent: DefaultRecentCommits, recentBytes: maxRecentBytes,
		idle: DefaultIdlePatches,
	}
	for _, set := range all {
		set(&o)
	}
	for _, n := range []*int{&o.snapshotLog, &o.attempts, &o.recent, &o.recentBytes, &o.idle} {
		*n = max(*n, 0)
	}
	if o.clock == nil {
		o.clock = time.Now
	}
	if o.random == nil {
		o.random = rand.Reader
	}
	if o.logger == nil {
		o.logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// WithClock makes an instance take the time from clock. It is read once for each request,
// before anything is decided: its time is that of the records, and the one that the decision
// is made by. The default is time.Now.
func WithClock(clock func() time.Time) Option {
	return func(o *options) { o.clock = clock }
}

// WithPrincipal names who creates the instance, for the first record. Of Open it is
// asked nothing: afterwards each request names its own.
func WithPrincipal(p Principal) Option {
	return func(o *options) { o.principal = p }
}

// WithLabels gives the instance that Create begins names and values to find it by (Info). They
// stand in the first record, where an auditor reads them, and stay: nothing in them is secret.
// There are MaxLabels at most, each name and each value a text of at most MaxGiven bytes, a
// name of at least one. Of Open they are asked nothing.
func WithLabels(labels map[string]string) Option {
	return func(o *options) { o.labels = maps.Clone(labels) }
}

// WithRandom makes Create draw the key of the instance's keyed digests from
// random. The default is crypto/rand.Reader.
func WithRandom(random io.Reader) Option {
	return func(o *options) { o.random = random }
}

// WithLogger makes an instance report what it decides: identifiers, codes and
// paths, never a value, secret names and paths replaced as in the trace. The
// default is silence.
func WithLogger(logger *slog.Logger) Option {
	return func(o *options) { o.logger = logger }
}

// WithAttempts sets how many tries a step has where its stage does not say; 0 for
// no end. The default is DefaultAttempts.
func WithAttempts(most int) Option {
	return func(o *options) { o.attempts = most }
}

// WithSnapshotAfter sets how many bytes of log there are between two snapshots at
// least. There are never fewer than the state itself has, so that snapshots
// together cost no more than the log does.
func WithSnapshotAfter(bytes int) Option {
	return func(o *options) { o.snapshotLog = bytes }
}

// WithRecentCommits sets how many commits back the version may lie that a proposal
// was made on. One made on an older version is always stale; with 0, so is one made
// on any version but the current. The default is DefaultRecentCommits. Fewer are
// remembered where they wrote to so many places that these would take megabytes. What is
// remembered does not depend on when the instance was opened: what lies before the
// snapshot that it was opened at is read when a proposal comes that was made there.
func WithRecentCommits(n int) Option {
	return func(o *options) { o.recent = n }
}

// Views is which views an instance records.
type Views int

// Which views are recorded.
const (
	ViewsAll   Views = iota // every one, also those that are refused
	ViewsFirst              // those that are unlike all before of the same principal, stage, role and arguments
	ViewsNone               // none
)

// WithViews sets which views are recorded; the default is ViewsAll. A view that is recorded is shown when
// its record is durable. One that is not shows the state that is durable, as far as this
// process knows the log, and does not touch the store. With ViewsFirst an instance remembers some
// thousands of views since it was opened; what it does not remember it records again.
func WithViews(which Views) Option {
	return func(o *options) { o.views = which }
}

// DefaultIdlePatches is how many bytes of patches that changed nothing the log of an
// instance keeps, where the host does not say.
const DefaultIdlePatches = 16 << 20

// WithIdlePatches sets how many bytes of patches that changed nothing, because they
// were refused or had no effect, the log keeps over the instance's life. When they
// are used up, it keeps the digest and the size of such a patch only: nobody who
// proposes again and again fills the disk, but Replay takes the word of the record
// for what was wrong with such a patch. The default is DefaultIdlePatches.
func WithIdlePatches(bytes int) Option {
	return func(o *options) { o.idle = bytes }
}
