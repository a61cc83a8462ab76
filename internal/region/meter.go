package region

import "context"

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
