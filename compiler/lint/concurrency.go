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

// Stages beside one another: what two of them may do to one place, and writes by position,
// which mean another element as soon as somebody else inserts one.

// eachConflict visits the pairs of different stages that may meet in a phase, with their
// conflicts; stages that move the phase, delegates, and pairs of which a claim or an `after`
// speaks are left out: of those their author knows. Further pairs of a stage are looked at as long as
// visit says so.
func (p *program) eachConflict(visit func(footprint.Pair) (more bool)) {
	if p.contract == nil {
		return
	}
	x := p.model.Matrix()
	isPlain := func(s *ir.Stage) bool { return len(s.Next) == 0 && !p.contract.IsPart(s) }
	for i := range p.contract.Stages {
		a := &p.contract.Stages[i]
		if !isPlain(a) {
			continue
		}
		for _, j := range x.Row(i) {
			b := &p.contract.Stages[j]
			if j <= i || !isPlain(b) || p.claimed(a, b) {
				continue
			}
			if !p.decides() {
				return
			}
			if found := x.Conflicts(i, j); len(found) > 0 && !visit(footprint.Pair{A: a, B: b, Conflicts: found}) {
				break
			}
		}
	}
}

// claimed reports whether a claim is about two stages commuting, or one is to come after the
// other.
func (p *program) claimed(a, b *ir.Stage) bool {
	return slices.Contains(a.After, b.Name) || slices.Contains(b.After, a.Name) || slices.ContainsFunc(p.contract.Claims, func(c ir.Claim) bool {
		switch c.Kind {
		case ir.Commutes, ir.Parallel:
			return slices.Contains(c.Stages, a.Name) && slices.Contains(c.Stages, b.Name)
		case ir.AllCommute:
			return slices.Contains(a.In, c.Phases[0]) && slices.Contains(b.In, c.Phases[0])
		}
		return false
	})
}

// conflictingStages finds two stages that may write one place.
func conflictingStages(p *program) (out []source.Diagnostic) {
	p.eachConflict(func(pair footprint.Pair) bool {
		i := slices.IndexFunc(pair.Conflicts, func(c footprint.Conflict) bool {
			return c.Kind == footprint.WriteConflict && !c.Soft && !isNew(pair, c.When)
		})
		if i < 0 {
			return true
		}
		c := pair.Conflicts[i]
		wide, narrow, ok := p.clashing(pair)
		if !ok {
			return true
		}
		when := ""
		if len(c.When.All) > 0 {
			when = " when " + pair.Condition(c.When)
		}
		d := diagnostic.ConflictingStages.Diagnostic(wide.grant.Span, "", fmt.Sprintf("stages %s and %s may both write %s%s%s", pair.A.Name, pair.B.Name, footprint.PathText(c.Path), when, p.inPhases(pair)))
		d.Help = "let them run in different phases, or write different members"
		if claim := p.model.Suggestion([]footprint.Pair{pair}); claim != "" {
			d.Help += "; if it is meant, say so: `prove " + pair.A.Name + " commutes with " + pair.B.Name + " when " + claim + "`"
		}
		if rest, ok := p.narrower(wide, narrow); ok {
			text := " except " + rest
			d.Help = "leave it out of what stage " + wide.stage.Name + " writes: `" + wide.grant.Span.Text() + text + "`"
			if len(wide.grant.Except) == 0 {
				d.Fixes = []source.Fix{{Choice: true, Title: "leave it to stage " + narrow.stage.Name, Span: source.Span{File: wide.grant.Span.File, Start: wide.grant.Span.End, End: wide.grant.Span.End}, Text: text}}
			}
		}
		d = related(d, "stage "+narrow.stage.Name+" writes it here", narrow.grant.Span)
		if j := slices.IndexFunc(out, func(f source.Diagnostic) bool { return f.Span == d.Span }); j >= 0 { // one grant, one finding
			out[j].Related = append(out[j].Related, d.Related...)
			return len(out[j].Related) < maxRelated
		}
		out = append(out, d)
		return true
	})
	for i, d := range out {
		if more := len(d.Related) - 1; more > 0 {
			out[i].Help, out[i].Fixes = "so may others: let this stage write less, or run in phases of its own", nil
		}
	}
	return out
}

// maxRelated bounds the places that are shown beside a finding.
const maxRelated = 4

// isNew reports whether two stages meet only where a key that is new for one of them is a
// key of the other: it is no entry yet, or the host has given it to one alone.
func isNew(pair footprint.Pair, when region.Term) bool {
	kind := func(side string) (of string, isNew bool) {
		owner, name, _ := strings.Cut(side, ".")
		for _, q := range pair.Stage(owner).Params {
			if q.Name == name {
				return owner, q.Kind == ir.NewParam
			}
		}
		return owner, false
	}
	return slices.ContainsFunc(when.All, func(e region.Equality) bool {
		if e.Not || e.Literal {
			return false
		}
		a, newA := kind(e.Left)
		b, newB := kind(e.Right)
		return a != b && (newA || newB)
	})
}

// inPhases says where two stages meet.
func (p *program) inPhases(pair footprint.Pair) string {
	if len(p.contract.Phases) < 2 {
		return ""
	}
	var both []string
	for _, ph := range pair.A.In {
		if slices.Contains(pair.B.In, ph) {
			both = append(both, ph)
		}
	}
	if len(both) == 1 {
		return ", in phase " + both[0]
	}
	return ", in phases " + strings.Join(both, ", ")
}

// A side is a grant of a write clause that clashes with one of another stage.
type side struct {
	stage *ir.Stage
	grant *syntax.GrantExpr
	what  region.Region
}

// clashing finds the two grants that meet; wide holds what narrow does, if one of them does.
func (p *program) clashing(pair footprint.Pair) (wide, narrow side, ok bool) {
	for _, g := range p.in.Output.Grants(pair.A.Name, "write") {
		for _, h := range p.in.Output.Grants(pair.B.Name, "write") {
			a := side{pair.A, g.Syntax, anyArgs(slices.Concat(g.Plain, g.Blind))}
			b := side{pair.B, h.Syntax, anyArgs(slices.Concat(h.Plain, h.Blind))}
			if len(a.what) == 0 || len(b.what) == 0 || !mayMeet(a.what, b.what) || !p.decides() || !p.model.Overlaps(a.what, b.what) {
				continue
			}
			if p.within(a.what, b.what) && !p.within(b.what, a.what) {
				a, b = b, a
			}
			return a, b, true
		}
	}
	return side{}, side{}, false
}

// narrower is the exception that takes what one grant holds out of a wider one, in the
// parameters of the wider one's stage; ok is false if it is not wider, or no path says it.
func (p *program) narrower(wide, narrow side) (rest string, ok bool) {
	if len(wide.grant.Intersect) != 1 || wide.grant.Intersect[0].Path == nil || len(narrow.grant.Intersect) != 1 || narrow.grant.Intersect[0].Path == nil || len(narrow.grant.Except) > 0 || len(wide.grant.Except) > 0 {
		return "", false
	}
	if !p.within(narrow.what, wide.what) || p.within(wide.what, narrow.what) {
		return "", false
	}
	w, n := wide.grant.Intersect[0].Path, narrow.grant.Intersect[0].Path
	if len(n.Segments) <= len(w.Segments) || slices.ContainsFunc(w.Segments, func(s *syntax.PathSegment) bool {
		return s.Kind == syntax.DeepSegment || s.Kind == syntax.ChoiceSegment
	}) {
		return "", false
	}
	rest = w.Span.Text()
	for _, s := range n.Segments[len(w.Segments):] {
		if s.Kind == syntax.ParamSegment {
			rest += "/*"
			continue
		}
		rest += "/" + s.Span.Text()
	}
	return rest, true
}

// seenWhileWritten finds stages of which one sees what the other writes, whatever their
// arguments are.
func seenWhileWritten(p *program) (out []source.Diagnostic) {
	p.eachConflict(func(pair footprint.Pair) bool {
		var always []footprint.Conflict
		for _, c := range pair.Conflicts {
			if (c.Kind == footprint.ViewConflict || c.Kind == footprint.LocalConflict) && !c.Soft && len(c.When.All) == 0 {
				always = append(always, c)
			}
		}
		if len(always) == 0 {
			return true
		}
		c := always[0]
		seer, writer := pair.Stage(c.A), pair.Stage(c.B)
		at, other := p.stages[seer.Name], p.stages[writer.Name]
		if at == nil || other == nil {
			return true
		}
		d := diagnostic.SeenWhileWritten.Diagnostic(at.Name.Span, "read less, write elsewhere, or let them run in different phases", footprint.Explain(footprint.Pair{A: pair.A, B: pair.B, Conflicts: always[:1]})+p.inPhases(pair))
		out = append(out, related(d, "this one writes it", other.Name.Span))
		return true
	})
	return out
}

// positionalWrites finds grants that write elements of a list by position, but for those
// of which something sharper is said.
func positionalWrites(p *program) (out []source.Diagnostic) {
	p.eachStage(func(s *ir.Stage, d *syntax.StageDecl) {
		if slices.ContainsFunc(p.once.shifting(), func(f source.Diagnostic) bool { return holds(d.Span, f.Span) }) {
			return
		}
		for _, g := range p.in.Output.Grants(s.Name, "write") {
			for _, w := range footprint.Includes(slices.Concat(g.Plain, g.Blind)) {
				i := slices.IndexFunc(w.Segments, func(s region.Segment) bool {
					return s.Kind == region.AnyIndex || s.Kind == region.IndexLiteral
				})
				if i < 0 {
					continue
				}
				list := footprint.Prefix(w, i)
				d := diagnostic.PositionalWrite.Diagnostic(g.Syntax.Span, p.keyed(list), fmt.Sprintf("stage %s writes elements of the list %s by position: a patch may meet another element than the one that was seen", s.Name, list.Source()))
				out = append(out, d)
				break
			}
		}
	})
	return out
}

// keyed says how the elements of a list could be found otherwise.
func (p *program) keyed(list region.Pattern) string {
	for _, id := range p.model.Shape.At(list) {
		t := p.contract.Type(id)
		if t.Kind != ir.ListType {
			continue
		}
		elem := p.contract.Type(t.Elem)
		if elem.Kind != ir.RecordType {
			return "let the elements be entries of a map, or a `set of` them if their order means nothing"
		}
		var fields []string
		for _, m := range elem.Members {
			if f := p.contract.Type(m.Type); !m.Optional && f.Kind == ir.StringType && !f.Secret {
				fields = append(fields, m.Name)
			}
		}
		if len(fields) == 0 {
			return "give the elements a string to be found by, such as `id: string`, and declare the list `list of ... by id`"
		}
		best := fields[0]
		for _, name := range []string{"id", "key", "sku", "code", "name"} {
			if slices.Contains(fields, name) {
				best = name
				break
			}
		}
		return "if `" + best + "` tells the elements apart, declare the list `list of " + p.contract.TypeText(t.Elem) + " by " + best + "`: then patches name them by it"
	}
	return "declare the list `list of ... by FIELD`: then patches name elements by that field"
}

// shiftingPositions finds several positions of one list in one clause, or in one patch of
// a test.
func shiftingPositions(p *program) []source.Diagnostic {
	if p.contract == nil {
		return nil
	}
	return p.once.shifting()
}

func (p *program) findShifting() (out []source.Diagnostic) {
	p.eachStage(func(s *ir.Stage, _ *syntax.StageDecl) {
		first := map[string]region.Pattern{}
		for _, g := range p.in.Output.Grants(s.Name, "write") {
			for _, w := range footprint.Includes(slices.Concat(g.Plain, g.Blind)) {
				i := slices.IndexFunc(w.Segments, func(s region.Segment) bool { return s.Kind == region.IndexLiteral })
				if i < 0 {
					continue
				}
				list := footprint.Prefix(w, i).Source()
				if before, ok := first[list]; ok && before.Segments[i] != w.Segments[i] {
					out = append(out, diagnostic.ShiftingPositions.Diagnostic(g.Syntax.Span, "write the list as a whole, or let its elements be found by a key", fmt.Sprintf("stage %s writes more than one position of the list %s: what is added or removed at one moves the others", s.Name, list)))
					break
				}
				first[list] = w
			}
		}
	})
	if p.tests == nil {
		return out
	}
	for _, t := range p.tests.patches {
		moved := map[string]bool{}
		for _, op := range t.ops {
			at := strings.LastIndexByte(op.Path, '/')
			if at < 0 || op.Op != "add" && op.Op != "remove" || !isPosition(op.Path[at+1:]) || !p.isList(op.Path[:at]) {
				continue
			}
			if list := op.Path[:at]; moved[list] {
				out = append(out, diagnostic.ShiftingPositions.Diagnostic(t.at, "write the list as a whole, or let its elements be found by a key", fmt.Sprintf("the patch adds or removes at more than one position of the list %s: each moves the others", list)))
				break
			} else {
				moved[list] = true
			}
		}
	}
	return out
}

func isPosition(token string) bool {
	return token != "" && strings.Trim(token, "0123456789") == ""
}

// isList reports whether a pointer leads to a list of the state.
func (p *program) isList(pointer string) bool {
	set := p.model.Shape.Root()
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if isPosition(token) {
			set = append(p.model.Shape.Children(set, false, true), p.model.Shape.Letter(set, region.Key(token))...)
			continue
		}
		set = p.model.Shape.Letter(set, region.Key(unescaped(token)))
	}
	return p.model.Shape.Only(set, ir.ListType)
}

func unescaped(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}
