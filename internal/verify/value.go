package verify

import (
	"context"
	"maps"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
)

// Values as arguments. The host gives them as JSON, in the form of a state file: the value
// must be one of the parameter's type, which asks nothing of the state.

// bindValues binds the parameters that are values.
func (v *verification) bindValues() (found []finding) {
	for i := range v.stage.Values {
		p := &v.stage.Values[i]
		text, given := v.proposal.Args[p.Name]
		if !given {
			found = append(found, messages.valueMissing(v.stage.Name, p.Name, v.p.info[p.Type].text))
			continue
		}
		n, bad := v.p.value(v.context(), v.stage.Name, p, text)
		if bad != nil {
			found = append(found, *bad)
			continue
		}
		if v.values == nil {
			v.values = make(map[string]ir.Value, len(v.stage.Values))
		}
		v.values[p.Name] = n
	}
	return found
}

// context is that of the verification; of one that only binds, one that never ends.
func (v *verification) context() context.Context {
	if v.ctx == nil {
		return context.Background()
	}
	return v.ctx
}

// value reads an argument that is a value. It costs what the argument is long, and what the
// constraints of its type cost.
func (p *Program) value(ctx context.Context, stage string, of *ir.ValueParam, text string) (*tree.Node, *finding) {
	name := p.info[of.Type].text
	n, err := tree.Parse([]byte(text), p.limits.Patch.Limits)
	if err != nil {
		return nil, found(messages.valueNoJSON(stage, of.Name, name))
	}
	in := importer{types: &p.types}
	if n = in.value(n, of.Type); len(in.found) > 0 {
		return nil, found(messages.valueMisfit(stage, of, name, in.found[0]))
	}
	n = p.shape(n, of.Type)
	c := typeCheck{types: &p.types, ctx: ctx}
	if c.check(n, of.Type); len(c.found) > 0 {
		return nil, found(messages.valueMisfit(stage, of, name, c.found[0]))
	}
	return n, nil
}

// Arguments are those of a stage with every value in one spelling, so that what reads the
// same is the same; the map it was given if nothing is spelled otherwise. What is no value
// of its type stays as it is.
func (p *Program) Arguments(stage string, args map[string]string) map[string]string {
	s := p.stages[stage]
	if s == nil {
		return args
	}
	out, cloned := args, false
	for i := range s.Values {
		v := &s.Values[i]
		text, given := args[v.Name]
		if !given {
			continue
		}
		n, bad := p.value(context.Background(), stage, v, text)
		if bad != nil {
			continue
		}
		if spelled := string(tree.AppendJSON(nil, p.toFile(n, v.Type))); spelled != text {
			if !cloned {
				out, cloned = maps.Clone(args), true
			}
			out[v.Name] = spelled
		}
	}
	return out
}
