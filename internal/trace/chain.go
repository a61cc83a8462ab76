package trace

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
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

const (
	hashMember = `,"hash":"`
	prevMember = `,"prev":"`
	hashLength = len(Origin)
)

var errKeySize = fmt.Errorf("a trace key has %d bytes", KeySize)

// Seal writes r as the line after h, without line break, and returns it with the
// head it makes. r's Seq and Instance are set from h. The caller owns the line.
func (h Head) Seal(r *Record) ([]byte, Head) {
	r.Seq, r.Instance = h.Seq+1, h.Instance
	body := append(r.appendBody(make([]byte, 0, 768+len(r.Patch)+len(r.Verdict)+len(r.Old)), h.Hash), '}')
	body = ir.Plain(body) // an auditor reads lines on a screen
	next := Head{Instance: h.Instance, Seq: r.Seq, Hash: hashOf(body)}
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
	hashDiffers   = "the line was changed: its hash is another"
	prevDiffers   = "the line does not follow the one before: lines were changed, removed, repeated or moved"
	foreign       = "the line belongs to another instance"
	nameless      = "the line names no instance"
	sealedChanged = "the sealed part was changed: its seal is another"

	// Undecided and DecidesNothing are of lines that hold, and lie wrong.
	Undecided      = "it asks for a decision, and none follows"
	DecidesNothing = "it decides nothing"
)

// A Pairing checks that every proposal and every advance is followed by its decision.
// The zero Pairing is at the beginning of a log.
type Pairing struct{ asked uint64 }

// Next takes in the line numbered seq. The error is a *BrokenError.
func (p *Pairing) Next(kind Kind, seq uint64) error {
	switch decision := kind == Decision; {
	case decision && p.asked == 0:
		return &BrokenError{Seq: seq, Reason: DecidesNothing}
	case !decision && p.asked > 0:
		return p.End()
	}
	p.asked = 0
	if kind == Proposal || kind == Advance {
		p.asked = seq
	}
	return nil
}

// End says what is wrong with a log that ends here, nil if nothing is.
func (p *Pairing) End() error {
	if p.asked == 0 {
		return nil
	}
	return &BrokenError{Seq: p.asked, Reason: Undecided}
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

// A FormatError says that a log is of another format than the one this program reads.
type FormatError struct{ Have int }

// Error names both formats.
func (e *FormatError) Error() string {
	return fmt.Sprintf("written in format %d, this version reads %d", e.Have, Format)
}

// CheckFormat refuses the number that a log or snapshot tells as its format, 0 for none.
// The error is a *FormatError.
func CheckFormat(told int) error {
	if told = max(told, 1); told != Format {
		return &FormatError{told}
	}
	return nil
}

// Next checks that line continues h and returns the head it makes. The error is a
// *BrokenError, or a *FormatError of a first line that holds. A head without instance takes the line's.
func (h Head) Next(line []byte) (Head, error) {
	next, _, err := h.next(line)
	return next, err
}

// CheckRecord is Next for one record of a log: it also checks that the sealed part
// is the one the line was written with. The errors are those of Next.
func CheckRecord(h Head, key *Key, line, sealed []byte) (Head, error) {
	next, l, err := h.next(line)
	if err != nil {
		return h, err
	}
	if !hmac.Equal([]byte(l.Seal), []byte(key.Seal(sealed))) {
		return h, h.broken(sealedChanged)
	}
	return next, nil
}

// linked is what a chain looks at in a line.
type linked struct {
	Seq      uint64 `json:"seq"`
	Instance string `json:"instance"`
	Kind     Kind   `json:"kind"`
	Format   int    `json:"format"`
	Seal     string `json:"seal"`
}

func (h Head) next(line []byte) (next Head, l linked, err error) {
	body, hash, prev, ok := cut(line)
	if !ok {
		return h, l, h.broken(notALine)
	}
	if hashOf(body) != hash {
		return h, l, h.broken(hashDiffers)
	}
	if json.Unmarshal(body, &l) != nil {
		return h, l, h.broken(notALine)
	}
	if prev != h.Hash || l.Seq != h.Seq+1 {
		return h, l, h.broken(prevDiffers)
	}
	if l.Instance == "" {
		return h, l, h.broken(nameless)
	}
	if h.Instance != "" && l.Instance != h.Instance {
		return h, l, h.broken(foreign)
	}
	if l.Seq == 1 {
		if err := CheckFormat(l.Format); err != nil {
			return h, l, err
		}
	}
	return Head{Instance: l.Instance, Seq: l.Seq, Hash: hash}, l, nil
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
