package ir

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// validate checks all that readers of a contract rely on, so that none of them has to:
// what a type or a claim needs by its kind is there and nothing else, every name that is
// used is declared, and once. What only whoever evaluates needs (that an expression has
// the right type, that a pattern matches something) is checked there.
func (c *Contract) validate() error {
	v := validation{c: c, phases: map[string]bool{}, stages: map[string]*Stage{}, invariants: map[string]bool{}, compositions: map[string]bool{}}
	for _, check := range []func() error{
		v.types, c.validateExtents, v.declared, v.arrows, v.rules, v.everyStage, v.everyClaim,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// A validation holds the names that a contract declares.
type validation struct {
	c                                *Contract
	phases, invariants, compositions map[string]bool
	stages                           map[string]*Stage
}

func (v *validation) types() error {
	if !v.c.hasType(v.c.State) {
		return malformed("it has no state type")
	}
	for id := range v.c.Types {
		if err := v.oneType(TypeID(id)); err != nil {
			return err
		}
	}
	return nil
}

// oneType demands that children come before their parents, which also excludes cycles.
func (v *validation) oneType(id TypeID) error {
	t := &v.c.Types[id]
	if id == NoType {
		if t.Kind != "" || t.holds() != 0 || len(t.Where) > 0 {
			return malformed("its first type stands for no type, and is one")
		}
		return nil
	}
	children := t.children()
	for _, child := range children {
		if child <= NoType || child >= id {
			return malformed(fmt.Sprintf("type %d refers to type %d", id, child))
		}
	}
	if !t.isWhole() {
		return malformed(fmt.Sprintf("type %d is incomplete, or of no kind", id))
	}
	names := map[string]bool{}
	for _, m := range t.Members {
		if names[m.Name] {
			return malformed(fmt.Sprintf("type %d has two members of one name", id))
		}
		names[m.Name] = true
	}
	if t.Name != "" && !isName(t.Name) {
		return malformed(fmt.Sprintf("type %d has a name that is none", id))
	}
	if t.Kind == RefType && !usesOnly(nil, *t.Target) {
		return malformed(fmt.Sprintf("type %d refers to no container", id))
	}
	return v.exprs(fmt.Sprintf("type %d", id), nil, t.Where...)
}

// declared collects the names of the contract.
func (v *validation) declared() error {
	c := v.c
	if len(c.Phases) == 0 {
		return malformed("it has no phase")
	}
	if !isName(c.Name) {
		return malformed("its name is none")
	}
	twice := func(kind, name string) error {
		return malformed(fmt.Sprintf("%s %q has no name, or the name of another", kind, name))
	}
	for _, p := range c.Phases {
		if !isName(p.Name) || v.phases[p.Name] {
			return twice("phase", p.Name)
		}
		v.phases[p.Name] = true
	}
	for i := range c.Stages {
		s := &c.Stages[i]
		if !isName(s.Name) || v.stages[s.Name] != nil {
			return twice("stage", s.Name)
		}
		v.stages[s.Name] = s
	}
	for _, inv := range c.Invariants {
		if !isName(inv.Name) || v.invariants[inv.Name] {
			return twice("invariant", inv.Name)
		}
		v.invariants[inv.Name] = true
	}
	for _, x := range c.Compositions {
		if !isName(x.Name) || v.compositions[x.Name] || v.stages[x.Name] != nil {
			return twice("composition", x.Name)
		}
		v.compositions[x.Name] = true
	}
	measures := map[string]bool{}
	for _, m := range c.Measures {
		if !isName(m.Name) || measures[m.Name] {
			return twice("measure", m.Name)
		}
		measures[m.Name] = true
	}
	return nil
}

func (v *validation) arrows() error {
	for _, p := range v.c.Phases {
		to := map[string]bool{}
		for _, a := range p.Arrows {
			if !v.phases[a.To] || to[a.To] {
				return malformed("phase " + p.Name + " leads to an unknown phase, or twice to one")
			}
			to[a.To] = true
			if a.Guard != nil {
				if err := v.exprs("a guard of phase "+p.Name, nil, *a.Guard); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// isName reports whether a text is a name of the language, or several joined by dots.
func isName(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		isFirst := true
		for _, r := range part {
			if r != '_' && !unicode.IsLetter(r) && (isFirst || !unicode.IsDigit(r)) {
				return false
			}
			isFirst = false
		}
		if isFirst {
			return false
		}
	}
	return true
}

// areKnown reports whether all names are among those that are known.
func areKnown[T any](known map[string]T, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { _, ok := known[name]; return !ok })
}

func (c *Contract) hasType(id TypeID) bool { return id > NoType && int(id) < len(c.Types) }

func malformed(what string) error {
	return &CodecError{"malformed", "the compiled contract is malformed: " + what + "; build it again"}
}
