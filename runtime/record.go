package runtime

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// maxOldValue is how many bytes of a replaced value a trace shows. Of a longer one
// it has the keyed digest, so that a record's size follows the patch's.
const maxOldValue = 512

// record begins a record of this instance.
func (in *Instance) record(kind trace.Kind, version uint64) *trace.Record {
	return &trace.Record{Kind: kind, Time: in.now(), Contract: in.contract.Digest(), Version: version}
}

// now is the time of a record. RFC 3339 has years of four digits: a clock that is
// beyond them tells the last moment, or the first.
func (in *Instance) now() time.Time {
	t := in.options.clock().UTC()
	switch year := t.Year(); {
	case year < 0:
		return time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)
	case year > 9999:
		return time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	}
	return t
}

// actor adds who acts, in which stage, with which arguments.
func (in *Instance) actor(r *trace.Record, stage, role string, args map[string]string) {
	r.Stage, r.Role = stage, role
	if s := in.contract.ir.Stage(stage); s != nil {
		r.Args, r.Redacted = in.redactor.Args(s, args)
	}
}

// maxIdleShown is up to which size, as a line tells it, a line shows the operations of
// a patch that changed nothing, so that such a patch is not kept twice.
const maxIdleShown = 4096

// proposalEntry records what was proposed. The patch is sealed as it arrived, or if it
// is not kept, its digest stands in the line.
func (in *Instance) proposalEntry(p *Proposal, a *asked, seen *verify.Snapshot, out *verify.Outcome, keep bool) *entry {
	e := &entry{Record: *in.record(trace.Proposal, seen.Version)}
	in.actor(&e.Record, p.Stage, p.Role, p.Args)
	e.args = hiddenArgs(&e.Record, p.Args)
	e.Base, e.Key, e.Next, e.Size = &p.Base, a.key, p.Next, trace.Rounded(len(p.Patch))
	if !keep {
		a.kept, e.Digest = 0, a.print.patch
		return e
	}
	a.kept, e.sealed = len(p.Patch), bytes.Clone(p.Patch)
	if out.Patch != nil && (out.Verdict.Verdict == verify.Commit || e.Size <= maxIdleShown) {
		text, redacted := in.redactor.Patch(out.Patch)
		e.Patch, e.Redacted = text, append(e.Redacted, redacted...)
	}
	return e
}

// advanceEntry records the phase that the host asked for.
func (in *Instance) advanceEntry(seen *verify.Snapshot, phase, role string) *entry {
	e := &entry{Record: *in.record(trace.Advance, seen.Version)}
	e.Role, e.Phase = role, phase
	return e
}

// decisionEntry records a verdict on what was asked, and of a commit what it
// replaced.
func (in *Instance) decisionEntry(ctx context.Context, out *verify.Outcome, v *Verdict, asked *entry) (e *entry, err error) {
	e = &entry{Record: *in.record(trace.Decision, out.Verdict.VersionAfter)}
	if err := in.addVerdict(&e.Record, &out.Verdict); err != nil {
		return nil, err
	}
	if out.Verdict.Verdict == verify.Commit {
		in.addOld(&e.Record, out)
	}
	hidden := private{Args: asked.args}
	if asked.Key != "" {
		actor, err := out.ActorWithin(ctx)
		if err != nil {
			return nil, err
		}
		v.actor = func() ActorVerdict { return actor }
		hidden.Operator, hidden.Actor = &v.OperatorVerdict, &actor
	}
	e.sealed, err = hidden.seal()
	return e, err
}

// addVerdict adds the operator's rendering as a trace may show it.
func (in *Instance) addVerdict(r *trace.Record, v *verify.Verdict) (err error) {
	shown := in.keyed(v)
	shown.Violations, r.Redacted = in.redactViolations(v.Violations, r.Redacted)
	r.Verdict, err = json.Marshal(&shown)
	return err
}

// keyed is a verdict with its digests of states under the instance's key.
func (in *Instance) keyed(v *verify.Verdict) verify.Verdict {
	keyed := *v
	keyed.StateBefore = in.key.State(v.StateBefore)
	keyed.StateAfter = keyed.StateBefore
	if v.StateAfter != v.StateBefore {
		keyed.StateAfter = in.key.State(v.StateAfter)
	}
	return keyed
}

// redactViolations replaces what may tell of a secret: names in paths, and all of a
// message about the text of a patch, which may quote it or count its bytes. Hints are
// for who proposes, and have arguments and names in them: they are left out.
func (in *Instance) redactViolations(all []Violation, redacted []string) ([]Violation, []string) {
	if in.redactor.Idle() || len(all) == 0 {
		return all, redacted
	}
	all = slices.Clone(all)
	for i := range all {
		v, at := &all[i], "/verdict/violations/"+strconv.Itoa(i)
		if v.Path != nil {
			if shown, changed := in.redactor.Path(*v.Path); changed {
				v.Path, redacted = &shown, append(redacted, at+"/path")
			}
		}
		if v.Gate == verify.GateFormat || v.Gate == verify.GateLimit {
			v.Message, _ = in.redactor.Text(v.Message)
			redacted = append(redacted, at+"/message")
		}
		v.Hint = ""
	}
	return all, redacted
}

// addOld adds the values that each operation replaced or took away, as they were
// directly before that operation.
func (in *Instance) addOld(r *trace.Record, out *verify.Outcome) {
	old := make([]trace.OldValue, 0, len(out.Patch))
	for i := range out.Patch {
		op, root := &out.Patch[i], out.Steps[i]
		switch op.Kind {
		case tree.OpTest:
		case tree.OpRemove, tree.OpReplace:
			old = appendOld(old, i, root, op.Path, op.RawPath, false)
		case tree.OpAdd, tree.OpCopy:
			old = appendOld(old, i, root, op.Path, op.RawPath, true)
		case tree.OpMove:
			old = appendOld(old, i, root, op.From, op.RawFrom, false)
			old = appendOld(old, i, root, op.Path, op.RawPath, true)
		}
	}
	if len(old) > 0 {
		text, redacted := in.redactor.Old(old, maxOldValue)
		r.Old, r.Redacted = text, append(r.Redacted, redacted...)
	}
}

// appendOld appends what is at ptr in root, if anything. An operation that inserts
// replaces a member, but no element.
func appendOld(old []trace.OldValue, op int, root *tree.Node, ptr tree.Pointer, text string, inserts bool) []trace.OldValue {
	n, parent := lookup(root, ptr)
	if n == nil || inserts && parent != nil && parent.Kind() == ir.Array {
		return old
	}
	return append(old, trace.OldValue{Op: op, Path: ptr, Text: text, Value: n})
}

// lookup is the value at ptr and the container it is in; nil where there is none.
func lookup(root *tree.Node, ptr tree.Pointer) (n, parent *tree.Node) {
	n = root
	for _, token := range ptr {
		if parent = n; parent == nil {
			return nil, nil
		}
		if n = parent.Get(token); parent.Kind() == ir.Array {
			n = element(parent, token)
		}
	}
	return n, parent
}

func element(array *tree.Node, token string) *tree.Node {
	i, err := strconv.Atoi(token)
	if err != nil {
		return nil
	}
	return array.At(i)
}

// How the engine reports what happens.
const (
	levelDecided = slog.LevelInfo
	levelBroken  = slog.LevelError
)

func attrInstance(id string) slog.Attr   { return slog.String("instance", id) }
func attrSeq(seq uint64) slog.Attr       { return slog.Uint64("seq", seq) }
func attrReason(reason string) slog.Attr { return slog.String("reason", reason) }

// logVerdict reports a verdict: identifiers, codes and paths.
func (in *Instance) logVerdict(ctx context.Context, what trace.Kind, stage string, v *verify.Verdict) {
	logger := in.options.logger
	if !logger.Enabled(ctx, levelDecided) {
		return
	}
	violations, _ := in.redactViolations(v.Violations, nil)
	var paths []string
	for _, found := range violations {
		if found.Path != nil {
			paths = append(paths, *found.Path)
		}
	}
	logger.LogAttrs(ctx, levelDecided, string(what),
		attrInstance(in.id), slog.String("stage", stage), slog.String("verdict", string(v.Verdict)),
		slog.Uint64("version", v.VersionAfter), slog.Any("codes", codesOf(violations)), slog.Any("paths", paths))
}
