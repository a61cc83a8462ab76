package main

import (
	"time"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

type auditVerb struct {
	logArg
	Verify bool   `help:"List nothing; of a database, check the file itself and its snapshots too."`
	Stage  stated `help:"List what this stage did only." placeholder:"NAME"`
	Since  stated `help:"List what was recorded since then only: a date, or a time as RFC 3339 writes it." placeholder:"TIME"`
	Anchor stated `help:"Head of the log that was noted down before: the log must still have it." placeholder:"SEQ:HASH"`
	Format string `enum:"text,json" default:"text" help:"How the result is printed: ${enum}. As JSON, the list is the trace itself."`
}

// Help is printed by --help.
func (auditVerb) Help() string {
	return `Lists what was recorded of instances, and checks the chain: every view, proposal and decision is a line that holds the hash of the line before. LOG is the database of a store, or the trace of one instance; - is a trace on standard input. --store names a database too.

The chain shows whether lines were changed, removed or moved, but not whether the last ones are missing. So note the anchor down that audit prints at the end, and give it to the next audit.

Examples:

    poptic audit desk.db --instance T-7 --stage classify --since 2026-01-31
    poptic audit --store sqlite:desk.db --verify
    poptic audit desk.db --instance T-7 --anchor 231:sha256:12ab...
    poptic audit desk.db --instance T-7 --format json > trace.jsonl

Exit codes:

    0  every chain holds
    1  one does not, or is gone, the file is damaged, or the anchor is not there; no instances
    2  usage, a file that cannot be read, or one of another format`
}

// Run implements the verb.
func (v *auditVerb) Run(c *console) error {
	if err := v.settle(); err != nil {
		return err
	}
	a, err := v.audit(c)
	if err != nil {
		return err
	}
	st, err := v.openDatabase(c)
	if text := damage(err); text != "" {
		return a.finish([]audited{{Damage: text}})
	}
	if err != nil {
		return err
	}
	var results []audited
	if st == nil {
		results, err = v.trace(c, a)
	} else {
		defer st.Close()
		results, err = v.database(c, a, st)
	}
	if err != nil {
		return v.otherFormat(err)
	}
	return a.finish(results)
}

// audit reads the flags.
func (v *auditVerb) audit(c *console) (*audit, error) {
	a := &audit{c: c, list: !v.Verify, json: v.Format == "json", stage: string(v.Stage)}
	var err error
	if v.Since != "" {
		if a.since, err = parseTime(string(v.Since)); err != nil {
			return nil, err
		}
	}
	if v.Anchor != "" {
		a.anchor, err = parseAnchor(string(v.Anchor))
	}
	return a, err
}

func parseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fail("write 2026-01-31 or 2026-01-31T15:04:05Z", "%q is no time", text)
}

// trace audits a trace.
func (v *auditVerb) trace(c *console, a *audit) ([]audited, error) {
	r := a.begin()
	head, err := v.scanTrace(c, r.line)
	text := damage(err)
	if err != nil && text == "" {
		return nil, err
	}
	r.end(head, text)
	if head.Seq == 0 && text == "" && a.anchor == nil {
		return nil, fail("name the file that the log is in", "%s holds no records", v.name())
	}
	if v.Instance != "" && head.Instance != "" && head.Instance != string(v.Instance) {
		return nil, fail("leave --instance out", "the trace is of the instance %q", head.Instance)
	}
	return []audited{r.audited}, nil
}

// database audits the instances of a store.
func (v *auditVerb) database(c *console, a *audit, st *sqlite.Store) ([]audited, error) {
	var results []audited
	if v.Verify {
		if err := st.Check(c.ctx); err != nil {
			text := damage(err)
			if text == "" {
				return nil, err
			}
			results = append(results, audited{Damage: text})
		}
	}
	ids, err := v.recorded(c, st, a.anchor != nil)
	if text := damage(err); text != "" {
		return append(results, audited{Damage: text}), nil
	}
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		r := a.begin()
		r.Instance = id
		head, err := runtime.CheckLog(c.ctx, st, id, r.line)
		if err == nil && v.Verify {
			err = runtime.CheckSnapshots(c.ctx, st, id)
		}
		text := damage(err)
		if err != nil && text == "" {
			return nil, err
		}
		r.end(head, text)
		results = append(results, r.audited)
	}
	return results, nil
}
