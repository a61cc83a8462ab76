package check

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// What a stage is shown, and what it learns without being shown it. The checks of this
// file keep what the clauses of a stage say, and what its actor can find out, the same.
//
// What a stage writes or takes as a source it must also read (semantics 0.4):
// otherwise accepting or rejecting its patch would tell it what it does not see.
// Three kinds of writes are exempt, because nothing hidden can decide about them
// (language, "Paths and regions"): an append to a log; everything below a key
// that a "new in" parameter creates; a blind add. What they need instead is a
// parent that certainly exists, or that the stage sees.

// checkVisibility reports what stages write or take and do not read.
func (c *checker) checkVisibility() {
	for _, st := range c.stages {
		if c.exhausted(st.decl.Name.Span) {
			return
		}
		if st.isClear("read") {
			st.faulty = c.faultily(func() { c.checkSeen(st) }) || st.faulty
		}
	}
}

func (c *checker) checkSeen(st *stage) {
	read := region.Compile(st.out.Read)
	for _, w := range c.writtenClearly(st, "write") {
		for _, p := range c.exemptParents(st.out, w) {
			if !c.model.ParentStands(st.out, p) {
				missing, _ := c.model.Uncertain(st.out, p)
				c.report(parentUncertain(st, w.at, p.Source(), footprint.Prefix(p, missing).Source()))
			}
		}
		c.requireRead(st, read, "write", c.model.WithoutExempt(st.out, w.plain), w)
	}
	for _, w := range c.writtenClearly(st, "source") {
		c.requireRead(st, read, "source", w.plain, w)
	}
}

// writtenGrant is one grant as the author wrote it, lowered.
type writtenGrant struct {
	plain, blind region.Region
	at           source.Span
	read         string // the grant that reads it, as an author writes it
}

// writtenClearly is written, of a clause that has its meaning.
func (c *checker) writtenClearly(st *stage, clause string) []writtenGrant {
	if !st.isClear(clause) {
		return nil
	}
	return c.written(st, clause)
}

// written lists the grants of a clause, of a delegate's parent where it inherits
// the clause. What was wrong with them has been reported.
func (c *checker) written(of *stage, clause string) []writtenGrant {
	st := of
	for st.clauses[clause] == nil && st.parent != nil {
		st = st.parent
	}
	cl := st.clauses[clause]
	if cl == nil || cl.Region == nil {
		return nil
	}
	c.muted++
	counted := c.patternCount
	defer func() { c.muted--; c.patternCount = counted }()
	var out []writtenGrant
	for _, g := range cl.Region.Grants {
		one := &syntax.RegionExpr{Grants: []*syntax.GrantExpr{g}}
		var w writing
		if clause == "write" {
			w = c.lowerWriting(one, st.params)
		} else {
			w.plain = c.lowerRegion(c.root, one, sourcePath, st.params)
		}
		at := g.Span // without the words before it
		if len(g.Intersect) > 0 {
			at.Start = g.Intersect[0].Span.Start
		}
		read := strings.TrimSuffix(at.Text(), "/-")
		if st != of {
			at = of.decl.Name.Span
		}
		out = append(out, writtenGrant{w.plain, w.blind, at, read})
	}
	return out
}

// A Written is one grant of a stage's clause: where it was written, what it means, and
// what it would mean without its exceptions, of which Taken are what each takes away.
type Written struct {
	Syntax       *syntax.GrantExpr
	Plain, Blind region.Region
	Rights       ir.Rights // of a write, what Plain lets happen
	Whole        region.Region
	Taken        []region.Region
}

// grants lists the grants that a stage states itself in a clause, in order, or with
// "region" for the clause, those of a region that the file declares. It is asked after the
// contract was checked, and reports nothing.
func (c *checker) grants(name, clause string) []Written {
	var all *syntax.RegionExpr
	var params map[string]*ir.Param
	if clause == "region" {
		for _, d := range c.root.file.Decls {
			if d, ok := d.(*syntax.RegionDecl); ok && d.Name.Text == name {
				all = d.Region
			}
		}
	} else if st := c.stageOf[name]; st != nil && !st.faulty && st.clauses[clause] != nil {
		all, params = st.clauses[clause].Region, st.params
	}
	if all == nil {
		return nil
	}
	c.muted++
	counted := c.patternCount
	defer func() { c.muted--; c.patternCount = counted }()
	var out []Written
	use := clauseUse[clause]
	for _, g := range all.Grants {
		w := Written{Syntax: g, Rights: rightsOf(g)}
		if r := c.lowerGrant(c.root, g, use, params); g.Blind {
			w.Blind = r
		} else {
			w.Plain = r
		}
		whole := &syntax.GrantExpr{Node: g.Node, Intersect: g.Intersect}
		w.Whole = c.lowerGrant(c.root, whole, use, params)
		for _, e := range g.Except {
			w.Taken = append(w.Taken, c.lowerAtom(c.root, e, exceptUse(use), params))
		}
		out = append(out, w)
	}
	return out
}

// clauseUse is what the paths of a clause are for; others than these are read.
var clauseUse = map[string]pathUse{"write": writePath, "source": sourcePath, "delegable write": writePath, "delegable source": sourcePath}

func (c *checker) requireRead(st *stage, read *region.Set, clause string, authority region.Region, g writtenGrant) {
	if w, ok := c.model.WithinSet(authority, read, region.Interior, region.Plain); !ok {
		c.report(notRead(st, clause, g, w))
	}
}

// exemptParents lists the containers that must stand for what a grant exempts.
func (c *checker) exemptParents(s *ir.Stage, w writtenGrant) []region.Pattern {
	var out []region.Pattern
	for _, p := range footprint.Includes(w.plain) {
		if parent, ok := c.model.ExemptParent(s, p); ok {
			out = append(out, parent)
		}
	}
	for _, p := range footprint.Includes(w.blind) {
		if n := len(p.Segments); n > 0 {
			out = append(out, footprint.Prefix(p, n-1))
		}
	}
	return out
}

// checkKeys reports exceptions on key fields. The key field of a keyed list holds the name
// under which an element shows. An exception that takes the field away from what a stage
// reads, and leaves the element in sight, hides nothing, and looks as if it did.
func (c *checker) checkKeys() {
	for _, st := range c.stages {
		cl := st.clauses["read"]
		if c.exhausted(st.decl.Name.Span) {
			return
		}
		if cl == nil || !slices.ContainsFunc(st.out.Read, func(g region.Grant) bool { return len(g.Except) > 0 }) {
			continue
		}
		for _, list := range c.model.KeyedListsShown(st.out.Read) {
			if c.exceptsKey(st.out.Read, list) {
				c.report(exceptedKey(st, cl, list.Key))
			}
		}
	}
}

// exceptsKey reports whether an exception takes away the key field of elements by itself.
func (c *checker) exceptsKey(r region.Region, list footprint.KeyedList) bool {
	for _, g := range r {
		for _, e := range g.Except {
			if e.Shallow = true; e.MayMeet(list.Key) && c.meet(e, list.Key) && c.meet(list.Key, g.Include...) {
				return true
			}
		}
	}
	return false
}

// meet reports whether some state has a place that a pattern has and one of others too.
func (c *checker) meet(p region.Pattern, others ...region.Pattern) bool {
	a, b := region.Compile(region.Region{{Include: []region.Pattern{p}}}), region.Compile(region.Region{{Include: others}})
	return region.Overlap(a, b, region.Plain, region.Plain, c.model.Options()).Verdict != region.No
}

// checkGuards reports a require that looks like a condition on who may see what. A require
// judges proposals, not views: one that compares an argument with what the state holds, or
// what it holds for two arguments, keeps nothing from a stage that reads by the arguments
// that it is about.
func (c *checker) checkGuards() {
	if c.env == nil {
		return
	}
	for _, st := range c.stages {
		if st.faulty {
			continue
		}
		for _, cl := range st.decl.Clauses {
			if cl.Keyword.Text == "require" && cl.Expr != nil {
				c.checkGuard(st, cl)
			}
		}
	}
}

func (c *checker) checkGuard(st *stage, cl *syntax.Clause) {
	mentioned, values := c.env.ParamUses(cl.Expr.Text, st.paramNames())
	if len(values) == 0 || !slices.ContainsFunc(st.out.Require, func(x ir.Expr) bool { return x.Source == syntax.Plain(cl.Expr.Text) && len(x.Reads) > 0 }) {
		return
	}
	for _, q := range st.out.Params { // what is found by an argument is picked by it
		if q.Kind == ir.DependentParam && slices.ContainsFunc(q.Of.Params(), func(name string) bool { return slices.Contains(mentioned, name) }) {
			mentioned = append(mentioned, q.Name)
		}
	}
	for _, p := range footprint.Includes(st.out.Read) {
		if slices.ContainsFunc(p.Params(), func(name string) bool {
			return slices.Contains(mentioned, name) && c.choosable(st, name, p)
		}) {
			c.report(requireNoGuard(st, cl, p))
			return
		}
	}
}

// choosable reports whether reading p shows what a parameter picks: one that is new
// picks nothing, and where a parameter is taken from counts as read anyway.
func (c *checker) choosable(st *stage, name string, p region.Pattern) bool {
	return slices.ContainsFunc(st.out.Params, func(q ir.Param) bool { return q.Name == name && q.Kind != ir.NewParam }) &&
		!slices.ContainsFunc(st.out.Params, func(q ir.Param) bool { return q.Kind == ir.DependentParam && q.Of.String() == p.String() })
}

// checkChoices reports stages that choose what they are shown. A parameter that is taken
// from the state picks that: a stage that may write there picks it itself: each of its commits may turn the view to another entry.
// In a sealed contract, where equal views are to stay equal, that is never silent.
func (c *checker) checkChoices() {
	if !c.out.Sealed {
		return
	}
	chooses := map[*stage]bool{}
	for _, st := range c.stages {
		if st.faulty || st.parent != nil && chooses[st.parent] {
			continue
		}
		for _, q := range st.out.Params {
			written, may := c.writesSource(st.out, q)
			if shown, more := c.pickedBy(st.out, q.Name); may && more {
				chooses[st] = true
				c.report(choosesView(st, q, written, shown))
				break
			}
		}
	}
}

// writesSource finds a grant of a stage by which it may change what a parameter is taken
// from. What it may only make anew is not there when the parameter is bound.
func (c *checker) writesSource(s *ir.Stage, q ir.Param) (region.Pattern, bool) {
	if q.Kind != ir.DependentParam {
		return region.Pattern{}, false
	}
	var others []string // two of the host's keys may be one
	for _, p := range s.Params {
		if p.Kind != ir.NewParam {
			others = append(others, p.Name)
		}
	}
	for _, g := range s.Write {
		g = anyKey(g, others)
		for _, p := range g.Include {
			if one := (region.Grant{Include: []region.Pattern{p}, Except: g.Except}); c.model.Overlaps(region.Region{{Include: []region.Pattern{q.Of}}}, region.Region{one}) {
				return p, true
			}
		}
	}
	return region.Pattern{}, false
}

// pickedBy finds a pattern of a stage's read by which it is shown more with one key for a
// parameter than with another.
func (c *checker) pickedBy(s *ir.Stage, name string) (region.Pattern, bool) {
	for _, g := range s.Read {
		for _, p := range slices.Concat(g.Except, g.Include) {
			if !slices.Contains(p.Params(), name) {
				continue
			}
			if _, all := c.model.Within(region.Region{anyKey(g, []string{name})}, s.Read, region.Plain, region.Plain); !all {
				return p, true
			}
		}
	}
	return region.Pattern{}, false
}

// anyKey is all that a grant may hold, whatever keys some parameters are bound to.
func anyKey(g region.Grant, params []string) region.Grant {
	isOne := func(s region.Segment) bool { return s.Kind == region.ParamSegment && slices.Contains(params, s.Text) }
	out := region.Grant{}
	for _, p := range g.Include {
		p.Segments = slices.Clone(p.Segments)
		for i, s := range p.Segments {
			if isOne(s) {
				p.Segments[i] = region.Segment{Kind: region.AnyKey}
			}
		}
		out.Include = append(out.Include, p)
	}
	for _, p := range g.Except {
		if !slices.ContainsFunc(p.Segments, isOne) {
			out.Except = append(out.Except, p)
		}
	}
	return out
}
