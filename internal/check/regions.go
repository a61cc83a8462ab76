package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Paths and regions. A path is typed segment by segment against the shape of the state: that
// decides whether a segment is a key or a position, what it may be followed by, and whether
// any state has it at all. A region is a list of grants, each a list of patterns and of
// exceptions from them; regions that are made from regions multiply, and are counted.

// pathUse is the clause a path stands in; some forms are legal in some uses only.
type pathUse uint8

const (
	readPath   pathUse = iota // what is shown: no array positions (semantics 11.1)
	writePath                 // what a patch may change
	sourcePath                // what copy, move and test may take from
	otherPath                 // measures, invariants, parameters, references, claims
)

// MaxChoices bounds the patterns one path with alternatives expands to.
const MaxChoices = 256

// A typedPattern is a pattern and the types its last segment may lead to.
type typedPattern struct {
	pattern region.Pattern
	at      footprint.TypeSet
}

// A typer types one path against the state's shape, segment by segment.
type typer struct {
	*checker
	use    pathUse
	params map[string]*ir.Param // in scope; nil where parameters have no meaning
	failed bool                 // a segment was reported; the rest of the path is not
}

// typePath types a path: every alternative of it, with every segment made a key
// or an index where the state type decides. A segment that no state can match is
// reported, and the result is empty.
func (c *checker) typePath(p *syntax.Path, use pathUse, params map[string]*ir.Param) []typedPattern {
	if p == nil {
		return nil
	}
	t := &typer{checker: c, use: use, params: params}
	out := []typedPattern{{at: c.model.Shape.Root()}}
	for i, seg := range p.Segments {
		var next []typedPattern
		for _, choice := range choices(seg) {
			for _, from := range out {
				if to, ok := t.step(from, choice, i == len(p.Segments)-1); ok {
					next = append(next, to)
				}
			}
		}
		if t.failed {
			return nil
		}
		if len(next) > MaxChoices {
			c.report(tooManyChoices(p))
			return nil
		}
		out = next
	}
	if use == sourcePath && t.leadsToLogs(out) {
		c.report(logSource(p))
	}
	return out
}

// leadsToLogs reports whether a path leads to nothing but logs.
func (t *typer) leadsToLogs(to []typedPattern) bool {
	for _, p := range to {
		if !t.model.Shape.Only(p.at, ir.LogType) {
			return false
		}
	}
	return len(to) > 0
}

// patterns is typePath without the types.
func (c *checker) patterns(p *syntax.Path, use pathUse, params map[string]*ir.Param) []region.Pattern {
	var out []region.Pattern
	for _, t := range c.typePath(p, use, params) {
		out = append(out, t.pattern)
	}
	return out
}

// single types a path that must not branch or use wildcards.
func (c *checker) single(p *syntax.Path, params map[string]*ir.Param) (typedPattern, bool) {
	out := c.typePath(p, otherPath, params)
	if len(out) == 0 {
		return typedPattern{}, false
	}
	for _, s := range p.Segments {
		if s.Kind != syntax.LiteralSegment && s.Kind != syntax.ParamSegment {
			c.report(notOnePlace(p, s))
			return typedPattern{}, false
		}
	}
	return out[0], true
}

// container types the path of a map or keyed list whose keys are meant.
func (c *checker) container(p *syntax.Path, params map[string]*ir.Param) *region.Pattern {
	t, ok := c.single(p, params)
	if !ok {
		return nil
	}
	if !c.model.Shape.Only(t.at, ir.MapType, ir.KeyedType, ir.AnyType) {
		c.report(notAMap(p, c.describeSet(t.at), "name a map or a `list of T by FIELD`"))
		return nil
	}
	return &t.pattern
}

func choices(s *syntax.PathSegment) []*syntax.PathSegment {
	if s.Kind == syntax.ChoiceSegment {
		return s.Choices
	}
	return []*syntax.PathSegment{s}
}

// step extends a typed pattern by one segment.
func (t *typer) step(from typedPattern, s *syntax.PathSegment, last bool) (typedPattern, bool) {
	var seg region.Segment
	var at footprint.TypeSet
	object, array := t.model.Shape.Kinds(from.at)
	switch s.Kind {
	case syntax.LiteralSegment:
		if s.Span.Start == s.Span.End || s.Bad { // it could not be read, which the parser reported
			t.failed = true
			return from, false
		}
		seg, at = t.literal(from.at, s, object, array)
	case syntax.StarSegment:
		seg, at = region.Segment{Kind: wildcard(object, array)}, t.model.Shape.Children(from.at, true, true)
	case syntax.DeepSegment:
		seg, at = region.Segment{Kind: region.AnyDepth}, t.model.Shape.Below(from.at)
	case syntax.ParamSegment:
		switch p, known := t.params[s.Text]; {
		case !known:
			t.fail(unknownParam(s, keys(t.params)))
			return from, false
		case p != nil && p.Kind == valueParam:
			t.fail(valueInPath(s))
			return from, false
		}
		if t.isFixed(from.at) {
			t.fail(t.noSuchPath(from, s))
			return from, false
		}
		seg, at = region.Segment{Kind: region.ParamSegment, Text: s.Text}, t.model.Shape.Letter(from.at, region.Param(s.Text))
	case syntax.DashSegment:
		seg, at = t.dash(from.at, s, last)
	default:
		return from, false
	}
	if t.failed {
		return from, false
	}
	if len(at) == 0 {
		t.fail(t.noSuchPath(from, s))
		return from, false
	}
	if t.use != otherPath && t.use != readPath && t.indexesUnordered(from.at, seg) {
		t.fail(elementOfBag(s, t.describeSet(from.at), last && t.use == writePath))
		return from, false
	}
	return typedPattern{footprint.Extend(from.pattern, seg), at}, true
}

func (t *typer) fail(d source.Diagnostic) {
	if !t.failed {
		t.report(d)
	}
	t.failed = true
}

// literal types a literal segment: a key below objects, a position below arrays.
// A quoted one is always a key.
func (t *typer) literal(set footprint.TypeSet, s *syntax.PathSegment, object, array bool) (region.Segment, footprint.TypeSet) {
	index, isIndex := arrayIndex(s.Text)
	isIndex = isIndex && array && !strings.HasPrefix(s.Span.Text(), `"`)
	if t.model.Shape.Only(set, ir.MapType, ir.KeyedType, ir.AnyType) {
		t.checkLiteral(s, object)
	}
	asKey := t.model.Shape.Letter(set, region.Key(s.Text))
	if !isIndex {
		return region.Segment{Kind: region.KeyLiteral, Text: s.Text}, asKey
	}
	if t.use == readPath {
		t.fail(positionInRead(s, object))
	}
	if !object {
		return region.Segment{Kind: region.IndexLiteral, Index: index}, t.model.Shape.Letter(set, region.Index(index))
	}
	at := slices.Clone(asKey)
	for _, id := range t.model.Shape.Letter(set, region.Index(index)) {
		at = t.model.Shape.Expand(at, id)
	}
	return region.Segment{Kind: region.Literal, Text: s.Text}, at
}

// dash types "-": a new entry of a log or set.
func (t *typer) dash(set footprint.TypeSet, s *syntax.PathSegment, last bool) (region.Segment, footprint.TypeSet) {
	seg := region.Segment{Kind: region.FreshSegment}
	switch {
	case !t.model.Shape.Only(set, ir.LogType, ir.SetType):
		t.fail(dashOutsideLog(s, t.describeSet(set)))
	case t.use != writePath:
		t.fail(dashOutsideWrite(s))
	case !last:
		t.fail(dashNotLast(s))
	}
	return seg, t.model.Shape.Letter(set, region.Fresh(""))
}

// indexesUnordered reports whether a segment goes below a log or set by position.
func (t *typer) indexesUnordered(set footprint.TypeSet, s region.Segment) bool {
	return t.model.Shape.Only(set, ir.LogType, ir.SetType) && s.Kind != region.FreshSegment && s.Kind != region.AnyDepth
}

func wildcard(object, array bool) region.SegmentKind {
	switch {
	case object && !array:
		return region.AnyKey
	case array && !object:
		return region.AnyIndex
	}
	return region.AnySegment
}

// arrayIndex reads an RFC 6901 array index.
func arrayIndex(s string) (int, bool) {
	if s == "" || len(s) > 1 && s[0] == '0' || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

// isFixed reports whether a set of types is of records whose members are all declared.
func (t *typer) isFixed(at footprint.TypeSet) bool {
	return t.model.Shape.Only(at, ir.RecordType) && !slices.ContainsFunc(at, func(id ir.TypeID) bool {
		return t.model.Contract.Type(id).Rest != ir.NoType
	})
}

func (t *typer) noSuchPath(from typedPattern, s *syntax.PathSegment) source.Diagnostic {
	if t.model.Shape.Only(from.at, ir.RecordType) {
		what := t.describeSet(from.at)
		if len(from.pattern.Segments) == 0 {
			what = "the state"
		}
		if s.Kind == syntax.ParamSegment {
			return paramInRecord(s, what)
		}
		return noSuchMember(s, what, t.model.Shape.MemberNames(from.at))
	}
	return nothingBelow(s, from.pattern, t.describeSet(from.at))
}

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
		def.faulty = c.faultily(func() { def.region = c.lowerRegion(def.scope, def.decl.Region, otherPath, nil) })
		def.active, def.done = false, true
	}
	return def.region
}

// lowerRegion lowers the region expression of a clause that writes nothing, or of a
// declaration.
func (c *checker) lowerRegion(s *scope, r *syntax.RegionExpr, use pathUse, params map[string]*ir.Param) region.Region {
	var out region.Region
	c.lowerGrants(s, r, use, params, func(_ *syntax.GrantExpr, grants region.Region) { out = append(out, grants...) })
	return out
}

// A writing is what a write clause grants: what it lets happen at the grants of plain, as
// in ir.Stage, and where it may add unseen.
type writing struct {
	plain, blind region.Region
	rights       []ir.Rights
}

// lowerWriting lowers the region expression of a write clause.
func (c *checker) lowerWriting(r *syntax.RegionExpr, params map[string]*ir.Param) writing {
	var out writing
	limited := false
	c.lowerGrants(c.root, r, writePath, params, func(g *syntax.GrantExpr, grants region.Region) {
		if g.Blind {
			out.blind = append(out.blind, grants...)
			return
		}
		rights := rightsOf(g)
		limited = limited || rights != ir.AllRights && len(grants) > 0
		out.plain = append(out.plain, grants...)
		for range grants {
			out.rights = append(out.rights, rights)
		}
	})
	if !limited {
		out.rights = nil
	}
	return out
}

// rightsOf are the rights that a grant names, all if it names none.
func rightsOf(g *syntax.GrantExpr) ir.Rights {
	if len(g.Rights) == 0 {
		return ir.AllRights
	}
	var out ir.Rights
	for _, r := range g.Rights {
		out |= ir.RightOf(r.Text)
	}
	return out
}

// lowerGrants lowers the grants of a region expression one by one, and stops at one that
// has too many patterns.
func (c *checker) lowerGrants(s *scope, r *syntax.RegionExpr, use pathUse, params map[string]*ir.Param, take func(*syntax.GrantExpr, region.Region)) {
	if r == nil {
		return
	}
	total := 0
	patterns := make([][]region.Pattern, len(r.Grants))
	for i, g := range r.Grants {
		grants := c.lowerGrant(s, g, use, params)
		n := size(grants)
		if len(grants) == 1 {
			patterns[i] = grants[0].Include
		}
		if total += n; total > MaxRegion && c.tooManyPatterns(total, g.Span) || c.tooManyPatterns(n, g.Span) {
			return
		}
		take(g, grants)
	}
	c.checkGivenBack(r, patterns)
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
		out = c.trimmed(met)
	}
	var plain region.Region // the exceptions that are taken away at once
	for i, e := range g.Except {
		what := c.lowerAtom(s, e, exceptUse(use), params)
		holed := slices.ContainsFunc(what, func(g region.Grant) bool { return len(g.Except) > 0 })
		if !holed {
			plain = append(plain, what...)
		}
		if holed || i == len(g.Except)-1 {
			out, plain = c.takeAwayPlain(out, plain, e), nil
		}
		if holed {
			out = c.takeAwayHoled(out, what, e)
		}
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

// takeAwayHoled removes an exception that has exceptions of its own from grants.
func (c *checker) takeAwayHoled(from, what region.Region, at *syntax.RegionAtom) region.Region {
	out, exact := region.Difference(from, what, c.model.Meter)
	if !exact {
		c.report(inexactRegion(at.Span, "except"))
		return nil
	}
	return c.trimmed(out)
}

// trimmed leaves out of each grant the exceptions that it cannot meet. r is not used again.
func (c *checker) trimmed(r region.Region) region.Region {
	for i, g := range r {
		r[i] = region.Grant{Include: g.Include}.Without(g.Except, c.model.Meter)
	}
	return r
}

// takeAwayPlain removes exceptions without exceptions of their own from grants: they
// join the excepts of each grant that they may meet, which keeps the grants as they were
// written.
func (c *checker) takeAwayPlain(from, what region.Region, at *syntax.RegionAtom) region.Region {
	if len(what) == 0 {
		return from
	}
	except := what[0].Include
	for _, g := range what[1:] {
		except = append(except[:len(except):len(except)], g.Include...)
	}
	out, total := slices.Clone(from), 0
	for i, g := range from {
		out[i] = g.Without(except, c.model.Meter)
		if total += len(out[i].Include) + len(out[i].Except); total > MaxRegion {
			break
		}
	}
	if c.tooManyPatterns(total, at.Span) {
		return nil
	}
	return out
}

func (c *checker) lowerAtom(s *scope, a *syntax.RegionAtom, use pathUse, params map[string]*ir.Param) region.Region {
	switch {
	case a.Secrets:
		return c.out.Secrets
	case a.Group != nil:
		return c.lowerRegion(s, a.Group, use, params)
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
		c.report(c.unknownRegion(n, name, candidates))
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

// wordText writes a witness as an author would; the root is "the whole state".
func wordText(w region.Word) string {
	if len(w) == 0 {
		return "the whole state"
	}
	return w.Pointer()
}
