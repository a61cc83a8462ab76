package expr

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// What is asked of the walk. An expression is checked once, in the scope that it stands in:
// it is parsed and typed, and walked for what it reads and what is wrong with it. One that
// is right is walked a few times more. Once for the pins: the places that hold an argument
// or a known text wherever a condition of a stage holds. Once for each phase, where it
// reads the phase: in some it may be decided before all is read. And where it is known what
// a state holds in some places, for whether a rule can fail there at all (Holds).

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
	checked, errs := e.typed(tree, extents, check)
	w := newWalker(e, s, checked, extents)
	w.oneState = s.Vars != ir.AfterVars && s.Vars != ir.ChangeVars
	w.presence(s, w.outcome())
	w.everything()
	w.translate(errs.GetErrors(), s)
	w.withoutFollowing()
	w.resultType()
	w.exactness(checked.Expr())
	w.patterns(checked.Expr(), e.limits.MaxRegexp)
	sortIssues(w.issues)
	out := ir.Expr{Source: src, Reads: w.footprint.widened().list(), ReadsPhase: w.footprint.phase, Inputs: w.footprint.asks()}
	if len(w.lookups) > 0 {
		out.Narrow, out.Lookups = w.footprint.patterns(), w.lookups
	}
	if root, ok := pinRoots[s.Vars]; ok && !HasErrors(w.issues) {
		quiet := newWalker(e, s, checked, extents)
		out.Pins = quiet.pins(checked.Expr(), root)
		if s.Vars == ir.AfterVars {
			for _, p := range quiet.pins(checked.Expr(), pinRoots[ir.BeforeVars]) {
				p.Before = true
				out.Pins = append(out.Pins, p)
			}
		}
	}
	if !HasErrors(w.issues) && w.footprint.phase {
		out.InPhase = w.inPhases(e.contract.Phases, s)
	}
	return out, w.issues
}

// presence marks that the bound entry of a rule is there as read: the rule is asked of
// an entry from when it comes, whatever it then looks at. What is read at or below the
// entry says so already. A rule that holds for certain is asked for nothing.
func (w *walker) presence(s Scope, outcome abstract) {
	if s.Vars != ir.EachVars && s.Vars != ir.ChangeVars || s.Each == nil {
		return
	}
	if holds, known := w.truth(outcome); holds && known {
		return
	}
	entry := familyPlace(s.Each.Over)
	for _, r := range w.footprint.reads {
		if n := len(entry.segments); len(r.Pattern.Segments) >= n && slices.Equal(r.Pattern.Segments[:n], entry.segments) {
			return
		}
	}
	w.footprint.add(entry, true)
}

// resultType demands a bool, unless something else is wrong already.
func (w *walker) resultType() {
	root := w.tree.Expr()
	t := w.tree.GetType(root.ID())
	if HasErrors(w.issues) || t.Kind() == types.BoolKind || t.Kind() == types.DynKind {
		return
	}
	w.report(root, notBool(w.typeWords(t)))
}

func sortIssues(issues []Issue) {
	sort.SliceStable(issues, func(i, j int) bool {
		if issues[i].Start != issues[j].Start {
			return issues[i].Start < issues[j].Start
		}
		return issues[i].End < issues[j].End
	})
}

// inPhases walks an expression once for each phase; nil if none makes a difference. The
// look-ups are those of the whole expression.
func (w *walker) inPhases(phases []ir.Phase, s Scope) []ir.PhaseReads {
	if w.steps > maxSteps {
		return nil
	}
	var out []ir.PhaseReads
	cases := map[string]int{}
	for _, phase := range phases {
		in := newWalker(w.env, s, w.tree, w.extents)
		in.oneState, in.lookups, in.phase = w.oneState, w.lookups, phase.Name
		in.presence(s, in.outcome())
		if in.steps > maxSteps {
			return nil
		}
		folded := fmt.Sprint(in.folded)
		if _, known := cases[folded]; !known {
			cases[folded] = len(cases)
		}
		out = append(out, ir.PhaseReads{Phase: phase.Name, Case: cases[folded], Reads: in.footprint.patterns()})
	}
	if len(cases) < 2 {
		return nil
	}
	return out
}

// pinRoots are the states of which conditions of a stage say what they hold.
var pinRoots = map[ir.Vars]string{ir.BindVars: "state", ir.BeforeVars: "before", ir.AfterVars: "after"}

// pins lists the places that e, which holds, says to hold a parameter if they are there:
// the conjuncts `root.a.b == p`, `!has(root.a.b) || root.a.b == p` and
// `root.a.?b.orValue("") == p`; no parameter is "".
func (w *walker) pins(e ast.Expr, root string) []ir.Pin {
	if e.Kind() != ast.CallKind || len(e.AsCall().Args()) != 2 || e.AsCall().IsMemberFunction() {
		return nil
	}
	args := e.AsCall().Args()
	switch e.AsCall().FunctionName() {
	case operators.LogicalAnd:
		return append(w.pins(args[0], root), w.pins(args[1], root)...)
	case operators.LogicalOr:
		otherwise := w.pins(args[1], root)
		if p, ok := eitherText(w.pins(args[0], root), otherwise); ok {
			return []ir.Pin{p}
		}
		absent := slices.DeleteFunc(w.facts(args[0], false, w.globals()), func(f string) bool { return strings.Contains(f, "\x00") })
		if len(absent) > 0 {
			return slices.DeleteFunc(otherwise, func(p ir.Pin) bool { return p.Param == "" || !w.isAbout(p, absent[0], args[1]) })
		}
	case operators.Equals:
		a, b := w.walk(args[0], w.globals(), nil), w.walk(args[1], w.globals(), nil)
		other := args[1]
		if a.param == "" && a.constant == nil {
			a, b, other = b, a, args[0]
		}
		if text, ok := a.constant.(types.String); ok && isPlaceOf(b, root) {
			return []ir.Pin{{At: region.Pattern{Segments: b.places[0].segments}, Texts: []string{string(text)}}}
		}
		if a.param == "" {
			return nil
		}
		if inner, ok := orEmpty(other); ok {
			b = w.walk(inner, w.globals(), nil)
			b.optional, b.path = false, w.path(inner, w.globals())
		}
		if isPlaceOf(b, root) {
			return []ir.Pin{{At: region.Pattern{Segments: b.places[0].segments}, Param: a.param}}
		}
	case operators.In:
		at := w.walk(args[0], w.globals(), nil)
		texts, ok := constantTexts(args[1])
		if ok && isPlaceOf(at, root) {
			return []ir.Pin{{At: region.Pattern{Segments: at.places[0].segments}, Texts: texts}}
		}
	}
	return nil
}

func isPlaceOf(v abstract, root string) bool {
	return isOnePlace(v) && (strings.HasPrefix(v.path, root+".") || strings.HasPrefix(v.path, root+"["))
}

// eitherText is what two pins of the texts at one place say where one of them holds.
func eitherText(a, b []ir.Pin) (ir.Pin, bool) {
	if len(a) != 1 || len(b) != 1 || a[0].Texts == nil || b[0].Texts == nil || placeKey(a[0].At.Segments, false) != placeKey(b[0].At.Segments, false) {
		return ir.Pin{}, false
	}
	return ir.Pin{At: a[0].At, Texts: append(slices.Clone(a[0].Texts), b[0].Texts...)}, true
}

// isAbout reports whether e, which makes a pin, is an equality of the node of a path.
func (w *walker) isAbout(p ir.Pin, path string, e ast.Expr) bool {
	for _, arg := range e.AsCall().Args() {
		v := w.walk(arg, w.globals(), nil)
		if v.path == path && isOnePlace(v) && placeKey(v.places[0].segments, false) == placeKey(p.At.Segments, false) {
			return true
		}
	}
	return false
}

// orEmpty reads `x.orValue("")`.
func orEmpty(e ast.Expr) (x ast.Expr, ok bool) {
	if callName(e) != "orValue" || !e.AsCall().IsMemberFunction() || len(e.AsCall().Args()) != 1 {
		return nil, false
	}
	return e.AsCall().Target(), literalOf(e.AsCall().Args()[0]) == types.String("")
}

// Holds reports whether a checked rule certainly holds, in each of the phases, where
// places hold one of some texts. The places are those of the rule's own footprint, with
// its look-ups as parameters. It may miss cases. Cost: a walk for each phase.
func (e *Env) Holds(x ir.Expr, s Scope, phases []string, known []ir.Pin) bool {
	tree, extents, _ := e.parse(x.Source)
	check, err := e.checkerFor(s)
	if tree == nil || err != nil {
		return false
	}
	checked, _ := e.typed(tree, extents, check)
	for _, phase := range phases {
		w := newWalker(e, s, checked, extents)
		w.oneState, w.lookups, w.phase, w.texts = true, x.Lookups, phase, map[string][]string{}
		for _, k := range known {
			w.texts[placeKey(k.At.Segments, false)] = k.Texts
		}
		w.longTexts = w.hasLongTexts(checked.Expr())
		if b, certain := w.truth(w.outcome()); !certain || !b || w.steps > maxSteps {
			return false
		}
	}
	return len(phases) > 0
}
