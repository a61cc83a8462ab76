// Package footprint is the effect model of a compiled contract: what every stage
// reads, writes and takes from, which gates its commits pass through, and what
// those gates read. It decides from that alone, before anything runs, which
// stages may be handed down, joined, reordered or run side by side.
//
// A Model stands for one contract. Several deciders answer, each what it is good at:
//
//   - Index compares all stages at once by what their clauses include. What it does not
//     flag commutes; what it flags may not. It alone answers a thousand stages in
//     seconds, and the schedules of internal/plan ask nothing else.
//   - Index.Conflicts decides a flagged pair exactly: for which values of the parameters
//     the two meet. It asks internal/region twice, first for the patterns alone, then, if
//     they meet, over the paths that the state's type allows.
//   - Decide answers a claim of the contract. Claims about commuting take the conflicts of
//     the flagged pairs, leave out those that the claim's hypothesis excludes, and call a
//     claim false only with a run that shows it (a Replayer, internal/suite/replay). The
//     others (within, no stage, no flow, before) are decided by containment, overlap
//     and reachability, with an index in front where many stages are asked.
//   - Touched and CannotFail say which rules a commit can change the value of, for the
//     compiler, which writes that into the contract.
//
// What is proved here is written down and checked again by internal/certificate, which
// shares none of these deciders.
//
// The files: shape.go (which paths a state can have), effect.go (what a stage touches,
// sees and is told), gates.go and touched.go (what rules read, and which of them a commit
// touches), index.go, commute.go, then decide.go (claims and their answers), within.go,
// flow.go, notes.go (what a proved claim lets through), explain.go (answers in words).
package footprint

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A Model answers questions about one contract. It is not safe for concurrent
// use: it numbers the nodes of the state's shape as questions reach them.
type Model struct {
	Contract *ir.Contract
	Shape    *Shape

	unions *ir.Unions // once asked for
	// Holds reports whether a rule certainly holds in some phases where places of its
	// footprint hold one of some texts; nil where rules cannot be evaluated.
	Holds func(g Gate, phases []string, known []ir.Pin) bool

	// Meter bounds the work of all decisions; nil where nothing does.
	Meter *region.Meter

	stateGates []Gate          // once asked for, with a sentinel at the end
	matrix     *Index          // once asked for
	reach      *reachIndex     // once asked for
	keys       *keyIndex       // once asked for
	possible   map[string]bool // by pattern, as far as asked for
	answered   map[question]region.Condition
	numbers    map[string]int // of stages by name, once asked for

	granted    *outerGrants         // what claims that a stage lies within others asked last
	outerRules map[*ir.Stage][]rule // likewise, of stages without parameters
}

// New makes the model of a contract. The contract may still be growing: the model
// reads it when it is asked.
func New(c *ir.Contract) *Model {
	return &Model{Contract: c, Shape: NewShape(c), outerRules: map[*ir.Stage][]rule{}}
}

// Measured is New with a meter of MaxSteps: its searches come to an end.
func Measured(c *ir.Contract) *Model {
	m := New(c)
	m.Meter = region.NewMeter(MaxSteps)
	return m
}

// MaxSteps is how many steps the searches about the regions of one contract may take
// while it is checked, and again while its claims are decided.
const MaxSteps = 1 << 24

// Options are those of a decision over the paths that a state can have.
func (m *Model) Options() region.Options { return region.Options{Shape: m.Shape, Meter: m.Meter} }

func (m *Model) verdictOnly() region.Options {
	return region.Options{Shape: m.Shape, Meter: m.Meter, VerdictOnly: true}
}

// Spent reports whether the searches used up their steps. What is proved then still
// holds; what is not may.
func (m *Model) Spent() bool { return m.Meter.IsSpent() }

// deciding is what the shape of what is in a region depends on beside it: whole unions
// that it goes into, where alternatives disagree on what an array is.
func (m *Model) deciding(r region.Region) region.Region {
	return m.answers().Deciding(r)
}

// answers are those about the contract's unions.
func (m *Model) answers() *ir.Unions {
	if m.unions == nil {
		m.unions = ir.NewUnions(m.Contract)
	}
	return m.unions
}

// Within decides whether all of a (in modeA) lies in b (in modeB), over paths that
// a state can have; if not, or if the search ran out of budget, it returns a path
// that is in a only (nil where none was found in time).
func (m *Model) Within(a, b region.Region, modeA, modeB region.Mode) (region.Word, bool) {
	return m.WithinSet(a, region.Compile(b), modeA, modeB)
}

// WithinSet is Within for many regions that are to lie in one.
func (m *Model) WithinSet(a region.Region, b *region.Set, modeA, modeB region.Mode) (region.Word, bool) {
	if len(a) == 0 {
		return nil, true
	}
	if modeA == region.Shown { // better a place that is read than one on the way
		if w, ok := m.WithinSet(a, b, region.Plain, modeB); !ok {
			return w, ok
		}
	}
	answer := region.Within(region.Compile(a), b, modeA, modeB, m.Options())
	return answer.Witness, answer.Verdict == region.Yes
}

// Overlaps decides whether a, plainly, meets the interior of b. Not knowing counts
// as meeting.
func (m *Model) Overlaps(a, b region.Region) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	answer := region.Overlap(region.Compile(a), region.Compile(b), region.Plain, region.Interior, m.verdictOnly())
	return answer.Verdict != region.No
}

// Possible reports whether some state has a node at a pattern. A footprint is made of
// what an expression or type says, and to lie in a region over the paths that a state
// can have is true of one that none has: nothing may follow from that.
func (m *Model) Possible(p region.Pattern) bool {
	key := p.String()
	answer, known := m.possible[key]
	if !known {
		one := region.Compile(region.Region{{Include: []region.Pattern{p}}})
		answer = region.Empty(one, region.Plain, m.Options()).Verdict == region.No
		if m.possible == nil {
			m.possible = map[string]bool{}
		}
		m.possible[key] = answer
	}
	return answer
}

// Shows reports whether a set has all that a footprint reads, over the paths that a
// state can have; not if that is nothing.
func (m *Model) Shows(seen *region.Set, p region.Pattern) bool {
	what := region.Compile(region.Region{{Include: []region.Pattern{p}}})
	return m.Possible(p) && region.Within(what, seen, region.Plain, region.Plain, m.Options()).Verdict == region.Yes
}

// meets decides whether some of a footprint meets the interior of b. A pattern that no
// state has a path of is compared without the state's type.
func (m *Model) meets(footprint []region.Pattern, b region.Region) bool {
	return len(b) > 0 && slices.ContainsFunc(footprint, func(p region.Pattern) bool {
		one := region.Region{{Include: []region.Pattern{p}}}
		if m.Possible(p) {
			return m.Overlaps(one, b)
		}
		answer := region.Overlap(region.Compile(one), region.Compile(b), region.Plain, region.Interior, region.Options{VerdictOnly: true, Meter: m.Meter})
		return answer.Verdict != region.No
	})
}

// Empty decides whether a region has no place, in a mode, that a state can have. Not
// knowing counts as having one.
func (m *Model) Empty(r region.Region, mode region.Mode) bool {
	if len(r) == 0 {
		return true
	}
	all := region.Compile(region.Region{{Include: []region.Pattern{{Segments: []region.Segment{{Kind: region.AnyDepth}}}}}})
	answer := region.Overlap(region.Compile(r), all, mode, region.Plain, m.verdictOnly())
	return answer.Verdict == region.No
}

// Granting leaves out the grants of a region that are empty in a mode.
func (m *Model) Granting(r region.Region, mode region.Mode) region.Region {
	return slices.DeleteFunc(slices.Clone(r), func(g region.Grant) bool {
		return len(g.Except) > 0 && m.Empty(region.Region{g}, mode)
	})
}

// Matrix is the index of all stages of the contract, in their order, made when it
// is first asked for.
func (m *Model) Matrix() *Index {
	if m.matrix == nil {
		m.matrix = NewIndex(m)
		for i := range m.Contract.Stages {
			m.matrix.Add(&m.Contract.Stages[i])
		}
	}
	return m.matrix
}

// EachTyped visits every typed node of the state with its pattern, parents
// first; f tells whether to go below. A union is visited itself, then as each of
// its alternatives.
func (m *Model) EachTyped(f func(region.Pattern, *ir.Type) bool) {
	m.eachBelow(region.Pattern{}, m.Contract.State, f)
}

func (m *Model) eachBelow(p region.Pattern, id ir.TypeID, f func(region.Pattern, *ir.Type) bool) {
	t := m.Contract.Type(id)
	if !f(p, t) {
		return
	}
	below := func(kind region.SegmentKind, name string, child ir.TypeID) {
		m.eachBelow(Extend(p, region.Segment{Kind: kind, Text: name}), child, f)
	}
	switch t.Kind {
	case ir.UnionType:
		for _, a := range t.Alternatives {
			m.eachBelow(p, a, f)
		}
	case ir.RecordType:
		for _, m := range t.Members {
			below(region.KeyLiteral, m.Name, m.Type)
		}
		if t.Rest != ir.NoType {
			below(region.AnyKey, "", t.Rest)
		}
	case ir.MapType, ir.KeyedType:
		below(region.AnyKey, "", t.Elem)
	case ir.ListType, ir.SetType, ir.LogType:
		below(region.AnyIndex, "", t.Elem)
	}
}

// Extend is a pattern with one more segment.
func Extend(p region.Pattern, s region.Segment) region.Pattern {
	return region.Pattern{Segments: append(slices.Clone(p.Segments), s)}
}

// IsLiteral reports whether a segment names a key.
func IsLiteral(s region.Segment) bool {
	return s.Kind == region.Literal || s.Kind == region.KeyLiteral
}

// Patterns lists the patterns of a region, exceptions included.
func Patterns(r region.Region) []region.Pattern {
	var out []region.Pattern
	for _, g := range r {
		out = append(append(out, g.Include...), g.Except...)
	}
	return out
}

// ReadPatterns lists the patterns an expression reads.
func ReadPatterns(x ir.Expr) []region.Pattern {
	var out []region.Pattern
	for _, r := range x.Reads {
		out = append(out, r.Pattern)
	}
	return out
}

// Prefix is the pattern of a pattern's first n segments.
func Prefix(p region.Pattern, n int) region.Pattern {
	return region.Pattern{Segments: slices.Clone(p.Segments[:n])}
}

func Includes(r region.Region) []region.Pattern {
	var out []region.Pattern
	for _, g := range r {
		out = append(out, g.Include...)
	}
	return out
}

func samePattern(a, b *region.Pattern) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.String() == b.String()
}
