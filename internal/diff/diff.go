// Package diff compares what two contracts allow.
//
// Not their texts are compared, but what they mean: regions are decided against each
// other, and what one allows and the other does not is shown by a path. Rules are CEL,
// which is compared by what it says in one spelling: a rule that is gone widens, a new one
// narrows, and one that was rewritten is both.
//
// Contracts is the entry point. A Comparison is data that marshals to JSON; text for
// people is made from it by who shows it.
package diff

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// An Effect says in which direction a change goes.
type Effect string

// The effects. Changed is what cannot be compared, such as a rule that was rewritten;
// a reviewer must take it for widened.
const (
	Widened  Effect = "widened"
	Narrowed Effect = "narrowed"
	Changed  Effect = "changed"
)

// A Change is one thing that two contracts do not have in common.
type Change struct {
	Effect Effect `json:"effect"`
	Stage  string `json:"stage,omitempty"` // empty: the contract as a whole
	What   string `json:"what"`            // stage, read, write, source, delegable, in, by, next, rule, claim, type, ...
	Path   string `json:"path,omitempty"`  // a path that shows it
	Detail string `json:"detail"`          // in words
}

// A Comparison is what changed from one contract to another, stage by stage, then for
// the contract as a whole.
type Comparison struct {
	Contract string   `json:"contract"`
	Old      string   `json:"old"` // digests
	New      string   `json:"new"`
	Widened  bool     `json:"widened"` // something did, or cannot be compared
	Changes  []Change `json:"changes"`
}

// Contracts compares two contracts. Stages are the same if they have the same name;
// parameters, if they stand at the same place. What searches cannot decide within
// footprint.MaxSteps steps is listed as changed.
func Contracts(old, new *ir.Contract) Comparison {
	d := &differ{
		old: old, new: new, oldModel: footprint.Measured(old), newModel: footprint.Measured(new),
		out: Comparison{Contract: new.Name, Old: old.Digest(), New: new.Digest(), Changes: []Change{}},
	}
	d.fresh = d.newNodes()
	d.stages()
	d.phases()
	d.contract()
	d.types()
	d.out.Widened = slices.ContainsFunc(d.out.Changes, func(c Change) bool { return c.Effect != Narrowed })
	return d.out
}

type differ struct {
	old, new           *ir.Contract
	oldModel, newModel *footprint.Model
	fresh              []region.Pattern // nodes that only the new state type has
	stopped            bool             // that not all of them were compared was said
	out                Comparison
}

func (d *differ) note(effect Effect, stage, what, path, format string, args ...any) {
	d.out.Changes = append(d.out.Changes, Change{Effect: effect, Stage: stage, What: what, Path: path, Detail: fmt.Sprintf(format, args...)})
}

// names notes what one list of names has and the other has not.
func (d *differ) names(stage, what string, old, new []string, gained, lost string) {
	had, has := listed(old), listed(new)
	for _, n := range new {
		if !had[n] {
			d.note(Widened, stage, what, "", gained, n)
		}
	}
	for _, n := range old {
		if !has[n] {
			d.note(Narrowed, stage, what, "", lost, n)
		}
	}
}

func listed(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, n := range names {
		out[n] = true
	}
	return out
}

func (d *differ) stages() {
	for i := range d.new.Stages {
		s := &d.new.Stages[i]
		if was := d.old.Stage(s.Name); was != nil {
			is, names := aligned(s, was)
			d.stage(was, is, names)
			continue
		}
		d.note(Widened, s.Name, "stage", "", "is new, and runs in %s", strings.Join(s.In, ", "))
		d.stage(&ir.Stage{Name: s.Name, By: s.By, In: s.In, HasDelegable: s.HasDelegable, Require: s.Require, Ensure: s.Ensure, Produce: s.Produce, Params: s.Params, Values: s.Values, Attempts: s.Attempts}, s, nil)
	}
	for _, s := range d.old.Stages {
		if d.new.Stage(s.Name) == nil {
			d.note(Narrowed, s.Name, "stage", "", "is gone")
		}
	}
}

// aligned is a stage with its parameters renamed to those of what it was, if they are
// as many, of the same kinds; names has what they were for what they are. Its conditions are
// left as they are.
func aligned(s, was *ir.Stage) (out *ir.Stage, names map[string]string) {
	names = map[string]string{}
	for i, p := range s.Params {
		if len(was.Params) != len(s.Params) || was.Params[i].Kind != p.Kind {
			return s, nil
		}
		names[p.Name] = was.Params[i].Name
	}
	rename := func(name string) string { return names[name] }
	as := *s
	out = &as
	out.Read, out.Write, out.Blind = s.Read.Rename(rename), s.Write.Rename(rename), s.Blind.Rename(rename)
	out.Source, out.Delegable = s.Source.Rename(rename), s.Delegable.Rename(rename)
	if h := s.Handed; h != nil {
		out.Handed = &ir.Handed{Kinds: h.Kinds, Read: h.Read.Rename(rename), Write: h.Write.Rename(rename), Rights: h.Rights, Blind: h.Blind.Rename(rename), Source: h.Source.Rename(rename)}
	}
	out.Params, out.Produce = slices.Clone(s.Params), slices.Clone(s.Produce)
	for i := range out.Params {
		out.Params[i].Name, out.Params[i].Of = was.Params[i].Name, s.Params[i].Of.Rename(rename)
	}
	for i := range out.Produce {
		out.Produce[i] = s.Produce[i].Rename(rename)
	}
	return out, names
}

// stage compares what a stage was with what it is.
func (d *differ) stage(was, is *ir.Stage, names map[string]string) {
	d.grants(was, is, ir.HandedKinds(), authority{is.Name, "", "", region.Plain})
	d.delegable(was, is)
	d.newMembers(was, is)
	d.names(is.Name, "in", was.In, is.In, "runs in phase %s", "no longer runs in phase %s")
	d.roles(was, is)
	d.names(is.Name, "next", was.Next, is.Next, "may move to phase %s", "no longer moves to phase %s")
	d.conditions(is.Name, conditionsOf(was, nil), conditionsOf(is, names))
	d.names(is.Name, "rule", produced(is), produced(was), "no longer has to pass: %s", "has to pass: %s")
	d.names(is.Name, "discloses", disclosed(was), disclosed(is), "tells by accepting and rejecting: %s", "no longer tells: %s")
	d.names(is.Name, "discloses", told(was), told(is), "tells what it knows by the %s it moves to", "no longer tells what it knows by the %s it moves to")
	d.parameters(was, is)
	switch {
	case was.Attempts == is.Attempts:
	case is.Attempts == 0 || was.Attempts != 0 && is.Attempts > was.Attempts:
		d.note(Widened, is.Name, "attempts", "", "may try more often: %s instead of %s", attempts(is), attempts(was))
	default:
		d.note(Narrowed, is.Name, "attempts", "", "may try less often: %s instead of %s", attempts(is), attempts(was))
	}
}

func attempts(s *ir.Stage) string {
	if s.Attempts == 0 {
		return "without a limit of its own"
	}
	return fmt.Sprintf("%d times", s.Attempts)
}

// An authority is a clause of a stage, as messages name it, and how it is read.
type authority struct {
	stage, clause, verb string
	mode                region.Mode
}

func (d *differ) regions(was, is region.Region, a authority) {
	if reflect.DeepEqual(was, is) {
		return
	}
	d.gained(is, was, a)
	d.lost(was, is, a)
}

func (d *differ) gained(is, was region.Region, a authority) {
	for _, w := range beyond(d.newModel, is, was, a.mode) {
		d.note(Widened, a.stage, a.clause, w, "%s %s", a.verb, w)
	}
}

func (d *differ) lost(was, is region.Region, a authority) {
	for _, w := range beyond(d.oldModel, was, is, a.mode) {
		d.note(Narrowed, a.stage, a.clause, w, "no longer %s %s", a.verb, w)
	}
}

// beyond lists, for every pattern of a that does not lie in b, a path that shows it.
func beyond(m *footprint.Model, a, b region.Region, mode region.Mode) []string {
	var out []string
	whole := region.Compile(b)
	for _, g := range a {
		for _, p := range g.Include {
			w, within := m.WithinSet(region.Region{{Include: []region.Pattern{p}, Except: g.Except}}, whole, mode, mode)
			switch {
			case within:
			case w == nil:
				out = appendNew(out, p.Source()+" (which could not be compared)")
			default:
				out = appendNew(out, footprint.PathText(w))
			}
		}
	}
	return out
}

// appendNew appends x unless the list has it.
func appendNew(list []string, x string) []string {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// grants compares what stages are granted of some kinds; a.clause and a.verb are put before
// the words of a kind.
func (d *differ) grants(was, is *ir.Stage, kinds []ir.HandedKind, a authority) {
	as := func(clause, verb string, mode region.Mode) authority {
		return authority{a.stage, a.clause + clause, a.verb + verb, mode}
	}
	if slices.Contains(kinds, ir.HandsRead) {
		d.regions(was.Read, is.Read, as("read", "reads", region.Plain))
	}
	if slices.Contains(kinds, ir.HandsWrite) {
		for _, right := range ir.RightsCompared(was, is) {
			verb := "writes"
			if right != ir.AllRights {
				verb = right.Words()[0] + "s"
			}
			d.regions(was.Writing(right), is.Writing(right), as("write", verb, region.Interior))
		}
		d.gained(is.Blind, region.Union(was.Writing(ir.Create), was.Blind), as("write", "writes blind", region.Interior))
		d.lost(was.Blind, region.Union(is.Writing(ir.Create), is.Blind), as("write", "writes blind", region.Interior))
	}
	if slices.Contains(kinds, ir.HandsSource) {
		d.regions(was.Source, is.Source, as("source", "takes from", region.Interior))
	}
}

// delegable compares what may be handed down; without the clause all of it may.
func (d *differ) delegable(was, is *ir.Stage) {
	a := authority{is.Name, "delegable", "may hand down", region.Plain}
	switch {
	case was.Handed != nil || is.Handed != nil:
		d.handed(was, is)
	case was.HasDelegable && is.HasDelegable:
		d.regions(was.Delegable, is.Delegable, a)
	case was.HasDelegable:
		d.note(Widened, is.Name, "delegable", "", "may hand down all it has")
	case is.HasDelegable:
		d.note(Narrowed, is.Name, "delegable", "", "may hand down only a part of what it has")
	}
}

// handed compares what may be handed down by kinds, of those where one of the stages hands down
// something else than all that it has.
func (d *differ) handed(was, is *ir.Stage) {
	kinds := slices.DeleteFunc(ir.HandedKinds(), func(k ir.HandedKind) bool {
		return !was.Handed.Has(k) && !is.Handed.Has(k) && !was.HasDelegable && !is.HasDelegable
	})
	old, _ := d.oldModel.Share(was)
	now, exact := d.newModel.Share(is)
	if !exact {
		now = is // more than it hands down
	}
	d.grants(old, now, kinds, authority{is.Name, "delegable ", "may hand down what ", region.Plain})
}

// roles compares who may run a stage; without the clause everybody may.
func (d *differ) roles(was, is *ir.Stage) {
	switch {
	case len(was.By) > 0 && len(is.By) == 0:
		d.note(Widened, is.Name, "by", "", "may be run by every role")
	case len(was.By) == 0 && len(is.By) > 0:
		d.note(Narrowed, is.Name, "by", "", "may be run by %s only", strings.Join(is.By, ", "))
	default:
		d.names(is.Name, "by", was.By, is.By, "may be run by %s", "may no longer be run by %s")
	}
}

// A condition is a clause of a stage: how it is shown, and what it asks, operand by operand
// in one spelling.
type condition struct {
	text     string
	operands []string
}

// conditionsOf lists the conditions of a stage, those on its parameters first. Its parameters
// are called names[p] here.
func conditionsOf(s *ir.Stage, names map[string]string) []condition {
	var out []condition
	add := func(clause string, x ir.Expr) {
		c := condition{text: clause + " { " + folded(x.Source) + " }"}
		for _, operand := range spelled(x.Source, func(name string) string {
			if was, ok := names[name]; ok {
				name = was
			}
			return name
		}) {
			c.operands = append(c.operands, clause+" "+operand)
		}
		out = append(out, c)
	}
	for _, p := range s.Params {
		if p.Where != nil {
			add(p.Name+" where", *p.Where)
		}
	}
	for _, kind := range []ir.GateKind{ir.RequireGate, ir.EnsureGate} {
		for _, x := range s.Conditions(kind) {
			add(string(kind), x)
		}
	}
	return out
}

// spelled lists what an expression asks, in one spelling.
func spelled(source string, name func(string) string) []string {
	if out := expr.Canonical(source, name); out != nil {
		return out
	}
	return []string{folded(source)}
}

// conditions compares require and ensure: one is gone of which something is asked no more.
func (d *differ) conditions(stage string, was, is []condition) {
	lacks := func(c condition, others []condition) bool {
		return slices.ContainsFunc(c.operands, func(operand string) bool {
			return !slices.ContainsFunc(others, func(o condition) bool { return slices.Contains(o.operands, operand) })
		})
	}
	for _, c := range was {
		if lacks(c, is) {
			d.note(Widened, stage, "rule", "", "no longer has to pass: %s", c.text)
		}
	}
	for _, c := range is {
		if lacks(c, was) {
			d.note(Narrowed, stage, "rule", "", "has to pass: %s", c.text)
		}
	}
}

func produced(s *ir.Stage) []string {
	var out []string
	for _, p := range s.Produce {
		out = append(out, "produce "+p.Source())
	}
	return out
}

func folded(text string) string { return strings.Join(strings.Fields(text), " ") }

func disclosed(s *ir.Stage) []string {
	var out []string
	for _, g := range s.Gates {
		if g.Visibility == ir.Disclosed {
			out = append(out, footprint.GateName(g))
		}
	}
	return out
}

// told is "phase" if a stage discloses which one it moves to.
func told(s *ir.Stage) []string {
	if s.DisclosesPhase {
		return []string{"phase"}
	}
	return nil
}

// parameters notes parameters that are not what they were.
func (d *differ) parameters(was, is *ir.Stage) {
	text := func(c *ir.Contract, s *ir.Stage) (out []string) {
		for _, p := range s.Params {
			out = append(out, fmt.Sprintf("%s %s %s", p.Name, p.Kind, p.Of.Source()))
		}
		for _, v := range s.Values {
			out = append(out, v.Name+": "+c.TypeText(v.Type))
		}
		return out
	}
	for _, v := range is.Values {
		if old := was.Value(v.Name); old != nil && !ir.SameType(d.old, old.Type, d.new, v.Type) && d.old.TypeText(old.Type) == d.new.TypeText(v.Type) {
			d.note(Changed, is.Name, "parameters", "", "the type %s of %s is another one", d.new.TypeText(v.Type), v.Name)
		}
	}
	if a, b := text(d.old, was), text(d.new, is); !slices.Equal(a, b) {
		d.note(Changed, is.Name, "parameters", "", "has other parameters: (%s) instead of (%s)", strings.Join(b, ", "), strings.Join(a, ", "))
	}
}
