package replay_test

import (
	"math/rand"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// The properties of spec/semantics.md section 5 are tested on footprints drawn
// from a seed: few names, patterns of up to three segments, exceptions, keys that
// read like positions. One side is often a small variation of the other.

// rounds is how often a property is tried: as often as POPTIC_SOUNDNESS says, else n
// times, or fewer where time is short.
func rounds(n, short int) int {
	if asked, err := strconv.Atoi(os.Getenv("POPTIC_SOUNDNESS")); err == nil {
		return asked
	}
	if testing.Short() || raceDetector {
		return short
	}
	return n
}

// A maker draws random things.
type maker struct{ *rand.Rand }

// newMaker draws from a seed. POPTIC_SEED moves all seeds: a run with another one tries
// other things.
func newMaker(seed int64) maker {
	moved, _ := strconv.ParseInt(os.Getenv("POPTIC_SEED"), 10, 64)
	return maker{rand.New(rand.NewSource(seed + 1000*moved))}
}

// A meter says when a long run should tell how far it is.
type meter struct{ told int }

// due reports whether another 100,000 trials are done since it last did.
func (x *meter) due(done int) bool {
	if done/100_000 == x.told {
		return false
	}
	x.told = done / 100_000
	return true
}

func (m maker) pick(from ...string) string { return from[m.Intn(len(from))] }

func (m maker) chance(percent int) bool { return m.Intn(100) < percent }

var memberNames = []string{"a", "b", "0"}

func (m maker) segment() string {
	switch k := m.Intn(20); {
	case k < 3:
		return "*"
	case k < 4:
		return "**"
	case k < 6:
		return ":*"
	case k < 8:
		return "[*]"
	case k < 10:
		return m.pick("[0]", "[1]", "0", "1")
	default:
		return m.pick(memberNames...)
	}
}

// readSegment is one that does not depend on a position below an array
// (spec/semantics.md section 11.1).
func (m maker) readSegment() string {
	for {
		if s := m.segment(); !strings.ContainsAny(s, "01") {
			return s
		}
	}
}

func (m maker) pattern(segment func() string) string {
	var b strings.Builder
	for range [...]int{0, 1, 1, 2, 2, 2, 3, 3}[m.Intn(8)] {
		b.WriteString("/" + segment())
	}
	return b.String()
}

// region draws up to most grants, one in three with exceptions.
func (m maker) region(most int, segment func() string) region.Region {
	var out region.Region
	for range m.Intn(most + 1) {
		patterns := []string{m.pattern(segment)}
		if m.chance(20) {
			patterns = append(patterns, m.pattern(segment))
		}
		for range m.Intn(6) / 4 {
			patterns = append(patterns, "!"+patterns[0]+"/"+segment())
		}
		out = append(out, region.Of(patterns...)...)
	}
	return out
}

// stage draws a stage of a contract without types.
func (m maker) stage(i int) ir.Stage {
	return ir.Stage{
		Name: "s" + strconv.Itoa(i), In: []string{"main"},
		Read:   m.region(2, m.readSegment),
		Write:  m.region(2, m.segment),
		Source: m.region(1, m.segment),
	}
}

// untyped is a contract of which nothing is typed, with some stages.
func (m maker) untyped(stages int) *ir.Contract {
	c := &ir.Contract{
		Name: "untyped", Types: []ir.Type{{}, {Kind: ir.AnyType}}, State: 1,
		Phases: []ir.Phase{{Name: "main"}},
	}
	for i := range stages {
		c.Stages = append(c.Stages, m.stage(i))
	}
	return c
}
