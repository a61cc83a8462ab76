package ir

import "fmt"

// validate checks what readers of a contract rely on: type ids are in range and
// refer to smaller nesting only, phases and stages are named consistently.
func (c *Contract) validate() error {
	if len(c.Types) == 0 || !c.hasType(c.State) {
		return malformed("it has no state type")
	}
	if len(c.Phases) == 0 {
		return malformed("it has no phase")
	}
	for id := range c.Types {
		if err := c.validateType(TypeID(id)); err != nil {
			return err
		}
	}
	if err := c.validateExtents(); err != nil {
		return err
	}
	for _, v := range c.Invariants {
		if v.Each != nil && !c.hasType(v.Each.Type) {
			return malformed("invariant " + v.Name + " is over an unknown type")
		}
		if (v.Expr == nil) == (v.Unique == nil) {
			return malformed("invariant " + v.Name + " has no single rule")
		}
		for _, p := range v.Parts {
			if p.Each != nil && !c.hasType(p.Each.Type) {
				return malformed("a part of invariant " + v.Name + " is over an unknown type")
			}
		}
	}
	return c.validateNames()
}

// validateType demands that children come before their parents, which also
// excludes cycles.
func (c *Contract) validateType(id TypeID) error {
	t := c.Types[id]
	children := append([]TypeID{t.Elem, t.Rest}, t.Alternatives...)
	for _, m := range t.Members {
		children = append(children, m.Type)
	}
	for _, child := range children {
		if child != NoType && (child < 0 || child >= id) {
			return malformed(fmt.Sprintf("type %d refers to type %d", id, child))
		}
	}
	needsElem := t.Kind == MapType || t.Kind == ListType || t.Kind == SetType || t.Kind == LogType || t.Kind == KeyedType
	if needsElem && t.Elem == NoType || t.Kind == RefType && t.Target == nil || t.Kind == UnionType && len(t.Alternatives) == 0 {
		return malformed(fmt.Sprintf("type %d is incomplete", id))
	}
	return nil
}

// validateExtents demands that no type describes more than the compiler lets pass.
func (c *Contract) validateExtents() error {
	extents, entries := make([]Extent, len(c.Types)), 0
	for id := range c.Types {
		t := &c.Types[id]
		extents[id] = t.Extent(func(below TypeID) Extent { return extents[below] })
		if entries += t.Entries(); extents[id].Exceeds() || entries > MaxTypeEntries {
			return malformed(fmt.Sprintf("type %d is larger than any type may be", id))
		}
	}
	return nil
}

func (c *Contract) validateNames() error {
	for _, p := range c.Phases {
		for _, a := range p.Arrows {
			if c.Phase(a.To) == nil {
				return malformed("phase " + p.Name + " leads to an unknown phase")
			}
		}
	}
	for _, s := range c.Stages {
		for _, p := range append(append([]string{}, s.In...), s.Next...) {
			if c.Phase(p) == nil {
				return malformed("stage " + s.Name + " names an unknown phase")
			}
		}
	}
	for _, claim := range c.Claims {
		if claim.When != nil && !claim.When.isWhole() {
			return malformed("the hypothesis of a claim is incomplete")
		}
	}
	return nil
}

func (c *Contract) hasType(id TypeID) bool { return id > NoType && int(id) < len(c.Types) }

func malformed(what string) error {
	return &CodecError{"malformed", "the compiled contract is malformed: " + what + "; build it again"}
}
