package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// What stages may see and change beyond what their authors mean: writes that are wider than
// the stage, secrets that come along with what stands above them, or that an actor could
// hand on, stages that anybody may run.

// deepWrites finds `**` where a stage writes, also in a region that it names.
func deepWrites(p *program) (out []source.Diagnostic) {
	if p.contract == nil {
		return nil
	}
	regions := map[string]*syntax.RegionDecl{}
	for _, d := range p.tree.Decls {
		if d, ok := d.(*syntax.RegionDecl); ok {
			regions[d.Name.Text] = d
		}
	}
	said := map[source.Span]bool{}
	var look func(r *syntax.RegionExpr, stage string)
	look = func(r *syntax.RegionExpr, stage string) {
		syntax.Walk(r, func(n any) bool {
			switch n := n.(type) {
			case *syntax.GrantExpr: // what an exception takes away may be as deep as it likes
				for _, a := range n.Intersect {
					switch {
					case a.Path != nil && !said[a.Span]:
						if i := slices.IndexFunc(a.Path.Segments, func(s *syntax.PathSegment) bool { return s.Kind == syntax.DeepSegment }); i >= 0 {
							said[a.Span] = true
							out = append(out, deepWrite(a.Path, i, stage))
						}
					case a.Name != nil && regions[a.Name.Text] != nil:
						look(regions[a.Name.Text].Region, stage)
					case a.Group != nil:
						look(a.Group, stage)
					}
				}
				return false
			}
			return true
		})
	}
	p.eachStage(func(s *ir.Stage, d *syntax.StageDecl) {
		for _, cl := range d.Clauses {
			if cl.Keyword.Text == "write" && cl.Region != nil {
				look(cl.Region, s.Name)
			}
		}
	})
	return out
}

func deepWrite(path *syntax.Path, i int, stage string) source.Diagnostic {
	d := diagnostic.DeepWrite.Diagnostic(path.Span, "name the members that are meant", "stage "+stage+" may write at every depth: `**` grants what is added to the state later, too")
	if i == len(path.Segments)-1 && i > 0 {
		text := strings.TrimSuffix(path.Span.Text(), "/**")
		d.Help = "what lies below a granted place is granted with it: write " + text
		d.Fixes = []source.Fix{{Title: "write " + text, Span: path.Span, Text: text}}
	}
	return d
}

// wildcardWrites finds a `*` where a parameter of the stage names the entry.
func wildcardWrites(p *program) (out []source.Diagnostic) {
	p.eachStage(func(s *ir.Stage, d *syntax.StageDecl) {
		for _, g := range p.in.Output.Grants(s.Name, "write") {
			if f, ok := wildcardWrite(s, g.Syntax, slices.Concat(g.Plain, g.Blind)); ok {
				out = append(out, f)
			}
		}
	})
	return out
}

func wildcardWrite(s *ir.Stage, g *syntax.GrantExpr, r region.Region) (source.Diagnostic, bool) {
	for _, w := range footprint.Includes(r) {
		for _, q := range s.Params {
			n := len(q.Of.Segments)
			if q.Kind != ir.ExistingParam || len(w.Segments) <= n || w.Segments[n].Kind != region.AnyKey || !slices.Equal(w.Segments[:n], q.Of.Segments) {
				continue
			}
			d := diagnostic.WildcardWrite.Diagnostic(g.Span, "write `{"+q.Name+"}` in the place of `*`, or leave the parameter out",
				fmt.Sprintf("stage %s is about one entry of %s, its %s, and may change every one", s.Name, q.Of.Source(), q.Name))
			if len(g.Intersect) == 1 && g.Intersect[0].Path != nil && n < len(g.Intersect[0].Path.Segments) {
				if star := g.Intersect[0].Path.Segments[n]; star.Kind == syntax.StarSegment {
					d.Fixes = []source.Fix{{Choice: true, Title: "write `{" + q.Name + "}`", Span: star.Span, Text: "{" + q.Name + "}"}}
				}
			}
			return d, true
		}
	}
	return source.Diagnostic{}, false
}

// anyArgs is what a region holds for some values of its parameters: each stands for any
// key, and an exception counts where it holds for all of them.
func anyArgs(r region.Region) region.Region {
	free := func(q region.Pattern) region.Pattern {
		q.Segments = slices.Clone(q.Segments)
		for i, s := range q.Segments {
			switch s.Kind {
			case region.ParamSegment:
				q.Segments[i] = region.Segment{Kind: region.AnyKey}
			case region.FreshSegment:
				q.Segments[i] = region.Segment{Kind: region.AnyIndex}
			}
		}
		return q
	}
	var out region.Region
	for _, g := range r {
		var h region.Grant
		for _, q := range g.Include {
			h.Include = append(h.Include, free(q))
		}
		for _, e := range g.Except {
			bound := func(q region.Pattern) bool { // the same keys stand in the same places
				for i, s := range e.Segments {
					if s.Kind == region.ParamSegment && (i >= len(q.Segments) || q.Segments[i] != s) {
						return false
					}
				}
				return true
			}
			if !slices.ContainsFunc(g.Include, func(q region.Pattern) bool { return !bound(q) }) {
				h.Except = append(h.Except, free(e))
			}
		}
		out = append(out, h)
	}
	return out
}

// meet reports whether two regions may have a place in common, for some values of their
// parameters. Of each only the grants are compared that may meet one of the other at all.
func (p *program) meet(a, b region.Region) bool {
	a, b = grantsNear(a, b), grantsNear(b, a)
	if len(a) == 0 || len(b) == 0 || !p.decides() {
		return false
	}
	a, b = anyArgs(a), anyArgs(b)
	return p.model.Overlaps(a, b) || p.model.Overlaps(b, a)
}

// grantsNear lists the grants of a region of which an include may meet one of another.
func grantsNear(r, other region.Region) region.Region {
	patterns := footprint.Includes(other)
	return slices.DeleteFunc(slices.Clone(r), func(g region.Grant) bool {
		return !slices.ContainsFunc(g.Include, func(q region.Pattern) bool {
			return slices.ContainsFunc(patterns, q.MayMeet)
		})
	})
}

func mayMeet(a, b region.Region) bool { return len(grantsNear(a, b)) > 0 }

// A filing holds grants by the first member that they name, so that of many those are found
// soon that may meet a pattern.
type filing struct {
	named map[string][]filed
	other []filed
	whole map[string]bool // the patterns that are held with all below, where nothing is excepted
}

type filed struct {
	grant region.Grant
	stage int // whose it is
}

func (f *filing) add(r region.Region, stage int) {
	if f.named == nil {
		f.named, f.whole = map[string][]filed{}, map[string]bool{}
	}
	for _, g := range r {
		for _, q := range g.Include {
			if len(g.Except) == 0 && !q.Shallow {
				f.whole[freeText(q.Segments)] = true
			}
		}
		names := map[string]bool{}
		for _, q := range g.Include {
			names[firstMember(q)] = true
		}
		if names[""] {
			f.other = append(f.other, filed{g, stage})
			continue
		}
		for name := range names {
			f.named[name] = append(f.named[name], filed{g, stage})
		}
	}
}

// covers reports whether a place of a region without exceptions is held for sure, by a grant
// that is spelt as it is or leads to it, for some values of the parameters. It looks a few
// texts up, however many grants there are.
func (f *filing) covers(r region.Region) bool {
	return slices.ContainsFunc(r, func(g region.Grant) bool {
		return len(g.Except) == 0 && slices.ContainsFunc(g.Include, func(q region.Pattern) bool {
			for n := len(q.Segments); n >= 0; n-- {
				if f.whole[freeText(q.Segments[:n])] {
					return true
				}
			}
			return false
		})
	})
}

// freeText spells a pattern so that its parameters stand for any key.
func freeText(segments []region.Segment) string {
	q := region.Pattern{Segments: slices.Clone(segments)}
	for i, s := range q.Segments {
		if s.Kind == region.ParamSegment {
			q.Segments[i] = region.Segment{Kind: region.AnyKey}
		}
	}
	return q.String()
}

func firstMember(q region.Pattern) string {
	if len(q.Segments) > 0 && footprint.IsLiteral(q.Segments[0]) {
		return q.Segments[0].Text
	}
	return ""
}

// near lists the grants that may meet a pattern, and others.
func (f *filing) near(q region.Pattern) []filed {
	if name := firstMember(q); name != "" {
		return slices.Concat(f.named[name], f.other)
	}
	out := slices.Clone(f.other)
	for _, more := range f.named {
		out = append(out, more...)
	}
	return out
}

// region is the grants near some patterns.
func (f *filing) region(patterns []region.Pattern) (out region.Region) {
	for _, q := range patterns {
		for _, x := range f.near(q) {
			out = append(out, x.grant)
		}
	}
	return out
}

// stages lists the stages with grants near a pattern, in order.
func (f *filing) stages(q region.Pattern) []int {
	var out []int
	for _, x := range f.near(q) {
		out = append(out, x.stage)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// readers files what each stage reads.
func (p *program) readers() *filing {
	f := &filing{}
	for i := range p.contract.Stages {
		f.add(p.contract.Stages[i].Read, i)
	}
	return f
}

// unreadWrites finds what is written for nobody. Logs are for those who read the state.
func unreadWrites(p *program) (out []source.Diagnostic) {
	if p.contract == nil {
		return nil
	}
	read := &filing{}
	read.add(p.ruled(), 0)
	for i := range p.contract.Stages {
		read.add(p.model.Seen(&p.contract.Stages[i]), i)
		for _, q := range p.contract.Stages[i].Params {
			if q.Kind == ir.NewParam {
				continue // it names what is not there yet
			}
			read.add(region.Region{{Include: []region.Pattern{q.Of}}}, i)
		}
	}
	p.eachStage(func(s *ir.Stage, _ *syntax.StageDecl) {
		for _, g := range p.in.Output.Grants(s.Name, "write") {
			what := slices.Concat(g.Plain, g.Blind)
			isAppend := slices.ContainsFunc(footprint.Includes(what), func(q region.Pattern) bool {
				return slices.ContainsFunc(q.Segments, func(s region.Segment) bool { return s.Kind == region.FreshSegment })
			})
			if len(what) == 0 || isAppend || read.covers(what) || p.meet(what, read.region(footprint.Includes(what))) || p.spent() {
				continue
			}
			out = append(out, diagnostic.UnreadWrite.Diagnostic(g.Syntax.Span, "let a stage read it, or say in a `poptic:ignore` who does", fmt.Sprintf("what stage %s writes here no stage ever sees, and no rule reads", s.Name)))
		}
	})
	return out
}

// ruled is what the rules of the contract read, beside the conditions of stages.
func (p *program) ruled() (out region.Region) {
	add := func(patterns ...region.Pattern) {
		for _, q := range patterns {
			out = append(out, region.Grant{Include: []region.Pattern{q}})
		}
	}
	for _, g := range p.model.StateGates() {
		if g.Kind == ir.InvariantGate || g.Kind == ir.ChangeGate {
			for _, q := range g.Reads {
				add(q)
			}
		}
	}
	for _, ph := range p.contract.Phases {
		for _, a := range ph.Arrows {
			if a.Guard != nil {
				add(footprint.ReadPatterns(*a.Guard)...)
			}
		}
	}
	return out
}

// secretsShown finds secrets that lie below what a stage reads, and that it does not name.
func secretsShown(p *program) (out []source.Diagnostic) {
	if p.contract == nil || len(p.contract.Secrets) == 0 {
		return nil
	}
	secrets := footprint.Includes(p.contract.Secrets)
	p.eachStage(func(s *ir.Stage, d *syntax.StageDecl) {
		named := p.named(s)
		for _, g := range p.in.Output.Grants(s.Name, "read") {
			for _, secret := range secrets {
				above := slices.ContainsFunc(footprint.Includes(g.Plain), func(q region.Pattern) bool { return leadsTo(q, secret) })
				one := region.Region{{Include: []region.Pattern{secret}}}
				isNamed := slices.ContainsFunc(named, func(q region.Pattern) bool {
					return len(q.Segments) >= len(secret.Segments) && q.MayMeet(secret)
				})
				if !above || isNamed || !p.decides() || !p.model.Overlaps(one, anyArgs(g.Plain)) || p.spent() {
					continue
				}
				out = append(out, secretShown(s, g.Syntax, secret))
				break
			}
		}
	})
	return out
}

// leadsTo reports whether a pattern is above a place, and so shows it without naming it.
func leadsTo(q, secret region.Pattern) bool {
	deep := slices.ContainsFunc(q.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth })
	return deep || len(q.Segments) < len(secret.Segments) && q.MayMeet(secret)
}

// named lists the patterns that a stage and its delegates name.
func (p *program) named(s *ir.Stage) (out []region.Pattern) {
	for i := range p.contract.Stages {
		t := &p.contract.Stages[i]
		if t.Name != s.Name && t.From != s.Name {
			continue
		}
		out = slices.Concat(out, footprint.Includes(t.Read), footprint.Includes(t.Write), footprint.Includes(t.Blind), footprint.Includes(t.Source), t.Produce)
		for _, x := range slices.Concat(t.Require, t.Ensure) {
			out = append(out, footprint.ReadPatterns(x)...)
		}
	}
	return slices.DeleteFunc(out, func(q region.Pattern) bool {
		return slices.ContainsFunc(q.Segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth })
	})
}

func secretShown(s *ir.Stage, g *syntax.GrantExpr, secret region.Pattern) source.Diagnostic {
	d := diagnostic.SecretShown.Diagnostic(g.Span, "if it is meant, read "+secret.Source()+" by its name, too; else `except secrets`",
		fmt.Sprintf("stage %s is shown the secret %s, which nothing in it names", s.Name, secret.Source()))
	if len(g.Except) == 0 {
		end := source.Span{File: g.Span.File, Start: g.Span.End, End: g.Span.End}
		d.Fixes = []source.Fix{{Choice: true, Title: "keep secrets back", Span: end, Text: " except secrets"}}
	}
	return d
}

// secretFlows finds stages that see a secret text, and may write a text that is none where
// others see it.
func secretFlows(p *program) (out []source.Diagnostic) {
	if p.contract == nil || len(p.contract.Secrets) == 0 {
		return nil
	}
	order, readers := p.once.order(), p.readers()
	sees := func(s *ir.Stage, what region.Region) bool { return p.meet(what, s.Read) }
	for _, secret := range footprint.Includes(p.contract.Secrets) {
		one := region.Region{{Include: []region.Pattern{secret}}}
		if !p.holdsText(secret, true) {
			continue
		}
		var knowing []string // roles that see it anyway
		knows := map[int]bool{}
		for _, i := range readers.stages(secret) {
			if sees(&p.contract.Stages[i], one) {
				knows[i] = true
				knowing = append(knowing, p.contract.Stages[i].By...)
			}
		}
		for _, at := range slices.Sorted(maps.Keys(knows)) {
			a := &p.contract.Stages[at]
			for _, g := range p.in.Output.Grants(a.Name, "write") {
				for _, w := range footprint.Includes(slices.Concat(g.Plain, g.Blind)) {
					if !p.holdsText(w, false) || p.isSecret(w) {
						continue
					}
					what := region.Region{{Include: []region.Pattern{w}, Except: footprint.Includes(p.contract.Secrets)}}
					found := slices.IndexFunc(readers.stages(w), func(i int) bool {
						b := &p.contract.Stages[i]
						told := len(b.By) > 0 && !slices.ContainsFunc(b.By, func(r string) bool { return !slices.Contains(knowing, r) })
						return i != at && b.From == "" && !told && !knows[i] && order.follows(a, b) && p.meet(what, b.Read)
					})
					if found < 0 || p.spent() {
						continue
					}
					i := readers.stages(w)[found]
					d := diagnostic.SecretFlow.Diagnostic(g.Syntax.Span, "keep the secret from the one stage, or the text from the other; `prove no flow from secrets to "+w.Source()+"` says when it is mended",
						fmt.Sprintf("stage %s sees the secret %s and may write it here, where stage %s sees it", a.Name, secret.Source(), p.contract.Stages[i].Name))
					if b := p.stages[p.contract.Stages[i].Name]; b != nil {
						d = related(d, "this stage does not see the secret", b.Name.Span)
					}
					if !slices.ContainsFunc(out, func(f source.Diagnostic) bool { return f.Span == d.Span }) {
						out = append(out, d)
					}
				}
			}
		}
	}
	return out
}

// isSecret reports whether a place is secret, or lies below one that is.
func (p *program) isSecret(w region.Pattern) bool {
	return slices.ContainsFunc(footprint.Includes(p.contract.Secrets), func(s region.Pattern) bool {
		return len(s.Segments) <= len(w.Segments) && s.MayMeet(w)
	})
}

// holdsText reports whether a free text may stand at or below a place: a string that is
// neither one of some, nor a key, nor of a form that a constraint fixes. Secret ones count
// only if they are asked for.
func (p *program) holdsText(at region.Pattern, secret bool) bool {
	set := p.model.Shape.Root()
	for _, seg := range at.Segments {
		switch seg.Kind {
		case region.KeyLiteral, region.Literal:
			set = p.model.Shape.Letter(set, region.Key(seg.Text))
		case region.AnyDepth:
			set = append(slices.Clone(set), p.model.Shape.Below(set)...)
		default:
			set = p.model.Shape.Children(set, true, true)
		}
	}
	seen := map[ir.TypeID]bool{ir.NoType: true}
	var text func(id ir.TypeID) bool
	text = func(id ir.TypeID) bool {
		if seen[id] {
			return false
		}
		seen[id] = true
		t := p.contract.Type(id)
		if t.Secret && !secret {
			return false
		}
		switch t.Kind {
		case ir.StringType:
			return !slices.ContainsFunc(t.Where, func(x ir.Expr) bool { return strings.Contains(x.Source, "matches(") })
		case ir.AnyType:
			return true
		}
		return text(t.Elem) || text(t.Rest) || slices.ContainsFunc(t.Alternatives, text) ||
			slices.ContainsFunc(t.Members, func(m ir.Member) bool { return text(m.Type) })
	}
	return slices.ContainsFunc(set, text)
}

// anyRoles finds stages that everybody may run, where at least as many say who.
func anyRoles(p *program) (out []source.Diagnostic) {
	saying, silent := 0, 0
	p.eachStage(func(s *ir.Stage, _ *syntax.StageDecl) {
		switch {
		case len(s.By) > 0:
			saying++
		case s.From == "":
			silent++
		}
	})
	p.eachStage(func(s *ir.Stage, d *syntax.StageDecl) {
		if saying >= silent && len(s.By) == 0 && s.From == "" {
			out = append(out, diagnostic.AnyRole.Diagnostic(d.Name.Span, "say who runs it with `by`", "stage "+s.Name+" has no `by`, as others here have: every role may run it"))
		}
	})
	return out
}
