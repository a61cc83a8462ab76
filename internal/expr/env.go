package expr

import (
	"sort"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/parser"

	"github.com/patchoptic/poptic/internal/ir"
)

// An Env checks and compiles the expressions of one contract. Making it is the
// costly part; expressions share it. It is safe for concurrent use.
type Env struct {
	limits   Limits
	contract *ir.Contract
	shapes   *shapes
	root     ir.TypeID // of the state
	state    *shape
	measures []measure
	provider *provider
	parser   *parser.Parser
	cel      *cel.Env     // plans programs; declares no variables
	base     *checker.Env // the functions

	mutex  sync.Mutex
	scopes map[string]*checker.Env // by scopeKey
}

// A Scope says which names an expression may use: those of Vars, Each's variable
// in EachVars, and Params in BeforeVars and AfterVars; in EachVars there is at most
// one of them, which stands for the entry's key (see Part). Self is the type of self
// in SelfVars.
type Scope struct {
	Vars   ir.Vars
	Self   ir.TypeID
	Each   *ir.Each
	Params []string
}

// New makes the environment of a contract. Only c.Types, c.State and c.Measures are
// read, and they must not change afterwards; the rest of c may still be missing.
// The error is ErrMerged, or a broken installation.
func New(c *ir.Contract, limits Limits) (*Env, error) {
	limits = limits.withDefaults()
	standard, err := standardEnv(limits)
	if err != nil {
		return nil, err
	}
	e := &Env{limits: limits, contract: c, root: c.State, scopes: map[string]*checker.Env{}}
	e.shapes = &shapes{types: c.Types, byID: map[ir.TypeID]*shape{}, merger: newMerger()}
	e.state = e.shapes.of(c.State)
	e.measures = measuresOf(c, e.shapes)
	e.provider = newProvider(standard.cel.CELTypeProvider(), e.shapes)
	if e.shapes.merger.left < 0 {
		return nil, ErrMerged
	}
	e.parser, e.base = standard.parser, standard.checker
	e.cel, err = standard.cel.Extend(cel.CustomTypeProvider(e.provider))
	return e, err
}

// standard is what all contracts share: the functions of CEL and of the library.
type standard struct {
	cel     *cel.Env
	checker *checker.Env
	parser  *parser.Parser
}

var (
	standardMutex sync.Mutex
	standards     = map[Limits]*standard{}
)

// maxStandards bounds the cache for a program that makes up limits as it goes.
const maxStandards = 8

func standardEnv(l Limits) (*standard, error) {
	standardMutex.Lock()
	defer standardMutex.Unlock()
	if s, ok := standards[l]; ok {
		return s, nil
	}
	s, err := newStandard(l)
	if err != nil {
		return nil, err
	}
	if len(standards) == maxStandards {
		clear(standards)
	}
	standards[l] = s
	return s, nil
}

func newStandard(l Limits) (*standard, error) {
	opts := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(standardSubset())),
		cel.OptionalTypes(),
		ext.TwoVarComprehensions(),
		ext.Bindings(ext.BindingsVersion(0)),
	}
	opts = append(opts, operatorOptions(l)...)
	for i := range Functions {
		opts = append(opts, Functions[i].option(l))
	}
	env, err := cel.NewCustomEnv(opts...)
	if err != nil {
		return nil, err
	}
	s := &standard{cel: env}
	if s.checker, err = newChecker(env); err != nil {
		return nil, err
	}
	s.parser, err = parser.NewParser(
		parser.Macros(env.Macros()...),
		parser.EnableOptionalSyntax(true),
		parser.MaxRecursionDepth(l.MaxNesting),
		parser.MaxExpressionNodeCount(l.MaxNodes),
		parser.ExpressionSizeCodePointLimit(l.MaxSource),
		parser.ErrorRecoveryLimit(4),
	)
	return s, err
}

func newChecker(env *cel.Env) (*checker.Env, error) {
	c, err := checker.NewEnv(env.Container, env.CELTypeProvider(), checker.CrossTypeNumericComparisons(true))
	if err != nil {
		return nil, err
	}
	for _, f := range env.Functions() {
		if f.IsDeclarationDisabled() {
			continue
		}
		if err := c.AddFunctions(f); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// checkerFor is the type checker of a scope, made once for all its expressions.
func (e *Env) checkerFor(s Scope) (*checker.Env, error) {
	vars := e.variables(s)
	key := scopeKey(s, vars)
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if c, ok := e.scopes[key]; ok {
		return c, nil
	}
	c, err := checker.NewEnv(e.cel.Container, e.provider,
		checker.CrossTypeNumericComparisons(true), checker.ValidatedDeclarations(e.base))
	if err != nil {
		return nil, err
	}
	for _, v := range vars {
		if err := c.AddIdents(decls.NewVariable(v.name, v.shape.cel)); err != nil {
			return nil, err
		}
	}
	e.scopes[key] = c
	return c, nil
}

func scopeKey(s Scope, vars []variable) string {
	var b strings.Builder
	b.WriteString(string(s.Vars))
	for _, v := range vars {
		b.WriteString("\x00" + v.name + "\x00" + v.shape.cel.String())
	}
	return b.String()
}

// A variable is a name in scope.
type variable struct {
	name    string
	shape   *shape
	root    rootKind
	at      place    // of a stateRoot
	param   string   // the parameter that it is, "" for none
	measure *measure // of a measureRoot
}

// phaseShape is the shape of a phase's name: any text where no phases are known.
func (e *Env) phaseShape() *shape {
	var names []string
	for _, p := range e.contract.Phases {
		names = append(names, p.Name)
	}
	return &shape{kinds: kString, cel: types.StringType, literals: names}
}

// variables lists the names of a scope, without duplicates: the first wins.
func (e *Env) variables(s Scope) []variable {
	var vars []variable
	state := func(name string) {
		vars = append(vars, variable{name: name, shape: e.state, root: stateRoot})
	}
	switch s.Vars {
	case ir.StateVars, ir.EachVars:
		state("state")
		vars = append(vars, variable{name: "phase", shape: e.phaseShape(), root: phaseRoot})
	case ir.BeforeVars:
		state("before")
	case ir.AfterVars:
		state("before")
		state("after")
	case ir.ViewVars:
		state("view")
	case ir.SelfVars:
		return []variable{{name: "self", shape: e.shapes.of(s.Self), root: stateRoot}}
	}
	if s.Vars == ir.EachVars && s.Each != nil {
		vars = append(vars, variable{name: s.Each.Var, shape: e.shapes.of(s.Each.Type), root: stateRoot, at: familyPlace(s.Each.Over)})
	}
	if s.Vars == ir.BeforeVars || s.Vars == ir.AfterVars || s.Vars == ir.EachVars {
		for _, p := range s.Params {
			v := variable{name: p, shape: stringShape, param: p}
			if s.Vars == ir.EachVars && s.Each != nil {
				v.param = ir.FamilyParam(min(wildcards(s.Each.Over), ir.MaxFamilyKeys))
			}
			vars = append(vars, v)
		}
	}
	for i := range e.measures {
		m := &e.measures[i]
		vars = append(vars, variable{name: m.name, shape: m.shape, root: measureRoot, measure: m})
	}
	return withoutDuplicates(vars)
}

func withoutDuplicates(vars []variable) []variable {
	seen, out := map[string]bool{}, vars[:0]
	for _, v := range vars {
		if !seen[v.name] {
			seen[v.name] = true
			out = append(out, v)
		}
	}
	return out
}

func names(vars []variable) []string {
	var out []string
	for _, v := range vars {
		out = append(out, v.name)
	}
	sort.Strings(out)
	return out
}

var stringShape = &shape{kinds: kString, cel: types.StringType}
