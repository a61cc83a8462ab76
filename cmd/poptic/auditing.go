package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/patchoptic/poptic/internal/trace"
)

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
	Seq     uint64
	Time    time.Time
	Kind    trace.Kind
	Version uint64
	Stage   string
	Role    string
	Args    map[string]string
	Phase   string
	Hash    string
	Verdict *struct {
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
	r.c.outText().logged(&l)
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
		if printErr := a.c.printJSON(orNone(results)); printErr != nil {
			return printErr
		}
	case a.json:
		a.c.errText().audits(results)
	default:
		a.c.outText().audits(results)
	}
	return err
}

// orNone makes a list that JSON writes as [] rather than null.
func orNone(results []audited) []audited { return append([]audited{}, results...) }

// audits writes the results for people.
func (p *printer) audits(results []audited) {
	if len(results) == 0 {
		p.line("no instances: there is nothing to audit")
	}
	for _, r := range results {
		name := word(r.Instance)
		if name != "" {
			name += ": "
		}
		if r.Damage != "" {
			p.wrapped("", "  ", p.red("damaged: ")+name+r.Damage)
		} else {
			p.line("%s%s, %s; the chain holds", name, plural(int(r.Records), "record"), plural(int(r.Commits), "commit"))
		}
		if r.Anchor != "" {
			p.line("  %s %s", p.dim("anchor"), r.Anchor)
		}
	}
}

// logged writes a line of a log.
func (p *printer) logged(l *logged) {
	p.line("%s", ellipsis(fmt.Sprintf("%5d  %s  %-8s  %s", l.Seq, l.Time.UTC().Format(time.RFC3339), word(string(l.Kind)), l.what()), p.width))
}

// what says who did what, or what was decided. What actors or whoever wrote the trace chose
// is each one word, so that none can be taken for others or for a line of its own.
func (l *logged) what() string {
	var words []string
	add := func(label, text string) {
		if text != "" {
			words = append(words, label+word(text))
		}
	}
	add("", l.Stage)
	for _, name := range slices.Sorted(maps.Keys(l.Args)) {
		words = append(words, word(name)+"="+word(l.Args[name]))
	}
	if l.Stage != "" || l.Kind == trace.Advance {
		add("as ", l.Role)
	}
	if l.Kind == trace.Advance {
		add("to ", l.Phase)
	}
	if l.Verdict != nil {
		add("", l.Verdict.Verdict)
		if l.Verdict.Verdict == "commit" {
			words = append(words, fmt.Sprintf("version %d", l.Version))
		}
		for _, v := range l.Verdict.Violations {
			add("", v.Code)
		}
	}
	if l.Kind == trace.Create {
		add("in phase ", l.Phase)
	}
	return strings.Join(words, " ")
}
