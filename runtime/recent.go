package runtime

import (
	"context"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/compiler/region"
	"github.com/patchoptic/poptic/runtime/tree"
	"github.com/patchoptic/poptic/runtime/verify"
)

// Proposals that come late.
//
// An actor works on the view of version u, and when it proposes, the instance may be
// at a later version v. If nothing that was written in between meets what its stage
// reads, then the view at v is the same as at u, and what is proposed can be judged
// and committed at v as it is (spec/semantics.md corollary 7). So an instance
// remembers what its last commits wrote. All rules are evaluated at v, and so are the
// parameters: one that is taken from the state counts as read, hence it has changed
// only where that is noticed.
//
// A refusal names places that the stage reads, or that lie on the way to them, and
// nothing else: about commits that it did not see, an actor learns nothing.

// DefaultRecentCommits is how many commits an instance remembers the targets of.
const DefaultRecentCommits = 1024

// maxLatePaths is how many places a refusal names at most.
const maxLatePaths = 16

// maxRecentBytes is about how much memory an instance takes to remember them. Commits
// with many and long paths are remembered for a shorter time.
const maxRecentBytes = 8 << 20

// A change is what a commit did.
type change struct {
	targets []region.Word // its effective targets
	moved   bool          // the phase
	size    int           // about how many bytes it takes
}

// changeOf copies what it keeps: the words of effects are made of pieces of the patch.
func changeOf(effects []tree.Effect, moved bool) change {
	const head, letter = 64, 40
	c := change{moved: moved, size: head}
	for _, e := range effects {
		for _, t := range e.Targets {
			t = slices.Clone(t)
			for i := range t {
				t[i].Name = strings.Clone(t[i].Name)
				c.size += letter + len(t[i].Name)
			}
			c.targets = append(c.targets, t)
			c.size += head
		}
	}
	return c
}

// recent is the last changes, up to the one that led to a version.
type recent struct {
	version uint64
	changes []change
	most    int // changes
	bytes   int // that changes may take together
	size    int // that they take
}

// add notes the change that led to the next version. It forgets in bulk, down to most
// changes and half of the bytes, so that it costs the same on average however many
// there are.
func (r *recent) add(c change) {
	r.version++
	r.changes, r.size = append(r.changes, c), r.size+c.size
	if len(r.changes) <= 2*r.most && r.size <= r.bytes {
		return
	}
	first := len(r.changes)
	r.size = 0
	for first > 0 && len(r.changes)-first < r.most && r.size+r.changes[first-1].size <= r.bytes/2 {
		first--
		r.size += r.changes[first].size
	}
	r.changes = slices.Clone(r.changes[first:])
}

// between lists the changes after version base up to version now; known is false
// where they are not remembered, or base is none of the versions up to now.
func (r *recent) between(base, now uint64) (changes []change, known bool) {
	if base > now || now > r.version || r.version-base > uint64(min(r.most, len(r.changes))) {
		return nil, false
	}
	first := len(r.changes) - int(r.version-base)
	return r.changes[first : first+int(now-base)], true
}

// late is what the stale gate has to say against a proposal on a state whose phase
// and arguments passed: nothing, if its actor would have seen the same view now.
func (in *Instance) late(ctx context.Context, p *Proposal, seen *verify.Snapshot) []Violation {
	if p.Base == seen.Version {
		return nil
	}
	if in.turn.take(ctx) != nil {
		return nil
	}
	changes, known := in.recent.between(p.Base, seen.Version)
	in.turn.give()
	if !known {
		return []Violation{staleBase}
	}
	reads := in.contract.program.Reads(*seen, p.Stage, p.Args)
	var met []region.Word
	for _, c := range changes {
		if c.moved {
			return []Violation{stalePhase}
		}
		for _, t := range c.targets {
			if at, ok := reads(t); ok {
				met = append(met, at)
			}
		}
	}
	return staleAt(met)
}

// staleAt names where what the stage reads was written.
func staleAt(met []region.Word) []Violation {
	pointers := make([]string, len(met))
	for i, w := range met {
		pointers[i] = w.Pointer()
	}
	slices.Sort(pointers)
	var out []Violation
	for _, p := range pointers {
		if len(out) > 0 && within(p, *out[len(out)-1].Path) {
			continue
		}
		if len(out) == maxLatePaths {
			break
		}
		v := stalePath
		v.Path = &p
		out = append(out, v)
	}
	return out
}

// within reports whether pointer p is outer or below it.
func within(p, outer string) bool {
	rest, ok := strings.CutPrefix(p, outer)
	return ok && (rest == "" || rest[0] == '/')
}

// The stale gate's violations about a base version.
var (
	staleBase = Violation{
		Gate: verify.GateStale, Code: verify.Stale,
		Message: "the proposal was not made on the current version, nor on one of those before it that are remembered",
		Hint:    askAgain,
	}
	stalePhase = Violation{
		Gate: verify.GateStale, Code: verify.Stale,
		Message: "the phase has moved since the proposal's version",
		Hint:    askAgain,
	}
	stalePath = Violation{
		Gate: verify.GateStale, Code: verify.Stale,
		Message: "this was written since the proposal's version",
		Hint:    askAgain,
	}
)

const askAgain = "ask for a new view and propose again on it"
