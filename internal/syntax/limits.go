package syntax

// Limits bound what Parse accepts; each is inclusive. What exceeds one is
// reported with code "limit_exceeded" and left unread.
type Limits struct {
	FileSize     int // bytes of a file
	Nesting      int // brackets and type prefixes ("map of", "secret") open at once
	Declarations int // declarations of a file
	PathLength   int // bytes of one path pattern
	StringLength int // bytes of one string, as written
	ExprLength   int // bytes of one CEL expression
	Diagnostics  int // diagnostics reported for a file; the rest is only counted
}

// DefaultLimits are the limits of Parse.
var DefaultLimits = Limits{
	FileSize:     1 << 20,
	Nesting:      64,
	Declarations: 10_000,
	PathLength:   1024,
	StringLength: 16 << 10,
	ExprLength:   64 << 10,
	Diagnostics:  200,
}
