package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/internal/trace"
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
    1  one does not, or the anchor's is gone, the file is damaged, or the anchor is not there; no instances
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

// An audit is what is asked of every log.
type audit struct {
	c      *console
	list   bool
	json   bool
	stage  string
	since  time.Time
	anchor *anchor
}

// audited is what came of auditing one log.
type audited struct {
	Instance string `json:"instance,omitempty"`
	Records  uint64 `json:"records"`
	Commits  uint64 `json:"commits"`
	Anchor   string `json:"anchor,omitempty"` // of the last line that holds
	Damage   string `json:"damage,omitempty"`
}

// An auditing is an audit of one log under way.
type auditing struct {
	*audit
	audited
	asked bool // the line before is listed, and awaits a decision
}

// logged is what the list shows of a line.
type logged struct {
	Seq       uint64
	Time      time.Time
	Kind      trace.Kind
	Version   uint64
	Stage     string
	Role      string
	Principal trace.Principal
	Args      map[string]string
	Phase     string
	To        string
	Pending   uint64
	Reason    string
	Expires   *time.Time
	Hash      string
	Verdict   *struct {
		Verdict    string
		Violations []struct{ Code string }
	}
}

func (a *audit) begin() *auditing { return &auditing{audit: a} }

// line takes in a line that holds.
func (r *auditing) line(text []byte) error {
	var l logged
	if json.Unmarshal(text, &l) != nil {
		return &trace.BrokenError{Seq: r.Records + 1, Reason: "it is no record: a member is of another kind, or its time is none"}
	}
	r.Records, r.Commits = l.Seq, l.Version
	if r.anchor != nil {
		r.anchor.pass(&l)
	}
	if !r.list || !r.shows(&l) {
		return nil
	}
	if r.json {
		_, err := fmt.Fprintf(r.c.out, "%s\n", text)
		return err
	}
	writeLogged(r.c.outText(), &l)
	return nil
}

// shows reports whether a line is to be listed; a decision is, if what it decides is.
func (r *auditing) shows(l *logged) bool {
	if l.Kind == trace.Decision {
		return r.asked
	}
	r.asked = (r.stage == "" || r.stage == l.Stage) && !l.Time.Before(r.since)
	return r.asked
}

// end notes where the log ends, and what is wrong with it.
func (r *auditing) end(head trace.Head, damage string) {
	if head.Instance != "" {
		r.Instance = head.Instance
	}
	r.Damage = damage
	if head.Seq > 0 {
		r.audited.Anchor = anchorOf(head)
	}
	if r.anchor != nil && damage == "" {
		r.Damage = r.anchor.missing(head)
	}
}

// finish tells the results, and answers no if a log is damaged.
func (a *audit) finish(results []audited) error {
	var err error
	if len(results) == 0 { // that nothing is there shows nothing
		err = errNo
	}
	for _, r := range results {
		if r.Damage != "" {
			err = errNo
		}
	}
	switch {
	case a.json && !a.list:
		if printErr := a.c.printJSON(orEmpty(results)); printErr != nil {
			return printErr
		}
	case a.json:
		writeAudits(a.c.errText(), results)
	default:
		writeAudits(a.c.outText(), results)
	}
	return err
}

// writeAudits writes the results for people.
func writeAudits(p *terminal.Printer, results []audited) {
	if len(results) == 0 {
		p.Line("no instances: there is nothing to audit")
	}
	for _, r := range results {
		name := terminal.Word(r.Instance)
		if name != "" {
			name += ": "
		}
		if r.Damage != "" {
			p.Wrapped("", "  ", p.Red("damaged: ")+name+r.Damage)
		} else {
			p.Line("%s%s, %s; the chain holds", name, terminal.Plural(int(r.Records), "record"), terminal.Plural(int(r.Commits), "commit"))
		}
		if r.Anchor != "" {
			p.Line("  %s %s", p.Dim("anchor"), r.Anchor)
		}
	}
}

// writeLogged writes a line of a log.
func writeLogged(p *terminal.Printer, l *logged) {
	p.Line("%s", terminal.Ellipsis(fmt.Sprintf("%5d  %s  %-8s  %s", l.Seq, l.Time.UTC().Format(time.RFC3339), terminal.Word(string(l.Kind)), l.what()), p.Width))
}

// what says who did what, or what was decided. What actors or whoever wrote the trace chose
// is each one word, so that none can be taken for others or for a line of its own.
func (l *logged) what() string {
	var words []string
	add := func(label, text string) {
		if text != "" {
			words = append(words, label+terminal.Word(text))
		}
	}
	add("", l.Stage)
	for _, name := range slices.Sorted(maps.Keys(l.Args)) {
		words = append(words, terminal.Word(name)+"="+terminal.Word(l.Args[name]))
	}
	if l.Stage != "" || l.Kind == trace.Advance {
		add("as ", l.Role)
	}
	switch l.Kind {
	case trace.Advance:
		add("to ", l.Phase)
	case trace.Migrate:
		add("to contract ", short(l.To))
		add("in phase ", l.Phase)
	case trace.Withdrawn:
		words = append(words, recordNumber(l.Pending))
		add("because ", l.Reason)
	}
	if l.Kind == trace.Create {
		add("in phase ", l.Phase)
	}
	add("by ", l.Principal.Subject)
	add("on behalf of ", l.Principal.OnBehalf)
	add("with ", l.Principal.Token)
	if l.Verdict != nil {
		add("", l.Verdict.Verdict)
		if l.Verdict.Verdict == "commit" {
			words = append(words, fmt.Sprintf("version %d", l.Version))
		}
		if l.Expires != nil {
			words = append(words, "until "+l.Expires.UTC().Format(time.RFC3339))
		}
		for _, v := range l.Verdict.Violations {
			add("", v.Code)
		}
	}
	return strings.Join(words, " ")
}

// An anchor is a head of a log that was noted down when it was the last one: the
// number of its record and its hash, written SEQ:HASH. A log that does not have it
// any more was cut off or written anew.
type anchor struct {
	seq  uint64
	hash string
	met  string // the hash that the log has there
}

var isHash = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

func parseAnchor(text string) (*anchor, error) {
	number, hash, found := strings.Cut(text, ":")
	seq, err := strconv.ParseUint(number, 10, 64)
	hash = strings.ToLower(hash) // some write hexadecimal digits in capitals
	if !found || err != nil || seq == 0 || !isHash.MatchString(hash) {
		return nil, fail("write it as audit prints it: SEQ:sha256:HASH", "%q is no anchor", text)
	}
	return &anchor{seq: seq, hash: hash}, nil
}

func anchorOf(h trace.Head) string { return strconv.FormatUint(h.Seq, 10) + ":" + h.Hash }

// pass takes in a line of the log.
func (a *anchor) pass(l *logged) {
	if l.Seq == a.seq {
		a.met = l.Hash
	}
}

// missing says why a log up to head does not have the anchor, "" if it does.
func (a *anchor) missing(head trace.Head) string {
	switch a.met {
	case a.hash:
		return ""
	case "":
		return "the log ends at " + recordNumber(head.Seq) + ", the anchor is " + recordNumber(a.seq) + ": its end is missing"
	}
	return recordNumber(a.seq) + " is another than the anchor's: the log was written anew"
}

func recordNumber(seq uint64) string { return "record " + strconv.FormatUint(seq, 10) }
