package expr

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	"github.com/patchoptic/poptic/internal/ir"
)

// slot tells where a name's value is in an Input.
type slot uint8

const (
	stateSlot slot = iota + 1
	beforeSlot
	afterSlot
	selfSlot
	viewSlot
	entrySlot
	phaseSlot
	paramSlot
	measureSlot
)

var rootSlots = map[string]slot{
	"state": stateSlot, "before": beforeSlot, "after": afterSlot, "self": selfSlot, "view": viewSlot, "phase": phaseSlot,
}

// nameSlot is a slot with the measure it may belong to.
type nameSlot struct {
	slot    slot
	measure *measure
}

func (e *Env) slots(s Scope) map[string]nameSlot {
	out := map[string]nameSlot{}
	for _, v := range e.variables(s) {
		switch {
		case v.param != "":
			out[v.name] = nameSlot{slot: paramSlot}
		case v.measure != nil:
			out[v.name] = nameSlot{slot: measureSlot, measure: v.measure}
		case s.Each != nil && s.Vars == ir.EachVars && v.name == s.Each.Var && rootSlots[v.name] == 0:
			out[v.name] = nameSlot{slot: entrySlot}
		default:
			out[v.name] = nameSlot{slot: rootSlots[v.name]}
		}
	}
	return out
}

// An activation resolves names during one evaluation. It is pooled.
type activation struct {
	program *Program
	input   *Input
	meter   meter
}

var _ interpreter.Activation = (*activation)(nil)

func (a *activation) Parent() interpreter.Activation { return nil }

func (a *activation) ResolveName(name string) (any, bool) {
	s, ok := a.program.slots[name]
	if !ok {
		return &a.meter, name == meterName
	}
	in, state := a.input, a.program.state
	switch s.slot {
	case stateSlot:
		return a.wrap(in.State, state)
	case beforeSlot:
		return a.wrap(in.Before, state)
	case afterSlot:
		return a.wrap(in.After, state)
	case viewSlot:
		return a.wrap(in.View, state)
	case selfSlot:
		return a.wrap(in.Self, a.program.self)
	case entrySlot:
		return a.wrap(in.Entry, a.program.entry)
	case phaseSlot:
		return types.String(in.Phase), true
	case paramSlot:
		text, bound := in.Params[name]
		return types.String(text), bound
	}
	if in.Measure == nil {
		return nil, false
	}
	return s.measure.value(in.Measure(name)), true
}

func (a *activation) wrap(v ir.Value, s *shape) (any, bool) {
	if v == nil {
		return nil, false
	}
	return wrap(v, s, &a.meter), true
}
