package expr

// Limits bound what one expression may cost to check and to run. A zero field
// means its default.
type Limits struct {
	MaxSource  int    // bytes of source text
	MaxNesting int    // levels of parentheses, members and operators
	MaxNodes   int    // nodes of the syntax tree, macros expanded
	MaxText    int    // bytes of a string that a function may build
	MaxRegexp  int    // instructions of a regular expression's program
	CostLimit  uint64 // steps of one evaluation (meter.go)
	CheckEvery uint   // loop steps between two looks at the context
}

// Default returns the limits that hold when nothing else is said.
func Default() Limits {
	return Limits{
		MaxSource:  16 << 10,
		MaxNesting: 100,
		MaxNodes:   5_000,
		MaxText:    1 << 20,
		MaxRegexp:  2_000,
		CostLimit:  5_000_000,
		CheckEvery: 256,
	}
}

func (l Limits) withDefaults() Limits {
	d := Default()
	return Limits{
		MaxSource:  orDefault(l.MaxSource, d.MaxSource),
		MaxNesting: orDefault(l.MaxNesting, d.MaxNesting),
		MaxNodes:   orDefault(l.MaxNodes, d.MaxNodes),
		MaxText:    orDefault(l.MaxText, d.MaxText),
		MaxRegexp:  orDefault(l.MaxRegexp, d.MaxRegexp),
		CostLimit:  orDefault(l.CostLimit, d.CostLimit),
		CheckEvery: orDefault(l.CheckEvery, d.CheckEvery),
	}
}

func orDefault[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}
