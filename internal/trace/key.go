package trace

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"sync"
	"sync/atomic"

	"github.com/patchoptic/poptic/internal/tree"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// macPrefix begins the text form of every keyed digest.
const macPrefix = "hmac-sha256:"

// A Key makes an instance's keyed digests. It is safe for concurrent use and as
// sensitive as the state: with it, guesses at secret values can be tested.
type Key struct {
	secret [KeySize]byte
	macs   sync.Pool // of *keyed
	names  [16]atomic.Pointer[name]
}

// A name is how a state or view was named that has a digest: it is likely to be named again,
// as the state before the next commit, or when the view is shown again.
type name struct {
	use          byte
	digest, text string
}

// A keyed makes digests, one after the other.
type keyed struct {
	mac  hash.Hash
	head [1]byte
	sum  [sha256.Size]byte
	text [len(macPrefix) + 2*sha256.Size]byte
}

// NewKey draws a key from random.
func NewKey(random io.Reader) (*Key, error) {
	secret := make([]byte, KeySize)
	if _, err := io.ReadFull(random, secret); err != nil {
		return nil, err
	}
	return KeyOf(secret)
}

// KeyOf makes the key with the given bytes, which must be KeySize many.
func KeyOf(secret []byte) (*Key, error) {
	if len(secret) != KeySize {
		return nil, errKeySize
	}
	k := &Key{secret: [KeySize]byte(secret)}
	k.macs.New = func() any { return &keyed{mac: hmac.New(sha256.New, k.secret[:])} }
	return k, nil
}

// Bytes returns a copy of the key's bytes, for the sealed part of the log.
func (k *Key) Bytes() []byte { return append([]byte(nil), k.secret[:]...) }

// What a keyed digest is about; digests of different uses never compare equal.
const (
	useValue = 'v' // a value, a name or a text that is not shown
	useSeal  = 's' // the sealed part of a record
	useState = 't' // a state
	useView  = 'w' // a view
	useCache = 'c' // a snapshot
	usePatch = 'p' // a patch as it reads
	useBytes = 'b' // a patch that does not read
)

// digest is the text form of the HMAC of data under its use.
func (k *Key) digest(use byte, data []byte) string {
	m := k.macs.Get().(*keyed)
	defer k.macs.Put(m)
	m.mac.Reset()
	m.head[0] = use
	m.mac.Write(m.head[:])
	m.mac.Write(data)
	copy(m.text[:], macPrefix)
	hex.Encode(m.text[len(macPrefix):], m.mac.Sum(m.sum[:0]))
	return string(m.text[:])
}

// State is how a line names a state of which digest is the hash. Whoever has not the
// key cannot find out whether a state that he guesses is the one.
func (k *Key) State(digest string) string { return k.name(useState, digest) }

// View is State for a view.
func (k *Key) View(digest string) string { return k.name(useView, digest) }

func (k *Key) name(use byte, digest string) string {
	slot := &k.names[0]
	if len(digest) > 0 {
		slot = &k.names[int(digest[len(digest)-1])%len(k.names)]
	}
	if known := slot.Load(); known != nil && known.use == use && known.digest == digest {
		return known.text
	}
	made := &name{use, digest, k.digest(use, []byte(digest))}
	slot.Store(made)
	return made.text
}

// Snapshot is the keyed digest that shows that a snapshot is as it was written.
func (k *Key) Snapshot(data []byte) string { return k.digest(useCache, data) }

// Seal binds a record's sealed part to its line; "" for none.
func (k *Key) Seal(sealed []byte) string {
	if len(sealed) == 0 {
		return ""
	}
	return k.digest(useSeal, sealed)
}

// Patch identifies a patch as it reads, with the phase that its author names: two have
// the same digest exactly if they have the same operations in the same order, with the
// same tokens and equal values (tree.Equal), and the same phase. How they were spelled plays no part. It
// costs what the patch is long.
func (k *Key) Patch(patch tree.Patch, next string) string {
	const usual = 128 // bytes of an operation
	text := make([]byte, 0, usual*(1+len(patch)))
	text = appendText(text, next)
	for i := range patch {
		op := &patch[i]
		text = appendText(text, string(op.Kind)) // which tells what else there is
		text = appendPointer(text, op.Path)
		if op.Kind.HasFrom() {
			text = appendPointer(text, op.From)
		}
		if op.Kind.HasValue() {
			digest := op.Value.Digest()
			text = append(text, digest[:]...)
		}
	}
	return k.digest(usePatch, text)
}

func appendPointer(dst []byte, p tree.Pointer) []byte {
	dst = binary.BigEndian.AppendUint64(dst, uint64(len(p)))
	for _, token := range p {
		dst = appendText(dst, token)
	}
	return dst
}

func appendText(dst []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint64(dst, uint64(len(text))), text...)
}

// Unread is Patch for one that does not read, by its bytes: it equals no patch that does.
func (k *Key) Unread(patch []byte) string { return k.digest(useBytes, patch) }
