package syntax

// A RegionExpr is a list of grants, separated by commas.
type RegionExpr struct {
	Node
	Grants []*GrantExpr `parser:"@@ ( ',' @@ )*"`
}

// A GrantExpr is "[blind] A [& B ...] [except E | except (E, ...)]".
type GrantExpr struct {
	Node
	Blind     bool          `parser:"@'blind'?"`      // in a write clause only
	Intersect []*RegionAtom `parser:"@@ ( '&' @@ )*"` // one, or the operands of "&"
	Except    []*RegionAtom `parser:"( 'except' ( '(' @@ ( ',' @@ )* ')' | @@ ) )?"`
}

// A RegionAtom is a path, a region's name (possibly "alias.name"), the built-in
// "secrets", or a region in parentheses. Exactly one field is set.
type RegionAtom struct {
	Node
	Path    *Path       `parser:"  @@"`
	Secrets bool        `parser:"| @'secrets'"`
	Name    *Name       `parser:"| @@"`
	Group   *RegionExpr `parser:"| '(' @@ ')'"`
}

// A Path is a path pattern. Text is as written.
type Path struct {
	Node
	Text     string `parser:"@Path"`
	Segments []*PathSegment
}

// PathSegmentKind is the form of a path segment.
type PathSegmentKind uint8

// The forms of a segment in the surface syntax.
const (
	LiteralSegment PathSegmentKind = iota // a key, decoded (RFC 6901 escapes or JSON quotes undone)
	StarSegment                           // *
	DeepSegment                           // **
	ChoiceSegment                         // (a|b)
	ParamSegment                          // {p}
	DashSegment                           // -
)

// A PathSegment is one segment of a Path.
type PathSegment struct {
	Node
	Kind    PathSegmentKind
	Text    string         // the decoded key, or the parameter's name
	Choices []*PathSegment // of a ChoiceSegment: literals
}
