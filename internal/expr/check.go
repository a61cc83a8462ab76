package expr

import (
	"fmt"
	"sort"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
)

// Check parses src, types it in scope s and infers what it reads. The expression is
// usable if HasErrors(issues) is false; its Source is src as given. Cost is linear in
// the source for all that people write.
func (e *Env) Check(src string, s Scope) (ir.Expr, []Issue) {
	tree, extents, issues := e.parse(src)
	if tree == nil {
		return ir.Expr{Source: src}, issues
	}
	check, err := e.checkerFor(s)
	if err != nil {
		return ir.Expr{Source: src}, []Issue{invalid("the names in scope contradict each other")}
	}
	checked, errs := checker.Check(tree, common.NewTextSource(src), check)
	w := &walker{env: e, vars: e.variables(s), tree: checked, extents: extents, flagged: map[int64]bool{}}
	w.oneState = s.Vars != ir.AfterVars
	w.presence(s, w.value(checked.Expr(), w.globals(), nil))
	w.everything()
	w.translate(errs.GetErrors(), s)
	w.resultType()
	w.patterns(checked.Expr(), e.limits.MaxRegexp)
	sortIssues(w.issues)
	out := ir.Expr{Source: src, Reads: w.prints.widened().list(), ReadsPhase: w.prints.phase}
	if len(w.lookups) > 0 {
		out.Narrow, out.Lookups = w.prints.patterns(), w.lookups
	}
	if root, ok := pinRoots[s.Vars]; ok && !HasErrors(w.issues) {
		quiet := &walker{env: w.env, vars: w.vars, tree: w.tree, extents: w.extents, flagged: map[int64]bool{}}
		out.Pins = quiet.pins(checked.Expr(), root)
		if s.Vars == ir.AfterVars {
			for _, p := range quiet.pins(checked.Expr(), pinRoots[ir.BeforeVars]) {
				p.Before = true
				out.Pins = append(out.Pins, p)
			}
		}
	}
	if !HasErrors(w.issues) && w.prints.phase {
		out.InPhase = w.inPhases(e.contract.Phases, s)
	}
	return out, w.issues
}

// pinRoots are the states of which conditions of a stage say what they hold.
var pinRoots = map[ir.Vars]string{ir.BeforeVars: "before", ir.AfterVars: "after"}

// inPhases walks an expression once for each phase; nil if none makes a difference. The
// look-ups are those of the whole expression.
func (w *walker) inPhases(phases []ir.Phase, s Scope) []ir.PhaseReads {
	if w.steps > maxSteps {
		return nil
	}
	var out []ir.PhaseReads
	cases := map[string]int{}
	for _, phase := range phases {
		in := &walker{env: w.env, vars: w.vars, tree: w.tree, extents: w.extents, flagged: map[int64]bool{}, oneState: w.oneState, lookups: w.lookups, phase: phase.Name}
		in.presence(s, in.value(w.tree.Expr(), in.globals(), nil))
		if in.steps > maxSteps {
			return nil
		}
		folded := fmt.Sprint(in.folded)
		if _, known := cases[folded]; !known {
			cases[folded] = len(cases)
		}
		out = append(out, ir.PhaseReads{Phase: phase.Name, Case: cases[folded], Reads: in.prints.patterns()})
	}
	if len(cases) < 2 {
		return nil
	}
	return out
}

// resultType demands a bool, unless something else is wrong already.
func (w *walker) resultType() {
	root := w.tree.Expr()
	t := w.tree.GetType(root.ID())
	if HasErrors(w.issues) || t.Kind() == types.BoolKind || t.Kind() == types.DynKind {
		return
	}
	w.report(root, w.extents.of(root), notBool(w.typeWords(t)))
}

// nodes indexes the tree by id.
func nodes(root ast.Expr) map[int64]ast.Expr {
	out := map[int64]ast.Expr{}
	ast.PostOrderVisit(root, ast.NewExprVisitor(func(e ast.Expr) { out[e.ID()] = e }))
	return out
}

func sortIssues(issues []Issue) {
	sort.SliceStable(issues, func(i, j int) bool {
		if issues[i].Start != issues[j].Start {
			return issues[i].Start < issues[j].Start
		}
		return issues[i].End < issues[j].End
	})
}
