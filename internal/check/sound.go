package check

import (
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/lang/source"
)

// Errors are reported in one go, as far as one does not follow from another: what an
// error touches is faulty, and so is what uses it, and later passes leave it alone.

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

// sound is the contract without what is faulty, nil where so much may be missing that
// a claim about the rest could seem false.
func (c *checker) sound() (*ir.Contract, []source.Span) {
	if !c.groundwork || !c.parsed {
		return nil, nil
	}
	out := c.out
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
