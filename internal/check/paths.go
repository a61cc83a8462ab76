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
		c.report(notAMap(p, c.describeSet(t.at)))
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
		if s.Span.Start == s.Span.End { // no segment was written, which the parser reported
			t.failed = true
			return from, false
		}
		seg, at = t.literal(from.at, s, object, array)
	case syntax.StarSegment:
		seg, at = region.Segment{Kind: wildcard(object, array)}, t.model.Shape.Children(from.at, true, true)
	case syntax.DeepSegment:
		seg, at = region.Segment{Kind: region.AnyDepth}, t.model.Shape.Below(from.at)
	case syntax.ParamSegment:
		if _, known := t.params[s.Text]; !known {
			t.fail(unknownParam(s, keys(t.params)))
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
		t.fail(elementOfBag(s, t.describeSet(from.at)))
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
