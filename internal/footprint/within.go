package footprint

import (
	"slices"
	"strings"
	"sync"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A stage lies within another if it may do nothing that the other may not: whenever
// it runs, the other may run in its place, in the same phase, for the same role, to the
// same phase, with as many tries, and with arguments taken from its own; the rules that
// judge the other judge it; and what it is told, sees, writes, takes and hands down lies
// in what the other does. A composition stands for its stages: on the left each of them
// must lie within; on the right those that may run in its place have their grants together.

// An Excess is what a stage may do, apart from its regions: Clause is in, by, next,
// attempts, rules or parameters, and What says it in words.
type Excess struct {
	Stage  string
	Clause string
	What   string
}

func (m *Model) decideWithin(a, b string) Result {
	outer := m.stagesOf(b)
	for _, s := range m.stagesOf(a) {
		w := within{model: m, inner: s, outer: outer}
		if r := w.decide(); !isProved(r) {
			return r
		}
	}
	return Proved{}
}

func isProved(r Result) bool {
	_, proved := r.(Proved)
	return proved
}

// stagesOf lists a stage, or the stages of a composition.
func (m *Model) stagesOf(name string) []*ir.Stage {
	if s := m.Contract.Stage(name); s != nil {
		return []*ir.Stage{s}
	}
	var out []*ir.Stage
	for _, c := range m.Contract.Compositions {
		if c.Name == name {
			for _, i := range m.indices(c.Stages) {
				out = append(out, &m.Contract.Stages[i])
			}
		}
	}
	return out
}

// A within compares one stage with others that stand for one.
type within struct {
	model *Model
	inner *ir.Stage
	outer []*ir.Stage
	given map[string]bool // by clause and operand, what judges the inner stage; once asked for

	tried int
	best  failure
	aside []bystander
}

// A bystander is an outer stage that does not stand for the inner one, for a reason beside
// what it grants, with the parameters of the same names as arguments.
type bystander struct {
	match
	why Excess
}

// A failure is why one way of matching parameters shows nothing. The one that gets
// farthest tells the most.
type failure struct {
	got    int
	result Result
}

func (w *within) fail(got int, r Result) {
	if w.best.result == nil || got > w.best.got {
		w.best = failure{got, r}
	}
}

// How far a comparison gets.
const (
	gotNowhere = iota
	gotParams
	gotRules
)

func (w *within) decide() Result {
	var known []string
	for _, t := range turns(w.inner, w.model.Contract) {
		if w.model.Meter.Spend(len(w.outer)); w.model.Spent() {
			return spent()
		}
		able, excess := w.able(t)
		if excess != nil {
			return Refuted{Excess: excess}
		}
		var names []string
		for _, s := range able {
			names = append(names, s.Name)
		}
		if key := strings.Join(names, " "); !slices.Contains(known, key) {
			known, w.best, w.aside = append(known, key), failure{}, w.unable(t, able)
			if !w.covered(able) {
				return w.best.result
			}
		}
	}
	return Proved{}
}

// A turn is one way in which a stage may run: in a phase, for a role ("" is one that
// nobody names), to a phase ("" is none).
type turn struct{ phase, role, to string }

func turns(s *ir.Stage, c *ir.Contract) []turn {
	roles := s.By
	if len(roles) == 0 {
		roles = []string{""}
	}
	var out []turn
	for _, phase := range s.In {
		for _, role := range roles {
			for _, to := range moves(s, c.Phase(phase)) {
				out = append(out, turn{phase, role, to})
			}
		}
	}
	return out
}

// moves lists the phases a commit of a stage may lead to, "" for none.
func moves(s *ir.Stage, from *ir.Phase) []string {
	if len(s.Next) == 0 {
		return []string{""}
	}
	var out []string
	for _, a := range from.Arrows {
		if slices.Contains(s.Next, a.To) {
			out = append(out, a.To)
		}
	}
	return out
}

// able lists the outer stages that may take a turn of the inner one; if there is none,
// the clause that keeps them from it.
func (w *within) able(t turn) ([]*ir.Stage, *Excess) {
	runs := "every role may run it"
	if t.role != "" {
		runs = "role " + t.role + " may run it"
	}
	goes := "it moves to phase " + t.to
	if t.to == "" {
		goes = "it stays in phase " + t.phase
	}
	left := slices.Clone(w.outer)
	for _, demand := range []struct {
		clause, what string
		fits         func(*ir.Stage) bool
	}{
		{"in", "it runs in phase " + t.phase, func(s *ir.Stage) bool { return slices.Contains(s.In, t.phase) }},
		{"by", runs, func(s *ir.Stage) bool { return len(s.By) == 0 || slices.Contains(s.By, t.role) }},
		{"next", goes, func(s *ir.Stage) bool { return slices.Contains(moves(s, w.model.Contract.Phase(t.phase)), t.to) }},
		{"attempts", "it has more attempts", func(s *ir.Stage) bool { return s.Tries() >= w.inner.Tries() }},
	} {
		left = slices.DeleteFunc(left, func(s *ir.Stage) bool { return !demand.fits(s) })
		if len(left) == 0 {
			return nil, &Excess{Stage: w.inner.Name, Clause: demand.clause, What: demand.what}
		}
	}
	return left, nil
}

// unable lists the outer stages that may not take a turn which others may.
func (w *within) unable(t turn, able []*ir.Stage) []bystander {
	var out []bystander
	i := 0 // able is a part of the outer stages, in their order
	for _, s := range w.outer {
		if i < len(able) && able[i] == s {
			i++
			continue
		}
		args := map[string]string{}
		for _, p := range s.Params {
			args[p.Name] = p.Name
		}
		alone := within{model: w.model, inner: w.inner, outer: []*ir.Stage{s}}
		if _, why := alone.able(t); why != nil {
			why.What += ", as " + s.Name + " does not"
			out = append(out, bystander{match{s, args}, *why})
		}
	}
	return out
}

// A match is an outer stage with an argument for each of its parameters: one of the
// inner stage's parameters.
type match struct {
	stage *ir.Stage
	args  map[string]string
}

func (x match) arg(param string) string { return x.args[param] }

// covered reports whether some way of matching parameters leaves the inner stage
// nothing that the outer ones, together, may not do.
func (w *within) covered(outer []*ir.Stage) bool {
	var options [][]match
	for _, s := range outer {
		if found := w.matches(s); len(found) > 0 {
			options = append(options, found)
		}
	}
	return len(options) > 0 && w.search(options, nil)
}

// maxMatches bounds the ways of matching parameters that are tried.
const maxMatches = 4096

func (w *within) search(options [][]match, chosen []match) bool {
	if len(chosen) < len(options) {
		return slices.ContainsFunc(options[len(chosen)], func(x match) bool {
			return w.search(options, append(chosen, x))
		})
	}
	if w.model.Spent() {
		w.best = failure{result: spent()}
		return false
	}
	if w.tried++; w.tried > maxMatches {
		w.best = failure{result: Unknown{Why: "there are too many ways to match the parameters of " + w.inner.Name}}
		return false
	}
	return w.contained(chosen)
}

// matches lists the ways to give a stage arguments under which the inner stage is
// judged by all its rules. Parameters of one name are tried first.
func (w *within) matches(outer *ir.Stage) []match {
	var out []match
	var extend func(args map[string]string)
	extend = func(args map[string]string) {
		if len(args) < len(outer.Params) {
			q := outer.Params[len(args)]
			fits := w.fitting(q, args)
			if len(fits) == 0 {
				w.fail(gotNowhere, Refuted{Excess: &Excess{Stage: w.inner.Name, Clause: "parameters", What: "its arguments need not fit `" + ParamText(q) + "` of " + outer.Name}})
			}
			for _, p := range fits {
				if w.model.Meter.Spend(len(outer.Params)); len(out) > maxMatches || w.model.Spent() {
					return
				}
				next := map[string]string{q.Name: p}
				for k, v := range args {
					next[k] = v
				}
				extend(next)
			}
			return
		}
		x := match{outer, args}
		if rule := w.missingRule(x); rule != "" {
			why := Excess{Stage: w.inner.Name, Clause: "rules", What: "it is not judged by `" + rule + "` of " + outer.Name}
			w.fail(gotParams, Refuted{Excess: &why})
			if len(w.aside) == 0 || w.aside[len(w.aside)-1].stage != outer {
				w.aside = append(w.aside, bystander{x, why}) // parameters of one name come first
			}
			return
		}
		out = append(out, x)
	}
	if why := w.missingValue(outer); why != "" {
		w.fail(gotNowhere, Refuted{Excess: &Excess{Stage: w.inner.Name, Clause: "parameters", What: why}})
		return nil
	}
	extend(map[string]string{})
	return out
}

// missingValue says which value an outer stage takes that the inner one does not, "" if there
// is none: values go by their names.
func (w *within) missingValue(outer *ir.Stage) string {
	for _, v := range outer.Values {
		if own := w.inner.Value(v.Name); own == nil || !ir.SameType(w.model.Contract, own.Type, w.model.Contract, v.Type) {
			return "it takes no `" + v.Name + ": " + w.model.Contract.TypeText(v.Type) + "` as " + outer.Name + " does"
		}
	}
	return ""
}

// fitting lists the parameters of the inner stage that may be the argument for an
// outer one: of the same kind and taken from the same place, or certainly a key of the
// container; and never a key that the outer one cannot be.
func (w *within) fitting(q ir.Param, args map[string]string) []string {
	of := q.Of.Rename(func(p string) string { return args[p] })
	var out []string
	for _, p := range w.inner.Params {
		same := p.Kind == q.Kind && p.Of.String() == of.String()
		vouched := q.Kind == ir.ExistingParam && w.model.vouched(w.inner, p.Name, of)
		if !same && !vouched || !containsAll(p.Reserved, q.Reserved) {
			continue
		}
		if p.Name == q.Name {
			out = slices.Insert(out, 0, p.Name)
		} else {
			out = append(out, p.Name)
		}
	}
	return out
}

func containsAll(list, xs []string) bool {
	return !slices.ContainsFunc(xs, func(x string) bool { return !slices.Contains(list, x) })
}

// missingRule is a rule of an outer stage that does not judge the inner one, "" if there
// is none.
func (w *within) missingRule(x match) string {
	if w.given == nil {
		same := func(p string) string { return p }
		w.given = map[string]bool{}
		for _, r := range w.rulesOf(w.inner, same) {
			for _, operand := range r.operands {
				w.given[r.clause+operand] = true
			}
		}
	}
	rules, known := w.model.outerRules[x.stage]
	if !known {
		rules = w.rulesOf(x.stage, x.arg)
		if len(x.stage.Params) == 0 {
			w.model.outerRules[x.stage] = rules
		}
	}
	w.model.Meter.Spend(len(rules))
	for _, r := range rules {
		for _, operand := range r.operands {
			if !w.given[r.clause+operand] {
				return r.clause + " " + r.text
			}
		}
	}
	return ""
}

// A rule is one that only a stage's own commits are judged by.
type rule struct {
	clause, text string
	operands     []string // all must hold; in one spelling
}

func (w *within) rulesOf(s *ir.Stage, rename func(string) string) []rule {
	params := map[string]bool{}
	for _, p := range s.Params {
		params[p.Name] = true
	}
	name := func(n string) string {
		if params[n] {
			return "{" + rename(n) + "}"
		}
		if s.Value(n) != nil { // not what another stage may mean by the name
			return "{" + n + "}"
		}
		return n
	}
	var out []rule
	expression := func(clause string, xs ...ir.Expr) {
		for _, x := range xs {
			w.model.Meter.Spend(len(x.Source))
			out = append(out, rule{clause, "{ " + strings.TrimSpace(x.Source) + " }", expr.Canonical(x.Source, name)})
		}
	}
	expression("where", s.Bindings()...)
	expression("require", s.Require...)
	expression("ensure", s.Ensure...)
	for _, p := range s.Produce {
		out = append(out, rule{"produce", p.Source(), []string{p.Rename(rename).String()}})
	}
	return out
}

// contained compares grants, clause by clause.
func (w *within) contained(outer []match) bool {
	for i, c := range w.clauses(w.granted(outer)) {
		if len(c.inner) == 0 {
			continue
		}
		for _, mode := range c.modes {
			if path, ok := w.model.WithinSet(c.inner, c.outer(), mode, mode); !ok {
				if c.unsure {
					w.fail(gotRules+i, Unknown{Why: "which part of what it has a stage hands on could not be worked out"})
					return false
				}
				w.fail(gotRules+i, w.lacking(outer, i, mode, path))
				return false
			}
		}
	}
	return true
}

// lacking says why the inner stage's path of a clause is not in those of the outer
// stages: one that has it stands aside, or none has.
func (w *within) lacking(outer []match, i int, mode region.Mode, path region.Word) Result {
	c := w.clauses(w.granted(outer))[i]
	for _, x := range w.aside {
		if w.model.Spent() {
			return spent()
		}
		more := w.clauses(grants(append(slices.Clone(outer), x.match)))[i]
		if next, ok := w.model.WithinSet(c.inner, more.outer(), mode, mode); path != nil && (ok || next != nil && !slices.Equal(next, path)) {
			return Refuted{Excess: &x.why}
		}
	}
	if path == nil && w.model.Spent() {
		return spent()
	}
	return missing(path, Place{Stage: w.inner.Name, Clause: c.name, Path: path})
}

// missing is Refuted with a place, or Unknown if the search found no path in time.
func missing(w region.Word, at Place) Result {
	if w == nil {
		return Unknown{Why: "the search for a path that only " + at.Stage + " has ran out of budget"}
	}
	return Refuted{Place: &at}
}

// A clause is what one clause grants, with the modes in which it counts: reading goes
// by what is seen, writing and taking by what a whole operation may cover.
type clause struct {
	name  string
	inner region.Region
	outer func() *region.Set
	modes []region.Mode

	unsure bool // one of the sides could not be worked out: inner holds too much, or outer too little
}

// outerGrants are what some matches grant together, clause by clause.
type outerGrants struct {
	key     string // of the matches
	limited bool   // one of them says which part of what it has may be handed down
	granted bool   // one of them says what may be handed down that it need not have
	matched map[matched]bool
	stages  []*ir.Stage

	read, tested, blind, source, delegable func() *region.Set

	write func(ir.Rights) *region.Set // where they have a right

	args []func(string) string // the arguments of each of stages
}

// matched is an inner parameter that is the argument for an outer one of a kind. One out of a
// list that serves for a key tells more than the key: what the list has.
type matched struct {
	param string
	as    ir.ParamKind
}

// granted is what some matches grant together. Inner stages are often compared with the
// same ones.
func (w *within) granted(outer []match) *outerGrants {
	var key strings.Builder
	for _, x := range outer {
		key.WriteString(x.stage.Name)
		for _, p := range x.stage.Params {
			key.WriteString(" " + x.args[p.Name])
		}
		key.WriteByte(',')
	}
	w.model.Meter.Spend(len(outer))
	m := w.model
	if m.granted == nil || m.granted.key != key.String() {
		m.granted = grants(outer)
		m.granted.key = key.String()
	}
	return m.granted
}

func grants(outer []match) *outerGrants {
	g := &outerGrants{matched: map[matched]bool{}}
	var read, creates, source, delegable region.Region
	for _, x := range outer {
		read = append(read, x.stage.Read.Rename(x.arg)...)
		creates = append(creates, region.Union(x.stage.Writing(ir.Create), x.stage.Blind).Rename(x.arg)...)
		source = append(source, x.stage.Source.Rename(x.arg)...)
		delegable = append(delegable, handedDown(x.stage).Rename(x.arg)...)
		g.stages = append(g.stages, x.stage)
		g.args = append(g.args, x.arg)
		g.limited = g.limited || x.stage.HasDelegable
		g.granted = g.granted || x.stage.Handed != nil
		for _, q := range x.stage.Params {
			g.matched[matched{x.args[q.Name], q.Kind}] = true
		}
	}
	set := func(r region.Region) func() *region.Set {
		return sync.OnceValue(func() *region.Set { return region.Compile(r) })
	}
	g.read, g.blind, g.source, g.delegable = set(read), set(creates), set(source), set(delegable)
	g.tested = g.read
	if len(source) > 0 {
		g.tested = set(region.Union(read, source))
	}
	known := map[ir.Rights]*region.Set{}
	g.write = func(right ir.Rights) *region.Set {
		if known[right] == nil {
			var write region.Region
			for _, x := range outer {
				write = append(write, x.stage.Writing(right).Rename(x.arg)...)
			}
			known[right] = region.Compile(write)
		}
		return known[right]
	}
	return g
}

// rights are those by which the write grants of an inner stage are compared.
func (g *outerGrants) rights(inner *ir.Stage) []ir.Rights {
	return ir.RightsCompared(append(slices.Clone(g.stages), inner)...)
}

func (w *within) clauses(outer *outerGrants) []clause {
	seen := slices.Clone(w.inner.Read)
	for _, p := range w.inner.Params {
		if (p.Kind == ir.ExistingParam || p.Kind == ir.ElementParam) && !outer.matched[matched{p.Name, p.Kind}] {
			seen = append(seen, region.Grant{Include: w.model.told(p)})
		}
	}
	interior, shown := []region.Mode{region.Interior}, []region.Mode{region.Shown}
	out := []clause{
		{name: "read", inner: seen, outer: outer.read, modes: shown},
		{name: "read", inner: region.Union(w.inner.Read, w.inner.Source), outer: outer.tested, modes: interior}, // what may be tested
		{name: "write", inner: w.inner.Blind, outer: outer.blind, modes: interior},
		{name: "source", inner: w.inner.Source, outer: outer.source, modes: interior},
	}
	for _, right := range outer.rights(w.inner) {
		name := "write"
		if right != ir.AllRights {
			name += " " + right.Words()[0]
		}
		out = append(out, clause{name: name, inner: w.inner.Writing(right), outer: func() *region.Set { return outer.write(right) }, modes: interior})
	}
	switch {
	case outer.granted || w.inner.Handed != nil:
		return append(out, w.handed(outer)...)
	case outer.limited:
		return append(out, clause{name: "delegable", inner: handedDown(w.inner), outer: outer.delegable, modes: []region.Mode{region.Shown, region.Interior}})
	}
	return out
}

// handed are the clauses of what is handed on, kind by kind, where the inner stage or an outer
// one hands on what it need not have.
func (w *within) handed(outer *outerGrants) []clause {
	inner, exact := w.model.Share(w.inner)
	if !exact {
		inner = w.inner
	}
	unsure := !exact
	shares := make([]*ir.Stage, len(outer.stages))
	for i, s := range outer.stages {
		shares[i], exact = w.model.Share(s)
		unsure = unsure || !exact
	}
	all := func(part func(*ir.Stage) region.Region) func() *region.Set {
		return sync.OnceValue(func() *region.Set {
			var out region.Region
			for i, s := range shares {
				out = append(out, part(s).Rename(outer.args[i])...)
			}
			return region.Compile(out)
		})
	}
	var out []clause
	add := func(name string, inner region.Region, mode region.Mode, part func(*ir.Stage) region.Region) {
		out = append(out, clause{"delegable " + name, inner, all(part), []region.Mode{mode}, unsure})
	}
	add("read", inner.Read, region.Shown, func(s *ir.Stage) region.Region { return s.Read })
	add("read", region.Union(inner.Read, inner.Source), region.Interior, func(s *ir.Stage) region.Region { return region.Union(s.Read, s.Source) }) // what may be tested
	add("write", inner.Blind, region.Interior, func(s *ir.Stage) region.Region { return region.Union(s.Writing(ir.Create), s.Blind) })
	add("source", inner.Source, region.Interior, func(s *ir.Stage) region.Region { return s.Source })
	for _, right := range ir.RightsCompared(append(slices.Clone(shares), inner)...) {
		name := "write"
		if right != ir.AllRights {
			name += " " + right.Words()[0]
		}
		add(name, inner.Writing(right), region.Interior, func(s *ir.Stage) region.Region { return s.Writing(right) })
	}
	return out
}

// Share is a stage with what it hands on in place of what it has. It may hold too little, unless
// exact is true.
func (m *Model) Share(s *ir.Stage) (share *ir.Stage, exact bool) {
	if !s.HasDelegable {
		return s.HandsOn(), true
	}
	out := *s
	exact = true
	part := func(r region.Region) region.Region {
		r, ok := region.Intersect(r, s.Delegable, m.Meter)
		exact = exact && ok
		return r
	}
	out.Read, out.Source, out.Blind = part(s.Read), part(s.Source), part(s.Blind)
	out.Write, out.Rights = nil, nil
	for i, g := range s.Write {
		for _, h := range part(region.Region{g}) {
			out.Write = append(out.Write, h)
			if len(s.Rights) > 0 {
				out.Rights = append(out.Rights, s.RightsOf(i))
			}
		}
	}
	return &out, exact
}

// handedDown is what a stage's delegates may be given.
func handedDown(s *ir.Stage) region.Region {
	if s.HasDelegable {
		return s.Delegable
	}
	return region.Union(s.Read, s.Write, s.Blind, s.Source)
}

// ParamText writes a parameter as a stage declares it.
func ParamText(p ir.Param) string {
	join := map[ir.ParamKind]string{ir.ExistingParam: " in ", ir.NewParam: " new in ", ir.DependentParam: " = ", ir.ElementParam: " in "}
	return p.Name + join[p.Kind] + p.Of.Source()
}
