package verify

import (
	"context"

	"github.com/patchoptic/poptic/internal/ir"
)

// An Observer is told of every judgement of a rule, as it is made, in the context of the call
// that makes it. It is called by the goroutines that verify.
type Observer func(ctx context.Context, j Judged)

// Judged is a rule and whether it held. Which fields are set follows from Kind: of a require or
// ensure Stage and Index, of a condition on binding Stage and Name, of a constraint (TypeGate) Type and Index, of a guard From and To, of an
// invariant or change Name.
type Judged struct {
	Kind     ir.GateKind
	Stage    string
	Index    int
	Name     string
	Type     ir.TypeID
	From, To string
	Held     bool
}

// LoadObserved is Load of a program that tells an observer what it judges. What a program
// remembers of values that it has judged before is not judged again, and not told again.
func LoadObserved(c *ir.Contract, limits Limits, o Observer) (*Program, error) {
	p, err := Load(c, limits)
	if err != nil {
		return nil, err
	}
	of := func(j Judged) func(context.Context, bool) {
		return func(ctx context.Context, held bool) {
			j := j
			j.Held = held
			o(ctx, j)
		}
	}
	for id, rules := range p.wheres {
		for i := range rules {
			rules[i].told = of(Judged{Kind: ir.TypeGate, Type: id, Index: i})
		}
	}
	for _, s := range p.stages {
		for i := range s.require {
			s.require[i].told = of(Judged{Kind: ir.RequireGate, Stage: s.Name, Index: i})
		}
		for i, binding := range s.bindings {
			if binding != nil {
				binding.told = of(Judged{Kind: ir.BindGate, Stage: s.Name, Name: s.Params[i].Name})
			}
		}
		for i := range s.ensure {
			s.ensure[i].told = of(Judged{Kind: ir.EnsureGate, Stage: s.Name, Index: i})
		}
	}
	for i := range p.invariants {
		inv := &p.invariants[i]
		inv.told = of(Judged{Kind: ir.InvariantGate, Name: inv.Name})
		for j := range inv.parts {
			inv.parts[j].rule.told = inv.told
		}
	}
	for i := range p.changes {
		p.changes[i].told = of(Judged{Kind: ir.ChangeGate, Name: p.changes[i].Name})
	}
	for m, guard := range p.guards {
		guard.told = of(Judged{Kind: ir.GuardGate, From: m.from, To: m.to})
	}
	return p, nil
}
