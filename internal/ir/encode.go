package ir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
)

// Version is the version of the compiled form that this package reads and writes. It rises
// with every change of the bytes that a contract is written as: what is read otherwise, or
// has another digest, is another form. A contract with decimals is of form DecimalVersion,
// the newest: who reads form 2 only does not know what to make of them, and refuses it by
// that number.
const (
	Version        = 2
	DecimalVersion = 3
)

// form is the version of the compiled form that c is written in.
func (c *Contract) form() int {
	for i := range c.Types {
		if c.Types[i].Kind == DecimalType {
			return DecimalVersion
		}
	}
	return Version
}

// magic starts every compiled contract. The first line is
//
//	poptic-contract VERSION sha256:DIGEST
//
// and the rest is the body: one JSON object whose SHA-256 is DIGEST.
const magic = "poptic-contract "

// firstLine is the one spelling of the first line, of whatever version.
var firstLine = regexp.MustCompile(`^` + magic + `([1-9][0-9]{0,8}) (sha256:[0-9a-f]{64})$`)

// CodecError tells why bytes are no compiled contract.
type CodecError struct {
	Code    string // not_compiled, version_unsupported, truncated, digest_mismatch, malformed
	Message string
}

func (e *CodecError) Error() string { return e.Message }

// IsCompiled reports whether data looks like a compiled contract rather than source text.
func IsCompiled(data []byte) bool { return bytes.HasPrefix(data, []byte(magic)) }

// Encode gives the canonical bytes of c: equal contracts give equal bytes.
func Encode(c *Contract) []byte {
	body := encodeBody(c)
	return append(fmt.Appendf(nil, "%s%d %s\n", magic, c.form(), digest(body)), body...)
}

// Digest identifies c: "sha256:" and the hash of its canonical body.
func (c *Contract) Digest() string { return digest(encodeBody(c)) }

// Decode reads what Encode wrote. The error is a *CodecError. The result is whole
// (validate), so that none of its readers needs to check it.
func Decode(data []byte) (*Contract, error) {
	if !IsCompiled(data) {
		return nil, &CodecError{"not_compiled", "this is not a compiled contract: it does not start with \"" + magic + "\""}
	}
	line, body, found := bytes.Cut(data, []byte("\n"))
	if !found {
		return nil, &CodecError{"truncated", "the compiled contract is cut off in its first line; build it again"}
	}
	parts := firstLine.FindSubmatch(line)
	if parts == nil {
		return nil, &CodecError{"malformed", "the first line of the compiled contract is damaged; build it again"}
	}
	version, _ := strconv.Atoi(string(parts[1]))
	if version != Version && version != DecimalVersion {
		return nil, &CodecError{"version_unsupported", fmt.Sprintf("the compiled contract is of form %d, this version reads %d and %d; build it again from its source", version, Version, DecimalVersion)}
	}
	if got := digest(body); got != string(parts[2]) {
		return nil, damaged(body)
	}
	var c Contract
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return nil, &CodecError{"malformed", "the compiled contract's body does not have the expected shape; build it again"}
	}
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.form() != version {
		return nil, &CodecError{"malformed", fmt.Sprintf("the compiled contract says that it is of form %d, and what it holds is of form %d; build it again", version, c.form())}
	}
	return &c, nil
}

// damaged tells a body that ends early from one that was changed.
func damaged(body []byte) error {
	if !json.Valid(body) {
		return &CodecError{"truncated", fmt.Sprintf("the compiled contract is cut off or damaged: its body of %d bytes is not whole; build it again", len(body))}
	}
	return &CodecError{"digest_mismatch", "the compiled contract was changed after it was built: its digest does not match; build it again"}
}

func encodeBody(c *Contract) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		panic("ir: a contract is plain data and always encodes: " + err.Error())
	}
	return Plain(b.Bytes())
}

func digest(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:])
}
