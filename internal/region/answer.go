package region

import (
	"context"
	"fmt"
)

// Verdict is the outcome of a decision. Unknown is an outcome like the others:
// the search was stopped, and the caller must take the cautious side (a conflict,
// not contained) and say so.
type Verdict uint8

// The verdicts.
const (
	Unknown Verdict = iota
	Yes
	No
)

// String is the verdict's name as messages use it.
func (v Verdict) String() string { return [...]string{"unknown", "yes", "no"}[v] }

// An Answer is what a decision returns.
type Answer struct {
	Verdict Verdict
	Witness Word   // a shortest word that shows it, where the function promises one; the root is an empty word, not nil
	Why     string // for Unknown: what stopped the search
	States  int    // search states visited; the same for the same question
}

// Mode says which words of a set are meant.
type Mode uint8

// Plain means the words of the set. Interior means the words that are in it with
// everything below them, grant by grant (spec/semantics.md section 3.3). Shown means
// the words of the nodes that a view of the set shows: those in it, and the containers
// on the way to where words of it may lie, be it that no state has any there (section
// 11.1); with a Shape, containers of a kind that the shape allows.
const (
	Plain Mode = iota
	Interior
	Shown
)

// DefaultBudget is how many states a search may visit before it answers Unknown.
const DefaultBudget = 1 << 14

// Options tune a decision. The zero value is the default.
type Options struct {
	Budget      int    // search states; 0 means DefaultBudget
	Shape       Shape  // which words are possible; nil means all
	VerdictOnly bool   // do without a witness where that is faster
	Meter       *Meter // counts the work of many decisions; nil counts nothing
}

func (o Options) budget() int {
	if o.Budget == 0 {
		return DefaultBudget
	}
	return o.Budget
}

// A Shape restricts a decision to the words that some typed state can have. Node 0
// is the root, which always exists. Implementations are deterministic and may
// number the nodes as they like; the search asks for a node's letters and steps
// along them, and counts each pair of set states and shape node once.
type Shape interface {
	// Step follows l from node; ok is false if no state has such a child. A Param
	// letter is some key, a Fresh letter some position of a log.
	Step(node int, l Letter) (next int, ok bool)
	// Keys lists the declared keys below node in groups that lead to one node each,
	// and tells whether there may be others, and whether there may be array positions.
	Keys(node int) (groups [][]string, open bool, index bool)
	// Values tells whether a value at node may be an object, whether an array, and whether
	// something else.
	Values(node int) (object, array, leaf bool)
}

func stopped(states int) Answer {
	return Answer{Verdict: Unknown, Why: fmt.Sprintf("the search stopped after %d states", states), States: states}
}

func spent(states int) Answer {
	return Answer{Verdict: Unknown, Why: "the searches about the regions of the contract have used up their steps", States: states}
}

// A Meter bounds the work of many decisions together: each step of a search along a
// letter counts, and each pattern that it starts from. Once the meter is spent, searches
// answer Unknown. A nil Meter is never spent. It is not safe for concurrent use.
type Meter struct {
	left  int
	until <-chan struct{} // closed once nobody waits for the decisions; nil if somebody always does
	look  int             // when so many steps are left, that is looked at again
}

// lookEvery is after how many steps a meter looks whether anybody still waits.
const lookEvery = 1 << 10

// NewMeter is a meter that some steps are left of.
func NewMeter(steps int) *Meter { return &Meter{left: steps} }

// Until has the meter be spent soon after ctx ends, whatever is left.
func (m *Meter) Until(ctx context.Context) { m.until, m.look = ctx.Done(), m.left }

// Spend takes steps off.
func (m *Meter) Spend(steps int) {
	if m == nil {
		return
	}
	m.left -= steps
	if m.until == nil || m.left >= m.look {
		return
	}
	m.look = m.left - lookEvery
	select {
	case <-m.until:
		m.left = -1
	default:
	}
}

// IsSpent reports whether more steps were asked for than there were.
func (m *Meter) IsSpent() bool { return m != nil && m.left < 0 }

// Left is how many steps there still are; negative once spent.
func (m *Meter) Left() int { return m.left }
