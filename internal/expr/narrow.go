package expr

import (
	"slices"
	"strings"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Two things narrow what an expression reads. A key that it reads at one place of the
// state, to find an entry by, stands for one entry, not for any. And in a given phase,
// what `phase` decides is not evaluated: of `phase != "done" || x`, nothing of x is
// read outside of done. What comes first is evaluated first, so what stands before
// the phase counts as read even if it makes no difference.

// lookup is the segment for the entry that a key of the state names, instead of a
// wildcard.
func (w *walker) lookup(step region.Segment, key abstract) (region.Segment, bool) {
	if !w.oneState || step.Kind != region.AnyKey || !isOnePlace(key) {
		return step, false
	}
	at := key.places[0]
	i := slices.IndexFunc(w.lookups, func(l ir.Lookup) bool { return placeKey(l.At.Segments, false) == placeKey(at.segments, false) })
	if i < 0 {
		if len(w.lookups) == maxLookups {
			return step, false
		}
		i = len(w.lookups)
		w.lookups = append(w.lookups, ir.Lookup{Key: "@" + string(rune('a'+i)), At: region.Pattern{Segments: at.segments}})
	}
	return region.Segment{Kind: region.ParamSegment, Text: w.lookups[i].Key}, true
}

// maxLookups is how many keys of the state one expression tells apart: their names
// are one letter.
const maxLookups = 26

func isLookup(s region.Segment) bool {
	return s.Kind == region.ParamSegment && len(s.Text) == 2 && s.Text[0] == '@' && s.Text[1] >= 'a'
}

// widened is the footprint with wildcards for the keys that are looked up.
func (f *footprint) widened() *footprint {
	out := &footprint{phase: f.phase}
	for _, r := range f.reads {
		p := place{segments: slices.Clone(r.Pattern.Segments), inexact: r.Inexact}
		for i, s := range p.segments {
			if isLookup(s) {
				p.segments[i], p.inexact = region.Segment{Kind: region.AnyKey}, true
			}
		}
		out.add(p, r.Pattern.Shallow)
	}
	return out
}

// patterns is list without what is exact.
func (f *footprint) patterns() []region.Pattern {
	out := []region.Pattern{}
	for _, r := range f.list() {
		out = append(out, r.Pattern)
	}
	return out
}

// fold is a constant that the phase made. What it was made of does not matter.
func (w *walker) fold(e ast.Expr, b bool) abstract {
	var forget func(ast.Expr)
	forget = func(e ast.Expr) {
		for _, child := range children(e) {
			delete(w.folded, child.ID())
			forget(child)
		}
	}
	forget(e)
	if w.folded == nil {
		w.folded = map[int64]bool{}
	}
	w.folded[e.ID()] = b
	return abstract{constant: types.Bool(b)}
}

// truth is what a value is for certain, in a walk about one phase.
func (w *walker) truth(v abstract) (b, known bool) {
	c, ok := v.constant.(types.Bool)
	return bool(c), ok && w.phase != ""
}

// decides reports whether one operand decides what && or || comes to.
func (w *walker) decides(v abstract, operator string) bool {
	b, known := w.truth(v)
	return known && b == (operator == operators.LogicalOr)
}

// costly reports whether it may depend on the state how many steps e takes, where that
// counts: a rule holds for certain only if nothing that is evaluated before it is decided
// can exceed the limit.
func (w *walker) costly(e ast.Expr) bool {
	if w.texts == nil {
		return false
	}
	if e.Kind() == ast.ComprehensionKind || e.Kind() == ast.CallKind && w.goesThrough(e.AsCall()) {
		return true
	}
	return w.longTexts || slices.ContainsFunc(children(e), w.costly)
}

// longestText is how many bytes a text of the state may have, by the limit on states.
const longestText = 64 << 20

// hasLongTexts reports whether reading the texts of e, and going through them, may exceed
// the limit where all are as long as they may be.
func (w *walker) hasLongTexts(e ast.Expr) bool {
	rates, err := textRates(e)
	if err != nil {
		return true
	}
	steps := int64(0)
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if !w.isAnyText(e) {
			return
		}
		rate := rates[e.ID()]
		if e.Kind() != ast.CallKind || e.AsCall().FunctionName() == operators.Index {
			rate++ // it is read
		}
		steps += rate * (longestText / textStep)
	}))
	return steps > int64(w.env.limits.CostLimit)
}

// isAnyText reports whether e is a text of the state, or made of one, that may be as long as
// a state may be.
func (w *walker) isAnyText(e ast.Expr) bool {
	switch w.tree.GetType(e.ID()).Kind() {
	case types.StringKind, types.BytesKind:
		v := w.walk(e, w.globals(), nil)
		oneOf := v.shape != nil && v.shape.kinds == kString && v.shape.literals != nil
		return v.constant == nil && v.param == "" && !oneOf && w.textsOf(v) == nil
	}
	return false
}

// goesThrough reports whether a call may look at all of a container.
func (w *walker) goesThrough(c ast.CallExpr) bool {
	args := c.Args()
	if c.IsMemberFunction() {
		args = append([]ast.Expr{c.Target()}, args...)
	}
	switch c.FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect, overloads.Size:
		return false
	case operators.In:
		return w.tree.GetType(args[1].ID()).Kind() != types.MapKind
	}
	return slices.ContainsFunc(args, func(a ast.Expr) bool { return !w.isScalar(a) })
}

func (w *walker) foldEquality(e ast.Expr, sides [2]abstract) abstract {
	a, b := w.textsOf(sides[0]), w.textsOf(sides[1])
	if w.phase == "" || a == nil || b == nil {
		return abstract{}
	}
	equals := e.AsCall().FunctionName() == operators.Equals
	switch {
	case !slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) }):
		return w.fold(e, !equals)
	case len(a) == 1 && len(b) == 1:
		return w.fold(e, equals)
	}
	return abstract{}
}

// foldMembership is `phase in [...]`.
func (w *walker) foldMembership(e ast.Expr, args []ast.Expr, x abstract) abstract {
	texts, list := w.textsOf(x), []string(nil)
	if w.phase == "" || texts == nil {
		return abstract{}
	}
	list, ok := constantTexts(args[1])
	switch in := func(t string) bool { return slices.Contains(list, t) }; {
	case !ok:
		return abstract{}
	case !slices.ContainsFunc(texts, in):
		return w.fold(e, false)
	case !slices.ContainsFunc(texts, func(t string) bool { return !in(t) }):
		return w.fold(e, true)
	}
	return abstract{}
}

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
		if absent := w.facts(args[0], false, w.globals()); len(absent) > 0 {
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

// constantTexts reads a list of text literals.
func constantTexts(e ast.Expr) (texts []string, ok bool) {
	if e.Kind() != ast.ListKind {
		return nil, false
	}
	for _, element := range e.AsList().Elements() {
		text, ok := element.AsLiteral().(types.String)
		if element.Kind() != ast.LiteralKind || !ok {
			return nil, false
		}
		texts = append(texts, string(text))
	}
	return texts, len(texts) > 0
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
	checked, _ := checker.Check(tree, common.NewTextSource(x.Source), check)
	for _, phase := range phases {
		w := &walker{env: e, vars: e.variables(s), tree: checked, extents: extents, flagged: map[int64]bool{}, oneState: true, lookups: x.Lookups, phase: phase, texts: map[string][]string{}}
		for _, k := range known {
			w.texts[placeKey(k.At.Segments, false)] = k.Texts
		}
		w.longTexts = w.hasLongTexts(checked.Expr())
		if b, certain := w.truth(w.value(checked.Expr(), w.globals(), nil)); !certain || !b || w.steps > maxSteps {
			return false
		}
	}
	return len(phases) > 0
}

// textsOf are the texts that a value may be; nil if that is not known.
func (w *walker) textsOf(v abstract) []string {
	if text, ok := v.constant.(types.String); ok {
		return []string{string(text)}
	}
	if isOnePlace(v) {
		return w.texts[placeKey(v.places[0].segments, false)]
	}
	return nil
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
	if e.Kind() != ast.CallKind || e.AsCall().FunctionName() != "orValue" || !e.AsCall().IsMemberFunction() || len(e.AsCall().Args()) != 1 {
		return nil, false
	}
	otherwise := e.AsCall().Args()[0]
	return e.AsCall().Target(), otherwise.Kind() == ast.LiteralKind && otherwise.AsLiteral() == types.String("")
}

// isOnePlace reports whether a value is the text at one node of the state.
func isOnePlace(v abstract) bool {
	return len(v.places) == 1 && v.path != "" && !v.optional && v.elem == nil && v.shape.is(kString) && !v.places[0].inexact &&
		!slices.ContainsFunc(v.places[0].segments, func(s region.Segment) bool { return isWild(s) || s.Kind == region.AnyDepth })
}
