package region

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// A Set is a compiled region. It is immutable and safe for concurrent use;
// behind it, the subsets that words lead to are found once and kept.
type Set struct {
	sources  []source
	nfa      *automaton
	keys     map[string]bool // keys that some pattern names
	indices  map[int]bool    // positions that some pattern names
	params   []string        // in alphabetical order
	simple   []Pattern       // every pattern up to its first AnyDepth, if isSimple
	isSimple bool            // no exception, no shallow pattern, no intersection

	static *run                    // no parameter bound, fresh keys told apart by owner
	only   atomic.Pointer[run]     // of a set without parameters
	plain  atomic.Pointer[machine] // of bindings to values that are all different and no key of a pattern
	used   atomic.Bool             // a search has paid for it

	mu    sync.Mutex
	bound map[string]*machine
}

// A source is what a clause is built from.
type source struct {
	require [][]Pattern
	except  []Pattern
}

// Compile builds the automaton of r in time linear in its text. The set keeps
// nothing of r that a later change to r could reach through a pattern list, but
// shares the segments.
func Compile(r Region) *Set {
	var sources []source
	for _, g := range r {
		sources = append(sources, source{
			require: [][]Pattern{slices.Clone(g.Include)},
			except:  slices.Clone(g.Except),
		})
	}
	return compile(sources)
}

// SetOf compiles the region Of(patterns...).
func SetOf(patterns ...string) *Set { return Compile(Of(patterns...)) }

// UnionSets is the set of the words that some set has; authority stays per grant
// (spec/semantics.md section 3.4).
func UnionSets(sets ...*Set) *Set {
	var sources []source
	for _, s := range sets {
		sources = append(sources, s.sources...)
	}
	return compile(sources)
}

// IntersectSets is the set of the words that a and b share, and its interior is
// the intersection of their interiors (section 3.4). It is exact for every
// region and every binding; the number of clauses is the product.
func IntersectSets(a, b *Set) *Set {
	var sources []source
	for _, s := range a.sources {
		for _, t := range b.sources {
			sources = append(sources, source{
				require: slices.Concat(s.require, t.require),
				except:  slices.Concat(s.except, t.except),
			})
		}
	}
	return compile(sources)
}

func compile(sources []source) *Set {
	s := &Set{
		sources: sources,
		nfa:     build(sources),
		keys:    map[string]bool{},
		indices: map[int]bool{},
		bound:   map[string]*machine{},
	}
	for _, src := range sources {
		for _, ps := range append(src.require[:len(src.require):len(src.require)], src.except) {
			s.mention(ps)
		}
	}
	slices.Sort(s.params)
	s.params = slices.Compact(s.params)
	s.simple, s.isSimple = simplePatterns(sources)
	s.static = &run{machine: newMachine(s, allUnbound(len(s.params)), false)}
	return s
}

// price is what a search pays for the set: the first one, what compiling it cost, where
// a state is worth two steps along letters.
func (s *Set) price() int {
	if s.used.Swap(true) {
		return 1
	}
	return 2 * len(s.nfa.states)
}

// mention notes the letters that the patterns tell apart.
func (s *Set) mention(ps []Pattern) {
	for _, p := range ps {
		for _, seg := range p.Segments {
			switch seg.Kind {
			case Literal:
				s.keys[seg.Text] = true
				if n, ok := asIndex(seg.Text); ok {
					s.indices[n] = true
				}
			case KeyLiteral:
				s.keys[seg.Text] = true
			case IndexLiteral:
				s.indices[seg.Index] = true
			case ParamSegment:
				s.params = append(s.params, seg.Text)
			}
		}
	}
}

// Contains reports whether w is in the set, with no parameter bound.
func (s *Set) Contains(w Word) bool { return s.Start(nil).Walk(w).In() }

// Interior reports whether one grant holds w and everything below it (section
// 3.3): an include that is not shallow accepts w, and no exception is met at or
// below w.
func (s *Set) Interior(w Word) bool { return s.Start(nil).Walk(w).Interior() }

// A set is compiled once with its parameters open. What a binding changes is
// only which letters are told apart: parameters with equal values become one
// group, and a value that some pattern names literally joins that literal. All
// bindings that agree on this share one machine, so binding costs no
// compilation. With reserved literals (spec/semantics.md section 9) and distinct
// values that is a single machine for every call of a stage.

// maxMachines and maxNodes bound what a set keeps between uses.
const (
	maxMachines = 64
	maxNodes    = 1 << 14
)

// A run is a machine with the values of one binding.
type run struct {
	machine *machine
	values  []string // by group; groups that are literals hold no value here
}

// newRun makes a run with room for the values of a few parameters.
func newRun(params int) *run {
	block := &struct {
		run
		values [2]string
	}{}
	if block.run.values = block.values[:0]; params > len(block.values) {
		block.run.values = make([]string, 0, params)
	}
	return &block.run
}

// A group says what a parameter is bound to.
type group struct {
	bound   bool
	literal bool   // name is a key that some pattern names
	name    string // of the literal
	number  int    // of the value in run.values, if not literal
}

func allUnbound(n int) []group { return make([]group, n) }

// resolve finds the run of args; nil means static analysis.
func (s *Set) resolve(args Binding) *run {
	if args == nil {
		return s.static
	}
	if len(s.params) == 0 {
		return s.withoutParams()
	}
	r := newRun(len(s.params))
	plain := s.plainly(args, r)
	if m := s.plain.Load(); plain && m != nil && m.size() < maxNodes {
		r.machine = m
		return r
	}
	r.values = r.values[:0]
	groups := allUnbound(len(s.params))
	key := make([]byte, 0, 64)
	for i, p := range s.params {
		value, ok := args[p]
		if ok {
			groups[i] = s.group(value, r)
		}
		key = groups[i].appendKey(key)
	}
	r.machine = s.machine(key, groups)
	if plain {
		s.plain.Store(r.machine)
	}
	return r
}

// plainly binds the parameters as long as their values are all different, and no key that
// a pattern names. It reports whether all are: such bindings share one machine.
func (s *Set) plainly(args Binding, r *run) bool {
	for _, p := range s.params {
		value, ok := args[p]
		if !ok || s.keys[value] || slices.Contains(r.values, value) {
			return false
		}
		r.values = append(r.values, value)
	}
	return true
}

// withoutParams is the run that every binding of a set without parameters leads to.
func (s *Set) withoutParams() *run {
	if r := s.only.Load(); r != nil && r.machine.size() < maxNodes {
		return r
	}
	r := &run{machine: s.machine(nil, nil)}
	s.only.Store(r)
	return r
}

func (s *Set) group(value string, r *run) group {
	if s.keys[value] {
		return group{bound: true, literal: true, name: value}
	}
	n := slices.Index(r.values, value)
	if n < 0 {
		n = len(r.values)
		r.values = append(r.values, value)
	}
	return group{bound: true, number: n}
}

func (g group) appendKey(key []byte) []byte {
	switch {
	case !g.bound:
		return append(key, '?')
	case g.literal:
		return strconv.AppendQuote(key, g.name)
	default:
		return append(strconv.AppendInt(append(key, '='), int64(g.number), 10), ' ')
	}
}

// machine returns the machine kept under key, a new one if there is none or the
// old one has grown too large.
func (s *Set) machine(key []byte, groups []group) *machine {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.bound[string(key)]; m != nil && m.size() < maxNodes {
		return m
	}
	if len(s.bound) >= maxMachines {
		clear(s.bound)
	}
	m := newMachine(s, groups, true)
	s.bound[string(key)] = m
	return m
}
