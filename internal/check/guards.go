package check

import (
	"slices"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
)

// A require judges proposals, not views. One that compares an argument with what the
// state holds, or what it holds for two arguments, looks like a condition on who may see what; checkGuards reports it where
// the stage reads by the arguments that the require is about.
func (c *checker) checkGuards() {
	if c.env == nil {
		return
	}
	for _, st := range c.stages {
		if st.faulty {
			continue
		}
		for _, cl := range st.decl.Clauses {
			if cl.Keyword.Text == "require" && cl.Expr != nil {
				c.checkGuard(st, cl)
			}
		}
	}
}

func (c *checker) checkGuard(st *stage, cl *syntax.Clause) {
	mentioned, values := c.env.ParamUses(cl.Expr.Text, st.paramNames())
	if len(values) == 0 || !slices.ContainsFunc(st.out.Require, func(x ir.Expr) bool { return x.Source == cl.Expr.Text && len(x.Reads) > 0 }) {
		return
	}
	for _, q := range st.out.Params { // what is found by an argument is picked by it
		if q.Kind == ir.DependentParam && slices.ContainsFunc(q.Of.Params(), func(name string) bool { return slices.Contains(mentioned, name) }) {
			mentioned = append(mentioned, q.Name)
		}
	}
	for _, p := range footprint.Includes(st.out.Read) {
		if slices.ContainsFunc(p.Params(), func(name string) bool {
			return slices.Contains(mentioned, name) && c.choosable(st, name, p)
		}) {
			c.report(requireNoGuard(st, cl, p))
			return
		}
	}
}

// choosable reports whether reading p shows what a parameter picks: one that is new
// picks nothing, and where a parameter is taken from counts as read anyway.
func (c *checker) choosable(st *stage, name string, p region.Pattern) bool {
	return slices.ContainsFunc(st.out.Params, func(q ir.Param) bool { return q.Name == name && q.Kind != ir.NewParam }) &&
		!slices.ContainsFunc(st.out.Params, func(q ir.Param) bool { return q.Kind == ir.DependentParam && q.Of.String() == p.String() })
}
