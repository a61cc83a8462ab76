// Package certificate holds the proofs of a contract's claims in a form that a
// small program can check, independent of the one that proved them.
//
// A Certificate names the contract it is about by its digest and lists every
// delegation, every pair of stages that commutes, and every claim, each with its
// evidence: one short reason for every two patterns that must not meet. Check works
// out for itself which patterns those are, from the contract, and verifies each
// reason on the two patterns alone. It searches nothing and decides nothing: what
// proves claims (internal/region's automata and internal/footprint) is not used here, so a
// mistake there does not go unnoticed.
//
// Independent of each other are the checker and the prover. The issuer is the checker in
// search mode: it takes the checker's own walk through the statements, and writes down for
// each two patterns the first reason that the checker will accept. So a statement that the
// checker forgets to ask for is one that no certificate has; against that stand forged
// certificates, one for every check. spec/certificates.md is the format, and says what
// the checker takes on trust (section 1).
//
// Entry points: Issue to write, Decode to look, Check to verify. The files of the
// checker, top down: check.go (the entries of a certificate, and claims), pair.go,
// within.go and flow.go (what has to be shown for what), rule.go (whether one stage has the
// rules of another), effect.go (what stages touch and rules read), reason.go (why two
// patterns share no path). issue.go is what only the issuer does: it picks the pairs, and
// finds the lists that claims come with.
package certificate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// Format is the version of the certificates that this package reads and writes.
const Format = 1

// A Certificate is the proof of a contract's claims.
type Certificate struct {
	Format    int        `json:"format"`
	Contract  string     `json:"contract"` // digest of the contract
	Delegates []Delegate `json:"delegates,omitempty"`
	Pairs     []Pair     `json:"pairs,omitempty"`
	Claims    []Claim    `json:"claims,omitempty"`
	Digest    string     `json:"digest"` // of everything above
}

// A Delegate says that a delegated stage stays within the stage it comes from.
type Delegate struct {
	Stage       string     `json:"stage"`
	From        string     `json:"from"`
	Evidence    []Argument `json:"evidence,omitempty"`
	Uncertified string     `json:"uncertified,omitempty"` // why there is no evidence
}

// A Pair says that two stages, or two runs of one, commute in every phase they
// share unless all equalities of some term hold. Without terms they always do.
type Pair struct {
	A        string     `json:"a"`
	B        string     `json:"b"`
	Unless   []Term     `json:"unless,omitempty"`
	Evidence []Argument `json:"evidence,omitempty"`
}

// A Term is a list of equalities between parameters of the two runs.
type Term []Equality

// An Equality is two parameters as PARAMETER of run A and B: "A.ticket", "B.id".
type Equality [2]string

// A Claim is a claim of the contract with its evidence. A commutation has none of
// its own: it rests on Pairs.
type Claim struct {
	Claim       ir.Claim   `json:"claim"`
	Reached     []Reached  `json:"reached,omitempty"` // of no flow: where information of the origin may get
	Matches     []Match    `json:"matches,omitempty"` // of within: which stage may run in place of which
	Phases      []string   `json:"phases,omitempty"`  // of before: the phases reached without passing the other
	Known       ir.Known   `json:"known,omitzero"`    // on what grounds
	Evidence    []Argument `json:"evidence,omitempty"`
	Uncertified string     `json:"uncertified,omitempty"` // why there is no evidence
}

// An Argument is the reasons for one statement: Because has one word for every two
// patterns, in the order in which the contract has them (spec/certificates.md,
// "Reasons").
type Argument struct {
	About   string `json:"about"`
	Because string `json:"because"`
}

// Seal gives the bytes of a certificate, digest included.
func Seal(c Certificate) []byte {
	c.Format, c.Digest = Format, ""
	c.Digest = digest(encode(c))
	return encode(c)
}

// Decode reads a sealed certificate. It accepts the bytes that Seal writes and no
// others.
func Decode(data []byte) (*Certificate, error) {
	var c Certificate
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf("this is no certificate: %w", err)
	}
	if c.Format != Format {
		return nil, fmt.Errorf("the certificate has format %d; this program reads format %d", c.Format, Format)
	}
	if !bytes.Equal(Seal(c), data) {
		return nil, fmt.Errorf("the certificate was changed after it was written: it is not in canonical form, or its digest does not match")
	}
	return &c, nil
}

// Is reports whether data looks like a certificate, of whatever format and contract.
// It may be damaged.
func Is(data []byte) bool {
	var c struct {
		Format           int
		Contract, Digest string
	}
	return json.Unmarshal(data, &c) == nil && c.Format > 0 && isDigest(c.Contract) && isDigest(c.Digest)
}

func isDigest(text string) bool { return strings.HasPrefix(text, digestPrefix) }

func encode(c Certificate) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(c); err != nil {
		panic("certificate: plain data always encodes: " + err.Error())
	}
	return ir.Plain(b.Bytes())
}

const digestPrefix = "sha256:"

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return digestPrefix + hex.EncodeToString(sum[:])
}
