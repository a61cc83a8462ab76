package trace

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// Origin is the "prev" of every chain's first line.
const Origin = "sha256:0000000000000000000000000000000000000000000000000000000000000000"

// A Head identifies a chain up to one of its lines.
type Head struct {
	Instance string
	Seq      uint64 // of the line; 0 before the first
	Hash     string // of the line; Origin before the first
}

// Start is the head of an instance's empty chain.
func Start(instance string) Head { return Head{Instance: instance, Hash: Origin} }

// End is how the line ends that the chain ends with, nil where there is none.
func (h Head) End() []byte {
	if h.Seq == 0 {
		return nil
	}
	return []byte(h.Hash + `"}`)
}

const (
	hashMember = `,"hash":"`
	prevMember = `,"prev":"`
	hashLength = len(Origin)
)

var errKeySize = fmt.Errorf("a trace key has %d bytes", KeySize)

// Seal writes r as the line after h, without line break, and returns it with the
// head it makes. What r says of its place in the chain is set: Seq, Instance, Prev and Hash,
// and Format of the first. The caller owns the line.
func (h Head) Seal(r *Record) ([]byte, Head) {
	r.Seq, r.Instance, r.Prev, r.Hash = h.Seq+1, h.Instance, h.Hash, ""
	if r.Seq == 1 {
		r.Format = Format
	}
	body := r.append(make([]byte, 0, 768+len(r.Patch)+len(r.Verdict)+len(r.Old)))
	body = ir.Plain(body) // an auditor reads lines on a screen
	r.Hash = hashOf(body)
	next := Head{Instance: h.Instance, Seq: r.Seq, Hash: r.Hash}
	line := append(body[:len(body)-1], hashMember...)
	line = append(line, next.Hash...)
	return append(line, '"', '}'), next
}

func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	var text [len("sha256:") + 2*sha256.Size]byte
	copy(text[:], "sha256:")
	hex.Encode(text[len("sha256:"):], sum[:])
	return string(text[:])
}

// The reasons why a line does not continue a chain, as BrokenError.Reason gives
// them.
const (
	notALine      = "this is not a line of a trace"
	notARecord    = "it is no record: a member is of another kind, or its time is none"
	hashDiffers   = "the line was changed: its hash is another"
	prevDiffers   = "the line does not follow the one before: lines were changed, removed, repeated or moved"
	foreign       = "the line belongs to another instance"
	nameless      = "the line names no instance"
	sealedChanged = "the sealed part was changed: its seal is another"

	// The others are of lines that hold, and lie wrong.
	Undecided      = "it asks for a decision, and none follows"
	DecidesNothing = "it decides nothing"
	beginsAgain    = "it begins an instance that has begun"
	beginsNothing  = "the first line does not begin an instance"
	unknownKind    = "its kind is none that a record has"
	noVerdict      = "its verdict is none of its kind, or is missing"
	otherVersion   = "its version is not that of the commits before it"
	otherContract  = "it names another contract than the one in force"
	formatRises    = "it tells a format, and is no decision that raises it"
	cannotWait     = "only a proposal can wait"
	otherPatch     = "it lets another proposal wait than the one before it"
	waitsNot       = "what it withdraws does not wait"
)

// A Pairing checks what lines say of each other, beside the chain: that there is one
// beginning, and it the first line; that every proposal, advance and migration is followed by
// its answer, and the answer has a verdict of its kind; that versions count the commits; that
// the contract in force changes by a committed migration alone, and to the one it asked for;
// and that what is withdrawn waits. The zero Pairing is at the beginning of a log.
type Pairing struct {
	begun    bool
	asks     *Record // that awaits an answer, nil for none
	version  uint64  // commits so far
	contract string  // in force
	format   int     // of the lines
	waiting  map[uint64]bool
}

// Format is the format of the lines that were taken in last.
func (p *Pairing) Format() int { return p.format }

// Next takes in a line, which it keeps until the next. The error is a *BrokenError.
func (p *Pairing) Next(r *Record) error {
	if r.Kind.isKnown() && !r.Kind.Answers() && p.asks != nil {
		return p.End()
	}
	if reason := p.wrongIn(r); reason != "" {
		return &BrokenError{Seq: r.Seq, Reason: reason}
	}
	p.begun, p.version, p.contract, p.asks = true, max(p.version, r.Version), r.Contract, nil
	p.format = max(r.Format, p.format, 1)
	switch {
	case r.Kind.Asks():
		p.asks = r
	case r.Kind == Pending && p.waiting == nil:
		p.waiting = map[uint64]bool{r.Seq: true}
	case r.Kind == Pending:
		p.waiting[r.Seq] = true
	case r.Kind == Withdrawn:
		delete(p.waiting, r.Waits)
	}
	return nil
}

// wrongIn is why a line cannot follow those before it, "" if it can.
func (p *Pairing) wrongIn(r *Record) string {
	switch {
	case !r.Kind.isKnown():
		return unknownKind
	case !p.begun && r.Kind != Create:
		return beginsNothing
	case !p.begun && r.Version != 0:
		return otherVersion
	case !p.begun:
		return ""
	case r.Kind == Create:
		return beginsAgain
	case r.Kind.Answers():
		return p.wrongInAnswer(r)
	case r.Kind == Withdrawn && !p.waiting[r.Waits]:
		return waitsNot
	case r.Contract != p.contract:
		return otherContract
	case r.Format != 0:
		return formatRises
	case r.Version != p.version && !p.mayShowEarlier(r):
		return otherVersion
	}
	return ""
}

// mayShowEarlier reports whether a line shows a state of before, as views of format 1 may.
func (p *Pairing) mayShowEarlier(r *Record) bool {
	return r.Kind == View && p.format == 1 && r.Version < p.version
}

// wrongInAnswer is wrongIn for a decision or a pending.
func (p *Pairing) wrongInAnswer(r *Record) string {
	asks := p.asks
	switch {
	case asks == nil:
		return DecidesNothing
	case r.Kind == Pending && asks.Kind != Proposal:
		return cannotWait
	case r.Kind == Pending && asks.Digest != r.Digest:
		return otherPatch
	}
	v, ok := r.told()
	if !ok {
		return noVerdict
	}
	committed := v.Verdict == commits
	migrated := committed && asks.Kind == Migrate
	contract, version := p.contract, p.version
	if migrated {
		contract = asks.To
	}
	if committed {
		version++
	}
	switch {
	case r.Contract != contract:
		return otherContract
	case r.Format != 0 && (!migrated || r.Format <= p.format):
		return formatRises
	case r.Version != version || v.Before != p.version || v.After != version:
		return otherVersion
	}
	return ""
}

// A told is what an answer's verdict says that other lines say too.
type told struct {
	Verdict string `json:"verdict"`
	Before  uint64 `json:"version_before"`
	After   uint64 `json:"version_after"`
}

// The verdicts of answers, as they are spelled in every format.
const (
	commits = "commit"
	waits   = "pending"
)

// told reads an answer's verdict. ok says that it is one of the answer's kind.
func (r *Record) told() (v told, ok bool) {
	if json.Unmarshal(r.Verdict, &v) != nil {
		return v, false
	}
	if r.Kind == Pending {
		return v, v.Verdict == waits
	}
	return v, v.Verdict == commits || v.Verdict == "noop" || v.Verdict == "reject"
}

// End says what is wrong with a log that ends here, nil if nothing is.
func (p *Pairing) End() error {
	if p.asks == nil {
		return nil
	}
	return &BrokenError{Seq: p.asks.Seq, Reason: Undecided}
}

// A BrokenError says where a chain breaks first.
type BrokenError struct {
	Line   int    // counted from 1; 0 where there are no lines to count
	Seq    uint64 // the number that the chain expects there
	Reason string
}

// Error names the place and the reason, nothing of what the line holds.
func (e *BrokenError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("record %d: %s", e.Seq, e.Reason)
	}
	return fmt.Sprintf("line %d (record %d expected): %s", e.Line, e.Seq, e.Reason)
}

// A FormatError says that a log is of a newer format than this program reads.
type FormatError struct{ Have int }

// Error names both formats.
func (e *FormatError) Error() string {
	return fmt.Sprintf("written in format %d, this version reads %d", e.Have, Format)
}

// CheckFormat refuses the number that a log or snapshot tells as its format, 0 for none, if
// it is newer than this program. The error is a *FormatError.
func CheckFormat(told int) error {
	if told > Format {
		return &FormatError{told}
	}
	return nil
}

// Next checks that line continues h and returns the head it makes. The error is a
// *BrokenError, or a *FormatError of a line that holds. A head without instance takes the line's.
func (h Head) Next(line []byte) (Head, error) {
	next, _, err := h.next(line)
	return next, err
}

// CheckRecord is Next for one record of a log: it also checks that the sealed part
// is the one the line was written with, and returns what the line says. The errors are
// those of Next.
func CheckRecord(h Head, key *Key, line, sealed []byte) (Head, *Record, error) {
	next, r, err := h.next(line)
	if err != nil {
		return h, nil, err
	}
	if !hmac.Equal([]byte(r.Seal), []byte(key.Seal(sealed))) {
		return h, nil, h.broken(sealedChanged)
	}
	return next, r, nil
}

func (h Head) next(line []byte) (Head, *Record, error) {
	body, hash, prev, ok := cut(line)
	if !ok {
		return h, nil, h.broken(notALine)
	}
	if hashOf(body) != hash {
		return h, nil, h.broken(hashDiffers)
	}
	r, err := ReadRecord(line)
	switch {
	case r == nil:
		return h, nil, h.broken(notALine)
	case prev != h.Hash || r.Seq != h.Seq+1:
		return h, nil, h.broken(prevDiffers)
	case r.Instance == "":
		return h, nil, h.broken(nameless)
	case h.Instance != "" && r.Instance != h.Instance:
		return h, nil, h.broken(foreign)
	}
	if err := CheckFormat(r.Format); err != nil { // it may have members of other kinds
		return h, nil, err
	}
	if err != nil {
		return h, nil, h.broken(notARecord)
	}
	return Head{Instance: r.Instance, Seq: r.Seq, Hash: hash}, r, nil
}

func (h Head) broken(reason string) error { return &BrokenError{Seq: h.Seq + 1, Reason: reason} }

// cut splits a line into the bytes its hash covers, the hash, and "prev".
func cut(line []byte) (body []byte, hash, prev string, ok bool) {
	tail := len(hashMember) + hashLength + len(`"}`)
	if len(line) < 2*tail {
		return nil, "", "", false
	}
	front, back := line[:len(line)-tail], string(line[len(line)-tail:])
	hash, found := strings.CutPrefix(strings.TrimSuffix(back, `"}`), hashMember)
	if !found || len(hash) != hashLength || !strings.HasSuffix(back, `"}`) {
		return nil, "", "", false
	}
	at := bytes.LastIndex(front, []byte(prevMember))
	if at < 0 || len(front) != at+len(prevMember)+hashLength+1 {
		return nil, "", "", false
	}
	prev = string(front[at+len(prevMember) : len(front)-1])
	return append(bytes.Clone(front), '}'), hash, prev, true
}

// Verify reads a trace, one line after the other, and checks its chain and what its lines
// say of each other (Pairing). The head
// it returns is that of the last line that holds; compare it with one known from
// elsewhere to notice lines missing at the end. The error is a *BrokenError that
// names the first broken line, a *FormatError, or what reading reported. An empty trace holds.
// Memory is that of the longest line, which has MaxLine bytes at most.
func Verify(r io.Reader) (Head, error) {
	return Scan(r, func([]byte) error { return nil })
}

// Scan is Verify that gives each line that holds to each, without its line break.
// The line is each's only until it returns; its error ends the reading.
func Scan(r io.Reader, each func(line []byte) error) (Head, error) {
	head := Start("")
	var pairing Pairing
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := readLine(in, MaxLine)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return head, at(number-1, pairing.End())
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return head, err
		}
		next, r, err := checkLine(head, line)
		if err == nil {
			err = pairing.Next(r)
		}
		if err != nil {
			return head, at(number, err)
		}
		head = next
		if err := each(line[:len(line)-1]); err != nil {
			return head, err
		}
	}
}

// MaxLine is how long a line of a trace may be. Patches, what they replace and verdicts are
// all limited: no line that is written comes near it.
const MaxLine = 256 << 20

// readLine reads up to a line break, and no further than there can still be a line: what
// does not begin as one, or is longer than most, is cut off.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if line[0] != '{' || len(line) > most {
			return line, nil
		}
	}
}

// checkLine insists on the line break: a trace that ends within a line was cut.
func checkLine(head Head, line []byte) (Head, *Record, error) {
	if line[len(line)-1] != '\n' {
		return head, nil, head.broken(notALine)
	}
	return head.next(line[:len(line)-1])
}

func at(number int, err error) error {
	var broken *BrokenError
	if errors.As(err, &broken) {
		broken.Line = number
	}
	return err
}

// Write writes the lines of a log as a trace. It stops at the first error of lines
// or of w.
func Write(w io.Writer, lines iter.Seq2[[]byte, error]) error {
	out := bufio.NewWriter(w)
	for line, err := range lines {
		if err != nil {
			return err
		}
		out.Write(line)
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return out.Flush()
}
