package runtime

import (
	"slices"

	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// Proposals that come late.
//
// An actor works on the view of version u, and when it proposes, the instance may be
// at a later version v. If the view at v is the same as at u, what is proposed can be
// judged and committed at v as it is (spec/semantics.md corollary 7). It is if nothing
// that was written in between meets what the stage sees; so an instance remembers what
// its last commits wrote. Else the two views are compared, as long as the state of u is
// remembered too. All rules are evaluated at v, and so are the parameters: one that is
// taken from the state counts as read, hence it has changed only where that is noticed.
//
// A refusal names places that the stage reads, or that lie on the way to them, and
// nothing else: about commits that it did not see, an actor learns nothing.

// DefaultRecentCommits is how many commits an instance remembers the targets of.
const DefaultRecentCommits = 1024

// maxRecentBytes is about how much memory an instance takes to remember them. Commits
// with many and long paths are remembered for a shorter time.
const maxRecentBytes = 8 << 20

// maxRecentStates is of how many of them it remembers the state before at most.
const maxRecentStates = 64

// A change is what a commit did.
type change struct {
	targets []region.Word    // its effective targets
	moved   bool             // the phase
	size    int              // about how many bytes it takes
	before  *verify.Snapshot // what it was made on, nil if that is forgotten
	apart   int              // about how many bytes that takes beside the state after
}

// changeOf copies what it keeps, in one piece: the words of effects are made of pieces of
// the patch.
func changeOf(effects []tree.Effect, before *verify.Snapshot, phase string) change {
	const head, letter, step = 64, 40, 2048
	c := change{moved: phase != before.Phase, size: head, before: before}
	targets, letters, names := 0, 0, 0
	for i := range effects {
		for _, t := range effects[i].Targets {
			targets, letters = targets+1, letters+len(t)
			for j := range t {
				names += len(t[j].Name)
			}
			c.apart += step * (1 + len(t))
			if was := tree.NodeAt(before.State, t); was != nil {
				c.apart += 2 * was.Size()
			}
		}
	}
	c.size += head*targets + letter*letters + names
	words, text := make(region.Word, 0, letters), make([]byte, 0, names)
	for i := range effects {
		for _, t := range effects[i].Targets {
			words = append(words, t...)
			for j := range t {
				text = append(text, t[j].Name...)
			}
		}
	}
	all := string(text)
	for i := range words {
		n := len(words[i].Name)
		words[i].Name, all = all[:n], all[n:]
	}
	c.targets = make([]region.Word, 0, targets)
	for i := range effects {
		for _, t := range effects[i].Targets {
			c.targets, words = append(c.targets, words[:len(t):len(t)]), words[len(t):]
		}
	}
	return c
}

// recent is the last changes, up to the one that led to a version: as many as the limits
// admit, counted from the last one back. So what is remembered follows from the log and the
// limits alone. An instance that was opened at a snapshot has not read the changes before
// it; they are read when a proposal comes that was made before it.
type recent struct {
	version uint64
	unread  uint64 // up to which version changes were not read that may be remembered; 0 for none
	began   uint64 // the version that the contract came into force with: what was before is another world
	changes []change
	most    int // changes
	bytes   int // that changes may take together
	size    int // that they take
	states  int // of the last changes that the state before is remembered of
	apart   int // bytes that those take
}

// clone copies what changes, so that one may go on without the other.
func (r recent) clone() recent {
	r.changes = slices.Clone(r.changes)
	return r
}

// startAt makes r one of an instance that begins at a version, under a contract that came
// into force with another.
func (r *recent) startAt(version, began uint64) {
	r.version, r.unread, r.began = version, version, began
}

// add notes the change that led to the next version.
func (r *recent) add(c change) {
	r.version++
	r.changes, r.size = append(r.changes, c), r.size+c.size
	r.states, r.apart = r.states+1, r.apart+c.apart
	r.fit()
}

// fit forgets what the limits do not admit, the oldest first. What is before something
// forgotten would be forgotten too.
func (r *recent) fit() {
	for r.states > 0 && (r.states > maxRecentStates || r.apart > r.bytes/2) {
		r.forgetState()
	}
	for len(r.changes) > r.most || r.size > r.bytes {
		if r.states == len(r.changes) {
			r.forgetState()
		}
		r.size -= r.changes[0].size
		r.changes[0], r.changes, r.unread = change{}, r.changes[1:], 0
	}
}

// forgetState forgets the oldest of the states.
func (r *recent) forgetState() {
	oldest := &r.changes[len(r.changes)-r.states]
	r.states, r.apart = r.states-1, r.apart-oldest.apart
	oldest.before = nil
}

// lacks is the version up to which changes have to be read before it can be told what came
// after version base; 0 if nothing has to.
func (r *recent) lacks(base uint64) uint64 {
	if base >= r.unread || base < r.began || r.version-base > uint64(r.most) {
		return 0
	}
	return r.unread
}

// precede puts what was remembered at version r.unread before what r remembers.
func (r *recent) precede(past recent) {
	if past.version != r.unread || r.unread == 0 {
		return // somebody else did
	}
	past = past.clone()
	if r.states == len(r.changes) {
		r.states, r.apart = r.states+past.states, r.apart+past.apart
	} else {
		for past.states > 0 {
			past.forgetState()
		}
	}
	r.changes, r.size, r.unread = slices.Concat(past.changes, r.changes), r.size+past.size, past.unread
	r.fit()
}

// between lists the changes after version base up to version now; known is false
// where they are not remembered, or base is none of the versions up to now.
func (r *recent) between(base, now uint64) (changes []change, known bool) {
	if base > now || now > r.version || r.version-base > uint64(len(r.changes)) {
		return nil, false
	}
	first := len(r.changes) - int(r.version-base)
	return slices.Clone(r.changes[first : first+int(now-base)]), true
}
