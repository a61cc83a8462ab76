package region

// SegmentKind tells which letters one segment of a pattern matches.
type SegmentKind uint8

// The segment kinds of semantics 3.1, plus the fresh key of semantics 6.5.
const (
	Literal      SegmentKind = iota // "a": the key a, and the index if a looks like one
	KeyLiteral                      // ":a": the key a only
	IndexLiteral                    // "[3]": the index 3 only
	AnySegment                      // "*": one letter of either kind
	AnyKey                          // ":*": one key
	AnyIndex                        // "[*]": one index
	AnyDepth                        // "**": any number of letters
	ParamSegment                    // "{p}": the key that p is bound to
	FreshSegment                    // "-": a key private to the stage instance
)

// A Segment is one step of a pattern.
type Segment struct {
	Kind  SegmentKind
	Text  string // the literal, or the parameter's name
	Index int    // for IndexLiteral
}

// A Pattern stands for the subtrees below every path it matches; a shallow one
// only for the nodes themselves: their kind or scalar value (semantics 3.2).
type Pattern struct {
	Segments []Segment
	Shallow  bool
}

// A Grant is the union of its includes minus the union of its excepts.
// Authority is judged per grant, never pooled (semantics 3.3).
type Grant struct {
	Include []Pattern `json:"include"`
	Except  []Pattern `json:"except,omitempty"`
}

// A Region is a list of grants; the empty region holds nothing. It is plain
// data: Compile turns it into the automaton that answers questions.
type Region []Grant
