package verify

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// bindArguments binds the stage's parameters in their order (spec/semantics.md
// section 9), each to one key. One that depends on a parameter which did not bind
// is passed over: the cause was reported.
func (v *verification) bindArguments() []finding {
	v.args = make(region.Binding, len(v.stage.Params))
	var found []finding
	for i := range v.stage.Params {
		p := &v.stage.Params[i]
		if !v.bound(p.Of.Params()) {
			continue
		}
		value, bad := v.bindOne(p)
		if bad != nil {
			found = append(found, *bad)
			continue
		}
		v.args[p.Name] = value
	}
	return found
}

func (v *verification) bound(names []string) bool {
	for _, name := range names {
		if _, ok := v.args[name]; !ok {
			return false
		}
	}
	return true
}

func (v *verification) bindOne(p *ir.Param) (string, *finding) {
	value, given := v.proposal.Args[p.Name]
	at := nodeAtPattern(v.snapshot.State, p.Of.Bind(v.args))
	if p.Kind == ir.DependentParam {
		return v.bindDependent(p, at, given)
	}
	var bad finding
	switch {
	case !given:
		bad = say.argumentMissing(v.stage.Name, p)
	case value == "":
		bad = say.argumentEmpty(v.stage.Name, p)
	case slices.Contains(p.Reserved, value):
		bad = say.argumentReserved(v.stage.Name, p)
	case p.Kind == ir.ExistingParam && at.Get(value) == nil:
		bad = say.argumentNotFound(v.stage.Name, p)
	case p.Kind == ir.NewParam && at.Get(value) != nil:
		bad = say.argumentTaken(v.stage.Name, p)
	default:
		return value, nil
	}
	return "", &bad
}

// bindDependent takes the value of a parameter from the state.
func (v *verification) bindDependent(p *ir.Param, at *tree.Node, given bool) (string, *finding) {
	var bad finding
	switch {
	case given:
		bad = say.argumentGiven(v.stage.Name, p)
	case at == nil || at.Kind() != ir.String:
		bad = say.argumentNoString(v.stage.Name, p)
	case at.Text() == "":
		bad = say.argumentEmpty(v.stage.Name, p)
	case slices.Contains(p.Reserved, at.Text()):
		bad = say.argumentReserved(v.stage.Name, p)
	default:
		return at.Text(), nil
	}
	return "", &bad
}
