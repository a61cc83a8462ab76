package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Stages. A stage is lowered in the order in which its parts need each other: its parameters,
// each after those that its path uses; its clauses, in which they stand; then its phases,
// which may be the default. What keys a parameter never takes is known last, when all
// patterns of the contract are.

// Limits of a stage.
const (
	MaxParams = 32      // parameters
	MaxMoves  = 1 << 12 // phases times phases it may move to
)

// stage is a stage or delegate between its tree and its lowered form.
type stage struct {
	decl    *syntax.StageDecl
	out     *ir.Stage
	parent  *stage // of a delegate
	params  map[string]*ir.Param
	clauses map[string]*syntax.Clause // the first of each keyword
	unclear map[string]bool           // clauses that an error left without their meaning, by keyword; inherited ones too
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
					for _, k := range syntax.GrantClauses() {
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

func (c *checker) openStage(d *syntax.StageDecl) *stage {
	st := &stage{decl: d, out: &ir.Stage{Name: d.Name.Text, Doc: d.Doc}, params: map[string]*ir.Param{}, clauses: map[string]*syntax.Clause{}, unclear: map[string]bool{}}
	for _, cl := range d.Clauses {
		k := cl.Name()
		if other := st.otherDelegable(cl); other != nil {
			c.report(delegableTwice(cl, other))
			continue
		}
		if first, ok := st.clauses[k]; ok && !slices.Contains(repeatable, k) {
			c.report(clauseTwice(cl, first))
			continue
		} else if !ok {
			st.clauses[k] = cl
		}
	}
	return st
}

// otherDelegable is a clause before a `delegable` that it contradicts: the one says that the
// stage hands on a part of what it has, the other that it hands on what it need not have.
func (st *stage) otherDelegable(cl *syntax.Clause) *syntax.Clause {
	if cl.Keyword.Text != "delegable" {
		return nil
	}
	if cl.Kind != nil {
		return st.clauses["delegable"]
	}
	for _, kind := range ir.HandedKinds() {
		if other := st.clauses["delegable "+string(kind)]; other != nil {
			return other
		}
	}
	return nil
}

// lowerParams lowers a stage's parameters in order: each may use the ones before it.
func (c *checker) lowerParams(st *stage) {
	for i, p := range st.decl.Params {
		if i == MaxParams {
			c.report(tooLarge(p.Span, "parameters of a stage", MaxParams, "make it several stages, or let it work below one key"))
			for _, p := range st.decl.Params[i:] {
				st.params[p.Name.Text] = &ir.Param{Name: p.Name.Text}
			}
			return
		}
		if _, ok := st.params[p.Name.Text]; ok {
			c.report(paramTwice(p))
			continue
		}
		if reservedVariable(p.Name.Text) || c.isMeasure(p.Name.Text) || c.root.macros[p.Name.Text] != nil {
			c.shadows(p.Name, "parameter")
			st.params[p.Name.Text] = &ir.Param{Name: p.Name.Text}
			continue
		}
		if p.Type != nil {
			c.lowerValue(st, p)
			continue
		}
		if later := declaredLater(p, st); later != nil {
			c.report(paramLater(p, later))
			st.params[p.Name.Text] = &ir.Param{Name: p.Name.Text}
			continue
		}
		if out, ok := c.lowerParam(st, p); ok {
			st.out.Params = append(st.out.Params, out)
			st.params[out.Name] = &out
		} else {
			st.params[p.Name.Text] = &ir.Param{Name: p.Name.Text} // reported; its uses are not
		}
	}
	c.lowerBindings(st)
}

// lowerBindings lowers the conditions under which a stage's parameters are bound: each may use
// the keys up to its own, and all values.
func (c *checker) lowerBindings(st *stage) {
	for _, p := range st.decl.Params {
		if p.Where == nil {
			continue
		}
		x := c.expression(p.Where, expr.Scope{Vars: ir.BindVars, Params: st.paramNamesTo(p), Values: st.out.Values, Roles: c.mayRun(st)})
		x.Message = textOf(p.Message)
		for i := range st.out.Params {
			if q := &st.out.Params[i]; q.Name == p.Name.Text && q.Where == nil {
				q.Where = &x
			}
		}
	}
}

// paramNamesTo lists the parameters that are keys up to one, and that one.
func (st *stage) paramNamesTo(last *syntax.Param) (out []string) {
	for _, p := range st.decl.Params {
		if known := st.params[p.Name.Text]; known != nil && known.Kind != valueParam && !slices.Contains(out, p.Name.Text) {
			out = append(out, p.Name.Text)
		}
		if p == last {
			break
		}
	}
	return out
}

// declaredLater is the parameter that the path of p uses and that comes after it, nil if
// there is none.
func declaredLater(p *syntax.Param, st *stage) *syntax.Param {
	if p.Path == nil {
		return nil
	}
	after := st.decl.Params[slices.Index(st.decl.Params, p)+1:]
	for _, s := range p.Path.Segments {
		i := slices.IndexFunc(after, func(q *syntax.Param) bool { return q.Name.Text == s.Text })
		if s.Kind == syntax.ParamSegment && st.params[s.Text] == nil && i >= 0 {
			return after[i]
		}
	}
	return nil
}

// valueParam is the kind of what a stage calls by a name that is no key.
const valueParam ir.ParamKind = "value"

// lowerValue lowers a parameter that stands for a value.
func (c *checker) lowerValue(st *stage, p *syntax.Param) {
	id := c.valueTypes[p]
	if c.out.Holds(id, (*ir.Type).NeedsState) {
		c.report(valueNeedsState(p))
		id = c.anyType
	}
	secret := c.out.Holds(id, func(t *ir.Type) bool { return t.Secret })
	st.params[p.Name.Text] = &ir.Param{Name: p.Name.Text, Kind: valueParam}
	st.out.Values = append(st.out.Values, ir.ValueParam{Name: p.Name.Text, Type: id, Secret: secret})
}

func (c *checker) isMeasure(name string) bool {
	return slices.ContainsFunc(c.out.Measures, func(m ir.Measure) bool { return m.Name == name })
}

func (c *checker) lowerParam(st *stage, p *syntax.Param) (ir.Param, bool) {
	if p.Path == nil {
		return ir.Param{}, false
	}
	out := ir.Param{Name: p.Name.Text, Kind: ir.ExistingParam}
	if p.From {
		t, ok := c.single(p.Path, st.params)
		if !ok {
			return out, false
		}
		for _, id := range t.at {
			if !c.isStringType(id) && c.out.Type(id).Kind != ir.AnyType {
				c.report(paramNotString(p, c.describeSet(t.at)))
				return out, false
			}
		}
		out.Kind, out.Of = ir.DependentParam, t.pattern
		return out, true
	}
	if p.New {
		out.Kind = ir.NewParam
	}
	t, ok := c.single(p.Path, st.params)
	if !ok {
		return out, false
	}
	out.Of = t.pattern
	switch {
	case c.model.Shape.Only(t.at, ir.MapType, ir.KeyedType, ir.AnyType):
	case !p.New && c.listsStrings(t.at):
		out.Kind = ir.ElementParam
	case p.New && c.listsStrings(t.at):
		c.report(newInList(p, c.describeSet(t.at)))
		return out, false
	default:
		help := "name a map, a `list of T by FIELD`, or a list or set of strings"
		if p.New {
			help = "name a map or a `list of T by FIELD`"
		}
		c.report(notAMap(p.Path, c.describeSet(t.at), help))
		return out, false
	}
	return out, true
}

// listsStrings reports whether all types of a set are lists or sets of strings.
func (c *checker) listsStrings(at footprint.TypeSet) bool {
	return len(at) > 0 && !slices.ContainsFunc(at, func(id ir.TypeID) bool {
		t := c.out.Type(id)
		return t.Kind != ir.ListType && t.Kind != ir.SetType || !c.isStringType(t.Elem)
	})
}

// lowerClauses lowers the clauses a stage has; a delegate starts from a copy of
// its parent, so that what it leaves out is inherited.
func (c *checker) lowerClauses(st *stage) {
	for _, cl := range st.decl.Clauses {
		k := cl.Name()
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
		s.By = c.expandRoles(cl.Names)
	case "next":
		s.Next = c.phaseNames(cl.Names)
	case "after":
		s.After = c.distinct(cl.Names)
	case "read":
		s.Read = c.lowerRegion(c.root, cl.Region, readPath, st.params)
	case "write":
		w := c.lowerWriting(cl.Region, st.params)
		s.Write, s.Rights, s.Blind = w.plain, w.rights, w.blind
	case "source":
		s.Source = c.lowerRegion(c.root, cl.Region, sourcePath, st.params)
	case "delegable":
		if cl.Kind != nil {
			c.lowerHanded(st, cl)
			return
		}
		s.Delegable = c.lowerRegion(c.root, cl.Region, otherPath, st.params)
		s.HasDelegable = true
	case "produce":
		for i, p := range cl.Paths {
			if slices.ContainsFunc(cl.Paths[:i], func(q *syntax.Path) bool { return q.Text == p.Text }) {
				c.report(pathTwice(p.Span, p.Text))
				continue
			}
			if t, ok := c.single(p, st.params); ok {
				s.Produce = append(s.Produce, t.pattern)
			}
		}
	case "require":
		s.Require = append(s.Require, c.condition(st, cl, ir.BeforeVars))
	case "ensure":
		s.Ensure = append(s.Ensure, c.condition(st, cl, ir.AfterVars))
	case "attempts":
		switch {
		case cl.Number == nil: // the parser reported it
		case cl.Number.Value < 1:
			c.report(badAttempts(cl))
		default:
			s.Attempts = cl.Number.Value
		}
	}
}

// lowerHanded lowers what a stage hands on of one kind.
func (c *checker) lowerHanded(st *stage, cl *syntax.Clause) {
	h := st.out.Handed
	if h == nil {
		h = &ir.Handed{}
		st.out.Handed = h
	}
	kind := ir.HandedKind(cl.Kind.Text)
	h.Kinds = append(h.Kinds, kind)
	slices.SortFunc(h.Kinds, func(a, b ir.HandedKind) int {
		return slices.Index(ir.HandedKinds(), a) - slices.Index(ir.HandedKinds(), b)
	})
	switch kind {
	case ir.HandsRead:
		h.Read = c.lowerRegion(c.root, cl.Region, readPath, st.params)
	case ir.HandsWrite:
		w := c.lowerWriting(cl.Region, st.params)
		h.Write, h.Rights, h.Blind = w.plain, w.rights, w.blind
	case ir.HandsSource:
		h.Source = c.lowerRegion(c.root, cl.Region, sourcePath, st.params)
	}
}

// mayRun lists the roles that may run a stage, nil if every one may.
func (c *checker) mayRun(st *stage) []string {
	for ; st != nil; st = st.parent {
		if cl := st.clauses["by"]; cl != nil {
			c.muted++
			defer func() { c.muted-- }()
			return c.expandRoles(cl.Names)
		}
	}
	return nil
}

// condition lowers a require or ensure clause, with its name and message.
func (c *checker) condition(st *stage, cl *syntax.Clause, vars ir.Vars) ir.Expr {
	x := c.expression(cl.Expr, expr.Scope{Vars: vars, Params: st.paramNames(), Values: st.out.Values, Roles: c.mayRun(st)})
	x.Message = textOf(cl.Message)
	if cl.Label == nil || c.isMissing(*cl.Label) {
		return x
	}
	x.Name = cl.Label.Text
	for _, other := range slices.Concat(st.out.Require, st.out.Ensure) {
		if other.Name == x.Name {
			c.report(conditionTwice(st, *cl.Label))
			x.Name = ""
		}
	}
	if x.Name == disclosedPhase || slices.ContainsFunc(c.out.Invariants, func(v ir.Invariant) bool { return v.Name == x.Name }) {
		c.report(conditionTaken(*cl.Label))
		x.Name = ""
	}
	return x
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

// wordOf is the word of a pattern without wildcards.
func wordOf(p region.Pattern) region.Word {
	var w region.Word
	for _, s := range p.Segments {
		switch s.Kind {
		case region.ParamSegment:
			w = append(w, region.Param(s.Text))
		case region.IndexLiteral:
			w = append(w, region.Index(s.Index))
		default:
			w = append(w, region.Key(s.Text))
		}
	}
	return w
}

// addLowered adds a stage once its phases are settled.
func (c *checker) addLowered(st *stage) {
	st.faulty = c.faultily(func() { c.defaultPhases(st) }) || st.faulty
	c.addStage(st)
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

func (c *checker) addStage(st *stage) {
	c.stages = append(c.stages, st)
	if name := st.decl.Name.Text; c.stageOf[name] == nil {
		c.stageOf[name] = st
	}
}

// findStage is the first stage of a name, nil if there is none.
func (c *checker) findStage(name string) *stage { return c.stageOf[name] }

// placeStages moves the lowered stages into the contract, in source order.
func (c *checker) placeStages() {
	for _, st := range c.stages {
		c.out.Stages = append(c.out.Stages, *st.out)
	}
	for i, st := range c.stages {
		st.out = &c.out.Stages[i]
	}
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
		if known := st.params[p.Name.Text]; known != nil && known.Kind != valueParam && !slices.Contains(out, p.Name.Text) {
			out = append(out, p.Name.Text)
		}
	}
	return out
}

// isClear reports whether no error left one of some clauses, or where a delegate
// inherits it that of its parent, without its meaning.
func (st *stage) isClear(clauses ...string) bool {
	return !slices.ContainsFunc(clauses, func(k string) bool {
		return st.unclear[k]
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

// clauseSpan is where a stage states a clause, or else its name.
func (st *stage) clauseSpan(keyword string) source.Span {
	if cl := st.clauses[keyword]; cl != nil {
		return cl.Span
	}
	return st.decl.Name.Span
}

// reserveLiterals gives every parameter the keys it may never take: those that
// some pattern of the contract names at a place where the parameter stands
// (semantics 9). Then a parameter equals a literal never, and only parameters
// each other.
func (c *checker) reserveLiterals() {
	all := newLiterals(c.allPatterns())
	for i := range c.out.Stages {
		s := &c.out.Stages[i]
		own := stagePatterns(s)
		for j := range s.Params {
			p := &s.Params[j]
			places := own
			if p.Kind.IsKey() {
				places = append(slices.Clone(own), footprint.Extend(p.Of, region.Segment{Kind: region.ParamSegment, Text: p.Name}))
			}
			p.Reserved = reservedFor(p.Name, places, all)
		}
	}
	for _, st := range c.stages { // parents first
		if st.parent != nil {
			inheritReserved(st.out, st.parent.out)
		}
	}
}

// inheritReserved keeps a delegate's parameters from the keys that its parent's never take.
func inheritReserved(child, parent *ir.Stage) {
	for i := range child.Params {
		p := &child.Params[i]
		p.Reserved = append(slices.Clone(p.Reserved), parent.Params[i].Reserved...)
		slices.Sort(p.Reserved)
		p.Reserved = slices.Compact(p.Reserved)
	}
}

// reservedFor lists the literals that patterns name where param stands in places.
func reservedFor(param string, places []region.Pattern, named *literals) []string {
	var out []string
	for _, place := range places {
		for i, s := range place.Segments {
			if s.Kind == region.ParamSegment && s.Text == param {
				out = append(out, named.below(place.Segments[:i])...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// literals finds the keys that patterns name right below the paths that a prefix matches:
// those at the prefix's own depth, and any behind a "**" of either.
type literals struct {
	all  []region.Pattern
	deep []region.Pattern // those with a "**"
	root literalNode      // the others
}

// A literalNode is where patterns may go on from a beginning that they share: by name, or
// by any other segment.
type literalNode struct {
	by    map[string]*literalNode
	other *literalNode
}

func newLiterals(patterns []region.Pattern) *literals {
	out := &literals{all: patterns}
	for _, p := range patterns {
		if hasDepth(p.Segments) {
			out.deep = append(out.deep, p)
			continue
		}
		at := &out.root
		for _, s := range p.Segments {
			at = at.child(s)
		}
	}
	return out
}

func (n *literalNode) child(s region.Segment) *literalNode {
	if !footprint.IsLiteral(s) {
		if n.other == nil {
			n.other = &literalNode{}
		}
		return n.other
	}
	to := n.by[s.Text]
	if to == nil {
		if n.by == nil {
			n.by = map[string]*literalNode{}
		}
		to = &literalNode{}
		n.by[s.Text] = to
	}
	return to
}

func (x *literals) below(prefix []region.Segment) (out []string) {
	rest := x.deep
	if hasDepth(prefix) {
		rest = x.all
	} else {
		x.root.collect(prefix, &out)
	}
	for _, p := range rest {
		out = append(out, literalsAt(prefix, p.Segments)...)
	}
	return out
}

// collect adds the names right below what a prefix without "**" may lead to.
func (n *literalNode) collect(prefix []region.Segment, out *[]string) {
	switch {
	case n == nil:
	case len(prefix) == 0:
		for name := range n.by {
			*out = append(*out, name)
		}
	case footprint.IsLiteral(prefix[0]):
		n.by[prefix[0].Text].collect(prefix[1:], out)
		n.other.collect(prefix[1:], out)
	default:
		for _, to := range n.by {
			to.collect(prefix[1:], out)
		}
		n.other.collect(prefix[1:], out)
	}
}

// literalsAt lists the keys that a pattern names right below the paths that a prefix
// matches: one at the prefix's own depth, and any behind a "**" of either.
func literalsAt(prefix, p []region.Segment) []string {
	var out []string
	for j, l := range p {
		if !footprint.IsLiteral(l) {
			continue
		}
		deep := hasDepth(prefix) || hasDepth(p[:j])
		if (deep || j == len(prefix)) && mayMeet(prefix, p[:j]) {
			out = append(out, l.Text)
		}
	}
	return out
}

func hasDepth(segments []region.Segment) bool {
	return slices.ContainsFunc(segments, func(s region.Segment) bool { return s.Kind == region.AnyDepth })
}

// mayMeet reports whether some path could match both segment lists, of which the
// shorter ends them; "**" counts as meeting everything.
func mayMeet(a, b []region.Segment) bool {
	for i := range min(len(a), len(b)) {
		if a[i].Kind == region.AnyDepth || b[i].Kind == region.AnyDepth {
			return true
		}
		if footprint.IsLiteral(a[i]) && footprint.IsLiteral(b[i]) && a[i].Text != b[i].Text {
			return false
		}
	}
	return true
}

// allPatterns lists every pattern of the contract.
func (c *checker) allPatterns() []region.Pattern {
	out := footprint.Patterns(c.out.Secrets)
	for _, m := range c.out.Measures {
		out = append(out, m.Over)
	}
	for _, g := range c.model.StateGates() {
		out = append(out, g.Reads...)
	}
	for _, p := range c.out.Phases {
		for _, a := range p.Arrows {
			if a.Guard != nil {
				out = append(out, footprint.ReadPatterns(*a.Guard)...)
			}
		}
	}
	for _, t := range c.out.Types {
		if t.Target != nil {
			out = append(out, *t.Target)
		}
	}
	for _, claim := range c.out.Claims {
		out = append(append(out, footprint.Patterns(claim.From)...), footprint.Patterns(claim.To)...)
	}
	for i := range c.out.Stages {
		out = append(out, stagePatterns(&c.out.Stages[i])...)
	}
	return out
}

// stagePatterns lists every pattern of a stage.
func stagePatterns(s *ir.Stage) []region.Pattern {
	out := slices.Clone(s.Produce)
	all := []region.Region{s.Read, s.Write, s.Blind, s.Source, s.Delegable}
	if h := s.Handed; h != nil {
		all = append(all, h.Read, h.Write, h.Blind, h.Source)
	}
	for _, r := range all {
		out = append(out, footprint.Patterns(r)...)
	}
	for _, p := range s.Params {
		out = append(out, p.Of)
	}
	for _, x := range slices.Concat(s.Bindings(), s.Require, s.Ensure) {
		out = append(out, footprint.ReadPatterns(x)...)
	}
	return out
}
