package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
)

// stage is a stage or delegate between its tree and its lowered form.
type stage struct {
	decl    *syntax.StageDecl
	out     *ir.Stage
	parent  *stage // of a delegate
	params  map[string]*ir.Param
	clauses map[string]*syntax.Clause // the first of each keyword
	unclear map[string]bool           // clauses that an error left without their meaning, by keyword
	faulty  bool                      // an error touches it
}

// repeatable are the clauses a stage may have several of.
var repeatable = []string{"require", "ensure", "produce", "discloses"}

func (c *checker) lowerStages() {
	for _, d := range c.root.file.Decls {
		if d, ok := d.(*syntax.StageDecl); ok && d.From == nil {
			var st *stage
			faulty := c.faultily(func() {
				st = c.openStage(d)
				if c.faultily(func() { c.lowerParams(st) }) {
					for _, k := range []string{"read", "write", "source", "delegable"} {
						st.unclear[k] = true
					}
				}
				c.lowerClauses(st)
			})
			st.faulty = faulty
			c.addLowered(st)
		}
	}
}

// addLowered adds a stage once its phases are settled.
func (c *checker) addLowered(st *stage) {
	st.faulty = c.faultily(func() { c.defaultPhases(st) }) || st.faulty
	c.addStage(st)
}

func (c *checker) openStage(d *syntax.StageDecl) *stage {
	st := &stage{decl: d, out: &ir.Stage{Name: d.Name.Text, Doc: d.Doc}, params: map[string]*ir.Param{}, clauses: map[string]*syntax.Clause{}, unclear: map[string]bool{}}
	for _, cl := range d.Clauses {
		k := cl.Keyword.Text
		if first, ok := st.clauses[k]; ok && !slices.Contains(repeatable, k) {
			c.report(clauseTwice(cl, first))
			continue
		} else if !ok {
			st.clauses[k] = cl
		}
	}
	return st
}

// placeStages moves the lowered stages into the contract, in source order.
func (c *checker) placeStages() {
	for _, st := range c.stages {
		c.out.Stages = append(c.out.Stages, *st.out)
	}
	for i, st := range c.stages {
		st.out = &c.out.Stages[i]
	}
}

// lowerClauses lowers the clauses a stage has; a delegate starts from a copy of
// its parent, so that what it leaves out is inherited.
func (c *checker) lowerClauses(st *stage) {
	for _, cl := range st.decl.Clauses {
		k := cl.Keyword.Text
		if st.clauses[k] != cl && !slices.Contains(repeatable, k) {
			continue
		}
		if c.faultily(func() { c.lowerClause(st, cl) }) {
			st.unclear[k] = true
		}
	}
	c.readDependent(st)
}

func (c *checker) lowerClause(st *stage, cl *syntax.Clause) {
	s := st.out
	switch cl.Keyword.Text {
	case "in":
		s.In = c.phaseNames(cl.Names)
	case "by":
		s.By = c.distinct(cl.Names)
		c.use(slices.Contains(s.By, "")) // the parser reported it
	case "next":
		s.Next = c.phaseNames(cl.Names)
	case "after":
		s.After = c.distinct(cl.Names)
	case "read":
		s.Read, _ = c.lowerRegion(c.root, cl.Region, readPath, st.params)
	case "write":
		s.Write, s.Blind = c.lowerRegion(c.root, cl.Region, writePath, st.params)
	case "source":
		s.Source, _ = c.lowerRegion(c.root, cl.Region, sourcePath, st.params)
	case "delegable":
		s.Delegable, _ = c.lowerRegion(c.root, cl.Region, otherPath, st.params)
		s.HasDelegable = true
	case "produce":
		c.lowerProduce(st, cl)
	case "require":
		s.Require = append(s.Require, c.expression(cl.Expr, expr.Scope{Vars: ir.BeforeVars, Params: st.paramNames()}))
	case "ensure":
		s.Ensure = append(s.Ensure, c.expression(cl.Expr, expr.Scope{Vars: ir.AfterVars, Params: st.paramNames()}))
	case "attempts":
		c.lowerAttempts(s, cl)
	}
}

func (c *checker) lowerAttempts(s *ir.Stage, cl *syntax.Clause) {
	if cl.Number == nil {
		return
	}
	if cl.Number.Value < 1 {
		c.report(badAttempts(cl))
		return
	}
	s.Attempts = cl.Number.Value
}

func (c *checker) lowerProduce(st *stage, cl *syntax.Clause) {
	for _, p := range cl.Paths {
		if t, ok := c.single(p, st.params); ok {
			st.out.Produce = append(st.out.Produce, t.pattern)
		}
	}
}

// readDependent makes the path of a dependent parameter part of what the stage
// reads: its value shows in every path that uses it.
func (c *checker) readDependent(st *stage) {
	for _, p := range st.out.Params {
		if p.Kind == ir.DependentParam && !region.Compile(st.out.Read).Contains(wordOf(p.Of)) {
			st.out.Read = append(slices.Clone(st.out.Read), region.Grant{Include: []region.Pattern{p.Of}})
		}
	}
}

// defaultPhases puts a stage of a contract without phases into the only one, and
// demands "in" of the others.
func (c *checker) defaultPhases(st *stage) {
	if len(c.phases) == 0 {
		for _, k := range []string{"in", "next"} {
			if cl := st.clauses[k]; cl != nil {
				c.report(clauseNeedsPhases(cl))
			}
		}
		st.out.In, st.out.Next = []string{DefaultPhase}, nil
		return
	}
	if st.clauses["in"] == nil && st.parent == nil {
		c.report(missingIn(st.decl, c.out.Phases[0].Name))
		return
	}
	c.checkMoves(st)
}

// checkMoves reports stages that move along edges that are not there.
func (c *checker) checkMoves(st *stage) {
	cl := st.clauses["next"]
	if cl == nil {
		cl = st.clauses["in"]
	}
	if cl == nil || !c.phasesClean {
		return
	}
	if n := len(st.out.In) * len(st.out.Next); n > MaxMoves {
		c.report(tooLarge(cl.Span, "moves of a stage", MaxMoves, fmt.Sprintf("its phases times those it may move to are %d; make it several stages", n)))
		return
	}
	for _, from := range st.out.In {
		targets := map[string]bool{}
		for _, to := range arrowTargets(c.phase(from)) {
			targets[to] = true
		}
		for _, to := range st.out.Next {
			if !targets[to] {
				c.report(noSuchArrow(cl, c.phases[from], to))
			}
		}
	}
}

// Limits of a stage.
const (
	MaxParams = 32      // parameters
	MaxMoves  = 1 << 12 // phases times phases it may move to
)

// phaseNames resolves phases by name, dropping what it reports.
func (c *checker) phaseNames(names []syntax.Name) []string {
	var out []string
	listed := map[string]bool{}
	for _, n := range names {
		if c.isMissing(n) {
			continue
		}
		if len(c.phases) > 0 && c.phases[n.Text] == nil {
			c.report(unknownName(diagnostic.UnknownPhase, n, n.Text, keys(c.phases)))
			continue
		}
		if listed[n.Text] {
			c.report(listedTwice(n))
			continue
		}
		listed[n.Text] = true
		out = append(out, n.Text)
	}
	return out
}

// checkAfter resolves the stages that "after" names.
func (c *checker) checkAfter() {
	for _, st := range c.stages {
		if cl := st.clauses["after"]; cl != nil {
			for _, n := range cl.Names {
				c.stageNamed(n)
			}
		}
	}
}

// stageNamed finds a stage or delegate, and reports the name if there is none.
func (c *checker) stageNamed(n syntax.Name) *stage {
	if c.isMissing(n) {
		return nil
	}
	if st := c.findStage(n.Text); st != nil {
		return st
	}
	var names []string
	for _, st := range c.stages {
		names = append(names, st.decl.Name.Text)
	}
	c.report(unknownName(diagnostic.UnknownStage, n, n.Text, names))
	return nil
}

// distinct is the texts of a list of names, and reports those that it holds twice.
func (c *checker) distinct(names []syntax.Name) []string {
	var out []string
	for _, n := range names {
		if n.Text != "" && slices.Contains(out, n.Text) {
			c.report(listedTwice(n))
			continue
		}
		out = append(out, n.Text)
	}
	return out
}

// isMissing reports whether a name was not written, which the parser reported.
func (c *checker) isMissing(n syntax.Name) bool {
	c.use(n.Text == "")
	return n.Text == ""
}

func texts(names []syntax.Name) []string {
	var out []string
	for _, n := range names {
		out = append(out, n.Text)
	}
	return out
}

// paramNames lists the parameters of a stage, those included that were reported.
func (st *stage) paramNames() []string {
	decl := st.decl
	for at := st; at != nil; at = at.parent {
		decl = at.decl
	}
	var out []string
	for _, p := range decl.Params {
		if st.params[p.Name.Text] != nil && !slices.Contains(out, p.Name.Text) {
			out = append(out, p.Name.Text)
		}
	}
	return out
}

// isClear reports whether no error left one of some clauses, or where a delegate
// inherits it that of its parent, without its meaning.
func (st *stage) isClear(clauses ...string) bool {
	return !slices.ContainsFunc(clauses, func(k string) bool {
		return st.unclear[k] || st.parent != nil && st.clauses[k] == nil && !st.parent.isClear(k)
	})
}

// title is how messages name a stage.
func (st *stage) title() string {
	kind := "stage "
	if st.decl.From != nil {
		kind = "delegate "
	}
	return strings.TrimSpace(kind + st.decl.Name.Text)
}
