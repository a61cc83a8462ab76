package runtime

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// An instance that lives on under another contract.
//
// To migrate is to ask for it, as a host asks for another phase, and the decision is appended
// under the log's swap. One that commits seals what the first record of a log seals: the key
// and the state, read under the new contract. So whoever opens the instance needs that contract
// alone, and begins there; and whoever reads on from before has to change contracts there.
// Nothing that was seen before is the same afterwards, so that every proposal made on an
// earlier version is stale.
//
// A log of an older format is gone on with in the same way: it migrates to the contract that
// it has, which is known by what comes out of it. That is asked for as any migration is; one to
// another contract makes it before. What was written before keeps its format.

// A Migration says how an instance is to go on under another contract.
type Migration struct {
	// Patch, if it is not empty, is a JSON Patch (RFC 6902) on the instance's state in the form
	// of a state file, to make it one of the new contract. Its pointers are those of the file:
	// keyed lists are arrays there.
	Patch []byte

	Phase     string    // the phase to go on in; "" for the one of the same name
	Principal Principal // who asks
	DryRun    bool      // decide and record nothing

	twice bool // what both contracts call secret is replaced twice in the line, as it was once
}

// Migrate puts the instance under another contract. The state, after the migration's patch,
// must be one of that contract and break none of its rules, in a phase that it has; else the
// verdict is a reject, which is recorded too, and nothing has changed. After a commit the
// instance goes on as next; in and all others that are open under the old contract fail with a
// *ContractMismatchError as soon as they read the log. It is one version more, on which nothing
// that was shown before is current.
//
// Errors are for what could not be decided or recorded: *ContractMismatchError if the instance
// is under another contract than in (so also after a migration whose outcome was not known, and
// that was made), *SameContractError if it is under contract to already, in the present format; *TooLongError, *NotTextError; the
// context's error, *OpenOutcomeError, what the store reports, ErrClosed, *CorruptLogError. Beside a verdict that is a
// commit, the error says why the instance could not be opened: it was migrated. It costs what
// the state is large.
func (in *Instance) Migrate(ctx context.Context, to *Contract, m Migration) (next *Instance, v Verdict, err error) {
	if err := cmp.Or(m.check(to), in.settle(ctx)); err != nil {
		return nil, Verdict{}, err
	}
	o := config{in.contract, in.store, in.id, in.options}
	v, err = o.migrate(ctx, to, m)
	if err != nil || m.DryRun {
		return nil, v, err
	}
	if v.Verdict != verify.Commit {
		_ = in.readOn(ctx) // what was recorded; else it is read when something is appended
		return nil, v, nil
	}
	o.contract = to
	next, err = o.open(ctx)
	return next, v, err
}

func (m *Migration) check(to *Contract) error {
	if most := to.limits.Patch.MaxBytes; most > 0 && len(m.Patch) > most {
		return &TooLongError{"patch", most}
	}
	return cmp.Or(CheckGiven("", m.Phase, "", nil), m.Principal.Check())
}

// migrate decides and records a migration of the instance, which is under o.contract.
func (o config) migrate(ctx context.Context, to *Contract, m Migration) (Verdict, error) {
	for {
		in, r, err := o.reach(ctx, newest, newest)
		if err == nil && r.waiting != nil {
			err = r.corrupt(undecided)
		}
		if err == nil && r.dialect.format == trace.Format && r.dialect.contract == to.Digest() {
			err = &SameContractError{o.id, to.Digest()}
		}
		if err != nil {
			return Verdict{}, err
		}
		decided, err := in.migration(ctx, r, to, m, in.now())
		if err != nil || m.DryRun {
			return decided.verdict, err
		}
		if r.dialect.format < trace.Format && decided.after != nil && to.Digest() != o.contract.Digest() {
			if v, err := o.renew(ctx, m.Principal); err != nil || v.Verdict != verify.Commit {
				return v, err
			}
			continue
		}
		records, head, _ := in.chain(r.head, decided.asked, decided.decision)
		err = o.store.Append(ctx, o.id, r.head.Seq, records...)
		if errors.Is(err, store.ErrConflict) {
			continue
		}
		if err != nil {
			return Verdict{}, err
		}
		in.logVerdict(ctx, trace.Migrate, "", &decided.verdict.OperatorVerdict)
		if decided.after != nil {
			r.attempts.decided(nil, &decided.verdict.OperatorVerdict)
			at := &point{decided.after, head, head.Seq}
			_, _ = promptly(ctx, func() (int, error) { // without one, the log is read to find where to begin
				return decided.next.writeSnapshot(at, &r.attempts, at.Version), nil
			})
		}
		return decided.verdict, nil
	}
}

// renew has a log of an older format gone on with in the present one, under the contract that it
// has. Who finds it done has nothing to do.
func (o config) renew(ctx context.Context, by Principal) (Verdict, error) {
	v, err := o.migrate(ctx, o.contract, Migration{Principal: by})
	if errors.As(err, new(*SameContractError)) {
		v.Verdict, err = verify.Commit, nil
	}
	return v, err
}

// chain writes entries as the records behind head, for one append.
func (in *Instance) chain(head trace.Head, entries ...*entry) (records []store.Record, end trace.Head, size int) {
	end = head
	for _, e := range entries {
		var r store.Record
		r, end = in.after(end, e)
		records = append(records, r)
		size += len(r.Line) + len(r.Sealed)
	}
	records[0].Follows = head.End()
	return records, end, size
}

// A migrated is what a migration comes to.
type migrated struct {
	asked, decision *entry
	verdict         Verdict
	next            *Instance        // under the contract asked for
	after           *verify.Snapshot // of a commit, what it leads to; else nil
}

// migration decides on a migration at a place of the log, and says what is to be recorded.
func (in *Instance) migration(ctx context.Context, r *replay, to *Contract, m Migration, at time.Time) (d migrated, err error) {
	d.next = config{to, in.store, in.id, in.options}.instance(in.key)
	asks := verify.Migration{
		File: in.contract.program.Export(r.now.State, false), Contract: r.dialect.contract,
		Patch: m.Patch, Phase: cmp.Or(m.Phase, r.now.Phase),
	}
	out, err := to.program.Migrate(ctx, *r.now, asks)
	if err != nil {
		return d, err
	}
	d.verdict = verdictOf(&out)
	v := &d.verdict.OperatorVerdict
	d.verdict.actor = func() ActorVerdict { return ActorVerdict{} }

	d.asked = &entry{Record: *in.record(trace.Migrate, r.now.Version, at)}
	d.asked.Contract, d.asked.To, d.asked.Phase = r.dialect.contract, to.Digest(), m.Phase
	d.asked.Principal = trace.Principal(m.Principal)
	if d.asked.Size = trace.Rounded(len(m.Patch)); d.asked.Size > 0 {
		d.asked.sealed = bytes.Clone(m.Patch)
		a := &request{patch: m.Patch}
		a.identify(in.key, out.Read)
		d.asked.Digest = a.print.patch
	}

	d.decision = &entry{Record: *in.record(trace.Decision, v.VersionAfter, at)}
	d.decision.Contract = v.Contract
	shown := in.keyed(v)
	shown.StateBefore = r.dialect.name(in.key, r.now.State)
	if v.Verdict != verify.Commit {
		shown.StateAfter = shown.StateBefore
	}
	if shown.Violations, d.decision.Redacted = redactViolations(v.Violations, nil, in.redactor, d.next.redactor); m.twice {
		shown.Violations, d.decision.Redacted = in.redactViolations(v.Violations, nil)
		shown.Violations, d.decision.Redacted = d.next.redactViolations(shown.Violations, d.decision.Redacted)
	}
	if d.decision.Verdict, err = json.Marshal(&shown); err != nil || v.Verdict != verify.Commit {
		return d, err
	}
	d.after = &out.After
	if r.dialect.format < trace.Format {
		d.decision.Format = trace.Format
	}
	d.decision.sealed = d.next.genesis(d.after)
	return d, nil
}

// migrated takes in a migration that was committed: r goes on under another contract.
func (r *replay) migrated(ctx context.Context, l *line, sealed []byte) error {
	v := l.verdict
	if v.VersionBefore != r.now.Version || v.VersionAfter != r.now.Version+1 {
		return r.corrupt(versionDiffers)
	}
	to, options := r.contractOf(l.Contract), r.in.options
	if options.standsIn = to == nil; to == nil {
		to = r.standIn
	}
	if to == nil {
		return &ContractMismatchError{r.in.id, l.Contract, r.in.contract.Digest()}
	}
	if l.Contract != r.asks.To || l.Format == 0 && r.dialect.format < trace.Format {
		return r.corrupt("it goes on otherwise than was asked for")
	}
	var f genesis
	if json.Unmarshal(sealed, &f) != nil || !bytes.Equal(f.Key, r.in.key.Bytes()) {
		return r.corrupt("it does not go on with the instance")
	}
	next, after, err := config{to, r.in.store, r.in.id, options}.revive(ctx, f, r.head.Seq)
	if err != nil {
		return err
	}
	next.dialect = presentDialect(l.Contract)
	if !next.dialect.named(next.key, after.State, v.StateAfter) {
		return r.corrupt(digestDiffers)
	}
	after.Phase, after.Version = v.PhaseAfter, v.VersionAfter
	r.in, r.dialect, r.made = next, next.dialect, r.head.Seq
	r.attempts.decided(nil, v)
	r.now = after
	r.recent = next.recentFrom(after.Version)
	return nil
}

// recentFrom is what is remembered of commits where an instance begins under its contract.
func (in *Instance) recentFrom(version uint64) recent {
	return recent{version: version, began: version, most: in.options.recent, bytes: in.options.recentBytes}
}

// contractOf is a contract that r may go on under, by its digest.
func (r *replay) contractOf(digest string) *Contract {
	for _, c := range append(r.contracts, r.in.contract) {
		if c.Digest() == digest {
			return c
		}
	}
	return nil
}

// reach makes an instance as it was at a version, or a little before, and reads on up to
// another one. Where what it began with leads to another contract, it begins again behind
// the last migration to its own.
func (o config) reach(ctx context.Context, version, until uint64) (in *Instance, r *replay, err error) {
	if in, err = o.restore(ctx, version); err == nil {
		r, err = in.forward(ctx, until)
	}
	var other *ContractMismatchError
	if errors.As(err, &other) {
		if in, err = o.fromMigration(ctx, version, other); err == nil {
			r, err = in.forward(ctx, until)
		}
	}
	return in, r, err
}

// fromMigration begins behind the last migration to o.contract that is not above a version;
// the error is other if there is none. It costs what the log up to there holds.
func (o config) fromMigration(ctx context.Context, version uint64, other error) (*Instance, error) {
	var asked, found uint64
	for r, err := range o.store.Read(ctx, o.id, 1, 0) {
		if err != nil {
			return nil, err
		}
		if r.Version > version {
			break
		}
		if bytes.Contains(r.Line, []byte(`"kind":"migrate"`)) {
			asked = r.Seq
		} else if asked > 0 && r.Seq == asked+1 {
			if l, ok := readLine(r.Line); ok && l.Kind == trace.Decision && l.verdict != nil && l.verdict.Verdict == verify.Commit && l.Contract == o.contract.Digest() {
				found = r.Seq
			}
		}
	}
	if found == 0 {
		return nil, other
	}
	record, err := o.recordAt(ctx, found)
	if err != nil {
		return nil, err
	}
	l, _ := readLine(record.Line)
	var f genesis
	if json.Unmarshal(record.Sealed, &f) != nil {
		return nil, o.corrupt(found, "it does not go on with the instance")
	}
	in, root, err := o.revive(ctx, f, found)
	if err != nil {
		return nil, err
	}
	if err := in.checkAlone(record); err != nil {
		return nil, err
	}
	root.Phase, root.Version = l.verdict.PhaseAfter, l.verdict.VersionAfter
	if !in.dialect.named(in.key, root.State, l.verdict.StateAfter) {
		return nil, o.corrupt(found, digestDiffers)
	}
	in.standAt(ledger{recent: in.recentFrom(root.Version)}, point{root, trace.Head{Instance: o.id, Seq: found, Hash: l.Hash}, found})
	return in, nil
}

// A dialect is how the lines of a log are written, from one of its records on: in which
// format, and under which contract.
type dialect struct {
	format   int
	contract string // its digest
	names    []naming
}

// A naming is how lines name a state. In format 1 that changed while it was in use, so that
// it is one of several: all that give what was recorded so far.
type naming struct {
	plain bool // by a digest without a key
	old   bool // that is tree.Node.Format1Digest
}

func presentDialect(contract string) dialect { return dialect{trace.Format, contract, []naming{{}}} }

// dialectOf is that of a log whose first line is l.
func dialectOf(l *line) dialect {
	if l.Format >= trace.Format {
		return presentDialect(l.Contract)
	}
	return dialect{1, l.Contract, []naming{{}, {old: true}, {plain: true}, {true, true}}}
}

func (n naming) name(key *trace.Key, root *tree.Node) string {
	digest := root.Digest
	if n.old {
		digest = root.Format1Digest
	}
	if n.plain {
		return digest().String()
	}
	return key.State(digest().String())
}

// name is how a line names a state.
func (l *dialect) name(key *trace.Key, root *tree.Node) string { return l.names[0].name(key, root) }

// named reports whether a line may name a state so, and remembers how that is made.
func (l *dialect) named(key *trace.Key, root *tree.Node, text string) bool {
	var left []naming
	for _, n := range l.names {
		if n.name(key, root) == text {
			left = append(left, n)
		}
	}
	if len(left) > 0 {
		l.names = left
	}
	return len(left) > 0
}
