// Package lint finds in a contract what compiles, and is hardly what its author meant.
//
// A rule is a value: its code, which is that of its findings, a category, the level at
// which it reports, its purpose, and the function that looks for it in a compiled contract
// and the tree that it was compiled from. Rules lists them; the catalogue of codes
// (internal/diagnostic) has the page of each. What the compiler itself notes on its way
// and is no error (an undisclosed gate, a rule that walks a whole container) comes from
// rules as well, which pass it on: so that every finding but an error has a level that can
// be set, and can be set aside where it stands.
//
// Findings is the entry: it gives all that there is to say of one compiled file. A Config
// (config.go) sets levels; a comment in the source sets one finding aside (ignore.go).
//
// What a rule reports is so: where it cannot decide, it is silent. The rules stand in files
// by what they look at: unused.go (names), authority.go (grants, secrets, roles),
// concurrency.go (stages beside one another), vacuous.go (rules that hold always or never,
// which logic.go decides), walks.go (phases, and what expressions cost), tests.go (the
// contract's tests), wording.go (messages and documentation).
package lint

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// A Category says what a rule is about.
type Category string

// The categories.
const (
	Correctness Category = "correctness" // it does not do what it says
	Authority   Category = "authority"   // somebody may see or change more than was meant
	Concurrency Category = "concurrency" // stages stand in each other's way
	Performance Category = "performance" // it costs more than it has to
	Clarity     Category = "clarity"     // a reader takes it for something else
)

// Categories lists the categories, in the order in which they are listed.
func Categories() []Category {
	return []Category{Correctness, Authority, Concurrency, Performance, Clarity}
}

// A Level says how a rule reports. The zero value is Off.
type Level uint8

// The levels.
const (
	Off Level = iota
	Info
	Warning
	Error
)

// String is the level's name as a configuration writes it.
func (l Level) String() string { return [...]string{"off", "info", "warning", "error"}[l] }

// severity is that of the findings of a rule that reports at l, which is not Off.
func (l Level) severity() source.Severity {
	return map[Level]source.Severity{Info: source.Info, Warning: source.Warning, Error: source.Error}[l]
}

// A Rule looks for one kind of finding.
type Rule struct {
	Code     string // of its findings, and the name by which it is configured
	Category Category
	Level    Level  // at which it reports if nothing else is said
	Purpose  string // what it finds, in a few words
	Why      string // why that matters

	noted bool // by the compiler
	find  func(p *program) []source.Diagnostic
}

// Rules lists all rules, by category and code.
func Rules() []Rule { return slices.Clone(rules) }

// Find is the rule of a code; ok is false if there is none.
func Find(code string) (r Rule, ok bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Code == code })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// rules is made when the program starts: the functions of rules refer to the list.
var rules []Rule

func init() {
	add := func(category Category, k *diagnostic.Kind, find func(*program) []source.Diagnostic) {
		level := map[source.Severity]Level{source.Info: Info, source.Warning: Warning, source.Error: Error}[k.Severity]
		if k.Unasked {
			level = Off
		}
		rules = append(rules, Rule{Code: k.Code, Category: category, Level: level, Purpose: k.What, Why: k.Why, find: find})
	}
	noted := func(category Category, kinds ...*diagnostic.Kind) {
		for _, k := range kinds {
			add(category, k, func(p *program) []source.Diagnostic { return p.noted[k.Code] })
			rules[len(rules)-1].noted = true
		}
	}
	noted(Correctness, diagnostic.NoEffect, diagnostic.EmptyGrant, diagnostic.LiteralSegment, diagnostic.UnknownRole)
	noted(Authority, diagnostic.RequireNoGuard, diagnostic.ChosenView, diagnostic.UndisclosedGate, diagnostic.NeedlessDisclosure, diagnostic.LogSource)
	add(Performance, diagnostic.WholeStateRule, wholeStateRules)
	noted(Clarity, diagnostic.Unused)

	add(Correctness, diagnostic.DeadStage, deadStages)
	add(Correctness, diagnostic.DeadPhase, deadPhases)
	add(Correctness, diagnostic.NeverHolds, neverHold)
	add(Correctness, diagnostic.AlwaysHolds, alwaysHold)
	add(Correctness, diagnostic.ImpliedInvariant, impliedInvariants)
	add(Correctness, diagnostic.EmptyExcept, emptyExcepts)
	add(Correctness, diagnostic.IdleRight, idleRights)
	add(Correctness, diagnostic.UntestedStage, untestedStages)
	add(Correctness, diagnostic.UnviolatedInvariant, unviolatedInvariants)

	add(Authority, diagnostic.DeepWrite, deepWrites)
	add(Authority, diagnostic.WildcardWrite, wildcardWrites)
	add(Authority, diagnostic.WideGrant, wideGrants)
	add(Authority, diagnostic.UnreadWrite, unreadWrites)
	add(Authority, diagnostic.SecretShown, secretsShown)
	add(Authority, diagnostic.SecretFlow, secretFlows)
	add(Authority, diagnostic.AnyRole, anyRoles)
	add(Authority, diagnostic.UnusedDelegable, unusedDelegables)
	add(Authority, diagnostic.GrantInside, grantsInside)

	add(Concurrency, diagnostic.ConflictingStages, conflictingStages)
	add(Concurrency, diagnostic.SeenWhileWritten, seenWhileWritten)
	add(Concurrency, diagnostic.PositionalWrite, positionalWrites)
	add(Concurrency, diagnostic.ShiftingPositions, shiftingPositions)

	add(Performance, diagnostic.UnboundedCost, unboundedCosts)

	add(Clarity, diagnostic.UnusedImport, unusedNames)
	add(Clarity, diagnostic.UnusedType, unusedNames)
	add(Clarity, diagnostic.UnusedRegion, unusedNames)
	add(Clarity, diagnostic.UnusedConst, unusedNames)
	add(Clarity, diagnostic.UnusedDefine, unusedNames)
	add(Clarity, diagnostic.UnusedRoles, unusedNames)
	add(Clarity, diagnostic.UnusedMeasure, unusedNames)
	add(Clarity, diagnostic.MessageValue, messageValues)
	add(Clarity, diagnostic.UndocumentedStage, undocumentedStages)
	add(Clarity, diagnostic.SilentRule, silentRules)
	add(Clarity, diagnostic.BadIgnore, nil)
	add(Clarity, diagnostic.UnusedIgnore, nil)

	slices.SortStableFunc(rules, func(a, b Rule) int {
		return cmp.Or(slices.Index(Categories(), a.Category)-slices.Index(Categories(), b.Category), strings.Compare(a.Code, b.Code))
	})
}

// An Input is a compiled file, and where it came from.
type Input struct {
	Output compiler.Output
	FS     fs.FS  // where it was read; tests of a contract stand beside it
	Path   string // the file, slash-separated, relative to FS
	Config *Config

	// Noted asks for what the compiler noted alone, which costs nothing more: an editor shows
	// it first.
	Noted bool
}

// Findings lists all that is found in a file, sorted: the errors of the compiler, and what
// rules find at their levels. Most rules look at contracts without errors alone. Once ctx
// ends it stops soon, and returns nothing but the error of ctx; there is no other. Cost: a
// few times that of compiling; of stages it compares pairs.
func Findings(ctx context.Context, in Input) ([]source.Diagnostic, error) {
	p := newProgram(ctx, in)
	out := p.errors
	looked := map[string]bool{}
	for _, r := range rules {
		if r.find == nil || in.Noted && !r.noted || in.Config.Level(r) == Off {
			continue
		}
		looked[r.Code] = true
		for _, d := range r.find(p) {
			if d.Code == r.Code {
				d.Severity = in.Config.Level(r).severity()
				out = append(out, d)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return source.Sort(p.setAside(out, looked, in.Config)), nil
}

// maxDecisions bounds the questions about regions, about pairs of stages and about pairs of
// conditions that the rules of one file may ask. What is left open then is not reported:
// contracts that people write are far below.
const maxDecisions = 1 << 14

// A program is what rules look at.
type program struct {
	in     Input
	ctx    context.Context
	asks   int          // decisions made
	tree   *syntax.File // nil if the file could not be read
	errors []source.Diagnostic
	noted  map[string][]source.Diagnostic // what the compiler noted and is no error, by code

	// Of a contract without errors; nil otherwise.
	contract *ir.Contract
	model    *footprint.Model
	stages   map[string]*syntax.StageDecl
	rules    map[string]*syntax.InvariantDecl // by name, as far as the file declares them

	tests *tests
	once  struct { // what several rules ask for
		unused    func() []source.Diagnostic
		shifting  func() []source.Diagnostic
		unbounded func() []source.Diagnostic
		order     func() *phaseOrder
		asked     func() []judgement // conditions
	}
	held map[string][]*term // see committed
}

// decides counts a decision, and reports whether there may be one more.
func (p *program) decides() bool {
	p.asks++
	return !p.spent()
}

// spent reports whether what is found from now on counts for nothing.
func (p *program) spent() bool {
	return p.asks > maxDecisions || p.model.Spent() || p.ctx.Err() != nil
}

func newProgram(ctx context.Context, in Input) *program {
	p := &program{in: in, ctx: ctx, held: map[string][]*term{}, noted: map[string][]source.Diagnostic{}, stages: map[string]*syntax.StageDecl{}, rules: map[string]*syntax.InvariantDecl{}}
	for _, d := range in.Output.Diagnostics {
		if _, isRule := Find(d.Code); isRule && d.Severity != source.Error {
			p.noted[d.Code] = append(p.noted[d.Code], d)
			continue
		}
		p.errors = append(p.errors, d)
	}
	if len(in.Output.Files) == 0 {
		return p
	}
	p.tree = in.Output.Files[0]
	p.once.unused = sync.OnceValue(p.findUnused)
	if in.Output.Lowered == nil || in.Noted {
		return p
	}
	p.contract = in.Output.Lowered
	p.model = footprint.Measured(p.contract)
	p.model.Meter.Until(ctx)
	for _, d := range p.tree.Decls {
		switch d := d.(type) {
		case *syntax.StageDecl:
			p.stages[d.Name.Text] = d
		case *syntax.InvariantDecl:
			p.rules[d.Name.Text] = d
		}
	}
	p.tests = p.readTests(ctx)
	p.once.shifting = sync.OnceValue(p.findShifting)
	p.once.unbounded = sync.OnceValue(p.findUnbounded)
	p.once.order = sync.OnceValue(p.newPhaseOrder)
	p.once.asked = sync.OnceValue(p.findConditions)
	return p
}

// eachStage visits the stages of the contract with their trees, in order.
func (p *program) eachStage(visit func(s *ir.Stage, d *syntax.StageDecl)) {
	if p.contract == nil {
		return
	}
	for i := range p.contract.Stages {
		if d := p.stages[p.contract.Stages[i].Name]; d != nil {
			visit(&p.contract.Stages[i], d)
		}
	}
}

// related is a diagnostic with one more place.
func related(d source.Diagnostic, message string, at source.Span) source.Diagnostic {
	d.Related = append(d.Related, source.Related{Message: message, Span: at})
	return d
}
