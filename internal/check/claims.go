package check

import (
	"slices"
	"sort"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// lowerClaims resolves the names in claims and lowers them. Whether a claim holds
// is decided over the compiled contract (internal/footprint); claimSpans says
// where each was written.
func (c *checker) lowerClaims() {
	for _, d := range c.root.file.Decls {
		switch d := d.(type) {
		case *syntax.ComposeDecl:
			c.stagesNamed(d.Stages)
			c.out.Compositions = append(c.out.Compositions, ir.Composition{Name: d.Name.Text, Doc: d.Doc, Stages: c.distinct(d.Stages)})
		case *syntax.ParallelDecl:
			faulty := c.faultily(func() { c.checkTogether(c.stagesNamed(d.Stages), d.When, d.Stages) })
			c.addClaim(ir.Claim{Kind: ir.Parallel, Name: d.Name.Text, Stages: texts(d.Stages), When: hypothesis(d.When)}, d.Span, faulty)
		case *syntax.ProveDecl:
			c.lowerProve(d)
		}
	}
}

// addClaim adds a claim written at a place. Its text is that of its tokens, however they were
// laid out.
func (c *checker) addClaim(claim ir.Claim, at source.Span, faulty bool) {
	c.claimFaulty = append(c.claimFaulty, faulty)
	claim.Text = c.claimText(at)
	c.out.Claims = append(c.out.Claims, claim)
	c.claimSpans = append(c.claimSpans, at)
}

// claimText joins the tokens at a place of the contract's file, without comments.
func (c *checker) claimText(at source.Span) string {
	var out strings.Builder
	tokens := c.root.file.Tokens
	from := sort.Search(len(tokens), func(i int) bool { return tokens[i].Span.Start >= at.Start })
	before := "("
	for _, t := range tokens[from:] {
		if t.Span.End > at.End {
			break
		}
		if t.Kind == syntax.CommentToken {
			continue
		}
		text := t.Span.Text()
		if before != "(" && text != ")" && text != "," {
			out.WriteByte(' ')
		}
		out.WriteString(text)
		before = text
	}
	return out.String()
}

// folded joins the words of a text, without comments.
func folded(text string) string {
	var words []string
	for _, line := range strings.Split(text, "\n") {
		if i := strings.Index(line, " #"); i >= 0 {
			line = line[:i]
		}
		words = append(words, strings.Fields(line)...)
	}
	return strings.Join(words, " ")
}

func (c *checker) lowerProve(d *syntax.ProveDecl) {
	before := c.taint
	var claim ir.Claim
	switch pair := d.Pair; {
	case d.AllCommute != nil:
		claim = ir.Claim{Kind: ir.AllCommute, Phases: c.phaseNames([]syntax.Name{*d.AllCommute})}
	case d.NoStage != nil:
		except := c.distinct(d.NoStage.Except)
		c.stagesNamed(d.NoStage.Except)
		claim = ir.Claim{Kind: ir.NoStage, Except: except, Verb: d.NoStage.Verb.Text, From: c.claimRegion(d.NoStage.Region)}
	case d.NoFlow != nil:
		claim = ir.Claim{Kind: ir.NoFlow, From: c.claimRegion(d.NoFlow.From), To: c.claimRegion(d.NoFlow.To), Memory: d.NoFlow.Memory}
	case pair.With != nil:
		names := []syntax.Name{pair.A, *pair.With}
		c.checkTogether(c.stagesNamed(names), pair.When, names)
		claim = ir.Claim{Kind: ir.Commutes, Stages: texts(names), When: hypothesis(pair.When)}
	case pair.Within != nil:
		c.checkFootprintName(pair.A)
		c.checkFootprintName(*pair.Within)
		claim = ir.Claim{Kind: ir.WithinClaim, Stages: texts([]syntax.Name{pair.A, *pair.Within})}
	default:
		claim = ir.Claim{Kind: ir.PhaseBefore, Phases: append(c.phaseNames([]syntax.Name{pair.A}), c.phaseNames([]syntax.Name{*pair.Before})...)}
	}
	c.addClaim(claim, d.Span, c.taint > before)
}

func (c *checker) claimRegion(r *syntax.RegionExpr) region.Region {
	out := c.lowerRegion(c.root, r, otherPath, nil)
	return out
}

// hypothesis lowers what stands after "when"; nil if nothing does.
func hypothesis(x *syntax.HypothesisExpr) *ir.Hypothesis {
	if x == nil {
		return nil
	}
	var any []ir.Hypothesis
	for _, both := range x.Any {
		var all []ir.Hypothesis
		for _, d := range both.All {
			all = append(all, difference(d))
		}
		any = append(any, one(all, func(h []ir.Hypothesis) ir.Hypothesis { return ir.Hypothesis{All: h} }))
	}
	out := one(any, func(h []ir.Hypothesis) ir.Hypothesis { return ir.Hypothesis{Any: h} })
	return &out
}

// one is the only one of several hypotheses, or what joins them.
func one(hs []ir.Hypothesis, join func([]ir.Hypothesis) ir.Hypothesis) ir.Hypothesis {
	if len(hs) == 1 {
		return hs[0]
	}
	return join(hs)
}

func difference(d *syntax.DifferenceExpr) ir.Hypothesis {
	if d.Group != nil {
		return *hypothesis(d.Group)
	}
	second := d.Param
	if d.From != nil {
		second = d.From
	}
	return ir.Hypothesis{Differ: &ir.Difference{First: d.Param.Text, Second: second.Text}}
}

func (c *checker) stagesNamed(names []syntax.Name) []*stage {
	var out []*stage
	for _, n := range names {
		if st := c.stageNamed(n); st != nil {
			out = append(out, st)
		}
	}
	return out
}

// checkTogether reports stages that can never run in one phase, and a parameter of
// the hypothesis that not all of them have: in "p differs from q", p is one of the
// stage that is named first, and q of the other.
func (c *checker) checkTogether(stages []*stage, when *syntax.HypothesisExpr, names []syntax.Name) {
	for _, st := range stages {
		c.use(st.faulty)
	}
	stages = slices.DeleteFunc(slices.Clone(stages), func(st *stage) bool { return st.faulty })
	missing := map[*syntax.Name]bool{}
	need := func(n *syntax.Name, st *stage) {
		if !c.isMissing(*n) && (st.params[n.Text] == nil || st.params[n.Text].Kind == valueParam) && !missing[n] {
			missing[n] = true
			c.report(paramNotShared(*n, st))
		}
	}
	apart := 0
	for i, a := range stages {
		for _, b := range stages[i+1:] {
			if !slices.ContainsFunc(a.out.In, func(p string) bool { return slices.Contains(b.out.In, p) }) {
				c.report(noSharedPhase(a, b, names))
				if apart++; apart > syntax.DefaultLimits.Diagnostics {
					return
				}
			}
			eachDifference(when, func(d *syntax.DifferenceExpr) {
				need(d.Param, a)
				second := d.Param
				if d.From != nil {
					second = d.From
				}
				need(second, b)
			})
		}
	}
}

func eachDifference(x *syntax.HypothesisExpr, f func(*syntax.DifferenceExpr)) {
	if x == nil {
		return
	}
	for _, both := range x.Any {
		for _, d := range both.All {
			eachDifference(d.Group, f)
			if d.Param != nil {
				f(d)
			}
		}
	}
}

// checkFootprintName resolves what "within" may compare: a stage or a composition.
func (c *checker) checkFootprintName(n syntax.Name) {
	for _, d := range c.root.file.Decls {
		if d, ok := d.(*syntax.ComposeDecl); ok && d.Name.Text == n.Text {
			return
		}
	}
	c.stageNamed(n)
}
