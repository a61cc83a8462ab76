package runtime

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/compiler/ir"
	"github.com/patchoptic/poptic/runtime/trace"
	"github.com/patchoptic/poptic/runtime/tree"
	"github.com/patchoptic/poptic/runtime/verify"
)

// maxOldValue is how many bytes of a replaced value a trace shows. Of a longer one
// it has the keyed digest, so that a record's size follows the patch's.
const maxOldValue = 512

// record begins a record of this instance.
func (in *Instance) record(kind trace.Kind, version uint64) *trace.Record {
	return &trace.Record{Kind: kind, Time: in.options.clock(), Contract: in.contract.Digest(), Version: version}
}

// actor adds who acts, in which stage, with which arguments.
func (in *Instance) actor(r *trace.Record, stage, role string, args map[string]string) {
	r.Stage, r.Role = stage, role
	if s := in.contract.ir.Stage(stage); s != nil {
		r.Args, r.Redacted = in.redactor.Args(s, args)
	}
}

// proposalEntry records what was proposed. The patch is sealed as it arrived,
// unless it is larger than any patch may be.
func (in *Instance) proposalEntry(p *Proposal, a *asked, seen *verify.Snapshot, patch tree.Patch) *entry {
	e := &entry{Record: *in.record(trace.Proposal, seen.Version)}
	in.actor(&e.Record, p.Stage, p.Role, p.Args)
	e.args = hiddenArgs(&e.Record, p.Args)
	e.Base, e.Key, e.Next, e.Size = &p.Base, a.key, p.Next, len(p.Patch)
	e.sealed = a.patch
	if patch != nil {
		text, redacted := in.redactor.Patch(patch)
		e.Patch, e.Redacted = text, append(e.Redacted, redacted...)
	}
	return e
}

// decisionEntry records a verdict on what was asked, and of a commit what it
// replaced.
func (in *Instance) decisionEntry(out *verify.Outcome, v *Verdict, asked *entry) (e *entry, err error) {
	e = &entry{Record: *in.record(trace.Decision, out.Verdict.VersionAfter)}
	if err := in.addVerdict(&e.Record, &out.Verdict); err != nil {
		return nil, err
	}
	if out.Verdict.Verdict == verify.Commit {
		in.addOld(&e.Record, out)
	}
	hidden := private{Args: asked.args}
	if asked.Key != "" {
		actor := v.Actor()
		hidden.Operator, hidden.Actor = &v.Verdict, &actor
	}
	e.sealed, err = hidden.seal()
	return e, err
}

// addVerdict adds the operator's rendering, its paths as a trace may show them.
func (in *Instance) addVerdict(r *trace.Record, v *verify.Verdict) (err error) {
	shown := *v
	shown.Violations, r.Redacted = in.redactViolations(v.Violations, r.Redacted)
	r.Verdict, err = json.Marshal(&shown)
	return err
}

func (in *Instance) redactViolations(all []Violation, redacted []string) ([]Violation, []string) {
	copied := false
	for i := range all {
		if all[i].Path == nil {
			continue
		}
		shown, changed := in.redactor.Path(*all[i].Path)
		if !changed {
			continue
		}
		if !copied {
			all, copied = slices.Clone(all), true
		}
		all[i].Path = &shown
		redacted = append(redacted, "/verdict/violations/"+strconv.Itoa(i)+"/path")
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
