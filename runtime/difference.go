package runtime

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// compare compares a recorded verdict with the one that comes out now, rendered as
// the trace renders it.
func (r *rerun) compare(l *line, again *verify.Verdict) error {
	shown := r.in.keyed(again)
	shown.Violations, _ = r.in.redactViolations(again.Violations, nil)
	return r.compareAs(l, shown)
}

// compareAs is compare for a verdict that is as the trace shows it.
func (r *rerun) compareAs(l *line, again verify.Verdict) error {
	rendered, err := json.Marshal(&again)
	rendered = ir.Plain(rendered) // as in the line
	if err != nil || bytes.Equal(l.Verdict, rendered) {
		return err
	}
	if l.verdict == nil {
		r.differ(l, "verdict", "none", string(again.Verdict))
		return nil
	}
	for _, m := range members(l.verdict, &again) {
		r.differ(l, m.name, m.recorded, m.again)
	}
	r.differ(l, "violations", digestOf(l.Verdict), digestOf(rendered))
	return nil
}

// A member is a member of a verdict, as recorded and as it comes out now.
type member struct{ name, recorded, again string }

// members lists what can be told of two verdicts, what matters most first.
func members(a, b *verify.Verdict) []member {
	number := func(n uint64) string { return fmt.Sprint(n) }
	return []member{
		{"verdict", string(a.Verdict), string(b.Verdict)},
		{"violations", codeList(a), codeList(b)},
		{"state_before", a.StateBefore, b.StateBefore},
		{"state_after", a.StateAfter, b.StateAfter},
		{"version_before", number(a.VersionBefore), number(b.VersionBefore)},
		{"version_after", number(a.VersionAfter), number(b.VersionAfter)},
		{"phase_before", a.PhaseBefore, b.PhaseBefore},
		{"phase_after", a.PhaseAfter, b.PhaseAfter},
		{"contract", a.Contract, b.Contract},
		{"retryable", fmt.Sprint(a.Retryable), fmt.Sprint(b.Retryable)},
		{"attempt", fmt.Sprint(a.Attempt), fmt.Sprint(b.Attempt)},
		{"max_attempts", fmt.Sprint(a.MaxAttempts), fmt.Sprint(b.MaxAttempts)},
	}
}

func codeList(v *verify.Verdict) string {
	if len(v.Violations) == 0 {
		return "none"
	}
	return strings.Join(codesOf(v.Violations), ", ")
}

// differ notes the first member that is not as recorded.
func (r *rerun) differ(l *line, name, recorded, again string) {
	if recorded != again && r.out.Different == nil {
		r.out.Different = &Difference{Seq: l.Seq, Kind: l.Kind, Member: name, Recorded: recorded, Again: again}
	}
}

// sameLine compares a record's line with the one that its entry makes now, after the
// head that was before it. The time is the host's: it is taken from the record.
func (r *rerun) sameLine(before trace.Head, l *line, record store.Record, e *entry) error {
	if r.out.Different != nil {
		return nil
	}
	e.Time, e.Seal = l.Time, r.in.key.Seal(e.sealed)
	again, _ := before.Seal(&e.Record)
	if bytes.Equal(record.Line, again) {
		return nil
	}
	var recorded, now map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(record.Line, &recorded), json.Unmarshal(again, &now)); err != nil {
		return err
	}
	for _, name := range append(slices.Sorted(maps.Keys(recorded)), slices.Sorted(maps.Keys(now))...) {
		if name != "hash" && !bytes.Equal(recorded[name], now[name]) {
			r.differ(l, name, memberDigest(recorded[name]), memberDigest(now[name]))
		}
	}
	r.differ(l, "line", digestOf(record.Line), digestOf(again)) // its members, but not their spelling
	return nil
}

func memberDigest(value json.RawMessage) string {
	if value == nil {
		return "none"
	}
	return digestOf(value)
}

// undecidable turns an error about a name that the contract does not have into a
// difference; others stay.
func (r *rerun) undecidable(l *line, err error) error {
	var stage *UnknownStageError
	var argument *UnknownArgumentError
	if errors.As(err, &stage) || errors.As(err, &argument) {
		r.differ(l, "stage", "known to the contract", err.Error())
		return nil
	}
	return err
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
