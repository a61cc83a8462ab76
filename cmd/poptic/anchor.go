package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/trace"
)

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
