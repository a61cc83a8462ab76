package trace

import (
	"encoding/json"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is what a record records.
type Kind string

// The kinds of records. A decision answers the record directly before it, a
// proposal or an advance, and is appended together with it.
const (
	Create   Kind = "create"   // the instance began, with the sealed initial state
	View     Kind = "view"     // an actor was shown a view, or refused one
	Proposal Kind = "proposal" // an actor proposed a patch
	Advance  Kind = "advance"  // the host asked for a phase
	Decision Kind = "decision" // the verdict; one of "commit" is the commit
)

// Format is the number of the format of logs: of their lines and sealed parts, of
// snapshots, and of the digests of states. Whatever makes one of them come out otherwise
// raises it, and so the number of the tables of each store that keeps logs in a file.
// A log's first line tells its format; one without is of format 1. Every format has
// that member there, and the chain is made alike in all of them.
const Format = 2

// A Record is the readable part of one entry of the log. Members that do not
// apply to its kind are empty and left out of the line.
type Record struct {
	Seq      uint64    // position in the log, from 1
	Time     time.Time // from the engine's clock; written in UTC
	Instance string
	Kind     Kind
	Contract string // digest of the compiled contract in force
	Version  uint64 // commits up to and including this record; of a view, those it shows

	Stage string
	Role  string
	Args  map[string]string // with secret ones replaced
	Phase string            // create, view: the phase; advance: the phase asked for
	Base  *uint64           // proposal: the version its author saw
	Key   string            // proposal: the host's idempotency key
	Next  string            // proposal: the phase the host named

	View     string          // view: keyed digest of what was shown (Key.View)
	State    string          // create: keyed digest of the initial state (Key.State)
	Patch    json.RawMessage // proposal: the operations, with secrets replaced; nil if they are not shown
	Size     int             // proposal: bytes of the patch as it arrived, rounded (Rounded)
	Digest   string          // proposal: keyed digest of the patch (Key.Seal), if it is not sealed
	Verdict  json.RawMessage // decision, refused view: the operator's rendering
	Old      json.RawMessage // decision of a commit: what the operations replaced (Redactor.Old)
	Redacted []string        // pointers into this line's members to what was replaced
	Seal     string          // HMAC of the sealed part, "" if nothing is sealed
}

// minRounded is the least size that a line tells.
const minRounded = 1 << 10

// Rounded is a size as a line tells it, so that it does not tell the length of what
// was replaced: 0, or the next power of two that is at least 1024.
func Rounded(size int) int {
	switch {
	case size == 0:
		return 0
	case size <= minRounded:
		return minRounded
	}
	return 1 << bits.Len(uint(size-1))
}

// appendBody writes the members of the line up to and including "prev". The order
// and spelling are fixed: equal records have equal bytes.
func (r *Record) appendBody(dst []byte, prev string) []byte {
	w := line{dst: append(dst, '{')}
	w.uint("seq", r.Seq)
	w.text("time", r.Time.UTC().Format(time.RFC3339Nano))
	w.text("instance", r.Instance)
	w.text("kind", string(r.Kind))
	if r.Seq == 1 {
		w.uint("format", Format)
	}
	w.text("contract", r.Contract)
	w.uint("version", r.Version)
	w.optional("stage", r.Stage)
	w.optional("role", r.Role)
	w.args(r.Args)
	w.optional("phase", r.Phase)
	if r.Base != nil {
		w.uint("base", *r.Base)
	}
	w.optional("key", r.Key)
	w.optional("next", r.Next)
	w.optional("view", r.View)
	w.optional("state", r.State)
	w.raw("patch", r.Patch)
	if r.Kind == Proposal {
		w.uint("size", uint64(r.Size))
	}
	w.optional("digest", r.Digest)
	w.raw("verdict", r.Verdict)
	w.raw("old", r.Old)
	w.list("redacted", r.Redacted)
	w.optional("seal", r.Seal)
	w.text("prev", prev)
	return w.dst
}

// A line appends members to a JSON object.
type line struct {
	dst   []byte
	begun bool
}

func (w *line) name(name string) {
	if w.begun {
		w.dst = append(w.dst, ',')
	}
	w.begun = true
	w.dst = append(w.dst, '"')
	w.dst = append(w.dst, name...)
	w.dst = append(w.dst, '"', ':')
}

func (w *line) uint(name string, n uint64) {
	w.name(name)
	w.dst = strconv.AppendUint(w.dst, n, 10)
}

func (w *line) text(name, s string) {
	w.name(name)
	w.dst = quote(w.dst, s)
}

func (w *line) optional(name, s string) {
	if s != "" {
		w.text(name, s)
	}
}

func (w *line) raw(name string, value json.RawMessage) {
	if len(value) > 0 {
		w.name(name)
		w.dst = append(w.dst, value...)
	}
}

func (w *line) args(args map[string]string) {
	if len(args) == 0 {
		return
	}
	names := make([]string, 0, len(args))
	for name := range args {
		names = append(names, name)
	}
	slices.Sort(names)
	w.name("args")
	w.dst = append(w.dst, '{')
	for i, name := range names {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(quote(w.dst, name), ':')
		w.dst = quote(w.dst, args[name])
	}
	w.dst = append(w.dst, '}')
}

func (w *line) list(name string, all []string) {
	if len(all) == 0 {
		return
	}
	w.name(name)
	for i, s := range all {
		w.dst = append(w.dst, "[,"[min(i, 1)])
		w.dst = quote(w.dst, s)
	}
	w.dst = append(w.dst, ']')
}

// quote appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD, so that
// a line is always JSON.
func quote(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // its only error reports replaced bytes
	return dst
}
