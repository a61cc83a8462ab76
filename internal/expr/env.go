// Package expr gives contracts their expressions: CEL, checked against the state
// type. It is the only package that knows the CEL library.
//
// The concepts, in the order an expression meets them:
//
//   - An Env belongs to one contract (env.go). It turns the contract's types into
//     shapes (shape.go), declares them to CEL, and knows which names there are.
//   - A Scope says which of the names an expression may use.
//   - Env.Check (check.go) parses an expression (parse.go), types it and walks it
//     (walk.go, over the values of domain.go, with the facts of fact.go). What is wrong
//     comes back as Issues with byte ranges (report.go), in the language's own words
//     (messages.go); what is right comes back as an ir.Expr with its footprint: the
//     patterns of the state it reads.
//   - Env.Compile (program.go) turns a checked expression into a Program, once, when a
//     contract is loaded. Program.Eval runs it over ir.Values, which it wraps one node
//     at a time (value.go) and never converts, with operators and functions of this
//     package (operators.go, library.go), and counts its steps (meter.go).
//   - Env.Parts (parts.go) takes a rule apart, to ask only what a commit touched.
//     Canonical, Env.Qualify and Env.ParamUses (source.go) look at the text alone.
//
// Three promises hold for every program. Its outcome, value or error, depends on
// nothing but the labels of its footprint (spec/semantics.md section 6.2). It
// knows no clock, no randomness and no time zone but UTC. It ends: its cost is
// counted and limited, and a context's deadline stops it.
//
// The package departs from plain CEL in one respect: numbers are compared by their
// exact value, also an int with a number, and one that no double holds (number.go).
package expr

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"github.com/google/cel-go/parser"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// An Env checks and compiles the expressions of one contract. Making it is the
// costly part; expressions share it. It is safe for concurrent use.
type Env struct {
	limits   Limits
	decimals bool // the contract has decimals
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

// New makes the environment of a contract. Only c.Types, c.State and c.Measures are
// read, and they must not change afterwards, but for the conditions of measures
// (ReadMeasures) and for unions of known types that come; the rest of c may still be missing.
// The error is ErrMerged, or a broken installation.
func New(c *ir.Contract, limits Limits) (*Env, error) {
	limits = limits.withDefaults()
	decimals := usesDecimals(c)
	standard, err := standardEnv(standardKey{limits, decimals})
	if err != nil {
		return nil, err
	}
	e := &Env{limits: limits, decimals: decimals, contract: c, root: c.State, scopes: map[string]*checker.Env{}}
	e.shapes = &shapes{contract: c, byID: map[ir.TypeID]*shape{}, merger: newMerger()}
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

// ReadMeasures reads the contract's measures again, whose conditions e has checked in the
// meantime. Until then only expressions in SelfVars may be checked.
func (e *Env) ReadMeasures() { e.measures = measuresOf(e.contract, e.shapes) }

// Limits bound what one expression may cost to check and to run. A zero field
// means its default.
type Limits struct {
	MaxSource  int    // bytes of source text
	MaxNesting int    // levels of parentheses, members and operators
	MaxNodes   int    // nodes of the syntax tree, macros expanded
	MaxText    int    // bytes of a string that a function may build
	MaxRegexp  int    // instructions of a regular expression's program
	CostLimit  uint64 // steps of one evaluation (meter.go)
	CheckEvery uint   // loop steps between two looks at the context
}

// Default returns the limits that hold when nothing else is said.
func Default() Limits {
	return Limits{
		MaxSource:  16 << 10,
		MaxNesting: 100,
		MaxNodes:   5_000,
		MaxText:    1 << 20,
		MaxRegexp:  2_000,
		CostLimit:  5_000_000,
		CheckEvery: 256,
	}
}

func (l Limits) withDefaults() Limits {
	d := Default()
	return Limits{
		MaxSource:  orDefault(l.MaxSource, d.MaxSource),
		MaxNesting: orDefault(l.MaxNesting, d.MaxNesting),
		MaxNodes:   orDefault(l.MaxNodes, d.MaxNodes),
		MaxText:    orDefault(l.MaxText, d.MaxText),
		MaxRegexp:  orDefault(l.MaxRegexp, d.MaxRegexp),
		CostLimit:  orDefault(l.CostLimit, d.CostLimit),
		CheckEvery: orDefault(l.CheckEvery, d.CheckEvery),
	}
}

func orDefault[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}

// standardKey names a standard.
type standardKey struct {
	limits   Limits
	decimals bool
}

// standard is what all contracts share: the functions of CEL and of the library.
type standard struct {
	cel     *cel.Env
	checker *checker.Env
	parser  *parser.Parser
}

var (
	standardMutex sync.Mutex
	standards     = map[standardKey]*standard{}
)

// maxStandards bounds the cache for a program that makes up limits as it goes.
const maxStandards = 8

func standardEnv(l standardKey) (*standard, error) {
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

func newStandard(key standardKey) (*standard, error) {
	l := key.limits
	opts := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(standardSubset())),
		cel.OptionalTypes(),
		ext.TwoVarComprehensions(),
		ext.Bindings(ext.BindingsVersion(0)),
	}
	opts = append(opts, operatorOptions(l)...)
	opts = append(opts, foldOptions()...)
	for i := range Functions {
		opts = append(opts, Functions[i].option(l))
	}
	if key.decimals {
		opts = append(opts, decimalOptions(l)...)
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
		parser.EnableIdentEscapeSyntax(true),
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

// A Scope says which names an expression may use: those of Vars, Each's variables
// in EachVars, and Params in BindVars, BeforeVars and AfterVars. Key is the name of the entry's key
// where Each itself has none for it (see Part). Self is the type of self in SelfVars.
type Scope struct {
	Vars   ir.Vars
	Self   ir.TypeID
	Each   *ir.Each
	Key    string
	Params []string
	Values []ir.ValueParam // where Params are
	Roles  []string        // that may ask; nil where any may
}

// key is what the entry's key is called in EachVars, "" if it has no name.
func (s *Scope) key() string {
	if s.Key == "" && s.Each != nil {
		return s.Each.Key
	}
	return s.Key
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

// rootKind tells what a variable stands for.
type rootKind uint8

const (
	localRoot   rootKind = iota // a parameter or a macro's variable
	valueRoot                   // a value that the host gives
	stateRoot                   // a node of the state, at the variable's place
	phaseRoot                   // the phase
	measureRoot                 // a measure
	inputRoot                   // who asks, in which role, and when
)

// variables lists the names of a scope, without duplicates: the first wins.
func (e *Env) variables(s Scope) []variable {
	var vars []variable
	state := func(name string) {
		vars = append(vars, variable{name: name, shape: e.state, root: stateRoot})
	}
	switch s.Vars {
	case ir.StateVars, ir.EachVars, ir.GuardVars:
		state("state")
		vars = append(vars, variable{name: "phase", shape: e.phaseShape(), root: phaseRoot})
	case ir.BindVars:
		state("state")
	case ir.BeforeVars:
		state("before")
	case ir.AfterVars:
		state("before")
		state("after")
	case ir.ChangeVars:
		if s.Each == nil {
			state("before")
			state("after")
			break
		}
		for _, name := range []string{"before", "after", s.Each.Var} {
			vars = append(vars, variable{name: name, shape: e.shapes.of(s.Each.Type), root: stateRoot, at: familyPlace(s.Each.Over)})
		}
	case ir.ViewVars:
		state("view")
	case ir.SelfVars:
		return []variable{{name: "self", shape: e.shapes.of(s.Self), root: stateRoot}}
	}
	if s.Vars == ir.EachVars && s.Each != nil {
		vars = append(vars, variable{name: s.Each.Var, shape: e.shapes.of(s.Each.Type), root: stateRoot, at: familyPlace(s.Each.Over)})
	}
	switch s.Vars {
	case ir.BindVars, ir.BeforeVars, ir.AfterVars:
		for _, p := range s.Params {
			vars = append(vars, variable{name: p, shape: stringShape, param: p})
		}
		for _, v := range s.Values {
			vars = append(vars, variable{name: v.Name, shape: e.shapes.of(v.Type), root: valueRoot})
		}
	case ir.EachVars, ir.ChangeVars:
		if name := s.key(); name != "" {
			vars = append(vars, variable{name: name, shape: stringShape, param: ir.FamilyParam(min(wildcards(s.Each.Over), ir.MaxFamilyKeys))})
		}
	}
	for i := range e.measures {
		if s.Vars == ir.ChangeVars { // of which state?
			break
		}
		m := &e.measures[i]
		vars = append(vars, variable{name: m.name, shape: m.shape, root: measureRoot, measure: m})
	}
	switch s.Vars {
	case ir.GuardVars, ir.BindVars, ir.BeforeVars, ir.AfterVars, ir.ChangeVars: // what is declared by such a name comes first
		vars = append(vars,
			variable{name: ir.RoleInput, shape: &shape{kinds: kString, cel: types.StringType, literals: s.Roles}, root: inputRoot},
			variable{name: ir.ActorInput, shape: stringShape, root: inputRoot},
			variable{name: ir.NowInput, shape: &shape{kinds: kAny, cel: types.TimestampType}, root: inputRoot})
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

// phaseShape is the shape of a phase's name: any text where no phases are known.
func (e *Env) phaseShape() *shape {
	var names []string
	for _, p := range e.contract.Phases {
		names = append(names, p.Name)
	}
	return &shape{kinds: kString, cel: types.StringType, literals: names}
}

var stringShape = &shape{kinds: kString, cel: types.StringType}

// typeOf is the type with an id, one of no kind if the environment was made without it.
func (e *Env) typeOf(id ir.TypeID) *ir.Type {
	if int(id) >= len(e.contract.Types) {
		return &ir.Type{}
	}
	return &e.contract.Types[id]
}

// A measure is a variable whose value is computed outside, as exact decimal text. It is
// read as a number of the state is.
type measure struct {
	name    string
	shape   *shape
	over    region.Pattern
	where   []region.Pattern // what its condition reads
	count   bool             // of what matches over, whatever it holds
	empty   bool             // it has no value when nothing matches
	int     bool
	decimal bool
}

func measuresOf(c *ir.Contract, ss *shapes) []measure {
	var out []measure
	for _, m := range c.Measures {
		over := ss.at(c.State, m.Over.Segments)
		x := measure{
			name:  m.Name,
			over:  m.Over,
			count: m.Kind == ir.Count,
			empty: m.Kind == ir.Min || m.Kind == ir.Max,
		}
		x.int = x.count || over.is(kInt)
		x.decimal = !x.int && over.is(kExact)
		x.shape = &shape{kinds: kNumber, cel: types.DoubleType}
		switch {
		case x.int:
			x.shape = &shape{kinds: kInt, cel: types.IntType}
		case x.decimal:
			x.shape = &shape{kinds: kDecimal, cel: decimalType}
		}
		if x.count {
			x.over = ss.counted(c.State, m.Over)
		}
		if m.Where != nil {
			entry, _, _ := ir.EntryOf(m.Over)
			x.where = append(x.where, region.Pattern{Segments: entry.Segments, Shallow: true})
			for _, r := range m.Where.Reads {
				x.where = append(x.where, region.Pattern{Segments: slices.Concat(entry.Segments, r.Pattern.Segments), Shallow: r.Pattern.Shallow})
			}
		}
		if x.empty {
			x.shape.cel = types.NewOptionalType(x.shape.cel)
		}
		out = append(out, x)
	}
	return out
}

// provider declares a contract's records to CEL. It is complete when it is made.
type provider struct {
	types.Provider // CEL's own types
	shapes         *shapes
	records        map[string]*shape
	fields         map[string]map[string]*types.FieldType
}

func newProvider(base types.Provider, ss *shapes) *provider {
	p := &provider{
		Provider: base,
		shapes:   ss,
		records:  map[string]*shape{},
		fields:   map[string]map[string]*types.FieldType{},
	}
	for id := 1; id < len(ss.contract.Types); id++ {
		s := ss.of(ir.TypeID(id))
		if s.kinds != kRecord || s.id != ir.TypeID(id) {
			continue
		}
		fields := map[string]*types.FieldType{}
		for name, f := range s.members {
			fields[name] = fieldType(name, f.shape)
		}
		p.records[objectName(s.id)], p.fields[objectName(s.id)] = s, fields
	}
	return p
}

// objectName is a record type's name inside CEL. No identifier of an expression
// can be spelled so, which keeps records from being constructed.
func objectName(id ir.TypeID) string { return "@record" + strconv.Itoa(int(id)) }

// shapeOf is the record shape that a CEL object type was declared for, or nil.
func (p *provider) shapeOf(t *types.Type) *shape { return p.records[t.TypeName()] }

func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if s, ok := p.records[name]; ok {
		return types.NewTypeTypeWithParam(s.cel), true
	}
	return p.Provider.FindStructType(name)
}

func (p *provider) FindStructFieldNames(name string) ([]string, bool) {
	if s, ok := p.records[name]; ok {
		return s.memberNames(), true
	}
	return p.Provider.FindStructFieldNames(name)
}

func (p *provider) FindStructFieldType(name, member string) (*types.FieldType, bool) {
	s, ok := p.records[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, member)
	}
	if f, ok := p.fields[name][member]; ok {
		return f, true
	}
	if s.rest != nil {
		return fieldType(member, s.rest), true
	}
	return nil, false
}

// fieldType declares one member of a record to CEL, with the access to it.
func fieldType(name string, s *shape) *types.FieldType {
	return &types.FieldType{
		Type: s.cel,
		IsSet: func(target any) bool {
			o, ok := target.(*object)
			return ok && o.value.Member(name) != nil
		},
		GetFrom: func(target any) (any, error) {
			o, ok := target.(*object)
			if !ok {
				return nil, errAbsent
			}
			v := o.value.Member(name)
			if v == nil {
				return nil, errAbsent
			}
			return wrap(v, s, o.meter), nil
		},
	}
}

// FindIdent hides the protocol buffer names that the registry brings along.
func (p *provider) FindIdent(name string) (ref.Val, bool) {
	if strings.HasPrefix(name, "google.") {
		return nil, false
	}
	return p.Provider.FindIdent(name)
}

// IsTaken reports whether a name means something in all expressions: a function, a macro, or
// a reserved word.
func (e *Env) IsTaken(name string) bool {
	_, _, issues := e.parse(name)
	return len(issues) > 0 || name == "has" || e.cel.HasFunction(name)
}
