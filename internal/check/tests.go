package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Contract tests: the names, paths and expressions of a test file, checked against the
// contract that it is about. A test becomes a list of steps, with what its clauses say before
// the first of them written into each; one with cases becomes a test for each case, the clauses
// of which go on where those of the test end. So what runs a test knows neither.

// A Test is a test, or one of its cases, ready to run.
type Test struct {
	Title string
	Case  string      // "" of a test without cases
	At    source.Span // of the title
	State State
	Phase string
	Steps []Step
}

// Name is what a test is called: its title, and behind a "/" that of its case.
func (t *Test) Name() string {
	if t.Case == "" {
		return t.Title
	}
	return t.Title + "/" + t.Case
}

// Data is a JSON text of a test, written in it or in a file.
type Data struct {
	Text []byte
	File string      // the name that the test gives, "" of what is written in it
	At   source.Span // where it is written or named
}

// A State is where a test starts: a document as a state file has it, and patches in the form of
// proposals that are made to it, in order. Zero where the test names none.
type State struct {
	Document Data
	Patches  []Data
	At       source.Span // of what the test says
}

// A Step is one thing that happens: a stage that is shown its view and may propose, or a
// move of the host.
type Step struct {
	At       source.Span // the keyword
	Stage    string      // "" of a move of the host
	Advance  string      // the phase that the host moves to
	Args     map[string]string
	Role     string
	Actor    string
	Now      time.Time
	Proposes bool // something is proposed; else the view is all that is asked for
	Patch    Data // an empty patch where none is written
	Next     string
	Expects  []Expectation
}

// An Expectation is one thing that is expected of a step. Kind is the word behind "expect", or
// PlaceIs or Holds, which have none.
type Expectation struct {
	Kind   string
	At     source.Span
	Expr   *ir.Expr // of Commit, View and Holds; nil if there is none
	Scope  expr.Scope
	Reason Reason           // of Reject and Reply
	Phase  string           // of Phase
	Data   *Data            // of State, View and PlaceIs; nil of a View with an expression
	Paths  []region.Pattern // of Shown, Hidden, No and PlaceIs
	Words  []string         // the same as written
}

// The kinds of expectations.
const (
	Commit  = "commit"
	Noop    = "noop"
	Reject  = "reject"
	Reply   = "reply"
	PhaseIs = "phase"
	StateIs = "state"
	ViewIs  = "view"
	Shown   = "shown"
	Hidden  = "hidden"
	Absent  = "no"
	PlaceIs = "="
	Holds   = "{}"
)

// A Reason is what one violation is expected to be; what is "" may be anything.
type Reason struct {
	Gate    string // a gate, a kind of rule, or a code: see Words
	Name    string // of the rule
	Message string
	At      string // a JSON Pointer
}

// GateWords and RuleWords are what a Reason's Gate may be beside a code of a violation.
var (
	GateWords = []string{"limit", "format", "phase", "scope", "schema"}
	RuleWords = []string{"require", "ensure", "produce", "next", "invariant", "change"}
)

// Codes are the codes of violations that a test may name: those of a decision that depends on
// nothing but contract, state, arguments and patch.
var Codes = []string{
	"limit_exceeded", "patch_syntax", "pointer_syntax", "duplicate_key", "unauthorised", "phase_violation", "argument_violation",
	"transition_violation", "require_violation", "patch_write_scope_violation", "patch_read_scope_violation", "path_missing",
	"index_out_of_range", "test_failed", "type_mismatch", "move_into_child", "schema_violation", "produce_violation",
	"ensure_violation", "invariant_violation", "change_violation", "evaluation_error", "refused",
}

// Files reads a file that a test names, relative to the test; near is the name of one beside
// it that is nearly called so, "" if there is none.
type Files func(name string) (data []byte, near string, err error)

// Tests checks the tests of a file against the contract that they are about, which must be
// without errors: of is the result of Contract. The tests are those that no error touches.
func Tests(u *Unit, of Result, files Files) ([]Test, []source.Diagnostic) {
	c := of.checker
	c.after.Lock()
	defer c.after.Unlock()
	c.diagnostics, c.tallies = nil, map[tally]int{}
	root := *c.root
	root.file = u.File
	c.scopeOf[u.File.Source] = &root
	t := &testChecker{checker: c, files: files, givens: map[string]*givenState{}}
	t.collect(u.File)
	tests := t.tests(u.File)
	t.unused()
	found := slices.DeleteFunc(c.found(), func(d source.Diagnostic) bool { return d.Severity == source.Info })
	return tests, found
}

// testChecker checks the tests of one file.
type testChecker struct {
	*checker
	files  Files
	givens map[string]*givenState
	order  []*givenState
	values map[string]*syntax.Arg // of the case that is lowered; nil if its test has no values
}

// givenState is a state with a name; it is lowered when first used.
type givenState struct {
	decl   *syntax.GivenDecl
	state  State
	done   bool
	active bool
	used   bool
}

func (c *testChecker) collect(f *syntax.File) {
	for _, d := range f.Decls {
		d, ok := d.(*syntax.GivenDecl)
		switch {
		case !ok || d.Name.Text == "":
		case c.givens[d.Name.Text] != nil:
			c.report(declaredTwice(d, c.givens[d.Name.Text].decl))
		default:
			g := &givenState{decl: d}
			c.givens[d.Name.Text], c.order = g, append(c.order, g)
		}
	}
}

// unused warns of states that nothing starts from.
func (c *testChecker) unused() {
	for _, g := range c.order {
		if !g.used {
			c.report(fault(diagnostic.Unused, g.decl.Name.Span, "name it in the `state` of a test, or take it out", "no test starts from %s", g.decl.Name.Text))
		}
	}
}

func (c *testChecker) tests(f *syntax.File) []Test {
	var out []Test
	first := map[string]*syntax.TestDecl{}
	any := false
	for _, d := range f.Decls {
		d, ok := d.(*syntax.TestDecl)
		if !ok {
			continue
		}
		any = true
		if before := first[d.Title.Value]; before != nil {
			c.report(related(fault(diagnostic.DeclaredTwice, d.Title.Span, "a report tells tests by their titles", "there is a test %s already", d.Title.Span.Text()), "the first is here", before.Title.Span))
		}
		first[d.Title.Value] = d
		out = append(out, c.test(d)...)
	}
	if !any && len(f.Lost) == 0 {
		at := source.Span{File: f.Source}
		c.report(fault(diagnostic.NoTests, at, "write `test \"what is so\" { ... }`", "there is no test in this file"))
	}
	return out
}

// test lowers a test: to one for each of its cases.
func (c *testChecker) test(d *syntax.TestDecl) []Test {
	c.values = nil
	if len(d.Cases) == 0 {
		t, ok := c.lowerTest(d, nil)
		return kept(nil, t, ok)
	}
	var out []Test
	first := map[string]*syntax.TestCase{}
	valued := slices.ContainsFunc(d.Cases, func(x *syntax.TestCase) bool { return len(x.Args) > 0 })
	for _, x := range d.Cases {
		if before := first[x.Title.Value]; before != nil {
			c.report(related(fault(diagnostic.DeclaredTwice, x.Title.Span, "a report tells cases by their titles", "there is a case %s already", x.Title.Span.Text()), "the first is here", before.Title.Span))
		}
		first[x.Title.Value] = x
		c.values = nil
		if valued {
			c.values = map[string]*syntax.Arg{}
		}
		for _, a := range x.Args {
			if c.values[a.Name.Text] != nil {
				c.report(listedTwice(a.Name))
			}
			c.values[a.Name.Text] = a
		}
		t, ok := c.lowerTest(d, x)
		out = kept(out, t, ok)
	}
	return out
}

func kept(out []Test, t Test, ok bool) []Test {
	if ok {
		out = append(out, t)
	}
	return out
}

// lowerTest lowers a test with the clauses of one of its cases, nil if it has none.
func (c *testChecker) lowerTest(d *syntax.TestDecl, x *syntax.TestCase) (t Test, ok bool) {
	t = Test{Title: d.Title.Value, At: d.Title.Span}
	clauses := d.Clauses
	if x != nil {
		t.Case, t.At = x.Title.Value, x.Title.Span
		clauses = slices.Concat(d.Clauses, x.Clauses)
	}
	faulty := c.faultily(func() {
		l := &testLowering{testChecker: c, test: &t}
		for _, cl := range clauses {
			l.clause(cl)
		}
		l.finish(d)
	})
	return t, !faulty
}

// testLowering is one pass over the clauses of a test.
type testLowering struct {
	*testChecker
	test  *Test
	setup Step // what holds for every step
	clock bool // it says what time it is
	timed []bool
	st    *stage // of the last step; nil if its stage is not known, or it has none
	said  [][]*syntax.Expect
}

// last is the step that is described, or what holds for all of them before the first.
func (l *testLowering) last() *Step {
	if n := len(l.test.Steps); n > 0 {
		return &l.test.Steps[n-1]
	}
	return &l.setup
}

func (l *testLowering) clause(cl *syntax.TestClause) {
	step, word := l.last(), cl.Keyword.Text
	switch word {
	case "state":
		l.test.State = l.state(cl.State)
		l.test.State.At = cl.Span
	case "phase":
		if cl.Name != nil {
			l.test.Phase = strings.Join(l.phase(*cl.Name), "")
		}
	case "role":
		if cl.Name != nil {
			step.Role = cl.Name.Text
		}
	case "actor":
		if cl.Text != nil {
			step.Actor = l.text(*cl.Text)
		}
	case "now":
		if cl.Text != nil {
			l.now(step, *cl.Text)
		}
	case "stage", "advance":
		l.begin(cl)
	case "patch":
		step.Patch, step.Proposes = l.data(cl.Data), true
	case "next":
		if cl.Name != nil {
			step.Next, step.Proposes = strings.Join(l.phase(*cl.Name), ""), true
		}
	case "expect":
		if cl.Expect != nil && len(l.test.Steps) > 0 {
			l.expect(step, cl.Expect)
		}
	}
}

// phase is phaseNames of one name, where there is only the phase main too.
func (l *testLowering) phase(n syntax.Name) []string {
	if len(l.phases) == 0 && l.out.Phase(n.Text) == nil && n.Text != "" {
		l.report(unknownName(diagnostic.UnknownPhase, n, n.Text, []string{l.out.Phases[0].Name}))
		return nil
	}
	return l.phaseNames([]syntax.Name{n})
}

func (l *testLowering) now(step *Step, text syntax.StringLit) {
	now, err := time.Parse(time.RFC3339Nano, l.text(text))
	if err != nil {
		l.report(fault(diagnostic.BadTime, text.Span, "write it as in `\"2026-01-31T09:00:00Z\"`", "this is no RFC 3339 date and time"))
		return
	}
	step.Now = now
	if n := len(l.timed); n > 0 {
		l.timed[n-1] = true
	} else {
		l.clock = true
	}
}

// begin begins a step.
func (l *testLowering) begin(cl *syntax.TestClause) {
	step := l.setup
	step.At, step.Expects = cl.Keyword.Span, nil
	step.Patch = Data{Text: []byte("[]"), At: cl.Keyword.Span}
	l.st = nil
	switch {
	case cl.Stage != nil:
		if l.st = l.stageNamed(*cl.Stage); l.st != nil {
			step.Stage = l.st.out.Name
			step.Args = l.args(cl.Args)
			if by := l.st.out.By; step.Role == "" && len(by) > 0 {
				step.Role = by[0]
			}
		}
	case cl.Name != nil:
		step.Advance, step.Proposes = strings.Join(l.phase(*cl.Name), ""), true
	}
	l.test.Steps, l.timed, l.said = append(l.test.Steps, step), append(l.timed, l.clock), append(l.said, nil)
}

// args lowers the arguments of a stage: a key is a string, a value is any JSON.
func (l *testLowering) args(args []*syntax.Arg) map[string]string {
	out, s := map[string]string{}, l.st.out
	names := s.ParamNames()
	for _, a := range args {
		name := a.Name
		switch _, twice := out[name.Text]; {
		case name.Text == "" || a.Value == nil:
		case twice:
			l.report(listedTwice(name))
		case !slices.Contains(names, name.Text):
			l.report(unknownName(diagnostic.UnknownParameter, name, name.Text, names))
		case s.Value(name.Text) != nil:
			out[name.Text] = l.substituted(a.Value.JSON, a.Value.Span)
		default:
			var key string
			text := l.substituted(a.Value.JSON, a.Value.Span)
			if err := json.Unmarshal([]byte(text), &key); err != nil {
				l.report(fault(diagnostic.ParameterType, a.Value.Span, "write it in quotation marks", "%s is a key, which is a text", name.Text))
			}
			out[name.Text] = key
		}
	}
	return out
}

// state lowers what a test, or a given, starts from.
func (c *testChecker) state(r *syntax.StateRef) State {
	var out State
	switch {
	case r == nil:
		return out
	case r.Given != nil:
		out = c.named(*r.Given)
		out.Patches = slices.Clone(out.Patches)
	default:
		out.Document = c.data(r.Data)
	}
	if r.With != nil {
		out.Patches = append(out.Patches, c.data(r.With))
	}
	return out
}

func (c *testChecker) named(n syntax.Name) State {
	g := c.givens[n.Text]
	switch {
	case g == nil:
		names := keys(c.givens)
		d := fault(diagnostic.UnknownGiven, n.Span, listOf(names), "no state %s is given", n.Text)
		if near := spell.Nearest(n.Text, names); near != "" {
			d.Help = "did you mean `" + near + "`?"
			d = replaced(d, n.Span, near)
		}
		c.report(d)
		return State{}
	case g.active:
		c.report(fault(diagnostic.RecursiveDefinition, n.Span, "", "%s is given by itself, in the end", n.Text))
		return State{}
	}
	g.used = true
	if !g.done {
		g.active = true
		values := c.values
		c.values = nil // of a case; a given state is the same for all
		g.state = c.state(g.decl.State)
		c.values = values
		g.active, g.done = false, true
	}
	return g.state
}

// data reads JSON that is written in a test, or the file that it names.
func (c *testChecker) data(r *syntax.DataRef) Data {
	if r == nil {
		return Data{}
	}
	if r.File == nil {
		return Data{Text: []byte(c.substituted(r.JSON, r.Span)), At: r.Span}
	}
	name := c.text(*r.File)
	data, near, err := c.files(name)
	if err != nil {
		d := fault(diagnostic.Unreadable, r.File.Span, "the name is taken relative to the test file", "%s cannot be read: %v", name, err)
		if near != "" {
			d.Help = "did you mean `" + near + "`?"
			d = replaced(d, r.File.Span, jsonString(near))
		}
		c.report(d)
	}
	return Data{Text: data, File: name, At: r.Span}
}

// text is a string of a test, with the values of a case in it.
func (c *testChecker) text(s syntax.StringLit) string {
	if c.values == nil {
		return s.Value
	}
	var out string
	if err := json.Unmarshal([]byte(c.substituted(jsonString(s.Value), s.Span)), &out); err != nil {
		return s.Value
	}
	return out
}

// substituted puts the values of a case into JSON: a string "$name" becomes the value, and
// $name inside of a longer string its text. "$$" is one "$". Without cases that give values,
// JSON is what is written.
func (c *testChecker) substituted(text string, at source.Span) string {
	if c.values == nil || !strings.Contains(text, "$") {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '"' {
			out.WriteByte(text[i])
			i++
			continue
		}
		end := syntax.StringEnd(text, i)
		out.WriteString(c.withValues(text[i:end], source.Span{File: at.File, Start: at.Start + i, End: at.Start + end}))
		i = end
	}
	return out.String()
}

// withValues is a string literal with the values of a case in it.
func (c *testChecker) withValues(literal string, at source.Span) string {
	var text string
	if !strings.Contains(literal, "$") || json.Unmarshal([]byte(literal), &text) != nil {
		return literal
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '$' {
			out.WriteByte(text[i])
			i++
			continue
		}
		if strings.HasPrefix(text[i:], "$$") {
			out.WriteByte('$')
			i += 2
			continue
		}
		name := syntax.WordAt(text, i+1)
		if name == "" {
			out.WriteByte('$')
			i++
			continue
		}
		value := c.values[name]
		if value == nil || value.Value == nil {
			c.unknownValue(name, literal, at)
			return literal
		}
		if len(name)+1 == len(text) {
			return value.Value.JSON
		}
		var inner string
		if json.Unmarshal([]byte(value.Value.JSON), &inner) != nil {
			inner = value.Value.JSON
		}
		out.WriteString(inner)
		i += 1 + len(name)
	}
	return jsonString(out.String())
}

func (c *testChecker) unknownValue(name, literal string, at source.Span) {
	if at.Start > at.End || at.End > len(at.File.Text) || at.Text() != literal {
		at.End = at.Start
	}
	names := keys(c.values)
	d := fault(diagnostic.UnknownValue, at, "the case gives "+strings.Join(names, ", ")+"; a `$` itself is written `$$`", "a case gives no value for $%s", name)
	if len(names) == 0 {
		d.Help = "give it behind the title, as in `case \"title\" (" + name + ": 1)`; a `$` itself is written `$$`"
	}
	if near := spell.Nearest(name, names); near != "" && at.End > at.Start {
		d.Help = "did you mean `$" + near + "`?"
		d = replaced(d, at, strings.Replace(literal, "$"+name, "$"+near, 1))
	}
	for _, before := range c.diagnostics { // another case has said so
		if before.Code == d.Code && before.Span == d.Span {
			c.taint++
			return
		}
	}
	c.report(d)
}

// outcomes are the expectations that say what comes of a proposal, and what that is.
var outcomes = map[string]string{Commit: Commit, Noop: Noop, Reject: Reject, Reply: Reject}

func (l *testLowering) expect(step *Step, e *syntax.Expect) {
	kind := e.Kind.Text
	x := Expectation{Kind: kind, At: e.Span}
	switch {
	case e.Path != nil:
		x.Kind = PlaceIs
		x.Data = l.value(e.Value)
		l.place(&x, e.Path)
	case e.Holds != nil:
		x.Kind = Holds
		x.Expr, x.Scope = l.condition(e.Holds)
	case kind == Commit && e.Expr != nil:
		x.Expr, x.Scope = l.condition(e.Expr)
	case e.Reason != nil:
		x.Reason = l.reason(e.Reason)
	case e.Phase != nil:
		x.Phase = strings.Join(l.phase(*e.Phase), "")
	case e.Data != nil:
		data := l.data(e.Data)
		x.Data = &data
	case e.View != nil && e.View.Data != nil:
		data := l.data(e.View.Data)
		x.Data = &data
	case e.View != nil:
		x.Scope = expr.Scope{Vars: ir.ViewVars}
		seen := l.expression(e.View.Expr, x.Scope)
		x.Expr = &seen
	case e.Paths != nil:
		for _, p := range e.Paths {
			for _, t := range l.typePath(p, otherPath, l.params()) {
				x.Paths, x.Words = append(x.Paths, t.pattern), append(x.Words, p.Text)
			}
		}
	}
	switch x.Kind {
	case ViewIs, Shown, Hidden:
		if l.st == nil && step.Advance != "" {
			l.report(fault(diagnostic.MisplacedWord, e.Span, "", "the host is shown no view: `%s` is expected of a stage", x.Kind))
		}
	default:
		step.Proposes = true
	}
	step.Expects = append(step.Expects, x)
	l.said[len(l.said)-1] = append(l.said[len(l.said)-1], e)
}

// params are the parameters that paths of a step may use.
func (l *testLowering) params() map[string]*ir.Param {
	if l.st == nil {
		return nil
	}
	return l.st.params
}

// condition lowers CEL over the states before and after.
func (l *testLowering) condition(e *syntax.Expr) (*ir.Expr, expr.Scope) {
	scope := expr.Scope{Vars: ir.AfterVars}
	if l.st != nil {
		scope.Params, scope.Values = l.st.paramNames(), l.st.out.Values
	}
	x := l.expression(e, scope)
	return &x, scope
}

func (l *testLowering) place(x *Expectation, p *syntax.Path) {
	if t, ok := l.single(p, l.params()); ok {
		x.Paths, x.Words = []region.Pattern{t.pattern}, []string{p.Text}
	}
}

func (l *testLowering) value(v *syntax.Value) *Data {
	if v == nil {
		return &Data{}
	}
	return &Data{Text: []byte(l.substituted(v.JSON, v.Span)), At: v.Span}
}

// reason lowers what is expected to refuse a proposal.
func (l *testLowering) reason(r *syntax.Reason) Reason {
	var out Reason
	switch {
	case r.Message != nil:
		out.Message = l.text(*r.Message)
	case r.Only != nil:
		out.Message = l.text(*r.Only)
	}
	if r.At != nil {
		for _, s := range r.At.Segments {
			if s.Kind == syntax.DashSegment {
				s.Text = "-"
			}
			out.At += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(s.Text)
		}
	}
	if r.Gate == nil {
		return out
	}
	out.Gate = r.Gate.Text
	words := slices.Concat(RuleWords, GateWords, Codes)
	if !slices.Contains(words, out.Gate) {
		d := fault(diagnostic.UnknownGate, r.Gate.Span, "write "+strings.Join(RuleWords, " NAME, ")+", "+strings.Join(GateWords, ", ")+", or a code as a verdict has it", "there is no gate %s", out.Gate)
		names := words
		for i := range l.out.Invariants { // the kind was left out
			names = append(names, l.out.Invariants[i].Name)
		}
		if v := l.out.Invariant(out.Gate); v != nil {
			d.Help = "did you mean `" + v.Title() + "`?"
			d = replaced(d, r.Gate.Span, v.Title())
		} else if near := spell.Nearest(out.Gate, names); near != "" {
			if v := l.out.Invariant(near); v != nil {
				near = v.Title()
			}
			d.Help = "did you mean `" + near + "`?"
			d = replaced(d, r.Gate.Span, near)
		}
		l.report(d)
		return out
	}
	if r.Name != nil {
		out.Name = r.Name.Text
	}
	l.checkRule(r, out)
	return out
}

// checkRule checks the name of the rule that is expected to refuse.
func (l *testLowering) checkRule(r *syntax.Reason, reason Reason) {
	var names []string
	switch reason.Gate {
	case "invariant", "change":
		for i := range l.out.Invariants {
			if v := &l.out.Invariants[i]; string(v.Gate()) == reason.Gate {
				names = append(names, v.Name)
			}
		}
		if r.Name == nil {
			l.report(fault(diagnostic.Missing, r.Gate.Span, listOf(names), "expected a name after `%s`: any other rule that refuses would do", reason.Gate))
			return
		}
	case "require", "ensure":
		if l.st == nil {
			break
		}
		for _, x := range l.st.out.Conditions(ir.GateKind(reason.Gate)) {
			if x.Name != "" {
				names = append(names, x.Name)
			}
		}
	case "next":
		for _, p := range l.out.Phases {
			names = append(names, p.Name)
		}
	default:
		if r.Name != nil {
			l.report(fault(diagnostic.Unexpected, r.Name.Span, "", "%s is all there is to be said; it has no rules with names", reason.Gate))
			return
		}
	}
	if r.Name != nil && !slices.Contains(names, r.Name.Text) {
		d := unknownName(diagnostic.UnknownGate, *r.Name, r.Name.Text, names)
		d.Message = fmt.Sprintf("there is no %s called %s", reason.Gate, r.Name.Text)
		l.report(d)
	}
}

// finish checks that the test says all that it must.
func (l *testLowering) finish(d *syntax.TestDecl) {
	t := l.test
	if t.Phase == "" && len(l.out.Phases) > 0 {
		t.Phase = l.out.Phases[0].Name
	}
	if len(t.Steps) == 0 {
		l.report(fault(diagnostic.NoOutcome, t.At, "write `stage NAME(...)`, `patch [...]` and `expect ...`", "nothing happens in this test: it has no `stage`"))
		return
	}
	if t.State.At.IsZero() {
		l.report(fault(diagnostic.Missing, d.Title.Span, "write `state \"FILE.json\"`, or the JSON itself", "expected a `state` that the test starts from"))
	}
	for i := range t.Steps {
		l.checkOutcome(&t.Steps[i], l.said[i])
		if !l.timed[i] && t.Steps[i].Stage != "" && l.out.AsksClock(t.Steps[i].Stage) || !l.timed[i] && t.Steps[i].Advance != "" && l.out.Clocked() {
			l.report(fault(diagnostic.NoClock, t.Steps[i].At, "write `now \"2026-01-31T09:00:00Z\"`", "this step is judged by the clock, and the test does not say what time it is"))
		}
	}
}

// checkOutcome checks that a step says what comes of it, once.
func (l *testLowering) checkOutcome(s *Step, said []*syntax.Expect) {
	outcome := ""
	for i := range s.Expects {
		switch ends := outcomes[s.Expects[i].Kind]; {
		case ends == "" || ends == outcome:
		case outcome != "":
			l.report(fault(diagnostic.OutcomeTwice, said[i].Span, "write a step for each", "this step is expected to end as %s already", outcome))
		default:
			outcome = ends
		}
	}
	switch {
	case outcome != "":
	case s.Proposes:
		l.report(fault(diagnostic.NoOutcome, s.At, "write `expect commit`, `expect noop`, or `expect reject` and why", "this step does not say what comes of it"))
	case len(s.Expects) == 0:
		l.report(fault(diagnostic.NoOutcome, s.At, "write `expect commit`, `expect noop`, or `expect reject` and why; or what the stage is shown", "nothing is expected of this step"))
	}
}
