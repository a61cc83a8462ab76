package region

import (
	"slices"
	"strconv"
)

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
	r := &run{values: make([]string, 0, len(s.params))}
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
	return r
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
