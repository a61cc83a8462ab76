package lean

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// A Log is lines of JSON, each with the hash of the one before: what was proposed, and
// what became of it, with the digests of the states before and after. It is the least that
// a log says which shows that it was not changed; it hides nothing and keeps no old value.
type Log struct {
	Lines [][]byte
	last  [sha256.Size]byte
}

// Commit is State.Commit, and records it.
func (l *Log) Commit(s *State, patch []byte, a, b string, money bool) (*State, error) {
	next, err := s.Commit(patch, a, b, money)
	if err != nil {
		return nil, err
	}
	line := l.begin("proposal", 256+len(patch))
	line = appendText(append(line, `,"args":{"a":`...), a)
	line = appendText(append(line, `,"b":`...), b)
	line = append(append(line, `},"patch":`...), patch...)
	l.end(line)
	line = append(l.begin("decision", 512), `,"verdict":"commit"`...)
	line = appendHash(append(line, `,"before":`...), s.root.hash())
	line = appendHash(append(line, `,"after":`...), next.root.hash())
	l.end(line)
	return next, nil
}

func (l *Log) begin(kind string, size int) []byte {
	line := append(make([]byte, 0, size), `{"seq":`...)
	line = strconv.AppendInt(line, int64(len(l.Lines)+1), 10)
	return appendText(append(line, `,"kind":`...), kind)
}

func (l *Log) end(line []byte) {
	line = append(appendHash(append(line, `,"prev":`...), l.last), '}')
	l.last = sha256.Sum256(line)
	l.Lines = append(l.Lines, line)
}

func appendHash(out []byte, hash [sha256.Size]byte) []byte {
	return append(hex.AppendEncode(append(out, '"'), hash[:]), '"')
}

// hash is the digest of a value. Containers remember theirs.
func (v *value) hash() [sha256.Size]byte {
	var none [sha256.Size]byte
	if v.digest != none {
		return v.digest
	}
	var room [1024]byte
	text := append(room[:0], byte(v.kind))
	text = append(text, v.text...)
	for i, item := range v.items {
		if v.names != nil {
			text = appendText(text, v.names[i])
		}
		digest := item.hash()
		text = append(text, digest[:]...)
	}
	digest := sha256.Sum256(text)
	if v.items != nil {
		v.digest = digest
	}
	return digest
}
