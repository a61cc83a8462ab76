package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// newNodes lists the nodes that the new state type has and the old one has not,
// without those below others.
func (d *differ) newNodes() []region.Pattern {
	var out []region.Pattern
	known := map[string]bool{}
	d.newModel.EachTyped(func(p region.Pattern, t *ir.Type) bool {
		if len(d.oldModel.Shape.At(p)) > 0 {
			return true
		}
		if key := p.String(); !known[key] {
			known[key] = true
			out = append(out, p)
		}
		return false
	})
	return out
}

// newMembers notes new nodes of the state that a stage reaches by what it had.
func (d *differ) newMembers(was, is *ir.Stage) {
	for _, p := range d.fresh {
		if d.newModel.Spent() {
			if !d.stopped {
				d.stopped = true
				d.note(Changed, "", "type", "", "not every place that is new in the state was compared with every stage: that takes more than %d steps of searches", footprint.MaxSteps)
			}
			return
		}
		at := region.Region{{Include: []region.Pattern{p}}}
		for _, a := range []struct {
			clause, verb string
			was, is      region.Region
			mode         region.Mode
		}{
			{"read", "reads", was.Read, is.Read, region.Plain},
			{"write", "writes", was.Write, is.Write, region.Interior},
			{"source", "takes from", was.Source, is.Source, region.Interior},
		} {
			if d.meets(a.was, at, a.mode) && d.meets(a.is, at, a.mode) {
				d.note(Widened, is.Name, a.clause, p.Source(), "%s %s, which is new in the state", a.verb, p.Source())
			}
		}
	}
}

func (d *differ) meets(r, at region.Region, mode region.Mode) bool {
	if len(r) == 0 {
		return false
	}
	for _, g := range r {
		d.newModel.Meter.Spend(1 + 4*(len(g.Include)+len(g.Except)))
	}
	return region.Overlap(region.Compile(r), region.Compile(at), mode, region.Plain, region.Options{VerdictOnly: true, Meter: d.newModel.Meter}).Verdict != region.No
}

// A node is what the type of one place of the state says.
type node struct {
	at     string
	values []string // kinds and literals
	rules  []named  // constraints, references, secrecy, as they are shown and in one spelling
	absent bool     // it is an optional member
}

// types compares the places that both state types have.
func (d *differ) types() {
	old := map[string]node{}
	for _, n := range nodes(d.oldModel) {
		old[n.at] = n
	}
	for _, n := range nodes(d.newModel) {
		was, known := old[n.at]
		if !known {
			continue
		}
		for _, v := range n.values {
			if !slices.Contains(was.values, v) && !slices.Contains(was.values, "any") && !admits(was.values, v) {
				d.note(Widened, "", "type", n.at, "%s may be %s", n.at, v)
			}
		}
		for _, v := range was.values {
			if !slices.Contains(n.values, v) && !slices.Contains(n.values, "any") && !admits(n.values, v) {
				d.note(Narrowed, "", "type", n.at, "%s may no longer be %s", n.at, v)
			}
		}
		d.nodeRules(was, n)
	}
}

func (d *differ) nodeRules(was, n node) {
	for _, r := range was.rules {
		if !n.has(r) {
			d.note(Widened, "", "type", n.at, "%s is no longer %s", n.at, r.name)
		}
	}
	for _, r := range n.rules {
		if !was.has(r) {
			d.note(Narrowed, "", "type", n.at, "%s is %s", n.at, r.name)
		}
	}
	if n.absent && !was.absent {
		d.note(Widened, "", "type", n.at, "%s may be absent", n.at)
	} else if was.absent && !n.absent {
		d.note(Narrowed, "", "type", n.at, "%s may no longer be absent", n.at)
	}
}

func (n node) has(rule named) bool {
	return slices.ContainsFunc(n.rules, func(r named) bool { return r.text == rule.text })
}

// ruled adds a rule that a node has not yet.
func (n *node) ruled(shown, text string) {
	if r := (named{shown, text}); !n.has(r) {
		n.rules = append(n.rules, r)
	}
}

// nodes lists the typed places of a state, those that alternatives share as one.
func nodes(m *footprint.Model) []node {
	var out []node
	at := map[string]int{}
	optional := optionalMembers(m)
	m.EachTyped(func(p region.Pattern, t *ir.Type) bool {
		name := p.Source()
		i, known := at[name]
		if !known {
			i, at[name] = len(out), len(out)
			out = append(out, node{at: name, absent: optional[p.String()]})
		}
		if t.Kind != ir.UnionType {
			out[i].values = appendNew(out[i].values, valueOf(t))
		}
		for _, x := range t.Where {
			out[i].ruled("constrained by { "+folded(x.Source)+" }", "where "+oneSpelling(x.Source))
		}
		if t.Kind == ir.RefType {
			out[i].ruled("a key of "+t.Target.Source(), "key of "+t.Target.Source())
		}
		if t.Secret {
			out[i].ruled("secret", "secret")
		}
		return true
	})
	return out
}

// valueOf names the values of a type, as far as comparing them goes.
func valueOf(t *ir.Type) string {
	switch t.Kind {
	case ir.LiteralType:
		return t.Literal
	case ir.RefType:
		return string(ir.StringType)
	case ir.KeyedType:
		return fmt.Sprintf("list by %s", t.KeyField)
	}
	return string(t.Kind)
}

// admits reports whether values admit one that is named otherwise: a literal of its
// type, an int as a number or a decimal, and these as each other.
func admits(values []string, v string) bool {
	switch {
	case strings.HasPrefix(v, `"`):
		return slices.Contains(values, string(ir.StringType))
	case v == "true" || v == "false":
		return slices.Contains(values, string(ir.BoolType))
	case v == string(ir.IntType), v == string(ir.NumberType), v == string(ir.DecimalType):
		return slices.Contains(values, string(ir.NumberType)) || slices.Contains(values, string(ir.DecimalType))
	case strings.ContainsAny(v[:1], "-0123456789"):
		return slices.Contains(values, string(ir.NumberType)) || slices.Contains(values, string(ir.DecimalType)) || slices.Contains(values, string(ir.IntType))
	}
	return false
}

func optionalMembers(m *footprint.Model) map[string]bool {
	out := map[string]bool{}
	m.EachTyped(func(p region.Pattern, t *ir.Type) bool {
		for _, member := range t.Members {
			if member.Optional {
				out[footprint.Extend(p, region.Segment{Kind: region.KeyLiteral, Text: member.Name}).String()] = true
			}
		}
		return true
	})
	return out
}
