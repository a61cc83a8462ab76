package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// Binding (spec/semantics.md section 9). Each parameter of a stage is bound once for a view or
// a proposal: one that is a key to what the host gives, if the state has it, or has it not yet,
// and to what stands at a place; one that is a value to that (value.go). A key is bound only
// where the condition on its parameter holds. Where it does not, the actor is told what it
// would be told if there were no such key.

// bindArguments binds the stage's parameters in their order. One that depends on a parameter
// which did not bind is passed over, and so is one with a condition behind anything that did
// not: the cause was reported. Whether there is such a key is not told where the condition
// cannot be asked.
func (v *verification) bindArguments() []finding { return v.bind(true) }

// bind is bindArguments, which asks the conditions or does not: what a stage sees with some
// arguments is the same whether or not it may be shown.
func (v *verification) bind(asks bool) []finding {
	if v.args == nil {
		v.args = make(region.Binding, len(v.stage.Params))
	}
	var found []finding
	misfits := v.bindValues()
	for i := range v.stage.Params {
		p := &v.stage.Params[i]
		conditional := asks && p.Where != nil
		if !v.bound(&p.Of) || conditional && len(found)+len(misfits) > 0 {
			continue
		}
		value, bad := v.bindOne(p)
		if bad == nil {
			v.args[p.Name] = value
			if conditional {
				bad = v.unfulfilled(p, v.stage.bindings[i])
			}
		}
		if bad != nil {
			delete(v.args, p.Name)
			found = append(found, *bad)
		}
	}
	return append(found, misfits...)
}

// unfulfilled is what the condition on a parameter has against what it is bound to, nil if it
// holds. It has the limit on one evaluation alone: a view and a proposal bind alike.
func (v *verification) unfulfilled(p *ir.Param, condition *rule) *finding {
	m := measures{p: v.p, ctx: v.ctx, state: v.snapshot.State}
	j := condition.judge(v.ctx, &expr.Input{
		State: v.snapshot.State, Role: v.proposal.Role, Actor: v.proposal.Actor, Now: v.proposal.Now,
		Values: v.values, Params: v.args, Phase: v.snapshot.Phase, Measure: m.lookup,
	})
	if j == holds {
		return nil
	}
	return found(messages.unfulfilled(v.stage.Name, p, j))
}

// toldOf is what an actor is told of what binding found: of a condition nothing.
func (v *verification) toldOf(all []finding) []finding {
	out := slices.Clone(all)
	for i := range out {
		for j := range v.stage.Params {
			if p := &v.stage.Params[j]; out[i].rule == ir.BindGate && out[i].name == p.Name {
				out[i] = messages.unbound(v.stage.Name, p)
			}
		}
	}
	return out
}

// bound reports whether all parameters of a pattern are bound.
func (v *verification) bound(p *region.Pattern) bool {
	for _, s := range p.Segments {
		if _, ok := v.args[s.Text]; s.Kind == region.ParamSegment && !ok {
			return false
		}
	}
	return true
}

func (v *verification) bindOne(p *ir.Param) (string, *finding) {
	value, given := v.proposal.Args[p.Name]
	at := nodeAtBound(v.snapshot.State, p.Of, v.args)
	if p.Kind == ir.DependentParam {
		return v.bindDependent(p, at, given)
	}
	switch {
	case !given:
		return "", found(messages.argumentMissing(v.stage.Name, p))
	case value == "":
		return "", found(messages.argumentEmpty(v.stage.Name, p))
	case slices.Contains(p.Reserved, value):
		return "", found(messages.argumentReserved(v.stage.Name, p))
	case p.Kind == ir.ExistingParam && at.Get(value) == nil,
		p.Kind == ir.ElementParam && !holdsText(at, value),
		p.Kind == ir.NewParam && at.Get(value) != nil:
		return "", found(messages.unbound(v.stage.Name, p))
	default:
		return value, nil
	}
}

// holdsText reports whether a list or set has a string as an element.
func holdsText(list *tree.Node, text string) bool {
	if list == nil || list.Kind() != ir.Array {
		return false
	}
	for _, n := range list.Elements() {
		if n.Kind() == ir.String && n.Text() == text {
			return true
		}
	}
	return false
}

// bindDependent takes the value of a parameter from the state.
func (v *verification) bindDependent(p *ir.Param, at *tree.Node, given bool) (string, *finding) {
	switch {
	case given:
		return "", found(messages.argumentGiven(v.stage.Name, p))
	case at == nil || at.Kind() != ir.String:
		return "", found(messages.unbound(v.stage.Name, p))
	case at.Text() == "":
		return "", found(keptBack(p, messages.argumentEmpty(v.stage.Name, p)))
	case slices.Contains(p.Reserved, at.Text()):
		return "", found(keptBack(p, messages.argumentReserved(v.stage.Name, p)))
	default:
		return at.Text(), nil
	}
}

// keptBack is what is wrong with a text of the state that a parameter takes. Where a condition
// could keep it back, and cannot be asked, the actor is told as if it did.
func keptBack(p *ir.Param, f finding) finding {
	if p.Where == nil {
		return f
	}
	return f.of(ir.BindGate, p.Name)
}

func found(f finding) *finding { return &f }
