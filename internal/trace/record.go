package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/bits"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is what a record records.
type Kind string

// The kinds of records. A decision answers the record directly before it, which asks for
// one, and is appended together with it; instead of one, a proposal may have a pending
// behind it.
const (
	Create    Kind = "create"    // the instance began, with the sealed initial state
	View      Kind = "view"      // an actor was shown a view, or refused one
	Proposal  Kind = "proposal"  // asks: an actor proposed a patch
	Advance   Kind = "advance"   // asks: the host wants another phase
	Migrate   Kind = "migrate"   // asks: the host wants another contract
	Decision  Kind = "decision"  // the verdict; one of "commit" is the commit
	Pending   Kind = "pending"   // the proposal waits for somebody's leave; nothing is committed
	Withdrawn Kind = "withdrawn" // a proposal that waited does not any more
)

// Asks reports whether a record asks for a decision.
func (k Kind) Asks() bool { return k == Proposal || k == Advance || k == Migrate }

// Answers reports whether a record decides what the one before it asks.
func (k Kind) Answers() bool { return k == Decision || k == Pending }

// isKnown reports whether this is a kind that a record has.
func (k Kind) isKnown() bool {
	return k == Create || k == View || k == Withdrawn || k.Asks() || k.Answers()
}

// Format is the number of the format of logs: of their lines and sealed parts, of
// snapshots, and of the digests of states. Whatever makes one of them come out otherwise
// raises it.
// A log's first line tells its format; one without is of format 1. The decision of a
// migration tells it where it rises. Every format has that member there, and the chain is made
// alike in all of them.
const Format = 2

// A Record is the readable part of one entry of the log: what its line says. Members that
// do not apply to its kind are empty and left out of the line.
type Record struct {
	Seq      uint64    // position in the log, from 1
	Time     time.Time // from the engine's clock; written in UTC
	Instance string
	Kind     Kind
	Format   int    // the first: of the log; 0 in all others but where it rises
	Contract string // digest of the compiled contract in force
	Version  uint64 // commits up to and including this record; of a view, those it shows

	Stage     string
	Role      string
	Principal Principal         // who acts: all but answers
	Labels    map[string]string // create: what the host calls the instance by
	Args      map[string]string // with secret ones replaced
	Phase     string            // create, view: the phase; advance, migrate: the phase asked for
	To        string            // migrate: digest of the contract asked for
	Base      *uint64           // proposal: the version its author saw
	Key       string            // proposal: the host's idempotency key
	Next      string            // proposal: the phase the host named

	View     string          // view: keyed digest of what was shown (Key.View)
	State    string          // create: keyed digest of the initial state (Key.State)
	Patch    json.RawMessage // proposal: the operations, with secrets replaced; nil if they are not shown
	Size     int             // proposal, migrate: bytes of the patch as it arrived, rounded (Rounded)
	Digest   string          // proposal, pending, migrate: keyed digest of the patch (Key.Patch)
	Waits    uint64          // withdrawn: the number of the pending
	Reason   string          // withdrawn: why, in the host's words
	Expires  time.Time       // pending: when it ends to wait; zero for never
	Verdict  json.RawMessage // decision, pending, refused view: the operator's rendering
	Old      json.RawMessage // decision of a commit: what the operations replaced (Redactor.Old)
	Redacted []string        // pointers into this line's members to what was replaced
	Seal     string          // HMAC of the sealed part, "" if nothing is sealed
	Prev     string          // hash of the line before, Origin for the first
	Hash     string          // of the line
}

// A Principal is who acts, as the host knows it; a role says what for.
type Principal struct {
	Subject  string `json:"subject"`   // the person or program
	Token    string `json:"token"`     // the name of what it showed to prove that
	OnBehalf string `json:"on_behalf"` // whom it acts for
}

// A member is a member of a line, with the field of a record that it holds.
type member struct {
	name   string
	field  any  // a pointer to it
	always bool // it is written though it is empty
}

// members are the members of r's line in their order. Who writes a line and who reads one
// goes by this list, so that both know the same.
func (r *Record) members() [31]member {
	return [...]member{
		{"seq", &r.Seq, true},
		{"time", &r.Time, true},
		{"instance", &r.Instance, true},
		{"kind", (*string)(&r.Kind), true},
		{"format", &r.Format, false},
		{"contract", &r.Contract, true},
		{"version", &r.Version, true},
		{"stage", &r.Stage, false},
		{"role", &r.Role, false},
		{"principal", &r.Principal, false},
		{"labels", &r.Labels, false},
		{"args", &r.Args, false},
		{"phase", &r.Phase, false},
		{"to", &r.To, false},
		{"base", &r.Base, false},
		{"key", &r.Key, false},
		{"next", &r.Next, false},
		{"view", &r.View, false},
		{"state", &r.State, false},
		{"patch", &r.Patch, false},
		{"size", &r.Size, r.Kind == Proposal},
		{"digest", &r.Digest, false},
		{"pending", &r.Waits, false},
		{"reason", &r.Reason, false},
		{"expires", &r.Expires, false},
		{"verdict", &r.Verdict, false},
		{"old", &r.Old, false},
		{"redacted", &r.Redacted, false},
		{"seal", &r.Seal, false},
		{"prev", &r.Prev, true},
		{"hash", &r.Hash, false},
	}
}

// append writes r's line: equal records have equal bytes.
func (r *Record) append(dst []byte) []byte {
	before := byte('{')
	for _, m := range r.members() {
		if m.always || !isEmpty(m.field) {
			dst = append(append(append(dst, before, '"'), m.name...), '"', ':')
			dst = appendField(dst, m.field)
			before = ','
		}
	}
	return append(dst, '}')
}

func isEmpty(field any) bool {
	switch f := field.(type) {
	case *uint64:
		return *f == 0
	case *int:
		return *f == 0
	case **uint64:
		return *f == nil
	case *string:
		return *f == ""
	case *time.Time:
		return f.IsZero()
	case *Principal:
		return *f == Principal{}
	case *map[string]string:
		return len(*f) == 0
	case *[]string:
		return len(*f) == 0
	}
	return len(*field.(*json.RawMessage)) == 0
}

func appendField(dst []byte, field any) []byte {
	switch f := field.(type) {
	case *uint64:
		return strconv.AppendUint(dst, *f, 10)
	case *int:
		return strconv.AppendInt(dst, int64(*f), 10)
	case **uint64:
		return strconv.AppendUint(dst, **f, 10)
	case *string:
		return quote(dst, *f)
	case *time.Time:
		return append(f.UTC().AppendFormat(append(dst, '"'), time.RFC3339Nano), '"')
	case *Principal:
		before := byte('{')
		for _, m := range [...][2]string{{"subject", f.Subject}, {"token", f.Token}, {"on_behalf", f.OnBehalf}} {
			if m[1] != "" {
				dst = append(append(append(dst, before, '"'), m[0]...), '"', ':')
				dst, before = quote(dst, m[1]), ','
			}
		}
		return append(dst, '}')
	case *map[string]string:
		before := byte('{')
		names := make([]string, 0, 8)
		for name := range *f {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			dst = append(quote(append(dst, before), name), ':')
			dst, before = quote(dst, (*f)[name]), ','
		}
		return append(dst, '}')
	case *[]string:
		for i, s := range *f {
			dst = quote(append(dst, "[,"[min(i, 1)]), s)
		}
		return append(dst, ']')
	}
	return append(dst, *field.(*json.RawMessage)...)
}

// ReadRecord reads a line, as it is or with a line break, whatever chain it belongs to.
// Members that no record has are passed over. The error is errNoLine if this is no JSON
// object, and errNoRecord if a member is of another kind; then r is what the others say.
func ReadRecord(line []byte) (r *Record, err error) {
	r = &Record{}
	members := r.members()
	in := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if first, err := in.ReadToken(); err != nil || first.Kind() != '{' {
		return nil, errNoLine
	}
	for in.PeekKind() == '"' {
		token, err1 := in.ReadToken()
		name := token.String()
		value, err2 := in.ReadValue()
		if err1 != nil || err2 != nil {
			return nil, errNoLine
		}
		i := slices.IndexFunc(members[:], func(m member) bool { return m.name == name })
		if i >= 0 && readField(value, members[i].field) != nil {
			err = errNoRecord
		}
	}
	if _, end := in.ReadToken(); end != nil {
		return nil, errNoLine
	}
	if _, more := in.ReadToken(); more != io.EOF {
		return nil, errNoLine
	}
	return r, err
}

func readField(value []byte, field any) error {
	if text, ok := field.(*string); ok && value[0] == '"' && bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) { // as nearly all are
		*text = string(value[1 : len(value)-1])
		return nil
	}
	return json.Unmarshal(value, field)
}

var (
	errNoLine   = errors.New(notALine)
	errNoRecord = errors.New(notARecord)
)

// quote appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD, so that
// a line is always JSON.
func quote(dst []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	dst, _ = jsontext.AppendQuote(dst, s) // its only error reports replaced bytes
	return dst
}

// isPlain reports whether nothing in s is escaped or repaired, as in nearly all texts.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
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
