package check

import (
	"slices"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// MaxSecrets bounds the patterns that the secret types of a state expand to.
const MaxSecrets = 4096

// Limits of regions. Regions that are built from regions multiply.
const (
	MaxRegion  = 1 << 16 // patterns of a region, exceptions included
	MaxRegions = 1 << 20 // of all regions of a contract
)

// size counts the patterns of a region.
func size(r region.Region) int {
	n := 0
	for _, g := range r {
		n += len(g.Include) + len(g.Except)
	}
	return n
}

// tooManyPatterns reports, where a region is going to have n patterns, that it may not.
func (c *checker) tooManyPatterns(n int, at source.Span) bool {
	switch c.patternCount += n; {
	case n > MaxRegion:
		c.report(tooLarge(at, "patterns of a region", MaxRegion, "what a named region holds counts wherever the name stands; name a place above them, or leave out what stands twice"))
	case c.patternCount > MaxRegions:
		if !c.manyPatterns {
			c.manyPatterns = true
			c.report(tooLarge(at, "patterns of all regions of a contract", MaxRegions, "what a named region holds counts wherever the name stands; name a place above them"))
		}
	default:
		return false
	}
	return true
}

// lowerRegions lowers every declared region, so that unused ones are checked too.
func (c *checker) lowerRegions() {
	for _, s := range c.root.scopes() {
		for _, name := range keys(s.regions) {
			c.lowerRegionDef(s.regions[name], nil)
		}
	}
}

// lowerRegionDef lowers a declared region once; at is where it is used, if anywhere.
func (c *checker) lowerRegionDef(def *regionDef, at *syntax.Name) region.Region {
	if def.active {
		if at != nil {
			c.report(recursiveRegion(*at, def.decl))
		}
		return nil
	}
	if !def.done {
		def.active = true
		def.faulty = c.faultily(func() { def.region, _ = c.lowerRegion(def.scope, def.decl.Region, otherPath, nil) })
		def.active, def.done = false, true
	}
	return def.region
}

// lowerRegion lowers a region expression; grants marked blind come apart.
func (c *checker) lowerRegion(s *scope, r *syntax.RegionExpr, use pathUse, params map[string]*ir.Param) (plain, blind region.Region) {
	if r == nil {
		return nil, nil
	}
	total := 0
	for _, g := range r.Grants {
		grants := c.lowerGrant(s, g, use, params)
		n := size(grants)
		if total += n; total > MaxRegion && c.tooManyPatterns(total, g.Span) || c.tooManyPatterns(n, g.Span) {
			return nil, nil
		}
		if g.Blind && use == writePath {
			blind = append(blind, grants...)
			continue
		}
		plain = append(plain, grants...)
	}
	return plain, blind
}

// lowerGrant intersects a grant's operands and takes its exceptions away.
func (c *checker) lowerGrant(s *scope, g *syntax.GrantExpr, use pathUse, params map[string]*ir.Param) region.Region {
	var out region.Region
	for i, a := range g.Intersect {
		atom := c.lowerAtom(s, a, use, params)
		if i == 0 {
			out = atom
			continue
		}
		met, exact := region.Intersect(out, atom, c.model.Meter)
		if !exact {
			c.report(inexactRegion(a.Span, "&"))
			return nil
		}
		if len(met) == 0 && len(out) > 0 && len(atom) > 0 {
			c.report(emptyIntersection(g))
		}
		out = met
	}
	for _, e := range g.Except {
		out = c.takeAway(out, c.lowerAtom(s, e, exceptUse(use), params), e)
	}
	if c.muted == 0 {
		c.checkEmpty(g, out, use)
	}
	return out
}

// checkEmpty reports a grant of which its exceptions leave nothing: no place to see,
// or none that a whole operation may change or take.
func (c *checker) checkEmpty(g *syntax.GrantExpr, out region.Region, use pathUse) {
	if !slices.ContainsFunc(out, func(g region.Grant) bool { return len(g.Except) > 0 }) {
		return
	}
	mode := region.Plain
	if use == writePath || use == sourcePath {
		mode = region.Interior
	}
	if c.model.Empty(out, mode) {
		c.report(emptyGrant(g, mode))
	}
}

// exceptUse: what is taken from a write or source region may name elements that
// the region itself could not.
func exceptUse(use pathUse) pathUse {
	if use == readPath {
		return readPath
	}
	return otherPath
}

// takeAway removes an exception from grants. An exception without exceptions of
// its own joins each grant's excepts, which keeps the grants as they were written.
func (c *checker) takeAway(from, what region.Region, at *syntax.RegionAtom) region.Region {
	if slices.ContainsFunc(what, func(g region.Grant) bool { return len(g.Except) > 0 }) {
		out, exact := region.Difference(from, what, c.model.Meter)
		if !exact {
			c.report(inexactRegion(at.Span, "except"))
			return nil
		}
		return out
	}
	if c.tooManyPatterns(size(from)+len(from)*size(what), at.Span) {
		return nil
	}
	out := slices.Clone(from)
	for i := range out {
		out[i].Except = slices.Clone(out[i].Except)
		for _, g := range what {
			out[i].Except = append(out[i].Except, g.Include...)
		}
	}
	return out
}

func (c *checker) lowerAtom(s *scope, a *syntax.RegionAtom, use pathUse, params map[string]*ir.Param) region.Region {
	switch {
	case a.Secrets:
		return c.out.Secrets
	case a.Group != nil:
		r, blind := c.lowerRegion(s, a.Group, use, params)
		return append(r, blind...)
	case a.Name != nil:
		return c.lowerRegionName(s, *a.Name)
	case a.Path != nil:
		if include := c.patterns(a.Path, use, params); len(include) > 0 {
			return region.Region{{Include: include}}
		}
	}
	return nil
}

func (c *checker) lowerRegionName(s *scope, n syntax.Name) region.Region {
	in, name := c.resolve(s, n)
	if in == nil || c.isMissing(n) {
		return nil
	}
	def, ok := in.regions[name]
	if !ok {
		candidates := append(keys(in.regions), "secrets")
		c.report(unknownName(diagnostic.UnknownRegion, n, name, candidates))
		return nil
	}
	defer func() { c.use(def.faulty) }()
	return c.lowerRegionDef(def, &n)
}

// lowerSecrets finds every node of a secret type.
func (c *checker) lowerSecrets() {
	var include []region.Pattern
	c.model.EachTyped(func(p region.Pattern, t *ir.Type) bool {
		if t.Secret && len(include) < MaxSecrets {
			include = append(include, p)
		}
		return !t.Secret && len(include) < MaxSecrets
	})
	if len(include) == MaxSecrets {
		c.report(tooManySecrets(c.root.file))
	}
	if len(include) > 0 {
		c.out.Secrets = region.Region{{Include: include}}
	}
}
