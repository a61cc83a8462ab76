package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Rules that say nothing, or too much: a condition that holds always, or never, an
// invariant that follows from another one, an exception that takes nothing away, a grant
// within another one. logic.go decides conditions; what it does not decide is not reported.

// A judgement is a condition of the contract, what its names may be, and what holds beside
// it: the invariants of the states that it is asked of.
type judgement struct {
	what  string      // in words: "the guard", "invariant i"
	at    source.Span // the expression
	named source.Span // the declaration's name, the expression where it has none
	ask   *term
	logic *logic

	invariant *ir.Invariant // if it is one
	stage     string        // of a require
	arrow     *ir.Arrow     // of a guard
}

// spanOf is an expression without the white space around it.
func spanOf(e *syntax.Expr) source.Span {
	at := e.Span
	text := at.Text()
	at.Start += len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	at.End -= len(text) - len(strings.TrimRight(text, " \t\r\n"))
	return at
}

// named gives a name another one.
func renaming(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name && name != "" {
				return pairs[i+1]
			}
		}
		return name
	}
}

// The names of what a rule about entries is asked of, whatever the rule calls them.
const (
	theEntry = "$entry"
	theKey   = "$key"
)

// logicOf is a logic with the measures, and the phases that there are.
func (p *program) logicOf(types map[string]ir.TypeID, phases []string, roles []string) *logic {
	l := &logic{contract: p.contract, types: types, oneOf: map[string][]value{}, counts: map[string]bool{}}
	for _, m := range p.contract.Measures {
		if m.Kind == ir.Count {
			l.counts[m.Name] = true
		}
	}
	for _, name := range phases {
		l.oneOf["phase"] = append(l.oneOf["phase"], value{key: "s:" + name})
	}
	for _, name := range roles {
		l.oneOf["role"] = append(l.oneOf["role"], value{key: "s:" + name})
	}
	return l
}

// invariants are the judgements about the invariants that the file declares, in order;
// change rules among them.
func (p *program) invariants() (out []judgement) {
	if p.contract == nil {
		return nil
	}
	for i := range p.contract.Invariants {
		v := &p.contract.Invariants[i]
		d := p.rules[v.Name]
		if d == nil || d.Expr == nil || v.Expr == nil {
			continue
		}
		types := map[string]ir.TypeID{"state": p.contract.State}
		names := plain
		if v.Change {
			types = map[string]ir.TypeID{"before": p.contract.State, "after": p.contract.State}
		}
		if v.Each != nil {
			types[theEntry] = v.Each.Type
			names = renaming(v.Each.Var, theEntry, v.Each.Key, theKey)
			if v.Change {
				types["before"], types["after"] = v.Each.Type, v.Each.Type
			}
		}
		if ask := condition(v.Expr.Source, names); ask != nil {
			out = append(out, judgement{what: v.Title(), at: spanOf(d.Expr), named: d.Name.Span, ask: ask, logic: p.logicOf(types, p.phaseNames(), nil), invariant: v})
		}
	}
	return out
}

func (p *program) phaseNames() (out []string) {
	if len(p.contract.Phases) < 2 {
		return nil
	}
	for _, ph := range p.contract.Phases {
		out = append(out, ph.Name)
	}
	return out
}

// committed lists what the invariants say of every committed state, which is called name.
func (p *program) committed(name string) (out []*term) {
	if held, known := p.held[name]; known {
		return held
	}
	defer func() { p.held[name] = out }()
	for i := range p.contract.Invariants {
		if v := &p.contract.Invariants[i]; v.Expr != nil && v.Each == nil && !v.Change {
			if t := condition(v.Expr.Source, renaming("state", name)); t != nil {
				out = append(out, t)
			}
		}
	}
	return out
}

// conditions are the judgements about guards, and about the conditions of stages.
func (p *program) conditions() []judgement {
	if p.contract == nil {
		return nil
	}
	return p.once.asked()
}

func (p *program) findConditions() (out []judgement) {
	state := func(names ...string) map[string]ir.TypeID {
		out := map[string]ir.TypeID{}
		for _, n := range names {
			out[n] = p.contract.State
		}
		return out
	}
	for _, d := range p.tree.Decls {
		d, ok := d.(*syntax.PhasesDecl)
		if !ok {
			continue
		}
		for i, ph := range d.Phases {
			for j, a := range ph.Arrows {
				if a.Guard == nil || i >= len(p.contract.Phases) || j >= len(p.contract.Phases[i].Arrows) {
					continue
				}
				arrow := &p.contract.Phases[i].Arrows[j]
				if arrow.Guard == nil || arrow.To != a.To.Text {
					continue
				}
				l := p.logicOf(state("state"), []string{arrow.To}, nil)
				l.known = p.committed("state")
				if ask := condition(arrow.Guard.Source, plain); ask != nil {
					out = append(out, judgement{what: "the guard of " + ph.Name.Text + " -> " + arrow.To, at: spanOf(a.Guard), named: spanOf(a.Guard), ask: ask, logic: l, arrow: arrow})
				}
			}
		}
	}
	p.eachStage(func(s *ir.Stage, d *syntax.StageDecl) {
		n := map[string]int{}
		for _, cl := range d.Clauses {
			k := cl.Keyword.Text
			if k != "require" && k != "ensure" || cl.Expr == nil || s.From != "" {
				continue
			}
			all, name, phases := s.Require, "before", s.In
			if k == "ensure" {
				all, name, phases = s.Ensure, "after", s.PhasesAfter()
			}
			at := n[k]
			if n[k]++; at >= len(all) {
				continue
			}
			l := p.logicOf(state("before", "after"), phases, s.By)
			l.known = p.committed(name)
			if ask := condition(all[at].Source, plain); ask != nil {
				j := judgement{what: "the " + k + " of stage " + s.Name, at: spanOf(cl.Expr), named: spanOf(cl.Expr), ask: ask, logic: l}
				if k == "require" {
					j.stage = s.Name
				}
				out = append(out, j)
			}
		}
	})
	return out
}

// constraints are the judgements about types and measures.
func (p *program) constraints() (out []judgement) {
	if p.contract == nil {
		return nil
	}
	written := map[string][]*syntax.Expr{}
	syntaxOf := func(e *syntax.Expr) {
		if e != nil {
			written[e.Text] = append(written[e.Text], e)
		}
	}
	for _, d := range p.tree.Decls {
		syntax.Walk(d, func(n any) bool {
			if c, ok := n.(*syntax.Constraint); ok {
				syntaxOf(c.Expr)
			}
			return true
		})
	}
	add := func(what string, x ir.Expr, id ir.TypeID, at *syntax.Expr) {
		l := p.logicOf(map[string]ir.TypeID{"self": id}, nil, nil)
		l.own = true
		if ask := condition(x.Source, plain); ask != nil {
			out = append(out, judgement{what: what, at: spanOf(at), named: spanOf(at), ask: ask, logic: l})
		}
	}
	seen := map[*syntax.Expr]bool{}
	for id := range p.contract.Types {
		for _, x := range p.contract.Types[id].Where {
			if at := written[x.Source]; len(at) == 1 && !seen[at[0]] {
				seen[at[0]] = true
				add("the constraint", x, ir.TypeID(id), at[0])
			}
		}
	}
	for _, d := range p.tree.Decls {
		if d, ok := d.(*syntax.MeasureDecl); ok && d.Where != nil {
			i := slices.IndexFunc(p.contract.Measures, func(m ir.Measure) bool { return m.Name == d.Name.Text })
			if i >= 0 && p.contract.Measures[i].Where != nil {
				add("the condition of measure "+d.Name.Text, *p.contract.Measures[i].Where, p.contract.Measures[i].Entry, d.Where)
			}
		}
	}
	return out
}

// impossible reports whether nothing meets a condition.
func (p *program) impossible(j judgement) bool {
	if !p.decides() {
		return false
	}
	may, decided := j.logic.mayHold(j.ask, false)
	return decided && !may
}

func neverHold(p *program) (out []source.Diagnostic) {
	report := func(j judgement, why string) {
		f := diagnostic.NeverHolds.Diagnostic(j.at, "compare it with the types of what it reads, and with the invariants; an `&&` may have to be `||`", j.what+" can never hold"+why)
		out = append(out, f)
	}
	var before []*term // of the invariants that may hold together
	for _, j := range p.invariants() {
		if p.impossible(j) {
			report(j, ": no state keeps it")
			continue
		}
		if j.invariant.Each != nil || j.invariant.Change {
			continue
		}
		j.logic.known = before
		if p.impossible(j) {
			report(j, " together with the invariants above it")
			continue
		}
		before = append(before, j.ask)
	}
	for _, j := range p.conditions() {
		switch {
		case !p.impossible(j):
		case j.stage != "":
			report(j, ": the stage never runs")
		case j.arrow != nil:
			report(j, ": the way is never walked")
		default:
			report(j, "")
		}
	}
	for _, j := range p.constraints() {
		if p.impossible(j) {
			report(j, "")
		}
	}
	return out
}

func alwaysHold(p *program) (out []source.Diagnostic) {
	for _, j := range slices.Concat(p.invariants(), p.conditions(), p.constraints()) {
		l := *j.logic
		l.known = nil
		if !p.decides() || j.invariant != nil && j.invariant.Change && j.ask.text == "bool:true" || !l.certain(j.ask) {
			continue
		}
		if may, decided := l.mayHold(j.ask, true); decided && !may {
			out = append(out, diagnostic.AlwaysHolds.Diagnostic(j.at, "leave it out, or say what was meant; an `||` may have to be `&&`", j.what+" holds whatever the state is: it refuses nothing"))
		}
	}
	return out
}

// impliedInvariants goes from the last invariant up, so that of two that say the same the
// later one is reported.
func impliedInvariants(p *program) (out []source.Diagnostic) {
	all := p.invariants()
	report := func(v *ir.Invariant, by *ir.Invariant) {
		d, other := p.rules[v.Name], p.rules[by.Name]
		f := diagnostic.ImpliedInvariant.Diagnostic(d.Name.Span, "leave it out, or mend the one that was meant otherwise", fmt.Sprintf("%s holds wherever %s does: it refuses nothing more", v.Title(), by.Title()))
		f.Fixes = []source.Fix{{Title: "leave it out", Choice: true, Span: p.declaration(d.Span)}}
		out = append(out, related(f, "this implies it", other.Name.Span))
	}
	gone := map[*ir.Invariant]bool{}
	for i := len(all) - 1; i >= 0; i-- {
		j := all[i]
		if !j.logic.certain(j.ask) {
			continue
		}
		if may, _ := j.logic.mayHold(j.ask, true); !may {
			gone[j.invariant] = true // it says nothing, which is reported as such
			continue
		}
		for _, k := range all {
			if k.invariant == j.invariant || gone[k.invariant] || !sameEntries(j.invariant, k.invariant) || p.impossible(k) {
				continue
			}
			if !p.decides() {
				return out
			}
			j.logic.known = []*term{k.ask}
			if may, decided := j.logic.mayHold(j.ask, true); decided && !may {
				gone[j.invariant] = true
				report(j.invariant, k.invariant)
				break
			}
		}
	}
	p.eachUnique(func(v *ir.Invariant) {
		p.eachUnique(func(w *ir.Invariant) {
			if v != w && !gone[v] && !gone[w] && impliesUnique(w, v) && (!impliesUnique(v, w) || p.rules[w.Name].Span.Start < p.rules[v.Name].Span.Start) {
				gone[v] = true
				report(v, w)
			}
		})
	})
	return out
}

// sameEntries reports whether two rules are asked of the same.
func sameEntries(v, w *ir.Invariant) bool {
	if v.Change != w.Change || (v.Each == nil) != (w.Each == nil) {
		return false
	}
	return v.Each == nil || v.Each.Over.String() == w.Each.Over.String()
}

func (p *program) eachUnique(visit func(*ir.Invariant)) {
	if p.contract == nil {
		return
	}
	for i := range p.contract.Invariants {
		if v := &p.contract.Invariants[i]; v.Unique != nil && p.rules[v.Name] != nil {
			visit(v)
		}
	}
}

// impliesUnique reports whether values that w keeps unique are among those that v keeps
// unique together.
func impliesUnique(w, v *ir.Invariant) bool {
	return !slices.ContainsFunc(w.UniquePlaces(), func(a region.Pattern) bool {
		return !slices.ContainsFunc(v.UniquePlaces(), func(b region.Pattern) bool { return a.String() == b.String() })
	})
}

func emptyExcepts(p *program) (out []source.Diagnostic) {
	if p.contract == nil {
		return nil
	}
	look := func(of, clause string) {
		for _, g := range p.in.Output.Grants(of, clause) {
			for i, what := range g.Taken {
				e := g.Syntax.Except[i]
				if e.Secrets || len(what) == 0 || len(g.Whole) == 0 || !p.decides() || mayMeet(what, g.Whole) && p.model.Overlaps(what, g.Whole) || p.spent() {
					continue
				}
				out = append(out, diagnostic.EmptyExcept.Diagnostic(e.Span, "name a place below what is granted, or leave it out",
					fmt.Sprintf("the exception %s takes nothing away: nothing of it lies in what is granted", e.Span.Text())))
			}
		}
	}
	p.eachStage(func(s *ir.Stage, d *syntax.StageDecl) {
		for _, clause := range syntax.GrantClauses() {
			look(s.Name, clause)
		}
	})
	for _, d := range p.tree.Decls {
		if d, ok := d.(*syntax.RegionDecl); ok {
			look(d.Name.Text, "region")
		}
	}
	return out
}

// idleRights looks for rights to what never happens at a place or below it.
func idleRights(p *program) (out []source.Diagnostic) {
	p.eachStage(func(s *ir.Stage, _ *syntax.StageDecl) {
		all := p.in.Output.Grants(s.Name, "write")
		var granted ir.Rights
		for i := range all {
			granted |= all[i].Rights
		}
		for i := range all {
			for j := range all[i].Syntax.Rights {
				right := &all[i].Syntax.Rights[j]
				why := p.idle(all[i].Plain, ir.RightOf(right.Text))
				if why == isThere && granted.Has(ir.Create|ir.Delete) { // what is taken away may be put there again
					continue
				}
				if why != "" {
					out = append(out, diagnostic.IdleRight.Diagnostic(right.Span, idleHelp[why], fmt.Sprintf("nothing is ever %sd at %s: %s", right.Text, placesOf(all[i].Plain), why)))
				}
			}
		}
	})
	return out
}

// Why nothing happens, and what to do about it.
const (
	isThere  = "it is always there"
	ofList   = "elements come and go where the list is updated"
	isNewest = "what is appended is new"
)

var idleHelp = map[string]string{
	isThere:  "`update` lets it change",
	ofList:   "`update` of the whole list lets its elements come and go",
	isNewest: "`create` lets something be appended",
}

func placesOf(r region.Region) string {
	text := r[0].Include[0].Source()
	if len(r) > 1 || len(r[0].Include) > 1 {
		text += " and the like"
	}
	return text
}

// idle says why what a right lets happen never does, in any place of a region; it is empty
// if it may.
func (p *program) idle(r region.Region, right ir.Rights) (why string) {
	for _, g := range r {
		for _, q := range g.Include {
			if why = p.idleAt(q, right); why == "" {
				return ""
			}
		}
	}
	return why
}

func (p *program) idleAt(q region.Pattern, right ir.Rights) string {
	end := len(q.Segments) - 1
	switch {
	case end >= 0 && q.Segments[end].Kind == region.FreshSegment:
		if right == ir.Create {
			return ""
		}
		return isNewest
	case right == ir.Update, slices.ContainsFunc(q.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth }):
		return ""
	}
	shape := p.model.Shape
	at := shape.At(q)
	if len(at) == 0 || p.comeBelow(at, right) {
		return ""
	}
	if end < 0 {
		return isThere
	}
	above := shape.At(region.Pattern{Segments: q.Segments[:end]})
	switch {
	case shape.Only(above, ir.ListType, ir.SetType, ir.LogType):
		return ofList
	case p.mayLack(above, q.Segments[end]):
		return ""
	}
	return isThere
}

// mayLack reports whether a value of one of some types may be without what a segment names.
func (p *program) mayLack(types footprint.TypeSet, s region.Segment) bool {
	return slices.ContainsFunc(types, func(id ir.TypeID) bool {
		t := p.contract.Type(id)
		m, declared := t.Member(s.Text)
		switch {
		case t.Kind != ir.RecordType:
			return true
		case s.Kind != region.KeyLiteral && s.Kind != region.Literal:
			return t.Rest != ir.NoType || slices.ContainsFunc(t.Members, func(m ir.Member) bool { return m.Optional })
		}
		return !declared || m.Optional
	})
}

// comeBelow reports whether, by a right to create or delete, something may come to be or go
// below values of some types.
func (p *program) comeBelow(types footprint.TypeSet, right ir.Rights) bool {
	shape := p.model.Shape
	varies := func(set footprint.TypeSet) bool {
		object, _ := shape.Kinds(set)
		return object && len(set) > 1
	}
	return varies(types) || slices.ContainsFunc(shape.Below(types), func(id ir.TypeID) bool {
		switch t := p.contract.Type(id); t.Kind {
		case ir.AnyType, ir.MapType, ir.KeyedType:
			return true
		case ir.SetType, ir.LogType:
			return right == ir.Create || varies(shape.Expand(nil, t.Elem))
		case ir.ListType:
			return varies(shape.Expand(nil, t.Elem))
		case ir.RecordType:
			return t.Rest != ir.NoType || slices.ContainsFunc(t.Members, func(m ir.Member) bool {
				return m.Optional || varies(shape.Expand(nil, m.Type))
			})
		}
		return false
	})
}

func grantsInside(p *program) (out []source.Diagnostic) {
	p.eachStage(func(s *ir.Stage, _ *syntax.StageDecl) {
		for _, clause := range syntax.GrantClauses() {
			all := p.in.Output.Grants(s.Name, clause)
			gone := make([]bool, len(all))
			for i := len(all) - 1; i >= 0; i-- {
				for j := range all {
					if clause == "read" && p.namesSecret(all[i].Plain) && !p.namesSecret(all[j].Plain) {
						continue // it says that the secret is meant to be shown
					}
					if i == j || gone[j] || all[i].Syntax.Blind != all[j].Syntax.Blind || all[i].Rights&^all[j].Rights != 0 {
						continue
					}
					a, b := slices.Concat(all[i].Plain, all[i].Blind), slices.Concat(all[j].Plain, all[j].Blind)
					if len(a) == 0 || !p.within(a, b) || !p.possible(a) {
						continue
					}
					gone[i] = true
					at := all[i].Syntax.Span
					f := diagnostic.GrantInside.Diagnostic(at, "leave it out", fmt.Sprintf("%s lies within %s: it grants nothing more", at.Text(), all[j].Syntax.Span.Text()))
					if i > 0 {
						f.Fixes = []source.Fix{{Title: "leave it out", Span: source.Span{File: at.File, Start: all[i-1].Syntax.Span.End, End: at.End}}}
					} else if len(all) > 1 {
						f.Fixes = []source.Fix{{Title: "leave it out", Span: source.Span{File: at.File, Start: at.Start, End: all[1].Syntax.Span.Start}}}
					}
					out = append(out, related(f, "within this one", all[j].Syntax.Span))
					break
				}
			}
		}
	})
	return out
}

// namesSecret reports whether a region has a path to a secret, and not only to what is above.
func (p *program) namesSecret(r region.Region) bool {
	return p.contract != nil && slices.ContainsFunc(footprint.Includes(p.contract.Secrets), func(secret region.Pattern) bool {
		return slices.ContainsFunc(footprint.Includes(r), func(q region.Pattern) bool {
			return len(q.Segments) >= len(secret.Segments) && q.MayMeet(secret)
		})
	})
}

// possible reports whether some state has a place of each pattern of a region.
func (p *program) possible(r region.Region) bool {
	for _, g := range r {
		if slices.ContainsFunc(g.Include, func(q region.Pattern) bool { return !p.model.Possible(q) }) {
			return false
		}
	}
	return true
}

// within reports whether all of a certainly lies in b.
func (p *program) within(a, b region.Region) bool {
	if !mayMeet(a, b) || !p.decides() {
		return false
	}
	_, all := p.model.Within(a, b, region.Plain, region.Plain)
	return all && !p.spent()
}
