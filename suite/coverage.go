package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
)

// Coverage: which parts of a contract its tests exercised. A part is a Point, with one or two
// sides: a rule is to be seen to hold, of a proposal that is accepted, and to refuse one; a grant
// is to be used; an exception is to keep something away. What a run does is known from the
// verification itself: rules tell an observer how they were judged (verify.LoadObserved), and an
// outcome has what each operation wrote and took.

// Coverage is what tests exercised, by contract. The zero value has nothing; Options.Cover adds
// to it. It is not for concurrent use.
type Coverage struct {
	Contracts []*ContractCoverage `json:"contracts"`
}

// ContractCoverage is what was exercised of one contract, or of the libraries that a test file
// imports which is its own contract.
type ContractCoverage struct {
	File    string   `json:"file"`
	Name    string   `json:"name"`
	Covered int      `json:"covered"` // sides of points that were exercised
	Total   int      `json:"total"`
	Points  []*Point `json:"points"` // in the order of the files

	files []*source.File
}

// A Point is a part of a contract.
type Point struct {
	Kind     string `json:"kind"` // stage, bind, by, grant, except, require, ensure, produce, invariant, change, where, transition or guard
	Name     string `json:"name"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	EndLine  int    `json:"end_line"`
	Passed   int    `json:"passed"`   // steps in which it was used, or held where the proposal was accepted
	Violated int    `json:"violated"` // steps in which it refused, or kept something from a view; of a stage, in which it was refused
	Covered  bool   `json:"covered"`  // each of its sides was exercised
	Stage    string `json:"stage,omitempty"`

	at     source.Span
	passes bool // the sides that it has
	fails  bool
}

// At is where the part was written.
func (p *Point) At() source.Span { return p.at }

// sides counts the sides of p, and those that were exercised.
func (p *Point) sides() (covered, total int) {
	for _, side := range []struct {
		has bool
		n   int
	}{{p.passes, p.Passed}, {p.fails, p.Violated}} {
		if side.has {
			total++
			covered += min(side.n, 1)
		}
	}
	return covered, total
}

// Missing says in words what was not exercised of p, "" if it is covered.
func (p *Point) Missing() string {
	never := map[string][2]string{
		"stage": {"no proposal accepted", ""}, "by": {"run by none of its roles", "refused to no other role"}, "grant": {"never used", ""},
		"except": {"", "never kept anything away"}, "transition": {"never walked", ""},
	}[p.Kind]
	if never == [2]string{} {
		never = [2]string{"never held for an accepted proposal", "never violated"}
	}
	var out []string
	if p.passes && p.Passed == 0 {
		out = append(out, never[0])
	}
	if p.fails && p.Violated == 0 {
		out = append(out, never[1])
	}
	return strings.Join(out, ", ")
}

// Cover measures what the tests of a file exercise of their contract: for tools that ask for
// stages without a test, or invariants that no test violates. The error is that of ctx, or says
// that the contract cannot be run.
func (s *Suite) Cover(ctx context.Context) (*Coverage, error) {
	var out Coverage
	_, err := s.Run(ctx, Options{Cover: &out})
	return &out, err
}

// of is the coverage of a contract, made when it is first asked for.
func (c *Coverage) of(s *Suite) (*ContractCoverage, []check.Clause) {
	clauses := s.clauses()
	for _, known := range c.Contracts {
		if known.File == s.subjectFile {
			return known, clauses
		}
	}
	out := &ContractCoverage{File: s.subjectFile, Name: s.contract.Name}
	for i := range clauses {
		x := &clauses[i]
		p := &Point{Kind: string(x.Kind), Name: x.Name, Stage: x.Stage, File: x.At.File.Name, Line: lineOf(x.At), EndLine: x.At.File.Position(x.At.End).Line, at: x.At}
		switch x.Kind {
		case check.StageClause, check.GrantClause, check.TransitionClause:
			p.passes = true
		case check.ExceptClause:
			p.fails = true
		default:
			p.passes, p.fails = true, true
		}
		out.Points = append(out.Points, p)
		if !slices.Contains(out.files, x.At.File) {
			out.files = append(out.files, x.At.File)
		}
	}
	c.Contracts = append(c.Contracts, out)
	return out, clauses
}

// sum counts what was exercised.
func (c *ContractCoverage) sum() {
	c.Covered, c.Total = 0, 0
	for _, p := range c.Points {
		covered, total := p.sides()
		p.Covered = covered == total
		c.Covered, c.Total = c.Covered+covered, c.Total+total
	}
}

// Percent is the part of the sides that were exercised, rounded down: 100 is all.
func (c *ContractCoverage) Percent() int {
	if c.Total == 0 {
		return 100
	}
	return c.Covered * 100 / c.Total
}

// A cover notes what steps exercise. It is safe for concurrent use.
type cover struct {
	contract *ir.Contract
	clauses  []check.Clause
	sets     []*region.Set  // of grants and exceptions
	rules    map[string]int // clauses by what judges them

	mu sync.Mutex
	of *ContractCoverage
}

func newCover(s *Suite, c *Coverage) *cover {
	of, clauses := c.of(s)
	out := &cover{contract: s.contract, clauses: clauses, sets: make([]*region.Set, len(clauses)), rules: map[string]int{}, of: of}
	for i := range clauses {
		x := &clauses[i]
		switch x.Kind {
		case check.GrantClause, check.ExceptClause:
			out.sets[i] = region.Compile(x.Region)
		case check.RequireClause, check.EnsureClause:
			out.rules[ruleKey(verify.Judged{Kind: ir.GateKind(x.Kind), Stage: x.Stage, Index: x.Index})] = i
		case check.BindClause:
			out.rules[ruleKey(verify.Judged{Kind: ir.BindGate, Stage: x.Stage, Name: x.Rule})] = i
		case check.InvariantClause, check.ChangeClause:
			out.rules[ruleKey(verify.Judged{Kind: ir.GateKind(x.Kind), Name: x.Rule})] = i
		case check.GuardClause:
			out.rules[ruleKey(verify.Judged{Kind: ir.GuardGate, From: x.From, To: x.To})] = i
		case check.WhereClause:
			for _, t := range x.Types {
				out.rules[ruleKey(verify.Judged{Kind: ir.TypeGate, Type: t.Type, Index: t.Index})] = i
			}
		}
	}
	return out
}

func ruleKey(j verify.Judged) string {
	return strings.Join([]string{string(j.Kind), j.Stage, j.Name, j.From, j.To, strconv.Itoa(int(j.Type)), strconv.Itoa(j.Index)}, "\x00")
}

// judgements are those of one step, by one goroutine.
type judgements struct{ all []verify.Judged }

type judgementsKey struct{}

// observe is the observer of the program that is measured: what is judged outside of a step, as
// the state that a test starts from, is not counted.
func observe(ctx context.Context, j verify.Judged) {
	if step, ok := ctx.Value(judgementsKey{}).(*judgements); ok {
		step.all = append(step.all, j)
	}
}

// clauseOf is the clause that judges: of a delegate that inherits it, its stage's.
func (c *cover) clauseOf(j verify.Judged) (int, bool) {
	for j.Stage != "" {
		if i, ok := c.rules[ruleKey(j)]; ok {
			return i, true
		}
		j.Stage = c.contract.Stage(j.Stage).From
	}
	i, ok := c.rules[ruleKey(j)]
	return i, ok
}

// step notes what a step exercised.
func (c *cover) step(s *stepRun, judged []verify.Judged) {
	passed, violated := map[int]bool{}, map[int]bool{}
	accepted := s.step.Proposes && s.outcome.Verdict.Verdict != verify.Reject
	refused := s.step.Proposes && !accepted
	for _, j := range judged {
		if i, ok := c.clauseOf(j); ok {
			passed[i] = passed[i] || j.Held && accepted
			violated[i] = violated[i] || !j.Held && refused
		}
	}
	for i := range c.clauses {
		x := &c.clauses[i]
		switch x.Kind {
		case check.TransitionClause:
			passed[i] = accepted && s.outcome.Next == x.To && s.before.Phase == x.From
		case check.StageClause:
			passed[i], violated[i] = accepted && s.step.Stage == x.Stage, refused && s.step.Stage == x.Stage
		case check.ByClause:
			if c.runs(s, x, "by") {
				passed[i], violated[i] = accepted, refused && s.has(verify.Unauthorised)
			}
		case check.ProduceClause:
			if c.runs(s, x, "produce") {
				passed[i], violated[i] = accepted, refused && s.has(verify.ProduceViolation)
			}
		case check.GrantClause:
			passed[i] = c.runs(s, x, x.Word) && c.uses(s, x, c.sets[i], accepted)
		case check.ExceptClause:
			violated[i] = c.runs(s, x, x.Word) && c.keeps(s, x, c.sets[i])
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, p := range c.of.Points {
		if passed[i] {
			p.Passed++
		}
		if violated[i] {
			p.Violated++
		}
	}
}

// runs reports whether a clause is one of the stage that runs, or one that it inherits: a delegate
// has its stage's, unless it has such a clause itself; what must be produced adds up.
func (c *cover) runs(s *stepRun, x *check.Clause, word string) bool {
	for name := s.step.Stage; name != ""; name = c.contract.Stage(name).From {
		if name == x.Stage {
			return true
		}
		replaces := func(own check.Clause) bool { return own.Stage == name && own.Word == word }
		if word != "produce" && slices.ContainsFunc(c.clauses, replaces) {
			return false
		}
	}
	return false
}

func (s *stepRun) has(code verify.Code) bool {
	return slices.ContainsFunc(s.outcome.Verdict.Violations, func(v verify.Violation) bool { return v.Code == code })
}

// uses reports whether a step used a grant: wrote or took something by it, or was seen to be shown
// something.
func (c *cover) uses(s *stepRun, x *check.Clause, set *region.Set, accepted bool) bool {
	at := set.Start(s.args)
	if x.Word == "read" {
		return slices.ContainsFunc(s.looked(), func(l looked) bool {
			return !l.hidden && (l.all || at.Walk(l.at).Reachable())
		})
	}
	if !accepted {
		return false
	}
	for i := range s.outcome.Effects {
		words := s.outcome.Effects[i].Targets
		if x.Word == "source" {
			words = s.outcome.Effects[i].Sources
		}
		if slices.ContainsFunc(words, func(w region.Word) bool { return at.Walk(w).Interior() }) {
			return true
		}
	}
	return false
}

// keeps reports whether an exception kept something from a step: from its view, or a patch from
// doing something.
func (c *cover) keeps(s *stepRun, x *check.Clause, set *region.Set) bool {
	at := set.Start(s.args)
	if x.Word == "read" {
		for _, l := range s.looked() {
			if l.hidden && at.Walk(l.at).Interior() || l.all && c.has(s, x.Region) {
				return true
			}
		}
	}
	for _, v := range s.outcome.Verdict.Violations {
		if (v.Code == verify.WriteScopeViolation || v.Code == verify.ReadScopeViolation) && v.Path != nil && at.Walk(wordOf(s.before.State, *v.Path)).Reachable() {
			return true
		}
	}
	return false
}

// has reports whether the state of a step has something in a region.
func (c *cover) has(s *stepRun, r region.Region) bool {
	for _, g := range r {
		for _, p := range g.Include {
			if len(matches(s.before.State, p, s.args)) > 0 {
				return true
			}
		}
	}
	return false
}

// looked is a place that a step expects to be shown or hidden, or all of the view.
type looked struct {
	at     region.Word
	hidden bool
	all    bool
}

// looked lists what a step expects of its view, if it was shown one.
func (s *stepRun) looked() []looked {
	if s.view == nil {
		return nil
	}
	var out []looked
	for i := range s.step.Expects {
		x := &s.step.Expects[i]
		switch x.Kind {
		case check.ViewIs:
			out = append(out, looked{all: true})
		case check.Shown, check.Hidden:
			for _, p := range x.Paths {
				for _, m := range matches(s.before.State, p, s.args) {
					out = append(out, looked{at: m.at, hidden: x.Kind == check.Hidden})
				}
			}
		}
	}
	return out
}

// wordOf is the word of a pointer, as far as a state tells keys from positions.
func wordOf(n *tree.Node, pointer string) region.Word {
	tokens, err := tree.ParsePointer(pointer)
	if err != nil {
		return nil
	}
	var out region.Word
	for _, token := range tokens {
		i, err := strconv.Atoi(token)
		switch {
		case n != nil && n.Kind() == ir.Array && err == nil:
			out, n = append(out, region.Index(i)), n.At(i)
		case n != nil && n.Kind() == ir.Object:
			out, n = append(out, region.Key(token)), n.Get(token)
		default:
			out, n = append(out, region.Key(token)), nil
		}
	}
	return out
}

// Renderings.

// JSON writes c as an object with a line feed at its end. The error is w's.
func (c *Coverage) JSON(w io.Writer) error {
	for _, of := range c.Contracts {
		of.sum()
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// Text writes, for people, how much of each contract was exercised, by kind, and what was not,
// with its line. The error is w's.
func (c *Coverage) Text(w io.Writer, opts report.Options) error {
	t := &writer{w: w, opts: opts}
	for _, of := range c.Contracts {
		of.sum()
		t.line("%s", t.paint("1", fmt.Sprintf("coverage of %s: %d%% (%d of %d)", of.File, of.Percent(), of.Covered, of.Total)))
		for _, k := range of.kinds() {
			t.line("  %-11s %d of %d", k.name, k.covered, k.total)
		}
		missing := false
		for _, p := range of.Points {
			if what := p.Missing(); what != "" {
				if !missing {
					t.line("  not exercised:")
				}
				missing = true
				t.line("    %s:%d: %s: %s", p.File, p.Line, p.Name, what)
			}
		}
	}
	return t.err
}

// kindSum is what was exercised of one kind of points.
type kindSum struct {
	name           string
	covered, total int
}

// kinds sums by kind, in the order in which a contract is read.
func (c *ContractCoverage) kinds() []kindSum {
	var out []kindSum
	for _, kind := range []string{"transition", "guard", "where", "invariant", "change", "stage", "bind", "by", "grant", "except", "require", "ensure", "produce"} {
		sum := kindSum{name: kind}
		for _, p := range c.Points {
			if p.Kind == kind {
				covered, total := p.sides()
				sum.covered, sum.total = sum.covered+covered, sum.total+total
			}
		}
		if sum.total > 0 {
			out = append(out, sum)
		}
	}
	return out
}

// LCOV writes c in the form of lcov's tracefiles: a line is hit as often as steps exercised a point
// on it, and a branch is a side of a point. The error is w's.
func (c *Coverage) LCOV(w io.Writer) error {
	t := &writer{w: w}
	for _, of := range c.Contracts {
		of.sum()
		for _, f := range of.files {
			t.lcov(of, f)
		}
	}
	return t.err
}

func (t *writer) lcov(of *ContractCoverage, f *source.File) {
	t.line("TN:\nSF:%s", f.Name)
	lines := map[int]int{}
	var numbers []int
	branches, hit, block := 0, 0, 0
	for _, p := range of.Points {
		if p.at.File != f {
			continue
		}
		for n := p.Line; n <= p.EndLine; n++ {
			if _, known := lines[n]; !known {
				numbers = append(numbers, n)
			}
			lines[n] += max(p.Passed, p.Violated)
		}
		for side, taken := range []int{p.Passed, p.Violated} {
			if side == 0 && !p.passes || side == 1 && !p.fails {
				continue
			}
			t.line("BRDA:%d,%d,%d,%d", p.Line, block, side, taken)
			branches, hit = branches+1, hit+min(taken, 1)
		}
		block++
	}
	t.line("BRF:%d\nBRH:%d", branches, hit)
	slices.Sort(numbers)
	reached := 0
	for _, n := range numbers {
		t.line("DA:%d,%d", n, lines[n])
		reached += min(lines[n], 1)
	}
	t.line("LF:%d\nLH:%d\nend_of_record", len(numbers), reached)
}
