package runtime

import (
	"encoding/json"
	"errors"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime/store"
)

// What a record seals depends on its kind. Of a proposal it is the patch, byte for
// byte, if it is kept (see Instance.kept), and of the first record a founding. A view and a decision seal a private,
// if there is anything in it.

// A private is what the line of a view or of a decision leaves out.
type private struct {
	Args     map[string]string    `json:"args,omitempty"`     // those of the view or proposal, if the line replaces some
	Operator *verify.Verdict      `json:"operator,omitempty"` // of a keyed proposal, to be answered again
	Actor    *verify.ActorVerdict `json:"actor,omitempty"`    // likewise
}

// seal makes the sealed part, nil if there is nothing to seal.
func (p *private) seal() ([]byte, error) {
	if p.Args == nil && p.Operator == nil && p.Actor == nil {
		return nil, nil
	}
	return json.Marshal(p)
}

func readPrivate(sealed []byte) (p private, err error) {
	if len(sealed) == 0 {
		return p, nil
	}
	if json.Unmarshal(sealed, &p) != nil {
		return p, errors.New("its sealed part cannot be read")
	}
	return p, nil
}

// hiddenArgs are args if the line's record had to replace some, else nil.
func hiddenArgs(r *trace.Record, args map[string]string) map[string]string {
	if len(r.Redacted) == 0 {
		return nil
	}
	return args
}

// storedVerdict is the verdict that the decision of a keyed proposal seals.
func storedVerdict(r store.Record) (*Verdict, error) {
	p, err := readPrivate(r.Sealed)
	if err != nil {
		return nil, err
	}
	if p.Operator == nil || p.Actor == nil {
		return nil, errors.New("it seals no verdict")
	}
	actor := *p.Actor
	return &Verdict{OperatorVerdict: *p.Operator, actor: func() ActorVerdict { return actor }}, nil
}

// asks is what a proposal's record means to a ledger.
func (l *line) asks(r store.Record) *asked {
	patch := l.Digest
	if patch == "" { // the patch is sealed, and the seal is its digest
		patch = l.Seal
	}
	tooLong := patch == "" && l.Size > 0
	return &asked{
		step: stepOf(l.Stage, l.Role, l.Args), print: fingerprint{l.Next, patch, tooLong}, kept: len(r.Sealed),
		key: l.Key, seq: r.Seq,
	}
}

// checkAlone checks a record without those before it: its hash, its seal and its
// number.
func (in *Instance) checkAlone(r store.Record) error {
	l, ok := readLine(r.Line)
	if !ok {
		return &CorruptLogError{in.id, r.Seq, "its line cannot be read"}
	}
	before := trace.Head{Instance: in.id, Seq: r.Seq - 1, Hash: l.Prev}
	if _, _, err := trace.CheckRecord(before, in.key, r.Line, r.Sealed); err != nil {
		return corruptLog(in.id, err)
	}
	return nil
}
