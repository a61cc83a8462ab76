// Package check turns the syntax tree of a contract into a compiled contract,
// or says what is wrong with it.
//
// The passes run in the order in which they need each other: declarations are
// collected by name (names.go; constants, definitions and groups of roles: definitions.go), types are lowered (types.go) and give the shape of
// the state; paths and regions are typed against that shape (regions.go); phases
// (phases.go), measures and invariants (rules.go) follow; then stages with their
// parameters and clauses (stages.go), and delegates, which are contained in their
// parents (delegates.go). Claims are resolved and lowered (claims.go); they are decided
// over the compiled contract. What a stage may write and take must lie in what it reads
// (visibility.go), and every gate that reads more than the stage sees must be disclosed
// (disclosure.go).
//
// Every pass reports all it finds (messages.go) and goes on with what is usable.
package check

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
	"github.com/patchoptic/poptic/lang/symbol"
)

// A Unit is a parsed file with the libraries it imports.
type Unit struct {
	File    *syntax.File
	Imports map[*syntax.Import]*Unit // one entry for each import that could be read
	Faulty  bool                     // some of it could not be parsed

	Path     string // of the file, as the compiler was given it
	Standard bool   // it is one of the standard libraries
}

// A Result is what checking a contract says.
type Result struct {
	Faultless   bool          // no diagnostic is an error: Sound is the contract
	Sound       *ir.Contract  // what of it no error touches
	Decidable   bool          // claims about Sound can be decided: nothing that is left out makes one seem false
	Claims      []source.Span // Claims[i] is where the i-th claim of Sound was written
	Places      Places
	Diagnostics []source.Diagnostic
	Symbols     func() *symbol.Table // what the names mean, found out when it is asked first; nil if ctx ended

	checker *checker // what Tests goes on with

	// Grants lists the grants that a stage without errors states in a clause, in order.
	Grants func(stage, clause string) []Written
}

// Contract checks a contract and lowers it. It does not decide claims. Once ctx ends it
// stops soon, and what it returns is of no use.
func Contract(ctx context.Context, u *Unit) Result {
	c := newChecker(ctx, u)
	c.parsed = !u.Faulty
	for _, pass := range []func(){
		c.lowerHeader,
		c.lowerState,
		c.lowerTypes,
		c.lowerValueTypes,
		c.lowerReferences,
		c.lowerSecrets,
		c.lowerMeasures,
		c.openExpressions,
		c.lowerRegions,
		c.lowerPhases,
		c.lowerInvariants,
		func() { c.groundwork = c.taint == 0 },
		c.lowerRoles,
		c.lowerStages,
		c.lowerDelegates,
		c.checkRoles,
		c.lowerClaims,
		c.reserveLiterals,
		c.checkVisibility,
		c.checkGuards,
		c.checkChoices,
		c.checkKeys,
		c.checkDisclosure,
		c.checkEffect,
		c.checkClaimsTwice,
	} {
		if c.ended() {
			return Result{}
		}
		pass()
	}
	c.exhausted(source.Span{File: u.File.Source})
	out := Result{Faultless: c.errors == 0, Sound: &c.out, Decidable: true, Claims: c.claimSpans}
	if !out.Faultless {
		out.Sound, out.Claims = c.sound()
		out.Decidable = c.groundwork && c.parsed
	}
	out.Places, out.Diagnostics = c.places(), c.found()
	out.Symbols, out.checker = sync.OnceValue(alone(c, c.symbols)), c
	out.Grants = func(stage, clause string) []Written {
		return alone(c, func() []Written { return c.grants(stage, clause) })()
	}
	return out
}

// Library checks a library on its own: what does not depend on a state. The second result
// is what its names mean, as in Result.
func Library(ctx context.Context, u *Unit) ([]source.Diagnostic, func() *symbol.Table) {
	c := newChecker(ctx, u)
	c.out.State = c.anyType
	c.lowerTypes()
	c.openExpressions()
	for _, d := range u.File.Decls {
		if kind, ok := contractOnly(d); ok {
			c.report(onlyInContracts(d, kind))
		}
	}
	return c.found(), sync.OnceValue(c.symbols)
}

// alone is f while nothing else that goes on with a checker after the check does so.
func alone[T any](c *checker, f func() T) func() T {
	return func() T {
		c.after.Lock()
		defer c.after.Unlock()
		return f()
	}
}

// checker holds what the passes hand on to each other.
type checker struct {
	after       sync.Mutex  // see alone
	ended       func() bool // nobody waits for the result any more
	out         ir.Contract
	diagnostics []source.Diagnostic
	tallies     map[tally]int
	muted       int // what is found is reported elsewhere
	errors      int // reported, kept or not
	taint       int // errors, and uses of what an error left without meaning

	root     *scope
	imported int // declarations of libraries, each as often as it is imported
	anyType  ir.TypeID
	extents  []ir.Extent // by type
	entries  int         // of the table of types
	overfull bool        // that they are too many was reported

	patternCount int  // of all regions
	manyPatterns bool // that they are too many was reported
	tooManySteps bool // likewise of searches
	pending      pendingTypes
	model        *footprint.Model
	env          *expr.Env
	phases       map[string]*syntax.Phase
	phasesClean  bool           // no arrow is missing because it was reported
	phaseAt      map[string]int // by name, where in out.Phases
	stages       []*stage
	stageOf      map[string]*stage                      // by name, the first
	fields       map[ir.TypeID]map[string]*syntax.Field // the members of records, where they were written
	fieldTypes   map[*syntax.Field]ir.TypeID
	entryOf      map[*syntax.Each]*ir.Each
	valueTypes   map[*syntax.Param]ir.TypeID // of value parameters
	wheres       map[string]*syntax.Expr     // the conditions of measures, by name
	claimSpans   []source.Span
	claimFaulty  []bool          // by claim
	faultyRules  map[string]bool // invariants that an error keeps out of the contract, by name
	parsed       bool            // nothing is missing because it could not be parsed
	stateless    bool            // that there is no state was reported
	faultyNames  []string        // measures that were reported
	scopeOf      map[*source.File]*scope
	groups       map[string]*group    // of roles, by name
	inBodies     map[string]bool      // what was reported about definitions
	said         map[source.Span]bool // suspicious segments that were reported
	groundwork   bool                 // types, measures, phases and invariants are without errors
}

func newChecker(ctx context.Context, u *Unit) *checker {
	c := &checker{ended: func() bool { return ctx.Err() != nil }, tallies: map[tally]int{}, fields: map[ir.TypeID]map[string]*syntax.Field{}, fieldTypes: map[*syntax.Field]ir.TypeID{}, entryOf: map[*syntax.Each]*ir.Each{}, valueTypes: map[*syntax.Param]ir.TypeID{}, wheres: map[string]*syntax.Expr{}, pending: newPendingTypes(), phases: map[string]*syntax.Phase{}, phaseAt: map[string]int{}, stageOf: map[string]*stage{}, faultyRules: map[string]bool{}, scopeOf: map[*source.File]*scope{}, groups: map[string]*group{}, inBodies: map[string]bool{}, said: map[source.Span]bool{}}
	c.out.Types, c.extents = make([]ir.Type, 1), make([]ir.Extent, 1)
	c.anyType = c.addType(ir.Type{Kind: ir.AnyType})
	c.model = footprint.New(&c.out)
	c.model.Meter = region.NewMeter(footprint.MaxSteps)
	c.model.Meter.Until(ctx)
	c.root = c.collect(u, "")
	return c
}

func (c *checker) lowerHeader() {
	h := c.root.file.Header
	if h == nil {
		return
	}
	c.out.Name, c.out.Doc, c.out.Sealed = h.Name.Text, h.Doc, h.Sealed
}

// report notes a finding. Of errors and of others only so many are kept for a file;
// the rest is counted.
func (c *checker) report(d source.Diagnostic) {
	if c.muted > 0 || c.exhausted(d.Span) {
		return
	}
	if c.isLost(d) {
		c.taint++
		return
	}
	c.keep(d)
}

// isLost reports whether a finding is that a name is missing which a mistake made unreadable.
func (c *checker) isLost(d source.Diagnostic) bool {
	s := c.scopeOf[d.Span.File]
	if s == nil || len(s.file.Lost) == 0 {
		return false
	}
	f := s.file
	switch d.Code {
	case "missing_state":
		return f.Lost["state"]
	case "clause_needs_phases":
		return f.Lost["phases"]
	case "unknown_import":
		alias, _, _ := strings.Cut(d.Span.Text(), ".")
		return f.Lost[alias]
	case "unknown_type", "unknown_region", "unknown_phase", "unknown_stage", "unknown_gate", "unknown_parameter", "unknown_name", "unknown_function", "unknown_member", "unreachable_phase":
		return f.Lost[strings.Trim(d.Span.Text(), "{}")]
	}
	return false
}

// exhausted reports whether the searches about regions have used up their steps; what
// they say from then on is no finding. The first time it is reported, at a place. Where
// nobody waits for the result, nothing more is found either.
func (c *checker) exhausted(at source.Span) bool {
	if c.ended() {
		return true
	}
	if c.model == nil || !c.model.Spent() {
		return false
	}
	if !c.tooManySteps {
		c.tooManySteps = true
		c.keep(tooLarge(at, "steps of searches about the regions of a contract", footprint.MaxSteps, "each pattern of a stage is compared with what others name; write fewer patterns, or such as cover more"))
	}
	return true
}

func (c *checker) keep(d source.Diagnostic) {
	at := tally{d.Span.File, d.Severity == source.Error}
	if at.errors {
		c.errors++
		c.taint++
	}
	if c.tallies[at]++; c.tallies[at] <= syntax.DefaultLimits.Diagnostics {
		c.diagnostics = append(c.diagnostics, d)
	}
}

// A tally is what the findings of a file are counted by.
type tally struct {
	file   *source.File
	errors bool
}

// found lists the findings, and says of files with more how many there are.
func (c *checker) found() []source.Diagnostic {
	out := c.diagnostics
	for at, n := range c.tallies {
		if more := n - syntax.DefaultLimits.Diagnostics; more > 0 {
			out = append(out, moreFindings(at, more))
		}
	}
	return out
}

// Errors are reported in one go, as far as one does not follow from another: what an
// error touches is faulty, and so is what uses it, and later passes leave it alone.
//
// faultily reports whether doing something met an error, or something faulty.
func (c *checker) faultily(do func()) bool {
	before := c.taint
	do()
	return c.taint > before
}

// use notes that something is used; what is faulty makes its user so.
func (c *checker) use(faulty bool) {
	if faulty {
		c.taint++
	}
}

// sound is the contract without what is faulty, and where its claims were written.
func (c *checker) sound() (*ir.Contract, []source.Span) {
	out := c.out
	out.Measures = slices.DeleteFunc(slices.Clone(out.Measures), func(m ir.Measure) bool { return slices.Contains(c.faultyNames, m.Name) })
	out.Stages, out.Claims, out.Compositions = nil, nil, nil
	faulty := map[string]bool{}
	for _, st := range c.stages {
		if faulty[st.decl.Name.Text] = st.faulty; !st.faulty {
			out.Stages = append(out.Stages, *st.out)
		}
	}
	isFaulty := func(name string) bool { return faulty[name] }
	for _, x := range c.out.Compositions {
		if faulty[x.Name] = slices.ContainsFunc(x.Stages, isFaulty); !faulty[x.Name] {
			out.Compositions = append(out.Compositions, x)
		}
	}
	var spans []source.Span
	for i, claim := range c.out.Claims {
		if !c.claimFaulty[i] && !slices.ContainsFunc(claim.Stages, isFaulty) {
			out.Claims, spans = append(out.Claims, claim), append(spans, c.claimSpans[i])
		}
	}
	return &out, spans
}

// Places says where a contract's parts were written, for findings about the
// compiled contract.
type Places struct {
	stages     map[string]*stage
	invariants map[string]source.Span
}

func (c *checker) places() Places {
	p := Places{stages: map[string]*stage{}, invariants: map[string]source.Span{}}
	for _, st := range c.stages {
		p.stages[st.decl.Name.Text] = st
	}
	for _, d := range c.root.file.Decls {
		if d, ok := d.(*syntax.InvariantDecl); ok {
			p.invariants[d.Name.Text] = d.Span
		}
	}
	return p
}

// Clause is where a stage states a clause. A delegate that leaves it out has its
// parent's; a stage without it anywhere is named instead.
func (p Places) Clause(stage, keyword string) source.Span {
	first := p.stages[stage]
	for st := first; st != nil; st = st.parent {
		if cl := st.clauses[keyword]; cl != nil {
			return cl.Span
		}
	}
	if first == nil {
		return source.Span{}
	}
	return first.decl.Name.Span
}

// Param is where a stage declares a parameter, zero if it has none of that name.
func (p Places) Param(stage, name string) source.Span {
	for st := p.stages[stage]; st != nil; st = st.parent {
		for _, param := range st.decl.Params {
			if param.Name.Text == name {
				return param.Span
			}
		}
	}
	return source.Span{}
}

// Invariant is where an invariant was written, zero if it was imported.
func (p Places) Invariant(name string) source.Span { return p.invariants[name] }
