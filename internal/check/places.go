package check

import (
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

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
