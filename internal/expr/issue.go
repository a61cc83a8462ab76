package expr

// An Issue is one finding about an expression. Offsets are bytes of the source
// that was checked, so a caller adds the place of the expression in its file.
type Issue struct {
	Code       string // stable, snake_case; see the constants
	Warning    bool   // the expression is usable all the same
	Start, End int
	Message    string
	Help       string
	Fix        *Fix
}

// A Fix replaces the bytes from Start to End by Text.
type Fix struct {
	Start, End int
	Text       string
	Title      string
}

// The codes of issues.
const (
	SyntaxError     = "cel_syntax"
	TooLarge        = "cel_too_large"
	UnknownName     = "unknown_name"
	UnknownMember   = "unknown_member"
	UnknownFunction = "unknown_function"
	OperandTypes    = "operand_types"
	NotBool         = "not_bool"
	Unguarded       = "unguarded_optional"
	NeverHolds      = "constant_comparison"
	WholeLog        = "log_value"
	NoIndex         = "no_index"
	BagOrder        = "bag_order"
	NotARange       = "not_a_range"
	BadPattern      = "bad_regexp"
)

// HasErrors reports whether an issue keeps the expression from being used.
func HasErrors(issues []Issue) bool {
	for _, i := range issues {
		if !i.Warning {
			return true
		}
	}
	return false
}

// The codes of evaluation errors.
const (
	EvaluationError  = "evaluation_error"
	CostExceeded     = "cost_exceeded"
	DeadlineExceeded = "deadline_exceeded"
)

// An EvalError says why an expression has no value. Its message holds no part of
// the state. A caller treats the rule as violated.
type EvalError struct {
	Code    string
	Message string
}

// Error is the message.
func (e *EvalError) Error() string { return e.Message }
