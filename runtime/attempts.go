package runtime

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
)

// Counting tries. A step is a stage that one principal runs in one role with the same
// arguments on one version: until the next commit, whoever makes it, all proposals of the
// step share its tries. What others try takes nothing from them. Each rejection uses up one, except one for being late, which
// says nothing about the proposal. When all are used up, or when a proposal reads
// as one that the step has had refused, the stale gate refuses it.
//
// A commit begins all steps anew, for what was wrong before may be right now. So
// the count is a fold over the records since the last commit. A snapshot holds it, so that a
// process that opens the instance there counts as one that was there from the beginning.

// DefaultAttempts is how many tries a step has, where neither its stage nor the
// host says: 3. A step is a stage that one principal (its Subject) runs in one role with
// the same arguments on one version; until the next commit all its proposals share its tries.
const DefaultAttempts = ir.DefaultAttempts

// Limits of what is remembered.
const (
	maxSteps   = 10_000 // steps that are counted each; with more, those of a pool are counted together
	maxPools   = 1_024  // of further steps, by their subject
	maxRefused = 64     // of one step's refused proposals, the first ones
)

// A step is what tries are counted for. Its texts are as the log shows them; of many
// arguments it has a hash.
type step struct{ subject, stage, role, args string }

// tries is what became of a step's proposals. It is never changed, only replaced.
type tries struct {
	used    int
	refused []fingerprint
}

// A fingerprint identifies what a proposal asks for: the phase that the host named,
// and the patch by the keyed digest of what it reads as. A patch longer than any may be is
// like no other, not even itself.
//
// That digest is made when it is first asked for: a proposal that commits, without a key
// and where its step had nothing refused, is never asked. Logs that were written before
// patches were compared as they read have the digest of the bytes in its place, which
// equals no other: their refusals are not remembered for proposals of today, and decide
// among themselves as they did.
type fingerprint struct {
	next, patch string // patch is "" if it was not asked for yet
	tooLong     bool
}

func (f fingerprint) same(g fingerprint) bool { return f == g && !f.tooLong }

// attempts is what was tried since the last commit, and what the log keeps of patches
// that changed nothing.
type attempts struct {
	steps map[step]tries
	idle  int // bytes of patches that changed nothing
}

// A request is what a record asks a decision for.
type request struct {
	step  step
	print fingerprint
	patch []byte // if it is being made, or the log keeps it
	kept  int    // bytes of it that the log keeps
	key   string
	at    time.Time // the clock that it is decided by
	seq   uint64    // of the record, 0 if there is none yet
}

// identify makes the digest of what a proposal reads as, if it has none yet.
func (a *request) identify(key *trace.Key, read verify.Reading) {
	switch {
	case a.print.tooLong || a.print.patch != "":
	case read.Whole:
		a.print.patch = key.Patch(read.Patch, read.Next)
	default:
		a.print.patch = key.Unread(a.patch)
	}
}

// same reports whether a proposal asks for the same as an earlier one that the log has, in
// the same name. What the log keeps of that is read again: it may be older than the digest
// of what patches read as.
func (in *Instance) same(a, earlier *request) bool {
	if a.step != earlier.step || a.print.next != earlier.print.next || a.print.tooLong || earlier.print.tooLong {
		return false
	}
	if earlier.print.patch == in.key.Seal(a.patch) { // it was recorded by its bytes
		return true
	}
	if a.print.patch == "" {
		a.identify(in.key, in.contract.program.Read(a.patch))
	}
	before := *earlier
	if before.kept > 0 {
		before.print.patch = ""
		before.identify(in.key, in.contract.program.Read(before.patch))
	}
	return a.print.same(before.print)
}

func (all *attempts) clone() attempts {
	c := *all
	c.steps = maps.Clone(all.steps)
	return c
}

// decided takes in a decision and what it is about; a is nil for the host's moves.
func (all *attempts) decided(a *request, v *verify.Verdict) {
	if a != nil && v.Verdict != verify.Commit {
		all.idle += a.kept
	}
	switch {
	case v.Verdict == verify.Commit:
		all.steps = nil
	case a == nil:
	case len(v.Violations) > 0 && v.Violations[0].Code.UsesAttempt():
		all.refuse(a, v.Violations[0].Code == verify.Repeat)
	}
}

// counted is the step that a step's tries are counted under: itself, or a pool if there are
// too many. Nothing is forgotten to make room: else whoever can make many steps gets back the
// tries of all. Those of one subject share a pool, so that who fills the room and goes on
// takes hardly anything from others.
func (all *attempts) counted(s step) step {
	if _, known := all.steps[s]; known || len(all.steps) < maxSteps {
		return s
	}
	sum := sha256.Sum256([]byte(s.subject))
	number := binary.BigEndian.Uint64(sum[:]) % maxPools
	return step{args: strconv.FormatUint(number, 10)} // no stage is without name
}

// isPool reports whether many steps are counted under s.
func (s step) isPool() bool { return s.stage == "" }

// of is what was tried of a step.
func (all *attempts) of(s step) tries { return all.steps[all.counted(s)] }

// refuse counts a try. One that was refused as a repeat was not judged: there is
// nothing to remember that was not known before.
func (all *attempts) refuse(a *request, unjudged bool) {
	if all.steps == nil {
		all.steps = map[step]tries{}
	}
	s := all.counted(a.step)
	t := all.steps[s]
	t.used++
	if !unjudged && !s.isPool() && !a.print.tooLong && len(t.refused) < maxRefused {
		t.refused = append(slices.Clip(t.refused), a.print)
	}
	all.steps[s] = t
}

// repeats reports whether the step has had the same refused.
func (t tries) repeats(a *request) bool {
	return slices.ContainsFunc(t.refused, a.print.same)
}

// stepOf is the step of who runs a stage. The texts are as a line shows them, so that it is
// the same for who proposes and for who reads the log.
func stepOf(subject, stage, role string, args map[string]string) step {
	s := step{subject: shown(subject), stage: shown(stage), role: shown(role)}
	if len(args) == 0 {
		return s
	}
	var some [4]string
	names := some[:0]
	for name := range args {
		names = append(names, name)
	}
	slices.Sort(names)
	var room [128]byte
	text := room[:0]
	for _, name := range names {
		text = strconv.AppendQuote(strconv.AppendQuote(text, shown(name)), shown(args[name]))
	}
	if s.args = string(text); len(text) > sha256.Size {
		print := sha256.Sum256(text)
		s.args = string(print[:]) // there is room for many steps, not for long texts
	}
	return s
}

// shown is a text as it reads in a line: each byte that is no UTF-8 is U+FFFD.
func shown(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// A tried is a step and its tries, as a snapshot holds them.
type tried struct {
	Subject string    `json:"subject,omitempty"`
	Stage   string    `json:"stage"`
	Role    string    `json:"role,omitempty"`
	Args    []byte    `json:"args,omitempty"` // perhaps a hash
	Used    int       `json:"used"`
	Refused []refused `json:"refused,omitempty"`
}

type refused struct {
	Next  string `json:"next,omitempty"`
	Patch string `json:"patch,omitempty"`
}

// list lists what was tried in an order that depends on nothing else.
func (all *attempts) list() []tried {
	list := make([]tried, 0, len(all.steps))
	for s, t := range all.steps {
		one := tried{Subject: s.subject, Stage: s.stage, Role: s.role, Args: []byte(s.args), Used: t.used}
		for _, f := range t.refused {
			one.Refused = append(one.Refused, refused{f.next, f.patch})
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b tried) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Subject, b.Subject), bytes.Compare(a.Args, b.Args))
	})
	return list
}

func (t *tried) tries() tries {
	all := tries{used: t.Used}
	for _, r := range t.Refused {
		all.refused = append(all.refused, fingerprint{next: r.Next, patch: r.Patch})
	}
	return all
}
